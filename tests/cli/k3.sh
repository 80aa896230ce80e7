# Kimi K3 at full scale: real headers, real config, 497,052 tensors over sparse files. Every figure
# is a published one or the sum that the tool which wrote the headers printed.
. "$ROOT/tests/cli/expect.inc"
tool=$CORPUS/../tools/k3_headers.py
config=$CORPUS/aic-moonshotai--Kimi-K3/config.json
[ -e "$tool" ] && [ -e "$config" ] || { echo "no K3 headers: CORPUS is absent"; exit 77; }
run python3 "$tool" k3 "$config"
expect 0 '"tensors": 497052'
cat >measure.py <<'P'
import resource, subprocess, sys, time
t = time.time()
s = subprocess.run(sys.argv[1:], stdout=open("k3.json", "w")).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(f"{time.time() - t:.2f} s, {peak / 2**20:.0f} MiB at most")
# a sanitizer's shadow memory is not the program's
assert "asan" in sys.argv[1] or "tsan" in sys.argv[1] or peak < 2**30, "over 1 GiB"
sys.exit(s)
P
run python3 measure.py "$ASSAY" inspect k3 --json
expect 0
cat out
json k3.json 'd["tensors"]' 497052
json k3.json 'd["stored_bytes"]' 1559965606912
json k3.json 'd["parameters"]["stored"]' 2779484478208
json k3.json 'd["parameters"]["stored_padding"], d["parameters"]["padding_tensor"]' "(2208, 'self_attn.A_log')"
json k3.json 'd["parameters"]["total"]' 2779484476000
json k3.json 'd["layers"]["by_mixer"]["kda"], d["layers"]["by_mixer"]["mla"]' "(69, 24)"
json k3.json '[l["mixer"] for l in d["layers"]["each"]][-3:]' "['kda', 'mla', 'mla']"
json k3.json 'd["cache"]["bytes_per_token"]' 27648
json k3.json 'd["cache"]["state_bytes"]' 449372160
json k3.json 'd["attention_residuals"]["sources_at_output"]' 9
json k3.json 'd["experts"]["latent_width"], d["experts"]["count"], d["experts"]["top_k"]' "(3584, 896, 16)"
json k3.json '[f["class"] for f in d["formats"] if f["disagrees"]]' "['latent', 'attnres']"
json k3.json '[x["severity"] for x in d["findings"] if x["severity"] == "failure"]' "[]"
