/*
 * Dotted names against a tree of names.
 */
#include "type/type_pick.h"

typedef struct picker {
    frz_arena *arena;
    const frz_name_tree *tree;
    bool folded;    /* names may differ in case */
    bool ambiguous; /* a folded name fits several */
    bool no_memory;
} picker;

static frz_pick *pick_new(picker *p, const void *node)
{
    size_t count = p->tree->child_count(node);
    frz_pick *made = frz_arena_alloc(p->arena, sizeof *made);
    if (made != NULL) {
        made->below = frz_arena_array(p->arena, count, sizeof(frz_pick *));
        made->order = frz_arena_array(p->arena, count, sizeof *made->order);
    }
    if (made == NULL || made->below == NULL || made->order == NULL) {
        p->no_memory = true;
        return NULL;
    }
    return made;
}

/* ---- names ---- */

static bool same_text(const picker *p, frz_str a, frz_str b)
{
    return p->folded ? frz_str_equal_nocase(a, b) : frz_str_equal(a, b);
}

static bool is_spelled(const picker *p, const frz_spelling *spelling, frz_str name)
{
    frz_str first = spelling->first;
    frz_str second = spelling->second;
    if (second.ptr == NULL) {
        return same_text(p, first, name);
    }
    return name.len == first.len + 1 + second.len && name.ptr[first.len] == '.' &&
           same_text(p, first, (frz_str){name.ptr, first.len}) &&
           same_text(p, second, (frz_str){name.ptr + first.len + 1, second.len});
}

static bool has_name(const picker *p, const void *node, size_t child, frz_str name)
{
    frz_spelling spelling;
    for (size_t n = 0; p->tree->spelling(node, child, n, &spelling); n++) {
        if (is_spelled(p, &spelling, name)) {
            return true;
        }
    }
    return false;
}

/* The child of that name; count: none. first is looked at first: names mostly come in order. */
static size_t find_child(picker *p, const void *node, frz_str name, size_t first)
{
    size_t count = p->tree->child_count(node);
    size_t found = count;
    for (size_t k = 0; k < count; k++) {
        size_t i = (first + k) % count;
        if (!has_name(p, node, i, name)) {
            continue;
        }
        if (!p->folded) {
            return i;
        }
        p->ambiguous = p->ambiguous || found < count;
        found = i;
    }
    return found;
}

/* ---- choosing ---- */

static bool pick_path(picker *p, const void *node, frz_str name, size_t first, frz_pick *of);

/* Choose what the rest of a name says of a child, all of it if nothing is left. A way that leads
 * nowhere leaves nothing behind. */
static bool pick_child(picker *p, const void *node, size_t child, frz_str rest, frz_pick *of)
{
    const void *below = p->tree->child(node, child);
    bool is_new = of->below[child] == NULL;
    frz_pick *pick = is_new ? pick_new(p, below) : of->below[child];
    if (pick == NULL || (rest.len > 0 && !pick_path(p, below, rest, 0, pick))) {
        return false;
    }
    pick->whole = pick->whole || rest.len == 0;
    if (is_new) {
        of->below[child] = pick;
        of->order[of->count++] = child;
    }
    return true;
}

/* A step that needs no name: its child takes the whole of it. */
static bool pick_through(picker *p, const void *node, frz_str name, frz_pick *of)
{
    frz_spelling spelling;
    for (size_t i = 0; i < p->tree->child_count(node); i++) {
        for (size_t n = 0; p->tree->spelling(node, i, n, &spelling); n++) {
            if (spelling.first.len == 0 && spelling.second.ptr == NULL &&
                pick_child(p, node, i, name, of)) {
                return true;
            }
        }
    }
    return false;
}

static bool pick_path(picker *p, const void *node, frz_str name, size_t first, frz_pick *of)
{
    size_t count = p->tree->child_count(node);
    for (size_t len = name.len; len > 0 && !p->no_memory; len--) {
        if (len < name.len && (name.ptr[len] != '.' || len + 1 == name.len)) {
            continue;
        }
        size_t child = find_child(p, node, (frz_str){name.ptr, len}, first);
        size_t skip = FRZ_MIN(len + 1, name.len);
        frz_str rest = {name.ptr + skip, name.len - skip};
        if (child < count && pick_child(p, node, child, rest, of)) {
            return true;
        }
    }
    return !p->no_memory && pick_through(p, node, name, of);
}

/* The names of a root's children that fit a hint. */
static void hint_names(const picker *p, const void *root, frz_error *err)
{
    char names[200];
    size_t len = 0;
    size_t count = p->tree->child_count(root);
    for (size_t i = 0; i < count; i++) {
        frz_spelling spelling;
        if (!p->tree->spelling(root, i, 0, &spelling) ||
            spelling.first.len + sizeof ", …" > sizeof names - len) {
            memcpy(names + len, "…", sizeof "…" - 1);
            len += sizeof "…" - 1;
            break;
        }
        if (spelling.first.len > 0) {
            memcpy(names + len, spelling.first.ptr, spelling.first.len);
        }
        len += spelling.first.len;
        if (i + 1 < count) {
            memcpy(names + len, ", ", 2);
            len += 2;
        }
    }
    if (len > 0) {
        frz_hint(err, "columns are: %.*s", (int)len, names);
    }
}

static frz_code pick_name(picker *p, const void *root, const char *name, frz_pick *of,
                          frz_error *err)
{
    frz_str text = frz_str_from(name);
    size_t next = of->count == 0 ? 0 : of->order[of->count - 1] + 1;
    p->ambiguous = p->folded = false;
    bool found = pick_path(p, root, text, next, of);
    if (!found && !p->no_memory) {
        p->folded = true;
        found = pick_path(p, root, text, 0, of);
    }
    if (p->no_memory) {
        return frz_fail_nomem(err, sizeof(frz_pick));
    }
    if (p->ambiguous) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%s\" is ambiguous: several names differ from it only in case",
                        name);
    }
    if (!found) {
        frz_fail(err, FRZ_E_NOT_FOUND, "there is no column \"%s\"", name);
        hint_names(p, root, err);
        return FRZ_E_NOT_FOUND;
    }
    return FRZ_OK;
}

frz_code frz_pick_names(frz_arena *arena, const frz_name_tree *tree, const void *root,
                        const char *const *names, size_t count, const frz_pick **out,
                        frz_error *err)
{
    frz_code rc = FRZ_OK;
    picker p = {.arena = arena, .tree = tree};
    frz_pick *all = pick_new(&p, root);
    if (all == NULL) {
        return frz_fail_nomem(err, sizeof *all);
    }
    all->whole = names == NULL;
    for (size_t i = 0; names != NULL && i < count; i++) {
        FRZ_TRY(pick_name(&p, root, names[i], all, err));
    }
    *out = all;
out:
    return rc;
}

/* ---- types ---- */

frz_code frz_pick_type(frz_arena *arena, const frz_pick *pick, const frz_type *type,
                       const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (pick == NULL || pick->whole) {
        *out = type;
        return FRZ_OK;
    }
    bool all = type->id == FRZ_TYPE_MAP;
    size_t count = all ? type->field_count : pick->count;
    frz_type *made = frz_arena_alloc(arena, sizeof *made);
    frz_field *fields = frz_arena_array(arena, count, sizeof *fields);
    if (made == NULL || fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *fields);
    }
    for (size_t i = 0; i < count; i++) {
        size_t child = all ? i : pick->order[i];
        fields[i] = type->fields[child];
        FRZ_TRY(frz_pick_type(arena, pick->below[child], type->fields[child].type, &fields[i].type,
                              err));
    }
    *made = *type;
    made->fields = fields;
    made->field_count = count;
    *out = made;
out:
    return rc;
}

static size_t type_child_count(const void *node)
{
    return ((const frz_type *)node)->field_count;
}

static const void *type_child(const void *node, size_t i)
{
    return ((const frz_type *)node)->fields[i].type;
}

static bool type_spelling(const void *node, size_t i, size_t n, frz_spelling *out)
{
    *out = (frz_spelling){.first = ((const frz_type *)node)->fields[i].name};
    return n == 0;
}

frz_code frz_pick_type_names(frz_arena *arena, const frz_type *type, const char *const *names,
                             size_t count, const frz_type **out, frz_error *err)
{
    static const frz_name_tree tree = {type_child_count, type_child, type_spelling};
    frz_code rc = FRZ_OK;
    const frz_pick *pick;
    FRZ_TRY(frz_pick_names(arena, &tree, type, names, count, &pick, err));
    FRZ_TRY(frz_pick_type(arena, pick, type, out, err));
out:
    return rc;
}
