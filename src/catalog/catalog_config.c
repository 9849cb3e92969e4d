/*
 * Named catalogs: a JSON file that says where each is and how to get in.
 *
 *   {"prod": {"uri": "https://…", "warehouse": "main", "credential": {"env": "PROD_CREDENTIAL"}}}
 *
 * A value is a text, or the environment variable that holds it. No message shows a value.
 */
#include "base/base_json.h"
#include "catalog/catalog_internal.h"

#define FILE_MAX ((size_t)1 << 20)
#define NAMES_SHOWN 300

struct frz_catalog_config {
    const frz_env *env;
    frz_arena arena;
    frz_catalog_options options;
};

static frz_code default_file(const frz_env *env, frz_buf *out, frz_error *err)
{
    const char *config = frz_variable(env, "XDG_CONFIG_HOME");
    const char *home = frz_variable(env, "HOME");
    frz_code rc = FRZ_OK;
    if (config != NULL && config[0] == '/') {
        rc = frz_buf_printf(out, err, "%s/frazil/catalogs.json", config);
    } else if (home != NULL && home[0] == '/') {
        rc = frz_buf_printf(out, err, "%s/.config/frazil/catalogs.json", home);
    } else {
        return frz_fail(err, FRZ_E_NOT_FOUND,
                        "there is no home folder to look for catalogs.json in");
    }
    return rc == FRZ_OK ? frz_buf_append_byte(out, 0, err) : rc;
}

/* A text, or {"env": NAME}. */
static frz_code read_value(frz_catalog_config *config, const char *catalog, const char *key,
                           const json_t *json, const char **out, frz_error *err)
{
    const char *text = json_string_value(json);
    const char *variable = json_string_value(json_object_get(json, "env"));
    if (variable != NULL) {
        text = frz_variable(config->env, variable);
        if (text == NULL) {
            return frz_fail(err, FRZ_E_ARGUMENT,
                            "%s of catalog %s: the environment variable %s is not set", key,
                            catalog, variable);
        }
    }
    if (text == NULL) {
        return frz_fail(err, FRZ_E_CORRUPT,
                        "%s of catalog %s: expected a text or {\"env\": \"VARIABLE\"}", key,
                        catalog);
    }
    *out = frz_arena_strdup(&config->arena, frz_str_from(text));
    return *out == NULL ? frz_fail_nomem(err, strlen(text)) : FRZ_OK;
}

static frz_code read_members(frz_catalog_config *config, const char *name, const json_t *json,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_catalog_options *options = &config->options;
    frz_catalog_property *properties =
        frz_arena_array(&config->arena, json_object_size(json), sizeof *properties);
    const char *key;
    json_t *value;
    FRZ_TRY(properties == NULL ? frz_fail_nomem(err, 0) : FRZ_OK);
    json_object_foreach((json_t *)json, key, value)
    {
        const char *text = NULL;
        FRZ_TRY(read_value(config, name, key, value, &text, err));
        if (strcmp(key, "uri") == 0) {
            options->uri = text;
        } else if (strcmp(key, "warehouse") == 0) {
            options->warehouse = text;
        } else if (strcmp(key, "catalog-name") == 0) {
            options->name = text;
        } else {
            const char *copy = frz_arena_strdup(&config->arena, frz_str_from(key));
            FRZ_TRY(copy == NULL ? frz_fail_nomem(err, strlen(key)) : FRZ_OK);
            properties[options->property_count++] = (frz_catalog_property){copy, text};
        }
    }
    options->properties = properties;
    if (options->uri == NULL) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "catalog %s has no uri", name);
    }
out:
    return rc;
}

static frz_code fail_unknown(const char *file, const char *name, const json_t *json, frz_error *err)
{
    char names[NAMES_SHOWN] = "";
    size_t used = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)json, key, value)
    {
        int n = snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : ", ", key);
        used = FRZ_MIN(used + (size_t)FRZ_MAX(n, 0), sizeof names - 1);
    }
    frz_code rc = frz_fail(err, FRZ_E_NOT_FOUND, "there is no catalog %.100s in %s", name, file);
    if (used > 0) {
        frz_hint(err, "it has %s", names);
    }
    return rc;
}

static frz_code read_file(frz_catalog_config *config, const char *file, const char *name,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    json_t *json = NULL;
    frz_buf bytes = FRZ_BUF_INIT(config->env, FILE_MAX);
    char *location = NULL;
    FRZ_TRY(frz_location_from_path(config->env, file, &location, err));
    FRZ_TRY(frz_file_read_all(config->env, location, FILE_MAX, &bytes, err));
    rc = frz_json_parse(config->env, frz_buf_view(&bytes), &json, err);
    if (rc == FRZ_OK && !json_is_object(json)) {
        rc = frz_fail(err, FRZ_E_CORRUPT, "expected an object with a member for each catalog");
    }
    if (rc == FRZ_OK) {
        const json_t *found = json_object_get(json, name);
        rc = found == NULL ? fail_unknown(file, name, json, err)
                           : read_members(config, name, found, err);
    }
    if (rc != FRZ_E_NOT_FOUND) {
        frz_context(err, rc, "%s", file);
    }
out:
    json_decref(json);
    frz_buf_reset(&bytes);
    frz_free(config->env, location);
    return rc;
}

frz_code frz_catalog_config_read(const frz_env *env, const char *file, const char *name,
                                 frz_catalog_config **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf path = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_catalog_config *config = frz_alloc_zero(env, 1, sizeof *config);
    if (config == NULL) {
        return frz_fail_nomem(err, sizeof *config);
    }
    config->env = env;
    config->options = (frz_catalog_options)FRZ_CATALOG_OPTIONS_INIT;
    frz_arena_init(&config->arena, env, FILE_MAX);
    if (file == NULL) {
        FRZ_TRY(default_file(env, &path, err));
        file = (const char *)path.data;
    }
    FRZ_TRY(read_file(config, file, name, err));
    *out = config;
    config = NULL;
out:
    frz_buf_reset(&path);
    frz_catalog_config_free(config);
    return rc;
}

const frz_catalog_options *frz_catalog_config_options(const frz_catalog_config *config)
{
    return &config->options;
}

void frz_catalog_config_free(frz_catalog_config *config)
{
    if (config != NULL) {
        const frz_env *env = config->env;
        frz_arena_reset(&config->arena);
        frz_free(env, config);
    }
}
