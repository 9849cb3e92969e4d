/*
 * Whether the tuple of a data file holds for new values: in structs, by rows that are live, and of
 * a struct that begins in the middle of its members' values.
 */
#include "column_update/column_update_internal.h"
#include "unit/test_support.h"

/* A table partitioned by s.x, an entry of x = 5, and values of s. */
typedef struct fixture {
    frz_type type; /* of s */
    frz_field x, s;
    frz_partition_field part;
    frz_partition_spec spec;
    frz_metadata metadata;
    frz_partition_value tuple;
    frz_entry entry;
    update_plan plan;
    int32_t source_id;
    int32_t written[2];
    struct ArrowArray members, values, *children[1];
    const void *buffers[2], *struct_buffers[1];
} fixture;

static void make(fixture *f, const int64_t *members, const uint8_t *validity, int64_t offset,
                 int64_t rows)
{
    *f = (fixture){.source_id = 2, .written = {1, 2}};
    f->x = (frz_field){.id = 2, .name = FRZ_STR("x"), .type = frz_type_primitive(FRZ_TYPE_LONG)};
    f->type = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = &f->x, .field_count = 1};
    f->s = (frz_field){.id = 1, .name = FRZ_STR("s"), .type = &f->type};
    f->part = (frz_partition_field){.field_id = 1000,
                                    .source_ids = &f->source_id,
                                    .source_count = 1,
                                    .transform = frz_transform_parse(FRZ_STR("identity"))};
    f->spec = (frz_partition_spec){.spec_id = 0, .fields = &f->part, .field_count = 1};
    f->metadata = (frz_metadata){.specs = &f->spec, .spec_count = 1};
    f->tuple = (frz_partition_value){.field_id = 1000, .value = {.type = f->x.type, .as.i64 = 5}};
    f->entry = (frz_entry){.spec_id = 0, .partition = &f->tuple, .partition_count = 1};
    f->plan.written = (update_ids){.ids = f->written, .count = 2};
    f->buffers[1] = members;
    f->members =
        (struct ArrowArray){.length = offset + rows, .n_buffers = 2, .buffers = f->buffers};
    f->children[0] = &f->members;
    f->struct_buffers[0] = validity;
    f->values = (struct ArrowArray){.length = rows,
                                    .offset = offset,
                                    .null_count = -1,
                                    .n_buffers = 1,
                                    .buffers = f->struct_buffers,
                                    .n_children = 1,
                                    .children = f->children};
}

static bool keeps(const fixture *f, const uint8_t *live)
{
    return update_keeps_partition(&f->plan, &f->metadata, &f->entry, &f->s, &f->values, live);
}

static const int64_t fives[] = {5, 5, 5, 5};

static void partition__values_of_the_tuple_keep_it(void **state)
{
    (void)state;
    const int64_t other[] = {5, 5, 6, 5};
    const uint8_t live = 0x0b; /* not row 2 */
    fixture f;
    make(&f, fives, NULL, 0, 4);
    assert_true(keeps(&f, NULL));
    make(&f, other, NULL, 0, 4);
    assert_false(keeps(&f, NULL));
    assert_true(keeps(&f, &live));
}

/* What a null struct has beneath is no value. */
static void partition__a_null_struct_has_no_values(void **state)
{
    (void)state;
    const uint8_t validity = 0x0b;
    fixture f;
    make(&f, fives, &validity, 0, 4);
    assert_false(keeps(&f, NULL));
    assert_true(keeps(&f, &validity));
    f.tuple.value.is_null = true;
    assert_false(keeps(&f, NULL));
    const uint8_t none = 0;
    make(&f, fives, &none, 0, 4);
    f.tuple.value.is_null = true;
    assert_true(keeps(&f, NULL));
}

static void partition__rows_before_the_first_do_not_count(void **state)
{
    (void)state;
    const int64_t before[] = {6, 6, 5, 5}, behind[] = {5, 5, 6, 6};
    fixture f;
    make(&f, before, NULL, 2, 2);
    assert_true(keeps(&f, NULL));
    make(&f, behind, NULL, 2, 2);
    assert_false(keeps(&f, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partition__values_of_the_tuple_keep_it),
        cmocka_unit_test(partition__a_null_struct_has_no_values),
        cmocka_unit_test(partition__rows_before_the_first_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
