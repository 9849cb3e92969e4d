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

#endif
