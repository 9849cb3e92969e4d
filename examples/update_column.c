/* Change one column of every row and say what that cost: update_column sqlite:///path/catalog.db */
#include <frazil/frazil.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    frz_env *env = NULL;
    frz_catalog *catalog = NULL;
    frz_error err = {0};
    frz_commit_report report = {0};
    frz_catalog_options where = FRZ_CATALOG_OPTIONS_INIT;
    const frz_assignment set = {"c_1", "c_1 + 1"};
    char text[1024];
    where.uri = argc > 1 ? argv[1] : "sqlite:///tmp/warehouse/catalog.db";

    frz_code rc = frz_env_new(NULL, &env, &err);
    if (rc == FRZ_OK) {
        rc = frz_catalog_open(env, &where, &catalog, &err);
    }
    if (rc == FRZ_OK) {
        rc = frz_update_columns(catalog, "db.wide", &set, 1, NULL, &report, &err);
    }
    if (rc == FRZ_OK) {
        printf("%lld rows, %lld bytes of data written\n", (long long)report.rows,
               (long long)report.data_bytes);
    } else {
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    frz_catalog_close(catalog);
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : 1;
}
