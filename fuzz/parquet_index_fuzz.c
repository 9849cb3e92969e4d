/*
 * The page index of a column chunk: an offset index, and the column index that goes with it. Input:
 * physical type and annotation of the column (1 byte), rows of the row group (2), length of the
 * offset index (2), then both indexes.
 */
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_statistics.h"
#include "fuzz_storage.h"

#define HEAD 5
#define MAX_INPUT (1u << 16)
#define FIRST 4
#define END 100000 /* of the chunk in the file */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the parser promises of a list that it accepts. */
static void check_locations(const parquet_offset_index *index)
{
    uint64_t at = FIRST;
    for (size_t i = 0; i < index->count; i++) {
        const parquet_page_location *page = &index->pages[i];
        int64_t end = parquet_page_end_row(index, i);
        if (page->offset < at || page->offset + page->size > END || page->first_row >= end ||
            parquet_offset_index_page(index, page->first_row) != i ||
            parquet_offset_index_page(index, end - 1) != i) {
            __builtin_trap();
        }
        at = page->offset + page->size;
    }
    if (index->count == 0 || index->pages[0].first_row != 0) {
        __builtin_trap();
    }
}

static void choose_column(uint8_t choice, parquet_element *e, frz_field *field)
{
    static const struct {
        parquet_physical physical;
        parquet_logical logical;
        int32_t length;
        frz_type_id type;
    } columns[] = {
        {PARQUET_BOOLEAN, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_BOOLEAN},
        {PARQUET_INT32, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_INT},
        {PARQUET_INT32, PARQUET_LOGICAL_DATE, 0, FRZ_TYPE_DATE},
        {PARQUET_INT64, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_LONG},
        {PARQUET_INT64, PARQUET_LOGICAL_TIMESTAMP, 0, FRZ_TYPE_TIMESTAMP},
        {PARQUET_FLOAT, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_FLOAT},
        {PARQUET_DOUBLE, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_DOUBLE},
        {PARQUET_BYTE_ARRAY, PARQUET_LOGICAL_STRING, 0, FRZ_TYPE_STRING},
        {PARQUET_BYTE_ARRAY, PARQUET_LOGICAL_NONE, 0, FRZ_TYPE_BINARY},
        {PARQUET_FIXED_LEN_BYTE_ARRAY, PARQUET_LOGICAL_UUID, 16, FRZ_TYPE_UUID},
        {PARQUET_FIXED_LEN_BYTE_ARRAY, PARQUET_LOGICAL_FLOAT16, 2, FRZ_TYPE_FLOAT},
    };
    size_t i = choice % FRZ_ARRAY_COUNT(columns);
    *e = (parquet_element){.physical = columns[i].physical,
                           .type_length = columns[i].length,
                           .repetition = PARQUET_OPTIONAL,
                           .converted = -1,
                           .logical = columns[i].logical,
                           .unit = choice >= 128 ? PARQUET_MILLIS : PARQUET_MICROS};
    *field = (frz_field){.id = 1, .type = frz_type_primitive(columns[i].type)};
}

/* What pruning makes of the bounds of every page. */
static void judge(const frz_env *env, uint8_t choice, const parquet_offset_index *offsets,
                  const parquet_column_index *index)
{
    parquet_element element;
    frz_field field;
    int8_t order = 1;
    choose_column(choice, &element, &field);
    parquet_node node = {.element = &element, .type = field.type, .path = "c"};
    parquet_column column = {.element = &element, .node = &node, .max_def = 1};
    parquet_file file = {.base = {.env = env}, .columns = &column, .column_count = 1};
    file.metadata.column_orders = &order;
    file.metadata.column_order_count = 1;
    for (size_t i = 0; i < index->count; i++) {
        frz_field_stats stats;
        int64_t rows = parquet_page_end_row(offsets, i) - offsets->pages[i].first_row;
        parquet_statistics_page(&file, 0, index, i, rows, &field, &stats);
        if (stats.null_value_count > rows ||
            (stats.has_lower && stats.has_upper &&
             frz_value_compare(&stats.lower, &stats.upper, true) > 0)) {
            __builtin_trap();
        }
    }
    (void)parquet_statistics_index_holds(&file, 0, index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_storage storage = {"/none", data, size};
    frz_error err = {0};
    frz_arena arena;
    parquet_offset_index offsets;
    parquet_column_index bounds;
    if (size < HEAD || size > MAX_INPUT) {
        return 0;
    }
    frz_env *env = fuzz_env(&storage);
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    int64_t rows = frz_load_le16(data + 1);
    size_t len = FRZ_MIN((size_t)frz_load_le16(data + 3), size - HEAD);
    frz_str first = {(const char *)data + HEAD, len};
    frz_str second = {(const char *)data + HEAD + len, size - HEAD - len};
    if (parquet_offset_index_parse(&arena, first, 0, FIRST, END, rows, &offsets, &err) == FRZ_OK) {
        check_locations(&offsets);
        if (parquet_column_index_parse(&arena, second, 0, offsets.count, &bounds, &err) == FRZ_OK) {
            judge(env, data[0], &offsets, &bounds);
        }
    }
    /* far from what came in, nothing may be allocated */
    if (arena.used > 64 * size + 4096) {
        __builtin_trap();
    }
    frz_arena_reset(&arena);
    fuzz_env_free(env);
    return 0;
}
