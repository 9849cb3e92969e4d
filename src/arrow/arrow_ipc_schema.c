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
    size_t wanted = ipc_type_children(&out->type);
    if (wanted != SIZE_MAX && wanted != out->child_count) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the format \"%s\" has %zu children, expected %zu",
                        schema->format, out->child_count, wanted);
    }
    out->children = frz_arena_array(r->arena, out->child_count, sizeof *out->children);
    if (out->children == NULL) {
        return frz_fail_nomem(err, out->child_count * sizeof *out->children);
    }
    for (size_t i = 0; i < out->child_count; i++) {
        FRZ_TRY(field_from_schema(r, schema->children[i], depth + 1, &out->children[i], err));
    }
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
