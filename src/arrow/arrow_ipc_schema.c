/*
 * Schemas: the C data interface's ArrowSchema and the message's Schema table, each to and from a
 * tree of ipc_field.
 *
 * A dictionary-encoded field is in an ArrowSchema a node of the index type that has a dictionary
 * node; in a message it is a field of the value type that has an encoding with the index type.
 */
#include "arrow/arrow_ipc.h"

/* Slots of the tables. */
enum { FIELD_NAME, FIELD_NULLABLE, FIELD_TAG, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN };
#define FIELD_METADATA 6

/* What a type asks of its children. */
static frz_code check_children(const ipc_field *field, frz_code code, frz_error *err)
{
    size_t wanted = ipc_type_children(&field->type);
    const ipc_field *first = field->children;
    if (wanted != SIZE_MAX && wanted != field->child_count) {
        return frz_fail(err, code, "the type has %zu children, expected %zu", field->child_count,
                        wanted);
    }
    if (field->type.tag == IPC_MAP &&
        (first->type.tag != IPC_STRUCT || first->encoded || first->child_count != 2)) {
        return frz_fail(err, code, "the entries of a map are not a struct of key and value");
    }
    if (field->type.tag == IPC_RUN_END && (first->type.tag != IPC_INT || first->encoded ||
                                           first->type.b == 0 || first->type.width == 1)) {
        return frz_fail(err, code, "run ends are not of a signed type of 16, 32 or 64 bits");
    }
    return FRZ_OK;
}

/* ---- from ArrowSchema ---- */

typedef struct reading {
    frz_arena *arena;
    int64_t next_id;
} reading;

/* The metadata of a schema node as one text. */
static frz_code metadata_of(const struct ArrowSchema *schema, frz_str *out, frz_error *err)
{
    frz_str value;
    size_t size = 0;
    frz_code rc = frz_schema_metadata(schema, FRZ_STR(""), &value, &size, err);
    bool empty = size <= sizeof(int32_t); /* a count of 0 */
    *out = empty ? (frz_str){0} : (frz_str){schema->metadata, size};
    return rc;
}

/* Entries of both, those of the first before. A message has one place for the metadata of a field
 * and of its dictionary's values. */
static frz_code join_metadata(frz_arena *arena, frz_str a, frz_str b, frz_str *out, frz_error *err)
{
    if (a.len == 0 || b.len == 0) {
        *out = a.len == 0 ? b : a;
        return FRZ_OK;
    }
    char *joined = frz_arena_alloc(arena, a.len + b.len);
    if (joined == NULL) {
        return frz_fail_nomem(err, a.len + b.len);
    }
    memcpy(joined, a.ptr, a.len);
    memcpy(joined + a.len, b.ptr + 4, b.len - 4);
    frz_store_le32(joined, frz_load_le32(a.ptr) + frz_load_le32(b.ptr));
    *out = (frz_str){joined, a.len + b.len - 4};
    return FRZ_OK;
}

static frz_code field_from_schema(reading *r, const struct ArrowSchema *schema, unsigned depth,
                                  ipc_field *out, frz_error *err);

static frz_code children_from_schema(reading *r, const struct ArrowSchema *schema, unsigned depth,
                                     ipc_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (schema->n_children < 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a schema has a negative number of children");
    }
    out->child_count = (size_t)schema->n_children;
    out->children = frz_arena_array(r->arena, out->child_count, sizeof *out->children);
    if (out->children == NULL) {
        return frz_fail_nomem(err, out->child_count * sizeof *out->children);
    }
    for (size_t i = 0; i < out->child_count; i++) {
        FRZ_TRY(field_from_schema(r, schema->children[i], depth + 1, &out->children[i], err));
    }
    FRZ_TRY(check_children(out, FRZ_E_ARGUMENT, err));
out:
    return rc;
}

static frz_code type_from_schema(reading *r, const struct ArrowSchema *schema, ipc_type *out,
                                 frz_error *err)
{
    frz_code rc = ipc_type_from_format(r->arena, frz_str_from(schema->format), out, err);
    if (rc == FRZ_OK && out->tag == IPC_MAP) {
        out->a = (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0;
    }
    return rc;
}

/* The type, for an encoded field its index type and what the dictionary node says. */
static frz_code encoding_from_schema(reading *r, const struct ArrowSchema *schema, ipc_field *out,
                                     frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str more;
    if (schema->dictionary == NULL) {
        return type_from_schema(r, schema, &out->type, err);
    }
    FRZ_TRY(type_from_schema(r, schema, &out->index, err));
    if (out->index.tag != IPC_INT) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the indices of a dictionary have the format \"%s\"",
                        schema->format);
    }
    out->encoded = true;
    out->ordered = (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0;
    out->dictionary_id = r->next_id++;
    if (schema->dictionary->dictionary != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: a dictionary whose values are themselves encoded");
    }
    FRZ_TRY(type_from_schema(r, schema->dictionary, &out->type, err));
    FRZ_TRY(metadata_of(schema->dictionary, &more, err));
    FRZ_TRY(join_metadata(r->arena, out->metadata, more, &out->metadata, err));
out:
    return rc;
}

static frz_code field_from_schema(reading *r, const struct ArrowSchema *schema, unsigned depth,
                                  ipc_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    *out = (ipc_field){.name = frz_str_from(schema->name == NULL ? "" : schema->name),
                       .nullable = (schema->flags & ARROW_FLAG_NULLABLE) != 0};
    if (depth > IPC_MAX_DEPTH) {
        return frz_fail(err, FRZ_E_LIMIT, "types are nested deeper than %d", IPC_MAX_DEPTH);
    }
    if (!frz_utf8_valid(out->name)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the name of a column is not UTF-8");
    }
    FRZ_TRY(metadata_of(schema, &out->metadata, err));
    FRZ_TRY(encoding_from_schema(r, schema, out, err));
    FRZ_TRY(children_from_schema(r, values, depth, out, err));
out:
    return depth == 0 ? rc : frz_context(err, rc, "column \"%s\"", schema->name);
}

frz_code ipc_field_from_schema(frz_arena *arena, const struct ArrowSchema *schema, ipc_field *out,
                               frz_error *err)
{
    reading r = {.arena = arena};
    frz_code rc = field_from_schema(&r, schema, 0, out, err);
    if (rc == FRZ_OK && (out->type.tag != IPC_STRUCT || out->encoded)) {
        rc = frz_fail(err, FRZ_E_ARGUMENT,
                      "the schema of a stream has the format \"%s\", not \"+s\"", schema->format);
    }
    return rc;
}

/* ---- to messages ---- */

/* KeyValue tables from counted texts. */
static frz_code put_metadata(frz_buf *buf, size_t ref, frz_str metadata, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *p = metadata.ptr + 4;
    size_t count = frz_load_le32(metadata.ptr);
    size_t at;
    FRZ_TRY(flat_put_vector(buf, ref, count, 4, &at, err));
    for (size_t i = 0; i < count; i++) {
        flat_field pair[] = {FLAT_REF, FLAT_REF};
        FRZ_TRY(flat_put_table(buf, at + 4 * i, pair, FRZ_ARRAY_COUNT(pair), err));
        for (size_t k = 0; k < FRZ_ARRAY_COUNT(pair); k++) {
            frz_str text = {p + 4, frz_load_le32(p)};
            FRZ_TRY(flat_put_string(buf, pair[k].at, text, err));
            p += 4 + text.len;
        }
    }
out:
    return rc;
}

/* DictionaryEncoding: id, indexType, isOrdered, dictionaryKind. */
static frz_code put_encoding(frz_buf *buf, size_t ref, const ipc_field *field, frz_error *err)
{
    flat_field fields[] = {FLAT_VALUE(8, field->dictionary_id), FLAT_REF,
                           FLAT_VALUE(1, field->ordered)};
    frz_code rc = flat_put_table(buf, ref, fields, FRZ_ARRAY_COUNT(fields), err);
    return rc == FRZ_OK ? ipc_type_put(buf, fields[1].at, &field->index, err) : rc;
}

static frz_code put_fields(frz_buf *buf, size_t ref, const ipc_field *fields, size_t count,
                           frz_error *err);

/* Field: name, nullable, type_type, type, dictionary, children, custom_metadata. */
static frz_code put_field(frz_buf *buf, size_t ref, const ipc_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_field fields[] = {FLAT_REF,
                           FLAT_VALUE(1, field->nullable),
                           FLAT_VALUE(1, field->type.tag),
                           FLAT_REF,
                           {.width = field->encoded ? 4 : 0},
                           FLAT_REF,
                           {.width = field->metadata.len > 0 ? 4 : 0}};
    FRZ_TRY(flat_put_table(buf, ref, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(flat_put_string(buf, fields[FIELD_NAME].at, field->name, err));
    FRZ_TRY(ipc_type_put(buf, fields[FIELD_TYPE].at, &field->type, err));
    if (field->encoded) {
        FRZ_TRY(put_encoding(buf, fields[FIELD_DICTIONARY].at, field, err));
    }
    FRZ_TRY(put_fields(buf, fields[FIELD_CHILDREN].at, field->children, field->child_count, err));
    if (field->metadata.len > 0) {
        FRZ_TRY(put_metadata(buf, fields[FIELD_METADATA].at, field->metadata, err));
    }
out:
    return rc;
}

static frz_code put_fields(frz_buf *buf, size_t ref, const ipc_field *fields, size_t count,
                           frz_error *err)
{
    size_t at;
    frz_code rc = flat_put_vector(buf, ref, count, 4, &at, err);
    for (size_t i = 0; i < count && rc == FRZ_OK; i++) {
        rc = put_field(buf, at + 4 * i, &fields[i], err);
    }
    return rc;
}

/* Schema: endianness, fields, custom_metadata. */
frz_code ipc_schema_put(frz_buf *buf, size_t ref, const ipc_field *root, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_field fields[] = {FLAT_VALUE(2, 0), FLAT_REF, {.width = root->metadata.len > 0 ? 4 : 0}};
    FRZ_TRY(flat_put_table(buf, ref, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(put_fields(buf, fields[1].at, root->children, root->child_count, err));
    if (root->metadata.len > 0) {
        FRZ_TRY(put_metadata(buf, fields[2].at, root->metadata, err));
    }
out:
    return rc;
}

/* ---- from messages ---- */

/* What a message makes us hold is bounded by its size: each field takes its own reference of 4
 * bytes, but references may share what they lead to. */
#define FIELD_BYTES 4
#define TEXT_RATIO 64
#define TEXT_SLACK 4096

typedef struct parsing {
    frz_arena *arena;
    size_t fields; /* that may still come */
    size_t texts;  /* bytes that may still come */
} parsing;

/* A name or a piece of metadata, as a view. */
static frz_code get_text(parsing *p, const flat_table *t, unsigned field, frz_str *out,
                         frz_error *err)
{
    *out = flat_get_string(t, field);
    size_t size = out->len + sizeof(int32_t); /* counted, so that empty ones are not free */
    if (size > p->texts) {
        return frz_fail(err, FRZ_E_LIMIT, "the texts of a schema take more than %d times its bytes",
                        TEXT_RATIO);
    }
    p->texts -= size;
    return FRZ_OK;
}

static frz_code get_name(parsing *p, const flat_table *t, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str name;
    FRZ_TRY(get_text(p, t, FIELD_NAME, &name, err));
    if (!frz_utf8_valid(name) || !frz_str_is_clean(name)) {
        return frz_fail(err, FRZ_E_CORRUPT, "the name of a field is not UTF-8 or contains a NUL");
    }
    FRZ_TRY(frz_arena_str(p->arena, name, out, err));
out:
    return rc;
}

/* KeyValue tables as counted texts in one piece. */
static frz_code get_metadata(parsing *p, const flat_table *t, unsigned field, frz_str *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_vector pairs = flat_get_vector(t, field, 4);
    frz_buf buf = FRZ_BUF_INIT(p->arena->env, FLAT_MAX);
    uint8_t word[4];
    if (pairs.count == 0) {
        *out = (frz_str){0};
        return FRZ_OK;
    }
    frz_store_le32(word, (uint32_t)pairs.count);
    FRZ_TRY(frz_buf_append(&buf, word, sizeof word, err));
    for (size_t i = 0; i < pairs.count; i++) {
        flat_table pair = flat_item_table(&pairs, i);
        for (unsigned k = 0; k < 2; k++) {
            frz_str text;
            FRZ_TRY(get_text(p, &pair, k, &text, err));
            frz_store_le32(word, (uint32_t)text.len);
            FRZ_TRY(frz_buf_append(&buf, word, sizeof word, err));
            FRZ_TRY(frz_buf_append(&buf, text.ptr, text.len, err));
        }
    }
    FRZ_TRY(frz_arena_str(p->arena, frz_buf_view(&buf), out, err));
out:
    frz_buf_reset(&buf);
    return rc;
}

/* DictionaryEncoding: id, indexType, isOrdered, dictionaryKind. */
static frz_code get_encoding(parsing *p, const flat_table *t, ipc_field *out, frz_error *err)
{
    flat_table index = flat_get_table(t, 1);
    out->encoded = true;
    out->ordered = flat_bool(t, 2);
    out->dictionary_id = flat_i64(t, 0, 0);
    if (flat_i16(t, 3, 0) != 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: a dictionary of another kind");
    }
    if (index.at == 0) {
        return ipc_type_from_format(p->arena, FRZ_STR("i"), &out->index, err);
    }
    return ipc_type_get(p->arena, &index, IPC_INT, 0, &out->index, err);
}

static frz_code get_fields(parsing *p, const flat_table *t, unsigned field, unsigned depth,
                           ipc_field *out, frz_error *err);

static frz_code get_field(parsing *p, const flat_table *t, unsigned depth, ipc_field *out,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(get_name(p, t, &out->name, err));
    out->nullable = flat_bool(t, FIELD_NULLABLE);
    FRZ_TRY(get_fields(p, t, FIELD_CHILDREN, depth + 1, out, err));
    flat_table type = flat_get_table(t, FIELD_TYPE);
    FRZ_TRY(ipc_type_get(p->arena, &type, (uint8_t)flat_i8(t, FIELD_TAG, 0), out->child_count,
                         &out->type, err));
    flat_table encoding = flat_get_table(t, FIELD_DICTIONARY);
    if (encoding.at != 0) {
        FRZ_TRY(get_encoding(p, &encoding, out, err));
    }
    FRZ_TRY(get_metadata(p, t, FIELD_METADATA, &out->metadata, err));
    FRZ_TRY(flat_check(t->in, err));
    FRZ_TRY(check_children(out, FRZ_E_CORRUPT, err));
out:
    return frz_context(err, rc, "field \"%.*s\"", FRZ_STR_ARG(out->name));
}

static frz_code get_fields(parsing *p, const flat_table *t, unsigned field, unsigned depth,
                           ipc_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_vector items = flat_get_vector(t, field, 4);
    if (items.count == 0) {
        return FRZ_OK;
    }
    if (depth > IPC_MAX_DEPTH) {
        return frz_fail(err, FRZ_E_LIMIT, "types are nested deeper than %d", IPC_MAX_DEPTH);
    }
    if (items.count > p->fields) {
        return frz_fail(err, FRZ_E_CORRUPT, "a schema of %zu bytes has too many fields",
                        t->in->size);
    }
    p->fields -= items.count;
    out->children = frz_arena_array(p->arena, items.count, sizeof *out->children);
    if (out->children == NULL) {
        return frz_fail_nomem(err, items.count * sizeof *out->children);
    }
    out->child_count = items.count;
    for (size_t i = 0; i < items.count; i++) {
        flat_table item = flat_item_table(&items, i);
        FRZ_TRY(get_field(p, &item, depth, &out->children[i], err));
    }
out:
    return rc;
}

/* Features that a reader has to know: replaced dictionaries, compressed bodies. */
static frz_code check_features(const flat_table *t, frz_error *err)
{
    flat_vector features = flat_get_vector(t, 3, 8);
    for (size_t i = 0; i < features.count; i++) {
        uint64_t feature = frz_load_le64(flat_item(&features, i));
        if (feature > 2) {
            return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: feature %llu of Arrow IPC",
                            (unsigned long long)feature);
        }
    }
    return FRZ_OK;
}

frz_code ipc_schema_get(frz_arena *arena, const flat_table *table, ipc_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    parsing p = {.arena = arena,
                 .fields = table->in->size / FIELD_BYTES,
                 .texts = table->in->size * TEXT_RATIO + TEXT_SLACK};
    *out = (ipc_field){.name = FRZ_STR("")};
    if (flat_i16(table, 0, 0) != 0) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: big-endian data");
    }
    FRZ_TRY(check_features(table, err));
    FRZ_TRY(ipc_type_from_format(arena, FRZ_STR("+s"), &out->type, err));
    FRZ_TRY(get_fields(&p, table, 1, 1, out, err));
    FRZ_TRY(get_metadata(&p, table, 2, &out->metadata, err));
    FRZ_TRY(flat_check(table->in, err));
out:
    return rc;
}

/* ---- to ArrowSchema ---- */

static frz_code fill_schema(const frz_env *env, frz_arena *arena, const ipc_field *field,
                            struct ArrowSchema *out, frz_error *err);

/* A node of a type with the children of the field's values. */
static frz_code fill_values(const frz_env *env, frz_arena *arena, const ipc_field *field,
                            frz_schema_spec *spec, struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(ipc_type_format(arena, &field->type, &spec->format, err));
    spec->n_children = field->child_count;
    if (field->type.tag == IPC_MAP && field->type.a != 0) {
        spec->flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    }
    FRZ_TRY(frz_schema_make(env, spec, out, err));
    for (size_t i = 0; i < field->child_count; i++) {
        FRZ_TRY(fill_schema(env, arena, &field->children[i], out->children[i], err));
    }
out:
    return rc;
}

static frz_code fill_schema(const frz_env *env, frz_arena *arena, const ipc_field *field,
                            struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_schema_spec spec = {.name = field->name,
                            .metadata = field->metadata,
                            .flags = field->nullable ? ARROW_FLAG_NULLABLE : 0,
                            .has_dictionary = field->encoded};
    frz_schema_spec values = {.name = FRZ_STR(""), .flags = ARROW_FLAG_NULLABLE};
    if (!field->encoded) {
        return fill_values(env, arena, field, &spec, out, err);
    }
    spec.flags |= field->ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0;
    FRZ_TRY(ipc_type_format(arena, &field->index, &spec.format, err));
    FRZ_TRY(frz_schema_make(env, &spec, out, err));
    FRZ_TRY(fill_values(env, arena, field, &values, out->dictionary, err));
out:
    return rc;
}

frz_code ipc_field_to_schema(const frz_env *env, const ipc_field *field, struct ArrowSchema *out,
                             frz_error *err)
{
    frz_arena arena;
    struct ArrowSchema made = {.release = NULL};
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    frz_code rc = fill_schema(env, &arena, field, &made, err);
    if (rc == FRZ_OK) {
        *out = made;
        made.release = NULL;
    }
    frz_schema_release(&made);
    frz_arena_reset(&arena);
    return rc;
}
