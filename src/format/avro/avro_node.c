/*
 * The file's schema as Iceberg sees it: a tree of fields with Iceberg types. spec: Iceberg,
 * Appendix A: Avro.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/avro/avro_internal.h"

typedef struct node_builder {
    frz_arena *arena;
    const avro_schemas *schemas;
    size_t count;
    frz_error *err;
} node_builder;

static frz_code build_node(node_builder *b, const avro_field *field, const avro_node *parent,
                           unsigned depth, avro_node *node, frz_field *out);

static frz_code no_memory(const node_builder *b, size_t size)
{
    return frz_fail_nomem(b->err, size);
}

/* ---- types that are not nested ---- */

/* spec: adjust-to-utc is false if it is not there. That is a convention of files with ids; Avro's
 * own timestamps are in UTC. */
static bool is_utc(const node_builder *b, const avro_schema *s)
{
    return s->utc == AVRO_UTC_UNKNOWN ? !b->schemas->has_ids : s->utc == AVRO_UTC_YES;
}

static const frz_type *type_of_long(const node_builder *b, const avro_schema *s)
{
    bool utc = is_utc(b, s);
    switch (s->logical) {
    case AVRO_LOGICAL_TIME_MICROS:
        return frz_type_primitive(FRZ_TYPE_TIME);
    case AVRO_LOGICAL_TIMESTAMP_MILLIS:
        return frz_type_foreign(utc ? FRZ_FOREIGN_TIMESTAMPTZ_MS : FRZ_FOREIGN_TIMESTAMP_MS);
    case AVRO_LOGICAL_TIMESTAMP_MICROS:
        return frz_type_primitive(utc ? FRZ_TYPE_TIMESTAMPTZ : FRZ_TYPE_TIMESTAMP);
    case AVRO_LOGICAL_TIMESTAMP_NANOS:
        return frz_type_primitive(utc ? FRZ_TYPE_TIMESTAMPTZ_NS : FRZ_TYPE_TIMESTAMP_NS);
    default:
        return frz_type_primitive(FRZ_TYPE_LONG);
    }
}

static const frz_type *type_of_int(const avro_schema *s)
{
    switch (s->logical) {
    case AVRO_LOGICAL_DATE:
        return frz_type_primitive(FRZ_TYPE_DATE);
    case AVRO_LOGICAL_TIME_MILLIS:
        return frz_type_foreign(FRZ_FOREIGN_TIME_MS);
    default:
        return frz_type_primitive(FRZ_TYPE_INT);
    }
}

static frz_code type_with(node_builder *b, frz_type type, const frz_type **out)
{
    frz_type *made = frz_arena_alloc(b->arena, sizeof *made);
    if (made == NULL) {
        return no_memory(b, sizeof *made);
    }
    *made = type;
    *out = made;
    return FRZ_OK;
}

static frz_code type_of_bytes(node_builder *b, avro_node *node)
{
    const avro_schema *s = node->schema;
    if (s->logical == AVRO_LOGICAL_DECIMAL) {
        return type_with(
            b, (frz_type){.id = FRZ_TYPE_DECIMAL, .precision = s->precision, .scale = s->scale},
            &node->type);
    }
    if (s->logical == AVRO_LOGICAL_UUID) {
        node->type = frz_type_primitive(FRZ_TYPE_UUID);
    } else if (s->logical == AVRO_LOGICAL_DURATION) {
        node->type = frz_type_foreign(FRZ_FOREIGN_INTERVAL);
    } else if (s->kind == AVRO_FIXED && s->size == 0) {
        node->unsupported = "a fixed of no bytes";
    } else if (s->kind == AVRO_FIXED) {
        return type_with(b, (frz_type){.id = FRZ_TYPE_FIXED, .length = (int32_t)s->size},
                         &node->type);
    } else {
        node->type = frz_type_primitive(s->kind == AVRO_BYTES ? FRZ_TYPE_BINARY : FRZ_TYPE_STRING);
    }
    return FRZ_OK;
}

/* ---- nested types ---- */

static bool is_below_itself(const avro_node *node)
{
    for (const avro_node *up = node->parent; up != NULL; up = up->parent) {
        if (up->schema == node->schema) {
            return true;
        }
    }
    return false;
}

/* Children of a node from the fields of a record, or an array's or map's. */
static frz_code build_children(node_builder *b, const avro_field *fields, size_t count,
                               frz_type_id id, unsigned depth, avro_node *node)
{
    frz_code rc = FRZ_OK;
    frz_field *out = frz_arena_array(b->arena, count, sizeof *out);
    avro_node *children = frz_arena_array(b->arena, count, sizeof *children);
    if (out == NULL || children == NULL) {
        return no_memory(b, count * sizeof *children);
    }
    node->children = children;
    node->child_count = count;
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(build_node(b, &fields[i], node, depth, &children[i], &out[i]));
    }
    if (id == FRZ_TYPE_MAP) {
        out[0].required = true; /* whatever the writer says of keys */
    }
    FRZ_TRY(type_with(b, (frz_type){.id = id, .fields = out, .field_count = count}, &node->type));
out:
    return rc;
}

static frz_code build_nested(node_builder *b, unsigned depth, avro_node *node)
{
    const avro_schema *s = node->schema;
    if (depth >= AVRO_MAX_DEPTH) {
        return frz_fail(b->err, FRZ_E_LIMIT, "types nested more than %d deep", AVRO_MAX_DEPTH);
    }
    if (s->kind == AVRO_MAP) {
        return build_children(b, s->fields, 2, FRZ_TYPE_MAP, depth + 1, node);
    }
    if (s->kind == AVRO_ARRAY && s->logical == AVRO_LOGICAL_MAP) {
        const avro_schema *pair =
            avro_schema_inside(s->fields[0].schema, &node->pair_branches, &node->pair_null_branch);
        return build_children(b, pair->fields, 2, FRZ_TYPE_MAP, depth + 1, node);
    }
    if (s->kind == AVRO_ARRAY) {
        return build_children(b, s->fields, 1, FRZ_TYPE_LIST, depth + 1, node);
    }
    if (is_below_itself(node)) {
        node->unsupported = "a record inside of itself";
        return FRZ_OK;
    }
    return build_children(b, s->fields, s->field_count, FRZ_TYPE_STRUCT, depth + 1, node);
}

static frz_code build_type(node_builder *b, unsigned depth, avro_node *node)
{
    node->type = frz_type_primitive(FRZ_TYPE_UNKNOWN);
    switch (node->schema->kind) {
    case AVRO_NULL:
        return FRZ_OK;
    case AVRO_BOOLEAN:
        node->type = frz_type_primitive(FRZ_TYPE_BOOLEAN);
        return FRZ_OK;
    case AVRO_INT:
        node->type = type_of_int(node->schema);
        return FRZ_OK;
    case AVRO_LONG:
        node->type = type_of_long(b, node->schema);
        return FRZ_OK;
    case AVRO_FLOAT:
        node->type = frz_type_primitive(FRZ_TYPE_FLOAT);
        return FRZ_OK;
    case AVRO_DOUBLE:
        node->type = frz_type_primitive(FRZ_TYPE_DOUBLE);
        return FRZ_OK;
    case AVRO_BYTES:
    case AVRO_STRING:
    case AVRO_FIXED:
        return type_of_bytes(b, node);
    case AVRO_ENUM:
        node->type = frz_type_primitive(FRZ_TYPE_STRING);
        return FRZ_OK;
    case AVRO_UNION:
        node->unsupported = "a union of several types";
        return FRZ_OK;
    case AVRO_ARRAY:
    case AVRO_MAP:
    case AVRO_RECORD:
        return build_nested(b, depth, node);
    }
    return frz_fail(b->err, FRZ_E_INTERNAL, "Avro has no kind %d", (int)node->schema->kind);
}

/* ---- fields ---- */

static frz_code build_node(node_builder *b, const avro_field *field, const avro_node *parent,
                           unsigned depth, avro_node *node, frz_field *out)
{
    if (++b->count > AVRO_MAX_NODES) {
        return frz_fail(b->err, FRZ_E_LIMIT, "a schema of more than %zu fields", AVRO_MAX_NODES);
    }
    node->parent = parent;
    node->name = field->name;
    node->field_schema = field->schema;
    /* a union of null and one other type says that the other one is optional */
    node->schema = avro_schema_inside(field->schema, &node->branches, &node->null_branch);
    frz_code rc = build_type(b, depth, node);
    if (rc != FRZ_OK) {
        return rc;
    }
    bool nulls = node->branches == 2 || node->schema->kind == AVRO_NULL;
    *out = (frz_field){.id = field->id,
                       .required = !nulls && node->unsupported == NULL,
                       .name = field->name,
                       .type = node->type};
    if (node->schema->kind == AVRO_ENUM) {
        out->annotation = FRZ_STR("ENUM");
    }
    return FRZ_OK;
}

frz_code avro_node_build(frz_arena *arena, const avro_schemas *schemas, avro_node *root,
                         frz_error *err)
{
    node_builder b = {.arena = arena, .schemas = schemas, .err = err};
    *root = (avro_node){.schema = schemas->root};
    return build_nested(&b, 0, root);
}

const char *avro_node_path(const avro_node *node, char *text, size_t size)
{
    const avro_node *nodes[AVRO_MAX_DEPTH + 1];
    size_t count = 0;
    size_t len = 0;
    for (; node != NULL && node->parent != NULL && count < FRZ_ARRAY_COUNT(nodes);
         node = node->parent) {
        nodes[count++] = node;
    }
    text[0] = '\0';
    while (count > 0 && len + 1 < size) {
        frz_str name = nodes[--count]->name;
        int wrote = snprintf(text + len, size - len, "%s%.*s", len == 0 ? "" : ".",
                             (int)FRZ_MIN(name.len, size), name.ptr);
        len += (size_t)FRZ_MAX(wrote, 0);
    }
    return text;
}

/* ---- layouts, which files of the same schema share ---- */

static void layout_free(frz_cached *cached)
{
    avro_layout *layout = (avro_layout *)cached;
    const frz_env *env = layout->env;
    frz_free(env, (void *)(uintptr_t)layout->cached.key.ptr);
    frz_arena_reset(&layout->arena);
    frz_free(env, layout);
}

void avro_layout_unref(avro_layout *layout)
{
    frz_cached_unref(layout == NULL ? NULL : &layout->cached);
}

static frz_code load(const frz_env *env, frz_str key, frz_str text, uint64_t offset,
                     avro_layout *layout, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *own = frz_alloc(env, key.len);
    if (own == NULL) {
        return frz_fail_nomem(err, key.len);
    }
    memcpy(own, key.ptr, key.len);
    layout->cached.key = (frz_str){own, key.len};
    frz_arena_init(&layout->arena, env, FRZ_ARENA_NO_LIMIT); /* fields are counted */
    FRZ_TRY(frz_arena_str(&layout->arena, text, &layout->text, err));
    FRZ_TRY(avro_schema_parse(&layout->arena, text, offset, &layout->schemas, err));
    FRZ_TRY(avro_node_build(&layout->arena, &layout->schemas, &layout->root, err));
    layout->cached.bytes = sizeof *layout + key.len + layout->arena.used;
out:
    return rc;
}

frz_code avro_layout_get(const frz_env *env, frz_str text, uint64_t offset, avro_layout **out,
                         frz_error *err)
{
    char key[64];
    int len = snprintf(key, sizeof key, "avro schema %zu %016" PRIx64, text.len,
                       frz_xxh64(text.ptr, text.len));
    frz_str name = {key, (size_t)len};
    avro_layout *found = (avro_layout *)frz_cache_get(env, name);
    if (found != NULL && frz_str_equal(found->text, text)) {
        *out = found;
        return FRZ_OK;
    }
    avro_layout_unref(found); /* another text of the same hash */
    avro_layout *made = frz_alloc_zero(env, 1, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    made->cached = (frz_cached){.free = layout_free, .refs = 1};
    made->env = env;
    frz_code rc = load(env, name, text, offset, made, err);
    if (rc != FRZ_OK) {
        avro_layout_unref(made);
        return rc;
    }
    frz_cache_put(env, &made->cached);
    *out = made;
    return FRZ_OK;
}
