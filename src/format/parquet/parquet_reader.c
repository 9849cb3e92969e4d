/*
 * The reader of a Parquet file: row ranges to batches.
 *
 * Rows are read by cursors. One is enough where there are many columns, since a cursor works on its
 * columns in parallel. Few columns are read by several cursors, each with its own row groups:
 *
 *  1. A stretch is a run of wanted rows that ends where a row group ends. Cursors are given
 *     stretches in order, and hand them out in the same order, so the batches come as one cursor
 *     would have made them (a batch depends on nothing outside of its row group; where batches go
 *     over groups there is one cursor).
 *  2. A cursor reads ahead of its turn, up to a bound; what it read waits in its queue, a failure
 *     behind it.
 *  3. Cursors read only within parquet_reader_next.
 */
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_read.h"

#define DEFAULT_ROWS 65536
#define DEFAULT_BYTES (16u << 20)
#define MOST_ROWS (1 << 30) /* of a batch, whatever is asked for */

/* Bytes read ahead, over all columns and for one. */
#define AHEAD_ALL (16u << 20)
#define AHEAD_MOST (1u << 20)
#define AHEAD_LEAST (16u << 10)

/* Columns of so few leaves are read by several cursors; of some more, if one of them is so large
 * that it would be left when the others are done. */
#define FEW_LEAVES 8
#define SOME_LEAVES 64
#define MOST_LANES 16
#define LANES_SHARE 7
/* A stretch is worth a task; a task is not shorter than this at first either. */
#define STRETCH_BYTES (1u << 20)
#define TURN_BYTES (512u << 10)

/* A place among the rows that are wanted. */
typedef struct reader_position {
    size_t range, group;
    int64_t row;
} reader_position;

/* A cursor, the rows it has been given, and batches that it read before their turn. */
typedef struct reader_lane {
    parquet_cursor cursor;
    reader_position at;
    int64_t end;      /* row behind the stretch */
    bool given;       /* there is a stretch */
    frz_batch *queue; /* first to count */
    size_t first, count, capacity;
    double bytes;  /* of the queue, about */
    double last;   /* of them, those of the last batch */
    frz_code rc;   /* behind the queue: FRZ_END at the end of the stretch, or a failure */
    frz_error err; /* that failure */
} reader_lane;

typedef struct parquet_reader {
    frz_data_reader base;
    parquet_source source;
    parquet_scratches own, *scratches; /* used: its own, or those of another reader */
    frz_arena arena;                   /* ranges */
    const parquet_file *file;
    const frz_row_range *ranges;
    size_t range_count;
    reader_position at; /* rows that no lane has been given begin here */
    reader_lane *lanes[MOST_LANES];
    size_t lane_count;
    size_t turn;         /* the lane that hands out */
    _Atomic size_t busy; /* lanes that others read on for */
    double turn_bytes;   /* of a turn, at least */
    int64_t max_rows;
    size_t max_bytes;
    bool over_groups;
    const frz_thinning *thinning;
} parquet_reader;

/* ---- positions ---- */

/* Go to the next row that is wanted, from the position's own on; false at the end. */
static bool next_row(const parquet_reader *r, reader_position *at)
{
    const parquet_metadata *m = &r->file->metadata;
    while (at->range < r->range_count) {
        const frz_row_range *range = &r->ranges[at->range];
        at->row = FRZ_MAX(at->row, range->start);
        if (at->row < range->end) {
            break;
        }
        at->range++;
    }
    if (at->range == r->range_count) {
        return false;
    }
    while (at->row >= m->groups[at->group].first_row + m->groups[at->group].num_rows) {
        at->group++;
    }
    return true;
}

static int64_t group_end(const parquet_reader *r, size_t group)
{
    const parquet_group *g = &r->file->metadata.groups[group];
    return g->first_row + g->num_rows;
}

/* Decoded bytes of some leaves of a row group, about; what is damaged is found when it is read. */
static double bytes_of_leaves(const parquet_cursor *c, size_t group, size_t first, size_t count)
{
    double bytes = 0;
    for (size_t i = first; i < first + count; i++) {
        const parquet_leaf *leaf = c->leaves[i];
        parquet_chunk chunk;
        if (parquet_file_chunk(c->source->file, group, leaf->index, &chunk, NULL) == FRZ_OK) {
            double values = (double)chunk.num_values * (double)FRZ_MAX(leaf->sink.width, 4);
            bytes += FRZ_MAX(values, (double)chunk.total_uncompressed_size);
        }
    }
    return bytes;
}

/* Give a lane the next rows that nobody has, if there are any. */
static void give_stretch(parquet_reader *r, reader_lane *lane)
{
    double bytes = 0;
    lane->given = next_row(r, &r->at);
    if (!lane->given) {
        return;
    }
    lane->rc = FRZ_OK;
    lane->at = r->at;
    if (r->lane_count == 1) {
        lane->end = INT64_MAX;
        r->at.range = r->range_count;
        return;
    }
    while (bytes < STRETCH_BYTES && next_row(r, &r->at)) {
        bytes += bytes_of_leaves(&lane->cursor, r->at.group, 0, lane->cursor.leaf_count);
        r->at.row = lane->end = group_end(r, r->at.group);
    }
}

/* ---- lanes ---- */

static void lane_free(const frz_env *env, reader_lane *lane)
{
    if (lane != NULL) {
        for (size_t i = lane->first; i < lane->count; i++) {
            frz_array_release(&lane->queue[i].array);
        }
        frz_free(env, lane->queue);
        parquet_cursor_reset(&lane->cursor);
        frz_free(env, lane);
    }
}

static frz_code add_lane(parquet_reader *r, const frz_type *file_type, const frz_type *projection,
                         frz_error *err)
{
    reader_lane *lane = frz_alloc_zero(r->base.file->env, 1, sizeof *lane);
    if (lane == NULL) {
        return frz_fail_nomem(err, sizeof *lane);
    }
    r->lanes[r->lane_count++] = lane;
    frz_code rc =
        parquet_cursor_init(&lane->cursor, &r->source, r->scratches, file_type, projection, err);
    lane->cursor.max_rows = r->max_rows;
    lane->cursor.max_bytes = r->max_bytes;
    lane->cursor.over_groups = r->over_groups && parquet_cursor_is_flat(&lane->cursor);
    if (rc == FRZ_OK) {
        parquet_thin_init(&lane->cursor, r->thinning);
    }
    return rc;
}

static frz_code read_batch(const parquet_reader *r, reader_lane *lane, frz_batch *out,
                           frz_error *err)
{
    if (!next_row(r, &lane->at) || lane->at.row >= lane->end) {
        return FRZ_END;
    }
    int64_t end = r->ranges[lane->at.range].end;
    if (!lane->cursor.over_groups) {
        end = FRZ_MIN(end, group_end(r, lane->at.group));
    }
    lane->cursor.ranges = r->ranges + lane->at.range;
    lane->cursor.range_count = r->range_count - lane->at.range;
    frz_code rc = parquet_cursor_read(&lane->cursor, lane->at.group, lane->at.row, end, out, err);
    if (rc == FRZ_OK) {
        lane->at.row += out->array.length + out->left_out;
    }
    return rc;
}

/* Bytes of what has no fixed width, which a cursor knows only roughly. */
static double bytes_of_array(const struct ArrowArray *a)
{
    double bytes = 0;
    if (a->n_buffers == 3 && a->length > 0) {
        const int32_t *offsets = (const int32_t *)a->buffers[1] + a->offset;
        bytes = (double)(offsets[a->length] - offsets[0]) + 4.0 * (double)a->length;
    } else if (a->n_children == 0) {
        bytes = 8.0 * (double)a->length;
    }
    for (int64_t i = 0; i < a->n_children; i++) {
        bytes += bytes_of_array(a->children[i]);
    }
    return bytes;
}

static double bytes_of_batch(const reader_lane *lane, const frz_batch *batch)
{
    double estimate = (double)batch->array.length * parquet_cursor_row_bytes(&lane->cursor);
    double found = bytes_of_array(&batch->array);
    return FRZ_MAX(estimate, found);
}

/* Put the next batch, or why there is none, behind the lane's queue. */
static void extend_queue(const parquet_reader *r, reader_lane *lane)
{
    const frz_env *env = r->base.file->env;
    lane->rc = FRZ_GROW(env, &lane->queue, &lane->capacity, lane->count, &lane->err);
    if (lane->rc == FRZ_OK) {
        lane->rc = read_batch(r, lane, &lane->queue[lane->count], &lane->err);
    }
    if (lane->rc == FRZ_OK) {
        lane->last = bytes_of_batch(lane, &lane->queue[lane->count++]);
        lane->bytes += lane->last;
    }
}

static bool is_empty(const reader_lane *lane)
{
    return lane->first == lane->count;
}

/* True if the lane has rows to read and room for them. */
static bool can_read(const parquet_reader *r, const reader_lane *lane)
{
    return lane->given && lane->rc == FRZ_OK &&
           (is_empty(lane) || lane->bytes < (double)r->max_bytes);
}

/* A lane of one column keeps one thread busy, so lanes should be through together: turns grow, and
 * nobody reads on for the sake of one that begins its last batch. A lane of more columns uses all
 * threads once the others are through, so they are better off ahead. */
static bool is_narrow(const reader_lane *lane)
{
    return lane->cursor.leaf_count == 1;
}

/* One turn of a lane: batches of so many bytes, and more as long as others are busy with theirs. */
static frz_code run_lane(void *ctx, size_t index, frz_error *err)
{
    parquet_reader *r = ctx;
    reader_lane *lane = r->lanes[(r->turn + index) % r->lane_count];
    bool busy = true;
    (void)err;
    if (is_empty(lane)) {
        lane->first = lane->count = 0;
        lane->bytes = 0;
    }
    double until = lane->bytes + r->turn_bytes;
    while (can_read(r, lane) && (is_empty(lane) || lane->bytes < until)) {
        if (busy && is_narrow(lane) && lane->bytes + lane->last >= until) {
            atomic_fetch_sub(&r->busy, 1);
            busy = false;
        }
        extend_queue(r, lane);
    }
    if (busy) {
        atomic_fetch_sub(&r->busy, 1);
    }
    while (can_read(r, lane) && atomic_load(&r->busy) > 0) {
        extend_queue(r, lane);
    }
    return FRZ_OK; /* a failure is told when it is its turn */
}

static frz_code run_lanes(parquet_reader *r, frz_error *err)
{
    size_t count = 1;
    for (size_t i = 1; i < r->lane_count; i++) {
        count = can_read(r, r->lanes[(r->turn + i) % r->lane_count]) ? i + 1 : count;
    }
    atomic_store(&r->busy, count);
    frz_code rc = frz_parallel(r->base.file->env, count, run_lane, r, err);
    if (is_narrow(r->lanes[0])) {
        r->turn_bytes = FRZ_MIN(r->turn_bytes * 2, (double)r->max_bytes / 2);
    }
    return rc;
}

/* The next batch of the lane whose turn it is; FRZ_END if there is none. */
static frz_code take_batch(parquet_reader *r, frz_batch *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    reader_lane *lane = r->lanes[r->turn];
    if (r->lane_count == 1 && lane->rc == FRZ_OK) { /* it does not read ahead */
        lane->rc = read_batch(r, lane, out, &lane->err);
        if (lane->rc == FRZ_OK) {
            return FRZ_OK;
        }
    } else if (is_empty(lane) && lane->rc == FRZ_OK) {
        FRZ_TRY(run_lanes(r, err));
    }
    if (is_empty(lane)) {
        rc = lane->rc;
        if (rc != FRZ_END && err != NULL) {
            *err = lane->err;
        }
        goto out;
    }
    *out = lane->queue[lane->first++];
out:
    return rc;
}

frz_code parquet_reader_next(frz_data_reader *base, frz_batch *out, frz_error *err)
{
    parquet_reader *r = (parquet_reader *)base;
    frz_code rc = FRZ_END;
    while (rc == FRZ_END && r->lanes[r->turn]->given) {
        rc = take_batch(r, out, err);
        if (rc == FRZ_END) {
            give_stretch(r, r->lanes[r->turn]);
            r->turn = (r->turn + 1) % r->lane_count;
        }
    }
    return frz_context(err, rc, "reading %s", frz_data_file_location(base->file));
}

/* ---- opening ---- */

/* True if one column of the first row group is so large that others would wait for it. */
static bool one_outweighs(const parquet_reader *r, const parquet_cursor *c)
{
    double all = 0, most = 0;
    reader_position at = {0};
    if (!next_row(r, &at)) {
        return false;
    }
    for (size_t i = 0; i < c->column_count; i++) {
        const parquet_cursor_column *column = &c->columns[i];
        double bytes = bytes_of_leaves(c, at.group, column->first_leaf, column->leaf_count);
        all += bytes;
        most = FRZ_MAX(most, bytes);
    }
    return most * (double)frz_threads(c->env) > all * 1.5;
}

/* A lane has a cursor of its own, with buffers and contexts of codecs: it takes more to be worth
 * it than a task does. */
static bool is_worth_lanes(const parquet_cursor *c, double bytes)
{
    return frz_is_shared(c->env, bytes / LANES_SHARE);
}

/* How many lanes are worth having for the columns of a cursor. */
static size_t choose_lanes(const parquet_reader *r, const parquet_cursor *c)
{
    size_t most = FRZ_MIN(frz_threads(c->env), (size_t)MOST_LANES);
    size_t groups = 0;
    double bytes = 0;
    reader_position at = {0};
    if (c->leaf_count == 0 || most == 1 || c->leaf_count > SOME_LEAVES ||
        (c->leaf_count > FEW_LEAVES && !one_outweighs(r, c))) {
        return 1;
    }
    while ((groups < most || !is_worth_lanes(c, bytes)) && next_row(r, &at)) {
        bytes += bytes_of_leaves(c, at.group, 0, c->leaf_count);
        at.row = group_end(r, at.group);
        groups++;
    }
    return is_worth_lanes(c, bytes) ? FRZ_MIN(groups, most) : 1;
}

static size_t read_ahead(size_t leaves)
{
    size_t each = AHEAD_ALL / FRZ_MAX(leaves, (size_t)1);
    return FRZ_MAX(FRZ_MIN(each, (size_t)AHEAD_MOST), (size_t)AHEAD_LEAST);
}

static frz_code add_lanes(parquet_reader *r, const frz_type *file_type,
                          const frz_read_request *request, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(add_lane(r, file_type, request->projection, err));
    size_t leaves = r->lanes[0]->cursor.leaf_count;
    size_t wanted = request->no_ahead ? 1 : choose_lanes(r, &r->lanes[0]->cursor);
    while (r->lane_count < wanted) {
        FRZ_TRY(add_lane(r, file_type, request->projection, err));
    }
    for (size_t i = 0; i < r->lane_count; i++) {
        give_stretch(r, r->lanes[i]);
    }
    r->source.window = read_ahead(leaves * r->lane_count + request->columns_beside);
out:
    return rc;
}

void parquet_reader_close(frz_data_reader *base)
{
    parquet_reader *r = (parquet_reader *)base;
    if (r == NULL) {
        return;
    }
    const frz_env *env = r->base.file->env;
    for (size_t i = 0; i < r->lane_count; i++) {
        lane_free(env, r->lanes[i]);
    }
    parquet_scratches_reset(&r->own);
    frz_arena_reset(&r->arena);
    frz_free(env, r);
}

frz_code parquet_reader_open(const frz_data_file *file, const frz_type *file_type,
                             const frz_read_request *request, frz_data_reader **out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const frz_env *env = file->env;
    parquet_reader *r = frz_alloc_zero(env, 1, sizeof *r);
    if (r == NULL) {
        return frz_fail_nomem(err, sizeof *r);
    }
    r->base =
        (frz_data_reader){.model = file->model, .file = file, .thins = request->thinning != NULL};
    r->over_groups = request->over_groups && request->no_ahead && request->thinning == NULL;
    r->thinning = request->thinning;
    r->file = (const parquet_file *)file;
    r->source = (parquet_source){.env = env, .file = r->file};
    r->own.env = env;
    r->scratches = request->beside != NULL && request->beside->model == file->model
                       ? ((parquet_reader *)request->beside)->scratches
                       : &r->own;
    r->max_rows = request->max_rows > 0 ? FRZ_MIN(request->max_rows, MOST_ROWS) : DEFAULT_ROWS;
    r->max_bytes = request->max_bytes > 0 ? (size_t)request->max_bytes : DEFAULT_BYTES;
    r->turn_bytes = TURN_BYTES;
    frz_arena_init(&r->arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(frz_row_ranges_copy(file, request, &r->arena, &r->ranges, &r->range_count, err));
    FRZ_TRY(add_lanes(r, file_type, request, err));
    *out = &r->base;
    r = NULL;
out:
    if (r != NULL) {
        parquet_reader_close(&r->base);
    }
    return frz_context(err, rc, "reading %s", frz_data_file_location(file));
}
