/*
 * The view of partitions: live files and rows of each, summed over all manifests. There is one sum
 * for each tuple of each spec, so memory grows with the number of partitions.
 */
#include "base/base.h"
#include "meta/meta_view.h"

typedef struct partition_total {
    frz_str partition; /* empty: unpartitioned */
    int32_t spec_id;
    int64_t records, files, bytes;
    int64_t vectors, position_files, position_records, equality_files, equality_records;
    int64_t last_snapshot_id, last_sequence_number;
} partition_total;

/* Open addressing; places hold index + 1 into totals. */
typedef struct total_table {
    partition_total *totals;
    size_t count, capacity;
    uint32_t *places;
    size_t place_count; /* a power of two */
} total_table;

static frz_code partitions_open(meta_view *v, frz_error *err)
{
    static const meta_view_column columns[] = {
        {"partition", FRZ_TYPE_STRING, false, NULL},
        {"spec_id", FRZ_TYPE_INT, false, NULL},
        {"record_count", FRZ_TYPE_LONG, true, NULL},
        {"file_count", FRZ_TYPE_LONG, true, NULL},
        {"total_data_file_size_in_bytes", FRZ_TYPE_LONG, true, NULL},
        {"deletion_vector_count", FRZ_TYPE_LONG, true, NULL},
        {"position_delete_file_count", FRZ_TYPE_LONG, true, NULL},
        {"position_delete_record_count", FRZ_TYPE_LONG, true, NULL},
        {"equality_delete_file_count", FRZ_TYPE_LONG, true, NULL},
        {"equality_delete_record_count", FRZ_TYPE_LONG, true, NULL},
        {"last_updated_snapshot_id", FRZ_TYPE_LONG, false, NULL},
    };
    return meta_view_set_columns(v, columns, FRZ_ARRAY_COUNT(columns), err);
}

static size_t hash_of(int32_t spec_id, frz_str text)
{
    uint64_t h = 1469598103934665603u ^ (uint32_t)spec_id;
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ (unsigned char)text.ptr[i]) * 1099511628211u;
    }
    return (size_t)(h ^ (h >> 29));
}

/* The place of a total, or the free one where it belongs. */
static uint32_t *place_of(const total_table *t, int32_t spec_id, frz_str text)
{
    size_t mask = t->place_count - 1;
    for (size_t i = hash_of(spec_id, text) & mask;; i = (i + 1) & mask) {
        const partition_total *found = t->places[i] == 0 ? NULL : &t->totals[t->places[i] - 1];
        if (found == NULL || (found->spec_id == spec_id && frz_str_equal(found->partition, text))) {
            return &t->places[i];
        }
    }
}

static frz_code grow(meta_view *v, total_table *t, frz_error *err)
{
    const frz_env *env = v->table->env;
    size_t places = t->place_count == 0 ? 64 : t->place_count * 2;
    uint32_t *more = frz_alloc_zero(env, places, sizeof *more);
    if (more == NULL || places > UINT32_MAX) {
        frz_free(env, more);
        return frz_fail_nomem(err, places * sizeof *more);
    }
    frz_free(env, t->places);
    t->places = more;
    t->place_count = places;
    for (size_t i = 0; i < t->count; i++) {
        *place_of(t, t->totals[i].spec_id, t->totals[i].partition) = (uint32_t)i + 1;
    }
    return FRZ_OK;
}

static frz_code find_total(meta_view *v, total_table *t, int32_t spec_id, frz_str text,
                           partition_total **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if ((t->count + 1) * 2 > t->place_count) {
        FRZ_TRY(grow(v, t, err));
    }
    uint32_t *place = place_of(t, spec_id, text);
    if (*place == 0) {
        FRZ_TRY(FRZ_GROW(v->table->env, &t->totals, &t->capacity, t->count, err));
        partition_total *total = &t->totals[t->count];
        *total = (partition_total){
            .spec_id = spec_id, .last_snapshot_id = FRZ_NO_VALUE, .last_sequence_number = -1};
        FRZ_TRY(frz_arena_str(&v->arena, text, &total->partition, err));
        *place = (uint32_t)++t->count;
    }
    *out = &t->totals[*place - 1];
out:
    return rc;
}

static void add_entry(partition_total *total, const frz_entry *e)
{
    if (e->content == FRZ_CONTENT_DATA) {
        total->records += e->record_count;
        total->bytes += e->file_size;
        total->files++;
        total->vectors += e->has_deletion_vector;
    } else if (e->content == FRZ_CONTENT_EQUALITY_DELETES) {
        total->equality_files++;
        total->equality_records += e->record_count;
    } else if (e->has_deletion_vector) {
        total->vectors++;
    } else {
        total->position_files++;
        total->position_records += e->record_count;
    }
    if (e->sequence_number > total->last_sequence_number) {
        total->last_sequence_number = e->sequence_number;
        total->last_snapshot_id =
            e->modified_snapshot_id != FRZ_NO_VALUE ? e->modified_snapshot_id : e->snapshot_id;
    }
}

static frz_code add_entries(meta_view *v, total_table *t, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf text = FRZ_BUF_INIT(v->table->env, FRZ_BUF_NO_LIMIT);
    const frz_entry *entries = NULL;
    size_t count = 0;
    for (rc = meta_view_walk_next(v, false, &entries, &count, err); rc == FRZ_OK;
         rc = meta_view_walk_next(v, false, &entries, &count, err)) {
        for (size_t i = 0; i < count; i++) {
            partition_total *total = NULL;
            frz_buf_clear(&text);
            FRZ_TRY(frz_entry_partition_text(v->table, &entries[i], &text, err));
            FRZ_TRY(find_total(v, t, entries[i].spec_id, frz_buf_view(&text), &total, err));
            add_entry(total, &entries[i]);
        }
    }
    rc = rc == FRZ_END ? FRZ_OK : rc;
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code total_row(meta_view *v, const partition_total *total, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_str none = {NULL, 0};
    FRZ_TRY(meta_view_put_str(v, total->partition.len == 0 ? none : total->partition, err));
    FRZ_TRY(meta_view_put_i32(v, total->spec_id, err));
    FRZ_TRY(meta_view_put_i64(v, total->records, err));
    FRZ_TRY(meta_view_put_i64(v, total->files, err));
    FRZ_TRY(meta_view_put_i64(v, total->bytes, err));
    FRZ_TRY(meta_view_put_i64(v, total->vectors, err));
    FRZ_TRY(meta_view_put_i64(v, total->position_files, err));
    FRZ_TRY(meta_view_put_i64(v, total->position_records, err));
    FRZ_TRY(meta_view_put_i64(v, total->equality_files, err));
    FRZ_TRY(meta_view_put_i64(v, total->equality_records, err));
    FRZ_TRY(meta_view_put_i64(v, total->last_snapshot_id, err));
    FRZ_TRY(meta_view_end_row(v, err));
out:
    return rc;
}

/* In the order in which the partitions are met. */
static frz_code partitions_fill(meta_view *v, frz_error *err)
{
    frz_code rc = FRZ_OK;
    total_table t = {0};
    if (v->filled) {
        return FRZ_END;
    }
    v->filled = true;
    FRZ_TRY(add_entries(v, &t, err));
    for (size_t i = 0; i < t.count; i++) {
        FRZ_TRY(total_row(v, &t.totals[i], err));
    }
out:
    frz_free(v->table->env, t.places);
    frz_free(v->table->env, t.totals);
    return rc;
}

const meta_view_kind meta_view_partitions = {partitions_open, partitions_fill, true};
