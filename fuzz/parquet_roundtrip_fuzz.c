/*
 * fuzz: the input chooses a schema, values and options; what the Parquet writer makes of them must
 * be read back equal. So must a second file spliced from the first, if the schema is one of tables;
 * others have types and annotations of Parquet's own, and are read back as the file says. Where the
 * input ends, a generator seeded by it goes on, so that small seeds reach far.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/parquet/parquet.h"
#include "format/parquet/parquet_writer_internal.h"
#include "type/type_annotation.h"
#include "type/type_value.h"

#define DEPTH_MAX 3
#define COLUMNS_MAX 5
#define ROWS_MAX 300
#define FILE_MAX (16u << 20)
#define FIRST "file:///first"
#define SECOND "file:///second"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool truth, const char *what, const frz_error *err)
{
    if (!truth) {
        char text[2048] = "";
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "%s: %s\n", what, text);
        abort();
    }
}

/* ---- choices ---- */

typedef struct choices {
    const uint8_t *data;
    size_t left;
    uint64_t seed;
    bool native; /* types and annotations that tables lack, too */
} choices;

static uint8_t next_byte(choices *c)
{
    if (c->left > 0) {
        uint8_t byte = *c->data++;
        c->left--;
        c->seed = (c->seed ^ byte) * 0x100000001b3u;
        return byte;
    }
    c->seed = c->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint8_t)(c->seed >> 56);
}

static uint64_t next_word(choices *c)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        word = word << 8 | next_byte(c);
    }
    return word;
}

/* ---- two files in memory ---- */

typedef struct memory_file {
    bool exists;
    size_t size, capacity;
    uint8_t *data;
} memory_file;

static memory_file *find_file(void *ctx, const char *location)
{
    memory_file *files = ctx;
    return strcmp(location, FIRST) == 0 ? &files[0] : &files[1];
}

static frz_code memory_open(void *ctx, const char *location, void **file, uint64_t *size,
                            frz_error *err)
{
    memory_file *f = find_file(ctx, location);
    if (!f->exists) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "there is no file %s", location);
    }
    *file = f;
    *size = f->size;
    return FRZ_OK;
}

static frz_code memory_create(void *ctx, const char *location, void **file, frz_error *err)
{
    memory_file *f = find_file(ctx, location);
    (void)err;
    f->exists = true;
    f->size = 0;
    *file = f;
    return FRZ_OK;
}

static frz_code memory_read(void *ctx, void *file, uint64_t offset, void *buf, size_t len,
                            frz_error *err)
{
    const memory_file *f = file;
    (void)ctx;
    check(offset <= f->size && len <= f->size - offset, "read beyond the end", err);
    memcpy(buf, f->data + offset, len);
    return FRZ_OK;
}

static frz_code memory_append(void *ctx, void *file, const void *buf, size_t len, frz_error *err)
{
    memory_file *f = file;
    (void)ctx;
    if (len > FILE_MAX - f->size) {
        return frz_fail(err, FRZ_E_LIMIT, "a file of more than %u bytes", FILE_MAX);
    }
    if (f->size + len > f->capacity) {
        f->capacity = 2 * (f->size + len);
        f->data = realloc(f->data, f->capacity);
        check(f->data != NULL, "memory", NULL);
    }
    memcpy(f->data + f->size, buf, len);
    f->size += len;
    return FRZ_OK;
}

static frz_code memory_append_from(void *ctx, void *file, void *src, uint64_t offset, uint64_t len,
                                   frz_error *err)
{
    const memory_file *from = src;
    check(offset <= from->size && len <= from->size - offset, "copy from beyond the end", err);
    return memory_append(ctx, file, from->data + offset, (size_t)len, err);
}

static frz_code memory_done(void *ctx, void *file, frz_error *err)
{
    (void)ctx;
    (void)file;
    (void)err;
    return FRZ_OK;
}

static frz_code memory_remove(void *ctx, const char *location, frz_error *err)
{
    (void)err;
    find_file(ctx, location)->exists = false;
    return FRZ_OK;
}

static frz_env *memory_env(memory_file files[2])
{
    frz_storage storage = {.struct_size = sizeof storage,
                           .open = memory_open,
                           .create = memory_create,
                           .read_at = memory_read,
                           .append = memory_append,
                           .append_from = memory_append_from,
                           .sync = memory_done,
                           .close = memory_done,
                           .remove = memory_remove,
                           .ctx = files};
    frz_env_options opts = FRZ_ENV_OPTIONS_INIT;
    frz_env *env = NULL;
    opts.storage = &storage;
    opts.log_spec = "none";
    check(frz_env_new(&opts, &env, NULL) == FRZ_OK, "environment", NULL);
    return env;
}

/* ---- schema ---- */

static const frz_type *choose_type(choices *c, frz_arena *arena, int depth, int32_t *id);

static frz_str choose_annotation(choices *c, const frz_type *type)
{
    static const char *const names[] = {NULL, "JSON", "ENUM", "BSON", "FILE"};
    const char *name = names[next_byte(c) % FRZ_ARRAY_COUNT(names)];
    frz_annotation annotation;
    return name != NULL && frz_annotation_parse(frz_str_from(name), &annotation) &&
                   frz_annotation_fits(&annotation, type)
               ? frz_str_from(name)
               : (frz_str){NULL, 0};
}

static frz_field choose_field(choices *c, frz_arena *arena, int depth, int32_t *id, bool key)
{
    frz_field field = {.id = ++*id, .required = key || next_byte(c) % 3 == 0};
    field.name = frz_str_from(frz_arena_printf(arena, "f%d", field.id));
    field.type = choose_type(c, arena, key ? DEPTH_MAX : depth, id);
    if (c->native && field.type->field_count == 0) {
        field.annotation = choose_annotation(c, field.type);
    }
    return field;
}

static const frz_type *choose_nested(choices *c, frz_arena *arena, frz_type_id kind, int depth,
                                     int32_t *id)
{
    size_t count = kind == FRZ_TYPE_LIST ? 1 : kind == FRZ_TYPE_MAP ? 2 : 1 + next_byte(c) % 3u;
    frz_type *type = frz_arena_alloc(arena, sizeof *type);
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    for (size_t i = 0; i < count; i++) {
        fields[i] = choose_field(c, arena, depth + 1, id, kind == FRZ_TYPE_MAP && i == 0);
    }
    if (kind == FRZ_TYPE_LIST) {
        fields[0].name = FRZ_STR("element");
    } else if (kind == FRZ_TYPE_MAP) {
        fields[0].name = FRZ_STR("key");
        fields[1].name = FRZ_STR("value");
    }
    *type = (frz_type){.id = kind, .fields = fields, .field_count = count};
    return type;
}

static const frz_type *choose_foreign(choices *c, frz_arena *arena)
{
    frz_foreign_type which = (frz_foreign_type)(1 + next_byte(c) % FRZ_FOREIGN_DECIMAL256);
    if (which != FRZ_FOREIGN_DECIMAL256) {
        return frz_type_foreign(which);
    }
    frz_type *type = frz_arena_alloc(arena, sizeof *type);
    *type = (frz_type){.id = FRZ_TYPE_FOREIGN, .foreign = which};
    type->precision = 39 + next_byte(c) % 38;
    type->scale = next_byte(c) % (type->precision + 1);
    return type;
}

static const frz_type *choose_type(choices *c, frz_arena *arena, int depth, int32_t *id)
{
    static const frz_type_id kinds[] = {
        FRZ_TYPE_BOOLEAN,   FRZ_TYPE_INT,         FRZ_TYPE_LONG,         FRZ_TYPE_FLOAT,
        FRZ_TYPE_DOUBLE,    FRZ_TYPE_DECIMAL,     FRZ_TYPE_DATE,         FRZ_TYPE_TIME,
        FRZ_TYPE_TIMESTAMP, FRZ_TYPE_TIMESTAMPTZ, FRZ_TYPE_TIMESTAMP_NS, FRZ_TYPE_TIMESTAMPTZ_NS,
        FRZ_TYPE_STRING,    FRZ_TYPE_UUID,        FRZ_TYPE_FIXED,        FRZ_TYPE_BINARY,
        FRZ_TYPE_STRUCT,    FRZ_TYPE_LIST,        FRZ_TYPE_MAP};
    frz_type_id kind = kinds[next_byte(c) % FRZ_ARRAY_COUNT(kinds)];
    if (c->native && kind < FRZ_TYPE_STRUCT && next_byte(c) % 2 == 0) {
        return choose_foreign(c, arena);
    }
    if (kind >= FRZ_TYPE_STRUCT) {
        return depth < DEPTH_MAX ? choose_nested(c, arena, kind, depth, id)
                                 : frz_type_primitive(FRZ_TYPE_LONG);
    }
    if (kind != FRZ_TYPE_DECIMAL && kind != FRZ_TYPE_FIXED) {
        return frz_type_primitive(kind);
    }
    frz_type *type = frz_arena_alloc(arena, sizeof *type);
    *type = (frz_type){.id = kind};
    if (kind == FRZ_TYPE_DECIMAL) {
        type->precision = 1 + next_byte(c) % 38;
        type->scale = next_byte(c) % (type->precision + 1);
    } else {
        type->length = 1 + next_byte(c) % 40;
    }
    return type;
}

static const frz_type *choose_table(choices *c, frz_arena *arena)
{
    size_t count = 1 + next_byte(c) % COLUMNS_MAX;
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    const frz_type *type = NULL;
    int32_t id = 0;
    for (size_t i = 0; i < count; i++) {
        fields[i] = choose_field(c, arena, 0, &id, false);
    }
    check(frz_type_struct_of(arena, fields, count, &type, NULL) == FRZ_OK, "table", NULL);
    return type;
}

/* The same with bytes of a fixed length for types that builders do not know, which lie in memory in
 * the same way. */
static const frz_type *type_to_build(frz_arena *arena, const frz_type *type)
{
    frz_type *copy = frz_arena_alloc(arena, sizeof *copy);
    frz_field *fields = frz_arena_array(arena, type->field_count, sizeof *fields);
    *copy = *type;
    if (type->id == FRZ_TYPE_FOREIGN) {
        *copy = (frz_type){.id = FRZ_TYPE_FIXED, .length = (int32_t)frz_type_width(type)};
    }
    for (size_t i = 0; i < type->field_count; i++) {
        fields[i] = type->fields[i];
        fields[i].type = type_to_build(arena, type->fields[i].type);
        copy->fields = fields;
    }
    return copy;
}

/* ---- values ---- */

/* Few values often, all bits sometimes. */
static uint64_t choose_bits(choices *c)
{
    uint8_t how = next_byte(c);
    return how < 200 ? how % 5 : how < 230 ? (uint64_t)(int64_t)(int8_t)how : next_word(c);
}

static frz_i128 choose_decimal(choices *c, int32_t precision)
{
    unsigned __int128 limit = 1;
    for (int32_t i = 0; i < precision; i++) {
        limit *= 10;
    }
    unsigned __int128 bits = (unsigned __int128)choose_bits(c) << 64 | choose_bits(c);
    frz_i128 value = (frz_i128)(bits % limit);
    return next_byte(c) % 2 == 0 ? value : -value;
}

static frz_str choose_bytes(choices *c, const frz_type *type, char text[64])
{
    size_t len = type->id == FRZ_TYPE_UUID    ? 16
                 : type->id == FRZ_TYPE_FIXED ? (size_t)type->length
                                              : next_byte(c) % 64u;
    uint8_t same = next_byte(c) % 4;
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = same == 0 ? next_byte(c) : (uint8_t)('a' + same);
        text[i] = (char)(type->id == FRZ_TYPE_STRING ? byte & 0x7f : byte);
    }
    return (frz_str){text, len};
}

/* The bytes of a value in memory. */
static frz_str choose_foreign_bytes(choices *c, const frz_type *type, char text[64])
{
    uint64_t bits = choose_bits(c);
    frz_i128 decimal;
    switch (type->foreign) {
    case FRZ_FOREIGN_INTERVAL: /* what Parquet has: nothing negative, whole milliseconds */
        frz_store_le32(text, (uint32_t)bits & INT32_MAX);
        frz_store_le32(text + 4, (uint32_t)choose_bits(c) & INT32_MAX);
        frz_store_le64(text + 8, (bits >> 32) * 1000000u);
        break;
    case FRZ_FOREIGN_DECIMAL256:
        decimal = choose_decimal(c, 38);
        memset(text, decimal < 0 ? 0xFF : 0, 32);
        memcpy(text, &decimal, sizeof decimal);
        break;
    default:
        frz_store_le64(text, bits);
    }
    return (frz_str){text, frz_type_width(type)};
}

static void append_primitive(choices *c, const frz_type *type, frz_builder *b)
{
    char text[64];
    frz_value v = {.type = frz_builder_type(b)};
    frz_error err = {0};
    uint64_t bits = choose_bits(c);
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        v.as.boolean = bits % 2;
        break;
    case FRZ_TYPE_DECIMAL:
        v.as.i128 = choose_decimal(c, type->precision);
        break;
    case FRZ_TYPE_INT:
    case FRZ_TYPE_DATE:
    case FRZ_TYPE_FLOAT:
        v.as.i32 = (int32_t)bits;
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
        v.as.bytes = choose_bytes(c, type, text);
        break;
    case FRZ_TYPE_FOREIGN:
        v.as.bytes = choose_foreign_bytes(c, type, text);
        break;
    default:
        v.as.i64 = (int64_t)bits;
    }
    check(frz_builder_value(b, &v, &err) == FRZ_OK, "value", &err);
}

static void append_row(choices *c, const frz_field *field, frz_builder *b)
{
    const frz_type *type = field->type;
    frz_error err = {0};
    if (!field->required && next_byte(c) % 4 == 0) {
        check(frz_builder_null(b, &err) == FRZ_OK, "null", &err);
        return;
    }
    if (!frz_type_is_nested(type)) {
        append_primitive(c, type, b);
        return;
    }
    int count = type->id == FRZ_TYPE_STRUCT ? 1 : next_byte(c) % 4;
    for (int n = 0; n < count; n++) {
        for (size_t i = 0; i < type->field_count; i++) {
            append_row(c, &type->fields[i], frz_builder_child(b, i));
        }
    }
    check(frz_builder_end(b, &err) == FRZ_OK, "row", &err);
}

static struct ArrowArray choose_rows(choices *c, const frz_env *env, frz_arena *arena,
                                     const frz_type *table)
{
    const frz_field row = {.required = true, .type = table};
    struct ArrowArray batch;
    frz_builder *b = NULL;
    frz_error err = {0};
    int rows = next_byte(c) % 8 == 0 ? ROWS_MAX : next_byte(c) % 20;
    check(frz_builder_new(env, type_to_build(arena, table), &b, &err) == FRZ_OK, "builder", &err);
    for (int i = 0; i < rows; i++) {
        append_row(c, &row, b);
    }
    check(frz_builder_finish(b, &batch, &err) == FRZ_OK, "batch", &err);
    frz_builder_free(b);
    return batch;
}

/* ---- comparing ---- */

static bool same_value(const frz_type *type, const struct ArrowArray *a, int64_t i,
                       const struct ArrowArray *b, int64_t k);

static bool same_entries(const frz_type *type, const struct ArrowArray *a, int64_t i,
                         const struct ArrowArray *b, int64_t k)
{
    const int32_t *x = (const int32_t *)a->buffers[1] + a->offset + i;
    const int32_t *y = (const int32_t *)b->buffers[1] + b->offset + k;
    bool map = type->id == FRZ_TYPE_MAP;
    const struct ArrowArray *xs = a->children[0];
    const struct ArrowArray *ys = b->children[0];
    if (x[1] - x[0] != y[1] - y[0]) {
        return false;
    }
    for (int32_t n = 0; n < x[1] - x[0]; n++) {
        for (size_t f = 0; f < type->field_count; f++) {
            const struct ArrowArray *xc = map ? xs->children[f] : xs;
            const struct ArrowArray *yc = map ? ys->children[f] : ys;
            if (!same_value(type->fields[f].type, xc, x[0] + n + (map ? xs->offset : 0), yc,
                            y[0] + n + (map ? ys->offset : 0))) {
                return false;
            }
        }
    }
    return true;
}

static bool same_value(const frz_type *type, const struct ArrowArray *a, int64_t i,
                       const struct ArrowArray *b, int64_t k)
{
    if (frz_is_null(a, i) || frz_is_null(b, k)) {
        return frz_is_null(a, i) && frz_is_null(b, k);
    }
    if (type->id == FRZ_TYPE_STRUCT) {
        for (size_t f = 0; f < type->field_count; f++) {
            if (!same_value(type->fields[f].type, a->children[f], i + a->offset, b->children[f],
                            k + b->offset)) {
                return false;
            }
        }
        return true;
    }
    if (frz_type_is_nested(type)) {
        return same_entries(type, a, i, b, k);
    }
    size_t width = frz_type_width(type);
    if (width > 0) { /* bit for bit: NaN and zeros of both signs stay what they are */
        return memcmp((const uint8_t *)a->buffers[1] + (size_t)(a->offset + i) * width,
                      (const uint8_t *)b->buffers[1] + (size_t)(b->offset + k) * width, width) == 0;
    }
    frz_value x = frz_value_at(type, a, i);
    frz_value y = frz_value_at(type, b, k);
    return frz_value_compare(&x, &y, true) == 0;
}

/* Types, names and annotations come back; ids of the native type are its own. */
static bool same_schema(const frz_type *wanted, const frz_type *found)
{
    if (wanted->id != found->id || wanted->foreign != found->foreign ||
        wanted->precision != found->precision || wanted->scale != found->scale ||
        wanted->length != found->length || wanted->field_count != found->field_count) {
        return false;
    }
    for (size_t i = 0; i < wanted->field_count; i++) {
        const frz_field *x = &wanted->fields[i];
        const frz_field *y = &found->fields[i];
        if (x->required != y->required || !frz_str_equal(x->name, y->name) ||
            !frz_str_equal(x->annotation, y->annotation) || !same_schema(x->type, y->type)) {
            return false;
        }
    }
    return true;
}

/* The file's own type in the place of its Iceberg type. */
static void use_native_type(frz_data_file *file, frz_arena *arena, const frz_type *table)
{
    frz_error err = {0};
    const frz_type *native = NULL;
    check(frz_parquet_native_type(file, arena, &native, &err) == FRZ_OK, "native type", &err);
    check(same_schema(table, native), "the native type differs", &err);
    file->type = native;
}

static void check_file(const frz_env *env, const char *location, const frz_type *table, bool native,
                       const struct ArrowArray *wanted, int64_t batch_rows, bool over_groups)
{
    frz_error err = {0};
    frz_arena arena;
    frz_data_file *file = NULL;
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_code rc;
    int64_t row = 0;
    frz_read_request request = {.projection = table,
                                .max_rows = batch_rows,
                                .no_ahead = over_groups,
                                .over_groups = over_groups};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    check(frz_data_file_open(env, location, NULL, &file, &err) == FRZ_OK, "open", &err);
    check(frz_data_file_row_count(file) == wanted->length, "row count", &err);
    if (native) {
        use_native_type(file, &arena, table);
        request.projection = file->type;
    }
    check(frz_data_reader_open(file, &request, &reader, &err) == FRZ_OK, "read", &err);
    while ((rc = frz_data_reader_next(reader, &batch, &err)) == FRZ_OK) {
        check(batch.first_row == row, "first row", &err);
        for (int64_t i = 0; i < batch.array.length; i++, row++) {
            check(same_value(table, wanted, row, &batch.array, i), "a value differs", &err);
        }
        frz_array_release(&batch.array);
    }
    check(rc == FRZ_END, "next", &err);
    check(row == wanted->length, "rows", &err);
    frz_data_reader_close(reader);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
}

/* ---- writing ---- */

static frz_parquet_write_options choose_options(choices *c)
{
    static const frz_parquet_codec codecs[] = {FRZ_PARQUET_UNCOMPRESSED, FRZ_PARQUET_SNAPPY,
                                               FRZ_PARQUET_GZIP, FRZ_PARQUET_ZSTD,
                                               FRZ_PARQUET_LZ4_RAW};
    uint8_t flags = next_byte(c);
    return (frz_parquet_write_options){
        .struct_size = sizeof(frz_parquet_write_options),
        .codec = codecs[next_byte(c) % FRZ_ARRAY_COUNT(codecs)],
        .no_dictionary = (flags & 1) != 0,
        .no_byte_stream_split = (flags & 2) == 0,
        .page_version = (flags & 4) != 0 ? 2 : 1,
        .page_bytes = (flags & 8) != 0 ? 1 + next_byte(c) * 4u : 0,
        .page_rows = (flags & 16) != 0 ? 1 + next_byte(c) : 0,
        .group_rows = (flags & 32) != 0 ? 1 + next_byte(c) : 0,
        .no_statistics = (flags & 64) != 0,
    };
}

static void write_first(const frz_env *env, const frz_type *table, bool native,
                        const struct ArrowArray *batch, const frz_parquet_write_options *opts,
                        bool by_column)
{
    frz_error err = {0};
    frz_arena arena;
    frz_parquet_writer *w = NULL;
    frz_parquet_written written;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    check(parquet_writer_open(env, FIRST, table, native, opts, &w, &err) == FRZ_OK, "create", &err);
    if (by_column) {
        check(frz_parquet_writer_begin_group(w, batch->length, &err) == FRZ_OK, "group", &err);
        for (size_t i = 0; i < table->field_count; i++) {
            check(frz_parquet_writer_append_column(w, i, batch->children[i], &err) == FRZ_OK,
                  "column", &err);
        }
        check(frz_parquet_writer_end_group(w, &err) == FRZ_OK, "group", &err);
    } else {
        check(frz_parquet_writer_write(w, batch, &err) == FRZ_OK, "write", &err);
    }
    check(frz_parquet_writer_finish(w, false, &arena, &written, &err) == FRZ_OK, "finish", &err);
    check(written.row_count == batch->length, "rows written", &err);
    frz_arena_reset(&arena);
}

static void splice_second(const frz_env *env, const frz_type *table,
                          const frz_parquet_write_options *opts)
{
    frz_error err = {0};
    frz_data_file *first = NULL;
    frz_parquet_writer *w = NULL;
    size_t groups;
    int64_t start = 0;
    check(frz_data_file_open(env, FIRST, NULL, &first, &err) == FRZ_OK, "open", &err);
    check(frz_parquet_writer_open(env, SECOND, table, opts, &w, &err) == FRZ_OK, "create", &err);
    const int64_t *ends = frz_data_file_group_ends(first, &groups);
    for (size_t g = 0; g < groups; start = ends[g++]) {
        check(frz_parquet_writer_begin_group(w, ends[g] - start, &err) == FRZ_OK, "group", &err);
        for (size_t i = 0; i < table->field_count; i++) {
            bool done = false;
            check(frz_parquet_writer_splice(w, i, first, g, table->fields[i].id, &done, &err) ==
                          FRZ_OK &&
                      done,
                  "splice", &err);
        }
        check(frz_parquet_writer_end_group(w, &err) == FRZ_OK, "group", &err);
    }
    check(frz_parquet_writer_finish(w, false, NULL, NULL, &err) == FRZ_OK, "finish", &err);
    frz_data_file_close(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {.data = data, .left = size, .seed = 0xcbf29ce484222325u};
    memory_file files[2] = {{.exists = false}};
    frz_env *env = memory_env(files);
    frz_env_counters counters;
    frz_arena arena;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    c.native = next_byte(&c) % 3 == 0;
    const frz_type *table = choose_table(&c, &arena);
    frz_parquet_write_options opts = choose_options(&c);
    bool by_column = next_byte(&c) % 2 == 0;
    int64_t batch_rows = 1 + next_byte(&c);
    struct ArrowArray batch = choose_rows(&c, env, &arena, table);
    write_first(env, table, c.native, &batch, &opts, by_column);
    check_file(env, FIRST, table, c.native, &batch, batch_rows, false);
    check_file(env, FIRST, table, c.native, &batch, batch_rows, true);
    if (!c.native) {
        splice_second(env, table, &opts);
        check_file(env, SECOND, table, false, &batch, 0, true);
    }
    frz_array_release(&batch);
    frz_arena_reset(&arena);
    frz_env_counters_get(env, &counters);
    frz_env_free(env);
    check(counters.bytes_allocated == 0, "memory was not given back", NULL);
    free(files[0].data);
    free(files[1].data);
    return 0;
}
