/*
 * Dates, times and timestamps as ISO 8601, from counts since 1970.
 */
#include <inttypes.h>

#include "cli.h"

#define DAYS_PER_ERA 146097 /* 400 years */
#define DAYS_TO_1970 719468 /* from 0000-03-01 */

/* Division that rounds down, so that times before 1970 fall on the day before. */
static int64_t divide_down(int64_t value, int64_t by, int64_t *rest)
{
    int64_t quotient = value / by;
    *rest = value % by;
    if (*rest < 0) {
        *rest += by;
        quotient--;
    }
    return quotient;
}

static int64_t unit_per_second(cli_unit unit)
{
    int64_t count = 1;
    for (int i = 0; i < (int)unit; i++) {
        count *= 10;
    }
    return count;
}

/* Counting years from March puts the leap day last, and months follow from the day in the year. */
static void civil_of_days(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t in_era;
    int64_t era = divide_down(days + DAYS_TO_1970, DAYS_PER_ERA, &in_era);
    int64_t year_of_era =
        (in_era - in_era / 1460 + in_era / 36524 - in_era / (DAYS_PER_ERA - 1)) / 365;
    int64_t in_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t from_march = (5 * in_year + 2) / 153;
    *day = (int)(in_year - (153 * from_march + 2) / 5 + 1);
    *month = (int)(from_march < 10 ? from_march + 3 : from_march - 9);
    *year = era * 400 + year_of_era + (*month <= 2);
}

void cli_text_date(cli_text *text, int64_t days)
{
    int64_t year;
    int month, day;
    civil_of_days(days, &year, &month, &day);
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    cli_text_printf(text, "%s%04" PRId64 "-%02d-%02d", sign, year < 0 ? -year : year, month, day);
}

/* Six digits of a fraction, nine for nanoseconds. */
static void text_fraction(cli_text *text, int64_t fraction, cli_unit unit)
{
    int digits = unit == CLI_NANO ? 9 : 6;
    for (int i = (int)unit; i < digits; i++) {
        fraction *= 10;
    }
    cli_text_printf(text, ".%0*" PRId64, digits, fraction);
}

static void text_clock(cli_text *text, int64_t seconds)
{
    cli_text_printf(text, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600,
                    seconds / 60 % 60, seconds % 60);
}

void cli_text_time(cli_text *text, int64_t value, cli_unit unit)
{
    uint64_t unit_size = (uint64_t)unit_per_second(unit);
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) { /* no time of a day, but some files hold it */
        cli_text_char(text, '-');
    }
    text_clock(text, (int64_t)(size / unit_size));
    text_fraction(text, (int64_t)(size % unit_size), unit);
}

void cli_text_timestamp(cli_text *text, int64_t value, cli_unit unit, bool zoned)
{
    int64_t fraction, in_day;
    int64_t seconds = divide_down(value, unit_per_second(unit), &fraction);
    cli_text_date(text, divide_down(seconds, 86400, &in_day));
    cli_text_char(text, 'T');
    text_clock(text, in_day);
    text_fraction(text, fraction, unit);
    if (zoned) {
        cli_text_str(text, "+00:00");
    }
}

/* Seconds of a duration, with a sign of its own. */
static void text_seconds(cli_text *text, int64_t value, cli_unit unit)
{
    uint64_t unit_size = (uint64_t)unit_per_second(unit);
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    cli_text_printf(text, "%s%" PRIu64, value < 0 ? "-" : "", size / unit_size);
    text_fraction(text, (int64_t)(size % unit_size), unit);
    cli_text_char(text, 'S');
}

void cli_text_duration(cli_text *text, int64_t value, cli_unit unit)
{
    cli_text_str(text, "PT");
    text_seconds(text, value, unit);
}

void cli_text_interval(cli_text *text, int64_t months, int64_t days, int64_t value, cli_unit unit)
{
    cli_text_printf(text, "P%" PRId64 "M%" PRId64 "DT", months, days);
    text_seconds(text, value, unit);
}
