import { expect, test } from "vitest";
import { find, rowsOf } from "../src/worker/items.ts";
import type { ItemQuery } from "../src/worker/protocol.ts";
import type { ItemColumns, ItemScore } from "../src/types.ts";

const ALL: ItemQuery = { filter: "all", search: "", categories: null, bin: null, confidence: null, sort: "line", descending: false };

const item = (index: number, question: string, category: string, gold: number): ItemScore => ({
  doc_id: index,
  index,
  line: index + 1,
  task: "t",
  category,
  question,
  output_type: "multiple_choice",
  choices: ["yes", "no"].map((text, i) => ({
    text,
    token_ids: [i],
    token_logprobs: [-1 - i],
    loglikelihood: -1 - i,
    is_greedy: i === 0,
    least_margin: 1,
    n_chars: text.length,
    n_bytes: text.length,
    loglikelihood_unconditional: null,
    loglikelihood_answer: null,
  })),
  gold: [gold],
  picks: [{ rule: "acc", pick: 0, is_correct: gold === 0, is_tied: false, margin: 1 }],
  n_context_tokens: 3,
  flags: index === 5 ? ["truncated"] : [],
  precision: "default",
  n_words: null,
  n_bytes: null,
});

const items = new Map([item(2, "Is water wet?", "physics", 0), item(5, "Is the moon square?", "physics", 1), item(9, "Did Rome fall?", "history", 0)].map((entry) => [entry.index, entry]));
const failed = new Map([[7, { index: 7, line: 8, error: { kind: "context_too_long" as const, place: "line 8", message: "9 tokens, at most 8" } }]]);
const store = { items, failed };
const columns: ItemColumns = {
  index: [2, 5, 9],
  pick: [0, 0, 0],
  is_correct: [true, false, true],
  is_tied: [false, false, true],
  margin: [1, 1, 0],
  rules_disagree: [false, true, false],
  confidence: [0.9, 0.6, null],
  is_confidence_correct: [true, false, true],
  bin: [8, 5, null],
};
const indices = (query: Partial<ItemQuery>): number[] => [...find({ ...ALL, ...query }, store, columns)];

test("all items come in data order and failed docs at the end", () => expect(indices({})).toEqual([2, 5, 9, 7]));
test("wrong items are those that are not right", () => expect(indices({ filter: "wrong" })).toEqual([5]));
test("tied, flagged and parting items are found by their own filters", () => {
  expect([indices({ filter: "tied" }), indices({ filter: "flagged" }), indices({ filter: "disagree" })]).toEqual([[9], [5], [5]]);
});
test("failed docs have a filter of their own", () => expect(indices({ filter: "failed" })).toEqual([7]));
test("a search looks at questions, categories and choices, whatever their case", () => {
  expect([indices({ search: "MOON" }), indices({ search: "hist" }), indices({ search: "yes" })]).toEqual([[5], [9], [2, 5, 9]]);
});
test("a bin and a range of confidences leave out items without confidence", () => {
  expect([indices({ bin: 8 }), indices({ confidence: { min: 0, max: 0.7 } })]).toEqual([[2], [5]]);
});
test("items without the sort's value come last in both directions", () => {
  expect([indices({ sort: "confidence", filter: "all" }), indices({ sort: "confidence", descending: true })]).toEqual([[5, 2, 9, 7], [2, 5, 9, 7]]);
});
test("equal items keep the order of the data", () => expect(indices({ sort: "category", categories: ["physics"] })).toEqual([2, 5]));
test("a row shows log-likelihoods, per character too, and what was picked", () => {
  expect(rowsOf([5], store, columns, "acc")[0]?.choices).toEqual([
    { letter: "A", text: "yes", loglikelihood: -1, per_char: -1 / 3, is_gold: false, is_pick: true },
    { letter: "B", text: "no", loglikelihood: -2, per_char: -1, is_gold: true, is_pick: false },
  ]);
});
test("a failed doc's row says why", () => expect(rowsOf([7], store, columns, "acc")[0]?.error).toBe("line 8: 9 tokens, at most 8"));
