// The module for several threads: its memory is shared, helpers can join, and their number changes no bit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { helper, loaded, loadModel, path, runTask } from "./runs.mjs";

const rows = path("tests/wasm/rows.jsonl");
const file = path("tests/fixtures/models/tiny-llama.gguf");

test("the module for several threads imports a memory that is shared", async () => {
  const { memory, module } = await loaded("evaltab_threads");
  assert.ok(memory.buffer instanceof SharedArrayBuffer);
  assert.ok(WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory"));
});

test("the module for one thread asks for no shared memory", async () => {
  const { memory } = await loaded("evaltab");
  assert.ok(memory.buffer instanceof ArrayBuffer);
});

test("two helpers give the bits of one thread", { timeout: 120_000 }, async () => {
  const one = await loaded("evaltab");
  const alone = loadModel(one.evaltab, file);
  const expected = runTask(one.evaltab, alone, rows);
  alone.free();

  const shared = await loaded("evaltab_threads");
  const model = loadModel(shared.evaltab, file, 3);
  const helpers = [helper(shared, model.thread_pool()), helper(shared, model.thread_pool())];
  const got = runTask(shared.evaltab, model, rows);
  // Lets the helpers go.
  model.free();
  await Promise.all(helpers);
  assert.equal(got.samples, expected.samples);
});
