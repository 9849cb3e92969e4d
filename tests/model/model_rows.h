/*
 * A plain model of a table: rows with their lineage and values, what statements do to them written
 * row by row, and the comparison with what scans return.
 */
#ifndef FRZ_TEST_MODEL_ROWS_H
#define FRZ_TEST_MODEL_ROWS_H

#include <stdlib.h>

#include "frazil/frazil.h"
#include "type/type_value.h"
#include "unit/test_random.h"
#include "unit/test_support.h"

/* Columns of every table, then those that are added later. */
enum {
    COL_ID, /* unique, from 0, never updated */
    COL_N,
    COL_D,
    COL_S,
    COL_B,
    COL_M,
    COL_ST,
    COL_ST2,
    COL_L,
    COL_L2,
    COL_FIRST_ADDED,
    COL_U = COL_FIRST_ADDED,
    COL_A0,
    COL_A1,
    COL_A2,
    COL_MOST = COL_A0 + 6
};

typedef enum model_kind {
    KIND_LONG,
    KIND_DOUBLE,
    KIND_STRING,
    KIND_BOOL,
    KIND_DECIMAL, /* (9,2) */
    KIND_STRUCT,  /* x long, y string */
    KIND_LIST,    /* of long */
    KIND_UNKNOWN  /* always null, and a long later */
} model_kind;

#define MODEL_TEXT 32
#define MODEL_ITEMS 3

typedef struct model_value {
    bool null;
    int64_t i; /* LONG, BOOL, unscaled DECIMAL, x of STRUCT, length of LIST */
    double d;
    char text[MODEL_TEXT]; /* STRING, y of STRUCT */
    int64_t items[MODEL_ITEMS];
    bool x_null, y_null;
    bool item_null[MODEL_ITEMS];
} model_value;

typedef struct model_row {
    int64_t row_id, last_updated;
    model_value values[COL_MOST];
} model_row;

typedef struct model_column {
    const char *name;
    model_kind kind;
} model_column;

#define MODEL_NAME 16

/* One state of a table. */
typedef struct model {
    model_row *rows; /* in order of their ids */
    size_t count;
    size_t columns;      /* that the schema has had so far; the next one is added here */
    bool gone[COL_MOST]; /* of these: dropped */
    bool typed;          /* u is a long by now */
    char names[COL_MOST][MODEL_NAME]; /* now; empty: as at first */
    model_value added[COL_MOST];      /* value of rows that are written without the column */
    int64_t snapshot_id;
} model;

static const model_column model_columns[COL_MOST] = {
    {"id", KIND_LONG},   {"n", KIND_LONG},    {"d", KIND_DOUBLE},  {"s", KIND_STRING},
    {"b", KIND_BOOL},    {"m", KIND_DECIMAL}, {"st", KIND_STRUCT}, {"st2", KIND_STRUCT},
    {"l", KIND_LIST},    {"l2", KIND_LIST},   {"u", KIND_UNKNOWN}, {"a0", KIND_LONG},
    {"a1", KIND_STRING}, {"a2", KIND_LONG},   {"a3", KIND_STRING}, {"a4", KIND_LONG},
    {"a5", KIND_STRING},
};

/* ---- columns ---- */

static inline bool model_has(const model *m, size_t column)
{
    return column < m->columns && !m->gone[column];
}

static inline const char *model_name(const model *m, size_t column)
{
    return m->names[column][0] != '\0' ? m->names[column] : model_columns[column].name;
}

/* Length of the word that text starts with, and the column that has this name at first; COL_MOST:
 * none. What is in quotes is a word. */
static inline size_t model_word(const char *text, size_t *column)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    *column = COL_MOST;
    if (*text == '\'') {
        return strcspn(text + 1, "'") + 2;
    }
    size_t len = strspn(text, letters);
    for (size_t c = 0; c < COL_MOST; c++) {
        const char *name = model_columns[c].name;
        *column = strlen(name) == len && memcmp(name, text, len) == 0 ? c : *column;
    }
    return len == 0 ? 1 : len;
}

/* SQL that names columns as they were named at first, with their names now; false: one is not
 * there. */
static inline bool model_render(const model *m, const char *text, char *out, size_t size)
{
    size_t column, used = 0, len;
    for (; *text != '\0'; text += len) {
        len = model_word(text, &column);
        if (column < COL_MOST && !model_has(m, column)) {
            return false;
        }
        used += (size_t)snprintf(out + used, size - used, "%.*s",
                                 column < COL_MOST ? MODEL_NAME : (int)len,
                                 column < COL_MOST ? model_name(m, column) : text);
        assert_true(used < size);
    }
    out[used] = '\0';
    return true;
}

/* ---- values ---- */

static inline model_value model_null(void)
{
    return (model_value){.null = true};
}

static inline model_value model_long(int64_t i)
{
    return (model_value){.i = i};
}

static inline model_value model_double(double d)
{
    return (model_value){.d = d};
}

static inline model_value model_text(const char *text)
{
    model_value value = {0};
    snprintf(value.text, sizeof value.text, "%s", text);
    return value;
}

static inline bool model_equal(model_kind kind, const model_value *a, const model_value *b)
{
    if (a->null || b->null) {
        return a->null == b->null;
    }
    switch (kind) {
    case KIND_DOUBLE:
        return memcmp(&a->d, &b->d, sizeof a->d) == 0;
    case KIND_STRING:
        return strcmp(a->text, b->text) == 0;
    case KIND_STRUCT:
        return a->x_null == b->x_null && (a->x_null || a->i == b->i) && a->y_null == b->y_null &&
               (a->y_null || strcmp(a->text, b->text) == 0);
    case KIND_LIST:
        for (int64_t k = 0; k < a->i && a->i == b->i; k++) {
            if (a->item_null[k] != b->item_null[k] ||
                (!a->item_null[k] && a->items[k] != b->items[k])) {
                return false;
            }
        }
        return a->i == b->i;
    default:
        return a->i == b->i;
    }
}

static inline void model_copy_text(frz_str from, char to[MODEL_TEXT])
{
    assert_true(from.len < MODEL_TEXT);
    if (from.len > 0) {
        memcpy(to, from.ptr, from.len);
    }
    to[from.len] = '\0';
}

/* Row i of an array that a scan returned. */
static inline model_value model_read(model_kind kind, const struct ArrowArray *array, int64_t i)
{
    model_value value = {.null = frz_is_null(array, i)};
    int64_t at = array->offset + i;
    if (value.null) {
        return value;
    }
    switch (kind) {
    case KIND_UNKNOWN:
        break;
    case KIND_LONG:
        value.i = frz_get_i64(array, i);
        break;
    case KIND_DOUBLE:
        value.d = frz_get_f64(array, i);
        break;
    case KIND_STRING:
        model_copy_text(frz_get_bytes(array, i), value.text);
        break;
    case KIND_BOOL:
        value.i = frz_get_bool(array, i);
        break;
    case KIND_DECIMAL: {
        frz_i128 unscaled;
        memcpy(&unscaled, (const uint8_t *)array->buffers[1] + (size_t)at * 16, 16);
        value.i = (int64_t)unscaled;
        break;
    }
    case KIND_STRUCT:
        value.x_null = frz_is_null(array->children[0], at);
        value.i = value.x_null ? 0 : frz_get_i64(array->children[0], at);
        value.y_null = frz_is_null(array->children[1], at);
        if (!value.y_null) {
            model_copy_text(frz_get_bytes(array->children[1], at), value.text);
        }
        break;
    case KIND_LIST: {
        const int32_t *offsets = (const int32_t *)array->buffers[1] + at;
        value.i = offsets[1] - offsets[0];
        assert_true(value.i <= MODEL_ITEMS);
        for (int64_t k = 0; k < value.i; k++) {
            value.item_null[k] = frz_is_null(array->children[0], offsets[0] + k);
            value.items[k] =
                value.item_null[k] ? 0 : frz_get_i64(array->children[0], offsets[0] + k);
        }
        break;
    }
    }
    return value;
}

/* ---- random rows ---- */

typedef test_random model_random;

static inline model_value random_value(model_random *r, int column, int64_t id)
{
    model_value value = {0};
    char text[MODEL_TEXT];
    if (column == COL_ID) {
        return model_long(id);
    }
    if (random_below(r, 4) == 0) {
        return model_null();
    }
    snprintf(text, sizeof text, "%c%d", (char)('p' + random_below(r, 4)), (int)random_below(r, 12));
    switch (model_columns[column].kind) {
    case KIND_UNKNOWN:
        return model_null();
    case KIND_LONG:
        return model_long(random_below(r, 20) - 5);
    case KIND_DOUBLE:
        return model_double((double)random_below(r, 100) / 8);
    case KIND_STRING:
        return model_text(text);
    case KIND_BOOL:
        return model_long(random_below(r, 2));
    case KIND_DECIMAL:
        return model_long(random_below(r, 1000) - 300);
    case KIND_STRUCT:
        value = model_text(text);
        value.i = random_below(r, 50);
        value.x_null = random_below(r, 3) == 0;
        value.y_null = random_below(r, 3) == 0;
        return value;
    case KIND_LIST:
        value.i = random_below(r, MODEL_ITEMS + 1);
        for (int64_t k = 0; k < value.i; k++) {
            value.items[k] = random_below(r, 9);
            value.item_null[k] = random_below(r, 4) == 0;
        }
        return value;
    }
    return value;
}

/* ---- conditions: 1 true, 0 false, -1 null ---- */

typedef struct model_condition {
    const char *text; /* with one %lld for the number, or none */
    int (*test)(const model_row *row, int64_t number);
} model_condition;

static inline int cond_first(const model_row *row, int64_t number)
{
    return row->values[COL_ID].i < number;
}
static inline int cond_last(const model_row *row, int64_t number)
{
    return row->values[COL_ID].i >= number;
}
static inline int cond_third(const model_row *row, int64_t number)
{
    return row->values[COL_ID].i % 3 == number % 3;
}
static inline int cond_none(const model_row *row, int64_t number)
{
    (void)row;
    (void)number;
    return 0;
}
static inline int cond_n(const model_row *row, int64_t number)
{
    return row->values[COL_N].null ? -1 : row->values[COL_N].i > number;
}
static inline int cond_b(const model_row *row, int64_t number)
{
    (void)number;
    return row->values[COL_B].null ? -1 : (int)row->values[COL_B].i;
}
static inline int cond_s(const model_row *row, int64_t number)
{
    (void)number;
    return row->values[COL_S].null ? -1 : strcmp(row->values[COL_S].text, "q1") >= 0;
}
static inline int cond_d_null(const model_row *row, int64_t number)
{
    (void)number;
    return row->values[COL_D].null;
}
static inline int cond_m(const model_row *row, int64_t number)
{
    return row->values[COL_M].null ? -1 : row->values[COL_M].i < number * 10;
}
static inline int cond_row_id(const model_row *row, int64_t number)
{
    return row->row_id >= number;
}
static inline int cond_updated(const model_row *row, int64_t number)
{
    return row->last_updated == number % 8;
}
static inline int cond_updated_late(const model_row *row, int64_t number)
{
    return row->last_updated > number % 8;
}
static inline int cond_both(const model_row *row, int64_t number)
{
    int n = cond_n(row, 2), b = cond_b(row, number);
    return n == 0 || b == 0 ? 0 : n < 0 || b < 0 ? -1 : 1;
}

static const model_condition model_conditions[] = {
    {"id < %lld", cond_first},
    {"id >= %lld", cond_last},
    {"id % 3 = %lld % 3", cond_third},
    {"id = -1 - %lld", cond_none},
    {"n > %lld", cond_n},
    {"b", cond_b},
    {"s >= 'q1'", cond_s},
    {"d IS NULL", cond_d_null},
    {"m * 10 < %lld", cond_m},
    {"_row_id >= %lld", cond_row_id},
    {"_last_updated_sequence_number = %lld % 8", cond_updated},
    {"_last_updated_sequence_number > %lld % 8", cond_updated_late},
    {"n > 2 AND b", cond_both},
};

/* ---- assignments ---- */

typedef struct model_rule {
    int column;
    const char *text;
    model_value (*value)(const model_row *row);
} model_rule;

static inline model_value set_null(const model_row *row)
{
    (void)row;
    return model_null();
}
static inline model_value set_n_more(const model_row *row)
{
    return row->values[COL_N].null ? model_null() : model_long(row->values[COL_N].i + 1);
}
static inline model_value set_seven(const model_row *row)
{
    (void)row;
    return model_long(7);
}
static inline model_value set_id_triple(const model_row *row)
{
    return model_long(row->values[COL_ID].i * 3);
}
static inline model_value set_row_id(const model_row *row)
{
    return model_long(row->row_id);
}
static inline model_value set_updated(const model_row *row)
{
    return model_long(row->last_updated);
}
static inline model_value set_case(const model_row *row)
{
    return model_long(!row->values[COL_B].null && row->values[COL_B].i ? 1 : -1);
}
static inline model_value set_length(const model_row *row)
{
    int64_t n = row->values[COL_N].null ? 0 : row->values[COL_N].i;
    size_t length = row->values[COL_S].null ? 0 : strlen(row->values[COL_S].text);
    return model_long(n + (int64_t)length);
}
static inline model_value set_d_double(const model_row *row)
{
    return row->values[COL_D].null ? model_null() : model_double(row->values[COL_D].d * 2);
}
static inline model_value set_quarter(const model_row *row)
{
    return model_double((double)row->values[COL_ID].i / 4);
}
static inline model_value set_d_of_n(const model_row *row)
{
    return row->values[COL_N].null ? model_null() : model_double((double)row->values[COL_N].i);
}
static inline model_value set_x(const model_row *row)
{
    (void)row;
    return model_text("x");
}
static inline model_value set_name(const model_row *row)
{
    char text[MODEL_TEXT];
    snprintf(text, sizeof text, "r%d", (int)row->values[COL_ID].i);
    return model_text(text);
}
static inline model_value set_s_upper(const model_row *row)
{
    model_value value = row->values[COL_S];
    for (char *p = value.text; *p != '\0'; p++) {
        *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
    }
    return value;
}
static inline model_value set_s(const model_row *row)
{
    return row->values[COL_S];
}
static inline model_value set_even(const model_row *row)
{
    return model_long(row->values[COL_ID].i % 2 == 0);
}
static inline model_value set_not(const model_row *row)
{
    return row->values[COL_B].null ? model_null() : model_long(!row->values[COL_B].i);
}
static inline model_value set_greater(const model_row *row)
{
    return row->values[COL_N].null ? model_null() : model_long(row->values[COL_N].i > 5);
}
static inline model_value set_m_more(const model_row *row)
{
    return row->values[COL_M].null ? model_null() : model_long(row->values[COL_M].i + 25);
}
static inline model_value set_m_fixed(const model_row *row)
{
    (void)row;
    return model_long(-150);
}
static inline model_value set_m_id(const model_row *row)
{
    return model_long(row->values[COL_ID].i * 100);
}
static inline model_value set_st2(const model_row *row)
{
    return row->values[COL_ST2];
}
static inline model_value set_st(const model_row *row)
{
    return row->values[COL_ST];
}
static inline model_value set_l2(const model_row *row)
{
    return row->values[COL_L2];
}
static inline model_value set_l(const model_row *row)
{
    return row->values[COL_L];
}
static inline model_value set_a0_more(const model_row *row)
{
    const model_value *a0 = &row->values[COL_A0];
    return model_long((a0->null ? 0 : a0->i) + row->values[COL_ID].i);
}
static inline model_value set_a0(const model_row *row)
{
    return row->values[COL_A0];
}

static const model_rule model_rules[] = {
    {COL_N, "n + 1", set_n_more},
    {COL_N, "7", set_seven},
    {COL_N, "NULL", set_null},
    {COL_N, "id * 3", set_id_triple},
    {COL_N, "_row_id", set_row_id},
    {COL_N, "_last_updated_sequence_number", set_updated},
    {COL_N, "CASE WHEN b THEN 1 ELSE -1 END", set_case},
    {COL_N, "coalesce(n, 0) + length(coalesce(s, ''))", set_length},
    {COL_D, "d * 2", set_d_double},
    {COL_D, "id / 4", set_quarter},
    {COL_D, "n", set_d_of_n},
    {COL_D, "NULL", set_null},
    {COL_S, "'x'", set_x},
    {COL_S, "concat('r', CAST(id AS string))", set_name},
    {COL_S, "upper(s)", set_s_upper},
    {COL_S, "NULL", set_null},
    {COL_B, "id % 2 = 0", set_even},
    {COL_B, "NOT b", set_not},
    {COL_B, "n > 5", set_greater},
    {COL_B, "NULL", set_null},
    {COL_M, "m + 0.25", set_m_more},
    {COL_M, "-1.5", set_m_fixed},
    {COL_M, "id", set_m_id},
    {COL_M, "NULL", set_null},
    {COL_ST, "NULL", set_null},
    {COL_ST, "st2", set_st2},
    {COL_ST2, "st", set_st},
    {COL_L, "NULL", set_null},
    {COL_L, "l2", set_l2},
    {COL_L2, "l", set_l},
    {COL_A0, "coalesce(a0, 0) + id", set_a0_more},
    {COL_A0, "id * 3", set_id_triple},
    {COL_A0, "NULL", set_null},
    {COL_N, "a0", set_a0},
    {COL_A1, "concat('r', CAST(id AS string))", set_name},
    {COL_A1, "s", set_s},
    {COL_A2, "_row_id", set_row_id},
    {COL_U, "NULL", set_null},
    {COL_U, "u", set_null},
    {COL_N, "u", set_null},
};

#endif
