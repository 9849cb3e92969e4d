/*
 * The calendar: days, dates and times of day as text and back. Proleptic Gregorian for the whole
 * range of the types; years below 0 and above 9999 have a sign.
 */
#include "type/type_internal.h"

/* Years are counted from March, so that the leap day is the last of its year. */
#define DAYS_4_YEARS 1461
#define DAYS_100_YEARS 36524
#define DAYS_400_YEARS 146097
#define DAYS_TO_1970 719468 /* from 0000-03-01 */
#define SECONDS_PER_DAY 86400
#define MAX_YEAR 400000000 /* far beyond every type, near enough for 64-bit arithmetic */

/* Days before each month of a year that starts in March. */
static const int month_starts[] = {0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337, 366};

static int64_t pow10_of(int digits)
{
    int64_t p = 1;
    while (digits-- > 0) {
        p *= 10;
    }
    return p;
}

type_date type_date_of_days(int64_t days)
{
    int64_t rest = days + DAYS_TO_1970;
    int64_t cycles = type_floor_div(rest, DAYS_400_YEARS);
    rest -= cycles * DAYS_400_YEARS;
    int64_t centuries = FRZ_MIN(rest / DAYS_100_YEARS, 3);
    rest -= centuries * DAYS_100_YEARS;
    int64_t leaps = rest / DAYS_4_YEARS;
    rest -= leaps * DAYS_4_YEARS;
    int64_t years = FRZ_MIN(rest / 365, 3);
    rest -= years * 365;
    int month = 0;
    while (rest >= month_starts[month + 1]) {
        month++;
    }
    type_date date = {.year = cycles * 400 + centuries * 100 + leaps * 4 + years,
                      .month = month + 3,
                      .day = (int)rest - month_starts[month] + 1};
    if (date.month > 12) {
        date.month -= 12;
        date.year++;
    }
    return date;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

bool type_days_of_date(type_date date, int64_t *days)
{
    if (date.month < 1 || date.month > 12 || date.year < -MAX_YEAR || date.year > MAX_YEAR) {
        return false;
    }
    int month = (date.month + 9) % 12; /* March is 0 */
    int length = date.month == 2 ? (is_leap(date.year) ? 29 : 28)
                                 : month_starts[month + 1] - month_starts[month];
    if (date.day < 1 || date.day > length) {
        return false;
    }
    int64_t year = date.month < 3 ? date.year - 1 : date.year;
    *days = year * 365 + type_floor_div(year, 4) - type_floor_div(year, 100) +
            type_floor_div(year, 400) + month_starts[month] + date.day - 1 - DAYS_TO_1970;
    return true;
}

/* ---- text ---- */

static size_t put_digits(char *text, uint64_t value, size_t width)
{
    char digits[20];
    size_t len = 0;
    do {
        digits[len++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (len < width) {
        digits[len++] = '0';
    }
    for (size_t i = 0; i < len; i++) {
        text[i] = digits[len - 1 - i];
    }
    return len;
}

size_t type_date_text(int64_t days, char *text)
{
    type_date date = type_date_of_days(days);
    size_t len = 0;
    if (date.year < 0) {
        text[len++] = '-';
    } else if (date.year > 9999) {
        text[len++] = '+';
    }
    len += put_digits(text + len, (uint64_t)(date.year < 0 ? -date.year : date.year), 4);
    text[len++] = '-';
    len += put_digits(text + len, (uint64_t)date.month, 2);
    text[len++] = '-';
    len += put_digits(text + len, (uint64_t)date.day, 2);
    text[len] = '\0';
    return len;
}

/* Hours may exceed two digits if a time is out of its range. */
size_t type_time_text(int64_t time, int digits, char *text)
{
    uint64_t unit = (uint64_t)pow10_of(digits);
    uint64_t seconds = (time < 0 ? 0 - (uint64_t)time : (uint64_t)time) / unit;
    uint64_t fraction = (time < 0 ? 0 - (uint64_t)time : (uint64_t)time) % unit;
    size_t len = 0;
    if (time < 0) {
        text[len++] = '-';
    }
    len += put_digits(text + len, seconds / 3600, 2);
    text[len++] = ':';
    len += put_digits(text + len, seconds / 60 % 60, 2);
    text[len++] = ':';
    len += put_digits(text + len, seconds % 60, 2);
    text[len++] = '.';
    len += put_digits(text + len, fraction, (size_t)digits);
    text[len] = '\0';
    return len;
}

size_t type_timestamp_text(int64_t value, int digits, bool zoned, char *text)
{
    int64_t per_day = pow10_of(digits) * SECONDS_PER_DAY;
    int64_t days = type_floor_div(value, per_day);
    int64_t time = (int64_t)((uint64_t)value - (uint64_t)days * (uint64_t)per_day);
    size_t len = type_date_text(days, text);
    text[len++] = 'T';
    len += type_time_text(time, digits, text + len);
    if (zoned) {
        memcpy(text + len, "+00:00", 7);
        len += 6;
    }
    return len;
}

/* ---- parsing: a cursor over the text ---- */

typedef struct scanner {
    const char *p, *end;
} scanner;

static scanner scan(frz_str text)
{
    const char *start = text.ptr == NULL ? "" : text.ptr;
    return (scanner){start, start + text.len};
}

static bool take(scanner *s, char c)
{
    if (s->p == s->end || *s->p != c) {
        return false;
    }
    s->p++;
    return true;
}

/* A number of least to most digits. */
static bool take_number(scanner *s, int least, int most, int64_t *out)
{
    int64_t value = 0;
    int count = 0;
    for (; count < most && s->p < s->end && *s->p >= '0' && *s->p <= '9'; count++) {
        value = value * 10 + (*s->p++ - '0');
    }
    *out = value;
    return count >= least;
}

static bool take_date(scanner *s, int64_t *days)
{
    int64_t month;
    int64_t day;
    type_date date;
    bool negative = take(s, '-');
    if (!negative) {
        (void)take(s, '+');
    }
    if (!take_number(s, 4, 9, &date.year) || !take(s, '-') || !take_number(s, 2, 2, &month) ||
        !take(s, '-') || !take_number(s, 2, 2, &day)) {
        return false;
    }
    date.year = negative ? -date.year : date.year;
    date.month = (int)month;
    date.day = (int)day;
    return type_days_of_date(date, days);
}

/* The fraction after the point in units of 10^-digits; more digits only if they are zeros. */
static bool take_fraction(scanner *s, int digits, int64_t *out)
{
    int64_t value = 0;
    int count = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++, count++) {
        if (count < digits) {
            value = value * 10 + (*s->p - '0');
        } else if (*s->p != '0') {
            return false;
        }
    }
    *out = count < digits ? value * pow10_of(digits - count) : value;
    return count > 0;
}

static bool take_time(scanner *s, int digits, int64_t *time)
{
    int64_t hours;
    int64_t minutes;
    int64_t seconds = 0;
    int64_t fraction = 0;
    if (!take_number(s, 2, 2, &hours) || !take(s, ':') || !take_number(s, 2, 2, &minutes)) {
        return false;
    }
    if (take(s, ':')) {
        if (!take_number(s, 2, 2, &seconds) ||
            (take(s, '.') && !take_fraction(s, digits, &fraction))) {
            return false;
        }
    }
    *time = ((hours * 60 + minutes) * 60 + seconds) * pow10_of(digits) + fraction;
    return hours < 24 && minutes < 60 && seconds < 60;
}

/* "Z", "+01", "+01:30", "+0130" in seconds; nothing is UTC. */
static bool take_zone(scanner *s, int64_t *seconds)
{
    int64_t hours;
    int64_t minutes = 0;
    *seconds = 0;
    if (s->p == s->end || take(s, 'Z') || take(s, 'z')) {
        return true;
    }
    bool negative = take(s, '-');
    if ((!negative && !take(s, '+')) || !take_number(s, 2, 2, &hours)) {
        return false;
    }
    if (s->p < s->end) {
        (void)take(s, ':');
        if (!take_number(s, 2, 2, &minutes)) {
            return false;
        }
    }
    *seconds = (negative ? -1 : 1) * (hours * 3600 + minutes * 60);
    return hours < 24 && minutes < 60;
}

bool type_date_parse(frz_str text, int64_t *days)
{
    scanner s = scan(text);
    return take_date(&s, days) && s.p == s.end && *days >= INT32_MIN && *days <= INT32_MAX;
}

bool type_time_parse(frz_str text, int digits, int64_t *time)
{
    scanner s = scan(text);
    return take_time(&s, digits, time) && s.p == s.end;
}

bool type_timestamp_parse(frz_str text, int digits, bool zoned, int64_t *value)
{
    scanner s = scan(text);
    int64_t days;
    int64_t time = 0;
    int64_t offset = 0;
    if (!take_date(&s, &days)) {
        return false;
    }
    if (s.p < s.end) {
        if (!(take(&s, 'T') || take(&s, 't') || take(&s, ' ')) || !take_time(&s, digits, &time) ||
            (zoned && !take_zone(&s, &offset)) || s.p != s.end) {
            return false;
        }
    }
    /* wider, because the first and last day of the range are not whole */
    frz_i128 unit = pow10_of(digits);
    frz_i128 sum = ((frz_i128)days * SECONDS_PER_DAY - offset) * unit + time;
    *value = (int64_t)sum;
    return sum == *value;
}
