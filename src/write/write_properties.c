/*
 * Table properties that say how data files are written: write.durability and write.parquet.*.
 * Names and values are Iceberg's where it has them. spec: table properties, write properties
 */
#include <stdio.h>

#include "format/parquet/parquet.h"
#include "write/write_internal.h"

#define PAGE_BYTES_MIN 1024
#define PAGE_BYTES_MAX (64 << 20)
#define GROUP_BYTES_MIN (64 << 10)
#define GROUP_BYTES_MAX (INT64_C(1) << 40)
#define TARGET_BYTES (INT64_C(512) << 20)
#define TARGET_BYTES_MAX (INT64_C(1) << 50)
#define LEVEL_UNSET INT64_MIN
#define READS_PER_WRITE 4
#define READS_PER_WRITE_MAX 1000000

/* Codecs by the names that Iceberg gives them, with the levels that each understands. */
static const struct {
    const char *name;
    frz_parquet_codec codec;
    int64_t level_min, level_max;
    int level; /* if none is asked for; 0: the codec's own */
} codecs[] = {
    {"uncompressed", FRZ_PARQUET_UNCOMPRESSED, 0, 0, 0},
    {"none", FRZ_PARQUET_UNCOMPRESSED, 0, 0, 0},
    {"snappy", FRZ_PARQUET_SNAPPY, 0, 0, 0},
    {"gzip", FRZ_PARQUET_GZIP, 1, 12, 0},
    {"brotli", FRZ_PARQUET_BROTLI, 1, 11, 0},
    {"zstd", FRZ_PARQUET_ZSTD, 1, 22, 1},
    {"lz4_raw", FRZ_PARQUET_LZ4_RAW, 0, 0, 0},
    {"lz4", FRZ_PARQUET_LZ4_RAW, 0, 0, 0},
};

frz_code frz_write_durable(const frz_metadata *metadata, bool *out, frz_error *err)
{
    frz_str value = frz_metadata_property(metadata, "write.durability", "full");
    if (frz_str_equal_nocase(value, FRZ_STR("full"))) {
        *out = true;
        return FRZ_OK;
    }
    if (frz_str_equal_nocase(value, FRZ_STR("none"))) {
        *out = false;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_ARGUMENT,
                    "table property write.durability: expected full or none, found \"%.*s\"",
                    FRZ_STR_ARG(value));
}

static frz_code property_in_range(const frz_metadata *metadata, const char *key, int64_t fallback,
                                  int64_t least, int64_t most, int64_t *out, frz_error *err)
{
    int64_t value;
    frz_code rc = frz_metadata_property_i64(metadata, key, fallback, &value, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    if (value != fallback && (value < least || value > most)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "table property %s: expected a number from %lld to %lld, found %lld", key,
                        (long long)least, (long long)most, (long long)value);
    }
    *out = value;
    return FRZ_OK;
}

static frz_code codec_of(const frz_metadata *metadata, frz_parquet_write_options *options,
                         frz_error *err)
{
    frz_str name = frz_metadata_property(metadata, "write.parquet.compression-codec", "zstd");
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        if (!frz_str_equal_nocase(name, frz_str_from(codecs[i].name))) {
            continue;
        }
        int64_t level = LEVEL_UNSET;
        bool has_levels = codecs[i].level_max > 0;
        frz_code rc = FRZ_OK;
        if (has_levels) { /* a level beside a codec without levels means nothing, as in Iceberg */
            rc = property_in_range(metadata, "write.parquet.compression-level", LEVEL_UNSET,
                                   codecs[i].level_min, codecs[i].level_max, &level, err);
        }
        options->codec = codecs[i].codec;
        options->level = level == LEVEL_UNSET ? codecs[i].level : (int)level;
        return rc;
    }
    frz_code rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                           "unsupported: Parquet compression codec \"%.*s\" in table property "
                           "write.parquet.compression-codec",
                           FRZ_STR_ARG(name));
    frz_hint(err, "use zstd, snappy, gzip, lz4_raw, brotli or uncompressed");
    return rc;
}

static frz_code page_version_of(const frz_metadata *metadata, int *out, frz_error *err)
{
    frz_str value = frz_metadata_property(metadata, "write.parquet.page-version", "v1");
    if (frz_str_equal_nocase(value, FRZ_STR("v1")) || frz_str_equal(value, FRZ_STR("1"))) {
        *out = 1;
        return FRZ_OK;
    }
    if (frz_str_equal_nocase(value, FRZ_STR("v2")) || frz_str_equal(value, FRZ_STR("2"))) {
        *out = 2;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_ARGUMENT,
                    "table property write.parquet.page-version: expected v1 or v2, found \"%.*s\"",
                    FRZ_STR_ARG(value));
}

frz_code frz_write_parquet_options(const frz_metadata *metadata,
                                   struct frz_parquet_write_options *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    int64_t page_bytes, group_bytes;
    FRZ_TRY(codec_of(metadata, &options, err));
    FRZ_TRY(property_in_range(metadata, "write.parquet.page-size-bytes", 0, PAGE_BYTES_MIN,
                              PAGE_BYTES_MAX, &page_bytes, err));
    FRZ_TRY(property_in_range(metadata, "write.parquet.row-group-size-bytes", 0, GROUP_BYTES_MIN,
                              GROUP_BYTES_MAX, &group_bytes, err));
    FRZ_TRY(property_in_range(metadata, "write.parquet.page-row-limit", 0, 1, INT32_MAX,
                              &options.page_rows, err));
    FRZ_TRY(page_version_of(metadata, &options.page_version, err));
    options.page_bytes = (size_t)page_bytes;
    options.group_bytes = (size_t)group_bytes;
    *out = options;
out:
    return rc;
}

frz_code frz_write_target_bytes(const frz_metadata *metadata, int64_t *out, frz_error *err)
{
    return property_in_range(metadata, "write.target-file-size-bytes", TARGET_BYTES, 1,
                             TARGET_BYTES_MAX, out, err);
}

/* ---- modes ---- */

static const char *const mode_names[] = {[FRZ_MODE_AUTO] = "auto",
                                         [FRZ_MODE_COLUMN_FILE] = "column-file",
                                         [FRZ_MODE_COPY_ON_WRITE] = "copy-on-write",
                                         [FRZ_MODE_MERGE_ON_READ] = "merge-on-read"};

const char *frz_write_mode_name(frz_write_mode mode)
{
    return mode_names[mode];
}

bool frz_write_mode_find(frz_str name, frz_write_mode *out)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(mode_names); i++) {
        if (frz_str_equal_nocase(name, frz_str_from(mode_names[i]))) {
            *out = (frz_write_mode)i;
            return true;
        }
    }
    return false;
}

frz_code frz_write_reads(const frz_metadata *metadata, int64_t *out, frz_error *err)
{
    return property_in_range(metadata, "write.auto.reads-per-write", READS_PER_WRITE, 0,
                             READS_PER_WRITE_MAX, out, err);
}

frz_code frz_write_mode_of(const frz_metadata *metadata, const char *statement, frz_write_mode *out,
                           frz_error *err)
{
    char key[64];
    frz_write_mode mode;
    bool deletes = strcmp(statement, "delete") == 0; /* no row has new values */
    snprintf(key, sizeof key, "write.%s.mode", statement);
    frz_str value = frz_metadata_property(metadata, key, mode_names[FRZ_MODE_AUTO]);
    if (frz_write_mode_find(value, &mode) && !(deletes && mode == FRZ_MODE_COLUMN_FILE)) {
        *out = mode;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_ARGUMENT,
                    "table property %s: expected auto, %scopy-on-write or merge-on-read, found "
                    "\"%.*s\"",
                    key, deletes ? "" : "column-file, ", FRZ_STR_ARG(value));
}

/* ---- commits ---- */

frz_code frz_write_retry_limits(const frz_metadata *metadata, frz_retry_limits *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(
        frz_metadata_property_i64(metadata, "commit.retry.num-retries", 20, &out->retries, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "commit.retry.min-wait-ms", 10, &out->min_wait_ms,
                                      err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "commit.retry.max-wait-ms", 2000, &out->max_wait_ms,
                                      err));
out:
    return rc;
}

frz_code frz_write_check_key(frz_str key, frz_error *err)
{
    static const char *const reserved[] = {"format-version", "uuid", "current-schema",
                                           "current-snapshot-id", "snapshot-count"};
    if (key.len == 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a property name must not be empty");
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(reserved); i++) {
        if (frz_str_equal(key, frz_str_from(reserved[i]))) {
            return frz_fail(err, FRZ_E_ARGUMENT, "property %s cannot be set", reserved[i]);
        }
    }
    return FRZ_OK;
}

static frz_code check_folder(const frz_metadata *metadata, const char *key, frz_error *err)
{
    frz_str folder = frz_metadata_property(metadata, key, "folder");
    size_t slashes = 0;
    while (slashes < folder.len && folder.ptr[slashes] == '/') {
        slashes++;
    }
    return slashes < folder.len ? FRZ_OK
                                : frz_fail(err, FRZ_E_ARGUMENT,
                                           "table property %s: expected a folder, found \"%.*s\"",
                                           key, FRZ_STR_ARG(folder));
}

/* Of maintenance, where any number will do. */
static frz_code check_numbers(const frz_metadata *metadata, frz_error *err)
{
    static const char *const keys[] = {
        "history.expire.max-snapshot-age-ms", "history.expire.min-snapshots-to-keep",
        "history.expire.max-ref-age-ms", "write.column-file.max-per-file",
        "write.compact.min-small-files"};
    static const char *const ratios[] = {"write.column-file.max-ratio",
                                         "write.compact.max-deleted-ratio",
                                         "write.compact.small-file-ratio"};
    frz_code rc = FRZ_OK;
    int64_t value;
    double ratio;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(keys); i++) {
        FRZ_TRY(frz_metadata_property_i64(metadata, keys[i], 0, &value, err));
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(ratios); i++) {
        FRZ_TRY(frz_metadata_property_ratio(metadata, ratios[i], 0, &ratio, err));
    }
out:
    return rc;
}

frz_code frz_write_check_properties(const frz_metadata *metadata, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool durable;
    int64_t versions, root_limit, target_bytes, reads;
    frz_retry_limits limits;
    frz_write_mode mode;
    frz_isolation isolation;
    frz_parquet_write_options options;
    FRZ_TRY(frz_write_mode_of(metadata, "update", &mode, err));
    FRZ_TRY(frz_write_mode_of(metadata, "delete", &mode, err));
    FRZ_TRY(frz_write_mode_of(metadata, "merge", &mode, err));
    FRZ_TRY(frz_write_reads(metadata, &reads, err));
    FRZ_TRY(frz_write_durable(metadata, &durable, err));
    FRZ_TRY(frz_write_parquet_options(metadata, &options, err));
    FRZ_TRY(frz_write_target_bytes(metadata, &target_bytes, err));
    FRZ_TRY(frz_write_retry_limits(metadata, &limits, err));
    FRZ_TRY(frz_metadata_property_i64(metadata, "write.metadata.previous-versions-max", 1,
                                      &versions, err));
    FRZ_TRY(frz_write_root_limit(metadata, &root_limit, err));
    FRZ_TRY(check_numbers(metadata, err));
    FRZ_TRY(frz_write_isolation(metadata, "update", &isolation, err));
    FRZ_TRY(frz_write_isolation(metadata, "delete", &isolation, err));
    FRZ_TRY(frz_write_isolation(metadata, "merge", &isolation, err));
    FRZ_TRY(check_folder(metadata, "write.metadata.path", err));
    FRZ_TRY(check_folder(metadata, "write.data.path", err));
out:
    return rc;
}
