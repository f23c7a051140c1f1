// Rows that cannot be scored, or not as they are, among good ones: reported by line, and the good rows' scores stay as they are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loaded, loadModel, path } from "./runs.mjs";

const { evaltab } = await loaded("evaltab");
const good = readFileSync(path("tests/wasm/rows.jsonl"), "utf8").trimEnd().split("\n");

/** Report, boundary report and unscored rows of a run over these lines. */
function run(lines) {
  const model = loadModel(evaltab, path("tests/fixtures/models/tiny-llama.gguf"));
  const task = new evaltab.Task("rows.jsonl", Buffer.from(lines.join("\n")));
  const run = new evaltab.Run(model, task, evaltab.default_run_spec());
  while (run.step().phase !== "done");
  const outcome = { report: run.report(evaltab.default_report_options()), prepared: run.prepared(), unscored: run.unscored() };
  for (const object of [run, task, model]) object.free();
  return outcome;
}

test("a malformed line, a gold outside the choices and a single choice are left out by line", () => {
  const bad = ['{"question": "cut off', '{"question": "q", "choices": ["a", "b"], "answer": 4}', '{"question": "q", "choices": ["a"], "answer": 0}'];
  const [alone, mixed] = [good, [good[0], bad[0], good[1], bad[1], good[2], bad[2], ...good.slice(3)]].map(run);
  assert.deepEqual(mixed.unscored.map(({ line }) => line), [2, 4, 6]);
  for (const { error } of mixed.unscored) assert.ok(error.message.length > 0);
  assert.equal(mixed.report.counts.n_scored, good.length);
  assert.equal(mixed.report.loglikelihood_digest, alone.report.loglikelihood_digest);
});

test("a prompt beyond the model's window is cut, flagged and scored", () => {
  // The model's window is 256 tokens.
  const long = JSON.stringify({ question: "word ".repeat(400), choices: ["yes", "no"], answer: 0 });
  const { report, prepared } = run([...good, long]);
  assert.equal(report.counts.n_scored, good.length + 1);
  const { n_docs, lines } = prepared.flags.find(({ flag }) => flag === "truncated");
  assert.deepEqual([n_docs, lines], [1, [good.length + 1]]);
});
