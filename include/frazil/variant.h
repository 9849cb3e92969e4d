/**
 * Variants: values of any shape in a binary form. In Arrow they are structs of the extension type
 * "arrow.parquet.variant", with the binary children "metadata" and "value".
 */
#ifndef FRAZIL_VARIANT_H
#define FRAZIL_VARIANT_H

#include <stddef.h>

#include "frazil/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a variant as JSON, piece by piece.
 *
 * Whole numbers come out exactly, decimals as strings without zeros at the end, dates, times,
 * uuids and binary as strings in the form that columns of these types have.
 *
 * @param metadata,value  the pair; borrowed for the call, not trusted
 * @param put             receives the text, not terminated; pieces may have come when a fault is
 *                        found
 * @return FRZ_OK, FRZ_E_CORRUPT, FRZ_E_UNSUPPORTED for a newer version, FRZ_E_LIMIT if it is nested
 *         too deeply
 */
FRZ_API frz_code frz_variant_to_json(const void *metadata, size_t metadata_size, const void *value,
                                     size_t value_size,
                                     void (*put)(void *ctx, const char *text, size_t size),
                                     void *ctx, frz_error *err);

#ifdef __cplusplus
}
#endif

#endif
