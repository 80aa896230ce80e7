#!/bin/sh
# libFuzzer on one target: fuzz.sh safetensors 60. New inputs go to the target's corpus folder.
set -eu
t=${1:-}
seconds=${2:-60}
[ -n "$t" ] && [ -e "tests/fuzz/fuzz_$t.c" ] || {
    echo "usage: make fuzz T=$(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/' | paste -sd'|') [SECONDS=60]"
    exit 2
}
b=build/fuzz
mkdir -p "$b" "tests/fuzz/corpus/$t"
make -s CC=clang MODE=asan CFLAGS='-fsanitize=fuzzer-no-link' B=$b/tree $b/tree/libassay.a
clang -std=c17 -I. -I$b/tree -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined \
    -o "$b/fuzz_$t" "tests/fuzz/fuzz_$t.c" $b/tree/libassay.a \
    $(pkg-config --libs libcrypto sqlite3 libcjson papi) -lm -pthread
exec "$b/fuzz_$t" -max_total_time="$seconds" -timeout=10 "tests/fuzz/corpus/$t"
