/*
 * The file's schema as close to it as Arrow allows. Beside the Iceberg types of the nodes there is
 * this second reading of the same elements: widths, units and annotations are kept, and what
 * Iceberg cannot read is its storage. spec: LogicalTypes
 *
 * Ids are places in the file's list of elements, which every field has one of; the element of a
 * repeated field outside LIST and MAP is two fields, the list and its item, and the item's id lies
 * behind all places.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"
#include "type/type_annotation.h"

#define DECIMAL_DIGITS 38
#define DECIMAL256_DIGITS 76
#define CONVERTED_INTERVAL 21
#define PROJJSON "projjson:"

/* ---- leaf columns ---- */

static frz_type plain(frz_type_id id)
{
    return (frz_type){.id = id};
}

static frz_type foreign(frz_foreign_type which)
{
    return (frz_type){.id = FRZ_TYPE_FOREIGN, .foreign = which};
}

static bool is_decimal(const parquet_element *e)
{
    /* longer values of fixed length are not decoded as numbers */
    bool fits = e->physical != PARQUET_FIXED_LEN_BYTE_ARRAY ||
                (e->type_length > 0 && e->type_length <= PARQUET_MAX_DECIMAL_WIDTH);
    return e->logical == PARQUET_LOGICAL_DECIMAL && e->precision >= 1 &&
           e->precision <= DECIMAL256_DIGITS && e->scale >= 0 && e->scale <= e->precision && fits;
}

static frz_type decimal_of(const parquet_element *e)
{
    bool wide = e->precision > DECIMAL_DIGITS;
    frz_type type = wide ? foreign(FRZ_FOREIGN_DECIMAL256) : plain(FRZ_TYPE_DECIMAL);
    type.precision = e->precision;
    type.scale = e->scale;
    return type;
}

static frz_type int32_of(const parquet_element *e)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_DATE:
        return plain(FRZ_TYPE_DATE);
    case PARQUET_LOGICAL_TIME:
        return e->unit == PARQUET_MILLIS ? foreign(FRZ_FOREIGN_TIME_MS) : plain(FRZ_TYPE_INT);
    case PARQUET_LOGICAL_INTEGER:
        if (e->bit_width == 8) {
            return foreign(e->is_signed ? FRZ_FOREIGN_INT8 : FRZ_FOREIGN_UINT8);
        }
        if (e->bit_width == 16) {
            return foreign(e->is_signed ? FRZ_FOREIGN_INT16 : FRZ_FOREIGN_UINT16);
        }
        return e->bit_width == 32 && !e->is_signed ? foreign(FRZ_FOREIGN_UINT32)
                                                   : plain(FRZ_TYPE_INT);
    default:
        return plain(FRZ_TYPE_INT);
    }
}

static frz_type timestamp_of(const parquet_element *e)
{
    switch (e->unit) {
    case PARQUET_MILLIS:
        return foreign(e->utc ? FRZ_FOREIGN_TIMESTAMPTZ_MS : FRZ_FOREIGN_TIMESTAMP_MS);
    case PARQUET_MICROS:
        return plain(e->utc ? FRZ_TYPE_TIMESTAMPTZ : FRZ_TYPE_TIMESTAMP);
    case PARQUET_NANOS:
        return plain(e->utc ? FRZ_TYPE_TIMESTAMPTZ_NS : FRZ_TYPE_TIMESTAMP_NS);
    default:
        return plain(FRZ_TYPE_LONG);
    }
}

static frz_type int64_of(const parquet_element *e)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_TIME:
        return e->unit == PARQUET_MICROS  ? plain(FRZ_TYPE_TIME)
               : e->unit == PARQUET_NANOS ? foreign(FRZ_FOREIGN_TIME_NS)
                                          : plain(FRZ_TYPE_LONG);
    case PARQUET_LOGICAL_TIMESTAMP:
        return timestamp_of(e);
    case PARQUET_LOGICAL_INTEGER:
        return e->bit_width == 64 && !e->is_signed ? foreign(FRZ_FOREIGN_UINT64)
                                                   : plain(FRZ_TYPE_LONG);
    default:
        return plain(FRZ_TYPE_LONG);
    }
}

static frz_type fixed_of(const parquet_element *e)
{
    frz_type fixed = {.id = FRZ_TYPE_FIXED, .length = e->type_length};
    if (e->type_length <= 0) {
        return plain(FRZ_TYPE_UNKNOWN);
    }
    switch (e->logical) {
    case PARQUET_LOGICAL_UUID:
        return e->type_length == 16 ? plain(FRZ_TYPE_UUID) : fixed;
    case PARQUET_LOGICAL_FLOAT16:
        return e->type_length == 2 ? foreign(FRZ_FOREIGN_FLOAT16) : fixed;
    case PARQUET_LOGICAL_NONE:
        return e->converted == CONVERTED_INTERVAL && e->type_length == PARQUET_INTERVAL_BYTES
                   ? foreign(FRZ_FOREIGN_INTERVAL)
                   : fixed;
    default:
        return fixed;
    }
}

static bool is_text(parquet_logical logical)
{
    return logical == PARQUET_LOGICAL_STRING || logical == PARQUET_LOGICAL_ENUM ||
           logical == PARQUET_LOGICAL_JSON;
}

frz_type parquet_native_leaf(const parquet_element *e)
{
    if (e->logical == PARQUET_LOGICAL_UNKNOWN) {
        return plain(FRZ_TYPE_UNKNOWN);
    }
    if (is_decimal(e) && e->physical != PARQUET_BOOLEAN && e->physical != PARQUET_INT96 &&
        e->physical != PARQUET_FLOAT && e->physical != PARQUET_DOUBLE) {
        return decimal_of(e);
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        return plain(FRZ_TYPE_BOOLEAN);
    case PARQUET_INT32:
        return int32_of(e);
    case PARQUET_INT64:
        return int64_of(e);
    case PARQUET_INT96:
        return plain(FRZ_TYPE_TIMESTAMP);
    case PARQUET_FLOAT:
        return plain(FRZ_TYPE_FLOAT);
    case PARQUET_DOUBLE:
        return plain(FRZ_TYPE_DOUBLE);
    case PARQUET_BYTE_ARRAY:
        return plain(is_text(e->logical) ? FRZ_TYPE_STRING : FRZ_TYPE_BINARY);
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return fixed_of(e);
    case PARQUET_NO_PHYSICAL:
    default:
        return plain(FRZ_TYPE_UNKNOWN);
    }
}

/* ---- annotations ---- */

static frz_str algorithm_name(int8_t algorithm)
{
    static const char *const names[] = {"SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY"};
    if (algorithm < 1) {
        return (frz_str){0};
    }
    bool known = (size_t)algorithm <= FRZ_ARRAY_COUNT(names);
    return frz_str_from(known ? names[algorithm - 1] : "UNKNOWN");
}

/* A reference system that only names a key of the file's metadata is what stands there, so that it
 * means the same outside of the file. spec: Geospatial, coordinate reference systems */
static frz_str resolve_crs(const parquet_metadata *m, frz_str crs)
{
    static const frz_str prefix = {PROJJSON, sizeof PROJJSON - 1};
    if (!frz_utf8_valid(crs)) {
        return (frz_str){0};
    }
    for (size_t i = 0; frz_str_starts_with(crs, prefix) && i < m->key_count; i++) {
        frz_str key = {crs.ptr + prefix.len, crs.len - prefix.len};
        if (frz_str_equal(m->keys[i].key, key) && frz_utf8_valid(m->keys[i].value)) {
            return m->keys[i].value;
        }
    }
    return crs;
}

static frz_annotation annotation_of(const parquet_metadata *m, const parquet_element *e)
{
    frz_annotation a = {.kind = FRZ_ANNOTATION_NONE};
    switch (e->logical) {
    case PARQUET_LOGICAL_JSON:
        a.kind = FRZ_ANNOTATION_JSON;
        break;
    case PARQUET_LOGICAL_ENUM:
        a.kind = FRZ_ANNOTATION_ENUM;
        break;
    case PARQUET_LOGICAL_BSON:
        a.kind = FRZ_ANNOTATION_BSON;
        break;
    case PARQUET_LOGICAL_FILE:
        a.kind = FRZ_ANNOTATION_FILE;
        break;
    case PARQUET_LOGICAL_VARIANT:
        a.kind = FRZ_ANNOTATION_VARIANT;
        a.version = e->version;
        break;
    case PARQUET_LOGICAL_GEOMETRY:
    case PARQUET_LOGICAL_GEOGRAPHY:
        a.kind = e->logical == PARQUET_LOGICAL_GEOMETRY ? FRZ_ANNOTATION_GEOMETRY
                                                        : FRZ_ANNOTATION_GEOGRAPHY;
        a.crs = resolve_crs(m, e->crs);
        a.algorithm = algorithm_name(e->algorithm);
        break;
    case PARQUET_LOGICAL_DECIMAL: /* of which the values are read as they are stored */
        if (e->precision >= 0 && e->scale >= 0) {
            a.kind = FRZ_ANNOTATION_DECIMAL;
            a.precision = e->precision;
            a.scale = e->scale;
        }
        break;
    default:
        break;
    }
    return a;
}

/* ---- the tree ---- */

typedef struct native_builder {
    frz_arena *arena;
    const parquet_metadata *metadata;
    bool iceberg; /* Iceberg's types of leaves, where it has one */
    frz_error *err;
} native_builder;

static frz_code build_field(const native_builder *b, const parquet_node *parent,
                            const parquet_node *node, frz_field *out);

static frz_code build_leaf(const native_builder *b, const parquet_node *node, const frz_type **out)
{
    if (b->iceberg && node->unsupported == NULL) {
        *out = node->type;
        return FRZ_OK;
    }
    frz_type leaf = parquet_native_leaf(node->element);
    if (leaf.id == FRZ_TYPE_FOREIGN && leaf.foreign != FRZ_FOREIGN_DECIMAL256) {
        *out = frz_type_foreign(leaf.foreign);
        return FRZ_OK;
    }
    if (leaf.id != FRZ_TYPE_FOREIGN && leaf.id != FRZ_TYPE_DECIMAL && leaf.id != FRZ_TYPE_FIXED) {
        *out = frz_type_primitive(leaf.id);
        return FRZ_OK;
    }
    frz_type *made = frz_arena_alloc(b->arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(b->err, sizeof *made);
    }
    *made = leaf;
    *out = made;
    return FRZ_OK;
}

static frz_code build_group(const native_builder *b, const parquet_node *node, const frz_type **out)
{
    frz_code rc = FRZ_OK;
    frz_type *type = frz_arena_alloc(b->arena, sizeof *type);
    frz_field *fields = frz_arena_array(b->arena, node->child_count, sizeof *fields);
    if (type == NULL || fields == NULL) {
        return frz_fail_nomem(b->err, node->child_count * sizeof *fields);
    }
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(build_field(b, node, &node->children[i], &fields[i]));
    }
    *type = (frz_type){.id = node->kind, .fields = fields, .field_count = node->child_count};
    *out = type;
out:
    return rc;
}

static frz_code build_field(const native_builder *b, const parquet_node *parent,
                            const parquet_node *node, frz_field *out)
{
    frz_code rc = FRZ_OK;
    const parquet_element *e = node->element;
    size_t id = (size_t)(e - b->metadata->elements);
    bool is_item = parent->element == e; /* and the parent is the list */
    *out = (frz_field){.id = (int32_t)(id + (is_item ? b->metadata->element_count : 0)),
                       .required = node->required,
                       .name = e->name};
    FRZ_TRY(node->kind == FRZ_TYPE_UNKNOWN ? build_leaf(b, node, &out->type)
                                           : build_group(b, node, &out->type));
    frz_annotation annotation = annotation_of(b->metadata, e);
    if (frz_annotation_fits(&annotation, out->type)) {
        FRZ_TRY(frz_annotation_print(b->arena, &annotation, &out->annotation, b->err));
    }
out:
    return rc;
}

static frz_code build_file(const frz_data_file *base, frz_arena *arena, bool iceberg,
                           const frz_type **out, frz_error *err)
{
    const parquet_file *file = (const parquet_file *)base;
    native_builder b = {
        .arena = arena, .metadata = &file->metadata, .iceberg = iceberg, .err = err};
    if (file->metadata.element_count > INT32_MAX / 2) {
        return frz_fail(err, FRZ_E_LIMIT, "the schema has %zu elements",
                        file->metadata.element_count);
    }
    return build_group(&b, &file->root, out);
}

frz_code parquet_native_group(const parquet_file *file, frz_arena *arena, const parquet_node *node,
                              const frz_type **out, frz_error *err)
{
    native_builder b = {.arena = arena, .metadata = &file->metadata, .err = err};
    return build_group(&b, node, out);
}

frz_code frz_parquet_native_type(const frz_data_file *file, frz_arena *arena, const frz_type **out,
                                 frz_error *err)
{
    return build_file(file, arena, false, out, err);
}

frz_code frz_parquet_filter_type(const frz_data_file *file, frz_arena *arena, const frz_type **out,
                                 frz_error *err)
{
    return build_file(file, arena, true, out, err);
}

static bool file_id(const void *ctx, const frz_field *field, int32_t *id)
{
    const parquet_metadata *m = ctx;
    if (field->id < 0 || (size_t)field->id >= m->element_count) {
        return false;
    }
    *id = m->elements[field->id].field_id;
    return m->elements[field->id].has_field_id && *id >= 0;
}

frz_code frz_parquet_native_to_arrow(const frz_env *env, const frz_data_file *base,
                                     const frz_type *native, struct ArrowSchema *out,
                                     frz_error *err)
{
    const parquet_file *file = (const parquet_file *)base;
    return frz_type_to_arrow_with_ids(env, native, file_id, &file->metadata, out, err);
}
