"""Random but valid blocks of every GGUF number type, and what they mean.

In: a seed. Out: raw bytes whose de-quantised values have a chosen spread, and `../fixtures/models/blocks.json`, golden
cases for the crate's unpackers. Blocks are random bits with sane scales, so that every bit pattern of a type occurs;
nothing here quantises.

The values are gguf-py's (`gguf.quants.dequantize`). Block layouts: ggml's `ggml-common.h`.
"""

import json
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as T
from gguf.quants import dequantize, quantize

MODELS = Path(__file__).parent.parent / "fixtures" / "models"

FLOATS = (T.F32, T.F16, T.BF16)

# Byte offset of the f16 scale `d` in a block, of the f16 minimum (`m` is added, `dmin` is subtracted), and the minimum
# in units of `d` that centres the values around zero.
SCALES = {
    T.Q4_0: (0, None, 0.0),
    T.Q4_1: (0, 2, -7.5),
    T.Q5_0: (0, None, 0.0),
    T.Q5_1: (0, 2, -15.5),
    T.Q8_0: (0, None, 0.0),
    T.Q2_K: (80, 82, 1.5),
    T.Q3_K: (108, None, 0.0),
    T.Q4_K: (0, 2, 7.5),
    T.Q5_K: (0, 2, 15.5),
    T.Q6_K: (208, None, 0.0),
    T.IQ4_NL: (0, None, 0.0),
}


def block_shape(ggml_type):
    """Values in a block, bytes in a block."""
    return GGML_QUANT_SIZES[ggml_type]


def set_scales(blocks, ggml_type, d, minimum):
    """Writes f16 scales into `blocks`, `(n_blocks, block_bytes)` of bytes; `d` and `minimum` have `n_blocks` values."""
    d_offset, min_offset, _ = SCALES[ggml_type]
    blocks[:, d_offset : d_offset + 2] = np.asarray(d, "<f2").reshape(-1, 1).view(np.uint8)
    if min_offset is not None:
        blocks[:, min_offset : min_offset + 2] = np.asarray(minimum, "<f2").reshape(-1, 1).view(np.uint8)


def random_rows(rng, ggml_type, n_rows, n_columns, std):
    """A weight matrix as `(n_rows, row_bytes)` of bytes, its values centred, with roughly the given standard deviation."""
    if ggml_type in FLOATS:
        return as_bytes(quantize(rng.standard_normal((n_rows, n_columns), dtype=np.float32) * np.float32(std), ggml_type))
    n_values, n_bytes = block_shape(ggml_type)
    n_blocks = n_rows * n_columns // n_values
    blocks = rng.integers(0, 256, (n_blocks, n_bytes), dtype=np.uint8)
    _, _, minimum = SCALES[ggml_type]
    # One in eight scales is negative, as real quantisers also write; sizes vary from block to block.
    d = rng.uniform(0.5, 1.5, n_blocks) * rng.choice([1.0, -1.0], n_blocks, p=[0.875, 0.125])
    # The first guess has unit scales; its spread says by how much to shrink them.
    set_scales(blocks, ggml_type, d, d * minimum)
    shrink = std / dequantize(blocks, ggml_type).std()
    set_scales(blocks, ggml_type, d * shrink, d * minimum * shrink)
    return blocks.reshape(n_rows, -1)


def as_bytes(array):
    """The rows of an array as rows of bytes."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.shape[0], -1)


def quant_cases(rng, ggml_type):
    """Named blocks of one block type: ordinary ones, then the edges of its scales and of its bits."""
    _, n_bytes = block_shape(ggml_type)
    _, min_offset, _ = SCALES[ggml_type]
    # 65504 is f16's largest number; K-quants multiply it by up to 63 and the quant, which float32 still holds.
    edges = [
        ("ordinary", 0.0123, 0.0456),
        ("ordinary_again", 0.0789, 0.0012),
        ("negative_scale_and_minimum", -0.0321, -0.0654),
        ("zero_scale", 0.0, 0.5),
        ("smallest_subnormal_scale", 5.9604645e-08, 5.9604645e-08),
        ("largest_scale", 65504.0, -65504.0),
    ]
    cases = []
    for name, d, minimum in edges:
        block = rng.integers(0, 256, (1, n_bytes), dtype=np.uint8)
        set_scales(block, ggml_type, [d], [minimum])
        cases.append((name, block))
    for name, byte in (("all_bits_clear", 0x00), ("all_bits_set", 0xFF)):
        block = np.full((1, n_bytes), byte, dtype=np.uint8)
        set_scales(block, ggml_type, [0.25], [0.75 if min_offset is not None else 0.0])
        cases.append((name, block))
    return cases


def float_cases(rng, ggml_type):
    """Named runs of a plain float type: ordinary values, then zeros, subnormals and the largest numbers."""
    ordinary = rng.standard_normal((1, 32), dtype=np.float32)
    largest = {T.F16: 65504.0, T.BF16: 3.3895314e38, T.F32: 3.4028235e38}[ggml_type]
    subnormal = {T.F16: 5.9604645e-08, T.BF16: 9.1835e-41, T.F32: 1e-45}[ggml_type]
    edges = np.array([[0.0, -0.0, 1.0, -1.0, largest, -largest, subnormal, -subnormal]], np.float32)
    return [(name, as_bytes(quantize(values, ggml_type))) for name, values in (("ordinary", ordinary), ("edges", edges))]


def golden_cases():
    """Every case of every type, as it stands in `blocks.json`."""
    rng = np.random.default_rng(20261)
    out = []
    for ggml_type in [*FLOATS, *SCALES]:
        cases = float_cases if ggml_type in FLOATS else quant_cases
        for name, block in cases(rng, ggml_type):
            values = np.asarray(dequantize(block, ggml_type), np.float32).ravel()
            assert np.isfinite(values).all(), (ggml_type, name)
            out.append(
                {
                    "type": ggml_type.name,
                    "ggml_type": int(ggml_type),
                    "name": name,
                    "bytes": block.tobytes().hex(),
                    # The shortest decimal that reads back as the same float32.
                    "values": [float(str(v)) for v in values],
                }
            )
    return out


def write_json_lines(path, rows):
    """A JSON array with one element a line, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    MODELS.mkdir(parents=True, exist_ok=True)
    write_json_lines(MODELS / "blocks.json", golden_cases())
