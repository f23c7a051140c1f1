"""Small SentencePiece vocabularies, with ids by the sentencepiece library itself.

In: the text of `tiny_tokenizer`. Out: `../fixtures/models/sentencepiece_cases.json`, one element a kind:
`llama`: a space in front of a text, as Llama 2 and Mistral have it. `gemma`: none, and runs of spaces and line breaks are
pieces of their own, which a GGUF writes with real spaces. Both are BPE with byte tokens.

A GGUF holds pieces, scores and types as they stand here, and no merges.
"""

import io

import sentencepiece

from ggml_blocks import write_json_lines
from tiny_tokenizer import CASE_TEXTS, CORPUS, MODELS

KINDS = {
    "llama": {"add_dummy_prefix": True, "user_defined_symbols": []},
    "gemma": {
        "add_dummy_prefix": False,
        "user_defined_symbols": ["\n", "\n\n", "\n\n\n"] + ["▁" * n for n in range(2, 6)],
    },
}
# A GGUF's numbers for the type of a token.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6

# Control tokens in a text are texts to sentencepiece, but tokens to the Hugging Face tokenizers; no such case here.
TEXTS = [text for text in CASE_TEXTS if "<|" not in text] + ["aaaaaaa", "a" + " " * 9 + "b\n\n\n\n\nc", "hahahaha the the"]


def train(add_dummy_prefix, user_defined_symbols):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.splitlines()),
        model_writer=model,
        model_type="bpe",
        vocab_size=420,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        add_dummy_prefix=add_dummy_prefix,
        user_defined_symbols=user_defined_symbols,
        num_threads=1,
        minloglevel=2,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def golden(kind, settings):
    model = train(**settings)
    tokens, scores, token_types = [], [], []
    for i in range(model.get_piece_size()):
        piece = model.id_to_piece(i)
        token_type = NORMAL
        if model.is_unknown(i):
            token_type = UNKNOWN
        elif model.is_control(i):
            token_type = CONTROL
        elif model.is_byte(i):
            token_type = BYTE
        elif piece in settings["user_defined_symbols"]:
            token_type = USER_DEFINED
            piece = piece.replace("▁", " ")
        tokens.append(piece)
        scores.append(model.get_score(i))
        token_types.append(token_type)
    cases = []
    for text in TEXTS:
        ids = model.encode(text)
        cases.append({"text": text, "ids": ids, "decoded": model.decode(ids)})
    return {
        "kind": kind,
        "add_space_prefix": settings["add_dummy_prefix"],
        "bos_id": model.bos_id(),
        "eos_id": model.eos_id(),
        "unk_id": model.unk_id(),
        "tokens": tokens,
        "scores": scores,
        "token_types": token_types,
        "cases": cases,
    }


if __name__ == "__main__":
    write_json_lines(MODELS / "sentencepiece_cases.json", [golden(*kind) for kind in KINDS.items()])
