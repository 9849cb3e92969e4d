/*
 * parquet_dump: the rows of a Parquet file as JSON lines, as libfrazil reads them.
 *
 *   parquet_dump [--schema] [--batch ROWS] FILE [FIRST:LAST[,FIRST:LAST…]] [COLUMN,COLUMN…]
 *
 * LAST is not included. Numbers are exact; decimals, dates, times and uuids are strings; binary is
 * hex; a map is a list of {"key", "value"}. Ids of the file are not looked at: fields are numbered
 * afresh. Exit status 0, or 1 with the error on standard error.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/format.h"
#include "type/type_value.h"

#define MAX_RANGES 64

typedef struct options {
    bool schema;
    int64_t batch;
    const char *path, *ranges, *columns;
} options;

static void print_json_string(frz_str s)
{
    putchar('"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 0x20) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

static bool is_bare(const frz_type *type)
{
    return type->id >= FRZ_TYPE_BOOLEAN && type->id <= FRZ_TYPE_DOUBLE;
}

static frz_code print_value(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                            int64_t i, frz_error *err);

static frz_code print_primitive(const frz_env *env, const frz_type *type,
                                const struct ArrowArray *a, int64_t i, frz_error *err)
{
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_value value = frz_value_at(type, a, i);
    frz_code rc = frz_value_print(&value, &text, err);
    if (rc == FRZ_OK && is_bare(type)) {
        printf("%.*s", FRZ_STR_ARG(frz_buf_view(&text)));
    } else if (rc == FRZ_OK) {
        print_json_string(frz_buf_view(&text));
    }
    frz_buf_reset(&text);
    return rc;
}

static frz_code print_struct(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                             int64_t i, frz_error *err)
{
    putchar('{');
    for (size_t f = 0; f < type->field_count; f++) {
        printf(f == 0 ? "" : ", ");
        print_json_string(type->fields[f].name);
        printf(": ");
        frz_code rc = print_value(env, type->fields[f].type, a->children[f], a->offset + i, err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    putchar('}');
    return FRZ_OK;
}

static frz_code print_entry(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                            int64_t i, frz_error *err)
{
    printf("{\"key\": ");
    frz_code rc = print_value(env, type->fields[0].type, a->children[0], a->offset + i, err);
    if (rc == FRZ_OK) {
        printf(", \"value\": ");
        rc = print_value(env, type->fields[1].type, a->children[1], a->offset + i, err);
    }
    putchar('}');
    return rc;
}

static frz_code print_list(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                           int64_t i, frz_error *err)
{
    const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset + i;
    frz_code rc = FRZ_OK;
    putchar('[');
    for (int64_t k = offsets[0]; k < offsets[1] && rc == FRZ_OK; k++) {
        printf(k == offsets[0] ? "" : ", ");
        rc = type->id == FRZ_TYPE_MAP
                 ? print_entry(env, type, a->children[0], k, err)
                 : print_value(env, type->fields[0].type, a->children[0], k, err);
    }
    putchar(']');
    return rc;
}

static frz_code print_value(const frz_env *env, const frz_type *type, const struct ArrowArray *a,
                            int64_t i, frz_error *err)
{
    if (type->id == FRZ_TYPE_UNKNOWN || frz_is_null(a, i)) {
        printf("null");
        return FRZ_OK;
    }
    switch (type->id) {
    case FRZ_TYPE_STRUCT:
        return print_struct(env, type, a, i, err);
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        return print_list(env, type, a, i, err);
    default:
        return print_primitive(env, type, a, i, err);
    }
}

/* The columns named in a list separated by commas, in its order; all if there is no list. */
static frz_code choose_columns(frz_arena *arena, const frz_type *type, const char *names,
                               const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t count = 0;
    if (names == NULL) {
        *out = type;
        return FRZ_OK;
    }
    frz_field *fields = frz_arena_array(arena, strlen(names) + 1, sizeof *fields);
    while (fields != NULL && *names != '\0') {
        const frz_field *field;
        size_t len = strcspn(names, ",");
        FRZ_TRY(frz_type_resolve_name(type, (frz_str){names, len}, &field, err));
        fields[count++] = *field;
        names += len + (names[len] == ',');
    }
    rc = frz_type_struct_of(arena, fields, count, out, err);
out:
    return rc;
}

static size_t parse_ranges(const char *text, frz_row_range *ranges)
{
    size_t count = 0;
    while (count < MAX_RANGES && *text != '\0') {
        char *end;
        ranges[count].start = strtoll(text, &end, 10);
        ranges[count].end = *end == ':' ? strtoll(end + 1, &end, 10) : ranges[count].start + 1;
        count++;
        text = *end == ',' ? end + 1 : "";
    }
    return count;
}

static frz_code print_rows(const frz_env *env, const frz_data_file *file, const frz_type *type,
                           const options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_row_range ranges[MAX_RANGES];
    frz_data_reader *reader = NULL;
    frz_batch batch;
    int64_t expected = -1;
    frz_read_request request = {.projection = type, .max_rows = opts->batch};
    if (opts->ranges != NULL) {
        request.ranges = ranges;
        request.range_count = parse_ranges(opts->ranges, ranges);
    }
    FRZ_TRY(frz_data_reader_open(file, &request, &reader, err));
    for (;;) {
        rc = frz_data_reader_next(reader, &batch, err);
        if (rc == FRZ_END) {
            rc = FRZ_OK;
            break;
        }
        FRZ_TRY(rc);
        if (batch.first_row < expected || batch.array.length == 0) {
            rc = frz_fail(err, FRZ_E_INTERNAL, "batches are empty or out of order");
        }
        expected = batch.first_row + batch.array.length;
        for (int64_t i = 0; i < batch.array.length && rc == FRZ_OK; i++) {
            rc = print_struct(env, type, &batch.array, i, err);
            putchar('\n');
        }
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
out:
    frz_data_reader_close(reader);
    return rc;
}

static frz_code dump(const frz_env *env, const options *opts, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_data_file *file = NULL;
    const frz_type *type;
    frz_buf text = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    int32_t last;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_data_file_open(env, opts->path, NULL, &file, err));
    FRZ_TRY(frz_type_assign_ids(&arena, frz_data_file_type(file), 1, &type, &last, err));
    file->type = type;
    FRZ_TRY(choose_columns(&arena, type, opts->columns, &type, err));
    if (opts->schema) {
        FRZ_TRY(frz_type_print(type, &text, err));
        printf("%.*s\n", FRZ_STR_ARG(frz_buf_view(&text)));
        goto out;
    }
    FRZ_TRY(print_rows(env, file, type, opts, err));
out:
    frz_buf_reset(&text);
    frz_data_file_close(file);
    frz_arena_reset(&arena);
    return rc;
}

static bool parse_options(int argc, char **argv, options *opts)
{
    *opts = (options){0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--schema") == 0) {
            opts->schema = true;
        } else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc) {
            opts->batch = strtoll(argv[++i], NULL, 10);
        } else if (opts->path == NULL) {
            opts->path = argv[i];
        } else if (argv[i][0] >= '0' && argv[i][0] <= '9' && strchr(argv[i], ':') != NULL) {
            opts->ranges = argv[i];
        } else {
            opts->columns = argv[i];
        }
    }
    return opts->path != NULL;
}

int main(int argc, char **argv)
{
    options opts;
    frz_env *env = NULL;
    frz_error err = {0};
    frz_env_counters counters;
    if (!parse_options(argc, argv, &opts)) {
        fprintf(stderr, "usage: parquet_dump [--schema] [--batch ROWS] FILE [FIRST:LAST,…] "
                        "[COLUMN,…]\n");
        return 2;
    }
    if (frz_env_new(NULL, &env, &err) != FRZ_OK) {
        return 1;
    }
    frz_code rc = dump(env, &opts, &err);
    if (rc != FRZ_OK) {
        char message[2048];
        frz_error_format(&err, message, sizeof message);
        fprintf(stderr, "%s: %s\n", frz_code_name(rc), message);
    }
    frz_env_drop_cache(env);
    frz_env_counters_get(env, &counters);
    if (counters.bytes_allocated != 0) {
        fprintf(stderr, "%llu bytes were not given back\n",
                (unsigned long long)counters.bytes_allocated);
        rc = FRZ_E_INTERNAL;
    }
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : 1;
}
