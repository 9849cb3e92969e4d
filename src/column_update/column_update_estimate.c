/*
 * What a statement would cost in each mode. Its rows are found as they are when it is carried out,
 * from what that takes alone.
 */
#include "column_update/column_update_internal.h"

/* ---- the rows ---- */

typedef struct update_finder {
    const frz_table *table;
    const frz_schema *schema;
    const frz_live_files *files;
    update_plan *plan;
    frz_arena *arena;
    size_t place; /* of the next data file among those that are looked at */
} update_finder;

static frz_code begin(void *ctx, const frz_entry *const *entries, size_t count, frz_error *err)
{
    update_finder *finder = ctx;
    finder->place = 0;
    return update_source_match(finder->plan->source, finder->table, entries, count,
                               finder->files->deletes, err);
}

static frz_code add_batch(const frz_env *env, const frz_batch *batch, const update_rows *rows,
                          frz_row_list *list, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (int64_t i = 0; rows->selected_count > 0 && i < batch->array.length; i++) {
        if (rows->selected == NULL || frz_bit_get(rows->selected, i)) {
            FRZ_TRY(frz_row_list_add(env, list, batch->first_row + i, err));
        }
    }
out:
    return rc;
}

/* The reader notes it when rows leave their partition. */
static frz_code compute_batch(update_reader *reader, const frz_batch *batch,
                              const update_rows *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray values = {0};
    for (size_t i = 0; rows->selected_count > 0 && i < reader->plan->assignment_count; i++) {
        FRZ_TRY(
            update_reader_values(reader, &reader->plan->assignments[i], batch, rows, &values, err));
        frz_array_release(&values);
    }
out:
    return rc;
}

static frz_code count_unstored(const update_finder *finder, const frz_entry *entry,
                               frz_cost_rows *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    FRZ_TRY(update_unstored_type(finder->plan, finder->table, finder->schema, entry, finder->arena,
                                 &type, err));
    out->unstored = type == NULL ? 0 : type->field_count;
out:
    return rc;
}

static frz_code read_rows(update_finder *finder, const frz_entry *entry, bool with_values,
                          frz_cost_rows *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = finder->plan->env;
    update_reader reader = {0};
    frz_batch batch = {0};
    update_rows rows = {0};
    FRZ_TRY(update_finder_open(&reader, finder->plan, finder->table, entry, finder->place++,
                               finder->files->deletes, with_values, err));
    while ((rc = update_reader_next(&reader, &batch, &rows, err)) == FRZ_OK) {
        FRZ_TRY(add_batch(env, &batch, &rows, &out->updated, err));
        FRZ_TRY(with_values ? compute_batch(&reader, &batch, &rows, err) : FRZ_OK);
        update_rows_reset(env, &rows);
        frz_array_release(&batch.array);
    }
    FRZ_TRY(rc == FRZ_END ? FRZ_OK : rc);
    out->removed = reader.removed;
    reader.removed = (frz_row_list){0};
    FRZ_TRY(reader.leaves_partition ? count_unstored(finder, entry, out, err) : FRZ_OK);
out:
    update_rows_reset(env, &rows);
    frz_array_release(&batch.array);
    update_reader_close(&reader);
    return frz_context(err, rc, "looking at %.*s", FRZ_STR_ARG(entry->location));
}

/* By position the source is read along with the table, and only once: what its values are is not
 * looked at. */
static frz_code find(void *ctx, const frz_entry *entry, const frz_live *live, frz_cost_rows *out,
                     frz_error *err)
{
    update_finder *finder = ctx;
    const update_plan *plan = finder->plan;
    bool by_position = plan->source != NULL && plan->source->by_position;
    bool leaves = update_touches_partition(plan, &finder->table->metadata, entry);
    (void)live;
    out->all = by_position || (plan->source == NULL && plan->filter == NULL && !leaves);
    return out->all ? FRZ_OK : read_rows(finder, entry, leaves, out, err);
}

static frz_code insert(void *ctx, frz_cost_inserts *out, frz_error *err)
{
    update_finder *finder = ctx;
    return update_merge_count(finder->plan, finder->table, finder->schema, finder->arena, out, err);
}

/* ---- the estimate ---- */

/* How closely to look. To choose a mode some data files do, and what is inserted is left out: it is
 * the same in all modes. To tell what it costs, all are looked at in which a source may have rows:
 * they may be in a few of very many. */
typedef enum update_look { LOOK_TO_CHOOSE, LOOK_TO_TELL } update_look;

/* The same value in all rows that match. */
static bool is_constant(const update_plan *plan, const update_assignment *assignment)
{
    size_t n = 0;
    if (plan->merge != NULL) {
        return update_merge_gives_constant(plan->merge, assignment->field, false);
    }
    (void)frz_bound_expr_fields(assignment->bound, &n);
    return n == 0;
}

static frz_code make_request(update_finder *finder, update_look look, frz_cost_request *out,
                             frz_error *err)
{
    const update_plan *plan = finder->plan;
    frz_cost_column *columns =
        frz_arena_array(finder->arena, plan->assignment_count + 1, sizeof *columns);
    int32_t *reads =
        frz_arena_array(finder->arena, plan->read_type->field_count + 1, sizeof *reads);
    if (columns == NULL || reads == NULL) {
        return frz_fail_nomem(err, plan->assignment_count * sizeof *columns);
    }
    for (size_t i = 0; i < plan->assignment_count; i++) {
        columns[i] = (frz_cost_column){plan->assignments[i].field->id,
                                       is_constant(plan, &plan->assignments[i])};
    }
    for (size_t i = 0; i < plan->read_type->field_count; i++) {
        reads[i] = plan->read_type->fields[i].id;
    }
    *out = (frz_cost_request){.table = finder->table,
                              .schema = finder->schema,
                              .files = finder->files,
                              .finder = {finder, plan->find_type, NULL, find, NULL},
                              .every_file = look == LOOK_TO_TELL && plan->source != NULL,
                              .columns = columns,
                              .column_count = plan->assignment_count,
                              .reads = reads,
                              .read_count = plan->read_type->field_count};
    if (plan->source != NULL && !plan->source->by_position) {
        out->finder.begin = begin;
    }
    if (look == LOOK_TO_TELL && plan->merge != NULL && plan->merge->inserts) {
        out->finder.insert = insert;
    }
    return FRZ_OK;
}

static frz_code update_estimate(update_finder *finder, update_look look,
                                frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_plan *plan = finder->plan;
    frz_cost_request request;
    FRZ_TRY(make_request(finder, look, &request, err));
    FRZ_TRY(frz_cost_estimate(&request, finder->arena, out, err));
out:
    if (plan->source != NULL) {
        update_source_forget(plan->source);
    }
    return rc;
}

/* That column files are cheapest can mostly be told without looking for the rows that change. Not
 * where rows are deleted: of a file that is left with few of them much is read in vain later. Nor
 * where they may leave their partition, with values that only the tuple had. */
static bool may_be_told(const update_finder *finder)
{
    const update_plan *plan = finder->plan;
    bool may = plan->where != NULL && plan->assignment_count > 0 &&
               (plan->merge == NULL || !update_merge_has(plan->merge, FRZ_MERGE_DELETE));
    for (size_t i = 0; may && i < finder->files->count; i++) {
        may = !update_touches_partition(plan, &finder->table->metadata, finder->files->entries[i]);
    }
    return may;
}

static frz_code tell(update_finder *finder, bool *certain, frz_error *err)
{
    frz_cost_request request;
    frz_code rc = make_request(finder, LOOK_TO_CHOOSE, &request, err);
    return rc == FRZ_OK ? frz_cost_is_certain(&request, finder->arena, certain, err) : rc;
}

frz_code update_cheapest(update_plan *plan, const frz_table *table, const frz_schema *schema,
                         const frz_live_files *files, frz_arena *arena, frz_write_mode *out,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_statement_estimate estimate;
    bool certain = false;
    update_finder finder = {table, schema, files, plan, arena, 0};
    FRZ_TRY(may_be_told(&finder) ? tell(&finder, &certain, err) : FRZ_OK);
    if (certain) {
        *out = FRZ_MODE_COLUMN_FILE;
        return FRZ_OK;
    }
    FRZ_TRY(update_estimate(&finder, LOOK_TO_CHOOSE, &estimate, err));
    (void)frz_write_mode_find(frz_str_from(estimate.modes[estimate.cheapest].mode), out);
out:
    return rc;
}

/* ---- estimates alone ---- */

/* Which mode the statement would take: with a source more may have been looked at than it does. */
static frz_code mark_choice(update_finder *finder, frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_write_mode mode;
    if (finder->plan->source == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(update_cheapest(finder->plan, finder->table, finder->schema, finder->files,
                            finder->arena, &mode, err));
    for (size_t i = 0; i < out->mode_count; i++) {
        if (strcmp(out->modes[i].mode, frz_write_mode_name(mode)) == 0) {
            out->cheapest = i;
        }
    }
out:
    return rc;
}

static frz_code estimate_words(const frz_table *table, const update_words *words,
                               update_source *source, frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_cost_files files = {0};
    update_merge merge = {0};
    update_plan plan = {.env = table->env, .source = source};
    const frz_schema *schema = frz_metadata_current_schema(&table->metadata);
    update_finder finder = {table, schema, &files.files, &plan, &arena, 0};
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&plan.arena, table->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(update_words_parse(words, &plan, &merge, &arena, err));
    FRZ_TRY(update_plan_bind(&plan, &table->metadata, schema, err));
    FRZ_TRY(frz_cost_files_find(table, update_prune(&plan), &arena, &files, err));
    FRZ_TRY(update_estimate(&finder, LOOK_TO_TELL, out, err));
    FRZ_TRY(mark_choice(&finder, out, err));
out:
    frz_cost_files_reset(&files);
    update_plan_unbind(&plan);
    frz_arena_reset(&arena);
    return rc;
}

frz_code frz_update_estimate(const frz_table *table, const frz_assignment *assignments,
                             size_t assignment_count, const char *where,
                             frz_statement_estimate *out, frz_error *err)
{
    const update_words words = {assignments, assignment_count, where, NULL, 0};
    return estimate_words(table, &words, NULL, out, err);
}

static frz_code estimate_from(frz_catalog *catalog, const char *table, const char *name,
                              const frz_row_source *rows, const update_words *words,
                              frz_statement_estimate *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_source source = {0};
    frz_table *loaded = NULL;
    FRZ_TRY(frz_catalog_load_table(catalog, table, &loaded, err));
    FRZ_TRY(update_source_init(&source, catalog, table, name, rows, err));
    FRZ_TRY(estimate_words(loaded, words, &source, out, err));
out:
    update_source_reset(&source);
    frz_table_unref(loaded);
    return rc;
}

frz_code frz_update_from_estimate(frz_catalog *catalog, const char *table, const char *name,
                                  const frz_assignment *assignments, size_t assignment_count,
                                  const frz_row_source *source, const char *where,
                                  frz_statement_estimate *out, frz_error *err)
{
    const update_words words = {assignments, assignment_count, where, NULL, 0};
    return estimate_from(catalog, table, name, source, &words, out, err);
}

frz_code frz_merge_estimate(frz_catalog *catalog, const char *table, const char *name,
                            const frz_row_source *source, const char *on,
                            const frz_merge_clause *clauses, size_t clause_count,
                            frz_statement_estimate *out, frz_error *err)
{
    const update_words words = {
        .where = on, .clauses = clauses, .clause_count = clauses == NULL ? 0 : clause_count};
    if (clauses == NULL || on == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a merge needs a condition and WHEN clauses");
    }
    return estimate_from(catalog, table, name, source, &words, out, err);
}
