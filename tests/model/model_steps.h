/*
 * Random steps: something that is done to a table, and to its model.
 */
#ifndef FRZ_TEST_MODEL_STEPS_H
#define FRZ_TEST_MODEL_STEPS_H

#include "model/model_table.h"

/* A table of some rows in some files. */
void model_begin(fixture *f);
/* One step, which the fixture's random numbers choose, and which fits whatever was done before. */
void model_step(fixture *f);

#endif
