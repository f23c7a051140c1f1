// Broken model files through the module's border: each is refused by kind and name, and none ends the module.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loaded, path } from "./runs.mjs";

const { evaltab } = await loaded("evaltab");
const models = path("tests/fixtures/models");

for (const { name, base, set, keep_bytes, kind, names } of JSON.parse(readFileSync(`${models}/broken.json`, "utf8"))) {
  test(`${name}: ${kind}`, () => {
    const bytes = new Uint8Array(readFileSync(`${models}/${base}`));
    for (const [offset, hex] of set) bytes.set(Buffer.from(hex, "hex"), offset);
    const content = bytes.subarray(0, keep_bytes ?? bytes.length);
    const load = () => {
      const source = { size: content.length, read: (offset, length) => content.subarray(offset, offset + length) };
      const loader = new evaltab.ModelLoader(source, base);
      while (!loader.step().done);
      loader.finish().free();
    };
    assert.throws(load, (error) => {
      assert.equal(error.kind, kind, error.message);
      assert.ok(`${error.place} ${error.message}`.includes(names), `"${names}" is not in "${error.place}: ${error.message}"`);
      return true;
    });
  });
}
