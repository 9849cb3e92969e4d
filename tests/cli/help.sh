# The help of frazil and of every command.
frazil --help
for command in import update sql scan cat inspect tables describe schema snapshots files manifests \
    compact validate help version; do
    echo
    echo "\$ frazil $command --help"
    frazil "$command" --help
done
