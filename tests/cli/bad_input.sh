# Whatever is wrong with a subject: one clear message, the right exit status, and what could be
# learnt all the same.
. "$ROOT/tests/cli/expect.inc"
assay sample good || exit 1
shard=model-00002-of-00003.safetensors
other=model-00003-of-00003.safetensors
try() { # the bad folder: inspected and audited; the words must be in the report
    run assay inspect bad --json
    if grep -qE 'AddressSanitizer|runtime error' err; then fail "a crash"; fi
    [ "$status" = 0 ] || [ "$status" = 3 ] || fail "inspect"
    rm -f r.html
    run assay audit bad --db x.db --report r.html $quick
    if grep -qE 'AddressSanitizer|runtime error' err; then fail "a crash"; fi
    audit=$status
    [ -s r.html ] || fail "no report"
    for word in "$@"; do
        grep -qF -- "$word" r.html || fail "'$word' is not in the report"
    done
}
fresh() {
    rm -rf bad
    cp -r good bad
}
# places that are none
run assay audit nowhere --db x.db --report r.html
expect 3 nowhere
one_message
: >file
run assay inspect file
expect 3 file
one_message
mkdir empty
run assay inspect empty
expect 3 config.json
one_message
# no config: the tensors still speak
fresh
rm bad/config.json
try config.json "sha256"
[ $audit = 1 ] || fail "an audit without a config"
# config that is no JSON, cut, or has a key twice
fresh
echo '{"model_type": ' >bad/config.json
try config.json
[ $audit = 1 ] || fail "a broken config"
fresh
sed -i 's/"hidden_size": 384,/"hidden_size": 384, "hidden_size": 385,/' bad/config.json
try hidden_size
[ $audit = 1 ] || fail "a key twice"
fresh
sed -i 's/"kimi_k3"/"kimi_k9"/; s/"kimi_linear"/"kimi_curved"/' bad/config.json
try kimi_
[ $audit = 1 ] || fail "an unknown architecture"
# the index names a shard that is not there
fresh
rm bad/$shard
try $shard
[ $audit = 1 ] || fail "a missing shard"
# shorter, longer, empty
fresh
truncate -s -1 bad/$shard
try $shard
[ $audit = 1 ] || fail "a short shard"
fresh
printf 'x' >>bad/$shard
try $shard
[ $audit = 1 ] || fail "a long shard"
fresh
: >bad/$shard
try $shard empty
[ $audit = 1 ] || fail "an empty shard"
# a pointer, a folder, a FIFO in its place
fresh
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 14000000\n' 7 >bad/$shard
try $shard LFS
[ $audit = 1 ] || fail "a pointer"
fresh
rm bad/$shard
mkdir bad/$shard
try $shard
[ $audit = 1 ] || fail "a folder in place of a shard"
fresh
rm bad/$shard
mkfifo bad/$shard
try $shard
[ $audit = 1 ] || fail "a FIFO in place of a shard"
# headers: a gap, an overlap, a shape that overflows, a dtype that nobody knows
header() { # python expression that changes the dictionary h
    fresh
    python3 - "bad/$other" "$1" <<'P'
import json, struct, sys
path, change = sys.argv[1:]
b = open(path, "rb").read()
n, = struct.unpack("<Q", b[:8])
h = json.loads(b[8:8 + n])
name = sorted(k for k in h if k != "__metadata__")[1]
exec(change)
t = json.dumps(h, separators=(",", ":")).encode()
t += b" " * (-len(t) % 8)
open(path, "wb").write(struct.pack("<Q", len(t)) + t + b[8 + n:])
P
}
for change in 'h[name]["data_offsets"][0] += 8; h[name]["data_offsets"][1] += 8' \
    'h[name]["data_offsets"] = [0, h[name]["data_offsets"][1] - h[name]["data_offsets"][0]]' \
    'h[name]["shape"] = [2, 18446744073709551614]' \
    'h[name]["data_offsets"] = [1, 2, 3]' \
    'h[name] = 7'; do
    header "$change"
    try $other
    [ $audit = 1 ] || fail "header: $change"
done
header 'h[name]["dtype"] = "F3_X"'
try F3_X
# an index with a way out of the folder
fresh
sed -i "s|$other|../$other|" bad/model.safetensors.index.json
try index
# options and policies
run assay stress good --budget 5
expect 2 budget
run assay stress good --context 0
expect 2 context
run assay audit good --policy good/config.json --db x.db
expect 2 architectures
echo '{"name": "x", "target": {"backend": []}}' >p.json
run assay audit good --policy p.json --db x.db
expect 2 backend
# weights that were not fetched are not known, and do not fail what they hold
rm -rf bad && mkdir bad && cp good/config.json bad
try "no weight files"
[ $audit = 1 ] || fail "a config alone"
grep -q 'Not proven' out && grep -q 'Not downloadable' out || fail "a config alone is judged"
