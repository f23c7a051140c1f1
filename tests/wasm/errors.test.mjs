// What the module throws is an error a page can show: a kind, a place, a message.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loaded, path } from "./runs.mjs";

const { evaltab } = await loaded("evaltab");
const bytes = (text) => new TextEncoder().encode(text);
const source = (content) => ({ size: content.length, read: (offset, length) => content.slice(offset, offset + length) });

test("a file that is no GGUF is refused with a kind and a message", () => {
  const open = () => new evaltab.ModelLoader(source(bytes("<!doctype html><html></html>".repeat(10))), "page.gguf");
  assert.throws(open, (error) => typeof error.message === "string" && typeof error.kind === "string");
});

test("a model file that ends early is refused by the tensor's name", () => {
  const whole = new Uint8Array(readFileSync(path("tests/fixtures/models/tiny-llama.gguf")));
  const load = () => {
    const loader = new evaltab.ModelLoader(source(whole.slice(0, whole.length - 100)), "short.gguf");
    while (!loader.step().done);
  };
  assert.throws(load, (error) => error.kind === "weights_format" && /tensor|\.weight/.test(`${error.place} ${error.message}`));
});

test("a read that fails is an error of input and output", () => {
  const broken = { size: 1 << 20, read() { throw new Error("the disk is gone"); } };
  assert.throws(() => new evaltab.ModelLoader(broken, "gone.gguf"), { kind: "io" });
});

test("an empty task file is refused", () => {
  assert.throws(() => new evaltab.Task("empty.jsonl", bytes("")), (error) => typeof error.kind === "string");
});

test("a binary task file is refused", () => {
  assert.throws(() => new evaltab.Task("model.jsonl", new Uint8Array([71, 71, 85, 70, 3, 0, 0, 0, 255, 254])), (error) => typeof error.kind === "string");
});

test("a malformed line among good ones is reported by its number", () => {
  const good = (n) => JSON.stringify({ question: `What is ${n} and one?`, choices: [String(n + 1), String(n + 3)], answer: 0 });
  const task = new evaltab.Task("rows.jsonl", bytes([good(1), "{not json", good(2)].join("\n")));
  const info = task.info(evaltab.default_run_spec());
  assert.equal(info.n_docs, 2);
  assert.deepEqual(info.unscored.map(({ line }) => line), [2]);
});

test("SHA-256 of a stream is that of its bytes", () => {
  // FIPS 180-2, appendix B.1.
  const hash = new evaltab.Sha256();
  hash.update(bytes("a"));
  hash.update(bytes("bc"));
  assert.equal(hash.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
