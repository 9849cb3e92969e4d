/*
 * The public view of a file's schema: its elements as they are, with annotations as text.
 */
#include <inttypes.h>
#include <stdio.h>

#include "format/parquet/parquet_api.h"

/* Lists and maps take two elements for each level that the schema's bound counts. */
#define MOST_ELEMENTS_DEEP (2 * PARQUET_MAX_DEPTH + 4)

#define MOST_CRS 40 /* bytes of a coordinate system that is shown */

/* ---- the tree ---- */

frz_code parquet_api_find_parents(frz_parquet_file *file, frz_error *err)
{
    const parquet_metadata *m = &parquet_api_inner(file)->metadata;
    size_t open[MOST_ELEMENTS_DEEP];  /* groups around the element at hand, */
    int32_t left[MOST_ELEMENTS_DEEP]; /* and how many of their children are still to come */
    size_t depth = 0;
    file->parents = frz_arena_array(&file->arena, m->element_count, sizeof *file->parents);
    if (file->parents == NULL) {
        return frz_fail_nomem(err, m->element_count * sizeof *file->parents);
    }
    for (size_t i = 0; i < m->element_count; i++) {
        while (depth > 0 && left[depth - 1] == 0) {
            depth--;
        }
        if (depth > 0) {
            file->parents[i] = (uint32_t)open[depth - 1];
            left[depth - 1]--;
        }
        if (m->elements[i].num_children > 0) {
            if (depth == MOST_ELEMENTS_DEEP) {
                return frz_fail(err, FRZ_E_LIMIT, "the schema is nested more than %d deep",
                                MOST_ELEMENTS_DEEP);
            }
            open[depth] = i;
            left[depth++] = m->elements[i].num_children;
        }
    }
    return FRZ_OK;
}

static size_t index_of(const frz_parquet_file *file, const parquet_element *e)
{
    return (size_t)(e - parquet_api_inner(file)->metadata.elements);
}

static int depth_of(const frz_parquet_file *file, size_t node)
{
    int depth = 0;
    for (; node != 0; node = file->parents[node]) {
        depth++;
    }
    return depth;
}

/* Leaf columns are in the order of their elements. */
static size_t column_of(const frz_parquet_file *file, size_t node)
{
    const parquet_file *inner = parquet_api_inner(file);
    size_t low = 0;
    size_t high = inner->column_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index_of(file, inner->columns[middle].element) < node) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < inner->column_count && index_of(file, inner->columns[low].element) == node;
    return found ? low : FRZ_PARQUET_NO_COLUMN;
}

/* ---- annotations ---- */

static const char *unit_name(parquet_time_unit unit)
{
    switch (unit) {
    case PARQUET_MILLIS:
        return "MILLIS";
    case PARQUET_MICROS:
        return "MICROS";
    case PARQUET_NANOS:
        return "NANOS";
    default:
        return "?";
    }
}

/* Annotations without parameters. */
static const char *plain_name(parquet_logical logical)
{
    static const char *const names[] = {
        [PARQUET_LOGICAL_STRING] = "STRING",     [PARQUET_LOGICAL_MAP] = "MAP",
        [PARQUET_LOGICAL_LIST] = "LIST",         [PARQUET_LOGICAL_ENUM] = "ENUM",
        [PARQUET_LOGICAL_DATE] = "DATE",         [PARQUET_LOGICAL_UNKNOWN] = "UNKNOWN",
        [PARQUET_LOGICAL_JSON] = "JSON",         [PARQUET_LOGICAL_BSON] = "BSON",
        [PARQUET_LOGICAL_UUID] = "UUID",         [PARQUET_LOGICAL_FLOAT16] = "FLOAT16",
        [PARQUET_LOGICAL_GEOMETRY] = "GEOMETRY", [PARQUET_LOGICAL_GEOGRAPHY] = "GEOGRAPHY",
        [PARQUET_LOGICAL_FILE] = "FILE",
    };
    return (size_t)logical < FRZ_ARRAY_COUNT(names) ? names[logical] : NULL;
}

/* What only the old annotation says. */
static const char *converted_name(int32_t converted)
{
    enum { MAP_KEY_VALUE = 2, INTERVAL = 21 };
    return converted == MAP_KEY_VALUE ? "MAP_KEY_VALUE" : converted == INTERVAL ? "INTERVAL" : "";
}

/* A coordinate system may be a document of its own. */
static void print_geometry(const parquet_element *e, char *out, size_t size)
{
    const char *name = plain_name(e->logical);
    if (e->crs.len == 0) {
        snprintf(out, size, "%s", name);
    } else if (e->crs.len < MOST_CRS) {
        snprintf(out, size, "%s(%.*s)", name, FRZ_STR_ARG(e->crs));
    } else {
        snprintf(out, size, "%s(…)", name);
    }
}

static void print_logical(const parquet_element *e, char *out, size_t size)
{
    const char *name = plain_name(e->logical);
    switch (e->logical) {
    case PARQUET_LOGICAL_NONE:
        snprintf(out, size, "%s", converted_name(e->converted));
        break;
    case PARQUET_LOGICAL_DECIMAL:
        snprintf(out, size, "DECIMAL(%" PRId32 ",%" PRId32 ")", e->precision, e->scale);
        break;
    case PARQUET_LOGICAL_TIME:
    case PARQUET_LOGICAL_TIMESTAMP:
        snprintf(out, size, "%s(%s%s)", e->logical == PARQUET_LOGICAL_TIME ? "TIME" : "TIMESTAMP",
                 unit_name(e->unit), e->utc ? ",UTC" : "");
        break;
    case PARQUET_LOGICAL_INTEGER:
        snprintf(out, size, "%s(%d)", e->is_signed ? "INT" : "UINT", e->bit_width);
        break;
    case PARQUET_LOGICAL_VARIANT:
        if (e->version > 0) {
            snprintf(out, size, "VARIANT(%d)", e->version);
        } else {
            snprintf(out, size, "VARIANT");
        }
        break;
    case PARQUET_LOGICAL_GEOMETRY:
    case PARQUET_LOGICAL_GEOGRAPHY:
        print_geometry(e, out, size);
        break;
    default:
        if (name != NULL) {
            snprintf(out, size, "%s", name);
        } else {
            snprintf(out, size, "annotation %d", (int)e->logical);
        }
        break;
    }
}

/* ---- the public functions ---- */

void frz_parquet_node_info_get(const frz_parquet_file *file, size_t node,
                               frz_parquet_node_info *out)
{
    const parquet_metadata *m = &parquet_api_inner(file)->metadata;
    assert(node < m->element_count);
    const parquet_element *e = &m->elements[node];
    bool fixed = e->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    *out = (frz_parquet_node_info){
        .name = parquet_api_bytes(e->name),
        .parent = file->parents[node],
        .depth = depth_of(file, node),
        .repetition = node == 0 ? FRZ_PARQUET_REQUIRED : (frz_parquet_repetition)e->repetition,
        .type_length = fixed ? e->type_length : 0,
        .field_id = e->has_field_id ? e->field_id : 0,
        .has_field_id = e->has_field_id,
        .child_count = (size_t)e->num_children,
        .column = column_of(file, node),
    };
    if (out->column != FRZ_PARQUET_NO_COLUMN) {
        out->physical = parquet_physical_name(e->physical);
    }
    print_logical(e, out->logical, sizeof out->logical);
}

void frz_parquet_column_info_get(const frz_parquet_file *file, size_t column,
                                 frz_parquet_column_info *out)
{
    const parquet_file *inner = parquet_api_inner(file);
    assert(column < inner->column_count);
    const parquet_column *c = &inner->columns[column];
    *out = (frz_parquet_column_info){.node = index_of(file, c->element),
                                     .max_definition_level = c->max_def,
                                     .max_repetition_level = c->max_rep};
}

size_t frz_parquet_column_path(const frz_parquet_file *file, size_t column, char *buf, size_t size)
{
    const parquet_file *inner = parquet_api_inner(file);
    const parquet_element *elements = inner->metadata.elements;
    size_t way[MOST_ELEMENTS_DEEP + 1];
    size_t depth = 0;
    assert(column < inner->column_count);
    for (size_t node = index_of(file, inner->columns[column].element); node != 0;
         node = file->parents[node]) {
        way[depth++] = node;
    }
    parquet_api_text text = {buf, size, 0};
    while (depth > 0) {
        parquet_api_put(&text, elements[way[--depth]].name);
        parquet_api_put(&text, depth > 0 ? FRZ_STR(".") : FRZ_STR(""));
    }
    return parquet_api_end(&text);
}

/* ---- texts of any length ---- */

void parquet_api_put(parquet_api_text *text, frz_str s)
{
    if (text->len < text->size && s.len > 0) {
        memcpy(text->buf + text->len, s.ptr, FRZ_MIN(s.len, text->size - text->len));
    }
    text->len += s.len;
}

size_t parquet_api_end(parquet_api_text *text)
{
    if (text->size > 0) {
        text->buf[FRZ_MIN(text->len, text->size - 1)] = '\0';
    }
    return text->len;
}
