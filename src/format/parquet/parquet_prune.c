/*
 * Pruning inside a file. For each row group that is asked for, cheapest proof first:
 *
 *  1. statistics of its chunks;
 *  2. dictionaries, where they hold all values of a chunk;
 *  3. bloom filters, for equality;
 *  4. the page index: the pages of all columns of the filter cut the group into spans of rows, each
 *     of which has bounds from one page per column.
 *
 * Only fields that this file provides are looked up; what the filter says of others is open. A
 * proof that cannot be read, because it is damaged, is no proof and no failure.
 */
#include "format/parquet/parquet_prune.h"

#include <inttypes.h>

#include "format/parquet/parquet_bloom.h"
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_read.h"
#include "format/parquet/parquet_statistics.h"

/* A primitive field that the filter may ask for, and what is known of it in the row group. */
typedef struct prune_leaf {
    const frz_field *field; /* as it is read */
    size_t column;
    bool asked; /* the rest is filled in */
    parquet_chunk chunk;
    frz_field_stats stats;
    bool asked_members, has_members;
    parquet_members members;
    bool asked_bloom, has_bloom;
    parquet_bloom bloom;
    bool has_pages; /* both indexes */
    parquet_kept_index *offsets;
    parquet_kept_index *bounds;
    frz_field_stats page_stats;
} prune_leaf;

typedef struct prune {
    const parquet_file *file;
    const frz_env *env;
    const frz_prune_request *request;
    frz_prune_report *report;
    frz_arena *result; /* ranges */
    frz_arena scratch; /* of one row group */
    parquet_scratches scratches;
    prune_leaf *leaves;
    size_t leaf_count, leaf_capacity;
    size_t group;
    bool use_bloom;
    int64_t span_start, span_rows; /* within the group */
    frz_row_range *ranges;
    size_t range_count, range_capacity;
    frz_error *err;
    frz_code rc; /* of a lookup */
} prune;

/* ---- fields of the filter ---- */

static frz_code add_leaf(prune *p, const frz_field *field, size_t column)
{
    frz_code rc = FRZ_GROW(p->env, &p->leaves, &p->leaf_capacity, p->leaf_count, p->err);
    if (rc == FRZ_OK) {
        p->leaves[p->leaf_count++] = (prune_leaf){.field = field, .column = column};
    }
    return rc;
}

/* Primitive fields at or below a field that is read from a node. */
static frz_code add_field(prune *p, const frz_field *field, const parquet_node *node,
                          const frz_type *file_type)
{
    frz_code rc = FRZ_OK;
    if (node->unsupported != NULL || node->type->id == FRZ_TYPE_UNKNOWN ||
        node->type->id == FRZ_TYPE_VARIANT || field->type->id == FRZ_TYPE_VARIANT) {
        return FRZ_OK;
    }
    if (!frz_type_is_nested(field->type) && !frz_type_is_nested(node->type)) {
        return add_leaf(p, field, node->first_leaf);
    }
    if (field->type->id != FRZ_TYPE_STRUCT || node->type->id != FRZ_TYPE_STRUCT) {
        return FRZ_OK;
    }
    for (size_t i = 0; i < field->type->field_count; i++) {
        const frz_field *child = &field->type->fields[i];
        int64_t at = frz_type_index_of_id(file_type, child->id);
        if (at >= 0) {
            FRZ_TRY(add_field(p, child, &node->children[at], file_type->fields[at].type));
        }
    }
out:
    return rc;
}

static frz_code add_fields(prune *p, const frz_type *file_type)
{
    frz_code rc = FRZ_OK;
    size_t count;
    const int32_t *ids = frz_bound_expr_fields(p->request->filter, &count);
    for (size_t i = 0; i < count; i++) {
        const frz_field *field = frz_type_field_by_id(p->request->provided, ids[i]);
        int64_t at = frz_type_index_of_id(file_type, ids[i]);
        if (field != NULL && at >= 0) {
            FRZ_TRY(add_field(p, field, &p->file->root.children[at], file_type->fields[at].type));
        }
    }
out:
    return rc;
}

static prune_leaf *find_leaf(prune *p, int32_t field_id)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (p->leaves[i].field->id == field_id) {
            return &p->leaves[i];
        }
    }
    return NULL;
}

/* ---- what the filter asks ---- */

static bool ask_chunk(prune *p, prune_leaf *leaf)
{
    if (!leaf->asked) {
        leaf->asked = true;
        p->rc = parquet_file_chunk(p->file, p->group, leaf->column, &leaf->chunk, p->err);
        if (p->rc == FRZ_OK) {
            parquet_statistics_metrics(p->file, leaf->column, p->group, &leaf->chunk, leaf->field,
                                       &leaf->stats);
        }
    }
    return p->rc == FRZ_OK;
}

static const frz_field_stats *group_stats(void *ctx, int32_t field_id)
{
    prune *p = ctx;
    prune_leaf *leaf = find_leaf(p, field_id);
    return leaf != NULL && p->rc == FRZ_OK && ask_chunk(p, leaf) ? &leaf->stats : NULL;
}

static frz_code load_members(prune *p, prune_leaf *leaf)
{
    frz_code rc = FRZ_OK;
    if (!parquet_members_possible(&leaf->chunk)) {
        return FRZ_OK;
    }
    FRZ_TRY(parquet_members_load(p->file, &leaf->chunk, leaf->column, p->group, leaf->field->type,
                                 &p->scratches, &p->scratch, &leaf->members, &leaf->has_members,
                                 p->err));
out:
    return rc;
}

static bool dictionary_may_hold(prune *p, prune_leaf *leaf, const frz_interval *interval)
{
    if (!leaf->asked_members) {
        leaf->asked_members = true;
        p->rc = load_members(p, leaf);
    }
    return p->rc != FRZ_OK || !leaf->has_members || parquet_members_hold(&leaf->members, interval);
}

static bool is_point(const frz_interval *interval)
{
    return interval->low != NULL && interval->high != NULL && !interval->low_open &&
           !interval->high_open && frz_value_compare(interval->low, interval->high, false) == 0;
}

static bool bloom_may_hold(prune *p, prune_leaf *leaf, const frz_value *value)
{
    parquet_origin origin;
    bool any = false;
    if (!leaf->asked_bloom) {
        leaf->asked_bloom = true;
        p->rc = parquet_bloom_load(p->file, &leaf->chunk, leaf->column, p->group, &p->scratch,
                                   &leaf->bloom, &leaf->has_bloom, p->err);
    }
    if (p->rc != FRZ_OK || !leaf->has_bloom ||
        !parquet_origin_of(&p->file->columns[leaf->column], value, &origin)) {
        return true;
    }
    for (size_t i = 0; i < origin.count && !any && p->rc == FRZ_OK; i++) {
        p->rc = parquet_bloom_check(p->file, &leaf->bloom, origin.plain[i], &any, p->err);
    }
    return any || p->rc != FRZ_OK;
}

static bool may_hold(void *ctx, int32_t field_id, const frz_interval *interval)
{
    prune *p = ctx;
    prune_leaf *leaf = find_leaf(p, field_id);
    const frz_value *end = interval->low != NULL ? interval->low : interval->high;
    if (leaf == NULL || end == NULL || p->rc != FRZ_OK || !ask_chunk(p, leaf) ||
        leaf->field->type->id != end->type->id ||
        !frz_type_same_shape(leaf->field->type, end->type)) {
        return true;
    }
    return dictionary_may_hold(p, leaf, interval) &&
           (!p->use_bloom || leaf->has_members || !is_point(interval) ||
            bloom_may_hold(p, leaf, interval->low));
}

/* ---- the page index ---- */

/* Counts of more rows as counts of some of them. */
static int64_t part_of(int64_t count, int64_t all, int64_t rows)
{
    return count == 0 ? 0 : count == all ? rows : FRZ_STAT_UNKNOWN;
}

/* Statistics of a page, or of the chunk if it has no pages, for the span at hand. */
static const frz_field_stats *span_stats(void *ctx, int32_t field_id)
{
    prune *p = ctx;
    prune_leaf *leaf = find_leaf(p, field_id);
    if (leaf == NULL || !leaf->asked) {
        return NULL;
    }
    frz_field_stats *stats = &leaf->page_stats;
    *stats = leaf->stats;
    if (leaf->has_pages) {
        size_t page = parquet_offset_index_page(&leaf->offsets->offsets, p->span_start);
        int64_t rows = parquet_page_end_row(&leaf->offsets->offsets, page) -
                       leaf->offsets->offsets.pages[page].first_row;
        parquet_statistics_page(p->file, leaf->column, &leaf->bounds->bounds, page, rows,
                                leaf->field, stats);
    }
    stats->null_value_count = part_of(stats->null_value_count, stats->value_count, p->span_rows);
    stats->nan_value_count = part_of(stats->nan_value_count, stats->value_count, p->span_rows);
    stats->value_count = p->span_rows;
    return stats;
}

static frz_code load_pages(prune *p, prune_leaf *leaf)
{
    frz_code rc = FRZ_OK;
    if (leaf->chunk.column_index_offset == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(parquet_offset_index_get(p->file, &leaf->chunk, leaf->column, p->group, &leaf->offsets,
                                     p->err));
    if (leaf->offsets != NULL && leaf->offsets->offsets.count > 1) {
        FRZ_TRY(parquet_column_index_get(p->file, &leaf->chunk, leaf->column, p->group,
                                         leaf->offsets->offsets.count, &leaf->bounds, p->err));
    }
    leaf->has_pages = leaf->bounds != NULL;
out:
    return rc;
}

static void forget_group(prune *p)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        prune_leaf *leaf = &p->leaves[i];
        parquet_kept_index_unref(leaf->offsets);
        parquet_kept_index_unref(leaf->bounds);
        *leaf = (prune_leaf){.field = leaf->field, .column = leaf->column};
    }
    frz_arena_reset(&p->scratch);
}

/* Add rows to the result; inside is the range that they were asked for with. */
static frz_code keep_rows(prune *p, const frz_row_range *inside, int64_t start, int64_t end)
{
    frz_row_range *last = p->range_count > 0 ? &p->ranges[p->range_count - 1] : NULL;
    start = FRZ_MAX(start, inside->start);
    end = FRZ_MIN(end, inside->end);
    if (start >= end) {
        return FRZ_OK;
    }
    p->report->rows_left += end - start;
    if (last != NULL && last->end == start && last->start >= inside->start) {
        last->end = end;
        return FRZ_OK;
    }
    frz_code rc = FRZ_GROW(p->env, &p->ranges, &p->range_capacity, p->range_count, p->err);
    if (rc == FRZ_OK) {
        p->ranges[p->range_count++] = (frz_row_range){start, end};
    }
    return rc;
}

/* The row of the group at which the span that starts at a row ends: some column's page does. */
static int64_t span_end(const prune *p, int64_t start, int64_t end)
{
    for (size_t i = 0; i < p->leaf_count; i++) {
        const prune_leaf *leaf = &p->leaves[i];
        if (leaf->has_pages) {
            size_t page = parquet_offset_index_page(&leaf->offsets->offsets, start);
            end = FRZ_MIN(end, parquet_page_end_row(&leaf->offsets->offsets, page));
        }
    }
    return end;
}

/* Does a sorted range from *at on reach into rows start to end? *at moves on. */
static bool reach(const frz_row_range *ranges, size_t count, size_t *at, int64_t start, int64_t end)
{
    while (*at < count && ranges[*at].end <= start) {
        ++*at;
    }
    return *at < count && ranges[*at].start < end;
}

/* Pages of a column that were asked for and of which no row was kept. kept: ranges of this group
 * begin there. */
static int64_t pages_without(const prune *p, const prune_leaf *leaf, const frz_row_range *asked,
                             size_t asked_count, size_t kept)
{
    const parquet_group *g = &p->file->metadata.groups[p->group];
    int64_t count = 0;
    size_t at = 0;
    for (size_t i = 0; i < leaf->offsets->offsets.count; i++) {
        int64_t start = g->first_row + leaf->offsets->offsets.pages[i].first_row;
        int64_t end = g->first_row + parquet_page_end_row(&leaf->offsets->offsets, i);
        count += reach(asked, asked_count, &at, start, end) &&
                 !reach(p->ranges, p->range_count, &kept, start, end);
    }
    return count;
}

/* The rows of one range inside the group, by pages. */
static frz_code prune_pages(prune *p, const frz_row_range *asked)
{
    frz_code rc = FRZ_OK;
    const parquet_group *g = &p->file->metadata.groups[p->group];
    int64_t at = FRZ_MAX(asked->start - g->first_row, 0);
    int64_t end = FRZ_MIN(asked->end - g->first_row, g->num_rows);
    while (at < end) {
        int64_t next = span_end(p, at, end);
        p->span_start = at;
        p->span_rows = next - at;
        bool may = frz_expr_may_match(p->request->filter, span_stats, may_hold, p, p->span_rows);
        FRZ_TRY(p->rc);
        if (may) {
            FRZ_TRY(keep_rows(p, asked, g->first_row + at, g->first_row + next));
        }
        at = next;
    }
out:
    return rc;
}

/* ---- row groups ---- */

static void log_group(const prune *p, const char *proof)
{
    frz_log(p->env, "parquet", FRZ_LOG_DEBUG, "%s: row group %zu is skipped by %s",
            frz_data_file_location(&p->file->base), p->group, proof);
}

/* Can the row group as a whole hold a row? */
static frz_code group_may_match(prune *p, bool *may)
{
    frz_code rc = FRZ_OK;
    const frz_bound_expr *filter = p->request->filter;
    int64_t rows = p->file->metadata.groups[p->group].num_rows;
    p->use_bloom = false;
    *may = frz_expr_may_match(filter, group_stats, NULL, p, rows);
    FRZ_TRY(p->rc);
    if (!*may) {
        p->report->groups_by_statistics++;
        log_group(p, "statistics");
        goto out;
    }
    *may = frz_expr_may_match(filter, group_stats, may_hold, p, rows);
    FRZ_TRY(p->rc);
    if (!*may) {
        p->report->groups_by_dictionary++;
        log_group(p, "dictionaries");
        goto out;
    }
    p->use_bloom = true;
    *may = frz_expr_may_match(filter, group_stats, may_hold, p, rows);
    FRZ_TRY(p->rc);
    if (!*may) {
        p->report->groups_by_bloom++;
        log_group(p, "bloom filters");
    }
out:
    return rc;
}

static frz_code load_all_pages(prune *p, bool *any)
{
    frz_code rc = FRZ_OK;
    *any = false;
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (p->leaves[i].asked) {
            FRZ_TRY(load_pages(p, &p->leaves[i]));
            *any = *any || p->leaves[i].has_pages;
        }
    }
out:
    return rc;
}

static void report_pages(prune *p, const frz_row_range *asked, size_t count, size_t kept)
{
    int64_t pages = 0;
    for (size_t i = 0; i < p->leaf_count; i++) {
        if (p->leaves[i].has_pages) {
            pages += pages_without(p, &p->leaves[i], asked, count, kept);
        }
    }
    p->report->pages_by_index += pages;
    if (pages > 0) {
        frz_log(p->env, "parquet", FRZ_LOG_DEBUG,
                "%s: row group %zu: %" PRId64 " pages are skipped by the page index",
                frz_data_file_location(&p->file->base), p->group, pages);
    }
}

/* asked: the ranges that touch the group. */
static frz_code prune_group(prune *p, const frz_row_range *asked, size_t count)
{
    frz_code rc = FRZ_OK;
    const parquet_group *g = &p->file->metadata.groups[p->group];
    size_t kept = FRZ_MAX(p->range_count, (size_t)1) - 1; /* the last may grow into this group */
    bool may;
    bool by_pages;
    forget_group(p);
    p->report->groups++;
    FRZ_TRY(group_may_match(p, &may));
    if (!may) {
        goto out;
    }
    FRZ_TRY(load_all_pages(p, &by_pages));
    for (size_t i = 0; i < count; i++) {
        FRZ_TRY(by_pages ? prune_pages(p, &asked[i])
                         : keep_rows(p, &asked[i], g->first_row, g->first_row + g->num_rows));
    }
    if (by_pages) {
        report_pages(p, asked, count, kept);
    }
out:
    return rc;
}

static frz_code prune_groups(prune *p, const frz_row_range *ranges, size_t count)
{
    frz_code rc = FRZ_OK;
    const parquet_metadata *m = &p->file->metadata;
    size_t first = 0;
    for (p->group = 0; p->group < m->group_count; p->group++) {
        int64_t start = m->groups[p->group].first_row;
        int64_t end = start + m->groups[p->group].num_rows;
        while (first < count && ranges[first].end <= start) {
            first++;
        }
        size_t last = first;
        while (last < count && ranges[last].start < end) {
            last++;
        }
        if (start < end && last > first) {
            FRZ_TRY(prune_group(p, ranges + first, last - first));
        }
    }
out:
    return rc;
}

/* ---- the whole ---- */

static void prune_reset(prune *p)
{
    forget_group(p);
    parquet_scratches_reset(&p->scratches);
    frz_free(p->env, p->leaves);
    frz_free(p->env, p->ranges);
}

static frz_code take_ranges(const prune *p, frz_row_range **out, size_t *count)
{
    frz_row_range *ranges =
        frz_arena_array(p->result, FRZ_MAX(p->range_count, (size_t)1), sizeof *ranges);
    if (ranges == NULL) {
        return frz_fail_nomem(p->err, p->range_count * sizeof *ranges);
    }
    if (p->range_count > 0) {
        memcpy(ranges, p->ranges, p->range_count * sizeof *ranges);
    }
    *out = ranges;
    *count = p->range_count;
    return FRZ_OK;
}

frz_code parquet_file_prune(const frz_data_file *base, const frz_type *file_type,
                            const frz_prune_request *request, frz_arena *arena, frz_row_range **out,
                            size_t *count, frz_prune_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_row_range all = {0, frz_data_file_row_count(base)};
    const frz_row_range *ranges = request->ranges == NULL ? &all : request->ranges;
    size_t range_count = request->ranges == NULL ? 1 : request->range_count;
    prune p = {.file = (const parquet_file *)base,
               .env = base->env,
               .request = request,
               .report = report,
               .result = arena,
               .scratches = {.env = base->env},
               .err = err};
    frz_arena_init(&p.scratch, base->env, FRZ_ARENA_NO_LIMIT);
    for (size_t i = 0; i < range_count; i++) {
        report->rows += ranges[i].end - ranges[i].start;
    }
    FRZ_TRY(add_fields(&p, file_type));
    FRZ_TRY(prune_groups(&p, ranges, range_count));
    FRZ_TRY(take_ranges(&p, out, count));
out:
    prune_reset(&p);
    return frz_context(err, rc, "pruning %s", frz_data_file_location(base));
}
