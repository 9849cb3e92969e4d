# A table that changes: updates, an added column, reads in between, compaction. What is different every
# time is blotted out: ids, file names, sizes, times.
blot() {
    sed -E -e "s,(file://)?$PWD,DIR,g" -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' \
        -e 's/(^|[^0-9.])[0-9]{14,}/\1ID/g' -e 's/[0-9][0-9 ]* bytes( \([^)]*\))?/N bytes/g' \
        -e 's/^(data_bytes +)[0-9]+/\1N/' -e 's/("[a-z_]*bytes[a-z_]*": ?"?)[0-9]+/\1N/g' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|\+00:00)/TIME/g'
}
try() {
    echo "\$ frazil $*"
    frazil "$@" >out 2>&1
    status=$?
    blot <out
    [ "$status" -eq 0 ] || echo "exit $status"
    rm out
}
gen-wide --rows 6 --columns 2 --seed 1 --out wide.parquet
try -q import db.wide wide.parquet
try sql "UPDATE db.wide SET c_1 = id + 0.25"
try sql "UPDATE db.wide SET c_2 = NULL WHERE id % 2 = 0" --json
try sql "UPDATE db.wide SET c_2 = 0 WHERE id < 0"
try sql "UPDATE db.wide SET c_2 = 0 WHERE id < 0" --json
try sql "ALTER TABLE db.wide ADD COLUMN word string"
try sql "ALTER TABLE db.wide SET TBLPROPERTIES ('write.durability' = 'none')" --json
try -q sql "UPDATE db.wide SET word = CASE WHEN id < 3 THEN 'a, \"b\"' END"
try sql "SELECT id, c_1, word FROM db.wide WHERE id < 4"
try sql "SELECT id, c_1, word FROM db.wide WHERE id > 1 LIMIT 2" --format csv
try sql "SELECT id, c_1 + 1 AS next FROM db.wide WHERE id = 2" --json
try sql "SELECT count(*), sum(c_1), max(word) FROM db.wide"
echo "SELECT id FROM db.wide WHERE c_2 IS NULL" | frazil sql - --format jsonl
try scan db.wide --columns word,id --limit 3 --format jsonl
frazil snapshots db.wide | blot | tr -s ' -'
try files db.wide
first=$(frazil snapshots db.wide --json | sed -n 's/.*"snapshot_id":\([0-9]*\),"parent_id":null.*/\1/p')
frazil files db.wide --snapshot "$first" | blot
frazil scan db.wide --snapshot "$first" --limit 1
try compact db.wide
try files db.wide
try sql "SELECT id, c_1, c_2 IS NULL AS gone, word FROM db.wide"
try validate db.wide
metadata=$(ls -t warehouse/db/wide/metadata/*.metadata.json | head -n 1)
frazil sql --metadata "$metadata" "SELECT sum(id) FROM any_name"
frazil sql --metadata "$metadata" "UPDATE any_name SET c_1 = 1" 2>&1
echo "exit $?"
try sql "SELEKT 1"
try sql "SELECT id FROM db.wide WHERE id = = 1"
try sql "SELECT missing FROM db.wide"
try sql "SELECT * FROM db.missing"
try sql "UPDATE db.wide SET c_1 = 'x'"
try sql "UPDATE db.wide SET c_1 = 1 / (id - 3)"
try sql "ALTER TABLE db.wide ADD COLUMN word string"
try sql "DROP TABLE db.wide"
try sql "ALTER TABLE db.wide RENAME COLUMN word TO words"
try sql "ALTER TABLE db.wide DROP COLUMN c_1" --json
try sql "ALTER TABLE db.wide DROP COLUMN IF EXISTS c_1"
try sql "ALTER TABLE db.wide DROP COLUMN c_1"
try sql "ALTER TABLE db.wide ALTER COLUMN words TYPE int"
try sql "ALTER TABLE db.wide RENAME COLUMN words TO id"
try sql "ALTER TABLE db.wide UNSET TBLPROPERTIES ('write.durability')"
try sql "ALTER TABLE db.wide UNSET TBLPROPERTIES ('write.durability')"
try sql "SELECT * FROM db.wide LIMIT 2"
try validate db.wide
