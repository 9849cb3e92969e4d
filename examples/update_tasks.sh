#!/bin/sh
# A column update as three steps that any scheduler can run: here xargs runs the tasks, several at a
# time. Others change the table meanwhile? Then the commit names what has to run again, a plan that is
# given the results has tasks for these data files alone, and the loop goes on.
#
# usage: update_tasks.sh WAREHOUSE TABLE COLUMN=EXPRESSION [CONDITION]
# FRAZIL: the command, PROCESSES: how many tasks at a time
set -eu
: "${FRAZIL:=frazil}" "${PROCESSES:=4}"
export FRAZIL FRAZIL_WAREHOUSE="$1"
table=$2 assignment=$3 condition=${4:-1 = 1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/results"

while :; do
    "$FRAZIL" update-plan "$table" --set "$assignment" --where "$condition" \
        --results "$work/results" >"$work/tasks"
    # each task is a file of its own, and so is its result
    split -l 1 -d -a 6 "$work/tasks" "$work/task."
    find "$work" -name 'task.*' |
        xargs -P "$PROCESSES" -I TASK sh -c '"$FRAZIL" update-task TASK >TASK.result'
    cat "$work"/task.*.result >>"$work/results" 2>/dev/null || :
    rm -f "$work"/task.*
    status=0
    "$FRAZIL" update-commit "$table" "$work/results" || status=$?
    [ "$status" -eq 4 ] || exit "$status" # 4: a conflict
done
