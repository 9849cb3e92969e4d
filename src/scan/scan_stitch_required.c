/*
 * Nulls in required fields. Base files are read with what the table requires inside of structs and
 * lists, so only their columns are looked at here; column files are read as if everything were
 * optional, because they hold nulls, or anything, where rows are deleted.
 */
#include "scan/scan_internal.h"

typedef struct required_check {
    const frz_stitch *stitch;
    int64_t first_row;
    bool deep; /* members and items, too */
    frz_error *err;
} required_check;

/* Values of a field in slots [first, first + count). */
typedef struct slots {
    const frz_field *field;
    const struct ArrowArray *array;
    int64_t first, count;        /* without the array's own offset */
    const struct ArrowArray *in; /* the struct around; NULL: none */
    int64_t in_first;
    const int64_t *rows; /* of each slot, from the window's first, or -1: it means nothing; NULL:
                            slots are rows */
} slots;

/* Where rows were left out, these were the deleted ones, and the numbers of others are too low. */
static bool is_deleted(const required_check *c, int64_t row)
{
    return c->stitch->deleted != NULL && !frz_stitch_thins(c->stitch) &&
           frz_positions_has(c->stitch->deleted, row);
}

static frz_code check_slots(const required_check *c, const slots *s);

static frz_code check_values(const required_check *c, const slots *s)
{
    if (!s->field->required || s->field->type->id == FRZ_TYPE_UNKNOWN ||
        frz_null_count(s->array) == 0) {
        return FRZ_OK;
    }
    for (int64_t i = 0; i < s->count; i++) {
        int64_t row = c->first_row + (s->rows == NULL ? i : s->rows[i]);
        bool around = (s->in == NULL || !frz_is_null(s->in, s->in_first + i)) &&
                      (s->rows == NULL || s->rows[i] >= 0);
        if (around && frz_is_null(s->array, s->first + i) && !is_deleted(c, row)) {
            return frz_fail(c->err, FRZ_E_CORRUPT,
                            "%.*s: required column \"%.*s\" (field id %d) is null in row %lld%s",
                            FRZ_STR_ARG(stitch_location(c->stitch)), FRZ_STR_ARG(s->field->name),
                            s->field->id, (long long)row,
                            frz_stitch_thins(c->stitch) ? " or a later one" : "");
        }
    }
    return FRZ_OK;
}

static frz_code check_members(const required_check *c, const slots *s)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = s->field->type;
    for (size_t i = 0; i < type->field_count && rc == FRZ_OK; i++) {
        slots member = {.field = &type->fields[i],
                        .array = s->array->children[i],
                        .first = s->array->offset + s->first,
                        .count = s->count,
                        .in = s->array,
                        .in_first = s->first,
                        .rows = s->rows};
        rc = check_slots(c, &member);
    }
    return rc;
}

/* Items of lists, or of the entries of maps. */
static frz_code check_items(const required_check *c, const slots *s)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = c->stitch->env;
    const frz_type *type = s->field->type;
    bool is_map = type->id == FRZ_TYPE_MAP;
    const int32_t *ends = (const int32_t *)s->array->buffers[1] + s->array->offset + s->first;
    if (s->count == 0 || ends[s->count] == ends[0]) {
        return FRZ_OK;
    }
    size_t items = (size_t)(ends[s->count] - ends[0]);
    int64_t *rows = frz_alloc(env, items * sizeof *rows);
    if (rows == NULL) {
        return frz_fail_nomem(c->err, items * sizeof *rows);
    }
    for (int64_t i = 0; i < s->count; i++) {
        for (int32_t k = ends[i]; k < ends[i + 1]; k++) {
            rows[k - ends[0]] = frz_is_null(s->array, s->first + i) ? -1
                                : s->rows == NULL                   ? i
                                                                    : s->rows[i];
        }
    }
    const struct ArrowArray *content = s->array->children[0];
    for (size_t i = 0; i < type->field_count && rc == FRZ_OK; i++) {
        slots item = {.field = &type->fields[i],
                      .array = is_map ? content->children[i] : content,
                      .first = ends[0] + (is_map ? content->offset : 0),
                      .count = (int64_t)items,
                      .rows = rows};
        rc = check_slots(c, &item);
    }
    frz_free(env, rows);
    return rc;
}

static bool requires(const frz_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].required || requires(type->fields[i].type)) {
            return true;
        }
    }
    return false;
}

static frz_code check_slots(const required_check *c, const slots *s)
{
    frz_code rc = check_values(c, s);
    if (rc != FRZ_OK || !c->deep || !requires(s->field->type)) {
        return rc;
    }
    return s->field->type->id == FRZ_TYPE_STRUCT ? check_members(c, s) : check_items(c, s);
}

frz_code stitch_check_required(const frz_stitch *stitch, const stitch_source *source,
                               const struct ArrowArray *column, int64_t first_row, frz_error *err)
{
    bool of_base =
        source->place == STITCH_STORED && stitch->parts[source->part].column_file == NULL;
    required_check check = {.stitch = stitch,
                            .first_row = first_row,
                            .deep = source->place != STITCH_CONSTANT && !of_base,
                            .err = err};
    slots all = {.field = source->field, .array = column, .count = column->length};
    return source->place == STITCH_CONSTANT ? FRZ_OK : check_slots(&check, &all);
}
