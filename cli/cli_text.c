/*
 * Growable text, UTF-8, JSON strings, and the width of text on a terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void cli_text_reset(cli_text *text)
{
    free(text->data);
    *text = (cli_text){0};
}

bool cli_text_reserve(cli_text *text, size_t more)
{
    if (text->failed != FRZ_OK) {
        return false;
    }
    if (more <= text->cap - text->len) {
        return true;
    }
    if (more > SIZE_MAX / 4 - text->len) {
        text->failed = FRZ_E_NOMEM;
        return false;
    }
    size_t cap = text->cap * 2 > text->len + more ? text->cap * 2 : text->len + more;
    cap = cap < 256 ? 256 : cap;
    char *data = realloc(text->data, cap);
    if (data == NULL) {
        text->failed = FRZ_E_NOMEM;
        return false;
    }
    text->data = data;
    text->cap = cap;
    return true;
}

void cli_text_bytes(cli_text *text, const void *bytes, size_t len)
{
    if (len > 0 && cli_text_reserve(text, len)) {
        memcpy(text->data + text->len, bytes, len);
        text->len += len;
    }
}

void cli_text_str(cli_text *text, const char *str)
{
    cli_text_bytes(text, str, strlen(str));
}

void cli_text_char(cli_text *text, char c)
{
    if (cli_text_reserve(text, 1)) {
        text->data[text->len++] = c;
    }
}

void cli_text_fill(cli_text *text, char c, size_t count)
{
    if (count > 0 && cli_text_reserve(text, count)) {
        memset(text->data + text->len, c, count);
        text->len += count;
    }
}

void cli_text_printf(cli_text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0 || !cli_text_reserve(text, (size_t)len + 1)) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text->data + text->len, (size_t)len + 1, fmt, args);
    va_end(args);
    text->len += (size_t)len;
}

static bool is_plain_name(const char *part, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = part[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
        bool digit = (c >= '0' && c <= '9') || c == '$';
        if (!letter && (!digit || i == 0)) {
            return false;
        }
    }
    return len > 0;
}

static void text_name_part(cli_text *text, const char *part, size_t len)
{
    if (is_plain_name(part, len)) {
        cli_text_bytes(text, part, len);
        return;
    }
    cli_text_char(text, '"');
    for (size_t i = 0; i < len; i++) {
        cli_text_bytes(text, "\"\"", part[i] == '"' ? 1 : 0);
        cli_text_char(text, part[i]);
    }
    cli_text_char(text, '"');
}

/* Bytes up to the dot behind a level, or to the end. */
static size_t name_level(const char *level)
{
    size_t len = 0;
    bool quoted = false;
    for (; level[len] != '\0' && (quoted || level[len] != '.'); len++) {
        quoted = quoted != (level[len] == '"');
    }
    return len;
}

void cli_text_table_name(cli_text *text, const char *namespace_name, const char *table_name)
{
    for (const char *level = namespace_name;; level++) {
        size_t len = name_level(level);
        if (*level == '"') { /* a level with a dot in it comes in quotes */
            cli_text_bytes(text, level, len);
        } else {
            text_name_part(text, level, len);
        }
        cli_text_char(text, '.');
        level += len;
        if (*level == '\0') {
            break;
        }
    }
    text_name_part(text, table_name, strlen(table_name));
}

const char *cli_text_c(cli_text *text)
{
    if (!cli_text_reserve(text, 1)) {
        return NULL;
    }
    text->data[text->len] = '\0';
    return text->data;
}

void cli_text_hex(cli_text *text, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    if (len > SIZE_MAX / 8 || !cli_text_reserve(text, 2 * len)) {
        return;
    }
    char *out = text->data + text->len;
    for (size_t i = 0; i < len; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    text->len += 2 * len;
}

size_t cli_control_size(const char *s, size_t len)
{
    uint8_t first = (uint8_t)s[0];
    uint8_t second = len > 1 ? (uint8_t)s[1] : 0;
    if (first == 0xC2 && second >= 0x80 && second < 0xA0) {
        return 2;
    }
    return first < ' ' || first == 0x7F;
}

static void put_control(cli_text *text, char control)
{
    switch (control) {
    case '\n':
        cli_text_str(text, "\\n");
        break;
    case '\t':
        cli_text_str(text, "\\t");
        break;
    case '\r':
        cli_text_str(text, "\\r");
        break;
    default:
        cli_text_printf(text, "\\x%02x", (unsigned char)control);
    }
}

void cli_text_escape(cli_text *text, size_t start)
{
    size_t at = start;
    while (at < text->len && cli_control_size(text->data + at, text->len - at) == 0) {
        at++;
    }
    if (text->failed != FRZ_OK || at == text->len) {
        return;
    }
    cli_text clean = {0};
    for (size_t i = start; i < text->len; i++) {
        size_t size = cli_control_size(text->data + i, text->len - i);
        if (size > 0) {
            i += size - 1;
            put_control(&clean, text->data[i]);
        } else {
            cli_text_char(&clean, text->data[i]);
        }
    }
    text->len = start;
    cli_text_bytes(text, clean.data, clean.len);
    text->failed = clean.failed != FRZ_OK ? clean.failed : text->failed;
    cli_text_reset(&clean);
}

/* ---- UTF-8 ---- */

size_t cli_utf8_decode(const char *s, size_t len, uint32_t *code_point)
{
    static const uint32_t smallest_of[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)s;
    if (len == 0) {
        return 0;
    }
    size_t size = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (size == 0 || size > len || p[0] >= 0xF8) {
        return 0;
    }
    uint32_t code = size == 1 ? p[0] : p[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < smallest_of[size] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return 0;
    }
    *code_point = code;
    return size;
}

/* Bytes from s on that stand in a JSON string as they are. Sets *bad at bytes that are not UTF-8.
 */
static size_t json_plain_run(const char *s, size_t len, bool *bad)
{
    size_t i = 0;
    while (i < len) {
        uint8_t c = (uint8_t)s[i];
        if (c < ' ' || c == '"' || c == '\\') {
            break;
        }
        if (c < 0x80) {
            i++;
            continue;
        }
        uint32_t code;
        size_t size = cli_utf8_decode(s + i, len - i, &code);
        if (size == 0) {
            *bad = true;
            break;
        }
        i += size;
    }
    return i;
}

static void json_escape(cli_text *text, char c)
{
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, its letter */
    for (const char *p = named; *p != '\0'; p += 2) {
        if (*p == c) {
            cli_text_char(text, '\\');
            cli_text_char(text, p[1]);
            return;
        }
    }
    cli_text_printf(text, "\\u%04x", (unsigned)(uint8_t)c);
}

void cli_text_json_string(cli_text *text, const char *str, size_t len)
{
    cli_text_char(text, '"');
    while (len > 0) {
        bool bad = false;
        size_t run = json_plain_run(str, len, &bad);
        cli_text_bytes(text, str, run);
        str += run;
        len -= run;
        if (bad) {
            text->failed = text->failed == FRZ_OK ? FRZ_E_UNSUPPORTED : text->failed;
            return;
        }
        if (len > 0) {
            json_escape(text, *str);
            str++;
            len--;
        }
    }
    cli_text_char(text, '"');
}

/* ---- width ---- */

typedef struct code_range {
    uint32_t first, last;
} code_range;

/* Characters that take no column: combining marks, joiners, variation selectors. */
static const code_range zero_width[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x05BF, 0x05BF},   {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x05C7, 0x05C7}, {0x0610, 0x061A},   {0x064B, 0x065F},   {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8},   {0x06EA, 0x06ED},   {0x0711, 0x0711},
    {0x0730, 0x074A}, {0x0900, 0x0902}, {0x093A, 0x093A},   {0x093C, 0x093C},   {0x0941, 0x0948},
    {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0962, 0x0963},   {0x0E31, 0x0E31},   {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F},   {0x202A, 0x202E},
    {0x2060, 0x2064}, {0x20D0, 0x20FF}, {0x302A, 0x302D},   {0x3099, 0x309A},   {0xFE00, 0xFE0F},
    {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0001, 0xE007F}, {0xE0100, 0xE01EF},
};

/* Characters that take two: East Asian wide and full-width forms, and emoji. */
static const code_range double_width[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
    {0x1F54B, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4},
    {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2},
    {0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB},
    {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool ranges_hold(const code_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0;
    while (low < count) {
        size_t mid = low + (count - low) / 2;
        if (code > ranges[mid].last) {
            low = mid + 1;
        } else if (code < ranges[mid].first) {
            count = mid;
        } else {
            return true;
        }
    }
    return false;
}

static size_t code_width(uint32_t code)
{
    if (code < 0x300) {
        return 1;
    }
    if (ranges_hold(zero_width, sizeof zero_width / sizeof *zero_width, code)) {
        return 0;
    }
    return ranges_hold(double_width, sizeof double_width / sizeof *double_width, code) ? 2 : 1;
}

size_t cli_width(const char *s, size_t len)
{
    size_t width = 0;
    while (len > 0) {
        uint32_t code = 0;
        size_t size = cli_utf8_decode(s, len, &code);
        width += size == 0 ? 1 : code_width(code);
        size = size == 0 ? 1 : size;
        s += size;
        len -= size;
    }
    return width;
}
