# Tables without a catalog: from a metadata file, from a folder, from where they were moved to; and
# which snapshot of them is read.
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
gen-wide --rows 3 --columns 1 --seed 1 --out wide.parquet
frazil import db.wide wide.parquet --quiet
first=$(frazil snapshots db.wide --json | sed -nE 's/.*"snapshot_id":([0-9]+).*/\1/p')
frazil sql "UPDATE db.wide SET c_1 = 7.5" --quiet
try scan --metadata warehouse/db/wide
try scan --metadata "file:$PWD/warehouse/db/wide/metadata/" --columns id --limit 1
try scan --metadata warehouse/db/wide/metadata/00000-*.metadata.json
try scan --metadata warehouse/db/wide --snapshot "$first"
try scan db.wide --ref main
try scan db.wide --as-of 2999-01-01
try files db.wide --ref main --json
try scan db.wide --as-of 1999-01-01T00:00:00Z
try scan db.wide --as-of noon
try scan db.wide --ref gone
try files db.wide --ref gone
try scan db.wide --ref main --as-of 2999-01-01
mv warehouse/db/wide moved
try scan --metadata moved
for from in "$PWD/warehouse/db/wide" "file:$PWD/warehouse/db/wide/" "file://$PWD/warehouse"; do
    to=moved
    [ "$from" = "file://$PWD/warehouse" ] && mkdir -p other/db && mv moved other/db/wide && to=other
    try scan --metadata "$PWD/warehouse/db/wide" --map-location "$from=$to" --limit 1
done
try scan --metadata other
cp other/db/wide/metadata/00001-*.metadata.json other/db/wide/metadata/00001-z.metadata.json
try scan --metadata other/db/wide
echo 0 >other/db/wide/metadata/version-hint.text
try scan --metadata other/db/wide --map-location "$PWD/warehouse=other" --columns c_1 --limit 1
