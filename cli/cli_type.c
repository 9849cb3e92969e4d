/*
 * Reading the format strings of an ArrowSchema once, so that printing a value needs no parsing.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Formats of one fixed spelling. */
typedef struct plain_format {
    const char *format;
    cli_kind kind;
    int width;
    cli_unit unit;
    size_t child_count;
} plain_format;

#define ANY_CHILDREN SIZE_MAX

static const plain_format plain_formats[] = {
    {"n", CLI_NULL, 0, CLI_SECOND, 0},
    {"b", CLI_BOOL, 0, CLI_SECOND, 0},
    {"c", CLI_INT, 1, CLI_SECOND, 0},
    {"s", CLI_INT, 2, CLI_SECOND, 0},
    {"i", CLI_INT, 4, CLI_SECOND, 0},
    {"l", CLI_INT, 8, CLI_SECOND, 0},
    {"C", CLI_UINT, 1, CLI_SECOND, 0},
    {"S", CLI_UINT, 2, CLI_SECOND, 0},
    {"I", CLI_UINT, 4, CLI_SECOND, 0},
    {"L", CLI_UINT, 8, CLI_SECOND, 0},
    {"e", CLI_HALF, 2, CLI_SECOND, 0},
    {"f", CLI_FLOAT, 4, CLI_SECOND, 0},
    {"g", CLI_DOUBLE, 8, CLI_SECOND, 0},
    {"u", CLI_STRING, 0, CLI_SECOND, 0},
    {"U", CLI_LARGE_STRING, 0, CLI_SECOND, 0},
    {"vu", CLI_STRING_VIEW, 0, CLI_SECOND, 0},
    {"vz", CLI_BINARY_VIEW, 0, CLI_SECOND, 0},
    {"z", CLI_BINARY, 0, CLI_SECOND, 0},
    {"Z", CLI_LARGE_BINARY, 0, CLI_SECOND, 0},
    {"tdD", CLI_DATE, 4, CLI_SECOND, 0},
    {"tdm", CLI_DATE, 8, CLI_MILLI, 0},
    {"tts", CLI_TIME, 4, CLI_SECOND, 0},
    {"ttm", CLI_TIME, 4, CLI_MILLI, 0},
    {"ttu", CLI_TIME, 8, CLI_MICRO, 0},
    {"ttn", CLI_TIME, 8, CLI_NANO, 0},
    {"tDs", CLI_DURATION, 8, CLI_SECOND, 0},
    {"tDm", CLI_DURATION, 8, CLI_MILLI, 0},
    {"tDu", CLI_DURATION, 8, CLI_MICRO, 0},
    {"tDn", CLI_DURATION, 8, CLI_NANO, 0},
    {"tiM", CLI_INTERVAL, 4, CLI_SECOND, 0},
    {"tiD", CLI_INTERVAL, 8, CLI_MILLI, 0},
    {"tin", CLI_INTERVAL, 16, CLI_NANO, 0},
    {"+s", CLI_STRUCT, 0, CLI_SECOND, ANY_CHILDREN},
    {"+l", CLI_LIST, 0, CLI_SECOND, 1},
    {"+L", CLI_LARGE_LIST, 0, CLI_SECOND, 1},
    {"+vl", CLI_LIST_VIEW, 0, CLI_SECOND, 1},
    {"+vL", CLI_LARGE_LIST_VIEW, 0, CLI_SECOND, 1},
    {"+m", CLI_MAP, 0, CLI_SECOND, 1},
    {"+r", CLI_RUNS, 0, CLI_SECOND, 2},
};

/* The 32-bit counts and lengths of schema metadata are in native order and not aligned. */
static int32_t metadata_int(const char **at)
{
    int32_t value;
    memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
}

static bool metadata_has(const char *metadata, const char *key, const char *value)
{
    if (metadata == NULL) {
        return false;
    }
    int32_t count = metadata_int(&metadata);
    for (int32_t i = 0; i < count; i++) {
        int32_t key_len = metadata_int(&metadata);
        const char *key_at = metadata;
        metadata += key_len;
        int32_t value_len = metadata_int(&metadata);
        const char *value_at = metadata;
        metadata += value_len;
        if ((size_t)key_len == strlen(key) && memcmp(key_at, key, strlen(key)) == 0) {
            return (size_t)value_len == strlen(value) &&
                   memcmp(value_at, value, strlen(value)) == 0;
        }
    }
    return false;
}

/* The number after a prefix such as "w:"; *end is what follows it. False if there is none. */
static bool format_number(const char *text, long max, long *out, const char **end)
{
    char *stop = NULL;
    long value = strtol(text, &stop, 10);
    if (*text < '0' || *text > '9' || value > max) {
        return false;
    }
    *out = value;
    *end = stop;
    return true;
}

static bool parse_fixed(cli_type *type, const struct ArrowSchema *schema)
{
    const char *end;
    long width;
    if (!format_number(schema->format + 2, INT32_MAX, &width, &end) || *end != '\0') {
        return false;
    }
    type->kind = CLI_FIXED;
    type->width = width;
    if (width == 16 && metadata_has(schema->metadata, "ARROW:extension:name", "arrow.uuid")) {
        type->kind = CLI_UUID;
    }
    return true;
}

static bool parse_fixed_list(cli_type *type, const struct ArrowSchema *schema)
{
    const char *end;
    long width;
    if (!format_number(schema->format + 3, INT32_MAX, &width, &end) || *end != '\0' ||
        schema->n_children != 1) {
        return false;
    }
    type->kind = CLI_FIXED_LIST;
    type->width = width;
    return true;
}

static bool parse_decimal(cli_type *type, const struct ArrowSchema *schema)
{
    const char *at = schema->format + 2;
    long precision, scale;
    long bits = 128;
    if (!format_number(at, 76, &precision, &at) || *at != ',') {
        return false;
    }
    bool negative = at[1] == '-';
    if (!format_number(at + 1 + negative, 76, &scale, &at) ||
        (*at == ',' && !format_number(at + 1, 256, &bits, &at)) || *at != '\0') {
        return false;
    }
    type->kind = CLI_DECIMAL;
    type->width = bits / 8;
    type->scale = (int)(negative ? -scale : scale);
    return bits == 32 || bits == 64 || bits == 128 || bits == 256;
}

/* "+ud:0,1" is dense, "+us:0,1" sparse. */
static bool parse_union(cli_type *type, const struct ArrowSchema *schema)
{
    char mode = schema->format[2];
    type->kind = CLI_UNION;
    type->width = mode == 'd' ? 4 : 0;
    if ((mode != 'd' && mode != 's') || schema->format[3] != ':') {
        return false;
    }
    type->codes = schema->format + 4;
    int64_t count = *type->codes != '\0';
    for (const char *at = type->codes; *at != '\0'; at++) {
        count += *at == ',';
    }
    return count == schema->n_children;
}

static bool parse_timestamp(cli_type *type, const struct ArrowSchema *schema)
{
    static const char letters[] = "smun";
    const char *letter = strchr(letters, schema->format[2]);
    if (schema->format[2] == '\0' || letter == NULL || schema->format[3] != ':') {
        return false;
    }
    type->kind = CLI_TIMESTAMP;
    type->width = 8;
    type->unit = (cli_unit)(3 * (letter - letters));
    type->zoned = schema->format[4] != '\0';
    return true;
}

static bool parse_plain(cli_type *type, const struct ArrowSchema *schema)
{
    for (size_t i = 0; i < sizeof plain_formats / sizeof *plain_formats; i++) {
        const plain_format *plain = &plain_formats[i];
        if (strcmp(schema->format, plain->format) == 0) {
            type->kind = plain->kind;
            type->width = plain->width;
            type->unit = plain->unit;
            return plain->child_count == ANY_CHILDREN ||
                   (int64_t)plain->child_count == schema->n_children;
        }
    }
    return false;
}

static bool parse_format(cli_type *type, const struct ArrowSchema *schema)
{
    if (strncmp(schema->format, "w:", 2) == 0) {
        return parse_fixed(type, schema);
    }
    if (strncmp(schema->format, "+w:", 3) == 0) {
        return parse_fixed_list(type, schema);
    }
    if (strncmp(schema->format, "+u", 2) == 0) {
        return parse_union(type, schema);
    }
    if (strncmp(schema->format, "d:", 2) == 0) {
        return parse_decimal(type, schema);
    }
    if (strncmp(schema->format, "ts", 2) == 0) {
        return parse_timestamp(type, schema);
    }
    return parse_plain(type, schema);
}

static frz_code type_add_children(cli_type *type, const struct ArrowSchema *const *children,
                                  size_t count, frz_error *err)
{
    if (count == 0) {
        return FRZ_OK;
    }
    type->children = calloc(count, sizeof *type->children);
    if (type->children == NULL) {
        return cli_fail(err, FRZ_E_NOMEM, "out of memory for %zu columns", count);
    }
    type->child_count = count;
    for (size_t i = 0; i < count; i++) {
        frz_code rc = cli_type_init(&type->children[i], children[i], err);
        if (rc != FRZ_OK) {
            return rc;
        }
    }
    return FRZ_OK;
}

static frz_code type_fail(const struct ArrowSchema *schema, frz_error *err)
{
    return cli_fail(err, FRZ_E_UNSUPPORTED,
                    "unsupported: printing column \"%s\" of Arrow format %s",
                    schema->name == NULL ? "" : schema->name, schema->format);
}

/* A dictionary's own format is that of its indices; the values have a schema of their own. */
static frz_code dictionary_init(cli_type *type, const struct ArrowSchema *schema, frz_error *err)
{
    struct ArrowSchema indices = *schema;
    const struct ArrowSchema *parts[] = {&indices, schema->dictionary};
    indices.dictionary = NULL;
    type->kind = CLI_DICTIONARY;
    frz_code rc = type_add_children(type, parts, 2, err);
    if (rc == FRZ_OK && type->children[0].kind != CLI_INT && type->children[0].kind != CLI_UINT) {
        rc = type_fail(schema, err);
    }
    return rc;
}

/* The pair of a variant as it is; shredded ones are structs like others. */
static bool is_variant(const cli_type *type, const struct ArrowSchema *schema)
{
    return type->kind == CLI_STRUCT && type->child_count == 2 &&
           metadata_has(schema->metadata, "ARROW:extension:name", "arrow.parquet.variant") &&
           type->children[0].kind == CLI_BINARY && type->children[1].kind == CLI_BINARY &&
           strcmp(type->children[0].name, "metadata") == 0 &&
           strcmp(type->children[1].name, "value") == 0;
}

/* What the parts of maps and runs must be for values to be found in them. */
static bool children_fit(const cli_type *type)
{
    if (type->kind == CLI_MAP) {
        return type->children[0].kind == CLI_STRUCT && type->children[0].child_count == 2;
    }
    return type->kind != CLI_RUNS || type->children[0].kind == CLI_INT;
}

frz_code cli_type_init(cli_type *type, const struct ArrowSchema *schema, frz_error *err)
{
    *type = (cli_type){.name = schema->name == NULL ? "" : schema->name};
    if (schema->dictionary != NULL) {
        return dictionary_init(type, schema, err);
    }
    if (!parse_format(type, schema)) {
        return type_fail(schema, err);
    }
    frz_code rc = type_add_children(type, (const struct ArrowSchema *const *)schema->children,
                                    (size_t)schema->n_children, err);
    if (rc == FRZ_OK && !children_fit(type)) {
        rc = type_fail(schema, err);
    }
    if (rc == FRZ_OK && is_variant(type, schema)) {
        type->kind = CLI_VARIANT;
    }
    return rc;
}

void cli_type_reset(cli_type *type)
{
    for (size_t i = 0; i < type->child_count; i++) {
        cli_type_reset(&type->children[i]);
    }
    free(type->children);
    *type = (cli_type){0};
}

bool cli_type_is_number(const cli_type *type)
{
    switch (type->kind) {
    case CLI_INT:
    case CLI_UINT:
    case CLI_HALF:
    case CLI_FLOAT:
    case CLI_DOUBLE:
    case CLI_DECIMAL:
        return true;
    case CLI_RUNS:
    case CLI_DICTIONARY:
        return cli_type_is_number(&type->children[1]);
    default:
        return false;
    }
}

size_t cli_type_find(const cli_type *type, const char *name)
{
    size_t i = 0;
    while (i < type->child_count && strcmp(type->children[i].name, name) != 0) {
        i++;
    }
    return i;
}
