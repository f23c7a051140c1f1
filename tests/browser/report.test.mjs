// What a person does with the report: reads it under another rule, follows a chart to its items, walks through items, looks at
// tokens, scores one again, rotates choices, takes it along, prints it; by keyboard, on a narrow phone, with 14 042 docs.
//
// In: the site on a plain host, the tiny model, the page's own sample tasks. The run is made once; a case that needs no model
// opens it from the history in a page of its own. Expected counts and orders are worked out here from the items that the
// page exports, or are those of the table beside a chart.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { browser, downloaded, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";
import { SITE, step, taskReady, TINY } from "./steps.mjs";

const AXE = readFileSync(createRequire(path("web/package.json")).resolve("axe-core/axe.min.js"), "utf8");
/** Docs of MMLU's test split, and its subjects. */
const N_DOCS = 14_042;
const N_SUBJECTS = 57;

const region = (page, name) => page.getByRole("region", { name, exact: true });
const grid = (page) => page.getByRole("grid");
const headline = (page) => region(page, "Overview").getByRole("status").first();
const dialog = (page) => page.getByRole("dialog");
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
/** Waits until the element has exactly this text. */
const reads = (locator, text) => locator.filter({ hasText: new RegExp(`^\\s*${escaped(text)}\\s*$`) }).first().waitFor();
const counts = (page, n, of = "100") => reads(page.getByRole("status"), `${n} ${n === 1 ? "item" : "items"} of ${of}`);
const diagram = (page) => region(page, "Calibration").getByRole("img", { name: /^Reliability diagram/ });
/** Rows of the table beside a chart, the head left out. */
async function twin(page, section, name) {
  const figure = region(page, section).getByRole("figure").filter({ has: page.getByRole("button", { name: `Save the chart “${name}” as SVG` }) });
  if ((await figure.getByRole("table").count()) === 0) await figure.locator("summary").click();
  const rows = figure.getByRole("table").locator("tbody").getByRole("row");
  await rows.first().waitFor();
  return rows;
}
/** Waits until what is read is this. */
async function becomes(page, read, wanted) {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (isDeepStrictEqual(await read(), wanted)) return;
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  assert.deepEqual(await read(), wanted);
}
const cellsOf = (row) => row.getByRole("cell").allInnerTexts();

/** What axe-core finds wrong, by rule and place. The page allows no foreign script, so it comes from outside. */
const violations = (page) =>
  page.evaluate(`${AXE}; axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + " " + target)))`);

const downloadedBy = (page, button) => downloaded(page, () => page.getByRole("button", { name: button }).click());

/** Goes on with Tab, as a person without a mouse does, until the element has the focus. */
async function tabTo(page, locator) {
  for (let n = 0; n < 200; n++) {
    await page.keyboard.press("Tab");
    if (await locator.evaluate((element) => element === document.activeElement)) return;
  }
  assert.fail(`${locator} is not reached by Tab`);
}

test("the report", needs(SITE), async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-report-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const list = join(folder, "models.json");
  writeFileSync(list, JSON.stringify({ models: [{ name: "Tiny", url: "models/tiny-llama.gguf" }] }));
  const site = await staticSite(t, { "models/tiny-llama.gguf": TINY, "models.json": list });
  const context = await browser(t, { permissions: ["clipboard-read", "clipboard-write"] });

  /** A case with a page of its own, on which nothing may go wrong unseen. */
  const pageTest = (name, act, prepare = async () => undefined) =>
    t.test(name, async (t) => {
      const { page, errors } = await opened(context, site.address);
      t.after(() => page.close());
      await prepare(page);
      await act(page, t);
      assert.deepEqual(errors, []);
    });
  const finished = async (page, n) => {
    await step(page, /Run/).getByText(`${n} docs`, { exact: true }).waitFor({ timeout: 60_000 });
    await step(page, /Run/).getByText("Finished", { exact: true }).waitFor();
    await region(page, "Files").waitFor();
  };
  const run = async (page, n = 100) => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await finished(page, n);
  };
  const ready = (page) => taskReady(page, 100);
  /** On a page where the tiny model has just run. */
  const liveTest = (name, act) =>
    pageTest(name, act, async (page) => {
      await ready(page);
      await run(page);
    });
  /** On a page that shows the kept run and has loaded no model. */
  const keptTest = (name, act) =>
    pageTest(name, act, async (page) => {
      await page.getByRole("button", { name: /^Open: / }).first().click();
      await region(page, "Files").waitFor();
    });

  // The one run that most cases look at, and its items as a file.
  const { page: maker } = await opened(context, site.address);
  await ready(maker);
  await run(maker);
  const { text: saved } = await downloadedBy(maker, "Export all runs");
  await maker.close();
  const [header, savedRun, ...batches] = saved.trim().split("\n").map((line) => JSON.parse(line));
  const items = [...new Map(batches.flatMap((batch) => batch.items).map((item) => [item.index, item])).values()].sort((a, b) => a.index - b.index);
  const pickOf = (item, rule = "acc") => item.picks.find((pick) => pick.rule === rule);
  const confidenceOf = ({ choices }) => {
    const most = Math.max(...choices.map(({ loglikelihood }) => loglikelihood));
    return 1 / choices.reduce((sum, { loglikelihood }) => sum + Math.exp(loglikelihood - most), 0);
  };
  const nOf = (test) => items.filter(test).length;

  await keptTest("another scoring rule is the headline and the items at once, with no model loaded", async (page) => {
    for (const rule of ["acc_norm", "acc_token", "acc"]) {
      await page.getByLabel("Scoring rule").selectOption(rule);
      const n = nOf((item) => pickOf(item, rule).is_correct);
      await reads(headline(page), `${n}.0\u00a0%`);
      await page.getByLabel("Filter").selectOption("right");
      await counts(page, n);
    }
    assert.equal(await step(page, /Model/).getByText("Architecture").count(), 0, "a model is loaded");
  });

  await keptTest("a metric's name opens its definition", async (page) => {
    for (const [name, definition] of [["standard error", /standard deviation over √n/], ["ECE", /Guo et al\. 2017/], ["acc_norm", /divided by the choice's length in characters/]]) {
      await page.getByRole("button", { name, exact: true }).first().click();
      await page.getByText(definition).first().waitFor();
      await page.keyboard.press("Escape");
      await page.getByText(definition).first().waitFor({ state: "hidden" });
    }
  });

  await keptTest("a published number is placed against the interval, and what differs is listed", async (page) => {
    await page.getByText("Compare with a published number").click();
    const value = page.getByLabel("Published number");
    await value.fill("99");
    await value.press("Enter");
    await page.getByText(/^Outside this run's interval/).waitFor();
    await page.getByLabel("Shots", { exact: true }).last().fill("5");
    await page.getByLabel("Shots", { exact: true }).last().press("Enter");
    await page.getByRole("table", { name: "Done differently" }).getByRole("row").filter({ hasText: "shots" }).getByText("5", { exact: true }).waitFor();
    await value.fill(String(nOf((item) => pickOf(item).is_correct)));
    await value.press("Enter");
    await page.getByText(/^Inside this run's interval/).waitFor();
  });

  await keptTest("categories are put in order, followed to their items and grouped in another way", async (page) => {
    const rows = await twin(page, "Categories", "Accuracy by category");
    await page.getByLabel("Order of categories").selectOption("accuracy");
    const right = new Map();
    for (const item of items) right.set(item.category, (right.get(item.category) ?? 0) + Number(pickOf(item).is_correct));
    const most = Math.max(...right.values());
    await rows.first().getByRole("cell").nth(2).filter({ hasText: String(most) }).waitFor();
    assert.deepEqual((await Promise.all((await rows.all()).map(cellsOf))).map(([, , n]) => Number(n)), [...right.values()].sort((a, b) => b - a));

    // The uppermost bar, with the pointer.
    const first = await rows.first().getByRole("rowheader").innerText();
    const bars = region(page, "Categories").getByRole("img", { name: /^Accuracy of 4 categories/ });
    await bars.click({ position: { x: (await bars.boundingBox()).width / 2, y: 22 } });
    await page.getByRole("button", { name: `${first} ×` }).waitFor();
    await counts(page, nOf(({ category }) => category === first));

    await page.getByText("Group the categories in another way").click();
    await page.getByLabel("Categories and their groups").fill("STEM: sciences\nSocial Sciences: sciences\nHumanities: other\nOther: other");
    await page.getByRole("button", { name: "Use these groups" }).click();
    await page.getByText(/macro over 2 groups/).waitFor();
    await page.getByLabel("Average").first().selectOption("macro_groups");
    await reads(headline(page), `${nOf((item) => pickOf(item).is_correct)}.0\u00a0%`);
  });

  await keptTest("bins are cut anew, explored by arrow keys and followed to their items", async (page) => {
    const rows = await twin(page, "Calibration", "Reliability diagram");
    const docs = async () => (await Promise.all((await rows.all()).map(cellsOf))).map(([n]) => Number(n));
    const has = (n) => rows.nth(n).waitFor({ state: "detached" }).then(() => rows.nth(n - 1).waitFor());
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    await page.getByRole("slider", { name: /^Bins/ }).fill("20");
    await has(20);
    assert.equal(sum(await docs()), 100);
    await page.getByLabel("Binning").selectOption("equal_mass");
    await becomes(page, docs, Array(20).fill(5));
    await page.getByLabel("Binning").selectOption("equal_width");
    await page.getByRole("slider", { name: /^Bins/ }).fill("5");
    await has(5);

    // The last bin by keys, and what is said of it.
    const last = (await docs()).at(-1);
    assert.equal(last, nOf((item) => confidenceOf(item) >= 0.8));
    const isTold = (state = "attached") => region(page, "Calibration").getByRole("status").filter({ hasText: new RegExp(`confidence 80\\s% to 100\\s%, \\d+ of ${last} docs right`) }).waitFor({ state });
    await diagram(page).focus();
    await page.keyboard.press("ArrowLeft");
    await isTold();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^bin / }).waitFor();
    await counts(page, last);
    await page.getByRole("button", { name: /^bin / }).click();
    await counts(page, 100);

    // The same bin with the pointer: the right edge of the plot.
    const { width, height } = await diagram(page).boundingBox();
    const position = { x: width - 30, y: height / 3 };
    await diagram(page).blur();
    await isTold("detached");
    await diagram(page).hover({ position });
    await isTold();
    await diagram(page).click({ position });
    await counts(page, last);
  });

  await keptTest("a temperature moves ECE and NLL and no pick, and the fitted one is judged on the other half", async (page) => {
    const calibration = region(page, "Calibration");
    const before = await headline(page).innerText();
    const slider = calibration.getByRole("slider", { name: /^Temperature/ });
    await slider.fill("2");
    await calibration.getByText("Temperature: 4.00").waitFor();
    await becomes(page, () => calibration.getByText(/at T = 1\)/).count(), 4);
    await calibration.getByRole("button", { name: "Back to 1" }).click();
    await calibration.getByText(/at T = 1\)/).first().waitFor({ state: "detached" });
    await calibration.getByText(/^.*Fitted on 50 docs.*On the other 50 docs/).waitFor();
    await calibration.getByRole("button", { name: /^Use the fitted/ }).click();
    await calibration.getByText(/at T = 1\)/).first().waitFor();
    assert.equal(await headline(page).innerText(), before);
  });

  await keptTest("other calibrations are drawn over this one and removed", async (page) => {
    const calibration = region(page, "Calibration");
    for (const name of ["Strong and honest", "Weak and honest"]) {
      await calibration.getByLabel("Overlay", { exact: true }).selectOption({ label: name });
      await calibration.getByRole("button", { name: `Remove ${name}` }).waitFor();
    }
    const { text: svg } = await downloadedBy(page, "Save the chart “Reliability diagram” as SVG");
    assert.ok(["this run", "Strong and honest", "Weak and honest"].every((name) => svg.includes(`>${name}<`)));
    await calibration.getByRole("button", { name: "Remove Weak and honest" }).click();
    await calibration.getByRole("button", { name: "Remove Weak and honest" }).waitFor({ state: "detached" });
  });

  await keptTest("items are searched, filtered and put in order", async (page) => {
    const FILTERS = {
      right: (item) => pickOf(item).is_correct,
      wrong: (item) => !pickOf(item).is_correct,
      tied: (item) => pickOf(item).is_tied,
      disagree: ({ picks }) => new Set(picks.map(({ pick }) => pick)).size > 1,
      flagged: ({ flags }) => flags.length > 0,
      failed: () => false,
      all: () => true,
    };
    for (const [filter, wants] of Object.entries(FILTERS)) {
      await page.getByLabel("Filter").selectOption(filter);
      await counts(page, nOf(wants));
    }
    const matches = ({ question, category, choices }) => [question, category, ...choices.map(({ text }) => text)].some((text) => text.toLowerCase().includes("planet"));
    assert.ok(nOf(matches) > 0);
    await page.getByLabel("Search items").fill("Planet");
    await counts(page, nOf(matches));
    await page.getByLabel("Search items").fill("");
    await page.getByLabel("Category", { exact: true }).selectOption("STEM");
    await counts(page, nOf(({ category }) => category === "STEM"));
    await page.getByLabel("Category", { exact: true }).selectOption("");
    await page.getByLabel("Confidence from, %").fill("50");
    await page.getByLabel("to, %", { exact: true }).fill("90");
    await page.getByLabel("to, %", { exact: true }).press("Enter");
    await counts(page, nOf((item) => confidenceOf(item) >= 0.5 && confidenceOf(item) <= 0.9));
    await page.getByLabel("Confidence from, %").fill("0");
    await page.getByLabel("to, %", { exact: true }).fill("100");
    await page.getByLabel("to, %", { exact: true }).press("Enter");
    await counts(page, 100);

    const SORTS = {
      question: ({ question }) => question,
      category: ({ category }) => category,
      correct: (item) => Number(pickOf(item).is_correct),
      margin: (item) => -pickOf(item).margin,
      confidence: (item) => -confidenceOf(item),
      line: ({ line }) => line,
    };
    for (const [sort, keyOf] of Object.entries(SORTS)) {
      await page.getByLabel("Sort by").selectOption(sort);
      const [first] = [...items].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : a.index - b.index));
      // Confidences that are 1 to the last digit may tie here and not there.
      if (sort === "confidence") await reads(grid(page).locator('[aria-rowindex="2"]').getByRole("gridcell").nth(3), `${(100 * confidenceOf(first)).toFixed(0)}\u00a0%`);
      else await reads(grid(page).locator('[aria-rowindex="2"]').getByRole("gridcell").first(), String(first.line));
    }
    await page.getByRole("columnheader", { name: "Line" }).getByRole("button").click();
    await reads(grid(page).locator('[aria-rowindex="2"]').getByRole("gridcell").first(), "100");
  });

  await liveTest("items are walked through by keys and seen as tokens, and one is scored again in other words", async (page) => {
    const before = await headline(page).innerText();
    await grid(page).focus();
    for (const key of ["j", "j", "j", "k", "Enter"]) await page.keyboard.press(key);
    const drawer = dialog(page);
    await reads(drawer.getByRole("heading", { level: 2 }), "Item of line 3");
    await page.keyboard.press("k");
    await reads(drawer.getByRole("heading", { level: 2 }), "Item of line 2");

    // All tokens of the gold's text behind the bar, their ids on demand.
    const { choices, gold, n_context_tokens } = items[1];
    const prompt = drawer.getByRole("region", { name: "What the model read" });
    await prompt.getByRole("img", { name: /^the join/ }).waitFor();
    await drawer.getByLabel("Show token ids").check();
    const { token_ids } = choices[gold[0]];
    const ids = () => prompt.locator("small").allInnerTexts();
    await becomes(page, async () => (await ids()).length, n_context_tokens + token_ids.length);
    assert.deepEqual((await ids()).slice(n_context_tokens).map(Number), token_ids);
    const scores = drawer.getByRole("table", { name: /^Scores by every rule/ }).locator("tbody").getByRole("row");
    assert.deepEqual(
      (await Promise.all((await scores.all()).map(cellsOf))).map(([acc]) => acc),
      choices.map(({ loglikelihood }) => loglikelihood.toFixed(3).replace("-", "\u2212")),
    );

    await drawer.getByText("Change the prompt and score it again").click();
    await drawer.getByLabel("Context", { exact: true }).fill("Question: What is green?\nAnswer:");
    await drawer.getByRole("button", { name: "Score again" }).click();
    const again = drawer.getByRole("table", { name: "The changed prompt" }).locator("tbody").getByRole("row");
    await again.nth(3).waitFor();
    const [was, now] = await cellsOf(again.first());
    assert.equal(was, choices[0].loglikelihood.toFixed(3).replace("-", "\u2212"));
    assert.notEqual(now, was);
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    assert.equal(await headline(page).innerText(), before);
  });

  await liveTest("choices are rotated where the prompt lists them, and only there", async (page) => {
    await page.getByText(/another order of them would change nothing/).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Rotate/ }).count(), 0);

    await page.getByLabel("Sample task").selectOption({ label: "Capitals and basics (16 docs)" });
    await page.getByText("Settings", { exact: true }).click();
    await page.getByLabel("Prompt style").first().selectOption("mmlu");
    await taskReady(page, 16);
    await run(page, 16);
    const before = await headline(page).innerText();
    await page.getByRole("button", { name: /^Rotate/ }).click();
    await page.getByText(/^Over 4 orders, the pick is the same answer on \d+ docs? of 16/).waitFor({ timeout: 60_000 });
    assert.equal(await page.getByRole("table", { name: "By order of the choices" }).locator("tbody").getByRole("row").count(), 4);
    assert.equal(await headline(page).innerText(), before);
    // The next cases look at the run of a hundred docs.
    await page.getByRole("button", { name: /^Delete: .*capitals/ }).click();
    await page.getByRole("button", { name: /^Delete: .*capitals/ }).waitFor({ state: "detached" });
  });

  // The cases with a model have left runs of the same docs behind.
  await keptTest("two runs are compared doc by doc", async (page) => {
    await page.getByText("Compare with another run").click();
    await page.getByLabel("The other run").selectOption({ index: 1 });
    await page.getByText(/^This run is \+0\.0 points from tiny-llama\.gguf on multiple_choice, .* on 100 shared docs/).waitFor();
    await page.getByText(/Every log-likelihood is the same to the last bit\./).waitFor();
    const right = nOf((item) => pickOf(item).is_correct);
    const rows = page.getByRole("table", { name: "Docs by result" }).locator("tbody").getByRole("row");
    assert.deepEqual((await Promise.all((await rows.all()).map(cellsOf))).map((cells) => cells.map(Number)), [[right, 0], [0, 100 - right]]);
  });

  await keptTest("the protocol card goes to the clipboard as it stands", async (page) => {
    const card = region(page, "Protocol card");
    await card.getByRole("button", { name: "Copy the paragraph" }).click();
    await card.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await card.getByRole("blockquote").innerText());
    assert.match(copied, /tiny-llama\.gguf.*acc = 0\.\d+.*n = 100/);
  });

  await keptTest("files say the same as the page, and the report opens without it", async (page) => {
    const accuracy = await headline(page).innerText();
    const { text: csv } = await downloadedBy(page, "Download items.csv");
    assert.equal(csv.trimEnd().split("\r\n").length, 101);
    const { text: lines } = await downloadedBy(page, "Download samples.jsonl");
    const samples = lines.trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(samples.map(({ acc }) => acc === 1), items.map((item) => pickOf(item).is_correct));
    const results = JSON.parse((await downloadedBy(page, "Download results.json")).text);
    assert.equal(`${(100 * results.evaltab.report.headline.value).toFixed(1)}\u00a0%`, accuracy);

    const { bytes: png } = await downloadedBy(page, "Save the chart “Reliability diagram” as PNG");
    assert.equal(png.subarray(1, 4).toString(), "PNG");
    assert.equal(png.readUInt32BE(16), 3 * 720, "three pixels for each of 720");
    const { name, text: svg } = await downloadedBy(page, "Save the chart “Accuracy by category” as SVG");
    assert.equal(name, "accuracy_by_category.svg");
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*>\n<title>Accuracy of 4 categories/);

    const { text: html } = await downloadedBy(page, "Download report.html");
    const file = join(folder, "report.html");
    writeFileSync(file, html);
    const reader = await context.newPage();
    const asked = [];
    reader.on("request", (request) => asked.push(request.url()));
    await reader.goto(pathToFileURL(file).href);
    await reader.getByText(accuracy).first().waitFor();
    assert.equal(await reader.locator("svg").count(), await page.getByRole("figure").count());
    assert.deepEqual(asked, [pathToFileURL(file).href]);
    assert.equal(await reader.locator("script").count(), 0);
    await reader.close();
  });

  await pageTest("from the opened page to an item of a finished run without a mouse", async (page) => {
    await ready(page);
    await page.keyboard.press("Tab");
    await reads(page.locator(":focus"), "Skip to the report");
    await tabTo(page, page.getByRole("button", { name: "Run", exact: true }));
    await page.keyboard.press("Enter");
    await finished(page, 100);
    await tabTo(page, grid(page));
    for (const key of ["j", "Enter"]) await page.keyboard.press(key);
    await reads(dialog(page).getByRole("heading", { level: 2 }), "Item of line 2");
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    assert.ok(await grid(page).evaluate((element) => element === document.activeElement), "the focus is back at the table");
  });

  await liveTest("axe finds nothing wrong and nothing sticks out, light or dark, wide or narrow, with an item open or not", async (page) => {
    const { page: start } = await opened(context, site.address);
    await ready(start);
    for (const colorScheme of ["light", "dark"]) {
      await start.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(start), [], `${colorScheme}, before a run`);
      await page.emulateMedia({ colorScheme });
      for (const [width, height] of [[1280, 900], [320, 640]]) {
        await page.setViewportSize({ width, height });
        assert.deepEqual(await violations(page), [], `${colorScheme} at ${width} pixels`);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
      }
      await grid(page).focus();
      await page.keyboard.press("Enter");
      await dialog(page).getByText("What the model read").waitFor();
      assert.deepEqual(await violations(page), [], `${colorScheme}, with an item`);
      assert.ok((await dialog(page).evaluate((element) => element.scrollWidth)) <= 320);
      await page.keyboard.press("Escape");
    }
    await start.close();
  });

  await keptTest("paper shows the report and nothing to press", async (page) => {
    await page.emulateMedia({ media: "print" });
    for (const name of ["Run", "Copy the paragraph", "Download report.html", "Make a link"]) assert.equal(await page.getByRole("button", { name, exact: true }).isVisible(), false, name);
    assert.equal(await page.getByLabel("Search items").isVisible(), false);
    for (const name of ["Overview", "Categories", "Calibration", "Bias probes", "Protocol card"]) assert.equal(await page.getByRole("heading", { name, exact: true }).isVisible(), true, name);
    assert.equal((await page.pdf({ format: "A4" })).subarray(0, 5).toString(), "%PDF-");
  });

  // Last, because the other cases open the newest run.
  await pageTest(`a run of ${N_DOCS} docs opens, is scrolled, searched and seen under another rule`, async (page, t) => {
    const many = Array.from({ length: N_DOCS }, (_, index) => ({ ...items[index % items.length], index, doc_id: index, line: index + 1, category: `subject ${index % N_SUBJECTS}` }));
    const lines = [header, { ...savedRun, id: "many", started_at: Date.now(), n_scored: N_DOCS, meta: { ...savedRun.meta, n_docs: N_DOCS } }];
    for (let at = 0; at < N_DOCS; at += 200) lines.push({ run_id: "many", n: at / 200, items: many.slice(at, at + 200), failed: [] });
    const file = join(folder, "many.jsonl");
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
    const found = (test) => many.filter(test).length.toLocaleString("en").replace(",", "\u202f");
    const all = found(() => true);

    await page.getByLabel("Import runs").setInputFiles(file);
    await page.getByRole("row").filter({ hasText: all }).getByRole("button", { name: /^Open: / }).click({ timeout: 60_000 });
    await counts(page, all, all);
    await region(page, "Files").waitFor();
    await page.evaluate(() => {
      globalThis.longest = 0;
      new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => (globalThis.longest = Math.max(globalThis.longest, duration)))).observe({ type: "longtask" });
    });

    const rows = grid(page).getByRole("row");
    for (const share of [0.2, 0.5, 0.9]) {
      await grid(page).evaluate((element, share) => element.scrollTo(0, share * element.scrollHeight), share);
      const index = Math.ceil(share * N_DOCS) + 2;
      await grid(page).locator(`[aria-rowindex="${index + 1}"]`).getByText(String(index), { exact: true }).waitFor();
      assert.ok((await rows.count()) < 60, "only rows in view exist");
    }
    await grid(page).focus();
    await page.keyboard.press("End");
    await rows.filter({ hasText: String(N_DOCS) }).first().waitFor();

    await page.getByLabel("Search items").fill("planet");
    await counts(page, found(({ question, choices }) => [question, ...choices.map(({ text }) => text)].some((text) => text.toLowerCase().includes("planet"))), all);
    await page.getByLabel("Search items").fill("");
    await counts(page, all, all);
    await page.getByLabel("Scoring rule").selectOption("acc_norm");
    await page.getByLabel("Filter").selectOption("wrong");
    await counts(page, found((item) => !pickOf(item, "acc_norm").is_correct), all);
    await page.getByRole("slider", { name: /^Bins/ }).fill("25");
    await (await twin(page, "Calibration", "Reliability diagram")).nth(24).waitFor();
    assert.equal(await (await twin(page, "Categories", "Accuracy by category")).count(), N_SUBJECTS);
    t.diagnostic(`longest task of the main thread: ${Math.round(await page.evaluate(() => globalThis.longest))} ms`);
  });
});
