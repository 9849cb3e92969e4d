/*
 * Names of columns and of parts of columns, as readers of a file ask for them, to a projection.
 */
#include "format/parquet/parquet_api.h"
#include "type/type_pick.h"

/* ---- the file's schema as a tree of names ---- */

static size_t node_child_count(const void *node)
{
    return ((const parquet_node *)node)->child_count;
}

static const void *node_child(const void *node, size_t i)
{
    return &((const parquet_node *)node)->children[i];
}

/* As the file spells the way from a list or map to an item: "list.element", "bag.array". */
static frz_spelling spelled_by_file(const parquet_node *node, size_t i)
{
    const parquet_element *repeated = node->element + 1;
    const parquet_element *item = node->children[i].element;
    if (item == node->element) { /* a bare repeated field: nothing stands between */
        return (frz_spelling){0};
    }
    return (frz_spelling){repeated->name, item == repeated ? (frz_str){0} : item->name};
}

static bool node_spelling(const void *at, size_t i, size_t n, frz_spelling *out)
{
    const parquet_node *node = at;
    bool is_struct = node->type->id == FRZ_TYPE_STRUCT;
    if (n == 0) {
        *out = (frz_spelling){.first = node->type->fields[i].name};
    } else if (n == 1 && !is_struct) {
        *out = spelled_by_file(node, i);
    }
    return n == 0 || (n == 1 && !is_struct);
}

/* ---- the projection ---- */

static frz_code project_fields(frz_arena *arena, const frz_pick *of,
                               const parquet_api_columns *types, parquet_api_columns *out,
                               frz_error *err);

static frz_code project_child(frz_arena *arena, const frz_pick *below, const frz_field *read,
                              const frz_field *shown, frz_field *read_out, frz_field *shown_out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    parquet_api_columns types = {read->type, shown->type};
    *read_out = *read;
    *shown_out = *shown;
    if (below != NULL && !below->whole) {
        FRZ_TRY(project_fields(arena, below, &types, &types, err));
        read_out->type = types.read;
        shown_out->type = types.shown;
    }
out:
    return rc;
}

static frz_code project_fields(frz_arena *arena, const frz_pick *of,
                               const parquet_api_columns *types, parquet_api_columns *out,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool all = types->read->id == FRZ_TYPE_MAP; /* keeps both, whichever was asked for */
    size_t count = all ? types->read->field_count : of->count;
    frz_type *read = frz_arena_alloc(arena, sizeof *read);
    frz_type *shown = frz_arena_alloc(arena, sizeof *shown);
    frz_field *read_fields = frz_arena_array(arena, count, sizeof *read_fields);
    frz_field *shown_fields = frz_arena_array(arena, count, sizeof *shown_fields);
    if (read == NULL || shown == NULL || read_fields == NULL || shown_fields == NULL) {
        return frz_fail_nomem(err, 2 * count * sizeof *read_fields);
    }
    for (size_t i = 0; i < count; i++) {
        size_t child = all ? i : of->order[i];
        FRZ_TRY(project_child(arena, of->below[child], &types->read->fields[child],
                              &types->shown->fields[child], &read_fields[i], &shown_fields[i],
                              err));
    }
    *read = *types->read;
    *shown = *types->shown;
    read->fields = read_fields;
    shown->fields = shown_fields;
    read->field_count = shown->field_count = count;
    *out = (parquet_api_columns){read, shown};
out:
    return rc;
}

frz_code parquet_api_choose(const frz_parquet_file *file, frz_arena *arena,
                            const char *const *names, size_t count, parquet_api_columns *out,
                            frz_error *err)
{
    static const frz_name_tree tree = {node_child_count, node_child, node_spelling};
    frz_code rc = FRZ_OK;
    parquet_api_columns all = {file->data->type, file->own};
    const frz_pick *pick;
    FRZ_TRY(frz_pick_names(arena, &tree, &parquet_api_inner(file)->root, names, count, &pick, err));
    if (pick->whole) {
        *out = all;
        goto out;
    }
    FRZ_TRY(project_fields(arena, pick, &all, out, err));
out:
    return rc;
}
