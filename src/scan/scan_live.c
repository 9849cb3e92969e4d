/*
 * The live files that a change may touch, and the live rows of one of them, batch by batch.
 *
 * Who raises the data sequence number of an entry must fold first: delete files no longer apply
 * afterwards, so the entry's own deletion vector has to tell all deleted rows. For that the deleted
 * rows are noted as they are seen. spec: column files, writer procedure, step 1
 */
#include "scan/scan_live.h"

/* Statistics of fields that are held at once. */
#define WHOLE_STATS ((size_t)1 << 17)

/* ---- the files ---- */

static frz_code find_files(const frz_table *table, const frz_file_plan_options *options,
                           frz_arena *arena, frz_live_files *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_delete_options deletes = {.schema = options->schema};
    const int32_t *keys = NULL;
    size_t key_count = 0;
    *out = (frz_live_files){0};
    if (options->tree == NULL) {
        return FRZ_OK;
    }
    if (frz_tree_has_delete_files(options->tree)) {
        FRZ_TRY(frz_delete_index_open(table, options->tree, &deletes, &out->deletes, err));
    }
    FRZ_TRY(frz_file_plan_open(table, options, &out->plan, err));
    if (out->deletes != NULL) { /* statistics of keys tell which apply */
        FRZ_TRY(frz_delete_index_keys(out->deletes, arena, &keys, &key_count, err));
        FRZ_TRY(frz_file_plan_add_stats(out->plan, keys, key_count, err));
    }
    FRZ_TRY(frz_file_plan_collect(out->plan, arena, &out->entries, &out->count, err));
out:
    return rc;
}

frz_code frz_live_files_list(const frz_table *table, const frz_snapshot *snapshot,
                             const frz_schema *schema, frz_tree *tree, const frz_bound_expr *filter,
                             frz_arena *arena, frz_live_files *out, frz_error *err)
{
    const frz_file_plan_options options = {
        .snapshot = snapshot, .schema = schema, .filter = filter, .tree = tree};
    frz_code rc = find_files(table, &options, arena, out, err);
    out->tree = tree;
    out->whole_most = FRZ_MAX(WHOLE_STATS / FRZ_MAX(schema->type->field_count, (size_t)1), 1);
    frz_arena_init(&out->arena, table->env, FRZ_ARENA_NO_LIMIT);
    return rc;
}

void frz_live_files_reset(frz_live_files *files)
{
    frz_file_plan_close(files->plan);
    frz_delete_index_free(files->deletes);
    if (files->arena.env != NULL) {
        frz_arena_reset(&files->arena);
    }
    *files = (frz_live_files){0};
}

/* ---- some of them with all statistics ---- */

/* Entries of the list that lie in one manifest, on the way through it. */
typedef struct whole_walk {
    const frz_entry *const *next, *const *end;
} whole_walk;

static bool is_listed(void *ctx, const frz_entry *entry)
{
    whole_walk *w = ctx;
    while (w->next < w->end && (*w->next)->position < entry->position) {
        w->next++;
    }
    return w->next < w->end && (*w->next)->position == entry->position;
}

/* From this entry of the list on. */
static whole_walk walk_from(const frz_live_files *files, const frz_entry *entry)
{
    const frz_entry *const *end = files->entries + files->count;
    whole_walk w = {.next = files->entries};
    while (w.next < end && *w.next != entry) {
        w.next++;
    }
    for (w.end = w.next; w.end < end && (*w.end)->manifest == entry->manifest &&
                         (size_t)(w.end - w.next) < files->whole_most;) {
        w.end++;
    }
    return w;
}

static frz_code read_whole(frz_live_files *files, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    whole_walk walk = walk_from(files, entry);
    size_t wanted = (size_t)(walk.end - walk.next), count = 0;
    const frz_entry_request request = {
        .stats = {.all = true}, .keep = is_listed, .keep_ctx = &walk};
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    files->whole_count = 0;
    frz_arena_reset(&files->arena);
    files->whole = frz_arena_array(&files->arena, wanted, sizeof *files->whole);
    FRZ_TRY(files->whole == NULL ? frz_fail_nomem(err, wanted * sizeof *files->whole) : FRZ_OK);
    FRZ_TRY(frz_entry_reader_open(files->tree, entry->manifest, &request, &reader, err));
    while (files->whole_count < wanted) {
        FRZ_TRY(frz_entry_reader_next(reader, &files->arena, &entries, &count, err));
        memcpy(files->whole + files->whole_count, entries, count * sizeof *entries);
        files->whole_count += count;
    }
out:
    frz_entry_reader_close(reader);
    return rc == FRZ_END ? frz_fail(err, FRZ_E_INTERNAL, "an entry is not in its manifest") : rc;
}

static const frz_entry *find_whole(const frz_live_files *files, const frz_entry *entry)
{
    const frz_entry *found = NULL;
    for (size_t i = 0; i < files->whole_count && found == NULL; i++) {
        const frz_entry *whole = &files->whole[i];
        bool same = whole->manifest == entry->manifest && whole->position == entry->position;
        found = same ? whole : NULL;
    }
    return found;
}

frz_code frz_live_files_whole(frz_live_files *files, const frz_entry *entry, const frz_entry **out,
                              frz_error *err)
{
    frz_code rc = FRZ_OK;
    *out = entry->manifest == FRZ_IN_ROOT ? entry : find_whole(files, entry);
    if (*out == NULL) {
        FRZ_TRY(read_whole(files, entry, err));
        *out = find_whole(files, entry);
    }
out:
    return rc;
}

/* ---- the rows of one of them ---- */

frz_code frz_live_open(frz_live *live, frz_delete_index *index, const frz_table *table,
                       const frz_entry *entry, frz_error *err)
{
    *live = (frz_live){.env = table->env, .folds = index != NULL};
    return frz_file_deletes_find(index, table, entry, &live->found, err);
}

void frz_live_reset(frz_live *live)
{
    frz_file_deletes_free(live->found);
    frz_free(live->env, live->positions);
    *live = (frz_live){.env = live->env};
}

void frz_live_request(const frz_live *live, frz_stitch_request *request)
{
    request->with_deleted = true;
    if (live->found != NULL) {
        request->deleted = frz_file_deletes_positions(live->found);
    }
}

frz_code frz_live_read_type(const frz_live *live, const frz_type *projection, frz_arena *arena,
                            const frz_type **out, frz_error *err)
{
    *out = projection;
    return live->found == NULL
               ? FRZ_OK
               : frz_file_deletes_read_type(live->found, projection, arena, out, err);
}

frz_code frz_live_bits(const frz_live *live, const frz_type *read_type, frz_batch *batch,
                       const frz_type *projection, uint8_t **bits, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t rows = batch->array.length;
    size_t bytes = frz_bitmap_bytes(rows) + 8;
    uint8_t *own = NULL;
    *bits = NULL;
    if (live->found == NULL) {
        return FRZ_OK;
    }
    own = frz_alloc(live->env, bytes);
    FRZ_TRY(own == NULL ? frz_fail_nomem(err, bytes) : FRZ_OK);
    memset(own, 0xff, bytes);
    FRZ_TRY(frz_file_deletes_clear(live->found, read_type, batch, own, err));
    for (size_t i = 0; i < projection->field_count; i++) {
        FRZ_TRY(
            frz_array_narrow(live->env, projection->fields[i].type, batch->array.children[i], err));
    }
    if (frz_bitmap_count(own, 0, rows) < rows) {
        *bits = own;
        own = NULL;
    }
out:
    frz_free(live->env, own);
    return rc;
}

frz_code frz_live_note(frz_live *live, const frz_batch *batch, const uint8_t *bits, frz_error *err)
{
    for (int64_t i = 0; live->folds && bits != NULL && i < batch->array.length; i++) {
        if (frz_bit_get(bits, i)) {
            continue;
        }
        frz_code rc = FRZ_GROW(live->env, &live->positions, &live->capacity, live->count, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        live->positions[live->count++] = batch->first_row + i;
    }
    return FRZ_OK;
}

frz_code frz_live_hide(const frz_env *env, const uint8_t *bits, struct ArrowArray *array,
                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowArray whole;
    frz_buffer *validity = NULL;
    int64_t rows = array->length;
    if (bits == NULL || array->n_buffers == 0) { /* without buffers all rows are null */
        return FRZ_OK;
    }
    FRZ_TRY(frz_buffer_new(env, frz_bitmap_bytes(rows), &validity, err));
    for (int64_t i = 0; i < rows; i++) {
        frz_bit_put(validity->data, i, frz_bit_get(bits, i) && !frz_is_null(array, i));
    }
    frz_array_move(array, &whole);
    rc = frz_array_with_validity(env, &whole, validity, array, err);
    frz_array_release(&whole);
out:
    return rc;
}

frz_code frz_live_take(frz_live *live, frz_positions **out, frz_error *err)
{
    return live->count == 0 ? FRZ_OK
                            : frz_positions_of(live->env, live->positions, live->count, out, err);
}
