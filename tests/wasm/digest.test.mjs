// The module computes what the native command computes, to the last bit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { loaded, loadModel, path, runNatively, runTask } from "./runs.mjs";

const rows = path("tests/wasm/rows.jsonl");

const CASES = [
  { model: "tiny-llama.gguf", settings: {} },
  { model: "tiny-llama.gguf", settings: { prompt_style: "continuation", mutual_info: true } },
  { model: "tiny-llama-floats.gguf", settings: { precision: "float32" } },
  { model: "tiny-qwen2.gguf", settings: { num_fewshot: 2 } },
  { model: "tiny-qwen2-k.gguf", settings: {} },
];

for (const { model, settings } of CASES) {
  test(`${model} with ${JSON.stringify(settings)} gives the native command's bits`, async () => {
    const { evaltab } = await loaded("evaltab");
    const file = path(`tests/fixtures/models/${model}`);
    const loadedModel = loadModel(evaltab, file);
    const here = runTask(evaltab, loadedModel, rows, settings);
    const native = runNatively(file, rows, settings);
    assert.match(digest(here), /^[0-9a-f]{64}$/);
    assert.equal(digest(here), digest(native));
    assert.equal(here.samples, native.samples);
    loadedModel.free();
  });
}

function digest({ results }) {
  return results.evaltab.loglikelihood_digest;
}
