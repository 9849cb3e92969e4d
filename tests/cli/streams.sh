# Standard output that cannot be written to, and descriptors that are not there.
frazil help >/dev/full 2>err
echo "exit $?"
cat err
frazil help >&- 2>err
echo "exit $?"
cat err
frazil tables <&- 2>&-
echo "exit $?"
frazil help | head -n 1
