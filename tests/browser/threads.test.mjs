// Threads in a browser: their number changes no bit, and one that dies costs nothing that was scored.
//
// The site stands on a plain static host; scripts of workers are served with a few lines in front that give the browser more
// processors or make a thread fail, as one fails whose memory has ended.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runNatively } from "../wasm/runs.mjs";
import { browser, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";
import { chooseByAddress, decode, linkOf, modelReady, ROWS, rowsFile, run, SITE, step, TINY } from "./steps.mjs";

/** A site whose script of that name begins with other lines. */
async function siteWith(t, scripts) {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-scripts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const files = { "models/tiny-llama.gguf": TINY };
  for (const [name, lines] of Object.entries(scripts)) {
    const file = readdirSync(path("web/dist/assets")).find((file) => new RegExp(`^${name}-.*\\.js$`).test(file));
    writeFileSync(join(folder, file), lines + readFileSync(path(`web/dist/assets/${file}`), "utf8"));
    files[`assets/${file}`] = join(folder, file);
  }
  return staticSite(t, files);
}

/** A page with the tiny model and these rows, ready to run. */
async function ready(t, site, rows) {
  const { page, errors } = await opened(await browser(t), site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await page.getByLabel("Task file").setInputFiles(rowsFile(rows, "beetles.jsonl"));
  await step(page, /Task/).getByText(/docs of .* rows/).waitFor();
  return { page, errors };
}

const withProcessors = (n) => `Object.defineProperty(navigator, "hardwareConcurrency", { value: ${n} });\n`;

const digestOf = async (page) => decode(await linkOf(page)).outcome.loglikelihood_digest;

/** Rows that keep the tiny model busy. */
const manyRows = (n) => Array.from({ length: n }, (_, i) => ROWS.replaceAll("spiders", `spiders and ${i} beetles`)).join("");

/** The native command's digest of the same rows. */
function nativeDigest(t, rows) {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-rows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "beetles.jsonl"), rows);
  return runNatively(TINY, join(folder, "beetles.jsonl")).results.evaltab.loglikelihood_digest;
}

test("one, two and four threads give the native command's bits", needs(SITE), async (t) => {
  const rows = manyRows(2);
  const expected = nativeDigest(t, rows);
  for (const n of [1, 2, 4]) {
    const site = await siteWith(t, { worker: withProcessors(n) });
    const { page } = await ready(t, site, rows);
    await step(page, /Model/).getByText(n === 1 ? "own, one thread" : `own, ${n} threads`).waitFor();
    await run(page);
    assert.equal(await digestOf(page), expected, `${n} threads`);
  }
});

/** In place of its work a thread asks what to do: to wait, to fail as it does in a trap, or to work after all. */
const ASKS = `{
  const asked = () => {
    const question = new XMLHttpRequest();
    question.open("GET", "/helper", false);
    question.send();
    return JSON.parse(question.responseText);
  };
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (module, imports) {
    const { exports } = new Instance(module, imports);
    const serve_thread = (pool) => {
      for (;;) {
        const answer = asked();
        if (answer === "die") throw new WebAssembly.RuntimeError("unreachable");
        if (answer === "work") return exports.serve_thread(pool);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      }
    };
    return { exports: { ...exports, serve_thread } };
  };
}
`;

test("a run whose engine dies goes on with a new one, to the same bits", needs(SITE), async (t) => {
  const rows = manyRows(200);
  const expected = nativeDigest(t, rows);
  const replaced = (page, times) => step(page, /Run/).getByText(`The engine stopped ${times} and was replaced.`).waitFor({ timeout: 60_000 });

  await t.test("a helper thread dies", async (t) => {
    const site = await siteWith(t, { worker: withProcessors(2), thread: ASKS });
    let order = "wait";
    const given = [];
    site.answers["/helper"] = () => {
      given.push(order);
      if (order === "die") order = "work";
      return given.at(-1);
    };
    const { page } = await ready(t, site, rows);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("grid").getByRole("row").nth(1).waitFor({ timeout: 60_000 });
    order = "die";
    await replaced(page, "once");
    await step(page, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 240_000 });
    assert.deepEqual(given.filter((order) => order !== "wait"), ["die", "work"]);
    assert.equal(await digestOf(page), expected);
  });

  await t.test("the engine's own thread dies in the middle of a run", async (t) => {
    const site = await siteWith(t, { worker: withProcessors(1) });
    const { page } = await ready(t, site, rows);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("grid").getByRole("row").nth(1).waitFor({ timeout: 60_000 });
    // With one thread every worker answers; a helper would not, it works.
    const names = await Promise.all(page.workers().map((worker) => worker.evaluate(() => self.name)));
    const engine = page.workers()[names.indexOf("engine")];
    await engine.evaluate(() => void setTimeout(() => { throw new Error("out of memory"); }));
    await replaced(page, "once");
    await step(page, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 240_000 });
    assert.equal(await digestOf(page), expected);
  });
});
