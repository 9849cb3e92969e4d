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

static frz_str item_name(frz_type_id kind, size_t i)
{
    return kind == FRZ_TYPE_LIST ? FRZ_STR("element") : i == 0 ? FRZ_STR("key") : FRZ_STR("value");
}

static bool node_spelling(const void *at, size_t i, size_t n, frz_spelling *out)
{
    const parquet_node *node = at;
    if (node->kind == FRZ_TYPE_STRUCT) {
        *out = (frz_spelling){.first = node->children[i].element->name};
        return n == 0;
    }
    *out = n == 0 ? (frz_spelling){.first = item_name(node->kind, i)} : spelled_by_file(node, i);
    return n < 2;
}

frz_code parquet_api_choose(const frz_parquet_file *file, frz_arena *arena, const frz_type *type,
                            const char *const *names, size_t count, const frz_type **out,
                            frz_error *err)
{
    static const frz_name_tree tree = {node_child_count, node_child, node_spelling};
    frz_code rc = FRZ_OK;
    const frz_pick *pick;
    FRZ_TRY(frz_pick_names(arena, &tree, &parquet_api_inner(file)->root, names, count, &pick, err));
    FRZ_TRY(frz_pick_type(arena, pick, type, out, err));
out:
    return rc;
}
