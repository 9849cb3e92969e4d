/*
 * Rows and parts of arrays of any Arrow type, from whoever made them.
 */
#ifndef FRZ_ARROW_TAKE_H
#define FRZ_ARROW_TAKE_H

#include "arrow/arrow_ipc.h"

/* Which children of a field are wanted, at every depth. */
typedef struct frz_take_part {
    const ipc_field *field; /* of the source */
    bool whole;             /* all of them */
    const size_t *places;   /* of the source's children, in the order wanted */
    const struct frz_take_part *children;
    size_t child_count;
} frz_take_part;

/* Copy rows, counted from the array's first one, in the order given. The result shares nothing with
 * the source but dictionaries that this library made. */
frz_code frz_array_take(const frz_env *env, const frz_take_part *part, const struct ArrowArray *src,
                        const int64_t *rows, int64_t count, struct ArrowArray *out, frz_error *err);

#endif
