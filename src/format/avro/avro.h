/*
 * avro: reading Avro object container files.
 */
#ifndef FRZ_AVRO_H
#define FRZ_AVRO_H

#include "format/format.h"

extern const frz_format_model frz_avro_model;

#endif
