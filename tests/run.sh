#!/bin/sh
# Runs every test. Failures print their whole log, skips their reason, passes nothing; the last
# line counts. A test program exits 0 (passed), 77 (skipped, reason on its last line) or otherwise.
B=$1 PROG=$2
pass=0 fail=0 skip=0
root=$PWD
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$root/$B:$PATH
case $CORPUS in /*) ;; *) CORPUS=$root/$CORPUS ;; esac
case $GOLDEN in /*) ;; *) GOLDEN=$root/$GOLDEN ;; esac
ROOT=$root ASSAY=$root/$B/$PROG BUILD=$root/$B
export PATH CORPUS GOLDEN ROOT ASSAY BUILD
export XDG_STATE_HOME="$tmp/state" CMOCKA_MESSAGE_OUTPUT=STDOUT
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1

one() { # name command...
    name=$1
    shift
    "$@" >"$tmp/log" 2>&1 </dev/null
    rc=$?
    case $rc in
    0) pass=$((pass + 1)) ;;
    77) skip=$((skip + 1)); echo "skipped $name: $(tail -n 1 "$tmp/log")" ;;
    *) fail=$((fail + 1)); echo "FAILED $name (exit $rc)"; cat "$tmp/log" ;;
    esac
}
unit() { # a cmocka program: its cases are counted one by one
    "$1" >"$tmp/log" 2>&1 </dev/null
    rc=$?
    p=$(grep -c '^\[       OK \]' "$tmp/log")
    f=$(grep -c '^\[  FAILED  \] [a-z]' "$tmp/log")
    s=$(grep -c '^\[  SKIPPED \] [a-z]' "$tmp/log")
    [ "$f" -gt 0 ] && f=$(grep '^\[  FAILED  \] [a-z]' "$tmp/log" | sort -u | wc -l)
    [ "$s" -gt 0 ] && s=$(grep '^\[  SKIPPED \] [a-z]' "$tmp/log" | sort -u | wc -l) &&
        grep -E '^(skip|skipped):? ' "$tmp/log" | sed -E 's/^(skip|skipped):? //' | sort -u |
        awk -v n="${1##*/}" 'NR == 1 { first = $0 } END { more = " (and " NR - 1 " more like it)"
            if (NR) print "skipped " n ": " first (NR > 1 ? more : "") }'
    if [ $rc != 0 ] && [ "$f" = 0 ]; then f=1; fi
    if [ $rc = 0 ] && [ "$p" = 0 ] && [ "$s" = 0 ]; then rc=1 f=1; echo "no test ran" >>"$tmp/log"; fi
    pass=$((pass + p)) fail=$((fail + f)) skip=$((skip + s))
    [ "$f" = 0 ] || { echo "FAILED ${1##*/} (exit $rc)"; cat "$tmp/log"; }
}
golden() { # a folder with cmd, and optionally exit, stdout, stderr
    d=$root/$1
    rm -rf "$tmp/w"
    mkdir "$tmp/w" && cd "$tmp/w" || return 1
    sh "$d/cmd" >out 2>err </dev/null
    rc=$?
    bad=0
    [ "$rc" = "$(cat "$d/exit" 2>/dev/null || echo 0)" ] || { echo "exit status $rc"; cat err; bad=1; }
    for s in out err; do
        [ ! -e "$d/std$s" ] || diff -u "$d/std$s" $s || bad=1
    done
    cd "$root" || return 1
    return $bad
}
script() { # a shell test in a folder of its own
    rm -rf "$tmp/w"
    mkdir "$tmp/w" && cd "$tmp/w" || return 1
    sh "$root/$1"
    rc=$?
    cd "$root" || return 1
    return $rc
}
one layers tests/layers.sh
one keys tests/keys.sh
one symbols tests/symbols.sh "$B/lib$PROG.a"
for t in "$B"/tests/unit/test_*; do
    case $t in *.o | *.d | *.gc*) ;; *) [ -x "$t" ] && unit "$t" ;; esac
done
[ -x "$B/tests/kernels/kcheck" ] && one kcheck "$B/tests/kernels/kcheck"
for f in "$B"/tests/fuzz/fuzz_*; do
    case $f in *.o | *.d | *.gc*) continue ;; esac
    [ -x "$f" ] && one "${f##*/}" "$f" tests/fuzz/corpus/"${f##*/fuzz_}"/*
done
for d in tests/golden/*/; do
    [ -e "$d/cmd" ] && one "$d" golden "$d"
done
for s in tests/cli/*.sh; do
    [ -e "$s" ] && one "$s" script "$s"
done
echo "$pass passed, $fail failed, $skip skipped"
[ "$fail" = 0 ]
