/*
 * Write a stream of Arrow batches, here those of another file: write_parquet FILE NEW_FILE
 */
#include <frazil/parquet.h>
#include <frazil/parquet_writer.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const frz_parquet_column_encoding encodings[] = {{"id", FRZ_PARQUET_PLAIN}};
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_env *env = NULL;
    frz_parquet_file *file = NULL;
    frz_parquet_reader *reader = NULL;
    struct ArrowArrayStream stream = {0};
    int64_t rows = 0;
    frz_error err = {0};
    char text[1024];

    options.level = 3; /* of zstd */
    options.encodings = encodings;
    options.encoding_count = 1;
    frz_code rc = argc == 3 ? frz_env_new(NULL, &env, &err) : FRZ_E_ARGUMENT;
    rc = rc == FRZ_OK ? frz_parquet_file_open(env, argv[1], &file, &err) : rc;
    rc = rc == FRZ_OK ? frz_parquet_reader_open(file, NULL, &reader, &err) : rc;
    rc = rc == FRZ_OK ? frz_parquet_reader_export(reader, &stream, &err) : rc;
    rc = rc == FRZ_OK ? frz_parquet_write_stream(env, argv[2], &stream, &options, &rows, &err) : rc;
    if (rc == FRZ_OK) {
        printf("%lld rows\n", (long long)rows);
    } else if (argc == 3) {
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    frz_parquet_file_close(file);
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : 1;
}
