"""A tiny model in several files, as `llama-gguf-split` and gguf-py write them.

In: the recipe of `tiny-llama` (`tiny_models`). Out, in `../fixtures/models`: `tiny-llama-split-0000i-of-00003.gguf`, the same
weights and metadata. The first part has the metadata and no tensor, as after `--no-tensor-first-split`; the others have the
tensors and of the metadata only `split.no`, `split.count` and `split.tensors.count`.
"""

import math

from tiny_models import CONFIGS, MODELS, TinyModel

N_PARTS = 3

if __name__ == "__main__":
    (config,) = (config for config in CONFIGS if config.name == "tiny-llama")
    model = TinyModel(config)
    per_part = math.ceil(len(model.stored) / (N_PARTS - 1))
    model.write(MODELS / f"{config.name}-split.gguf", split_max_tensors=per_part, small_first_shard=True)
