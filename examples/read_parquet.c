/*
 * Read two columns of a Parquet file into Arrow batches: read_parquet FILE
 */
#include <frazil/parquet.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const char *const columns[] = {"id", "c_1"};
    frz_parquet_read_options options = FRZ_PARQUET_READ_OPTIONS_INIT;
    frz_env *env = NULL;
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    struct ArrowArray batch;
    int64_t first_row;
    frz_error err = {0};
    char text[1024];

    options.columns = columns;
    options.column_count = 2;
    options.where = "c_2 > 0.5"; /* over any columns; what it rules out is skipped */
    frz_code rc = argc == 2 ? frz_env_new(NULL, &env, &err) : FRZ_E_ARGUMENT;
    rc = rc == FRZ_OK ? frz_parquet_file_open(env, argv[1], &file, &err) : rc;
    rc = rc == FRZ_OK ? frz_parquet_reader_open(file, &options, &reader, &err) : rc;
    while (rc == FRZ_OK && (rc = frz_parquet_reader_next(reader, &batch, &first_row, &err)) == 0) {
        printf("%lld rows of those from %lld on\n", (long long)batch.length, (long long)first_row);
        batch.release(&batch);
    }
    if (rc != FRZ_END) {
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    frz_parquet_reader_close(reader);
    frz_parquet_file_close(file);
    frz_env_free(env);
    return rc == FRZ_END ? 0 : 1;
}
