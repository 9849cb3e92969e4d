/*
 * The table of formats, and opening a file of any of them by its first bytes.
 */
#include <inttypes.h>

#include "format/avro/avro.h"
#include "format/format.h"
#include "format/parquet/parquet.h"

#define MAGIC_MAX 4

static const frz_format_model *const models[] = {&frz_parquet_model, &frz_avro_model};

/* Formats that are known by their first bytes but have no reader. */
static const struct {
    const char *name;
    const char *magic;
    size_t magic_size;
} strangers[] = {
    {"orc", "ORC", 3},
    {"puffin", "PFA1", 4},
    {"encrypted parquet", "PARE", 4},
};

static frz_code no_reader(frz_str name, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: no reader for format %.*s",
                    FRZ_STR_ARG(name));
}

frz_code frz_format_by_name(frz_str name, const frz_format_model **out, frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(models); i++) {
        if (frz_str_equal_nocase(name, frz_str_from(models[i]->name))) {
            *out = models[i];
            return FRZ_OK;
        }
    }
    return no_reader(name, err);
}

static frz_code format_by_magic(const uint8_t *first, size_t len, const frz_format_model **out,
                                frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(models); i++) {
        if (len >= models[i]->magic_size &&
            memcmp(first, models[i]->magic, models[i]->magic_size) == 0) {
            *out = models[i];
            return FRZ_OK;
        }
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(strangers); i++) {
        if (len >= strangers[i].magic_size &&
            memcmp(first, strangers[i].magic, strangers[i].magic_size) == 0) {
            return no_reader(frz_str_from(strangers[i].name), err);
        }
    }
    return frz_fail_at(err, FRZ_E_CORRUPT, 0, "the first bytes are of no known file format");
}

/* ---- name mapping ---- */

static frz_code apply_mapping(frz_data_file *file, const frz_name_mapping *mapping, frz_error *err)
{
    frz_code rc = frz_name_mapping_apply(&file->mapped, mapping, file->type, &file->type, err);
    return frz_context(err, rc, "applying the name mapping to %s", frz_file_location(file->file));
}

/* ---- files and readers ---- */

static frz_code find_model(const frz_file *file, const frz_format_model **out, frz_error *err)
{
    uint8_t first[MAGIC_MAX];
    size_t len = (size_t)FRZ_MIN(frz_file_size(file), sizeof first);
    frz_code rc = FRZ_OK;
    if (len == 0) {
        rc = frz_fail_at(err, FRZ_E_CORRUPT, 0, "the file is empty");
        goto out;
    }
    FRZ_TRY(frz_file_read(file, 0, first, len, err));
    rc = format_by_magic(first, len, out, err);
out:
    return frz_context(err, rc, "reading %s", frz_file_location(file));
}

frz_code frz_data_file_open_in(const frz_env *env, frz_file *source,
                               const frz_name_mapping *mapping, frz_data_file **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    const frz_format_model *model = NULL;
    FRZ_TRY(find_model(source, &model, err));
    frz_file *moved = source;
    source = NULL;
    FRZ_TRY(model->open(env, moved, &file, err));
    if (mapping != NULL) {
        FRZ_TRY(apply_mapping(file, mapping, err));
    }
    *out = file;
    file = NULL;
out:
    frz_data_file_close(file);
    frz_file_close(source);
    return rc;
}

frz_code frz_data_file_open(const frz_env *env, const char *location,
                            const frz_name_mapping *mapping, frz_data_file **out, frz_error *err)
{
    frz_file *source = NULL;
    frz_code rc = frz_file_open(env, location, &source, err);
    return rc == FRZ_OK ? frz_data_file_open_in(env, source, mapping, out, err) : rc;
}

void frz_data_file_close(frz_data_file *file)
{
    if (file != NULL) {
        file->model->close(file);
    }
}

int64_t frz_data_file_row_count(const frz_data_file *file)
{
    return file->model->row_count(file);
}

uint64_t frz_data_file_size(const frz_data_file *file)
{
    return frz_file_size(file->file);
}

const char *frz_data_file_location(const frz_data_file *file)
{
    return frz_file_location(file->file);
}

const frz_type *frz_data_file_type(const frz_data_file *file)
{
    return file->type;
}

bool frz_data_file_has_field(const frz_data_file *file, int32_t field_id)
{
    return frz_type_index_of_id(file->type, field_id) >= 0;
}

bool frz_data_file_metadata(const frz_data_file *file, const char *key, frz_str *value)
{
    *value = file->model->metadata(file, frz_str_from(key));
    return value->ptr != NULL;
}

const int64_t *frz_data_file_group_ends(const frz_data_file *file, size_t *count)
{
    return file->model->group_ends(file, count);
}

const int64_t *frz_data_file_group_starts(const frz_data_file *file, size_t *count)
{
    return file->model->group_starts == NULL ? NULL : file->model->group_starts(file, count);
}

const frz_format_model *frz_data_file_model(const frz_data_file *file)
{
    return file->model;
}

/* For formats that cannot prune: the ranges asked for. */
static frz_code keep_ranges(const frz_data_file *file, const frz_prune_request *request,
                            frz_arena *arena, frz_row_range **out, size_t *count, frz_error *err)
{
    size_t n = request->ranges == NULL ? 1 : request->range_count;
    frz_row_range *ranges = frz_arena_array(arena, n, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, n * sizeof *ranges);
    }
    if (request->ranges == NULL) {
        ranges[0] = (frz_row_range){0, frz_data_file_row_count(file)};
    } else if (n > 0) {
        memcpy(ranges, request->ranges, n * sizeof *ranges);
    }
    *out = ranges;
    *count = n;
    return FRZ_OK;
}

frz_code frz_data_file_prune(const frz_data_file *file, const frz_prune_request *request,
                             frz_arena *arena, frz_row_range **out, size_t *count,
                             frz_prune_report *report, frz_error *err)
{
    if (file->model->prune == NULL) {
        return keep_ranges(file, request, arena, out, count, err);
    }
    return file->model->prune(file, file->type, request, arena, out, count, report, err);
}

frz_code frz_data_reader_open(const frz_data_file *file, const frz_read_request *request,
                              frz_data_reader **out, frz_error *err)
{
    return file->model->read(file, file->type, request, out, err);
}

frz_code frz_data_reader_next(frz_data_reader *reader, frz_batch *out, frz_error *err)
{
    return reader->model->next(reader, out, err);
}

bool frz_data_reader_thins(const frz_data_reader *reader)
{
    return reader->thins;
}

void frz_data_reader_close(frz_data_reader *reader)
{
    if (reader != NULL) {
        reader->model->close_reader(reader);
    }
}

frz_code frz_row_ranges_copy(const frz_data_file *file, const frz_read_request *request,
                             frz_arena *arena, const frz_row_range **out, size_t *count,
                             frz_error *err)
{
    int64_t rows = frz_data_file_row_count(file);
    int64_t before = 0;
    size_t n = request->ranges == NULL ? 1 : request->range_count;
    frz_row_range *ranges = frz_arena_array(arena, n, sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(err, n * sizeof *ranges);
    }
    for (size_t i = 0; i < n; i++) {
        ranges[i] = request->ranges == NULL ? (frz_row_range){0, rows} : request->ranges[i];
        if (ranges[i].start < before || ranges[i].end < ranges[i].start || ranges[i].end > rows) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "row range %" PRId64 " to %" PRId64
                            " is not in order or ends behind the file's %" PRId64 " rows",
                            ranges[i].start, ranges[i].end, rows);
        }
        before = ranges[i].end;
    }
    *out = ranges;
    *count = n;
    return FRZ_OK;
}
