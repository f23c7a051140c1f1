"""How far an 8-bit ONNX model is from the float32 one that it was made of (export_onnx.py), in log-probabilities of answers.

In: the GGUF (for its tokenizer), the folder with both graphs, rows of ARC. Out: one line: |Δ ln p| of the choices' first tokens
after the question, mean and largest, nats; and of how many rows the most probable choice is another.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnxruntime
from transformers import AutoTokenizer


def log_softmax(logits: np.ndarray) -> np.ndarray:
    x = logits.astype(np.float64) - logits.max()
    return x - np.log(np.exp(x).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--onnx", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--n", type=int, default=30)
    options = parser.parse_args()

    encode = AutoTokenizer.from_pretrained(options.gguf.parent, gguf_file=options.gguf.name)
    graphs = [
        onnxruntime.InferenceSession(options.onnx / f"{options.gguf.stem}.{kind}.onnx", providers=["CPUExecutionProvider"])
        for kind in ("f32", "q8")
    ]
    differences, n_other = [], 0
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()[: options.n]]
    for row in rows:
        ids = np.array([encode(f"Question: {row['question']}\nAnswer:")["input_ids"]], dtype=np.int64)
        answers = [encode(f" {choice}")["input_ids"][0] for choice in row["choices"]["text"]]
        exact, rounded = (log_softmax(graph.run(None, {"input_ids": ids})[0].reshape(-1))[answers] for graph in graphs)
        differences.extend(np.abs(exact - rounded))
        n_other += int(exact.argmax() != rounded.argmax())
    print(f"{options.gguf.stem}: |d ln p| mean {np.mean(differences):.2f}, largest {np.max(differences):.1f} nats; {n_other} of {len(rows)} picks differ")


if __name__ == "__main__":
    main()
