/*
 * Limits of age, and whether a table's files may be removed at all.
 */
#include "maintain/maintain_removal.h"

#define SECOND_MS INT64_C(1000)
#define DAY_MS (24 * 60 * 60 * SECOND_MS)

static const struct {
    char letter;
    int64_t ms;
} units[] = {
    {'s', SECOND_MS}, {'m', 60 * SECOND_MS}, {'h', 60 * 60 * SECOND_MS},
    {'d', DAY_MS},    {'w', 7 * DAY_MS},
};

/* "7d"; false: it is no duration. */
static bool parse_duration(frz_str text, int64_t *ms)
{
    int64_t number;
    if (text.len < 2 || !frz_str_to_i64((frz_str){text.ptr, text.len - 1}, &number) || number < 0) {
        return false;
    }
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(units); i++) {
        if (text.ptr[text.len - 1] == units[i].letter) {
            return frz_mul_i64(number, units[i].ms, ms);
        }
    }
    return false;
}

int64_t frz_limit_before(int64_t time_ms, int64_t age_ms)
{
    int64_t before;
    return __builtin_sub_overflow(time_ms, age_ms, &before) ? INT64_MIN : before;
}

frz_code frz_limit_parse(const frz_env *env, const char *option, const char *text, int64_t *ms,
                         frz_error *err)
{
    int64_t age;
    frz_code rc = FRZ_OK;
    if (parse_duration(frz_str_from(text), &age)) {
        *ms = frz_limit_before(frz_now_ms(env), age);
        return FRZ_OK;
    }
    rc = frz_time_parse(env, frz_str_from(text), ms, err);
    if (rc == FRZ_E_ARGUMENT) {
        frz_hint(err, "give an age such as 7d, 12h or 30m, or a time such as 2026-11-01T00:00:00Z");
    }
    return frz_context(err, rc, "%s", option);
}

frz_code frz_limit_check_removal(const frz_metadata *metadata, frz_error *err)
{
    frz_str value = frz_metadata_property(metadata, "gc.enabled", "true");
    if (!frz_str_equal_nocase(value, FRZ_STR("false"))) {
        return FRZ_OK;
    }
    frz_code rc = frz_fail(err, FRZ_E_ARGUMENT,
                           "property gc.enabled is false: files of this table may be other tables' "
                           "as well, and none is removed");
    frz_hint(err, "if they are not: ALTER TABLE ... SET TBLPROPERTIES ('gc.enabled' = 'true')");
    return rc;
}
