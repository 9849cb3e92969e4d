/**
 * Version of the library.
 */
#ifndef FRAZIL_VERSION_H
#define FRAZIL_VERSION_H

#include "frazil/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FRZ_VERSION_MAJOR 0
#define FRZ_VERSION_MINOR 1
#define FRZ_VERSION_PATCH 0
#define FRZ_VERSION_STRING "0.1.0"

/** The version of the library that is running, such as "0.1.0". Static storage. */
FRZ_API const char *frz_version(void);

#ifdef __cplusplus
}
#endif

#endif
