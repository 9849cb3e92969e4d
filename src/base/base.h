/*
 * base: memory, arenas, buffers, strings, checked arithmetic, errors, logging, threads, clock and
 * uuid.
 * Everything above may include this header; it includes only the public headers.
 */
#ifndef FRZ_BASE_H
#define FRZ_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "frazil/env.h"
#include "frazil/error.h"

/* ---- control flow ---- */

/* Store the code of a call in rc; on anything but FRZ_OK go to the function's one exit. */
#define FRZ_TRY(call)                                                                              \
    do {                                                                                           \
        rc = (call);                                                                               \
        if (rc != FRZ_OK) {                                                                        \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

#define FRZ_ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define FRZ_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FRZ_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---- errors (base_error.c) ---- */

/* Fill in the error and return the code, so that a rejection is one line. err may be NULL. */
frz_code frz_fail(frz_error *err, frz_code code, const char *fmt, ...) FRZ_PRINTF(3, 4);
frz_code frz_fail_at(frz_error *err, frz_code code, uint64_t offset, const char *fmt, ...)
    FRZ_PRINTF(4, 5);
/* As frz_fail, with the text of an errno value at the end; ENOENT and EEXIST choose the code. */
frz_code frz_fail_os(frz_error *err, int os_error, const char *fmt, ...) FRZ_PRINTF(3, 4);
frz_code frz_fail_nomem(frz_error *err, size_t size);
/* Add "reading x" around an error that is on its way up; does nothing on FRZ_OK and FRZ_END.
 * Returns the code it was given. */
frz_code frz_context(frz_error *err, frz_code code, const char *fmt, ...) FRZ_PRINTF(3, 4);
void frz_hint(frz_error *err, const char *fmt, ...) FRZ_PRINTF(2, 3);

/* ---- strings ---- */

/* A view of bytes, not terminated. ptr may be NULL if len is 0. */
typedef struct frz_str {
    const char *ptr;
    size_t len;
} frz_str;

#define FRZ_STR(literal) ((frz_str){("" literal), sizeof(literal) - 1})
/* For "%.*s" */
#define FRZ_STR_ARG(s) (int)(s).len, (s).ptr

static inline frz_str frz_str_from(const char *z)
{
    return (frz_str){z, z == NULL ? 0 : strlen(z)};
}

static inline bool frz_str_equal(frz_str a, frz_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Bytewise order: negative, zero, positive. */
int frz_str_compare(frz_str a, frz_str b);
/* ASCII case folded. */
bool frz_str_equal_nocase(frz_str a, frz_str b);
bool frz_str_starts_with(frz_str s, frz_str prefix);
/* The whole string as a decimal integer in range; false if it is anything else. */
bool frz_str_to_i64(frz_str s, int64_t *out);
bool frz_str_to_double(frz_str s, double *out);
/* strtod and strtof with a decimal point, whatever locale the program has set. */
double frz_strtod(const char *z, char **end);
float frz_strtof(const char *z, char **end);
bool frz_utf8_valid(frz_str s);
/* True if a NUL-terminated copy of s equals s (no NUL inside). */
bool frz_str_is_clean(frz_str s);

/* ---- checked arithmetic: false on overflow ---- */

static inline bool frz_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool frz_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool frz_add_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool frz_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* ---- unaligned little-endian access ---- */

static inline uint16_t frz_load_le16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t frz_load_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint64_t frz_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void frz_store_le32(void *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}
static inline void frz_store_le64(void *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "only little-endian hosts are supported");

/* ---- reading bytes from the front ---- */

typedef struct frz_cursor {
    const uint8_t *bytes;
    size_t len, at;
} frz_cursor;

/* The next bytes, or NULL if so many are not left; the cursor then stays where it is. */
static inline const uint8_t *frz_cursor_take(frz_cursor *c, size_t len)
{
    const uint8_t *p = c->bytes + c->at;
    if (len > c->len - c->at) {
        return NULL;
    }
    c->at += len;
    return p;
}

/* ---- memory (base_memory.c) ---- */

/* All own memory comes from the environment. Blocks know their size. alloc returns NULL and the
 * caller reports frz_fail_nomem; size 0 gives a block of no bytes. free accepts NULL. */
void *frz_alloc(const frz_env *env, size_t size);
void *frz_alloc_zero(const frz_env *env, size_t count, size_t size); /* checks the product */
void *frz_realloc(const frz_env *env, void *ptr, size_t size);
void frz_free(const frz_env *env, void *ptr);
/* Zeroed memory that is read at random places: if it is large, in large pages where the system has
 * them, since finding the place of a small one costs as much as reading it. *block is to be freed.
 */
void *frz_alloc_table(const frz_env *env, size_t count, size_t size, void **block);
/* A hint that all of a block is about to be filled: large blocks get large pages, which the system
 * hands out much faster than as many small ones. */
void frz_memory_fills(void *ptr, size_t size);
/* A terminated copy; NULL if there is no memory. */
char *frz_strdup(const frz_env *env, frz_str s);

/* Make room for one more element in a growing array: capacity at least count + 1.
 * items and capacity are updated; elements are not initialised. */
frz_code frz_grow(const frz_env *env, void **items, size_t *capacity, size_t count,
                  size_t item_size, frz_error *err);
#define FRZ_GROW(env, items, capacity, count, err)                                                 \
    frz_grow((env), (void **)(items), (capacity), (count), sizeof(**(items)), (err))

/* ---- arenas (base_arena.c): one owner, one free ---- */

typedef struct frz_arena {
    const frz_env *env;
    struct frz_arena_block *blocks;
    size_t used;  /* bytes handed out */
    size_t limit; /* most bytes it may hand out */
} frz_arena;

#define FRZ_ARENA_NO_LIMIT SIZE_MAX

void frz_arena_init(frz_arena *arena, const frz_env *env, size_t limit);
void frz_arena_reset(frz_arena *arena); /* frees all; the arena can be used again */
/* Zeroed memory aligned to 16 bytes, or NULL when there is no memory or the limit is reached. */
void *frz_arena_alloc(frz_arena *arena, size_t size);
void *frz_arena_array(frz_arena *arena, size_t count, size_t size);
/* Terminated copies. */
char *frz_arena_strdup(frz_arena *arena, frz_str s);
frz_code frz_arena_str(frz_arena *arena, frz_str s, frz_str *out, frz_error *err);
char *frz_arena_printf(frz_arena *arena, const char *fmt, ...) FRZ_PRINTF(2, 3);

/* ---- growable byte buffers with a ceiling (base_buf.c) ---- */

typedef struct frz_buf {
    const frz_env *env;
    uint8_t *data;
    size_t len;
    size_t capacity;
    size_t max; /* growth beyond is FRZ_E_LIMIT */
} frz_buf;

#define FRZ_BUF_INIT(env, max)                                                                     \
    {                                                                                              \
        (env), NULL, 0, 0, (max)                                                                   \
    }
#define FRZ_BUF_NO_LIMIT (SIZE_MAX / 2)

void frz_buf_init(frz_buf *buf, const frz_env *env, size_t max);
void frz_buf_reset(frz_buf *buf); /* frees; can be used again */
void frz_buf_clear(frz_buf *buf); /* keeps the memory */
/* Room for more bytes at the end. */
frz_code frz_buf_reserve(frz_buf *buf, size_t more, frz_error *err);
frz_code frz_buf_append(frz_buf *buf, const void *bytes, size_t len, frz_error *err);
frz_code frz_buf_append_str(frz_buf *buf, const char *z, frz_error *err);
frz_code frz_buf_append_byte(frz_buf *buf, uint8_t byte, frz_error *err);
frz_code frz_buf_printf(frz_buf *buf, frz_error *err, const char *fmt, ...) FRZ_PRINTF(3, 4);
static inline frz_str frz_buf_view(const frz_buf *buf)
{
    return (frz_str){(const char *)buf->data, buf->len};
}

/* ---- logging (base_log.c) ---- */

bool frz_log_enabled(const frz_env *env, const char *component, frz_log_level level);
void frz_log(const frz_env *env, const char *component, frz_log_level level, const char *fmt, ...)
    FRZ_PRINTF(4, 5);

/* ---- the processor (base_cpu.c) ---- */

/* Bits of frz_env.cpu. */
#define FRZ_CPU_AVX2 1u /* with BMI2, whose bit deposit is fast, and POPCNT */

/* ---- clock, randomness, uuid (base_clock.c) ---- */

int64_t frz_now_ms(const frz_env *env);
frz_code frz_random_bytes(const frz_env *env, void *buf, size_t len, frz_error *err);
/* A positive 63-bit number, for snapshot ids. */
frz_code frz_random_id(const frz_env *env, int64_t *out, frz_error *err);
#define FRZ_UUID_TEXT 37 /* 36 characters and a NUL */
frz_code frz_uuid_text(const frz_env *env, char out[FRZ_UUID_TEXT], frz_error *err);
/* Sleep; used by back-off only. */
void frz_sleep_ms(int64_t ms);
/* "2026-11-29T12:34:56.789Z" */
#define FRZ_TIME_TEXT 32
void frz_time_text(int64_t ms, char out[FRZ_TIME_TEXT]);

/* Report progress; FRZ_E_CANCELLED if the caller wants to stop. */
frz_code frz_progress(const frz_env *env, const char *what, uint64_t done, uint64_t total,
                      frz_error *err);

/* ---- threads (base_parallel.c, base_pool.c) ---- */

/* How many tasks of frz_parallel run at once at best; 1: none but the caller's. */
size_t frz_threads(const frz_env *env);
/* Whether so many bytes of work, read or written columns, are worth waking a thread for. */
bool frz_is_shared(const frz_env *env, double bytes);
/*
 * Call task(ctx, index) for every index below count, on the environment's threads, and return when
 * all have returned. The result is that of calling them in order up to the first failure: the code
 * and error of the failing task with the lowest index, FRZ_END included. Tasks behind it may have
 * run or not. With one thread or one task the caller runs them, in order. Tasks may call
 * frz_parallel themselves; arenas, buffers, arrays under construction and readers are not shared
 * between tasks without a lock.
 */
frz_code frz_parallel(const frz_env *env, size_t count,
                      frz_code (*task)(void *ctx, size_t index, frz_error *err), void *ctx,
                      frz_error *err);

/* Things of which a task needs one for itself, such as codecs: there come to be as many as tasks
 * run at once. First member of the thing's struct. */
typedef struct frz_slot {
    struct frz_slot *next;
    atomic_bool taken;
} frz_slot;
typedef struct frz_slots {
    frz_slot *_Atomic first;
} frz_slots;
/* One that nobody has; NULL: make another and add it. */
frz_slot *frz_slots_take(frz_slots *slots);
void frz_slots_add(frz_slots *slots, frz_slot *slot); /* taken by the caller */
void frz_slot_give(frz_slot *slot);
/* Take one off for good, while no task runs; NULL: there are none left. */
frz_slot *frz_slots_remove(frz_slots *slots);

/* ---- the cache (base_cache.c) ---- */

/*
 * First member of an immutable object that the environment can keep for whoever wants it again:
 * a footer, an index. Whoever makes it fills in these members, refs with 1.
 */
typedef struct frz_cached {
    frz_str
        key; /* names kind, file and content (frz_file_cache_key); lives as long as the object */
    size_t bytes; /* about, what the object holds; more than 0 */
    void (*free)(struct frz_cached *object);
    _Atomic size_t refs;
    struct frz_cached *next, *newer, *older; /* of the cache */
} frz_cached;

/* The object of this key and a reference to it; NULL if there is none. */
frz_cached *frz_cache_get(const frz_env *env, frz_str key);
/* Keep an object, with a reference of the cache's own, if there is room for it and its key is new.
 * Objects unused for longest make room. */
void frz_cache_put(const frz_env *env, frz_cached *object);
/* Forget an object that is not what its key promises; the caller's reference stays. */
void frz_cache_drop(const frz_env *env, frz_cached *object);
/* Give back a reference; the last one frees. NULL is fine. */
void frz_cached_unref(frz_cached *object);

/* ---- libraries loaded on first use (base_library.c) ---- */

typedef struct frz_library {
    const char *file;    /* "libpq.so.5" */
    const char *package; /* that holds it, for the hint */
    const char *purpose; /* "a catalog in PostgreSQL" */
    const char *const *symbols;
    size_t symbol_count;
} frz_library;

/* functions: a struct of function pointers, one for each symbol, in their order.
 * FRZ_E_UNSUPPORTED names the package that is missing. Loading again costs little. */
frz_code frz_library_load(const frz_library *library, void *functions, frz_error *err);

/* ---- the environment ---- */

#define FRZ_LOG_RULES 16

struct frz_env {
    frz_allocator allocator;
    frz_storage storage;
    int64_t (*now_ms)(void *ctx);
    frz_code (*random_bytes)(void *ctx, void *buf, size_t len);
    void *clock_ctx;
    frz_log_fn log;
    void *log_ctx;
    struct {
        char component[16]; /* empty: all */
        frz_log_level level;
    } log_rules[FRZ_LOG_RULES];
    size_t log_rule_count;
    frz_progress_fn progress;
    void *progress_ctx;
    char *sqlite_vfs;
    frz_executor executor;
    struct frz_pool *pool; /* behind the executor, if it is the environment's own */
    double least_shared;   /* bytes of work below which no thread is woken; tests take less */
    unsigned cpu;          /* FRZ_CPU_… that may be used */
    struct frz_cache *cache;
    /* counters; changed through const pointers, so they live behind one */
    struct frz_env_atomics *counters;
};

/* A variable of the process's environment, or NULL (io_env.c). */
const char *frz_variable(const frz_env *env, const char *name);

struct frz_env_atomics {
    _Atomic uint64_t allocations, bytes_allocated, bytes_peak;
    _Atomic uint64_t bytes_read, bytes_written, files_opened, files_created, syncs;
};

#endif
