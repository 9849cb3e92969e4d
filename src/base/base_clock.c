/*
 * Clock, randomness, uuids, times as text.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "base/base_internal.h"

int64_t frz_clock_system(void *ctx)
{
    struct timespec now;
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

frz_code frz_random_system(void *ctx, void *buf, size_t len)
{
    uint8_t *p = buf;
    (void)ctx;
    while (len > 0) {
        ssize_t got = getrandom(p, len, 0);
        if (got < 0 && errno != EINTR) {
            return FRZ_E_IO;
        }
        if (got > 0) {
            p += got;
            len -= (size_t)got;
        }
    }
    return FRZ_OK;
}

int64_t frz_now_ms(const frz_env *env)
{
    return env->now_ms(env->clock_ctx);
}

frz_code frz_random_bytes(const frz_env *env, void *buf, size_t len, frz_error *err)
{
    frz_code rc = env->random_bytes(env->clock_ctx, buf, len);
    return rc == FRZ_OK ? rc : frz_fail(err, FRZ_E_IO, "no random bytes from the system");
}

frz_code frz_random_id(const frz_env *env, int64_t *out, frz_error *err)
{
    uint64_t bits = 0;
    frz_code rc = FRZ_OK;
    while (rc == FRZ_OK && bits == 0) {
        rc = frz_random_bytes(env, &bits, sizeof bits, err);
        bits &= INT64_MAX;
    }
    if (rc == FRZ_OK) {
        *out = (int64_t)bits;
    }
    return rc;
}

frz_code frz_uuid_text(const frz_env *env, char out[FRZ_UUID_TEXT], frz_error *err)
{
    uint8_t b[16];
    frz_code rc = frz_random_bytes(env, b, sizeof b, err);
    if (rc != FRZ_OK) {
        return rc;
    }
    b[6] = (uint8_t)((b[6] & 0x0F) | 0x40); /* RFC 9562: version 4, variant 10 */
    b[8] = (uint8_t)((b[8] & 0x3F) | 0x80);
    snprintf(out, FRZ_UUID_TEXT,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    return FRZ_OK;
}

void frz_sleep_ms(int64_t ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

void frz_time_text(int64_t ms, char out[FRZ_TIME_TEXT])
{
    int64_t millis = ms % 1000;
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    if (millis < 0) {
        millis += 1000;
        seconds -= 1;
    }
    if (gmtime_r(&seconds, &tm) == NULL) {
        snprintf(out, FRZ_TIME_TEXT, "%lldms", (long long)ms);
        return;
    }
    char text[24];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, FRZ_TIME_TEXT, "%s.%03dZ", text, (int)millis);
}

frz_code frz_progress(const frz_env *env, const char *what, uint64_t done, uint64_t total,
                      frz_error *err)
{
    if (env->progress != NULL && env->progress(env->progress_ctx, what, done, total) != 0) {
        return frz_fail(err, FRZ_E_CANCELLED, "%s was cancelled", what);
    }
    return FRZ_OK;
}
