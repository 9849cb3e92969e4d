/*
 * The client of REST catalogs without a network: answers that are none, and every allocation that
 * fails. tests/interop/rest_test.py has the rest, over a real one.
 */
#include "../fuzz/fuzz_http.h"
#include "frazil/catalog.h"
#include "unit/test_alloc.h"

#define CONFIG "200{\"defaults\":{},\"overrides\":{\"prefix\":\"p\"}}"
#define TOKEN "200{\"access_token\":\"abc\",\"expires_in\":3600}"
#define METADATA                                                                                   \
    "{\"format-version\":1,\"location\":\"s3://b/t\",\"last-updated-ms\":1,\"last-column-id\":1,"  \
    "\"schema\":{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"id\",\"required\":false,"    \
    "\"type\":\"long\"}]},\"partition-spec\":[]}"
#define TABLE "200{\"metadata-location\":\"s3://b/t/v1.metadata.json\",\"metadata\":" METADATA "}"

static frz_code open_catalog(const frz_env *env, bool with_credential, const char *answers,
                             size_t size, frz_catalog **out, frz_error *err)
{
    static const frz_catalog_property properties[] = {
        {"rest.client.socket-timeout-ms", "1"}, {"header.X-Y", "z"}, {"credential", "id:s3cret"}};
    frz_catalog_options options = FRZ_CATALOG_OPTIONS_INIT;
    options.uri = "http://user:pw@catalog.example/";
    options.warehouse = "s3://w";
    options.properties = properties;
    options.property_count = with_credential ? 3 : 2;
    fuzz_answers_set(answers, size);
    return frz_catalog_open(env, &options, out, err);
}

static int count_table(void *ctx, const char *namespace_name, const char *table_name)
{
    (void)namespace_name;
    (void)table_name;
    ++*(int *)ctx;
    return 0;
}

/* ---- tokens ---- */

static void token__answers_that_are_none(void **state)
{
    static const struct {
        const char *answer, *phrase;
        frz_code code;
    } cases[] = {
        {"200{}", "has no access_token", FRZ_E_CORRUPT},
        {"200{\"access_token\":5}", "has no access_token", FRZ_E_CORRUPT},
        {"200{\"access_token\":null,\"expires_in\":1}", "has no access_token", FRZ_E_CORRUPT},
        {"200{\"access_token\":\"a\\r\\nX: y\"}", "has a line end in it", FRZ_E_ARGUMENT},
        {"400{\"error\":\"invalid_client\",\"error_description\":\"bad secret\"}", "bad secret",
         FRZ_E_AUTH},
        {"401{\"error\":\"invalid_client\"}", "status 401: no reason given", FRZ_E_AUTH},
        {"404{}", "status 404", FRZ_E_AUTH},
        {"200<html>", "expected JSON", FRZ_E_AUTH},
        {"200[\"access_token\"]", "expected JSON", FRZ_E_AUTH},
        {"503{\"error\":{\"message\":\"not now\"}}", "not now", FRZ_E_AUTH},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_catalog *catalog = NULL;
        char text[2048];
        assert_fails(
            open_catalog(*state, true, cases[i].answer, strlen(cases[i].answer), &catalog, &err),
            &err, cases[i].code, cases[i].phrase);
        assert_null(catalog);
        frz_error_format(&err, text, sizeof text);
        assert_non_null(strstr(text, "asking for a token"));
        assert_null(strstr(text, "s3cret"));
        assert_null(strstr(text, "pw"));
    }
}

static void token__lifetimes_that_make_no_sense(void **state)
{
    static const char *const lifetimes[] = {"-5",       "0",     "9223372036854775807",
                                            "\"3600\"", "1e300", "null"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(lifetimes); i++) {
        frz_error err = {0};
        frz_catalog *catalog = NULL;
        char answers[256];
        int n = snprintf(answers, sizeof answers,
                         "200{\"access_token\":\"x\",\"expires_in\":%s}%c" CONFIG, lifetimes[i], 0);
        assert_ok(open_catalog(*state, true, answers, (size_t)n, &catalog, &err), &err);
        assert_int_equal(fuzz_answers.requests, 2);
        frz_catalog_close(catalog);
    }
}

/* ---- config ---- */

static void config__answers_that_are_none(void **state)
{
    static const struct {
        const char *answer, *phrase;
        frz_code code;
    } cases[] = {
        {"200<html>", "expected JSON", FRZ_E_IO},
        {"404<html>", "expected JSON", FRZ_E_IO},
        {"204", "expected JSON", FRZ_E_IO},
        {"404{\"error\":{\"message\":\"no such warehouse\",\"code\":404}}", "no such warehouse",
         FRZ_E_NOT_FOUND},
        {"403{\"error\":{\"message\":7}}", "status 403: no reason given", FRZ_E_AUTH},
        {"200{\"defaults\":{},\"overrides\":{}", "expected JSON", FRZ_E_IO},
        {"200{\"defaults\":[1]}", "defaults in the config is not an object", FRZ_E_CORRUPT},
        {"200{\"overrides\":\"x\"}", "overrides in the config is not an object", FRZ_E_CORRUPT},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        frz_catalog *catalog = NULL;
        assert_fails(
            open_catalog(*state, false, cases[i].answer, strlen(cases[i].answer), &catalog, &err),
            &err, cases[i].code, cases[i].phrase);
    }
}

/* ---- allocations ---- */

static frz_code list_and_load(const frz_env *env, frz_error *err)
{
    static const char answers[] =
        TOKEN "\0" CONFIG "\0"
              "200{\"namespaces\":[[\"a\"]],\"next-page-token\":\"t\"}"
              "\0"
              "200{\"identifiers\":[{\"namespace\":[\"a\"],\"name\":\"t\"}]}"
              "\0"
              "200{\"namespaces\":[[\"a\",\"d.b\"]]}"
              "\0"
              "200{\"identifiers\":[{\"name\":\"u\"}],\"next-page-token\":\"v\"}"
              "\0"
              "200{\"identifiers\":[{\"name\":\"w\"}]}"
              "\0"
              "200{\"namespaces\":[]}"
              "\0"
              "200{\"namespaces\":[]}"
              "\0" TABLE;
    frz_code rc = FRZ_OK;
    frz_catalog *catalog = NULL;
    frz_table *table = NULL;
    int tables = 0;
    FRZ_TRY(open_catalog(env, true, answers, sizeof answers - 1, &catalog, err));
    FRZ_TRY(frz_catalog_list_tables(catalog, count_table, &tables, err));
    FRZ_TRY(frz_catalog_load_table(catalog, "a.t", &table, err));
    assert_int_equal(tables, 3);
    assert_int_equal(fuzz_answers.requests, 10);
out:
    frz_table_unref(table);
    frz_catalog_close(catalog);
    return rc;
}

static void alloc__every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t count = test_fail_every_allocation(list_and_load);
    print_message("%llu allocations\n", (unsigned long long)count);
    assert_true(count > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(token__answers_that_are_none),
        TEST_WITH_ENV(token__lifetimes_that_make_no_sense),
        TEST_WITH_ENV(config__answers_that_are_none),
        cmocka_unit_test(alloc__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
