// SmolLM2 on rows of ARC-Easy: the module in Node and the native command give the same bits.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loaded, loadModel, path, runNatively, runTask } from "./runs.mjs";

const N_ROWS = 3;
const file = join(process.env.EVALTAB_MODELS ?? path(".models"), "SmolLM2-135M-Instruct.Q4_1.gguf");
const data = join(process.env.EVALTAB_SHARED ?? path("../shared"), "data/arc_easy.jsonl");
const absent = [file, data].find((name) => !existsSync(name));

test("SmolLM2 gives the native command's bits", { skip: absent && `${absent} is not here`, timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-"));
  try {
    const rows = join(folder, "arc_easy.jsonl");
    writeFileSync(rows, readFileSync(data, "utf8").split("\n").slice(0, N_ROWS).join("\n"));
    const { evaltab } = await loaded("evaltab");
    const model = loadModel(evaltab, file);
    const here = runTask(evaltab, model, rows);
    model.free();
    const native = runNatively(file, rows);
    assert.equal(here.samples.trimEnd().split("\n").length, N_ROWS);
    assert.equal(here.samples, native.samples);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
