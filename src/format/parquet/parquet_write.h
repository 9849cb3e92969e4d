/*
 * What the parts of the Parquet writer share. From the bottom up:
 *
 *   parquet_thrift_writer.c   the compact protocol
 *   parquet_footer_writer.c   footer and page headers in it
 *   parquet_kernels_write.c   inner loops of the following; parquet_pack.h is a part of them
 *   parquet_encoders.c        value and level encodings, bytes in, bytes out
 *   parquet_string_encoders.c the same for byte strings
 *   parquet_dictionary_writer.c  the distinct values of one column chunk
 *   parquet_write_stats.c     bounds and counts of one column chunk and its pages
 *   parquet_write_bounds.c    bounds as the file spells them
 *   parquet_index_writer.c    column index, offset index and level counts of one column chunk
 *   parquet_bloom_writer.c    bloom filter of one column chunk
 *   parquet_output.c          where bytes of the file go; joins neighbouring copies
 *   parquet_waiting.c         encoded pages that wait for their place
 *   parquet_level_buffer.c    levels of a page
 *   parquet_page_encoding.c   which encoding the values of a page get
 *   parquet_page_out.c        header, levels and values, compressed
 *   parquet_column_writer.c   one leaf column: values and levels to pages to a chunk
 *   parquet_write_schema.c    Iceberg types to schema elements and leaves
 *   parquet_shred.c           nested arrays to values and levels of leaves
 *   parquet_write_check.c     arrays that contradict themselves
 *   parquet_write_options.c   settings of the writer and its columns
 *   parquet_write_scratch.c   what tasks encode with
 *   parquet_splice.c          encoded chunks of another file
 *   parquet_writer.c          the writer: groups, modes, finish
 */
#ifndef FRZ_PARQUET_WRITE_H
#define FRZ_PARQUET_WRITE_H

#include "codec/codec.h"
#include "format/parquet/parquet.h"
#include "format/parquet/parquet_internal.h"
#include "format/parquet/parquet_kernels_write.h"

/* ---- Thrift compact protocol (parquet_thrift_writer.c) ---- */

#define PARQUET_THRIFT_DEPTH 12

/* Stays failed once it fails; rc is looked at once, at the end. */
typedef struct parquet_thrift_out {
    frz_buf *out;
    frz_error *err;
    frz_code rc;
    size_t depth;
    int16_t last[PARQUET_THRIFT_DEPTH]; /* last field id of each open struct */
} parquet_thrift_out;

/* A writer that appends to out, inside one struct that parquet_put_end closes. */
void parquet_put_begin(parquet_thrift_out *t, frz_buf *out, frz_error *err);
void parquet_put_bool(parquet_thrift_out *t, int16_t id, bool value);
void parquet_put_i8(parquet_thrift_out *t, int16_t id, int8_t value);
void parquet_put_i16(parquet_thrift_out *t, int16_t id, int16_t value);
void parquet_put_i32(parquet_thrift_out *t, int16_t id, int32_t value);
void parquet_put_i64(parquet_thrift_out *t, int16_t id, int64_t value);
void parquet_put_binary(parquet_thrift_out *t, int16_t id, frz_str value);
void parquet_put_struct(parquet_thrift_out *t, int16_t id); /* ended by parquet_put_end */
void parquet_put_list(parquet_thrift_out *t, int16_t id, parquet_thrift_type element, size_t count);
/* Elements of a list */
void parquet_put_item_bool(parquet_thrift_out *t, bool value);
void parquet_put_item_i32(parquet_thrift_out *t, int32_t value);
void parquet_put_item_i64(parquet_thrift_out *t, int64_t value);
void parquet_put_item_binary(parquet_thrift_out *t, frz_str value);
void parquet_put_item_struct(parquet_thrift_out *t); /* ended by parquet_put_end */
/* Bytes of structs that were encoded before */
void parquet_put_encoded(parquet_thrift_out *t, frz_str bytes);
void parquet_put_end(parquet_thrift_out *t);
/* Leave a struct open at its end, and go on with it later, behind the bytes before: last is the id
 * of its last field. */
void parquet_put_pause(parquet_thrift_out *t);
void parquet_put_resume(parquet_thrift_out *t, int16_t last);

/* ---- headers and footer (parquet_footer_writer.c) ---- */

typedef struct parquet_page_out {
    parquet_page_type type;
    size_t raw_size;    /* body before compression */
    size_t packed_size; /* body as it stands in the file */
    uint32_t crc;
    size_t num_values; /* nulls included; entries of a dictionary */
    size_t num_nulls;  /* this and the following: DATA_PAGE_V2 */
    size_t num_rows;
    size_t def_size, rep_size;
    bool is_compressed;
    parquet_encoding encoding;
} parquet_page_out;

/* Sizes that do not fit the format's 32 bits are FRZ_E_LIMIT. */
frz_code parquet_page_header_write(const parquet_page_out *page, frz_buf *out, frz_error *err);

/* A page type with an encoding, and how many pages of a chunk have them. */
typedef struct parquet_page_count {
    parquet_page_type type;
    parquet_encoding encoding;
    size_t count;
} parquet_page_count;
/* encoding_stats, in the arena; room: scratch. */
frz_code parquet_page_counts_encode(const parquet_page_count *counts, size_t count,
                                    frz_arena *arena, frz_buf *room, parquet_encoded_list *out,
                                    frz_error *err);

/* A column chunk in the encoded row groups whose page index has no place in the file yet. */
typedef struct parquet_index_mark {
    size_t at; /* where the chunk's fields 4 to 7 belong */
    int32_t offset_index_len, column_index_len;
} parquet_index_mark;

/* One ColumnChunk as an element of its list. If it has page indexes it is left open at its end,
 * where parquet_put_resume goes on. */
frz_code parquet_chunk_write(const parquet_chunk *chunk, const frz_str *path, size_t path_count,
                             frz_buf *out, frz_error *err);
struct parquet_write_leaf; /* below */
/* Append a RowGroup as an element of its list, and marks for the chunks that have page indexes
 * (their lengths are set, the offsets are not looked at). */
frz_code parquet_group_write(const parquet_group *group, int64_t packed_size, size_t ordinal,
                             const parquet_chunk *chunks, const struct parquet_write_leaf *leaves,
                             frz_buf *out, frz_buf *marks, frz_error *err);

typedef struct parquet_footer_out {
    const parquet_element *elements;
    size_t element_count;
    int64_t num_rows;
    frz_str groups; /* encoded RowGroups */
    size_t group_count;
    const parquet_index_mark *marks;
    size_t mark_count;
    uint64_t column_indexes_at, offset_indexes_at; /* in the file, in the order of the marks */
    const parquet_key_value *keys;
    size_t key_count;
    size_t leaf_count;
    bool with_orders;
} parquet_footer_out;
frz_code parquet_footer_write(const parquet_footer_out *footer, frz_buf *out, frz_error *err);

/* ---- encodings (parquet_encoders.c) ---- */

/* Bits to write any number up to max. */
unsigned parquet_encode_width(uint32_t max);
/* The RLE / bit-packed hybrid. */
frz_code parquet_encode_levels(const uint8_t *levels, size_t count, unsigned width, frz_buf *out,
                               frz_error *err);
frz_code parquet_encode_indices(const uint32_t *indices, size_t count, unsigned width, frz_buf *out,
                                frz_error *err);
frz_code parquet_encode_run(uint32_t value, size_t count, unsigned width, frz_buf *out,
                            frz_error *err);
/* How many values at the beginning are so. */
size_t parquet_equal_u8(const uint8_t *values, size_t count, uint8_t value);
/* PLAIN booleans, from one byte each. */
frz_code parquet_encode_bools(const uint8_t *values, size_t count, frz_buf *out, frz_error *err);
/* DELTA_BINARY_PACKED of little-endian integers of 4 or 8 bytes. */
frz_code parquet_encode_delta(const uint8_t *values, size_t count, size_t width, frz_buf *out,
                              frz_error *err);
/* Byte strings in PLAIN form; width 0: each after its length. room: scratch. */
frz_code parquet_encode_delta_length(const uint8_t *values, size_t count, frz_buf *room,
                                     frz_buf *out, frz_error *err);
frz_code parquet_encode_delta_bytes(const uint8_t *values, size_t count, size_t width,
                                    frz_buf *room, frz_buf *out, frz_error *err);
/* BYTE_STREAM_SPLIT */
frz_code parquet_encode_split(const uint8_t *values, size_t count, size_t width, frz_buf *out,
                              frz_error *err);

/* ---- dictionary (parquet_dictionary_writer.c) ---- */

typedef struct parquet_dictionary_slot parquet_dictionary_slot;
typedef struct parquet_dictionary_out {
    const frz_env *env;
    size_t width;     /* bytes of a value; 0: each has its length before it */
    frz_buf values;   /* PLAIN form, the body of the dictionary page */
    uint32_t *starts; /* where each entry lies in values; width 0 only */
    size_t starts_capacity;
    parquet_dictionary_slot *slots; /* a hash table */
    size_t slot_count;              /* a power of two */
    size_t count;
} parquet_dictionary_out;

void parquet_dictionary_out_init(parquet_dictionary_out *dictionary, const frz_env *env,
                                 size_t width);
void parquet_dictionary_out_reset(
    parquet_dictionary_out *dictionary); /* frees; can be used again */
/* Look up values in PLAIN form, adding new ones. If more than max_new entries would be added or
 * the entries would pass max_bytes, *fits is false, the entries are those of before, and nothing
 * can be added any more. */
frz_code parquet_dictionary_out_add(parquet_dictionary_out *dictionary, const uint8_t *values,
                                    size_t count, size_t max_new, size_t max_bytes,
                                    uint32_t *indices, bool *fits, frz_error *err);
/* A view of an entry, without its length. */
frz_str parquet_dictionary_out_entry(const parquet_dictionary_out *dictionary, size_t i);

/* Values of a page by their entries. */
typedef struct parquet_dictionary_use {
    const parquet_dictionary_out *dictionary;
    const uint32_t *indices;
    size_t count;
    size_t size; /* bytes of the values in PLAIN form */
} parquet_dictionary_use;

/* ---- schema (parquet_write_schema.c) ---- */

/* How the bounds of a leaf are ordered. */
typedef enum parquet_bound_order {
    PARQUET_BOUND_NONE, /* the type's order is not defined: no bounds */
    PARQUET_BOUND_BOOLEAN,
    PARQUET_BOUND_INT32,
    PARQUET_BOUND_INT64,
    PARQUET_BOUND_UINT32,
    PARQUET_BOUND_UINT64,
    PARQUET_BOUND_HALF, /* FLOAT16 in two bytes */
    PARQUET_BOUND_FLOAT,
    PARQUET_BOUND_DOUBLE,
    /* what follows are byte strings */
    PARQUET_BOUND_BYTES,       /* unsigned bytes, shorter first */
    PARQUET_BOUND_SIGNED_BYTES /* big-endian two's complement of fixed length */
} parquet_bound_order;

typedef struct parquet_write_leaf {
    const frz_field *field;
    parquet_physical physical;
    size_t width; /* bytes of a value in PLAIN form; 0: variable */
    parquet_bound_order order;
    const frz_str *path;
    size_t path_count;
    frz_str dotted; /* for messages, as users write it */
    uint8_t max_def, max_rep;
    bool required;  /* the leaf itself */
    bool repeated;  /* below a list or map */
    size_t element; /* index among the schema's elements */
} parquet_write_leaf;

typedef enum parquet_node_kind {
    PARQUET_NODE_LEAF,
    PARQUET_NODE_STRUCT,
    PARQUET_NODE_LIST, /* child 0: element */
    PARQUET_NODE_MAP   /* children 0, 1: key, value */
} parquet_node_kind;

typedef struct parquet_write_node {
    parquet_node_kind kind;
    bool required;
    bool stored; /* false: an unknown type, or nothing but such below */
    const frz_field *field;
    frz_str dotted;
    uint8_t def;                         /* definition level of a value (or list) that is there */
    uint8_t rep;                         /* repetition level of the list's own entries */
    struct parquet_write_node *children; /* one per child array, stored or not */
    size_t child_count;
    size_t first_leaf, leaf_count;
    size_t first_element, element_count;
} parquet_write_node;

typedef struct parquet_write_schema {
    parquet_write_node root; /* STRUCT; children are the top-level fields */
    parquet_element *elements;
    size_t element_count, element_capacity;
    parquet_write_leaf *leaves;
    size_t leaf_count, leaf_capacity;
} parquet_write_schema;

/* whole: columns of type unknown are stored too, as files apart from tables have them. */
frz_code parquet_write_schema_of(frz_arena *arena, const frz_type *struct_type, bool whole,
                                 parquet_write_schema *out, frz_error *err);

/* ---- statistics of a chunk (parquet_write_stats.c) ---- */

/* Least and greatest of some values. Numbers are kept as integers that sort like them (floats:
 * total order without NaN), byte strings as views. */
typedef struct parquet_write_bounds {
    bool has;
    int64_t lower, upper;
    frz_str lower_bytes, upper_bytes;
} parquet_write_bounds;

/* The values of a page; byte strings are views of them. */
typedef struct parquet_page_stats {
    parquet_write_bounds bounds;
    int64_t nans;
    int64_t bytes; /* of values of variable length */
} parquet_page_stats;

/* All values of a chunk that were written so far. */
typedef struct parquet_write_stats {
    const parquet_write_kernels *kernels;
    parquet_bound_order order;
    size_t width;
    parquet_write_bounds bounds; /* byte strings are views of the following */
    frz_buf lower_bytes, upper_bytes;
    int64_t slots; /* nulls included */
    int64_t nulls;
    int64_t nans;
    int64_t bytes; /* of values of variable length */
} parquet_write_stats;

/* Bits of a number to an integer that sorts like it, and back; those of other floating-point
 * numbers are in parquet_kernels_write.h. */
static inline int16_t parquet_half_key(uint16_t bits)
{
    return (int16_t)(bits ^ ((unsigned)((int16_t)bits >> 15) & INT16_MAX));
}
static inline int64_t parquet_uint64_key(uint64_t bits)
{
    return (int64_t)(bits ^ (uint64_t)1 << 63);
}

void parquet_write_stats_init(parquet_write_stats *stats, const frz_env *env,
                              const parquet_write_leaf *leaf);
void parquet_write_stats_reset(parquet_write_stats *stats);
/* Values of a page in PLAIN form (booleans: a byte each); page receives what they are alone. */
frz_code parquet_write_stats_add(parquet_write_stats *stats, const uint8_t *values, size_t size,
                                 size_t count, parquet_page_stats *page, frz_error *err);
/* The same for byte strings of a page that are in a dictionary. room: scratch. */
frz_code parquet_write_stats_add_used(parquet_write_stats *stats, const parquet_dictionary_use *use,
                                      frz_buf *room, parquet_page_stats *page, frz_error *err);
/* As the footer holds them; strings are cut, bytes live in the arena. */
frz_code parquet_write_stats_footer(const parquet_write_stats *stats, frz_arena *arena,
                                    const parquet_write_leaf *leaf, parquet_statistics *out,
                                    frz_error *err);
/* As a field's metrics; bounds are exact and point into stats. */
void parquet_write_stats_metrics(const parquet_write_stats *stats, const frz_field *field,
                                 frz_field_stats *out);
/* Which of two byte strings comes first. */
int parquet_bound_compare(parquet_bound_order order, frz_str a, frz_str b);

/* ---- bounds in the file (parquet_write_bounds.c) ---- */

#define PARQUET_BOUND_MAX 64 /* bytes of a bound of variable length */

typedef struct parquet_bound_out {
    frz_str bytes; /* PLAIN form without a length; ptr NULL: none. Views of the bounds or of made */
    int8_t exact;  /* 0: cut; -1: there is no bound */
    uint8_t made[PARQUET_BOUND_MAX];
} parquet_bound_out;

void parquet_bound_encode(const parquet_write_leaf *leaf, const parquet_write_bounds *bounds,
                          bool upper, parquet_bound_out *out);
/* Bits of the number that a key stands for. */
uint64_t parquet_bound_bits(parquet_bound_order order, int64_t key);
/* Which of two bounds in the file's form comes first. */
int parquet_bound_compare_encoded(parquet_bound_order order, frz_str a, frz_str b);
bool parquet_bound_is_float(parquet_bound_order order);

/* ---- levels of a page (parquet_level_buffer.c) ---- */

/* Kept as a count while they are all the same. */
typedef struct parquet_level_buffer {
    frz_buf bytes; /* in use once they differ */
    size_t count;
    uint8_t value; /* of all, while bytes is not in use */
    bool mixed;
} parquet_level_buffer;

frz_code parquet_levels_add_same(parquet_level_buffer *levels, uint8_t value, size_t count,
                                 frz_error *err);
frz_code parquet_levels_add(parquet_level_buffer *levels, const uint8_t *values, size_t count,
                            frz_error *err);
void parquet_levels_clear(parquet_level_buffer *levels);
/* Append the hybrid encoding of levels up to max. */
frz_code parquet_levels_encode(const parquet_level_buffer *levels, uint8_t max, frz_buf *out,
                               frz_error *err);
/* Raise those that are level by some, all or where the bit of their slot is set. */
void parquet_levels_raise(uint8_t *levels, size_t count, uint8_t level, uint8_t by);
void parquet_levels_raise_valid(uint8_t *levels, size_t count, uint8_t level, uint8_t by,
                                const uint8_t *bits, int64_t first);
/* Add how often each level below slots occurs; all levels are. */
void parquet_levels_count(const parquet_level_buffer *levels, size_t slots, int64_t *counts);

/* ---- pages of a chunk (parquet_index_writer.c) ---- */

/* The pages of one chunk and how often its levels occur. */
typedef struct parquet_index_out {
    const parquet_write_leaf *leaf;
    frz_buf pages, bounds, levels;
    int64_t rows;
    bool has_bounds; /* every page that has values has bounds */
    bool ascending, descending;
    size_t last; /* page with the last bounds; SIZE_MAX: none yet */
} parquet_index_out;

/* A page that is complete. */
typedef struct parquet_index_page {
    uint64_t offset; /* from the first data page */
    size_t size;     /* header included */
    int64_t rows, nulls;
    size_t values; /* that are there */
    const parquet_page_stats *stats;
} parquet_index_page;

void parquet_index_out_init(parquet_index_out *index, const frz_env *env,
                            const parquet_write_leaf *leaf);
void parquet_index_out_reset(parquet_index_out *index); /* frees; can be used again */
/* by_page: note the page, not just its levels. */
frz_code parquet_index_out_add(parquet_index_out *index, const parquet_index_page *page,
                               const parquet_level_buffer *rep, const parquet_level_buffer *def,
                               bool by_page, frz_error *err);
/* Bytes held in memory. */
size_t parquet_index_out_pending(const parquet_index_out *index);
/* Append both indexes; nothing for one that there is not. first_page: where the first data page is
 * in the file. */
frz_code parquet_index_out_write(const parquet_index_out *index, uint64_t first_page,
                                 frz_buf *column_index, frz_buf *offset_index, frz_error *err);
/* Size statistics of the chunk. bytes: of its byte arrays; room: scratch. */
frz_code parquet_index_out_sizes(const parquet_index_out *index, int64_t bytes, frz_arena *arena,
                                 frz_buf *room, parquet_size_statistics *out, frz_error *err);

/* ---- metrics of a field over chunks (parquet_metrics_sum.c) ---- */

typedef struct parquet_metrics_sum {
    frz_field_stats total;       /* bounds of variable length point into the buffers */
    bool lower_lost, upper_lost; /* a chunk with values did not tell */
    frz_buf lower, upper;
} parquet_metrics_sum;

void parquet_metrics_sum_init(parquet_metrics_sum *sum, const frz_env *env, int32_t field_id,
                              const frz_type *type);
void parquet_metrics_sum_reset(parquet_metrics_sum *sum);
/* One more chunk; what it does not know is unknown in the sum. */
frz_code parquet_metrics_sum_add(parquet_metrics_sum *sum, const frz_field_stats *chunk,
                                 frz_error *err);
/* Bounds are copied into the arena. */
frz_code parquet_metrics_sum_finish(const parquet_metrics_sum *sum, frz_arena *arena,
                                    frz_field_stats *out, frz_error *err);

/* ---- output (parquet_output.c) ---- */

/* Bytes of the file in order. Small writes are collected; a copied range waits for a neighbour.
 * At most one of buffer and range holds something. */
typedef struct parquet_output {
    frz_file_writer *file;
    frz_buf buffer;
    uint64_t position;  /* in the file, of the next byte */
    bool durable;       /* the file will be synced */
    uint64_t announced; /* bytes of which the storage knows that they will be */
    const frz_file *src;
    uint64_t src_offset, src_len;
} parquet_output;

frz_code parquet_output_write(parquet_output *output, const void *bytes, size_t len,
                              frz_error *err);
/* src must stay open until the next flush. */
frz_code parquet_output_copy(parquet_output *output, const frz_file *src, uint64_t offset,
                             uint64_t len, frz_error *err);
frz_code parquet_output_flush(parquet_output *output, frz_error *err);

/* ---- encoded pages that wait for their place (parquet_waiting.c) ---- */

typedef struct parquet_waiting {
    const frz_env *env;
    frz_buf *blocks;
    size_t count, capacity;
    size_t len; /* bytes in all */
} parquet_waiting;

void parquet_waiting_init(parquet_waiting *waiting, const frz_env *env);
void parquet_waiting_reset(parquet_waiting *waiting); /* frees; can be used again */
/* A page: its head, and its body, which is copied. */
frz_code parquet_waiting_add(parquet_waiting *waiting, frz_str head, frz_str body, frz_error *err);
/* The same; the body is empty after that, and moved rather than copied if it is large. */
frz_code parquet_waiting_take(parquet_waiting *waiting, frz_str head, frz_buf *body,
                              frz_error *err);
/* Write and free all. */
frz_code parquet_waiting_write(parquet_waiting *waiting, parquet_output *output, frz_error *err);

/* ---- bloom filters (parquet_bloom_writer.c) ---- */

typedef struct parquet_bloom_out {
    const frz_env *env;
    size_t width;   /* bytes of a value; 0: each has its length before it */
    bool two_zeros; /* of floats */
    double fpp;
    int64_t ndv;     /* 0: not told */
    frz_buf hashes;  /* uint64_t, while they are few */
    uint32_t *words; /* after that; NULL: not yet */
    size_t blocks;   /* a power of two */
} parquet_bloom_out;

frz_code parquet_bloom_out_new(const frz_env *env, const parquet_write_leaf *leaf, double fpp,
                               int64_t ndv, parquet_bloom_out **out, frz_error *err);
/* NULL is fine for these two. Reset: for another chunk. */
void parquet_bloom_out_reset(parquet_bloom_out *bloom);
void parquet_bloom_out_free(parquet_bloom_out *bloom);
/* Values in PLAIN form. */
frz_code parquet_bloom_out_add(parquet_bloom_out *bloom, const uint8_t *values, size_t count,
                               frz_error *err);
/* The chunk is complete: make the filter as small as it may be. */
frz_code parquet_bloom_out_finish(parquet_bloom_out *bloom, frz_error *err);
/* Write the filter, if the chunk was encoded here, and tell the chunk where it is. room: scratch.
 */
frz_code parquet_bloom_out_write(parquet_bloom_out *bloom, parquet_output *output, frz_buf *room,
                                 parquet_chunk *chunk, frz_error *err);

/* ---- one leaf column (parquet_column_writer.c) ---- */

/* What columns encode with; one task at a time has it. */
typedef struct parquet_write_scratch {
    frz_slot slot;
    const frz_env *env;
    frz_codec *codec;     /* NULL: uncompressed */
    frz_buf head;         /* of a page: what is not compressed in any case */
    frz_buf body, packed; /* a page before and after compression */
    frz_buf trial, other; /* encodings of its values */
    frz_buf indices;      /* uint32_t */
} parquet_write_scratch;

/* What all columns of a writer share. */
typedef struct parquet_write_shared {
    const frz_env *env;
    frz_parquet_write_options opts; /* zeros replaced by defaults */
    frz_codec_id codec;
    frz_slots scratches;
    parquet_output output;
    frz_arena chunk_arena;                  /* what the chunks of the open group say */
    frz_buf column_indexes, offset_indexes; /* of the whole file, in the order of the chunks */
    frz_buf room;                           /* scratch, of the caller's thread */
} parquet_write_shared;

/* Scratch memory for a task (parquet_write_scratch.c). */
frz_code parquet_write_scratch_take(parquet_write_shared *shared, parquet_write_scratch **out,
                                    frz_error *err);
void parquet_write_scratch_give(parquet_write_scratch *scratch);
void parquet_write_scratches_free(parquet_write_shared *shared);

typedef enum parquet_dictionary_state {
    PARQUET_DICTIONARY_OPEN, /* no page with values yet */
    PARQUET_DICTIONARY_ON,
    PARQUET_DICTIONARY_OFF /* given up or never wanted */
} parquet_dictionary_state;

/* How pages of byte streams are compressed (parquet_page_out.c). */
typedef struct parquet_split_choice {
    bool made, in_parts;
    uint32_t pages; /* since both ways were tried */
    size_t share;   /* of its raw size that a page took then */
} parquet_split_choice;

typedef struct parquet_column_writer {
    parquet_write_shared *shared;
    parquet_write_scratch *scratch; /* of the task that works on the column */
    const parquet_write_leaf *leaf;
    frz_parquet_encoding encoding; /* that is wanted, or AUTO */
    /* the open page */
    frz_buf values; /* PLAIN form; booleans: a byte each */
    size_t value_count;
    size_t room; /* to make for them at once; 0: as much as they need */
    parquet_level_buffer def, rep;
    size_t page_slots, page_rows;
    /* the open chunk */
    bool direct;           /* pages may go to the file at once */
    bool started;          /* some have */
    bool closed;           /* nothing is to be encoded any more */
    parquet_waiting pages; /* encoded ones that wait */
    parquet_waiting front; /* the dictionary's page, once it is encoded */
    parquet_dictionary_out dictionary;
    parquet_dictionary_state dictionary_state;
    uint32_t encodings; /* bits of parquet_encoding */
    parquet_split_choice split;
    size_t page_size;                             /* of the last page, header included */
    uint32_t page_counts[PARQUET_ENCODING_COUNT]; /* data pages by encoding */
    uint64_t offset;                              /* of the chunk, once started */
    uint64_t dictionary_size;                     /* bytes of its page in the file */
    uint64_t packed_size, raw_size;
    parquet_write_stats stats;
    parquet_index_out index;
    parquet_bloom_out *bloom; /* NULL: none is wanted */
    /* the file */
    parquet_metrics_sum *metrics; /* NULL: not collected */
} parquet_column_writer;

/* Put the open page, whose values are encoded, and the dictionary's page where they wait
 * (parquet_page_out.c). The first may leave column->values empty: then these wait, unmoved. */
frz_code parquet_page_put_data(parquet_column_writer *column, parquet_encoding encoding,
                               frz_str values, frz_error *err);
frz_code parquet_page_put_dictionary(parquet_column_writer *column, frz_error *err);

/* The state that a chunk begins with, and the values of its open page in the file's form
 * (parquet_page_encoding.c). The view is valid until the next page. */
parquet_dictionary_state parquet_dictionary_at_start(const parquet_column_writer *column);
frz_code parquet_page_encode(parquet_column_writer *column, parquet_encoding *encoding,
                             frz_str *out, frz_error *err);

/* A run of slots for a leaf: one per value, null or empty list, as levels count them. */
typedef struct parquet_write_run {
    size_t count;
    const uint8_t *def; /* NULL: all max_def */
    const uint8_t *rep; /* NULL: all 0 */
    /* Rows of the values in the array: these, or, if NULL, those from first on: one for each slot,
     * with a value or without, or one for each value. */
    const int64_t *places;
    int64_t first;
    bool by_slot;
} parquet_write_run;

void parquet_column_writer_init(parquet_column_writer *column, parquet_write_shared *shared,
                                const parquet_write_leaf *leaf);
void parquet_column_writer_free(parquet_column_writer *column);
/* Start a chunk; direct: nothing else is written to the file before it ends. */
void parquet_column_writer_begin(parquet_column_writer *column, bool direct);
frz_code parquet_column_writer_append(parquet_column_writer *column, const struct ArrowArray *array,
                                      const parquet_write_run *run, frz_error *err);
/* Bytes held in memory. */
size_t parquet_column_writer_pending(const parquet_column_writer *column);
/* Encode what is left; several columns may do so at once. Without it, end does. */
frz_code parquet_column_writer_close(parquet_column_writer *column, frz_error *err);
/* Write what is left; out receives the chunk, whose strings live in the chunk arena. Page indexes
 * are appended to those of the file. */
frz_code parquet_column_writer_end(parquet_column_writer *column, parquet_chunk *out,
                                   frz_error *err);

/* ---- values of one Arrow type in PLAIN form (parquet_plain.c) ---- */

/* Bytes that row i takes in PLAIN form. */
size_t parquet_plain_size(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                          int64_t i);
/* False if the file has no form for the value of row i. */
bool parquet_plain_fits(const parquet_write_leaf *leaf, const struct ArrowArray *array, int64_t i);
/* What append may need behind the last byte. */
#define PARQUET_PLAIN_SLACK 32
/* Append count rows: places[0 … count), or first … if places is NULL. */
frz_code parquet_plain_append(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                              const int64_t *places, int64_t first, size_t count, frz_buf *out,
                              frz_error *err);

/* Append the values of slots that have max_def, of rows first, first + 1 … */
frz_code parquet_plain_append_slots(const parquet_write_leaf *leaf, const struct ArrowArray *array,
                                    const uint8_t *def, size_t slots, int64_t first, frz_buf *out,
                                    frz_error *err);

/* ---- arrays of callers (parquet_write_check.c) ---- */

/* FRZ_E_ARGUMENT if the batch has no possible number of rows, or rows that are null as a whole. Of
 * batches as they come: normalizing looks at their columns only. */
frz_code parquet_check_rows(const struct ArrowArray *batch, frz_error *err);
/* The same if what the rest of the batch says of itself is not possible or not of the schema. */
frz_code parquet_check_batch(const parquet_write_schema *schema, const struct ArrowArray *batch,
                             frz_error *err);

/* ---- nesting (parquet_shred.c) ---- */

/* Hand rows first … first + count of the array of a field to its leaves: of a top-level field, or
 * of a member of structs that are there in every row. columns are those of the whole schema. */
frz_code parquet_shred(const frz_env *env, const parquet_write_node *node,
                       parquet_column_writer *columns, const struct ArrowArray *array,
                       int64_t first, int64_t count, int64_t first_row, frz_error *err);

#endif
