# kill -9 at fifty random moments of an audit: the database opens, is whole, and the next audit uses
# it without a complaint. Runs of which no end is recorded are never taken for finished ones.
. "$ROOT/tests/cli/expect.inc"
run assay sample m
expect 0
# how long a whole audit takes here, so that the moments fall inside it
begin=$(date +%s%N)
run assay audit m --db x.db --report r.html $quick
[ $status -le 1 ] || fail "a quiet audit ended with $status"
span=$((($(date +%s%N) - begin) / 1000000))
i=0
killed=0
while [ $i -lt 50 ]; do
    i=$((i + 1))
    assay audit m --db x.db --report r.html $quick >out 2>err &
    pid=$!
    sleep "$(awk -v s=$i -v t=$span 'BEGIN { srand(s); printf "%.3f", rand() * t / 1000 }')"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    # an error would be a complaint; what is cut off is not
    if grep -qiE 'database|not recorded|sqlite' err; then fail "round $i complains"; fi
    [ "$(sqlite3 -readonly x.db 'PRAGMA integrity_check')" = ok ] || fail "round $i: damaged"
    [ -z "$(sqlite3 -readonly x.db 'PRAGMA foreign_key_check')" ] || fail "round $i: dangling"
    head -c 15 r.html | grep -q '<!doctype html>' || fail "round $i: half a report"
    tail -c 20 r.html | grep -q '</html>' || fail "round $i: half a report"
done
[ $killed -gt 10 ] || fail "only $killed of 50 audits were still there to kill"
run assay audit m --db x.db --report r.html $quick
[ $status -le 1 ] || fail "the audit after them ended with $status"
one=$(sqlite3 -readonly x.db 'SELECT count(*) FROM run')
[ "$one" -gt 10 ] || fail "the runs are not there"
run assay report --db x.db --report again.html
expect 0
