"""A GGUF's weights as ONNX files for onnxruntime-web: `OUT/NAME.q8.onnx` (dynamic 8-bit, what transformers.js calls q8).

In: a GGUF. Out: a graph from ids `(1, n)` to the logits of the last position, as the other engines of the benchmark compute it.
Needs torch, transformers, gguf, onnx, onnxscript and onnxruntime in the Python that runs it; see README.md.
"""

import argparse
import pathlib

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForCausalLM


class Prefill(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False, logits_to_keep=1).logits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gguf", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(arguments.gguf.parent, gguf_file=arguments.gguf.name, dtype=torch.float32, attn_implementation="eager")
    full = arguments.out / f"{arguments.gguf.stem}.f32.onnx"
    ids = torch.arange(300, 364).unsqueeze(0)
    n_tokens = torch.export.Dim("n_tokens", min=2, max=1024)
    with torch.inference_mode():
        program = torch.onnx.export(
            Prefill(model.eval()), (ids,), dynamo=True, input_names=["input_ids"], output_names=["logits"], dynamic_shapes={"input_ids": {1: n_tokens}}
        )
    program.save(full, external_data=True)
    quantize_dynamic(full, arguments.out / f"{arguments.gguf.stem}.q8.onnx", weight_type=QuantType.QInt8, use_external_data_format=False)


if __name__ == "__main__":
    main()
