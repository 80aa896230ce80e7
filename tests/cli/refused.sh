# A store that cannot be written and a disk that is full: the report is what is saved where it can
# be, and the status says that the run left no record.
. "$ROOT/tests/cli/expect.inc"
assay sample m || exit 1
run assay audit m --db x.db --report r.html $quick
[ $status -le 1 ] || fail "a quiet audit"
# another program's file
echo 'not a database' >other.db
run assay audit m --db other.db --report r2.html $quick
expect 3 "other.db" "run not recorded"
grep -q 'not recorded' r2.html || fail "the report has a number that finds nothing"
[ -s r2.html ] || fail "no report beside a store that is none"
[ "$(cat other.db)" = "not a database" ] || fail "somebody else's file was changed"
# the report cannot be written: the verdict is printed, the run recorded
run assay audit m --db x.db --report /nowhere/r.html $quick
expect 3 /nowhere
grep -qE 'Not proven|Ready|Not ready' out || fail "no verdict"
run assay report --db x.db --report r3.html
expect 0
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2>/dev/null; then
    run assay audit m --db x.db --report small/r.html $quick
    umount small || { sleep 1; umount small; }
    expect 3 "small/r.html"
    grep -qiE 'space' err || fail "a full disk is not called one"
fi
if [ "$(id -u)" != 0 ]; then
    chmod 444 x.db
    run assay audit m --db x.db --report r4.html $quick
    expect 3 x.db
    [ -s r4.html ] || fail "no report beside a read-only store"
fi
# results that cannot be written are no results
status=0
assay policy >/dev/full 2>err || status=$?
: >out
expect 3 "cannot write"
