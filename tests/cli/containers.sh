# Weight files as subjects: every one read a second time by tests/compare_containers.py, written
# from the published formats; GGUF files, sets of parts, and formats that are named and not read.
. "$ROOT/tests/cli/expect.inc"
compare="python3 $ROOT/tests/compare_containers.py $ASSAY"
$compare --write made >log || { cat log; exit 1; }
tail -n 1 log
if [ -d "$CORPUS" ]; then
    find "$CORPUS" -name '*.gguf' -o -name '*.safetensors' | sort >list
    xargs $compare <list >log || { cat log; exit 1; }
    tail -n 1 log
fi

# a GGUF file: the model from its metadata, formats by type, a fingerprint, an audit
python3 - <<'P' || exit 1
import os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests"))
from compare_containers import gguf, pair, text
import struct
u32 = lambda k, v: pair(k, 4, struct.pack("<I", v))
def model(name, q, parts=1):
    head = [pair("general.architecture", 8, text("llama")), u32("general.file_type", 7),
            pair("general.name", 8, text("Tiny")), u32("llama.vocab_size", 64),
            u32("llama.context_length", 2048), u32("llama.embedding_length", 64),
            u32("llama.block_count", 1), u32("llama.feed_forward_length", 96),
            u32("llama.attention.head_count", 4), u32("llama.attention.head_count_kv", 2),
            pair("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5))]
    t = [("token_embd.weight", [64, 64], q, None), ("output_norm.weight", [64], 0, None),
         ("blk.0.attn_norm.weight", [64], 0, None), ("blk.0.ffn_norm.weight", [64], 0, None),
         ("blk.0.attn_q.weight", [64, 64], q, None), ("blk.0.attn_k.weight", [64, 32], q, None),
         ("blk.0.attn_v.weight", [64, 32], q, None), ("blk.0.attn_output.weight", [64, 64], q, None),
         ("blk.0.ffn_gate.weight", [64, 96], q, None), ("blk.0.ffn_up.weight", [64, 96], q, None),
         ("blk.0.ffn_down.weight", [96, 64], q, None)]
    if parts == 1:
        open(name + ".gguf", "wb").write(gguf(head, t))
        return
    for i in range(parts):
        split = [pair("split.no", 2, struct.pack("<H", i)),
                 pair("split.count", 2, struct.pack("<H", parts)),
                 pair("split.tensors.count", 5, struct.pack("<i", len(t)))]
        data = gguf((head if i == 0 else []) + split, t[i * 4:(i + 1) * 4])
        open(f"{name}-{i + 1:05}-of-{parts:05}.gguf", "wb").write(data)
model("tiny", 8)
os.mkdir("set")
model("set/tiny", 8, 3)
os.mkdir("several")
model("several/tiny-q8_0", 8)
model("several/tiny-f16", 1)
open("x.bin", "wb").write(b"x")
open("x.pt", "wb").write(b"\x80\x02}q\x00.")
os.mkdir("pickles")
open("pickles/config.json", "w").write("{}")
open("pickles/pytorch_model.bin", "wb").write(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")
os.mkdir("onnx")
open("onnx/config.json", "w").write("{}")
open("onnx/model.onnx", "wb").write(b"\x08\x07\x12\x07pytorch")
P
run assay inspect tiny.gguf --json
expect 0
json out 'd["kind"]' "GGUF file"
json out 'd["family"], d["architecture"]' "('llama', 'llama (GGUF)')"
# by hand: embedding 64*64, norms 3*64, q and o 64*64, k and v 64*32, three of 64*96
json out 'd["parameters"]["total"]' 35008
json out 'd["parameters"]["stored"]' 35008
json out 'd["stored_bytes"]' 37760 # (35008 - 192) / 32 * 34 + 192 * 4
json out 'd["cache"]["bytes_per_token"]' 128
json out 'd["unknown"].get("model")' None
json out '[t for t in d["gguf"]["types"] if t["type"] == "Q8_0"][0]["bits_per_weight"]' 8.5
json out '[f["observed"] for f in d["formats"] if f["class"] == "attention"]' "['gguf-q8_0']"
run assay inspect tiny.gguf
expect 0 "7 (Q8_0)" gguf-q8_0 "8.5"
run assay audit tiny.gguf --db x.db --report r.html $quick
[ "$status" -le 1 ] || fail "an audit of a GGUF file"
for word in gguf-q8_0 "GGUF version 3" format.bits_per_weight "The only weight file"; do
    grep -qF "$word" r.html || fail "'$word' is not in the report"
done
run assay fingerprint tiny.gguf --db x.db
expect 0 tiny.gguf "over 1 file"
run assay verify tiny.gguf --db x.db
expect 0 identical
# one byte of the data
printf 'x' | dd of=tiny.gguf bs=1 seek=20000 conv=notrunc 2>/dev/null
run assay verify tiny.gguf --db x.db
expect 1 changed

# a set of parts: the folder, or any of them; a missing part; a part twice; two models
for subject in set set/tiny-00001-of-00003.gguf set/tiny-00003-of-00003.gguf; do
    run assay inspect $subject --json
    expect 0
    json out 'd["tensors"], d["shards"], d["parameters"]["stored"]' "(11, 3, 35008)"
    json out 'd["findings"]' "[]"
done
cp -r set twice
cp twice/tiny-00002-of-00003.gguf twice/tiny-00003-of-00003.gguf
run assay inspect twice --json
expect 3 split-part-twice split-part-missing
mv set/tiny-00002-of-00003.gguf gone
run assay inspect set --json
expect 3 split-part-missing file-missing "not complete"
run assay audit set --db x.db --report r.html $quick
expect 1 "Partly downloadable"
run assay inspect several
expect 3 gguf-several tiny-f16.gguf tiny-q8_0.gguf
! grep -qE 'config-missing|weights-foreign' out || fail "GGUF files called another format"
run assay inspect several/tiny-f16.gguf
expect 0 "gguf-file-type-differs"

# what is not read is named for what it is
run assay inspect x.bin
expect 3 "no format that is known"
one_message
run assay inspect x.pt
expect 3 "a Python pickle" "weights_only=True"
one_message
run assay inspect pickles
expect 3 unsafe-format "never read here"
run assay inspect onnx
expect 3 weights-foreign "an ONNX model"
