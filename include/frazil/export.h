/**
 * Symbol visibility and compiler attributes used by the public headers.
 */
#ifndef FRAZIL_EXPORT_H
#define FRAZIL_EXPORT_H

#if defined(_WIN32)
#define FRZ_API
#elif defined(__GNUC__)
#define FRZ_API __attribute__((visibility("default")))
#else
#define FRZ_API
#endif

#if defined(__GNUC__)
#define FRZ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define FRZ_CHECK_RESULT __attribute__((warn_unused_result))
#else
#define FRZ_PRINTF(fmt, args)
#define FRZ_CHECK_RESULT
#endif

#endif
