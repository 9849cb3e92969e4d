/*
 * What a data file says of a column beyond its type: "JSON", "VARIANT(1)", "GEOMETRY(EPSG:5070)".
 * A field carries the text; here it is taken apart, put together, and told to Arrow.
 */
#ifndef FRZ_TYPE_ANNOTATION_H
#define FRZ_TYPE_ANNOTATION_H

#include "type/type_schema.h"

typedef enum frz_annotation_kind {
    FRZ_ANNOTATION_NONE = 0,
    FRZ_ANNOTATION_JSON,
    FRZ_ANNOTATION_ENUM,
    FRZ_ANNOTATION_BSON,
    FRZ_ANNOTATION_FILE,
    FRZ_ANNOTATION_VARIANT,   /* version */
    FRZ_ANNOTATION_DECIMAL,   /* of more digits than a type has: precision, scale */
    FRZ_ANNOTATION_GEOMETRY,  /* crs */
    FRZ_ANNOTATION_GEOGRAPHY, /* crs, algorithm */
} frz_annotation_kind;

typedef struct frz_annotation {
    frz_annotation_kind kind;
    int32_t version; /* 0: not told */
    int32_t precision, scale;
    frz_str crs;       /* empty: OGC:CRS84 */
    frz_str algorithm; /* "SPHERICAL"; empty: not told, which means the same */
} frz_annotation;

/* False if the text is of no known form. Strings are views of the text. */
bool frz_annotation_parse(frz_str text, frz_annotation *out);
/* The text, in the arena; ptr NULL for NONE. */
frz_code frz_annotation_print(frz_arena *arena, const frz_annotation *annotation, frz_str *out,
                              frz_error *err);
/* True if values of the type can have this annotation. */
bool frz_annotation_fits(const frz_annotation *annotation, const frz_type *type);

/* The name of Arrow's extension type that says the same, NULL if there is none, and that type's
 * metadata, appended. */
frz_code frz_annotation_to_arrow(const frz_annotation *annotation, const char **name,
                                 frz_buf *metadata, frz_error *err);
/* The annotation of a column of an ArrowSchema, by "PARQUET:logical_type" or by its extension type;
 * empty if neither says one. Lives in the arena. */
frz_code frz_annotation_from_arrow(frz_arena *arena, const struct ArrowSchema *schema,
                                   const frz_type *type, frz_str *out, frz_error *err);

#define FRZ_ARROW_KEY_EXTENSION "ARROW:extension:name"
#define FRZ_ARROW_KEY_EXTENSION_METADATA "ARROW:extension:metadata"
#define FRZ_ARROW_KEY_LOGICAL_TYPE "PARQUET:logical_type"

#endif
