/*
 * Names of columns and of parts of columns, as readers of a file ask for them, to a projection.
 *
 * A name is taken apart at its dots, but names with dots in them exist: the longest part that is a
 * field's name is tried first, and shorter ones if that leads nowhere.
 */
#include "format/parquet/parquet_api.h"

/* What was chosen of a node. */
typedef struct chosen {
    bool whole;
    struct chosen **below; /* by child; NULL: not chosen */
    size_t *order;         /* the children chosen, first named first */
    size_t count;
} chosen;

typedef struct finder {
    frz_arena *arena;
    bool folded;    /* names may differ in case */
    bool ambiguous; /* a folded name fits several */
    bool no_memory;
} finder;

/* ---- choosing ---- */

static chosen *chosen_new(finder *f, const parquet_node *node)
{
    chosen *made = frz_arena_alloc(f->arena, sizeof *made);
    if (made != NULL) {
        made->below = frz_arena_array(f->arena, node->child_count, sizeof(chosen *));
        made->order = frz_arena_array(f->arena, node->child_count, sizeof *made->order);
    }
    if (made == NULL || made->below == NULL || made->order == NULL) {
        f->no_memory = true;
        return NULL;
    }
    return made;
}

/* Choose a child; NULL if there is no memory. */
static chosen *choose_child(finder *f, const parquet_node *node, chosen *of, size_t child)
{
    if (of->below[child] == NULL) {
        of->below[child] = chosen_new(f, &node->children[child]);
        of->order[of->count++] = child;
    }
    return of->below[child];
}

/* ---- names ---- */

static bool same_name(const finder *f, frz_str a, frz_str b)
{
    return f->folded ? frz_str_equal_nocase(a, b) : frz_str_equal(a, b);
}

/* The field of that name; -1: none. first is looked at first: names mostly come in order. */
static int64_t find_field(finder *f, const frz_type *type, frz_str name, size_t first)
{
    int64_t found = -1;
    size_t count = type->field_count;
    for (size_t k = 0; k < count; k++) {
        size_t i = (first + k) % count;
        if (!same_name(f, type->fields[i].name, name)) {
            continue;
        }
        if (!f->folded) {
            return (int64_t)i;
        }
        f->ambiguous = f->ambiguous || found >= 0;
        found = (int64_t)i;
    }
    return found;
}

/* Take a step's name and the dot behind it off the front; false if the name does not start so. */
static bool take_step(const finder *f, frz_str step, frz_str *name)
{
    if (name->len < step.len || !same_name(f, (frz_str){name->ptr, step.len}, step)) {
        return false;
    }
    if (name->len == step.len) {
        *name = (frz_str){name->ptr + name->len, 0};
        return true;
    }
    if (name->ptr[step.len] != '.') {
        return false;
    }
    *name = (frz_str){name->ptr + step.len + 1, name->len - step.len - 1};
    return name->len > 0;
}

/* As the file spells the way from a list or map to an item: "list.element", "bag.array". */
static bool take_spelled(const finder *f, const parquet_node *node, size_t child, frz_str *name)
{
    const parquet_element *repeated = node->element + 1;
    const parquet_element *item = node->children[child].element;
    frz_str rest = *name;
    if (item == node->element) { /* a bare repeated field: nothing stands between */
        return rest.len > 0;
    }
    if (!take_step(f, repeated->name, &rest) || (rest.len == 0 && item != repeated)) {
        return false;
    }
    if (item != repeated && !take_step(f, item->name, &rest)) {
        return false;
    }
    *name = rest;
    return true;
}

static bool choose_path(finder *f, const parquet_node *node, const frz_type *type, frz_str name,
                        chosen *of);

/* Choose what the rest of a name says of a child; all of it if nothing is left. */
static bool choose_rest(finder *f, const parquet_node *node, const frz_type *type, size_t child,
                        frz_str rest, chosen *of)
{
    const parquet_node *below = &node->children[child];
    if (rest.len > 0) {
        /* a place of its own, so that a way that leads nowhere leaves nothing behind */
        chosen *before = of->below[child];
        chosen *trial = before != NULL ? before : chosen_new(f, below);
        if (trial == NULL || !choose_path(f, below, type->fields[child].type, rest, trial)) {
            return false;
        }
        if (before == NULL) {
            of->below[child] = trial;
            of->order[of->count++] = child;
        }
        return true;
    }
    chosen *all = choose_child(f, node, of, child);
    if (all != NULL) {
        all->whole = true;
    }
    return all != NULL;
}

static bool choose_in_struct(finder *f, const parquet_node *node, const frz_type *type,
                             frz_str name, size_t first, chosen *of)
{
    for (size_t len = name.len; len > 0 && !f->no_memory; len--) {
        if (len < name.len && name.ptr[len] != '.') {
            continue;
        }
        int64_t child = find_field(f, type, (frz_str){name.ptr, len}, first);
        size_t skip = FRZ_MIN(len + 1, name.len);
        if (child >= 0 && (len == name.len || skip < name.len) &&
            choose_rest(f, node, type, (size_t)child, (frz_str){name.ptr + skip, name.len - skip},
                        of)) {
            return true;
        }
    }
    return false;
}

static bool choose_in_items(finder *f, const parquet_node *node, const frz_type *type, frz_str name,
                            chosen *of)
{
    for (size_t i = 0; i < node->child_count && !f->no_memory; i++) {
        frz_str rest = name;
        if (take_step(f, type->fields[i].name, &rest) && choose_rest(f, node, type, i, rest, of)) {
            return true;
        }
        rest = name;
        if (take_spelled(f, node, i, &rest) && choose_rest(f, node, type, i, rest, of)) {
            return true;
        }
    }
    return false;
}

static bool choose_path(finder *f, const parquet_node *node, const frz_type *type, frz_str name,
                        chosen *of)
{
    if (type->id == FRZ_TYPE_STRUCT) {
        return choose_in_struct(f, node, type, name, 0, of);
    }
    return choose_in_items(f, node, type, name, of);
}

static frz_code choose_name(finder *f, const frz_parquet_file *file, const char *name, chosen *root,
                            frz_error *err)
{
    const parquet_node *node = &parquet_api_inner(file)->root;
    frz_str text = frz_str_from(name);
    size_t next = root->count == 0 ? 0 : root->order[root->count - 1] + 1;
    f->ambiguous = false;
    f->folded = false;
    bool found = choose_in_struct(f, node, file->own, text, next, root);
    if (!found && !f->no_memory) {
        f->folded = true;
        found = choose_in_struct(f, node, file->own, text, 0, root);
    }
    if (f->no_memory) {
        return frz_fail_nomem(err, sizeof(chosen));
    }
    if (f->ambiguous) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%s\" is ambiguous: several names differ from it only in case",
                        name);
    }
    if (!found) {
        return frz_fail(err, FRZ_E_NOT_FOUND, "the file has no column \"%s\"", name);
    }
    return FRZ_OK;
}

/* ---- the projection ---- */

static frz_code project_fields(frz_arena *arena, const chosen *of, const parquet_api_columns *types,
                               parquet_api_columns *out, frz_error *err);

static frz_code project_child(frz_arena *arena, const chosen *below, const frz_field *read,
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

/* A map keeps both its children, whichever was asked for. */
static size_t place_of(const chosen *of, const frz_type *type, size_t i)
{
    return type->id == FRZ_TYPE_MAP ? i : of->order[i];
}

static frz_code project_fields(frz_arena *arena, const chosen *of, const parquet_api_columns *types,
                               parquet_api_columns *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = types->read->id == FRZ_TYPE_MAP ? types->read->field_count : of->count;
    frz_type *read = frz_arena_alloc(arena, sizeof *read);
    frz_type *shown = frz_arena_alloc(arena, sizeof *shown);
    frz_field *read_fields = frz_arena_array(arena, count, sizeof *read_fields);
    frz_field *shown_fields = frz_arena_array(arena, count, sizeof *shown_fields);
    if (read == NULL || shown == NULL || read_fields == NULL || shown_fields == NULL) {
        return frz_fail_nomem(err, 2 * count * sizeof *read_fields);
    }
    for (size_t i = 0; i < count; i++) {
        size_t child = place_of(of, types->read, i);
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
    frz_code rc = FRZ_OK;
    finder f = {.arena = arena};
    parquet_api_columns all = {file->data->type, file->own};
    if (names == NULL) {
        *out = all;
        return FRZ_OK;
    }
    chosen *root = chosen_new(&f, &parquet_api_inner(file)->root);
    if (root == NULL) {
        return frz_fail_nomem(err, sizeof *root);
    }
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(choose_name(&f, file, names[i], root, err));
    }
    FRZ_TRY(project_fields(arena, root, &all, out, err));
out:
    return rc;
}
