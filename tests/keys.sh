#!/bin/sh
# The README's list of fact keys is core/fact_keys.h, printed. --write puts it there; without, the
# two are compared.
set -eu
table() {
    python3 - <<'P'
import re
text = re.sub(r"/\*.*?\*/", "", open("core/fact_keys.h").read(), flags=re.S)
print("\n| key | unit | meaning |\n|---|---|---|")
for name, unit, meaning in re.findall(
        r'X\(\s*\w+,\s*"([^"]+)",\s*\w+,\s*"([^"]*)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text):
    words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', meaning)).replace("|", "\\|")
    print(f"| `{name}` | {unit} | {words} |")
print()
P
}
old=$(mktemp)
new=$(mktemp)
trap 'rm -f "$old" "$new"' EXIT
table >"$new"
sed -n '/^<!-- keys:/,/^<!-- end of keys/p' README.md | sed '1d;$d' >"$old"
if [ "${1:-}" = --write ]; then
    sed -i -e '/^<!-- keys:/,/^<!-- end of keys/{//!d}' -e "/^<!-- keys:/r $new" README.md
elif ! diff -u "$old" "$new"; then
    echo "keys: README.md is not core/fact_keys.h; run tests/keys.sh --write"
    exit 1
else
    echo "keys: ok"
fi
