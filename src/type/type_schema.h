/*
 * type: Iceberg types, fields and schemas, and their neighbours in Arrow and JSON.
 *
 * A type tree lives in one arena and is immutable. spec: Schemas and Data Types.
 */
#ifndef FRZ_TYPE_SCHEMA_H
#define FRZ_TYPE_SCHEMA_H

#include <jansson.h>

#include "arrow/arrow_array.h"
#include "base/base.h"

typedef enum frz_type_id {
    FRZ_TYPE_UNKNOWN = 0,
    FRZ_TYPE_BOOLEAN,
    FRZ_TYPE_INT,
    FRZ_TYPE_LONG,
    FRZ_TYPE_FLOAT,
    FRZ_TYPE_DOUBLE,
    FRZ_TYPE_DECIMAL,      /* precision, scale; Arrow decimal128 */
    FRZ_TYPE_DATE,         /* int32 days since 1970 */
    FRZ_TYPE_TIME,         /* int64 microseconds of the day */
    FRZ_TYPE_TIMESTAMP,    /* int64 microseconds, no zone */
    FRZ_TYPE_TIMESTAMPTZ,  /* int64 microseconds, UTC */
    FRZ_TYPE_TIMESTAMP_NS, /* int64 nanoseconds, no zone */
    FRZ_TYPE_TIMESTAMPTZ_NS,
    FRZ_TYPE_STRING,
    FRZ_TYPE_UUID,  /* 16 bytes, big-endian; Arrow fixed-size binary */
    FRZ_TYPE_FIXED, /* length bytes */
    FRZ_TYPE_BINARY,
    FRZ_TYPE_VARIANT, /* metadata and value; see frz_type_storage */
    FRZ_TYPE_GEOMETRY,
    FRZ_TYPE_GEOGRAPHY,
    FRZ_TYPE_FOREIGN, /* what Iceberg lacks, foreign says which; in files only, never in a table */
    FRZ_TYPE_STRUCT,  /* fields */
    FRZ_TYPE_LIST,    /* fields[0] is the element */
    FRZ_TYPE_MAP      /* fields[0] is the key, fields[1] the value */
} frz_type_id;

typedef struct frz_type frz_type;
typedef struct frz_value frz_value;

/* Types of data files that Iceberg lacks, each with its Arrow form. */
typedef enum frz_foreign_type {
    FRZ_FOREIGN_NONE = 0,
    FRZ_FOREIGN_INT8,
    FRZ_FOREIGN_INT16,
    FRZ_FOREIGN_UINT8,
    FRZ_FOREIGN_UINT16,
    FRZ_FOREIGN_UINT32,
    FRZ_FOREIGN_UINT64,
    FRZ_FOREIGN_FLOAT16,
    FRZ_FOREIGN_TIME_MS,        /* int32 milliseconds of the day */
    FRZ_FOREIGN_TIME_NS,        /* int64 nanoseconds of the day */
    FRZ_FOREIGN_TIMESTAMP_MS,   /* int64 milliseconds, no zone */
    FRZ_FOREIGN_TIMESTAMPTZ_MS, /* int64 milliseconds, UTC */
    FRZ_FOREIGN_INTERVAL,       /* Arrow month_day_nano: int32 months, int32 days, int64 ns */
    FRZ_FOREIGN_DECIMAL256      /* precision 39 to 76, scale */
} frz_foreign_type;

/* The id of a field that has none; only in schemas read from data files. 0 is an id like others, so
 * a field made without one must say so. */
#define FRZ_ID_NONE (-1)

typedef struct frz_field {
    int32_t id; /* or FRZ_ID_NONE */
    bool required;
    frz_str name;
    const frz_type *type;
    frz_str doc;                      /* ptr NULL: none */
    const frz_value *initial_default; /* NULL: none */
    const frz_value *write_default;
    frz_str annotation; /* of a data file, what the type does not tell: "JSON", "ENUM", "BSON",
                           "VARIANT(1)", "GEOMETRY(OGC:CRS84)"; ptr NULL: none */
} frz_field;

struct frz_type {
    frz_type_id id;
    frz_foreign_type foreign; /* FOREIGN */
    int32_t precision, scale; /* DECIMAL, DECIMAL256 */
    int32_t length;           /* FIXED */
    frz_str crs;              /* GEOMETRY, GEOGRAPHY; ptr NULL: default */
    frz_str algorithm;        /* GEOGRAPHY */
    const frz_field *fields;  /* STRUCT, LIST, MAP */
    size_t field_count;
};

/* A table schema: a struct type with an identity. Immutable, lives in its owner's arena. */
typedef struct frz_schema {
    int32_t schema_id;
    const frz_type *type; /* STRUCT */
    const int32_t *identifier_ids;
    size_t identifier_count;
} frz_schema;

/* Reserved metadata columns. spec: Reserved Field IDs, row lineage */
#define FRZ_ID_ROW_ID 2147483540
#define FRZ_ID_LAST_UPDATED 2147483539     /* _last_updated_sequence_number */
#define FRZ_ID_ROW_FILE 2147483646         /* _file */
#define FRZ_ID_ROW_POS 2147483645          /* _pos */
#define FRZ_ID_ROW_DELETED 2147483644      /* _deleted */
#define FRZ_ID_ROW_SPEC_ID 2147483643      /* _spec_id */
#define FRZ_ID_ROW_PARTITION 2147483642    /* _partition */
#define FRZ_ID_DELETE_FILE_PATH 2147483546 /* of position delete files */
#define FRZ_ID_DELETE_POS 2147483545
#define FRZ_ID_USER_MAX 2147483447
extern const frz_field frz_field_row_id;       /* optional long "_row_id" */
extern const frz_field frz_field_last_updated; /* optional long "_last_updated_sequence_number" */

/* Shared constants for primitive types without parameters; not for DECIMAL, FIXED, FOREIGN, nested.
 */
const frz_type *frz_type_primitive(frz_type_id id);
/* The same for foreign types; not for DECIMAL256. */
const frz_type *frz_type_foreign(frz_foreign_type foreign);
static inline bool frz_type_is_nested(const frz_type *type)
{
    return type->id >= FRZ_TYPE_STRUCT;
}
/* The type whose Arrow form values of a type have: of VARIANT a STRUCT of required binary
 * "metadata" and "value"; of all others the type itself. */
const frz_type *frz_type_storage(const frz_type *type);
/* Same kind, parameters, and for nested types the same ids, names, requiredness at every depth. */
bool frz_type_equal(const frz_type *a, const frz_type *b);
/* The same, not looking at field ids, requiredness, docs and defaults (names and types only). */
bool frz_type_same_shape(const frz_type *a, const frz_type *b);
/* True if values of from may be read as to. spec: Schema Evolution, type promotion */
bool frz_type_promotes(const frz_type *from, const frz_type *to);
/* Bytes per value of the Arrow buffer; 0 for boolean, variable length and nested. */
size_t frz_type_width(const frz_type *type);
/* "decimal(9,2)", "struct<1: a: int, …>"; appended. */
frz_code frz_type_print(const frz_type *type, frz_buf *out, frz_error *err);
/* For messages: the text in a caller's array, cut if too long. Returns text. */
const char *frz_type_text(const frz_type *type, char *text, size_t size);
/* A primitive type from its text as in JSON and SQL ("long", "bigint", "decimal(9,2)"). */
frz_code frz_type_parse(frz_arena *arena, frz_str text, const frz_type **out, frz_error *err);

/* Deep copy into another arena. */
frz_code frz_type_copy(frz_arena *arena, const frz_type *type, const frz_type **out,
                       frz_error *err);
frz_code frz_schema_copy(frz_arena *arena, const frz_schema *schema, const frz_schema **out,
                         frz_error *err);
/* A struct type of some fields (copied shallowly). */
frz_code frz_type_struct_of(frz_arena *arena, const frz_field *fields, size_t count,
                            const frz_type **out, frz_error *err);

/* A copy in which every field is optional, list elements and map values included, map keys and what
 * is below them excepted. Parts that do not change are shared. */
frz_code frz_type_make_optional(frz_arena *arena, const frz_type *type, const frz_type **out,
                                frz_error *err);

/* Lookup. NULL if there is none; FRZ_ID_NONE is no field's. */
const frz_field *frz_type_field_by_id(const frz_type *struct_type, int32_t id); /* top level */
const frz_field *frz_type_find_id(const frz_type *type, int32_t id);            /* any depth */
/* Index of the top-level field, or -1. */
int64_t frz_type_index_of_id(const frz_type *struct_type, int32_t id);
/* Name as users write it: exact first, then case-insensitive if unique; top level. */
frz_code frz_type_resolve_name(const frz_type *struct_type, frz_str name, const frz_field **out,
                               frz_error *err);
/* The full dotted name of a field id at any depth, or empty. */
frz_code frz_type_dotted_name(const frz_type *struct_type, int32_t id, frz_buf *out,
                              frz_error *err);
/* The largest field id anywhere in the tree. */
int32_t frz_type_max_id(const frz_type *type);

/* Visit every field of a tree, parents first. in_repeated: below a list or map. */
typedef frz_code (*frz_field_visit)(void *ctx, const frz_field *field, bool in_repeated,
                                    frz_error *err);
frz_code frz_type_visit(const frz_type *type, frz_field_visit visit, void *ctx, frz_error *err);

/* ---- JSON (type_json.c): spec appendix C ---- */

/* path is used in messages, such as "schemas[0]". */
frz_code frz_schema_from_json(frz_arena *arena, const json_t *json, const char *path,
                              const frz_schema **out, frz_error *err);
frz_code frz_schema_to_json(const frz_schema *schema, json_t **out, frz_error *err);

/* ---- Arrow (type_arrow.c) ---- */

/* An ArrowSchema of a field or of a struct; field ids as "PARQUET:field_id" metadata, annotations
 * as extension types where there is one and as "PARQUET:logical_type". */
frz_code frz_type_to_arrow(const frz_env *env, const frz_type *struct_type, struct ArrowSchema *out,
                           frz_error *err);
/* The same where a field's id stands for another one, or for none (false). */
typedef bool (*frz_field_id_of)(const void *ctx, const frz_field *field, int32_t *id);
frz_code frz_type_to_arrow_with_ids(const frz_env *env, const frz_type *struct_type,
                                    frz_field_id_of id_of, const void *ctx, struct ArrowSchema *out,
                                    frz_error *err);
/* The Iceberg struct type of an ArrowSchema; ids from metadata, else FRZ_ID_NONE. Unsupported kinds
 * name the column. */
frz_code frz_type_from_arrow(frz_arena *arena, const struct ArrowSchema *schema,
                             const frz_type **out, frz_error *err);
/* The same with types as close to the schema as a data file allows: FOREIGN ones, annotations.
 * Other layouts of the same values (large, views, dictionaries, runs, lists of fixed size, seconds)
 * are the types that frz_normalizer makes of them. */
frz_code frz_type_from_arrow_native(frz_arena *arena, const struct ArrowSchema *schema,
                                    const frz_type **out, frz_error *err);
/* An array of nulls of a type. */
frz_code frz_array_nulls(const frz_env *env, const frz_type *type, int64_t length,
                         struct ArrowArray *out, frz_error *err);
/* An array that repeats one value (NULL or null value: nulls). */
frz_code frz_array_constant(const frz_env *env, const frz_type *type, const frz_value *value,
                            int64_t length, struct ArrowArray *out, frz_error *err);
/* Only the rows whose bit is set in selection (bit 0 is the array's first row). */
frz_code frz_array_filter(const frz_env *env, const frz_type *type, const struct ArrowArray *src,
                          const uint8_t *selection, int64_t selected, struct ArrowArray *out,
                          frz_error *err);

/* Rows that follow each other. */
typedef struct frz_run {
    int64_t start, end;
} frz_run;

/* Some rows, looked through once for all columns of a batch (type_gather.c). */
typedef struct frz_selection {
    const uint8_t *bits; /* bit i: row i */
    int64_t length;
    int64_t selected;
    bool in_runs;  /* rows mostly follow each other */
    frz_run *runs; /* all of them if in_runs; NULL: not looked for, or single rows */
    size_t run_count;
} frz_selection;

/* bits must outlive the selection, which needs no reset after a failure. */
frz_code frz_selection_init(frz_selection *s, const frz_env *env, const uint8_t *bits,
                            int64_t length, int64_t selected, frz_error *err);
void frz_selection_reset(frz_selection *s, const frz_env *env);
/* frz_array_filter for many columns; src moves, also on failure, and memory that nobody else has is
 * used again. */
frz_code frz_array_filter_move(const frz_env *env, const frz_type *type, struct ArrowArray *src,
                               const frz_selection *selection, struct ArrowArray *out,
                               frz_error *err);
/* Whether structs of the array have children behind those that the type names (type_narrow.c). */
bool frz_array_has_more(const frz_type *type, const struct ArrowArray *array);
/* Leave such children out; the array stays what it is on failure, or is released. */
frz_code frz_array_narrow(const frz_env *env, const frz_type *type, struct ArrowArray *array,
                          frz_error *err);
/* The rows whose bit is set in selection from one array, the others from another of equal length
 * (type_merge.c). */
frz_code frz_array_merge(const frz_env *env, const frz_type *type, const struct ArrowArray *chosen,
                         const struct ArrowArray *others, const uint8_t *selection,
                         struct ArrowArray *out, frz_error *err);
/* One array after the other. */
frz_code frz_array_concat(const frz_env *env, const frz_type *type, const struct ArrowArray *parts,
                          size_t n_parts, struct ArrowArray *out, frz_error *err);

/* ---- name mapping (type_mapping.c): spec: Column Projection, name mapping ---- */

typedef struct frz_name_mapping {
    struct frz_name_mapping_field *fields;
    size_t field_count;
} frz_name_mapping;

typedef struct frz_name_mapping_field {
    int32_t field_id; /* FRZ_ID_NONE: names without id */
    const frz_str *names;
    size_t name_count;
    frz_name_mapping children;
} frz_name_mapping_field;

frz_code frz_name_mapping_parse(frz_arena *arena, frz_str json, frz_name_mapping *out,
                                frz_error *err);
/* The mapping of a schema's own names, as compact JSON. */
frz_code frz_name_mapping_of(const frz_env *env, const frz_type *struct_type, frz_buf *out,
                             frz_error *err);
/* Fill in ids of a type tree read from a file, at every depth: a field that has an id keeps it, and
 * what is below it is looked for below the mapping's field of that id; others go by their names.
 * Fields that the mapping does not name keep FRZ_ID_NONE, and so do those that would get an id
 * which another column of the file has: two of one id could not be told apart. A list's element is
 * named "element", a map's children "key" and "value". Names and types without children are shared
 * with the source; so are they by frz_type_assign_ids. */
frz_code frz_name_mapping_apply(frz_arena *arena, const frz_name_mapping *mapping,
                                const frz_type *struct_type, const frz_type **out, frz_error *err);
/* Number a tree that has no ids: from next_id on, parents before children, breadth first as
 * Iceberg assigns fresh ids. last receives the highest id given. */
frz_code frz_type_assign_ids(frz_arena *arena, const frz_type *struct_type, int32_t next_id,
                             const frz_type **out, int32_t *last, frz_error *err);

#endif
