/*
 * Opens a Parquet file, reads one column of it and sums its numbers; then opens it again in the
 * same process. Usage: footer_bench FILE COLUMN. Prints rows, sum, and the milliseconds of the
 * first opening, the reading, and the second opening. Fields count by position.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "format/format.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void check(frz_code rc, const frz_error *err)
{
    if (rc != FRZ_OK && rc != FRZ_END) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "footer_bench: %s\n", text);
        exit(1);
    }
}

static frz_type with_ids(const frz_type *own, frz_field *fields)
{
    frz_type type = *own;
    for (size_t i = 0; i < own->field_count; i++) {
        fields[i] = own->fields[i];
        fields[i].id = (int32_t)i + 1;
    }
    type.fields = fields;
    return type;
}

static const frz_field *find_field(const frz_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (frz_str_equal(type->fields[i].name, frz_str_from(name))) {
            return &type->fields[i];
        }
    }
    fprintf(stderr, "footer_bench: no column %s\n", name);
    exit(1);
}

static double sum_of(const frz_type *type, const struct ArrowArray *a)
{
    double sum = 0;
    for (int64_t i = a->offset; i < a->offset + a->length; i++) {
        switch (type->id) {
        case FRZ_TYPE_FLOAT:
            sum += (double)((const float *)a->buffers[1])[i];
            break;
        case FRZ_TYPE_DOUBLE:
            sum += ((const double *)a->buffers[1])[i];
            break;
        case FRZ_TYPE_LONG:
            sum += (double)((const int64_t *)a->buffers[1])[i];
            break;
        default:
            fprintf(stderr, "footer_bench: the column is neither float, double nor long\n");
            exit(1);
        }
    }
    return sum;
}

static double read_column(const frz_data_file *file, const char *name, int64_t *rows)
{
    frz_error err = {0};
    frz_data_reader *reader = NULL;
    frz_batch batch;
    frz_code rc;
    double sum = 0;
    frz_field *fields = calloc(file->type->field_count, sizeof *fields);
    if (fields == NULL) {
        exit(1);
    }
    const frz_type type = with_ids(file->type, fields);
    const frz_field *field = find_field(&type, name);
    const frz_type projection = {
        .id = FRZ_TYPE_STRUCT, .fields = (frz_field *)(uintptr_t)field, .field_count = 1};
    const frz_read_request request = {.projection = &projection};
    check(file->model->read(file, &type, &request, &reader, &err), &err);
    while ((rc = frz_data_reader_next(reader, &batch, &err)) == FRZ_OK) {
        *rows += batch.array.length;
        sum += sum_of(field->type, batch.array.children[0]);
        batch.array.release(&batch.array);
    }
    check(rc, &err);
    frz_data_reader_close(reader);
    free(fields);
    return sum;
}

int main(int argc, char **argv)
{
    frz_error err = {0};
    frz_env *env = NULL;
    frz_data_file *file = NULL;
    frz_data_file *again = NULL;
    int64_t rows = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: footer_bench FILE COLUMN\n");
        return 2;
    }
    check(frz_env_new(NULL, &env, &err), &err);
    double start = now_ms();
    check(frz_data_file_open(env, argv[1], NULL, &file, &err), &err);
    double opened = now_ms();
    double sum = read_column(file, argv[2], &rows);
    double read = now_ms();
    if (argc > 3) {
        check(frz_data_file_open(env, argv[1], NULL, &again, &err), &err);
    }
    double done = now_ms();
    printf("%lld %.17g %.3f %.3f %.3f\n", (long long)rows, sum, opened - start, read - opened,
           done - read);
    frz_data_file_close(again);
    frz_data_file_close(file);
    frz_env_free(env);
    return 0;
}
