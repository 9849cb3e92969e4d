/*
 * Types: constants, comparison, promotion, lookup in trees.
 */
#include "type/type_schema.h"

#define PRIMITIVE(id_) [FRZ_TYPE_##id_] = {.id = FRZ_TYPE_##id_}

static const frz_type primitives[] = {
    PRIMITIVE(UNKNOWN),   PRIMITIVE(BOOLEAN),     PRIMITIVE(INT),
    PRIMITIVE(LONG),      PRIMITIVE(FLOAT),       PRIMITIVE(DOUBLE),
    PRIMITIVE(DECIMAL),   PRIMITIVE(DATE),        PRIMITIVE(TIME),
    PRIMITIVE(TIMESTAMP), PRIMITIVE(TIMESTAMPTZ), PRIMITIVE(TIMESTAMP_NS),
    PRIMITIVE(STRING),    PRIMITIVE(UUID),        PRIMITIVE(TIMESTAMPTZ_NS),
    PRIMITIVE(BINARY),    PRIMITIVE(FIXED),       PRIMITIVE(VARIANT),
    PRIMITIVE(GEOMETRY),  PRIMITIVE(GEOGRAPHY),
};

#define FOREIGN(foreign_)                                                                          \
    [FRZ_FOREIGN_##foreign_] = {.id = FRZ_TYPE_FOREIGN, .foreign = FRZ_FOREIGN_##foreign_}

static const frz_type foreigns[] = {
    FOREIGN(INT8),    FOREIGN(INT16),    FOREIGN(UINT8),        FOREIGN(UINT16),
    FOREIGN(UINT32),  FOREIGN(UINT64),   FOREIGN(FLOAT16),      FOREIGN(TIME_MS),
    FOREIGN(TIME_NS), FOREIGN(INTERVAL), FOREIGN(TIMESTAMP_MS), FOREIGN(TIMESTAMPTZ_MS),
};

const frz_field frz_field_row_id = {
    .id = FRZ_ID_ROW_ID,
    .name = {"_row_id", 7},
    .type = &primitives[FRZ_TYPE_LONG],
};

const frz_field frz_field_last_updated = {
    .id = FRZ_ID_LAST_UPDATED,
    .name = {"_last_updated_sequence_number", 29},
    .type = &primitives[FRZ_TYPE_LONG],
};

const frz_type *frz_type_primitive(frz_type_id id)
{
    assert(id < FRZ_TYPE_FOREIGN && id != FRZ_TYPE_DECIMAL && id != FRZ_TYPE_FIXED);
    return &primitives[id];
}

const frz_type *frz_type_foreign(frz_foreign_type foreign)
{
    assert(foreign > FRZ_FOREIGN_NONE && foreign < FRZ_FOREIGN_DECIMAL256);
    return &foreigns[foreign];
}

/* ---- comparison ---- */

static bool same_parameters(const frz_type *a, const frz_type *b)
{
    return a->id == b->id && a->foreign == b->foreign && a->precision == b->precision &&
           a->scale == b->scale && a->length == b->length && frz_str_equal(a->crs, b->crs) &&
           frz_str_equal(a->algorithm, b->algorithm) && a->field_count == b->field_count;
}

static bool trees_equal(const frz_type *a, const frz_type *b, bool identity)
{
    if (a == b) {
        return true;
    }
    if (!same_parameters(a, b)) {
        return false;
    }
    for (size_t i = 0; i < a->field_count; i++) {
        const frz_field *x = &a->fields[i];
        const frz_field *y = &b->fields[i];
        if (identity && (x->id != y->id || x->required != y->required)) {
            return false;
        }
        if (!frz_str_equal(x->name, y->name) || !trees_equal(x->type, y->type, identity)) {
            return false;
        }
    }
    return true;
}

const frz_type *frz_type_storage(const frz_type *type)
{
    static const frz_type binary = {.id = FRZ_TYPE_BINARY};
    static const frz_field pair[] = {
        {.id = FRZ_ID_NONE, .required = true, .name = {"metadata", 8}, .type = &binary},
        {.id = FRZ_ID_NONE, .required = true, .name = {"value", 5}, .type = &binary}};
    static const frz_type variant = {.id = FRZ_TYPE_STRUCT, .fields = pair, .field_count = 2};
    return type->id == FRZ_TYPE_VARIANT ? &variant : type;
}

bool frz_type_equal(const frz_type *a, const frz_type *b)
{
    return trees_equal(a, b, true);
}

bool frz_type_same_shape(const frz_type *a, const frz_type *b)
{
    return trees_equal(a, b, false);
}

/* Fields that exist on both sides must promote; others are added or dropped fields. */
static bool struct_promotes(const frz_type *from, const frz_type *to)
{
    for (size_t i = 0; i < to->field_count; i++) {
        const frz_field *field = frz_type_field_by_id(from, to->fields[i].id);
        if (field != NULL && !frz_type_promotes(field->type, to->fields[i].type)) {
            return false;
        }
    }
    return true;
}

bool frz_type_promotes(const frz_type *from, const frz_type *to)
{
    if (from->id == FRZ_TYPE_UNKNOWN) {
        return true;
    }
    switch (to->id) {
    case FRZ_TYPE_LONG:
        return from->id == FRZ_TYPE_LONG || from->id == FRZ_TYPE_INT;
    case FRZ_TYPE_DOUBLE:
        return from->id == FRZ_TYPE_DOUBLE || from->id == FRZ_TYPE_FLOAT;
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMP_NS:
        return from->id == to->id || from->id == FRZ_TYPE_DATE;
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        return from->id == to->id || from->id == FRZ_TYPE_BINARY; /* not all files say more */
    case FRZ_TYPE_DECIMAL:
        return from->id == FRZ_TYPE_DECIMAL && from->scale == to->scale &&
               from->precision <= to->precision;
    case FRZ_TYPE_STRUCT:
        return from->id == FRZ_TYPE_STRUCT && struct_promotes(from, to);
    case FRZ_TYPE_LIST:
        return from->id == FRZ_TYPE_LIST &&
               frz_type_promotes(from->fields[0].type, to->fields[0].type);
    case FRZ_TYPE_MAP:
        return from->id == FRZ_TYPE_MAP &&
               frz_type_promotes(from->fields[0].type, to->fields[0].type) &&
               frz_type_promotes(from->fields[1].type, to->fields[1].type);
    default:
        return same_parameters(from, to);
    }
}

static size_t foreign_width(frz_foreign_type foreign)
{
    switch (foreign) {
    case FRZ_FOREIGN_INT8:
    case FRZ_FOREIGN_UINT8:
        return 1;
    case FRZ_FOREIGN_INT16:
    case FRZ_FOREIGN_UINT16:
    case FRZ_FOREIGN_FLOAT16:
        return 2;
    case FRZ_FOREIGN_UINT32:
    case FRZ_FOREIGN_TIME_MS:
        return 4;
    case FRZ_FOREIGN_INTERVAL:
        return 16;
    case FRZ_FOREIGN_DECIMAL256:
        return 32;
    default:
        return 8;
    }
}

size_t frz_type_width(const frz_type *type)
{
    switch (type->id) {
    case FRZ_TYPE_INT:
    case FRZ_TYPE_FLOAT:
    case FRZ_TYPE_DATE:
        return 4;
    case FRZ_TYPE_LONG:
    case FRZ_TYPE_DOUBLE:
    case FRZ_TYPE_TIME:
    case FRZ_TYPE_TIMESTAMP:
    case FRZ_TYPE_TIMESTAMPTZ:
    case FRZ_TYPE_TIMESTAMP_NS:
    case FRZ_TYPE_TIMESTAMPTZ_NS:
        return 8;
    case FRZ_TYPE_DECIMAL:
    case FRZ_TYPE_UUID:
        return 16;
    case FRZ_TYPE_FIXED:
        return (size_t)type->length;
    case FRZ_TYPE_FOREIGN:
        return foreign_width(type->foreign);
    default:
        return 0;
    }
}

/* ---- lookup ---- */

int64_t frz_type_index_of_id(const frz_type *struct_type, int32_t id)
{
    for (size_t i = 0; i < struct_type->field_count && id != FRZ_ID_NONE; i++) {
        if (struct_type->fields[i].id == id) {
            return (int64_t)i;
        }
    }
    return -1;
}

const frz_field *frz_type_field_by_id(const frz_type *struct_type, int32_t id)
{
    int64_t i = frz_type_index_of_id(struct_type, id);
    return i < 0 ? NULL : &struct_type->fields[i];
}

const frz_field *frz_type_find_id(const frz_type *type, int32_t id)
{
    const frz_field *found = frz_type_field_by_id(type, id);
    for (size_t i = 0; i < type->field_count && found == NULL; i++) {
        found = frz_type_find_id(type->fields[i].type, id);
    }
    return found;
}

/* Words that differ in one letter added, removed or changed, or one contains the other. */
static bool is_close(frz_str a, frz_str b)
{
    frz_str shorter = a.len <= b.len ? a : b;
    frz_str longer = a.len <= b.len ? b : a;
    size_t head = 0;
    size_t tail = 0;
    if (longer.len - shorter.len > 1) {
        return shorter.len >= 3 && memmem(longer.ptr, longer.len, shorter.ptr, shorter.len) != NULL;
    }
    while (head < shorter.len && frz_str_equal_nocase((frz_str){shorter.ptr + head, 1},
                                                      (frz_str){longer.ptr + head, 1})) {
        head++;
    }
    while (tail < shorter.len - head &&
           frz_str_equal_nocase((frz_str){shorter.ptr + shorter.len - tail - 1, 1},
                                (frz_str){longer.ptr + longer.len - tail - 1, 1})) {
        tail++;
    }
    return longer.len > 1 && longer.len - head - tail <= 1;
}

/* The names of a struct's fields with commas between, as many as there is room for; those close to
 * a name only, or all if that is empty. Returns the length. */
static size_t list_names(const frz_type *type, frz_str close_to, char *text, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        frz_str column = type->fields[i].name;
        if (close_to.len > 0 && !is_close(close_to, column)) {
            continue;
        }
        const char *comma = len == 0 ? "" : ", ";
        bool fits = len + column.len + 8 <= size;
        len += (size_t)snprintf(text + len, size - len, "%s%.*s", comma, fits ? (int)column.len : 3,
                                fits ? column.ptr : "...");
        if (!fits) {
            break;
        }
    }
    return len;
}

static frz_code no_such_column(const frz_type *type, frz_str name, frz_error *err)
{
    char names[200];
    frz_code rc = frz_fail(err, FRZ_E_NOT_FOUND, "there is no column \"%.*s\"", FRZ_STR_ARG(name));
    if (name.len > 0 && list_names(type, name, names, sizeof names) > 0) {
        frz_hint(err, "close names: %s", names);
    } else if (list_names(type, (frz_str){NULL, 0}, names, sizeof names) > 0) {
        frz_hint(err, "columns are: %s", names);
    }
    return rc;
}

frz_code frz_type_resolve_name(const frz_type *struct_type, frz_str name, const frz_field **out,
                               frz_error *err)
{
    const frz_field *folded = NULL;
    bool ambiguous = false;
    for (size_t i = 0; i < struct_type->field_count; i++) {
        const frz_field *field = &struct_type->fields[i];
        if (frz_str_equal(field->name, name)) {
            *out = field;
            return FRZ_OK;
        }
        if (frz_str_equal_nocase(field->name, name)) {
            ambiguous = folded != NULL;
            folded = folded == NULL ? field : folded;
        }
    }
    if (ambiguous) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\" is ambiguous: several names differ from it only in case",
                        FRZ_STR_ARG(name));
    }
    if (folded == NULL) {
        return no_such_column(struct_type, name, err);
    }
    *out = folded;
    return FRZ_OK;
}

/* Append the names from the root down to the field; found tells whether it is below this type. */
static frz_code append_path(const frz_type *type, int32_t id, frz_buf *out, bool *found,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t start = out->len;
    for (size_t i = 0; i < type->field_count; i++) {
        const frz_field *field = &type->fields[i];
        FRZ_TRY(frz_buf_append(out, field->name.ptr, field->name.len, err));
        if (field->id == id) {
            *found = true;
            return FRZ_OK;
        }
        if (field->type->field_count > 0) {
            FRZ_TRY(frz_buf_append_byte(out, '.', err));
            FRZ_TRY(append_path(field->type, id, out, found, err));
            if (*found) {
                return FRZ_OK;
            }
        }
        out->len = start;
    }
out:
    return rc;
}

frz_code frz_type_dotted_name(const frz_type *struct_type, int32_t id, frz_buf *out, frz_error *err)
{
    bool found = false;
    return append_path(struct_type, id, out, &found, err);
}

int32_t frz_type_max_id(const frz_type *type)
{
    int32_t max = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        int32_t below = frz_type_max_id(type->fields[i].type);
        max = FRZ_MAX(max, FRZ_MAX(below, type->fields[i].id));
    }
    return max;
}

static frz_code visit_below(const frz_type *type, frz_field_visit visit, void *ctx,
                            bool in_repeated, frz_error *err)
{
    frz_code rc = FRZ_OK;
    in_repeated = in_repeated || type->id == FRZ_TYPE_LIST || type->id == FRZ_TYPE_MAP;
    for (size_t i = 0; i < type->field_count; i++) {
        FRZ_TRY(visit(ctx, &type->fields[i], in_repeated, err));
        FRZ_TRY(visit_below(type->fields[i].type, visit, ctx, in_repeated, err));
    }
out:
    return rc;
}

frz_code frz_type_visit(const frz_type *type, frz_field_visit visit, void *ctx, frz_error *err)
{
    return visit_below(type, visit, ctx, false, err);
}
