/*
 * Sets of positions and row ids in the making: so many numbers at a time are sorted and join those
 * before, so that memory follows the set, which is packed, and not the numbers.
 */
#include "changes/changes_internal.h"

#define GATHERED_MAX ((size_t)1 << 18)

static frz_code flush(change_gatherer *g, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_positions *more = NULL, *both = NULL;
    if (g->count == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_positions_sort(g->env, g->numbers, g->count, &more, err));
    g->count = 0;
    if (g->set == NULL) {
        g->set = more;
        return FRZ_OK;
    }
    const frz_positions *sets[] = {g->set, more};
    FRZ_TRY(frz_positions_union(g->env, sets, 2, &both, err));
    frz_positions_free(g->set);
    g->set = both;
out:
    frz_positions_free(more);
    return rc;
}

frz_code change_gather(change_gatherer *g, int64_t number, frz_error *err)
{
    if (g->numbers == NULL) {
        g->numbers = frz_alloc(g->env, GATHERED_MAX * sizeof *g->numbers);
        if (g->numbers == NULL) {
            return frz_fail_nomem(err, GATHERED_MAX * sizeof *g->numbers);
        }
    }
    g->numbers[g->count++] = number;
    return g->count == GATHERED_MAX ? flush(g, err) : FRZ_OK;
}

frz_code change_gather_finish(change_gatherer *g, frz_positions **out, frz_error *err)
{
    frz_code rc = flush(g, err);
    if (rc == FRZ_OK) {
        *out = g->set;
        g->set = NULL;
    }
    return rc;
}

void change_gatherer_reset(change_gatherer *g)
{
    frz_positions_free(g->set);
    frz_free(g->env, g->numbers);
    *g = (change_gatherer){.env = g->env};
}
