/*
 * Telling the format of a file by its first bytes.
 */
#include "frazil/file.h"
#include "io/io_file.h"

#define LONGEST 6

static const struct {
    const char *first;
    size_t size;
    frz_file_format format;
} beginnings[] = {
    {"PAR1", 4, FRZ_FILE_PARQUET},
    {"PARE", 4, FRZ_FILE_PARQUET}, /* encrypted */
    {"ARROW1", 6, FRZ_FILE_ARROW},
    {"\xff\xff\xff\xff", 4, FRZ_FILE_ARROW_STREAM}, /* what each message begins with */
    {"Obj\x01", 4, FRZ_FILE_AVRO},
    {"ORC", 3, FRZ_FILE_ORC},
    {"PFA1", 4, FRZ_FILE_PUFFIN},
};

frz_code frz_file_format_get(const frz_env *env, const char *location, frz_file_format *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_file *file = NULL;
    uint8_t first[LONGEST] = {0};
    FRZ_TRY(frz_file_open(env, location, &file, err));
    size_t len = (size_t)FRZ_MIN(frz_file_size(file), sizeof first);
    FRZ_TRY(frz_file_read(file, 0, first, len, err));
    *out = FRZ_FILE_UNKNOWN;
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(beginnings); i++) {
        if (beginnings[i].size <= len &&
            memcmp(first, beginnings[i].first, beginnings[i].size) == 0) {
            *out = beginnings[i].format;
        }
    }
out:
    frz_file_close(file);
    return rc;
}

const char *frz_file_format_name(frz_file_format format)
{
    switch (format) {
    case FRZ_FILE_PARQUET:
        return "Parquet";
    case FRZ_FILE_ARROW:
        return "Arrow file";
    case FRZ_FILE_ARROW_STREAM:
        return "Arrow stream";
    case FRZ_FILE_AVRO:
        return "Avro";
    case FRZ_FILE_ORC:
        return "ORC";
    case FRZ_FILE_PUFFIN:
        return "Puffin";
    default:
        return "unknown";
    }
}
