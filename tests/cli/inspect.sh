# What Parquet files are made of.
files=$FRAZIL_SOURCE/tests/data/parquet
try() {
    echo "\$ frazil $*" | sed "s|$files/||g"
    frazil "$@" >out 2>err
    status=$?
    sed "s|$files/||g" out err
    [ "$status" -eq 0 ] || echo "exit $status"
}
try inspect "$files/flat.parquet"
try inspect "$files/nested.parquet" --groups
try inspect "$files/without_ids.parquet" --pages
try inspect "$files/foreign.parquet"
try inspect "$files/nested.parquet" --json
try inspect "$files/without_ids.parquet" --json --pages
frazil cat "$files/nested.parquet" -o nested.arrow
try inspect nested.arrow
try inspect nested.arrow --json
avro=$FRAZIL_SOURCE/tests/data/avro
cp "$avro/nested.avro" "$avro/foreign.avro" .
try inspect nested.avro
try inspect foreign.avro
try inspect foreign.avro --json

# Mistakes
echo "id,name" >a.csv
try inspect
try inspect missing.parquet
try inspect a.csv
try inspect "$files/flat.parquet" --page
