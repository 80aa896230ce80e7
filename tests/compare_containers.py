#!/usr/bin/env python3
"""Compares what assay reads of weight files with a second reading, written from the published
formats: safetensors (huggingface/safetensors, README), GGUF (ggml docs/gguf.md, enum ggml_type and
the block structs of ggml-common.h), Git-LFS pointers (git-lfs docs/spec.md).

    compare_containers.py ASSAY FILE...         each file as a subject of its own
    compare_containers.py ASSAY --write DIR     writes GGUF files first, valid and not, then those

Prints a line for each file that differs and a count; exit status 1 if one differs.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys

# id: name, elements of a block, bytes of a block
GGML = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 2 + 16), 3: ("Q4_1", 32, 4 + 16),
    6: ("Q5_0", 32, 2 + 4 + 16), 7: ("Q5_1", 32, 4 + 4 + 16), 8: ("Q8_0", 32, 2 + 32),
    9: ("Q8_1", 32, 4 + 32), 10: ("Q2_K", 256, 16 + 64 + 4), 11: ("Q3_K", 256, 32 + 64 + 12 + 2),
    12: ("Q4_K", 256, 4 + 12 + 128), 13: ("Q5_K", 256, 4 + 12 + 32 + 128),
    14: ("Q6_K", 256, 128 + 64 + 16 + 2), 15: ("Q8_K", 256, 4 + 256 + 32),
    16: ("IQ2_XXS", 256, 2 + 64), 17: ("IQ2_XS", 256, 2 + 64 + 8), 18: ("IQ3_XXS", 256, 2 + 96),
    19: ("IQ1_S", 256, 2 + 32 + 16), 20: ("IQ4_NL", 32, 2 + 16),
    21: ("IQ3_S", 256, 2 + 64 + 8 + 32 + 4), 22: ("IQ2_S", 256, 2 + 64 + 8 + 8),
    23: ("IQ4_XS", 256, 2 + 2 + 4 + 128), 24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4),
    27: ("I64", 1, 8), 28: ("F64", 1, 8), 29: ("IQ1_M", 256, 32 + 16 + 8), 30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 48 + 4 + 2), 35: ("TQ2_0", 256, 64 + 2), 39: ("MXFP4", 32, 1 + 16),
    40: ("NVFP4", 64, 4 + 32), 41: ("Q1_0", 128, 2 + 16), 42: ("Q2_0", 64, 2 + 16),
}
SCALARS = {0: ("u8", "<B"), 1: ("i8", "<b"), 2: ("u16", "<H"), 3: ("i16", "<h"), 4: ("u32", "<I"),
           5: ("i32", "<i"), 6: ("f32", "<f"), 7: ("bool", "<B"), 10: ("u64", "<Q"),
           11: ("i64", "<q"), 12: ("f64", "<d")}
NAMES = {**{k: v[0] for k, v in SCALARS.items()}, 8: "text", 9: "array"}
BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8,
        "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16,
        "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
        "C64": 64}


class Bad(Exception):
    """The file breaks its format."""


class Cut(Bad):
    """The file ends inside its header."""


# --- reading ---------------------------------------------------------------------------------


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if n > len(self.data) - self.at:
            raise Cut(f"{n} bytes at {self.at}")
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, fmt):
        return struct.unpack(fmt, self.take(struct.calcsize(fmt)))[0]

    def text(self):
        return self.take(self.number("<Q"))


def as_text(raw):
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def value_of(r, kind, depth=0):
    if kind == 8:
        raw = r.text()
        return {"type": "text", "bytes": len(raw),
                "value": as_text(raw) if len(raw) <= 4096 else None}
    if kind == 9:
        if depth == 4:
            raise Bad("arrays too deep")
        inner, n = r.number("<I"), r.number("<Q")
        if inner not in NAMES:
            raise Bad(f"value type {inner}")
        if inner in SCALARS:
            raw = r.take(n * struct.calcsize(SCALARS[inner][1]))
            if inner == 7 and any(b > 1 for b in raw):
                raise Bad("bool")
        else:
            if n * 8 > len(r.data):
                raise Cut("array")
            for _ in range(n):
                value_of(r, inner, depth + 1)
        return {"type": "array", "elements": NAMES[inner], "count": n}
    if kind not in SCALARS:
        raise Bad(f"value type {kind}")
    v = r.number(SCALARS[kind][1])
    if kind == 7:
        if v > 1:
            raise Bad("bool")
        v = bool(v)
    if isinstance(v, float) and not math.isfinite(v):
        v = None
    return {"type": NAMES[kind], "value": v}


def read_gguf(data):
    """(version, alignment, metadata, tensors); raises Bad. A tensor past the end is in "cut"."""
    r = Reader(data)
    if r.take(4) != b"GGUF":
        raise Bad("magic")
    version = r.number("<I")
    if version not in (2, 3):
        raise Bad(f"version {version}")
    count, pairs = r.number("<Q"), r.number("<Q")
    if count * 24 > len(data) or pairs * 13 > len(data):
        raise Cut("counts")
    meta = {}
    for _ in range(pairs):
        key = as_text(r.text())
        if key is None or key in meta:
            raise Bad(f"key {key}")
        meta[key] = value_of(r, r.number("<I"))
    alignment = 32
    if "general.alignment" in meta:
        a = meta["general.alignment"]
        if a["type"] != "u32" or a["value"] == 0 or a["value"] & (a["value"] - 1):
            raise Bad("alignment")
        alignment = a["value"]
    tensors = []
    for _ in range(count):
        name = as_text(r.text())
        if name is None or any(t["name"] == name for t in tensors):
            raise Bad(f"name {name}")
        dims = r.number("<I")
        if dims > 4:
            raise Bad("dims")
        ne = [r.number("<Q") for _ in range(dims)]
        kind, offset = r.number("<I"), r.number("<Q")
        elements = math.prod(ne)
        if elements >= 2**63 or offset % alignment:
            raise Bad(f"shape or offset of {name}")
        size = None
        if kind in GGML:
            _, block, size = GGML[kind]
            if (ne[0] if ne else 1) % block:
                raise Bad(f"rows of {name}")
            size *= elements // block
            if size >= 2**64:
                raise Bad(f"size of {name}")
        tensors.append({"name": name, "type": GGML[kind][0] if kind in GGML else f"type {kind}",
                        "shape": ne[::-1], "bytes": size, "offset": offset})
    start = -(-r.at // alignment) * alignment
    end = 0
    for t in sorted(tensors, key=lambda t: (t["offset"], t["bytes"] or 0, t["name"])):
        if t["offset"] < end:
            raise Bad(f"{t['name']} overlaps")
        end = t["offset"] + (t["bytes"] or 0)
        if start + end >= 2**64:
            raise Bad("end")
        t["offset"] += start
    return {"version": version, "alignment": alignment, "metadata": meta, "tensors": tensors,
            "short": (start + end if tensors else r.at) > len(data)}


def unique(pairs):
    keys = [k for k, _ in pairs]
    if len(set(keys)) != len(keys):
        raise Bad("a key twice")
    return dict(pairs)


def read_safetensors(data):
    if len(data) < 8:
        raise Cut("length")
    n = struct.unpack("<Q", data[:8])[0]
    if n > 100_000_000 or n > len(data) - 8:
        raise Cut("header")
    try:
        header = json.loads(data[8:8 + n].decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise Bad(str(error)) from error
    if not isinstance(header, dict):
        raise Bad("no object")
    header.pop("__metadata__", None)
    tensors, end = [], 0
    for name, t in sorted(header.items(), key=lambda i: i[1]["data_offsets"]):
        begin, stop = t["data_offsets"]
        bits = BITS.get(t["dtype"])
        if begin != end or stop < begin:
            raise Bad(f"offsets of {name}")
        if bits and math.prod(t["shape"]) * bits != (stop - begin) * 8:
            raise Bad(f"size of {name}")
        end = stop
        tensors.append({"name": name, "type": t["dtype"], "shape": t["shape"],
                        "bytes": stop - begin, "offset": 8 + n + begin})
    return {"tensors": tensors, "short": 8 + n + end > len(data), "long": 8 + n + end < len(data)}


def read_pointer(data):
    lines = data.decode("ascii", "replace").split("\n")
    return {"sha256": next(x[11:] for x in lines if x.startswith("oid sha256:")),
            "size": next(x[5:] for x in lines if x.startswith("size "))}


# --- comparing -------------------------------------------------------------------------------


def failures(doc):
    return [f for f in doc["findings"] if f["severity"] == "failure"]


def compare(assay, path):
    """What differs: a list of sentences; and what was compared."""
    with open(path, "rb") as f:
        data = f.read()
    run = subprocess.run([assay, "inspect", path, "--json", "--tensors"], capture_output=True,
                         check=False)
    if run.returncode not in (0, 3) or b"Sanitizer" in run.stderr:
        return [f"exit status {run.returncode}: {run.stderr.decode()}"], "crash"
    try:
        doc = json.loads(run.stdout)
    except ValueError:
        return [f"no JSON: {run.stderr.decode().strip()}"], "no answer"
    name, out = os.path.basename(path), []
    have = [t for t in doc["tensor_list"] if t["shard"] == name]
    if data.startswith(b"version https://git-lfs"):
        p = read_pointer(data)
        said = " ".join(f["text"] for f in failures(doc))
        if have or p["sha256"] not in said or p["size"] not in said:
            out.append("the pointer's digest and size are not told")
        return out, "pointer"
    gguf = data[:4] == b"GGUF" or (path.endswith(".gguf") and len(data) < 8)
    try:
        want = (read_gguf if gguf else read_safetensors)(data)
    except Bad as error:
        if have:
            out.append(f"tensors of a file that breaks its format ({error})")
        if not failures(doc):
            out.append(f"no failure, and the file breaks its format ({error})")
        return out, "malformed"
    for t in want["tensors"]:
        t["shard"] = name
    have.sort(key=lambda t: t["name"])
    want["tensors"].sort(key=lambda t: t["name"].encode())
    have.sort(key=lambda t: t["name"].encode())
    if have != want["tensors"]:
        for a, b in zip(have, want["tensors"]):
            if a != b:
                out.append(f"{a} against {b}")
                break
        else:
            out.append(f"{len(have)} tensors against {len(want['tensors'])}")
    if bool(want["short"]) != any(f["code"] == "file-short" for f in failures(doc)):
        out.append("short or not")
    if want.get("long", False) != any(f["code"] == "file-long" for f in failures(doc)):
        out.append("long or not")
    alone = len({t["shard"] for t in doc["tensor_list"]}) <= 1 and doc["shards"] == 1
    known = all(t["bytes"] is not None for t in want["tensors"])
    if alone and known and doc["stored_bytes"] != sum(t["bytes"] for t in want["tensors"]):
        out.append("stored bytes")
    if gguf and alone:
        g = doc["gguf"]
        pairs = {p.pop("key"): p for p in g["metadata"]}
        if (g["version"], g["alignment"]) != (want["version"], want["alignment"]):
            out.append("version or alignment")
        if pairs != want["metadata"]:
            for key in sorted(set(pairs) | set(want["metadata"])):
                if pairs.get(key) != want["metadata"].get(key):
                    out.append(f"{key}: {pairs.get(key)} against {want['metadata'].get(key)}")
                    break
    return out, "GGUF" if gguf else "safetensors"


# --- writing ---------------------------------------------------------------------------------


def text(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, value):
    """value: what follows the type, as bytes."""
    return text(key) + struct.pack("<I", kind) + value


def array(kind, values):
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


def gguf(pairs, tensors, alignment=32, version=3, padding=True):
    """tensors: (name, ne, type, offset or None)."""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs)) + b"".join(pairs)
    at = 0
    for name, ne, kind, offset in tensors:
        offset = at if offset is None else offset
        out += text(name) + struct.pack("<I", len(ne)) + b"".join(struct.pack("<Q", n) for n in ne)
        out += struct.pack("<IQ", kind, offset)
        _, block, size = GGML.get(kind, ("", 1, 0))
        last = offset + math.prod(ne) // block * size
        at = -(-last // alignment) * alignment
    out += b"\0" * (-len(out) % alignment)
    return out + bytes(min(at if padding or not tensors else last, 1 << 20))


def random_file(rng):
    """A valid file with types, values, shapes and alignments drawn at random."""
    pairs = [pair("general.architecture", 8, text("made"))]
    alignment = 2 ** rng.randrange(3, 13) if rng.random() < 0.5 else 32
    if alignment != 32 or rng.random() < 0.3:
        pairs.append(pair("general.alignment", 4, struct.pack("<I", alignment)))
    for i in range(rng.randrange(12)):
        kind = rng.randrange(13)
        if kind in SCALARS:
            size = struct.calcsize(SCALARS[kind][1])
            value = bytes([rng.randrange(2)]) if kind == 7 else rng.randbytes(size)
        elif kind == 8:
            value = text("ä€𝄞"[rng.randrange(3)] * rng.randrange(2000))
        else:
            inner = rng.choice([0, 4, 6, 7, 8, 9])
            n = rng.randrange(40)
            if inner == 8:
                value = array(8, [text("t" * rng.randrange(9)) for _ in range(n)])
            elif inner == 9:
                value = array(9, [array(9, [array(5, [b"\1\0\0\0"] * rng.randrange(3))])
                                  for _ in range(n)])
            elif inner == 7:
                value = array(7, [bytes([rng.randrange(2)]) for _ in range(n)])
            else:
                value = array(inner, [rng.randbytes(struct.calcsize(SCALARS[inner][1]))
                                      for _ in range(n)])
        pairs.append(pair(f"made.{i}", kind, value))
    tensors = []
    for i in range(rng.randrange(20)):
        kind = rng.choice(list(GGML))
        dims = rng.randrange(5)
        ne = [rng.randrange(4) for _ in range(dims)]
        if dims:
            ne[0] = GGML[kind][1] * rng.randrange(4)
        elif GGML[kind][1] > 1:
            ne = [GGML[kind][1]]
        tensors.append((f"blk.{i}.attn_q.weight", ne, kind, None))
    return gguf(pairs, tensors, alignment, rng.choice([2, 3]), rng.random() < 0.5)


def bad_files():
    one = [("t", [4], 0, None)]
    arch = pair("general.architecture", 8, text("made"))
    good = gguf([arch], one)
    deep = array(9, [])
    for _ in range(5):
        deep = array(9, [deep])
    yield "empty", b""
    yield "magic", b"GGUF"
    yield "version-1", gguf([arch], one, version=1)
    yield "version-4", gguf([arch], one, version=4)
    yield "big-endian", b"GGUF" + struct.pack(">IQQ", 3, 1, 1) + bytes(64)
    yield "pairs", b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60) + bytes(64)
    yield "tensors", b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0) + bytes(64)
    yield "text-past-end", gguf([text("k") + struct.pack("<IQ", 8, 2**63)], [])
    yield "key-past-end", gguf([struct.pack("<Q", 2**64 - 1)], one)
    yield "array-past-end", gguf([pair("k", 9, struct.pack("<IQ", 4, 10**6))], [])
    yield "deep", gguf([pair("k", 9, deep)], one)
    yield "value-type", gguf([pair("k", 13, b"")], one)
    yield "bool", gguf([pair("k", 7, b"\2")], one)
    yield "key-twice", gguf([arch, arch], one)
    yield "name-twice", gguf([arch], one + one)
    yield "alignment-3", gguf([pair("general.alignment", 4, struct.pack("<I", 3))], one)
    yield "alignment-0", gguf([pair("general.alignment", 4, struct.pack("<I", 0))], one)
    yield "alignment-u64", gguf([pair("general.alignment", 10, struct.pack("<Q", 32))], one)
    yield "dims", gguf([arch], [("t", [1, 1, 1, 1, 1], 0, None)])
    yield "overflow", gguf([arch], [("t", [2**33, 2**33], 0, 0)], padding=False)[:200]
    yield "misaligned", gguf([arch], [("t", [4], 0, 8)])
    yield "overlap", gguf([arch], [("a", [64], 0, 0), ("b", [4], 0, 32)])
    yield "rows", gguf([arch], [("t", [33], 2, None)])
    yield "past-end", good[:-17]
    yield "type-999", gguf([arch], [("a", [4], 0, 0), ("b", [4], 999, 32), ("c", [4], 0, 64)])
    yield "removed-type", gguf([arch], [("a", [32], 4, 0)]) + bytes(32)
    yield "zero-dims", gguf([arch], [("a", [0, 3], 0, 0), ("b", [4], 0, 0), ("c", [], 0, None)])
    for n in range(8, len(good) - 16, 7):
        yield f"cut-{n}", good[:n]


def write(folder):
    rng = random.Random(1)
    os.makedirs(folder, exist_ok=True)
    files = [(f"made-{i}", random_file(rng)) for i in range(60)] + list(bad_files())
    for name, data in files:
        with open(os.path.join(folder, name + ".gguf"), "wb") as f:
            f.write(data)
    return [os.path.join(folder, name + ".gguf") for name, _ in files]


def main():
    assay, files = sys.argv[1], sys.argv[2:]
    if files[:1] == ["--write"]:
        files = write(files[1])
    bad, kinds = 0, {}
    for path in files:
        out, kind = compare(assay, path)
        kinds[kind] = kinds.get(kind, 0) + 1
        for line in out:
            print(f"{path}: {line}")
        bad += bool(out)
    print(f"{len(files)} files, {bad} differ: "
          + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items())))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
