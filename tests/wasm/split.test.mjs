// A model in several files through the module's border: the whole file's bits, and an error that names the part.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loaded, loadModel, path, runTask } from "./runs.mjs";

const { evaltab } = await loaded("evaltab");
const rows = path("tests/wasm/rows.jsonl");
const models = path("tests/fixtures/models");
const PARTS = [1, 2, 3].map((i) => readFileSync(`${models}/tiny-llama-split-0000${i}-of-00003.gguf`));

/** Loads some parts, one behind the other, as the page hands them over. */
function loadParts(parts) {
  const bytes = Buffer.concat(parts);
  const source = { size: bytes.length, part_sizes: parts.map((part) => part.length), read: (offset, length) => new Uint8Array(bytes.subarray(offset, offset + length)) };
  const loader = new evaltab.ModelLoader(source, "tiny-llama-split-00001-of-00003.gguf", "auto", 1);
  while (!loader.step().done);
  return loader.finish();
}

test("a model in three parts gives the bits of the one in one file", () => {
  const [split, whole] = [loadParts(PARTS), loadModel(evaltab, `${models}/tiny-llama.gguf`)];
  assert.equal(split.info().n_bytes, PARTS.reduce((sum, part) => sum + part.length, 0));
  const [a, b] = [split, whole].map((model) => runTask(evaltab, model, rows));
  assert.equal(a.results.evaltab.loglikelihood_digest, b.results.evaltab.loglikelihood_digest);
  for (const model of [split, whole]) model.free();
});

for (const [what, parts, names] of [
  ["a part too few", [0, 1], "2 files were given"],
  ["parts in another order", [0, 2, 1], "part 2 of 3"],
  ["the first part alone", [0], "part 1 of 3"],
]) {
  test(`${what} is refused by name`, () => {
    assert.throws(
      () => loadParts(parts.map((i) => PARTS[i])),
      (error) => error.kind === "weights_format" && `${error.place}: ${error.message}`.includes(names),
    );
  });
}
