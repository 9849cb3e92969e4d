/*
 * scan_predicates: does a scan with a condition find the rows that it should?
 *
 *   scan_predicates METADATA < CONDITIONS
 *
 * Each line of standard input is an SQL condition over the columns of the table's current snapshot.
 * The values of "id" of the rows for which it is true are found twice: by a scan that skips what it
 * can, and in all rows, which are read once, without any proof. A line per condition comes out:
 * matching rows, data files, data files skipped, rows skipped inside of the others; then "ok", or
 * "differs" and the two counts, or "error" and the message. The first line is the rows of the
 * table. Exit status 1 if any differs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "expr/expr.h"
#include "frazil/scan.h"
#include "meta/meta_table.h"

#define LONGEST_LINE 65536

typedef struct id_list {
    int64_t *items;
    size_t count, capacity;
} id_list;

typedef struct checker {
    const frz_env *env;
    frz_table *table;
    const frz_type *type; /* of all batches */
    size_t id_column;
    struct ArrowArray *batches; /* all rows */
    size_t batch_count, batch_capacity;
    frz_arena arena; /* of one condition */
} checker;

static frz_code add_id(checker *c, id_list *list, const struct ArrowArray *column, int64_t row,
                       frz_error *err)
{
    frz_code rc = FRZ_GROW(c->env, &list->items, &list->capacity, list->count, err);
    if (rc == FRZ_OK) {
        list->items[list->count++] = frz_get_i64(column, row);
    }
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void sort_ids(id_list *list)
{
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, compare_ids);
    }
}

/* ---- all rows ---- */

static frz_code read_all(checker *c, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    FRZ_TRY(frz_scan_open(c->table, NULL, &scan, err));
    while ((rc = frz_scan_next(scan, &batch, err)) == FRZ_OK) {
        rc = FRZ_GROW(c->env, &c->batches, &c->batch_capacity, c->batch_count, err);
        if (rc != FRZ_OK) {
            frz_array_release(&batch);
            goto out;
        }
        c->batches[c->batch_count++] = batch;
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_scan_close(scan);
    return rc;
}

static frz_code select_ids(checker *c, const frz_bound_expr *filter, id_list *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; rc == FRZ_OK && i < c->batch_count; i++) {
        const struct ArrowArray *batch = &c->batches[i];
        int64_t selected = 0;
        uint8_t *bits = frz_arena_alloc(&c->arena, (size_t)batch->length / 8 + 16);
        if (bits == NULL) {
            return frz_fail_nomem(err, (size_t)batch->length);
        }
        rc = frz_expr_select(filter, c->type, batch, 0, NULL, bits, &selected, err);
        for (int64_t row = 0; rc == FRZ_OK && row < batch->length; row++) {
            if (frz_bit_get(bits, row)) {
                rc = add_id(c, out, batch->children[c->id_column], row, err);
            }
        }
    }
    return rc;
}

/* ---- one condition ---- */

static frz_code scan_ids(checker *c, const char *where, id_list *out, frz_scan_report *report,
                         frz_error *err)
{
    static const char *const columns[] = {"id"};
    frz_code rc = FRZ_OK;
    frz_scan *scan = NULL;
    struct ArrowArray batch;
    frz_scan_options options = FRZ_SCAN_OPTIONS_INIT;
    options.columns = columns;
    options.column_count = 1;
    options.where = where;
    FRZ_TRY(frz_scan_open(c->table, &options, &scan, err));
    while ((rc = frz_scan_next(scan, &batch, err)) == FRZ_OK) {
        for (int64_t row = 0; rc == FRZ_OK && row < batch.length; row++) {
            rc = add_id(c, out, batch.children[0], row, err);
        }
        frz_array_release(&batch);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    frz_scan_report_get(scan, report);
out:
    frz_scan_close(scan);
    return rc;
}

static bool same_ids(const id_list *a, const id_list *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof *a->items) == 0);
}

static frz_code check(checker *c, const char *where, bool *differs, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr;
    frz_bound_expr *filter = NULL;
    id_list all = {0}, found = {0};
    frz_scan_report report = {0};
    FRZ_TRY(frz_expr_parse(&c->arena, frz_str_from(where), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(c->env, expr, c->type, &filter, err));
    FRZ_TRY(select_ids(c, filter, &all, err));
    rc = scan_ids(c, where, &found, &report, err);
    if (rc != FRZ_OK) {
        *differs = true; /* what all rows stand, a part of them must */
        goto out;
    }
    sort_ids(&all);
    sort_ids(&found);
    *differs = !same_ids(&all, &found);
    printf("%zu %" PRId64 " %" PRId64 " %" PRId64, all.count, report.files, report.files_skipped,
           report.rows_skipped);
    if (*differs) {
        printf(" differs: %zu instead of %zu\n", found.count, all.count);
    } else {
        printf(" ok\n");
    }
out:
    frz_bound_expr_free(filter);
    frz_free(c->env, all.items);
    frz_free(c->env, found.items);
    frz_arena_reset(&c->arena);
    return rc;
}

static bool check_lines(checker *c)
{
    static char line[LONGEST_LINE];
    bool good = true;
    while (fgets(line, sizeof line, stdin) != NULL) {
        frz_error err = {0};
        char message[2048];
        bool differs = false;
        line[strcspn(line, "\n")] = '\0';
        if (check(c, line, &differs, &err) != FRZ_OK) {
            frz_error_format(&err, message, sizeof message);
            printf("error %s\n", message);
        }
        good = good && !differs;
    }
    return good;
}

static frz_code open_table(checker *c, const char *location, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = 0;
    FRZ_TRY(frz_table_open(c->env, location, NULL, &c->table, err));
    c->type = frz_metadata_current_schema(&c->table->metadata)->type;
    while (c->id_column < c->type->field_count &&
           !frz_str_equal(c->type->fields[c->id_column].name, FRZ_STR("id"))) {
        c->id_column++;
    }
    if (c->id_column == c->type->field_count) {
        rc = frz_fail(err, FRZ_E_ARGUMENT, "%s: no column id", location);
        goto out;
    }
    FRZ_TRY(read_all(c, err));
    for (size_t i = 0; i < c->batch_count; i++) {
        rows += c->batches[i].length;
    }
    printf("%" PRId64 "\n", rows);
out:
    return rc;
}

int main(int argc, char **argv)
{
    frz_env *env = NULL;
    frz_error err = {0};
    bool good = false;
    if (argc != 2) {
        fprintf(stderr, "usage: scan_predicates METADATA < CONDITIONS\n");
        return 2;
    }
    if (frz_env_new(NULL, &env, &err) != FRZ_OK) {
        return 1;
    }
    checker c = {.env = env};
    frz_arena_init(&c.arena, env, FRZ_ARENA_NO_LIMIT);
    if (open_table(&c, argv[1], &err) == FRZ_OK) {
        good = check_lines(&c);
    } else {
        char message[2048];
        frz_error_format(&err, message, sizeof message);
        fprintf(stderr, "%s\n", message);
    }
    for (size_t i = 0; i < c.batch_count; i++) {
        frz_array_release(&c.batches[i]);
    }
    frz_free(env, c.batches);
    frz_arena_reset(&c.arena);
    frz_table_unref(c.table);
    frz_env_free(env);
    return good ? 0 : 1;
}
