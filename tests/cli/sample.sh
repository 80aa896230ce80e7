# The sample checkpoint: the same bytes for the same seed, small, and never over something else.
. "$ROOT/tests/cli/expect.inc"
run assay sample a
expect 0
run assay sample b --seed 1
expect 0
run assay sample c --seed 2
expect 0
run diff -r a b
expect 0
run cmp a/model-00002-of-00003.safetensors c/model-00002-of-00003.safetensors
[ $status = 1 ] || fail "another seed gives the same bytes"
[ "$(ls a | wc -l)" = 5 ] || fail "not five files"
[ "$(du -sk a | cut -f1)" -lt 51200 ] || fail "over 50 MB"
run assay sample a
expect 2 "not empty"
run assay sample a --seed 2 --force
expect 0
run diff -r a c
expect 0
# an independent reader of the format agrees about every header
run python3 - a <<'P'
import json, os, struct, sys
d = sys.argv[1]
index = json.load(open(os.path.join(d, "model.safetensors.index.json")))
seen = {}
for shard in sorted(set(index["weight_map"].values())):
    with open(os.path.join(d, shard), "rb") as f:
        n, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        spans = sorted(v["data_offsets"] for k, v in header.items() if k != "__metadata__")
        assert spans[0][0] == 0 and all(a[1] == b[0] for a, b in zip(spans, spans[1:]))
        assert 8 + n + spans[-1][1] == os.path.getsize(f.name) and n % 8 == 0
        for k in header:
            if k != "__metadata__":
                seen[k] = shard
assert seen == index["weight_map"]
assert index["metadata"]["total_size"] == sum(
    os.path.getsize(os.path.join(d, s)) - 8 - struct.unpack("<Q", open(os.path.join(d, s), "rb").read(8))[0]
    for s in set(seen.values()))
P
expect 0
