/*
 * The options of a writer: defaults, what makes sense, and columns by their names.
 */
#include "format/parquet/parquet_writer_internal.h"
#include "frazil/parquet.h"

#define PAGE_BYTES ((size_t)256 << 10)
#define GROUP_BYTES ((size_t)32 << 20)

/* ---- the codec ---- */

typedef struct codec_row {
    frz_parquet_codec codec;
    frz_codec_id id;
    int level_max;
} codec_row;

static const codec_row codecs[] = {
    {FRZ_PARQUET_UNCOMPRESSED, FRZ_CODEC_NONE, 0}, {FRZ_PARQUET_SNAPPY, FRZ_CODEC_SNAPPY, 0},
    {FRZ_PARQUET_GZIP, FRZ_CODEC_GZIP, 12},        {FRZ_PARQUET_BROTLI, FRZ_CODEC_BROTLI, 11},
    {FRZ_PARQUET_ZSTD, FRZ_CODEC_ZSTD, 22},        {FRZ_PARQUET_LZ4_RAW, FRZ_CODEC_LZ4_RAW, 0},
};

static frz_code open_codec(frz_parquet_writer *w, const frz_parquet_write_options *opts,
                           frz_error *err)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(codecs); i++) {
        const codec_row *row = &codecs[i];
        if (row->codec != opts->codec) {
            continue;
        }
        if (opts->level < 0 || (row->level_max > 0 && opts->level > row->level_max)) {
            return frz_fail(err, FRZ_E_ARGUMENT, "%s has no level %d", frz_codec_name(row->id),
                            opts->level);
        }
        w->shared.codec = row->id;
        return FRZ_OK;
    }
    return frz_fail(err, FRZ_E_UNSUPPORTED, "unsupported: Parquet codec %d", (int)opts->codec);
}

/* ---- plain settings ---- */

static frz_code check_settings(const frz_parquet_write_options *opts, frz_error *err)
{
    if (opts->page_version < 0 || opts->page_version > 2) {
        return frz_fail(err, FRZ_E_ARGUMENT, "page version %d is not 1 or 2", opts->page_version);
    }
    if (opts->page_rows < 0 || opts->group_rows < 0) {
        return frz_fail(err, FRZ_E_ARGUMENT, "pages of %lld rows and row groups of %lld rows",
                        (long long)opts->page_rows, (long long)opts->group_rows);
    }
    if (opts->page_bytes > INT32_MAX) {
        return frz_fail(err, FRZ_E_ARGUMENT, "pages of %zu bytes, the format has at most %d",
                        opts->page_bytes, INT32_MAX);
    }
    return FRZ_OK;
}

static frz_code copy_keys(frz_parquet_writer *w, const frz_parquet_write_options *opts,
                          frz_error *err)
{
    frz_code rc = FRZ_OK;
    /* one more for the Arrow schema */
    w->keys = frz_arena_array(&w->arena, opts->key_count + 1, sizeof *w->keys);
    if (w->keys == NULL) {
        return frz_fail_nomem(err, opts->key_count * sizeof *w->keys);
    }
    for (; w->key_count < opts->key_count; w->key_count++) {
        size_t i = w->key_count;
        FRZ_TRY(frz_arena_str(&w->arena, frz_str_from(opts->keys[i]), &w->keys[i].key, err));
        FRZ_TRY(frz_arena_str(&w->arena, frz_str_from(opts->values[i]), &w->keys[i].value, err));
    }
out:
    return rc;
}

frz_code parquet_options_open(frz_parquet_writer *w, const frz_parquet_write_options *opts,
                              frz_error *err)
{
    static const frz_parquet_write_options defaults = FRZ_PARQUET_WRITE_OPTIONS_INIT;
    frz_parquet_write_options *own = &w->shared.opts;
    frz_code rc = FRZ_OK;
    *own = defaults;
    if (opts != NULL) {
        /* members that an older caller does not know keep their defaults */
        memcpy(own, opts, FRZ_MIN(opts->struct_size, sizeof *own));
    }
    FRZ_TRY(check_settings(own, err));
    FRZ_TRY(copy_keys(w, own, err));
    FRZ_TRY(open_codec(w, own, err));
    w->shared.output.durable = own->durable;
    own->page_bytes = own->page_bytes == 0 ? PAGE_BYTES : own->page_bytes;
    own->group_bytes = own->group_bytes == 0 ? GROUP_BYTES : own->group_bytes;
out:
    return rc;
}

/* ---- columns by name ---- */

static bool same_name(frz_str a, frz_str b, bool folded)
{
    return folded ? frz_str_equal_nocase(a, b) : frz_str_equal(a, b);
}

/* As the file spells the way to the column. */
static bool is_spelled(const parquet_write_leaf *leaf, frz_str name, bool folded)
{
    for (size_t i = 0; i < leaf->path_count; i++) {
        size_t len = leaf->path[i].len;
        if (name.len < len || !same_name((frz_str){name.ptr, len}, leaf->path[i], folded)) {
            return false;
        }
        name = (frz_str){name.ptr + len, name.len - len};
        if (i + 1 < leaf->path_count) {
            if (name.len == 0 || name.ptr[0] != '.') {
                return false;
            }
            name = (frz_str){name.ptr + 1, name.len - 1};
        }
    }
    return name.len == 0;
}

/* The leaf of that name from first on and around; SIZE_MAX: none, or several. Names mostly come in
 * the order of the columns. */
static size_t look_for(const parquet_write_schema *schema, frz_str name, size_t first, bool folded)
{
    size_t found = SIZE_MAX;
    for (size_t k = 0; k < schema->leaf_count; k++) {
        size_t i = (first + k) % schema->leaf_count;
        const parquet_write_leaf *leaf = &schema->leaves[i];
        if (!same_name(leaf->dotted, name, folded) && !is_spelled(leaf, name, folded)) {
            continue;
        }
        if (!folded) {
            return i;
        }
        if (found != SIZE_MAX) {
            return SIZE_MAX;
        }
        found = i;
    }
    return found;
}

static frz_code find_leaf(const frz_parquet_writer *w, const char *column, size_t *first,
                          size_t *out, frz_error *err)
{
    frz_str name = frz_str_from(column);
    size_t leaf = look_for(&w->schema, name, *first, false);
    if (leaf == SIZE_MAX) {
        leaf = look_for(&w->schema, name, *first, true);
    }
    if (leaf == SIZE_MAX) {
        return frz_fail(err, FRZ_E_ARGUMENT, "no column with values is named \"%.*s\"",
                        FRZ_STR_ARG(name));
    }
    *out = leaf;
    *first = leaf + 1;
    return FRZ_OK;
}

/* ---- encodings ---- */

static bool is_integer(const parquet_write_leaf *leaf)
{
    return leaf->physical == PARQUET_INT32 || leaf->physical == PARQUET_INT64;
}

static bool encoding_fits(const parquet_write_leaf *leaf, frz_parquet_encoding encoding)
{
    switch (encoding) {
    case FRZ_PARQUET_AUTO:
    case FRZ_PARQUET_PLAIN:
        return true;
    case FRZ_PARQUET_RLE:
        return leaf->physical == PARQUET_BOOLEAN;
    case FRZ_PARQUET_DELTA_BINARY_PACKED:
        return is_integer(leaf);
    case FRZ_PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return leaf->physical == PARQUET_BYTE_ARRAY;
    case FRZ_PARQUET_DELTA_BYTE_ARRAY:
        return leaf->physical == PARQUET_BYTE_ARRAY ||
               leaf->physical == PARQUET_FIXED_LEN_BYTE_ARRAY;
    case FRZ_PARQUET_RLE_DICTIONARY:
        return leaf->physical != PARQUET_BOOLEAN;
    case FRZ_PARQUET_BYTE_STREAM_SPLIT:
        return leaf->physical != PARQUET_BOOLEAN && leaf->width != 0;
    }
    return false;
}

static frz_code set_encodings(frz_parquet_writer *w, frz_error *err)
{
    const frz_parquet_write_options *opts = &w->shared.opts;
    frz_code rc = FRZ_OK;
    size_t first = 0;
    for (size_t i = 0; i < opts->encoding_count; i++) {
        const frz_parquet_column_encoding *wanted = &opts->encodings[i];
        size_t at;
        FRZ_TRY(find_leaf(w, wanted->column, &first, &at, err));
        const parquet_write_leaf *leaf = &w->schema.leaves[at];
        if (!encoding_fits(leaf, wanted->encoding)) {
            char text[128];
            const char *name = frz_parquet_encoding_name((int)wanted->encoding);
            rc = frz_fail(
                err, FRZ_E_ARGUMENT, "column \"%.*s\" of type %s (%s) cannot have encoding %s (%d)",
                FRZ_STR_ARG(leaf->dotted), frz_type_text(leaf->field->type, text, sizeof text),
                parquet_physical_name(leaf->physical), name != NULL ? name : "unknown",
                (int)wanted->encoding);
            goto out;
        }
        w->columns[at].encoding = wanted->encoding;
    }
out:
    return rc;
}

/* ---- bloom filters ---- */

static frz_code check_bloom(const parquet_write_leaf *leaf, const frz_parquet_bloom_column *wanted,
                            frz_error *err)
{
    if (leaf->physical == PARQUET_BOOLEAN) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "column \"%.*s\" of type boolean cannot have a bloom filter",
                        FRZ_STR_ARG(leaf->dotted));
    }
    /* written so that NaN is refused, too */
    if (!(wanted->fpp >= 0 && wanted->fpp < 1)) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "bloom filter of column \"%.*s\": %g is not a share below 1",
                        FRZ_STR_ARG(leaf->dotted), wanted->fpp);
    }
    if (wanted->ndv < 0) {
        return frz_fail(err, FRZ_E_ARGUMENT,
                        "bloom filter of column \"%.*s\": %lld distinct values",
                        FRZ_STR_ARG(leaf->dotted), (long long)wanted->ndv);
    }
    return FRZ_OK;
}

static frz_code set_blooms(frz_parquet_writer *w, frz_error *err)
{
    const frz_parquet_write_options *opts = &w->shared.opts;
    frz_code rc = FRZ_OK;
    size_t first = 0;
    for (size_t i = 0; i < opts->bloom_count; i++) {
        const frz_parquet_bloom_column *wanted = &opts->blooms[i];
        size_t at;
        FRZ_TRY(find_leaf(w, wanted->column, &first, &at, err));
        const parquet_write_leaf *leaf = &w->schema.leaves[at];
        FRZ_TRY(check_bloom(leaf, wanted, err));
        parquet_bloom_out_free(w->columns[at].bloom); /* named twice: the last one counts */
        w->columns[at].bloom = NULL;
        FRZ_TRY(parquet_bloom_out_new(w->env, leaf, wanted->fpp, wanted->ndv, &w->columns[at].bloom,
                                      err));
    }
out:
    return rc;
}

/* ---- sorting ---- */

static frz_code set_sorting(frz_parquet_writer *w, frz_error *err)
{
    const frz_parquet_write_options *opts = &w->shared.opts;
    frz_code rc = FRZ_OK;
    size_t first = 0;
    w->sorting =
        frz_arena_array(&w->arena, FRZ_MAX(opts->sorted_count, (size_t)1), sizeof *w->sorting);
    if (w->sorting == NULL) {
        return frz_fail_nomem(err, opts->sorted_count * sizeof *w->sorting);
    }
    for (size_t i = 0; i < opts->sorted_count; i++) {
        const frz_parquet_sorted_column *sorted = &opts->sorted[i];
        size_t at;
        FRZ_TRY(find_leaf(w, sorted->column, &first, &at, err));
        w->sorting[i] =
            (parquet_sorting_column){(int32_t)at, sorted->descending, sorted->nulls_first};
    }
    w->sorting_count = opts->sorted_count;
out:
    return rc;
}

frz_code parquet_options_apply(frz_parquet_writer *w, frz_error *err)
{
    frz_parquet_write_options *own = &w->shared.opts;
    frz_code rc = FRZ_OK;
    FRZ_TRY(set_encodings(w, err));
    FRZ_TRY(set_blooms(w, err));
    FRZ_TRY(set_sorting(w, err));
    /* what the caller lent is not looked at again */
    own->keys = own->values = NULL;
    own->encodings = NULL;
    own->blooms = NULL;
    own->sorted = NULL;
out:
    return rc;
}
