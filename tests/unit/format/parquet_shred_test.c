/* Definition and repetition levels of nested rows, written out by hand. */
#include "format/parquet/parquet_write.h"
#include "unit/format/parquet_rows.h"

/* The open page of a leaf as "rep def" per slot, such as "0d2 1d3", then "| count" of values. */
static void page_text(const parquet_column_writer *column, char *text, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < column->page_slots; i++) {
        const parquet_level_buffer *levels[2] = {&column->rep, &column->def};
        int level[2] = {0, 0};
        for (int k = 0; k < 2; k++) {
            if (levels[k]->count > 0) {
                level[k] = levels[k]->mixed ? levels[k]->bytes.data[i] : levels[k]->value;
            }
        }
        len += (size_t)snprintf(text + len, size - len, "%dd%d ", level[0], level[1]);
    }
    snprintf(text + len, size - len, "| %zu", column->value_count);
}

typedef struct shredded {
    frz_arena arena;
    const frz_type *type;
    parquet_write_schema schema;
    parquet_write_shared shared;
    parquet_column_writer *columns;
} shredded;

static void shredded_init(shredded *s, const frz_env *env, const char *fields)
{
    frz_error err = {0};
    *s = (shredded){.shared = {.env = env}};
    s->shared.opts.page_bytes = 1 << 20;
    frz_arena_init(&s->arena, env, FRZ_ARENA_NO_LIMIT);
    s->type = rows_type(&s->arena, fields);
    assert_ok(parquet_write_schema_of(&s->arena, s->type, false, &s->schema, &err), &err);
    s->columns = frz_alloc_zero(env, s->schema.leaf_count, sizeof *s->columns);
    for (size_t i = 0; i < s->schema.leaf_count; i++) {
        parquet_column_writer_init(&s->columns[i], &s->shared, &s->schema.leaves[i]);
        parquet_column_writer_begin(&s->columns[i], false);
    }
}

static void shredded_reset(shredded *s)
{
    for (size_t i = 0; i < s->schema.leaf_count; i++) {
        parquet_column_writer_free(&s->columns[i]);
    }
    frz_free(s->shared.env, s->columns);
    frz_arena_reset(&s->arena);
}

static frz_code shred_array(shredded *s, const struct ArrowArray *batch, int64_t first,
                            int64_t count, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < s->schema.root.child_count && rc == FRZ_OK; i++) {
        rc = parquet_shred(s->shared.env, &s->schema.root.children[i], s->columns,
                           batch->children[i], first, count, 100, err);
    }
    return rc;
}

static void check_leaf(const shredded *s, size_t leaf, const char *wanted)
{
    char text[1024];
    page_text(&s->columns[leaf], text, sizeof text);
    assert_string_equal(text, wanted);
}

/* Shred rows, once whole and once from a slice of a longer batch. */
static void check_levels(const frz_env *env, const char *fields, const char *rows,
                         const char *const *wanted)
{
    frz_error err = {0};
    shredded s;
    shredded_init(&s, env, fields);
    struct ArrowArray batch = rows_batch(env, s.type, rows);
    assert_ok(shred_array(&s, &batch, 0, batch.length, &err), &err);
    for (size_t i = 0; i < s.schema.leaf_count; i++) {
        check_leaf(&s, i, wanted[i]);
    }
    shredded_reset(&s);

    struct ArrowArray parts[2];
    struct ArrowArray both = {.release = NULL};
    struct ArrowArray slice = {.release = NULL};
    shredded_init(&s, env, fields);
    int64_t rows_count = batch.length;
    assert_ok(frz_array_slice(env, &batch, 0, rows_count, &parts[0], &err), &err);
    assert_ok(frz_array_slice(env, &batch, 0, rows_count, &parts[1], &err), &err);
    assert_ok(frz_array_concat(env, s.type, parts, 2, &both, &err), &err);
    assert_ok(frz_batch_slice(env, &both, rows_count, rows_count, &slice, &err), &err);
    for (int64_t i = 0; i < rows_count; i++) {
        assert_ok(shred_array(&s, &slice, i, 1, &err), &err);
    }
    for (size_t i = 0; i < s.schema.leaf_count; i++) {
        check_leaf(&s, i, wanted[i]);
    }
    frz_array_release(&parts[0]);
    frz_array_release(&parts[1]);
    frz_array_release(&both);
    frz_array_release(&slice);
    frz_array_release(&batch);
    shredded_reset(&s);
}

static void shred__flat_columns(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'a','required':true,'type':'long'},"
                 "{'id':2,'name':'b','required':false,'type':'string'}",
                 "[{'a':1,'b':'x'},{'a':2,'b':null},{'a':3,'b':''}]",
                 (const char *const[]){"0d0 0d0 0d0 | 3", "0d1 0d0 0d1 | 2"});
}

static void shred__structs_within_structs(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'s','required':false,'type':{'type':'struct','fields':["
                 "{'id':2,'name':'r','required':true,'type':'int'},"
                 "{'id':3,'name':'t','required':false,'type':{'type':'struct','fields':["
                 "{'id':4,'name':'o','required':false,'type':'int'}]}}]}}",
                 "[{'s':null},{'s':{'r':1,'t':null}},{'s':{'r':2,'t':{'o':null}}},"
                 "{'s':{'r':3,'t':{'o':9}}}]",
                 (const char *const[]){"0d0 0d1 0d1 0d1 | 3", "0d0 0d1 0d2 0d3 | 1"});
}

static void shred__lists(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'l','required':false,'type':{'type':'list','element-id':2,"
                 "'element-required':false,'element':'long'}}",
                 "[{'l':[1,2]},{'l':[]},{'l':null},{'l':[null,3]}]",
                 (const char *const[]){"0d3 1d3 0d1 0d0 0d2 1d3 | 3"});
}

static void shred__required_lists_of_required_elements(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'l','required':true,'type':{'type':'list','element-id':2,"
                 "'element-required':true,'element':'long'}}",
                 "[{'l':[1,2]},{'l':[]},{'l':[3]}]", (const char *const[]){"0d1 1d1 0d0 0d1 | 3"});
}

static void shred__lists_of_lists(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'l','required':false,'type':{'type':'list','element-id':2,"
                 "'element-required':false,'element':{'type':'list','element-id':3,"
                 "'element-required':true,'element':'int'}}}",
                 "[{'l':[[1,2],[],null,[3]]},{'l':[]},{'l':null},{'l':[[4],[5,6]]}]",
                 (const char *const[]){"0d4 2d4 1d3 1d2 1d4 0d1 0d0 0d4 1d4 2d4 | 6"});
}

static void shred__lists_of_structs_with_lists(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'l','required':false,'type':{'type':'list','element-id':2,"
                 "'element-required':false,'element':{'type':'struct','fields':["
                 "{'id':3,'name':'k','required':true,'type':'int'},"
                 "{'id':4,'name':'v','required':true,'type':{'type':'list','element-id':5,"
                 "'element-required':false,'element':'int'}}]}}}",
                 "[{'l':[{'k':1,'v':[1,null]},null,{'k':2,'v':[]}]},{'l':null},"
                 "{'l':[{'k':3,'v':[7]}]}]",
                 (const char *const[]){"0d3 1d2 1d3 0d0 0d3 | 3", "0d5 2d4 1d2 1d3 0d0 0d5 | 2"});
}

static void shred__maps(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'m','required':false,'type':{'type':'map','key-id':2,"
                 "'key':'string','value-id':3,'value-required':false,'value':'long'}}",
                 "[{'m':[['a',1],['b',null]]},{'m':[]},{'m':null}]",
                 (const char *const[]){"0d2 1d2 0d1 0d0 | 2", "0d3 1d2 0d1 0d0 | 1"});
}

static void shred__unknown_columns_are_not_stored(void **state)
{
    check_levels(*state,
                 "{'id':1,'name':'u','required':false,'type':'unknown'},"
                 "{'id':2,'name':'s','required':false,'type':{'type':'struct','fields':["
                 "{'id':3,'name':'u','required':false,'type':'unknown'}]}},"
                 "{'id':4,'name':'t','required':false,'type':{'type':'struct','fields':["
                 "{'id':5,'name':'u','required':false,'type':'unknown'},"
                 "{'id':6,'name':'v','required':false,'type':'int'}]}}",
                 "[{'t':{'v':1}},{'t':{'v':null}},{'t':null}]",
                 (const char *const[]){"0d2 0d1 0d0 | 1"});
}

static void shred__a_null_in_a_required_column_names_column_and_row(void **state)
{
    static const struct {
        const char *fields, *optional, *rows, *phrase;
    } cases[] = {
        {"{'id':1,'name':'a','required':true,'type':'long'}",
         "{'id':1,'name':'a','required':false,'type':'long'}", "[{'a':1},{'a':null}]",
         "column \"a\" is required, but row 101 has no value"},
        {"{'id':1,'name':'l','required':false,'type':{'type':'list','element-id':2,"
         "'element-required':true,'element':'long'}}",
         "{'id':1,'name':'l','required':false,'type':{'type':'list','element-id':2,"
         "'element-required':false,'element':'long'}}",
         "[{'l':[1,2]},{'l':[]},{'l':[4,null]}]",
         "column \"l.element\" is required, but row 102 has no value"},
        {"{'id':1,'name':'s','required':true,'type':{'type':'struct','fields':["
         "{'id':2,'name':'x','required':false,'type':'int'}]}}",
         "{'id':1,'name':'s','required':false,'type':{'type':'struct','fields':["
         "{'id':2,'name':'x','required':false,'type':'int'}]}}",
         "[{'s':{'x':1}},{'s':null}]", "column \"s\" is required, but row 101 has no value"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        shredded s;
        shredded_init(&s, *state, cases[i].fields);
        const frz_type *optional = rows_type(&s.arena, cases[i].optional);
        struct ArrowArray batch = rows_batch(*state, optional, cases[i].rows);
        assert_fails(shred_array(&s, &batch, 0, batch.length, &err), &err, FRZ_E_ARGUMENT,
                     cases[i].phrase);
        frz_array_release(&batch);
        shredded_reset(&s);
    }
}

static void schema__lists_of_unknown_are_refused_by_name(void **state)
{
    frz_error err = {0};
    frz_arena arena;
    parquet_write_schema schema;
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    const frz_type *type =
        rows_type(&arena, "{'id':1,'name':'l','required':false,'type':{'type':'list',"
                          "'element-id':2,'element-required':false,'element':'unknown'}}");
    assert_fails(parquet_write_schema_of(&arena, type, false, &schema, &err), &err,
                 FRZ_E_UNSUPPORTED, "unsupported: column \"l.element\" of type unknown");
    frz_arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(shred__flat_columns),
        TEST_WITH_ENV(shred__structs_within_structs),
        TEST_WITH_ENV(shred__lists),
        TEST_WITH_ENV(shred__required_lists_of_required_elements),
        TEST_WITH_ENV(shred__lists_of_lists),
        TEST_WITH_ENV(shred__lists_of_structs_with_lists),
        TEST_WITH_ENV(shred__maps),
        TEST_WITH_ENV(shred__unknown_columns_are_not_stored),
        TEST_WITH_ENV(shred__a_null_in_a_required_column_names_column_and_row),
        TEST_WITH_ENV(schema__lists_of_unknown_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
