#!/bin/sh
# What the program makes of every config.json under CORPUS: a table, and counts. Fails on a crash, on
# an answer that is no JSON, and on a figure that is missing without a reason.
#   explained   the cache is exact; what else is not known stands behind it
#   unknown     the family is known, and a key stands in the way of the cache
#   refused     no known architecture, or a config that is none
PROG=${1:-assay}
CORPUS=${CORPUS:-../shared/corpus}
[ -d "$CORPUS" ] || { echo "no folder $CORPUS; name one: make check-corpus CORPUS=DIR"; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/row.py" <<'P'
import json, sys
root, folder, status, out, err = sys.argv[1:]
def row(kind, why): print(f"{kind:<10} {folder[len(root):].strip('/'):<58} {why}")
try:
    d = json.load(open(out))
except ValueError:
    row("CRASHED", f"exit {status}: {open(err).read().strip()[:200]}")
    sys.exit()
unknown, cache, params = d["unknown"], d["cache"], d["parameters"]["total"]
if cache:
    parts = []
    if cache["encoder"]:
        parts.append("no cache: an encoder")
    elif cache["step_tokens"] == 1:
        parts.append(f"{cache['bytes_per_token']:,} B/token")
    else:
        parts.append(f"{cache['step_bytes']:,} B/{cache['step_tokens']} tokens")
    for what in "window", "state":
        if cache[what + "_bytes"]:
            parts.append(f"{what} {cache[what + '_bytes']:,}")
    if params is None and not unknown.get("parameters"):
        row("SILENT", "the parameters are missing without a reason")
    if d["operators"] is None and not unknown.get("operators"):
        row("SILENT", "the operators are missing without a reason")
    parts.append("parameters " + (f"{params:,}" if params else "?"))
    if d["operators"] is None:
        parts.append("operators ?")
    row("explained", "; ".join(parts))
elif unknown.get("model"):
    row("refused", "because " + unknown["model"])
elif unknown.get("cost"):
    keys = [k for k in unknown["unexplained_keys"] if k in unknown["cost"]]
    row("unknown", "because " + (", ".join(keys) or unknown["cost"]))
else:
    row("SILENT", "there is no cache, and no reason")
P
find "$CORPUS" -name config.json | sort >"$tmp/list"
while read -r config; do
    dir=$(dirname "$config")
    status=0
    timeout 60 "$PROG" inspect --json "$dir" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    python3 "$tmp/row.py" "$CORPUS" "$dir" "$status" "$tmp/out" "$tmp/err"
done <"$tmp/list" >"$tmp/table"
cat "$tmp/table"
count() { grep -c "^$1 " "$tmp/table" || true; }
echo "$(count explained) explained, $(count unknown) unknown, $(count refused) refused," \
    "$(count CRASHED) crashed, $(count SILENT) silent, of $(wc -l <"$tmp/list")"
! grep -qE "^(CRASHED|SILENT) " "$tmp/table"
