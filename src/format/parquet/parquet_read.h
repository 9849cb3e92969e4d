/*
 * The parts a Parquet reader is made of, from the bits of levels up to whole columns.
 *
 * Input bytes of the decoders must be followed by PARQUET_SLACK readable bytes, so that they can
 * load words; page buffers have them. What a decoder was not given it never reads as a value.
 */
#ifndef FRZ_PARQUET_READ_H
#define FRZ_PARQUET_READ_H

#include "codec/codec.h"
#include "format/parquet/parquet_index.h"
#include "format/parquet/parquet_internal.h"
#include "format/parquet/parquet_kernels.h"

#define PARQUET_BLOCK 1024 /* values handled at a time where they pass through a scratch array */

/* ---- the RLE / bit-packed hybrid (parquet_levels.c) ---- */

typedef struct parquet_hybrid {
    const parquet_kernels *kernels;
    const uint8_t *at, *end; /* runs not yet begun */
    unsigned width;          /* bits of a value, 0 to 32 */
    bool msb_first;          /* one run in the deprecated BIT_PACKED order */
    uint32_t value;          /* the repeated run at hand */
    uint64_t repeated;       /* values left of it */
    const uint8_t *packed;   /* the bit-packed run at hand */
    uint64_t packed_at;      /* values of it that were read */
    uint64_t packed_left;
} parquet_hybrid;

void parquet_hybrid_init(parquet_hybrid *h, const parquet_kernels *kernels, const uint8_t *bytes,
                         size_t len, unsigned width);
/* The old BIT_PACKED levels: count values, most significant bit first. */
void parquet_hybrid_init_msb(parquet_hybrid *h, const parquet_kernels *kernels,
                             const uint8_t *bytes, size_t len, unsigned width, uint64_t count);
/* Read up to n values; fewer means that the runs ended. */
size_t parquet_hybrid_u32(parquet_hybrid *h, uint32_t *out, size_t n);
size_t parquet_hybrid_u8(parquet_hybrid *h, uint8_t *out, size_t n);
/* The same for width 1, into a bitmap from bit first on. Bits behind the last, up to the eighth
 * byte behind it, are overwritten. */
size_t parquet_hybrid_bits(parquet_hybrid *h, uint8_t *bits, int64_t first, size_t n);
size_t parquet_hybrid_skip(parquet_hybrid *h, size_t n);
/* How many of the next n values, of up to 8 bits, are this one; -1: the runs ended before. */
int64_t parquet_hybrid_count(parquet_hybrid *h, uint8_t value, int64_t n);
/* How many values from here on are the same by the run at hand; 0 if they are packed or ended. */
uint64_t parquet_hybrid_repeated(parquet_hybrid *h, uint32_t *value);
/* How many values from here on are in one run of this value; 0 if unknown. */
uint64_t parquet_hybrid_run_of(parquet_hybrid *h, uint32_t value);
/* Bits that hold numbers up to max. */
unsigned parquet_bit_width(uint32_t max);

/* ---- delta encodings (parquet_delta.c) ---- */

#define PARQUET_DELTA_PIECE 32 /* values unpacked at a time */

/* DELTA_BINARY_PACKED of one page, value after value. */
typedef struct parquet_delta {
    const parquet_kernels *kernels;
    const uint8_t *at, *end;
    uint64_t total, left; /* values; left: not unpacked */
    uint64_t last;        /* value before the next one */
    bool first;           /* the next one is the first */
    size_t mini_count, mini_values;
    const uint8_t *widths; /* of the block at hand */
    size_t mini;           /* miniblock at hand */
    size_t mini_left;      /* values left in it */
    size_t mini_at;        /* bytes of it that were unpacked */
    uint64_t least;        /* smallest delta of the block */
    /* unpacked values that were not read */
    uint64_t ready[PARQUET_DELTA_PIECE];
    size_t ready_at, ready_count;
} parquet_delta;

/* False: the bytes are damaged, or claim more than most values. */
bool parquet_delta_init(parquet_delta *d, const parquet_kernels *kernels, const uint8_t *bytes,
                        size_t len, uint64_t most);
size_t parquet_delta_read(parquet_delta *d, uint64_t *out, size_t n);
/* The byte after the last value; NULL if the bytes are damaged. Reads nothing. */
const uint8_t *parquet_delta_end(const parquet_delta *d);

/* n numbers of width bits (0 to 64), least significant bit first, from the first bit of in. */
void parquet_unpack_u64(const parquet_kernels *kernels, const uint8_t *in, unsigned width, size_t n,
                        uint64_t *out);

/* ---- byte stream split (parquet_split.c) ---- */

/* Values [first, first + n) of a page of count values of this width. */
void parquet_split_read(const uint8_t *bytes, size_t count, size_t width, size_t first, size_t n,
                        uint8_t *out);

/* ---- values of a page as they are in the file (parquet_values.c, parquet_bytes.c,
 * parquet_alp.c) ---- */

typedef struct parquet_sink parquet_sink;

typedef enum parquet_tristate { PARQUET_UNKNOWN = 0, PARQUET_NO, PARQUET_YES } parquet_tristate;

typedef struct parquet_dictionary {
    bool present;
    uint32_t count;
    frz_buffer *bytes; /* the values one after the other; for BYTE_ARRAY the page */
    frz_str *views;    /* BYTE_ARRAY */
    size_t longest;    /* BYTE_ARRAY */
    /* what a leaf found out and made of it */
    parquet_tristate is_text; /* every entry is UTF-8 */
    parquet_tristate converts;
    frz_buffer *converted; /* the entries in the type that is read; if converts is PARQUET_YES */
} parquet_dictionary;

/* ALP of one page. */
typedef struct parquet_alp {
    uint32_t total;    /* values */
    unsigned log_size; /* of a vector */
    size_t loaded;     /* vector whose values are in parquet_values.joined; SIZE_MAX: none */
} parquet_alp;

typedef struct parquet_values {
    const parquet_kernels *kernels;
    parquet_encoding encoding;
    parquet_physical physical;
    size_t width;            /* bytes of a value, 1 for booleans; 0: BYTE_ARRAY */
    const uint8_t *at, *end; /* PLAIN: what is left; BYTE_STREAM_SPLIT: all */
    size_t position;         /* booleans: bits read; BYTE_STREAM_SPLIT, ALP: values read */
    parquet_hybrid indices;  /* dictionary indices, RLE booleans */
    const parquet_dictionary *dictionary;
    /* large, so made when a page needs them */
    parquet_delta *delta;    /* numbers, lengths or prefixes */
    parquet_delta *suffixes; /* DELTA_BYTE_ARRAY */
    const frz_env *env;
    parquet_alp alp;
    uint8_t *joined; /* DELTA_BYTE_ARRAY: the values of one call; ALP: a vector */
    size_t joined_capacity;
    uint8_t *previous; /* DELTA_BYTE_ARRAY: the value before */
    size_t previous_len, previous_capacity;
} parquet_values;

void parquet_values_reset(parquet_values *v);
/* Keeps the memory of v. len bytes of a page with at most most values; dictionary may be absent. */
frz_code parquet_values_init(parquet_values *v, const parquet_element *element, int32_t encoding,
                             const uint8_t *bytes, size_t len, const parquet_dictionary *dictionary,
                             uint64_t most, frz_error *err);
/* n values of v->width bytes each; not for booleans. */
frz_code parquet_values_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err);
/* The next n values where they lie in the page, if they do; not for booleans and BYTE_ARRAY. */
const uint8_t *parquet_values_plain(parquet_values *v, size_t n);
/* Booleans into a bitmap from bit first on. Bits behind the last, up to the eighth byte behind it,
 * are overwritten. */
frz_code parquet_values_bits(parquet_values *v, size_t n, uint8_t *bits, int64_t first,
                             frz_error *err);
/* n entries of a table beside the dictionary, by the indices of the page. */
frz_code parquet_values_gather(parquet_values *v, const uint8_t *table, size_t width, size_t n,
                               uint8_t *out, frz_error *err);
/* n <= PARQUET_BLOCK views of BYTE_ARRAY values, valid until the next call. */
frz_code parquet_values_views(parquet_values *v, size_t n, frz_str *out, frz_error *err);
/* Append n BYTE_ARRAY values, which parquet_values_fit says fit. */
frz_code parquet_values_strings(parquet_values *v, size_t n, parquet_sink *sink, frz_error *err);
frz_code parquet_values_skip(parquet_values *v, size_t n, frz_error *err);
/* How many of the next n BYTE_ARRAY values surely take no more than room bytes. */
size_t parquet_values_fit(const parquet_values *v, size_t n, size_t room);
/* Shared by the files of decoders: up to a block of indices, all inside the dictionary. */
#define PARQUET_LONG_RUN 64 /* of one dictionary index: worth its own loop */
frz_code parquet_values_bad_index(const parquet_values *v, uint32_t index, frz_error *err);
frz_code parquet_values_indices(parquet_values *v, size_t n, uint32_t *indices, frz_error *err);
/* Memory of the decoder for so many bytes. */
frz_code parquet_values_grow(const frz_env *env, uint8_t **bytes, size_t *capacity, size_t wanted,
                             frz_error *err);
frz_code parquet_alp_init(parquet_values *v, uint64_t most, frz_error *err);
frz_code parquet_alp_fixed(parquet_values *v, size_t n, uint8_t *out, frz_error *err);
frz_code parquet_alp_skip(parquet_values *v, size_t n, frz_error *err);
/* FRZ_E_CORRUPT: there are fewer values than the levels say. */
frz_code parquet_values_end(const parquet_values *v, frz_error *err);

/* ---- from the file's types to Iceberg's (parquet_convert.c) ---- */

typedef enum parquet_conversion {
    PARQUET_COPY,  /* same bytes */
    PARQUET_TEXT,  /* BYTE_ARRAY that must be UTF-8 */
    PARQUET_BYTES, /* BYTE_ARRAY */
    PARQUET_I32_I64,
    PARQUET_U32_I64,
    PARQUET_U64_I64,
    PARQUET_F32_F64,
    PARQUET_F16_F32,
    PARQUET_F16_F64,
    PARQUET_MS32_US, /* milliseconds in INT32 to microseconds */
    PARQUET_MS64_US, /* milliseconds in INT64 to microseconds */
    PARQUET_DATE_US,
    PARQUET_DATE_NS,
    PARQUET_INT96_US,
    PARQUET_I32_DECIMAL,
    PARQUET_I64_DECIMAL,
    PARQUET_FIXED_DECIMAL,
    PARQUET_BYTES_DECIMAL,
    /* to types that Iceberg lacks */
    PARQUET_I32_I8,
    PARQUET_I32_I16,
    PARQUET_I32_U8,
    PARQUET_I32_U16,
    PARQUET_INTERVAL,
    PARQUET_I32_DECIMAL256,
    PARQUET_I64_DECIMAL256,
    PARQUET_FIXED_DECIMAL256,
    PARQUET_BYTES_DECIMAL256
} parquet_conversion;

/* How a column of the file is read as a type; FRZ_E_UNSUPPORTED or FRZ_E_CORRUPT if it is not. */
frz_code parquet_conversion_choose(const parquet_node *node, const frz_type *to,
                                   parquet_conversion *out, frz_error *err);
/* Convert n values (parquet_convert_loops.c); returns how many were, fewer than n if one does not
 * fit its new type. */
size_t parquet_convert(parquet_conversion conversion, size_t width, const uint8_t *in, size_t n,
                       uint8_t *out);
size_t parquet_convert_views(parquet_conversion conversion, const frz_str *in, size_t n,
                             uint8_t *out);
/* What is wrong with a value that did not fit. */
const char *parquet_conversion_problem(parquet_conversion conversion);

/* ---- decoded values on their way into arrays (parquet_sink.c) ---- */

/* Values are appended densely; spreading makes room for nulls. */
struct parquet_sink {
    const frz_env *env;
    const parquet_kernels *kernels;
    size_t width;         /* bytes of a value, 1 for booleans; 0: variable, offsets and bytes */
    bool is_bool;         /* values are bits */
    frz_buffer *values;   /* values, or the bytes of variable ones */
    frz_buffer *offsets;  /* count + 1 int32, if variable */
    frz_buffer *validity; /* NULL while nothing is null */
    size_t count;
    size_t bytes; /* used of values, if variable */
    int64_t nulls;
};

void parquet_sink_init(parquet_sink *s, const frz_env *env, const frz_type *type);
void parquet_sink_reset(parquet_sink *s);
/* Room for more values (and for the bytes of variable ones); count stays. */
frz_code parquet_sink_reserve(parquet_sink *s, size_t more, size_t bytes, frz_error *err);
/* A bitmap of at least rows bits in which the first count bits are set. */
frz_code parquet_sink_validity(parquet_sink *s, size_t rows, frz_error *err);
/* The last dense values become the valid ones among the rows from base on; room was reserved. */
void parquet_sink_spread(parquet_sink *s, size_t base, size_t rows, const uint8_t *bitmap,
                         int64_t first_bit);
/* Hand out everything as an array; the sink is empty afterwards, also on failure. */
frz_code parquet_sink_finish(parquet_sink *s, struct ArrowArray *out, frz_error *err);
/* Move the first n dense values into an empty sink, all of them without copying. */
frz_code parquet_sink_take(parquet_sink *s, size_t n, parquet_sink *out, frz_error *err);

/* ---- small pieces of the file, read together (parquet_pieces.c) ---- */

/* What a column will read. */
typedef struct parquet_piece {
    struct parquet_pages *pages;
    uint64_t start, end;
} parquet_piece;

/* Neighbouring pieces, read when the first of their columns needs its own. Shared by tasks. */
typedef struct parquet_run parquet_run;

/* Join pieces that lie near each other to runs and give them to their columns. Reorders them. */
frz_code parquet_pieces_join(const parquet_file *file, parquet_piece *pieces, size_t count,
                             frz_error *err);
/* The run's bytes; none (ptr NULL) if they are not there and the caller should read on its own.
 * They live as long as the caller's reference. */
frz_code parquet_run_bytes(parquet_run *run, frz_str *out, frz_error *err);
uint64_t parquet_run_start(const parquet_run *run);
void parquet_run_unref(parquet_run *run); /* NULL is fine */

/* ---- pages of a chunk (parquet_page.c and the three below) ---- */

typedef struct parquet_page_header {
    parquet_page_type type;
    int32_t compressed_size, uncompressed_size;
    bool has_crc;
    uint32_t crc;
    int32_t num_values;
    int32_t encoding;
    int32_t def_encoding, rep_encoding; /* version 1 */
    int32_t num_rows;                   /* version 2; -1: not told */
    int32_t def_bytes, rep_bytes;       /* version 2 */
    bool compressed;                    /* version 2: the values are */
} parquet_page_header;

/* What columns are read from. */
typedef struct parquet_source {
    const frz_env *env;
    const parquet_file *file;
    size_t window; /* bytes to read ahead per column */
} parquet_source;

/* What columns decode with; one task at a time has it. */
typedef struct parquet_scratch {
    frz_slot slot;
    const frz_env *env;
    frz_codec *codecs[FRZ_CODEC_COUNT]; /* made when first needed */
    frz_buf bytes;                      /* a compressed page */
    frz_buffer *page;                   /* of a column that needs it no more; NULL: none */
    frz_buf window;                     /* the same */
    uint32_t indices[PARQUET_BLOCK];
    frz_str views[PARQUET_BLOCK];
    uint8_t raw[PARQUET_BLOCK * 64];
} parquet_scratch;

/* Those of the readers of one scan, whatever their files; more are made when more tasks run at once
 * (parquet_scratch.c). With env alone it is empty and valid. */
typedef struct parquet_scratches {
    const frz_env *env;
    frz_slots slots;
} parquet_scratches;

void parquet_scratches_reset(parquet_scratches *all);
frz_code parquet_scratch_take(parquet_scratches *all, parquet_scratch **out, frz_error *err);
void parquet_scratch_give(parquet_scratch *scratch);
/* The next column works in the memory of the last one, which is in the processor's cache: keep what
 * a column has used up, unless it is large, and let one that has none take it. A page may stay with
 * a batch, so that one of much more than the size is not taken. */
void parquet_scratch_keep_page(parquet_scratch *scratch, frz_buffer **page);
void parquet_scratch_keep_window(parquet_scratch *scratch, frz_buf *window);
void parquet_scratch_take_page(parquet_scratch *scratch, size_t size, frz_buffer **page);
void parquet_scratch_take_window(parquet_scratch *scratch, frz_buf *window);

/* How to find pages by their rows (parquet_locate.c). */
typedef struct parquet_locator {
    parquet_kept_index *kept;
    bool active;                 /* else pages are passed by their headers */
    parquet_offset_index index;  /* of the kept one */
    size_t next;                 /* page whose header is read next */
    const frz_row_range *ranges; /* wanted rows of the file that may lie ahead */
    size_t range_count;
    int64_t first_row;     /* of the row group */
    uint64_t start;        /* of the chunk in the file */
    bool wants_dictionary; /* to be loaded before the first page */
} parquet_locator;

/* The pages of one column chunk in order. */
typedef struct parquet_pages {
    const parquet_source *source;
    parquet_scratch *scratch; /* of the task that works on them */
    const parquet_column *column;
    int64_t num_values; /* of the chunk */
    frz_codec_id codec;
    uint64_t at, end;  /* the next byte to look at; end of the chunk */
    uint64_t read_end; /* nothing from here on is read ahead */
    parquet_locator locator;
    const uint8_t *window; /* bytes read ahead, in one of the buffers below */
    size_t window_len;
    uint64_t window_start; /* their place in the file */
    bool direct;           /* pages are read to their place, not by way of the window */
    frz_buf own;
    parquet_run *run;    /* bytes that other columns read too, or NULL */
    int64_t values_left; /* of pages whose header was not read */
    bool has_header;     /* header is that of the page at hand, body not touched */
    uint64_t header_at;
    parquet_page_header header;
    parquet_dictionary dictionary;
    /* the open page */
    frz_buffer *page;
    int64_t left;  /* level entries not taken */
    size_t prefix; /* level bytes before the values, as last seen */
    parquet_hybrid defs, reps;
    parquet_values values;
} parquet_pages;

/* source must outlive them; scratch is to be set before bytes are asked for. */
void parquet_pages_init(parquet_pages *p, const parquet_source *source,
                        const parquet_column *column);
void parquet_pages_reset(parquet_pages *p);
frz_code parquet_pages_start(parquet_pages *p, const parquet_chunk *chunk, frz_error *err);
/* Read the header of the next data page that has values, loading the dictionary on the way; FRZ_END
 * behind the last. */
frz_code parquet_pages_header(parquet_pages *p, frz_error *err);
/* Pass over the page whose header was read, or open it. */
void parquet_pages_skip(parquet_pages *p);
/* Give back the memory of the page, all of whose values were taken. */
void parquet_pages_drop_page(parquet_pages *p);
frz_code parquet_pages_open(parquet_pages *p, frz_error *err);
/* At the start of a chunk: load the dictionary, unless there is none or it has more than most
 * bytes. */
frz_code parquet_pages_dictionary(parquet_pages *p, size_t most, frz_error *err);
frz_code parquet_chunk_range(const parquet_file *file, const parquet_chunk *chunk, uint64_t *start,
                             uint64_t *end, frz_error *err);

/* ---- bytes of a chunk (parquet_page_bytes.c) ---- */

/* What is to be read of the chunk that was started, if it is so little that it is read at once. */
bool parquet_pages_piece(parquet_pages *p, parquet_piece *out);
/* Bytes that hold the piece; the reference moves. */
void parquet_pages_give(parquet_pages *p, parquet_run *run);
static inline uint64_t parquet_pages_left(const parquet_pages *p)
{
    return p->end - p->at;
}
/* The next bytes, at least want of them or what the chunk has left. */
frz_code parquet_pages_peek(parquet_pages *p, size_t want, const uint8_t **bytes, size_t *len,
                            frz_error *err);
/* Move len bytes to dst. */
frz_code parquet_pages_take_into(parquet_pages *p, uint8_t *dst, size_t len, frz_error *err);
/* A view of the next len bytes: of the window, or of the shared scratch buffer. */
frz_code parquet_pages_take_view(parquet_pages *p, size_t len, const uint8_t **out, frz_error *err);
void parquet_pages_drop_window(parquet_pages *p);
/* Give back the memory of a chunk of which all bytes were taken. */
void parquet_pages_rest(parquet_pages *p);

/* ---- page headers (parquet_page_header.c) ---- */

frz_code parquet_page_header_parse(parquet_thrift *t, parquet_page_header *out);

/* ---- bodies of pages (parquet_page_body.c) ---- */

/* FRZ_E_UNSUPPORTED naming the codec. */
frz_code parquet_codec_of(int32_t codec, frz_codec_id *out, frz_error *err);
/* What the page at hand claims to become, against what its bytes can. */
frz_code parquet_pages_check_size(const parquet_pages *p, uint64_t compressed,
                                  uint64_t uncompressed, frz_error *err);
frz_code parquet_pages_load_dictionary(parquet_pages *p, frz_error *err);
void parquet_pages_drop_dictionary(parquet_pages *p);
/* Rows that begin in the page whose header was read, of a repeated column; -1: that cannot be told
 * without opening it. */
frz_code parquet_pages_rows(parquet_pages *p, int64_t *rows, frz_error *err);
/* Unpack the page at hand, of version 1 or 2, and set up its decoders. */
frz_code parquet_pages_open_v1(parquet_pages *p, frz_error *err);
frz_code parquet_pages_open_v2(parquet_pages *p, frz_error *err);

/* ---- pages by their rows (parquet_locate.c) ---- */

void parquet_locator_reset(parquet_locator *l);
/* Behind parquet_pages_start: use the offset index if only some rows of the group are wanted and
 * that saves something. ranges: those that end behind the group's first row; they are kept. */
frz_code parquet_pages_plan(parquet_pages *p, const parquet_chunk *chunk, size_t column,
                            size_t group, const frz_row_range *ranges, size_t range_count,
                            frz_error *err);
/* With an index: stand before the next page; FRZ_END behind the last. */
frz_code parquet_pages_locate(parquet_pages *p, frz_error *err);
/* With an index: what the header that was read must agree with. */
frz_code parquet_pages_check_located(const parquet_pages *p, frz_error *err);
/* With an index: the rows of the repeated page that was opened are as many as it says. */
frz_code parquet_pages_check_rows(const parquet_pages *p, frz_error *err);
/* With an index: a page turned out to need the dictionary. */
frz_code parquet_pages_fetch_dictionary(parquet_pages *p, frz_error *err);
/* Make the page that holds a row of the group (or the end) the next one, if it lies ahead; *first
 * receives the row that it begins with. False: there is no index, or the page is at hand. */
bool parquet_pages_seek(parquet_pages *p, int64_t row, int64_t *first);

/* ---- one leaf column (parquet_leaf.c) ---- */

/*
 * Two ways of reading: a top-level primitive is read straight into its array; everything else keeps
 * its levels beside dense values until the column is assembled.
 */
typedef struct parquet_leaf {
    parquet_pages pages;
    const parquet_column *column;
    size_t index;         /* of the leaf column in the file */
    const frz_type *type; /* what it is read as; NULL: only levels are wanted */
    parquet_conversion conversion;
    bool direct;    /* the file's bytes are the array's */
    bool may_share; /* some pages of the row group may be handed out as they are */
    bool flat;
    bool required; /* flat: a null is an error */
    size_t group;  /* at hand; SIZE_MAX: none */
    int64_t row;   /* file's row that is read next */
    int64_t group_end;
    parquet_sink sink;
    size_t soft_bytes;  /* a batch of more bytes ends early */
    double row_bytes;   /* estimate */
    double row_values;  /* in the row group */
    double value_bytes; /* of variable-length values, as last seen */
    /* levels that were decoded but not taken; as large as the pages want, since a manifest has
     * hundreds of columns of a few rows */
    frz_buf block;
    uint8_t *defs, *reps; /* in block */
    size_t block_at, block_count;
    /* not flat: what was taken for the batch */
    frz_buf out_defs, out_reps;
    int64_t out_rows; /* rows begun in it */
    bool out_partial; /* the last of them has not ended */
} parquet_leaf;

frz_code parquet_leaf_init(parquet_leaf *leaf, const parquet_source *source, size_t index,
                           const frz_type *type, bool flat, frz_error *err);
void parquet_leaf_reset(parquet_leaf *leaf);
/* At the end of a task: give memory back that is used up, so that the next column works in what is
 * in the processor's cache. */
void parquet_leaf_rest(parquet_leaf *leaf);
/* Begin a row group. ranges: those that end behind its first row; they are kept. */
frz_code parquet_leaf_start(parquet_leaf *leaf, size_t group, const frz_row_range *ranges,
                            size_t range_count, frz_error *err);
frz_code parquet_leaf_skip(parquet_leaf *leaf, int64_t rows, frz_error *err);
/* Flat: rows in the open page that could be handed out without copying; 0: none. Opens a page. */
frz_code parquet_leaf_shareable(parquet_leaf *leaf, int64_t *rows, frz_error *err);
/* Flat: up to n rows of the row group, which come out with those of the next one, about so many
 * rows in all; fewer if they are many bytes. */
frz_code parquet_leaf_hold(parquet_leaf *leaf, int64_t n, int64_t rows, frz_error *err);
/* Flat: an array of what is held and the next rows, at most n, fewer if they are many bytes. Of
 * rest rows more the array may have all, if the open page ends with them: it would wait until its
 * bytes have left the processor's cache. */
frz_code parquet_leaf_flat(parquet_leaf *leaf, int64_t n, int64_t rest, struct ArrowArray *out,
                           frz_error *err);
/* Not flat: take up to n rows in all; *rows receives how many complete rows are there. */
frz_code parquet_leaf_nested(parquet_leaf *leaf, int64_t n, int64_t *rows, frz_error *err);
/* Not flat: level entries of the first rows. */
size_t parquet_leaf_entries(const parquet_leaf *leaf, int64_t rows);
/* Not flat: drop the levels of the first rows, whose values were taken from the sink. */
void parquet_leaf_drop(parquet_leaf *leaf, int64_t rows);

/* Append the next n values of the open page to the sink (parquet_append.c); for variable-length
 * ones n is what parquet_values_fit allowed. *bad receives the index of the first value that does
 * not fit its type, or n. */
frz_code parquet_append(parquet_leaf *leaf, size_t n, size_t *bad, frz_error *err);

/* ---- columns from leaves (parquet_assemble.c) ---- */

/* A requested field and where it comes from. */
typedef struct parquet_plan {
    const frz_field *field;
    const parquet_node *node; /* NULL: not in the file, filled with its default */
    parquet_leaf *leaf;       /* a primitive's values */
    parquet_leaf *levels;     /* a nested field's levels: some leaf below it */
    struct parquet_plan *children;
    size_t child_count;
    bool variant; /* the field is the group as it is stored, of which a variant is made */
} parquet_plan;

/* The array of a top-level field of some rows, from leaves that hold at least these. Values are
 * taken from the leaves' sinks; the levels stay until parquet_leaf_drop. */
frz_code parquet_assemble(const frz_env *env, const parquet_plan *plan, int64_t rows,
                          struct ArrowArray *out, frz_error *err);

/* ---- a projection's columns in lock-step (parquet_cursor.c) ---- */

/* A top-level column. */
typedef struct parquet_cursor_column {
    parquet_plan plan;
    size_t first_leaf, leaf_count; /* of the cursor's leaves */
    struct ArrowArray pending;     /* rows from the cursor's row on that were not handed out */
    int64_t shareable;             /* rows that could be handed out without copying */
    double row_bytes;              /* of its leaves */
    const frz_type *type;
    bool early;   /* is looked at to choose rows */
    bool thinned; /* pending has those of the rows at hand that are kept, maybe none */
} parquet_cursor_column;

/* Which of the rows from the cursor's row on are kept (parquet_thin.c). */
typedef struct parquet_thin {
    const frz_thinning *how; /* NULL: all are */
    _Atomic size_t waiting;  /* early columns that are not read yet */
    atomic_bool chosen;      /* what follows is known */
    int64_t rows;            /* of which it is */
    uint8_t *bits;
    size_t capacity; /* of bits */
    frz_selection selection;
} parquet_thin;

typedef struct parquet_cursor {
    const frz_env *env;
    const parquet_source *source;
    parquet_scratches *scratches;
    frz_arena arena;       /* plans */
    parquet_leaf **leaves; /* in the order of the columns */
    size_t leaf_count, leaf_capacity;
    parquet_cursor_column *columns;
    size_t column_count;
    size_t *order;             /* in which columns are read */
    struct ArrowArray *slices; /* room for one batch */
    parquet_piece *pieces;     /* one per leaf */
    int64_t max_rows;          /* of a batch; set by the owner, as are the following */
    size_t max_bytes;
    bool over_groups;            /* batches end where ranges do, and not where row groups do */
    const frz_row_range *ranges; /* wanted rows from the batch at hand on */
    size_t range_count;
    size_t group;       /* at hand; SIZE_MAX: none */
    int64_t row;        /* next to hand out */
    int64_t batch_rows; /* of the batch that is read, at most */
    int64_t held_rows;  /* of them, those of earlier groups: leaves hold them */
    double held_bytes;  /* about */
    int64_t rest_rows;  /* that are wanted behind the batch, up to the group's end; 0: too many */
    parquet_thin thin;
} parquet_cursor;

/* source and scratches must outlive the cursor. */
frz_code parquet_cursor_init(parquet_cursor *c, const parquet_source *source,
                             parquet_scratches *scratches, const frz_type *file_type,
                             const frz_type *projection, frz_error *err);
void parquet_cursor_reset(parquet_cursor *c);
/* Whether batches can go over row groups: no column is nested. */
bool parquet_cursor_is_flat(const parquet_cursor *c);
/* The next batch of the rows from row, which lies in the group, to end, which does, too, unless
 * batches go over groups. Rows never go back. */
frz_code parquet_cursor_read(parquet_cursor *c, size_t group, int64_t row, int64_t end,
                             frz_batch *out, frz_error *err);
/* Bytes of a row in a batch, about. */
double parquet_cursor_row_bytes(const parquet_cursor *c);

/* ---- leaving rows out (parquet_thin.c) ---- */

void parquet_thin_init(parquet_cursor *c, const frz_thinning *how);
void parquet_thin_reset(parquet_cursor *c);
/* Before the columns of a batch are read, unless rows are left of the one before. */
frz_code parquet_thin_begin(parquet_cursor *c, frz_error *err);
/* A column was read: choose rows, if it is the last that is looked at for that, and take the others
 * out if they are known. Columns may come from several threads. */
frz_code parquet_thin_column(parquet_cursor *c, parquet_cursor_column *column, frz_error *err);
/* A batch of the first rows; what columns have beyond stays. */
frz_code parquet_thin_take(parquet_cursor *c, int64_t rows, frz_batch *out, frz_error *err);
/* The first n pending rows of a column; the rest stays, if there is any (parquet_cursor.c). */
frz_code parquet_cursor_take(const frz_env *env, parquet_cursor_column *column, int64_t n,
                             struct ArrowArray *out, frz_error *err);
/* The same, but the rest stays also if it has no rows. */
frz_code parquet_cursor_cut(const frz_env *env, parquet_cursor_column *column, int64_t n,
                            struct ArrowArray *out, frz_error *err);

#endif
