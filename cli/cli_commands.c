/*
 * The table of commands, in the order of the help.
 */
#include "cli.h"

const cli_command *const cli_commands[] = {
    &cmd_import,     &cmd_append,         &cmd_update,       &cmd_sql,
    &cmd_scan,       &cmd_plan,           &cmd_run_task,     &cmd_cat,
    &cmd_inspect,    &cmd_tables,         &cmd_describe,     &cmd_schema,
    &cmd_snapshots,  &cmd_history,        &cmd_refs,         &cmd_properties,
    &cmd_statistics, &cmd_files,          &cmd_delete_files, &cmd_partitions,
    &cmd_manifests,  &cmd_entries,        &cmd_changes,      &cmd_compact,
    &cmd_expire,     &cmd_remove_orphans, &cmd_register,     &cmd_upgrade,
    &cmd_validate,   &cmd_help,           &cmd_version,      NULL,
};
