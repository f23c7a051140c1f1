// A run goes round: link, fresh browser, the same run again, verdict; and what keeps it going: cuts, no network, no room.
//
// The site stands on a plain static host in a sub-path, without headers, as on a course's web space. The model is the tiny
// fixture: what is tested here does not depend on what the model knows. Cases that can share a browser do.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { browser, downloaded, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";
import { again, chooseByAddress, decode, encode, forgetFiles, history, incoming, linkOf, modelReady, offlineReady, openLink, ROWS, rowsFile, run, runAndPause, SITE, slowRows, step, taskReady, TINY } from "./steps.mjs";

const OTHER = path("tests/fixtures/models/tiny-llama-floats.gguf");
const FILES = { "models/tiny-llama.gguf": TINY };
const verdict = (panel, words) => panel.getByText(words).waitFor({ timeout: 60_000 });

test("a run's link is opened in a browser that has nothing, run again, and judged", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);
  const foreign = [];
  context.on("request", (request) => (request.method() !== "GET" || request.postData() !== null || !request.url().startsWith(new URL(site.address).origin)) && foreign.push(request.url()));
  const { page, errors } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await page.getByLabel("Task file").setInputFiles(rowsFile());
  await taskReady(page, 30);
  await run(page);
  const link = await linkOf(page);
  const claimed = decode(link);

  await t.test("the link is short, names files by hash, and holds no question", () => {
    assert.ok(link.length < 2000, `${link.length} characters`);
    assert.equal(claimed.model.url, "models/tiny-llama.gguf");
    assert.equal(claimed.model.sha256, createHash("sha256").update(readFileSync(TINY)).digest("hex"));
    assert.equal(claimed.data.sha256, createHash("sha256").update(ROWS).digest("hex"));
    assert.ok(!JSON.stringify(claimed).includes("spiders?"), "a question is in the link");
  });

  await page.getByLabel(/Let the rows travel along/).check();
  // The link without them is gone, so that nobody copies it for the one with them.
  await page.getByLabel("Link", { exact: true }).waitFor({ state: "detached" });
  const withRows = decode(await linkOf(page));
  assert.equal(withRows.data.rows, ROWS);

  await t.test("nothing of the user's has left the tab, and what would is counted", async () => {
    await page.getByText("0 B of your data have left this tab.").waitFor();
    assert.deepEqual(foreign.filter((url) => !url.startsWith("blob:")), []);
    await page.evaluate(() => fetch("nowhere", { method: "POST", body: "12345" }));
    await page.getByText("5 B of your data have left this tab.").waitFor();
  });

  const nBefore = site.requests.length;
  const { page: fresh, errors: freshErrors } = await opened(await browser(t), link);

  await t.test("opened, it shows what is claimed, and fetches no model before anybody asks", async () => {
    await incoming(fresh).getByText("claimed, not verified").waitFor();
    await incoming(fresh).getByText("30 docs").first().waitFor();
    assert.ok(!site.requests.slice(nBefore).some(({ path }) => path.endsWith(".gguf")), "a model was fetched");
  });

  await t.test("rows by file are asked for by name and known by their hash; then the run is reproduced bit for bit", async () => {
    const panel = incoming(fresh);
    await again(panel);
    const ask = panel.getByLabel("Task file");
    await ask.setInputFiles(rowsFile(ROWS.replace("spiders", "beetles")));
    await panel.getByRole("alert").getByText(/this is another file/).waitFor();
    await ask.setInputFiles(rowsFile());
    await ask.waitFor({ state: "detached" });
    await again(panel);
    await verdict(panel, /^Reproduced bit for bit: .* all 30 docs/);
    assert.equal(await panel.getByText("claimed, not verified").count(), 0);
    await panel.getByRole("button", { name: "Quick check of 20 docs" }).click();
    await verdict(panel, /^20 of 30 docs checked/);
  });

  await t.test("a model by file is asked for too, and another one is refused by its hash", async () => {
    await forgetFiles(fresh);
    await fresh.reload();
    const panel = await openLink(fresh, encode(site.address, { ...withRows, model: { ...withRows.model, url: null } }));
    await again(panel);
    const ask = panel.getByLabel("Model file");
    await ask.setInputFiles(OTHER);
    await panel.getByRole("alert").getByText(/this is another file/).waitFor({ timeout: 60_000 });
    await ask.setInputFiles(TINY);
    await ask.waitFor({ state: "detached", timeout: 60_000 });
    await again(panel);
    await verdict(panel, /^Reproduced bit for bit/);
  });
  assert.deepEqual([...errors.filter((error) => !error.includes("404") && !error.includes("501")), ...freshErrors], []);

  const changed = (change, from = withRows) => {
    const copy = structuredClone(from);
    change(copy);
    return encode(site.address, copy);
  };

  await t.test("of an older engine with other bits, it has the same picks; of this one, it is not reproduced", async () => {
    for (const [version, words] of [["0.0.1", /^Same picks on all 30 docs, other bits: .*engine 0\.0\.1/], [claimed.engine_version, /^Same picks on all 30 docs, other bits: .*Both ran on engine/]]) {
      const panel = await openLink(fresh, changed((copy) => ((copy.engine_version = version), (copy.outcome.loglikelihood_digest = "0".repeat(64)))));
      await panel.getByText(version).first().waitFor();
      await again(panel);
      await verdict(panel, words);
    }
  });

  await t.test("with other picks, the docs that differ are listed, in a quick check too", async () => {
    // The other of two picks of two bits in the first byte; and every pick another one, so that any 20 docs show it.
    const flipped = (bits) => (copy) => {
      copy.outcome.picks = Buffer.from(copy.outcome.picks, "base64url").map((byte, i) => byte ^ (bits === 1 ? Number(i === 0) : bits)).toString("base64url");
      copy.outcome.loglikelihood_digest = "0".repeat(64);
    };
    const panel = await openLink(fresh, changed(flipped(1)));
    await again(panel);
    await verdict(panel, "Not reproduced: 1 of 30 docs comes out otherwise.");
    const table = panel.getByRole("table", { name: "Docs that came out otherwise" });
    assert.equal(await table.getByRole("row").count(), 2);
    await table.getByRole("row").nth(1).getByText("picked").first().waitFor();
    await openLink(fresh, changed(flipped(0x55)));
    await panel.getByRole("button", { name: "Quick check of 20 docs" }).click();
    await verdict(panel, "Not reproduced: 20 of the 20 docs checked come out otherwise.");
  });

  await t.test("with fewer docs than its settings give, it is not comparable", async () => {
    const fewer = changed(({ outcome }) => {
      const first = (text, n) => Buffer.from(text, "base64url").subarray(0, n).toString("base64url");
      Object.assign(outcome, { bins: [], categories: [], n_docs: 8, correct: first(outcome.correct, 1), picks: first(outcome.picks, outcome.pick_bits) });
    });
    const panel = await openLink(fresh, fewer);
    await again(panel);
    await verdict(panel, "Not comparable: the link speaks of 8 docs, this run has 30.");
  });

  await t.test("with the hash or size of another file, it is refused when the file is fetched, and nothing runs", async () => {
    await fresh.reload();
    const folder = mkdtempSync(join(tmpdir(), "evaltab-rows-"));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "spiders.jsonl"), ROWS);
    site.files = { ...FILES, "rows/spiders.jsonl": join(folder, "spiders.jsonl") };
    const byAddress = { ...claimed, data: { ...claimed.data, url: "rows/spiders.jsonl" } };
    const cases = [
      [(copy) => (copy.data.sha256 = "1".repeat(64)), /this is another file: sha256 [0-9a-f]{64}, expected 1{64}/],
      [(copy) => (copy.data.n_bytes += 1), /this is another file: \d+ bytes, expected \d+/],
      [(copy) => (copy.model.sha256 = "0".repeat(64)), /the bytes have sha256 [0-9a-f]{64}, expected 0{64}/],
      [(copy) => (copy.model.n_bytes += 1), /this is another file: 93280 bytes, expected 93281|93280 bytes, expected 93281/],
      [(copy) => Object.assign(copy.model, { url: "models/none.gguf", sha256: "0".repeat(64) }), /the server answered 404/],
    ];
    for (const [change, words] of cases) {
      const panel = await openLink(fresh, changed(change, byAddress));
      await again(panel);
      await panel.getByRole("alert").getByText(words).first().waitFor({ timeout: 60_000 });
      assert.equal(await panel.getByText(/reproduced/i).count(), 0);
      assert.equal(await step(fresh, /Run/).getByText("Finished", { exact: true }).count(), 0);
    }
  });

  await t.test("with a script where text stands, it shows the script's text", async () => {
    const evil = "<img src=x onerror=alert(1)>";
    fresh.on("dialog", () => assert.fail("a script of the link ran"));
    const panel = await openLink(
      fresh,
      changed(({ outcome, spec }) => {
        outcome.categories = outcome.categories.map(([, n, nCorrect]) => [evil, n, nCorrect]);
        outcome.metrics.push([evil, 0.5]);
        spec.system_instruction = evil;
      }),
    );
    await panel.getByText(evil).first().waitFor({ state: "attached" });
    assert.equal(await fresh.locator("img[src=x]").count(), 0);
  });

  await t.test("broken in any way, it is refused calmly, and nothing is loaded", async () => {
    const broken = {
      "of an unknown version": link.replace("#run=1.", "#run=7."),
      "cut off": link.slice(0, -40),
      "with a foreign character": `${link.slice(0, -40)}*${link.slice(-39)}`,
      "that is a bomb": `${site.address}#run=1.${deflateRawSync(Buffer.alloc(20_000_000)).toString("base64url")}`,
      "with a script for a name": changed((copy) => (copy.model.name = "<img src=x onerror=alert(1)>.gguf")),
      "with a script for an address": changed((copy) => (copy.model.url = "javascript:alert(1)")),
      "with a script in the version": changed((copy) => (copy.engine_version = "<script>alert(1)</script>")),
      "with a setting that does not exist": changed((copy) => (copy.spec["<b>temperature</b>"] = 1)),
      "that names a file above the page's folder": changed((copy) => (copy.model.url = "../secret.gguf")),
      "with a hash of another length": changed((copy) => (copy.model.sha256 = "0")),
      "with rows that have another hash": changed((copy) => (copy.data.rows = ROWS.replace("spiders", "beetles"))),
      "that contradicts itself": changed((copy) => (copy.outcome.categories[0][2] += 1)),
    };
    const before = site.requests.filter(({ path }) => path.endsWith(".gguf")).length;
    for (const [what, address] of Object.entries(broken)) {
      await fresh.goto("about:blank");
      await fresh.goto(address);
      const refusal = fresh.getByRole("region", { name: "This link cannot be read" });
      await refusal.getByRole("alert").waitFor();
      assert.equal(await incoming(fresh).count(), 0, `a link ${what} was shown`);
      await refusal.getByRole("button", { name: "Close" }).click();
      await refusal.waitFor({ state: "detached" });
    }
    assert.equal(site.requests.filter(({ path }) => path.endsWith(".gguf")).length, before);
  });

  await t.test("as a file it says the same, and a broken file is refused as calmly", async () => {
    const file = (content) => ({ name: "run.evaltab.json", mimeType: "application/json", buffer: Buffer.from(content) });
    await fresh.goto("about:blank");
    await fresh.goto(site.address);
    await fresh.getByLabel("Open a run file").setInputFiles(file(JSON.stringify(withRows).slice(0, -9)));
    await fresh.getByRole("region", { name: "This link cannot be read" }).getByRole("alert").waitFor();
    await fresh.getByLabel("Open a run file").setInputFiles(file(JSON.stringify(withRows)));
    await again(incoming(fresh));
    await verdict(incoming(fresh), /^Reproduced bit for bit/);
  });

  await t.test("inside another page, it shows its result and nothing around it", async () => {
    await fresh.goto(link.replace("#", "?embed=1#"));
    await incoming(fresh).getByText("claimed, not verified").waitFor();
    assert.equal(await fresh.getByRole("heading", { name: "evaltab" }).count(), 0);
    assert.equal(await history(fresh).count(), 0);
  });

  await t.test("no request goes to a host that nobody gave the page", async () => {
    const other = await staticSite(t, { "m.gguf": TINY });
    other.isShared = true;
    await fresh.goto("about:blank");
    await fresh.goto(site.address);
    const spy = new URL("spy?rows=everything", other.address).href;
    assert.equal(await fresh.evaluate((url) => fetch(url).then(() => "sent", () => "refused"), spy), "refused");
    assert.equal(await fresh.evaluate((url) => fetch(url, { method: "POST", body: "rows", mode: "no-cors" }).then(() => "sent", () => "refused"), spy), "refused");
    assert.deepEqual(other.requests, []);
    await chooseByAddress(fresh, /Model/, "Model address", new URL("m.gguf", other.address).href);
    await modelReady(fresh);
    assert.deepEqual(other.requests.map(({ path }) => path), ["m.gguf"]);
  });

  await t.test("no script but the page's own runs, and no server is spoken to that is not https or this machine", async () => {
    const { missing, ran } = await fresh.evaluate(async () => {
      const seen = new Set();
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => seen.add(effectiveDirective));
      const add = (name, set) => document.body.append(Object.assign(document.createElement(name), set));
      add("script", { textContent: "window.ran = 1" });
      add("script", { src: "https://example.org/x.js" });
      add("img", { src: "https://example.org/x.png" });
      add("iframe", { src: "https://example.org/" });
      add("p", { innerHTML: "<i onclick='window.ran = 1'></i>" });
      document.querySelector("i[onclick]").click();
      // In a task of its own: what the browser's driver evaluates may do what the page may not.
      const evaluated = () => {
        try {
          new Function("window.ran = 1")();
        } catch {
          seen.add("eval");
        }
      };
      await new Promise((resolve) => setTimeout(() => resolve(evaluated())));
      for (const url of ["http://example.org/", "ws://example.org/"]) {
        try {
          if (url.startsWith("ws")) new WebSocket(url);
          else await fetch(url);
        } catch {
          // Refused, as it should be: the event tells.
        }
      }
      add("style", { textContent: "body { color: red }" });
      // Some events come late; the test has no other way to know that none is missing than to wait for the last.
      const wanted = ["connect-src", "eval", "frame-src", "img-src", "script-src-attr", "script-src-elem", "style-src-elem"];
      const isThere = () => wanted.every((kind) => seen.has(kind));
      for (const end = Date.now() + 10_000; !isThere() && Date.now() < end; ) await new Promise(requestAnimationFrame);
      return { missing: wanted.filter((kind) => !seen.has(kind)), ran: window.ran ?? null };
    });
    assert.deepEqual({ missing, ran }, { missing: [], ran: null });
  });
});

test("on a plain host the page isolates itself, resumes a cut download, works offline, keeps a model, and does without room", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const context = await browser(t);

  await t.test("it becomes isolated with one reload, goes on with a cut download, and runs with threads", async () => {
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
    await page.getByLabel("Task file").setInputFiles(rowsFile());
    await taskReady(page, 30);
    await run(page);
    const { text } = await downloaded(page, () => page.getByRole("button", { name: "Download results.json" }).click());
    assert.ok(JSON.parse(text).evaltab.meta.n_threads > 1);
    await page.close();
  });

  await t.test("after one visit it, its sample tasks and a kept model work without a network", async () => {
    site.isDown = true;
    const { page } = await opened(context, site.address);
    await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
    await modelReady(page);
    await step(page, /Task/).getByLabel("Sample task").selectOption({ index: 0 });
    await step(page, /Task/).getByText(/16 docs of 16 rows/).waitFor();
    await run(page);
    await history(page).getByRole("button", { name: "Delete: tiny-llama.gguf", exact: true }).click();
    await page.getByText("No file has been kept yet.").waitFor();
    await page.close();
    site.isDown = false;
  });

  await t.test("a picked model is kept where that is asked for, and used on the next visit", async () => {
    const { page } = await opened(context, site.address);
    await page.getByLabel("Model file").setInputFiles(TINY);
    await modelReady(page);
    await page.getByRole("button", { name: "Keep it for the next visit" }).click();
    await page.getByRole("button", { name: "Use: tiny-llama.gguf" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Use: tiny-llama.gguf" }).click();
    await modelReady(page);
    await page.close();
  });

  await t.test("where the browser grants no room the model is used from memory, and the page says so", async () => {
    const { page } = await opened(context, site.address);
    const devtools = await context.newCDPSession(page);
    await devtools.send("Storage.overrideQuotaForOrigin", { origin: new URL(site.address).origin, quotaSize: 1000 });
    await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
    await modelReady(page);
    await step(page, /Model/).getByText(/in memory only/).waitFor();
  });
});

test("a run that was broken off goes on after a reload, to the same digest, and goes to another browser with all others", needs(SITE), async (t) => {
  const site = await staticSite(t, FILES);
  const rows = slowRows(600);
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  const file = rowsFile(rows, "beetles.jsonl");
  await page.getByLabel("Task file").setInputFiles(file);
  await step(page, /Task/).getByText("600 docs of 600 rows").waitFor();
  await runAndPause(page);
  await page.close();

  const { page: next } = await opened(context, site.address);
  await history(next).getByText(/broke off after/).waitFor();
  await next.getByLabel("Task file").setInputFiles(file);
  await step(next, /Task/).getByText("600 docs of 600 rows").waitFor();
  await next.getByRole("button", { name: /^Go on/ }).click();
  await step(next, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 240_000 });
  const digest = async (on) => decode(await linkOf(on)).outcome.loglikelihood_digest;
  const resumed = await digest(next);

  // The whole again, in a browser that the first one's runs are brought to.
  const all = await downloaded(next, () => next.getByRole("button", { name: "Export all runs" }).click());
  assert.match(all.text, /"token_logprobs":\[-/);
  const { page: fresh } = await opened(await browser(t), site.address);
  await fresh.getByLabel("Import runs").setInputFiles({ name: all.name, mimeType: "application/jsonl", buffer: Buffer.from(all.text) });
  await history(fresh).getByRole("button", { name: /^Open: .*beetles\.jsonl/ }).click();
  assert.equal(await digest(fresh), resumed);
  await fresh.getByLabel("Import runs").setInputFiles({ name: "runs.jsonl", mimeType: "application/jsonl", buffer: Buffer.from(all.text.slice(0, -200)) });
  await history(fresh).getByRole("alert").waitFor();
  await history(fresh).getByRole("button", { name: /^Delete: .*beetles\.jsonl/ }).click();
  await history(fresh).getByText(/^No run has been kept yet/).waitFor();

  await chooseByAddress(fresh, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(fresh);
  await fresh.getByLabel("Task file").setInputFiles(file);
  await step(fresh, /Task/).getByText("600 docs of 600 rows").waitFor();
  await run(fresh);
  assert.equal(await digest(fresh), resumed);
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

test("the module's types are what a teacher's editor reads, and hold for the example's calls", needs(SITE), (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-types-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["evaltab.js", "evaltab.d.ts"]) cpSync(path(`web/dist/${name}`), join(folder, name));
  const lesson = `
    import { loadModel, evaluate, type Evaluation } from "./evaltab.js";
    const model = await loadModel("m.gguf", { sha256: "0", onProgress: ({ n_bytes_done }) => n_bytes_done.toFixed() });
    await loadModel([new File([], "m-00001-of-00002.gguf"), new File([], "m-00002-of-00002.gguf")]);
    const run: Evaluation = await evaluate(model, [{ question: "1 + 1?", choices: ["1", "2"], answer: 1 }], { spec: { num_fewshot: 2 }, fewshot: "dev.jsonl" });
    run.report.headline?.value.toFixed(3);
    run.items[0]?.choices[0]?.token_logprobs.length;
    // @ts-expect-error
    await evaluate(model, 7);
    // @ts-expect-error
    await evaluate(model, "rows.jsonl", { spec: { shots: 2 } });
  `;
  writeFileSync(join(folder, "lesson.ts"), lesson);
  const options = ["--noEmit", "--strict", "--module", "esnext", "--target", "es2022", "--lib", "es2022,dom", "lesson.ts"];
  execFileSync(process.execPath, [path("web/node_modules/typescript/bin/tsc"), ...options], { cwd: folder, stdio: "inherit" });
});
