"""Native peers on the same machine: prefill by torch in float32 and by llama.cpp, and whole tasks by lm-eval.

In: a GGUF; for tasks the folder with the rows. Out: lines of "what: number".
Needs torch, transformers, gguf, lm_eval and llama-cpp-python in the Python that runs it; see README.md.
"""

import argparse
import json
import pathlib
import tempfile
import time


def ids(n):
    return [300 + (i * 2654435761 % 2**32) % 40000 for i in range(n)]


def median(values):
    return sorted(values)[len(values) // 2]


def rates(run, n_tokens, repeats):
    """Tokens a second, the first run left out."""
    found = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        run(n_tokens)
        found.append(n_tokens / (time.perf_counter() - start))
    return median(found[1:])


def torch_model(arguments):
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(arguments.threads)
    return AutoModelForCausalLM.from_pretrained(arguments.gguf.parent, gguf_file=arguments.gguf.name, dtype=torch.float32)


def torch_prefill(arguments):
    import torch

    model = torch_model(arguments)

    def run(n_tokens):
        with torch.inference_mode():
            model(torch.tensor([ids(n_tokens)]), logits_to_keep=1)

    return run


def llama_cpp_prefill(arguments):
    import llama_cpp

    threads = {"n_threads": arguments.threads, "n_threads_batch": arguments.threads}
    model = llama_cpp.Llama(str(arguments.gguf), n_ctx=1024, n_batch=512, n_ubatch=512, verbose=False, logits_all=False, **threads)

    def run(n_tokens):
        model.reset()
        model.eval(ids(n_tokens))

    return run


LETTERS = {
    "output_type": "multiple_choice",
    "doc_to_text": "{{question.strip()}}\nA. {{choices[0]}}\nB. {{choices[1]}}\nC. {{choices[2]}}\nD. {{choices[3]}}\nAnswer:",
    "doc_to_choice": ["A", "B", "C", "D"],
    "doc_to_target": "answer",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}


def local(name, files, config):
    return {"task": name, "dataset_path": "json", "dataset_kwargs": {"data_files": files}, "test_split": "test", **config}


def mmlu(data, folder, n_shots):
    """lm-eval's MMLU, a task a subject, over the rows that are there."""

    def by_subject(name):
        subjects = {}
        for line in (data / name).read_text().splitlines():
            subjects.setdefault(json.loads(line)["subject"], []).append(line)
        return subjects

    tests, shots = by_subject("mmlu.jsonl"), by_subject("mmlu_dev_fewshot.jsonl")
    for subject, lines in tests.items():
        files = {"test": str(folder / f"{subject}.jsonl"), "dev": str(folder / f"{subject}_dev.jsonl")}
        for split, rows in (("test", lines), ("dev", shots[subject])):
            pathlib.Path(files[split]).write_text("\n".join(rows) + "\n")
        description = f"The following are multiple choice questions (with answers) about {subject.replace('_', ' ')}.\n\n"
        few = {"fewshot_split": "dev", "fewshot_config": {"sampler": "first_n"}, "num_fewshot": n_shots}
        yield local(f"local_mmlu_{subject}", files, {**LETTERS, "description": description, **few})


def hellaswag(data, _folder):
    from lm_eval.tasks.hellaswag import utils

    metrics = [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("acc", "acc_norm")]
    config = {"output_type": "multiple_choice", "process_docs": utils.process_docs, "doc_to_text": "{{query}}", "doc_to_choice": "choices", "doc_to_target": "{{label}}"}
    yield local("local_hellaswag", {"test": str(data / "hellaswag.jsonl")}, {**config, "metric_list": metrics})


def tasks(arguments):
    import lm_eval
    from lm_eval.models.huggingface import HFLM
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(arguments.gguf.parent, gguf_file=arguments.gguf.name)
    harness = HFLM(pretrained=torch_model(arguments), tokenizer=tokenizer, batch_size=arguments.batch_size, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = {
            "hellaswag": lambda: hellaswag(arguments.data, folder),
            "mmlu": lambda: mmlu(arguments.data, folder, 0),
            "mmlu_5shot": lambda: mmlu(arguments.data, folder, 5),
        }
        for name in arguments.tasks:
            start = time.perf_counter()
            results = lm_eval.simple_evaluate(harness, tasks=list(runs[name]()), bootstrap_iters=0)["results"].values()
            seconds = time.perf_counter() - start
            n = sum(r["sample_len"] for r in results)
            acc = sum(r["acc,none"] * r["sample_len"] for r in results) / n
            print(f"lm-eval float32, {name}, {n} docs, {arguments.threads} thread(s), batch {arguments.batch_size}: {seconds:.1f} s, acc {acc:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gguf", required=True, type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=pathlib.Path, help="folder with hellaswag.jsonl, mmlu.jsonl and mmlu_dev_fewshot.jsonl")
    parser.add_argument("--tasks", nargs="*", default=[], choices=["hellaswag", "mmlu", "mmlu_5shot"], help="whole tasks instead of prefill")
    parser.add_argument("--batch-size", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.tasks:
        return tasks(arguments)
    for name, peer in (("torch float32", torch_prefill), ("llama.cpp", llama_cpp_prefill)):
        run = peer(arguments)
        for n_tokens in (128, 512):
            print(f"{name}, prefill {n_tokens}, {arguments.threads} thread(s): {rates(run, n_tokens, arguments.repeats):.1f} tokens/s", flush=True)


if __name__ == "__main__":
    main()
