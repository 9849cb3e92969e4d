/*
 * Statistics of data_file: maps from field ids to counts and to bounds in binary form. Only fields
 * that are asked for are looked at.
 *
 * Invariants:
 *  1. A bound that cannot be read as a value of the field's type is unknown, not an error.
 *  2. Bounds of uuid prove as much as both orders that writers compared them in agree on: the high
 *     eight bytes.
 *
 * spec: data_file, appendix D
 */
#include <stdlib.h>

#include "meta/meta_legacy.h"

/* ---- which fields ---- */

typedef struct collector {
    const meta_entry_rules *rules;
    const frz_schema *schema;
    meta_legacy_stats *out; /* fields NULL: only count */
} collector;

static void add_field(collector *c, int32_t field_id, const frz_type *type)
{
    if (type != NULL && c->out->fields != NULL) {
        c->out->fields[c->out->count] = (meta_legacy_field){field_id, type};
    }
    c->out->count += type != NULL;
}

static frz_code collect_field(void *ctx, const frz_field *field, bool in_repeated, frz_error *err)
{
    (void)err;
    if (!in_repeated && meta_type_has_bounds(field->type)) {
        add_field(ctx, field->id, field->type);
    }
    return FRZ_OK;
}

static frz_code collect(collector *c, const frz_stats_choice *choice, frz_error *err)
{
    c->out->count = 0;
    if (choice->all) {
        return frz_type_visit(c->schema->type, collect_field, c, err);
    }
    for (size_t i = 0; i < choice->field_count; i++) {
        int32_t id = choice->field_ids[i];
        add_field(c, id, meta_stats_type_of(c->rules, c->schema, id));
    }
    return FRZ_OK;
}

static int compare_fields(const void *a, const void *b)
{
    const meta_legacy_field *x = a, *y = b;
    return x->field_id < y->field_id ? -1 : x->field_id > y->field_id;
}

frz_code meta_legacy_stats_of(const meta_entry_rules *rules, const frz_schema *schema,
                              const frz_stats_choice *choice, frz_arena *arena,
                              meta_legacy_stats *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    collector c = {rules, schema, out};
    *out = (meta_legacy_stats){.count = 0};
    FRZ_TRY(collect(&c, choice, err));
    size_t count = out->count;
    out->fields = frz_arena_array(arena, count, sizeof *out->fields);
    FRZ_TRY(out->fields == NULL ? frz_fail_nomem(err, count * sizeof *out->fields) : FRZ_OK);
    FRZ_TRY(collect(&c, choice, err));
    qsort(out->fields, out->count, sizeof *out->fields, compare_fields);
    out->field_ids = frz_arena_array(arena, count, sizeof *out->field_ids);
    FRZ_TRY(out->field_ids == NULL ? frz_fail_nomem(err, count * sizeof *out->field_ids) : FRZ_OK);
    for (size_t i = 0; i < out->count; i++) {
        out->field_ids[i] = out->fields[i].field_id;
    }
out:
    return rc;
}

frz_code meta_legacy_room_of(const meta_legacy_stats *wanted, frz_arena *arena,
                             meta_legacy_room *out, frz_error *err)
{
    out->stats = frz_arena_array(arena, wanted->count, sizeof *out->stats);
    out->bytes = frz_arena_array(arena, wanted->count, sizeof *out->bytes);
    return out->stats == NULL || out->bytes == NULL
               ? frz_fail_nomem(err, wanted->count * sizeof *out->stats)
               : FRZ_OK;
}

/* The place of a field among the wanted ones, or -1. Maps mostly hold ascending ids, so the search
 * goes on from the last hit. */
static ptrdiff_t place_of(const meta_legacy_stats *wanted, int32_t field_id, size_t *cursor)
{
    size_t i =
        *cursor < wanted->count && wanted->fields[*cursor].field_id <= field_id ? *cursor : 0;
    while (i < wanted->count && wanted->fields[i].field_id < field_id) {
        i++;
    }
    *cursor = i;
    return i < wanted->count && wanted->fields[i].field_id == field_id ? (ptrdiff_t)i : -1;
}

/* ---- maps ---- */

/* Call put for each entry of a map whose key is wanted. */
typedef void (*put_value)(meta_legacy_room *room, size_t place, meta_cell value);

static void read_map(const meta_legacy_stats *wanted, meta_cell map, put_value put,
                     meta_legacy_room *room)
{
    size_t cursor = 0;
    size_t count = meta_cell_size(map);
    for (size_t i = 0; i < count; i++) {
        meta_cell entry = meta_cell_element(map, i);
        meta_cell key = meta_cell_member(entry, 0), value = meta_cell_member(entry, 1);
        ptrdiff_t place = meta_cell_null(key) || meta_cell_null(value)
                              ? -1
                              : place_of(wanted, frz_get_i32(key.array, key.row), &cursor);
        if (place >= 0) {
            put(room, (size_t)place, value);
        }
    }
}

static int64_t count_of(meta_cell value)
{
    return FRZ_MAX(frz_get_i64(value.array, value.row), FRZ_STAT_UNKNOWN);
}

static void put_column_size(meta_legacy_room *room, size_t place, meta_cell value)
{
    room->stats[place].column_size = count_of(value);
}

static void put_value_count(meta_legacy_room *room, size_t place, meta_cell value)
{
    room->stats[place].value_count = count_of(value);
}

static void put_null_count(meta_legacy_room *room, size_t place, meta_cell value)
{
    room->stats[place].null_value_count = count_of(value);
}

static void put_nan_count(meta_legacy_room *room, size_t place, meta_cell value)
{
    room->stats[place].nan_value_count = count_of(value);
}

/* The outermost value with the same high half. */
static void widen_uuid(frz_value *value, bool upper, uint8_t *room)
{
    memcpy(room, value->as.bytes.ptr, 8);
    memset(room + 8, upper ? 0xFF : 0, 8);
    value->as.bytes.ptr = (const char *)room;
}

static bool read_bound(meta_legacy_room *room, size_t place, meta_cell value, bool upper,
                       frz_value *out)
{
    const frz_type *type = room->stats[place].type;
    if (!frz_value_from_binary(type, meta_cell_str(value), out) || frz_bound_is_nan(out)) {
        return false;
    }
    if (type->id == FRZ_TYPE_UUID) {
        widen_uuid(out, upper, room->bytes[place][upper]);
    }
    return true;
}

static void put_lower_bound(meta_legacy_room *room, size_t place, meta_cell value)
{
    frz_field_stats *s = &room->stats[place];
    s->has_lower = read_bound(room, place, value, false, &s->lower);
}

static void put_upper_bound(meta_legacy_room *room, size_t place, meta_cell value)
{
    frz_field_stats *s = &room->stats[place];
    s->has_upper = read_bound(room, place, value, true, &s->upper);
}

static bool is_known(const frz_field_stats *s)
{
    return s->has_lower || s->has_upper || s->value_count >= 0 || s->null_value_count >= 0 ||
           s->nan_value_count >= 0 || s->column_size >= 0;
}

size_t meta_legacy_stats_read(const meta_legacy_stats *wanted, const meta_legacy_row *row,
                              meta_cell data_file, meta_legacy_room *room)
{
    static const put_value puts[] = {put_column_size, put_value_count, put_null_count,
                                     put_nan_count,   put_lower_bound, put_upper_bound};
    size_t known = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        room->stats[i] = (frz_field_stats)FRZ_FIELD_STATS_UNKNOWN(wanted->fields[i].field_id,
                                                                  wanted->fields[i].type);
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(puts) && wanted->count > 0; i++) {
        meta_cell map = meta_cell_member(data_file, row->member[META_DF_COLUMN_SIZES + (int)i]);
        read_map(wanted, map, puts[i], room);
    }
    for (size_t i = 0; i < wanted->count; i++) {
        if (is_known(&room->stats[i])) {
            room->stats[known++] = room->stats[i];
        }
    }
    return known;
}
