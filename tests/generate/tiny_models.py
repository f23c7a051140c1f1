"""Tiny models with random weights, and what they say, computed apart from the crate.

In: a seed a model. Out, in `../fixtures/models`: `<name>.gguf`, and `<name>.json` with token ids and log-probabilities
from a float64 forward pass over the weights that gguf-py de-quantises.

The pass follows the architectures as transformers writes them (`LlamaForCausalLM`, `Qwen2ForCausalLM`: rotary halves),
so q and k rows of a llama file, which GGUF keeps in the order of ggml's pairwise rotation, are put back first.
Weights are random, so every format's blocks are random bits (`ggml_blocks`); their spread is chosen so that attention is
far from uniform and the next token depends on all of the context.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import GGUFWriter
from gguf.quants import dequantize

from ggml_blocks import random_rows
from tiny_tokenizer import CHAT_TEMPLATE, CORPUS, QWEN2, SMOLLM, TinyTokenizer

MODELS = Path(__file__).parent.parent / "fixtures" / "models"

LINEARS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


@dataclass
class Config:
    """One tiny model. `layers` has a number type for each of `LINEARS`, in that order, one tuple a layer."""

    name: str
    arch: str
    seed: int
    tokenizer: TinyTokenizer
    n_embd: int
    n_head: int
    n_head_kv: int
    n_ff: int
    embedding: T
    layers: list = field(default_factory=list)
    output: T | None = None
    n_ctx: int = 256
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    alignment: int | None = None

    @property
    def head_dim(self):
        return self.n_embd // self.n_head


CONFIGS = [
    # Tied embedding, grouped heads, a vocabulary that is no multiple of anything.
    Config(
        "tiny-llama", "llama", 1, SMOLLM, n_embd=64, n_head=4, n_head_kv=2, n_ff=128, embedding=T.Q8_0, rope_base=100000.0,
        layers=[
            (T.Q4_1, T.Q4_1, T.Q8_0, T.Q4_1, T.Q4_0, T.Q5_0, T.Q5_1),
            (T.Q8_0, T.F16, T.Q4_1, T.Q4_0, T.Q5_1, T.Q4_1, T.Q8_0),
        ],
    ),  # fmt: skip
    # What llama.cpp's other block type and plain floats need: IQ4_NL, BF16, F32; untied output; one k/v head a head; an
    # alignment other than 32.
    Config(
        "tiny-llama-floats", "llama", 2, SMOLLM, n_embd=64, n_head=4, n_head_kv=4, n_ff=96, embedding=T.BF16, output=T.IQ4_NL,
        alignment=64, layers=[(T.BF16, T.F32, T.IQ4_NL, T.F16, T.IQ4_NL, T.BF16, T.IQ4_NL)],
    ),  # fmt: skip
    # q, k and v with bias; output and embedding differ; three heads a k/v head; no row is a multiple of 64.
    Config(
        "tiny-qwen2", "qwen2", 3, QWEN2, n_embd=96, n_head=6, n_head_kv=2, n_ff=160, embedding=T.Q5_0, output=T.Q8_0,
        rope_base=1000000.0, norm_eps=1e-6,
        layers=[
            (T.Q5_0, T.Q5_0, T.Q8_0, T.Q5_0, T.Q5_0, T.Q5_1, T.F16),
            (T.Q8_0, T.Q5_1, T.Q5_0, T.Q4_0, T.Q4_1, T.Q5_0, T.Q8_0),
        ],
    ),  # fmt: skip
    # K-quants, whose blocks of 256 need rows of 256.
    Config(
        "tiny-qwen2-k", "qwen2", 4, QWEN2, n_embd=256, n_head=4, n_head_kv=1, n_ff=256, embedding=T.Q4_K, output=T.Q6_K,
        rope_base=1000000.0, norm_eps=1e-6,
        layers=[(T.Q4_K, T.Q5_K, T.Q6_K, T.Q2_K, T.Q3_K, T.Q5_K, T.Q4_K)],
    ),  # fmt: skip
]


class TinyModel:
    """Weights of a config: as they stand in the file (`stored`), and in float64 in transformers' order (`weights`)."""

    def __init__(self, config):
        self.config = config
        self.stored = {}
        self.weights = {}
        self._rng = np.random.default_rng(config.seed)
        c = config
        n_vocab, kv = len(c.tokenizer.tokens), c.n_head_kv * c.head_dim
        # Embedding and output: logits spread by 2.4.
        self._matrix("token_embd", c.embedding, n_vocab, c.n_embd, std=2.4 / c.n_embd**0.5)
        for i, types in enumerate(c.layers):
            shapes = ((c.n_embd, c.n_embd), (kv, c.n_embd), (kv, c.n_embd), (c.n_embd, c.n_embd),
                      (c.n_ff, c.n_embd), (c.n_ff, c.n_embd), (c.n_embd, c.n_ff))  # fmt: skip
            for linear, ggml_type, (n_rows, n_columns) in zip(LINEARS, types, shapes, strict=True):
                # Gains of 1.3 and 1.5: attention scores spread by 1.5 or so, and each layer outweighs the embedding.
                gain = 1.3 if linear in ("attn_q", "attn_k") else 1.5
                self._matrix(f"blk.{i}.{linear}", ggml_type, n_rows, n_columns, std=gain / n_columns**0.5)
            if c.arch == "qwen2":
                for linear, n in (("attn_q", c.n_embd), ("attn_k", kv), ("attn_v", kv)):
                    self._vector(f"blk.{i}.{linear}.bias", n, mean=0.0)
            self._vector(f"blk.{i}.attn_norm.weight", c.n_embd, mean=1.0)
            self._vector(f"blk.{i}.ffn_norm.weight", c.n_embd, mean=1.0)
        self._vector("output_norm.weight", c.n_embd, mean=1.0)
        if c.output is not None:
            self._matrix("output", c.output, n_vocab, c.n_embd, std=2.4 / c.n_embd**0.5)

    def _matrix(self, name, ggml_type, n_rows, n_columns, std):
        rows = random_rows(self._rng, ggml_type, n_rows, n_columns, std)
        self.stored[f"{name}.weight"] = (ggml_type, rows)
        values = dequantize(rows.reshape(n_rows, -1), ggml_type).astype(np.float64)
        if self.config.arch == "llama" and name.endswith(("attn_q", "attn_k")):
            values = rotary_halves(values, self.config.head_dim)
        self.weights[f"{name}.weight"] = values

    def _vector(self, name, n, mean):
        values = (mean + 0.2 * self._rng.standard_normal(n)).astype(np.float32)
        self.stored[name] = (T.F32, values)
        self.weights[name] = values.astype(np.float64)

    def log_softmax(self, ids):
        """Natural logs of the next token's probabilities, `(n_tokens, n_vocab)`, float64."""
        c, w = self.config, self.weights
        n = len(ids)
        rotate = rotation(n, c.head_dim, c.rope_base)
        mask = np.where(np.tri(n, dtype=bool), 0.0, -np.inf)
        x = w["token_embd.weight"][ids]
        for i in range(len(c.layers)):
            p = f"blk.{i}."

            def heads(linear, h, n_heads):
                y = h @ w[f"{p}{linear}.weight"].T + w.get(f"{p}{linear}.bias", 0.0)
                return y.reshape(n, n_heads, c.head_dim).transpose(1, 0, 2)

            h = rms_norm(x, w[p + "attn_norm.weight"], c.norm_eps)
            shared = c.n_head // c.n_head_kv
            q = rotate(heads("attn_q", h, c.n_head))
            k = rotate(heads("attn_k", h, c.n_head_kv)).repeat(shared, axis=0)
            v = heads("attn_v", h, c.n_head_kv).repeat(shared, axis=0)
            scores = q @ k.transpose(0, 2, 1) / c.head_dim**0.5 + mask
            attended = np.exp(log_softmax(scores)) @ v
            x = x + attended.transpose(1, 0, 2).reshape(n, -1) @ w[p + "attn_output.weight"].T

            h = rms_norm(x, w[p + "ffn_norm.weight"], c.norm_eps)
            gate = h @ w[p + "ffn_gate.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w[p + "ffn_up.weight"].T)) @ w[p + "ffn_down.weight"].T
        h = rms_norm(x, w["output_norm.weight"], c.norm_eps)
        return log_softmax(h @ w.get("output.weight", w["token_embd.weight"]).T)

    def write(self, path, **split):
        """The GGUF file; with gguf-py's options of splitting, its parts, named after `path`."""
        c, t = self.config, self.config.tokenizer
        writer = GGUFWriter(path, c.arch, **split)
        writer.add_name(c.name)
        if c.alignment is not None:
            writer.add_custom_alignment(c.alignment)
        writer.add_block_count(len(c.layers))
        writer.add_context_length(c.n_ctx)
        writer.add_embedding_length(c.n_embd)
        writer.add_feed_forward_length(c.n_ff)
        writer.add_head_count(c.n_head)
        writer.add_head_count_kv(c.n_head_kv)
        writer.add_layer_norm_rms_eps(c.norm_eps)
        writer.add_rope_freq_base(c.rope_base)
        if c.arch == "llama":
            writer.add_rope_dimension_count(c.head_dim)
            writer.add_vocab_size(len(t.tokens))
        writer.add_quantization_version(2)
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre(t.pre)
        writer.add_token_list(t.tokens)
        writer.add_token_types(t.token_types)
        writer.add_token_merges(t.merges)
        writer.add_bos_token_id(t.bos_id)
        writer.add_eos_token_id(t.eos_id)
        writer.add_pad_token_id(t.pad_id)
        if t.unk_id is not None:
            writer.add_unk_token_id(t.unk_id)
        writer.add_add_bos_token(False)
        writer.add_chat_template(CHAT_TEMPLATE)
        for name, (ggml_type, values) in self.stored.items():
            writer.add_tensor(name, values, raw_dtype=None if values.dtype == np.float32 else ggml_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


def rotary_halves(rows, head_dim):
    """q or k rows from GGUF's order for llama, (pair, half), to transformers', (half, pair)."""
    n_heads = rows.shape[0] // head_dim
    return rows.reshape(n_heads, head_dim // 2, 2, -1).swapaxes(1, 2).reshape(rows.shape)


def rotation(n_tokens, head_dim, base):
    """Rotary position embedding of `(n_heads, n_tokens, head_dim)`."""
    half = head_dim // 2
    angles = np.outer(np.arange(n_tokens), base ** (-np.arange(half) / half))
    cos, sin = np.cos(angles), np.sin(angles)

    def rotate(x):
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    return rotate


def rms_norm(x, weight, eps):
    # The file holds eps as float32.
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + float(np.float32(eps))) * weight


def log_softmax(x):
    x = x - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


# Contexts with their continuations: what a task makes of its docs.
DOCS = {
    "letters": (
        "Question: Which planet is closest to the sun?\nA. Mars\nB. Mercury\nC. Venus\nD. Jupiter\nAnswer:",
        [" A", " B", " C", " D"],
    ),
    "answers": (
        "Question: What is the capital of France?\nAnswer:",
        [" Paris", " The city of Rome", " London, on the Thames", " I do not know"],
    ),
    "endings": (
        "She opened the window, and",
        [
            " there was snow on the roofs and on the road to the station.",
            " the river was learning seven other languages in a week.",
            " nothing.",
            " closed it again, for the morning was colder than the night had been.",
        ],
    ),
    "two choices": ("The trophy did not fit into the case because the", [" trophy was too large.", " case was too large."]),
    "equal choices": ("Heat moves to the", [" colder thing", " colder thing", " warmer thing"]),
    "whitespace moves": ("The sky is  ", ["blue", "on the roofs", "42"]),
    "other scripts": ("Frage: Wie hei\u00dft die Stadt?\nAntwort:", [" K\u00f6ln", " \u6771\u4eac", " \U0001f600"]),
    "empty context": ("", ["The river", " runs", "Question: 7"]),
    "longer than the window": (CORPUS[:900] + "\nAnswer:", [" A", " The sky is blue"]),
}


def golden(model):
    """What `<name>.json` says. Log-probabilities are natural and rounded to 1e-9, whole rows to 1e-7."""
    c = model.config
    text_ids = c.tokenizer.encode(CORPUS)
    short = text_ids[:9]
    sequences = [
        sequence(model, "one token", [c.tokenizer.bos_id], rows=[0]),
        sequence(model, "short", short, rows=range(len(short))),
        sequence(model, "greedy", greedy(model, short, 6), rows=[]),
        sequence(model, "long", text_ids[:200], rows=[199]),
    ]
    docs = [
        {"name": name, "context": context, "choices": [choice(model, context, continuation) for continuation in continuations]}
        for name, (context, continuations) in DOCS.items()
    ]
    return {"sequences": sequences, "docs": docs}


def sequence(model, name, ids, rows):
    """A text's ids, what follows each of them, and whole rows of log-probabilities where `rows` asks for them."""
    table = model.log_softmax(ids)
    return {
        "name": name,
        "ids": ids,
        "argmax": table.argmax(axis=1).tolist(),
        "next_token_logprobs": rounded(table[np.arange(len(ids) - 1), ids[1:]], 9),
        "log_softmax": [{"position": i, "values": rounded(table[i], 7)} for i in rows],
    }


def greedy(model, ids, n_tokens):
    """`ids` and the `n_tokens` likeliest tokens after them."""
    ids = list(ids)
    for _ in range(n_tokens):
        table = model.log_softmax(ids)[-1:]
        ids.append(int(table.argmax()))
        assert_clear(table, ids[-1:])
    return ids


def choice(model, context, continuation):
    """One scored continuation; the context is cut on the left so that all but the last token fit into the window."""
    context_ids, continuation_ids = model.config.tokenizer.encode_pair(context, continuation)
    context_ids = (context_ids + continuation_ids)[-(model.config.n_ctx + 1) :][: -len(continuation_ids)]
    table = model.log_softmax((context_ids + continuation_ids)[:-1])[len(context_ids) - 1 :]
    logprobs = table[np.arange(len(continuation_ids)), continuation_ids]
    assert_clear(table, continuation_ids)
    return {
        "continuation": continuation,
        "context_ids": context_ids,
        "continuation_ids": continuation_ids,
        "token_logprobs": rounded(logprobs, 9),
        "loglikelihood": round(float(logprobs.sum()), 9),
        "is_greedy": bool((table.argmax(axis=1) == continuation_ids).all()),
    }


def assert_clear(table, ids):
    """Whether each of `ids` is its row's arg max has to be the same in any precision that a test may use."""
    rows = np.arange(len(ids))
    own, others = table[rows, ids], table.copy()
    others[rows, ids] = -np.inf
    assert (abs(own - others.max(axis=1)) > 5e-3).all(), "two tokens are nearly tied: choose another seed"


def rounded(values, digits):
    return [round(float(v), digits) for v in values]


def write_golden(path, gguf, outcome):
    """One sequence or doc a line."""
    lines = [f'"model":{json.dumps(gguf.name)}', f'"sha256":"{hashlib.sha256(gguf.read_bytes()).hexdigest()}"']
    for key, entries in outcome.items():
        rows = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
        lines.append(f'"{key}":[\n{rows}\n]')
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    MODELS.mkdir(parents=True, exist_ok=True)
    for config in CONFIGS:
        model = TinyModel(config)
        gguf = MODELS / f"{config.name}.gguf"
        model.write(gguf)
        write_golden(MODELS / f"{config.name}.json", gguf, golden(model))
