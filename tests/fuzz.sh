#!/bin/sh
# libFuzzer on one target: fuzz.sh safetensors 60. New inputs go to build/fuzz/corpus;
# one that is worth keeping is copied to tests/fuzz/corpus by hand.
set -eu
t=${1:-}
seconds=${2:-60}
if [ ! -e "tests/fuzz/fuzz_$t.c" ]; then
    names=$(find tests/fuzz -name 'fuzz_*.c' | sed 's/.*fuzz_\(.*\)\.c/\1/' | sort | paste -sd'|')
    echo "usage: make fuzz T=$names [SECONDS=60]" >&2
    exit 2
fi
b=build/fuzz
# the libraries as the Makefile finds them: PAPI only where it is
libs="libcrypto sqlite3 libcjson"
if pkg-config --exists papi; then libs="$libs papi"; fi
mkdir -p "$b/corpus/$t"
make -s CC=clang MODE=asan CFLAGS='-fsanitize=fuzzer-no-link' B=$b/tree $b/tree/libassay.a
# shellcheck disable=SC2046,SC2086
clang -std=c17 -I. -I$b/tree -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined \
    -o "$b/fuzz_$t" "tests/fuzz/fuzz_$t.c" $b/tree/libassay.a \
    $(pkg-config --libs $libs) -lm -pthread
exec "$b/fuzz_$t" -max_total_time="$seconds" -timeout=10 "$b/corpus/$t" "tests/fuzz/corpus/$t"
