/*
 * Splicing: the encoded chunks of a field are copied from another file as they are, and only their
 * place in the file is written anew. A chunk fits if its bytes mean the same under the new schema:
 * the same levels, physical types and annotations at every depth. Whatever is in doubt is left to
 * the caller, who decodes and encodes.
 *
 * Of the statistics, what can be relied on is carried over; parquet_splice_index.c has what lies
 * elsewhere in the file.
 */
#include "format/parquet/parquet_read.h"
#include "format/parquet/parquet_statistics.h"
#include "format/parquet/parquet_writer_internal.h"

#define KNOWN_ENCODINGS ((UINT32_C(1) << (PARQUET_BYTE_STREAM_SPLIT + 1)) - 1)

/* ---- does it fit? ---- */

/* Iceberg has one spelling of each type; wider annotations of others are re-encoded. */
static bool annotation_fits(const parquet_element *wanted, const parquet_element *have)
{
    if (wanted->logical == PARQUET_LOGICAL_NONE && have->logical == PARQUET_LOGICAL_INTEGER) {
        int8_t bits = wanted->physical == PARQUET_INT32 ? 32 : 64;
        return have->is_signed && have->bit_width == bits;
    }
    if (wanted->logical != have->logical) {
        return false;
    }
    switch (wanted->logical) {
    case PARQUET_LOGICAL_DECIMAL:
        return wanted->precision == have->precision && wanted->scale == have->scale;
    case PARQUET_LOGICAL_TIME: /* of no zone in Iceberg, whatever the file says */
        return wanted->unit == have->unit;
    case PARQUET_LOGICAL_TIMESTAMP:
        return wanted->unit == have->unit && wanted->utc == have->utc;
    default:
        return true;
    }
}

static bool leaf_fits(const frz_parquet_writer *w, const parquet_write_node *node,
                      const parquet_file *src, const parquet_node *have)
{
    const parquet_write_leaf *leaf = &w->schema.leaves[node->first_leaf];
    const parquet_element *wanted = &w->schema.elements[leaf->element];
    if (have->child_count != 0 || have->leaf_count != 1) {
        return false;
    }
    const parquet_column *column = &src->columns[have->first_leaf];
    const parquet_element *e = column->element;
    return column->max_def == leaf->max_def && column->max_rep == leaf->max_rep &&
           e->physical == wanted->physical &&
           (e->physical != PARQUET_FIXED_LEN_BYTE_ARRAY || e->type_length == wanted->type_length) &&
           annotation_fits(wanted, e);
}

static bool node_fits(const frz_parquet_writer *w, const parquet_write_node *node,
                      const parquet_file *src, const parquet_node *have, const frz_type *type);

static bool children_fit(const frz_parquet_writer *w, const parquet_write_node *node,
                         const parquet_file *src, const parquet_node *have, const frz_type *type)
{
    size_t next = 0;
    for (size_t i = 0; i < node->child_count; i++) {
        const parquet_write_node *child = &node->children[i];
        if (!child->stored) {
            continue;
        }
        if (next == have->child_count || type->fields[next].id != child->field->id ||
            !node_fits(w, child, src, &have->children[next], type->fields[next].type)) {
            return false;
        }
        next++;
    }
    return next == have->child_count;
}

/* type is that of have, with ids as the file was opened. */
static bool node_fits(const frz_parquet_writer *w, const parquet_write_node *node,
                      const parquet_file *src, const parquet_node *have, const frz_type *type)
{
    if (have->unsupported != NULL || node->def != have->def) {
        return false;
    }
    switch (node->kind) {
    case PARQUET_NODE_STRUCT:
        return type->id == FRZ_TYPE_STRUCT && children_fit(w, node, src, have, type);
    case PARQUET_NODE_LIST:
    case PARQUET_NODE_MAP:
        return type->id == (node->kind == PARQUET_NODE_MAP ? FRZ_TYPE_MAP : FRZ_TYPE_LIST) &&
               have->item_def == node->def + 1 && have->item_rep == node->rep &&
               children_fit(w, node, src, have, type);
    default:
        return leaf_fits(w, node, src, have);
    }
}

static bool codec_fits(int32_t codec)
{
    return codec == FRZ_PARQUET_UNCOMPRESSED || codec == FRZ_PARQUET_SNAPPY ||
           codec == FRZ_PARQUET_GZIP || codec == FRZ_PARQUET_BROTLI || codec == FRZ_PARQUET_ZSTD ||
           codec == FRZ_PARQUET_LZ4_RAW;
}

/* The first releases of parquet-mr left a page's header out of the chunk's size. */
static bool sizes_are_right(const parquet_metadata *metadata)
{
    static const char *const wrong[] = {"parquet-mr version 1.0", "parquet-mr version 1.1",
                                        "parquet-mr version 1.2"};
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(wrong); i++) {
        frz_str prefix = frz_str_from(wrong[i]);
        frz_str by = metadata->created_by;
        /* 1.1 and 1.10 differ in what follows */
        if (frz_str_starts_with(by, prefix) &&
            (by.len == prefix.len || by.ptr[prefix.len] < '0' || by.ptr[prefix.len] > '9')) {
            return false;
        }
    }
    return true;
}

/* As far as the header of its first page can be read here: it is not long. What the footer says of
 * pages is of no use, since the writers in question name version 1 there in any case. */
static bool has_pages_of_version_1(const parquet_file *src, const parquet_chunk *chunk)
{
    uint8_t bytes[256];
    parquet_thrift t;
    parquet_page_header header;
    uint64_t at = (uint64_t)chunk->data_page_offset;
    size_t len = (size_t)FRZ_MIN((uint64_t)sizeof bytes, src->footer_start - at);
    if (frz_file_read(src->base.file, at, bytes, len, NULL) != FRZ_OK) {
        return false;
    }
    parquet_thrift_init(&t, bytes, len, at, NULL);
    return parquet_page_header_parse(&t, &header) == FRZ_OK && header.type == PARQUET_DATA_PAGE;
}

/* Pages that tell a wrong number of rows would be believed under our name. */
static bool rows_are_right(const parquet_file *src, const parquet_chunk *chunk, size_t column)
{
    return src->columns[column].max_rep == 0 || parquet_tells_page_rows(&src->metadata) ||
           has_pages_of_version_1(src, chunk);
}

static bool chunk_fits(const parquet_file *src, const parquet_chunk *chunk, size_t column,
                       int64_t rows)
{
    const parquet_column *c = &src->columns[column];
    int64_t start = parquet_chunk_start(chunk);
    if (chunk->encrypted || chunk->file_path.ptr != NULL || !codec_fits(chunk->codec) ||
        chunk->physical != c->element->physical) {
        return false;
    }
    if (c->max_rep == 0 ? chunk->num_values != rows : chunk->num_values < rows) {
        return false;
    }
    return (chunk->encodings & ~KNOWN_ENCODINGS) == 0 && start >= 4 &&
           chunk->total_compressed_size > 0 && chunk->total_uncompressed_size >= 0 &&
           (uint64_t)start <= src->footer_start &&
           (uint64_t)chunk->total_compressed_size <= src->footer_start - (uint64_t)start &&
           chunk->data_page_offset - start < chunk->total_compressed_size &&
           rows_are_right(src, chunk, column);
}

/* All leaves of a node of the source. */
static bool chunks_fit(const parquet_file *src, const parquet_node *have, size_t group)
{
    for (size_t i = 0; i < have->leaf_count; i++) {
        parquet_chunk chunk;
        size_t column = have->first_leaf + i;
        if (parquet_file_chunk(src, group, column, &chunk, NULL) != FRZ_OK ||
            !chunk_fits(src, &chunk, column, src->metadata.groups[group].num_rows)) {
            return false;
        }
    }
    return true;
}

static bool group_fits(const frz_parquet_writer *w, const parquet_file *src, size_t group)
{
    return src->metadata.groups[group].num_rows == w->group_rows && sizes_are_right(&src->metadata);
}

static bool field_fits(const frz_parquet_writer *w, const parquet_write_node *node,
                       const parquet_file *src, const parquet_node *have, const frz_type *type,
                       size_t group)
{
    return have->leaf_count == node->leaf_count && node_fits(w, node, src, have, type) &&
           chunks_fit(src, have, group);
}

/* ---- copying ---- */

static frz_code copy_chunk(frz_parquet_writer *w, size_t own, const parquet_file *src, size_t group,
                           size_t column, const parquet_chunk *from, frz_error *err)
{
    frz_code rc = FRZ_OK;
    int64_t start = parquet_chunk_start(from);
    int64_t offset = (int64_t)w->shared.output.position;
    parquet_chunk chunk = {
        .physical = from->physical,
        .encodings = from->encodings,
        .codec = from->codec,
        .num_values = from->num_values,
        .total_uncompressed_size = from->total_uncompressed_size,
        .total_compressed_size = from->total_compressed_size,
        .data_page_offset = offset + (from->data_page_offset - start),
        .dictionary_page_offset = start < from->data_page_offset ? offset : 0,
        .statistics = {.min_exact = -1, .max_exact = -1},
    };
    if (!w->shared.opts.no_statistics) {
        parquet_statistics_check(src, column, from, &chunk.statistics);
    }
    FRZ_TRY(parquet_splice_indexes(w, own, src, group, column, from, &chunk, err));
    FRZ_TRY(parquet_output_copy(&w->shared.output, src->base.file, (uint64_t)start,
                                (uint64_t)from->total_compressed_size, err));
    parquet_writer_add_chunk(w, &chunk);
out:
    return rc;
}

static frz_code copy_field(frz_parquet_writer *w, const parquet_write_node *node,
                           const parquet_file *src, const parquet_node *have, size_t group,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t i = 0; i < node->leaf_count; i++) {
        size_t own = node->first_leaf + i;
        size_t column = have->first_leaf + i;
        const parquet_write_leaf *leaf = &w->schema.leaves[own];
        parquet_chunk chunk;
        FRZ_TRY(parquet_file_chunk(src, group, column, &chunk, err));
        FRZ_TRY(copy_chunk(w, own, src, group, column, &chunk, err));
        if (w->columns[own].metrics != NULL) {
            frz_field_stats metrics;
            parquet_statistics_metrics(src, column, group, &chunk, leaf->field, &metrics);
            FRZ_TRY(parquet_metrics_sum_add(&w->sums[own], &metrics, err));
        }
    }
out:
    return rc;
}

/* ---- fields ---- */

/* The next field, and the source's field if it has one that may fit: *have stays NULL otherwise. */
static frz_code begin_field(frz_parquet_writer *w, size_t field_index, const frz_data_file *base,
                            size_t src_group, int32_t src_field_id, const parquet_node **have,
                            frz_error *err)
{
    frz_code rc = FRZ_OK;
    assert(field_index < w->schema.root.child_count);
    if (base->model != &frz_parquet_model) {
        return FRZ_OK;
    }
    const parquet_file *src = (const parquet_file *)base;
    if (src_group >= src->metadata.group_count) {
        return frz_fail(err, FRZ_E_ARGUMENT, "row group %zu of a file with %zu", src_group,
                        src->metadata.group_count);
    }
    FRZ_TRY(parquet_writer_skip_to(w, field_index, err));
    assert(w->field_rows == 0);
    *have = group_fits(w, src, src_group) ? parquet_file_node(src, src_field_id) : NULL;
out:
    return rc;
}

frz_code parquet_writer_splice_field(frz_parquet_writer *w, size_t field_index,
                                     const frz_data_file *base, size_t src_group,
                                     int32_t src_field_id, bool *done, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const parquet_write_node *node = &w->schema.root.children[field_index];
    const parquet_file *src = (const parquet_file *)base;
    const parquet_node *have = NULL;
    if (!node->stored || w->group_rows == 0) {
        *done = true; /* there is nothing to write */
        return FRZ_OK;
    }
    FRZ_TRY(begin_field(w, field_index, base, src_group, src_field_id, &have, err));
    if (have == NULL ||
        !field_fits(w, node, src, have, frz_type_field_by_id(base->type, src_field_id)->type,
                    src_group)) {
        return FRZ_OK;
    }
    FRZ_TRY(copy_field(w, node, src, have, src_group, err));
    w->field++;
    *done = true;
out:
    return rc;
}

/* ---- members of a struct ---- */

typedef struct member_splice {
    frz_parquet_writer *w;
    const parquet_write_node *node; /* the struct's */
    const parquet_file *src;
    const parquet_node *have;
    const frz_type *type; /* of have */
    size_t group;
    const struct ArrowArray *const *members;
} member_splice;

/* The source's member of the same id, if its chunks fit, or NULL. */
static const parquet_node *fitting_member(const member_splice *m, const parquet_write_node *child)
{
    if (m->have == NULL || m->type->id != FRZ_TYPE_STRUCT || m->have->unsupported != NULL ||
        m->node->def != m->have->def) {
        return NULL;
    }
    for (size_t i = 0; i < m->have->child_count; i++) {
        const frz_field *field = &m->type->fields[i];
        if (field->id == child->field->id) {
            return field_fits(m->w, child, m->src, &m->have->children[i], field->type, m->group)
                       ? &m->have->children[i]
                       : NULL;
        }
    }
    return NULL;
}

static bool members_fit(const member_splice *m)
{
    bool fit = m->node->kind == PARQUET_NODE_STRUCT;
    for (size_t i = 0; fit && i < m->node->child_count; i++) {
        const parquet_write_node *child = &m->node->children[i];
        fit = !child->stored || m->members[i] != NULL || fitting_member(m, child) != NULL;
    }
    return fit;
}

static frz_code encode_member(frz_parquet_writer *w, const parquet_write_node *node,
                              const struct ArrowArray *values, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (values->length != w->group_rows) {
        return frz_fail(
            err, FRZ_E_ARGUMENT, "column \"%.*s\" got %lld rows, its row group has %lld",
            FRZ_STR_ARG(node->dotted), (long long)values->length, (long long)w->group_rows);
    }
    for (size_t i = 0; i < node->leaf_count; i++) {
        parquet_column_writer_begin(&w->columns[node->first_leaf + i], node->leaf_count == 1);
    }
    FRZ_TRY(parquet_shred(w->env, node, w->columns, values, 0, values->length, w->row_count, err));
    FRZ_TRY(parquet_writer_end_columns(w, node, err));
out:
    return rc;
}

frz_code parquet_writer_splice_members(frz_parquet_writer *w, size_t field_index,
                                       const frz_data_file *base, size_t src_group,
                                       int32_t src_field_id,
                                       const struct ArrowArray *const *members, bool *done,
                                       frz_error *err)
{
    frz_code rc = FRZ_OK;
    member_splice m = {.w = w,
                       .node = &w->schema.root.children[field_index],
                       .src = (const parquet_file *)base,
                       .group = src_group,
                       .members = members};
    if (!m.node->stored || w->group_rows == 0) {
        *done = true;
        return FRZ_OK;
    }
    FRZ_TRY(begin_field(w, field_index, base, src_group, src_field_id, &m.have, err));
    m.type = m.have == NULL ? NULL : frz_type_field_by_id(base->type, src_field_id)->type;
    if (!members_fit(&m)) {
        return FRZ_OK;
    }
    for (size_t i = 0; i < m.node->child_count; i++) {
        const parquet_write_node *child = &m.node->children[i];
        if (child->stored) {
            FRZ_TRY(members[i] != NULL
                        ? encode_member(w, child, members[i], err)
                        : copy_field(w, child, m.src, fitting_member(&m, child), src_group, err));
        }
    }
    w->field++;
    *done = true;
out:
    return rc;
}
