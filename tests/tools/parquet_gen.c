/*
 * parquet_gen OUT [--rows N] [--codec C] [--page-version V] [--dictionary auto|never]
 *             [--page-bytes B] [--page-rows N] [--page-index 0|1] [--nulls PCT] [--group-rows N]
 *             [--by-column] [--encoding COLUMN=E]... [--bloom COLUMN]...
 *
 * Writes a fixed table with a column of every type, nested ones included, and prints the rows that
 * readers must find, as JSON lines: decimals, dates and times as text, bytes in hex, a map as a
 * list of {"key", "value"}, floats that JSON lacks as "NaN", "Infinity", "-Infinity".
 * The values come from a generator of their own, so the lines do not depend on the writer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/parquet/parquet.h"
#include "type/type_value.h"

typedef struct gen {
    const frz_env *env;
    uint64_t seed;
    int64_t row, rows;
    uint64_t nulls; /* per cent */
} gen;

static uint64_t next_random(gen *g)
{
    g->seed += 0x9e3779b97f4a7c15u;
    uint64_t z = g->seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int64_t random_below(gen *g, uint64_t n)
{
    return (int64_t)(next_random(g) % n);
}

/* ---- the schema ---- */

#define PRIMITIVE(name_, id_) static const frz_type name_ = {.id = id_}
PRIMITIVE(t_unknown, FRZ_TYPE_UNKNOWN);
PRIMITIVE(t_boolean, FRZ_TYPE_BOOLEAN);
PRIMITIVE(t_int, FRZ_TYPE_INT);
PRIMITIVE(t_long, FRZ_TYPE_LONG);
PRIMITIVE(t_float, FRZ_TYPE_FLOAT);
PRIMITIVE(t_double, FRZ_TYPE_DOUBLE);
PRIMITIVE(t_date, FRZ_TYPE_DATE);
PRIMITIVE(t_time, FRZ_TYPE_TIME);
PRIMITIVE(t_timestamp, FRZ_TYPE_TIMESTAMP);
PRIMITIVE(t_timestamptz, FRZ_TYPE_TIMESTAMPTZ);
PRIMITIVE(t_timestamp_ns, FRZ_TYPE_TIMESTAMP_NS);
PRIMITIVE(t_timestamptz_ns, FRZ_TYPE_TIMESTAMPTZ_NS);
PRIMITIVE(t_string, FRZ_TYPE_STRING);
PRIMITIVE(t_uuid, FRZ_TYPE_UUID);
PRIMITIVE(t_binary, FRZ_TYPE_BINARY);
static const frz_type t_dec9 = {.id = FRZ_TYPE_DECIMAL, .precision = 9, .scale = 2};
static const frz_type t_dec18 = {.id = FRZ_TYPE_DECIMAL, .precision = 18, .scale = 4};
static const frz_type t_dec38 = {.id = FRZ_TYPE_DECIMAL, .precision = 38, .scale = 10};
static const frz_type t_fixed5 = {.id = FRZ_TYPE_FIXED, .length = 5};

#define FIELD(id_, req, name_, type_)                                                              \
    {                                                                                              \
        .id = id_, .required = req, .name = {name_, sizeof name_ - 1}, .type = type_               \
    }
#define NESTED(name_, kind, fields_)                                                               \
    static const frz_type name_ = {                                                                \
        .id = kind, .fields = fields_, .field_count = FRZ_ARRAY_COUNT(fields_)}

static const frz_field f_deep[] = {FIELD(25, true, "x", &t_double),
                                   FIELD(26, false, "y", &t_string)};
NESTED(t_deep, FRZ_TYPE_STRUCT, f_deep);
static const frz_field f_struct[] = {FIELD(22, false, "a", &t_int), FIELD(23, true, "b", &t_string),
                                     FIELD(24, false, "deep", &t_deep)};
NESTED(t_struct, FRZ_TYPE_STRUCT, f_struct);
static const frz_field f_longs[] = {FIELD(28, false, "element", &t_long)};
NESTED(t_longs, FRZ_TYPE_LIST, f_longs);
static const frz_field f_ints[] = {FIELD(31, true, "element", &t_int)};
NESTED(t_ints, FRZ_TYPE_LIST, f_ints);
static const frz_field f_lists[] = {FIELD(30, false, "element", &t_ints)};
NESTED(t_lists, FRZ_TYPE_LIST, f_lists);
static const frz_field f_doubles[] = {FIELD(36, false, "element", &t_double)};
NESTED(t_doubles, FRZ_TYPE_LIST, f_doubles);
static const frz_field f_item[] = {FIELD(34, false, "k", &t_string),
                                   FIELD(35, true, "v", &t_doubles)};
NESTED(t_item, FRZ_TYPE_STRUCT, f_item);
static const frz_field f_items[] = {FIELD(33, false, "element", &t_item)};
NESTED(t_items, FRZ_TYPE_LIST, f_items);
static const frz_field f_map[] = {FIELD(38, true, "key", &t_string),
                                  FIELD(39, false, "value", &t_long)};
NESTED(t_map, FRZ_TYPE_MAP, f_map);
static const frz_field f_texts[] = {FIELD(45, false, "element", &t_string)};
NESTED(t_texts, FRZ_TYPE_LIST, f_texts);
static const frz_field f_entry[] = {FIELD(43, false, "p", &t_date),
                                    FIELD(44, false, "q", &t_texts)};
NESTED(t_entry, FRZ_TYPE_STRUCT, f_entry);
static const frz_field f_map2[] = {FIELD(41, true, "key", &t_int),
                                   FIELD(42, false, "value", &t_entry)};
NESTED(t_map2, FRZ_TYPE_MAP, f_map2);
static const frz_field f_empty[] = {FIELD(53, false, "nothing", &t_unknown)};
NESTED(t_empty, FRZ_TYPE_STRUCT, f_empty);

static const frz_field columns[] = {
    FIELD(1, true, "id", &t_long),
    FIELD(2, false, "b", &t_boolean),
    FIELD(3, false, "i", &t_int),
    FIELD(4, false, "l", &t_long),
    FIELD(5, false, "f", &t_float),
    FIELD(6, false, "d", &t_double),
    FIELD(7, false, "dec9", &t_dec9),
    FIELD(8, false, "dec18", &t_dec18),
    FIELD(9, false, "dec38", &t_dec38),
    FIELD(10, false, "day", &t_date),
    FIELD(11, false, "t", &t_time),
    FIELD(12, false, "ts", &t_timestamp),
    FIELD(13, false, "tsz", &t_timestamptz),
    FIELD(14, false, "tsn", &t_timestamp_ns),
    FIELD(15, false, "tszn", &t_timestamptz_ns),
    FIELD(16, false, "s", &t_string),
    FIELD(17, false, "u", &t_uuid),
    FIELD(18, false, "fx", &t_fixed5),
    FIELD(19, false, "bin", &t_binary),
    FIELD(20, false, "unk", &t_unknown),
    FIELD(21, false, "st", &t_struct),
    FIELD(27, false, "ls", &t_longs),
    FIELD(29, true, "lls", &t_lists),
    FIELD(32, false, "items", &t_items),
    FIELD(37, false, "m", &t_map),
    FIELD(40, false, "mm", &t_map2),
    FIELD(46, true, "const_double", &t_double),
    FIELD(47, false, "const_string", &t_string),
    FIELD(48, false, "all_null", &t_long),
    FIELD(49, false, "late", &t_string),
    FIELD(50, false, "long_string", &t_string),
    FIELD(51, false, "few", &t_int),
    FIELD(52, false, "empty", &t_empty),
    FIELD(54, true, "extremes", &t_long),
    FIELD(55, true, "extremes32", &t_int),
    FIELD(56, false, "drifts", &t_long),
    FIELD(57, true, "req_string", &t_string),
    FIELD(58, true, "flag", &t_boolean),
};
static const frz_type table = {
    .id = FRZ_TYPE_STRUCT, .fields = columns, .field_count = FRZ_ARRAY_COUNT(columns)};

/* ---- values ---- */

static size_t random_text(gen *g, char *text, size_t max)
{
    static const char *const parts[] = {
        "a", "b", "xyz", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", " ", "0"};
    size_t wanted = (size_t)random_below(g, max);
    size_t len = 0;
    while (len < wanted) {
        const char *part = parts[next_random(g) % FRZ_ARRAY_COUNT(parts)];
        memcpy(text + len, part, strlen(part));
        len += strlen(part);
    }
    return len;
}

static frz_i128 random_decimal(gen *g, int32_t precision)
{
    frz_i128 limit = 1;
    for (int32_t i = 0; i < precision; i++) {
        limit *= 10;
    }
    unsigned __int128 bits = (unsigned __int128)next_random(g) << 64 | next_random(g);
    frz_i128 value = (frz_i128)(bits % (unsigned __int128)limit);
    return next_random(g) % 2 == 0 ? value : -value;
}

static double random_double(gen *g)
{
    switch (random_below(g, 20)) {
    case 0:
        return (double)NAN;
    case 1:
        return next_random(g) % 2 == 0 ? (double)INFINITY : -(double)INFINITY;
    case 2:
        return next_random(g) % 2 == 0 ? 0.0 : -0.0;
    default:
        return (double)(int64_t)next_random(g) / 1e15;
    }
}

/* text and bytes must outlive the value. */
static void random_value(gen *g, const frz_type *type, char *text, frz_value *v)
{
    uint64_t r = next_random(g);
    *v = (frz_value){.type = type};
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        v->as.boolean = r % 2;
        break;
    case FRZ_TYPE_INT:
        v->as.i32 = (int32_t)(r % 2000003) - 1000000;
        break;
    case FRZ_TYPE_DATE:
        v->as.i32 = (int32_t)(r % 40000) - 10000;
        break;
    case FRZ_TYPE_LONG:
        v->as.i64 = (int64_t)r >> 8;
        break;
    case FRZ_TYPE_TIME:
        v->as.i64 = (int64_t)(r % 86400000000u);
        break;
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        v->as.i64 = (int64_t)(r % 4000000000000000u) - 1000000000000000;
        break;
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        v->as.i64 = (int64_t)(r % 4000000000000000000u) - 1000000000000000000;
        break;
    case FRZ_TYPE_FLOAT:
        v->as.f32 = (float)random_double(g);
        break;
    case FRZ_TYPE_DOUBLE:
        v->as.f64 = random_double(g);
        break;
    case FRZ_TYPE_DECIMAL:
        v->as.i128 = random_decimal(g, type->precision);
        break;
    case FRZ_TYPE_UUID:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_BINARY: {
        size_t len = type->id == FRZ_TYPE_UUID    ? 16
                     : type->id == FRZ_TYPE_FIXED ? (size_t)type->length
                                                  : (size_t)random_below(g, 20);
        for (size_t i = 0; i < len; i++) {
            text[i] = (char)next_random(g);
        }
        v->as.bytes = (frz_str){text, len};
        break;
    }
    default:
        v->as.bytes = (frz_str){text, random_text(g, text, 24)};
    }
}

/* Columns that show one thing. */
static void special_value(gen *g, const frz_field *field, char *text, frz_value *v)
{
    switch (field->id) {
    case 1:
        v->as.i64 = 1000 + g->row;
        break;
    case 46:
        v->as.f64 = 1.5;
        break;
    case 47:
        v->as.bytes = FRZ_STR("always the same");
        break;
    case 48:
        v->is_null = true;
        break;
    case 49: /* nothing for a long time, then few values */
        v->is_null = g->row < g->rows / 2;
        v->as.bytes = (frz_str){&"xyz"[g->row % 3], 1};
        break;
    case 50:
        memset(text, 'p', 62);
        v->as.bytes = (frz_str){text, 62 + random_text(g, text + 62, 40)};
        break;
    case 51:
        v->as.i32 = (int32_t)(g->row % 7) * 1000003;
        break;
    case 54:
        v->as.i64 = (int64_t[]){INT64_MIN, INT64_MAX, 0, -1, 1}[next_random(g) % 5];
        v->as.i64 += v->as.i64 == 0 ? (int64_t)next_random(g) : 0;
        break;
    case 55:
        v->as.i32 = (int32_t[]){INT32_MIN, INT32_MAX, 0, -1, 1}[next_random(g) % 5];
        v->as.i32 += v->as.i32 == 0 ? (int32_t)next_random(g) : 0;
        break;
    case 56: /* few values first, then ever new ones */
        v->as.i64 = g->row < g->rows / 2 ? (g->row * g->row % 7 - 3) * (INT64_C(1) << 58)
                                         : (int64_t)next_random(g);
        break;
    default:
        break;
    }
}

static json_t *value_json(gen *g, const frz_value *v)
{
    double d = v->type->id == FRZ_TYPE_FLOAT ? (double)v->as.f32 : v->as.f64;
    frz_buf text = FRZ_BUF_INIT(g->env, 1 << 20);
    json_t *json = NULL;
    switch (v->type->id) {
    case FRZ_TYPE_BOOLEAN:
        return json_boolean(v->as.boolean);
    case FRZ_TYPE_INT:
        return json_integer(v->as.i32);
    case FRZ_TYPE_LONG:
        return json_integer(v->as.i64);
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DOUBLE:
        return isnan(d)   ? json_string("NaN")
               : isinf(d) ? json_string(d > 0 ? "Infinity" : "-Infinity")
                          : json_real(d);
    default:
        if (frz_value_print(v, &text, NULL) == FRZ_OK) {
            json = json_stringn(text.len == 0 ? "" : (const char *)text.data, text.len);
        }
        frz_buf_reset(&text);
        return json;
    }
}

static frz_code append_row(gen *g, const frz_field *field, frz_builder *builder, json_t **json,
                           frz_error *err);

static frz_code append_null(frz_builder *builder, json_t **json, frz_error *err)
{
    *json = json_null();
    return frz_builder_null(builder, err);
}

static frz_code append_primitive(gen *g, const frz_field *field, frz_builder *builder,
                                 json_t **json, frz_error *err)
{
    char text[256];
    frz_value v;
    random_value(g, field->type, text, &v);
    special_value(g, field, text, &v);
    if (v.is_null) {
        return append_null(builder, json, err);
    }
    *json = value_json(g, &v);
    return frz_builder_value(builder, &v, err);
}

static frz_code append_struct(gen *g, const frz_type *type, frz_builder *builder, json_t **json,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    *json = json_object();
    for (size_t i = 0; i < type->field_count; i++) {
        json_t *child = NULL;
        FRZ_TRY(append_row(g, &type->fields[i], frz_builder_child(builder, i), &child, err));
        json_object_setn_new(*json, type->fields[i].name.ptr, type->fields[i].name.len, child);
    }
    FRZ_TRY(frz_builder_end(builder, err));
out:
    return rc;
}

static frz_code append_entries(gen *g, const frz_type *type, frz_builder *builder, json_t **json,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t count = random_below(g, 5);
    *json = json_array();
    for (int64_t n = 0; n < count; n++) {
        json_t *parts[2] = {NULL, NULL};
        for (size_t i = 0; i < type->field_count; i++) {
            FRZ_TRY(append_row(g, &type->fields[i], frz_builder_child(builder, i), &parts[i], err));
        }
        json_array_append_new(*json,
                              type->id == FRZ_TYPE_LIST
                                  ? parts[0]
                                  : json_pack("{s:o,s:o}", "key", parts[0], "value", parts[1]));
    }
    FRZ_TRY(frz_builder_end(builder, err));
out:
    return rc;
}

static frz_code append_row(gen *g, const frz_field *field, frz_builder *builder, json_t **json,
                           frz_error *err)
{
    bool null = field->type->id == FRZ_TYPE_UNKNOWN ||
                (!field->required && (uint64_t)random_below(g, 100) < g->nulls);
    if (null) {
        return append_null(builder, json, err);
    }
    switch (field->type->id) {
    case FRZ_TYPE_STRUCT:
        return append_struct(g, field->type, builder, json, err);
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return append_entries(g, field->type, builder, json, err);
    default:
        return append_primitive(g, field, builder, json, err);
    }
}

/* ---- writing ---- */

#define BATCH_ROWS 500

static frz_code build_batch(gen *g, frz_builder *builder, int64_t count, struct ArrowArray *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; i < count; i++, g->row++) {
        json_t *json = NULL;
        rc = append_struct(g, &table, builder, &json, err);
        /* what is not stored is not found */
        json_object_del(json, "unk");
        json_object_del(json, "empty");
        char *line = rc == FRZ_OK ? json_dumps(json, JSON_COMPACT) : NULL;
        if (line != NULL) {
            puts(line);
        }
        free(line);
        json_decref(json);
        FRZ_TRY(rc);
    }
    FRZ_TRY(frz_builder_finish(builder, out, err));
out:
    return rc;
}

static frz_code write_columns(frz_parquet_writer *writer, const struct ArrowArray *batch,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_parquet_writer_begin_group(writer, batch->length, err));
    for (size_t i = 0; i < table.field_count; i++) {
        FRZ_TRY(frz_parquet_writer_append_column(writer, i, batch->children[i], err));
    }
    FRZ_TRY(frz_parquet_writer_end_group(writer, err));
out:
    return rc;
}

static frz_code generate(const frz_env *env, const char *path,
                         const frz_parquet_write_options *opts, int64_t rows, uint64_t nulls,
                         bool by_column, frz_error *err)
{
    frz_code rc = FRZ_OK;
    gen g = {.env = env, .seed = 42, .rows = rows, .nulls = nulls};
    frz_builder *builder = NULL;
    frz_parquet_writer *writer = NULL;
    struct ArrowArray batch = {.release = NULL};
    FRZ_TRY(frz_builder_new(env, &table, &builder, err));
    FRZ_TRY(frz_parquet_writer_open(env, path, &table, opts, &writer, err));
    while (g.row < rows) {
        FRZ_TRY(build_batch(&g, builder, FRZ_MIN(rows - g.row, BATCH_ROWS), &batch, err));
        FRZ_TRY(by_column ? write_columns(writer, &batch, err)
                          : frz_parquet_writer_write(writer, &batch, err));
        frz_array_release(&batch);
    }
    frz_parquet_writer *last = writer;
    writer = NULL;
    FRZ_TRY(frz_parquet_writer_finish(last, false, NULL, NULL, err));
out:
    frz_array_release(&batch);
    frz_builder_free(builder);
    frz_parquet_writer_abort(writer);
    return rc;
}

/* ---- the command line ---- */

#define NAMES_MAX 64
#define NAME_SIZE 64

typedef struct arguments {
    const char *path;
    frz_parquet_write_options opts;
    int64_t rows;
    uint64_t nulls;
    bool by_column;
    char names[NAMES_MAX][NAME_SIZE];
    frz_parquet_column_encoding encodings[NAMES_MAX];
    size_t encoding_count;
    frz_parquet_bloom_column blooms[NAMES_MAX];
    size_t bloom_count;
} arguments;

static bool parse_codec(const char *text, frz_parquet_codec *out)
{
    static const struct {
        const char *name;
        frz_parquet_codec codec;
    } codecs[] = {{"none", FRZ_PARQUET_UNCOMPRESSED}, {"snappy", FRZ_PARQUET_SNAPPY},
                  {"gzip", FRZ_PARQUET_GZIP},         {"brotli", FRZ_PARQUET_BROTLI},
                  {"zstd", FRZ_PARQUET_ZSTD},         {"lz4_raw", FRZ_PARQUET_LZ4_RAW}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        if (strcmp(text, codecs[i].name) == 0) {
            *out = codecs[i].codec;
            return true;
        }
    }
    return false;
}

/* COLUMN=NAME */
static bool parse_encoding(arguments *a, const char *text)
{
    static const struct {
        const char *name;
        frz_parquet_encoding encoding;
    } encodings[] = {{"plain", FRZ_PARQUET_PLAIN},
                     {"rle", FRZ_PARQUET_RLE},
                     {"delta", FRZ_PARQUET_DELTA_BINARY_PACKED},
                     {"delta_length", FRZ_PARQUET_DELTA_LENGTH_BYTE_ARRAY},
                     {"delta_bytes", FRZ_PARQUET_DELTA_BYTE_ARRAY},
                     {"dictionary", FRZ_PARQUET_RLE_DICTIONARY},
                     {"split", FRZ_PARQUET_BYTE_STREAM_SPLIT}};
    const char *equals = strchr(text, '=');
    size_t len = equals == NULL ? 0 : (size_t)(equals - text);
    if (a->encoding_count == NAMES_MAX || len == 0 || len >= NAME_SIZE) {
        return false;
    }
    char *name = a->names[a->encoding_count];
    memcpy(name, text, len);
    name[len] = '\0';
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(encodings); i++) {
        if (strcmp(equals + 1, encodings[i].name) == 0) {
            a->encodings[a->encoding_count++] =
                (frz_parquet_column_encoding){name, encodings[i].encoding};
            return true;
        }
    }
    return false;
}

/* COLUMN */
static bool parse_bloom(arguments *a, const char *text)
{
    if (a->bloom_count == NAMES_MAX) {
        return false;
    }
    a->blooms[a->bloom_count++].column = text;
    return true;
}

static bool parse_option(arguments *a, const char *name, const char *value)
{
    int64_t number = 0;
    if (strcmp(name, "--encoding") == 0) {
        return parse_encoding(a, value);
    }
    if (strcmp(name, "--bloom") == 0) {
        return parse_bloom(a, value);
    }
    if (strcmp(name, "--codec") == 0) {
        return parse_codec(value, &a->opts.codec);
    }
    if (strcmp(name, "--dictionary") == 0) {
        a->opts.no_dictionary = strcmp(value, "never") == 0;
        return true;
    }
    if (!frz_str_to_i64(frz_str_from(value), &number) || number < 0) {
        return false;
    }
    if (strcmp(name, "--rows") == 0) {
        a->rows = number;
    } else if (strcmp(name, "--page-version") == 0) {
        a->opts.page_version = (int)number;
    } else if (strcmp(name, "--page-bytes") == 0) {
        a->opts.page_bytes = (size_t)number;
    } else if (strcmp(name, "--page-rows") == 0) {
        a->opts.page_rows = number;
    } else if (strcmp(name, "--page-index") == 0) {
        a->opts.no_page_index = number == 0;
    } else if (strcmp(name, "--nulls") == 0) {
        a->nulls = (uint64_t)number;
    } else if (strcmp(name, "--group-rows") == 0) {
        a->opts.group_rows = number;
    } else {
        return false;
    }
    return true;
}

static bool parse_arguments(int argc, char **argv, arguments *a)
{
    *a = (arguments){.opts = FRZ_PARQUET_WRITE_OPTIONS_INIT, .rows = 1200, .nulls = 20};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--by-column") == 0) {
            a->by_column = true;
        } else if (argv[i][0] != '-') {
            a->path = argv[i];
        } else if (i + 1 == argc || !parse_option(a, argv[i], argv[i + 1])) {
            return false;
        } else {
            i++;
        }
    }
    a->opts.encodings = a->encodings;
    a->opts.encoding_count = a->encoding_count;
    a->opts.blooms = a->blooms;
    a->opts.bloom_count = a->bloom_count;
    return a->path != NULL;
}

int main(int argc, char **argv)
{
    frz_error err = {0};
    frz_env *env = NULL;
    arguments a;
    if (!parse_arguments(argc, argv, &a)) {
        fputs("usage: parquet_gen OUT [--rows N] [--codec C] [--page-version V] …\n", stderr);
        return 2;
    }
    if (frz_env_new(NULL, &env, &err) != FRZ_OK ||
        generate(env, a.path, &a.opts, a.rows, a.nulls, a.by_column, &err) != FRZ_OK) {
        char text[2048];
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "parquet_gen: %s\n", text);
        frz_env_free(env);
        return 1;
    }
    frz_env_free(env);
    return 0;
}
