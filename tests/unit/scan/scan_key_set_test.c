/*
 * Sets of keys: what equals what, sequence numbers, and random sets against a plain list.
 */
#include <math.h>
#include <stdlib.h>

#include "scan/scan_key_set.h"
#include "type/type_value.h"
#include "unit/test_alloc.h"
#include "unit/test_support.h"
#include "unit/test_threads.h"

/* A batch of up to three columns in the making; rows are texts with blanks between, "-" is null. */
typedef struct key_rows {
    frz_arena arena;
    const frz_type *type;
    struct ArrowArray batch;
    frz_key_column columns[3];
    size_t count;
} key_rows;

static frz_code put_text(key_rows *k, frz_builder *builder, frz_str text, frz_error *err)
{
    frz_value value;
    const frz_type *type = frz_builder_type(builder);
    if (frz_str_equal(text, FRZ_STR("-"))) {
        return frz_builder_null(builder, err);
    }
    if (type->id == FRZ_TYPE_DOUBLE || type->id == FRZ_TYPE_FLOAT) {
        double number = strtod(text.ptr, NULL);
        value = (frz_value){.type = type};
        if (type->id == FRZ_TYPE_FLOAT) {
            value.as.f32 = (float)number;
        } else {
            value.as.f64 = number;
        }
        return frz_builder_value(builder, &value, err);
    }
    frz_code rc = frz_value_parse(&k->arena, type, text, &value, err);
    return rc == FRZ_OK ? frz_builder_value(builder, &value, err) : rc;
}

static frz_code put_row(key_rows *k, frz_builder *rows, const char *text, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < k->type->field_count; i++) {
        size_t len = strcspn(text, " ");
        FRZ_TRY(put_text(k, frz_builder_child(rows, i), (frz_str){text, len}, err));
        text += len + (text[len] == ' ');
    }
    rc = frz_builder_end(rows, err);
out:
    return rc;
}

static void reset_rows(key_rows *k, const frz_env *env)
{
    for (size_t i = 0; i < k->count; i++) {
        frz_key_column_reset(&k->columns[i], env);
    }
    frz_array_release(&k->batch);
    frz_arena_reset(&k->arena);
}

/* Field ids are 1, 2, 3. */
static frz_code init_rows(key_rows *k, const frz_env *env, const char *const *types, size_t count,
                          const char *const *rows, size_t n, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_field fields[3] = {{0}};
    frz_builder *builder = NULL;
    memset(k, 0, sizeof *k);
    frz_arena_init(&k->arena, env, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < count; i++) {
        fields[i] = (frz_field){.id = (int32_t)i + 1, .name = FRZ_STR("k")};
        FRZ_TRY(frz_type_parse(&k->arena, frz_str_from(types[i]), &fields[i].type, err));
    }
    FRZ_TRY(frz_type_struct_of(&k->arena, fields, count, &k->type, err));
    FRZ_TRY(frz_builder_new(env, k->type, &builder, err));
    for (size_t i = 0; i < n; i++) {
        FRZ_TRY(put_row(k, builder, rows[i], err));
    }
    FRZ_TRY(frz_builder_finish(builder, &k->batch, err));
    for (; k->count < count; k->count++) {
        FRZ_TRY(frz_key_column_init(&k->columns[k->count], env, k->type, &k->batch,
                                    (int32_t)k->count + 1, err));
    }
out:
    frz_builder_free(builder);
    if (rc != FRZ_OK) {
        reset_rows(k, env);
    }
    return rc;
}

static frz_code new_set(const frz_env *env, const key_rows *k, frz_key_set **out, frz_error *err)
{
    const frz_type *types[3];
    for (size_t i = 0; i < k->count; i++) {
        types[i] = k->columns[i].type;
    }
    return frz_key_set_new(env, types, k->count, out, err);
}

/* One delete file of some rows against one data file of others: '1' for each row that is left. */
static void check_rows(const frz_env *env, const char *const *types, size_t count,
                       const char *const *deletes, size_t n_deletes, const char *const *data,
                       const char *left)
{
    frz_error err = {0};
    key_rows d, r;
    frz_key_set *set = NULL;
    uint8_t bits[16];
    size_t n = strlen(left);
    memset(bits, 0xff, sizeof bits);
    assert_ok(init_rows(&d, env, types, count, deletes, n_deletes, &err), &err);
    assert_ok(init_rows(&r, env, types, count, data, n, &err), &err);
    assert_ok(new_set(env, &d, &set, &err), &err);
    assert_ok(frz_key_set_add(set, d.columns, (int64_t)n_deletes, 2, &err), &err);
    assert_ok(frz_key_set_clear(set, r.columns, (int64_t)n, 1, bits, &err), &err);
    for (size_t i = 0; i < n; i++) {
        if (frz_bit_get(bits, (int64_t)i) != (left[i] == '1')) {
            fail_msg("%s, row %zu (%s)", types[0], i, data[i]);
        }
    }
    frz_key_set_free(set);
    reset_rows(&d, env);
    reset_rows(&r, env);
}

/* Numbers of keys: those of a first list, asked for by a second one. */
static void check_numbers(const frz_env *env, const char *const *types, size_t count,
                          const char *const *numbered, size_t n, const char *const *asked,
                          const int64_t *wanted, size_t m, int64_t twice)
{
    frz_error err = {0};
    key_rows k, r;
    frz_key_set *set = NULL;
    int64_t first_twice = 0, found[16];
    uint64_t hashes[16], others[16];
    assert_ok(init_rows(&k, env, types, count, numbered, n, &err), &err);
    assert_ok(init_rows(&r, env, types, count, asked, m, &err), &err);
    assert_ok(new_set(env, &k, &set, &err), &err);
    frz_key_set_find(set, r.columns, (int64_t)m, found); /* an empty set has none */
    assert_int_equal(found[0], FRZ_KEY_ABSENT);
    assert_ok(frz_key_set_number(set, k.columns, (int64_t)n, 100, &first_twice, &err), &err);
    assert_int_equal(first_twice, twice);
    frz_key_set_find(set, r.columns, (int64_t)m, found);
    frz_key_hashes(k.columns, count, (int64_t)n, hashes);
    frz_key_hashes(r.columns, count, (int64_t)m, others);
    for (size_t i = 0; i < m; i++) {
        assert_int_equal(found[i], wanted[i]);
        if (found[i] >= 100 && found[i] != FRZ_KEY_TWICE) {
            assert_true(others[i] == hashes[found[i] - 100]);
        }
    }
    frz_key_set_free(set);
    reset_rows(&k, env);
    reset_rows(&r, env);
}

static void numbers__are_found_by_key_and_null_has_none(void **state)
{
    static const char *const one[] = {"long"};
    static const char *const two[] = {"long", "string"};
    static const char *const keys[] = {"7", "-", "9", "-"};
    static const char *const pairs[] = {"7 a", "7 -", "- a", "8 a"};
    const char *asked[] = {"9", "7", "-", "8"};
    const char *asked_pairs[] = {"8 a", "7 a", "7 -", "- a", "7 b"};
    const int64_t wanted[] = {102, 100, FRZ_KEY_ABSENT, FRZ_KEY_ABSENT};
    const int64_t wanted_pairs[] = {103, 100, FRZ_KEY_ABSENT, FRZ_KEY_ABSENT, FRZ_KEY_ABSENT};
    check_numbers(*state, one, 1, keys, 4, asked, wanted, 4, -1);
    check_numbers(*state, two, 2, pairs, 4, asked_pairs, wanted_pairs, 5, -1);
}

static void numbers__of_keys_that_come_twice_are_told(void **state)
{
    static const char *const types[] = {"string"};
    static const char *const keys[] = {"a", "b", "a", "b", "a", "c"};
    const char *asked[] = {"c", "a", "b"};
    const int64_t wanted[] = {105, FRZ_KEY_TWICE, FRZ_KEY_TWICE};
    check_numbers(*state, types, 1, keys, 6, asked, wanted, 3, 2);
}

/* known fault: equality deletes and null */
static void keys__null_equals_null_alone(void **state)
{
    static const char *const one[] = {"string"}, *const two[] = {"long", "string"};
    static const char *const rows[] = {"1 -", "2 A", "3 I", "1 A", "- -"};
    static const char *const names[] = {"-", "A", "I"};
    static const char *const key[] = {"I"}, *const null_key[] = {"-"}, *const both[] = {"1 -"};
    static const char *const number[] = {"long"}, *const numbers[] = {"0", "-", "1"};
    static const char *const zero[] = {"0"};
    check_rows(*state, one, 1, key, 1, names, "110");
    check_rows(*state, one, 1, null_key, 1, names, "011");
    check_rows(*state, two, 2, both, 1, rows, "01111");
    check_rows(*state, number, 1, zero, 1, numbers, "011");
    check_rows(*state, number, 1, null_key, 1, numbers, "101");
}

/* known fault: rows with a null in one column and the other equal */
static void keys__a_null_in_one_column_is_no_wildcard(void **state)
{
    static const char *const types[] = {"int", "string"};
    static const char *const deletes[] = {"- x", "5 -"};
    static const char *const rows[] = {"- x", "- y", "5 x", "5 -", "1 x", "- -"};
    check_rows(*state, types, 2, deletes, 2, rows, "011011");
}

static void keys__floats_are_equal_by_their_bits_and_all_nans(void **state)
{
    static const char *const types[][1] = {{"double"}, {"float"}};
    static const char *const rows[] = {"0.0", "-0.0", "nan", "-nan", "1.5", "-"};
    static const char *const zero[] = {"0.0"}, *const minus[] = {"-0.0"}, *const nan[] = {"nan"};
    for (size_t i = 0; i < 2; i++) {
        check_rows(*state, types[i], 1, zero, 1, rows, "011111");
        check_rows(*state, types[i], 1, minus, 1, rows, "101111");
        check_rows(*state, types[i], 1, nan, 1, rows, "110011");
    }
}

static void keys__of_every_type_are_found(void **state)
{
    static const char *const values[][4] = {
        {"boolean", "true", "false", "-"},
        {"int", "-2147483648", "7", "-"},
        {"long", "9223372036854775807", "0", "-"},
        {"decimal(38,2)", "-123456789012345678901234567890.12", "0.01", "-"},
        {"date", "1969-12-31", "2026-11-01", "-"},
        {"time", "12:34:56.000001", "00:00:00", "-"},
        {"timestamp", "1969-12-31T23:59:59.999999", "2026-11-01T00:00:00", "-"},
        {"timestamptz", "1969-12-31T23:59:59.999999+00:00", "2026-11-01T00:00:00+00:00", "-"},
        {"timestamp_ns", "1969-12-31T23:59:59.999999999", "2026-11-01T00:00:00", "-"},
        {"string", "a", "", "-"},
        {"binary", "00ff", "00", "-"},
        {"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "f79c3e09-677c-4bbd-a479-3f349cb785e8",
         "-"},
        {"fixed[3]", "000102", "000103", "-"},
    };
    static const char *const left[] = {"011", "101", "110"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(values); i++) {
        for (size_t k = 0; k < 3; k++) {
            check_rows(*state, values[i], 1, &values[i][k + 1], 1, &values[i][1], left[k]);
        }
    }
}

/* known fault: a key set keeps the old type of a promoted column */
static void keys__of_promoted_types_are_the_same(void **state)
{
    static const char *const pairs[][2] = {
        {"int", "long"}, {"float", "double"}, {"decimal(5,2)", "decimal(20,2)"}};
    static const char *const rows[] = {"1.25", "2.50", "-"};
    static const char *const whole[] = {"1", "2", "-"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(pairs); i++) {
        for (size_t way = 0; way < 2; way++) {
            frz_error err = {0};
            key_rows d, r;
            frz_key_set *set = NULL;
            uint8_t bits[16];
            const char *const *texts = i == 0 ? whole : rows;
            memset(bits, 0xff, sizeof bits);
            assert_ok(init_rows(&d, *state, &pairs[i][way], 1, texts, 1, &err), &err);
            assert_ok(init_rows(&r, *state, &pairs[i][1 - way], 1, texts, 3, &err), &err);
            assert_true(frz_key_types_agree(d.columns[0].type, r.columns[0].type));
            assert_ok(new_set(*state, &d, &set, &err), &err);
            assert_ok(frz_key_set_add(set, d.columns, 1, 2, &err), &err);
            assert_ok(frz_key_set_clear(set, r.columns, 3, 1, bits, &err), &err);
            assert_int_equal(bits[0] & 7, 6);
            frz_key_set_free(set);
            reset_rows(&d, *state);
            reset_rows(&r, *state);
        }
    }
    assert_false(
        frz_key_types_agree(frz_type_primitive(FRZ_TYPE_DATE), frz_type_primitive(FRZ_TYPE_INT)));
    assert_false(frz_key_types_agree(frz_type_primitive(FRZ_TYPE_LONG),
                                     frz_type_primitive(FRZ_TYPE_STRING)));
    assert_true(frz_key_types_agree(frz_type_primitive(FRZ_TYPE_UNKNOWN),
                                    frz_type_primitive(FRZ_TYPE_STRING)));
    assert_false(frz_key_types_agree(frz_type_primitive(FRZ_TYPE_VARIANT),
                                     frz_type_primitive(FRZ_TYPE_VARIANT)));
}

static void keys__apply_to_strictly_older_rows(void **state)
{
    static const char *const types[][1] = {{"long"}, {"string"}};
    static const char *const rows[] = {"1", "2", "-"};
    for (size_t i = 0; i < 2; i++) {
        frz_error err = {0};
        key_rows r;
        frz_key_set *set = NULL;
        assert_ok(init_rows(&r, *state, types[i], 1, rows, 3, &err), &err);
        assert_ok(new_set(*state, &r, &set, &err), &err);
        assert_ok(frz_key_set_add(set, r.columns, 3, 5, &err), &err);
        assert_ok(frz_key_set_add(set, r.columns, 1, 7, &err), &err);
        assert_ok(frz_key_set_add(set, r.columns, 2, 3, &err), &err);
        assert_false(frz_key_set_is_empty(set));
        for (int64_t number = 3; number < 9; number++) {
            uint8_t bits[16];
            memset(bits, 0xff, sizeof bits);
            assert_ok(frz_key_set_clear(set, r.columns, 3, number, bits, &err), &err);
            assert_int_equal(frz_bit_get(bits, 0), number >= 7);
            assert_int_equal(frz_bit_get(bits, 1), number >= 5);
            assert_int_equal(frz_bit_get(bits, 2), number >= 5);
        }
        frz_key_set_free(set);
        reset_rows(&r, *state);
    }
}

/* ---- fields inside of structs ---- */

/* s struct<2: n int> with rows {1}, null, {null}, {1}; and the same after a slice. */
static void keys__in_a_null_struct_are_null(void **state)
{
    static const char *const texts[] = {"1", "-"};
    static const char *const types[] = {"int"};
    frz_error err = {0};
    frz_builder *rows = NULL;
    struct ArrowArray batch = {0}, slice = {0};
    frz_arena arena;
    const frz_type *inner, *outer;
    key_rows keys[2];
    const frz_field number = {
        .id = 2, .name = FRZ_STR("n"), .type = frz_type_primitive(FRZ_TYPE_INT)};
    frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_struct_of(&arena, &number, 1, &inner, &err), &err);
    const frz_field structure = {.id = 1, .name = FRZ_STR("s"), .type = inner};
    assert_ok(frz_type_struct_of(&arena, &structure, 1, &outer, &err), &err);
    assert_ok(frz_builder_new(*state, outer, &rows, &err), &err);
    frz_builder *s = frz_builder_child(rows, 0);
    for (int i = 0; i < 4; i++) {
        if (i == 1) {
            assert_ok(frz_builder_null(s, &err), &err);
        } else {
            frz_builder *n = frz_builder_child(s, 0);
            assert_ok(i == 2 ? frz_builder_null(n, &err) : frz_builder_i32(n, 1, &err), &err);
            assert_ok(frz_builder_end(s, &err), &err);
        }
        assert_ok(frz_builder_end(rows, &err), &err);
    }
    assert_ok(frz_builder_finish(rows, &batch, &err), &err);
    assert_ok(frz_batch_slice(*state, &batch, 1, 3, &slice, &err), &err);
    for (size_t k = 0; k < 2; k++) { /* key 1, key null */
        const uint8_t left[2][2] = {{6, 3}, {9, 4}};
        frz_key_set *set = NULL;
        assert_ok(init_rows(&keys[k], *state, types, 1, &texts[k], 1, &err), &err);
        assert_ok(new_set(*state, &keys[k], &set, &err), &err);
        assert_ok(frz_key_set_add(set, keys[k].columns, 1, 2, &err), &err);
        for (size_t i = 0; i < 2; i++) {
            const struct ArrowArray *from = i == 0 ? &batch : &slice;
            frz_key_column column;
            uint8_t bits[16];
            memset(bits, 0xff, sizeof bits);
            assert_ok(frz_key_column_init(&column, *state, outer, from, 2, &err), &err);
            assert_ok(frz_key_set_clear(set, &column, from->length, 1, bits, &err), &err);
            assert_int_equal(bits[0] & ((1u << from->length) - 1), left[k][i]);
            frz_key_column_reset(&column, *state);
        }
        frz_key_set_free(set);
        reset_rows(&keys[k], *state);
    }
    frz_array_release(&slice);
    frz_array_release(&batch);
    frz_builder_free(rows);
    frz_arena_reset(&arena);
}

/* ---- random sets ---- */

static uint64_t random_below(uint64_t *seed, uint64_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % limit;
}

#define ROWS 5000
#define VALUES 300

/* Rows of two small columns; row i of the list is the same as text. */
static void random_rows(uint64_t *seed, char texts[][16], const char **list, size_t n, bool two)
{
    for (size_t i = 0; i < n; i++) {
        char a[8], b[8];
        snprintf(a, sizeof a, "%d", (int)random_below(seed, VALUES) - 100);
        snprintf(b, sizeof b, "%d", (int)random_below(seed, 10));
        const char *first = random_below(seed, 20) == 0 ? "-" : a;
        const char *second = random_below(seed, 5) == 0 ? "-" : b;
        snprintf(texts[i], 16, two ? "%s %s" : "%s", first, second);
        list[i] = texts[i];
    }
}

static bool in_list(const char *const *list, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static void keys__random_sets_do_what_a_list_does(void **state)
{
    static char delete_texts[ROWS][16], data_texts[ROWS][16];
    static const char *deletes[ROWS], *data[ROWS];
    static const char *const types[][2] = {{"long", ""}, {"string", ""}, {"int", "string"}};
    uint64_t seed = 3;
    for (size_t run = 0; run < 30; run++) {
        frz_error err = {0};
        key_rows d, r;
        frz_key_set *set = NULL;
        static uint8_t bits[ROWS / 8 + 16];
        const char *const *t = types[run % 3];
        size_t columns = t[1][0] == '\0' ? 1 : 2, n = 1 + random_below(&seed, 400);
        random_rows(&seed, delete_texts, deletes, n, columns == 2);
        random_rows(&seed, data_texts, data, ROWS, columns == 2);
        memset(bits, 0xff, sizeof bits);
        assert_ok(init_rows(&d, *state, t, columns, deletes, n, &err), &err);
        assert_ok(init_rows(&r, *state, t, columns, data, ROWS, &err), &err);
        assert_ok(new_set(*state, &d, &set, &err), &err);
        assert_ok(frz_key_set_add(set, d.columns, (int64_t)n, 2, &err), &err);
        assert_ok(frz_key_set_clear(set, r.columns, ROWS, 1, bits, &err), &err);
        for (size_t i = 0; i < ROWS; i++) {
            if (frz_bit_get(bits, (int64_t)i) == in_list(deletes, n, data[i])) {
                fail_msg("run %zu, row %zu: %s", run, i, data[i]);
            }
        }
        assert_true(frz_key_set_bytes(set) > 0);
        frz_key_set_free(set);
        reset_rows(&d, *state);
        reset_rows(&r, *state);
    }
}

/* ---- whole numbers ---- */

/* A batch of one long column without nulls. */
static void init_longs(key_rows *k, const frz_env *env, const int64_t *values, size_t n)
{
    frz_error err = {0};
    frz_builder *builder = NULL;
    const frz_field field = {
        .id = 1, .name = FRZ_STR("k"), .type = frz_type_primitive(FRZ_TYPE_LONG)};
    memset(k, 0, sizeof *k);
    frz_arena_init(&k->arena, env, FRZ_ARENA_NO_LIMIT);
    assert_ok(frz_type_struct_of(&k->arena, &field, 1, &k->type, &err), &err);
    assert_ok(frz_builder_new(env, k->type, &builder, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_ok(frz_builder_i64(frz_builder_child(builder, 0), values[i], &err), &err);
        assert_ok(frz_builder_end(builder, &err), &err);
    }
    assert_ok(frz_builder_finish(builder, &k->batch, &err), &err);
    k->count = 1;
    assert_ok(frz_key_column_init(&k->columns[0], env, k->type, &k->batch, 1, &err), &err);
    frz_builder_free(builder);
}

#define FILES 12
#define KEYS 200

/* Delete files in the order that they are read, each with a sequence number. */
typedef struct delete_files {
    int64_t keys[FILES][KEYS];
    int64_t numbers[FILES];
    size_t count;
} delete_files;

static bool is_deleted(const delete_files *f, int64_t value, int64_t sequence_number)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < KEYS && f->numbers[i] > sequence_number; k++) {
            if (f->keys[i][k] == value) {
                return true;
            }
        }
    }
    return false;
}

static void check_longs(const frz_env *env, const delete_files *files, const int64_t *values,
                        size_t n)
{
    frz_error err = {0};
    key_rows d, r;
    frz_key_set *set = NULL;
    static uint8_t bits[ROWS / 8 + 16];
    init_longs(&r, env, values, n);
    assert_ok(new_set(env, &r, &set, &err), &err);
    for (size_t i = 0; i < files->count; i++) {
        init_longs(&d, env, files->keys[i], KEYS);
        assert_ok(frz_key_set_add(set, d.columns, KEYS, files->numbers[i], &err), &err);
        reset_rows(&d, env);
    }
    for (int64_t number = 0; number < 5; number++) {
        memset(bits, 0xff, sizeof bits);
        assert_ok(frz_key_set_clear(set, r.columns, (int64_t)n, number, bits, &err), &err);
        for (size_t i = 0; i < n; i++) {
            if (frz_bit_get(bits, (int64_t)i) == is_deleted(files, values[i], number)) {
                fail_msg("%zu files, number %lld, row %zu: %lld", files->count, (long long)number,
                         i, (long long)values[i]);
            }
        }
    }
    frz_key_set_free(set);
    reset_rows(&r, env);
}

/* Ascending ids, some far from the others or there twice, the last runs' in falling order, and keys
 * in any order; more files than parts that are kept; the least and the greatest number there is. */
static void keys__whole_numbers_of_several_files(void **state)
{
    static int64_t values[ROWS];
    static delete_files files;
    uint64_t seed = 11;
    for (int run = 0; run < 12; run++) {
        int64_t step = run % 3 == 0 ? 1 : run % 3 == 1 ? 40 : 1 << 20;
        int64_t first = run == 0 ? INT64_MIN : run == 1 ? INT64_MAX - ROWS * step : -1000;
        for (int64_t i = 0; i < ROWS; i++) {
            values[i] = first + i * step + (int64_t)random_below(&seed, (uint64_t)step);
            values[i] = run >= 6 && i % 3 == 2 ? values[i - 1] : values[i];
        }
        for (int64_t i = 0; run >= 9 && i < ROWS / 2; i++) {
            int64_t value = values[i];
            values[i] = values[ROWS - 1 - i];
            values[ROWS - 1 - i] = value;
        }
        values[ROWS / 2] = run % 2 == 0 ? INT64_MAX : values[ROWS / 2];
        files.count = run % 4 == 3 ? FILES : (size_t)run % 4 + 1;
        for (size_t i = 0; i < files.count; i++) {
            files.numbers[i] = 1 + (int64_t)random_below(&seed, 4);
            for (size_t k = 0; k < KEYS; k++) {
                size_t row = run % 2 == 0 ? i * KEYS + k : random_below(&seed, ROWS);
                files.keys[i][k] = values[row];
            }
        }
        check_longs(*state, &files, values, ROWS);
    }
}

static void keys__without_vector_instructions_are_the_same(void **state)
{
    frz_env *env = *state;
    env->cpu = 0;
    keys__random_sets_do_what_a_list_does(state);
}

/* Rows far from each other, so that each task may be the one that makes the table. */
#define FAR_ROWS 512

typedef struct many_clearing {
    frz_key_set *set;
    key_rows *rows;
    uint8_t bits[8][FAR_ROWS / 8 + 8];
} many_clearing;

static frz_code clear_once(void *ctx, size_t i, frz_error *err)
{
    many_clearing *m = ctx;
    memset(m->bits[i], 0xff, sizeof m->bits[i]);
    return frz_key_set_clear(m->set, m->rows->columns, FAR_ROWS, 1, m->bits[i], err);
}

static void keys__are_looked_up_by_several_threads_at_once(void **state)
{
    static int64_t values[FAR_ROWS], keys[FAR_ROWS];
    frz_error err = {0};
    key_rows r, d;
    many_clearing m = {.rows = &r};
    for (int64_t i = 0; i < FAR_ROWS; i++) {
        values[i] = (i * 7 % FAR_ROWS) << 32;
        keys[i] = (i * 2) << 32;
    }
    init_longs(&r, *state, values, FAR_ROWS);
    init_longs(&d, *state, keys, FAR_ROWS);
    for (int run = 0; run < 20; run++) {
        assert_ok(new_set(*state, &r, &m.set, &err), &err);
        assert_ok(frz_key_set_add(m.set, d.columns, FAR_ROWS, 2, &err), &err);
        assert_ok(frz_parallel(*state, 8, clear_once, &m, &err), &err);
        for (int64_t i = 0; i < 8 * FAR_ROWS; i++) {
            int64_t row = i % FAR_ROWS;
            assert_int_equal(frz_bit_get(m.bits[i / FAR_ROWS], row), values[row] >> 32 & 1);
        }
        frz_key_set_free(m.set);
    }
    reset_rows(&d, *state);
    reset_rows(&r, *state);
}

static frz_code scenario_keys(const frz_env *env, frz_error *err)
{
    static const char *const types[] = {"long", "string"};
    static char texts[100][16];
    static const char *list[100];
    uint64_t seed = 1;
    frz_code rc = FRZ_OK;
    key_rows r = {.count = 0};
    frz_key_set *set = NULL;
    random_rows(&seed, texts, list, 100, true);
    FRZ_TRY(init_rows(&r, env, types, 2, list, 100, err));
    FRZ_TRY(new_set(env, &r, &set, err));
    FRZ_TRY(frz_key_set_add(set, r.columns, 100, 2, err));
    frz_key_set_free(set);
    set = NULL;
    /* the long alone, which is kept in parts */
    FRZ_TRY(frz_key_set_new(env, &r.columns[0].type, 1, &set, err));
    for (int64_t number = 1; number <= 12; number++) { /* more than there can be parts */
        uint8_t bits[100 / 8 + 16];
        FRZ_TRY(frz_key_set_add(set, r.columns, 100, number / 2, err));
        FRZ_TRY(frz_key_set_clear(set, r.columns, 100, 0, bits, err));
    }
out:
    frz_key_set_free(set);
    if (rc == FRZ_OK || r.count > 0) {
        reset_rows(&r, env);
    }
    return rc;
}

static void alloc__keys_give_back_what_they_took(void **state)
{
    (void)state;
    assert_true(test_fail_every_allocation(scenario_keys) > 10);
}

/* Batches are looked through by several threads; ThreadSanitizer watches. */
#define TEST_WITH_THREADS(test)                                                                    \
    {                                                                                              \
#test "_threads", test, test_threads_setup, test_env_teardown, NULL                        \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_THREADS(keys__random_sets_do_what_a_list_does),
        TEST_WITH_THREADS(keys__whole_numbers_of_several_files),
        TEST_WITH_THREADS(keys__are_looked_up_by_several_threads_at_once),
        TEST_WITH_ENV(keys__null_equals_null_alone),
        TEST_WITH_ENV(keys__a_null_in_one_column_is_no_wildcard),
        TEST_WITH_ENV(keys__floats_are_equal_by_their_bits_and_all_nans),
        TEST_WITH_ENV(keys__of_every_type_are_found),
        TEST_WITH_ENV(keys__of_promoted_types_are_the_same),
        TEST_WITH_ENV(keys__apply_to_strictly_older_rows),
        TEST_WITH_ENV(keys__in_a_null_struct_are_null),
        TEST_WITH_ENV(keys__random_sets_do_what_a_list_does),
        TEST_WITH_ENV(keys__whole_numbers_of_several_files),
        TEST_WITH_ENV(keys__without_vector_instructions_are_the_same),
        TEST_WITH_ENV(numbers__are_found_by_key_and_null_has_none),
        TEST_WITH_ENV(numbers__of_keys_that_come_twice_are_told),
        cmocka_unit_test(alloc__keys_give_back_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
