/*
 * ArrowSchema structures: made node by node, and copied. A node is one allocation that holds its
 * strings and its children.
 */
#include "arrow/arrow_array.h"

#define MAX_METADATA_BYTES (1u << 26)

typedef struct schema_owner {
    const frz_env *env;
    struct ArrowSchema *children;
    struct ArrowSchema *dictionary;
} schema_owner;

static void schema_release(struct ArrowSchema *schema)
{
    schema_owner *owner = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++) {
        frz_schema_release(schema->children[i]);
    }
    if (schema->dictionary != NULL) {
        frz_schema_release(schema->dictionary);
    }
    frz_free(owner->env, owner);
    schema->release = NULL;
}

/* Copy bytes to the end of what a node holds so far, terminated. */
static char *put_text(char **end, frz_str s)
{
    char *start = *end;
    if (s.len > 0) {
        memcpy(start, s.ptr, s.len);
    }
    start[s.len] = '\0';
    *end += s.len + 1;
    return start;
}

frz_code frz_schema_make(const frz_env *env, const frz_schema_spec *spec, struct ArrowSchema *out,
                         frz_error *err)
{
    size_t pointers;
    size_t texts = spec->format.len + spec->name.len + spec->metadata.len + 3;
    size_t total = sizeof(schema_owner) + sizeof(struct ArrowSchema) + texts; /* one: dictionary */
    if (!frz_mul_size(spec->n_children, sizeof(struct ArrowSchema) + sizeof(void *), &pointers) ||
        !frz_add_size(total, pointers, &total)) {
        return frz_fail(err, FRZ_E_LIMIT, "a schema of %zu columns is too large", spec->n_children);
    }
    schema_owner *owner = frz_alloc_zero(env, 1, total);
    if (owner == NULL) {
        return frz_fail_nomem(err, total);
    }
    owner->env = env;
    owner->dictionary = (struct ArrowSchema *)(owner + 1);
    owner->children = owner->dictionary + 1;
    struct ArrowSchema **children = (struct ArrowSchema **)(owner->children + spec->n_children);
    char *end = (char *)(children + spec->n_children);
    for (size_t i = 0; i < spec->n_children; i++) {
        children[i] = &owner->children[i];
    }
    *out = (struct ArrowSchema){
        .format = put_text(&end, spec->format),
        .name = put_text(&end, spec->name),
        .metadata = spec->metadata.len == 0 ? NULL : put_text(&end, spec->metadata),
        .flags = spec->flags,
        .n_children = (int64_t)spec->n_children,
        .children = spec->n_children == 0 ? NULL : children,
        .dictionary = spec->has_dictionary ? owner->dictionary : NULL,
        .release = schema_release,
        .private_data = owner,
    };
    return FRZ_OK;
}

/* ---- metadata: int32 number of pairs, then int32 length and bytes of each key and value ---- */

static int32_t load_i32(const char *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Step over one counted string; false if its length is impossible. */
static bool next_text(const char **p, size_t *budget, frz_str *out)
{
    int32_t len = load_i32(*p);
    if (len < 0 || (size_t)len > *budget) {
        return false;
    }
    *budget -= (size_t)len;
    *out = (frz_str){*p + sizeof len, (size_t)len};
    *p += sizeof len + (size_t)len;
    return true;
}

frz_code frz_schema_metadata(const struct ArrowSchema *schema, frz_str key, frz_str *value,
                             size_t *size, frz_error *err)
{
    const char *p = schema->metadata;
    size_t budget = MAX_METADATA_BYTES;
    frz_str found = {0};
    if (p == NULL) {
        *value = found;
        *size = 0;
        return FRZ_OK;
    }
    int32_t pairs = load_i32(p);
    p += sizeof pairs;
    for (int32_t i = 0; i < pairs; i++) {
        frz_str k;
        frz_str v;
        if (!next_text(&p, &budget, &k) || !next_text(&p, &budget, &v)) {
            return frz_fail(err, FRZ_E_CORRUPT,
                            "metadata of column \"%s\": entry %d has an impossible length",
                            schema->name == NULL ? "" : schema->name, (int)i);
        }
        if (found.ptr == NULL && frz_str_equal(k, key)) {
            found = v;
        }
    }
    *value = found;
    *size = (size_t)(p - schema->metadata);
    return FRZ_OK;
}

/* ---- copies ---- */

frz_code frz_arrow_schema_copy(const frz_env *env, const struct ArrowSchema *src,
                               struct ArrowSchema *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    struct ArrowSchema made = {0};
    frz_str none;
    size_t metadata = 0;
    FRZ_TRY(frz_schema_metadata(src, FRZ_STR(""), &none, &metadata, err));
    frz_schema_spec spec = {.format = frz_str_from(src->format),
                            .name = frz_str_from(src->name),
                            .metadata = {src->metadata, metadata},
                            .flags = src->flags,
                            .n_children = (size_t)src->n_children,
                            .has_dictionary = src->dictionary != NULL};
    FRZ_TRY(frz_schema_make(env, &spec, &made, err));
    for (int64_t i = 0; i < src->n_children; i++) {
        FRZ_TRY(frz_arrow_schema_copy(env, src->children[i], made.children[i], err));
    }
    if (src->dictionary != NULL) {
        FRZ_TRY(frz_arrow_schema_copy(env, src->dictionary, made.dictionary, err));
    }
    *out = made;
    made.release = NULL;
out:
    frz_schema_release(&made);
    return rc;
}
