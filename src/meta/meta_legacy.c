/*
 * The entries of a manifest of versions 1 to 3, Avro or Parquet. They are read in one go, since an
 * Avro file has no columns to leave out.
 *
 * spec: manifest_entry, data_file, sequence number inheritance, first row id inheritance
 */
#include "meta/meta_legacy.h"
#include "meta/meta_tree_internal.h"

struct meta_legacy {
    frz_data_file *file;
    meta_legacy_row row;
    meta_legacy_stats wanted;
    meta_legacy_room room; /* of the row at hand */
    int32_t spec_id;
    int *places; /* of the spec's fields in the tuple */
    size_t place_count;
    bool numbers_inherit; /* of a manifest without sequence numbers: false, they are 0 */
    frz_entry *made;      /* of the part at hand */
    size_t made_count, made_capacity;
};

/* One row. */
typedef struct legacy_row {
    frz_entry_reader *reader;
    meta_legacy *legacy;
    meta_cell entry, file;
} legacy_row;

static meta_cell column(const legacy_row *r, int which)
{
    return meta_cell_member(r->entry, r->legacy->row.at[which]);
}

static meta_cell member(const legacy_row *r, int which)
{
    return meta_cell_member(r->file, r->legacy->row.member[which]);
}

/* ---- opening ---- */

/* A number in the manifest's own metadata. */
static int64_t metadata_i64(const frz_data_file *file, const char *key, int64_t fallback)
{
    frz_str text;
    int64_t value = fallback;
    if (frz_data_file_metadata(file, key, &text) && !frz_str_to_i64(text, &value)) {
        value = fallback;
    }
    return value;
}

/* Where the fields of the spec are in the tuple; of an unknown spec, all in the tuple's order. */
static frz_code find_places(frz_entry_reader *reader, meta_legacy *l, frz_error *err)
{
    const frz_type *tuple = l->row.partition;
    const frz_partition_spec *spec = frz_metadata_spec(&reader->tree->table->metadata, l->spec_id);
    size_t count = tuple == NULL ? 0 : spec == NULL ? tuple->field_count : spec->field_count;
    l->places = frz_arena_array(&reader->arena, count, sizeof *l->places);
    reader->lent_partition = frz_arena_array(&reader->arena, count, sizeof *reader->lent_partition);
    if (l->places == NULL || reader->lent_partition == NULL) {
        return frz_fail_nomem(err, count * sizeof *reader->lent_partition);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t place =
            spec == NULL ? (int64_t)i : frz_type_index_of_id(tuple, spec->fields[i].field_id);
        if (place >= 0) {
            l->places[l->place_count++] = (int)place;
        }
    }
    return FRZ_OK;
}

static frz_code check_size(const frz_data_file *file, frz_error *err)
{
    int64_t rows = frz_data_file_row_count(file);
    uint64_t size = frz_data_file_size(file);
    return rows >= 0 && (uint64_t)rows / 1024 <= size
               ? FRZ_OK
               : frz_fail(err, FRZ_E_CORRUPT, "%lld entries cannot be in %llu bytes",
                          (long long)rows, (unsigned long long)size);
}

static frz_code open_rows(frz_entry_reader *reader, meta_legacy *l, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_entry_request *request = &reader->request;
    bool stats = request->stats.all || request->stats.field_count > 0;
    frz_read_request rows = {.max_rows = META_PART_ROWS, .no_ahead = true};
    const frz_type *type = frz_data_file_type(l->file);
    FRZ_TRY(meta_legacy_row_to_read(&reader->arena, type, stats, request->stats.all, &l->row, err));
    FRZ_TRY(meta_legacy_stats_of(&reader->tree->rules, reader->tree->schema, &request->stats,
                                 &reader->arena, &l->wanted, err));
    FRZ_TRY(meta_legacy_room_of(&l->wanted, &reader->arena, &l->room, err));
    rows.projection = l->row.type;
    rows.map_keys = request->stats.all ? NULL : l->wanted.field_ids;
    rows.map_key_count = l->wanted.count;
    FRZ_TRY(frz_data_reader_open(l->file, &rows, &reader->rows, err));
out:
    return rc;
}

frz_code meta_legacy_open(frz_entry_reader *reader, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = reader->tree->env;
    meta_legacy *l = frz_alloc_zero(env, 1, sizeof *l);
    if (l == NULL) {
        return frz_fail_nomem(err, sizeof *l);
    }
    reader->legacy = l;
    FRZ_TRY(frz_data_file_open(env, reader->location, NULL, &l->file, err));
    FRZ_TRY(check_size(l->file, err));
    l->numbers_inherit = metadata_i64(l->file, "format-version", 1) >= 2;
    l->spec_id = reader->file->spec_id;
    if (l->spec_id < 0) {
        int64_t recorded = metadata_i64(l->file, "partition-spec-id", 0);
        l->spec_id = recorded >= 0 && recorded <= INT32_MAX ? (int32_t)recorded : 0;
    }
    FRZ_TRY(open_rows(reader, l, err));
    FRZ_TRY(find_places(reader, l, err));
out:
    return rc;
}

void meta_legacy_close(frz_entry_reader *reader)
{
    meta_legacy *l = reader->legacy;
    if (l != NULL) {
        frz_data_file_close(l->file);
        frz_free(reader->tree->env, l->made);
        frz_free(reader->tree->env, l);
        reader->legacy = NULL;
    }
}

/* ---- what comes first: is the row wanted? ---- */

static frz_code read_status(const legacy_row *r, frz_entry *e, frz_error *err)
{
    int32_t status = 0;
    frz_code rc = meta_want_i32(column(r, META_LEGACY_STATUS), "status", &status, err);
    if (rc == FRZ_OK && (status < FRZ_STATUS_EXISTING || status > FRZ_STATUS_DELETED)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "status: expected 0 to 2, found %d", (int)status);
    }
    e->status = (frz_status)status;
    return rc;
}

/* The sequence number of an entry that says none: inherited if it was added; 0 in version 1. */
static int64_t default_number(const legacy_row *r, const frz_entry *e, int which)
{
    int64_t parent = r->reader->parent.sequence_number;
    if (parent == 0 || (r->legacy->row.at[which] < 0 && !r->legacy->numbers_inherit)) {
        return 0;
    }
    return e->status == FRZ_STATUS_ADDED ? parent : FRZ_NO_VALUE;
}

static frz_code read_numbers(const legacy_row *r, frz_entry *e, frz_error *err)
{
    e->snapshot_id =
        meta_cell_i64(column(r, META_LEGACY_SNAPSHOT_ID), r->reader->parent.snapshot_id);
    e->modified_snapshot_id = FRZ_NO_VALUE;
    e->sequence_number = meta_cell_i64(column(r, META_LEGACY_SEQUENCE_NUMBER),
                                       default_number(r, e, META_LEGACY_SEQUENCE_NUMBER));
    /* early writers of version 2 did not record it */
    e->file_sequence_number = meta_cell_i64(column(r, META_LEGACY_FILE_SEQUENCE_NUMBER),
                                            default_number(r, e, META_LEGACY_FILE_SEQUENCE_NUMBER));
    if (e->sequence_number < 0 && frz_status_is_live(e->status)) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "sequence_number: expected a number, found %s (an entry that is not new "
                        "inherits none)",
                        e->sequence_number == FRZ_NO_VALUE ? "null" : "a negative one");
    }
    return FRZ_OK;
}

static frz_code read_content(const legacy_row *r, frz_entry *e, frz_error *err)
{
    int32_t content = meta_cell_i32(member(r, META_DF_CONTENT), FRZ_CONTENT_DATA);
    bool deletes = r->reader->file->content == FRZ_CONTENT_DELETE_MANIFEST;
    bool fits =
        deletes ? content == FRZ_CONTENT_POSITION_DELETES || content == FRZ_CONTENT_EQUALITY_DELETES
                : content == FRZ_CONTENT_DATA;
    e->content = (frz_content)content;
    return fits ? FRZ_OK
                : frz_fail(err, FRZ_E_CORRUPT, "content: expected %s, found %d",
                           deletes ? "1 or 2 in a delete manifest" : "0 in a data manifest",
                           (int)content);
}

static frz_code read_head(const legacy_row *r, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (meta_cell_null(r->file)) {
        return frz_fail(err, FRZ_E_CORRUPT, "data_file: expected a struct, found null");
    }
    e->spec_id = r->legacy->spec_id;
    FRZ_TRY(read_status(r, e, err));
    FRZ_TRY(read_content(r, e, err));
    FRZ_TRY(read_numbers(r, e, err));
    FRZ_TRY(
        meta_want_count(member(r, META_DF_RECORD_COUNT), "record_count", &e->record_count, err));
    e->first_row_id = e->content == FRZ_CONTENT_DATA
                          ? meta_cell_i64(member(r, META_DF_FIRST_ROW_ID), FRZ_NO_VALUE)
                          : FRZ_NO_VALUE;
    if (e->first_row_id < 0 && e->first_row_id != FRZ_NO_VALUE) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "first_row_id: expected a row id, found %lld",
                      (long long)e->first_row_id);
    }
out:
    return rc;
}

/* Values are lent by the batch. */
static void read_partition(const legacy_row *r, frz_entry *e)
{
    const meta_legacy *l = r->legacy;
    meta_cell tuple = member(r, META_DF_PARTITION);
    if (meta_cell_null(tuple)) {
        return;
    }
    frz_partition_value *values = r->reader->lent_partition;
    for (size_t i = 0; i < l->place_count; i++) {
        const frz_field *field = &l->row.partition->fields[l->places[i]];
        meta_cell c = meta_cell_member(tuple, l->places[i]);
        values[i] = (frz_partition_value){field->id, frz_value_at(field->type, c.array, c.row)};
    }
    e->partition = values;
    e->partition_count = l->place_count;
}

static frz_code decide(const legacy_row *r, frz_entry *e, bool *wanted, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(read_head(r, e, err));
    FRZ_TRY(meta_reader_take(r->reader, e, wanted, err));
    if (*wanted) {
        read_partition(r, e);
        e->stats = r->legacy->room.stats;
        e->stats_count =
            meta_legacy_stats_read(&r->legacy->wanted, &r->legacy->row, r->file, &r->legacy->room);
        *wanted = meta_reader_keeps(r->reader, e);
    }
out:
    return rc;
}

/* ---- the rest of a wanted row ---- */

/* spec: a deletion vector is a blob of a Puffin file, for one data file */
static frz_code read_vector(const legacy_row *r, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_cell offset = member(r, META_DF_CONTENT_OFFSET);
    bool puffin = frz_str_equal_nocase(e->file_format, FRZ_STR("puffin"));
    if (e->content != FRZ_CONTENT_POSITION_DELETES || (meta_cell_null(offset) && !puffin)) {
        return meta_check_format(e->file_format, err);
    }
    frz_deletion_vector *dv = &e->deletion_vector;
    e->has_deletion_vector = true;
    dv->location = e->location;
    dv->cardinality = e->record_count;
    dv->key_metadata = e->key_metadata;
    FRZ_TRY(meta_want_count(offset, "content_offset", &dv->offset, err));
    FRZ_TRY(
        meta_want_count(member(r, META_DF_CONTENT_SIZE), "content_size_in_bytes", &dv->size, err));
    if (e->referenced_data_file.len == 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT,
                      "referenced_data_file: a deletion vector names its data file, found none");
    }
out:
    return rc;
}

static frz_code read_rest(const legacy_row *r, frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(
        meta_want_text(member(r, META_DF_FILE_FORMAT), "file_format", arena, &e->file_format, err));
    FRZ_TRY(
        meta_want_count(member(r, META_DF_FILE_SIZE), "file_size_in_bytes", &e->file_size, err));
    FRZ_TRY(meta_copy_bytes(member(r, META_DF_KEY_METADATA), arena, &e->key_metadata, err));
    e->sort_order_id = FRZ_MAX(meta_cell_i32(member(r, META_DF_SORT_ORDER_ID), -1), -1);
    FRZ_TRY(meta_copy_count_list(member(r, META_DF_SPLIT_OFFSETS), "split_offsets", arena,
                                 &e->split_offsets, &e->split_count, err));
    FRZ_TRY(meta_copy_id_list(member(r, META_DF_EQUALITY_IDS), "equality_ids", arena,
                              &e->equality_ids, &e->equality_id_count, err));
    FRZ_TRY(meta_copy_bytes(member(r, META_DF_REFERENCED_DATA_FILE), arena,
                            &e->referenced_data_file, err));
    FRZ_TRY(read_vector(r, e, err));
    if (e->content == FRZ_CONTENT_EQUALITY_DELETES && e->equality_id_count == 0) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "equality_ids: expected at least one, found none");
    }
out:
    return rc;
}

/* ---- parts ---- */

static frz_code make_entry(const legacy_row *r, frz_arena *arena, frz_entry *e, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_legacy *l = r->legacy;
    FRZ_TRY(frz_entry_own_partition(arena, e, err));
    FRZ_TRY(frz_entry_own_stats(arena, e, err));
    FRZ_TRY(read_rest(r, arena, e, err));
    FRZ_TRY(FRZ_GROW(r->reader->tree->env, &l->made, &l->made_capacity, l->made_count, err));
    l->made[l->made_count++] = *e;
out:
    return rc;
}

static frz_code read_row(const legacy_row *r, frz_arena *arena, frz_error *err)
{
    bool wanted = false;
    frz_entry e = {
        .manifest = r->reader->manifest, .position = r->reader->position++, .is_legacy = true};
    frz_code rc = decide(r, &e, &wanted, err);
    if (rc == FRZ_OK && wanted) {
        rc = meta_want_text(member(r, META_DF_FILE_PATH), "file_path", arena, &e.location, err);
        rc =
            rc == FRZ_OK ? meta_settle_legacy(r->reader->tree->table, arena, &e.location, err) : rc;
        rc = rc == FRZ_OK ? make_entry(r, arena, &e, err) : rc;
    }
    frz_str location = meta_cell_str(member(r, META_DF_FILE_PATH));
    return frz_context(err, rc, "entry %lld (%.*s)", (long long)e.position, FRZ_STR_ARG(location));
}

static frz_code read_batch(frz_entry_reader *reader, const struct ArrowArray *batch,
                           frz_arena *arena, frz_error *err)
{
    frz_code rc = FRZ_OK;
    meta_legacy *l = reader->legacy;
    l->made_count = 0;
    for (int64_t i = 0; i < batch->length; i++) {
        legacy_row row = {.reader = reader, .legacy = l, .entry = {batch, i}};
        row.file = column(&row, META_LEGACY_DATA_FILE);
        FRZ_TRY(read_row(&row, arena, err));
    }
out:
    return rc;
}

/* A root says how many entries there are, a list may be wrong. */
static frz_code check_end(const frz_entry_reader *reader, frz_error *err)
{
    const frz_manifest_file *file = reader->file;
    if (reader->tree->has_root && file->entry_count != FRZ_NO_VALUE &&
        file->entry_count != reader->position) {
        return frz_fail(err, FRZ_E_CORRUPT, "holds %lld entries, its record_count is %lld",
                        (long long)reader->position, (long long)file->entry_count);
    }
    if (file->dv != NULL && frz_mumbling_last(file->dv) >= reader->position) {
        return frz_fail(err, FRZ_E_CORRUPT, "dv: position %lld is not among the %lld entries",
                        (long long)frz_mumbling_last(file->dv), (long long)reader->position);
    }
    return FRZ_END;
}

frz_code meta_legacy_next(frz_entry_reader *reader, frz_arena *arena, const frz_entry **out,
                          size_t *count, frz_error *err)
{
    frz_batch batch = {0};
    meta_legacy *l = reader->legacy;
    frz_code rc = frz_data_reader_next(reader->rows, &batch, err);
    if (rc != FRZ_OK) {
        return rc == FRZ_END ? check_end(reader, err) : rc;
    }
    rc = read_batch(reader, &batch.array, arena, err);
    frz_array_release(&batch.array);
    frz_entry *entries =
        rc == FRZ_OK ? frz_arena_array(arena, l->made_count, sizeof *entries) : NULL;
    if (rc == FRZ_OK && entries == NULL) {
        rc = frz_fail_nomem(err, l->made_count * sizeof *entries);
    }
    if (rc == FRZ_OK) {
        if (l->made_count > 0) {
            memcpy(entries, l->made, l->made_count * sizeof *entries);
        }
        *out = entries;
        *count = l->made_count;
    }
    return rc;
}
