# Rows of Parquet files that another writer made.
files=$FRAZIL_SOURCE/tests/data/parquet
try() {
    echo "\$ frazil $*" | sed "s|$files/||g"
    frazil "$@" >out 2>err
    status=$?
    cat out
    sed "s|$files/||g" err
    [ "$status" -eq 0 ] || echo "exit $status"
}
try cat "$files/flat.parquet"
try cat "$files/nested.parquet" --format jsonl
try cat "$files/nested.parquet" --columns s.y,l.element.x,m
try cat "$files/nested.parquet" --columns s.y,l.list.element.x --format jsonl
try cat "$files/flat.parquet" --columns t,i --rows 1:3
try cat "$files/flat.parquet" --columns i --rows :2 --format csv
try cat "$files/flat.parquet" --columns i --rows 3: --format csv
try cat "$files/flat.parquet" --columns i --rows -2: --format csv
try cat "$files/flat.parquet" --columns i --rows :-3 --format csv
try cat "$files/flat.parquet" --columns i --rows 100:200 --format csv
try cat "$files/flat.parquet" --columns t --where "i > 1 AND f IS NULL"
try cat "$files/foreign.parquet" --format jsonl
try cat "$files/foreign.parquet" --columns u64,half,list --where "i8 = 1 OR ts_ms > TIMESTAMP '2000-01-01T00:00:00'"
try cat "$files/without_ids.parquet" --where "i = 2" --json

# What was read and what was not.
try cat "$files/flat.parquet" --columns i --where "i > 2" --report
try cat "$files/flat.parquet" --columns i --where "i > 7" --report --json

# The end of a file's name says what to write; --format and --json say it louder.
try cat "$files/flat.parquet" --columns i --rows :1 -o one.csv
cat one.csv
try cat "$files/flat.parquet" --columns i --rows :1 -o one.jsonl
cat one.jsonl
try cat "$files/flat.parquet" --columns i --rows :1 -o one.json --format csv
cat one.json
try cat "$files/flat.parquet" --where "i > 2" -o some.parquet
try cat some.parquet --columns i
try cat "$files/flat.parquet" -o some.parquet
try cat "$files/flat.parquet" -o some.parquet --rows :1 --force
try cat some.parquet --columns i
try cat "$files/flat.parquet" -o some.arrow
head -c 6 some.arrow; echo
try cat "$files/flat.parquet" -o some.arrows
head -c 4 some.arrows | od -An -tx1
try cat some.arrow --columns t,i --rows 1:3
try cat some.arrows --columns i --rows -2: --format csv
try cat some.arrows --columns t --where "i > 1 AND f IS NULL"
try cat "$files/nested.parquet" -o nested.arrows
try cat nested.arrows --columns s.y,l.element.x,m.value --format jsonl

# Avro files
avro=$FRAZIL_SOURCE/tests/data/avro
cp "$avro/nested.avro" "$avro/foreign.avro" .
try cat nested.avro
try cat nested.avro --rows -2: --format jsonl
try cat nested.avro --columns scores,point.y --rows 2:5
try cat nested.avro --columns id --where "point.x > 3 AND day IS NOT NULL"
try cat foreign.avro --columns ms,local,time,kind,uuid
try cat foreign.avro

# Mistakes
echo "id,name" >a.csv
: >empty.parquet
head -c 100 "$files/flat.parquet" >cut.parquet
try cat
try cat "$files/flat.parquet" "$files/nested.parquet"
try cat missing.parquet
try cat a.csv
try cat empty.parquet
try cat cut.parquet
try cat .
printf 'ORC...' >a.orc
try cat a.orc
head -c 300 some.arrow >cut.arrow
try cat cut.arrow
try cat some.arrow --columns nope
try cat some.arrow --where "i >"
try cat "$files/flat.parquet" --columns i,s.z
try cat "$files/flat.parquet" --where "i >"
try cat "$files/flat.parquet" --where "nope > 1"
try cat "$files/flat.parquet" --rows 5
try cat "$files/flat.parquet" --rows 3:1
try cat "$files/flat.parquet" --rows 1:x
try cat "$files/flat.parquet" --rows 1:99999999999999999999
try cat "$files/flat.parquet" --format parquet
