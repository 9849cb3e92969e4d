/*
 * Columns of any Arrow type and producer as expressions read them: in the layouts and types that
 * tables have.
 */
#ifndef FRZ_EXPR_PLAIN_H
#define FRZ_EXPR_PLAIN_H

#include "type/type_schema.h"

/* The type that expressions see of a column. FRZ_E_UNSUPPORTED, naming it, if there is none. */
frz_code expr_plain_field(frz_arena *arena, const struct ArrowSchema *column, frz_field *out,
                          frz_error *err);

typedef struct expr_plain expr_plain;

/* Of columns that have such types. */
frz_code expr_plain_new(const frz_env *env, const struct ArrowSchema *const *columns, size_t count,
                        expr_plain **out, frz_error *err);
void expr_plain_free(expr_plain *plain); /* NULL is fine */
/* Some rows of the columns' arrays, counted from each array's first one, as a batch of our own. */
frz_code expr_plain_batch(expr_plain *plain, struct ArrowArray **columns, int64_t first,
                          int64_t count, struct ArrowArray *out, frz_error *err);

#endif
