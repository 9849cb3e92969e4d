# What is not there: exit 3, and nothing is made.
try() {
    echo "\$ frazil $*" | sed "s,$PWD,DIR,g"
    frazil "$@" >out 2>&1
    status=$?
    sed "s,$PWD,DIR,g" out
    echo "exit $status"
    rm out
}
try tables
try describe db.t
try sql "SELECT * FROM db.t"
try compact db.t
try tables --warehouse lake
try tables --catalog "sqlite://$PWD/lake/c.db"
try tables --catalog lake/c.db
FRAZIL_WAREHOUSE=elsewhere try tables
FRAZIL_CATALOG=sqlite:///no/such/c.db try tables
FRAZIL_CATALOG=sqlite:///no/such/c.db try tables --catalog here.db
FRAZIL_CATALOG= FRAZIL_WAREHOUSE= try tables
try import db.t missing.parquet
try scan --metadata missing.metadata.json
ls
