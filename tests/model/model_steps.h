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

/* ---- what several kinds of steps need ---- */

/* A stream of one batch. */
typedef struct model_batch {
    fixture *f;
    const frz_type *type;
    struct ArrowArray array;
} model_batch;

void model_stream(model_batch *batch, struct ArrowArrayStream *out);
/* The statement was run: a snapshot came of it if it concerned rows. */
void model_follow(fixture *f, const frz_commit_report *report, int64_t rows);
/* Values of columns that a new row was not given. */
void model_fill_in(const model *m, const column_set *given, model_row *row);
/* Put new rows among the others, in order of their ids. */
void model_put(model *m, const model_row *rows, size_t count);

/* ---- rows from outside (model_source.c) ---- */

void model_update_from(fixture *f, frz_catalog *catalog);
void model_merge(fixture *f, frz_catalog *catalog);

#endif
