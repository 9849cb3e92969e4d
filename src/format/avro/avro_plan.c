/*
 * What decodes a projection: the file's fields in their order, each to a column or to nowhere.
 *
 * Invariants:
 *  1. A body's columns get exactly one value each time that the body is run, those of structs
 *     inside of it too, also where the struct is null. So room is made for many runs at once.
 *  2. A struct that cannot be null has no column and no step: its fields' steps are its parent's.
 *  3. Requested fields that the file lacks have no column: they are made when a batch is.
 */
#include <inttypes.h>

#include "format/avro/avro_internal.h"
#include "type/type_variant.h"

static frz_code plan_field(avro_plan *plan, avro_body *body, const frz_field *field,
                           const avro_node *node, const frz_type *file_type, avro_part *part,
                           frz_error *err);

/* ---- columns of a body ---- */

static frz_code add_column(avro_plan *plan, avro_body *body, avro_column *column, frz_error *err)
{
    if (body->column_count == body->column_capacity) {
        size_t capacity = FRZ_MAX(body->column_capacity * 2, (size_t)4);
        avro_column **columns = frz_arena_array(&plan->arena, capacity, sizeof *columns);
        if (columns == NULL) {
            return frz_fail_nomem(err, capacity * sizeof *columns);
        }
        if (body->column_count > 0) {
            memcpy(columns, body->columns, body->column_count * sizeof(avro_column *));
        }
        body->columns = columns;
        body->column_capacity = capacity;
    }
    body->columns[body->column_count++] = column;
    body->width += column->width;
    return FRZ_OK;
}

static frz_code start_column(avro_plan *plan, avro_body *body, avro_part *part, bool nullable,
                             frz_error *err)
{
    avro_column_init(&part->column, plan->env, part->field->type,
                     nullable && !part->field->required);
    part->has_column = true;
    return add_column(plan, body, &part->column, err);
}

static frz_code new_body(avro_plan *plan, avro_body **out, frz_error *err)
{
    avro_body *made = frz_arena_alloc(&plan->arena, sizeof *made);
    *out = made;
    return made == NULL ? frz_fail_nomem(err, sizeof *made) : FRZ_OK;
}

static frz_code add_columns_of(avro_plan *plan, avro_body *body, const avro_body *inner,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t width = body->width + inner->width; /* also of what has no column */
    for (size_t i = 0; rc == FRZ_OK && i < inner->column_count; i++) {
        rc = add_column(plan, body, inner->columns[i], err);
    }
    body->width = width;
    return rc;
}

static avro_op op_of(avro_code code, avro_part *part)
{
    return (avro_op){.code = code,
                     .branches = part->node->branches,
                     .null_branch = part->node->null_branch,
                     .required = part->field->required,
                     .column = part->has_column ? &part->column : NULL,
                     .schema = part->node->schema,
                     .node = part->node};
}

/* ---- which field is which ---- */

static frz_code fail_twice(const avro_node *node, int32_t id, frz_error *err)
{
    char path[256];
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\" has field id %" PRId32 " more than once",
                    avro_node_path(node, path, sizeof path), id);
}

/* The requested child that each of the file's children is, or SIZE_MAX; and the other way round in
 * found. */
static frz_code match_fields(avro_plan *plan, const avro_node *node, const frz_type *file_type,
                             const frz_type *type, size_t **wanted, bool **found, frz_error *err)
{
    size_t count = node->child_count;
    *wanted = frz_arena_array(&plan->arena, count, sizeof **wanted);
    *found = frz_arena_array(&plan->arena, type->field_count, sizeof **found);
    if (*wanted == NULL || *found == NULL) {
        return frz_fail_nomem(err, count * sizeof **wanted);
    }
    size_t next = 0; /* fields mostly come in the order that is asked for */
    for (size_t i = 0; i < count; i++) {
        int32_t id = file_type->fields[i].id;
        size_t at = SIZE_MAX;
        (*wanted)[i] = SIZE_MAX;
        if (id == FRZ_ID_NONE) {
            continue;
        }
        for (size_t k = 0; k < type->field_count && at == SIZE_MAX; k++) {
            size_t place = (next + k) % type->field_count;
            at = type->fields[place].id == id ? place : at;
        }
        if (at == SIZE_MAX) {
            continue;
        }
        if ((*found)[at]) {
            return fail_twice(node, id, err);
        }
        (*wanted)[i] = at;
        (*found)[at] = true;
        next = at + 1;
    }
    return FRZ_OK;
}

/* Bytes that a value takes which is not in the file. */
static size_t made_width(const frz_field *field)
{
    const frz_type *type = field->type;
    size_t width = FRZ_MAX(frz_type_width(type), sizeof(int32_t));
    if (field->initial_default != NULL && frz_type_width(type) == 0 &&
        type->id != FRZ_TYPE_BOOLEAN && !frz_type_is_nested(type)) {
        width += field->initial_default->as.bytes.len;
    }
    for (size_t i = 0; type->id == FRZ_TYPE_STRUCT && i < type->field_count; i++) {
        width += made_width(&type->fields[i]);
    }
    return width;
}

static frz_code plan_missing(avro_body *body, const frz_field *field, const avro_node *parent,
                             avro_part *part, frz_error *err)
{
    char path[256];
    *part = (avro_part){.field = field};
    body->width += made_width(field);
    if (parent->parent == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "the file has no field \"%.*s\" (id %" PRId32 ")",
                        FRZ_STR_ARG(field->name), field->id);
    }
    if (field->required && field->initial_default == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "column \"%s\" has no field \"%.*s\" (id %" PRId32
                        "), which is required and has no default",
                        avro_node_path(parent, path, sizeof path), FRZ_STR_ARG(field->name),
                        field->id);
    }
    return FRZ_OK;
}

static frz_code new_children(avro_plan *plan, avro_part *part, frz_error *err)
{
    size_t count = part->field->type->field_count;
    part->children = frz_arena_array(&plan->arena, count, sizeof *part->children);
    part->child_count = part->children == NULL ? 0 : count;
    return part->children == NULL ? frz_fail_nomem(err, count * sizeof *part->children) : FRZ_OK;
}

/* ---- structs ---- */

static frz_code plan_fields(avro_plan *plan, avro_body *body, const avro_node *node,
                            const frz_type *file_type, avro_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = part->field->type;
    size_t *wanted;
    bool *found;
    FRZ_TRY(new_children(plan, part, err));
    FRZ_TRY(match_fields(plan, node, file_type, type, &wanted, &found, err));
    for (size_t i = 0; i < node->child_count; i++) {
        if (wanted[i] == SIZE_MAX) {
            FRZ_TRY(avro_skip_add(plan, body, node->schema->fields[i].schema, err));
            continue;
        }
        FRZ_TRY(plan_field(plan, body, &type->fields[wanted[i]], &node->children[i],
                           file_type->fields[i].type, &part->children[wanted[i]], err));
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (!found[i]) {
            FRZ_TRY(plan_missing(body, &type->fields[i], node, &part->children[i], err));
        }
    }
out:
    return rc;
}

static frz_code plan_struct(avro_plan *plan, avro_body *body, const avro_node *node,
                            const frz_type *file_type, avro_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *inner = NULL;
    if (node->branches == 0) {
        return plan_fields(plan, body, node, file_type, part, err);
    }
    FRZ_TRY(new_body(plan, &inner, err));
    FRZ_TRY(start_column(plan, body, part, node->branches == 2, err));
    FRZ_TRY(plan_fields(plan, inner, node, file_type, part, err));
    FRZ_TRY(add_columns_of(plan, body, inner, err));
    avro_op op = op_of(AVRO_GET_STRUCT, part);
    op.body = inner;
    FRZ_TRY(avro_body_add(plan, body, &op, err));
out:
    return rc;
}

/* ---- lists and maps ---- */

/* Items go by their place; an id that is there must not differ. */
static frz_code check_item(const avro_node *node, const frz_field *in_file, const frz_field *field,
                           frz_error *err)
{
    char path[256];
    if (in_file->id == FRZ_ID_NONE || field->id == FRZ_ID_NONE || in_file->id == field->id) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT,
                    "column \"%s\" has field id %" PRId32 " in the file, expected %" PRId32,
                    avro_node_path(node, path, sizeof path), in_file->id, field->id);
}

/* A list of pairs that is to be read as a map: some writers leave the logical type out. */
static bool is_map_of_pairs(const frz_type *file_type, const frz_type *type)
{
    if (type->id != FRZ_TYPE_MAP || file_type->id != FRZ_TYPE_LIST) {
        return false;
    }
    const frz_type *item = file_type->fields[0].type;
    return item->id == FRZ_TYPE_STRUCT && item->field_count == 2 &&
           item->fields[0].id == type->fields[0].id && item->fields[1].id == type->fields[1].id;
}

/* Pairs in unions: what reads a pair stands inside of a step that looks at the branch. */
static frz_code wrap_pairs(avro_plan *plan, avro_part *part, uint8_t branches, uint8_t null_branch,
                           avro_body **body, frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *outer = NULL;
    if (branches == 0) {
        return FRZ_OK;
    }
    avro_column *column = frz_arena_alloc(&plan->arena, sizeof *column);
    if (column == NULL) {
        return frz_fail_nomem(err, sizeof *column);
    }
    static const frz_type pair = {.id = FRZ_TYPE_STRUCT};
    avro_column_init(column, plan->env, &pair, false);
    FRZ_TRY(new_body(plan, &outer, err));
    FRZ_TRY(add_columns_of(plan, outer, *body, err));
    avro_op op = op_of(AVRO_GET_STRUCT, part);
    op.branches = branches;
    op.null_branch = null_branch;
    op.required = true; /* there are no pairs that are null */
    op.column = column;
    op.body = *body;
    FRZ_TRY(avro_body_add(plan, outer, &op, err));
    *body = outer;
out:
    return rc;
}

/* Entries of no use are told by the key, which must be the first step of the pair. */
static frz_code choose_entries(avro_plan *plan, const avro_node *node, const frz_type *type,
                               const avro_body *pair, avro_op *op, frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *skip = NULL;
    if (plan->map_keys == NULL || type->id != FRZ_TYPE_MAP || pair->count == 0 ||
        pair->ops[0].code != AVRO_GET_INT || pair->ops[0].branches != 0) {
        return FRZ_OK;
    }
    avro_wanted *wanted = frz_arena_alloc(&plan->arena, sizeof *wanted);
    FRZ_TRY(wanted == NULL ? frz_fail_nomem(err, sizeof *wanted) : FRZ_OK);
    FRZ_TRY(new_body(plan, &skip, err));
    FRZ_TRY(avro_skip_add(plan, skip, node->children[1].field_schema, err));
    *wanted = (avro_wanted){plan->map_keys, plan->map_key_count, skip};
    op->wanted = wanted;
out:
    return rc;
}

static frz_code plan_items(avro_plan *plan, avro_body *body, const avro_node *node,
                           const frz_type *file_type, avro_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = part->field->type;
    uint8_t branches = node->pair_branches, null_branch = node->pair_null_branch;
    avro_body *inner = NULL;
    if (is_map_of_pairs(file_type, type)) {
        file_type = file_type->fields[0].type;
        node = &node->children[0];
        branches = node->branches;
        null_branch = node->null_branch;
    }
    FRZ_TRY(start_column(plan, body, part, part->node->branches == 2, err));
    FRZ_TRY(new_body(plan, &inner, err));
    FRZ_TRY(new_children(plan, part, err));
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(check_item(&node->children[i], &file_type->fields[i], &type->fields[i], err));
        FRZ_TRY(plan_field(plan, inner, &type->fields[i], &node->children[i],
                           file_type->fields[i].type, &part->children[i], err));
    }
    avro_op op = op_of(AVRO_GET_ITEMS, part);
    FRZ_TRY(choose_entries(plan, node, type, inner, &op, err));
    FRZ_TRY(wrap_pairs(plan, part, branches, null_branch, &inner, err));
    for (size_t i = 0; i < part->node->schema->field_count; i++) {
        inner->least += part->node->schema->fields[i].schema->least;
    }
    op.body = inner;
    op.wanted = branches == 0 ? op.wanted : NULL;
    FRZ_TRY(avro_body_add(plan, body, &op, err));
out:
    return rc;
}

/* ---- variants ---- */

/* A record's fields with ids, which those of a variant do not have. */
static frz_code number_fields(avro_plan *plan, const frz_type *record, const frz_type **out,
                              frz_error *err)
{
    frz_type *type = frz_arena_alloc(&plan->arena, sizeof *type);
    frz_field *fields = frz_arena_array(&plan->arena, record->field_count, sizeof *fields);
    if (type == NULL || fields == NULL) {
        return frz_fail_nomem(err, record->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < record->field_count; i++) {
        fields[i] = record->fields[i];
        fields[i].id = (int32_t)i + 1;
    }
    *type = *record;
    type->fields = fields;
    *out = type;
    return FRZ_OK;
}

/* A record of metadata and value; there are no shredded ones. spec: Avro data type mappings */
static frz_code plan_variant(avro_plan *plan, avro_body *body, const frz_field *field,
                             const avro_node *node, avro_part *part, frz_error *err)
{
    frz_code rc = FRZ_OK;
    char path[256];
    const frz_type *stored = NULL;
    frz_field *group = frz_arena_alloc(&plan->arena, sizeof *group);
    if (group == NULL) {
        return frz_fail_nomem(err, sizeof *group);
    }
    for (size_t i = 0; i < node->type->field_count; i++) {
        if (frz_type_is_nested(node->type->fields[i].type)) {
            return frz_fail(err, FRZ_E_UNSUPPORTED,
                            "unsupported: column \"%s\" is a shredded variant",
                            avro_node_path(node, path, sizeof path));
        }
    }
    rc = frz_variant_check_shape(plan->env, node->type, err);
    FRZ_TRY(frz_context(err, rc, "column \"%s\"", avro_node_path(node, path, sizeof path)));
    FRZ_TRY(number_fields(plan, node->type, &stored, err));
    *group = *field;
    group->type = stored;
    part->field = group;
    part->variant = true;
    FRZ_TRY(plan_struct(plan, body, node, stored, part, err));
out:
    return rc;
}

/* ---- any field ---- */

static frz_code mismatch(const avro_node *node, const frz_type *to, frz_error *err)
{
    char from_text[64], to_text[64], path[256];
    return frz_fail(err, FRZ_E_CORRUPT, "column \"%s\" is %s in the file and is to be read as %s",
                    avro_node_path(node, path, sizeof path),
                    frz_type_text(node->type, from_text, sizeof from_text),
                    frz_type_text(to, to_text, sizeof to_text));
}

/* What holds only nulls is read as any type. */
static frz_code plan_nulls(avro_plan *plan, avro_body *body, const avro_node *node, avro_part *part,
                           frz_error *err)
{
    char path[256];
    if (part->field->required && part->field->type->id != FRZ_TYPE_UNKNOWN) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "column \"%s\" holds only nulls and is to be read as required",
                        avro_node_path(node, path, sizeof path));
    }
    part->only_nulls = true;
    body->width += made_width(part->field);
    return node->branches == 0 ? FRZ_OK : avro_skip_add(plan, body, node->field_schema, err);
}

static frz_code plan_leaf(avro_plan *plan, avro_body *body, const avro_node *node, avro_part *part,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_code code;
    FRZ_TRY(avro_convert_choose(node, part->field->type, &code, err));
    FRZ_TRY(start_column(plan, body, part, node->branches == 2, err));
    avro_op op = op_of(code, part);
    op.size = node->schema->size;
    FRZ_TRY(avro_body_add(plan, body, &op, err));
out:
    return rc;
}

static frz_code plan_field(avro_plan *plan, avro_body *body, const frz_field *field,
                           const avro_node *node, const frz_type *file_type, avro_part *part,
                           frz_error *err)
{
    char path[256];
    *part = (avro_part){.field = field, .node = node};
    if (node->unsupported != NULL) {
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: column \"%s\" is %s",
                        avro_node_path(node, path, sizeof path), node->unsupported);
    }
    if (node->schema->kind == AVRO_NULL || field->type->id == FRZ_TYPE_UNKNOWN) {
        return node->schema->kind == AVRO_NULL ? plan_nulls(plan, body, node, part, err)
                                               : mismatch(node, field->type, err);
    }
    if (is_map_of_pairs(file_type, field->type)) {
        return plan_items(plan, body, node, file_type, part, err);
    }
    if (!frz_type_is_nested(node->type) && !frz_type_is_nested(field->type)) {
        return plan_leaf(plan, body, node, part, err);
    }
    if (field->type->id == FRZ_TYPE_VARIANT && node->type->id == FRZ_TYPE_STRUCT) {
        return plan_variant(plan, body, field, node, part, err);
    }
    if (node->type->id != field->type->id) {
        return mismatch(node, field->type, err);
    }
    return node->type->id == FRZ_TYPE_STRUCT ? plan_struct(plan, body, node, file_type, part, err)
                                             : plan_items(plan, body, node, file_type, part, err);
}

/* ---- the plan ---- */

frz_code avro_plan_init(avro_plan *plan, const frz_env *env, const avro_layout *layout,
                        const frz_type *file_type, const frz_read_request *request, frz_error *err)
{
    frz_code rc = FRZ_OK;
    avro_body *skip_row;
    *plan = (avro_plan){.env = env,
                        .layout = layout,
                        .map_keys = request->map_keys,
                        .map_key_count = request->map_key_count};
    frz_arena_init(&plan->arena, env, FRZ_ARENA_NO_LIMIT);
    plan->rows = (frz_field){.id = FRZ_ID_NONE, .required = true, .type = request->projection};
    plan->root = (avro_part){.field = &plan->rows, .node = &layout->root};
    plan->skips = frz_arena_array(&plan->arena, layout->schemas.count, sizeof *plan->skips);
    skip_row = frz_arena_alloc(&plan->arena, sizeof *skip_row);
    if (plan->skips == NULL || skip_row == NULL) {
        rc = frz_fail_nomem(err, layout->schemas.count * sizeof *plan->skips);
        goto out;
    }
    FRZ_TRY(plan_fields(plan, &plan->body, &layout->root, file_type, &plan->root, err));
    plan->body.least = layout->schemas.root->least;
    FRZ_TRY(avro_skip_add(plan, skip_row, layout->schemas.root, err));
    skip_row->least = plan->body.least;
    plan->skip_row = skip_row;
out:
    return rc;
}

static void reset_part(avro_part *part)
{
    if (part->has_column) {
        avro_column_reset(&part->column);
    }
    for (size_t i = 0; i < part->child_count; i++) {
        reset_part(&part->children[i]);
    }
}

void avro_plan_reset(avro_plan *plan)
{
    if (plan->env != NULL) {
        reset_part(&plan->root);
        frz_arena_reset(&plan->arena);
        *plan = (avro_plan){0};
    }
}
