/*
 * A whole Parquet file through the public interface: what it says of itself, its pages, and its
 * rows natively, as tables have them, and filtered. Input: the file.
 */
#include <stdio.h>

#include "frazil/parquet.h"
#include "fuzz_storage.h"

#define MAX_INPUT (1u << 16)
#define MOST_COLUMNS 24
#define MOST_GROUPS 4
#define MOST_BATCHES 32
#define MOST_NAME 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_bound(const frz_parquet_file *file, size_t column,
                          const frz_parquet_bound *bound)
{
    char text[64];
    frz_parquet_bound_text(file, column, bound->value, text, sizeof text);
}

typedef struct page_look {
    const frz_parquet_file *file;
    size_t column;
} page_look;

static frz_code look_at_page(void *ctx, const frz_parquet_page_info *page, frz_error *err)
{
    page_look *look = ctx;
    (void)err;
    look_at_bound(look->file, look->column, &page->min);
    look_at_bound(look->file, look->column, &page->max);
    return FRZ_OK;
}

static void look_at_column(const frz_parquet_file *file, size_t column, size_t groups)
{
    char path[64];
    page_look look = {file, column};
    frz_parquet_column_info info;
    frz_parquet_chunk_info chunk;
    frz_error err = {0};
    frz_parquet_column_info_get(file, column, &info);
    frz_parquet_column_path(file, column, path, sizeof path);
    for (size_t g = 0; g < groups; g++) {
        if (frz_parquet_chunk_info_get(file, g, column, &chunk, &err) == FRZ_OK) {
            look_at_bound(file, column, &chunk.min);
            look_at_bound(file, column, &chunk.max);
        }
        (void)frz_parquet_pages_visit(file, g, column, look_at_page, &look, &err);
    }
    (void)frz_parquet_column_summary_get(file, column, &chunk, &err);
}

static void look_at_groups(const frz_parquet_file *file, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        frz_parquet_group_info info;
        frz_parquet_sorting sorting;
        frz_parquet_group_info_get(file, g, &info);
        for (size_t i = 0; i < info.sorting_count; i++) {
            frz_parquet_group_sorting(file, g, i, &sorting);
        }
    }
}

static void read_rows(frz_parquet_file *file, const frz_parquet_read_options *opts)
{
    frz_parquet_reader *reader = NULL;
    frz_error err = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (frz_parquet_reader_open(file, opts, &reader, &err) != FRZ_OK) {
        return;
    }
    if (frz_parquet_reader_schema(reader, &schema, &err) == FRZ_OK) {
        schema.release(&schema);
    }
    for (int i = 0;
         i < MOST_BATCHES && frz_parquet_reader_next(reader, &batch, NULL, &err) == FRZ_OK; i++) {
        batch.release(&batch);
    }
    frz_parquet_reader_close(reader);
}

/* Conditions on the first column, if it can be named: those whose type fits are held against its
 * statistics, dictionaries, bloom filters and page index. */
static void read_filtered(frz_parquet_file *file)
{
    static const char *const conditions[] = {"IS NOT NULL", "> 0", "= 0", "IN ('a', 'b')"};
    char where[MOST_NAME + 40];
    frz_parquet_node_info node;
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_parquet_node_info_get(file, 1, &node);
    if (node.name.size > MOST_NAME || memchr(node.name.data, '"', node.name.size) != NULL ||
        memchr(node.name.data, '\0', node.name.size) != NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        snprintf(where, sizeof where, "\"%.*s\" %s", (int)node.name.size, node.name.data,
                 conditions[i]);
        opts.where = where;
        read_rows(file, &opts);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {"/f", data, size};
    frz_parquet_file *file = NULL;
    frz_parquet_file_info info;
    frz_parquet_read_options opts = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_error err = {0};
    if (size > MAX_INPUT) {
        return 0;
    }
    frz_env *env = fuzz_env(&storage);
    if (frz_parquet_file_open(env, "/f", &file, &err) == FRZ_OK) {
        frz_parquet_file_info_get(file, &info);
        size_t groups = FRZ_MIN(info.group_count, (size_t)MOST_GROUPS);
        look_at_groups(file, groups);
        for (size_t c = 0; c < info.column_count && c < MOST_COLUMNS; c++) {
            look_at_column(file, c, groups);
        }
        opts.batch_rows = 256;
        read_rows(file, &opts);
        opts.table_types = 1;
        read_rows(file, &opts);
        if (info.node_count > 1) {
            read_filtered(file);
        }
        frz_parquet_file_close(file);
    }
    frz_env_free(env);
    return 0;
}
