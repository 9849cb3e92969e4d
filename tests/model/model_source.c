/*
 * Statements with rows from outside: UPDATE … FROM and MERGE, from a file or a stream, whose rows
 * are held in memory or lie on disk. A source has columns that the table never has: k, which is
 * compared with a column of the table, v and w, values, and i, ids that no row has had.
 */
#include "model/model_steps.h"

#define MOST_SOURCE 30
#define MOST_CLAUSES 4
#define MOST_RULES 2
#define TEXT_SIZE 160

typedef struct source_row {
    model_value k, v, w, i;
    bool used;
} source_row;

typedef struct source {
    fixture *f;
    source_row rows[MOST_SOURCE];
    size_t count;
    int key; /* COL_ID, COL_N or OUT_ROW_ID, which is compared with k */
    /* what of ON or WHERE there is besides; NULL: nothing */
    const model_condition *of_table;
    int64_t number;
    const struct pair_condition *of_pair;
    char on[3 * TEXT_SIZE];
} source;

/* ---- what expressions say of a row and its row of the source ---- */

typedef struct pair_rule {
    int column;
    const char *text;
    model_value (*value)(const model_row *row, const source_row *s);
} pair_rule;

static model_value set_v(const model_row *row, const source_row *s)
{
    (void)row;
    return s->v;
}

static model_value set_n_and_v(const model_row *row, const source_row *s)
{
    const model_value *n = &row->values[COL_N];
    return n->null || s->v.null ? model_null() : model_long(n->i + s->v.i);
}

static model_value set_half(const model_row *row, const source_row *s)
{
    (void)row;
    return s->v.null ? model_null() : model_double((double)s->v.i / 2);
}

static model_value set_w(const model_row *row, const source_row *s)
{
    (void)row;
    return s->w;
}

static model_value set_w_or_s(const model_row *row, const source_row *s)
{
    return s->w.null ? row->values[COL_S] : s->w;
}

static model_value set_more(const model_row *row, const source_row *s)
{
    (void)row;
    return s->v.null ? model_null() : model_long(s->v.i > 3);
}

static const pair_rule pair_rules[] = {
    {COL_N, "src.v", set_v},
    {COL_N, "n + src.v", set_n_and_v},
    {COL_D, "src.v / 2", set_half},
    {COL_S, "src.w", set_w},
    {COL_S, "coalesce(src.w, s)", set_w_or_s},
    {COL_B, "src.v > 3", set_more},
    {COL_A0, "src.v", set_v},
    {COL_A1, "src.w", set_w},
};

/* 1 true, 0 false, -1 null; row NULL: it speaks of the source alone */
typedef struct pair_condition {
    const char *text;
    bool of_source;
    int (*test)(const model_row *row, const source_row *s);
} pair_condition;

static int test_v(const model_row *row, const source_row *s)
{
    (void)row;
    return s->v.null ? -1 : s->v.i > 3;
}

static int test_w(const model_row *row, const source_row *s)
{
    (void)row;
    return s->w.null;
}

static int test_n(const model_row *row, const source_row *s)
{
    const model_value *n = &row->values[COL_N];
    return n->null || s->v.null ? -1 : n->i < s->v.i;
}

static const pair_condition pair_conditions[] = {
    {"src.v > 3", true, test_v},
    {"src.w IS NULL", true, test_w},
    {"n < src.v", false, test_n},
};

/* One that the table has the columns for. */
static const pair_condition *random_pair_condition(fixture *f, bool of_source)
{
    char text[TEXT_SIZE];
    const pair_condition *c;
    do {
        c = &pair_conditions[random_below(&f->random, FRZ_ARRAY_COUNT(pair_conditions))];
    } while ((of_source && !c->of_source) || !model_render(&f->now, c->text, text, sizeof text));
    return c;
}

/* ---- sources ---- */

static model_value key_of(const source *s, const model_row *row)
{
    return s->key == OUT_ROW_ID ? model_long(row->row_id) : row->values[s->key];
}

static model_value random_key(fixture *f, const source *s)
{
    if (random_below(&f->random, 8) == 0) {
        return model_null();
    }
    if (f->now.count == 0 || random_below(&f->random, 4) == 0) {
        return model_long(f->next_id + random_below(&f->random, 50));
    }
    return key_of(s, &f->now.rows[random_below(&f->random, (int64_t)f->now.count)]);
}

static bool has_key(const source *s, const model_value *k)
{
    bool has = false;
    for (size_t i = 0; i < s->count && !k->null; i++) {
        has = has || (!s->rows[i].k.null && s->rows[i].k.i == k->i);
    }
    return has;
}

/* Keys mostly come once. */
static void random_rows(fixture *f, source *s)
{
    bool twice = random_below(&f->random, 6) == 0;
    int64_t wanted = random_below(&f->random, MOST_SOURCE);
    for (; wanted > 0; wanted--) {
        source_row row = {.k = random_key(f, s),
                          .v = random_value(&f->random, COL_N, 0),
                          .w = random_value(&f->random, COL_S, 0)};
        if (twice || !has_key(s, &row.k)) {
            row.i = model_long(f->next_id++);
            s->rows[s->count++] = row;
        }
    }
}

static void random_source(fixture *f, source *s)
{
    static const int keys[] = {COL_ID, COL_ID, OUT_ROW_ID, COL_N};
    char text[TEXT_SIZE];
    *s = (source){.f = f};
    s->key = keys[random_below(&f->random, FRZ_ARRAY_COUNT(keys))];
    if (s->key == COL_N && !model_has(&f->now, COL_N)) {
        s->key = COL_ID;
    }
    random_rows(f, s);
    size_t len =
        (size_t)snprintf(s->on, sizeof s->on, "src.k = %s",
                         s->key == OUT_ROW_ID ? "_row_id" : model_name(&f->now, (size_t)s->key));
    if (random_below(&f->random, 3) == 0) {
        s->of_table = random_condition(f, &s->number);
        condition_text(&f->now, s->of_table, s->number, text, sizeof text);
        len += (size_t)snprintf(s->on + len, sizeof s->on - len, " AND (%s)", text);
    }
    if (random_below(&f->random, 4) == 0) {
        s->of_pair = random_pair_condition(f, false);
        assert_true(model_render(&f->now, s->of_pair->text, text, sizeof text));
        snprintf(s->on + len, sizeof s->on - len, " AND %s", text);
    }
}

static void note_value(fixture *f, model_kind kind, const model_value *value, const char *end)
{
    frz_code rc = value->null ? frz_buf_printf(&f->log, &f->err, "NULL%s", end)
                  : kind == KIND_STRING
                      ? frz_buf_printf(&f->log, &f->err, "'%s'%s", value->text, end)
                      : frz_buf_printf(&f->log, &f->err, "%lld%s", (long long)value->i, end);
    assert_ok(rc, &f->err);
}

static void note_source(const source *s)
{
    fixture *f = s->f;
    note(f, "with src (k, v, w, i) of");
    for (size_t i = 0; i < s->count; i++) {
        const source_row *row = &s->rows[i];
        note_value(f, KIND_LONG, &row->k, ", ");
        note_value(f, KIND_LONG, &row->v, ", ");
        note_value(f, KIND_STRING, &row->w, ", ");
        note_value(f, KIND_LONG, &row->i, i + 1 == s->count ? "\n" : "; ");
    }
}

static void build_source(const source *s, model_batch *out)
{
    fixture *f = s->f;
    frz_builder *b = NULL;
    const frz_type *number = frz_type_primitive(FRZ_TYPE_LONG);
    const frz_type *text = frz_type_primitive(FRZ_TYPE_STRING);
    const frz_field fields[] = {{.id = FRZ_ID_NONE, .name = FRZ_STR("k"), .type = number},
                                {.id = FRZ_ID_NONE, .name = FRZ_STR("v"), .type = number},
                                {.id = FRZ_ID_NONE, .name = FRZ_STR("w"), .type = text},
                                {.id = FRZ_ID_NONE, .name = FRZ_STR("i"), .type = number}};
    *out = (model_batch){.f = f};
    assert_ok(frz_type_struct_of(&f->arena, fields, 4, &out->type, &f->err), &f->err);
    assert_ok(frz_builder_new(f->env, out->type, &b, &f->err), &f->err);
    for (size_t i = 0; i < s->count; i++) {
        build_value(f, frz_builder_child(b, 0), KIND_LONG, &s->rows[i].k);
        build_value(f, frz_builder_child(b, 1), KIND_LONG, &s->rows[i].v);
        build_value(f, frz_builder_child(b, 2), KIND_STRING, &s->rows[i].w);
        build_value(f, frz_builder_child(b, 3), KIND_LONG, &s->rows[i].i);
        assert_ok(frz_builder_end(b, &f->err), &f->err);
    }
    assert_ok(frz_builder_finish(b, &out->array, &f->err), &f->err);
    frz_builder_free(b);
}

static const char *source_file(fixture *f, model_batch *batch)
{
    frz_parquet_write_options options = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_writer *writer = NULL;
    const char *path = frz_arena_printf(&f->arena, "%s/rows-%lld.parquet", f->folder,
                                        (long long)random_below(&f->random, 1000000));
    assert_non_null(path);
    options.group_rows = 1 + random_below(&f->random, 20);
    assert_ok(frz_parquet_writer_open(f->env, path, batch->type, &options, &writer, &f->err),
              &f->err);
    assert_ok(frz_parquet_writer_write(writer, &batch->array, &f->err), &f->err);
    assert_ok(frz_parquet_writer_finish(writer, false, NULL, NULL, &f->err), &f->err);
    frz_array_release(&batch->array);
    return path;
}

/* A stream, which cannot be read again, or a file; run the statement with it. */
static frz_code run_with(const source *s,
                         frz_code (*run)(void *ctx, const frz_row_source *rows,
                                         frz_commit_report *report),
                         void *ctx, frz_commit_report *report)
{
    fixture *f = s->f;
    model_batch batch;
    const char *file = NULL;
    struct ArrowArrayStream stream = {0};
    frz_row_source rows = FRZ_ROW_SOURCE_INIT;
    build_source(s, &batch);
    rows.name = "src";
    rows.memory_bytes = random_below(&f->random, 2) == 0 ? 0 : 1;
    if (f->rival == NULL && random_below(&f->random, 2) == 0) {
        model_stream(&batch, &stream);
        rows.stream = &stream;
    } else {
        file = source_file(f, &batch);
        rows.files = &file;
        rows.file_count = 1;
    }
    *report = (frz_commit_report){0};
    frz_code rc = run(ctx, &rows, report);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return rc;
}

/* ---- rows that belong together ---- */

/* How many rows of the source have the key of a row, but for those that a condition on the source
 * rules out; the last of them. */
static size_t rows_of(source *s, const model_row *row, source_row **out)
{
    size_t count = 0;
    model_value key = key_of(s, row);
    for (size_t i = 0; i < s->count && !key.null; i++) {
        source_row *r = &s->rows[i];
        bool asked = s->of_pair == NULL || !s->of_pair->of_source || s->of_pair->test(row, r) == 1;
        if (asked && !r->k.null && r->k.i == key.i) {
            *out = r;
            count++;
        }
    }
    return count;
}

/* The row of the source that a row has by the whole condition; NULL: none. */
static source_row *row_of(source *s, const model_row *row)
{
    source_row *found = NULL;
    bool has = matches(s->of_table, row, s->number) && rows_of(s, row, &found) > 0 &&
               (s->of_pair == NULL || s->of_pair->test(row, found) == 1);
    if (has) {
        found->used = true;
    }
    return has ? found : NULL;
}

/* Of an UPDATE no two rows may have one key, but for those that a condition on the source rules
 * out; of a MERGE no two that have the key of a row that conditions on the table let through. */
static bool is_ambiguous(source *s, bool merge)
{
    source_row *last = NULL;
    const model *m = &s->f->now;
    for (size_t i = 0; i < m->count && merge; i++) {
        if (matches(s->of_table, &m->rows[i], s->number) && rows_of(s, &m->rows[i], &last) > 1) {
            return true;
        }
    }
    for (size_t i = 0; i < s->count && !merge; i++) {
        const source_row *a = &s->rows[i];
        for (size_t j = 0; j < i; j++) {
            const source_row *b = &s->rows[j];
            bool both = s->of_pair == NULL || !s->of_pair->of_source ||
                        (s->of_pair->test(NULL, a) == 1 && s->of_pair->test(NULL, b) == 1);
            if (both && !a->k.null && !b->k.null && a->k.i == b->k.i) {
                return true;
            }
        }
    }
    return false;
}

/* False: it failed, as it had to. */
static bool succeeds(source *s, bool merge, frz_code rc)
{
    fixture *f = s->f;
    if (is_ambiguous(s, merge)) {
        assert_model(f, rc == FRZ_E_ARGUMENT && strstr(f->err.message, "several rows") != NULL,
                     "%s: %s", frz_code_name(rc), f->err.message);
        return false;
    }
    assert_model(f, rc == FRZ_OK, "%s: %s", frz_code_name(rc), f->err.message);
    return true;
}

/* filtered: rows that a condition on the source rules out are not counted. */
static void check_used(source *s, bool filtered, const frz_commit_report *report)
{
    int64_t rows = 0, unused = 0;
    for (size_t i = 0; i < s->count; i++) {
        bool counts = !filtered || s->of_pair == NULL || !s->of_pair->of_source ||
                      s->of_pair->test(NULL, &s->rows[i]) == 1;
        rows += counts;
        unused += counts && !s->rows[i].used;
    }
    assert_model(s->f, report->source_rows == rows && report->source_unmatched == unused,
                 "expected %lld rows of the source, %lld unmatched, found %lld and %lld",
                 (long long)rows, (long long)unused, (long long)report->source_rows,
                 (long long)report->source_unmatched);
}

/* ---- assignments ---- */

typedef struct assignment {
    int column;
    const model_rule *rule; /* or */
    const pair_rule *pair;
    char text[TEXT_SIZE];
} assignment;

typedef struct assignment_list {
    assignment items[MOST_RULES];
    frz_assignment given[MOST_RULES];
    size_t count;
} assignment_list;

static bool is_set(const assignment_list *list, int column)
{
    bool set = false;
    for (size_t i = 0; i < list->count; i++) {
        set = set || list->items[i].column == column;
    }
    return set;
}

/* At least one: id and lineage are always there. */
static void random_assignments(fixture *f, bool with_source, assignment_list *list)
{
    size_t wanted = (size_t)(1 + random_below(&f->random, MOST_RULES));
    *list = (assignment_list){.count = 0};
    for (int tries = 0; list->count < wanted && tries < 100; tries++) {
        assignment a = {.column = COL_ID};
        bool pair = with_source && random_below(&f->random, 3) != 0;
        if (pair) {
            a.pair = &pair_rules[random_below(&f->random, FRZ_ARRAY_COUNT(pair_rules))];
        } else {
            a.rule = &model_rules[random_below(&f->random, FRZ_ARRAY_COUNT(model_rules))];
        }
        a.column = pair ? a.pair->column : a.rule->column;
        if (model_has(&f->now, (size_t)a.column) && !is_set(list, a.column) &&
            model_render(&f->now, pair ? a.pair->text : a.rule->text, a.text, sizeof a.text)) {
            list->items[list->count++] = a;
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        list->given[i].column = model_name(&f->now, (size_t)list->items[i].column);
        list->given[i].expression = list->items[i].text;
    }
}

static void assign(const assignment_list *list, const source_row *s, int64_t sequence,
                   model_row *row)
{
    const model_row old = *row;
    for (size_t i = 0; i < list->count; i++) {
        const assignment *a = &list->items[i];
        row->values[a->column] = a->pair != NULL ? a->pair->value(&old, s) : a->rule->value(&old);
    }
    row->last_updated = sequence;
}

static void note_assignments(fixture *f, const frz_assignment *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_ok(
            frz_buf_printf(&f->log, &f->err, "    %s = %s\n", list[i].column, list[i].expression),
            &f->err);
    }
}

/* ---- UPDATE … FROM ---- */

typedef struct update_from {
    frz_catalog *catalog;
    source src;
    assignment_list set;
} update_from;

static frz_code run_update(void *ctx, const frz_row_source *rows, frz_commit_report *report)
{
    update_from *u = ctx;
    return frz_update_columns_from(u->catalog, NAME, NULL, u->set.given, u->set.count, rows,
                                   u->src.on, report, &u->src.f->err);
}

void model_update_from(fixture *f, frz_catalog *catalog)
{
    update_from u = {.catalog = catalog};
    frz_commit_report report;
    int64_t rows = 0;
    random_source(f, &u.src);
    random_assignments(f, true, &u.set);
    if (u.set.count == 0) {
        return;
    }
    note(f, "UPDATE " NAME " SET");
    note_assignments(f, u.set.given, u.set.count);
    note(f, "FROM src WHERE");
    note(f, u.src.on);
    note_source(&u.src);
    frz_code rc = run_with(&u.src, run_update, &u, &report);
    if (!succeeds(&u.src, false, rc)) {
        return;
    }
    for (size_t i = 0; i < f->now.count; i++) {
        model_row *row = &f->now.rows[i];
        const source_row *s = row_of(&u.src, row);
        if (s != NULL) {
            assign(&u.set, s, f->sequence + 1, row);
            rows++;
        }
    }
    check_used(&u.src, true, &report);
    model_follow(f, &report, rows);
}

/* ---- MERGE ---- */

typedef struct clause {
    frz_merge_when when;
    frz_merge_action action;
    const model_condition *of_table; /* one of them, or neither */
    const pair_condition *of_pair;
    int64_t number;
    char condition[TEXT_SIZE];
    assignment_list set;  /* UPDATE */
    bool gives[COL_MOST]; /* INSERT: columns that it names, */
    frz_assignment given[COL_MOST];
    size_t given_count;
} clause;

typedef struct merge {
    frz_catalog *catalog;
    source src;
    clause clauses[MOST_CLAUSES];
    frz_merge_clause given[MOST_CLAUSES];
    size_t count;
    int64_t updated, deleted;
    model_row inserted[MOST_SOURCE];
    size_t inserted_count;
} merge;

static model_value insert_value(const source_row *s, int column)
{
    return column == COL_ID  ? s->i
           : column == COL_N ? s->v
           : column == COL_S ? s->w
                             : set_half(NULL, s);
}

/* The id, and of the others those that are there, but for some. */
static void random_insert(fixture *f, clause *c)
{
    static const struct {
        int column;
        const char *text;
    } all[] = {{COL_ID, "src.i"}, {COL_N, "src.v"}, {COL_S, "src.w"}, {COL_D, "src.v / 2"}};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(all); i++) {
        int column = all[i].column;
        if (column == COL_ID ||
            (model_has(&f->now, (size_t)column) && random_below(&f->random, 4) != 0)) {
            c->gives[column] = true;
            c->given[c->given_count].column = model_name(&f->now, (size_t)column);
            c->given[c->given_count++].expression = all[i].text;
        }
    }
}

static void random_clause_condition(fixture *f, clause *c)
{
    bool inserts = c->action == FRZ_MERGE_INSERT;
    bool pair =
        c->when != FRZ_MERGE_NOT_MATCHED_BY_SOURCE && (inserts || random_below(&f->random, 2) == 0);
    if (random_below(&f->random, 2) == 0) {
        return;
    }
    if (pair) {
        c->of_pair = random_pair_condition(f, inserts);
        assert_true(model_render(&f->now, c->of_pair->text, c->condition, sizeof c->condition));
    } else {
        c->of_table = random_condition(f, &c->number);
        condition_text(&f->now, c->of_table, c->number, c->condition, sizeof c->condition);
    }
}

/* False: too little is left of the table. */
static bool random_clause(fixture *f, clause *c)
{
    *c = (clause){.when = (frz_merge_when)random_below(&f->random, 3)};
    c->action = c->when == FRZ_MERGE_NOT_MATCHED   ? FRZ_MERGE_INSERT
                : random_below(&f->random, 3) == 0 ? FRZ_MERGE_DELETE
                                                   : FRZ_MERGE_UPDATE;
    random_clause_condition(f, c);
    if (c->action == FRZ_MERGE_INSERT) {
        random_insert(f, c);
    } else if (c->action == FRZ_MERGE_UPDATE) {
        random_assignments(f, c->when == FRZ_MERGE_MATCHED, &c->set);
    }
    return c->action != FRZ_MERGE_UPDATE || c->set.count > 0;
}

static void note_clause(fixture *f, const frz_merge_clause *c)
{
    static const char *const whens[] = {"MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE"};
    static const char *const actions[] = {"UPDATE", "DELETE", "INSERT"};
    assert_ok(frz_buf_printf(&f->log, &f->err, "  WHEN %s%s%s THEN %s\n", whens[c->when],
                             c->condition == NULL ? "" : " AND ",
                             c->condition == NULL ? "" : c->condition, actions[c->action]),
              &f->err);
    note_assignments(f, c->assignments, c->assignment_count);
}

static void random_clauses(fixture *f, merge *m)
{
    size_t wanted = (size_t)(1 + random_below(&f->random, MOST_CLAUSES));
    while (m->count < wanted) {
        clause *c = &m->clauses[m->count];
        if (!random_clause(f, c)) {
            wanted--;
            continue;
        }
        bool inserts = c->action == FRZ_MERGE_INSERT;
        m->given[m->count++] =
            (frz_merge_clause){.when = c->when,
                               .action = c->action,
                               .condition = c->condition[0] == '\0' ? NULL : c->condition,
                               .assignments = inserts                         ? c->given
                                              : c->action == FRZ_MERGE_UPDATE ? c->set.given
                                                                              : NULL,
                               .assignment_count = inserts ? c->given_count : c->set.count};
    }
}

static frz_code run_merge(void *ctx, const frz_row_source *rows, frz_commit_report *report)
{
    merge *m = ctx;
    return frz_merge(m->catalog, NAME, NULL, rows, m->src.on, m->given, m->count, report,
                     &m->src.f->err);
}

/* The first clause that a row, or a row of the source that none has, meets; NULL: none. */
static const clause *clause_of(const merge *m, frz_merge_when when, const model_row *row,
                               const source_row *s)
{
    for (size_t i = 0; i < m->count; i++) {
        const clause *c = &m->clauses[i];
        bool meets = c->when == when && (c->of_pair == NULL || c->of_pair->test(row, s) == 1) &&
                     (c->of_table == NULL || matches(c->of_table, row, c->number));
        if (meets) {
            return c;
        }
    }
    return NULL;
}

/* Rows of the table. */
static void merge_rows(merge *m)
{
    model *now = &m->src.f->now;
    size_t kept = 0;
    for (size_t i = 0; i < now->count; i++) {
        model_row row = now->rows[i];
        const source_row *s = row_of(&m->src, &row);
        const clause *c =
            clause_of(m, s != NULL ? FRZ_MERGE_MATCHED : FRZ_MERGE_NOT_MATCHED_BY_SOURCE, &row, s);
        if (c != NULL && c->action == FRZ_MERGE_DELETE) {
            m->deleted++;
            continue;
        }
        if (c != NULL) {
            assign(&c->set, s, m->src.f->sequence + 1, &row);
            m->updated++;
        }
        now->rows[kept++] = row;
    }
    now->count = kept;
}

/* Rows of the source that none has used. */
static void insert_rows(merge *m)
{
    fixture *f = m->src.f;
    for (size_t i = 0; i < m->src.count; i++) {
        const source_row *s = &m->src.rows[i];
        const clause *c = s->used ? NULL : clause_of(m, FRZ_MERGE_NOT_MATCHED, NULL, s);
        if (c == NULL) {
            continue;
        }
        column_set set = {.count = 0};
        model_row row = {.last_updated = f->sequence + 1};
        for (int column = 0; column < COL_MOST; column++) {
            if (c->gives[column]) {
                row.values[column] = insert_value(s, column);
                set.columns[set.count++] = column;
            }
        }
        model_fill_in(&f->now, &set, &row);
        m->inserted[m->inserted_count++] = row;
    }
}

/* No row of this or an earlier state has it. */
static bool is_fresh(const fixture *f, const merge *m, int64_t row_id)
{
    for (size_t i = 0; i <= f->history_count; i++) {
        const model *state = i < f->history_count ? &f->history[i] : &f->now;
        for (size_t k = 0; k < state->count; k++) {
            if (state->rows[k].row_id >= row_id) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < m->inserted_count; i++) {
        if (m->inserted[i].row_id == row_id) {
            return false;
        }
    }
    return true;
}

/* New rows may come in any order: what their row ids are is asked, and that they are fresh. */
static void learn_row_ids(merge *m, const struct ArrowArray *batch)
{
    fixture *f = m->src.f;
    for (int64_t i = 0; i < batch->length; i++) {
        int64_t id = frz_get_i64(batch->children[0], i);
        int64_t row_id = frz_get_i64(batch->children[1], i);
        for (size_t k = 0; k < m->inserted_count; k++) {
            if (m->inserted[k].values[COL_ID].i == id) {
                assert_model(f, is_fresh(f, m, row_id), "id %lld: row id %lld is not fresh",
                             (long long)id, (long long)row_id);
                m->inserted[k].row_id = row_id;
            }
        }
    }
}

static void ask_row_ids(merge *m)
{
    fixture *f = m->src.f;
    frz_code rc;
    char sql[64];
    frz_sql_result result = {0};
    struct ArrowArray batch = {0};
    for (size_t i = 0; i < m->inserted_count; i++) {
        m->inserted[i].row_id = -1;
    }
    snprintf(sql, sizeof sql, "SELECT %s, _row_id FROM " NAME, model_name(&f->now, COL_ID));
    assert_ok(frz_sql_run(&f->outer, NULL, sql, &result, &f->err), &f->err);
    while ((rc = result.rows.get_next(&result.rows, &batch)) == 0 && batch.release != NULL) {
        learn_row_ids(m, &batch);
        frz_array_release(&batch);
    }
    assert_int_equal(rc, 0);
    result.rows.release(&result.rows);
}

void model_merge(fixture *f, frz_catalog *catalog)
{
    merge m = {.catalog = catalog};
    frz_commit_report report;
    random_source(f, &m.src);
    random_clauses(f, &m);
    if (m.count == 0) {
        return;
    }
    note(f, "MERGE INTO " NAME " USING src ON");
    note(f, m.src.on);
    for (size_t i = 0; i < m.count; i++) {
        note_clause(f, &m.given[i]);
    }
    note_source(&m.src);
    frz_code rc = run_with(&m.src, run_merge, &m, &report);
    if (!succeeds(&m.src, true, rc)) {
        return;
    }
    merge_rows(&m);
    insert_rows(&m);
    ask_row_ids(&m);
    model_put(&f->now, m.inserted, m.inserted_count);
    check_used(&m.src, false, &report);
    assert_model(
        f, report.rows_deleted == m.deleted && report.rows_inserted == (int64_t)m.inserted_count,
        "expected %lld rows deleted, %zu inserted, found %lld and %lld", (long long)m.deleted,
        m.inserted_count, (long long)report.rows_deleted, (long long)report.rows_inserted);
    model_follow(f, &report, m.updated + m.deleted + (int64_t)m.inserted_count);
}
