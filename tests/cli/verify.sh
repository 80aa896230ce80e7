# A flipped byte under an unchanged size and time: verify says which file, diff says what became of
# it, and a baseline remembers.
. "$ROOT/tests/cli/expect.inc"
db="--db x.db"
shard=m/model-00002-of-00003.safetensors
run assay sample m
run assay fingerprint m $db --baseline good
expect 0 "snapshot 1: sha256:" "baseline 'good'"
[ "$(grep -c '  m\?odel-0' out)" = 3 ] || fail "not three shards"
want=$(sha256sum $shard | cut -d' ' -f1)
grep -q "^$want " out || fail "the digest is not that of sha256sum"
run assay verify m $db
expect 0 identical
touch -r $shard stamp
printf '\125' | dd of=$shard bs=1 seek=5000000 conv=notrunc 2>/dev/null
touch -r stamp $shard
run assay verify m $db
expect 1 changed model-00002-of-00003.safetensors
run assay verify m $db --baseline good --json
expect 1
json out 'd["result"], d["counts"]["changed"], d["counts"]["identical"]' "('different', 1, 4)"
run assay fingerprint m $db
expect 0 "snapshot 2"
run assay diff 1 2 $db
expect 1 "changed     model-00002-of-00003.safetensors" "1 changed"
run assay diff snapshot:2 baseline:good $db
expect 1 "1 changed"
run assay diff m snapshot:2 $db
expect 0 identical
mv $shard m/renamed.safetensors
run assay diff 2 m $db
[ $status = 1 ] || fail "a renamed shard is no difference"
run assay diff 1 99 $db
expect 3 99
run assay diff 1 nowhere $db
expect 3 nowhere "no folder, no baseline"
run assay verify m --db none.db
expect 3
one_message
run assay verify m $db --baseline unheard
expect 3 unheard
