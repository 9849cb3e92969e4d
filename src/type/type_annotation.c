/*
 * Annotations as text, and as extension types of Arrow. Geometries go by GeoArrow's "geoarrow.wkb",
 * whose metadata is a JSON object of the reference system and the way between points.
 */
#include "type/type_annotation.h"

#include "base/base_json.h"

#define EXTENSION_JSON "arrow.json"
#define EXTENSION_VARIANT "arrow.parquet.variant"
#define EXTENSION_WKB "geoarrow.wkb"
#define DEFAULT_CRS "OGC:CRS84"
#define DEFAULT_ALGORITHM "SPHERICAL"
#define SRID "srid:"

static const struct {
    const char *name;
    frz_annotation_kind kind;
    frz_type_id type;
} kinds[] = {
    {"JSON", FRZ_ANNOTATION_JSON, FRZ_TYPE_STRING},
    {"ENUM", FRZ_ANNOTATION_ENUM, FRZ_TYPE_STRING},
    {"BSON", FRZ_ANNOTATION_BSON, FRZ_TYPE_BINARY},
    {"FILE", FRZ_ANNOTATION_FILE, FRZ_TYPE_STRUCT},
    {"VARIANT", FRZ_ANNOTATION_VARIANT, FRZ_TYPE_STRUCT},
    {"GEOMETRY", FRZ_ANNOTATION_GEOMETRY, FRZ_TYPE_BINARY},
    {"GEOGRAPHY", FRZ_ANNOTATION_GEOGRAPHY, FRZ_TYPE_BINARY},
    {"DECIMAL", FRZ_ANNOTATION_DECIMAL, FRZ_TYPE_UNKNOWN}, /* of four types */
};

/* GeoArrow's words for the ways between points, in lower case there. */
static const char *const algorithms[] = {"SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY"};

/* ---- text ---- */

static bool to_i32(frz_str text, int32_t *out)
{
    int64_t value;
    if (!frz_str_to_i64(text, &value) || value < 0 || value > INT32_MAX) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

/* Split at the last comma; reference systems may have commas too. */
static bool split_last(frz_str inside, frz_str *before, frz_str *after)
{
    size_t at = inside.len;
    while (at > 0 && inside.ptr[at - 1] != ',') {
        at--;
    }
    if (at == 0) {
        return false;
    }
    *before = (frz_str){inside.ptr, at - 1};
    *after = (frz_str){inside.ptr + at, inside.len - at};
    return true;
}

static bool parse_inside(frz_str inside, frz_annotation *a)
{
    frz_str before, after;
    switch (a->kind) {
    case FRZ_ANNOTATION_VARIANT:
        return to_i32(inside, &a->version);
    case FRZ_ANNOTATION_GEOMETRY:
        a->crs = inside;
        return true;
    case FRZ_ANNOTATION_GEOGRAPHY:
        return split_last(inside, &a->crs, &a->algorithm);
    case FRZ_ANNOTATION_DECIMAL:
        return split_last(inside, &before, &after) && to_i32(before, &a->precision) &&
               to_i32(after, &a->scale);
    default:
        return false;
    }
}

bool frz_annotation_parse(frz_str text, frz_annotation *out)
{
    *out = (frz_annotation){.kind = FRZ_ANNOTATION_NONE};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        frz_str name = frz_str_from(kinds[i].name);
        if (!frz_str_starts_with(text, name)) {
            continue;
        }
        if (text.len == name.len && kinds[i].kind != FRZ_ANNOTATION_DECIMAL) {
            out->kind = kinds[i].kind;
            return true;
        }
        frz_str rest = {text.ptr + name.len, text.len - name.len};
        if (rest.len >= 2 && rest.ptr[0] == '(' && rest.ptr[rest.len - 1] == ')') {
            out->kind = kinds[i].kind;
            return parse_inside((frz_str){rest.ptr + 1, rest.len - 2}, out);
        }
    }
    return false;
}

static const char *kind_name(frz_annotation_kind kind)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].name;
        }
    }
    return "";
}

frz_code frz_annotation_print(frz_arena *arena, const frz_annotation *a, frz_str *out,
                              frz_error *err)
{
    const char *name = kind_name(a->kind);
    frz_str algorithm = a->algorithm.len > 0 ? a->algorithm : FRZ_STR(DEFAULT_ALGORITHM);
    char *text;
    if (a->kind == FRZ_ANNOTATION_NONE) {
        *out = (frz_str){0};
        return FRZ_OK;
    }
    if (a->kind == FRZ_ANNOTATION_DECIMAL) {
        text = frz_arena_printf(arena, "%s(%d,%d)", name, (int)a->precision, (int)a->scale);
    } else if (a->version > 0) {
        text = frz_arena_printf(arena, "%s(%d)", name, (int)a->version);
    } else if (a->kind == FRZ_ANNOTATION_GEOGRAPHY && a->crs.len + a->algorithm.len > 0) {
        text = frz_arena_printf(arena, "%s(%.*s,%.*s)", name, FRZ_STR_ARG(a->crs),
                                FRZ_STR_ARG(algorithm));
    } else if (a->crs.len > 0) {
        text = frz_arena_printf(arena, "%s(%.*s)", name, FRZ_STR_ARG(a->crs));
    } else {
        text = frz_arena_printf(arena, "%s", name);
    }
    *out = frz_str_from(text);
    return text == NULL ? frz_fail_nomem(err, a->crs.len) : FRZ_OK;
}

bool frz_annotation_fits(const frz_annotation *a, const frz_type *type)
{
    if (a->kind == FRZ_ANNOTATION_DECIMAL) {
        return type->id == FRZ_TYPE_INT || type->id == FRZ_TYPE_LONG ||
               type->id == FRZ_TYPE_BINARY || type->id == FRZ_TYPE_FIXED;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(kinds); i++) {
        if (kinds[i].kind == a->kind) {
            return kinds[i].type == type->id;
        }
    }
    return a->kind == FRZ_ANNOTATION_NONE;
}

/* ---- GeoArrow ---- */

static frz_code set_text(json_t *object, const char *key, frz_str text, frz_error *err)
{
    if (json_object_set_new(object, key, json_stringn(text.ptr, text.len)) != 0) {
        return frz_fail_nomem(err, text.len);
    }
    return FRZ_OK;
}

/* PROJJSON stands as the object that it is, all else as text. */
static frz_code set_crs(const frz_env *env, json_t *object, frz_str crs, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *projjson = NULL;
    if (crs.len == 0) {
        FRZ_TRY(set_text(object, "crs", FRZ_STR(DEFAULT_CRS), err));
        return set_text(object, "crs_type", FRZ_STR("authority_code"), err);
    }
    if (frz_str_starts_with(crs, FRZ_STR(SRID))) {
        size_t head = sizeof SRID - 1;
        FRZ_TRY(set_text(object, "crs", (frz_str){crs.ptr + head, crs.len - head}, err));
        return set_text(object, "crs_type", FRZ_STR("srid"), err);
    }
    if (crs.ptr[0] == '{') {
        rc = frz_json_parse(env, crs, &projjson, NULL);
        if (rc == FRZ_E_NOMEM) {
            return frz_fail_nomem(err, crs.len);
        }
        rc = FRZ_OK;
    }
    if (projjson == NULL) {
        return set_text(object, "crs", crs, err);
    }
    if (json_object_set_new(object, "crs", projjson) != 0) {
        return frz_fail_nomem(err, crs.len);
    }
    return set_text(object, "crs_type", FRZ_STR("projjson"), err);
out:
    return rc;
}

static frz_code set_edges(json_t *object, frz_str algorithm, frz_error *err)
{
    char lower[16] = "spherical";
    if (algorithm.len > 0 && algorithm.len < sizeof lower) {
        for (size_t i = 0; i < algorithm.len; i++) {
            char c = algorithm.ptr[i];
            lower[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        }
        lower[algorithm.len] = '\0';
    }
    return set_text(object, "edges", frz_str_from(lower), err);
}

static frz_code geo_metadata(const frz_annotation *a, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *object = json_object();
    if (object == NULL) {
        return frz_fail_nomem(err, sizeof *object);
    }
    FRZ_TRY(set_crs(out->env, object, a->crs, err));
    if (a->kind == FRZ_ANNOTATION_GEOGRAPHY) {
        FRZ_TRY(set_edges(object, a->algorithm, err));
    }
    FRZ_TRY(frz_json_dump(object, out, err));
out:
    json_decref(object);
    return rc;
}

frz_code frz_annotation_to_arrow(const frz_annotation *a, const char **name, frz_buf *metadata,
                                 frz_error *err)
{
    *name = NULL;
    switch (a->kind) {
    case FRZ_ANNOTATION_JSON:
        *name = EXTENSION_JSON;
        return FRZ_OK;
    case FRZ_ANNOTATION_VARIANT:
        *name = EXTENSION_VARIANT;
        return FRZ_OK;
    case FRZ_ANNOTATION_GEOMETRY:
    case FRZ_ANNOTATION_GEOGRAPHY:
        *name = EXTENSION_WKB;
        return geo_metadata(a, metadata, err);
    default:
        return FRZ_OK;
    }
}

/* ---- from Arrow ---- */

static frz_code bad_geo(const char *what, frz_error *err)
{
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: metadata of " EXTENSION_WKB " with %s",
                    what);
}

/* The reference system as Parquet writes it. */
static frz_code read_crs(frz_arena *arena, const json_t *object, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const json_t *crs = json_object_get(object, "crs");
    const json_t *type = json_object_get(object, "crs_type");
    frz_buf text = FRZ_BUF_INIT(arena->env, FRZ_BUF_NO_LIMIT);
    *out = (frz_str){0};
    if (crs == NULL || json_is_null(crs)) {
        return FRZ_OK;
    }
    if (json_is_object(crs)) {
        FRZ_TRY(frz_json_dump(crs, &text, err));
    } else if (json_is_string(crs)) {
        frz_str value = {json_string_value(crs), json_string_length(crs)};
        if (json_is_string(type) && strcmp(json_string_value(type), "srid") == 0) {
            FRZ_TRY(frz_buf_append_str(&text, SRID, err));
        } else if (frz_str_equal(value, FRZ_STR(DEFAULT_CRS))) {
            return FRZ_OK;
        }
        FRZ_TRY(frz_buf_append(&text, value.ptr, value.len, err));
    } else {
        return bad_geo("\"crs\" that is neither text nor an object", err);
    }
    FRZ_TRY(frz_arena_str(arena, frz_buf_view(&text), out, err));
out:
    frz_buf_reset(&text);
    return rc;
}

static frz_code read_edges(const json_t *object, frz_annotation *a, frz_error *err)
{
    const json_t *edges = json_object_get(object, "edges");
    a->kind = FRZ_ANNOTATION_GEOMETRY;
    if (edges == NULL || json_is_null(edges)) {
        return FRZ_OK;
    }
    frz_str way = frz_str_from(json_string_value(edges));
    if (frz_str_equal(way, FRZ_STR("planar"))) {
        return FRZ_OK;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(algorithms); i++) {
        if (frz_str_equal_nocase(way, frz_str_from(algorithms[i]))) {
            a->kind = FRZ_ANNOTATION_GEOGRAPHY;
            a->algorithm = frz_str_from(algorithms[i]);
            return FRZ_OK;
        }
    }
    return bad_geo("\"edges\" of no known kind", err);
}

static frz_code read_geo(frz_arena *arena, frz_str metadata, frz_annotation *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *object = NULL;
    a->kind = FRZ_ANNOTATION_GEOMETRY;
    if (metadata.len == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(frz_json_parse(arena->env, metadata, &object, err));
    FRZ_TRY(read_crs(arena, object, &a->crs, err));
    FRZ_TRY(read_edges(object, a, err));
out:
    json_decref(object);
    return rc;
}

static frz_code read_extension(frz_arena *arena, const struct ArrowSchema *schema,
                               frz_annotation *a, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_str name, metadata;
    size_t size;
    FRZ_TRY(frz_schema_metadata(schema, FRZ_STR(FRZ_ARROW_KEY_EXTENSION), &name, &size, err));
    FRZ_TRY(frz_schema_metadata(schema, FRZ_STR(FRZ_ARROW_KEY_EXTENSION_METADATA), &metadata, &size,
                                err));
    if (frz_str_equal(name, FRZ_STR(EXTENSION_JSON))) {
        a->kind = FRZ_ANNOTATION_JSON;
    } else if (frz_str_equal(name, FRZ_STR(EXTENSION_VARIANT))) {
        a->kind = FRZ_ANNOTATION_VARIANT;
        a->version = 1;
    } else if (frz_str_equal(name, FRZ_STR(EXTENSION_WKB))) {
        FRZ_TRY(read_geo(arena, metadata, a, err));
    }
out:
    return rc;
}

frz_code frz_annotation_from_arrow(frz_arena *arena, const struct ArrowSchema *schema,
                                   const frz_type *type, frz_str *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_annotation a = {.kind = FRZ_ANNOTATION_NONE};
    frz_str text;
    size_t size;
    *out = (frz_str){0};
    FRZ_TRY(frz_schema_metadata(schema, FRZ_STR(FRZ_ARROW_KEY_LOGICAL_TYPE), &text, &size, err));
    if (text.len > 0) {
        if (!frz_annotation_parse(text, &a) || !frz_annotation_fits(&a, type)) {
            char name[80];
            rc = frz_fail(err, FRZ_E_UNSUPPORTED,
                          "unsupported: logical type \"%.*s\" of a column of type %s",
                          FRZ_STR_ARG(text), frz_type_text(type, name, sizeof name));
            goto out;
        }
    } else {
        FRZ_TRY(read_extension(arena, schema, &a, err));
    }
    /* others may name a type of ours for storage that the format does not have for it */
    if (frz_annotation_fits(&a, type)) {
        FRZ_TRY(frz_annotation_print(arena, &a, out, err));
    }
out:
    return rc;
}
