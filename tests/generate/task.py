"""Golden cases of the task stage: what lm-eval itself makes of a task's YAML and its rows.

In: the small tasks below. Out: ../fixtures/task/lm_eval_cases.json: for each case the YAML, the rows, the settings, and per doc the
requests, the target, the gold indices and the hashes; and what Python's `random.Random(seed).sample` draws.
Contexts come from `ConfigurableTask.build_all_requests`, gold indices from `process_results` (which choice scores when it is the
likeliest), hashes from the lines of lm-eval's evaluator that are repeated in `hashes`. Chat templates are rendered by Jinja2
with the environment that transformers gives it.

Run: python3 tests/generate/task.py (needs lm_eval==0.4.13 and jinja2; see requirements.txt)
"""

import json
import logging
import os
import random
import shutil
import tempfile
from pathlib import Path

os.environ.setdefault("TQDM_DISABLE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import datasets
import lm_eval
from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml
from lm_eval.utils import handle_non_serializable, hash_string

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "task" / "lm_eval_cases.json"
TASKS = Path(lm_eval.__file__).parent / "tasks"
# Modules of lm-eval that a YAML here names by `!function`.
MODULES = [TASKS / "hellaswag" / "utils.py", TASKS / "winogrande" / "preprocess_winogrande.py"]

datasets.disable_progress_bars()
logging.disable(logging.CRITICAL)


# --- rows ------------------------------------------------------------------------------------------------------------

COLOURS = ["red", "green", "blue", "black", "white", "brown", "pink"]


def quiz(n, first=0):
    """Questions with three or four choices and an index, some of them awkward."""
    tricks = ["", " ", "\u00a0", "\u2028", "\u0085", "日本語", "🙂", "it's", 'a "b"', "\\n", "{{x}}", "<b>"]
    rows = []
    for i in range(first, first + n):
        choices = [f"{COLOURS[(i + j) % 7]}{tricks[(i + 5 * j) % len(tricks)]}" for j in range(3 + i % 2)]
        rows.append({"question": f"Question {i}{tricks[i % len(tricks)]}?", "choices": choices, "answer": i * 5 % len(choices)})
    return rows


def arc(n, first=0):
    """ARC's shape: labels 1 to 4 beside A to D, three or five choices."""
    rows = []
    for i in range(first, first + n):
        k = (4, 3, 5)[i % 3]
        labels = list("12345" if i % 4 == 1 else "ABCDE")[:k]
        texts = [f"{COLOURS[(i + j) % 7]} one" for j in range(k)]
        rows.append({"id": f"row{i}", "question": f"Which is {i}?", "choices": {"text": texts, "label": labels}, "answerKey": labels[i % k]})
    return rows


def hellaswag(n, first=0):
    rows = []
    for i in range(first, first + n):
        rows.append({
            "ind": i, "activity_label": f"Activity {i}", "ctx_a": f"[header] How to do {i} [title] Begin. ",
            "ctx_b": ["", "a MAN", "éTé begins"][i % 3], "ctx": "unused",
            "endings": [f" does {i}  twice.", "[step] stops [substeps] there", ", waits.", f"'s {COLOURS[i % 7]}."],
            "label": str(i % 4),
        })
    return rows


def winogrande(n):
    rows = []
    for i in range(n):
        rows.append({
            "sentence": f"The {COLOURS[i % 7]} cup did not fit because _ was too big ({i}).  ",
            "option1": "the cup", "option2": "the box", "answer": str(1 + i % 2),
        })
    return rows


def lambada(n):
    return [{"text": f"They said “go {i}” \n and she  went to the {COLOURS[i % 7]}"} for i in range(n)]


# --- tasks -----------------------------------------------------------------------------------------------------------

ARC = """\
task: arc_like
dataset_path: json
output_type: multiple_choice
training_split: train
test_split: test
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{choices.label.index(answerKey)}}"
doc_to_choice: "{{choices.text}}"
"""

QUIZ = """\
task: quiz
dataset_path: json
output_type: multiple_choice
test_split: test
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: answer
doc_to_choice: choices
"""

LETTERS = """\
task: letters
dataset_path: json
output_type: multiple_choice
test_split: test
fewshot_split: dev
fewshot_config:
  sampler: first_n
description: "The following are questions about {{question.split(' ')[0].lower()}}s.\\n\\n"
doc_to_text: "{{question.strip()}}\\n{% for choice in choices %}{{'ABCD'[loop.index0]}}. {{choice}}\\n{% endfor %}Answer:"
doc_to_target: "{{'ABCD'[answer]}}"
doc_to_choice: "{{['A', 'B', 'C', 'D'][:choices|length]}}"
"""

HELLASWAG = """\
task: hellaswag_like
dataset_path: json
output_type: multiple_choice
training_split: train
validation_split: validation
test_split: null
process_docs: !function utils.process_docs
doc_to_text: "{{query}}"
doc_to_target: "{{label}}"
doc_to_choice: "choices"
"""

WINOGRANDE = """\
task: winogrande_like
dataset_path: json
output_type: multiple_choice
validation_split: validation
doc_to_text: !function preprocess_winogrande.doc_to_text
doc_to_target: !function preprocess_winogrande.doc_to_target
doc_to_choice: !function preprocess_winogrande.doc_to_choice
"""

LAMBADA = """\
task: lambada_like
dataset_path: json
output_type: loglikelihood
test_split: test
doc_to_text: "{{text.split(' ')[:-1]|join(' ')}}"
doc_to_target: "{{' '+text.split(' ')[-1]}}"
"""

BOOLQ = """\
task: boolq_like
dataset_path: json
output_type: multiple_choice
training_split: train
validation_split: validation
doc_to_text: "{{passage}}\\nQuestion: {{question}}?\\nAnswer:"
doc_to_target: label
doc_to_choice: ["no", "yes"]
"""

VALUES = """\
task: values
dataset_path: json
output_type: multiple_choice
test_split: test
doc_to_text: "{{t}}|{{f}}|{{n}}|{{x}}|{{big}}|{{list}}|{{d}}|{{list|length}}|{{d.k + 1}}|{{x // 1}}|{{7 / 2}}|{{none_is is none}}|{{t and 'y' or 'z'}}"
doc_to_target: 0
doc_to_choice: {first: "yes", second: "no"}
"""

METHODS = """\
task: methods
dataset_path: json
output_type: multiple_choice
test_split: test
doc_to_text: "{{s.strip()}}|{{s.lstrip()}}|{{s.upper()}}|{{s.title()}}|{{s.capitalize()}}|{{s.replace('a', 'b')}}|{{s.split()}}|{{s.startswith(' ')}}|{{s.find('n')}}|{{s.count('a')}}|\
{{s | trim | capitalize}}|{{s|replace('a', 'b', 1)}}|{{s[2:5]}}|{{s[::-1]}}|{{s ~ 1}}|{{s|regex_replace('[aeiou](.)', '<\\\\\\\\1>')}}\\n"
doc_to_target: "{{['no', 'yes'][1]}}"
doc_to_choice: "['{{w}}', \\"it's\\", 'yes']"
"""

BLOCKS = """\
task: blocks
dataset_path: json
output_type: multiple_choice
test_split: test
description: topic
doc_to_text: |
  {# a comment #}
  {%- set letters = 'ABCDE' %}
  {% if topic == 'one' -%}
    One
  {% elif topic in ['two', 'three'] %}
  Two
  {%- else %}
  Other
  {% endif %}
  {% for o in options if o %}
  {{ letters[loop.index0] }}) {{ o }}{% if not loop.last %};{% endif %}
  {% endfor %}
  {% for key, value in meta.items() %}{{key}}={{value}} {% endfor %}
  {% macro twice(x) %}{{x}}{{x}}{% endmacro %}{{ twice('ab') }}
doc_to_target: "{{gold}}"
doc_to_choice: options
target_delimiter: ""
"""

# Like ChatML; the default system turn, the loop variables and the trimmed blocks are what real templates use.
CHATML = """\
{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
You help.<|im_end|>
' }}{% endif %}
    {%- if message['role'] == 'user' and loop.index0 > 99 %}
        {{ raise_exception('too long') }}
    {% endif %}
{{'<|im_start|>' + message['role'] + '
' + message['content'] | trim + '<|im_end|>' + '
'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}"""

# Refuses a system turn, as Gemma's and some of Mistral's do.
STRICT = """\
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{% for message in messages %}
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{ raise_exception('Roles must alternate') }}
    {% endif %}
    {% set role = 'model' if message['role'] == 'assistant' else message['role'] %}
    {{ '<start>' + role + '\\n' + message['content'].strip() + '<end>\\n' }}
{% endfor %}
{% if add_generation_prompt %}{{ '<start>model\\n' }}{% endif %}
"""


def passages(n, first=0):
    return [{"passage": f"Text {i} has\u00a0it.", "question": f"is it {COLOURS[i % 7]}", "idx": i, "label": i % 2} for i in range(first, first + n)]


def yaml_text(value):
    """JSON that is YAML too: no pair of surrogates as escapes, no character that YAML takes for a line end."""
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u0085", "\\u0085").replace("\u2028", "\\u2028")


def cases():
    yield dict(name="examples_from_a_training_file_are_drawn_without_headroom", yaml=ARC, rows=arc(5), fewshot=arc(12, 50), num_fewshot=3)
    yield dict(name="a_large_pool_is_drawn_from_by_pythons_other_method", yaml=ARC, rows=arc(3), fewshot=arc(22, 50), num_fewshot=4)
    yield dict(name="more_than_five_examples_of_a_large_pool", yaml=ARC, rows=arc(1), fewshot=arc(86, 50), num_fewshot=8)
    yield dict(name="another_seed_draws_other_examples", yaml=ARC, rows=arc(3), fewshot=arc(12, 50), num_fewshot=2, fewshot_seed=7)
    yield dict(name="no_test_split_and_no_fewshot_split_draws_one_more_and_leaves_the_row_out", yaml=HELLASWAG, rows=hellaswag(6), fewshot=hellaswag(8), num_fewshot=2)
    yield dict(name="hellaswag_texts_are_cleaned", yaml=HELLASWAG, rows=hellaswag(6))
    yield dict(name="winogrande_puts_the_choices_into_the_context", yaml=WINOGRANDE, rows=winogrande(4))
    yield dict(name="winogrande_draws_examples_from_its_own_rows", yaml=WINOGRANDE, rows=winogrande(7), num_fewshot=3)
    # Two of three rows are the same: both can be drawn, and the draw is repeated without them.
    yield dict(name="copies_of_the_row_are_left_out_and_the_draw_repeated", yaml=WINOGRANDE, rows=[winogrande(1)[0], winogrande(1)[0], winogrande(2)[1], winogrande(3)[2]], num_fewshot=2)
    yield dict(name="first_n_of_the_same_split_leaves_the_row_out", rows=quiz(5), num_fewshot=2,
               yaml=QUIZ + "fewshot_split: test\nfewshot_config:\n  sampler: first_n\n")
    yield dict(name="drawn_from_the_same_split", rows=quiz(9), num_fewshot=3, yaml=QUIZ + "fewshot_split: test\n")
    yield dict(name="samples_in_the_config", rows=quiz(2), num_fewshot=2,
               yaml=QUIZ + "fewshot_config:\n  sampler: first_n\n  samples:\n" + "".join(f"  - {yaml_text(row)}\n" for row in quiz(3, 20)))
    yield dict(name="samples_have_their_own_templates_and_delimiters", rows=quiz(2), num_fewshot=2, yaml=QUIZ + """\
target_delimiter: " => "
fewshot_delimiter: "\\n###\\n"
fewshot_split: dev
fewshot_config:
  doc_to_text: "Example: {{question}}"
  doc_to_target: "{{choices[answer]|upper}}"
  target_delimiter: " -> "
  fewshot_delimiter: "\\n---\\n"
""", fewshot=quiz(6, 30))
    yield dict(name="letters_with_a_description_that_is_a_template", yaml=LETTERS, rows=quiz(4), fewshot=quiz(5, 30), num_fewshot=2)
    yield dict(name="the_configs_number_of_examples_holds", yaml=LETTERS + "num_fewshot: 1\n", rows=quiz(2), fewshot=quiz(5, 30))
    yield dict(name="zero_examples_in_the_config_cannot_be_overridden", yaml=LETTERS + "num_fewshot: 0\n", rows=quiz(2), fewshot=quiz(5, 30), num_fewshot=2)
    yield dict(name="columns_and_an_index_column", yaml=BOOLQ, rows=passages(4), fewshot=passages(6, 10), num_fewshot=2)
    yield dict(name="a_boolean_is_an_index", rows=[{**row, "label": bool(row["label"])} for row in passages(4)],
               fewshot=[{**row, "label": bool(row["label"])} for row in passages(6, 10)], yaml=BOOLQ, num_fewshot=1)
    yield dict(name="gold_is_a_list", rows=[{**row, "answer": [row["answer"], 1]} for row in quiz(3, 1)], yaml=QUIZ)
    yield dict(name="gold_is_a_rendered_list", rows=[{**row, "answer": [row["answer"], 1]} for row in quiz(3, 1)],
               yaml=QUIZ.replace("doc_to_target: answer", 'doc_to_target: "{{answer}}"'))
    yield dict(name="gold_is_a_text", rows=[{**row, "answer": row["choices"][row["answer"]]} for row in quiz(4)], yaml=QUIZ)
    yield dict(name="gold_is_the_text_of_a_number", rows=[{**row, "answer": str(row["answer"])} for row in quiz(3)],
               yaml=QUIZ.replace("doc_to_target: answer", 'doc_to_target: "{{answer}}"'))
    yield dict(name="gold_outside_the_choices_is_none", rows=[{**row, "answer": row["answer"] if i != 1 else 4} for i, row in enumerate(quiz(3))], yaml=QUIZ)
    yield dict(name="repeated_choices_and_the_first_is_gold", yaml=QUIZ,
               rows=[{"question": "Which?", "choices": ["x", "x", "y"], "answer": "x"}, {"question": " ", "choices": [" x ", "x", "\tz"], "answer": "x"}])
    yield dict(name="lambada", yaml=LAMBADA, rows=lambada(3))
    yield dict(name="lambada_with_examples_of_its_own_rows", yaml=LAMBADA + "fewshot_split: test\n", rows=lambada(6), num_fewshot=2)
    yield dict(name="a_whole_document", rows=[{"page": " = One = \n\u00a0two\n"}, {"page": "漢字 🙂"}],
               yaml='task: pages\ndataset_path: json\noutput_type: loglikelihood_rolling\ntest_split: test\ndoc_to_text: ""\ndoc_to_target: "{{page}}"\n')
    yield dict(name="values_are_written_as_python_writes_them", yaml=VALUES,
               rows=[{"t": True, "f": False, "n": None, "x": 1e-05, "big": 1e16, "list": ["it's", 'say "x"', "\u00a0\n"], "d": {"k": 2, "s": "é"}, "none_is": None},
                     {"t": False, "f": True, "n": None, "x": 2.0, "big": 0.1, "list": [], "d": {"k": -1, "s": ""}, "none_is": None}])
    yield dict(name="python_methods_and_filters", yaml=METHODS, rows=[{"s": " an éaten banana's Peel ", "w": "é 🙂"}, {"s": "ALPHA beta", "w": "\\\\x"}])
    yield dict(name="blocks_loops_and_white_space", yaml=BLOCKS, rows=[
        {"topic": "two", "options": ["x", "y"], "gold": 1, "meta": {"b": 2, "a": ""}},
        {"topic": "one", "options": ["x", "", "z"], "gold": 0, "meta": {"b": 1, "a": "two"}},
        {"topic": "four\n", "options": [" x", "y "], "gold": 1, "meta": {"b": 3, "a": "z"}}])

    chat = dict(template=CHATML, bos_token="<s>", eos_token="</s>")
    strict = dict(template=STRICT, bos_token="<bos>", eos_token="<eos>")
    few = dict(yaml=LETTERS, rows=quiz(2), fewshot=quiz(5, 30), num_fewshot=2)
    yield dict(name="system_text_without_chat", **few, system_instruction="Be brief.")
    yield dict(name="chat_in_one_message", **few, chat=dict(chat, mode="one_message"))
    yield dict(name="chat_in_turns", **few, chat=dict(chat, mode="turns"))
    yield dict(name="chat_with_a_system_turn", **few, chat=dict(chat, mode="turns"), system_instruction="Be brief.")
    yield dict(name="chat_without_a_system_turn", yaml=QUIZ, rows=quiz(3), chat=dict(chat, mode="one_message"))
    yield dict(name="chat_drops_a_refused_system_turn", **few, chat=dict(strict, mode="turns"), system_instruction="Be brief.")
    yield dict(name="chat_with_choices_in_the_context", yaml=WINOGRANDE, rows=winogrande(4), num_fewshot=1, chat=dict(chat, mode="turns"))
    yield dict(name="chat_of_a_loglikelihood_task", yaml=LAMBADA + "fewshot_split: test\n", rows=lambada(3), num_fewshot=1, chat=dict(strict, mode="one_message"))


# --- lm-eval ---------------------------------------------------------------------------------------------------------

def chat_renderer(chat):
    def raise_exception(message):
        raise TemplateError(message)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    env.globals["raise_exception"] = raise_exception
    template = env.from_string(chat["template"])
    tokens = {"bos_token": chat["bos_token"], "eos_token": chat["eos_token"]}

    def render(messages, add_generation_prompt=True):
        try:
            return template.render(messages=messages, add_generation_prompt=add_generation_prompt, **tokens)
        except TemplateError:  # as lm-eval's Hugging Face model does
            messages = [message for message in messages if message["role"] != "system"]
            return template.render(messages=messages, add_generation_prompt=add_generation_prompt, **tokens)

    return render


def split_files(config, rows, fewshot, folder):
    """The rows under the split that is evaluated, the examples under the one they are drawn from."""
    files = {}

    def add(split, content):
        files[split] = str(folder / f"{split}.jsonl")
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        Path(files[split]).write_text(text, encoding="utf-8")

    add(config.get("test_split") or config["validation_split"], rows)
    if config.get("training_split") and fewshot is None:
        config["training_split"] = None
    if fewshot is not None:
        add(config.get("fewshot_split") or config["training_split"], fewshot)
    return files


def hashes(request, doc, target):
    dumped = json.dumps(doc, indent=2, default=handle_non_serializable, ensure_ascii=False)
    return {"doc_hash": hash_string(dumped), "prompt_hash": hash_string(request.arguments[0]), "target_hash": hash_string(str(target))}


def gold(task, doc, n):
    """Indices that count as right."""
    right = []
    for i in range(n):
        results = [(-1.0 if j == i else -2.0, False) for j in range(n)]
        if task.process_results(doc, results)["acc"] == 1.0:
            right.append(i)
    return right


def run(case, folder):
    folder.mkdir()
    for module in MODULES:
        shutil.copy(module, folder)
    (folder / "task.yaml").write_text(case["yaml"], encoding="utf-8")
    config = load_yaml(folder / "task.yaml")
    config["dataset_kwargs"] = {"data_files": split_files(config, case["rows"], case.get("fewshot"), folder), "cache_dir": str(folder / "cache")}
    if config["output_type"] == "multiple_choice":
        config["metric_list"] = [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}]
    task = ConfigurableTask(config=config)
    # The order of lm-eval's evaluator: a zero in the config stays, another number gives way.
    if case.get("num_fewshot") is not None and task.get_config("num_fewshot") != 0:
        task.set_config("num_fewshot", case["num_fewshot"])
    task.set_fewshot_seed(case.get("fewshot_seed", 1234))
    chat = case.get("chat")
    task.build_all_requests(
        system_instruction=case.get("system_instruction"),
        apply_chat_template=chat is not None,
        fewshot_as_multiturn=chat is not None and chat["mode"] == "turns",
        chat_template=chat_renderer(chat) if chat else None,
    )
    docs = {}
    for instance in task.instances:
        docs.setdefault(instance.doc_id, []).append(instance)
    out = []
    for requests in docs.values():
        doc = requests[0].doc
        target = task.doc_to_target(doc)
        # A rolling request has the text alone.
        pairs = [list(r.args) if len(r.args) == 2 else ["", r.args[0]] for r in requests]
        entry = {"requests": pairs, "target": target, **hashes(requests[0], doc, target)}
        if config["output_type"] == "multiple_choice":
            entry["gold"] = gold(task, doc, len(requests))
        out.append(entry)
    return out


def draws():
    """One stream a seed, several draws from it, on both sides of where `sample` changes its method."""
    out = []
    for seed in [0, 1, 1234, 4294967295]:
        rng = random.Random(seed)
        sizes = [(5, 5), (21, 5), (22, 5), (100, 1), (85, 6), (86, 6), (277, 21), (278, 21), (1000, 3), (14042, 5)]
        out.append({"seed": seed, "draws": [{"n": n, "k": k, "sample": rng.sample(range(n), k)} for n, k in sizes]})
    return out


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = []
        for i, case in enumerate(cases()):
            done.append({**case, "docs": run(case, Path(folder) / str(i))})
    OUT.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in done)
    sampled = ",\n".join(json.dumps(draw) for draw in draws())
    # U+0085 and U+2028 stay as escapes: some editors take them for line ends.
    text = f'{{"cases": [\n{lines}\n],\n"draws": [\n{sampled}\n]}}\n'.replace("\u0085", "\\u0085").replace("\u2028", "\\u2028")
    OUT.write_text(text, encoding="utf-8")
    print(f"{OUT}: {len(done)} cases, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
