/*
 * Statistics of one field of one file, as content_stats of a v4 manifest hold them and as file
 * formats measure them. spec: content stats
 */
#ifndef FRZ_TYPE_STATS_H
#define FRZ_TYPE_STATS_H

#include "type/type_value.h"

#define FRZ_STAT_UNKNOWN (-1)

typedef struct frz_field_stats {
    int32_t field_id;
    const frz_type *type;
    bool has_lower, has_upper;
    frz_value lower, upper;   /* never NaN; may be outer bounds */
    int8_t tight_bounds;      /* 1: bounds are min and max; 0: not; -1: unknown */
    int64_t value_count;      /* nulls and NaN included; -1: unknown */
    int64_t null_value_count; /* -1: unknown */
    int64_t nan_value_count;  /* FLOAT and DOUBLE; -1: unknown */
    int64_t total_bytes;      /* variable-length types; -1: unknown */
    int64_t column_size;      /* bytes in the file, told by versions 1 to 3; -1: unknown */
} frz_field_stats;

#define FRZ_FIELD_STATS_UNKNOWN(id, t)                                                             \
    {                                                                                              \
        .field_id = (id), .type = (t), .tight_bounds = -1, .value_count = -1,                      \
        .null_value_count = -1, .nan_value_count = -1, .total_bytes = -1, .column_size = -1        \
    }

/* Shorten the bounds of a string to at most length characters (lower: prefix; upper: incremented
 * prefix, or none if that is impossible) or of a binary to as many bytes; tight_bounds becomes 0
 * if something was cut. spec: metrics mode truncate(n) */
frz_code frz_stats_truncate(frz_arena *arena, frz_field_stats *stats, size_t length,
                            frz_error *err);

/* Copy the types into the arena that holds the bounds, so that the statistics do not lean on the
 * schema they were measured with. */
frz_code frz_stats_own_types(frz_arena *arena, frz_field_stats *stats, size_t count,
                             frz_error *err);

/* Collects min, max, nulls and NaN of one primitive field over arrays. */
typedef struct frz_stats_collector frz_stats_collector;
frz_code frz_stats_collector_new(const frz_env *env, int32_t field_id, const frz_type *type,
                                 frz_stats_collector **out, frz_error *err);
frz_code frz_stats_collector_add(frz_stats_collector *collector, const struct ArrowArray *array,
                                 frz_error *err);
/* Bounds are copied into the arena. */
frz_code frz_stats_collector_finish(const frz_stats_collector *collector, frz_arena *arena,
                                    frz_field_stats *out, frz_error *err);
void frz_stats_collector_free(frz_stats_collector *collector);

#endif
