/*
 * Plans a scan of a table and counts the data files that are left.
 * Usage: plan_bench [--threads N] METADATA [WHERE]. Prints the files, the seconds of the plan
 * without the table's opening, and what the levels skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "scan/scan_plan.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(frz_code rc, const frz_error *err)
{
    if (rc != FRZ_OK) {
        char text[1024];
        frz_error_format(err, text, sizeof text);
        fprintf(stderr, "plan_bench: %s\n", text);
        exit(1);
    }
}

static void plan_table(const frz_table *table, const char *where)
{
    frz_error err = {0};
    const frz_metadata *m = &table->metadata;
    frz_file_plan_options options = {.snapshot = frz_metadata_current_snapshot(m),
                                     .schema = frz_metadata_current_schema(m)};
    frz_bound_expr *filter = NULL;
    frz_file_plan *plan = NULL;
    frz_file_plan_report report;
    frz_planned_file task;
    frz_arena arena;
    frz_code rc;
    long files = 0;
    double start = now();
    frz_arena_init(&arena, table->env, FRZ_ARENA_NO_LIMIT);
    if (where != NULL) {
        const frz_expr *expr = NULL;
        check(frz_expr_parse(&arena, frz_str_from(where), &expr, &err), &err);
        check(frz_expr_bind_filter(table->env, expr, options.schema->type, &filter, &err), &err);
        options.filter = filter;
    }
    check(frz_file_plan_open(table, &options, &plan, &err), &err);
    while ((rc = frz_file_plan_next(plan, &task, &err)) == FRZ_OK) {
        files++;
    }
    check(rc == FRZ_END ? FRZ_OK : rc, &err);
    frz_file_plan_report_get(plan, &report);
    printf("%ld %.6f; manifests %lld, skipped %lld; files %lld, skipped %lld\n", files,
           now() - start, (long long)report.manifests, (long long)report.manifests_skipped,
           (long long)report.files, (long long)report.files_skipped);
    frz_file_plan_close(plan);
    frz_bound_expr_free(filter);
    frz_arena_reset(&arena);
}

int main(int argc, char **argv)
{
    frz_env_options options = FRZ_ENV_OPTIONS_INIT;
    frz_error err = {0};
    frz_env *env = NULL;
    frz_table *table = NULL;
    if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
        options.threads = atoi(argv[2]);
        argc -= 2;
        argv += 2;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: plan_bench [--threads N] METADATA [WHERE]\n");
        return 2;
    }
    check(frz_env_new(&options, &env, &err), &err);
    check(frz_table_open(env, argv[1], NULL, &table, &err), &err);
    plan_table(table, argc > 2 ? argv[2] : NULL);
    frz_table_unref(table);
    frz_env_free(env);
    return 0;
}
