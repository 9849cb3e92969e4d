# Mistakes on the command line: explained on standard error, nothing on standard output, exit 2.
try() {
    echo "\$ frazil $*"
    frazil "$@" >out 2>&3
    echo "exit $?"
    cat out
}
exec 3>&1
try scna db.t
try frobnicate
try help scna
try scan
try scan db.t db.u
try scan --colums id db.t
try scan db.t -x
try --format csv scan db.t
try scan db.t --format
try scan db.t --format xml
try scan db.t --format parquet
try scan db.t --columns id,,x
try scan db.t --limit -1
try scan db.t --limit 1e3
try scan db.t --snapshot 0
try describe db.t --json=yes
try tables --threads 0
FRAZIL_THREADS=two try tables
try import db.t
try import db.t a.parquet --property novalue
try compact db.t --metadata v1.metadata.json
try scan --metadata v1.metadata.json db.t
try scan --metadata v1.metadata.json --catalog sqlite:///c.db
try compact db.t --map-location a=b
try sql "SELECT 1 FROM t" "SELECT 2 FROM t"
try --warehouse s3://bucket/lake tables
