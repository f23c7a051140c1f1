"""Recipes for broken model files, so that no broken file has to be kept.

In: the tiny models. Out: `../fixtures/models/broken.json`, one recipe a line: take the file `base`, overwrite bytes
(`set`: pairs of offset and hex), then keep the first `keep_bytes` where given. Loading the result has to fail with an
error of `kind` whose place or message contains `names`; it may neither crash nor ask for memory by a number in the file.

Layout of the header: the GGUF specification, version 3, little-endian.
"""

import struct
from pathlib import Path

from ggml_blocks import write_json_lines

MODELS = Path(__file__).parent.parent / "fixtures" / "models"
BASE = "tiny-llama.gguf"
ALIGNED_BASE = "tiny-llama-floats.gguf"

WEIGHTS, UNSUPPORTED = "weights_format", "unsupported_model"

N_TENSORS_OFFSET, N_KEYS_OFFSET = 8, 16


def after_string(data, text):
    """Offset behind a string of the file, found with its length in front; it has to occur once."""
    encoded = struct.pack("<Q", len(text)) + text.encode()
    assert data.count(encoded) == 1, text
    return data.index(encoded) + len(encoded)


def key_value(data, key):
    """Offset of a key's value, behind its type."""
    return after_string(data, key) + 4


class TensorInfo:
    """Offsets of a tensor's fields in the header."""

    def __init__(self, data, name):
        self.name = after_string(data, name) - len(name)
        self.n_dims = self.name + len(name)
        self.dims = self.n_dims + 4
        self.ggml_type = self.dims + 8 * struct.unpack_from("<I", data, self.n_dims)[0]
        self.data = self.ggml_type + 4


def u32(offset, value):
    return [offset, struct.pack("<I", value).hex()]


def u64(offset, value):
    return [offset, struct.pack("<Q", value).hex()]


def text(offset, value):
    return [offset, value.encode().hex()]


def recipes():
    """Every recipe, in the order in which a reader of the file meets the fault."""
    data = (MODELS / BASE).read_bytes()
    aligned = (MODELS / ALIGNED_BASE).read_bytes()
    out = []

    def recipe(name, kind, *, set=(), keep_bytes=None, names="", base=BASE):
        out.append({"name": name, "base": base, "set": list(set), "keep_bytes": keep_bytes, "kind": kind, "names": names})

    def key(name):
        return key_value(data, name)

    down = "blk.1.ffn_down.weight"
    info = TensorInfo(data, down)
    tokens = key("tokenizer.ggml.tokens")
    architecture = key("general.architecture")

    recipe("empty file", WEIGHTS, keep_bytes=0)
    recipe("not a GGUF", WEIGHTS, set=[text(0, "PK\x03\x04")])
    recipe("version 1", WEIGHTS, set=[u32(4, 1)])
    recipe("version of the future", WEIGHTS, set=[u32(4, 99)])
    recipe("cut inside the counts", WEIGHTS, keep_bytes=13)
    recipe("tensor count of 2^64 - 1", WEIGHTS, set=[u64(N_TENSORS_OFFSET, 2**64 - 1)])
    recipe("tensor count of 2^32 + 1", WEIGHTS, set=[u64(N_TENSORS_OFFSET, 2**32 + 1)])
    recipe("key count of 2^63", WEIGHTS, set=[u64(N_KEYS_OFFSET, 2**63)])
    recipe("key of 2^40 bytes", WEIGHTS, set=[u64(24, 2**40)])
    recipe("cut inside a key", WEIGHTS, keep_bytes=40)
    recipe("value of an unknown type", WEIGHTS, set=[u32(key("llama.block_count") - 4, 77)])
    recipe("string that is not UTF-8", UNSUPPORTED, set=[[architecture + 8, "ff"]], names="architecture")
    recipe("array of 2^61 strings", WEIGHTS, set=[u64(tokens + 4, 2**61)])
    recipe("array of an unknown type", WEIGHTS, set=[u32(tokens, 77)])
    recipe("cut inside the tokens", WEIGHTS, keep_bytes=tokens + 500)

    recipe("unknown architecture", UNSUPPORTED, set=[text(architecture + 8, "lxama")], names="lxama")
    recipe("unknown tokenizer", UNSUPPORTED, set=[text(key("tokenizer.ggml.model") + 8, "gpt9")], names="gpt9")
    recipe("no heads", WEIGHTS, set=[u32(key("llama.attention.head_count"), 0)], names="head_count")
    recipe("heads that do not divide", WEIGHTS, set=[u32(key("llama.attention.head_count"), 3)], names="head_count")
    recipe("no layers", WEIGHTS, set=[u32(key("llama.block_count"), 0)], names="block_count")
    recipe("a layer too many", WEIGHTS, set=[u32(key("llama.block_count"), 3)], names="blk.2.")
    recipe("2^32 - 1 layers", WEIGHTS, set=[u32(key("llama.block_count"), 2**32 - 1)])
    recipe("wider than its tensors", WEIGHTS, set=[u32(key("llama.embedding_length"), 128)])
    recipe("no context", WEIGHTS, set=[u32(key("llama.context_length"), 0)], names="context_length")
    recipe("key missing", WEIGHTS, set=[text(key("llama.embedding_length") - 4 - 6, "lexgth")], names="embedding_length")
    recipe("alignment 0", WEIGHTS, base=ALIGNED_BASE, set=[u32(key_value(aligned, "general.alignment"), 0)], names="alignment")
    recipe("alignment 3", WEIGHTS, base=ALIGNED_BASE, set=[u32(key_value(aligned, "general.alignment"), 3)], names="alignment")

    recipe("tensor without dimensions", WEIGHTS, set=[u32(info.n_dims, 0)])
    recipe("tensor of 2^31 dimensions", WEIGHTS, set=[u32(info.n_dims, 2**31)])
    recipe("dimensions whose product overflows", WEIGHTS, set=[u64(info.dims, 2**40), u64(info.dims + 8, 2**40)], names=down)
    recipe("dimension 0", WEIGHTS, set=[u64(info.dims, 0)], names=down)
    recipe("row that is no multiple of a block", WEIGHTS, set=[u64(info.dims, 100)], names=down)
    recipe("unknown tensor type", UNSUPPORTED, set=[u32(info.ggml_type, 99)], names=down)
    recipe("tensor type that was withdrawn", UNSUPPORTED, set=[u32(info.ggml_type, 4)], names=down)
    recipe("tensor far behind the end", WEIGHTS, set=[u64(info.data, 2**32)], names=down)
    recipe("tensor offset that overflows", WEIGHTS, set=[u64(info.data, 2**64 - 32)], names=down)
    recipe("tensor offset off the alignment", WEIGHTS, set=[u64(info.data, 33)], names=down)
    recipe("tensor missing", WEIGHTS, set=[text(info.name, "blk.1.ffn_sown")], names=down)
    recipe("tensor twice", WEIGHTS, set=[text(TensorInfo(data, "blk.1.ffn_up.weight").name, "blk.0.ffn_up.weight")])
    recipe("cut inside the tensor table", WEIGHTS, keep_bytes=info.data + 3)
    recipe("cut inside the last tensor", WEIGHTS, keep_bytes=len(data) - 40, names="output_norm.weight")
    recipe("cut before the data", WEIGHTS, keep_bytes=TensorInfo(data, "output_norm.weight").data + 8)
    return out


if __name__ == "__main__":
    write_json_lines(MODELS / "broken.json", recipes())
