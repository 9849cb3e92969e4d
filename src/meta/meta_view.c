/*
 * Views as streams: which there are, their types, and cells. A view holds the table, so that its
 * stream may outlive the caller's reference.
 */
#include "meta/meta_view.h"

static const meta_view_kind *const kinds[] = {
    [FRZ_TABLE_VIEW_DESCRIBE] = &meta_view_describe,
    [FRZ_TABLE_VIEW_SCHEMA] = &meta_view_schema,
    [FRZ_TABLE_VIEW_SNAPSHOTS] = &meta_view_snapshots,
    [FRZ_TABLE_VIEW_FILES] = &meta_view_files,
    [FRZ_TABLE_VIEW_MANIFESTS] = &meta_view_manifests,
    [FRZ_TABLE_VIEW_PROPERTIES] = &meta_view_properties,
    [FRZ_TABLE_VIEW_HISTORY] = &meta_view_history,
    [FRZ_TABLE_VIEW_REFS] = &meta_view_refs,
    [FRZ_TABLE_VIEW_STATISTICS] = &meta_view_statistics,
    [FRZ_TABLE_VIEW_DELETE_FILES] = &meta_view_delete_files,
    [FRZ_TABLE_VIEW_ENTRIES] = &meta_view_entries,
    [FRZ_TABLE_VIEW_PARTITIONS] = &meta_view_partitions,
};

/* ---- types ---- */

frz_code meta_view_struct(meta_view *v, const meta_view_column *columns, size_t count,
                          const frz_type **out, frz_error *err)
{
    frz_field *fields = frz_arena_array(&v->arena, count, sizeof *fields);
    if (fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] =
            (frz_field){.id = FRZ_ID_NONE,
                        .name = frz_str_from(columns[i].name),
                        .required = columns[i].required,
                        .type = columns[i].nested != NULL ? columns[i].nested
                                                          : frz_type_primitive(columns[i].type)};
    }
    return frz_type_struct_of(&v->arena, fields, count, out, err);
}

frz_code meta_view_set_columns(meta_view *v, const meta_view_column *columns, size_t count,
                               frz_error *err)
{
    frz_code rc = meta_view_struct(v, columns, count, &v->type, err);
    return rc == FRZ_OK ? frz_builder_new(v->table->env, v->type, &v->rows, err) : rc;
}

/* A list or map made of given fields. */
static frz_code nested_of(meta_view *v, frz_type_id id, const meta_view_column *parts, size_t count,
                          const frz_type **out, frz_error *err)
{
    const frz_type *made = NULL;
    frz_code rc = meta_view_struct(v, parts, count, &made, err);
    frz_type *type = rc == FRZ_OK ? frz_arena_alloc(&v->arena, sizeof *type) : NULL;
    if (rc == FRZ_OK && type == NULL) {
        rc = frz_fail_nomem(err, sizeof *type);
    }
    if (rc == FRZ_OK) {
        *type = *made;
        type->id = id;
        *out = type;
    }
    return rc;
}

frz_code meta_view_list_of(meta_view *v, const frz_type *element, bool required,
                           const frz_type **out, frz_error *err)
{
    const meta_view_column part = {"element", element->id, required, element};
    return nested_of(v, FRZ_TYPE_LIST, &part, 1, out, err);
}

frz_code meta_view_text_map(meta_view *v, const frz_type **out, frz_error *err)
{
    static const meta_view_column parts[] = {{"key", FRZ_TYPE_STRING, true, NULL},
                                             {"value", FRZ_TYPE_STRING, true, NULL}};
    return nested_of(v, FRZ_TYPE_MAP, parts, FRZ_ARRAY_COUNT(parts), out, err);
}

/* ---- cells ---- */

frz_builder *meta_view_next(meta_view *v)
{
    return frz_builder_child(v->rows, v->next++);
}

frz_code meta_view_put_str(meta_view *v, frz_str text, frz_error *err)
{
    frz_builder *b = meta_view_next(v);
    return text.ptr == NULL ? frz_builder_null(b, err) : frz_builder_bytes(b, text, err);
}

frz_code meta_view_put_text(meta_view *v, const char *text, frz_error *err)
{
    return meta_view_put_str(v, frz_str_from(text), err);
}

frz_code meta_view_put_i64(meta_view *v, int64_t value, frz_error *err)
{
    frz_builder *b = meta_view_next(v);
    return value == FRZ_NO_VALUE ? frz_builder_null(b, err) : frz_builder_i64(b, value, err);
}

frz_code meta_view_put_i32(meta_view *v, int32_t value, frz_error *err)
{
    frz_builder *b = meta_view_next(v);
    return value < 0 ? frz_builder_null(b, err) : frz_builder_i32(b, value, err);
}

frz_code meta_view_put_bool(meta_view *v, bool value, frz_error *err)
{
    return frz_builder_bool(meta_view_next(v), value, err);
}

frz_code meta_view_put_ms(meta_view *v, int64_t ms, frz_error *err)
{
    int64_t micros;
    return meta_view_put_i64(v, frz_mul_i64(ms, 1000, &micros) ? micros : INT64_MAX, err);
}

frz_code meta_view_put_location(meta_view *v, frz_str recorded, frz_error *err)
{
    char *location = NULL;
    if (recorded.ptr == NULL) {
        return meta_view_put_str(v, recorded, err);
    }
    frz_code rc = frz_table_resolve(v->table, recorded, &location, err);
    rc = rc == FRZ_OK ? meta_view_put_text(v, location, err) : rc;
    frz_free(v->table->env, location);
    return rc;
}

frz_code meta_view_put_ids(meta_view *v, const int32_t *ids, size_t count, frz_error *err)
{
    frz_builder *list = meta_view_next(v);
    if (count == 0) {
        return frz_builder_null(list, err);
    }
    for (size_t i = 0; i < count; i++) {
        frz_code rc = frz_builder_i32(frz_builder_child(list, 0), ids[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_end(list, err);
}

frz_code meta_view_end_row(meta_view *v, frz_error *err)
{
    v->next = 0;
    return frz_builder_end(v->rows, err);
}

/* ---- the stream ---- */

static void view_free(void *ctx)
{
    meta_view *v = ctx;
    if (v == NULL) {
        return;
    }
    frz_table *table = v->table;
    const frz_env *env = table->env;
    meta_view_walk_reset(&v->walk);
    frz_tree_free(v->tree);
    frz_builder_free(v->rows);
    frz_arena_reset(&v->arena);
    frz_free(env, v);
    frz_table_unref(table);
}

static frz_code view_schema(void *ctx, struct ArrowSchema *out, frz_error *err)
{
    meta_view *v = ctx;
    return frz_type_to_arrow(v->table->env, v->type, out, err);
}

static frz_code view_next(void *ctx, struct ArrowArray *out, frz_error *err)
{
    meta_view *v = ctx;
    while (frz_builder_length(v->rows) == 0) {
        frz_code rc = v->kind->fill(v, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return frz_builder_finish(v->rows, out, err);
}

/* The snapshot asked for, and its tree. */
static frz_code open_tree(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_stats_choice none = {false, NULL, 0};
    FRZ_TRY(frz_table_snapshot(v->table, v->snapshot_id, &v->snapshot, &v->schema, err));
    if (v->snapshot != NULL) {
        FRZ_TRY(frz_tree_open(v->table, v->snapshot, v->schema, &none, &v->tree, err));
    }
out:
    return rc;
}

frz_code frz_table_list(const frz_table *table, frz_table_view kind, int64_t snapshot_id,
                        struct ArrowArrayStream *out, frz_error *err)
{
    static const frz_stream_ops ops = {view_schema, view_next, view_free};
    frz_code rc = FRZ_OK;
    if ((size_t)kind >= FRZ_ARRAY_COUNT(kinds)) {
        return frz_fail(err, FRZ_E_ARGUMENT, "there is no view %d of a table", (int)kind);
    }
    meta_view *v = frz_alloc_zero(table->env, 1, sizeof *v);
    if (v == NULL) {
        return frz_fail_nomem(err, sizeof *v);
    }
    v->kind = kinds[kind];
    v->table = frz_table_ref((frz_table *)table);
    v->snapshot_id = snapshot_id;
    frz_arena_init(&v->arena, table->env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&v->walk.arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (v->kind->of_snapshot) {
        FRZ_TRY(open_tree(v, err));
    }
    FRZ_TRY(v->kind->open(v, err));
    rc = frz_stream_make(table->env, &ops, v, out, err);
    v = NULL;
out:
    view_free(v);
    return rc;
}
