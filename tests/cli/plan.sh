# Plans of a table with three files, as text, as JSON, as tasks that are run, and by EXPLAIN.
blot() {
    sed -E -e "s,(file://)?$PWD,DIR,g" -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' \
        -e 's/(^|[^0-9.])[0-9]{14,}/\1ID/g' -e 's/[0-9][0-9 ]* bytes( \([^)]*\))?/N bytes/g' \
        -e 's/("size"|"bytes_planned"):[0-9]+/\1:N/g' -e 's/\| +[0-9][0-9 ]* \| +([0-9]+)$/| N | \1/' \
        -e 's/(bytes +\| +|read,bytes,)[0-9]+/\1N/' -e 's/ +(ID|N) / \1 /g' -e 's/-{20,}/---/g'
}
try() {
    echo "\$ frazil $*" | blot
    frazil "$@" >out 2>&1
    status=$?
    blot <out
    [ "$status" -eq 0 ] || echo "exit $status"
    rm out
}
for i in 1 2 3; do
    gen-wide --rows 6 --columns 2 --seed $i --out $i.parquet
done
frazil import db.wide 1.parquet 2.parquet 3.parquet -q
frazil sql "UPDATE db.wide SET c_1 = 0 WHERE id = 2" -q
try plan db.wide
try plan db.wide --where "c_2 IS NULL"
try plan db.wide --where "id > 100"
try plan db.wide --where "id = 2 AND c_1 = 0" --columns id --split-size 1 --row-groups
try plan db.wide --json --where "id < 3"
try plan db.wide --json --row-groups --columns c_2
try sql "EXPLAIN SELECT id, c_1 + 1 FROM db.wide WHERE c_2 IS NOT NULL LIMIT 3" --format csv
try sql "EXPLAIN SELECT count(*) FROM db.wide FOR VERSION AS OF 7"
try sql "explain alter table db.wide drop column c_1"
try sql "EXPLAIN SELECT * FROM db.wide.files"
try sql "EXPLAIN SHOW TABLES"
frazil plan db.wide --columns id --where "id = 2" --split-size 1 --tasks >tasks
wc -l <tasks | tr -d ' '
while read -r task; do
    echo "$task" | frazil run-task - --format csv
done <tasks
sed -n 3p tasks >task
try run-task task --report
try run-task task --format jsonl -o rows.jsonl
cat rows.jsonl
try run-task nothing
try run-task 1.parquet
echo '{"task-version":1,"table":{}}' >task
try run-task task
try scan db.wide --where "ID = 2" --columns Id,c_1,_pos --ignore-case --report
try plan db.wide --split-size 0
try plan db.none
try scan db.wide --map-location "$PWD/warehouse=moved" --limit 1
mv warehouse/db moved
try scan db.wide --map-location "$PWD/warehouse/db=moved" --limit 1
try sql --map-location "$PWD/warehouse/db=moved" "UPDATE db.wide SET c_1 = 1"
