/*
 * Pruning by partitions: the rows of files that are not read never match, and those of files that
 * are taken whole always do. FRAZIL_LONG runs a million tables.
 */
#include "scan_partition_model.h"

/* ---- random conditions ---- */

typedef struct writer {
    model_table *table;
    frz_buf sql;
} writer;

static void put(writer *w, const char *text)
{
    frz_error err;
    assert_ok(frz_buf_append_str(&w->sql, text, &err), &err);
}

static void put_literal(writer *w, int column)
{
    frz_error err;
    frz_value value = chance_below(w->table->chance, 3) == 0
                          ? model_value(w->table, column)
                          : w->table->rows[chance_below(w->table->chance, MODEL_ROWS)][column];
    assert_ok(expr_print_literal(&value, &w->sql, &err), &err);
}

static void put_like(writer *w, const char *name)
{
    static const char *const patterns[] = {" LIKE 'a%'",  " LIKE 'ab%'",      " LIKE 'é%'",
                                           " LIKE 'abc'", " NOT LIKE 'ab%'",  " LIKE '世界%'",
                                           " LIKE '%b'",  " NOT LIKE 'abc%'", " LIKE 'éé%'"};
    put(w, name);
    put(w, patterns[chance_below(w->table->chance, (int)FRZ_ARRAY_COUNT(patterns))]);
}

static void put_comparison(writer *w)
{
    static const char *const ops[] = {" = ", " <> ", " < ", " <= ", " > ", " >= ", " = "};
    chance *c = w->table->chance;
    int column =
        chance_below(c, 2) == 0 ? w->table->part_column[0] : chance_below(c, MODEL_COLUMNS);
    const char *name = w->table->leaf_names[column];
    int form = chance_below(c, 8);
    if (w->table->leaf_types[column]->id == FRZ_TYPE_STRING && form < 2) {
        put_like(w, name);
        return;
    }
    put(w, name);
    if (form == 2) {
        put(w, chance_below(c, 2) == 0 ? " IS NULL" : " IS NOT NULL");
    } else if (form == 3) {
        put(w, chance_below(c, 2) == 0 ? " IN (" : " NOT IN (");
        for (int i = 0, n = 1 + chance_below(c, 3); i < n; i++) {
            put(w, i == 0 ? "" : ", ");
            put_literal(w, column);
        }
        put(w, ")");
    } else if (form == 4) {
        put(w, " BETWEEN ");
        put_literal(w, column);
        put(w, " AND ");
        put_literal(w, column);
    } else {
        put(w, ops[chance_below(c, 7)]);
        put_literal(w, column);
    }
}

static void put_condition(writer *w, int depth)
{
    int form = depth == 0 ? 0 : chance_below(w->table->chance, 5);
    if (form < 2) {
        put_comparison(w);
        return;
    }
    put(w, form == 2 ? "NOT (" : "(");
    put_condition(w, depth - 1);
    if (form > 2) {
        put(w, form == 3 ? " AND " : " OR ");
        put_condition(w, depth - 1);
    }
    put(w, ")");
}

/* ---- tables without end ---- */

typedef struct counts {
    int64_t conditions, files, skipped, whole, settled, manifests_skipped;
} counts;

static void refuse(const model_table *t, const char *sql, int file, const char *what)
{
    char types[400];
    char specs[200] = "";
    for (size_t i = 0; i < t->spec.field_count; i++) {
        size_t len = strlen(specs);
        snprintf(specs + len, sizeof specs - len, " %.*s(%s)",
                 FRZ_STR_ARG(t->spec.fields[i].transform.text), t->leaf_names[t->part_column[i]]);
    }
    fail_msg("file %d: %s\n  %s\n  %s\n  partitions%s", file, what, sql,
             frz_type_text(t->type, types, sizeof types), specs);
}

static int64_t check_file(const model_table *t, const frz_entry_filter *filter,
                          const frz_bound_expr *bound, const char *sql, int file,
                          const struct ArrowArray *batch, counts *n)
{
    frz_error err = {0};
    uint8_t selection[16];
    int64_t selected = 0;
    const frz_entry *entry = &t->entries[file];
    assert_ok(frz_expr_select(bound, t->type, batch, 0, NULL, selection, &selected, &err), &err);
    bool may = frz_entry_filter_may_match(filter, entry);
    bool must = frz_entry_filter_must_match(filter, entry);
    if (!may && selected > 0) {
        refuse(t, sql, file, "rows match, and it was skipped");
    }
    if (must && selected < batch->length) {
        refuse(t, sql, file, "rows do not match, and it was taken whole");
    }
    if (frz_entry_filter_is_settled(filter, entry)) {
        if (selected < batch->length) {
            refuse(t, sql, file, "rows do not match, and the filter was not asked");
        }
        n->settled++;
    }
    n->files++;
    n->skipped += !may;
    n->whole += must;
    return selected;
}

static void check_condition(model_table *t, const struct ArrowArray *batches, counts *n)
{
    frz_error err = {0};
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_entry_filter *filter = NULL;
    int64_t selected = 0;
    writer w = {.table = t, .sql = FRZ_BUF_INIT(t->env, FRZ_BUF_NO_LIMIT)};
    put_condition(&w, 2);
    assert_ok(frz_buf_append_byte(&w.sql, '\0', &err), &err);
    const char *sql = (const char *)w.sql.data;
    assert_ok(frz_expr_parse(&t->arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(t->env, expr, t->type, &bound, &err), &err);
    assert_ok(frz_entry_filter_new(t->env, &t->metadata, &t->schema, bound, &filter, &err), &err);
    for (int file = 0; file < t->file_count; file++) {
        selected += check_file(t, filter, bound, sql, file, &batches[file], n);
    }
    bool may = frz_entry_filter_may_match_manifest(filter, &t->manifest);
    if (!may && selected > 0) {
        refuse(t, sql, -1, "rows match, and the manifest was skipped");
    }
    n->manifests_skipped += !may;
    n->conditions++;
    frz_entry_filter_free(filter);
    frz_bound_expr_free(bound);
    frz_buf_reset(&w.sql);
}

static void partition__pruning_loses_no_row(void **state)
{
    static model_table t;
    struct ArrowArray batches[MODEL_ROWS];
    int64_t rounds = getenv("FRAZIL_LONG") != NULL ? 1000000 : 10000;
    counts n = {0};
    chance c = {42};
    for (int64_t round = 0; round < rounds; round++) {
        model_open(&t, *state, &c);
        for (int file = 0; file < t.file_count; file++) {
            model_batch(&t, file, &batches[file]);
            model_stats(&t, file, &batches[file]);
        }
        for (int i = 0; i < 3; i++) {
            check_condition(&t, batches, &n);
        }
        for (int file = 0; file < t.file_count; file++) {
            frz_array_release(&batches[file]);
        }
        model_close(&t);
    }
    print_message("%lld conditions, %lld files, %lld skipped, %lld taken whole, %lld settled, "
                  "%lld manifests skipped\n",
                  (long long)n.conditions, (long long)n.files, (long long)n.skipped,
                  (long long)n.whole, (long long)n.settled, (long long)n.manifests_skipped);
    /* it is not idle */
    assert_true(n.skipped > n.files / 8);
    assert_true(n.whole > n.files / 12);
    assert_true(n.settled > n.files / 50 && n.settled < n.whole);
    assert_true(n.manifests_skipped > n.conditions / 100);
}

/* ---- cases by hand ---- */

/* A table of one partition field over one column, and a file of it. */
typedef struct hand {
    frz_arena arena;
    frz_field fields[2]; /* "x" of id 1, "y" of id 2 */
    frz_type type;
    frz_schema schema;
    const frz_schema *schemas[2];
    frz_partition_field part;
    frz_partition_spec spec;
    frz_metadata metadata;
    int32_t source_id;
    frz_partition_value value;
    frz_entry entry;
} hand;

static frz_value hand_value(hand *h, const char *type_text, const char *text)
{
    frz_error err = {0};
    const frz_type *type = NULL;
    frz_value value = {.is_null = true};
    assert_ok(frz_type_parse(&h->arena, frz_str_from(type_text), &type, &err), &err);
    if (text != NULL) {
        assert_ok(frz_value_parse(&h->arena, type, frz_str_from(text), &value, &err), &err);
    }
    value.type = type;
    return value;
}

/* Column x of a type, partitioned by a transform; the tuple's value as stored, NULL: null. */
static void hand_open(hand *h, const frz_env *env, const char *type, const char *transform,
                      const char *stored_as, const char *stored)
{
    memset(h, 0, sizeof *h);
    frz_arena_init(&h->arena, env, FRZ_ARENA_NO_LIMIT);
    h->fields[0] =
        (frz_field){.id = 1, .name = FRZ_STR("x"), .type = hand_value(h, type, NULL).type};
    h->fields[1] =
        (frz_field){.id = 2, .name = FRZ_STR("y"), .type = frz_type_primitive(FRZ_TYPE_INT)};
    h->type = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = h->fields, .field_count = 2};
    h->schema = (frz_schema){.type = &h->type};
    h->schemas[0] = h->schemas[1] = &h->schema;
    h->source_id = 1;
    h->part = (frz_partition_field){.field_id = 1000,
                                    .source_ids = &h->source_id,
                                    .source_count = 1,
                                    .name = FRZ_STR("p"),
                                    .transform = frz_transform_parse(frz_str_from(transform))};
    h->spec = (frz_partition_spec){.spec_id = 0, .fields = &h->part, .field_count = 1};
    h->metadata = (frz_metadata){
        .schemas = h->schemas, .schema_count = 1, .specs = &h->spec, .spec_count = 1};
    h->value = (frz_partition_value){1000, hand_value(h, stored_as, stored)};
    h->entry = (frz_entry){.record_count = 10, .partition = &h->value, .partition_count = 1};
}

/* "no": no row matches; "all": all rows match; "some". */
static const char *hand_ask(hand *h, const char *sql)
{
    frz_error err = {0};
    const frz_env *env = h->arena.env;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_entry_filter *filter = NULL;
    assert_ok(frz_expr_parse(&h->arena, frz_str_from(sql), &expr, &err), &err);
    assert_ok(frz_expr_bind_filter(env, expr, &h->type, &bound, &err), &err);
    assert_ok(frz_entry_filter_new(env, &h->metadata, &h->schema, bound, &filter, &err), &err);
    bool may = frz_entry_filter_may_match(filter, &h->entry);
    bool must = frz_entry_filter_must_match(filter, &h->entry);
    assert_false(must && !may);
    frz_entry_filter_free(filter);
    frz_bound_expr_free(bound);
    return must ? "all" : may ? "some" : "no";
}

typedef struct hand_case {
    const char *type, *transform, *stored_as, *stored, *sql, *answer;
} hand_case;

static void check_cases(void **state, const hand_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        static hand h;
        hand_open(&h, *state, cases[i].type, cases[i].transform, cases[i].stored_as,
                  cases[i].stored);
        if (strcmp(hand_ask(&h, cases[i].sql), cases[i].answer) != 0) {
            fail_msg("%s of %s = %s: %s: expected %s", cases[i].transform, cases[i].type,
                     cases[i].stored, cases[i].sql, cases[i].answer);
        }
        frz_arena_reset(&h.arena);
    }
}

#define CHECK_CASES(state, cases) check_cases((state), (cases), FRZ_ARRAY_COUNT(cases))

static void partition__values_decide(void **state)
{
    static const hand_case cases[] = {
        {"int", "identity", "int", "5", "x = 5", "all"},
        {"int", "identity", "int", "5", "x <> 5", "no"},
        {"int", "identity", "int", "5", "x IN (1, 5)", "all"},
        {"int", "identity", "int", "5", "x = 5 AND y = 1", "some"},
        {"int", "identity", "int", NULL, "x IS NULL", "all"},
        {"int", "identity", "int", NULL, "x = 5", "no"},
        {"int", "identity", "int", NULL, "x <> 5", "no"},
        {"int", "identity", "int", NULL, "NOT (x = 5)", "no"},
        {"int", "bucket[16]", "int", NULL, "x IS NOT NULL", "no"},
        {"int", "bucket[16]", "int", "3", "x IS NULL", "no"},
        {"long", "bucket[100]", "int", "79", "x = 34", "some"},
        {"long", "bucket[100]", "int", "78", "x = 34", "no"},
        {"long", "bucket[100]", "int", "78", "x IN (34, NULL)", "no"},
        {"long", "bucket[100]", "int", "78", "x = 34 OR x > 34", "some"},
        {"long", "bucket[100]", "int", "100", "x = 34", "some"}, /* no such bucket */
        {"long", "bucket[100]", "string", "78", "x = 34", "some"},
        {"double", "identity", "double", "NaN", "x = 1.0", "no"},
        {"double", "identity", "double", "NaN", "x > 1.0", "all"},
        {"double", "identity", "double", "NaN", "x <> 1.0", "all"},
        {"double", "identity", "double", "NaN", "x IS NULL", "no"},
        {"double", "identity", "double", "-0.0", "x = 0.0", "all"},
        {"double", "identity", "double", "-0.0", "x < 0.0", "no"},
        {"float", "identity", "float", "1.5", "x > 1.25", "all"},
        {"double", "identity", "float", "1.5", "x > 1.25", "all"}, /* promoted since */
        {"long", "identity", "int", "5", "x = 6", "no"},
        {"decimal(20,2)", "identity", "decimal(9,2)", "5.00", "x = 5", "all"},
        {"date", "day", "date", "2020-02-29", "x = DATE '2020-02-29'", "all"},
        {"timestamp", "day", "date", "2020-02-29", "x < TIMESTAMP '2020-03-01T00:00:00'", "all"},
        {"timestamp", "day", "int", "1", "x >= TIMESTAMP '1970-01-03T00:00:00'", "no"},
        {"timestamp_ns", "hour", "int", "5", "x < TIMESTAMP '1970-01-01T05:00:00'", "no"},
        {"timestamptz", "month", "int", "1", "x > TIMESTAMPTZ '1970-02-28T23:59:59Z'", "some"},
        {"timestamp", "identity", "date", "1970-01-02", "x = TIMESTAMP '1970-01-02T00:00:00'",
         "all"},
        {"boolean", "identity", "boolean", "true", "x", "all"},
        {"boolean", "identity", "boolean", "true", "NOT x", "no"},
    };
    CHECK_CASES(state, cases);
}

static void partition__what_says_nothing(void **state)
{
    static const hand_case cases[] = {
        {"int", "void", "int", NULL, "x = 5", "some"},
        {"int", "void", "int", "6", "x = 5", "some"},
        {"int", "zorder", "int", "6", "x = 5", "some"},
        {"int", "bucket[0]", "int", "6", "x = 5", "some"},
        {"int", "truncate[-1]", "int", NULL, "x = 5", "some"},
        {"float", "bucket[8]", "int", "6", "x = 5", "some"},
        {"int", "identity", "string", "6", "x = 5", "some"},
    };
    static hand h;
    CHECK_CASES(state, cases);
    /* a spec that the metadata does not have, a tuple without the field, two sources */
    hand_open(&h, *state, "int", "identity", "int", "6");
    assert_string_equal(hand_ask(&h, "x = 5"), "no");
    h.entry.spec_id = 7;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    h.entry.spec_id = -1;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    h.entry.spec_id = 0;
    h.value.field_id = 1001;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    h.value.field_id = 1000;
    h.part.source_count = 2;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    /* the column was dropped, and is no part of the schema */
    h.part.source_count = 1;
    h.source_id = 77;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    frz_arena_reset(&h.arena);
}

static void partition__counts_that_contradict_the_tuple(void **state)
{
    static hand h;
    hand_open(&h, *state, "int", "identity", "int", "6");
    frz_field_stats stats = FRZ_FIELD_STATS_UNKNOWN(1, h.fields[0].type);
    stats.value_count = 10;
    stats.null_value_count = 2;
    h.entry.stats = &stats;
    h.entry.stats_count = 1;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    assert_string_equal(hand_ask(&h, "x IS NULL"), "some");
    stats.null_value_count = 0;
    assert_string_equal(hand_ask(&h, "x = 5"), "no");
    h.value.value.is_null = true;
    assert_string_equal(hand_ask(&h, "x = 5"), "some");
    frz_arena_reset(&h.arena);
}

/* Bounds of the file and of its partition say more together. */
static void partition__and_statistics_together(void **state)
{
    static hand h;
    hand_open(&h, *state, "int", "truncate[100]", "int", "100");
    frz_field_stats stats = FRZ_FIELD_STATS_UNKNOWN(1, h.fields[0].type);
    stats.has_upper = true;
    stats.upper = hand_value(&h, "int", "120");
    h.entry.stats = &stats;
    h.entry.stats_count = 1;
    assert_string_equal(hand_ask(&h, "x BETWEEN 100 AND 120"), "all");
    assert_string_equal(hand_ask(&h, "x = 150"), "no");
    assert_string_equal(hand_ask(&h, "x = 99"), "no");
    assert_string_equal(hand_ask(&h, "x = 110"), "some");
    frz_arena_reset(&h.arena);
}

/* A member of a struct is a source by its own id; items of lists are none. */
static void partition__sources_inside_structs(void **state)
{
    static hand h;
    frz_field member;
    hand_open(&h, *state, "int", "identity", "int", "6");
    member = h.fields[0];
    frz_type inner = {.id = FRZ_TYPE_STRUCT, .fields = &member, .field_count = 1};
    h.fields[0] = (frz_field){.id = 5, .name = FRZ_STR("s"), .type = &inner};
    assert_string_equal(hand_ask(&h, "s.x = 5"), "no");
    assert_string_equal(hand_ask(&h, "s.x = 6"), "all");
    h.value.value.is_null = true;
    assert_string_equal(hand_ask(&h, "s.x IS NULL"), "all");
    assert_string_equal(hand_ask(&h, "s IS NULL"), "some");
    frz_arena_reset(&h.arena);
}

/* ---- known faults of others, by their kind ---- */

static void fault__bucket_of_a_uuid_hashes_its_sixteen_bytes(void **state)
{
    static const hand_case cases[] = {
        {"uuid", "bucket[16]", "int", "12", "x = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "some"},
        {"uuid", "bucket[16]", "int", "11", "x = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "no"},
    };
    CHECK_CASES(state, cases);
}

static void fault__truncate_below_the_least_number(void **state)
{
    static const hand_case cases[] = {
        {"int", "truncate[10000]", "int", "2147477296", "x < 0", "some"},
        {"int", "truncate[10000]", "int", "-2147480000", "x = -2147483648", "some"},
        {"int", "truncate[10000]", "int", "-2147483648", "x < 0", "some"},
        {"int", "truncate[10000]", "int", "0", "x < 0", "no"},
    };
    CHECK_CASES(state, cases);
}

static void fault__hours_beyond_32_bits(void **state)
{
    static const hand_case cases[] = {
        {"timestamp", "hour", "int", "-2120796984", "x > TIMESTAMP '2000-01-01T00:00:00'", "some"},
        {"timestamp", "hour", "int", "2147483647", "x < TIMESTAMP '2000-01-01T00:00:00'", "some"},
    };
    CHECK_CASES(state, cases);
}

static void fault__times_before_1970_cut_towards_zero(void **state)
{
    static const hand_case cases[] = {
        {"timestamp", "year", "int", "0", "x = TIMESTAMP '1969-12-31T23:59:59.999999'", "some"},
        {"timestamp", "year", "int", "-1", "x = TIMESTAMP '1969-12-31T23:59:59.999999'", "some"},
        {"timestamp", "year", "int", "-1", "x < TIMESTAMP '1968-01-01T00:00:00'", "no"},
        {"timestamp", "hour", "int", "0", "x < TIMESTAMP '1970-01-01T00:00:00'", "some"},
        {"timestamp", "hour", "int", "1", "x < TIMESTAMP '1970-01-01T01:00:00'", "no"},
        {"date", "month", "int", "0", "x = DATE '1969-12-25'", "some"},
        {"date", "day", "int", "0", "x = DATE '1969-12-31'", "no"},
        {"timestamp_ns", "day", "int", "0", "x < TIMESTAMP '1970-01-01T00:00:00'", "some"},
    };
    CHECK_CASES(state, cases);
}

static void fault__text_is_truncated_by_characters(void **state)
{
    static const hand_case cases[] = {
        {"string", "truncate[2]", "string", "世界", "x = '世界您好'", "some"},
        {"string", "truncate[2]", "string", "世界", "x = '世您'", "no"},
        {"string", "truncate[2]", "string", "a😀", "x = 'a😀b'", "some"},
        {"string", "truncate[2]", "string", "éé", "x NOT LIKE 'éé%'", "some"},
        {"string", "truncate[2]", "string", "ab", "x = 'abc'", "some"},
        {"string", "truncate[2]", "string", "ab", "x = 'ac'", "no"},
        {"string", "truncate[2]", "string", "ab", "x > 'ac'", "no"},
        {"string", "truncate[2]", "string", "ab", "x LIKE 'abc%'", "some"},
        {"string", "truncate[2]", "string", "ab", "x LIKE 'ac%'", "no"},
        {"string", "truncate[2]", "string", "a", "x = 'ab'", "no"},
        {"string", "truncate[2]", "string", "a", "x = 'a'", "all"},
        {"string", "truncate[4]", "string", "éé", "x = 'ééé'", "some"}, /* cut by bytes */
        {"binary", "truncate[2]", "binary", "6162", "x = X'6163'", "no"},
    };
    CHECK_CASES(state, cases);
}

static void fault__not_starts_with_is_not_projected_through_a_shorter_prefix(void **state)
{
    static const hand_case cases[] = {
        {"string", "truncate[2]", "string", "ab", "x NOT LIKE 'abc%'", "some"},
        {"string", "truncate[2]", "string", "ab", "x NOT LIKE 'ab%'", "some"},
        {"string", "truncate[2]", "string", "ab", "x NOT LIKE 'a%'", "some"},
    };
    CHECK_CASES(state, cases);
}

static void fault__strict_unequal_with_nulls(void **state)
{
    static hand h;
    hand_open(&h, *state, "int", "void", "int", NULL);
    frz_field_stats stats = FRZ_FIELD_STATS_UNKNOWN(1, h.fields[0].type);
    stats.has_lower = stats.has_upper = true;
    stats.lower = stats.upper = hand_value(&h, "int", "5");
    stats.value_count = 10;
    stats.null_value_count = 1;
    h.entry.stats = &stats;
    h.entry.stats_count = 1;
    assert_string_equal(hand_ask(&h, "x <> 5"), "no");
    assert_string_equal(hand_ask(&h, "x <> 6"), "some");
    assert_string_equal(hand_ask(&h, "x NOT IN (6, 7)"), "some");
    assert_string_equal(hand_ask(&h, "NOT (x = 6)"), "some");
    stats.null_value_count = FRZ_STAT_UNKNOWN;
    assert_string_equal(hand_ask(&h, "x <> 6"), "some");
    stats.null_value_count = 0;
    assert_string_equal(hand_ask(&h, "x <> 6"), "all");
    assert_string_equal(hand_ask(&h, "x NOT IN (6, 7)"), "all");
    frz_arena_reset(&h.arena);
}

static void fault__the_hash_of_a_date_that_became_a_timestamp(void **state)
{
    static hand h;
    static frz_field fields[1];
    static frz_type type;
    static frz_schema schema;
    hand_open(&h, *state, "timestamp", "bucket[1000]", "int", "1");
    const char *sql = "x = TIMESTAMP '2017-11-16T00:00:00'";
    assert_string_equal(hand_ask(&h, sql), "no");
    fields[0] =
        (frz_field){.id = 1, .name = FRZ_STR("x"), .type = frz_type_primitive(FRZ_TYPE_DATE)};
    type = (frz_type){.id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = 1};
    schema = (frz_schema){.schema_id = 1, .type = &type};
    h.schemas[1] = &schema;
    h.metadata.schema_count = 2;
    assert_string_equal(hand_ask(&h, sql), "some");
    frz_arena_reset(&h.arena);
}

/* ---- manifests ---- */

static void manifest__summaries_in_doubt(void **state)
{
    frz_error err = {0};
    static hand h;
    const frz_expr *expr = NULL;
    frz_bound_expr *bound = NULL;
    frz_entry_filter *filter = NULL;
    const char *low = "\xff-------\x7f-------", *high = "\xff-------\x80-------";
    hand_open(&h, *state, "uuid", "identity", "uuid", NULL);
    frz_partition_summary summary = {.lower_bound = {high, 16}, .upper_bound = {high, 16}};
    frz_manifest_file file = {.partitions = &summary, .partition_count = 1};
    assert_ok(frz_expr_parse(&h.arena, FRZ_STR("x = 'ff2d2d2d-2d2d-2d2d-7f2d-2d2d2d2d2d2d'"), &expr,
                             &err),
              &err);
    assert_ok(frz_expr_bind_filter(*state, expr, &h.type, &bound, &err), &err);
    assert_ok(frz_entry_filter_new(*state, &h.metadata, &h.schema, bound, &filter, &err), &err);
    assert_false(frz_entry_filter_may_match_manifest(filter, &file));
    /* compared as signed numbers, 80… is below 7f… */
    summary.upper_bound.ptr = low;
    assert_true(frz_entry_filter_may_match_manifest(filter, &file));
    summary.lower_bound.len = 3;
    assert_true(frz_entry_filter_may_match_manifest(filter, &file));
    summary = (frz_partition_summary){.contains_null = true};
    assert_true(frz_entry_filter_may_match_manifest(filter, &file));
    file.partition_count = 0;
    assert_true(frz_entry_filter_may_match_manifest(filter, &file));
    frz_entry_filter_free(filter);
    frz_bound_expr_free(bound);
    frz_arena_reset(&h.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(partition__values_decide),
        TEST_WITH_ENV(partition__what_says_nothing),
        TEST_WITH_ENV(partition__counts_that_contradict_the_tuple),
        TEST_WITH_ENV(partition__and_statistics_together),
        TEST_WITH_ENV(partition__sources_inside_structs),
        TEST_WITH_ENV(fault__bucket_of_a_uuid_hashes_its_sixteen_bytes),
        TEST_WITH_ENV(fault__truncate_below_the_least_number),
        TEST_WITH_ENV(fault__hours_beyond_32_bits),
        TEST_WITH_ENV(fault__times_before_1970_cut_towards_zero),
        TEST_WITH_ENV(fault__text_is_truncated_by_characters),
        TEST_WITH_ENV(fault__not_starts_with_is_not_projected_through_a_shorter_prefix),
        TEST_WITH_ENV(fault__strict_unequal_with_nulls),
        TEST_WITH_ENV(fault__the_hash_of_a_date_that_became_a_timestamp),
        TEST_WITH_ENV(manifest__summaries_in_doubt),
        TEST_WITH_ENV(partition__pruning_loses_no_row),
    };
    return cmocka_run_group_tests_name("scan_partition", tests, NULL, NULL);
}
