/*
 * Table names as users write them.
 */
#include "catalog/catalog_store.h"
#include "unit/test_support.h"

static void assert_name(const char *text, const char *namespace_name, const char *table_name)
{
    frz_error err = {0};
    frz_table_name name;
    assert_ok(frz_table_name_parse(text, &name, &err), &err);
    assert_string_equal(name.namespace_name, namespace_name);
    assert_string_equal(name.table_name, table_name);
}

static void name__the_last_dot_separates(void **state)
{
    (void)state;
    assert_name("db.wide", "db", "wide");
    assert_name("a.b.c.wide", "a.b.c", "wide");
    assert_name("db.\"wide.2026\"", "db", "wide.2026");
    assert_name("\"d b\".\"say \"\"so\"\"\"", "d b", "say \"so\"");
    assert_name("gr\xC3\xBC\xC3\x9F.t", "gr\xC3\xBC\xC3\x9F", "t");
}

static void assert_refused(const char *text, const char *phrase)
{
    frz_error err = {0};
    frz_table_name name;
    assert_fails(frz_table_name_parse(text, &name, &err), &err, FRZ_E_ARGUMENT, phrase);
}

static void name__other_texts_are_refused(void **state)
{
    (void)state;
    char longer[600];
    memset(longer, 'a', sizeof longer);
    memcpy(longer, "db.", 3);
    longer[300] = '\0';
    assert_refused("wide", "expected a namespace");
    assert_refused("", "a part is empty");
    assert_refused(".wide", "a part is empty");
    assert_refused("db.", "a part is empty");
    assert_refused("db..wide", "a part is empty");
    assert_refused("db.\"wide", "has no end");
    assert_refused("db.\"wide\"x", "expected a dot");
    assert_refused("db.wi\"de", "expected a dot");
    assert_refused(longer, "longer than 255 bytes");
    assert_refused("db.\xFF", "not UTF-8");
    assert_refused(NULL, "missing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name__the_last_dot_separates),
        cmocka_unit_test(name__other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
