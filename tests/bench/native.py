"""Native peers on the same machine: torch float32 prefill, and whole tasks by lm-eval against the native command.

In: a GGUF, the rows, an lm-eval task folder (what "Export as lm-eval task" writes). Out: lines of "name seconds".
Needs torch, transformers, gguf and lm_eval in the Python that runs it; see README.md.
"""

import argparse
import time

import torch


def prefill(model, n_tokens, repeats):
    ids = torch.tensor([[300 + (i * 2654435761) % 40000 for i in range(n_tokens)]])
    rates = []
    with torch.inference_mode():
        for _ in range(repeats + 1):
            start = time.perf_counter()
            model(ids, logits_to_keep=1)
            rates.append(n_tokens / (time.perf_counter() - start))
    return sorted(rates[1:])[repeats // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--task-path", help="folder with exported YAML and rows")
    parser.add_argument("--task", help="name of the task in it")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder, _, file = arguments.gguf.rpartition("/")
    model = AutoModelForCausalLM.from_pretrained(folder or ".", gguf_file=file, dtype=torch.float32)
    if not arguments.task:
        for n_tokens in (128, 512):
            print(f"torch float32 prefill {n_tokens}, {arguments.threads} thread(s): {prefill(model, n_tokens, 5):.1f} tokens/s", flush=True)
        return
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    tokenizer = AutoTokenizer.from_pretrained(folder or ".", gguf_file=file)
    harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=1, device="cpu")
    start = time.perf_counter()
    results = lm_eval.simple_evaluate(harness, tasks=[arguments.task], task_manager=TaskManager(include_path=arguments.task_path), bootstrap_iters=0)
    print(f"lm-eval float32 {arguments.task}: {time.perf_counter() - start:.1f} s", results["results"].get(arguments.task), flush=True)


if __name__ == "__main__":
    main()
