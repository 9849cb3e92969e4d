/*
 * What is known of writers by the name that they leave in the footer, where a file does not tell
 * itself that it can be relied on.
 */
#include "format/parquet/parquet_internal.h"

typedef struct known_writer {
    const char *name;  /* up to its version */
    int64_t mended_by; /* major version that does it right */
} known_writer;

#define NOT_YET INT64_MAX

/* A version that cannot be read counts as an old one. */
static bool is_before(frz_str created_by, const known_writer *writer)
{
    int64_t major = 0;
    size_t len = strlen(writer->name);
    if (!frz_str_starts_with(created_by, frz_str_from(writer->name))) {
        return false;
    }
    frz_str version = {created_by.ptr + len, created_by.len - len};
    const char *point = memchr(version.ptr, '.', version.len);
    version.len = point == NULL ? version.len : (size_t)(point - version.ptr);
    return !frz_str_to_i64(version, &major) || major < writer->mended_by;
}

static bool is_one_of(const parquet_metadata *m, const known_writer *writers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (m->created_by.len > 0 && is_before(m->created_by, &writers[i])) {
            return true;
        }
    }
    return false;
}

bool parquet_tells_page_rows(const parquet_metadata *m)
{
    /* wrote the number of values there */
    static const known_writer writers[] = {{"parquet-cpp version ", NOT_YET},
                                           {"parquet-cpp-arrow version ", 12}};
    return !is_one_of(m, writers, FRZ_ARRAY_COUNT(writers));
}

bool parquet_indexes_rows(const parquet_metadata *m)
{
    /* let pages begin inside a row, or counted items as rows (ClickHouse) */
    static const known_writer writers[] = {{"parquet-rs version ", 41},
                                           {"parquet-go version ", NOT_YET},
                                           {"hyparquet", NOT_YET},
                                           {"ClickHouse", NOT_YET}};
    return !is_one_of(m, writers, FRZ_ARRAY_COUNT(writers));
}
