/*
 * Values from outside. For expressions the rows of the source are one more column of the table, a
 * struct that is null where a row has none. Of a condition, the parts between source and table that
 * are equalities are the key of a join; parts that speak of the source alone hold back its rows
 * (from the keys alone in a MERGE, which may insert them), those of the table alone rule out data
 * files, too; what is left is the filter of each row.
 */
#include "catalog/catalog_store.h"
#include "column_update/column_update_internal.h"

/* ---- what there is ---- */

/* The levels of the namespace and the table's own name. */
static frz_code split_name(frz_arena *arena, const char *table, const frz_str **out, size_t *count,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table_name name;
    FRZ_TRY(frz_table_name_parse(table, &name, err));
    frz_str left = frz_str_from(name.namespace_name);
    frz_str *parts = frz_arena_array(arena, left.len + 2, sizeof *parts);
    if (parts == NULL) {
        return frz_fail_nomem(err, left.len * sizeof *parts);
    }
    *count = 0;
    while (left.len > 0) {
        const char *dot = memchr(left.ptr, '.', left.len);
        frz_str level = {left.ptr, dot == NULL ? left.len : (size_t)(dot - left.ptr)};
        FRZ_TRY(frz_arena_str(arena, level, &parts[(*count)++], err));
        size_t step = level.len + (dot != NULL);
        left = (frz_str){left.ptr + step, left.len - step};
    }
    FRZ_TRY(frz_arena_str(arena, frz_str_from(name.table_name), &parts[(*count)++], err));
    *out = parts;
out:
    return rc;
}

frz_code update_table_parts(frz_arena *arena, const char *table, const char *name,
                            const frz_str **out, size_t *count, frz_error *err)
{
    if (name == NULL) {
        return split_name(arena, table, out, count, err);
    }
    frz_str *part = frz_arena_array(arena, 1, sizeof *part);
    *out = part;
    *count = 1;
    return part == NULL ? frz_fail_nomem(err, sizeof *part)
                        : frz_arena_str(arena, frz_str_from(name), part, err);
}

static void begin(update_source *source, const frz_env *env)
{
    *source = (update_source){.env = env};
    frz_arena_init(&source->arena, env, FRZ_ARENA_NO_LIMIT);
}

frz_code update_source_init(update_source *source, frz_catalog *catalog, const char *table,
                            const char *name, const frz_row_source *rows, frz_error *err)
{
    frz_code rc = FRZ_OK;
    begin(source, catalog->env);
    FRZ_TRY(update_table_parts(&source->arena, table, name, &source->table_parts,
                               &source->table_part_count, err));
    FRZ_TRY(frz_source_init(&source->rows, catalog, rows, err));
out:
    return rc;
}

frz_code update_source_init_files(update_source *source, const frz_env *env,
                                  const update_files *files, frz_error *err)
{
    frz_row_source rows = FRZ_ROW_SOURCE_INIT;
    rows.name = files->name;
    rows.files = files->locations;
    rows.file_count = files->count;
    begin(source, env);
    source->table_parts = files->table_parts;
    source->table_part_count = files->table_part_count;
    return frz_source_init_files(&source->rows, env, &rows, files->columns, err);
}

frz_code update_source_follow(update_source *source, const frz_table *newest, bool *moved,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_source_follow(&source->rows, newest, source->used, moved, err));
    if (*moved) {
        frz_join_free(source->join);
        source->join = NULL;
        source->used = NULL; /* the columns may have other types */
    }
out:
    return rc;
}

/* ---- columns ---- */

typedef struct used_columns {
    const update_source *source;
    bool *used; /* of the source's */
} used_columns;

/* Say whose column it is not, and keep the hint at those that there are. */
static frz_code not_of_source(const update_source *source, frz_str name, frz_error *err)
{
    frz_error before = {0};
    if (err != NULL) {
        before = *err;
    }
    frz_code rc = frz_fail(err, FRZ_E_ARGUMENT, "\"%.*s\" has no column \"%.*s\"",
                           FRZ_STR_ARG(source->rows.name), FRZ_STR_ARG(name));
    frz_hint(err, "%s", before.hint);
    return rc;
}

static frz_code note_column(void *ctx, frz_str name, frz_error *err)
{
    used_columns *columns = ctx;
    const frz_type *type = columns->source->rows.type;
    const frz_field *field = NULL;
    frz_code rc = frz_type_resolve_name(type, name, &field, err);
    if (rc == FRZ_E_NOT_FOUND) {
        rc = not_of_source(columns->source, name, err);
    }
    if (rc == FRZ_OK) {
        columns->used[field - type->fields] = true;
    }
    return rc;
}

static frz_code make_used(update_source *source, const bool *used, frz_error *err)
{
    const frz_type *type = source->rows.type;
    size_t count = 0;
    frz_field *fields = frz_arena_array(&source->arena, type->field_count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (used[i]) {
            fields[count++] = type->fields[i];
        }
    }
    frz_code rc = frz_type_struct_of(&source->arena, fields, count, &source->used, err);
    source->field.id = SOURCE_ID;
    source->field.type = source->used;
    return rc;
}

/* Expressions stay the same over attempts, so the columns do. */
static frz_code collect_used(const update_plan *plan, const frz_expr *condition, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_source *source = plan->source;
    frz_str name = source->field.name;
    used_columns columns = {.source = source};
    if (source->used != NULL) {
        return FRZ_OK;
    }
    columns.used = frz_alloc_zero(plan->env, source->rows.type->field_count, sizeof(bool));
    FRZ_TRY(columns.used == NULL ? frz_fail_nomem(err, source->rows.type->field_count) : FRZ_OK);
    if (plan->merge != NULL) {
        FRZ_TRY(update_merge_visit(plan->merge, name, note_column, &columns, err));
    }
    for (size_t i = 0; plan->merge == NULL && i < plan->assignment_count; i++) {
        FRZ_TRY(
            frz_expr_visit_fields(plan->assignments[i].scoped, name, note_column, &columns, err));
    }
    if (condition != NULL) {
        FRZ_TRY(frz_expr_visit_fields(condition, name, note_column, &columns, err));
    }
    FRZ_TRY(make_used(source, columns.used, err));
out:
    frz_free(plan->env, columns.used);
    return rc;
}

/* ---- names ---- */

static bool is_taken(const frz_type *type, frz_str name)
{
    bool taken = false;
    for (size_t i = 0; i < type->field_count && !taken; i++) {
        taken = frz_str_equal_nocase(type->fields[i].name, name);
    }
    return taken;
}

/* Of the struct that the source becomes: "s.*", or longer if that is a column of the table. */
static frz_code choose_name(update_source *source, const frz_type *readable, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(source->env, FRZ_BUF_NO_LIMIT);
    if (source->field.name.len > 0) {
        return FRZ_OK; /* the join goes by it */
    }
    FRZ_TRY(frz_buf_printf(&text, err, "%.*s.*", FRZ_STR_ARG(source->rows.name)));
    while (is_taken(readable, frz_buf_view(&text))) {
        FRZ_TRY(frz_buf_append_byte(&text, '*', err));
    }
    FRZ_TRY(frz_arena_str(&source->arena, frz_buf_view(&text), &source->field.name, err));
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code scope_expressions(update_plan *plan, const frz_type *table,
                                  const frz_type *readable, const frz_expr **condition,
                                  frz_error *err)
{
    frz_code rc = FRZ_OK;
    const update_source *source = plan->source;
    const frz_expr_scope scope = {.table_parts = source->table_parts,
                                  .table_part_count = source->table_part_count,
                                  .table = readable,
                                  .source = source->rows.name,
                                  .source_type = source->rows.type,
                                  .column = source->field.name};
    if (plan->merge != NULL) {
        plan->merge->column = source->field.name;
        FRZ_TRY(update_merge_scope(plan->merge, &plan->arena, table, &scope, err));
    }
    for (size_t i = 0; plan->merge == NULL && i < plan->assignment_count; i++) {
        FRZ_TRY(frz_expr_scope_apply(&plan->arena, &scope, plan->assignments[i].expr,
                                     &plan->assignments[i].scoped, err));
    }
    if (plan->where != NULL) {
        FRZ_TRY(frz_expr_scope_apply(&plan->arena, &scope, plan->where, condition, err));
    }
out:
    return rc;
}

/* ---- the parts of a condition ---- */

typedef struct condition_parts {
    const frz_expr **equalities; /* between table and source */
    const frz_expr **of_source, **of_table, **of_both;
    size_t equality_count, source_count, table_count, both_count;
} condition_parts;

/* The sides of an equality: the table's, the source's. */
static bool find_sides(const frz_expr *expr, frz_str name, const frz_expr *sides[2])
{
    const frz_expr *a = NULL, *b = NULL;
    if (!frz_expr_is_equality(expr, &a, &b)) {
        return false;
    }
    bool first = frz_expr_reads(a, name, true);
    sides[0] = first ? a : b;
    sides[1] = first ? b : a;
    return frz_expr_reads(sides[0], name, true) && !frz_expr_reads(sides[0], name, false) &&
           frz_expr_reads(sides[1], name, false) && !frz_expr_reads(sides[1], name, true);
}

static void add_part(condition_parts *parts, const frz_expr *expr, frz_str name)
{
    const frz_expr *sides[2];
    if (find_sides(expr, name, sides)) {
        parts->equalities[parts->equality_count++] = expr;
    } else if (!frz_expr_reads(expr, name, false)) {
        parts->of_table[parts->table_count++] = expr;
    } else if (!frz_expr_reads(expr, name, true)) {
        parts->of_source[parts->source_count++] = expr;
    } else {
        parts->of_both[parts->both_count++] = expr;
    }
}

static frz_code split_condition(frz_arena *arena, const frz_expr *condition,
                                const update_source *source, condition_parts *parts, frz_error *err)
{
    const frz_expr *const *conjuncts = NULL;
    size_t count = condition == NULL ? 0 : frz_expr_conjuncts(condition, &conjuncts);
    const frz_expr **room = frz_arena_array(arena, 4 * count + 1, sizeof *room);
    if (room == NULL) {
        return frz_fail_nomem(err, 4 * count * sizeof *room);
    }
    *parts = (condition_parts){.equalities = room,
                               .of_source = room + count,
                               .of_table = room + 2 * count,
                               .of_both = room + 3 * count};
    for (size_t i = 0; i < count; i++) {
        add_part(parts, conjuncts == NULL ? condition : conjuncts[i], source->field.name);
    }
    if (parts->equality_count == 0) {
        frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                               "no condition says which row of \"%.*s\" a row of the table has",
                               FRZ_STR_ARG(source->rows.name));
        frz_hint(err, "there must be an equality between columns of both, as in WHERE t.id = s.id");
        return rc;
    }
    return FRZ_OK;
}

/* ---- binding ---- */

static void free_exprs(const frz_env *env, frz_bound_expr **exprs, size_t count)
{
    for (size_t i = 0; exprs != NULL && i < count; i++) {
        frz_bound_expr_free(exprs[i]);
    }
    frz_free(env, exprs);
}

/* The keys of both sides. */
static frz_code bind_keys(update_source *source, const condition_parts *parts,
                          const frz_type *readable, const frz_type *row_type,
                          frz_bound_expr **of_source, frz_error *err)
{
    const frz_type *const types[2] = {readable, row_type};
    source->key_count = parts->equality_count;
    for (size_t i = 0; i < parts->equality_count; i++) {
        const frz_expr *sides[2] = {NULL, NULL};
        frz_bound_expr *bound[2];
        find_sides(parts->equalities[i], source->field.name, sides);
        frz_code rc =
            frz_expr_bind_sides(source->env, parts->equalities[i], sides, types, bound, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        source->keys[i] = bound[0];
        of_source[i] = bound[1];
    }
    return FRZ_OK;
}

/* Reads the source, which is done once unless the table's columns have changed. */
static frz_code make_join(update_source *source, const condition_parts *parts, bool merges,
                          int32_t schema_id, const frz_type *row_type, frz_bound_expr **keys,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *filter = NULL;
    frz_join_options options = {.columns = source->used,
                                .row_type = row_type,
                                .keys = keys,
                                .key_count = parts->equality_count,
                                .keeps = merges,
                                .unique = !merges};
    frz_join_free(source->join);
    source->join = NULL;
    FRZ_TRY(frz_expr_and(&source->arena, parts->of_source, parts->source_count, &filter, err));
    if (filter != NULL) {
        FRZ_TRY(frz_expr_bind_filter(source->env, filter, row_type, &options.filter, err));
    }
    keys = NULL; /* moved, also on failure */
    FRZ_TRY(frz_join_new(&source->rows, &options, &source->join, err));
    source->schema_id = schema_id;
out:
    free_exprs(source->env, keys, parts->equality_count);
    return frz_context(err, rc, "reading \"%.*s\"", FRZ_STR_ARG(source->rows.name));
}

/* Behind count ids those of an expression that are not among them; there is room. */
static void add_ids(const frz_bound_expr *expr, int32_t *ids, size_t *count)
{
    size_t n = 0;
    const int32_t *fields = frz_bound_expr_fields(expr, &n);
    for (size_t k = 0; k < n; k++) {
        bool known = false;
        for (size_t j = 0; j < *count; j++) {
            known = known || ids[j] == fields[k];
        }
        ids[*count] = fields[k];
        *count += !known;
    }
}

static frz_code bind_key_type(update_source *source, frz_arena *arena, const frz_type *projectable,
                              frz_error *err)
{
    size_t room = 0, count = 0, n = 0;
    if (source->guard != NULL) {
        frz_bound_expr_fields(source->guard, &room);
    }
    for (size_t i = 0; i < source->key_count; i++) {
        frz_bound_expr_fields(source->keys[i], &n);
        room += n;
    }
    int32_t *ids = frz_arena_array(arena, room + 1, sizeof *ids);
    if (ids == NULL) {
        return frz_fail_nomem(err, room * sizeof *ids);
    }
    for (size_t i = 0; i < source->key_count; i++) {
        add_ids(source->keys[i], ids, &count);
    }
    if (source->guard != NULL) {
        add_ids(source->guard, ids, &count);
    }
    return frz_project_ids(arena, projectable, ids, count, &source->key_type, err);
}

static frz_code bind_join(update_plan *plan, const frz_schema *schema, const frz_type *readable,
                          const frz_type *projectable, const condition_parts *parts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_source *source = plan->source;
    const frz_type *row_type = NULL;
    size_t count = parts->equality_count;
    frz_bound_expr **of_source = frz_alloc_zero(plan->env, count, sizeof *of_source);
    source->keys = frz_alloc_zero(plan->env, count, sizeof *source->keys);
    if (of_source == NULL || source->keys == NULL) {
        rc = frz_fail_nomem(err, count * sizeof *of_source);
        goto out;
    }
    FRZ_TRY(frz_type_struct_of(&source->arena, &source->field, 1, &row_type, err));
    FRZ_TRY(bind_keys(source, parts, readable, row_type, of_source, err));
    source->guard = plan->prune;
    FRZ_TRY(bind_key_type(source, &plan->arena, projectable, err));
    if (!source->unread && (source->join == NULL || source->schema_id != schema->schema_id)) {
        frz_bound_expr **keys = of_source;
        of_source = NULL; /* moved, also on failure */
        FRZ_TRY(
            make_join(source, parts, plan->merge != NULL, schema->schema_id, row_type, keys, err));
    }
out:
    free_exprs(plan->env, of_source, count);
    return rc;
}

/* What of the condition is left for the rows, and what of that may rule out data files. */
static frz_code bind_rest(update_plan *plan, const condition_parts *parts, const frz_type *readable,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *pair[2] = {NULL, NULL};
    size_t count = 0;
    FRZ_TRY(frz_expr_and(&plan->arena, parts->of_table, parts->table_count, &pair[0], err));
    if (pair[0] != NULL) {
        FRZ_TRY(frz_expr_bind_filter(plan->env, pair[0], readable, &plan->prune, err));
        count = 1;
    }
    FRZ_TRY(frz_expr_and(&plan->arena, parts->of_both, parts->both_count, &pair[count], err));
    count += pair[count] != NULL;
    FRZ_TRY(frz_expr_and(&plan->arena, pair, count, &plan->condition, err));
out:
    return rc;
}

frz_code update_source_bind(update_plan *plan, const frz_schema *schema, const frz_type *readable,
                            const frz_type *projectable, const frz_type **bind_type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    update_source *source = plan->source;
    const frz_expr *condition = NULL;
    condition_parts parts = {0};
    FRZ_TRY(choose_name(source, readable, err));
    FRZ_TRY(scope_expressions(plan, schema->type, readable, &condition, err));
    FRZ_TRY(collect_used(plan, condition, err));
    FRZ_TRY(update_source_type(source, &plan->arena, readable, bind_type, err));
    if (!source->by_position) {
        FRZ_TRY(split_condition(&plan->arena, condition, source, &parts, err));
        FRZ_TRY(bind_rest(plan, &parts, readable, err));
        FRZ_TRY(bind_join(plan, schema, readable, projectable, &parts, err));
    }
    if (plan->merge != NULL) {
        plan->merge->equalities = parts.equalities;
        plan->merge->equality_count = parts.equality_count;
        FRZ_TRY(update_merge_compile(plan, schema->type, *bind_type, err));
    }
    plan->carries = !source->by_position;
out:
    return rc;
}

frz_code update_source_type(const update_source *source, frz_arena *arena, const frz_type *type,
                            const frz_type **out, frz_error *err)
{
    frz_field *fields = frz_arena_array(arena, type->field_count + 1, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, type->field_count * sizeof *fields);
    }
    if (type->field_count > 0) {
        memcpy(fields, type->fields, type->field_count * sizeof *fields);
    }
    fields[type->field_count] = source->field;
    return frz_type_struct_of(arena, fields, type->field_count + 1, out, err);
}

void update_source_unbind(update_source *source)
{
    free_exprs(source->env, source->keys, source->key_count);
    source->keys = NULL;
    source->key_count = 0;
}

void update_source_reset(update_source *source)
{
    if (source->env != NULL) {
        update_source_unbind(source);
        frz_array_release(&source->batch);
        frz_join_free(source->join);
        frz_source_reset(&source->rows);
        frz_arena_reset(&source->arena);
    }
    *source = (update_source){0};
}

/* ---- rows ---- */

static void set_target(update_source *source, const frz_table *table,
                       const frz_entry *const *entries, size_t count, frz_delete_index *deletes,
                       const frz_type *key_type)
{
    source->target = (frz_join_target){.table = table,
                                       .entries = entries,
                                       .entry_count = count,
                                       .deletes = deletes,
                                       .keys = source->keys,
                                       .filter = source->guard,
                                       .key_type = key_type};
}

frz_code update_source_match(update_source *source, const frz_table *table,
                             const frz_entry *const *entries, size_t count,
                             frz_delete_index *deletes, frz_error *err)
{
    set_target(source, table, entries, count, deletes, source->key_type);
    return frz_join_match(source->join, &source->target, err);
}

frz_code update_source_start(update_source *source, const frz_commit_attempt *attempt,
                             const frz_entry *const *entries, size_t count,
                             frz_delete_index *deletes, const frz_type *read_type, frz_error *err)
{
    if (!source->by_position) {
        return update_source_match(source, attempt->table, entries, count, deletes, err);
    }
    set_target(source, attempt->table, entries, count, deletes, read_type);
    if (attempt->number == 1) {
        return frz_source_open(&source->rows, source->used, err);
    }
    return count == 0 ? FRZ_OK
                      : frz_fail(err, FRZ_E_CONFLICT,
                                 "another writer was first and has changed which rows there are, "
                                 "so values do not belong to positions any more");
}

frz_code update_source_finish(update_source *source, const frz_commit_attempt *attempt,
                              frz_error *err)
{
    if (!source->by_position || attempt->number > 1) {
        return FRZ_OK;
    }
    return update_position_end(source, err);
}

frz_code update_source_rows(update_source *source, size_t place, const frz_type *batch_type,
                            const frz_batch *batch, const uint8_t *live, frz_joined *out,
                            frz_error *err)
{
    return source->by_position ? update_position_rows(source, batch, live, out, err)
                               : frz_join_rows_of(source->join, &source->target, place, batch_type,
                                                  batch, live, out, err);
}

void update_source_mark(update_source *source, const frz_joined *joined, const uint8_t *selected,
                        int64_t rows)
{
    if (!source->by_position) {
        frz_join_mark(source->join, joined->numbers, selected, rows);
    }
}

void update_source_forget(update_source *source)
{
    if (source->join != NULL) { /* an attempt may end before there is one */
        frz_join_forget_marks(source->join);
    }
}

void update_source_mark_all(update_source *source, const frz_positions *numbers)
{
    frz_row_range run = {0, 0};
    while (numbers != NULL && frz_positions_next_run(numbers, run.end, &run)) {
        frz_join_mark_range(source->join, run);
    }
}

void update_source_count(const update_source *source, int64_t *rows, int64_t *unmatched)
{
    *rows = source->by_position ? source->used_rows : frz_join_rows(source->join);
    *unmatched = source->by_position ? 0 : *rows - frz_join_marked(source->join);
}
