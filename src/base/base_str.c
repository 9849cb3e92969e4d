/*
 * String views.
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int frz_str_compare(frz_str a, frz_str b)
{
    size_t common = FRZ_MIN(a.len, b.len);
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool frz_str_equal_nocase(frz_str a, frz_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (fold(a.ptr[i]) != fold(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool frz_str_starts_with(frz_str s, frz_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

bool frz_str_is_clean(frz_str s)
{
    return s.len == 0 || memchr(s.ptr, '\0', s.len) == NULL;
}

bool frz_str_to_i64(frz_str s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? 1 : 0;
    int64_t value = 0;
    if (i == s.len) {
        return false;
    }
    for (; i < s.len; i++) {
        int digit = s.ptr[i] - '0';
        /* collected below zero, where there is one value more */
        if (digit < 0 || digit > 9 || !frz_mul_i64(value, 10, &value) ||
            !frz_add_i64(value, -digit, &value)) {
            return false;
        }
    }
    if (!negative && value == INT64_MIN) {
        return false;
    }
    *out = negative ? value : -value;
    return true;
}

/* glibc has the C locale at hand: asking for it takes no memory and cannot fail. */
double frz_strtod(const char *z, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c == (locale_t)0 ? strtod(z, end) : strtod_l(z, end, c);
    if (c != (locale_t)0) {
        freelocale(c);
    }
    return value;
}

float frz_strtof(const char *z, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    float value = c == (locale_t)0 ? strtof(z, end) : strtof_l(z, end, c);
    if (c != (locale_t)0) {
        freelocale(c);
    }
    return value;
}

bool frz_str_to_double(frz_str s, double *out)
{
    char text[512];
    if (s.len == 0 || s.len >= sizeof text || isspace((unsigned char)s.ptr[0]) ||
        !frz_str_is_clean(s)) {
        return false;
    }
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    char *end;
    *out = frz_strtod(text, &end);
    return end == text + s.len;
}

bool frz_utf8_valid(frz_str s)
{
    const uint8_t *p = (const uint8_t *)s.ptr;
    const uint8_t *end = s.len == 0 ? p : p + s.len; /* an empty string may have no place */
    while (p < end) {
        if (end - p >= 8 && (frz_load_le64(p) & UINT64_C(0x8080808080808080)) == 0) {
            p += 8;
            continue;
        }
        uint8_t lead = *p++;
        if (lead < 0x80) {
            continue;
        }
        int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        uint32_t point = lead & (0x3Fu >> more);
        if (lead < 0xC2 || lead > 0xF4 || end - p < more) {
            return false;
        }
        for (int i = 0; i < more; i++, p++) {
            if ((*p & 0xC0) != 0x80) {
                return false;
            }
            point = point << 6 | (*p & 0x3Fu);
        }
        if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF))) ||
            (more == 3 && (point < 0x10000 || point > 0x10FFFF))) {
            return false;
        }
    }
    return true;
}
