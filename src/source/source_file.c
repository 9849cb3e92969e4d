/*
 * Files of rows as Arrow streams. The format is told by the first bytes.
 */
#include "source/source.h"

#include "base/base.h"
#include "frazil/avro.h"
#include "frazil/file.h"
#include "frazil/ipc.h"
#include "frazil/parquet.h"
#include "frazil/stream.h"

/* What is asked for of a file. */
typedef struct file_request {
    const frz_env *env;
    const char *file;
    const char *const *columns;
    size_t column_count;
    const char *where;
} file_request;

static frz_code open_parquet(const file_request *source, struct ArrowArrayStream *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    frz_parquet_read_options options = FRZ_PARQUET_READ_OPTIONS_INIT;
    options.columns = source->columns;
    options.column_count = source->column_count;
    options.where = source->where;
    FRZ_TRY(frz_parquet_file_open(source->env, source->file, &file, err));
    FRZ_TRY(frz_parquet_reader_open(file, &options, &reader, err));
    FRZ_TRY(frz_parquet_reader_export(reader, out, err));
out:
    frz_parquet_file_close(file);
    return rc;
}

/* all moves, also on failure. */
static frz_code select_from(const file_request *source, struct ArrowArrayStream *all,
                            struct ArrowArrayStream *out, frz_error *err)
{
    frz_stream_select_options options = FRZ_STREAM_SELECT_OPTIONS_INIT;
    options.columns = source->columns;
    options.column_count = source->column_count;
    options.where = source->where;
    return frz_stream_select(source->env, all, &options, out, err);
}

static frz_code open_arrow(const file_request *source, struct ArrowArrayStream *out, frz_error *err)
{
    struct ArrowArrayStream all = {0};
    frz_code rc = frz_ipc_open(source->env, source->file, &all, err);
    return rc == FRZ_OK ? select_from(source, &all, out, err) : rc;
}

static frz_code open_avro(const file_request *source, struct ArrowArrayStream *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_avro_file *file = NULL;
    struct ArrowArrayStream all = {0};
    frz_avro_read_options options = FRZ_AVRO_READ_OPTIONS_INIT;
    FRZ_TRY(frz_avro_file_open(source->env, source->file, &file, err));
    FRZ_TRY(frz_avro_file_read(file, &options, &all, err));
    FRZ_TRY(select_from(source, &all, out, err));
out:
    frz_avro_file_close(file);
    return rc;
}

frz_code source_file_open(const frz_env *env, const char *file, const char *const *columns,
                          size_t column_count, const char *where, struct ArrowArrayStream *out,
                          frz_error *err)
{
    file_request source = {env, file, columns, column_count, where};
    frz_file_format format;
    frz_code rc = frz_file_format_get(env, file, &format, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    switch (format) {
    case FRZ_FILE_PARQUET:
        return open_parquet(&source, out, err);
    case FRZ_FILE_ARROW:
    case FRZ_FILE_ARROW_STREAM:
        return open_arrow(&source, out, err);
    case FRZ_FILE_AVRO:
        return open_avro(&source, out, err);
    case FRZ_FILE_UNKNOWN:
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%s is neither a Parquet nor an Arrow file, nor an Avro file", file);
    default:
        return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: reading rows of format %s (%s)",
                        frz_file_format_name(format), file);
    }
}
