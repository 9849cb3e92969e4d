# Ways to the help that must agree, and the help that nobody asked for.
set -e
frazil --help >whole
frazil help >same
cmp whole same
frazil -h | cmp whole -
frazil --json --help | cmp whole -
frazil scan --help >scan
frazil help scan | cmp scan -
frazil -h scan | cmp scan -
frazil scan db.t -h | cmp scan -
frazil >out 2>err || echo "exit $?"
cmp whole err
wc -c <out
frazil version
frazil --version
frazil version --json
