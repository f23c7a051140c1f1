// What must not change a bit: the number of threads, and which other docs run.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { helper, loaded, loadModel, path } from "./runs.mjs";

const file = path("tests/fixtures/models/tiny-qwen2.gguf");
const lines = readFileSync(path("tests/wasm/rows.jsonl"), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
// Five times the rows, each with a question of its own: more than one batch.
const rows = Buffer.from(Array.from({ length: 40 }, (_, i) => JSON.stringify({ ...lines[i % lines.length], question: `${i}. ${lines[i % lines.length].question}` })).join("\n"));

/** Log-likelihoods of the choices by index of the doc. */
function scores(evaltab, model, precision, only) {
  const task = new evaltab.Task("rows.jsonl", rows);
  const run = new evaltab.Run(model, task, { ...evaltab.default_run_spec(), precision }, only);
  const all = {};
  for (let phase = ""; phase !== "done"; ) {
    const step = run.step();
    for (const item of step.items) all[item.index] = item.choices.map(({ loglikelihood }) => loglikelihood);
    phase = step.phase;
  }
  run.free();
  task.free();
  return all;
}

const one = await loaded("evaltab");
const alone = loadModel(one.evaltab, file);
const expected = { default: scores(one.evaltab, alone, "default"), float32: scores(one.evaltab, alone, "float32") };

test("a doc has the same scores alone as among all", () => {
  for (const precision of ["default", "float32"]) {
    for (const index of [0, 17, 39]) assert.deepEqual(scores(one.evaltab, alone, precision, new Uint32Array([index])), { [index]: expected[precision][index] });
  }
});

const several = await loaded("evaltab_threads");
for (const n_threads of [1, 2, 4]) {
  test(`${n_threads} of several threads give the scores of one`, { timeout: 120_000 }, async () => {
    const model = loadModel(several.evaltab, file, n_threads);
    const helpers = Array.from({ length: n_threads - 1 }, () => helper(several, model.thread_pool()));
    for (const precision of ["default", "float32"]) assert.deepEqual(scores(several.evaltab, model, precision), expected[precision]);
    model.free();
    await Promise.all(helpers);
  });
}
