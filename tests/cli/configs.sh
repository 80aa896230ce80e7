# Real configs of other families: the cache costs that the published shapes give.
. "$ROOT/tests/cli/expect.inc"
[ -d "$CORPUS" ] || { echo "no configs: CORPUS is absent"; exit 77; }
cost() { # slug, cache bytes a token, constant state bytes
    mkdir -p "$1"
    cp "$CORPUS/$1/config.json" "$1/config.json" || fail "no $1 in the corpus"
    run assay inspect "$1" --json
    expect 0
    json out 'd["cache"]["bytes_per_token"], d["cache"]["state_bytes"]' "($2, $3)"
}
# 61 MLA layers of (512 + 64) x 2 bytes
cost aic-deepseek-ai--DeepSeek-V3 70272 0
cost aic-deepseek-ai--DeepSeek-R1 70272 0
cost aic-moonshotai--Kimi-K2-Instruct 70272 0
# 80 layers x 2 x 8 heads x 128 x 2 bytes
cost aic-meta-llama--Llama-3.3-70B-Instruct 327680 0
# 28 layers x 2 x 8 heads x 128 x 2 bytes
cost aic-Qwen--Qwen3-0.6B 114688 0
cost aic-moonshotai--Kimi-K3 27648 449372160
# 7 MLA layers x 1,152 bytes; 20 KDA layers x (2,097,152 + 73,728) bytes
cost made-Kimi-Linear-48B-A3B 8064 43417600
json out 'd["parameters"]["total"]' 49122681728
