/*
 * The file's flat list of schema elements as a tree of nodes with Iceberg types.
 *
 * Columns that cannot be read do not keep the others from being read: their node has type UNKNOWN
 * and a reason, and only asking for it fails. Lists and maps are recognised by the format's rules
 * for the shapes that older writers left behind. spec: LogicalTypes, nested types
 */
#include "format/parquet/parquet_internal.h"

#define MAX_DECIMAL_PRECISION 38
#define UUID_BYTES 16

typedef struct levels {
    uint8_t def, rep, slot_def;
} levels;

typedef struct builder {
    frz_arena *arena;
    const parquet_metadata *metadata;
    size_t next; /* element to visit */
    parquet_column *columns;
    size_t column_count;
    frz_error *err;
} builder;

const char *parquet_physical_name(parquet_physical physical)
{
    static const char *const names[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    return physical < 0 || (size_t)physical >= FRZ_ARRAY_COUNT(names) ? "group" : names[physical];
}

size_t parquet_element_width(const parquet_element *e)
{
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        return 1;
    case PARQUET_INT32:
    case PARQUET_FLOAT:
        return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE:
        return 8;
    case PARQUET_INT96:
        return PARQUET_INT96_BYTES;
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return e->type_length > 0 ? (size_t)e->type_length : 0;
    case PARQUET_BYTE_ARRAY:
    case PARQUET_NO_PHYSICAL:
    default:
        return 0;
    }
}

/* ---- primitive types ---- */

static frz_type_id timestamp_id(const parquet_element *e)
{
    if (e->unit == PARQUET_NANOS) {
        return e->utc ? FRZ_TYPE_TIMESTAMPTZ_NS : FRZ_TYPE_TIMESTAMP_NS;
    }
    return e->utc ? FRZ_TYPE_TIMESTAMPTZ : FRZ_TYPE_TIMESTAMP;
}

static frz_type_id int32_type(const parquet_element *e, const char **reason)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_NONE:
        return FRZ_TYPE_INT;
    case PARQUET_LOGICAL_INTEGER:
        if (e->bit_width == 64) {
            break;
        }
        return e->bit_width == 32 && !e->is_signed ? FRZ_TYPE_LONG : FRZ_TYPE_INT;
    case PARQUET_LOGICAL_DATE:
        return FRZ_TYPE_DATE;
    case PARQUET_LOGICAL_DECIMAL:
        return FRZ_TYPE_DECIMAL;
    case PARQUET_LOGICAL_TIME:
        if (e->unit == PARQUET_MILLIS) {
            return FRZ_TYPE_TIME;
        }
        break;
    default:
        break;
    }
    *reason = "INT32 with this annotation";
    return FRZ_TYPE_UNKNOWN;
}

static frz_type_id int64_type(const parquet_element *e, const char **reason)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_NONE:
    case PARQUET_LOGICAL_INTEGER:
        return FRZ_TYPE_LONG;
    case PARQUET_LOGICAL_DECIMAL:
        return FRZ_TYPE_DECIMAL;
    case PARQUET_LOGICAL_TIME:
        if (e->unit == PARQUET_MICROS) {
            return FRZ_TYPE_TIME;
        }
        *reason = "time of nanoseconds";
        return FRZ_TYPE_UNKNOWN;
    case PARQUET_LOGICAL_TIMESTAMP:
        if (e->unit != 0) {
            return timestamp_id(e);
        }
        break;
    default:
        break;
    }
    *reason = "INT64 with this annotation";
    return FRZ_TYPE_UNKNOWN;
}

static frz_type_id bytes_type(const parquet_element *e, const char **reason)
{
    switch (e->logical) {
    case PARQUET_LOGICAL_STRING:
    case PARQUET_LOGICAL_ENUM:
    case PARQUET_LOGICAL_JSON:
        return FRZ_TYPE_STRING;
    case PARQUET_LOGICAL_NONE:
    case PARQUET_LOGICAL_BSON:
        return FRZ_TYPE_BINARY;
    case PARQUET_LOGICAL_DECIMAL:
        return FRZ_TYPE_DECIMAL;
    case PARQUET_LOGICAL_GEOMETRY:
        return FRZ_TYPE_GEOMETRY;
    case PARQUET_LOGICAL_GEOGRAPHY:
        return FRZ_TYPE_GEOGRAPHY;
    default:
        *reason = "BYTE_ARRAY with this annotation";
        return FRZ_TYPE_UNKNOWN;
    }
}

static frz_type_id fixed_type(const parquet_element *e, const char **reason)
{
    static const int32_t interval = 21; /* ConvertedType INTERVAL */
    if (e->type_length <= 0) {
        *reason = "FIXED_LEN_BYTE_ARRAY without a length";
        return FRZ_TYPE_UNKNOWN;
    }
    if (e->logical == PARQUET_LOGICAL_NONE && e->converted == interval) {
        *reason = "interval";
        return FRZ_TYPE_UNKNOWN;
    }
    switch (e->logical) {
    case PARQUET_LOGICAL_NONE:
        return FRZ_TYPE_FIXED;
    case PARQUET_LOGICAL_DECIMAL:
        return FRZ_TYPE_DECIMAL;
    case PARQUET_LOGICAL_UUID:
        if (e->type_length == UUID_BYTES) {
            return FRZ_TYPE_UUID;
        }
        break;
    case PARQUET_LOGICAL_FLOAT16:
        if (e->type_length == 2) {
            return FRZ_TYPE_FLOAT;
        }
        break;
    default:
        break;
    }
    *reason = "FIXED_LEN_BYTE_ARRAY with this annotation";
    return FRZ_TYPE_UNKNOWN;
}

static frz_type_id primitive_id(const parquet_element *e, const char **reason)
{
    if (e->logical == PARQUET_LOGICAL_UNKNOWN) {
        return FRZ_TYPE_UNKNOWN;
    }
    switch (e->physical) {
    case PARQUET_BOOLEAN:
        return FRZ_TYPE_BOOLEAN;
    case PARQUET_INT32:
        return int32_type(e, reason);
    case PARQUET_INT64:
        return int64_type(e, reason);
    case PARQUET_INT96:
        return FRZ_TYPE_TIMESTAMP;
    case PARQUET_FLOAT:
        return FRZ_TYPE_FLOAT;
    case PARQUET_DOUBLE:
        return FRZ_TYPE_DOUBLE;
    case PARQUET_BYTE_ARRAY:
        return bytes_type(e, reason);
    case PARQUET_FIXED_LEN_BYTE_ARRAY:
        return fixed_type(e, reason);
    case PARQUET_NO_PHYSICAL:
    default:
        *reason = "a column without a physical type";
        return FRZ_TYPE_UNKNOWN;
    }
}

static frz_str algorithm_of(const parquet_element *e)
{
    static const char *const names[] = {"spherical", "vincenty", "thomas", "andoyer", "karney"};
    bool known = e->algorithm > 0 && (size_t)e->algorithm <= FRZ_ARRAY_COUNT(names);
    return known ? frz_str_from(names[e->algorithm - 1]) : (frz_str){NULL, 0};
}

/* What a type needs besides its kind. */
static frz_type parameters_of(const parquet_element *e, frz_type_id id)
{
    frz_type type = {.id = id};
    switch (id) {
    case FRZ_TYPE_DECIMAL:
        type.precision = e->precision;
        type.scale = e->scale;
        break;
    case FRZ_TYPE_FIXED:
        type.length = e->type_length;
        break;
    case FRZ_TYPE_GEOGRAPHY:
        type.algorithm = algorithm_of(e);
        /* fallthrough */
    case FRZ_TYPE_GEOMETRY:
        type.crs = e->crs.len > 0 && frz_utf8_valid(e->crs) ? e->crs : (frz_str){NULL, 0};
        break;
    default:
        break;
    }
    return type;
}

static frz_code primitive_type(builder *b, const parquet_element *e, const frz_type **out,
                               const char **reason)
{
    frz_type_id id = primitive_id(e, reason);
    if (id == FRZ_TYPE_DECIMAL && (e->precision < 1 || e->precision > MAX_DECIMAL_PRECISION ||
                                   e->scale < 0 || e->scale > e->precision)) {
        *reason = "decimal of this precision and scale";
        id = FRZ_TYPE_UNKNOWN;
    }
    if (id != FRZ_TYPE_DECIMAL && id != FRZ_TYPE_FIXED && id != FRZ_TYPE_GEOMETRY &&
        id != FRZ_TYPE_GEOGRAPHY) {
        *out = frz_type_primitive(id);
        return FRZ_OK;
    }
    frz_type *type = frz_arena_alloc(b->arena, sizeof *type);
    if (type == NULL) {
        return frz_fail_nomem(b->err, sizeof *type);
    }
    *type = parameters_of(e, id);
    *out = type;
    return FRZ_OK;
}

/* ---- the tree ---- */

static bool element_is_group(const parquet_element *e)
{
    return e->num_children > 0 || e->physical == PARQUET_NO_PHYSICAL;
}

static frz_code take_element(builder *b, const parquet_element **out)
{
    if (b->next == b->metadata->element_count) {
        return frz_fail(b->err, FRZ_E_CORRUPT,
                        "the schema's %zu elements end before all groups have their children",
                        b->metadata->element_count);
    }
    *out = &b->metadata->elements[b->next++];
    if ((*out)->num_children < 0) {
        return frz_fail(b->err, FRZ_E_CORRUPT, "schema element \"%.*s\" has %d children",
                        FRZ_STR_ARG((*out)->name), (*out)->num_children);
    }
    if ((size_t)(*out)->num_children > b->metadata->element_count - b->next) {
        return frz_fail(
            b->err, FRZ_E_CORRUPT, "schema element \"%.*s\" has %d children, %zu elements are left",
            FRZ_STR_ARG((*out)->name), (*out)->num_children, b->metadata->element_count - b->next);
    }
    return FRZ_OK;
}

/* The element that comes next; only after take_element said that there are children. */
static const parquet_element *peek_element(const builder *b)
{
    return &b->metadata->elements[b->next];
}

static levels own_levels(levels around, const parquet_element *e)
{
    levels own = around;
    if (e->repetition == PARQUET_OPTIONAL) {
        own.def++;
    } else if (e->repetition == PARQUET_REPEATED) {
        own.def++;
        own.rep++;
        own.slot_def = own.def;
    }
    return own;
}

static void add_column(builder *b, const parquet_element *e, const parquet_node *node, levels own)
{
    b->columns[b->column_count++] =
        (parquet_column){.element = e, .node = node, .max_def = own.def, .max_rep = own.rep};
}

static int32_t id_of(const parquet_element *e)
{
    return e->has_field_id ? e->field_id : FRZ_ID_NONE;
}

static frz_code visit(builder *b, const char *parent, levels around, int depth, parquet_node *node,
                      frz_field *field);
static frz_code visit_value(builder *b, const parquet_element *e, levels own, int depth,
                            parquet_node *node);

static frz_code alloc_children(builder *b, size_t count, parquet_node *node, frz_type_id id,
                               frz_field **fields)
{
    frz_type *type = frz_arena_alloc(b->arena, sizeof *type);
    *fields = frz_arena_array(b->arena, count, sizeof **fields);
    node->children = frz_arena_array(b->arena, count, sizeof *node->children);
    if (type == NULL || *fields == NULL || node->children == NULL) {
        return frz_fail_nomem(b->err, count * sizeof *node->children);
    }
    type->id = id;
    type->fields = *fields;
    type->field_count = count;
    node->type = type;
    node->kind = id;
    node->child_count = count;
    return FRZ_OK;
}

/* Iceberg cannot read the node; its children are there for native reading. */
static void set_unsupported(parquet_node *node, const char *reason)
{
    node->unsupported = reason;
    node->type = frz_type_primitive(FRZ_TYPE_UNKNOWN);
}

static frz_code visit_struct(builder *b, const parquet_element *e, levels own, int depth,
                             parquet_node *node)
{
    frz_code rc = FRZ_OK;
    frz_field *fields;
    FRZ_TRY(alloc_children(b, (size_t)e->num_children, node, FRZ_TYPE_STRUCT, &fields));
    for (size_t i = 0; i < node->child_count; i++) {
        FRZ_TRY(visit(b, node->path, own, depth + 1, &node->children[i], &fields[i]));
    }
out:
    return rc;
}

static levels item_levels(levels own)
{
    return (levels){.def = (uint8_t)(own.def + 1),
                    .rep = (uint8_t)(own.rep + 1),
                    .slot_def = (uint8_t)(own.def + 1)};
}

/* True if the repeated child is the element itself, as writers with two levels have it. */
static bool is_two_level(const builder *b, const parquet_element *list,
                         const parquet_element *repeated)
{
    if (!element_is_group(repeated) || repeated->num_children != 1) {
        return true;
    }
    if (peek_element(b)->repetition == PARQUET_REPEATED) {
        return true;
    }
    static const frz_str suffix = {"_tuple", 6};
    frz_str name = repeated->name;
    return frz_str_equal(name, FRZ_STR("array")) ||
           (name.len == list->name.len + suffix.len && frz_str_starts_with(name, list->name) &&
            memcmp(name.ptr + list->name.len, suffix.ptr, suffix.len) == 0);
}

/* The parent's path, a point and the name. */
static char *join_path(builder *b, const char *parent, frz_str name)
{
    size_t before = parent == NULL ? 0 : strlen(parent) + 1;
    char *path =
        name.len > SIZE_MAX - before - 1 ? NULL : frz_arena_alloc(b->arena, before + name.len + 1);
    if (path != NULL && parent != NULL) {
        memcpy(path, parent, before);
        path[before - 1] = '.';
    }
    if (path != NULL && name.len > 0) {
        memcpy(path + before, name.ptr, name.len);
    }
    return path;
}

static frz_code init_node(builder *b, const char *parent, const char *name, frz_str own_name,
                          levels own, const parquet_element *e, parquet_node *node)
{
    *node = (parquet_node){.element = e,
                           .required = true,
                           .def = own.def,
                           .rep = own.rep,
                           .slot_def = own.slot_def,
                           .first_leaf = b->column_count};
    if (name != NULL) {
        own_name = frz_str_from(name);
    }
    node->path = join_path(b, parent, own_name);
    return node->path == NULL ? frz_fail_nomem(b->err, own_name.len) : FRZ_OK;
}

/* The item of a list whose repeated element e is the item. */
static frz_code visit_repeated_item(builder *b, const parquet_element *e, levels item, int depth,
                                    const char *parent, parquet_node *node, frz_field *field)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(init_node(b, parent, "element", e->name, item, e, node));
    FRZ_TRY(visit_value(b, e, item, depth + 1, node));
    node->leaf_count = b->column_count - node->first_leaf;
    *field = (frz_field){
        .id = id_of(e), .required = true, .name = FRZ_STR("element"), .type = node->type};
out:
    return rc;
}

/* The children of a list: one repeated element, read by the rules for its shapes. */
static frz_code visit_list(builder *b, const parquet_element *e, levels own, int depth,
                           parquet_node *node)
{
    frz_code rc = FRZ_OK;
    const parquet_element *repeated;
    frz_field *fields;
    if (e->num_children != 1 || peek_element(b)->repetition != PARQUET_REPEATED) {
        FRZ_TRY(visit_struct(b, e, own, depth, node));
        set_unsupported(node, "a LIST group without one repeated child");
        goto out;
    }
    FRZ_TRY(take_element(b, &repeated));
    FRZ_TRY(alloc_children(b, 1, node, FRZ_TYPE_LIST, &fields));
    levels item = item_levels(own);
    node->item_def = item.def;
    node->item_rep = item.rep;
    if (is_two_level(b, e, repeated)) {
        FRZ_TRY(visit_repeated_item(b, repeated, item, depth, node->path, &node->children[0],
                                    &fields[0]));
    } else {
        FRZ_TRY(visit(b, node->path, item, depth + 1, &node->children[0], &fields[0]));
        fields[0].name = FRZ_STR("element");
    }
out:
    return rc;
}

static const char no_key_value[] = "a MAP group without one repeated group of key and value";

static frz_code visit_map(builder *b, const parquet_element *e, levels own, int depth,
                          parquet_node *node)
{
    frz_code rc = FRZ_OK;
    const parquet_element *repeated;
    frz_field *fields;
    const parquet_element *entries = peek_element(b);
    if (e->num_children != 1 || entries->repetition != PARQUET_REPEATED ||
        (entries->num_children != 1 && entries->num_children != 2)) {
        FRZ_TRY(visit_struct(b, e, own, depth, node));
        set_unsupported(node, no_key_value);
        goto out;
    }
    FRZ_TRY(take_element(b, &repeated));
    size_t count = (size_t)repeated->num_children;
    FRZ_TRY(alloc_children(b, count, node, count == 2 ? FRZ_TYPE_MAP : FRZ_TYPE_LIST, &fields));
    levels item = item_levels(own);
    node->item_def = item.def;
    node->item_rep = item.rep;
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(visit(b, node->path, item, depth + 1, &node->children[i], &fields[i]));
        fields[i].name = i == 0 ? FRZ_STR("key") : FRZ_STR("value");
    }
    /* some writers spell keys optional; a null key is then found while reading */
    fields[0].required = true;
    node->children[0].required = true;
    if (count == 1) {
        set_unsupported(node, no_key_value); /* a set of keys, natively a list */
    }
out:
    return rc;
}

/* What an element holds once its own repetition is accounted for. */
static frz_code visit_value(builder *b, const parquet_element *e, levels own, int depth,
                            parquet_node *node)
{
    frz_code rc = FRZ_OK;
    if (depth > PARQUET_MAX_DEPTH) {
        return frz_fail(b->err, FRZ_E_LIMIT, "the schema is nested more than %d deep",
                        PARQUET_MAX_DEPTH);
    }
    if (!element_is_group(e)) {
        add_column(b, e, node, own);
        return primitive_type(b, e, &node->type, &node->unsupported);
    }
    if (e->num_children == 0) {
        FRZ_TRY(visit_struct(b, e, own, depth, node));
        set_unsupported(node, "a group without columns");
        goto out;
    }
    switch (e->logical) {
    case PARQUET_LOGICAL_LIST:
        return visit_list(b, e, own, depth, node);
    case PARQUET_LOGICAL_MAP:
        return visit_map(b, e, own, depth, node);
    case PARQUET_LOGICAL_VARIANT:
        FRZ_TRY(visit_struct(b, e, own, depth, node));
        node->type = frz_type_primitive(FRZ_TYPE_VARIANT);
        break;
    default:
        return visit_struct(b, e, own, depth, node);
    }
out:
    return rc;
}

/* A repeated field outside a LIST or MAP group: a required list of required elements. */
static frz_code visit_bare_repeated(builder *b, const parquet_element *e, levels around, int depth,
                                    parquet_node *node)
{
    frz_code rc = FRZ_OK;
    frz_field *fields;
    levels item = item_levels(around);
    FRZ_TRY(alloc_children(b, 1, node, FRZ_TYPE_LIST, &fields));
    node->item_def = item.def;
    node->item_rep = item.rep;
    FRZ_TRY(visit_repeated_item(b, e, item, depth, node->path, &node->children[0], &fields[0]));
    fields[0].id = FRZ_ID_NONE; /* the id is the field's own */
out:
    return rc;
}

static frz_code visit(builder *b, const char *parent, levels around, int depth, parquet_node *node,
                      frz_field *field)
{
    frz_code rc = FRZ_OK;
    const parquet_element *e;
    FRZ_TRY(take_element(b, &e));
    levels own = around;
    if (e->repetition == PARQUET_OPTIONAL) {
        own = own_levels(around, e);
    }
    FRZ_TRY(init_node(b, parent, NULL, e->name, own, e, node));
    node->required = e->repetition != PARQUET_OPTIONAL;
    if (e->repetition == PARQUET_REPEATED) {
        FRZ_TRY(visit_bare_repeated(b, e, around, depth, node));
    } else {
        FRZ_TRY(visit_value(b, e, own, depth, node));
    }
    node->leaf_count = b->column_count - node->first_leaf;
    *field = (frz_field){
        .id = id_of(e), .required = node->required, .name = e->name, .type = node->type};
out:
    return rc;
}

frz_code parquet_schema_build(frz_arena *arena, const parquet_metadata *metadata,
                              parquet_node *root, parquet_column **columns, size_t *count,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_element *e;
    frz_field *fields;
    builder b = {.arena = arena, .metadata = metadata, .err = err};
    levels none = {0};
    b.columns = frz_arena_array(arena, metadata->element_count, sizeof *b.columns);
    if (b.columns == NULL) {
        return frz_fail_nomem(err, metadata->element_count * sizeof *b.columns);
    }
    FRZ_TRY(take_element(&b, &e));
    *root = (parquet_node){.element = e, .required = true};
    FRZ_TRY(alloc_children(&b, (size_t)e->num_children, root, FRZ_TYPE_STRUCT, &fields));
    for (size_t i = 0; i < root->child_count; i++) {
        FRZ_TRY(visit(&b, NULL, none, 1, &root->children[i], &fields[i]));
    }
    if (b.next != metadata->element_count) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "the schema's tree ends after %zu of its %zu elements",
                      b.next, metadata->element_count);
        goto out;
    }
    root->leaf_count = b.column_count;
    *columns = b.columns;
    *count = b.column_count;
out:
    return frz_context(err, rc, "Parquet schema");
}
