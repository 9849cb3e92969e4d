/*
 * Validation of the manifests of one snapshot: statuses and the numbers beside them, pairs of
 * REPLACED and MODIFIED, and what became of the parent's entries. In manifests that are older than
 * the snapshot statuses are history: there the masks of the root say what became of an entry. Rules
 * of single entries, such as one provider per field, are checked when the manifest is read. Nothing
 * here opens a data file. spec: tracking and status; field values per status
 */
#include "maintain/maintain_internal.h"
#include "meta/meta_mumbling.h"

/* ---- opening ---- */

/* What an entry must keep as long as nobody modifies it. */
static frz_key content_key(frz_key where, const frz_entry *entry)
{
    frz_key key = where;
    frz_key_i64(&key, entry->record_count);
    frz_key_i64(&key, entry->file_size);
    frz_key_i64(&key, entry->first_row_id);
    frz_key_i64(&key, entry->sequence_number);
    frz_key_i64(&key, entry->file_sequence_number);
    for (size_t i = 0; i < entry->column_file_count; i++) {
        const frz_column_file *file = &entry->column_files[i];
        frz_key_str(&key, file->location);
        frz_key_i64(&key, file->file_size);
        frz_key_bytes(&key, file->field_ids, file->field_id_count * sizeof *file->field_ids);
    }
    return key;
}

static frz_code add_item(frz_validation *v, frz_validate_root *root, const frz_entry *entry,
                         frz_error *err)
{
    frz_code rc = FRZ_OK;
    char *resolved = NULL;
    FRZ_TRY(FRZ_GROW(v->env, &root->items, &root->capacity, root->count, err));
    frz_validate_item *item = &root->items[root->count];
    FRZ_TRY(frz_table_resolve(v->table, entry->location, &resolved, err));
    *item = (frz_validate_item){.entry = entry};
    item->location = frz_arena_strdup(&root->arena, frz_str_from(resolved));
    FRZ_TRY(item->location == NULL ? frz_fail_nomem(err, entry->location.len) : FRZ_OK);
    item->where = frz_key_of("location");
    frz_key_str(&item->where, frz_str_from(item->location));
    item->content = content_key(item->where, entry);
    root->count++;
out:
    frz_free(v->env, resolved);
    return rc;
}

/* ---- entries of manifests besides the root ---- */

static bool masks(const frz_mumbling *set, const frz_entry *entry)
{
    return set != NULL && frz_mumbling_has(set, (uint64_t)entry->position);
}

/* What an entry of a manifest is in this snapshot. False: nothing, it was gone before. */
static bool status_here(const frz_manifest_file *file, const frz_entry *entry, frz_status *out)
{
    *out = entry->status;
    if (file->status == FRZ_STATUS_ADDED) {
        return !entry->is_masked;
    }
    *out = masks(file->deleted_positions, entry)    ? FRZ_STATUS_DELETED
           : masks(file->replaced_positions, entry) ? FRZ_STATUS_REPLACED
                                                    : FRZ_STATUS_EXISTING;
    bool is_change = *out != FRZ_STATUS_EXISTING;
    return frz_status_is_live(entry->status) && (is_change || !entry->is_masked);
}

/* As an entry of this snapshot. */
static frz_code add_copy(frz_validation *v, frz_validate_root *root, const frz_manifest_file *file,
                         const frz_entry *entry, frz_status status, frz_error *err)
{
    frz_entry *copy = frz_arena_alloc(&root->arena, sizeof *copy);
    if (copy == NULL) {
        return frz_fail_nomem(err, sizeof *copy);
    }
    *copy = *entry;
    copy->status = status;
    if (file->status != FRZ_STATUS_ADDED && !frz_status_is_live(status)) {
        copy->snapshot_id = root->snapshot->snapshot_id; /* a mask has no number of its own */
    }
    return add_item(v, root, copy, err);
}

static frz_code add_listed(frz_validation *v, frz_validate_root *root,
                           const frz_manifest_file *file, const frz_entry *entry, frz_error *err)
{
    frz_status status;
    return status_here(file, entry, &status) ? add_copy(v, root, file, entry, status, err) : FRZ_OK;
}

/* A manifest that is DELETED was written anew, or all its files went with it: those that no other
 * manifest speaks of. */
static frz_code add_dropped(frz_validation *v, frz_validate_root *root,
                            const frz_manifest_file *file, const frz_entry *entry, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t before = root->count;
    if (!frz_status_is_live(entry->status)) {
        return FRZ_OK;
    }
    FRZ_TRY(add_copy(v, root, file, entry, FRZ_STATUS_DELETED, err));
    root->items[before].is_dropped = true;
    for (size_t i = 0; i < before; i++) {
        if (frz_key_equal(root->items[i].where, root->items[before].where)) {
            root->count = before;
            break;
        }
    }
out:
    return rc;
}

static frz_code add_manifest(frz_validation *v, frz_validate_root *root, size_t i, bool dropped,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_entry_reader *reader = NULL;
    const frz_entry *entries = NULL;
    size_t count = 0;
    const frz_entry_request request = {.stats = {.all = true}, .all_entries = true};
    const frz_manifest_file *file = frz_tree_manifest(root->tree, i);
    if (file->content != FRZ_CONTENT_DATA_MANIFEST || dropped == frz_status_is_live(file->status)) {
        return FRZ_OK; /* deletes are read with what they delete */
    }
    FRZ_TRY(frz_manifest_file_check_changes(file, err));
    FRZ_TRY(frz_entry_reader_open(root->tree, i, &request, &reader, err));
    while ((rc = frz_entry_reader_next(reader, &root->arena, &entries, &count, err)) == FRZ_OK) {
        for (size_t k = 0; k < count; k++) {
            FRZ_TRY(dropped ? add_dropped(v, root, file, &entries[k], err)
                            : add_listed(v, root, file, &entries[k], err));
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_entry_reader_close(reader);
    return rc;
}

frz_code frz_validate_root_open(frz_validation *v, const frz_snapshot *snapshot,
                                const frz_schema *schema, frz_validate_root *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    static const frz_stats_choice all = {.all = true};
    const frz_delete_options deletes = {.schema = schema};
    out->snapshot = snapshot;
    out->schema = schema;
    frz_arena_init(&out->arena, v->env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_tree_open(v->table, snapshot, schema, &all, &out->tree, err));
    out->is_tracked = frz_tree_has_root(out->tree);
    for (size_t i = 0; i < frz_tree_entry_count(out->tree); i++) {
        FRZ_TRY(add_item(v, out, frz_tree_entry(out->tree, i), err));
    }
    size_t count = frz_tree_manifest_count(out->tree);
    for (size_t i = 0; i < 2 * count; i++) { /* those that are DELETED behind the others */
        FRZ_TRY(add_manifest(v, out, i % count, i >= count, err));
    }
    if (frz_tree_has_delete_files(out->tree)) {
        FRZ_TRY(frz_delete_index_open(v->table, out->tree, &deletes, &out->deletes, err));
    }
out:
    return rc;
}

void frz_validate_root_reset(frz_validation *v, frz_validate_root *root)
{
    frz_delete_index_free(root->deletes);
    frz_tree_free(root->tree);
    frz_free(v->env, root->items);
    if (root->arena.env != NULL) {
        frz_arena_reset(&root->arena);
    }
    *root = (frz_validate_root){0};
}

/* ---- numbers of one entry ---- */

static void check_snapshot_ids(frz_validation *v, const frz_validate_root *root,
                               const frz_validate_item *item)
{
    const frz_entry *entry = item->entry;
    int64_t current = root->snapshot->snapshot_id;
    bool by_current = entry->snapshot_id == current;
    bool modified_now = entry->modified_snapshot_id == current;
    const char *name = frz_status_name(entry->status);
    bool wants_current = entry->status == FRZ_STATUS_ADDED || entry->status == FRZ_STATUS_DELETED ||
                         entry->status == FRZ_STATUS_REPLACED;
    if (by_current != wants_current) {
        frz_validate_find(v, item->location,
                          "%s entry of snapshot %lld has snapshot id %lld, which must%s be the "
                          "snapshot's own",
                          name, (long long)current, (long long)entry->snapshot_id,
                          wants_current ? "" : " not");
    }
    bool may_modify = entry->status == FRZ_STATUS_MODIFIED || entry->status == FRZ_STATUS_ADDED;
    if ((modified_now && !may_modify) || (!modified_now && entry->status == FRZ_STATUS_MODIFIED)) {
        frz_validate_find(v, item->location,
                          "%s entry of snapshot %lld has modified snapshot id %lld, which must%s "
                          "be the snapshot's own",
                          name, (long long)current, (long long)entry->modified_snapshot_id,
                          may_modify ? "" : " not");
    }
}

static void check_sequence(frz_validation *v, const frz_validate_root *root,
                           const frz_validate_item *item)
{
    const frz_entry *entry = item->entry;
    int64_t most = root->snapshot->sequence_number;
    long long seq = (long long)entry->sequence_number;
    long long fseq = (long long)entry->file_sequence_number;
    if (seq < 0 || seq > most) {
        frz_validate_find(v, item->location,
                          "sequence number %lld is not between 0 and the snapshot's %lld", seq,
                          (long long)most);
    }
    if (fseq < 0 || fseq > most) {
        frz_validate_find(v, item->location,
                          "file sequence number %lld is not between 0 and the snapshot's %lld",
                          fseq, (long long)most);
    }
    if (entry->status == FRZ_STATUS_ADDED && fseq != most) {
        frz_validate_find(v, item->location,
                          "ADDED entry has file sequence number %lld, the snapshot's is %lld", fseq,
                          (long long)most);
    }
    if (entry->column_file_count > 0 && seq < fseq) {
        frz_validate_find(v, item->location,
                          "entry with column files has sequence number %lld below its file's %lld",
                          seq, fseq);
    }
}

static void check_row_range(frz_validation *v, const frz_validate_root *root,
                            const frz_validate_item *item)
{
    const frz_entry *entry = item->entry;
    const frz_snapshot *snapshot = root->snapshot;
    int64_t end;
    int64_t most = frz_maintain_sum(snapshot->first_row_id, snapshot->added_rows);
    if (entry->record_count < 0 || entry->first_row_id < 0 ||
        !frz_add_i64(entry->first_row_id, entry->record_count, &end) || end > most) {
        frz_validate_find(v, item->location,
                          "first row id %lld with %lld rows does not fit below the snapshot's "
                          "end of row ids, %lld",
                          (long long)entry->first_row_id, (long long)entry->record_count,
                          (long long)most);
    } else if (entry->status == FRZ_STATUS_ADDED && entry->first_row_id < snapshot->first_row_id) {
        frz_validate_find(v, item->location,
                          "ADDED entry has first row id %lld below the snapshot's first-row-id "
                          "%lld",
                          (long long)entry->first_row_id, (long long)snapshot->first_row_id);
    }
}

/* Null lineage values mean the entry's number. Once that has risen, some column file must say which
 * rows kept theirs. */
static void check_lineage_column(frz_validation *v, const frz_validate_item *item)
{
    const frz_entry *entry = item->entry;
    if (entry->column_file_count > 0 && entry->sequence_number > entry->file_sequence_number &&
        frz_entry_provider(entry, FRZ_ID_LAST_UPDATED) == NULL) {
        frz_validate_find(v, item->location,
                          "no column file lists _last_updated_sequence_number, although the "
                          "sequence number rose from %lld to %lld",
                          (long long)entry->file_sequence_number,
                          (long long)entry->sequence_number);
    }
}

/* ---- entries of one location together ---- */

/* Index + 1 of the entry of each kind for one location; 0: none. */
typedef struct place {
    size_t live, replaced, deleted;
} place;

typedef struct places {
    frz_key_map map; /* of a location, to an index */
    place *items;
    size_t count;
} places;

static void add_to_place(frz_validation *v, const frz_validate_root *root, place *at, size_t index)
{
    const frz_validate_item *item = &root->items[index];
    frz_status status = item->entry->status;
    size_t *slot = frz_status_is_live(status)      ? &at->live
                   : status == FRZ_STATUS_REPLACED ? &at->replaced
                                                   : &at->deleted;
    if (*slot != 0) {
        frz_validate_find(v, item->location, "the file has two %s entries in snapshot %lld",
                          slot == &at->live ? "live" : frz_status_name(status),
                          (long long)root->snapshot->snapshot_id);
    }
    *slot = index + 1;
}

static frz_code places_init(frz_validation *v, const frz_validate_root *root, places *out,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    out->items = frz_alloc_zero(v->env, root->count, sizeof *out->items);
    if (out->items == NULL) {
        return frz_fail_nomem(err, root->count * sizeof *out->items);
    }
    for (size_t i = 0; i < root->count; i++) {
        size_t at = out->count;
        if (!frz_key_map_get(&out->map, root->items[i].where, &at)) {
            FRZ_TRY(frz_key_map_put(&out->map, root->items[i].where, at, NULL, err));
            out->count++;
        }
        add_to_place(v, root, &out->items[at], i);
    }
out:
    return rc;
}

static void check_pair(frz_validation *v, const frz_validate_root *root,
                       const frz_validate_item *new_half, const frz_validate_item *old_half)
{
    const frz_entry *a = old_half->entry;
    const frz_entry *b = new_half->entry;
    if (a->record_count != b->record_count || a->file_size != b->file_size ||
        a->first_row_id != b->first_row_id || a->file_sequence_number != b->file_sequence_number) {
        frz_validate_find(v, new_half->location,
                          "MODIFIED entry differs from its REPLACED one in what describes the "
                          "base file");
    }
    if (b->sequence_number < a->sequence_number) {
        frz_validate_find(v, new_half->location,
                          "MODIFIED entry has sequence number %lld below its REPLACED one's %lld",
                          (long long)b->sequence_number, (long long)a->sequence_number);
    }
    if (!frz_same_column_files(a, b) && b->sequence_number != root->snapshot->sequence_number) {
        frz_validate_find(v, new_half->location,
                          "entry MODIFIED by column files has sequence number %lld, the "
                          "snapshot's is %lld",
                          (long long)b->sequence_number,
                          (long long)root->snapshot->sequence_number);
    }
}

static void check_place(frz_validation *v, const frz_validate_root *root, const place *at)
{
    const frz_validate_item *live = at->live == 0 ? NULL : &root->items[at->live - 1];
    const frz_validate_item *old = at->replaced == 0 ? NULL : &root->items[at->replaced - 1];
    const frz_validate_item *gone = at->deleted == 0 ? NULL : &root->items[at->deleted - 1];
    bool modified = live != NULL && live->entry->status == FRZ_STATUS_MODIFIED;
    if (modified && old == NULL) {
        frz_validate_find(v, live->location, "MODIFIED entry has no REPLACED one beside it");
    }
    if (old != NULL && !modified) {
        frz_validate_find(v, old->location, "REPLACED entry has no MODIFIED one beside it");
    }
    if (gone != NULL && (live != NULL || old != NULL)) {
        frz_validate_find(v, gone->location, "the file has a DELETED and another entry");
    }
    if (modified && old != NULL) {
        check_pair(v, root, live, old);
    }
}

/* ---- against the parent ---- */

/* The entry of a root that says what became of the parent's: the live one of an EXISTING file, the
 * old half of a modified one, the DELETED one. */
static const frz_validate_item *continuation(const frz_validate_root *root, const place *at)
{
    size_t index = at->replaced != 0 ? at->replaced : at->deleted != 0 ? at->deleted : at->live;
    return index == 0 ? NULL : &root->items[index - 1];
}

static void check_against_parent(frz_validation *v, const frz_validate_root *root,
                                 const places *here, const frz_validate_root *parent)
{
    for (size_t i = 0; i < parent->count; i++) {
        const frz_validate_item *before = &parent->items[i];
        size_t at;
        if (!frz_status_is_live(before->entry->status)) {
            continue;
        }
        if (!frz_key_map_get(&here->map, before->where, &at)) {
            frz_validate_find(v, before->location,
                              "the file is live in snapshot %lld, but its successor %lld neither "
                              "keeps nor removes it",
                              (long long)parent->snapshot->snapshot_id,
                              (long long)root->snapshot->snapshot_id);
            continue;
        }
        const frz_validate_item *after = continuation(root, &here->items[at]);
        if (after != NULL && !frz_key_equal(after->content, before->content)) {
            frz_validate_find(
                v, after->location, "%s entry of snapshot %lld is not what its parent has",
                frz_status_name(after->entry->status), (long long)root->snapshot->snapshot_id);
        }
    }
}

/* Every entry that is not ADDED must have been live in the parent. */
static frz_code check_origins(frz_validation *v, const frz_validate_root *root,
                              const frz_validate_root *parent, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_key_map live;
    frz_key_map_init(&live, v->env);
    for (size_t i = 0; i < parent->count; i++) {
        if (frz_status_is_live(parent->items[i].entry->status)) {
            FRZ_TRY(frz_key_map_put(&live, parent->items[i].where, i, NULL, err));
        }
    }
    for (size_t i = 0; i < root->count; i++) {
        bool known = frz_key_map_get(&live, root->items[i].where, NULL);
        if (!root->items[i].is_dropped &&
            known == (root->items[i].entry->status == FRZ_STATUS_ADDED)) {
            frz_validate_find(v, root->items[i].location,
                              "%s entry of snapshot %lld %s live in its parent",
                              frz_status_name(root->items[i].entry->status),
                              (long long)root->snapshot->snapshot_id, known ? "is" : "is not");
        }
    }
out:
    frz_key_map_reset(&live);
    return rc;
}

frz_code frz_validate_tracking(frz_validation *v, const frz_validate_root *root,
                               const frz_validate_root *parent, frz_error *err)
{
    frz_code rc = FRZ_OK;
    places here = {0};
    frz_key_map_init(&here.map, v->env);
    for (size_t i = 0; i < root->count; i++) {
        check_snapshot_ids(v, root, &root->items[i]);
        check_sequence(v, root, &root->items[i]);
        check_row_range(v, root, &root->items[i]);
        check_lineage_column(v, &root->items[i]);
    }
    FRZ_TRY(places_init(v, root, &here, err));
    for (size_t i = 0; i < here.count; i++) {
        check_place(v, root, &here.items[i]);
    }
    if (parent != NULL && parent->is_tracked) {
        check_against_parent(v, root, &here, parent);
        FRZ_TRY(check_origins(v, root, parent, err));
    }
out:
    frz_key_map_reset(&here.map);
    frz_free(v->env, here.items);
    return rc;
}
