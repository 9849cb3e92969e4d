/*
 * Position delete files: read as a whole, their rows sorted by data file. Tables of files that are
 * for many data files are kept, within a limit; the others are of use only once.
 *
 * spec: Position Delete Files
 */
#include <stdlib.h>

#include "codec/codec.h"
#include "scan/scan_deletes_internal.h"

#define LEAST_SLOTS 64

/* Positions of one data file, as they come. */
typedef struct path_rows {
    frz_place place;
    int64_t *positions;
    size_t count, capacity;
    bool ascends;
} path_rows;

/* A delete file that is being read. */
typedef struct path_reader {
    const frz_env *env;
    frz_delete_index *index;
    frz_arena *arena; /* of places */
    path_rows *paths;
    size_t count, capacity;
    uint32_t *slots; /* number of a path + 1, or 0; a power of two of them */
    size_t slot_count;
    size_t current;
    frz_str current_path; /* as recorded, of the current batch */
} path_reader;

void delete_table_free(const frz_env *env, delete_table *table)
{
    if (table != NULL) {
        for (size_t i = 0; i < table->count; i++) {
            frz_positions_free(table->rows[i].positions);
        }
        frz_free(env, table->rows);
        frz_arena_reset(&table->arena);
        frz_free(env, table);
    }
}

/* ---- rows to paths ---- */

static size_t slot_of(const path_reader *r, const frz_place *place)
{
    size_t mask = r->slot_count - 1;
    size_t slot = (size_t)frz_xxh64(place->rest.ptr, place->rest.len) & mask;
    while (r->slots[slot] != 0 && !frz_place_equal(r->paths[r->slots[slot] - 1].place, *place)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static frz_code grow_slots(path_reader *r, frz_error *err)
{
    if (2 * (r->count + 1) <= r->slot_count) {
        return FRZ_OK;
    }
    size_t slot_count = FRZ_MAX(2 * r->slot_count, (size_t)LEAST_SLOTS);
    uint32_t *slots =
        r->count < UINT32_MAX - 1 ? frz_alloc_zero(r->env, slot_count, sizeof *slots) : NULL;
    if (slots == NULL) {
        return frz_fail_nomem(err, slot_count * sizeof *slots);
    }
    frz_free(r->env, r->slots);
    r->slots = slots;
    r->slot_count = slot_count;
    for (size_t i = 0; i < r->count; i++) {
        r->slots[slot_of(r, &r->paths[i].place)] = (uint32_t)i + 1;
    }
    return FRZ_OK;
}

/* Make the data file of a recorded path the current one. */
static frz_code turn_to(path_reader *r, frz_str path, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str location = {NULL, 0};
    FRZ_TRY(grow_slots(r, err));
    FRZ_TRY(frz_table_resolve_legacy(r->index->table, path, r->arena, &location, err));
    frz_place place = frz_location_place(location);
    size_t slot = slot_of(r, &place);
    if (r->slots[slot] == 0) {
        FRZ_TRY(FRZ_GROW(r->env, &r->paths, &r->capacity, r->count, err));
        path_rows *rows = &r->paths[r->count];
        *rows = (path_rows){.ascends = true};
        FRZ_TRY(frz_arena_str(r->arena, place.scheme, &rows->place.scheme, err));
        FRZ_TRY(frz_arena_str(r->arena, place.rest, &rows->place.rest, err));
        r->slots[slot] = (uint32_t)++r->count;
    }
    r->current = r->slots[slot] - 1;
out:
    return rc;
}

/* ---- reading ---- */

static frz_code add_position(path_reader *r, int64_t position, frz_error *err)
{
    path_rows *rows = &r->paths[r->current];
    frz_code rc = FRZ_GROW(r->env, &rows->positions, &rows->capacity, rows->count, err);
    if (rc == FRZ_OK) {
        rows->ascends =
            rows->ascends && (rows->count == 0 || rows->positions[rows->count - 1] <= position);
        rows->positions[rows->count++] = position;
    }
    return rc;
}

/* paths NULL: all rows are of the current path. */
static frz_code add_row(path_reader *r, const struct ArrowArray *paths,
                        const struct ArrowArray *positions, int64_t i, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t position = frz_is_null(positions, i) ? -1 : frz_get_i64(positions, i);
    if (position < 0) {
        return frz_fail(err, FRZ_E_CORRUPT, "column pos: expected a position, found %s",
                        frz_is_null(positions, i) ? "null" : "a negative number");
    }
    if (paths != NULL) {
        if (frz_is_null(paths, i)) {
            return frz_fail(err, FRZ_E_CORRUPT, "column file_path: expected a path, found null");
        }
        frz_str path = frz_get_bytes(paths, i);
        if (!frz_str_equal(path, r->current_path)) {
            FRZ_TRY(turn_to(r, path, err));
            r->current_path = path;
        }
    }
    rc = add_position(r, position, err);
out:
    return rc;
}

static frz_code add_batch(path_reader *r, const frz_batch *batch, bool with_paths, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const struct ArrowArray *positions = batch->array.children[0];
    const struct ArrowArray *paths = with_paths ? batch->array.children[1] : NULL;
    r->current_path = (frz_str){NULL, 0};
    for (int64_t i = 0; rc == FRZ_OK && i < batch->array.length; i++) {
        rc = add_row(r, paths, positions, i, err);
        if (rc != FRZ_OK) {
            frz_context(err, rc, "row %lld", (long long)(batch->first_row + i));
        }
    }
    return rc;
}

static frz_code check_columns(const frz_data_file *file, bool with_paths, frz_error *err)
{
    bool paths = frz_data_file_has_field(file, FRZ_ID_DELETE_FILE_PATH);
    if ((paths || !with_paths) && frz_data_file_has_field(file, FRZ_ID_DELETE_POS)) {
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_CORRUPT,
                    "%s: a position delete file without a column %s (field id %d)",
                    frz_data_file_location(file), paths || !with_paths ? "pos" : "file_path",
                    paths || !with_paths ? FRZ_ID_DELETE_POS : FRZ_ID_DELETE_FILE_PATH);
}

static frz_code read_rows(path_reader *r, const frz_data_file *file, bool with_paths,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_field fields[] = {{.id = FRZ_ID_DELETE_POS,
                                 .name = FRZ_STR("pos"),
                                 .type = frz_type_primitive(FRZ_TYPE_LONG)},
                                {.id = FRZ_ID_DELETE_FILE_PATH,
                                 .name = FRZ_STR("file_path"),
                                 .type = frz_type_primitive(FRZ_TYPE_STRING)}};
    const frz_type projection = {
        .id = FRZ_TYPE_STRUCT, .fields = fields, .field_count = with_paths ? 2 : 1};
    const frz_read_request request = {.projection = &projection};
    frz_data_reader *reader = NULL;
    frz_batch batch = {0};
    FRZ_TRY(check_columns(file, with_paths, err));
    FRZ_TRY(frz_data_reader_open(file, &request, &reader, err));
    while ((rc = frz_data_reader_next(reader, &batch, err)) == FRZ_OK) {
        rc = add_batch(r, &batch, with_paths, err);
        frz_array_release(&batch.array);
        FRZ_TRY(rc);
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_data_reader_close(reader);
    return rc;
}

/* Files of writers that give their columns no ids. */
static const frz_str path_name = FRZ_STR("file_path"), position_name = FRZ_STR("pos");
static frz_name_mapping_field mapped[] = {
    {.field_id = FRZ_ID_DELETE_FILE_PATH, .names = &path_name, .name_count = 1},
    {.field_id = FRZ_ID_DELETE_POS, .names = &position_name, .name_count = 1}};
static const frz_name_mapping delete_mapping = {mapped, FRZ_ARRAY_COUNT(mapped)};

/* ---- the table of a file ---- */

static int compare_rows(const void *a, const void *b)
{
    const delete_rows *x = a, *y = b;
    return delete_compare_places(&x->place, &y->place);
}

static frz_code make_table(path_reader *r, delete_table *table, frz_error *err)
{
    frz_code rc = FRZ_OK;
    table->rows = frz_alloc_zero(r->env, r->count, sizeof *table->rows);
    if (table->rows == NULL) {
        return frz_fail_nomem(err, r->count * sizeof *table->rows);
    }
    table->bytes = sizeof *table + r->count * sizeof *table->rows;
    for (size_t i = 0; i < r->count; i++) {
        path_rows *rows = &r->paths[i];
        delete_rows *made = &table->rows[i];
        made->place = rows->place;
        table->count++;
        FRZ_TRY((
            rows->ascends
                ? frz_positions_of(r->env, rows->positions, rows->count, &made->positions, err)
                : frz_positions_sort(r->env, rows->positions, rows->count, &made->positions, err)));
        table->bytes += frz_positions_bytes(made->positions);
    }
    if (table->count > 1) {
        qsort(table->rows, table->count, sizeof *table->rows, compare_rows);
    }
    table->bytes += table->arena.used;
out:
    return rc;
}

static void reset_reader(path_reader *r)
{
    for (size_t i = 0; i < r->count; i++) {
        frz_free(r->env, r->paths[i].positions);
    }
    frz_free(r->env, r->paths);
    frz_free(r->env, r->slots);
}

static frz_code read_table(frz_delete_index *index, const delete_file *file, delete_table **out,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_data_file *opened = NULL;
    bool with_paths = file->place.rest.ptr == NULL;
    delete_table *table = frz_alloc_zero(index->env, 1, sizeof *table);
    if (table == NULL) {
        return frz_fail_nomem(err, sizeof *table);
    }
    frz_arena_init(&table->arena, index->env, FRZ_ARENA_NO_LIMIT);
    path_reader r = {.env = index->env, .index = index, .arena = &table->arena};
    FRZ_TRY(delete_open_file(index, file, &delete_mapping, &opened, err));
    if (!with_paths) {
        FRZ_TRY(FRZ_GROW(r.env, &r.paths, &r.capacity, r.count, err));
        r.paths[r.count++] = (path_rows){.place = file->place, .ascends = true};
    }
    FRZ_TRY(read_rows(&r, opened, with_paths, err));
    FRZ_TRY(make_table(&r, table, err));
    *out = table;
    table = NULL;
out:
    reset_reader(&r);
    delete_table_free(index->env, table);
    frz_data_file_close(opened);
    return frz_context(err, rc, "reading position deletes of %.*s", FRZ_STR_ARG(file->location));
}

/* ---- keeping tables ---- */

static delete_file *unused_for_longest(delete_list *list, delete_file *best)
{
    for (size_t i = 0; i < list->count; i++) {
        delete_file *file = &list->files[i];
        if (file->table != NULL && (best == NULL || file->used < best->used)) {
            best = file;
        }
    }
    return best;
}

void delete_trim_tables(frz_delete_index *index)
{
    while (index->position_bytes > index->options.position_bytes) {
        delete_file *oldest = unused_for_longest(&index->shared, NULL);
        oldest = unused_for_longest(&index->single, oldest);
        if (oldest == NULL) {
            break;
        }
        index->position_bytes -= oldest->table->bytes;
        delete_table_free(index->env, oldest->table);
        oldest->table = NULL;
    }
}

frz_code delete_positions_of(frz_delete_index *index, delete_file *file, const frz_place *place,
                             const frz_positions **out, frz_error *err)
{
    *out = NULL;
    file->used = ++index->clock;
    if (file->table == NULL) {
        frz_code rc = read_table(index, file, &file->table, err);
        if (rc != FRZ_OK) {
            return rc;
        }
        index->position_bytes += file->table->bytes;
    }
    const delete_rows wanted = {.place = *place};
    const delete_rows *found = file->table->count == 0
                                   ? NULL
                                   : bsearch(&wanted, file->table->rows, file->table->count,
                                             sizeof *file->table->rows, compare_rows);
    *out = found == NULL ? NULL : found->positions;
    return FRZ_OK;
}
