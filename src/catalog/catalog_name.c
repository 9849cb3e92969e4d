/*
 * Table names as users write them: levels with dots between, parts in double quotes where a name
 * holds a dot or a quote. Everything before the last dot is the namespace.
 */
#include "catalog/catalog_internal.h"

#define PART_MAX (sizeof(((frz_table_name *)0)->table_name) - 1)
#define SHOWN_MAX 160 /* bytes of a name in a message, so that the reason behind it has room */

typedef struct name_part {
    char text[PART_MAX + 1];
    size_t len;
} name_part;

static frz_code bad_name(const char *text, const char *why, frz_error *err)
{
    const char *dots = strlen(text) > SHOWN_MAX ? "..." : "";
    frz_code rc =
        frz_fail(err, FRZ_E_ARGUMENT, "table name \"%.*s%s\": %s", SHOWN_MAX, text, dots, why);
    frz_hint(err, "write namespace.table, such as db.wide");
    return rc;
}

static bool add_char(name_part *part, char c)
{
    if (part->len == PART_MAX) {
        return false;
    }
    part->text[part->len++] = c;
    part->text[part->len] = '\0';
    return true;
}

/* One part; *cursor ends behind it, at a dot or at the end. */
static frz_code read_part(const char *text, const char **cursor, name_part *part, frz_error *err)
{
    const char *p = *cursor;
    bool quoted = *p == '"';
    bool fits = true;
    part->len = 0;
    part->text[0] = '\0';
    if (quoted) {
        for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
            p += *p == '"'; /* a quote in a quoted part is written twice */
            fits = fits && add_char(part, *p);
        }
        if (*p != '"') {
            return bad_name(text, "a quoted part has no end", err);
        }
        p++;
    } else {
        for (; *p != '\0' && *p != '.' && *p != '"'; p++) {
            fits = fits && add_char(part, *p);
        }
    }
    if (*p != '\0' && *p != '.') {
        return bad_name(text, "expected a dot between its parts", err);
    }
    if (part->len == 0) {
        return bad_name(text, "a part is empty", err);
    }
    *cursor = p;
    return fits ? FRZ_OK : bad_name(text, "longer than 255 bytes", err);
}

static frz_code add_level(const char *text, frz_table_name *name, const name_part *part,
                          frz_error *err)
{
    size_t len = strlen(name->namespace_name);
    if (len + 1 + part->len > PART_MAX) {
        return bad_name(text, "longer than 255 bytes", err);
    }
    if (len > 0) {
        name->levels[len] = FRZ_LEVEL_END;
        name->namespace_name[len++] = '.';
    }
    memcpy(name->namespace_name + len, part->text, part->len + 1);
    memcpy(name->levels + len, part->text, part->len + 1);
    return FRZ_OK;
}

frz_code frz_table_name_parse(const char *text, frz_table_name *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_table_name name = {{0}, {0}, {0}};
    name_part part;
    const char *cursor = text;
    if (text == NULL || !frz_utf8_valid(frz_str_from(text))) {
        return frz_fail(err, FRZ_E_ARGUMENT, "a table name is missing or not UTF-8 text");
    }
    FRZ_TRY(read_part(text, &cursor, &part, err));
    while (*cursor == '.') {
        cursor++;
        FRZ_TRY(add_level(text, &name, &part, err));
        FRZ_TRY(read_part(text, &cursor, &part, err));
    }
    if (name.namespace_name[0] == '\0') {
        return bad_name(text, "expected a namespace before it", err);
    }
    memcpy(name.table_name, part.text, part.len + 1);
    *out = name;
out:
    return rc;
}

frz_code catalog_no_table(const frz_table_name *name, const char *where, frz_error *err)
{
    frz_code rc = frz_fail(err, FRZ_E_NOT_FOUND, "there is no table %s.%s in %s",
                           name->namespace_name, name->table_name, where);
    frz_hint(err, "\"frazil tables\" lists the tables of a catalog");
    return rc;
}

frz_code catalog_set_name(const char *name, char *out, size_t size, frz_error *err)
{
    if (name == NULL) {
        return FRZ_OK;
    }
    if (name[0] == '\0' || strlen(name) >= size) {
        return frz_fail(err, FRZ_E_ARGUMENT, "catalog name \"%s\": expected 1 to %zu bytes", name,
                        size - 1);
    }
    memcpy(out, name, strlen(name) + 1);
    return FRZ_OK;
}
