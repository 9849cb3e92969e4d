/*
 * Choosing columns, and parts of columns, by dotted names from any tree of names: the schema of a
 * data file, an ArrowSchema.
 */
#ifndef FRZ_TYPE_PICK_H
#define FRZ_TYPE_PICK_H

#include "type/type_schema.h"

/* How a step from a node to its child may be spelled: one name, or two with a dot between as files
 * spell the way through a list. Both empty: the step needs no name. */
typedef struct frz_spelling {
    frz_str first, second; /* second.ptr NULL: there is only one */
} frz_spelling;

typedef struct frz_name_tree {
    size_t (*child_count)(const void *node);
    const void *(*child)(const void *node, size_t i);
    /* The n-th spelling of child i; false: there are no more. */
    bool (*spelling)(const void *node, size_t i, size_t n, frz_spelling *out);
} frz_name_tree;

/* What was chosen of a node. */
typedef struct frz_pick {
    bool whole;
    struct frz_pick **below; /* by child; NULL: not chosen */
    size_t *order;           /* the children chosen, first named first */
    size_t count;
} frz_pick;

/*
 * What names choose of a root; NULL: all of it. A name is taken apart at its dots, but names with
 * dots in them exist: the longest part that is a child's is tried first, and shorter ones if that
 * leads nowhere. A name is exact or, if none is, the only one that differs in case.
 *
 * FRZ_E_NOT_FOUND "there is no column …", FRZ_E_ARGUMENT for an ambiguous name.
 */
frz_code frz_pick_names(frz_arena *arena, const frz_name_tree *tree, const void *root,
                        const char *const *names, size_t count, const frz_pick **out,
                        frz_error *err);

/* What is left of a type whose children are the root's. A map keeps its keys and values, whichever
 * was asked for. */
frz_code frz_pick_type(frz_arena *arena, const frz_pick *pick, const frz_type *type,
                       const frz_type **out, frz_error *err);
/* What names choose of a struct type: by the names of its fields, and "element", "key", "value". */
frz_code frz_pick_type_names(frz_arena *arena, const frz_type *type, const char *const *names,
                             size_t count, const frz_type **out, frz_error *err);

#endif
