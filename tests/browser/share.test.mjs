// A run goes round: link, fresh browser, the same run again, verdict; and what keeps it going: cuts, no network, no room, an update.
//
// The site stands on a plain static host in a sub-path, without headers, as on a course's web space. The model is the tiny
// fixture: what is tested here does not depend on what the model knows.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { browser, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";

const TINY = path("tests/fixtures/models/tiny-llama.gguf");
const OTHER = path("tests/fixtures/models/tiny-llama-floats.gguf");
const SITE = path("web/dist/index.html");
const FILES = { "models/tiny-llama.gguf": TINY };
/** Four-choice rows of our own, enough for a quick check to be a part of them. */
const ROWS = Array.from({ length: 30 }, (_, i) => `${JSON.stringify({ question: `How many legs have ${i + 1} spiders?`, choices: [0, 1, 2, 3].map((j) => String(8 * (i + 1) + j)), answer: 0 })}\n`).join("");

const step = (page, name) => page.getByRole("region", { name });
const incoming = (page) => page.getByRole("region", { name: "A run that was sent to you" });
const rowsFile = (text = ROWS) => ({ name: "spiders.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(text) });

async function chooseByAddress(page, region, label, address) {
  await step(page, region).getByText("From an address").click();
  await page.getByLabel(label).fill(address);
  await step(page, region).getByRole("button", { name: "Open", exact: true }).click();
}

/** Also: the one reload that makes the page isolated is over. */
const offlineReady = (page) => page.getByText("This page works without a network now.").waitFor({ timeout: 60_000 });

const modelReady = (page) => step(page, /Model/).getByText(/^llama, /).waitFor({ timeout: 60_000 });

async function run(page) {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await step(page, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 60_000 });
}

async function linkOf(page) {
  await page.getByRole("button", { name: "Make a link" }).click();
  return page.getByLabel("Link", { exact: true }).inputValue();
}

/** A run of the tiny model by its address on the rows as a file. */
async function runByAddress(t, site) {
  const context = await browser(t);
  const { page, errors } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await page.getByLabel("Task file").setInputFiles(rowsFile());
  await step(page, /Task/).getByText("30 docs of 30 rows").waitFor();
  await run(page);
  return { context, page, errors };
}

const decode = (link) => JSON.parse(inflateRawSync(Buffer.from(link.split("#run=1.")[1], "base64url")));
const encode = (address, run) => `${address}#run=1.${deflateRawSync(JSON.stringify(run)).toString("base64url")}`;

test("a model by address and a task by file go round to a fresh browser and are reproduced bit for bit", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const { page, errors } = await runByAddress(t, site);
  const link = await linkOf(page);
  assert.ok(link.length < 2000, `${link.length} characters`);
  const claimed = decode(link);
  assert.equal(claimed.model.url, "models/tiny-llama.gguf");
  assert.equal(claimed.model.sha256, createHash("sha256").update(readFileSync(TINY)).digest("hex"));
  assert.equal(claimed.data.sha256, createHash("sha256").update(ROWS).digest("hex"));
  assert.ok(!JSON.stringify(claimed).includes("spiders?"), "a question is in the link");

  const nBefore = site.requests.length;
  const { page: fresh, errors: freshErrors } = await opened(await browser(t), link);
  const panel = incoming(fresh);
  await panel.getByText("claimed, not verified").waitFor();
  await panel.getByText("30 docs").first().waitFor();
  assert.ok(!site.requests.slice(nBefore).some(({ path }) => path.endsWith(".gguf")), "a model was fetched before anybody asked");

  await panel.getByRole("button", { name: "Run again and compare" }).click();
  const ask = panel.getByLabel("Task file");
  await ask.setInputFiles(rowsFile(ROWS.replace("spiders", "beetles")));
  await panel.getByRole("alert").getByText(/this is another file/).waitFor();
  await ask.setInputFiles(rowsFile());
  await ask.waitFor({ state: "detached" });
  await panel.getByRole("button", { name: "Run again and compare" }).click();
  await panel.getByText(/^Reproduced bit for bit: .* all 30 docs/).waitFor({ timeout: 60_000 });
  assert.equal(await panel.getByText("claimed, not verified").count(), 0);

  await panel.getByRole("button", { name: "Quick check of 20 docs" }).click();
  await panel.getByText(/^20 of 30 docs checked/).waitFor({ timeout: 60_000 });
  assert.deepEqual([...errors, ...freshErrors], []);
});

test("a model by file is asked for by name, and another one is refused by its hash", needs(SITE), async (t) => {
  const site = await staticSite(t);
  const { page } = await opened(await browser(t), site.address);
  await page.getByLabel("Model file").setInputFiles(TINY);
  await modelReady(page);
  await page.getByLabel("Task file").setInputFiles(rowsFile());
  await run(page);
  await page.getByLabel(/Let the rows travel along/).check();
  const link = await linkOf(page);
  assert.equal(decode(link).data.rows, ROWS);

  const { page: fresh } = await opened(await browser(t), link);
  const panel = incoming(fresh);
  await panel.getByRole("button", { name: "Run again and compare" }).click();
  const ask = panel.getByLabel("Model file");
  await ask.setInputFiles(OTHER);
  await panel.getByRole("alert").getByText(/this is another file/).waitFor({ timeout: 60_000 });
  await ask.setInputFiles(TINY);
  await ask.waitFor({ state: "detached", timeout: 60_000 });
  await panel.getByRole("button", { name: "Run again and compare" }).click();
  await panel.getByText(/^Reproduced bit for bit/).waitFor({ timeout: 60_000 });
});

test("a link that claims other picks or other bits is found out", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const { page } = await runByAddress(t, site);
  const claimed = { ...decode(await linkOf(page)) };
  claimed.data = { ...claimed.data, rows: ROWS };

  const older = { ...claimed, engine_version: "0.0.1", outcome: { ...claimed.outcome, loglikelihood_digest: "0".repeat(64) } };
  await page.goto(encode(site.address, older));
  await incoming(page).getByText("0.0.1").waitFor();
  await incoming(page).getByRole("button", { name: "Run again and compare" }).click();
  await incoming(page).getByText(/^Same picks on all 30 docs, other bits: .*engine 0\.0\.1/).waitFor({ timeout: 60_000 });

  // The other of two picks of two bits in the first byte.
  const picks = Buffer.from(claimed.outcome.picks, "base64url");
  picks[0] ^= 1;
  const other = { ...claimed, outcome: { ...claimed.outcome, picks: picks.toString("base64url"), loglikelihood_digest: "0".repeat(64) } };
  await page.goto(encode(site.address, other));
  await incoming(page).getByRole("button", { name: "Run again and compare" }).click();
  await incoming(page).getByText("Not reproduced: 1 of 30 docs comes out otherwise.").waitFor({ timeout: 60_000 });
  await incoming(page).getByRole("table", { name: "Docs that came out otherwise" }).getByRole("row").nth(1).getByText("picked").first().waitFor();
});

test("a broken link is refused calmly, and nothing is loaded", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const { page: maker } = await runByAddress(t, site);
  const link = await linkOf(maker);
  const claimed = decode(link);
  const changed = (change) => {
    const copy = structuredClone(claimed);
    change(copy);
    return encode(site.address, copy);
  };
  const broken = {
    "of an unknown version": link.replace("#run=1.", "#run=7."),
    "cut off": link.slice(0, -40),
    "with a foreign character": `${link.slice(0, -40)}*${link.slice(-39)}`,
    "that is a bomb": `${site.address}#run=1.${deflateRawSync(Buffer.alloc(20_000_000)).toString("base64url")}`,
    "with a script for a name": changed((copy) => (copy.model.name = "<img src=x onerror=alert(1)>.gguf")),
    "with a script for an address": changed((copy) => (copy.model.url = "javascript:alert(1)")),
    "with a hash of another length": changed((copy) => (copy.model.sha256 = "0")),
    "that contradicts itself": changed((copy) => (copy.outcome.categories[0][2] += 1)),
  };
  const { page, errors } = await opened(await browser(t), site.address);
  await offlineReady(page);
  page.on("dialog", () => assert.fail("a script of the link ran"));
  for (const [what, address] of Object.entries(broken)) {
    await page.goto("about:blank");
    await page.goto(address);
    const refusal = page.getByRole("region", { name: "This link cannot be read" });
    await refusal.getByRole("alert").waitFor();
    assert.equal(await incoming(page).count(), 0, `a link ${what} was shown`);
    await refusal.getByRole("button", { name: "Close" }).click();
    await refusal.waitFor({ state: "detached" });
  }
  assert.deepEqual(errors, []);
});

test("nothing of the user's leaves the tab, and what would is counted", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const sent = [];
  context.on("request", (request) => (request.method() !== "GET" || request.postData() !== null || !request.url().startsWith(new URL(site.address).origin)) && sent.push(request.url()));
  const { page } = await opened(context, site.address);
  await offlineReady(page);
  await page.getByLabel("Model file").setInputFiles(TINY);
  await modelReady(page);
  await page.getByLabel("Task file").setInputFiles(rowsFile());
  await run(page);
  await linkOf(page);
  await page.getByText("0 B of your data have left this tab.").waitFor();
  assert.deepEqual(sent.filter((url) => !url.startsWith("blob:")), []);

  await page.evaluate(() => fetch("nowhere", { method: "POST", body: "12345" }));
  await page.getByText("5 B of your data have left this tab.").waitFor();
});

test("the page becomes isolated with one reload, and a cut download goes on where it stopped", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const page = await context.newPage();
  let nLoads = 0;
  page.on("domcontentloaded", () => (nLoads += 1));
  await page.goto(site.address);
  await offlineReady(page);
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
  assert.equal(nLoads, 2);

  site.cuts["models/tiny-llama.gguf"] = 40_000;
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  const asked = site.requests.filter(({ path }) => path.endsWith(".gguf"));
  assert.equal(asked.length, 2);
  assert.match(asked[1].range, /^bytes=[1-9]\d*-$/);
  assert.match(await step(page, /Model/).innerText(), /threads/);
});

test("after one visit the page, its sample tasks and a kept model work without a network", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await offlineReady(page);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await page.close();

  site.isDown = true;
  const { page: again } = await opened(context, site.address);
  await chooseByAddress(again, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(again);
  await step(again, /Task/).getByLabel("Sample task").selectOption({ index: 0 });
  await step(again, /Task/).getByText(/16 docs of 16 rows/).waitFor();
  await run(again);
  await again.getByRole("region", { name: "Runs and files" }).getByRole("button", { name: "Delete: tiny-llama.gguf", exact: true }).click();
  await again.getByText("No file has been kept yet.").waitFor();
});

test("a picked model is kept where that is asked for, and used on the next visit", needs(SITE), async (t) => {
  const site = await staticSite(t);
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await page.getByLabel("Model file").setInputFiles(TINY);
  await modelReady(page);
  await page.getByRole("button", { name: "Keep it for the next visit" }).click();
  await page.getByRole("button", { name: "Use: tiny-llama.gguf" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Use: tiny-llama.gguf" }).click();
  await modelReady(page);
});

test("where the browser grants no room the model is used from memory, and the page says so", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await offlineReady(page);
  const devtools = await context.newCDPSession(page);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(site.address).origin, quotaSize: 1000 });
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await step(page, /Model/).getByText(/in memory only/).waitFor();
});

test("a run that was broken off goes on after a reload, to the same digest", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  // Long enough to be broken off.
  const rows = Array.from({ length: 120 }, (_, i) => ROWS.replaceAll("spiders", `spiders and ${i} beetles`)).join("");
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  const file = { ...rowsFile(rows), name: "beetles.jsonl" };
  await page.getByLabel("Task file").setInputFiles(file);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("grid").getByRole("row").nth(1).waitFor({ timeout: 60_000 });
  await page.close();

  const { page: again } = await opened(context, site.address);
  await again.getByRole("region", { name: "Runs and files" }).getByText(/broke off after/).waitFor();
  await again.getByLabel("Task file").setInputFiles(file);
  await step(again, /Task/).getByText(/docs of 3.?600 rows/).waitFor();
  await again.getByRole("button", { name: /^Go on/ }).click();
  await step(again, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 120_000 });
  const digest = async () => decode(await linkOf(again)).outcome.loglikelihood_digest;
  const resumed = await digest();
  await run(again);
  assert.equal(await digest(), resumed);
});

test("an update waits until it is asked for, and an open page keeps its version", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await offlineReady(page);

  // The next version: another title, and the service worker that the build would have made for it.
  const next = mkdtempSync(join(tmpdir(), "evaltab-next-"));
  t.after(() => rmSync(next, { recursive: true }));
  cpSync(site.root, next, { recursive: true });
  const html = readFileSync(join(next, "index.html"), "utf8").replace(/<title>.*<\/title>/, "<title>evaltab, next version</title>");
  writeFileSync(join(next, "index.html"), html);
  const worker = readFileSync(join(next, "sw.js"), "utf8");
  const manifest = JSON.parse(/const MANIFEST = (\{.*\});/.exec(worker)[1]);
  manifest.version = "next";
  manifest.files["index.html"] = createHash("sha256").update(html).digest("hex");
  writeFileSync(join(next, "sw.js"), worker.replace(/const MANIFEST = .*;/, `const MANIFEST = ${JSON.stringify(manifest)};`));
  site.root = next;

  await page.reload();
  assert.doesNotMatch(await page.title(), /next version/);
  const update = page.getByRole("button", { name: /new version|Update|Reload/i });
  await update.waitFor({ timeout: 60_000 });
  await Promise.all([page.waitForEvent("load"), update.click()]);
  await page.waitForFunction(() => document.title.includes("next version"));
  assert.equal(await page.evaluate(() => crossOriginIsolated), true);
});

test("another page uses the module, and shows the page inside itself", needs(SITE), async (t) => {
  const site = await staticSite(t, { ...FILES, "models/SmolLM2-135M-Instruct.Q4_1.gguf": TINY });
  const context = await browser(t);
  // The example has no service worker of its own: it is not isolated, and the engine runs on one thread.
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(`${site.address}examples/module.html`);
  await page.getByRole("button", { name: "Ask the model" }).click();
  await page.getByText(/^\d of 3 right$/).waitFor({ timeout: 60_000 });
  assert.equal(await page.getByRole("table").getByRole("row").count(), 4);

  await page.goto(`${site.address}examples/embed.html`);
  const inner = page.frameLocator("iframe");
  await inner.getByRole("button", { name: "Run", exact: true }).waitFor();
  assert.equal(await inner.getByRole("heading", { name: "evaltab" }).count(), 0);
  assert.deepEqual(errors, []);
});
