#!/bin/sh
# The include rules between folders, and the sizes a reader can hold.
set -eu
bad=0
rule() { # folder, then the folders that it may include beside itself
    from=$1
    shift
    ok=" $from $* "
    for f in "$from"/*.[ch]; do
        [ -e "$f" ] || continue
        for to in $(sed -n 's/^#include "\([^"]*\)\/[^/"]*"$/\1/p' "$f" | sort -u); do
            case $ok in *" $to "*) ;; *) echo "layers: $f includes $to/"; bad=1 ;; esac
        done
    done
}
only() { # header, then the folders that may include it
    header=$1
    shift
    for f in $(grep -lE "^#include <$header" ./*/*.[ch] || true); do
        d=${f#./}
        case " $* " in *" ${d%%/*} "*) ;; *) echo "layers: $f includes <$header>"; bad=1 ;; esac
    done
}
rule core
rule model core
rule fingerprint core model
rule stress core model
rule probes core model fingerprint
rule db core model fingerprint
rule report core db
rule audit core model fingerprint stress probes db report
only sqlite3.h db
only 'cjson/' core
only openssl/ fingerprint
only papi.h stress
only curl/ probes stress
only sys/socket.h probes stress
if find core model fingerprint stress probes db report audit -name '*.[ch]' |
    sed 's|.*/||; s/\.[ch]$//' | sort | uniq -c | awk '$1 > 2 { print $2; e = 1 } END { exit !e }'; then
    echo "layers: these stems are not unique"
    bad=1
fi
for f in */*.[ch]; do
    n=$(wc -l < "$f")
    if [ "$n" -gt 500 ]; then
        echo "layers: $f has $n lines, over 500"
        bad=1
    fi
done
awk 'FNR == 1 { s = 0 }
    /^[a-zA-Z].*\(/ && !/;[ \t]*$/ { name = $0 }
    /^\{/ { s = FNR }
    /^\}/ { if (s && FNR - s > 75) { printf "layers: %s: %d lines: %s\n", FILENAME, FNR - s, name; e = 1 } s = 0 }
    END { exit e }' */*.c || bad=1
[ $bad = 0 ] && echo "layers: ok"
exit $bad
