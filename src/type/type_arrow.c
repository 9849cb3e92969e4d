/*
 * Types to and from ArrowSchema. The table of formats is the one place that says which Arrow type
 * stands for which Iceberg type.
 */
#include "type/type_annotation.h"
#include "type/type_internal.h"

#define KEY_FIELD_ID "PARQUET:field_id"
#define EXTENSION_UUID "arrow.uuid"
#define METADATA_MAX (1u << 26) /* as frz_schema_metadata reads it */
#define MAX_WIDE_PRECISION 76

/* Formats without parameters. The first of a type is the one written. */
static const struct {
    const char *format;
    frz_type_id id;
} formats[] = {
    {"n", FRZ_TYPE_UNKNOWN},
    {"b", FRZ_TYPE_BOOLEAN},
    {"i", FRZ_TYPE_INT},
    {"l", FRZ_TYPE_LONG},
    {"f", FRZ_TYPE_FLOAT},
    {"g", FRZ_TYPE_DOUBLE},
    {"tdD", FRZ_TYPE_DATE},
    {"ttu", FRZ_TYPE_TIME},
    {"tsu:", FRZ_TYPE_TIMESTAMP},
    {"tsu:UTC", FRZ_TYPE_TIMESTAMPTZ},
    {"tsn:", FRZ_TYPE_TIMESTAMP_NS},
    {"tsn:UTC", FRZ_TYPE_TIMESTAMPTZ_NS},
    {"u", FRZ_TYPE_STRING},
    {"z", FRZ_TYPE_BINARY},
    {"z", FRZ_TYPE_GEOMETRY},
    {"z", FRZ_TYPE_GEOGRAPHY},
    {"w:16", FRZ_TYPE_UUID},
    {"+s", FRZ_TYPE_STRUCT},
    {"+l", FRZ_TYPE_LIST},
    {"+m", FRZ_TYPE_MAP},
};

/* The same for types that Iceberg lacks. */
static const struct {
    const char *format;
    frz_foreign_type foreign;
} foreign_formats[] = {
    {"c", FRZ_FOREIGN_INT8},
    {"s", FRZ_FOREIGN_INT16},
    {"C", FRZ_FOREIGN_UINT8},
    {"S", FRZ_FOREIGN_UINT16},
    {"I", FRZ_FOREIGN_UINT32},
    {"L", FRZ_FOREIGN_UINT64},
    {"e", FRZ_FOREIGN_FLOAT16},
    {"ttm", FRZ_FOREIGN_TIME_MS},
    {"ttn", FRZ_FOREIGN_TIME_NS},
    {"tsm:", FRZ_FOREIGN_TIMESTAMP_MS},
    {"tsm:UTC", FRZ_FOREIGN_TIMESTAMPTZ_MS},
    {"tin", FRZ_FOREIGN_INTERVAL},
};

/* Beginnings of formats whose values the normalizer brings into the form of a type. */
static const struct {
    const char *format;
    frz_type_id id;
    frz_foreign_type foreign;
} layout_formats[] = {
    {"U", FRZ_TYPE_STRING, FRZ_FOREIGN_NONE},
    {"vu", FRZ_TYPE_STRING, FRZ_FOREIGN_NONE},
    {"Z", FRZ_TYPE_BINARY, FRZ_FOREIGN_NONE},
    {"vz", FRZ_TYPE_BINARY, FRZ_FOREIGN_NONE},
    {"+L", FRZ_TYPE_LIST, FRZ_FOREIGN_NONE},
    {"+vl", FRZ_TYPE_LIST, FRZ_FOREIGN_NONE},
    {"+vL", FRZ_TYPE_LIST, FRZ_FOREIGN_NONE},
    {"+w:", FRZ_TYPE_LIST, FRZ_FOREIGN_NONE},
    {"tdm", FRZ_TYPE_DATE, FRZ_FOREIGN_NONE},
    {"tD", FRZ_TYPE_LONG, FRZ_FOREIGN_NONE}, /* a duration of any unit */
    {"tiM", FRZ_TYPE_FOREIGN, FRZ_FOREIGN_INTERVAL},
    {"tiD", FRZ_TYPE_FOREIGN, FRZ_FOREIGN_INTERVAL},
    {"tts", FRZ_TYPE_FOREIGN, FRZ_FOREIGN_TIME_MS},
    {"tss:", FRZ_TYPE_FOREIGN, FRZ_FOREIGN_TIMESTAMPTZ_MS},
    {"tsm:", FRZ_TYPE_FOREIGN, FRZ_FOREIGN_TIMESTAMPTZ_MS},
};

/* ---- to Arrow ---- */

#define FORMAT_TEXT 40

typedef struct writer {
    const frz_env *env;
    frz_field_id_of id_of;
    const void *ctx;
} writer;

static frz_code format_of(const frz_type *type, char text[FORMAT_TEXT], frz_str *out,
                          frz_error *err)
{
    frz_buf fixed = {.data = (uint8_t *)text, .capacity = FORMAT_TEXT, .max = FORMAT_TEXT};
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(formats); i++) {
        if (formats[i].id == type->id) {
            *out = frz_str_from(formats[i].format);
            return FRZ_OK;
        }
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(foreign_formats); i++) {
        if (type->id == FRZ_TYPE_FOREIGN && foreign_formats[i].foreign == type->foreign) {
            *out = frz_str_from(foreign_formats[i].format);
            return FRZ_OK;
        }
    }
    if (type->id == FRZ_TYPE_DECIMAL || type->id == FRZ_TYPE_FOREIGN) {
        FRZ_TRY(frz_buf_printf(&fixed, err, "d:%d,%d%s", (int)type->precision, (int)type->scale,
                               type->id == FRZ_TYPE_FOREIGN ? ",256" : ""));
    } else {
        assert(type->id == FRZ_TYPE_FIXED);
        FRZ_TRY(frz_buf_printf(&fixed, err, "w:%d", (int)type->length));
    }
    *out = frz_buf_view(&fixed);
out:
    return rc;
}

static frz_code put_counted(frz_buf *buf, frz_str s, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t len = (int32_t)s.len;
    FRZ_TRY(frz_buf_append(buf, &len, sizeof len, err));
    FRZ_TRY(frz_buf_append(buf, s.ptr, s.len, err));
out:
    return rc;
}

static frz_code put_pair(frz_buf *buf, const char *key, frz_str value, frz_error *err)
{
    frz_code rc = put_counted(buf, frz_str_from(key), err);
    return rc == FRZ_OK ? put_counted(buf, value, err) : rc;
}

/* What a type says that its Arrow form does not, as a data file would. */
static frz_annotation annotation_of(const frz_type *type)
{
    frz_annotation annotation = {.crs = type->crs, .algorithm = type->algorithm};
    annotation.kind = type->id == FRZ_TYPE_VARIANT     ? FRZ_ANNOTATION_VARIANT
                      : type->id == FRZ_TYPE_GEOMETRY  ? FRZ_ANNOTATION_GEOMETRY
                      : type->id == FRZ_TYPE_GEOGRAPHY ? FRZ_ANNOTATION_GEOGRAPHY
                                                       : FRZ_ANNOTATION_NONE;
    return annotation;
}

static frz_code put_extension(frz_buf *buf, const frz_annotation *annotation, int32_t *pairs,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *extension = NULL;
    frz_buf metadata = FRZ_BUF_INIT(buf->env, METADATA_MAX);
    FRZ_TRY(frz_annotation_to_arrow(annotation, &extension, &metadata, err));
    if (extension != NULL) {
        FRZ_TRY(put_pair(buf, FRZ_ARROW_KEY_EXTENSION, frz_str_from(extension), err));
        FRZ_TRY(put_pair(buf, FRZ_ARROW_KEY_EXTENSION_METADATA, frz_buf_view(&metadata), err));
        *pairs += 2;
    }
out:
    frz_buf_reset(&metadata);
    return rc;
}

/* Pairs of an annotation, with the extension type that says the same. */
static frz_code put_annotation(frz_buf *buf, frz_str text, int32_t *pairs, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_annotation annotation;
    FRZ_TRY(put_pair(buf, FRZ_ARROW_KEY_LOGICAL_TYPE, text, err));
    *pairs += 1;
    if (frz_annotation_parse(text, &annotation)) {
        FRZ_TRY(put_extension(buf, &annotation, pairs, err));
    }
out:
    return rc;
}

static frz_code put_metadata(const writer *w, frz_buf *buf, const frz_field *field, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t pairs = 0;
    int32_t id = field->id;
    bool has_id = id != FRZ_ID_NONE && (w->id_of == NULL || w->id_of(w->ctx, field, &id));
    bool is_uuid = field->type->id == FRZ_TYPE_UUID;
    frz_annotation of_type = annotation_of(field->type);
    char digits[16];
    frz_buf text = {.data = (uint8_t *)digits, .capacity = sizeof digits, .max = sizeof digits};
    if (!has_id && !is_uuid && field->annotation.len == 0 && of_type.kind == FRZ_ANNOTATION_NONE) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_buf_append(buf, &pairs, sizeof pairs, err));
    if (has_id) {
        FRZ_TRY(frz_buf_printf(&text, err, "%d", (int)id));
        FRZ_TRY(put_pair(buf, KEY_FIELD_ID, frz_buf_view(&text), err));
        pairs++;
    }
    if (is_uuid) {
        FRZ_TRY(put_pair(buf, FRZ_ARROW_KEY_EXTENSION, FRZ_STR(EXTENSION_UUID), err));
        pairs++;
    }
    if (of_type.kind != FRZ_ANNOTATION_NONE) {
        FRZ_TRY(put_extension(buf, &of_type, &pairs, err));
    } else if (field->annotation.len > 0) {
        FRZ_TRY(put_annotation(buf, field->annotation, &pairs, err));
    }
    memcpy(buf->data, &pairs, sizeof pairs);
out:
    return rc;
}

static frz_code field_to_arrow(const writer *w, const frz_field *field, struct ArrowSchema *out,
                               frz_error *err);

/* The one child of a map: a struct of key and value. */
static frz_code entries_to_arrow(const writer *w, const frz_type *map, struct ArrowSchema *out,
                                 frz_error *err)
{
    frz_type type = {.id = FRZ_TYPE_STRUCT, .fields = map->fields, .field_count = 2};
    frz_field entries = {
        .id = FRZ_ID_NONE, .required = true, .name = FRZ_STR("entries"), .type = &type};
    frz_code rc = field_to_arrow(w, &entries, out, err);
    if (rc == FRZ_OK) {
        out->children[0]->flags &= ~(int64_t)ARROW_FLAG_NULLABLE; /* keys never are */
    }
    return rc;
}

static frz_code field_to_arrow(const writer *w, const frz_field *field, struct ArrowSchema *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = frz_type_storage(field->type);
    char format[FORMAT_TEXT];
    frz_buf metadata = FRZ_BUF_INIT(w->env, METADATA_MAX);
    struct ArrowSchema made = {0};
    frz_schema_spec spec = {.name = field->name};
    FRZ_TRY(format_of(type, format, &spec.format, err));
    FRZ_TRY(put_metadata(w, &metadata, field, err));
    spec.metadata = frz_buf_view(&metadata);
    spec.flags = field->required ? 0 : ARROW_FLAG_NULLABLE;
    spec.n_children = type->id == FRZ_TYPE_MAP ? 1 : type->field_count;
    FRZ_TRY(frz_schema_make(w->env, &spec, &made, err));
    if (type->id == FRZ_TYPE_MAP) {
        FRZ_TRY(entries_to_arrow(w, type, made.children[0], err));
    } else {
        for (size_t i = 0; i < type->field_count; i++) {
            FRZ_TRY(field_to_arrow(w, &type->fields[i], made.children[i], err));
        }
    }
    *out = made;
    made.release = NULL;
out:
    frz_schema_release(&made);
    frz_buf_reset(&metadata);
    return field->name.len == 0 ? rc
                                : frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(field->name));
}

frz_code frz_type_to_arrow_with_ids(const frz_env *env, const frz_type *struct_type,
                                    frz_field_id_of id_of, const void *ctx, struct ArrowSchema *out,
                                    frz_error *err)
{
    writer w = {.env = env, .id_of = id_of, .ctx = ctx};
    frz_field root = {
        .id = FRZ_ID_NONE, .required = true, .name = FRZ_STR(""), .type = struct_type};
    return field_to_arrow(&w, &root, out, err);
}

frz_code frz_type_to_arrow(const frz_env *env, const frz_type *struct_type, struct ArrowSchema *out,
                           frz_error *err)
{
    return frz_type_to_arrow_with_ids(env, struct_type, NULL, NULL, out, err);
}

/* ---- from Arrow ---- */

typedef struct reader {
    frz_arena *arena;
    bool native;                      /* FOREIGN types and other layouts too */
    const struct ArrowSchema *column; /* the top-level column, for messages */
} reader;

static const char *column_name(const reader *r)
{
    return r->column == NULL || r->column->name == NULL ? "" : r->column->name;
}

static frz_code read_type(const reader *r, const struct ArrowSchema *schema, int depth,
                          const frz_type **out, frz_error *err);

static frz_code new_type(const reader *r, frz_type type, const frz_type **out, frz_error *err)
{
    frz_type *made = frz_arena_alloc(r->arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    *made = type;
    *out = made;
    return FRZ_OK;
}

static frz_code unsupported(const reader *r, const struct ArrowSchema *schema, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: Arrow type \"%s\"%s in column \"%s\"",
                    schema->format, schema->dictionary != NULL ? " as a dictionary" : "",
                    column_name(r));
}

/* The id in the metadata, FRZ_ID_NONE without. */
static frz_code read_field_id(const reader *r, const struct ArrowSchema *schema, int32_t *out,
                              frz_error *err)
{
    frz_str text;
    size_t size;
    int64_t id = FRZ_ID_NONE;
    frz_code rc = frz_schema_metadata(schema, FRZ_STR(KEY_FIELD_ID), &text, &size, err);
    if (rc == FRZ_OK && text.ptr != NULL &&
        (!frz_str_to_i64(text, &id) || id < 0 || id > INT32_MAX)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "column \"%s\": \"%.*s\" is not a field id",
                      column_name(r), FRZ_STR_ARG(text));
    }
    *out = (int32_t)id;
    return rc;
}

static frz_code read_field(const reader *r, const struct ArrowSchema *schema, int depth,
                           frz_field *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str name = frz_str_from(schema->name);
    if (!frz_utf8_valid(name)) {
        return frz_fail(err, FRZ_E_CORRUPT, "the name of a column is not UTF-8");
    }
    FRZ_TRY(read_field_id(r, schema, &out->id, err));
    FRZ_TRY(frz_arena_str(r->arena, name, &out->name, err));
    FRZ_TRY(read_type(r, schema, depth, &out->type, err));
    out->required = (schema->flags & ARROW_FLAG_NULLABLE) == 0;
    if (r->native) {
        FRZ_TRY(frz_annotation_from_arrow(r->arena, schema, out->type, &out->annotation, err));
    }
out:
    return rc;
}

static frz_code read_children(const reader *r, const struct ArrowSchema *schema, frz_type_id id,
                              int depth, const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = (size_t)schema->n_children;
    frz_field *fields = frz_arena_array(r->arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        reader below = *r;
        if (depth == 0) {
            below.column = schema->children[i];
        }
        FRZ_TRY(read_field(&below, schema->children[i], depth + 1, &fields[i], err));
    }
    if (id == FRZ_TYPE_LIST) {
        fields[0].name = FRZ_STR("element");
    } else if (id == FRZ_TYPE_MAP) {
        fields[0].name = FRZ_STR("key");
        fields[0].required = true;
        fields[1].name = FRZ_STR("value");
    }
    FRZ_TRY(new_type(r, (frz_type){.id = id, .fields = fields, .field_count = count}, out, err));
out:
    return rc;
}

static frz_code read_nested(const reader *r, const struct ArrowSchema *schema, frz_type_id id,
                            int depth, const frz_type **out, frz_error *err)
{
    if (depth >= TYPE_MAX_DEPTH) {
        return frz_fail(err, FRZ_E_LIMIT, "column \"%s\" is nested more than %d levels deep",
                        column_name(r), TYPE_MAX_DEPTH);
    }
    if (id == FRZ_TYPE_MAP && schema->n_children == 1 &&
        strcmp(schema->children[0]->format, "+s") == 0) {
        schema = schema->children[0];
    }
    if (schema->n_children < 0 || (id == FRZ_TYPE_LIST && schema->n_children != 1) ||
        (id == FRZ_TYPE_MAP && schema->n_children != 2)) {
        return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\": Arrow type \"%s\" has %lld children",
                        column_name(r), schema->format, (long long)schema->n_children);
    }
    return read_children(r, schema, id, depth, out, err);
}

static bool is_decimal(const reader *r, int64_t precision, int64_t scale, int64_t bits)
{
    if (r->native) { /* data files have no other scales */
        bool known = bits == 32 || bits == 64 || bits == 128 || bits == 256;
        return known && precision >= 1 && precision <= MAX_WIDE_PRECISION && scale >= 0 &&
               scale <= precision;
    }
    return bits == 128 && precision >= 1 && precision <= TYPE_MAX_PRECISION && scale >= 0 &&
           scale <= TYPE_MAX_PRECISION;
}

/* "d:P,S" or "d:P,S,BITS" */
static frz_code read_decimal(const reader *r, const struct ArrowSchema *schema,
                             const frz_type **out, frz_error *err)
{
    int64_t numbers[3] = {0, 0, 128};
    size_t count = 0;
    const char *p = schema->format + 2;
    for (bool more = true; more && count < 3; count++) {
        size_t len = strcspn(p, ",");
        if (!frz_str_to_i64((frz_str){p, len}, &numbers[count])) {
            return unsupported(r, schema, err);
        }
        more = p[len] == ',';
        p += len + (more ? 1 : 0);
    }
    if (count < 2 || *p != '\0' || !is_decimal(r, numbers[0], numbers[1], numbers[2])) {
        return unsupported(r, schema, err);
    }
    frz_type type = {
        .id = FRZ_TYPE_DECIMAL, .precision = (int32_t)numbers[0], .scale = (int32_t)numbers[1]};
    if (type.precision > TYPE_MAX_PRECISION) {
        type.id = FRZ_TYPE_FOREIGN;
        type.foreign = FRZ_FOREIGN_DECIMAL256;
    }
    return new_type(r, type, out, err);
}

static frz_code read_fixed(const reader *r, const struct ArrowSchema *schema, const frz_type **out,
                           frz_error *err)
{
    int64_t length;
    frz_str extension;
    size_t size;
    if (!frz_str_to_i64(frz_str_from(schema->format + 2), &length) || length < 1 ||
        length > INT32_MAX) {
        return unsupported(r, schema, err);
    }
    frz_code rc =
        frz_schema_metadata(schema, FRZ_STR(FRZ_ARROW_KEY_EXTENSION), &extension, &size, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (length == 16 && frz_str_equal(extension, FRZ_STR(EXTENSION_UUID))) {
        *out = frz_type_primitive(FRZ_TYPE_UUID);
        return FRZ_OK;
    }
    return new_type(r, (frz_type){.id = FRZ_TYPE_FIXED, .length = (int32_t)length}, out, err);
}

/* Types that Iceberg lacks, and other layouts. */
static frz_code read_native(const reader *r, const struct ArrowSchema *schema, int depth,
                            const frz_type **out, frz_error *err)
{
    frz_str format = frz_str_from(schema->format);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(foreign_formats); i++) {
        if (frz_str_equal(format, frz_str_from(foreign_formats[i].format))) {
            *out = frz_type_foreign(foreign_formats[i].foreign);
            return FRZ_OK;
        }
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(layout_formats); i++) {
        if (!frz_str_starts_with(format, frz_str_from(layout_formats[i].format))) {
            continue;
        }
        if (layout_formats[i].foreign != FRZ_FOREIGN_NONE) {
            /* a zone only says how to show an instant; without one it is none */
            bool local = frz_str_equal(format, FRZ_STR("tss:"));
            *out = frz_type_foreign(local ? FRZ_FOREIGN_TIMESTAMP_MS : layout_formats[i].foreign);
            return FRZ_OK;
        }
        if (layout_formats[i].id == FRZ_TYPE_LIST) {
            return read_nested(r, schema, FRZ_TYPE_LIST, depth, out, err);
        }
        *out = frz_type_primitive(layout_formats[i].id);
        return FRZ_OK;
    }
    if (frz_str_equal(format, FRZ_STR("+r")) && schema->n_children == 2 && depth < TYPE_MAX_DEPTH) {
        return read_type(r, schema->children[1], depth + 1, out, err);
    }
    return unsupported(r, schema, err);
}

static frz_code read_type(const reader *r, const struct ArrowSchema *schema, int depth,
                          const frz_type **out, frz_error *err)
{
    frz_str format = frz_str_from(schema->format);
    if (schema->dictionary != NULL && r->native && depth < TYPE_MAX_DEPTH) {
        return read_type(r, schema->dictionary, depth + 1, out, err);
    }
    if (schema->dictionary != NULL) {
        return unsupported(r, schema, err);
    }
    if (frz_str_starts_with(format, FRZ_STR("d:"))) {
        return read_decimal(r, schema, out, err);
    }
    if (frz_str_starts_with(format, FRZ_STR("w:"))) {
        return read_fixed(r, schema, out, err);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(formats); i++) {
        if (!frz_str_equal(format, frz_str_from(formats[i].format))) {
            continue;
        }
        if (formats[i].id >= FRZ_TYPE_STRUCT) {
            return read_nested(r, schema, formats[i].id, depth, out, err);
        }
        *out = frz_type_primitive(formats[i].id);
        return FRZ_OK;
    }
    /* a zone only says how to show an instant */
    if (frz_str_starts_with(format, FRZ_STR("tsu:"))) {
        *out = frz_type_primitive(FRZ_TYPE_TIMESTAMPTZ);
        return FRZ_OK;
    }
    if (frz_str_starts_with(format, FRZ_STR("tsn:"))) {
        *out = frz_type_primitive(FRZ_TYPE_TIMESTAMPTZ_NS);
        return FRZ_OK;
    }
    return r->native ? read_native(r, schema, depth, out, err) : unsupported(r, schema, err);
}

static frz_code from_arrow(frz_arena *arena, const struct ArrowSchema *schema, bool native,
                           const frz_type **out, frz_error *err)
{
    reader r = {.arena = arena, .native = native};
    if (strcmp(schema->format, "+s") != 0) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "expected a struct of columns, found Arrow type \"%s\"", schema->format);
    }
    return read_type(&r, schema, 0, out, err);
}

frz_code frz_type_from_arrow(frz_arena *arena, const struct ArrowSchema *schema,
                             const frz_type **out, frz_error *err)
{
    return from_arrow(arena, schema, false, out, err);
}

frz_code frz_type_from_arrow_native(frz_arena *arena, const struct ArrowSchema *schema,
                                    const frz_type **out, frz_error *err)
{
    return from_arrow(arena, schema, true, out, err);
}
