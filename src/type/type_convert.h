/*
 * Values of Arrow types that the library has another form for, one by one (type_normalize.c walks
 * the arrays).
 */
#ifndef FRZ_TYPE_CONVERT_H
#define FRZ_TYPE_CONVERT_H

#include "arrow/arrow_ipc.h"

/* A decimal to 128 bits, a date to days, seconds to milliseconds, an interval to months, days and
 * nanoseconds. False if the new form cannot hold the value. */
bool type_convert_value(const ipc_type *from, const uint8_t *in, uint8_t *out);

#endif
