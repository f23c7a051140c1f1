// What a person does with the page: pick a model's file, drop a task, run, read, look closer, take files along, stop, err.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { browser, downloaded, drop, firstLines, MODEL, needs, opened, path, served, shared } from "./harness.mjs";
import { runNatively } from "../wasm/runs.mjs";

const ARC = shared("data/arc_easy.jsonl");
const TINY = path("tests/fixtures/models/tiny-llama.gguf");

const step = (page, name) => page.getByRole("region", { name });
const runButton = (page) => page.getByRole("button", { name: "Run", exact: true });
const pickModel = (page, file) => page.getByLabel("Model file").setInputFiles(file);
const dropTask = (page, name, content) => drop(step(page, /Task/), name, content);

/** Waits until the run says how it ended. */
async function ended(page, how = "Finished") {
  await step(page, /Run/).getByText(how, { exact: true }).waitFor({ timeout: 300_000 });
}

test("ARC-Easy rows are run with a model's file, read, looked into and taken along", needs(MODEL, ARC), async (t) => {
  const { page, errors } = await opened(await browser(t), await served(t));
  const rows = firstLines(ARC, 12);

  await pickModel(page, MODEL);
  await step(page, /Model/).getByText("llama, 30 layers").waitFor({ timeout: 60_000 });
  await dropTask(page, "arc_easy.jsonl", rows);
  await step(page, /Task/).getByText("12 docs of 12 rows").waitFor();
  await runButton(page).click();
  await ended(page);

  const results = await downloaded(page, () => page.getByRole("button", { name: "Download results.json" }).click());
  const samples = await downloaded(page, () => page.getByRole("button", { name: "Download samples.jsonl" }).click());
  assert.match(results.name, /results.*\.json$/);
  assert.equal(samples.text.trim().split("\n").length, 12);
  const { headline, loglikelihood_digest } = JSON.parse(results.text).evaltab.report;

  // The page shows the report's number.
  const shown = new RegExp(`^${(100 * headline.value).toFixed(1).replace(".", "\\.")}\\s%$`);
  await page.getByRole("region", { name: "Overview" }).getByRole("status").first().filter({ hasText: shown }).waitFor();

  // The native command scores the same rows to the same bits.
  const folder = mkdtempSync(join(tmpdir(), "evaltab-rows-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "arc_easy.jsonl"), rows);
  const native = runNatively(MODEL, join(folder, "arc_easy.jsonl"));
  assert.equal(loglikelihood_digest, native.results.evaltab.loglikelihood_digest);
  assert.equal(headline.value, native.results.evaltab.report.headline.value);

  // One item in full, with the question as it stands in the file.
  const { question } = JSON.parse(rows.split("\n")[0]);
  await page.getByRole("grid").getByRole("row").filter({ hasText: question }).click();
  const item = page.getByRole("dialog");
  await item.getByText(question).first().waitFor();
  await item.getByRole("table").first().waitFor();
  await page.keyboard.press("Escape");
  await item.waitFor({ state: "detached" });

  // The diagram says what it shows, and has a table beside it.
  const calibration = page.getByRole("region", { name: "Calibration" });
  const diagram = calibration.getByRole("img").first();
  assert.ok((await diagram.getAttribute("aria-label")).length > 40);
  assert.ok((await diagram.boundingBox()).width > 200);
  const figure = calibration.getByRole("figure").first();
  await figure.locator("summary").click();
  await figure.getByRole("table").getByRole("row").nth(1).waitFor();
  assert.deepEqual(errors, []);
});

test("a run is paused, goes on, and is cancelled in the middle", needs(MODEL), async (t) => {
  const { page, errors } = await opened(await browser(t), await served(t));
  await runButton(page).click();
  const grid = page.getByRole("grid");
  await grid.getByRole("row").nth(1).waitFor({ timeout: 120_000 });

  await page.getByRole("button", { name: "Pause" }).click();
  await step(page, /Run/).getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await ended(page, "Cancelled");

  // What was scored stays, and the next run can start.
  const { text } = await downloaded(page, () => page.getByRole("button", { name: "Download samples.jsonl" }).click());
  const n = text.trim().split("\n").length;
  assert.ok(n >= 1 && n < 100, `${n} items of 100`);
  assert.ok(await runButton(page).isEnabled());
  assert.deepEqual(errors, []);
});

test("a broken file is refused by name, and a good one still runs", needs(), async (t) => {
  const { page, errors } = await opened(await browser(t), await served(t));
  const model = step(page, /Model/);
  const task = step(page, /Task/);

  await drop(model, "page.gguf", "<!doctype html><title>not a model</title>");
  await model.getByRole("alert").filter({ hasText: "page.gguf" }).waitFor();
  await drop(model, "short.gguf", readFileSync(TINY).subarray(0, 20_000));
  await model.getByRole("alert").filter({ hasText: "short.gguf" }).waitFor();
  await dropTask(page, "empty.jsonl", "");
  await task.getByRole("alert").filter({ hasText: "empty.jsonl" }).waitFor();
  await dropTask(page, "picture.jsonl", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe, 0x0a]));
  await task.getByRole("alert").filter({ hasText: "picture.jsonl" }).waitFor();

  // One malformed line and one gold outside the choices, among three good rows.
  const row = (n, answer = 0) => JSON.stringify({ question: `What is ${n} and one?`, choices: [String(n + 1), String(n + 3)], answer });
  await dropTask(page, "mixed.jsonl", [row(1), "{not json", row(2), row(3, 7), row(4)].join("\n"));
  await task.getByText("2 rows left out").click();
  await task.getByText(/line 2\b/).waitFor();
  await task.getByText(/line 4\b/).waitFor();

  await drop(model, "tiny-llama.gguf", readFileSync(TINY));
  await model.getByText("Architecture").waitFor();
  await runButton(page).click();
  await ended(page);
  await page.getByRole("grid").getByText("What is 4 and one?").waitFor();
  assert.deepEqual(errors, []);
});

test("the made-up profiles are shown without a model", needs(), async (t) => {
  const { page, errors } = await opened(await browser(t), await served(t, "--no-model"));
  await page.getByRole("button", { name: "Strong but too sure" }).click();
  const calibration = page.getByRole("region", { name: "Calibration" });
  await calibration.getByRole("img").first().waitFor();
  // 80 % right and 98 % sure: the gap is the calibration error.
  await calibration.getByText("0.180").first().waitFor();
  assert.deepEqual(errors, []);
});

test("without headers the page runs as well, and nothing wider than a phone is on it", needs(), async (t) => {
  const context = await browser(t, { viewport: { width: 390, height: 844 } });
  const { page } = await opened(context, await served(t, "--no-isolation"));
  await page.getByLabel("Model file").setInputFiles(TINY);
  await step(page, /Model/).getByText("Architecture").waitFor();
  await runButton(page).click();
  await ended(page);
  const { content, view } = await page.evaluate(() => ({ content: document.documentElement.scrollWidth, view: innerWidth }));
  assert.ok(content <= view, `${content} pixels wide on a screen of ${view}`);
});
