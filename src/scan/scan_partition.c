/*
 * Pruning by partitions. A value of a partition tuple bounds the values of its source column in all
 * rows of the file, and these bounds narrow the file's own statistics before the filter is asked.
 *
 * Invariants:
 *  1. A transform that is unknown or void, a source that the schema does not have, and a value that
 *     cannot be one of its transform's say nothing.
 *  2. A tuple that contradicts the file's own counts says nothing.
 *  3. The result of every transform here is null exactly for null, so a null value means that all
 *     rows are null, and any other that none is.
 *
 * spec: Partition Transforms; Scan Planning, inclusive projection
 */
#include "scan/scan_partition.h"

#include <math.h>

/* More sources than this are looked at only by statistics. */
#define SOURCES_MAX 16

/* One field of a spec that says something of a field of the filter. */
typedef struct rule {
    int32_t source_id, field_id;
    const frz_type *source; /* in the schema that is read */
    const frz_type *result;
    const frz_transform *transform;
    size_t place; /* in the spec */
} rule;

typedef struct spec_rules {
    int32_t spec_id;
    size_t spec_field_count;
    const rule *rules; /* those of one source next to each other */
    size_t count;
} spec_rules;

struct frz_entry_filter {
    const frz_env *env;
    frz_arena arena;
    const frz_bound_expr *filter;
    spec_rules *specs;
    size_t spec_count;
};

/* ---- rules ---- */

/* A field that is no item of a list or map; *top: the column that it is, or is part of. */
static const frz_field *find_source(const frz_type *type, int32_t id, const frz_field *column,
                                    const frz_field **top)
{
    const frz_field *found = NULL;
    for (size_t i = 0; i < type->field_count && found == NULL; i++) {
        const frz_field *field = &type->fields[i];
        const frz_field *in = column == NULL ? field : column;
        if (field->id == id) {
            *top = in;
            found = field;
        } else if (field->type->id == FRZ_TYPE_STRUCT) {
            found = find_source(field->type, id, in, top);
        }
    }
    return found;
}

static bool reads_field(const frz_bound_expr *filter, int32_t id)
{
    size_t count;
    const int32_t *ids = frz_bound_expr_fields(filter, &count);
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

/* A date's hash is not that of the timestamp it was promoted to. */
static bool hash_changed(const frz_metadata *metadata, int32_t id, const frz_type *type)
{
    for (size_t i = 0; i < metadata->schema_count; i++) {
        const frz_field *field = frz_type_find_id(metadata->schemas[i]->type, id);
        if (field != NULL && (field->type->id == FRZ_TYPE_DATE) != (type->id == FRZ_TYPE_DATE)) {
            return true;
        }
    }
    return false;
}

static bool rule_of(const frz_entry_filter *f, const frz_metadata *metadata,
                    const frz_schema *schema, const frz_partition_field *field, rule *out)
{
    const frz_field *top = NULL;
    const frz_field *source = field->source_count == 1
                                  ? find_source(schema->type, field->source_ids[0], NULL, &top)
                                  : NULL;
    if (source == NULL || !reads_field(f->filter, top->id) ||
        field->transform.kind == FRZ_TRANSFORM_VOID ||
        (field->transform.kind == FRZ_TRANSFORM_BUCKET &&
         hash_changed(metadata, source->id, source->type))) {
        return false;
    }
    *out = (rule){.source_id = source->id,
                  .field_id = field->field_id,
                  .source = source->type,
                  .result = frz_transform_result(&field->transform, source->type),
                  .transform = &field->transform};
    return out->result != NULL;
}

/* Behind those of the same source. */
static void insert_rule(rule *rules, size_t count, rule new_rule)
{
    size_t at = count;
    while (at > 0 && rules[at - 1].source_id > new_rule.source_id) {
        rules[at] = rules[at - 1];
        at--;
    }
    rules[at] = new_rule;
}

static frz_code read_spec(frz_entry_filter *f, const frz_metadata *metadata,
                          const frz_schema *schema, const frz_partition_spec *spec, spec_rules *out,
                          frz_error *err)
{
    rule *rules = frz_arena_array(&f->arena, spec->field_count, sizeof *rules);
    if (rules == NULL) {
        return frz_fail_nomem(err, spec->field_count * sizeof *rules);
    }
    *out = (spec_rules){
        .spec_id = spec->spec_id, .spec_field_count = spec->field_count, .rules = rules};
    for (size_t i = 0; i < spec->field_count; i++) {
        rule made;
        if (rule_of(f, metadata, schema, &spec->fields[i], &made)) {
            made.place = i;
            insert_rule(rules, out->count++, made);
        }
    }
    return FRZ_OK;
}

frz_code frz_entry_filter_new(const frz_env *env, const frz_metadata *metadata,
                              const frz_schema *schema, const frz_bound_expr *filter,
                              frz_entry_filter **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_filter *f = frz_alloc_zero(env, 1, sizeof *f);
    if (f == NULL) {
        return frz_fail_nomem(err, sizeof *f);
    }
    f->env = env;
    f->filter = filter;
    frz_arena_init(&f->arena, env, FRZ_ARENA_NO_LIMIT);
    if (filter != NULL) {
        f->specs = frz_arena_array(&f->arena, metadata->spec_count, sizeof *f->specs);
        FRZ_TRY(f->specs == NULL ? frz_fail_nomem(err, metadata->spec_count * sizeof *f->specs)
                                 : FRZ_OK);
        for (; f->spec_count < metadata->spec_count; f->spec_count++) {
            FRZ_TRY(read_spec(f, metadata, schema, &metadata->specs[f->spec_count],
                              &f->specs[f->spec_count], err));
        }
    }
    *out = f;
    f = NULL;
out:
    frz_entry_filter_free(f);
    return rc;
}

void frz_entry_filter_free(frz_entry_filter *filter)
{
    if (filter != NULL) {
        const frz_env *env = filter->env;
        frz_arena_reset(&filter->arena);
        frz_free(env, filter);
    }
}

static const spec_rules *rules_of_spec(const frz_entry_filter *f, int32_t spec_id)
{
    for (size_t i = 0; i < f->spec_count; i++) {
        if (f->specs[i].spec_id == spec_id && f->specs[i].count > 0) {
            return &f->specs[i];
        }
    }
    return NULL;
}

/* ---- values of tuples and summaries ---- */

/* What is known of one partition field. */
typedef struct known_part {
    bool known;
    bool may_null, may_value; /* may_value: anything else */
    bool may_nan;             /* unless all: among others */
    bool has_ends;
    frz_value least, greatest; /* of what is neither null nor NaN */
} known_part;

/* What is asked about: an entry or a manifest. */
typedef struct subject {
    const spec_rules *spec; /* NULL: partitions say nothing */
    const frz_entry *entry; /* NULL: */
    const frz_manifest_file *manifest;
    int64_t rows;            /* -1: not known */
    bool partition_alone;    /* statistics are not looked at */
    frz_field_stats lineage; /* of the lineage column last asked for, if there are none */
    bool narrowed[SOURCES_MAX];
    frz_field_stats stats[SOURCES_MAX];
} subject;

static bool is_nan(const frz_value *value)
{
    return (value->type->id == FRZ_TYPE_FLOAT && isnan(value->as.f32)) ||
           (value->type->id == FRZ_TYPE_DOUBLE && isnan(value->as.f64));
}

static void part_of_tuple(const frz_entry *entry, const rule *r, known_part *out)
{
    for (size_t i = 0; i < entry->partition_count; i++) {
        const frz_value *value = &entry->partition[i].value;
        if (entry->partition[i].field_id != r->field_id || value->type == NULL) {
            continue;
        }
        bool nan = !value->is_null && is_nan(value);
        out->known = true;
        out->may_null = value->is_null;
        out->may_nan = nan;
        out->may_value = !value->is_null && !nan;
        out->has_ends = out->may_value;
        out->least = out->greatest = *value;
        return;
    }
}

/* Writers do not agree on the order of uuids. */
static bool ends_are_ordered(const known_part *part)
{
    return part->least.type->id == part->greatest.type->id && !is_nan(&part->least) &&
           !is_nan(&part->greatest) &&
           (part->least.type->id != FRZ_TYPE_UUID ||
            frz_value_compare(&part->least, &part->greatest, false) == 0);
}

static void part_of_summary(const frz_manifest_file *manifest, const spec_rules *spec,
                            const rule *r, known_part *out)
{
    if (manifest->partition_count != spec->spec_field_count) {
        return;
    }
    const frz_partition_summary *summary = &manifest->partitions[r->place];
    out->known = true;
    out->may_null = summary->contains_null;
    out->may_nan = summary->contains_nan != 0;
    out->may_value = true;
    out->has_ends = summary->lower_bound.ptr != NULL && summary->upper_bound.ptr != NULL &&
                    frz_value_from_binary(r->result, summary->lower_bound, &out->least) &&
                    frz_value_from_binary(r->result, summary->upper_bound, &out->greatest) &&
                    ends_are_ordered(out);
}

static known_part part_of(const subject *s, const rule *r)
{
    known_part part = {.known = false};
    if (s->entry != NULL) {
        part_of_tuple(s->entry, r, &part);
    } else {
        part_of_summary(s->manifest, s->spec, r, &part);
    }
    return part;
}

static void range_of(const rule *r, const known_part *part, frz_transform_range *out)
{
    *out = (frz_transform_range){0};
    if (part->has_ends) {
        bool same = part->least.type->id == part->greatest.type->id &&
                    frz_value_compare(&part->least, &part->greatest, false) == 0;
        frz_transform_range_of(r->transform, r->source, &part->least,
                               same ? &part->least : &part->greatest, out);
    }
}

/* ---- statistics, narrowed ---- */

static bool is_floating(const frz_type *type)
{
    return type->id == FRZ_TYPE_FLOAT || type->id == FRZ_TYPE_DOUBLE;
}

/* Do the file's own counts deny what the tuple says? */
static bool contradicts(const subject *s, const frz_field_stats *own, const known_part *part)
{
    int64_t nulls = own->null_value_count;
    if (own->value_count >= 0 && s->rows >= 0 && own->value_count < s->rows && part->may_null) {
        return false; /* some writers do not count nulls of a struct as nulls of its fields */
    }
    return (nulls > 0 && !part->may_null) ||
           (nulls >= 0 && s->rows >= 0 && nulls < s->rows && !part->may_value && !part->may_nan);
}

static void narrow_counts(const subject *s, const rule *r, const known_part *part,
                          frz_field_stats *stats)
{
    if (!part->may_null) {
        stats->value_count = s->rows;
        stats->null_value_count = 0;
    } else if (!part->may_value && !part->may_nan && s->rows >= 0) {
        stats->value_count = stats->null_value_count = s->rows;
        stats->nan_value_count = 0;
    }
    if (is_floating(r->source) && r->transform->kind == FRZ_TRANSFORM_IDENTITY) {
        if (!part->may_nan) {
            stats->nan_value_count = 0;
        } else if (!part->may_null && !part->may_value && s->rows >= 0) {
            stats->nan_value_count = s->rows;
        }
    }
}

/* Is a bound better than one that there is? One of another type cannot be told and stays. */
static bool is_closer(bool has_old, const frz_value *old, const frz_value *bound, int sign)
{
    return !has_old ||
           (old->type->id == bound->type->id && frz_value_compare(bound, old, false) * sign > 0);
}

static void narrow_bounds(const frz_transform_range *range, frz_field_stats *stats)
{
    if (range->has_lower && is_closer(stats->has_lower, &stats->lower, &range->lower, 1)) {
        stats->has_lower = true;
        stats->lower = range->lower;
    }
    if (range->has_upper && !range->upper_is_prefix &&
        is_closer(stats->has_upper, &stats->upper, &range->upper, -1)) {
        stats->has_upper = true;
        stats->upper = range->upper;
    }
}

static void narrow(const subject *s, const rule *r, frz_field_stats *stats)
{
    frz_transform_range range;
    known_part part = part_of(s, r);
    if (part.known && !contradicts(s, stats, &part)) {
        range_of(r, &part, &range);
        narrow_counts(s, r, &part, stats);
        narrow_bounds(&range, stats);
        stats->tight_bounds = 0;
    }
}

/* A null in a lineage column stands for a number that the column's bounds do not know. */
static const frz_field_stats *own_stats(const subject *s, int32_t field_id)
{
    const frz_field_stats *list = s->entry != NULL ? s->entry->stats : s->manifest->stats;
    size_t count = s->entry != NULL ? s->entry->stats_count : s->manifest->stats_count;
    bool lineage = field_id == FRZ_ID_ROW_ID || field_id == FRZ_ID_LAST_UPDATED;
    for (size_t i = 0; i < count && !s->partition_alone; i++) {
        if (list[i].field_id == field_id) {
            return lineage && list[i].null_value_count != 0 ? NULL : &list[i];
        }
    }
    return NULL;
}

/* No row has a later _last_updated_sequence_number than the file, or the manifest, has: a column
 * file raises the number of its entry with the rows that it updates, and a file that is written
 * with rows of other files has at least the greatest of their numbers; the number of a manifest is
 * in turn at least that of its entries. Rows may have no number at all.
 * spec: row lineage, conflict of sources */
static bool updated_stats(const subject *s, frz_field_stats *out)
{
    const frz_type *type = frz_field_last_updated.type;
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(FRZ_ID_LAST_UPDATED, type);
    out->tight_bounds = 0;
    out->has_upper = true;
    out->upper = (frz_value){.type = type,
                             .as.i64 = s->entry != NULL ? s->entry->sequence_number
                                                        : s->manifest->sequence_number};
    return true;
}

/* Row ids that a file does not store are those from the entry's first on. What it stores are ids of
 * rows that were in the table before it, which were given out earlier: they are lower, and whether
 * there are any no manifest tells. spec: row lineage */
static bool row_id_stats(const subject *s, frz_field_stats *out)
{
    const frz_type *type = frz_field_row_id.type;
    const frz_entry *entry = s->entry;
    int64_t end = 0;
    if (entry == NULL || entry->first_row_id < 0 || entry->record_count < 1 ||
        !frz_add_i64(entry->first_row_id, entry->record_count, &end)) {
        return false;
    }
    *out = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(FRZ_ID_ROW_ID, type);
    out->tight_bounds = 0;
    out->value_count = entry->record_count;
    out->null_value_count = 0;
    out->has_upper = true;
    out->upper = (frz_value){.type = type, .as.i64 = end - 1};
    return true;
}

static const frz_field_stats *stats_of(subject *s, int32_t field_id)
{
    const frz_field_stats *own = own_stats(s, field_id);
    if (own != NULL || s->partition_alone) {
        return own;
    }
    bool told = (field_id == FRZ_ID_LAST_UPDATED && updated_stats(s, &s->lineage)) ||
                (field_id == FRZ_ID_ROW_ID && row_id_stats(s, &s->lineage));
    return told ? &s->lineage : NULL;
}

static const frz_field_stats *lookup(void *ctx, int32_t field_id)
{
    subject *s = ctx;
    const frz_field_stats *own = stats_of(s, field_id);
    size_t count = s->spec == NULL ? 0 : FRZ_MIN(s->spec->count, SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        const rule *r = &s->spec->rules[i];
        if (r->source_id != field_id) {
            continue;
        }
        if (!s->narrowed[i]) {
            s->stats[i] =
                own != NULL ? *own : (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(field_id, r->source);
            for (size_t k = i; k < s->spec->count && s->spec->rules[k].source_id == field_id; k++) {
                narrow(s, &s->spec->rules[k], &s->stats[i]);
            }
            s->narrowed[i] = true;
        }
        return &s->stats[i];
    }
    return own;
}

/* ---- intervals ---- */

/* May a value of these buckets be in the interval? Only known of a single value. */
static bool bucket_may_hold(const rule *r, const known_part *part, const frz_interval *interval)
{
    frz_value bucket;
    const frz_value *value = interval->low;
    if (value == NULL || interval->high == NULL || interval->low_open || interval->high_open ||
        value->type->id != r->source->id || frz_value_compare(value, interval->high, false) != 0 ||
        part->least.type->id != FRZ_TYPE_INT || part->least.as.i32 < 0 ||
        part->greatest.as.i32 >= r->transform->parameter ||
        frz_transform_apply(r->transform, value, &bucket, NULL) != FRZ_OK) {
        return true;
    }
    return bucket.as.i32 >= part->least.as.i32 && bucket.as.i32 <= part->greatest.as.i32;
}

/* The interval begins behind everything that begins with the prefix. */
static bool is_behind_prefix(const frz_interval *interval, const frz_value *prefix)
{
    return interval->low != NULL && interval->low->type->id == prefix->type->id &&
           !frz_str_starts_with(interval->low->as.bytes, prefix->as.bytes) &&
           frz_str_compare(interval->low->as.bytes, prefix->as.bytes) > 0;
}

static bool may_hold(void *ctx, int32_t field_id, const frz_interval *interval)
{
    subject *s = ctx;
    size_t count = s->spec == NULL ? 0 : s->spec->count;
    for (size_t i = 0; i < count; i++) {
        const rule *r = &s->spec->rules[i];
        frz_transform_range range;
        known_part part = {.known = false};
        if (r->source_id == field_id && (r->transform->kind == FRZ_TRANSFORM_BUCKET ||
                                         r->transform->kind == FRZ_TRANSFORM_TRUNCATE)) {
            part = part_of(s, r);
        }
        if (!part.has_ends) {
            continue;
        }
        range_of(r, &part, &range);
        if ((r->transform->kind == FRZ_TRANSFORM_BUCKET && !bucket_may_hold(r, &part, interval)) ||
            (range.upper_is_prefix && is_behind_prefix(interval, &range.upper))) {
            return false;
        }
    }
    return true;
}

/* ---- asking ---- */

static subject *begin(subject *s, const frz_entry_filter *f, const frz_entry *entry,
                      const frz_manifest_file *manifest)
{
    s->spec = rules_of_spec(f, entry != NULL ? entry->spec_id : manifest->spec_id);
    s->entry = entry;
    s->manifest = manifest;
    s->rows = entry != NULL ? entry->record_count : -1;
    s->partition_alone = false;
    memset(s->narrowed, 0, sizeof s->narrowed);
    return s;
}

bool frz_entry_filter_may_match(const frz_entry_filter *filter, const frz_entry *entry)
{
    subject s;
    return filter->filter == NULL ||
           frz_expr_may_match(filter->filter, lookup, may_hold, begin(&s, filter, entry, NULL),
                              entry->record_count);
}

bool frz_entry_filter_must_match(const frz_entry_filter *filter, const frz_entry *entry)
{
    subject s;
    return filter->filter == NULL ||
           frz_expr_must_match(filter->filter, lookup, may_hold, begin(&s, filter, entry, NULL),
                               entry->record_count);
}

bool frz_entry_filter_is_settled(const frz_entry_filter *filter, const frz_entry *entry)
{
    subject s;
    if (filter->filter == NULL) {
        return true;
    }
    begin(&s, filter, entry, NULL)->partition_alone = true;
    return s.spec != NULL && frz_expr_must_match(filter->filter, lookup, may_hold, &s, s.rows);
}

bool frz_entry_filter_may_match_manifest(const frz_entry_filter *filter,
                                         const frz_manifest_file *manifest)
{
    subject s;
    return filter->filter == NULL || frz_expr_may_match(filter->filter, lookup, may_hold,
                                                        begin(&s, filter, NULL, manifest), -1);
}
