/*
 * Change one column of every row of db.wide and say how many bytes that wrote:
 * update_column sqlite:///path/catalog.db
 */
#include <frazil/frazil.h>
#include <stdio.h>

static frz_code add_one(frz_catalog *catalog, int64_t *bytes, frz_error *err)
{
    const frz_assignment set = {"c_1", "c_1 + 1"};
    frz_commit_report report = {0};
    frz_code rc = frz_update_columns(catalog, "db.wide", &set, 1, NULL, &report, err);
    if (rc == FRZ_OK) {
        *bytes = report.data_bytes + report.metadata_bytes;
    }
    return rc;
}

int main(int argc, char **argv)
{
    frz_env *env = NULL;
    frz_catalog *catalog = NULL;
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    frz_error err = {0};
    int64_t bytes = 0;
    char text[1024];

    if (argc != 2) {
        fprintf(stderr, "usage: update_column sqlite:///path/catalog.db\n");
        return 2;
    }
    options.uri = argv[1];
    frz_code rc = frz_env_new(NULL, &env, &err);
    if (rc == FRZ_OK) {
        rc = frz_catalog_open(env, &options, &catalog, &err);
    }
    if (rc == FRZ_OK) {
        rc = add_one(catalog, &bytes, &err);
    }
    if (rc == FRZ_OK) {
        printf("%lld bytes written\n", (long long)bytes);
    } else {
        frz_error_format(&err, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    frz_catalog_close(catalog);
    frz_env_free(env);
    return rc == FRZ_OK ? 0 : 1;
}
