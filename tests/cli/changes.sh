# What each step of a table's life changed: import, updates of all and of some rows, an added column,
# compaction. What is different every time is blotted out: ids and file names.
blot() {
    sed -E -e "s,(file://)?$PWD,DIR,g" -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' \
        -e 's/(^|[^0-9.])[0-9]{14,}/\1ID/g'
}
try() {
    echo "\$ frazil $*" | blot
    frazil "$@" >out 2>&1
    status=$?
    blot <out
    [ "$status" -eq 0 ] || echo "exit $status"
    rm out
}
gen-wide --rows 6 --columns 2 --seed 1 --out wide.parquet
frazil -q import db.t wide.parquet
try changes db.t --json
try changes db.t --rows --format csv --columns id,_row_id
first=$(frazil snapshots db.t --json | sed -n 's/.*"snapshot_id":\([0-9]*\),"parent_id":null.*/\1/p')
frazil -q sql "UPDATE db.t SET c_1 = id + 0.25"
frazil -q sql "UPDATE db.t SET c_2 = NULL, c_1 = 0 WHERE id % 3 = 0"
try changes db.t --json
try changes db.t --json --columns kind,_change_ordinal,record_count,deleted_rows,field_ids
try changes db.t --rows --json
try changes db.t --from "$first" --format csv --columns _change_ordinal,kind
try changes db.t --rows --from "$first" --columns _row_id,c_1 --format csv
frazil -q sql "ALTER TABLE db.t ADD COLUMN word string"
frazil -q sql "UPDATE db.t SET word = 'new' WHERE id = 1"
try changes db.t --rows --json
frazil -q compact db.t
frazil changes db.t --columns kind --format csv | sort
try changes db.t --rows --json
frazil changes db.t --rows --from "$first" -o feed.parquet && frazil cat feed.parquet --format csv \
    --columns _change_type,_change_ordinal,_row_id | sort | uniq -c | tr -s ' ' | head -n 4
try changes db.t --from 5
try changes db.t --to 5
try changes db.t --to "$first" --from "$(frazil snapshots db.t --json | sed -n \
    's/.*"snapshot_id":\([0-9]*\),.*"is_current":true.*/\1/p')"
try changes db.t --columns nothing
try changes db.t --rows --columns nothing
try changes db.t --from soon
try changes db.t --where "id = 1"
