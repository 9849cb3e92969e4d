/*
 * What an update would cost in each mode.
 */
#include "column_update/column_update_internal.h"
#include "files/files_cost.h"

static frz_code update_estimate(const update_plan *plan, const frz_table *table,
                                const frz_schema *schema, const frz_live_files *files,
                                bool in_bounds, frz_arena *arena, frz_statement_estimate *out,
                                frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = 0;
    frz_condition condition = {0};
    frz_cost_column *columns = frz_arena_array(arena, plan->assignment_count, sizeof *columns);
    int32_t *reads = frz_arena_array(arena, plan->read_type->field_count, sizeof *reads);
    if (columns == NULL || reads == NULL) {
        return frz_fail_nomem(err, plan->assignment_count * sizeof *columns);
    }
    for (size_t i = 0; i < plan->assignment_count; i++) {
        (void)frz_bound_expr_fields(plan->assignments[i].bound, &n);
        columns[i] = (frz_cost_column){plan->assignments[i].field->id, n == 0};
    }
    for (size_t i = 0; i < plan->read_type->field_count; i++) {
        reads[i] = plan->read_type->fields[i].id;
    }
    FRZ_TRY(frz_condition_bind(plan->env, plan->where, schema, arena, &condition, err));
    const frz_cost_request request = {.table = table,
                                      .schema = schema,
                                      .files = files,
                                      .condition = &condition,
                                      .in_bounds = in_bounds,
                                      .columns = columns,
                                      .column_count = plan->assignment_count,
                                      .reads = reads,
                                      .read_count = plan->read_type->field_count};
    FRZ_TRY(frz_cost_estimate(&request, arena, out, err));
out:
    frz_condition_reset(&condition);
    return rc;
}

/* That column files are cheapest can mostly be told without looking for the rows that match. */
frz_code update_cheapest(const update_plan *plan, const frz_table *table, const frz_schema *schema,
                         const frz_live_files *files, frz_arena *arena, frz_write_mode *out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_statement_estimate estimate = {.cheapest = 1};
    if (plan->where != NULL) {
        FRZ_TRY(update_estimate(plan, table, schema, files, true, arena, &estimate, err));
    }
    if (estimate.cheapest != 0) {
        FRZ_TRY(update_estimate(plan, table, schema, files, false, arena, &estimate, err));
    }
    (void)frz_write_mode_find(frz_str_from(estimate.modes[estimate.cheapest].mode), out);
out:
    return rc;
}

frz_code frz_update_estimate(const frz_table *table, const frz_assignment *assignments,
                             size_t assignment_count, const char *where,
                             frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_cost_files files = {0};
    update_plan plan = {.env = table->env};
    const frz_schema *schema = frz_metadata_current_schema(&table->metadata);
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&plan.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(update_plan_parse(&plan, &arena, assignments, assignment_count, where, err));
    FRZ_TRY(update_plan_bind(&plan, &table->metadata, schema, err));
    FRZ_TRY(frz_cost_files_find(table, plan.filter, &arena, &files, err));
    FRZ_TRY(update_estimate(&plan, table, schema, &files.files, false, &arena, out, err));
out:
    frz_cost_files_reset(&files);
    update_plan_unbind(&plan);
    frz_arena_reset(&arena);
    return rc;
}
