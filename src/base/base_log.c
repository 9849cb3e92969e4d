/*
 * Logging: silent unless a rule asks for it. A rule is "component=level", or a bare level for all;
 * the last rule that fits decides.
 */
#include <stdio.h>
#include <string.h>

#include "base/base_internal.h"

static bool level_from(frz_str name, frz_log_level *out)
{
    static const char *const names[] = {"none", "error", "warn", "info", "debug", "trace"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(names); i++) {
        if (frz_str_equal_nocase(name, frz_str_from(names[i]))) {
            *out = (frz_log_level)i;
            return true;
        }
    }
    return false;
}

static frz_code add_rule(frz_env *env, frz_str rule, frz_error *err)
{
    const char *equals = memchr(rule.ptr, '=', rule.len);
    frz_str component = {rule.ptr, equals == NULL ? 0 : (size_t)(equals - rule.ptr)};
    size_t skip = equals == NULL ? 0 : component.len + 1;
    frz_str level = {rule.ptr + skip, rule.len - skip};
    if (env->log_rule_count == FRZ_LOG_RULES) {
        return frz_fail(err, FRZ_E_ARGUMENT, "more than %d log rules", FRZ_LOG_RULES);
    }
    if (component.len >= sizeof env->log_rules[0].component ||
        !level_from(level, &env->log_rules[env->log_rule_count].level)) {
        frz_fail(err, FRZ_E_ARGUMENT, "log rule \"%.*s\" is not component=level",
                 FRZ_STR_ARG(rule));
        frz_hint(err, "levels are none, error, warn, info, debug, trace; for example scan=debug");
        return FRZ_E_ARGUMENT;
    }
    memset(env->log_rules[env->log_rule_count].component, 0, sizeof env->log_rules[0].component);
    if (component.len > 0) {
        memcpy(env->log_rules[env->log_rule_count].component, component.ptr, component.len);
    }
    env->log_rule_count++;
    return FRZ_OK;
}

frz_code frz_log_configure(frz_env *env, const char *spec, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const char *p = spec == NULL ? "" : spec;
    while (*p != '\0' && rc == FRZ_OK) {
        size_t len = strcspn(p, ",");
        if (len > 0) {
            rc = add_rule(env, (frz_str){p, len}, err);
        }
        p += len + (p[len] == ',');
    }
    return rc;
}

void frz_log_stderr(void *ctx, const char *component, frz_log_level level, const char *line)
{
    static const char *const names[] = {"", "error", "warn", "info", "debug", "trace"};
    (void)ctx;
    fprintf(stderr, "frazil %s %s: %s\n", names[level], component, line);
}

bool frz_log_enabled(const frz_env *env, const char *component, frz_log_level level)
{
    frz_log_level allowed = FRZ_LOG_NONE;
    for (size_t i = 0; i < env->log_rule_count; i++) {
        const char *rule = env->log_rules[i].component;
        if (rule[0] == '\0' || strcmp(rule, component) == 0) {
            allowed = env->log_rules[i].level;
        }
    }
    return level <= allowed;
}

void frz_log(const frz_env *env, const char *component, frz_log_level level, const char *fmt, ...)
{
    if (!frz_log_enabled(env, component, level)) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    env->log(env->log_ctx, component, level, line);
}
