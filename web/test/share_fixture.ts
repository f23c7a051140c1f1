// Runs and items for the tests of links: made from a seed, with the settings of a real run.

import { toBase64Url } from "../src/share/bytes.ts";
import { outcomeOf, type RunLink } from "../src/share/link.ts";
import type { ItemScore, RunSpec } from "../src/types.ts";

export const SPEC: RunSpec = {
  preset: "mmlu",
  task_yaml: null,
  prompt_style: null,
  num_fewshot: 0,
  fewshot_seed: 1234,
  subset: { kind: "per_category", n: 22, seed: 42 },
  chat: "off",
  system_instruction: null,
  target_delimiter: null,
  precision: "default",
  engine: "auto",
  add_bos: "auto",
  prefix_token_id: null,
  max_length: null,
  choice_shift: 0,
  mutual_info: false,
};

/** Park and Miller's generator: numbers in [0, 1). */
export function minimalStandard(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** A four-choice item whose pick and gold are given. */
export function makeItem(index: number, pick: number, gold: number): ItemScore {
  return {
    doc_id: index,
    index,
    line: index + 1,
    task: "mmlu",
    category: ["STEM", "Humanities", "Social Sciences", "Other"][index % 4] ?? null,
    question: `question ${index}`,
    output_type: "multiple_choice",
    choices: [0, 1, 2, 3].map((i) => ({
      text: "ABCD"[i] ?? "",
      token_ids: [i],
      token_logprobs: [i === pick ? -1 : -2],
      loglikelihood: i === pick ? -1 : -2,
      is_greedy: i === pick,
      least_margin: i === pick ? 1 : -1,
      n_chars: 1,
      n_bytes: 1,
      loglikelihood_unconditional: null,
      loglikelihood_answer: null,
    })),
    gold: [gold],
    picks: [{ rule: "acc", pick, is_correct: pick === gold, is_tied: false, margin: 1 }],
    n_context_tokens: 100,
    flags: [],
    precision: "default",
    n_words: null,
    n_bytes: null,
  };
}

export function makeItems(n: number, seed = 7): ItemScore[] {
  const random = minimalStandard(seed);
  return Array.from({ length: n }, (_, i) => makeItem(i, Math.floor(random() * 4), Math.floor(random() * 4)));
}

const hash = (random: () => number): string => Array.from({ length: 64 }, () => Math.floor(random() * 16).toString(16)).join("");

/** A run of `n` docs with random picks, as a link carries it. */
export function makeRun(n: number, items: readonly ItemScore[] = makeItems(n)): RunLink {
  const random = minimalStandard(n + 1);
  const names = ["STEM", "Humanities", "Social Sciences", "Other"];
  const isRight = (item: ItemScore): boolean => item.picks[0]?.is_correct === true;
  return {
    v: 1,
    engine_version: "0.1.0",
    spec: SPEC,
    model: {
      name: "qwen2.5-0.5b-instruct-q4_k_m.gguf",
      url: "https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/9217f5db79a29953eb74d5343926648285ec7e67/qwen2.5-0.5b-instruct-q4_k_m.gguf",
      n_bytes: 491_400_032,
      sha256: hash(random),
    },
    data: { name: "mmlu_test.jsonl", url: null, n_bytes: 6_967_453, sha256: hash(random), n: 14_042, rows: null },
    fewshot: null,
    outcome: outcomeOf(items, [], {
      n_unscored: 0,
      rule: "acc",
      categories: names.map((name) => {
        const inside = items.filter((item) => item.category === name);
        return [name, inside.length, inside.filter(isRight).length];
      }),
      bins: Array.from({ length: 10 }, (_, i) => [Math.floor(n / 10), Math.floor((n / 10) * random()), (i + random()) / 10]),
      metrics: [
        ["acc", items.filter(isRight).length / Math.max(1, n)],
        ["ece", random()],
      ],
      loglikelihood_digest: hash(random),
    }),
  };
}

/** The outcome's bit set with one bit turned over. */
export function flipBit(correct: string, position: number): string {
  const bytes = new Uint8Array(Buffer.from(correct, "base64url"));
  bytes[position >> 3] = (bytes[position >> 3] ?? 0) ^ (1 << (position & 7));
  return toBase64Url(bytes);
}
