/*
 * Rewritten files of earlier attempts: an entry that is still the same need not be rewritten again.
 */
#include <stdlib.h>

#include "files/files.h"

void frz_rewrite_results_init(frz_rewrite_results *results, const frz_env *env)
{
    *results = (frz_rewrite_results){.env = env};
    frz_arena_init(&results->arena, env, FRZ_ARENA_NO_LIMIT);
}

void frz_rewrite_results_reset(frz_rewrite_results *results)
{
    frz_free(results->env, results->list);
    frz_arena_reset(&results->arena);
    results->list = NULL;
    results->count = results->capacity = results->sorted = 0;
}

/* A file that another writer changed may be there twice: the later result is the one to be found.
 */
static int by_location(const void *a, const void *b)
{
    const frz_entry *x = &((const frz_rewrite_result *)a)->source;
    const frz_entry *y = &((const frz_rewrite_result *)b)->source;
    int order = frz_str_compare(x->location, y->location);
    return order != 0 ? order
                      : (x->sequence_number > y->sequence_number) -
                            (x->sequence_number < y->sequence_number);
}

void frz_rewrite_results_sort(frz_rewrite_results *results)
{
    if (results->count > 1) {
        qsort(results->list, results->count, sizeof *results->list, by_location);
    }
    results->sorted = results->count;
}

/* The first that stands at the location or behind it. */
static size_t lower_bound(const frz_rewrite_results *results, frz_str location)
{
    size_t low = 0, high = results->sorted;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (frz_str_compare(results->list[middle].source.location, location) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const frz_rewrite_result *frz_rewrite_results_find(const frz_rewrite_results *results,
                                                   const frz_entry *entry, int32_t schema_id)
{
    size_t i = lower_bound(results, entry->location);
    for (; i < results->sorted; i++) {
        const frz_rewrite_result *result = &results->list[i];
        if (!frz_str_equal(result->source.location, entry->location)) {
            break;
        }
        if (result->schema_id == schema_id && frz_same_content(&result->source, entry)) {
            return result;
        }
    }
    return NULL;
}

frz_code frz_rewrite_results_add(frz_rewrite_results *results, const frz_entry *entry,
                                 int32_t schema_id, const frz_rewritten *file, int64_t rows,
                                 const frz_rewrite_result **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_rewrite_result result = {.schema_id = schema_id, .rows = rows, .file = *file};
    FRZ_TRY(FRZ_GROW(results->env, &results->list, &results->capacity, results->count, err));
    FRZ_TRY(frz_entry_identity(&results->arena, entry, &result.source, err));
    results->list[results->count++] = result;
    *out = &results->list[results->count - 1];
out:
    return rc;
}
