/*
 * type: partition transforms. spec: Partition Transforms
 *
 * A transform that this library does not know is kept with its text; it has no values and proves
 * nothing.
 */
#ifndef FRZ_TYPE_TRANSFORM_H
#define FRZ_TYPE_TRANSFORM_H

#include "type/type_stats.h"

typedef enum frz_transform_kind {
    FRZ_TRANSFORM_UNKNOWN = 0,
    FRZ_TRANSFORM_IDENTITY,
    FRZ_TRANSFORM_BUCKET,   /* parameter: number of buckets */
    FRZ_TRANSFORM_TRUNCATE, /* parameter: width */
    FRZ_TRANSFORM_YEAR,
    FRZ_TRANSFORM_MONTH,
    FRZ_TRANSFORM_DAY,
    FRZ_TRANSFORM_HOUR,
    FRZ_TRANSFORM_VOID
} frz_transform_kind;

typedef struct frz_transform {
    frz_transform_kind kind;
    int32_t parameter;
    frz_str text; /* as recorded: "bucket[16]" */
} frz_transform;

/* ---- type_transform.c ---- */

/* "bucket[16]", in any case; UNKNOWN for everything else. The text is borrowed. */
frz_transform frz_transform_parse(frz_str text);
/* The type of the values that it makes of a source; NULL if it is unknown or not for this type.
 * Lives as long as the source. */
const frz_type *frz_transform_result(const frz_transform *transform, const frz_type *source);
/* The transform, which must have a result type, of a value. Bytes are those of the value, maybe
 * fewer. FRZ_E_LIMIT if the result type cannot hold it. */
frz_code frz_transform_apply(const frz_transform *transform, const frz_value *value, frz_value *out,
                             frz_error *err);
/* The 32-bit hash of a value that is not null, of any type but nested ones, unknown and variant.
 * spec: appendix B */
int32_t frz_value_hash(const frz_value *value);

/* ---- the way back (type_transform_range.c) ---- */

/* The value of an identity partition as one of its source's present type: promoted, or given its
 * meaning where whole numbers stand for dates and times. False if it is none. */
bool frz_value_as_source(const frz_value *value, const frz_type *source, frz_value *out);

/* Source values, neither null nor NaN, that a transform maps to one value or to several: bounds,
 * which may be outer ones. */
typedef struct frz_transform_range {
    bool has_lower, has_upper;
    frz_value lower, upper; /* of the source's type */
    bool upper_is_prefix;   /* what begins with upper is inside, too */
} frz_transform_range;

/*
 * What the values of partition tuples, from the least to the greatest, neither null, say of source
 * values; no bounds if nothing. Values may be of the type that the source was promoted from, and
 * whole numbers where dates and times are meant. Allows for what faulty writers stored: results
 * that overflowed, and times before 1970 that were cut towards zero.
 */
void frz_transform_range_of(const frz_transform *transform, const frz_type *source,
                            const frz_value *least, const frz_value *greatest,
                            frz_transform_range *out);

#endif
