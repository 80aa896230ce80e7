#!/bin/sh
# What `make audit` does once assay is built: audit.sh PROGRAM BUILD_DIR [SUBJECT]. Without a
# subject it writes the sample checkpoint. Succeeds when a report was written, whatever it says.
set -eu
prog=$1
build=$2
subject=${3:-}
if [ -z "$subject" ]; then
    subject=$build/sample
    [ -e "$subject/config.json" ] || "$prog" sample "$subject"
fi
report=$PWD/$build/report.html
rm -f "$report"
status=0
"$prog" audit "$subject" --report "$report" || status=$?
[ -s "$report" ] || { echo "no report was written (exit status $status)" >&2; exit 1; }
