/*
 * Binding an update to one version of the table: which columns are read, which are written, and on
 * which the result depends.
 */
#include <stdlib.h>

#include "column_update/column_update_internal.h"

frz_code update_plan_parse(update_plan *plan, frz_arena *arena, const frz_assignment *assignments,
                           size_t count, const char *where, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (count == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "an update needs at least one assignment");
    }
    plan->assignments = frz_arena_array(arena, count, sizeof *plan->assignments);
    if (plan->assignments == NULL) {
        return frz_fail_nomem(err, count * sizeof *plan->assignments);
    }
    plan->assignment_count = count;
    for (size_t i = 0; i < count; i++) {
        update_assignment *assignment = &plan->assignments[i];
        FRZ_TRY(
            frz_arena_str(arena, frz_str_from(assignments[i].column), &assignment->column, err));
        FRZ_TRY(
            frz_expr_parse(arena, frz_str_from(assignments[i].expression), &assignment->expr, err));
    }
    if (where != NULL) {
        FRZ_TRY(frz_expr_parse(arena, frz_str_from(where), &plan->where, err));
    }
out:
    return rc;
}

frz_code update_words_parse(const update_words *words, update_plan *plan, update_merge *merge,
                            frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (words->clauses == NULL) {
        return update_plan_parse(plan, arena, words->assignments, words->assignment_count,
                                 words->where, err);
    }
    plan->merge = merge;
    FRZ_TRY(update_merge_parse(merge, arena, words->clauses, words->clause_count, err));
    FRZ_TRY(frz_expr_parse(arena, frz_str_from(words->where), &plan->where, err));
out:
    return rc;
}

void update_plan_unbind(update_plan *plan)
{
    for (size_t i = 0; i < plan->assignment_count; i++) {
        frz_bound_expr_free(plan->assignments[i].bound);
        plan->assignments[i].bound = NULL;
    }
    frz_bound_expr_free(plan->filter);
    frz_bound_expr_free(plan->prune);
    plan->filter = plan->prune = NULL;
    if (plan->source != NULL) {
        update_source_unbind(plan->source);
    }
    if (plan->merge != NULL) { /* its assignments are gone with the arena */
        update_merge_unbind(plan->merge);
        plan->assignment_count = 0;
    }
    frz_arena_reset(&plan->arena);
}

const frz_bound_expr *update_prune(const update_plan *plan)
{
    bool all = plan->merge != NULL && plan->merge->by_source;
    return all ? NULL : plan->source != NULL ? plan->prune : plan->filter;
}

/* ---- sets of field ids ---- */

typedef struct id_set {
    int32_t *ids;
    size_t count;
} id_set;

static int by_number(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a;
    int32_t right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

static frz_code id_set_open(id_set *set, frz_arena *arena, size_t room, frz_error *err)
{
    set->count = 0;
    set->ids = frz_arena_array(arena, room + 1, sizeof *set->ids);
    return set->ids == NULL ? frz_fail_nomem(err, room * sizeof *set->ids) : FRZ_OK;
}

static void id_set_add(id_set *set, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        set->ids[set->count++] = ids[i];
    }
}

/* Ascending, each once. */
static void id_set_close(id_set *set)
{
    size_t kept = 0;
    qsort(set->ids, set->count, sizeof *set->ids, by_number);
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || set->ids[kept - 1] != set->ids[i]) {
            set->ids[kept++] = set->ids[i];
        }
    }
    set->count = kept;
}

/* ---- binding ---- */

static int by_field_id(const void *a, const void *b)
{
    return by_number(&((const update_assignment *)a)->field->id,
                     &((const update_assignment *)b)->field->id);
}

static frz_code bind_assignments(update_plan *plan, const frz_schema *schema,
                                 const frz_type *bind_type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_assignment *assignments = plan->assignments;
    for (size_t i = 0; i < plan->assignment_count; i++) {
        FRZ_TRY(
            frz_type_resolve_name(schema->type, assignments[i].column, &assignments[i].field, err));
        FRZ_TRY(frz_expr_bind_assign(plan->env, assignments[i].scoped, bind_type,
                                     assignments[i].field, &assignments[i].bound, err));
    }
    qsort(assignments, plan->assignment_count, sizeof *assignments, by_field_id);
    for (size_t i = 1; i < plan->assignment_count; i++) {
        if (assignments[i].field->id == assignments[i - 1].field->id) {
            return frz_fail(err, FRZ_E_ARGUMENT, "column \"%.*s\" is assigned twice",
                            FRZ_STR_ARG(assignments[i].field->name));
        }
    }
out:
    return rc;
}

/* Fields that an expression reads, those of the table. */
static void add_fields(id_set *set, const frz_bound_expr *expr)
{
    size_t count = 0;
    const int32_t *ids = expr == NULL ? NULL : frz_bound_expr_fields(expr, &count);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] != SOURCE_ID) {
            id_set_add(set, &ids[i], 1);
        }
    }
}

static size_t field_count(const frz_bound_expr *expr)
{
    size_t count = 0;
    if (expr != NULL) {
        frz_bound_expr_fields(expr, &count);
    }
    return count;
}

/* What finding the rows takes: fields of WHERE, of keys and of conditions of MERGE. There is room
 * for all that the result depends on. */
static frz_code collect_finding(update_plan *plan, id_set *finding, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_source *source = plan->source;
    const update_merge *merge = plan->merge;
    size_t room = plan->assignment_count + field_count(plan->filter);
    size_t key_count = source == NULL ? 0 : source->key_count;
    for (size_t i = 0; i < plan->assignment_count; i++) {
        room += field_count(plan->assignments[i].bound);
    }
    for (size_t i = 0; i < key_count; i++) {
        room += field_count(source->keys[i]);
    }
    if (merge != NULL) {
        room += field_count(merge->updates) + field_count(merge->deletes);
    }
    FRZ_TRY(id_set_open(finding, &plan->arena, room, err));
    for (size_t i = 0; i < key_count; i++) {
        add_fields(finding, source->keys[i]);
    }
    add_fields(finding, plan->filter);
    if (merge != NULL) {
        add_fields(finding, merge->updates);
        add_fields(finding, merge->deletes);
    }
    id_set_close(finding);
out:
    return rc;
}

/* What the result depends on: that, fields of SET, and, if rows may be left as they are, the
 * assigned fields themselves. */
static void add_values(const update_plan *plan, id_set *depends)
{
    for (size_t i = 0; i < plan->assignment_count; i++) {
        add_fields(depends, plan->assignments[i].bound);
        if (plan->carries) {
            id_set_add(depends, &plan->assignments[i].field->id, 1);
        }
    }
    id_set_close(depends);
}

static frz_code make_read_type(update_plan *plan, const frz_type *projectable,
                               const id_set *depends, frz_error *err)
{
    static const int32_t lineage = FRZ_ID_LAST_UPDATED;
    id_set reads = {0};
    frz_code rc = id_set_open(&reads, &plan->arena, depends->count + 1, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    id_set_add(&reads, depends->ids, depends->count);
    if (plan->carries) {
        id_set_add(&reads, &lineage, 1);
        id_set_close(&reads);
    }
    return frz_project_ids(&plan->arena, projectable, reads.ids, reads.count, &plan->read_type,
                           err);
}

static frz_code make_write_type(update_plan *plan, const frz_type *projectable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const int32_t lineage = FRZ_ID_LAST_UPDATED;
    id_set ids = {0};
    FRZ_TRY(id_set_open(&ids, &plan->arena, plan->assignment_count + 1, err));
    for (size_t i = 0; i < plan->assignment_count; i++) {
        id_set_add(&ids, &plan->assignments[i].field->id, 1);
    }
    id_set_add(&ids, &lineage, 1);
    FRZ_TRY(frz_project_ids(&plan->arena, projectable, ids.ids, ids.count, &plan->carry_type, err));
    FRZ_TRY(frz_type_make_optional(&plan->arena, plan->carry_type, &plan->write_type, err));
out:
    return rc;
}

/* Without a source, names mean what they say. */
static frz_code scope_all(update_plan *plan, const frz_schema *schema, const frz_type *readable,
                          const frz_type *projectable, const frz_type **bind_type, frz_error *err)
{
    plan->condition = NULL;
    if (plan->source != NULL) {
        return update_source_bind(plan, schema, readable, projectable, bind_type, err);
    }
    for (size_t i = 0; i < plan->assignment_count; i++) {
        plan->assignments[i].scoped = plan->assignments[i].expr;
    }
    plan->condition = plan->where;
    plan->carries = plan->where != NULL;
    *bind_type = readable;
    return FRZ_OK;
}

frz_code update_plan_bind(update_plan *plan, const frz_metadata *metadata, const frz_schema *schema,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *readable = NULL;
    const frz_type *projectable = NULL;
    const frz_type *bind_type = NULL; /* what expressions are bound to */
    id_set depends = {0};
    frz_arena_init(&plan->arena, plan->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_readable_type(&plan->arena, schema, &readable, err));
    FRZ_TRY(frz_projectable_type(&plan->arena, schema, &projectable, err));
    FRZ_TRY(scope_all(plan, schema, readable, projectable, &bind_type, err));
    FRZ_TRY(bind_assignments(plan, schema, bind_type, err));
    if (plan->condition != NULL) {
        FRZ_TRY(frz_expr_bind_filter(plan->env, plan->condition, bind_type, &plan->filter, err));
    }
    FRZ_TRY(collect_finding(plan, &depends, err));
    FRZ_TRY(frz_project_ids(&plan->arena, projectable, depends.ids, depends.count, &plan->find_type,
                            err));
    add_values(plan, &depends);
    plan->depends_ids = depends.ids;
    plan->depends_count = depends.count;
    FRZ_TRY(make_read_type(plan, projectable, &depends, err));
    FRZ_TRY(make_write_type(plan, projectable, err));
    FRZ_TRY(frz_column_file_ids(plan->write_type, &plan->arena, &plan->written.ids,
                                &plan->written.count, err));
    FRZ_TRY(frz_column_file_ids(schema->type, &plan->arena, &plan->schema_ids.ids,
                                &plan->schema_ids.count, err));
    FRZ_TRY(frz_metrics_config_of(metadata, schema, &plan->arena, &plan->metrics, err));
out:
    if (rc != FRZ_OK) {
        update_plan_unbind(plan);
    }
    return rc;
}
