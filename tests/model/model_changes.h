/*
 * The changes of a table against those of its model.
 */
#ifndef FRZ_TEST_MODEL_CHANGES_H
#define FRZ_TEST_MODEL_CHANGES_H

#include "model/model_table.h"

/* Of the last snapshots, or of some earlier ones. */
void model_check_changes(fixture *f, frz_table *table);

#endif
