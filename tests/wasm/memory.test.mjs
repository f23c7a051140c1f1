// Memory of a run: what a doc takes is there before the first one is scored; from then on only its result is added.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loaded, loadModel, path } from "./runs.mjs";

test("the second thousand docs takes no memory but for its results", { timeout: 300_000 }, async () => {
  const { evaltab, memory } = await loaded("evaltab");
  const model = loadModel(evaltab, path("tests/fixtures/models/tiny-llama.gguf"));
  const lines = readFileSync(path("tests/wasm/rows.jsonl"), "utf8").trim().split("\n");
  const rows = Array.from({ length: 2000 }, (_, i) => {
    const row = JSON.parse(lines[i % lines.length]);
    return JSON.stringify({ ...row, question: `${row.question} (${i})` });
  });
  const task = new evaltab.Task("rows.jsonl", new TextEncoder().encode(`${rows.join("\n")}\n`));
  const run = new evaltab.Run(model, task, evaltab.default_run_spec());
  let step = run.step();
  while (step.n_done < 1000) step = run.step();
  const early = memory.buffer.byteLength;
  // Near ties are settled in float32, whose buffers come on top once.
  while (step.phase === "score") step = run.step();
  const grown = memory.buffer.byteLength - early;
  // The engine's buffers have their size by then. A result is some 400 bytes, in lists that double.
  assert.ok(grown <= 1024 * 1024, `${grown} bytes for a thousand docs`);
});
