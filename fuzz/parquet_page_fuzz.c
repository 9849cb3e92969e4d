/*
 * The pages of one column chunk of a type that the input chooses, read as tables have them and as
 * the file has them. Input: physical type and length, shape, annotation, codec and number of rows,
 * number of values (2 bytes), then the bytes of the chunk.
 */
#include "format/parquet/parquet_write.h"
#include "fuzz_parquet.h"
#include "fuzz_storage.h"

#define HEAD 6
#define MAX_INPUT (1u << 18)
#define FILE_MAGIC 4
#define INTERVAL 21 /* ConvertedType */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const parquet_element plain = {.physical = PARQUET_NO_PHYSICAL, .converted = -1};

/* Annotations that fit some physical type; others are ignored or refused. */
static const parquet_element annotations[] = {
    {.logical = PARQUET_LOGICAL_NONE},
    {.logical = PARQUET_LOGICAL_STRING},
    {.logical = PARQUET_LOGICAL_DECIMAL, .precision = 9},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 32},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 64},
    {.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_MILLIS},
    {.logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_MILLIS},
    {.logical = PARQUET_LOGICAL_FLOAT16},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 8},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 16},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 8, .is_signed = true},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 16, .is_signed = true},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 32, .is_signed = true},
    {.logical = PARQUET_LOGICAL_INTEGER, .bit_width = 64, .is_signed = true},
    {.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_MILLIS, .utc = true},
    {.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_MICROS},
    {.logical = PARQUET_LOGICAL_TIMESTAMP, .unit = PARQUET_NANOS, .utc = true},
    {.logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_MICROS},
    {.logical = PARQUET_LOGICAL_TIME, .unit = PARQUET_NANOS},
    {.logical = PARQUET_LOGICAL_DATE},
    {.logical = PARQUET_LOGICAL_DECIMAL, .precision = 38, .scale = 3},
    {.logical = PARQUET_LOGICAL_DECIMAL, .precision = 76, .scale = 76},
    {.logical = PARQUET_LOGICAL_UUID},
    {.logical = PARQUET_LOGICAL_ENUM},
    {.logical = PARQUET_LOGICAL_JSON},
    {.logical = PARQUET_LOGICAL_BSON},
    {.logical = PARQUET_LOGICAL_NONE, .converted = INTERVAL},
    {.logical = PARQUET_LOGICAL_UNKNOWN},
};

static void annotate(parquet_element *e, size_t choice)
{
    const parquet_element *a = &annotations[choice % FRZ_ARRAY_COUNT(annotations)];
    e->logical = a->logical;
    e->converted = a->converted == INTERVAL ? INTERVAL : -1;
    e->unit = a->unit;
    e->utc = a->utc;
    e->bit_width = a->bit_width;
    e->is_signed = a->is_signed;
    e->precision = a->precision;
    e->scale = a->scale;
}

/* The schema: a primitive alone, optional, in a list, in a list of a list, in a struct. */
static size_t make_elements(const uint8_t *head, parquet_element *elements)
{
    static const parquet_repetition shapes[][6] = {
        {PARQUET_REQUIRED},
        {PARQUET_OPTIONAL},
        {PARQUET_OPTIONAL, PARQUET_REPEATED, PARQUET_OPTIONAL},
        {PARQUET_OPTIONAL, PARQUET_REPEATED, PARQUET_OPTIONAL, PARQUET_REPEATED, PARQUET_REQUIRED},
        {PARQUET_OPTIONAL, PARQUET_OPTIONAL},
    };
    static const size_t depths[] = {1, 1, 3, 5, 2};
    size_t shape = head[1] % FRZ_ARRAY_COUNT(shapes);
    size_t depth = depths[shape];
    elements[0] = plain;
    elements[0].name = FRZ_STR("schema");
    elements[0].num_children = 1;
    for (size_t i = 0; i < depth; i++) {
        parquet_element *e = &elements[i + 1];
        *e = plain;
        e->name = FRZ_STR("f");
        e->repetition = shapes[shape][i];
        e->num_children = i + 1 < depth ? 1 : 0;
        if (depth >= 3 && i % 2 == 0 && i + 1 < depth) {
            e->logical = PARQUET_LOGICAL_LIST;
        }
    }
    parquet_element *leaf = &elements[depth];
    leaf->physical = (parquet_physical)(head[0] % 8);
    leaf->type_length = leaf->physical == PARQUET_FIXED_LEN_BYTE_ARRAY ? 1 + (head[0] >> 3) : 0;
    annotate(leaf, head[2]);
    return depth + 1;
}

static void read_chunk(const frz_env *env, const uint8_t *head, parquet_file *file,
                       frz_arena *arena)
{
    static const int32_t codecs[] = {0, 1, 2, 6, 7, 4, 5};
    frz_buf encoded = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    uint32_t chunk_at = 0;
    frz_error err = {0};
    parquet_element elements[8];
    uint64_t size = frz_file_size(file->base.file);
    int64_t values = head[4] | head[5] << 8;
    parquet_chunk chunk = {.physical = (parquet_physical)(head[0] % 8),
                           .codec = codecs[(head[3] & 7) % FRZ_ARRAY_COUNT(codecs)],
                           .num_values = values,
                           .total_compressed_size = (int64_t)size - FILE_MAGIC,
                           .data_page_offset = FILE_MAGIC};
    /* a list has fewer rows than values; the input says how many */
    bool repeated = head[1] % 5 == 2 || head[1] % 5 == 3;
    int64_t rows = repeated ? FRZ_MIN(values, 1 + (head[3] >> 3)) : values;
    parquet_group group = {.chunk_at = &chunk_at, .chunk_count = 1, .num_rows = rows};
    int64_t end = rows;
    if (parquet_chunk_write(&chunk, NULL, 0, &encoded, &err) != FRZ_OK) {
        __builtin_trap();
    }
    file->base.model = &frz_parquet_model;
    file->base.env = env;
    file->footer_start = size;
    file->group_ends = &end;
    file->metadata = (parquet_metadata){.elements = elements,
                                        .element_count = make_elements(head, elements),
                                        .num_rows = rows,
                                        .bytes = frz_buf_view(&encoded),
                                        .groups = &group,
                                        .group_count = 1};
    if (parquet_schema_build(arena, &file->metadata, &file->root, &file->columns,
                             &file->column_count, &err) == FRZ_OK) {
        file->base.type = file->root.type;
        volatile uint64_t sum = fuzz_read_file(&file->base);
        (void)sum;
    }
    frz_buf_reset(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD || size > MAX_INPUT) {
        return 0;
    }
    size_t body = size - HEAD;
    uint8_t *bytes = malloc(FILE_MAGIC + body);
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, "PAR1", FILE_MAGIC);
    memcpy(bytes + FILE_MAGIC, data + HEAD, body);
    fuzz_storage storage = {"file", bytes, FILE_MAGIC + body};
    frz_env *env = fuzz_env(&storage);
    parquet_file file = {0};
    frz_arena arena;
    if (frz_file_open(env, "file", &file.base.file, NULL) == FRZ_OK) {
        frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
        read_chunk(env, data, &file, &arena);
        frz_arena_reset(&arena);
        frz_file_close(file.base.file);
    }
    fuzz_env_free(env);
    free(bytes);
    return 0;
}
