/*
 * Equality deletes whose keys do not fit into memory at once: the keys are read in portions, and
 * for each the data file is read, its keys only. What is found is kept by position.
 */
#include "scan/scan_deletes_internal.h"
#include "scan/scan_stitch.h"

typedef struct portions {
    frz_delete_index *index;
    key_group group; /* a copy with a set of its own */
    const frz_entry *entry;
    const frz_positions *deleted; /* rows that others delete; NULL: none */
    const frz_type *read_type;
    uint8_t *live; /* a bit for each row of the data file */
    size_t limit;  /* of the set */
} portions;

static frz_code probe_batch(portions *p, const frz_batch *batch, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = p->index->env;
    int64_t rows = batch->array.length;
    frz_key_column *columns = NULL;
    uint8_t *bits = frz_alloc(env, frz_bitmap_bytes(rows) + 8);
    if (bits == NULL) {
        return frz_fail_nomem(err, frz_bitmap_bytes(rows));
    }
    FRZ_TRY(delete_key_columns(env, &p->group, p->read_type, &batch->array, &columns, err));
    frz_bitmap_copy(p->live, batch->first_row, rows, bits, 0);
    FRZ_TRY(frz_key_set_clear(p->group.set, columns, rows, p->entry->sequence_number, bits, err));
    frz_bitmap_copy(bits, 0, rows, p->live, batch->first_row);
out:
    delete_key_columns_free(env, &p->group, columns);
    frz_free(env, bits);
    return rc;
}

/* Hold the keys that were read against the data file. */
static frz_code probe_file(portions *p, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_stitch *stitch = NULL;
    frz_batch batch = {0};
    const frz_stitch_request request = {
        .projection = p->read_type, .with_deleted = true, .deleted = p->deleted};
    if (p->group.set == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_stitch_open(p->index->table, p->entry, &request, &stitch, err));
    while ((rc = frz_stitch_next(stitch, &batch, err)) == FRZ_OK) {
        rc = probe_batch(p, &batch, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
    frz_key_set_free(p->group.set);
    p->group.set = NULL;
out:
    frz_stitch_close(stitch);
    return rc;
}

static frz_code probe_if_full(void *ctx, frz_error *err)
{
    portions *p = ctx;
    return frz_key_set_bytes(p->group.set) > p->limit ? probe_file(p, err) : FRZ_OK;
}

static frz_code choose_read_type(portions *p, frz_arena *arena, frz_error *err)
{
    static const frz_type nothing = {.id = FRZ_TYPE_STRUCT};
    frz_code rc = FRZ_OK;
    p->read_type = &nothing;
    for (size_t i = 0; i < p->group.id_count; i++) {
        if (p->group.types[i] == NULL) {
            rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                          "unsupported: many equality deletes by field id %d, which no schema of "
                          "the table has any more",
                          p->group.ids[i]);
            goto out;
        }
        FRZ_TRY(delete_add_field(arena, p->read_type, p->group.sources[i], p->group.ids[i], NULL,
                                 &p->read_type, err));
    }
out:
    return rc;
}

/* The positions of the bits that were cleared. */
static frz_code positions_of(const portions *p, frz_positions **out, frz_error *err)
{
    int64_t rows = p->entry->record_count;
    size_t count = (size_t)(rows - frz_bitmap_count(p->live, 0, rows)), n = 0;
    int64_t *list = frz_alloc_zero(p->index->env, count, sizeof *list);
    if (list == NULL) {
        return frz_fail_nomem(err, count * sizeof *list);
    }
    for (int64_t i = 0; i < rows; i++) {
        if (!frz_bit_get(p->live, i)) {
            list[n++] = i;
        }
    }
    frz_code rc = frz_positions_of(p->index->env, list, count, out, err);
    frz_free(p->index->env, list);
    return rc;
}

frz_code delete_in_portions(frz_delete_index *index, const key_group *group, const frz_entry *entry,
                            frz_file_deletes *deletes, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_arena arena;
    frz_positions *found = NULL;
    size_t bytes = frz_bitmap_bytes(entry->record_count);
    portions p = {.index = index,
                  .group = *group,
                  .entry = entry,
                  .deleted = deletes->positions,
                  .limit = index->options.key_bytes / 2};
    frz_arena_init(&arena, index->env, FRZ_ARENA_NO_LIMIT);
    p.group.set = NULL;
    p.live = frz_alloc(index->env, bytes + 8);
    if (p.live == NULL) {
        rc = frz_fail_nomem(err, bytes);
        goto out;
    }
    memset(p.live, 0xff, bytes);
    FRZ_TRY(choose_read_type(&p, &arena, err));
    for (size_t i = 0; i < group->file_count; i++) {
        if (delete_keys_may_match(&group->files[i], entry)) {
            FRZ_TRY(delete_read_keys(index, &p.group, &group->files[i], probe_if_full, &p, err));
        }
    }
    FRZ_TRY(probe_file(&p, err));
    FRZ_TRY(positions_of(&p, &found, err));
    rc = delete_add_positions(deletes, found, err);
out:
    frz_key_set_free(p.group.set);
    frz_free(index->env, p.live);
    frz_arena_reset(&arena);
    return rc;
}
