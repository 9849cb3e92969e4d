/*
 * fuzz: answers of a REST catalog, in the order of the requests: a token, the server's config,
 * pages of namespaces and tables, a table. The first byte says which of them are asked for.
 */
#include "frazil/catalog.h"
#include "fuzz_http.h"
#include "fuzz_storage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITH_CREDENTIAL = 1, WITH_LISTING = 2, WITHOUT_TABLE = 4 };

static int count_table(void *ctx, const char *namespace_name, const char *table_name)
{
    size_t *left = ctx;
    if (namespace_name[0] == '\0' || table_name == NULL) {
        abort();
    }
    return --*left == 0;
}

static void use_catalog(frz_catalog *catalog, int mode)
{
    frz_error err = {0};
    frz_table *table = NULL;
    size_t left = 1000;
    if (mode & WITH_LISTING) {
        (void)frz_catalog_list_tables(catalog, count_table, &left, &err);
    }
    if (!(mode & WITHOUT_TABLE) &&
        frz_catalog_load_table(catalog, "a.b.t", &table, &err) == FRZ_OK && table == NULL) {
        abort();
    }
    frz_table_unref(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* the time is too short for a second try */
    static const frz_catalog_property properties[] = {{"rest.client.socket-timeout-ms", "1"},
                                                      {"credential", "id:secret"}};
    fuzz_storage storage = {.location = ""};
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    frz_catalog *catalog = NULL;
    frz_error err = {0};
    if (size == 0) {
        return 0;
    }
    frz_env *env = fuzz_env(&storage);
    fuzz_answers_set(data + 1, size - 1);
    options.uri = "http://catalog.example";
    options.warehouse = "w";
    options.properties = properties;
    options.property_count = data[0] & WITH_CREDENTIAL ? 2 : 1;
    if (frz_catalog_open(env, &options, &catalog, &err) == FRZ_OK) {
        use_catalog(catalog, data[0]);
    }
    frz_catalog_close(catalog);
    fuzz_env_free(env);
    return 0;
}
