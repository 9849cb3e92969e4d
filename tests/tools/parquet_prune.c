/*
 * parquet_prune: does pruning lose rows?
 *
 *   parquet_prune FILE < CONDITIONS
 *
 * Each line of standard input is an SQL condition over the file's columns. For each, the rows for
 * which it is true are found twice: in all rows, and in those that pruning leaves. A line per
 * condition comes out: matching rows, rows left, rows, row groups skipped by statistics, by
 * dictionaries, by bloom filters, pages skipped by the page index, row groups; then "ok", or "lost
 * row N", or "error" and the message where the condition cannot be bound or evaluated over all
 * rows. Exit status 1 if a row was lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/format/parquet_prune_check.h"

#define LONGEST_LINE 65536

static bool report(const prune_rows *all, const prune_rows *left, const frz_prune_report *r)
{
    int64_t row = prune_difference(all, left);
    printf("%zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
           all->count, r->rows_left, r->rows, r->groups_by_statistics, r->groups_by_dictionary,
           r->groups_by_bloom, r->pages_by_index, r->groups);
    if (row < 0) {
        printf(" ok\n");
    } else {
        printf(" lost row %" PRId64 "\n", row);
    }
    return row < 0;
}

/* *lost: a row that matches was pruned, or pruning failed where scanning did not. */
static frz_code check(prune_checker *c, const char *text, bool *lost, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_expr *expr;
    frz_bound_expr *filter = NULL;
    prune_rows all = {0};
    prune_rows left = {0};
    frz_prune_report pruned = {0};
    FRZ_TRY(frz_expr_parse(&c->arena, frz_str_from(text), &expr, err));
    FRZ_TRY(frz_expr_bind_filter(c->env, expr, c->type, &filter, err));
    c->filter = filter;
    FRZ_TRY(prune_both(c, &all, &left, &pruned, lost, err));
    *lost = !report(&all, &left, &pruned);
out:
    frz_bound_expr_free(filter);
    frz_free(c->env, all.items);
    frz_free(c->env, left.items);
    frz_arena_reset(&c->arena);
    return rc;
}

static bool check_lines(prune_checker *c)
{
    static char line[LONGEST_LINE];
    bool good = true;
    while (fgets(line, sizeof line, stdin) != NULL) {
        frz_error err = {0};
        char message[2048];
        bool lost = false;
        line[strcspn(line, "\n")] = '\0';
        if (check(c, line, &lost, &err) != FRZ_OK) {
            frz_error_format(&err, message, sizeof message);
            printf("error %s\n", message);
        }
        good = good && !lost;
    }
    return good;
}

static frz_code run(const frz_env *env, const char *path, bool *good, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *file = NULL;
    frz_arena types;
    int32_t last;
    prune_checker c = {.env = env};
    frz_arena_init(&types, env, FRZ_ARENA_NO_LIMIT);
    frz_arena_init(&c.arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_data_file_open(env, path, NULL, &file, err));
    FRZ_TRY(frz_type_assign_ids(&types, frz_data_file_type(file), 1, &c.type, &last, err));
    file->type = c.type;
    c.file = file;
    *good = check_lines(&c);
out:
    frz_data_file_close(file);
    frz_arena_reset(&types);
    return rc;
}

int main(int argc, char **argv)
{
    frz_env *env = NULL;
    frz_error err = {0};
    bool good = false;
    if (argc != 2) {
        fprintf(stderr, "usage: parquet_prune FILE < CONDITIONS\n");
        return 2;
    }
    if (frz_env_new(NULL, &env, &err) != FRZ_OK) {
        return 1;
    }
    if (run(env, argv[1], &good, &err) != FRZ_OK) {
        char message[2048];
        frz_error_format(&err, message, sizeof message);
        fprintf(stderr, "%s\n", message);
    }
    frz_env_free(env);
    return good ? 0 : 1;
}
