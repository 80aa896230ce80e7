# Every command: help, usage errors, and --json that is JSON.
. "$ROOT/tests/cli/expect.inc"
run assay
expect 2 usage
run assay --version
expect 0 assay
run assay nonsense
expect 2 nonsense
assay sample m >/dev/null || exit 1
for c in audit inspect fingerprint verify diff coverage stress balance report policy sample kernels; do
    run assay $c --help
    expect 0 "usage: assay $c" "--json"
    [ ! -s err ] || fail "$c --help speaks on stderr"
    run assay $c --no-such-option
    expect 2 no-such-option
done
run assay audit
expect 2 SUBJECT
run assay diff a b c
expect 2 "'c'"
run assay inspect m --budget 3s
expect 2 "takes no --budget"
run assay stress m --seed 1 --seed 2
expect 2 twice
db="--db x.db"
run assay fingerprint m $db --json
expect 0
json out 'len(d["files"]), len(d["digest"])' "(5, 64)"
run assay inspect m --json --layers --tensors
expect 0
json out 'd["layers"]["mixers"]' "2 x (3 x KDA, MLA), MLA"
json out 'd["layers"]["feed_forward"]' "dense, 8 x latent MoE"
run assay inspect m --layers
expect 0 "3 x KDA, MLA" "mxfp4-pack-quantized"
run assay coverage m --json
[ $status = 0 ] || [ $status = 3 ] || fail "coverage"
json out 'len({f["key"] for f in d["facts"]} & {"format.support", "operator.support"})' 2
run assay stress m $quick --json
expect 0
json out '"cache.measured" in {p["series"] for p in d["points"]}' True
run assay stress m $quick
expect 0 "cache growth   expected linear"
run assay balance m --json
expect 0
json out '[f["value"] for f in d["facts"] if f["key"] == "balance.source"][0].split()[0].strip(",:")' synthetic
# 1,024 tokens of which each goes to 4 of 32 experts
run assay balance m --tokens 1K --json
expect 0
json out '[f["value"] for f in d["facts"] if f["key"] == "balance.tokens"]' "[1024]"
json out '[f["value"] for f in d["facts"] if f["key"] == "balance.tokens_per_expert"]' "[128]"
run assay balance m --tokens 0
expect 2 --tokens
run assay balance m -v
expect 0 "load of the experts: "
run assay kernels list --json
expect 0
json out 'len([k for k in d["kernels"] if not k["missing"]]) >= 7' True
run assay policy --json
expect 0
json out 'sorted(d)[0] != ""' True
run assay audit m $db --report r.html $quick --json
[ $status = 1 ] || [ $status = 0 ] || fail "audit"
json out 'd["format"], d["run"]' "('assay-report', 1)"
run assay report 1 $db --json
expect 0
json out 'd["run"]' 1
run assay report 7 $db
expect 3 7
run assay audit m $db --report r.html $quick --fail-on fail
[ $status -le 1 ] || fail "audit --fail-on"
