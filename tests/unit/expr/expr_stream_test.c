/* Some columns and rows of streams, from this library and from others. */
#include "expr/expr.h"
#include "frazil/stream.h"
#include "unit/format/parquet_rows.h"
#include "unit/test_alloc.h"

#define FIELDS                                                                                     \
    "{'id':1,'name':'i','required':true,'type':'long'},"                                           \
    "{'id':2,'name':'s','required':false,'type':'string'},"                                        \
    "{'id':3,'name':'a','required':false,'type':{'type':'struct','fields':["                       \
    "{'id':4,'name':'x','required':false,'type':'int'},"                                           \
    "{'id':5,'name':'y','required':false,'type':'boolean'}]}},"                                    \
    "{'id':6,'name':'l','required':false,'type':{'type':'list','element-id':7,"                    \
    "'element-required':false,'element':{'type':'struct','fields':["                               \
    "{'id':8,'name':'p','required':false,'type':'int'},"                                           \
    "{'id':9,'name':'q','required':false,'type':'string'}]}}},"                                    \
    "{'id':10,'name':'m','required':false,'type':{'type':'map','key-id':11,'key':'string',"        \
    "'value-id':12,'value-required':false,'value':'int'}}"

static const char *const batches[] = {
    "[{'i':0,'s':'zero','a':{'x':0,'y':true},'l':[{'p':1,'q':'a'},null],'m':[['k',1]]},"
    "{'i':1,'s':null,'a':null,'l':null,'m':null},"
    "{'i':2,'s':'two','a':{'x':2,'y':null},'l':[],'m':[]}]",
    "[{'i':3,'s':'','a':{'x':null,'y':false},'l':[{'p':4,'q':null}],'m':[['a',1],['b',null]]},"
    "{'i':4,'s':'four','a':{'x':4,'y':true},'l':[{'p':5,'q':'c'}],'m':null}]"};

/* ---- streams ---- */

static void (*own_release)(struct ArrowArray *);

static void unhide(struct ArrowArray *array)
{
    array->release = own_release;
    array->release(array);
}

/* Make an array look like another producer's. */
static void hide(struct ArrowArray *array)
{
    own_release = array->release;
    array->release = unhide;
    for (int64_t i = 0; i < array->n_children; i++) {
        hide(array->children[i]);
    }
}

static void open_stream(const frz_env *env, bool foreign, struct ArrowArrayStream *out)
{
    frz_error err = {0};
    frz_arena arena;
    struct ArrowSchema schema;
    struct ArrowArray made[FRZ_ARRAY_COUNT(batches)];
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    const frz_type *type = rows_type(&arena, FIELDS);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(batches); i++) {
        made[i] = rows_batch(env, type, batches[i]);
        if (foreign) {
            hide(&made[i]);
        }
    }
    assert_ok(frz_type_to_arrow(env, type, &schema, &err), &err);
    assert_ok(frz_stream_of_batches(env, &schema, made, FRZ_ARRAY_COUNT(batches), out, &err), &err);
    frz_arena_reset(&arena);
}

static void print_names(const struct ArrowSchema *schema, char *text, size_t size)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];
        size_t len = strlen(text);
        snprintf(text + len, size - len, "%s%s", i == 0 ? "" : " ", child->name);
        if (child->n_children > 0) {
            strncat(text, "(", size - strlen(text) - 1);
            print_names(child, text, size);
            strncat(text, ")", size - strlen(text) - 1);
        }
    }
}

/* The numbers of a column "i", with blanks between. */
static void print_ids(const struct ArrowArray *batch, char *text, size_t size)
{
    for (int64_t k = 0; k < batch->length; k++) {
        size_t len = strlen(text);
        snprintf(text + len, size - len, "%s%lld", len == 0 ? "" : " ",
                 (long long)frz_get_i64(batch->children[0], k));
    }
}

/* columns end with NULL; the first column must be "i". */
static void check(const frz_env *env, const char *const *columns, const char *where, int64_t first,
                  int64_t end, const char *names, const char *ids)
{
    for (int foreign = 0; foreign < 2; foreign++) {
        frz_stream_select_options opts = FRZ_STREAM_SELECT_OPTIONS_INIT;
        struct ArrowArrayStream source, stream;
        struct ArrowSchema schema;
        struct ArrowArray batch;
        frz_error err = {0};
        char text[256] = "";
        char numbers[64] = "";
        while (columns != NULL && columns[opts.column_count] != NULL) {
            opts.column_count++;
        }
        opts.columns = columns;
        opts.where = where;
        opts.first_row = first;
        opts.end_row = end;
        open_stream(env, foreign != 0, &source);
        assert_ok(frz_stream_select(env, &source, &opts, &stream, &err), &err);
        assert_null(source.release);
        assert_int_equal(stream.get_schema(&stream, &schema), 0);
        print_names(&schema, text, sizeof text);
        assert_string_equal(text, names);
        schema.release(&schema);
        while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
            assert_true(batch.length > 0);
            print_ids(&batch, numbers, sizeof numbers);
            batch.release(&batch);
        }
        assert_string_equal(numbers, ids);
        stream.release(&stream);
    }
}

#define ALL "i s a(x y) l(element(p q)) m(entries(key value))"

static void select__everything_passes(void **state)
{
    check(*state, NULL, NULL, 0, -1, ALL, "0 1 2 3 4");
}

static void select__rows_are_counted_over_batches(void **state)
{
    check(*state, NULL, NULL, 2, 4, ALL, "2 3");
    check(*state, NULL, NULL, 3, -1, ALL, "3 4");
    check(*state, NULL, NULL, 0, 0, ALL, "");
    check(*state, NULL, NULL, 9, 20, ALL, "");
}

static void select__columns_and_parts_of_them(void **state)
{
    static const char *const parts[] = {"i", "l.element.q", "A.Y", "m.entries.value", NULL};
    static const char *const through[] = {"i", "m.key", "a", NULL};
    check(*state, parts, NULL, 0, -1, "i l(element(q)) a(y) m(entries(key value))", "0 1 2 3 4");
    check(*state, through, NULL, 1, 4, "i m(entries(key value)) a(x y)", "1 2 3");
}

static void select__filters_see_all_columns(void **state)
{
    static const char *const one[] = {"i", NULL};
    check(*state, one, "s IS NOT NULL AND a.x >= 2", 0, -1, "i", "2 4");
    check(*state, NULL, "a.y", 0, 4, ALL, "0");
    check(*state, NULL, "i > 100", 0, -1, ALL, "");
}

static frz_code failing_select(const frz_env *env, const frz_stream_select_options *opts,
                               frz_error *err)
{
    struct ArrowArrayStream source, stream;
    open_stream(env, false, &source);
    return frz_stream_select(env, &source, opts, &stream, err);
}

static void select__says_what_makes_no_sense(void **state)
{
    static const char *const missing[] = {"i", "a.z"};
    frz_stream_select_options opts = FRZ_STREAM_SELECT_OPTIONS_INIT;
    frz_error err = {0};
    opts.columns = missing;
    opts.column_count = 2;
    assert_fails(failing_select(*state, &opts, &err), &err, FRZ_E_NOT_FOUND, "\"a.z\"");
    opts.columns = NULL;
    opts.where = "i <";
    assert_fails(failing_select(*state, &opts, &err), &err, FRZ_E_ARGUMENT, "expected");
}

/* ---- memory that runs out ---- */

static bool scenario_foreign;

static frz_code select_scenario(const frz_env *env, frz_error *err)
{
    static const char *const columns[] = {"l.element.q", "m", "s"};
    frz_code rc = FRZ_OK;
    frz_stream_select_options opts = FRZ_STREAM_SELECT_OPTIONS_INIT;
    struct ArrowArrayStream source, stream = {0};
    struct ArrowSchema schema = {0};
    frz_env *calm = NULL;
    assert_int_equal(frz_env_new(NULL, &calm, NULL), FRZ_OK);
    open_stream(calm, scenario_foreign, &source);
    opts.columns = columns;
    opts.column_count = 3;
    opts.where = "i <> 2 AND (a.x = 0 OR s = 'four')";
    FRZ_TRY(frz_stream_select(env, &source, &opts, &stream, err));
    int failed = stream.get_schema(&stream, &schema);
    struct ArrowArray batch = {0};
    while (failed == 0) {
        failed = stream.get_next(&stream, &batch);
        if (failed != 0 || batch.release == NULL) {
            break;
        }
        batch.release(&batch);
    }
    rc = failed != 0 ? frz_stream_fail(&stream, failed, err) : FRZ_OK;
out:
    frz_schema_release(&schema);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    frz_env_free(calm);
    return rc;
}

static void select__every_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (int foreign = 0; foreign < 2; foreign++) {
        scenario_foreign = foreign != 0;
        test_fail_every_allocation(select_scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(select__everything_passes),
        TEST_WITH_ENV(select__rows_are_counted_over_batches),
        TEST_WITH_ENV(select__columns_and_parts_of_them),
        TEST_WITH_ENV(select__filters_see_all_columns),
        TEST_WITH_ENV(select__says_what_makes_no_sense),
        cmocka_unit_test(select__every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
