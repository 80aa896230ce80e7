#!/bin/sh
# A file is a noun: each symbol that it exports starts with the file's stem.
set -eu
nm -A -g --defined-only "$1" 2>/dev/null | awk '
{ n = split($1, p, ":"); stem = p[n-1]; sub(/\.o$/, "", stem); sub(/_(avx2|avx512)$/, "", stem)
  sym = $NF
  if (sym !~ "^" stem "(_|$)" && sym !~ /^_/) { print "symbols: " stem ".o exports " sym; bad = 1 } }
END { if (bad) exit 1; print "symbols: ok" }'
