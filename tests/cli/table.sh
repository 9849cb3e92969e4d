# A table from import to validation as it is typed, with what is different every time blotted out: ids,
# file names, sizes, times.
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
gen-wide --rows 6 --columns 3 --seed 1 --out wide.parquet
try import db.wide wide.parquet
try import db.wide wide.parquet
try import db.quiet wide.parquet --quiet --property write.durability=none
try import other.t wide.parquet wide.parquet --json
try tables
try tables --json
try describe db.wide
try describe db.quiet --json
try schema db.wide
try schema db.wide --json
try snapshots db.wide --json
try files db.wide
try files other.t --json
try manifests db.wide --json
try scan db.wide
try scan db.wide --columns "c_3, \"id\"" --where "id > 3" --format csv
try scan db.wide --columns id --limit 2 --with-lineage --format jsonl
try scan db.wide --columns id,c_1 --where "id = 5" --json
try scan db.wide --columns id --limit 2 -o ids
try scan db.wide --columns id --limit 2 -o ids
try scan db.wide --columns id --limit 2 -o ids --force --format csv
cat ids
try scan db.wide --format parquet -o copy.parquet
try import db.copy copy.parquet -q
try scan db.copy --columns id --where "c_1 IS NULL OR id = 0"
metadata=$(echo warehouse/db/wide/metadata/00000-*.json)
frazil scan --metadata "$metadata" --limit 1 --columns id
try compact db.wide
try compact db.wide --json
try validate db.wide
try validate db.wide --json
try validate db.wide --quiet
try describe db.wid
try describe nowhere.at_all
try scan db.wide --columns nothing
try scan db.wide --where "id = 'x' +"
try scan db.wide --snapshot 7
printf 'this is no catalog, however long one looks at it' >not.db
try tables --catalog not.db
printf 'PAR1 and no footer' >torn.parquet
try import db.torn torn.parquet
try tables
