/*
 * Random partitioned tables for tests of pruning: a few columns, a partition spec, rows in files by
 * their partition tuple, as careful and as faulty writers record them.
 */
#ifndef FRZ_SCAN_PARTITION_MODEL_H
#define FRZ_SCAN_PARTITION_MODEL_H

#include <math.h>
#include <stdlib.h>

#include "expr/expr_internal.h"
#include "scan/scan_partition.h"
#include "unit/test_support.h"

#define MODEL_COLUMNS 4
#define MODEL_ROWS 24
#define MODEL_PARTS 3

/* ---- chance ---- */

typedef struct chance {
    uint64_t state;
} chance;

static inline uint64_t chance_next(chance *c)
{
    c->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = c->state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline int chance_below(chance *c, int n)
{
    return (int)(chance_next(c) >> 33) % n;
}

/* ---- columns ---- */

static const char *const model_types[] = {
    "int",     "long",   "float",    "double",    "decimal(9,2)", "decimal(38,5)", "string",
    "boolean", "date",   "time",     "timestamp", "timestamptz",  "timestamp_ns",  "timestamptz_ns",
    "uuid",    "binary", "fixed[3]", "int",       "string",       "timestamp",     "date"};

typedef struct model_table {
    const frz_env *env;
    frz_arena arena;
    chance *chance;
    const frz_type *type; /* columns "c0" … with ids from 1; the last may be a struct "c3" of "m" */
    const frz_type *leaf_types[MODEL_COLUMNS];
    int32_t leaf_ids[MODEL_COLUMNS];
    const char *leaf_names[MODEL_COLUMNS];
    bool extreme[MODEL_COLUMNS];
    bool old_writer; /* times before 1970 are cut towards zero */
    frz_value rows[MODEL_ROWS][MODEL_COLUMNS];
    frz_metadata metadata;
    frz_schema schema;
    const frz_schema *schemas[1];
    frz_partition_spec spec;
    int part_column[MODEL_PARTS];
    frz_partition_value tuples[MODEL_ROWS][MODEL_PARTS];
    int file_of[MODEL_ROWS];
    int file_count;
    frz_entry entries[MODEL_ROWS];
    frz_manifest_file manifest;
} model_table;

static inline void *model_alloc(model_table *t, size_t size)
{
    void *p = frz_arena_alloc(&t->arena, size);
    assert_non_null(p);
    return p;
}

static inline const frz_type *model_type(model_table *t, const char *text)
{
    frz_error err = {0};
    const frz_type *type = NULL;
    assert_ok(frz_type_parse(&t->arena, frz_str_from(text), &type, &err), &err);
    return type;
}

static inline void model_columns(model_table *t)
{
    frz_error err = {0};
    frz_field fields[MODEL_COLUMNS];
    static const char *const names[] = {"c0", "c1", "c2", "c3"};
    bool nested = chance_below(t->chance, 3) == 0;
    for (int i = 0; i < MODEL_COLUMNS; i++) {
        int pick = chance_below(t->chance, (int)FRZ_ARRAY_COUNT(model_types));
        t->leaf_types[i] = model_type(t, model_types[pick]);
        t->leaf_ids[i] = i + 1;
        t->leaf_names[i] = names[i];
        t->extreme[i] = chance_below(t->chance, 3) == 0;
        fields[i] =
            (frz_field){.id = i + 1, .name = frz_str_from(names[i]), .type = t->leaf_types[i]};
    }
    if (nested) {
        frz_field *member = model_alloc(t, sizeof *member);
        *member = fields[MODEL_COLUMNS - 1];
        member->id = 9;
        member->name = FRZ_STR("m");
        t->leaf_ids[MODEL_COLUMNS - 1] = 9;
        t->leaf_names[MODEL_COLUMNS - 1] = "c3.m";
        assert_ok(frz_type_struct_of(&t->arena, member, 1, &fields[MODEL_COLUMNS - 1].type, &err),
                  &err);
    }
    assert_ok(frz_type_struct_of(&t->arena, fields, MODEL_COLUMNS, &t->type, &err), &err);
}

/* ---- values ---- */

static inline int64_t model_integer(model_table *t, bool extreme, int64_t low, int64_t high)
{
    if (extreme) {
        static const int64_t steps[] = {0, 1, 2, 9999, 6353};
        int64_t step = steps[chance_below(t->chance, 5)];
        switch (chance_below(t->chance, 4)) {
        case 0:
            return low + step;
        case 1:
            return high - step;
        default:
            break;
        }
    }
    return chance_below(t->chance, 41) - 20;
}

static inline double model_double(model_table *t)
{
    static const double special[] = {0.0, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY};
    return chance_below(t->chance, 3) == 0 ? special[chance_below(t->chance, 5)]
                                           : (chance_below(t->chance, 9) - 4) / 2.0;
}

static inline frz_str model_text(model_table *t, size_t fixed)
{
    static const char *const texts[] = {"",  "a",   "ab",  "abc", "abcd", "b",
                                        "é", "éé",  "aé",  "aéb", "世界", "世界您好",
                                        "z", "a😀b", "abd", "éa",  "\x7f"};
    static const char *const raws[] = {"abc", "abd", "\x01\x02\xff", "\xff\xff\xff", "zzz"};
    static const char *const uuids[] = {"\x01---------------", "\x7f-------\x01-------",
                                        "\x80-------\x81-------", "\xff-------\x7f-------",
                                        "\xff-------\x80-------"};
    if (fixed == 16) {
        return (frz_str){uuids[chance_below(t->chance, 5)], 16};
    }
    if (fixed != 0) {
        return (frz_str){raws[chance_below(t->chance, 5)], fixed};
    }
    return frz_str_from(texts[chance_below(t->chance, (int)FRZ_ARRAY_COUNT(texts))]);
}

/* Times around 1970, or far away. */
static inline int64_t model_instant(model_table *t, bool extreme, int64_t per_hour)
{
    if (extreme && chance_below(t->chance, 2) == 0) {
        return chance_below(t->chance, 2) == 0 ? INT64_MIN + chance_below(t->chance, 3)
                                               : INT64_MAX - chance_below(t->chance, 3);
    }
    int64_t hours = chance_below(t->chance, 3) == 0 ? chance_below(t->chance, 20000) - 10000
                                                    : chance_below(t->chance, 5) - 2;
    return hours * per_hour + chance_below(t->chance, 3) - 1;
}

static inline frz_value model_value(model_table *t, int column)
{
    const frz_type *type = t->leaf_types[column];
    bool extreme = t->extreme[column];
    frz_value v = {.type = type, .is_null = chance_below(t->chance, 6) == 0};
    switch (type->id) {
    case FRZ_TYPE_INT:
        v.as.i32 = (int32_t)model_integer(t, extreme, INT32_MIN, INT32_MAX);
        break;
    case FRZ_TYPE_DATE:
        v.as.i32 = (int32_t)(extreme ? model_integer(t, true, INT32_MIN, INT32_MAX)
                                     : chance_below(t->chance, 1500) - 750);
        break;
    case FRZ_TYPE_FLOAT:
        v.as.f32 = (float)model_double(t);
        break;
    case FRZ_TYPE_DOUBLE:
        v.as.f64 = model_double(t);
        break;
    case FRZ_TYPE_DECIMAL:
        v.as.i128 =
            extreme && chance_below(t->chance, 2) == 0
                ? (expr_power_of_ten(type->precision) - 1) * (chance_below(t->chance, 2) * 2 - 1)
                : (chance_below(t->chance, 41) - 20) * 25;
        break;
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_UUID:
        v.as.bytes = model_text(t, frz_type_width(type));
        break;
    case FRZ_TYPE_BOOLEAN:
        v.as.boolean = chance_below(t->chance, 2) == 0;
        break;
    case FRZ_TYPE_TIME:
        v.as.i64 = chance_below(t->chance, 4) * INT64_C(3600000000);
        break;
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
        v.as.i64 = model_instant(t, extreme, INT64_C(3600000000));
        break;
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        v.as.i64 = model_instant(t, extreme, INT64_C(3600000000000));
        break;
    default:
        v.as.i64 = model_integer(t, extreme, INT64_MIN, INT64_MAX);
        break;
    }
    return v;
}

/* ---- partitions ---- */

static inline frz_transform model_transform(model_table *t, const frz_type *source)
{
    static const char *const texts[] = {
        "identity",        "bucket[1]", "bucket[4]",  "bucket[7]", "truncate[1]", "truncate[2]",
        "truncate[10000]", "year",      "month",      "day",       "hour",        "void",
        "zorder",          "identity",  "truncate[8]"};
    for (;;) {
        int pick = chance_below(t->chance, (int)FRZ_ARRAY_COUNT(texts));
        frz_transform transform = frz_transform_parse(frz_str_from(texts[pick]));
        if (transform.kind == FRZ_TRANSFORM_UNKNOWN ||
            frz_transform_result(&transform, source) != NULL) {
            return transform;
        }
    }
}

static inline void model_spec(model_table *t)
{
    int n = 1 + chance_below(t->chance, MODEL_PARTS);
    frz_partition_field *fields = model_alloc(t, sizeof *fields * (size_t)n);
    for (int i = 0; i < n; i++) {
        int column = chance_below(t->chance, MODEL_COLUMNS);
        t->part_column[i] = column;
        fields[i] = (frz_partition_field){.field_id = 1000 + i,
                                          .source_ids = &t->leaf_ids[column],
                                          .source_count = 1,
                                          .name = FRZ_STR("p"),
                                          .transform = model_transform(t, t->leaf_types[column])};
    }
    t->spec = (frz_partition_spec){.spec_id = 3, .fields = fields, .field_count = (size_t)n};
}

static inline int64_t model_units(const frz_type *source, frz_transform_kind kind)
{
    bool nanos = source->id == FRZ_TYPE_TIMESTAMP_NS || source->id == FRZ_TYPE_TIMESTAMPTZ_NS;
    return INT64_C(3600000000) * (nanos ? 1000 : 1) * (kind == FRZ_TRANSFORM_DAY ? 24 : 1);
}

/* What writers record that wrap around, or cut towards zero. */
static inline void model_faulty_part(const model_table *t, const frz_transform *transform,
                                     const frz_value *value, bool overflow, frz_value *part)
{
    int64_t width = transform->parameter;
    if (overflow && transform->kind == FRZ_TRANSFORM_TRUNCATE) {
        int64_t rest =
            value->type->id == FRZ_TYPE_INT ? value->as.i32 % width : value->as.i64 % width;
        if (value->type->id == FRZ_TYPE_INT) {
            part->as.i32 = (int32_t)((uint32_t)value->as.i32 - (uint32_t)(rest + width));
        } else {
            part->as.i64 = (int64_t)((uint64_t)value->as.i64 - (uint64_t)(rest + width));
        }
    } else if (transform->kind == FRZ_TRANSFORM_HOUR && overflow) {
        int64_t hours = value->as.i64 / model_units(value->type, FRZ_TRANSFORM_HOUR);
        part->as.i32 = (int32_t)(uint32_t)(uint64_t)hours;
    } else if (t->old_writer && value->type->id != FRZ_TYPE_DATE &&
               (transform->kind == FRZ_TRANSFORM_DAY || transform->kind == FRZ_TRANSFORM_HOUR)) {
        part->as.i32 = (int32_t)(value->as.i64 / model_units(value->type, transform->kind));
    }
}

static inline frz_value model_part(model_table *t, const frz_transform *transform,
                                   const frz_value *value)
{
    frz_error err = {0};
    frz_value part = {.type = frz_transform_result(transform, value->type)};
    if (transform->kind == FRZ_TRANSFORM_UNKNOWN) {
        return (frz_value){.type = frz_type_primitive(FRZ_TYPE_INT),
                           .as.i32 = chance_below(t->chance, 2)};
    }
    bool overflow = frz_transform_apply(transform, value, &part, &err) != FRZ_OK;
    if (overflow && part.type->id == FRZ_TYPE_DECIMAL) {
        part.as.i128 = value->as.i128; /* of no precision that fits; anything that is no multiple */
    }
    if (!part.is_null && part.type->id != FRZ_TYPE_DECIMAL) {
        model_faulty_part(t, transform, value, overflow, &part);
    }
    if (transform->kind == FRZ_TRANSFORM_DAY && t->old_writer) {
        part.type = frz_type_primitive(FRZ_TYPE_INT);
    }
    return part;
}

static inline bool model_same_part(const frz_value *a, const frz_value *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null && b->is_null;
    }
    return frz_value_compare(a, b, true) == 0;
}

static inline void model_files(model_table *t)
{
    t->file_count = 0;
    for (int row = 0; row < MODEL_ROWS; row++) {
        bool found = false;
        for (size_t i = 0; i < t->spec.field_count; i++) {
            const frz_partition_field *field = &t->spec.fields[i];
            t->tuples[row][i] = (frz_partition_value){
                field->field_id,
                model_part(t, &field->transform, &t->rows[row][t->part_column[i]])};
        }
        for (int other = 0; other < row && !found; other++) {
            found = true;
            for (size_t i = 0; i < t->spec.field_count && found; i++) {
                found = model_same_part(&t->tuples[row][i].value, &t->tuples[other][i].value);
            }
            t->file_of[row] = t->file_of[other];
        }
        if (!found) {
            t->file_of[row] = t->file_count;
            t->entries[t->file_count++] = (frz_entry){.spec_id = t->spec.spec_id,
                                                      .partition = t->tuples[row],
                                                      .partition_count = t->spec.field_count};
        }
    }
}

/* The rows of a file as a batch. */
static inline void model_batch(const model_table *t, int file, struct ArrowArray *out)
{
    frz_error err = {0};
    frz_builder *b = NULL;
    assert_ok(frz_builder_new(t->env, t->type, &b, &err), &err);
    for (int row = 0; row < MODEL_ROWS; row++) {
        if (t->file_of[row] != file) {
            continue;
        }
        for (int i = 0; i < MODEL_COLUMNS; i++) {
            frz_builder *column = frz_builder_child(b, (size_t)i);
            const frz_value *value = &t->rows[row][i];
            if (t->type->fields[i].type->id != FRZ_TYPE_STRUCT) {
                assert_ok(frz_builder_value(column, value, &err), &err);
            } else if (value->is_null && row % 2 == 0) {
                assert_ok(frz_builder_null(column, &err), &err);
            } else {
                assert_ok(frz_builder_value(frz_builder_child(column, 0), value, &err), &err);
                assert_ok(frz_builder_end(column, &err), &err);
            }
        }
        assert_ok(frz_builder_end(b, &err), &err);
    }
    assert_ok(frz_builder_finish(b, out, &err), &err);
    frz_builder_free(b);
}

/* Statistics of some columns, measured. */
static inline void model_stats(model_table *t, int file, const struct ArrowArray *batch)
{
    frz_error err = {0};
    frz_entry *entry = &t->entries[file];
    frz_field_stats *stats = model_alloc(t, sizeof *stats * MODEL_COLUMNS);
    entry->record_count = batch->length;
    entry->stats = stats;
    for (int i = 0; i < MODEL_COLUMNS; i++) {
        frz_stats_collector *collector = NULL;
        if (chance_below(t->chance, 3) > 0 || t->type->fields[i].type->id == FRZ_TYPE_STRUCT) {
            continue;
        }
        assert_ok(frz_stats_collector_new(t->env, i + 1, t->leaf_types[i], &collector, &err), &err);
        assert_ok(frz_stats_collector_add(collector, batch->children[i], &err), &err);
        assert_ok(
            frz_stats_collector_finish(collector, &t->arena, &stats[entry->stats_count++], &err),
            &err);
        frz_stats_collector_free(collector);
    }
}

/* ---- the manifest ---- */

static inline frz_str model_binary(model_table *t, const frz_value *value)
{
    uint8_t *bytes = model_alloc(t, 16);
    switch (value->type->id) {
    case FRZ_TYPE_STRING:
    case FRZ_TYPE_BINARY:
    case FRZ_TYPE_FIXED:
    case FRZ_TYPE_UUID:
        return value->as.bytes;
    case FRZ_TYPE_BOOLEAN:
        bytes[0] = value->as.boolean;
        return (frz_str){(char *)bytes, 1};
    case FRZ_TYPE_DECIMAL:
        for (int i = 0; i < 16; i++) {
            bytes[i] = (uint8_t)(value->as.i128 >> (8 * (15 - i)));
        }
        return (frz_str){(char *)bytes, 16};
    default:
        memcpy(bytes, &value->as, 8);
        return (frz_str){(char *)bytes, frz_type_width(value->type)};
    }
}

static inline bool model_is_nan(const frz_value *v)
{
    return (v->type->id == FRZ_TYPE_FLOAT && isnan(v->as.f32)) ||
           (v->type->id == FRZ_TYPE_DOUBLE && isnan(v->as.f64));
}

static inline void model_manifest(model_table *t)
{
    size_t n = t->spec.field_count;
    frz_partition_summary *summaries = model_alloc(t, sizeof *summaries * n);
    for (size_t i = 0; i < n; i++) {
        const frz_value *least = NULL, *greatest = NULL;
        summaries[i] = (frz_partition_summary){.contains_nan = 0};
        for (int file = 0; file < t->file_count; file++) {
            const frz_value *v = &t->entries[file].partition[i].value;
            if (v->is_null) {
                summaries[i].contains_null = true;
            } else if (model_is_nan(v)) {
                summaries[i].contains_nan = 1;
            } else {
                least = least == NULL || frz_value_compare(v, least, false) < 0 ? v : least;
                greatest =
                    greatest == NULL || frz_value_compare(v, greatest, false) > 0 ? v : greatest;
            }
        }
        if (least != NULL) {
            summaries[i].lower_bound = model_binary(t, least);
            summaries[i].upper_bound = model_binary(t, greatest);
        }
    }
    t->manifest = (frz_manifest_file){
        .spec_id = t->spec.spec_id, .partitions = summaries, .partition_count = n};
}

/* ---- tables ---- */

static inline void model_open(model_table *t, const frz_env *env, chance *c)
{
    memset(t, 0, sizeof *t);
    t->env = env;
    t->chance = c;
    frz_arena_init(&t->arena, env, FRZ_ARENA_NO_LIMIT);
    t->old_writer = chance_below(c, 3) == 0;
    model_columns(t);
    for (int row = 0; row < MODEL_ROWS; row++) {
        for (int i = 0; i < MODEL_COLUMNS; i++) {
            t->rows[row][i] = model_value(t, i);
        }
    }
    model_spec(t);
    model_files(t);
    model_manifest(t);
    t->schema = (frz_schema){.type = t->type};
    t->schemas[0] = &t->schema;
    t->metadata = (frz_metadata){
        .schemas = t->schemas, .schema_count = 1, .specs = &t->spec, .spec_count = 1};
}

static inline void model_close(model_table *t)
{
    frz_arena_reset(&t->arena);
}

#endif
