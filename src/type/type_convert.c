/*
 * Single values between forms that Arrow has for the same: other widths, other units.
 */
#include "type/type_convert.h"

#define MS_PER_DAY INT64_C(86400000)
#define MS_PER_SECOND 1000
#define NS_PER_MS 1000000

static bool fits_128(const uint64_t *words)
{
    uint64_t sign = (uint64_t)((int64_t)words[1] >> 63);
    return words[2] == sign && words[3] == sign;
}

static bool convert_decimal(const ipc_type *t, const uint8_t *in, uint8_t *out)
{
    uint64_t words[4];
    int64_t value = t->c == 32 ? (int32_t)frz_load_le32(in) : (int64_t)frz_load_le64(in);
    if (t->c == 256) {
        memcpy(words, in, sizeof words);
        memcpy(out, words, 16);
        return fits_128(words);
    }
    __int128 wide = value;
    memcpy(out, &wide, sizeof wide);
    return true;
}

static bool convert_interval(const ipc_type *t, const uint8_t *in, uint8_t *out)
{
    int64_t nanos = 0;
    memcpy(out + (t->a == 0 ? 0 : 4), in, 4); /* months, or days */
    if (t->a == 1) {
        nanos = (int64_t)(int32_t)frz_load_le32(in + 4) * NS_PER_MS;
    }
    memcpy(out + 8, &nanos, sizeof nanos);
    return true;
}

bool type_convert_value(const ipc_type *t, const uint8_t *in, uint8_t *out)
{
    int64_t wide = 0;
    int32_t narrow = 0;
    bool fits;
    switch (t->tag) {
    case IPC_DECIMAL:
        return convert_decimal(t, in, out);
    case IPC_INTERVAL:
        return convert_interval(t, in, out);
    case IPC_DATE:
        memcpy(&wide, in, sizeof wide);
        fits = wide % MS_PER_DAY == 0 && wide / MS_PER_DAY >= INT32_MIN &&
               wide / MS_PER_DAY <= INT32_MAX;
        narrow = fits ? (int32_t)(wide / MS_PER_DAY) : 0;
        memcpy(out, &narrow, sizeof narrow);
        return fits;
    case IPC_TIME:
        memcpy(&narrow, in, sizeof narrow);
        fits = !__builtin_mul_overflow(narrow, MS_PER_SECOND, &narrow);
        memcpy(out, &narrow, sizeof narrow);
        return fits;
    default: /* TIMESTAMP */
        memcpy(&wide, in, sizeof wide);
        fits = frz_mul_i64(wide, MS_PER_SECOND, &wide);
        memcpy(out, &wide, sizeof wide);
        return fits;
    }
}
