/*
 * Removing the files that were offered and that nobody keeps.
 *
 * Invariants:
 *  1. A place is known by a 128-bit hash, the same for every spelling of a location: two places
 * with one hash would make a file stay, never go.
 *  2. Nothing is removed before all that is to be kept has been said (frz_removal_do comes last).
 *  3. Memory: what is noted goes to a scratch file, in PARTS parts by hash, whenever it has grown
 * to a limit; the removal looks at one part at a time, about two bytes for each file named.
 *
 * A local location is known by the folder as the file system has it, with links and dots resolved.
 */
#include "maintain/maintain_removal.h"

#define PARTS 64
#define RECENT 4096 /* places that were named last; a power of two */
#define FOLDERS 64

/* What one part of a scratch file holds of a part. */
typedef struct removal_piece {
    uint64_t offset;
    size_t len;
} removal_piece;

/* Records of one kind and part: first what went to the scratch file, then the buffer. */
typedef struct removal_log {
    frz_buf buffer;
    removal_piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t bytes;
} removal_log;

/* What is behind a key of an offered file, and before its location. */
typedef struct removal_head {
    frz_key key;
    uint32_t kind;
    uint32_t len;
} removal_head;

typedef struct removal_folder {
    char *text; /* as locations have it; NULL: a free place */
    frz_key key;
} removal_folder;

struct frz_removal {
    const frz_env *env;
    removal_log kept[PARTS], offered[PARTS];
    size_t buffered, memory; /* bytes noted; how many may be */
    frz_scratch *scratch;    /* NULL: all is in memory */
    frz_key recent_kept[RECENT], recent_offered[RECENT];
    removal_folder folders[FOLDERS];
};

frz_code frz_removal_new(const frz_env *env, size_t memory, frz_removal **out, frz_error *err)
{
    frz_removal *removal = frz_alloc_zero(env, 1, sizeof *removal);
    if (removal == NULL) {
        return frz_fail_nomem(err, sizeof *removal);
    }
    removal->env = env;
    removal->memory = memory;
    for (size_t i = 0; i < PARTS; i++) {
        frz_buf_init(&removal->kept[i].buffer, env, FRZ_BUF_NO_LIMIT);
        frz_buf_init(&removal->offered[i].buffer, env, FRZ_BUF_NO_LIMIT);
    }
    *out = removal;
    return FRZ_OK;
}

static void log_reset(const frz_env *env, removal_log *log)
{
    frz_buf_reset(&log->buffer);
    frz_free(env, log->pieces);
}

void frz_removal_free(frz_removal *removal)
{
    if (removal == NULL) {
        return;
    }
    for (size_t i = 0; i < PARTS; i++) {
        log_reset(removal->env, &removal->kept[i]);
        log_reset(removal->env, &removal->offered[i]);
    }
    for (size_t i = 0; i < FOLDERS; i++) {
        frz_free(removal->env, removal->folders[i].text);
    }
    frz_scratch_close(removal->scratch);
    frz_free(removal->env, removal);
}

/* ---- places ---- */

/* A folder's parts, without what names the same folder. */
static frz_key folder_key(frz_str scheme, frz_str folder)
{
    frz_key key = frz_key_of("place");
    frz_key_str(&key, scheme);
    for (size_t start = 0; start < folder.len;) {
        size_t end = start;
        while (end < folder.len && folder.ptr[end] != '/') {
            end++;
        }
        frz_str part = {folder.ptr + start, end - start};
        if (part.len > 0 && !frz_str_equal(part, FRZ_STR("."))) {
            frz_key_str(&key, part);
        }
        start = end + 1;
    }
    return key;
}

static frz_str folder_of(frz_str location)
{
    while (location.len > 0 && location.ptr[location.len - 1] != '/') {
        location.len--;
    }
    return location;
}

static frz_code find_folder(frz_removal *removal, frz_str location, frz_key *out, frz_error *err)
{
    frz_str folder = folder_of(location);
    frz_key text_key = frz_key_of("folder");
    frz_key_str(&text_key, folder);
    removal_folder *slot = &removal->folders[text_key.a % FOLDERS];
    if (slot->text == NULL || !frz_str_equal(frz_str_from(slot->text), folder)) {
        char *real = NULL;
        frz_place place = frz_location_place(folder);
        frz_code rc = frz_location_real_folder(removal->env, location, &real, NULL);
        if (rc == FRZ_E_NOMEM) {
            return frz_fail_nomem(err, folder.len);
        }
        frz_free(removal->env, slot->text);
        slot->text = frz_strdup(removal->env, folder);
        slot->key = folder_key(place.scheme, rc == FRZ_OK ? frz_str_from(real) : place.rest);
        frz_free(removal->env, real);
        if (slot->text == NULL) {
            return frz_fail_nomem(err, folder.len);
        }
    }
    *out = slot->key;
    return FRZ_OK;
}

static frz_code key_of(frz_removal *removal, frz_str location, frz_key *out, frz_error *err)
{
    frz_code rc = find_folder(removal, location, out, err);
    size_t folder = folder_of(location).len;
    frz_key_str(out, (frz_str){location.ptr + folder, location.len - folder});
    return rc;
}

/* ---- noting ---- */

static frz_code spill_log(frz_removal *removal, removal_log *log, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (log->buffer.len == 0) {
        return FRZ_OK;
    }
    FRZ_TRY(FRZ_GROW(removal->env, &log->pieces, &log->piece_capacity, log->piece_count, err));
    removal_piece piece = {frz_scratch_size(removal->scratch), log->buffer.len};
    FRZ_TRY(frz_scratch_append(removal->scratch, log->buffer.data, log->buffer.len, err));
    log->pieces[log->piece_count++] = piece;
    frz_buf_clear(&log->buffer);
out:
    return rc;
}

static frz_code spill(frz_removal *removal, frz_error *err)
{
    frz_code rc = FRZ_OK;
    if (removal->scratch == NULL) {
        FRZ_TRY(frz_scratch_open(removal->env, &removal->scratch, err));
    }
    for (size_t i = 0; i < PARTS; i++) {
        FRZ_TRY(spill_log(removal, &removal->kept[i], err));
        FRZ_TRY(spill_log(removal, &removal->offered[i], err));
    }
    removal->buffered = 0;
out:
    return rc;
}

/* Whether the place was named not long ago: most files are named by every snapshot. */
static bool is_recent(frz_key recent[RECENT], frz_key key)
{
    frz_key *slot = &recent[key.a % RECENT];
    bool seen = frz_key_equal(*slot, key);
    *slot = key;
    return seen;
}

static frz_code note(frz_removal *removal, removal_log *log, const void *bytes, size_t len,
                     frz_str more, frz_error *err)
{
    frz_code rc = FRZ_OK;
    FRZ_TRY(frz_buf_reserve(&log->buffer, len + more.len, err));
    FRZ_TRY(frz_buf_append(&log->buffer, bytes, len, err));
    FRZ_TRY(frz_buf_append(&log->buffer, more.ptr, more.len, err));
    log->bytes += len + more.len;
    removal->buffered += len + more.len;
    if (removal->buffered > removal->memory) {
        FRZ_TRY(spill(removal, err));
    }
out:
    return rc;
}

frz_code frz_removal_keep(frz_removal *removal, frz_str location, frz_error *err)
{
    frz_key key;
    frz_code rc = key_of(removal, location, &key, err);
    if (rc != FRZ_OK || is_recent(removal->recent_kept, key)) {
        return rc;
    }
    return note(removal, &removal->kept[key.b % PARTS], &key, sizeof key, FRZ_STR(""), err);
}

frz_code frz_removal_offer(frz_removal *removal, frz_removed kind, frz_str location, frz_error *err)
{
    removal_head head = {.kind = kind, .len = (uint32_t)location.len};
    frz_code rc = key_of(removal, location, &head.key, err);
    if (rc != FRZ_OK || is_recent(removal->recent_offered, head.key)) {
        return rc;
    }
    if (location.len > UINT32_MAX) {
        return frz_fail(err, FRZ_E_LIMIT, "a location of %zu bytes is too long", location.len);
    }
    return note(removal, &removal->offered[head.key.b % PARTS], &head, sizeof head, location, err);
}

/* ---- removing ---- */

typedef struct removal_work {
    frz_removal *removal;
    const frz_removal_run *run;
    frz_removal_report *report;
    frz_key_map done; /* kept or removed, of the part at hand */
    frz_buf location; /* terminated */
    frz_error why;
} removal_work;

/* All of a log, piece by piece. */
static frz_code read_log(removal_work *w, const removal_log *log,
                         frz_code (*take)(removal_work *, frz_str, frz_error *), frz_error *err)
{
    frz_code rc = FRZ_OK;
    frz_buf piece = FRZ_BUF_INIT(w->removal->env, FRZ_BUF_NO_LIMIT);
    for (size_t i = 0; i < log->piece_count; i++) {
        frz_buf_clear(&piece);
        FRZ_TRY(frz_buf_reserve(&piece, log->pieces[i].len, err));
        FRZ_TRY(frz_scratch_read(w->removal->scratch, log->pieces[i].offset, piece.data,
                                 log->pieces[i].len, err));
        FRZ_TRY(take(w, (frz_str){(const char *)piece.data, log->pieces[i].len}, err));
    }
    FRZ_TRY(take(w, frz_buf_view(&log->buffer), err));
out:
    frz_buf_reset(&piece);
    return rc;
}

static frz_code take_kept(removal_work *w, frz_str records, frz_error *err)
{
    frz_code rc = FRZ_OK;
    for (size_t at = 0; at < records.len; at += sizeof(frz_key)) {
        frz_key key;
        memcpy(&key, records.ptr + at, sizeof key);
        FRZ_TRY(frz_key_map_put(&w->done, key, 0, NULL, err));
    }
out:
    return rc;
}

/* Only what is there counts: two runs at once, or one after a crash, offer the same files. */
static void remove_file(removal_work *w, frz_removed kind, const char *location)
{
    const frz_env *env = w->removal->env;
    uint64_t size = 0;
    frz_code rc = frz_file_stat(env, location, &size, &w->why);
    if (rc == FRZ_OK && !w->run->dry) {
        rc = frz_file_remove(env, location, &w->why);
    }
    if (rc == FRZ_OK) {
        w->report->count[kind]++;
        w->report->bytes += (int64_t)size;
        if (w->run->visit != NULL) {
            w->run->visit(w->run->visit_ctx, kind, location, (int64_t)size);
        }
    } else if (rc != FRZ_E_NOT_FOUND) {
        w->report->failed++;
        frz_log(env, "maintain", FRZ_LOG_WARN, "%s stays: %s", location, w->why.message);
    }
    frz_error_reset(&w->why);
}

static frz_code take_offered(removal_work *w, frz_str records, frz_error *err)
{
    frz_code rc = FRZ_OK;
    removal_head head;
    for (size_t at = 0; at < records.len; at += sizeof head + head.len) {
        bool added = false;
        memcpy(&head, records.ptr + at, sizeof head);
        FRZ_TRY(frz_key_map_put(&w->done, head.key, 0, &added, err));
        if (!added) {
            continue;
        }
        frz_buf_clear(&w->location);
        FRZ_TRY(frz_buf_append(&w->location, records.ptr + at + sizeof head, head.len, err));
        FRZ_TRY(frz_buf_append_byte(&w->location, '\0', err));
        const char *location = (const char *)w->location.data;
        if (w->run->spares == NULL || !w->run->spares(w->run->spares_ctx, location)) {
            remove_file(w, (frz_removed)head.kind, location);
        }
    }
out:
    return rc;
}

frz_code frz_removal_do(frz_removal *removal, const frz_removal_run *run,
                        frz_removal_report *report, frz_error *err)
{
    frz_code rc = FRZ_OK;
    removal_work w = {.removal = removal, .run = run, .report = report};
    frz_buf_init(&w.location, removal->env, FRZ_BUF_NO_LIMIT);
    frz_key_map_init(&w.done, removal->env);
    for (size_t i = 0; i < PARTS; i++) {
        FRZ_TRY(frz_progress(removal->env, run->what, i, PARTS, err));
        if (removal->offered[i].bytes > 0) {
            FRZ_TRY(read_log(&w, &removal->kept[i], take_kept, err));
            FRZ_TRY(read_log(&w, &removal->offered[i], take_offered, err));
        }
        frz_key_map_reset(&w.done);
    }
    FRZ_TRY(frz_progress(removal->env, run->what, PARTS, PARTS, err));
out:
    frz_key_map_reset(&w.done);
    frz_buf_reset(&w.location);
    return rc;
}
