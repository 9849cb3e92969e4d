/*
 * Types as text: printing for messages and JSON, parsing of the names that JSON and SQL use.
 */
#include "type/type_internal.h"

/* Text goes either to a growing buffer or to an array of fixed size, where it is cut. */
typedef struct text_sink {
    frz_buf *buf;
    char *text;
    size_t size, len;
    bool cut;
} text_sink;

static const char *const names[] = {
    [FRZ_TYPE_UNKNOWN] = "unknown",
    [FRZ_TYPE_BOOLEAN] = "boolean",
    [FRZ_TYPE_INT] = "int",
    [FRZ_TYPE_LONG] = "long",
    [FRZ_TYPE_FLOAT] = "float",
    [FRZ_TYPE_DOUBLE] = "double",
    [FRZ_TYPE_DECIMAL] = "decimal",
    [FRZ_TYPE_DATE] = "date",
    [FRZ_TYPE_TIME] = "time",
    [FRZ_TYPE_TIMESTAMP] = "timestamp",
    [FRZ_TYPE_TIMESTAMPTZ] = "timestamptz",
    [FRZ_TYPE_TIMESTAMP_NS] = "timestamp_ns",
    [FRZ_TYPE_TIMESTAMPTZ_NS] = "timestamptz_ns",
    [FRZ_TYPE_STRING] = "string",
    [FRZ_TYPE_UUID] = "uuid",
    [FRZ_TYPE_FIXED] = "fixed",
    [FRZ_TYPE_BINARY] = "binary",
    [FRZ_TYPE_VARIANT] = "variant",
    [FRZ_TYPE_GEOMETRY] = "geometry",
    [FRZ_TYPE_GEOGRAPHY] = "geography",
    [FRZ_TYPE_STRUCT] = "struct",
    [FRZ_TYPE_LIST] = "list",
    [FRZ_TYPE_MAP] = "map",
};

/* As messages and users see them; nothing reads them back. */
static const char *const foreign_names[] = {
    [FRZ_FOREIGN_NONE] = "foreign",
    [FRZ_FOREIGN_INT8] = "int8",
    [FRZ_FOREIGN_INT16] = "int16",
    [FRZ_FOREIGN_UINT8] = "uint8",
    [FRZ_FOREIGN_UINT16] = "uint16",
    [FRZ_FOREIGN_UINT32] = "uint32",
    [FRZ_FOREIGN_UINT64] = "uint64",
    [FRZ_FOREIGN_FLOAT16] = "float16",
    [FRZ_FOREIGN_TIME_MS] = "time_ms",
    [FRZ_FOREIGN_TIME_NS] = "time_ns",
    [FRZ_FOREIGN_TIMESTAMP_MS] = "timestamp_ms",
    [FRZ_FOREIGN_TIMESTAMPTZ_MS] = "timestamptz_ms",
    [FRZ_FOREIGN_INTERVAL] = "interval",
    [FRZ_FOREIGN_DECIMAL256] = "decimal",
};

/* Names of types without parameters, of JSON and of SQL, in lower case. */
static const struct {
    const char *name;
    frz_type_id id;
} synonyms[] = {
    {"unknown", FRZ_TYPE_UNKNOWN},
    {"boolean", FRZ_TYPE_BOOLEAN},
    {"bool", FRZ_TYPE_BOOLEAN},
    {"int", FRZ_TYPE_INT},
    {"integer", FRZ_TYPE_INT},
    {"long", FRZ_TYPE_LONG},
    {"bigint", FRZ_TYPE_LONG},
    {"float", FRZ_TYPE_FLOAT},
    {"real", FRZ_TYPE_FLOAT},
    {"double", FRZ_TYPE_DOUBLE},
    {"double precision", FRZ_TYPE_DOUBLE},
    {"date", FRZ_TYPE_DATE},
    {"time", FRZ_TYPE_TIME},
    {"timestamp", FRZ_TYPE_TIMESTAMP},
    {"timestamp without time zone", FRZ_TYPE_TIMESTAMP},
    {"timestamptz", FRZ_TYPE_TIMESTAMPTZ},
    {"timestamp with time zone", FRZ_TYPE_TIMESTAMPTZ},
    {"timestamp_ns", FRZ_TYPE_TIMESTAMP_NS},
    {"timestamptz_ns", FRZ_TYPE_TIMESTAMPTZ_NS},
    {"string", FRZ_TYPE_STRING},
    {"varchar", FRZ_TYPE_STRING},
    {"text", FRZ_TYPE_STRING},
    {"uuid", FRZ_TYPE_UUID},
    {"binary", FRZ_TYPE_BINARY},
    {"blob", FRZ_TYPE_BINARY},
    {"varbinary", FRZ_TYPE_BINARY},
    {"bytea", FRZ_TYPE_BINARY},
    {"variant", FRZ_TYPE_VARIANT},
    {"geometry", FRZ_TYPE_GEOMETRY},
    {"geography", FRZ_TYPE_GEOGRAPHY},
};

/* ---- printing ---- */

static frz_code put(text_sink *sink, frz_str s, frz_error *err)
{
    if (sink->buf != NULL) {
        return frz_buf_append(sink->buf, s.ptr, s.len, err);
    }
    size_t n = FRZ_MIN(s.len, sink->size - 1 - sink->len);
    if (n > 0) {
        memcpy(sink->text + sink->len, s.ptr, n);
        sink->len += n;
    }
    sink->cut = sink->cut || n < s.len;
    return FRZ_OK;
}

static frz_code put_z(text_sink *sink, const char *z, frz_error *err)
{
    return put(sink, frz_str_from(z), err);
}

static frz_code put_number(text_sink *sink, int64_t number, frz_error *err)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    return put(sink, (frz_str){digits + at, sizeof digits - at}, err);
}

static frz_code print_geo(text_sink *sink, const frz_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (type->crs.ptr == NULL) {
        return FRZ_OK;
    }
    FRZ_TRY(put_z(sink, "(", err));
    FRZ_TRY(put(sink, type->crs, err));
    if (type->algorithm.ptr != NULL) {
        FRZ_TRY(put_z(sink, ", ", err));
        FRZ_TRY(put(sink, type->algorithm, err));
    }
    FRZ_TRY(put_z(sink, ")", err));
out:
    return rc;
}

static frz_code print_digits(text_sink *sink, const frz_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(put_z(sink, "(", err));
    FRZ_TRY(put_number(sink, type->precision, err));
    FRZ_TRY(put_z(sink, ", ", err));
    FRZ_TRY(put_number(sink, type->scale, err));
    FRZ_TRY(put_z(sink, ")", err));
out:
    return rc;
}

static frz_code print_type(text_sink *sink, const frz_type *type, frz_error *err);

static frz_code print_field(text_sink *sink, const frz_field *field, bool named, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (named) {
        if (field->id != FRZ_ID_NONE) {
            FRZ_TRY(put_number(sink, field->id, err));
            FRZ_TRY(put_z(sink, ": ", err));
        }
        FRZ_TRY(put(sink, field->name, err));
        FRZ_TRY(put_z(sink, field->required ? ": required " : ": ", err));
    }
    FRZ_TRY(print_type(sink, field->type, err));
out:
    return rc;
}

static frz_code print_type(text_sink *sink, const frz_type *type, frz_error *err)
{
    frz_code rc = FRZ_OK;
    bool foreign = type->id == FRZ_TYPE_FOREIGN;
    FRZ_TRY(put_z(sink, foreign ? foreign_names[type->foreign] : names[type->id], err));
    switch (type->id) {
    case FRZ_TYPE_DECIMAL:
        FRZ_TRY(print_digits(sink, type, err));
        break;
    case FRZ_TYPE_FOREIGN:
        if (type->foreign == FRZ_FOREIGN_DECIMAL256) {
            FRZ_TRY(print_digits(sink, type, err));
        }
        break;
    case FRZ_TYPE_FIXED:
        FRZ_TRY(put_z(sink, "[", err));
        FRZ_TRY(put_number(sink, type->length, err));
        FRZ_TRY(put_z(sink, "]", err));
        break;
    case FRZ_TYPE_GEOMETRY:
    case FRZ_TYPE_GEOGRAPHY:
        FRZ_TRY(print_geo(sink, type, err));
        break;
    case FRZ_TYPE_STRUCT:
    case FRZ_TYPE_LIST:
    case FRZ_TYPE_MAP:
        FRZ_TRY(put_z(sink, "<", err));
        for (size_t i = 0; i < type->field_count && !sink->cut; i++) {
            FRZ_TRY(put_z(sink, i == 0 ? "" : ", ", err));
            FRZ_TRY(print_field(sink, &type->fields[i], type->id == FRZ_TYPE_STRUCT, err));
        }
        FRZ_TRY(put_z(sink, ">", err));
        break;
    default:
        break;
    }
out:
    return rc;
}

frz_code frz_type_print(const frz_type *type, frz_buf *out, frz_error *err)
{
    text_sink sink = {.buf = out};
    return print_type(&sink, type, err);
}

const char *frz_type_text(const frz_type *type, char *text, size_t size)
{
    assert(size > 4);
    text_sink sink = {.text = text, .size = size};
    (void)print_type(&sink, type, NULL); /* an array cannot fail, only cut */
    if (sink.cut) {
        size_t end = size - 4;
        while (end > 0 && ((uint8_t)text[end] & 0xC0) == 0x80) {
            end--; /* not inside a character */
        }
        memcpy(text + end, "...", 3);
        sink.len = end + 3;
    }
    text[sink.len] = '\0';
    return text;
}

/* ---- parsing ---- */

static frz_str trimmed(frz_str s)
{
    while (s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == '\t')) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t')) {
        s.len--;
    }
    return s;
}

/* "name(inside)" or "name[inside]"; false if the text is of another form. */
static bool split_parameters(frz_str text, frz_str *name, frz_str *inside)
{
    size_t open = 0;
    while (open < text.len && text.ptr[open] != '(' && text.ptr[open] != '[') {
        open++;
    }
    if (open == text.len || text.ptr[text.len - 1] != (text.ptr[open] == '(' ? ')' : ']')) {
        return false;
    }
    *name = trimmed((frz_str){text.ptr, open});
    *inside = trimmed((frz_str){text.ptr + open + 1, text.len - open - 2});
    return true;
}

/* Split at the first comma; false if there is none. */
static bool split_comma(frz_str s, frz_str *first, frz_str *second)
{
    const char *comma = s.len == 0 ? NULL : memchr(s.ptr, ',', s.len);
    if (comma == NULL) {
        return false;
    }
    *first = trimmed((frz_str){s.ptr, (size_t)(comma - s.ptr)});
    *second = trimmed((frz_str){comma + 1, (size_t)(s.ptr + s.len - comma) - 1});
    return true;
}

static frz_code make(frz_arena *arena, frz_type type, const frz_type **out, frz_error *err)
{
    frz_type *made = frz_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return frz_fail_nomem(err, sizeof *made);
    }
    *made = type;
    *out = made;
    return FRZ_OK;
}

static frz_code parse_decimal(frz_arena *arena, frz_str inside, frz_code code, const frz_type **out,
                              frz_error *err)
{
    frz_str first = inside;
    frz_str second = FRZ_STR("0");
    int64_t precision;
    int64_t scale;
    (void)split_comma(inside, &first, &second);
    if (!frz_str_to_i64(first, &precision) || !frz_str_to_i64(second, &scale)) {
        return frz_fail(err, code, "expected decimal(precision, scale), found decimal(%.*s)",
                        FRZ_STR_ARG(inside));
    }
    if (precision < 1 || precision > TYPE_MAX_PRECISION) {
        return frz_fail(err, code, "the precision of a decimal is between 1 and %d, found %lld",
                        TYPE_MAX_PRECISION, (long long)precision);
    }
    if (scale < 0 || scale > precision) { /* files cannot hold another */
        return frz_fail(
            err, code, "the scale of a decimal is between 0 and its precision, found %lld for %lld",
            (long long)scale, (long long)precision);
    }
    return make(arena,
                (frz_type){.id = FRZ_TYPE_DECIMAL,
                           .precision = (int32_t)precision,
                           .scale = (int32_t)scale},
                out, err);
}

static frz_code parse_fixed(frz_arena *arena, frz_str inside, frz_code code, const frz_type **out,
                            frz_error *err)
{
    int64_t length;
    if (!frz_str_to_i64(inside, &length) || length < 1 || length > INT32_MAX) {
        return frz_fail(err, code, "expected fixed[length] with a positive length, found %.*s",
                        FRZ_STR_ARG(inside));
    }
    return make(arena, (frz_type){.id = FRZ_TYPE_FIXED, .length = (int32_t)length}, out, err);
}

static frz_code parse_geo(frz_arena *arena, frz_type_id id, frz_str inside, frz_code code,
                          const frz_type **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_type type = {.id = id};
    frz_str crs = inside;
    frz_str algorithm = {0};
    if (id == FRZ_TYPE_GEOGRAPHY) {
        (void)split_comma(inside, &crs, &algorithm);
    }
    if (!frz_str_is_clean(inside) || !frz_utf8_valid(inside)) {
        return frz_fail(err, code, "the reference system of a type is not text");
    }
    FRZ_TRY(frz_arena_str(arena, crs, &type.crs, err));
    if (algorithm.ptr != NULL) {
        FRZ_TRY(frz_arena_str(arena, algorithm, &type.algorithm, err));
    }
    FRZ_TRY(make(arena, type, out, err));
out:
    return rc;
}

static frz_code parse_with_parameters(frz_arena *arena, frz_str text, frz_code code,
                                      const frz_type **out, frz_error *err)
{
    frz_str name;
    frz_str inside;
    if (split_parameters(text, &name, &inside)) {
        if (frz_str_equal_nocase(name, FRZ_STR("decimal")) ||
            frz_str_equal_nocase(name, FRZ_STR("numeric"))) {
            return parse_decimal(arena, inside, code, out, err);
        }
        if (frz_str_equal_nocase(name, FRZ_STR("fixed"))) {
            return parse_fixed(arena, inside, code, out, err);
        }
        if (frz_str_equal_nocase(name, FRZ_STR("geometry"))) {
            return parse_geo(arena, FRZ_TYPE_GEOMETRY, inside, code, out, err);
        }
        if (frz_str_equal_nocase(name, FRZ_STR("geography"))) {
            return parse_geo(arena, FRZ_TYPE_GEOGRAPHY, inside, code, out, err);
        }
        if (frz_str_equal_nocase(name, FRZ_STR("varchar"))) {
            *out = frz_type_primitive(FRZ_TYPE_STRING); /* lengths of strings are not kept */
            return FRZ_OK;
        }
    }
    return frz_fail(err, code, "expected a type, found \"%.*s\"", FRZ_STR_ARG(text));
}

frz_code type_parse_text(frz_arena *arena, frz_str text, frz_code code, const frz_type **out,
                         frz_error *err)
{
    text = trimmed(text);
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(synonyms); i++) {
        if (frz_str_equal_nocase(text, frz_str_from(synonyms[i].name))) {
            *out = frz_type_primitive(synonyms[i].id);
            return FRZ_OK;
        }
    }
    return parse_with_parameters(arena, text, code, out, err);
}

frz_code frz_type_parse(frz_arena *arena, frz_str text, const frz_type **out, frz_error *err)
{
    frz_code rc = type_parse_text(arena, text, FRZ_E_ARGUMENT, out, err);
    if (rc == FRZ_E_ARGUMENT) {
        frz_hint(err, "types are: boolean, int, bigint, float, double, decimal(p, s), date, time, "
                      "timestamp, timestamptz, timestamp_ns, timestamptz_ns, string, uuid, "
                      "fixed(n), binary");
    }
    return rc;
}
