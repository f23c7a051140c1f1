"""Golden cases of the metrics: seeded items and what follows from them, by formulas written for this file alone.

In: nothing but the seeds below. Out: ../fixtures/metrics/cases.json (sets of items; options and the parts of the report that
must come out), python.json (how Python prints floats and splits words). Standard library only; shares no code with the crate.
Where a formula has two forms, the other one than the crate's is used: Wilson's interval as the roots of its quadratic,
McNemar's test in exact fractions, the fitted temperature by bisection of the NLL's slope.

Beside them lies mmlu.json, which is data and not generated: MMLU's subjects, the group that lm-eval 0.4.13 puts each into,
and the rows of its test split.

Run: python3 tests/generate/metrics.py
"""

import hashlib
import json
import math
import random
import re
import struct
from fractions import Fraction
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "fixtures" / "metrics"
Z = 1.96
RULES = ["acc", "acc_norm", "acc_bytes", "acc_token", "acc_mutual_info", "acc_mutual_info_answer"]


# --- items -----------------------------------------------------------------------------------------------------------

WORDS = ["red", "stone", "a", "Zürich", "東京", "🙂", "of the", "1889", "x²", "naïve", "river bank", "θ", "blue"]


def text(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))


def choice(rng, content, skill):
    n_tokens = rng.randint(1, 6)
    return {
        "text": content,
        "token_logprobs": [round(-rng.expovariate(0.7) + skill / n_tokens, 3) for _ in range(n_tokens)],
        "is_greedy": rng.random() < 0.2,
        "unconditional": round(-rng.expovariate(0.2), 3),
        "answer": round(-rng.expovariate(0.25), 3),
    }


def choice_items(seed, n, *, letters=False, several_gold=False, ties=False, tasks=("t",), n_choices=(4,), categories=("c",)):
    rng = random.Random(seed)
    items = []
    for index in range(n):
        k = rng.choice(n_choices)
        gold = sorted(rng.sample(range(k), rng.randint(1, k - 1))) if several_gold else [rng.randrange(k)]
        contents = ["ABCDEFGHIJ"[i] if letters else text(rng) for i in range(k)]
        choices = [choice(rng, c, 1.2 if i in gold else 0.0) for i, c in enumerate(contents)]
        if letters:
            for c in choices:
                c["token_logprobs"] = c["token_logprobs"][:1]
        if ties and rng.random() < 0.3:
            a, b = rng.sample(range(k), 2)
            choices[b] = dict(choices[a])
        items.append(
            {
                "index": index,
                "task": rng.choice(tasks),
                "category": rng.choice(categories),
                "output_type": "multiple_choice",
                "gold": gold,
                "choices": choices,
            }
        )
    return items


def text_items(seed, n, output_type):
    rng = random.Random(seed)
    items = []
    for index in range(n):
        content = " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 30)))
        if rng.random() < 0.3:
            content = " " + content + "\n"
        entry = choice(rng, content, 0.0)
        items.append({"index": index, "task": "t", "category": None, "output_type": output_type, "gold": [0], "choices": [entry]})
    return items


# --- scores ----------------------------------------------------------------------------------------------------------


def ll(c):
    total = 0.0
    for x in c["token_logprobs"]:
        total += x
    return total


def scores(item, rule):
    def one(c):
        if rule == "acc":
            return ll(c)
        if rule == "acc_mutual_info":
            return ll(c) - c["unconditional"]
        if rule == "acc_mutual_info_answer":
            return ll(c) - c["answer"]
        length = {"acc_norm": len(c["text"]), "acc_bytes": len(c["text"].encode()), "acc_token": len(c["token_logprobs"])}[rule]
        return ll(c) / length

    return [one(c) for c in item["choices"]]


def pick(values):
    return values.index(max(values))


def softmax(values, temperature=1.0):
    top = max(values)
    weights = [math.exp((v - top) / temperature) for v in values]
    return [w / sum(weights) for w in weights]


def is_correct(item, rule):
    return pick(scores(item, rule)) in item["gold"]


# --- estimates -------------------------------------------------------------------------------------------------------


def wilson(k, n):
    """Roots of (n + z²)p² − (2k + z²)p + k²/n = 0."""
    a, b, c = n + Z * Z, -(2 * k + Z * Z), k * k / n
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    return {"low": (-b - root) / (2 * a), "high": (-b + root) / (2 * a)}


def stderr(values):
    n = len(values)
    if n < 2:
        return None
    mu = math.fsum(values) / n
    return math.sqrt(math.fsum((x - mu) ** 2 for x in values) / (n - 1)) / math.sqrt(n)


def proportion(bits):
    bits = [int(b) for b in bits]
    n, k = len(bits), sum(bits)
    return {"n": n, "n_correct": k, "value": k / n, "stderr": stderr(bits), "interval": wilson(k, n)}


def mean(values):
    return math.fsum(values) / len(values)


def mcnemar(b, c):
    if b + c == 0:
        return 1.0
    tail = sum(Fraction(math.comb(b + c, i), 2 ** (b + c)) for i in range(min(b, c) + 1))
    return float(min(Fraction(1), 2 * tail))


# --- report ----------------------------------------------------------------------------------------------------------


def rules_section(items, folded):
    listed = []
    for rule in RULES:
        if rule in folded:
            continue
        values = [scores(item, rule) for item in items]
        listed.append(
            {
                "rule": rule,
                "accuracy": proportion(is_correct(item, rule) for item in items),
                "n_tied": sum(v.count(max(v)) > 1 for v in values),
                "mean_pick_chars": mean([len(item["choices"][pick(v)]["text"]) for item, v in zip(items, values)]),
            }
        )
    disagree = sum(len({pick(scores(item, rule)) for rule in RULES}) > 1 for item in items)
    section = {"listed": listed, "n_rules_disagree": disagree}
    if "acc_norm" not in folded:
        a = [is_correct(item, "acc") for item in items]
        b = [is_correct(item, "acc_norm") for item in items]
        picks = [(pick(scores(item, "acc")), pick(scores(item, "acc_norm"))) for item in items]
        lengths = [[len(c["text"]) for c in item["choices"]] for item in items]
        only_a, only_b = sum(x and not y for x, y in zip(a, b)), sum(y and not x for x, y in zip(a, b))
        section["acc_and_acc_norm"] = {
            "n": len(items),
            "n_differ": sum(x != y for x, y in picks),
            "n_only_a_correct": only_a,
            "n_only_b_correct": only_b,
            "p_value": mcnemar(only_a, only_b),
            "mean_chars_a": mean([n[x] for n, (x, _) in zip(lengths, picks)]),
            "mean_chars_b": mean([n[y] for n, (_, y) in zip(lengths, picks)]),
            "mean_chars_gold": mean([mean([n[g] for g in item["gold"]]) for n, item in zip(lengths, items)]),
            "mean_chars_all": mean([mean(n) for n in lengths]),
        }
    return section


def briers(p, items):
    """Σ (p − gold)² of every doc with one gold choice."""
    single = [(q, item["gold"][0]) for q, item in zip(p, items) if len(item["gold"]) == 1]
    return [math.fsum((x - (i == gold)) ** 2 for i, x in enumerate(q)) for q, gold in single]


def choice_metrics(items):
    p = [softmax([ll(c) for c in item["choices"]]) for item in items]
    gold = [math.fsum(q[g] for g in item["gold"]) for q, item in zip(p, items)]
    brier = briers(p, items)
    return {
        "exact_match": proportion(any(item["choices"][g]["is_greedy"] for g in item["gold"]) for item in items),
        "gold_probability": {"n": len(items), "value": mean(gold), "stderr": stderr(gold)},
        "brier_score": {"n": len(brier), "value": mean(brier), "stderr": stderr(brier)} if brier else None,
    }


def pooled(parts):
    """Pooled variance over all parts, over Σn."""
    if any(se is None for _, se in parts):
        return None
    n = sum(size for size, _ in parts)
    return math.sqrt(math.fsum(size * (size - 1) * se**2 for size, se in parts) / (n - len(parts)) / n)


def macro(parts):
    w = 1 / len(parts)
    se = None if any(s is None for _, s in parts) else math.sqrt(math.fsum(w * w * s * s for _, s in parts))
    return {"n_parts": len(parts), "value": math.fsum(w * v for v, _ in parts), "stderr": se}


def breakdown(items, rule, groups):
    names = sorted({item["category"] for item in items})
    of = {name: [is_correct(item, rule) for item in items if item["category"] == name] for name in names}
    rows = {name: proportion(bits) for name, bits in of.items()}
    inner = {}
    for group, members in groups.items():
        present = [m for m in sorted(members) if m in rows]
        bits = [b for m in present for b in of[m]]
        inner[group] = {
            "name": group,
            "categories": present,
            "micro": proportion(bits),
            "pooled_stderr": pooled([(rows[m]["n"], rows[m]["stderr"]) for m in present]),
            "macro_categories": macro([(rows[m]["value"], rows[m]["stderr"]) for m in present]),
        }
    return {
        "categories": [{"name": name, "accuracy": rows[name]} for name in names],
        "groups": list(inner.values()),
        "micro": proportion(b for bits in of.values() for b in bits),
        "pooled_stderr": pooled([(r["n"], r["stderr"]) for r in rows.values()]),
        "macro_categories": macro([(r["value"], r["stderr"]) for r in rows.values()]) if len(rows) > 1 else None,
        "macro_groups": macro([(g["micro"]["value"], g["pooled_stderr"]) for g in inner.values()]) if len(inner) > 1 else None,
    }


def bins_of(confidences, n_bins, binning):
    if binning == "equal_width":
        edges = [m / n_bins for m in range(1, n_bins + 1)]
        return [next(m for m, edge in enumerate(edges) if c <= edge or m == n_bins - 1) for c in confidences]
    return [sum(other < c for other in confidences) * n_bins // len(confidences) for c in confidences]


def diagram(confidences, bits, n_bins, binning):
    bins = []
    for m in range(n_bins):
        inside = [(c, b) for c, b, at in zip(confidences, bits, bins_of(confidences, n_bins, binning)) if at == m]
        entry = {"n": len(inside), "n_correct": sum(b for _, b in inside)}
        if inside:
            entry |= {
                "mean_confidence": mean([c for c, _ in inside]),
                "accuracy": mean([int(b) for _, b in inside]),
                "interval": wilson(entry["n_correct"], entry["n"]),
            }
        else:
            entry |= {"mean_confidence": None, "accuracy": None, "interval": None, "gap": None}
        bins.append(entry)
    gaps = [(b["n"], abs(b["mean_confidence"] - b["accuracy"])) for b in bins if b["n"]]
    return bins, math.fsum(n / len(bits) * gap for n, gap in gaps), max(gap for _, gap in gaps)


def calibration_values(items, rule, temperature, n_bins, binning):
    p = [softmax(scores(item, rule), temperature) for item in items]
    confidences = [max(q) for q in p]
    bits = [is_correct(item, rule) for item in items]
    _, ece, mce = diagram(confidences, bits, n_bins, binning)
    brier = briers(p, items)
    return {
        "temperature": temperature,
        "accuracy": mean([int(b) for b in bits]),
        "mean_confidence": mean(confidences),
        "ece": ece,
        "mce": mce,
        "brier": mean(brier) if brier else None,
        "nll": mean([-math.log(math.fsum(q[g] for g in item["gold"])) for q, item in zip(p, items)]),
    }


MASK = 2**64 - 1


def splitmix(seed):
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def permutation(seed, n):
    stream = splitmix(seed)
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = (next(stream) >> 32) * (i + 1) >> 32
        order[i], order[j] = order[j], order[i]
    return order


def slope(items, rule, beta):
    total = []
    for item in items:
        s = scores(item, rule)
        gold = [s[g] for g in item["gold"]]
        p, q = softmax(s, 1 / beta), softmax(gold, 1 / beta)
        total.append(math.fsum(a * b for a, b in zip(p, s)) - math.fsum(a * b for a, b in zip(q, gold)))
    return math.fsum(total)


def temperature_fit(items, rule, seed, n_bins, binning):
    order = permutation(seed, len(items))
    half = len(order) // 2
    fit, held_out = [items[i] for i in sorted(order[:half])], [items[i] for i in sorted(order[half:])]
    low, high = 0.01, 100.0
    at_bound = None
    if slope(fit, rule, low) >= 0:
        at_bound = 100.0
    elif slope(fit, rule, high) <= 0:
        at_bound = 0.01
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(fit, rule, middle) > 0 else (middle, high)
    t = at_bound or 1 / low
    return {
        "temperature": t,
        "is_at_bound": at_bound is not None,
        "seed": seed,
        "n_fit": len(fit),
        "n_held_out": len(held_out),
        "before": calibration_values(held_out, rule, 1.0, n_bins, binning),
        "after": calibration_values(held_out, rule, t, n_bins, binning),
    }


def selective(confidences, bits):
    """Every coverage at which docs of equal confidence are together, thinned to one in each hundredth."""
    points = []
    seen = 0
    for threshold in sorted(set(confidences), reverse=True):
        kept = [b for c, b in zip(confidences, bits) if c >= threshold]
        hundredth = len(kept) * 100 // len(bits)
        if hundredth > seen:
            accuracy = mean([int(b) for b in kept])
            points.append({"n": len(kept), "coverage": len(kept) / len(bits), "confidence": threshold, "accuracy": accuracy})
            seen = hundredth
    return points


def calibration(items, rule, temperature, n_bins, binning, seed):
    confidences = [max(softmax(scores(item, rule), temperature)) for item in items]
    bits = [is_correct(item, rule) for item in items]
    bins, _, _ = diagram(confidences, bits, n_bins, binning)
    return {
        "confidence_rule": rule,
        "n": len(items),
        "bins": bins,
        "values": calibration_values(items, rule, temperature, n_bins, binning),
        "values_at_one": calibration_values(items, rule, 1.0, n_bins, binning),
        "ece_equal_width": diagram(confidences, bits, n_bins, "equal_width")[1],
        "ece_equal_mass": diagram(confidences, bits, n_bins, "equal_mass")[1],
        "selective": selective(confidences, bits),
        "temperature_fit": temperature_fit(items, rule, seed, n_bins, binning),
    }


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    below = math.floor(at)
    above = min(below + 1, len(values) - 1)
    return values[below] + (values[above] - values[below]) * (at - below)


def bootstrap(items, rule, temperature, n_bins, binning, seed, n_draws=1000):
    confidences = [max(softmax(scores(item, rule), temperature)) for item in items]
    bits = [is_correct(item, rule) for item in items]
    at = bins_of(confidences, n_bins, binning)
    n = len(items)

    def ece(pairs):
        sums = [0.0] * n_bins
        for m, c, b in pairs:
            sums[m] += b - c
        return math.fsum(map(abs, sums)) / n

    stream = splitmix(seed)
    resampled, calibrated = [], []
    for _ in range(n_draws):
        drawn = [(next(stream) >> 32) * n >> 32 for _ in range(n)]
        resampled.append(ece([(at[i], confidences[i], bits[i]) for i in drawn]))
        calibrated.append(ece([(m, c, (next(stream) >> 11) / 2**53 < c) for m, c in zip(at, confidences)]))
    observed = ece(list(zip(at, confidences, bits)))
    return {
        "n": n,
        "n_draws": n_draws,
        "ece": observed,
        "ece_interval": {"low": quantile(resampled, 0.025), "high": quantile(resampled, 0.975)},
        "calibrated_ece": mean(calibrated),
        "calibrated_interval": {"low": quantile(calibrated, 0.025), "high": quantile(calibrated, 0.975)},
        "p_value": (sum(e >= observed for e in calibrated) + 1) / (n_draws + 1),
    }


def bias(items, rule):
    picks = [pick(scores(item, rule)) for item in items]
    positions = []
    variation = 0.0
    for position in range(max(len(item["choices"]) for item in items)):
        picked = [p == position for p in picks]
        share = mean([(position in item["gold"]) / len(item["gold"]) for item in items])
        variation += abs(mean([int(p) for p in picked]) - share)
        when_gold = [p in item["gold"] for p, item in zip(picks, items) if item["gold"] == [position]]
        positions.append(
            {
                "position": position,
                "letter": "ABCDEFGHIJ"[position],
                "n_docs": sum(len(item["choices"]) > position for item in items),
                "picked": proportion(picked),
                "gold": proportion(position in item["gold"] for item in items),
                "accuracy_when_gold": proportion(when_gold) if when_gold else None,
            }
        )
    uneven = [(item, p, [len(c["text"]) for c in item["choices"]]) for item, p in zip(items, picks)]
    uneven = [(item, p, n) for item, p, n in uneven if len(set(n)) > 1]
    length = None
    if uneven:
        length = {
            "n": len(uneven),
            "mean_chars_picked": mean([n[p] for _, p, n in uneven]),
            "mean_chars_gold": mean([mean([n[g] for g in item["gold"]]) for item, _, n in uneven]),
            "mean_chars_all": mean([mean(n) for _, _, n in uneven]),
            "picked_longest": proportion(n[p] == max(n) for _, p, n in uneven),
            "gold_longest": proportion(any(n[g] == max(n) for g in item["gold"]) for item, _, n in uneven),
            "picked_shortest": proportion(n[p] == min(n) for _, p, n in uneven),
            "gold_shortest": proportion(any(n[g] == min(n) for g in item["gold"]) for item, _, n in uneven),
        }
    return {"rule": rule, "positions": positions, "total_variation": variation / 2, "length": length}


def digest(items):
    sha = hashlib.sha256()
    for item in items:
        for c in item["choices"]:
            sha.update(struct.pack("<d", ll(c)))
    return sha.hexdigest()


def choice_case(name, items, options, groups, folded=()):
    rule, aggregation = options["rule"], options.get("aggregation", "micro")
    view = (options["confidence_rule"], options["temperature"], options["n_bins"], options["binning"], options["seed"])
    table = breakdown(items, rule, groups)
    whole = table[aggregation]
    chances = {}
    for item in items:
        chances.setdefault(item["category"], []).append(len(item["gold"]) / len(item["choices"]))
    parts = {
        "micro": [c for chance in chances.values() for c in chance],
        "macro_categories": [mean(chance) for chance in chances.values()],
        "macro_groups": [mean([c for m in g["categories"] for c in chances[m]]) for g in table["groups"]],
    }[aggregation]
    chance = mean(parts)
    return {
        "name": name,
        "items": items,
        "groups": groups,
        "options": options,
        "report": {
            "headline": {
                "metric": rule,
                "aggregation": aggregation,
                "value": whole["value"],
                "stderr": whole["stderr"],
                "chance": chance,
                "chance_corrected": (whole["value"] - chance) / (1 - chance),
                "n": len(items),
            },
            "rules": rules_section(items, folded),
            "choice_metrics": choice_metrics(items),
            "breakdown": table,
            "calibration": calibration(items, *view),
            "bias": bias(items, rule),
            "loglikelihood_digest": digest(items),
        },
        "bootstrap": bootstrap(items, *view),
    }


def ratio(lls, lengths):
    r = math.fsum(lls) / math.fsum(lengths)
    n = len(lls)
    # Σ(a − r·b) is 0, so the sample variance needs no mean.
    se = math.sqrt(math.fsum((a - r * b) ** 2 for a, b in zip(lls, lengths)) / (n - 1) / n) / mean(lengths)
    return r, se


def likelihood_case(items):
    lls = [ll(item["choices"][0]) for item in items]
    value, se = math.exp(-mean(lls)), stderr(lls)
    accuracy = proportion(item["choices"][0]["is_greedy"] for item in items)
    return {
        "name": "loglikelihood",
        "items": items,
        "groups": {},
        "options": {},
        "report": {
            "headline": {"metric": "greedy", "value": accuracy["value"], "interval": accuracy["interval"], "chance": None},
            "rules": None,
            "calibration": None,
            "likelihood": {
                "accuracy": accuracy,
                "loglikelihood": {"n": len(lls), "value": mean(lls), "stderr": se},
                "perplexity": {
                    "value": value,
                    "stderr": value * se,
                    "interval": {"low": math.exp(-mean(lls) - Z * se), "high": math.exp(-mean(lls) + Z * se)},
                },
            },
            "loglikelihood_digest": digest(items),
        },
        "bootstrap": None,
    }


def rolling_case(items):
    lls = [ll(item["choices"][0]) for item in items]
    words = [len(re.split(r"\s+", item["choices"][0]["text"])) for item in items]
    sizes = [len(item["choices"][0]["text"].encode()) for item in items]
    per_word, se_word = ratio(lls, words)
    per_byte, se_byte = ratio(lls, sizes)
    perplexity = math.exp(-per_word)
    return {
        "name": "loglikelihood_rolling",
        "items": items,
        "groups": {},
        "options": {},
        "report": {
            "headline": {"metric": "word_perplexity", "value": perplexity, "higher_is_better": False},
            "rules": None,
            "breakdown": None,
            "rolling": {
                "n": len(items),
                "loglikelihood": math.fsum(lls),
                "n_words": sum(words),
                "n_bytes": sum(sizes),
                "word_perplexity": {"value": perplexity, "stderr": perplexity * se_word},
                "byte_perplexity": {"value": math.exp(-per_byte), "stderr": math.exp(-per_byte) * se_byte},
                "bits_per_byte": {"value": -per_byte / math.log(2), "stderr": se_byte / math.log(2)},
            },
            "loglikelihood_digest": digest(items),
        },
        "bootstrap": None,
    }


def main():
    base = {"rule": "acc", "confidence_rule": "acc", "n_bins": 10, "binning": "equal_width", "temperature": 1.0, "seed": 1234}
    four = ("astronomy", "law", "music", "virology")
    other_view = {
        "rule": "acc_norm",
        "confidence_rule": "acc_token",
        "n_bins": 7,
        "binning": "equal_mass",
        "temperature": 2.5,
        "seed": 9,
        "aggregation": "macro_categories",
    }
    mutual_information = {"rule": "acc_mutual_info", "confidence_rule": "acc_mutual_info_answer", "aggregation": "macro_groups"}
    groups = {"sciences": ["astronomy", "virology"], "arts": ["law", "music"]}
    texts = choice_items(1, 60, ties=True, n_choices=(3, 4, 5), categories=four)
    cases = [
        choice_case("full_texts_of_uneven_length", texts, base, groups),
        choice_case("another_view_of_the_same_items", texts, base | other_view, groups),
        choice_case("mutual_information", texts, base | mutual_information, groups),
        choice_case("letters", choice_items(2, 40, letters=True, categories=four), base, {}, RULES[1:4]),
        choice_case("several_gold_choices", choice_items(3, 24, several_gold=True, n_choices=(3, 6)), base, {}),
        likelihood_case(text_items(4, 20, "loglikelihood")),
        rolling_case(text_items(5, 12, "loglikelihood_rolling")),
    ]
    OUT.mkdir(parents=True, exist_ok=True)
    # A set of items that several cases look at is written once.
    sets = {}
    for case in cases:
        names = [name for name, items in sets.items() if items is case["items"]]
        sets.setdefault(names[0] if names else case["name"], case["items"])
        case["items"] = names[0] if names else case["name"]
    fixture = {"items": sets, "cases": cases}
    (OUT / "cases.json").write_text(json.dumps(fixture, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")

    rng = random.Random(6)
    floats = [0.0, 1.0, -1.0, 100.0, 1e15, 1e16, -1e16, 1.5e300, 1e-4, 9.999e-5, 5e-324, 0.1, 1 / 3, 123456789012345680.0]
    floats += [rng.uniform(-50, 0) for _ in range(20)] + [math.ldexp(rng.random(), rng.randint(-80, 80)) for _ in range(20)]
    texts = ["", " ", "a", "a b", " a  b\n", "a\u00a0b", "a\u2003b\u3000c", "a\u200bb", "a\x1cb", "x\x85y", "\t\n", "東京 🙂"]
    python = {
        "floats": [[x, repr(x)] for x in floats],
        "words": [[x, len(re.split(r"\s+", x))] for x in texts],
        "mcnemar": [[b, c, mcnemar(b, c)] for b, c in [(0, 0), (1, 0), (5, 1), (10, 10), (3, 17), (40, 80), (700, 820)]],
    }
    (OUT / "python.json").write_text(json.dumps(python, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
