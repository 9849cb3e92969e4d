/*
 * The schema of a file to be written: Iceberg types, those that Iceberg lacks, and annotations
 * become the elements of the footer, a tree of nodes for shredding, and leaves. Lists have three
 * levels and are named list and element, maps are named key_value, key and value; every field of
 * the table carries its id.
 * spec: Parquet data type mappings; LogicalTypes
 */
#include "format/parquet/parquet_write.h"
#include "type/type_annotation.h"

#define NESTING_MAX 64
#define CONVERTED_NONE (-1)
#define CONVERTED_UTF8 0
#define CONVERTED_MAP 1
#define CONVERTED_LIST 3
#define CONVERTED_ENUM 4
#define CONVERTED_DECIMAL 5
#define CONVERTED_DATE 6
#define CONVERTED_TIME_MILLIS 7
#define CONVERTED_TIME_MICROS 8
#define CONVERTED_TIMESTAMP_MILLIS 9
#define CONVERTED_TIMESTAMP_MICROS 10
#define CONVERTED_UINT_8 11
#define CONVERTED_INT_8 15
#define CONVERTED_JSON 19
#define CONVERTED_BSON 20
#define CONVERTED_INTERVAL 21

/* Where the walk stands: the way from the root, in the file's names and in the user's. */
typedef struct build_place {
    frz_str path[3 * NESTING_MAX];
    size_t path_count;
    size_t depth;
    uint8_t def, rep;
    bool repeated;
} build_place;

typedef struct builder {
    frz_arena *arena;
    parquet_write_schema *schema;
    build_place place;
    bool whole;
} builder;

static frz_code build_node(builder *b, const frz_field *field, frz_str name, frz_str dotted,
                           parquet_write_node *node, frz_error *err);

/* ---- elements of primitive types ---- */

/* Bytes that a two's complement of so many decimal digits needs. */
static int32_t decimal_bytes(int32_t precision)
{
    /* a digit takes log2(10) bits; no power of ten of at most 76 digits is near one of two */
    int32_t bits = (int32_t)((int64_t)precision * 3321928095 / 1000000000) + 1;
    return (bits + 1 + 7) / 8;
}

static void element_decimal(const frz_type *type, parquet_element *e)
{
    e->logical = PARQUET_LOGICAL_DECIMAL;
    e->converted = CONVERTED_DECIMAL;
    e->precision = type->precision;
    e->scale = type->scale;
    if (type->precision <= 9) {
        e->physical = PARQUET_INT32;
    } else if (type->precision <= 18) {
        e->physical = PARQUET_INT64;
    } else {
        e->physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
        e->type_length = decimal_bytes(type->precision);
    }
}

static void element_time(parquet_element *e, parquet_logical logical, parquet_time_unit unit,
                         bool utc)
{
    e->physical = PARQUET_INT64;
    e->logical = logical;
    e->unit = unit;
    e->utc = utc;
    /* local times have the old annotation too, for readers that know no other */
    bool time = logical == PARQUET_LOGICAL_TIME;
    if (unit == PARQUET_MICROS) {
        e->converted = time ? CONVERTED_TIME_MICROS : CONVERTED_TIMESTAMP_MICROS;
    } else if (unit == PARQUET_MILLIS) {
        e->converted = time ? CONVERTED_TIME_MILLIS : CONVERTED_TIMESTAMP_MILLIS;
    }
}

static void element_integer(parquet_element *e, int8_t bits, bool is_signed)
{
    e->physical = bits == 64 ? PARQUET_INT64 : PARQUET_INT32;
    e->logical = PARQUET_LOGICAL_INTEGER;
    e->bit_width = bits;
    e->is_signed = is_signed;
    /* UINT_8, UINT_16, UINT_32, UINT_64; then the signed ones */
    int32_t size = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    e->converted = (is_signed ? CONVERTED_INT_8 : CONVERTED_UINT_8) + size;
}

static void element_fixed(parquet_element *e, int32_t length)
{
    e->physical = PARQUET_FIXED_LEN_BYTE_ARRAY;
    e->type_length = length;
}

static void element_foreign(const frz_type *type, parquet_element *e)
{
    switch (type->foreign) {
    case FRZ_FOREIGN_INT8:
    case FRZ_FOREIGN_UINT8:
        element_integer(e, 8, type->foreign == FRZ_FOREIGN_INT8);
        break;
    case FRZ_FOREIGN_INT16:
    case FRZ_FOREIGN_UINT16:
        element_integer(e, 16, type->foreign == FRZ_FOREIGN_INT16);
        break;
    case FRZ_FOREIGN_UINT32:
        element_integer(e, 32, false);
        break;
    case FRZ_FOREIGN_UINT64:
        element_integer(e, 64, false);
        break;
    case FRZ_FOREIGN_FLOAT16:
        element_fixed(e, 2);
        e->logical = PARQUET_LOGICAL_FLOAT16;
        break;
    case FRZ_FOREIGN_TIME_MS:
        element_time(e, PARQUET_LOGICAL_TIME, PARQUET_MILLIS, false);
        e->physical = PARQUET_INT32;
        break;
    case FRZ_FOREIGN_TIME_NS:
        element_time(e, PARQUET_LOGICAL_TIME, PARQUET_NANOS, false);
        break;
    case FRZ_FOREIGN_TIMESTAMP_MS:
    case FRZ_FOREIGN_TIMESTAMPTZ_MS:
        element_time(e, PARQUET_LOGICAL_TIMESTAMP, PARQUET_MILLIS,
                     type->foreign == FRZ_FOREIGN_TIMESTAMPTZ_MS);
        break;
    case FRZ_FOREIGN_INTERVAL:
        element_fixed(e, PARQUET_INTERVAL_BYTES);
        e->converted = CONVERTED_INTERVAL; /* there is no new annotation for it */
        break;
    case FRZ_FOREIGN_DECIMAL256:
        element_decimal(type, e);
        break;
    case FRZ_FOREIGN_NONE:
    default:
        assert(false);
    }
}

/* False for types that have no mapping here. */
static bool element_primitive(const frz_type *type, parquet_element *e)
{
    switch (type->id) {
    case FRZ_TYPE_BOOLEAN:
        e->physical = PARQUET_BOOLEAN;
        return true;
    case FRZ_TYPE_INT:
        e->physical = PARQUET_INT32;
        return true;
    case FRZ_TYPE_LONG:
        e->physical = PARQUET_INT64;
        return true;
    case FRZ_TYPE_FLOAT:
        e->physical = PARQUET_FLOAT;
        return true;
    case FRZ_TYPE_DOUBLE:
        e->physical = PARQUET_DOUBLE;
        return true;
    case FRZ_TYPE_DECIMAL:
        element_decimal(type, e);
        return true;
    case FRZ_TYPE_DATE:
        e->physical = PARQUET_INT32;
        e->logical = PARQUET_LOGICAL_DATE;
        e->converted = CONVERTED_DATE;
        return true;
    case FRZ_TYPE_TIME:
        element_time(e, PARQUET_LOGICAL_TIME, PARQUET_MICROS, false);
        return true;
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        element_time(e, PARQUET_LOGICAL_TIMESTAMP, PARQUET_MICROS,
                     type->id == FRZ_TYPE_TIMESTAMPTZ);
        return true;
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        element_time(e, PARQUET_LOGICAL_TIMESTAMP, PARQUET_NANOS,
                     type->id == FRZ_TYPE_TIMESTAMPTZ_NS);
        return true;
    case FRZ_TYPE_STRING:
        e->physical = PARQUET_BYTE_ARRAY;
        e->logical = PARQUET_LOGICAL_STRING;
        e->converted = CONVERTED_UTF8;
        return true;
    case FRZ_TYPE_BINARY:
        e->physical = PARQUET_BYTE_ARRAY;
        return true;
    case FRZ_TYPE_UUID:
        element_fixed(e, 16);
        e->logical = PARQUET_LOGICAL_UUID;
        return true;
    case FRZ_TYPE_FIXED:
        element_fixed(e, type->length);
        return true;
    case FRZ_TYPE_FOREIGN:
        element_foreign(type, e);
        return true;
    case FRZ_TYPE_UNKNOWN: /* only where it is stored at all */
        e->physical = PARQUET_INT32;
        e->logical = PARQUET_LOGICAL_UNKNOWN;
        return true;
    default:
        return false;
    }
}

static int8_t algorithm_number(frz_str name)
{
    static const char *const names[] = {"SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (frz_str_equal(name, frz_str_from(names[i]))) {
            return (int8_t)(i + 1);
        }
    }
    return 0;
}

/* What the field says beyond its type. */
static frz_code element_annotation(const frz_field *field, parquet_element *e, frz_error *err)
{
    frz_annotation a;
    char text[80];
    if (field->annotation.len == 0) {
        return FRZ_OK;
    }
    bool known =
        frz_annotation_parse(field->annotation, &a) && frz_annotation_fits(&a, field->type);
    bool named = a.algorithm.len == 0 || algorithm_number(a.algorithm) != 0;
    if (!known || !named || a.version > INT8_MAX) {
        return frz_fail(
            err, FRZ_E_UNSUPPORTED, "unsupported: logical type \"%.*s\" of a column of type %s",
            FRZ_STR_ARG(field->annotation), frz_type_text(field->type, text, sizeof text));
    }
    static const struct {
        parquet_logical logical;
        int32_t converted;
    } rows[] = {
        [FRZ_ANNOTATION_NONE] = {PARQUET_LOGICAL_NONE, CONVERTED_NONE},
        [FRZ_ANNOTATION_JSON] = {PARQUET_LOGICAL_JSON, CONVERTED_JSON},
        [FRZ_ANNOTATION_ENUM] = {PARQUET_LOGICAL_ENUM, CONVERTED_ENUM},
        [FRZ_ANNOTATION_BSON] = {PARQUET_LOGICAL_BSON, CONVERTED_BSON},
        [FRZ_ANNOTATION_FILE] = {PARQUET_LOGICAL_FILE, CONVERTED_NONE},
        [FRZ_ANNOTATION_VARIANT] = {PARQUET_LOGICAL_VARIANT, CONVERTED_NONE},
        [FRZ_ANNOTATION_DECIMAL] = {PARQUET_LOGICAL_DECIMAL, CONVERTED_DECIMAL},
        [FRZ_ANNOTATION_GEOMETRY] = {PARQUET_LOGICAL_GEOMETRY, CONVERTED_NONE},
        [FRZ_ANNOTATION_GEOGRAPHY] = {PARQUET_LOGICAL_GEOGRAPHY, CONVERTED_NONE},
    };
    e->logical = rows[a.kind].logical;
    e->converted = rows[a.kind].converted;
    e->version = (int8_t)a.version;
    e->precision = a.precision;
    e->scale = a.scale;
    e->crs = a.crs;
    e->algorithm = algorithm_number(a.algorithm);
    return FRZ_OK;
}

/* By the logical type where it has an order of its own. spec: parquet.thrift, ColumnOrder */
static parquet_bound_order leaf_order(const frz_type *type, const parquet_element *e)
{
    const bool is_unsigned = e->logical == PARQUET_LOGICAL_INTEGER && !e->is_signed;
    const bool is_number = type->id == FRZ_TYPE_DECIMAL || type->id == FRZ_TYPE_FOREIGN;
    switch (e->logical) {
    case PARQUET_LOGICAL_UNKNOWN:
    case PARQUET_LOGICAL_GEOMETRY:
    case PARQUET_LOGICAL_GEOGRAPHY:
        return PARQUET_BOUND_NONE;
    case PARQUET_LOGICAL_FLOAT16:
        return PARQUET_BOUND_HALF;
    case PARQUET_LOGICAL_DECIMAL:
        if (!is_number) {
            return PARQUET_BOUND_NONE; /* of any length, and written as they come */
        }
        break;
    case PARQUET_LOGICAL_NONE:
        if (e->converted == CONVERTED_INTERVAL) {
            return PARQUET_BOUND_NONE;
        }
        break;
    default:
        break;
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        return PARQUET_BOUND_BOOLEAN;
    case PARQUET_INT32:
        return is_unsigned ? PARQUET_BOUND_UINT32 : PARQUET_BOUND_INT32;
    case PARQUET_INT64:
        return is_unsigned ? PARQUET_BOUND_UINT64 : PARQUET_BOUND_INT64;
    case PARQUET_FLOAT:
        return PARQUET_BOUND_FLOAT;
    case PARQUET_DOUBLE:
        return PARQUET_BOUND_DOUBLE;
    default:
        return e->logical == PARQUET_LOGICAL_DECIMAL ? PARQUET_BOUND_SIGNED_BYTES
                                                     : PARQUET_BOUND_BYTES;
    }
}

/* ---- the arrays, which grow in the arena ---- */

static frz_code arena_grow(frz_arena *arena, void **items, size_t *capacity, size_t count,
                           size_t size, frz_error *err)
{
    if (count < *capacity) {
        return FRZ_OK;
    }
    size_t wanted = FRZ_MAX(*capacity * 2, (size_t)16);
    void *grown = frz_arena_array(arena, wanted, size);
    if (grown == NULL) {
        return frz_fail_nomem(err, wanted * size);
    }
    if (count > 0) {
        memcpy(grown, *items, count * size);
    }
    *items = grown;
    *capacity = wanted;
    return FRZ_OK;
}

static frz_code add_element(builder *b, frz_str name, parquet_repetition repetition, size_t *index,
                            frz_error *err)
{
    parquet_write_schema *s = b->schema;
    frz_code rc = arena_grow(b->arena, (void **)&s->elements, &s->element_capacity,
                             s->element_count, sizeof *s->elements, err);
    if (rc == FRZ_OK) {
        *index = s->element_count;
        s->elements[s->element_count++] = (parquet_element){.physical = PARQUET_NO_PHYSICAL,
                                                            .repetition = repetition,
                                                            .name = name,
                                                            .converted = CONVERTED_NONE};
    }
    return rc;
}

static frz_code add_leaf(builder *b, const frz_field *field, frz_str dotted, size_t element,
                         frz_error *err)
{
    parquet_write_schema *s = b->schema;
    const build_place *place = &b->place;
    frz_code rc = FRZ_OK;
    FRZ_TRY(arena_grow(b->arena, (void **)&s->leaves, &s->leaf_capacity, s->leaf_count,
                       sizeof *s->leaves, err));
    frz_str *path = frz_arena_array(b->arena, place->path_count, sizeof *path);
    if (path == NULL) {
        rc = frz_fail_nomem(err, place->path_count * sizeof *path);
        goto out;
    }
    memcpy(path, place->path, place->path_count * sizeof *path);
    const parquet_element *e = &s->elements[element];
    s->leaves[s->leaf_count++] = (parquet_write_leaf){
        .field = field,
        .physical = e->physical,
        .width = parquet_element_width(e),
        .order = leaf_order(field->type, e),
        .path = path,
        .path_count = place->path_count,
        .dotted = dotted,
        .max_def = place->def,
        .max_rep = place->rep,
        .required = field->required,
        .repeated = place->repeated,
        .element = element,
    };
out:
    return rc;
}

/* ---- the tree ---- */

static frz_code unsupported_type(frz_str dotted, const frz_type *type, frz_error *err)
{
    char text[128];
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%.*s\" of type %s in Parquet",
                    FRZ_STR_ARG(dotted), frz_type_text(type, text, sizeof text));
}

static frz_code dotted_name(builder *b, frz_str parent, frz_str name, frz_str *out, frz_error *err)
{
    if (parent.len == 0) {
        *out = name;
        return FRZ_OK;
    }
    char *text = frz_arena_printf(b->arena, "%.*s.%.*s", FRZ_STR_ARG(parent), FRZ_STR_ARG(name));
    if (text == NULL) {
        return frz_fail_nomem(err, parent.len + name.len + 2);
    }
    *out = frz_str_from(text);
    return FRZ_OK;
}

static frz_code alloc_children(builder *b, parquet_write_node *node, size_t count, frz_error *err)
{
    node->children = frz_arena_array(b->arena, FRZ_MAX(count, (size_t)1), sizeof *node->children);
    node->child_count = count;
    return node->children == NULL ? frz_fail_nomem(err, count * sizeof *node->children) : FRZ_OK;
}

static frz_code build_struct(builder *b, const frz_type *type, frz_str dotted,
                             parquet_write_node *node, size_t element, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int32_t stored = 0;
    node->kind = PARQUET_NODE_STRUCT;
    FRZ_TRY(alloc_children(b, node, type->field_count, err));
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        frz_str name;
        FRZ_TRY(dotted_name(b, dotted, field->name, &name, err));
        FRZ_TRY(build_node(b, field, field->name, name, &node->children[i], err));
        stored += node->children[i].stored;
    }
    b->schema->elements[element].num_children = stored;
    node->stored = stored > 0;
    if (b->whole && !node->stored && node->field != NULL) {
        rc = unsupported_type(dotted, type, err); /* the format has no columns for it */
    }
out:
    return rc;
}

/* The repeated group of a list or map and what lies in it. */
static frz_code build_repeated(builder *b, const frz_type *type, frz_str dotted, bool map,
                               parquet_write_node *node, size_t element, frz_error *err)
{
    static const frz_str map_names[2] = {{"key", 3}, {"value", 5}};
    static const frz_str list_names[1] = {{"element", 7}};
    const frz_str *names = map ? map_names : list_names;
    const size_t count = map ? 2 : 1;
    build_place outer = b->place;
    frz_code rc = FRZ_OK;
    size_t group;
    node->kind = map ? PARQUET_NODE_MAP : PARQUET_NODE_LIST;
    b->schema->elements[element].logical = map ? PARQUET_LOGICAL_MAP : PARQUET_LOGICAL_LIST;
    b->schema->elements[element].converted = map ? CONVERTED_MAP : CONVERTED_LIST;
    b->schema->elements[element].num_children = 1;
    frz_str group_name = map ? FRZ_STR("key_value") : FRZ_STR("list");
    FRZ_TRY(add_element(b, group_name, PARQUET_REPEATED, &group, err));
    b->schema->elements[group].num_children = (int32_t)count;
    b->place.path[b->place.path_count++] = group_name;
    b->place.def++;
    node->rep = ++b->place.rep;
    b->place.repeated = true;
    FRZ_TRY(alloc_children(b, node, count, err));
    for (size_t i = 0; i < count; i++) {
        frz_str name;
        FRZ_TRY(dotted_name(b, dotted, names[i], &name, err));
        FRZ_TRY(build_node(b, &type->fields[i], names[i], name, &node->children[i], err));
        if (!node->children[i].stored) {
            rc = unsupported_type(name, type->fields[i].type, err);
            goto out;
        }
    }
    node->stored = true;
out:
    b->place = outer;
    return rc;
}

static frz_code build_content(builder *b, const frz_field *field, frz_str dotted,
                              parquet_write_node *node, size_t element, frz_error *err)
{
    const frz_type *type = field->type;
    frz_code rc = FRZ_OK;
    bool is_leaf = !frz_type_is_nested(type);
    if (is_leaf && !element_primitive(type, &b->schema->elements[element])) {
        return unsupported_type(dotted, type, err);
    }
    rc = element_annotation(field, &b->schema->elements[element], err);
    if (rc != FRZ_OK) {
        return frz_context(err, rc, "column \"%.*s\"", FRZ_STR_ARG(dotted));
    }
    switch (type->id) {
    case FRZ_TYPE_STRUCT:
        return build_struct(b, type, dotted, node, element, err);
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return build_repeated(b, type, dotted, type->id == FRZ_TYPE_MAP, node, element, err);
    default:
        node->kind = PARQUET_NODE_LEAF;
        node->stored = true;
        return add_leaf(b, field, dotted, element, err);
    }
}

static frz_code build_node(builder *b, const frz_field *field, frz_str name, frz_str dotted,
                           parquet_write_node *node, frz_error *err)
{
    parquet_write_schema *schema = b->schema;
    build_place outer = b->place;
    frz_code rc = FRZ_OK;
    size_t element;
    *node = (parquet_write_node){.required = field->required, .field = field, .dotted = dotted};
    node->first_leaf = schema->leaf_count;
    node->first_element = schema->element_count;
    if (field->type->id == FRZ_TYPE_UNKNOWN && !b->whole) {
        return FRZ_OK; /* has only nulls and is not stored */
    }
    if (b->place.depth == NESTING_MAX) {
        return frz_fail(err, FRZ_E_UNSUPPORTED,
                        "unsupported: column \"%.*s\" nested deeper than %d", FRZ_STR_ARG(dotted),
                        NESTING_MAX);
    }
    FRZ_TRY(
        add_element(b, name, field->required ? PARQUET_REQUIRED : PARQUET_OPTIONAL, &element, err));
    schema->elements[element].field_id = field->id;
    schema->elements[element].has_field_id = field->id != FRZ_ID_NONE;
    b->place.path[b->place.path_count++] = name;
    b->place.depth++;
    b->place.def = (uint8_t)(b->place.def + !field->required);
    node->def = b->place.def;
    FRZ_TRY(build_content(b, field, dotted, node, element, err));
    if (!node->stored) {
        schema->element_count = element; /* a struct of which nothing is stored */
    }
    node->leaf_count = schema->leaf_count - node->first_leaf;
    node->element_count = schema->element_count - node->first_element;
out:
    b->place = outer;
    return rc;
}

frz_code parquet_write_schema_of(frz_arena *arena, const frz_type *struct_type, bool whole,
                                 parquet_write_schema *out, frz_error *err)
{
    assert(struct_type->id == FRZ_TYPE_STRUCT);
    frz_code rc = FRZ_OK;
    builder b = {.arena = arena, .schema = out, .whole = whole};
    size_t root;
    *out = (parquet_write_schema){.element_count = 0};
    FRZ_TRY(add_element(&b, FRZ_STR("table"), PARQUET_REQUIRED, &root, err));
    FRZ_TRY(build_struct(&b, struct_type, (frz_str){"", 0}, &out->root, root, err));
    out->root.required = true;
    out->root.leaf_count = out->leaf_count;
out:
    return rc;
}
