/*
 * Reading Arrow IPC: messages made by hand that break one rule each, files cut and damaged,
 * allocations that fail. That what others write is read right is shown by interop/ipc_test.py.
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "arrow/arrow_ipc.h"
#include "unit/test_alloc.h"

#define SEEDS "fuzz/corpus/arrow_ipc"

/* ---- schemas in short: FORMAT, children in parentheses and between semicolons, a dictionary in
 * braces: "+s(l;i{u})" ---- */

static frz_code parse_schema(const frz_env *env, const char **text, struct ArrowSchema *out,
                             frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t len = strcspn(*text, "(){};");
    frz_schema_spec spec = {.format = {*text, len}, .name = FRZ_STR("x"), .flags = 2};
    *text += len;
    int depth = 0;
    spec.n_children = **text == '(';
    for (const char *p = *text; spec.n_children > 0 && *p != '\0'; p++) {
        depth += (*p == '(' || *p == '{') - (*p == ')' || *p == '}');
        if (depth == 0) {
            break;
        }
        spec.n_children += *p == ';' && depth == 1;
    }
    spec.has_dictionary = **text == '{';
    FRZ_TRY(frz_schema_make(env, &spec, out, err));
    for (size_t i = 0; i < spec.n_children; i++) {
        *text += 1;
        FRZ_TRY(parse_schema(env, text, out->children[i], err));
    }
    if (spec.has_dictionary) {
        *text += 1;
        FRZ_TRY(parse_schema(env, text, out->dictionary, err));
    }
    *text += spec.n_children > 0 || spec.has_dictionary;
out:
    return rc;
}

/* ---- messages ---- */

#define MOST 8

/* A record batch, or with `dictionary` the values of dictionary `id`. */
typedef struct batch {
    int64_t rows;
    int64_t nodes[MOST][2];   /* until a node of -9 rows */
    int64_t buffers[MOST][2]; /* offset, size; until an offset of -9 */
    int64_t views;            /* number of data buffers of a view + 1 */
    int compression;          /* 1: lz4, 2: zstd */
    bool dictionary, delta;
    const char *body;
    size_t body_size;
    int64_t id;
} batch;
#define END                                                                                        \
    {                                                                                              \
        -9, 0                                                                                      \
    }
#define BODY(text) .body = (text), .body_size = sizeof(text) - 1

/* What stands around the header. */
typedef struct message_head {
    int64_t version, kind, body;
} message_head;

static frz_code put_framed(frz_buf *out, frz_buf *message, const char *body, size_t size,
                           frz_error *err)
{
    frz_code rc = FRZ_OK;
    uint8_t frame[8];
    FRZ_TRY(flat_pad(message, 8, err));
    frz_store_le32(frame, IPC_CONTINUATION);
    frz_store_le32(frame + 4, (uint32_t)message->len);
    FRZ_TRY(frz_buf_append(out, frame, sizeof frame, err));
    FRZ_TRY(frz_buf_append(out, message->data, message->len, err));
    FRZ_TRY(frz_buf_append(out, body, size, err));
    FRZ_TRY(flat_pad(out, 8, err));
out:
    return rc;
}

static frz_code start(frz_buf *message, const message_head *head, size_t *header, frz_error *err)
{
    frz_code rc = FRZ_OK;
    flat_field fields[] = {FLAT_VALUE(2, head->version), FLAT_VALUE(1, head->kind), FLAT_REF,
                           FLAT_VALUE(8, head->body)};
    FRZ_TRY(flat_start(message, err));
    FRZ_TRY(flat_put_table(message, 0, fields, FRZ_ARRAY_COUNT(fields), err));
    *header = fields[2].at;
out:
    return rc;
}

static frz_code put_schema(const frz_env *env, const char *text, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    const message_head head = {IPC_V5, IPC_HEADER_SCHEMA, 0};
    struct ArrowSchema schema = {.release = NULL};
    frz_buf message = FRZ_BUF_INIT(env, FLAT_MAX);
    frz_arena arena;
    ipc_field root;
    size_t header;
    frz_arena_init(&arena, env, FRZ_ARENA_NO_LIMIT);
    FRZ_TRY(parse_schema(env, &text, &schema, err));
    FRZ_TRY(ipc_field_from_schema(&arena, &schema, &root, err));
    FRZ_TRY(start(&message, &head, &header, err));
    FRZ_TRY(ipc_schema_put(&message, header, &root, err));
    FRZ_TRY(put_framed(out, &message, NULL, 0, err));
out:
    frz_schema_release(&schema);
    frz_buf_reset(&message);
    frz_arena_reset(&arena);
    return rc;
}

static frz_code put_pairs(frz_buf *message, size_t ref, const int64_t (*pairs)[2], frz_error *err)
{
    size_t count = 0;
    size_t at;
    while (count < MOST && pairs[count][0] != -9) {
        count++;
    }
    frz_code rc = flat_put_vector(message, ref, count, 16, &at, err);
    for (size_t i = 0; i < count && rc == FRZ_OK; i++) {
        frz_store_le64(message->data + at + 16 * i, (uint64_t)pairs[i][0]);
        frz_store_le64(message->data + at + 16 * i + 8, (uint64_t)pairs[i][1]);
    }
    return rc;
}

static frz_code put_batch_table(frz_buf *message, size_t ref, const batch *b, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t at;
    flat_field fields[] = {FLAT_VALUE(8, b->rows),
                           FLAT_REF,
                           FLAT_REF,
                           {.width = b->compression > 0 ? 4 : 0},
                           {.width = b->views > 0 ? 4 : 0}};
    FRZ_TRY(flat_put_table(message, ref, fields, FRZ_ARRAY_COUNT(fields), err));
    FRZ_TRY(put_pairs(message, fields[1].at, b->nodes, err));
    FRZ_TRY(put_pairs(message, fields[2].at, b->buffers, err));
    if (b->compression > 0) {
        flat_field compression[] = {FLAT_VALUE(1, b->compression - 1)};
        FRZ_TRY(flat_put_table(message, fields[3].at, compression, 1, err));
    }
    if (b->views > 0) {
        FRZ_TRY(flat_put_vector(message, fields[4].at, 1, 8, &at, err));
        frz_store_le64(message->data + at, (uint64_t)(b->views - 1));
    }
out:
    return rc;
}

static frz_code put_batch(const frz_env *env, const batch *b, frz_buf *out, frz_error *err)
{
    frz_code rc = FRZ_OK;
    size_t padded = (b->body_size + 7) / 8 * 8;
    const message_head head = {IPC_V5, b->dictionary ? IPC_HEADER_DICTIONARY : IPC_HEADER_BATCH,
                               (int64_t)padded};
    frz_buf message = FRZ_BUF_INIT(env, FLAT_MAX);
    size_t header;
    FRZ_TRY(start(&message, &head, &header, err));
    if (b->dictionary) {
        flat_field fields[] = {FLAT_VALUE(8, b->id), FLAT_REF, FLAT_VALUE(1, b->delta)};
        FRZ_TRY(flat_put_table(&message, header, fields, FRZ_ARRAY_COUNT(fields), err));
        header = fields[1].at;
    }
    FRZ_TRY(put_batch_table(&message, header, b, err));
    FRZ_TRY(put_framed(out, &message, b->body, b->body_size, err));
out:
    frz_buf_reset(&message);
    return rc;
}

/* ---- reading ---- */

/* The number of rows of all batches. */
static frz_code read_all(const frz_env *env, const char *path, int64_t *rows, frz_error *err)
{
    struct ArrowArrayStream stream = {.release = NULL};
    struct ArrowSchema schema = {.release = NULL};
    frz_code rc = frz_ipc_open(env, path, &stream, err);
    *rows = 0;
    if (rc == FRZ_OK) {
        int failed = stream.get_schema(&stream, &schema);
        rc = failed == 0 ? FRZ_OK : frz_stream_fail(&stream, failed, err);
    }
    while (rc == FRZ_OK) {
        struct ArrowArray array = {.release = NULL};
        int failed = stream.get_next(&stream, &array);
        if (failed != 0) {
            rc = frz_stream_fail(&stream, failed, err);
        } else if (array.release == NULL) {
            break;
        } else {
            *rows += array.length;
            array.release(&array);
        }
    }
    frz_schema_release(&schema);
    if (stream.release != NULL) {
        stream.release(&stream);
    }
    return rc;
}

static void write_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Bytes through a file of their own. */
static frz_code read_bytes(const frz_env *env, const uint8_t *bytes, size_t size, int64_t *rows,
                           frz_error *err)
{
    char path[] = "/tmp/ipc-read-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_bytes(path, bytes, size);
    frz_code rc = read_all(env, path, rows, err);
    unlink(path);
    return rc;
}

/* A stream of a schema and some batches. */
static void put_stream(const frz_env *env, const char *schema, const batch *batches, size_t count,
                       frz_buf *out)
{
    frz_error err = {0};
    assert_ok(put_schema(env, schema, out, &err), &err);
    for (size_t i = 0; i < count; i++) {
        assert_ok(put_batch(env, &batches[i], out, &err), &err);
    }
}

static frz_code read_batches(const frz_env *env, const char *schema, const batch *batches,
                             size_t count, int64_t *rows, frz_error *err)
{
    frz_buf out = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    put_stream(env, schema, batches, count, &out);
    frz_code rc = read_bytes(env, out.data, out.len, rows, err);
    frz_buf_reset(&out);
    return rc;
}

/* ---- batches that break a rule ---- */

#define W(n) n "\0\0\0\0\0\0\0" /* a long below 256 */
#define I(n) n "\0\0\0"         /* an int */

static const struct {
    const char *schema;
    batch batch;
    const char *phrase; /* NULL: it is fine */
} cases[] = {
    {"+s(l)", {3, {{3, 0}, END}, {{0, 0}, {0, 24}, END}, BODY(W("1") W("2") W("3"))}, NULL},
    {"+s(l)", {3, {{3, 1}, END}, {{0, 1}, {8, 24}, END}, BODY(W("\5") W("1") W("2") W("3"))}, NULL},
    {"+s(l)",
     {3, {{3, 0}, END}, {{0, 0}, {0, 16}, END}, BODY(W("1") W("2"))},
     "a buffer of 16 bytes for 3 items of 8 bytes"},
    {"+s(l)", {3, {{3, 0}, END}, {{0, 0}, {8, 24}, END}, BODY(W("1") W("2"))}, "outside the body"},
    {"+s(l)", {3, {{3, 0}, END}, {{0, 0}, {-8, 24}, END}, BODY(W("1"))}, "outside the body"},
    {"+s(l)", {3, {{3, 0}, END}, {{0, 0}, {0, -8}, END}, BODY(W("1"))}, "outside the body"},
    {"+s(l;l)",
     {2, {{2, 0}, {2, 0}, END}, {{0, 0}, {0, 16}, {0, 0}, {0, 16}, END}, BODY(W("1") W("2"))},
     "overlap"},
    {"+s(l)",
     {3, {{3, 1}, END}, {{0, 1}, {8, 24}, END}, BODY(W("\7") W("1") W("2") W("3"))},
     "0 of 3 rows are null, the node says 1"},
    {"+s(l)", {3, {{3, 1}, END}, {{0, 0}, {0, 24}, END}, BODY(W("1") W("2") W("3"))}, "0 bytes"},
    {"+s(l)", {3, {{-1, 0}, END}, {END}, BODY("")}, "an array of -1 rows"},
    {"+s(l)", {3, {{3, 4}, END}, {END}, BODY("")}, "4 of them null"},
    {"+s(n)", {1LL << 50, {{1LL << 50, 0}, END}, {END}, BODY("")}, "a batch of"},
    {"+s(l)", {3, {END}, {END}, BODY("")}, "0 nodes are too few"},
    {"+s(l)", {3, {{3, 0}, END}, {{0, 0}, END}, BODY("")}, "1 buffers are too few"},
    {"+s(n)", {3, {{3, 3}, {3, 3}, END}, {END}, BODY("")}, "2 nodes and 0 buffers"},
    {"+s(n)", {3, {{2, 2}, END}, {END}, BODY("")}, "2 rows in a batch of 3"},
    {"+s(w:0)", {3, {{3, 0}, END}, {{0, 0}, {0, 0}, END}, BODY("")}, NULL},
    /* text */
    {"+s(u)", {0, {{0, 0}, END}, {{0, 0}, {0, 0}, {0, 0}, END}, BODY("")}, NULL},
    {"+s(u)",
     {2,
      {{2, 0}, END},
      {{0, 0}, {0, 12}, {16, 2}, END},
      BODY(I("\0") I("\1") I("\2") I("\0") W("ab"))},
     NULL},
    {"+s(u)",
     {2,
      {{2, 0}, END},
      {{0, 0}, {0, 12}, {16, 2}, END},
      BODY(I("\0") I("\3") I("\2") I("\0") W("ab"))},
     "not in order"},
    {"+s(u)",
     {2,
      {{2, 0}, END},
      {{0, 0}, {0, 12}, {16, 2}, END},
      BODY(I("\0") I("\1") I("\3") I("\0") W("ab"))},
     "not in order from 0 to 2"},
    {"+s(u)",
     {2,
      {{2, 0}, END},
      {{0, 0}, {0, 12}, {16, 2}, END},
      BODY(I("\0") I("\1") I("\2") I("\0") "\xC3\xA9")},
     "not UTF-8"},
    {"+s(u)",
     {2,
      {{2, 0}, END},
      {{0, 0}, {0, 12}, {16, 2}, END},
      BODY(I("\0") I("\1") I("\2") I("\0") "a\xFF")},
     "text of row 1 is not UTF-8"},
    {"+s(u)", /* the text of a null row may be anything */
     {2,
      {{2, 1}, END},
      {{0, 1}, {8, 12}, {24, 2}, END},
      BODY(W("\1") I("\0") I("\1") I("\2") I("\0") "a\xFF")},
     NULL},
    {"+s(U)", {1, {{1, 0}, END}, {{0, 0}, {0, 8}, {0, 0}, END}, BODY(W("\0"))}, "for 2 items"},
    /* views */
    {"+s(vu)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 16}, END}, 1, BODY(I("\3") "abc" I("\0") "\0\0\0\0\0")},
     NULL},
    {"+s(vu)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 16}, END}, 0, BODY(I("\3") "abc" I("\0") "\0\0\0\0\0")},
     "number of a view's data buffers"},
    {"+s(vu)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 16}, END}, 9, BODY(I("\3") "abc" I("\0") "\0\0\0\0\0")},
     "a view with 8 data buffers"},
    {"+s(vu)",
     {1,
      {{1, 0}, END},
      {{0, 0}, {0, 16}, {16, 13}, END},
      2,
      BODY(I("\15") "0123" I("\0") I("\0") "0123456789abc")},
     NULL},
    {"+s(vu)",
     {1,
      {{1, 0}, END},
      {{0, 0}, {0, 16}, {16, 13}, END},
      2,
      BODY(I("\15") "0123" I("\0") I("\1") "0123456789abc")},
     "the view of row 0"},
    {"+s(vu)",
     {1,
      {{1, 0}, END},
      {{0, 0}, {0, 16}, {16, 13}, END},
      2,
      BODY(I("\15") "0123" I("\1") I("\0") "0123456789abc")},
     "the view of row 0"},
    {"+s(vu)",
     {1,
      {{1, 0}, END},
      {{0, 0}, {0, 16}, {16, 13}, END},
      2,
      BODY(I("\15") "0124" I("\0") I("\0") "0123456789abc")},
     "the view of row 0"},
    /* nested */
    {"+s(+l(c))",
     {1, {{1, 0}, {2, 0}, END}, {{0, 0}, {0, 8}, {0, 0}, {8, 2}, END}, BODY(I("\0") I("\3") "ab")},
     "not in order from 0 to 2"},
    {"+s(+vl(c))",
     {1,
      {{1, 0}, {2, 0}, END},
      {{0, 0}, {0, 4}, {8, 4}, {0, 0}, {16, 2}, END},
      BODY(W("\1") W("\2") "ab")},
     "the list of row 0"},
    {"+s(+w:2(c))",
     {2, {{2, 0}, {3, 0}, END}, {{0, 0}, {0, 0}, {0, 3}, END}, BODY("abc")},
     "has 3 rows, expected 4"},
    {"+s(+s(c))",
     {2, {{2, 0}, {1, 0}, END}, {{0, 0}, {0, 0}, {0, 1}, END}, BODY("abc")},
     "has 1 rows, expected 2"},
    {"+s(+us:0,5(c;c))",
     {1,
      {{1, 0}, {1, 0}, {1, 0}, END},
      {{0, 1}, {0, 0}, {8, 1}, {0, 0}, {8, 1}, END},
      BODY(W("\1") W("x"))},
     "type id 1"},
    {"+s(+ud:0,5(c;c))",
     {1,
      {{1, 0}, {1, 0}, {0, 0}, END},
      {{0, 1}, {8, 4}, {0, 0}, {16, 1}, {0, 0}, {0, 0}, END},
      BODY(W("\0") W("\1") W("x"))},
     "outside the union's child 0"},
    {"+s(+r(i;c))",
     {3,
      {{3, 0}, {2, 0}, {2, 0}, END},
      {{0, 0}, {0, 8}, {0, 0}, {8, 2}, END},
      BODY(I("\1") I("\3") W("ab"))},
     NULL},
    {"+s(+r(i;c))",
     {3,
      {{3, 0}, {2, 0}, {2, 0}, END},
      {{0, 0}, {0, 8}, {0, 0}, {8, 2}, END},
      BODY(I("\3") I("\3") W("ab"))},
     "run 1 ends at 3"},
    {"+s(+r(i;c))",
     {3,
      {{3, 0}, {2, 0}, {2, 0}, END},
      {{0, 0}, {0, 8}, {0, 0}, {8, 2}, END},
      BODY(I("\1") I("\2") W("ab"))},
     "end at 2 of 3 rows"},
    {"+s(+m(+s(c;c)))",
     {1,
      {{1, 0}, {1, 0}, {1, 1}, {1, 0}, END},
      {{0, 0}, {0, 8}, {0, 0}, {8, 1}, {16, 1}, {0, 0}, {24, 1}, END},
      BODY(I("\0") I("\1") W("\0") W("k") W("v"))},
     "entries or keys that are null"},
    /* dictionaries */
    {"+s(c{u})", {1, {{1, 0}, END}, {{0, 0}, {0, 1}, END}, BODY("\0")}, "dictionary 0 is missing"},
    {"+s(c{u})", {1, {{1, 1}, END}, {{0, 1}, {8, 1}, END}, BODY(W("\0") "\1")}, NULL},
    /* compression */
    {"+s(c)", {1, {{1, 0}, END}, {{0, 0}, {0, 4}, END}, 0, 1, BODY("abcd")}, "buffer of 4 bytes"},
    {"+s(c)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 9}, END}, 0, 2, BODY("\377\377\377\377\377\377\377\377x")},
     NULL},
    {"+s(c)", /* Java writes the size of nothing, and nothing behind it */
     {0, {{0, 0}, END}, {{0, 8}, {8, 8}, END}, 0, 1, BODY(W("\0") W("\0"))},
     NULL},
    {"+s(c)", {0, {{0, 0}, END}, {{0, 0}, {0, 8}, END}, 0, 2, BODY(W("\0"))}, NULL},
    {"+s(c)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 9}, END}, 0, 1, BODY("\0\0\0\1\0\0\0\0x")},
     "a buffer claims 16777216 bytes"},
    {"+s(c)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 9}, END}, 0, 2, BODY("\1\0\0\0\0\0\0\200x")},
     "a buffer claims"},
    {"+s(c)", {1, {{1, 0}, END}, {{0, 0}, {0, 9}, END}, 0, 2, BODY("\1\0\0\0\0\0\0\0x")}, "zstd"},
    {"+s(c)",
     {1, {{1, 0}, END}, {{0, 0}, {0, 9}, END}, 0, 3, BODY("\1\0\0\0\0\0\0\0x")},
     "body compression 2"},
};

static void read__batches_that_break_a_rule_are_refused(void **state)
{
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(cases); i++) {
        frz_error err = {0};
        char text[2048];
        int64_t rows;
        frz_code rc = read_batches(*state, cases[i].schema, &cases[i].batch, 1, &rows, &err);
        frz_error_format(&err, text, sizeof text);
        if (cases[i].phrase == NULL ? rc != FRZ_OK || rows != cases[i].batch.rows
                                    : rc == FRZ_OK || strstr(text, cases[i].phrase) == NULL) {
            fail_msg("case %zu, %s: expected \"%s\", got %s: %s", i, cases[i].schema,
                     cases[i].phrase == NULL ? "" : cases[i].phrase, frz_code_name(rc), text);
        }
    }
}

/* ---- dictionaries ---- */

#define VALUES(delta_)                                                                             \
    {                                                                                              \
        2, {{2, 0}, END}, {{0, 0}, {0, 2}, END}, 0, 0, true, (delta_), BODY("ab")                  \
    }
#define INDEX(n)                                                                                   \
    {                                                                                              \
        1, {{1, 0}, END}, {{0, 0}, {0, 1}, END}, BODY(n)                                           \
    }

static void read__indices_lie_inside_their_dictionary(void **state)
{
    static const struct {
        batch batches[3];
        const char *phrase;
    } tries[] = {
        {{VALUES(false), INDEX("\1"), INDEX("\0")}, NULL},
        {{VALUES(false), INDEX("\2")}, "outside a dictionary of 2 values"},
        {{VALUES(false), INDEX("\377")}, "outside a dictionary of 2 values"},
        {{VALUES(false), VALUES(true), INDEX("\3")}, NULL},
        {{VALUES(false), VALUES(true), INDEX("\4")}, "outside a dictionary of 4 values"},
        {{VALUES(false), VALUES(false), INDEX("\3")}, "outside a dictionary of 2 values"},
        {{VALUES(true), INDEX("\0")}, "a delta of dictionary 0, which is not there"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        size_t count = tries[i].batches[2].rows == 0 ? 2 : 3;
        frz_error err = {0};
        int64_t rows;
        if (tries[i].phrase == NULL) {
            assert_ok(read_batches(*state, "+s(c{c})", tries[i].batches, count, &rows, &err), &err);
        } else {
            assert_fails(read_batches(*state, "+s(c{c})", tries[i].batches, count, &rows, &err),
                         &err, FRZ_E_CORRUPT, tries[i].phrase);
        }
    }
}

/* The first batch of a stream. */
static void read_first(const frz_env *env, const char *schema, const batch *batches, size_t count,
                       struct ArrowArray *out)
{
    char path[] = "/tmp/ipc-read-XXXXXX";
    struct ArrowArrayStream stream = {.release = NULL};
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    put_stream(env, schema, batches, count, &bytes);
    write_bytes(path, bytes.data, bytes.len);
    frz_buf_reset(&bytes);
    assert_ok(frz_ipc_open(env, path, &stream, &err), &err);
    unlink(path);
    int failed = stream.get_next(&stream, out);
    if (failed != 0) {
        assert_ok(frz_stream_fail(&stream, failed, &err), &err);
    }
    stream.release(&stream);
}

/* Offsets need not begin with 0, nor end where the bytes or items do. */
static void read__deltas_join_what_their_offsets_refer_to(void **state)
{
    static const batch texts[] = {{1,
                                   {{1, 0}, END},
                                   {{0, 0}, {0, 8}, {8, 5}, END},
                                   .dictionary = true,
                                   BODY(I("\0") I("\3") "abcXX")},
                                  {1,
                                   {{1, 0}, END},
                                   {{0, 0}, {0, 8}, {8, 4}, END},
                                   .dictionary = true,
                                   .delta = true,
                                   BODY(I("\2") I("\4") "XXyz")},
                                  INDEX("\1")};
    static const batch lists[] = {{1,
                                   {{1, 0}, {3, 1}, END},
                                   {{0, 0}, {0, 8}, {8, 1}, {16, 3}, END},
                                   .dictionary = true,
                                   BODY(I("\0") I("\2") W("\5") "aXX")},
                                  {1,
                                   {{1, 0}, {4, 1}, END},
                                   {{0, 0}, {0, 8}, {8, 1}, {16, 4}, END},
                                   .dictionary = true,
                                   .delta = true,
                                   BODY(I("\1") I("\3") W("\7") "XcdX")},
                                  INDEX("\1")};
    struct ArrowArray first = {.release = NULL};
    read_first(*state, "+s(c{u})", texts, FRZ_ARRAY_COUNT(texts), &first);
    const struct ArrowArray *values = first.children[0]->dictionary;
    assert_int_equal(values->length, 2);
    assert_true(frz_str_equal(frz_get_bytes(values, 0), FRZ_STR("abc")));
    assert_true(frz_str_equal(frz_get_bytes(values, 1), FRZ_STR("yz")));
    first.release(&first);
    read_first(*state, "+s(c{+l(c)})", lists, FRZ_ARRAY_COUNT(lists), &first);
    values = first.children[0]->dictionary;
    const struct ArrowArray *items = values->children[0];
    const int32_t *offsets = values->buffers[1];
    assert_int_equal(offsets[0], 0);
    assert_int_equal(offsets[1], 2);
    assert_int_equal(offsets[2], 4);
    assert_int_equal(items->length, 4);
    assert_int_equal(frz_null_count(items), 1);
    assert_true(frz_is_null(items, 1));
    assert_int_equal(((const char *)items->buffers[1])[0], 'a');
    assert_memory_equal((const char *)items->buffers[1] + 2, "cd", 2);
    first.release(&first);
}

/* Rows that take no bytes are not worth a bitmap of all of them. */
static void read__deltas_that_outgrow_their_bytes_are_refused(void **state)
{
    const batch batches[] = {
        {1LL << 47, {{1LL << 47, 0}, END}, {{0, 0}, {0, 0}, END}, .dictionary = true, BODY("")},
        {1, {{1, 1}, END}, {{0, 1}, {0, 0}, END}, .dictionary = true, .delta = true, BODY(W("\0"))},
        INDEX("\1")};
    frz_error err = {0};
    int64_t rows;
    assert_fails(read_batches(*state, "+s(c{w:0})", batches, 3, &rows, &err), &err, FRZ_E_LIMIT,
                 "dictionary 0");
}

/* A message as the reader has it, through a file of its own. */
static ipc_message *message_of(const frz_env *env, const batch *b)
{
    char path[] = "/tmp/ipc-read-XXXXXX";
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    ipc_message *message = frz_alloc_zero(env, 1, sizeof *message);
    frz_file *file;
    frz_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_ok(put_batch(env, b, &bytes, &err), &err);
    write_bytes(path, bytes.data, bytes.len);
    frz_buf_reset(&bytes);
    assert_ok(frz_file_open(env, path, &file, &err), &err);
    unlink(path);
    assert_ok(ipc_message_read(env, file, 0, frz_file_size(file), message, &err), &err);
    frz_file_close(file);
    return message;
}

static ipc_field field_of(frz_arena *arena, const char *text)
{
    struct ArrowSchema schema = {.release = NULL};
    ipc_field field;
    frz_error err = {0};
    assert_ok(parse_schema(arena->env, &text, &schema, &err), &err);
    assert_ok(ipc_field_from_schema(arena, &schema, &field, &err), &err);
    frz_schema_release(&schema);
    return field;
}

#define PLAIN "\377\377\377\377\377\377\377\377" /* before a buffer that is not compressed */
/* 64 bytes of zero, a frame of zstd with one block that repeats them */
#define PACKED_64 W("\100") "\050\265\057\375\040\100\003\002\000\000"

/* A dictionary that is needed for another one counts beside it. */
static void read__dictionaries_share_what_may_be_decompressed(void **state)
{
    static const batch outer = {1,
                                {{1, 0}, {64, 0}, END},
                                {{0, 0}, {0, 16}, {0, 0}, {16, 18}, END},
                                .compression = 2,
                                .dictionary = true,
                                BODY(PLAIN I("\0") I("\100") PACKED_64)};
    static const batch inner = {
        64,      {{64, 0}, END}, {{0, 0}, {0, 18}, END}, .compression = 2, .dictionary = true,
        .id = 1, BODY(PACKED_64)};
    for (uint64_t most = 64; most <= 128; most += 32) {
        ipc_reading reading = {.env = *state, .dictionary_most = most};
        struct ArrowArray values = {.release = NULL};
        frz_arena arena;
        frz_error err = {0};
        frz_arena_init(&arena, *state, FRZ_ARENA_NO_LIMIT);
        ipc_field root = field_of(&arena, "+s(c{+l(c{c})})");
        assert_ok(ipc_dictionaries_init(&reading, &arena, &root, &err), &err);
        assert_ok(ipc_dictionary_add(&reading, message_of(*state, &outer), false, &err), &err);
        assert_ok(ipc_dictionary_add(&reading, message_of(*state, &inner), false, &err), &err);
        frz_code rc = ipc_dictionary_get(&reading, 0, &values, &err);
        if (most == 128) {
            assert_ok(rc, &err);
            assert_int_equal(reading.dictionary_bytes, 128);
        } else {
            assert_fails(rc, &err, FRZ_E_LIMIT, "are decompressed at most");
        }
        frz_array_release(&values);
        ipc_dictionaries_reset(&reading);
        assert_int_equal(reading.dictionary_bytes, 0);
        frz_codec_free(reading.codecs[1]);
        frz_arena_reset(&arena);
    }
}

/* Whoever counts rows has 63 bits for them. */
static void read__rows_of_all_batches_are_counted(void **state)
{
    const int64_t most = 1LL << 48;
    const batch nulls = {most, {{most, most}, END}, {END}, BODY("")};
    frz_buf bytes = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
    frz_error err = {0};
    int64_t rows;
    put_stream(*state, "+s(n)", &nulls, 1, &bytes);
    for (int i = 1; i < 1 << 15; i++) {
        assert_ok(put_batch(*state, &nulls, &bytes, &err), &err);
    }
    assert_fails(read_bytes(*state, bytes.data, bytes.len, &rows, &err), &err, FRZ_E_LIMIT,
                 "more than 2^63 rows");
    assert_int_equal(rows, INT64_MAX - most + 1);
    frz_buf_reset(&bytes);
}

/* ---- frames and schemas ---- */

static void read__other_messages_are_refused(void **state)
{
    static const struct {
        message_head head;
        frz_code code;
        const char *phrase;
    } tries[] = {
        {{2, IPC_HEADER_SCHEMA, 0}, FRZ_E_UNSUPPORTED, "metadata version V3"},
        {{IPC_V5, IPC_HEADER_BATCH, 0}, FRZ_E_CORRUPT, "expected a schema, found a record batch"},
        {{IPC_V5, 4, 0}, FRZ_E_CORRUPT, "found a tensor"},
        {{IPC_V5, 99, 0}, FRZ_E_CORRUPT, "of an unknown kind"},
        {{IPC_V5, IPC_HEADER_SCHEMA, -1}, FRZ_E_CORRUPT, "negative length"},
        {{IPC_V5, IPC_HEADER_SCHEMA, 1000}, FRZ_E_CORRUPT, "a body of 1000 bytes"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        frz_error err = {0};
        frz_buf message = FRZ_BUF_INIT(*state, FLAT_MAX);
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        flat_field none[1] = {{0}};
        size_t header;
        int64_t rows;
        assert_ok(start(&message, &tries[i].head, &header, &err), &err);
        assert_ok(flat_put_table(&message, header, none, 1, &err), &err);
        assert_ok(put_framed(&out, &message, NULL, 0, &err), &err);
        assert_fails(read_bytes(*state, out.data, out.len, &rows, &err), &err, tries[i].code,
                     tries[i].phrase);
        frz_buf_reset(&message);
        frz_buf_reset(&out);
    }
}

static void read__schemas_that_break_a_rule_are_refused(void **state)
{
    static const struct {
        int64_t endian, feature, tag, depth;
        frz_code code;
        const char *phrase;
    } tries[] = {
        {0, 0, IPC_NULL, 0, FRZ_OK, NULL},
        {1, 0, IPC_NULL, 0, FRZ_E_UNSUPPORTED, "big-endian"},
        {0, 4, IPC_NULL, 0, FRZ_E_UNSUPPORTED, "feature 4"},
        {0, 0, 0, 0, FRZ_E_CORRUPT, "has no type"},
        {0, 0, 27, 0, FRZ_E_UNSUPPORTED, "Arrow type number 27"},
        {0, 0, IPC_INT, 0, FRZ_E_CORRUPT, "impossible parameters"},
        {0, 0, IPC_DECIMAL, 0, FRZ_E_CORRUPT, "impossible parameters"},
        {0, 0, IPC_LIST, 0, FRZ_E_CORRUPT, "0 children, expected 1"},
        {0, 0, IPC_STRUCT, 63, FRZ_OK, NULL},
        {0, 0, IPC_STRUCT, 64, FRZ_E_LIMIT, "nested deeper than 64"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        const message_head head = {IPC_V5, IPC_HEADER_SCHEMA, 0};
        frz_error err = {0};
        frz_buf message = FRZ_BUF_INIT(*state, FLAT_MAX);
        frz_buf out = FRZ_BUF_INIT(*state, FRZ_BUF_NO_LIMIT);
        flat_field schema[] = {FLAT_VALUE(2, tries[i].endian), FLAT_REF, {0}, FLAT_REF};
        size_t at;
        int64_t rows;
        assert_ok(start(&message, &head, &at, &err), &err);
        assert_ok(flat_put_table(&message, at, schema, FRZ_ARRAY_COUNT(schema), &err), &err);
        assert_ok(flat_put_vector(&message, schema[3].at, 1, 8, &at, &err), &err);
        frz_store_le64(message.data + at, (uint64_t)tries[i].feature);
        size_t ref = schema[1].at;
        for (int64_t depth = 0; depth <= tries[i].depth; depth++) {
            bool last = depth == tries[i].depth;
            flat_field field[] = {{0},      {0}, FLAT_VALUE(1, last ? tries[i].tag : IPC_STRUCT),
                                  FLAT_REF, {0}, {.width = last ? 0 : 4}};
            flat_field none[1] = {{0}};
            assert_ok(flat_put_vector(&message, ref, 1, 4, &at, &err), &err);
            assert_ok(flat_put_table(&message, at, field, FRZ_ARRAY_COUNT(field), &err), &err);
            assert_ok(flat_put_table(&message, field[3].at, none, 1, &err), &err);
            ref = field[5].at;
        }
        assert_ok(put_framed(&out, &message, NULL, 0, &err), &err);
        if (tries[i].code == FRZ_OK) {
            assert_ok(read_bytes(*state, out.data, out.len, &rows, &err), &err);
        } else {
            assert_fails(read_bytes(*state, out.data, out.len, &rows, &err), &err, tries[i].code,
                         tries[i].phrase);
        }
        frz_buf_reset(&message);
        frz_buf_reset(&out);
    }
}

static void read__what_is_no_message_is_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *phrase;
    } tries[] = {
        {"", 0, "the stream has no schema"},
        {"\377\377\377\377\0\0\0\0", 8, "the stream has no schema"},
        {"abc", 3, "a message needs more"},
        {"\377\377\377\377", 4, "the length of a message is missing"},
        {"\377\377\377\377\377\377\377\177", 8, "claims 2147483647 bytes of metadata"},
        {"\4\0\0\0\0\0\0\0", 8, "a reference leads outside"},
        {"ARROW1\0\0", 8, "8 bytes are too few for an Arrow file"},
        {"ARROW1\0\0\0\0\0\0ARROW2", 18, "does not end with ARROW1"},
        {"ARROW1\0\0\1\0\0\0ARROW1", 18, "a footer of 1 bytes"},
        {"ARROW1\0\0\0\0\0\0ARROW1", 18, "no reference to a table"},
    };
    for (size_t i = 0; i < FRZ_ARRAY_COUNT(tries); i++) {
        frz_error err = {0};
        int64_t rows;
        assert_fails(
            read_bytes(*state, (const uint8_t *)tries[i].bytes, tries[i].size, &rows, &err), &err,
            FRZ_E_CORRUPT, tries[i].phrase);
    }
}

/* ---- real files ---- */

typedef void (*seed_visit)(const frz_env *env, const char *path);

static void each_seed(const frz_env *env, const char *prefix, seed_visit visit)
{
    DIR *dir = opendir(SEEDS);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char path[512];
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(path, sizeof path, SEEDS "/%s", entry->d_name);
            visit(env, path);
            count++;
        }
    }
    closedir(dir);
    assert_true(count > 0);
}

/* Damaged bytes and cut ends give rows or a reason; memory is given back. */
static void damage(const frz_env *env, const char *path)
{
    frz_error err = {0};
    frz_buf bytes = FRZ_BUF_INIT(env, FRZ_BUF_NO_LIMIT);
    int64_t rows;
    assert_ok(frz_file_read_all(env, path, 1 << 20, &bytes, &err), &err);
    for (size_t i = 3; i < bytes.len; i += 31) {
        uint8_t kept = bytes.data[i];
        bytes.data[i] ^= (uint8_t)(i % 2 == 0 ? 0xFF : 0x01);
        read_bytes(env, bytes.data, bytes.len, &rows, NULL);
        bytes.data[i] = kept;
        read_bytes(env, bytes.data, i, &rows, NULL);
    }
    frz_buf_reset(&bytes);
}

static void read__damaged_files_do_no_harm(void **state)
{
    each_seed(*state, "columns_", damage);
}

static char failing_path[512];

static frz_code read_failing(const frz_env *env, frz_error *err)
{
    int64_t rows;
    return read_all(env, failing_path, &rows, err);
}

static void fail_allocations(const frz_env *env, const char *path)
{
    (void)env;
    snprintf(failing_path, sizeof failing_path, "%s", path);
    test_fail_every_allocation(read_failing);
}

static void read__every_allocation_may_fail(void **state)
{
    each_seed(*state, "deltas", fail_allocations);
    each_seed(*state, "columns_6", fail_allocations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_WITH_ENV(read__batches_that_break_a_rule_are_refused),
        TEST_WITH_ENV(read__indices_lie_inside_their_dictionary),
        TEST_WITH_ENV(read__deltas_join_what_their_offsets_refer_to),
        TEST_WITH_ENV(read__deltas_that_outgrow_their_bytes_are_refused),
        TEST_WITH_ENV(read__dictionaries_share_what_may_be_decompressed),
        TEST_WITH_ENV(read__rows_of_all_batches_are_counted),
        TEST_WITH_ENV(read__other_messages_are_refused),
        TEST_WITH_ENV(read__schemas_that_break_a_rule_are_refused),
        TEST_WITH_ENV(read__what_is_no_message_is_refused),
        TEST_WITH_ENV(read__damaged_files_do_no_harm),
        TEST_WITH_ENV(read__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
