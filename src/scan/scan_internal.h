/*
 * What the files of scan share among themselves.
 */
#ifndef FRZ_SCAN_INTERNAL_H
#define FRZ_SCAN_INTERNAL_H

#include "expr/expr.h"
#include "frazil/scan.h"
#include "scan/scan_plan.h"
#include "scan/scan_stitch.h"

#endif
