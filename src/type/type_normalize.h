/*
 * Arrow arrays of others in the library's own form: the many layouts that Arrow has for the same
 * values become the one of the type that frz_type_from_arrow_native gives.
 *
 *   large and viewed strings, binaries, lists   32-bit offsets
 *   lists of fixed size, viewed lists           lists
 *   dictionaries, run-end encoded values        the values
 *   seconds (time, timestamp)                   milliseconds
 *   dates in milliseconds                       days
 *   decimals of 32, 64, 256 bits                128 bits, 256 above 38 digits
 *   intervals of months, of days and time       months, days and nanoseconds
 */
#ifndef FRZ_TYPE_NORMALIZE_H
#define FRZ_TYPE_NORMALIZE_H

#include "type/type_schema.h"

typedef struct frz_normalizer frz_normalizer;

/* For batches of a schema. type: what frz_type_from_arrow_native made of it, ids do not matter; it
 * must outlive the normalizer. The schema is copied. */
frz_code frz_normalizer_new(const frz_env *env, const struct ArrowSchema *schema,
                            const frz_type *type, frz_normalizer **out, frz_error *err);
void frz_normalizer_free(frz_normalizer *n); /* NULL is fine */
/* False: arrays of this schema have the library's form as they come. */
bool frz_normalizer_is_needed(const frz_normalizer *n);
/*
 * Rows [first, first + count) of a batch. The result refers to the batch and to memory of the
 * normalizer, is valid until the next call and needs no release. What the batch says of its lengths
 * and of places in its buffers is checked; that buffers are as long as that is taken on trust.
 * FRZ_E_LIMIT: a column holds more than 2^31 bytes of text, or items; fewer rows may fit.
 */
frz_code frz_normalizer_batch(frz_normalizer *n, const struct ArrowArray *batch, int64_t first,
                              int64_t count, struct ArrowArray *out, frz_error *err);

#endif
