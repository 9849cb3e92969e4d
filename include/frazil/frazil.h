/**
 * Frazil: Apache Iceberg for C, built around column updates. This header includes all others.
 */
#ifndef FRAZIL_FRAZIL_H
#define FRAZIL_FRAZIL_H

#include "frazil/arrow.h"
#include "frazil/avro.h"
#include "frazil/catalog.h"
#include "frazil/changes.h"
#include "frazil/column_update.h"
#include "frazil/commit.h"
#include "frazil/env.h"
#include "frazil/error.h"
#include "frazil/file.h"
#include "frazil/import.h"
#include "frazil/ipc.h"
#include "frazil/maintain.h"
#include "frazil/merge.h"
#include "frazil/modes.h"
#include "frazil/parquet.h"
#include "frazil/parquet_writer.h"
#include "frazil/plan.h"
#include "frazil/row_source.h"
#include "frazil/rows.h"
#include "frazil/scan.h"
#include "frazil/sql.h"
#include "frazil/stream.h"
#include "frazil/table.h"
#include "frazil/task.h"
#include "frazil/update_task.h"
#include "frazil/variant.h"
#include "frazil/version.h"

#endif
