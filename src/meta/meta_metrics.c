/*
 * Metrics configuration: which fields have statistics in manifests, and how much of them.
 * spec: table properties write.metadata.metrics.*
 */
#include "meta/meta_internal.h"

#define DEFAULT_LENGTH 16
#define DEFAULT_COLUMNS 100
#define MAX_COLUMNS_KEY "write.metadata.metrics.max-inferred-column-defaults"
#define DEFAULT_KEY "write.metadata.metrics.default"
#define COLUMN_PREFIX "write.metadata.metrics.column."

typedef struct metrics_setting {
    frz_metrics_mode mode;
    size_t length;
} metrics_setting;

bool frz_bound_is_nan(const frz_value *value)
{
    return (value->type->id == FRZ_TYPE_FLOAT && value->as.f32 != value->as.f32) ||
           (value->type->id == FRZ_TYPE_DOUBLE && value->as.f64 != value->as.f64);
}

static bool parse_truncate(frz_str text, size_t *length)
{
    static const frz_str start = {"truncate(", 9};
    int64_t value = 0;
    if (text.len < start.len + 2 || text.ptr[text.len - 1] != ')' ||
        !frz_str_equal_nocase((frz_str){text.ptr, start.len}, start) ||
        !frz_str_to_i64((frz_str){text.ptr + start.len, text.len - start.len - 1}, &value) ||
        value <= 0) {
        return false;
    }
    *length = (size_t)value;
    return true;
}

static frz_code parse_setting(frz_str key, frz_str text, metrics_setting *out, frz_error *err)
{
    metrics_setting setting = {FRZ_METRICS_NONE, 0};
    if (frz_str_equal_nocase(text, FRZ_STR("counts"))) {
        setting.mode = FRZ_METRICS_COUNTS;
    } else if (frz_str_equal_nocase(text, FRZ_STR("full"))) {
        setting.mode = FRZ_METRICS_FULL;
    } else if (parse_truncate(text, &setting.length)) {
        setting.mode = FRZ_METRICS_TRUNCATE;
    } else if (!frz_str_equal_nocase(text, FRZ_STR("none"))) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "property %.*s: expected none, counts, truncate(N) or full, found \"%.*s\"",
                        FRZ_STR_ARG(key), FRZ_STR_ARG(text));
    }
    *out = setting;
    return FRZ_OK;
}

/* ---- the fields ---- */

typedef struct field_collector {
    frz_metrics_config *config; /* fields NULL: only count */
    const metrics_setting *setting;
    int64_t columns; /* so many fields get the setting */
} field_collector;

static bool has_metrics(const frz_type *type)
{
    return !frz_type_is_nested(type) && type->id != FRZ_TYPE_UNKNOWN && type->id < FRZ_TYPE_VARIANT;
}

static frz_code collect_field(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    field_collector *c = ctx;
    (void)err;
    if (in_repeated || !has_metrics(field->type)) {
        return FRZ_OK;
    }
    size_t i = c->config->field_count++;
    if (c->config->fields != NULL) {
        bool set = (int64_t)i < c->columns;
        c->config->fields[i].field_id = field->id;
        c->config->fields[i].type = field->type;
        c->config->fields[i].required = field->required;
        c->config->fields[i].mode = set ? c->setting->mode : FRZ_METRICS_NONE;
        c->config->fields[i].length = set ? c->setting->length : 0;
    }
    return FRZ_OK;
}

static frz_code collect_fields(const frz_schema *schema, field_collector *c, frz_arena *arena,
                               frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_type_visit(schema->type, collect_field, c, err));
    size_t count = c->config->field_count;
    c->config->fields = frz_arena_array(arena, count, sizeof *c->config->fields);
    if (c->config->fields == NULL) {
        return frz_fail_nomem(err, count * sizeof *c->config->fields);
    }
    c->config->field_count = 0;
    FRZ_TRY(frz_type_visit(schema->type, collect_field, c, err));
out:
    return rc;
}

/* ---- settings of single columns ---- */

/* Columns that are not in the schema are left alone: they may have been dropped or renamed. */
static frz_code set_column(frz_metrics_config *config, const frz_schema *schema, frz_str name,
                           const metrics_setting *setting, frz_buf *dotted, frz_error *err)
{
    for (size_t i = 0; i < config->field_count; i++) {
        frz_buf_clear(dotted);
        frz_code rc = frz_type_dotted_name(schema->type, config->fields[i].field_id, dotted, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        if (frz_str_equal(frz_buf_view(dotted), name)) {
            config->fields[i].mode = setting->mode;
            config->fields[i].length = setting->length;
        }
    }
    return FRZ_OK;
}

static frz_code set_columns(frz_metrics_config *config, const frz_metadata *metadata,
                            const frz_schema *schema, const frz_env *env, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_str prefix = FRZ_STR(COLUMN_PREFIX);
    frz_buf dotted = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < metadata->property_count; i++) {
        const frz_property_kv *property = &metadata->properties[i];
        if (!frz_str_starts_with(property->key, prefix)) {
            continue;
        }
        metrics_setting setting;
        frz_str name = {property->key.ptr + prefix.len, property->key.len - prefix.len};
        FRZ_TRY(parse_setting(property->key, property->value, &setting, err));
        FRZ_TRY(set_column(config, schema, name, &setting, &dotted, err));
    }
out:
    frz_buf_reset(&dotted);
    return rc;
}

frz_code frz_metrics_config_of(const frz_metadata *metadata, const frz_schema *schema,
                               frz_arena *arena, frz_metrics_config *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_metrics_config config = {0};
    metrics_setting setting = {FRZ_METRICS_TRUNCATE, DEFAULT_LENGTH};
    field_collector c = {.config = &config, .setting = &setting};
    frz_str text = frz_metadata_property(metadata, DEFAULT_KEY, NULL);
    FRZ_TRY(frz_metadata_property_i64(metadata, MAX_COLUMNS_KEY, DEFAULT_COLUMNS, &c.columns, err));
    if (text.ptr != NULL) {
        FRZ_TRY(parse_setting(FRZ_STR(DEFAULT_KEY), text, &setting, err));
        c.columns = INT64_MAX; /* whoever sets the default means every column */
    }
    FRZ_TRY(collect_fields(schema, &c, arena, err));
    FRZ_TRY(set_columns(&config, metadata, schema, arena->env, err));
    *out = config;
out:
    return rc;
}

/* ---- applying ---- */

const frz_field_stats *meta_find_stats(const frz_field_stats *stats, size_t count, int32_t field_id,
                                       size_t *cursor)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = (*cursor + i) % count;
        if (stats[place].field_id == field_id) {
            *cursor = place + 1;
            return &stats[place];
        }
    }
    return NULL;
}

static frz_code apply_mode(frz_field_stats *stats, frz_metrics_mode mode, size_t length,
                           frz_arena *arena, frz_error *err)
{
    if (mode == FRZ_METRICS_COUNTS) {
        stats->has_lower = stats->has_upper = false;
        stats->tight_bounds = -1;
    }
    return mode == FRZ_METRICS_TRUNCATE ? frz_stats_truncate(arena, stats, length, err) : FRZ_OK;
}

frz_code frz_metrics_apply(const frz_metrics_config *config, const frz_field_stats *stats,
                           size_t count, frz_arena *arena, frz_field_stats **out, size_t *out_count,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t n = 0, cursor = 0;
    size_t most = FRZ_MIN(count, config->field_count); /* many files of few columns are written */
    frz_field_stats *kept = frz_arena_array(arena, most, sizeof *kept);
    if (kept == NULL) {
        return frz_fail_nomem(err, most * sizeof *kept);
    }
    for (size_t i = 0; i < config->field_count; i++) {
        if (config->fields[i].mode == FRZ_METRICS_NONE) {
            continue;
        }
        const frz_field_stats *found =
            meta_find_stats(stats, count, config->fields[i].field_id, &cursor);
        if (found != NULL) {
            kept[n] = *found;
            FRZ_TRY(
                apply_mode(&kept[n], config->fields[i].mode, config->fields[i].length, arena, err));
            n++;
        }
    }
    *out = kept;
    *out_count = n;
out:
    return rc;
}
