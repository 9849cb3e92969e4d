/*
 * Reading a data file to a certain depth and looking at every byte that comes out of it.
 */
#ifndef FRZ_FUZZ_PARQUET_H
#define FRZ_FUZZ_PARQUET_H

#include "format/parquet/parquet.h"

#define FUZZ_BATCHES 64
#define FUZZ_ROWS 700

static uint64_t fuzz_sum_bytes(const void *bytes, size_t len)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++) {
        sum += ((const uint8_t *)bytes)[i];
    }
    return sum;
}

/* Touch everything an array claims to hold, so that a sanitizer sees what is not there. */
static uint64_t fuzz_touch(const frz_type *type, const struct ArrowArray *a)
{
    int64_t end = a->offset + a->length;
    uint64_t sum = 0;
    if (type->id == FRZ_TYPE_UNKNOWN) {
        return 0;
    }
    for (int64_t i = 0; i < a->length; i++) {
        sum += frz_is_null(a, i);
    }
    if (sum != (uint64_t)frz_null_count(a)) {
        __builtin_trap();
    }
    if (type->id == FRZ_TYPE_STRUCT) {
        for (size_t i = 0; i < type->field_count; i++) {
            if (a->children[i]->length < end) {
                __builtin_trap();
            }
            sum += fuzz_touch(type->fields[i].type, a->children[i]);
        }
        return sum;
    }
    if (type->id == FRZ_TYPE_BOOLEAN) {
        return sum + fuzz_sum_bytes(a->buffers[1], frz_bitmap_bytes(end));
    }
    size_t width = frz_type_width(type);
    if (width > 0) {
        return sum + fuzz_sum_bytes(a->buffers[1], width * (size_t)end);
    }
    const int32_t *offsets = a->buffers[1];
    for (int64_t i = 0; i < end; i++) {
        if (offsets[i] < 0 || offsets[i + 1] < offsets[i]) {
            __builtin_trap();
        }
    }
    if (!frz_type_is_nested(type)) {
        return sum + fuzz_sum_bytes(a->buffers[2], (size_t)offsets[end]);
    }
    const struct ArrowArray *items = a->children[0];
    if (items->length < offsets[end]) {
        __builtin_trap();
    }
    if (type->id == FRZ_TYPE_LIST) {
        return sum + fuzz_touch(type->fields[0].type, items);
    }
    for (size_t i = 0; i < 2; i++) {
        if (items->children[i]->length < items->length) {
            __builtin_trap();
        }
        sum += fuzz_touch(type->fields[i].type, items->children[i]);
    }
    return sum;
}

static uint64_t fuzz_read(const frz_data_file *file, const frz_read_request *request)
{
    frz_error err = {0};
    frz_data_reader *reader = NULL;
    uint64_t sum = 0;
    frz_code rc = frz_data_reader_open(file, request, &reader, &err);
    for (int i = 0; rc == FRZ_OK && i < FUZZ_BATCHES; i++) {
        frz_batch batch;
        rc = frz_data_reader_next(reader, &batch, &err);
        if (rc == FRZ_OK) {
            sum += fuzz_touch(request->projection, &batch.array);
            frz_array_release(&batch.array);
        }
    }
    frz_data_reader_close(reader);
    return sum;
}

/* Every column of a type that the file can be read as alone (one that fails does not hide the
 * others), then some ranges, twice: batches end with row groups, and go over them. */
static uint64_t fuzz_read_as(frz_data_file *file, const frz_type *type)
{
    uint64_t sum = 0;
    file->type = type;
    for (size_t i = 0; i < type->field_count && i < 32; i++) {
        frz_type one = *type;
        one.fields = &type->fields[i];
        one.field_count = 1;
        frz_read_request request = {.projection = &one, .max_rows = FUZZ_ROWS};
        sum += fuzz_read(file, &request);
    }
    int64_t rows = frz_data_file_row_count(file);
    frz_row_range ranges[] = {{rows / 5, rows / 5 + rows / 7}, {rows - rows / 3, rows}};
    frz_read_request request = {.projection = type,
                                .ranges = ranges,
                                .range_count = FRZ_ARRAY_COUNT(ranges),
                                .max_rows = FUZZ_ROWS,
                                .max_bytes = 5000};
    sum += fuzz_read(file, &request);
    request.no_ahead = request.over_groups = true;
    return sum + fuzz_read(file, &request);
}

/* With Iceberg's types, then with the file's own. */
static uint64_t fuzz_read_file(frz_data_file *file)
{
    frz_arena arena;
    frz_error err = {0};
    const frz_type *type;
    int32_t last;
    uint64_t sum = 0;
    frz_arena_init(&arena, file->env, FRZ_ARENA_NO_LIMIT);
    if (frz_type_assign_ids(&arena, frz_data_file_type(file), 1, &type, &last, &err) == FRZ_OK) {
        sum += fuzz_read_as(file, type);
    }
    if (frz_parquet_native_type(file, &arena, &type, &err) == FRZ_OK) {
        sum += fuzz_read_as(file, type);
    }
    frz_arena_reset(&arena);
    return sum;
}

#endif
