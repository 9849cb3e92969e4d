/*
 * transform_values: applies partition transforms to single values. Reads lines of
 * "transform<TAB>type<TAB>value" and prints the result of each, or the error.
 */
#include <stdio.h>

#include "frazil/env.h"
#include "type/type_transform.h"

#define LINE_MAX 4096

static frz_code transform_line(frz_arena *arena, char *line, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_type *type = NULL;
    frz_value value;
    frz_value result;
    char *type_text = strchr(line, '\t');
    char *value_text = type_text == NULL ? NULL : strchr(type_text + 1, '\t');
    if (value_text == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "expected transform, type and value");
    }
    *type_text++ = '\0';
    *value_text++ = '\0';
    frz_transform transform = frz_transform_parse(frz_str_from(line));
    FRZ_TRY(frz_type_parse(arena, frz_str_from(type_text), &type, err));
    FRZ_TRY(frz_value_parse(arena, type, frz_str_from(value_text), &value, err));
    if (frz_transform_result(&transform, type) == NULL) {
        return frz_fail(err, FRZ_E_ARGUMENT, "no such transform of this type");
    }
    FRZ_TRY(frz_transform_apply(&transform, &value, &result, err));
    FRZ_TRY(frz_value_print(&result, out, err));
out:
    return rc;
}

int main(void)
{
    static char line[LINE_MAX];
    frz_env *env = NULL;
    frz_error err = {0};
    if (frz_env_new(NULL, &env, &err) != FRZ_OK) {
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        frz_arena arena;
        frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
        frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
        line[strcspn(line, "\n")] = '\0';
        if (transform_line(&arena, line, &out, &err) == FRZ_OK) {
            printf("%.*s\n", (int)out.len, out.len == 0 ? "" : (const char *)out.data);
        } else {
            printf("error: %s\n", err.message);
        }
        frz_buf_reset(&out);
        frz_arena_reset(&arena);
    }
    frz_env_free(env);
    return 0;
}
