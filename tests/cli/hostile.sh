# What a hostile or unlucky caller does: names that a terminal would obey, options that say nothing,
# streams that are closed, a folder of one letter that only its owner may leave.
. "$ROOT/tests/cli/expect.inc"
assay sample m || exit 1
esc=$(printf '\033[31m')
quiet() { # nothing in the last run's output steers a terminal
    if grep -q "$(printf '\033')" out err; then fail "an escape sequence reaches the terminal"; fi
}
run assay "$esc"
expect 2 '\x1b[31m'
quiet
run assay inspect m "$esc"
expect 2 '\x1b[31m'
quiet
run assay report "$esc" --db x.db
[ "$status" != 0 ] || fail "a run of that name"
quiet
# a type that nobody knows, by a name that nobody wants to see
mkdir odd
cp m/config.json odd
python3 - odd/model.safetensors <<'P'
import json, struct, sys
h = {"x\033[31m": {"dtype": "F\033[31m", "shape": [2], "data_offsets": [0, 4]}}
b = json.dumps(h).encode()
b += b" " * (-len(b) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(b)) + b + bytes(4))
P
run assay inspect odd --tensors
quiet
grep -qF 'F\x1b[31m' out || fail "the type is not shown"
run assay coverage odd --json
quiet
# options that say nothing are no options
for option in --report= --db= --policy= --support= --baseline= --budget=0 --memory=0 --tokens=0; do
    run assay audit m $option
    expect 2 "${option%%=*}"
done
run assay audit m --context 0
expect 2 "--context: a length of 0"
# a file that an option names and that is none is a wrong command line, and not a late surprise
echo 'no JSON' >garbage
for option in --policy=garbage --support=garbage --policy=nowhere --support=nowhere --policy=m; do
    run assay audit m $option
    expect 2 "${option%%=*}: " "${option##*=}"
    run assay coverage m $option
    expect 2 "${option%%=*}: "
done
run assay policy --policy garbage
expect 2 "--policy: policy garbage"
# a model that is not known: the reason is told, not only that there is one
mkdir who
sed 's/"kimi_k3"/"kimi_k9"/' m/config.json >who/config.json
for command in coverage stress balance; do
    run assay $command who
    expect 3 "$command: who: config.json: no known architecture"
done
# no ladder was run: told once
run assay audit m --db x.db --report r.html --budget 1ms --context 8K
[ "$(grep -c 'longest context measured of' out)" = 0 ] || fail "told again for each kind"
expect 1 "No ladder was run"
# closed streams: nothing of the results goes into a file that took their number
status=0
assay inspect m >&- 2>err </dev/null || status=$?
: >out
expect 3 "cannot write the results"
assay audit m --db y.db --report closed.html $quick <&- >&- 2>&-
[ "$(sqlite3 -readonly y.db 'PRAGMA integrity_check')" = ok ] || fail "a damaged store"
head -c 15 closed.html | grep -q '<!doctype html>' || fail "no report without streams"
tail -c 20 closed.html | grep -q '</html>' || fail "half a report without streams"
# a folder of one letter, from a folder that the user may not write
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
    top=$(mktemp -d)
    trap 'rm -rf "$top"' EXIT
    chmod 755 "$top"
    cp -r m "$ASSAY" "$top"
    mkdir "$top/w"
    chmod 777 "$top/w"
    here=$PWD
    cd "$top" || exit 1
    $nobody ./assay audit m --db w/x.db --report w/r.html $quick >"$here/out" 2>"$here/err"
    status=$?
    # a store that is brought to where it can only be read is still read
    mkdir ro
    $nobody sqlite3 w/x.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    cp w/x.db ro
    chmod 444 ro/x.db
    chmod 555 ro
    $nobody ./assay report --db ro/x.db >"$here/page" 2>"$here/err2"
    read=$?
    cd "$here" || exit 1
    [ "$status" -le 1 ] || fail "the report does not reach a folder of one letter"
    [ "$read" = 0 ] || { cat err2; fail "a store in a read-only folder is not read"; }
fi
