"""Byte-level BPE tokenizers for the tiny models, small enough to read, with the traits of the real ones.

In: a text of our own. Out: vocabulary and merges as a GGUF holds them, the same tokenizer in Python's `tokenizers`
library as the oracle for ids, and `../fixtures/models/tokenizer_cases.json`.

`smollm`: special tokens first, digits one by one, some byte symbols missing (they vanish in encoding), no normaliser.
`qwen2`: special tokens last, NFC, Qwen2's split pattern, all byte symbols.
"""

from collections import Counter
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from ggml_blocks import write_json_lines

MODELS = Path(__file__).parent.parent / "fixtures" / "models"

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

# Control characters without a symbol in the `smollm` vocabulary.
MISSING_BYTES = bytes([0x04, 0x06, 0x13])

QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# What the merges are learnt from.
CORPUS = """The following is a question with four possible answers. Read the question and give the answer.
Answer: A Answer: B Answer: C Answer: D Answer: A Answer: B Answer: C Answer: D Answer: A Answer: B Answer: C Answer: D
Question: What is the capital of France? Answer: Paris. Question: Which planet is closest to the sun? Answer: Mercury.
Question: What colour is the sky on a clear day? Answer: The sky is blue. Which of these is the largest animal?
The river runs from the mountains to the sea, and the people who live there use the water for their fields.
In the morning she opened the window, and there was snow on the roofs, on the trees and on the road to the station.
He had been thinking of the same thing all day: that nothing in the house was where it had been in the winter.
The students are learning that heat moves from the warmer thing to the colder one, and that light is faster than sound.
There are seven days in a week and twelve months in a year, and the other answers are not right.
"""


def byte_symbols():
    """GPT-2's table: each byte as a printable character. Printable Latin-1 stands for itself, the rest starts at U+0100."""
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    symbols = {b: chr(b) for b in itself}
    for n, b in enumerate(b for b in range(256) if b not in symbols):
        symbols[b] = chr(0x100 + n)
    return symbols


def pre_tokenizer(pre):
    """The pre-tokenizer that `tokenizer.ggml.pre` names."""
    if pre == "smollm":
        return pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2_PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def learnt_merges(pre, n_merges):
    """Byte-pair merges of `CORPUS`: again and again the commonest pair, the first in order where counts are equal."""
    words = Counter(piece for piece, _ in pre_tokenizer(pre).pre_tokenize_str(CORPUS))
    split = {word: list(word) for word in words}
    merges = []
    while len(merges) < n_merges:
        pairs = Counter()
        for word, symbols in split.items():
            for pair in zip(symbols, symbols[1:]):
                pairs[pair] += words[word]
        left, right = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append((left, right))
        for word, symbols in split.items():
            merged = []
            for symbol in symbols:
                if merged and merged[-1] == left and symbol == right:
                    merged[-1] = left + right
                else:
                    merged.append(symbol)
            split[word] = merged
    return merges


class TinyTokenizer:
    """Vocabulary as a GGUF holds it (`tokens`, `merges`, `token_types`, ids) and the oracle that encodes with it."""

    def __init__(self, pre, n_merges):
        self.pre = pre
        merges = learnt_merges(pre, n_merges)
        missing = MISSING_BYTES if pre == "smollm" else b""
        plain = [symbol for byte, symbol in byte_symbols().items() if byte not in missing]
        plain += [left + right for left, right in merges]
        self.tokens = SPECIAL + plain if pre == "smollm" else plain + SPECIAL
        assert len(set(self.tokens)) == len(self.tokens)
        self.merges = [f"{left} {right}" for left, right in merges]
        # ggml's token types: 1 normal, 3 control.
        self.token_types = [3 if token in SPECIAL else 1 for token in self.tokens]
        ids = {token: i for i, token in enumerate(self.tokens)}
        endoftext, im_start, im_end = (ids[token] for token in SPECIAL)
        # As in the real files of either family.
        self.bos_id = im_start if pre == "smollm" else endoftext
        self.eos_id = im_end
        self.pad_id = im_end if pre == "smollm" else endoftext
        self.unk_id = endoftext if pre == "smollm" else None

        self.oracle = Tokenizer(models.BPE(vocab=ids, merges=merges))
        if pre == "qwen2":
            self.oracle.normalizer = normalizers.NFC()
        self.oracle.pre_tokenizer = pre_tokenizer(pre)
        self.oracle.decoder = decoders.ByteLevel()
        self.oracle.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
        assert self.oracle.get_vocab_size() == len(self.tokens)

    def encode(self, text):
        """Ids of a text; special tokens in the text are recognised, none is added."""
        return self.oracle.encode(text, add_special_tokens=False).ids

    def encode_pair(self, context, continuation):
        """Ids of context and continuation by lm-eval's rule; an empty context is the BOS token."""
        if not context:
            return [self.bos_id], self.encode(continuation)
        n_spaces = len(context) - len(context.rstrip())
        if n_spaces:
            continuation = context[-n_spaces:] + continuation
            context = context[:-n_spaces]
        whole, context_ids = self.encode(context + continuation), self.encode(context)
        return context_ids, whole[len(context_ids) :]


SMOLLM = TinyTokenizer("smollm", 121)
QWEN2 = TinyTokenizer("qwen2", 128)

CASE_TEXTS = [
    "",
    " ",
    "   ",
    "\n",
    "\r\n\r\n",
    "\t\ttabs",
    "Hello",
    " Hello, world!",
    "  The question  is   this  ",
    "line one\nline two\n\n\nline four",
    "ends in spaces and a newline  \n",
    "1234567890",
    "in 1999 there were 3.14 of them",
    "x+y=12; f(x)->z",
    "it's they're I'VE don't O'Neill",
    "UPPER lower MiXeD",
    "caf\u00e9 cafe\u0301 \u00c5ngstr\u00f6m",
    "\u4e2d\u6587\u5b57\u7b26\u3002",
    "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0442\u0435\u043a\u0441\u0442",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "no\u00a0break\u3000wide\u2028line",
    "bell\u0004and\u0006and\u0013gone",
    "\u0000 nul and \u007f del",
    "<|im_start|>user\nHi<|im_end|>\n",
    "<|im_start| >not special<|endoftext|>",
    "Question: What is the capital of France?\nA. Paris\nB. Rome\nAnswer: A",
    "\u00bd \u2460 \u0663 \u2167",
    "word" * 40,
]


def golden_cases():
    """Ids and the decoded text of every awkward string, for both tokenizers."""
    cases = []
    for tokenizer in (SMOLLM, QWEN2):
        for text in CASE_TEXTS:
            ids = tokenizer.encode(text)
            decoded = tokenizer.oracle.decode(ids, skip_special_tokens=False)
            cases.append({"pre": tokenizer.pre, "text": text, "ids": ids, "decoded": decoded})
    return cases


if __name__ == "__main__":
    write_json_lines(MODELS / "tokenizer_cases.json", golden_cases())
