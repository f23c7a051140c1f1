// Where models and rows come from, and that a link finds them there again: parts, folders, other hosts, Hugging Face, parquet,
// rows APIs, few-shot files; how a download looks, stops and goes on; where the browser keeps it.
//
// The hosts are servers on loopback; Hugging Face is played by the browser's own interception. Runs made in one profile are
// opened in another one that has nothing.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync, copyFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { browser, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";
import { again, chooseByAddress, decode, encode, forgetFiles, history, linkOf, MODELS, modelReady, openLink, reproduced, ROWS, rowsFile, rowsOf, run, SITE, step, taskReady, TINY } from "./steps.mjs";

const PARTS = [1, 2, 3].map((i) => `tiny-llama-split-0000${i}-of-00003.gguf`);
const sha256 = (bytes) => createHash("sha256").update(bytes);
/** GRAMMAR.md: the hash over the parts' hashes. */
const SPLIT_SHA256 = sha256(Buffer.concat(PARTS.map((name) => sha256(readFileSync(join(MODELS, name))).digest()))).digest("hex");
const COMMIT = "9217f5db79a29953eb74d5343926648285ec7e67";

function scratch(t) {
  const folder = mkdtempSync(join(tmpdir(), "evaltab-sources-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Forgets the model: the next one is a new choice. */
const chooseRows = async (page, text = ROWS, name = "spiders.jsonl", n = 30) => {
  await page.getByLabel("Task file").setInputFiles(rowsFile(text, name));
  await taskReady(page, n);
};

/** Drops files and folders of this machine, as a person drags them from a file manager. */
async function dropPaths(page, locator, files) {
  const devtools = await page.context().newCDPSession(page);
  const { x, y, width, height } = await locator.boundingBox();
  const at = { x: x + width / 2, y: y + height / 2 };
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await devtools.send("Input.dispatchDragEvent", { type, ...at, data });
}

test("a model in several files is picked, dropped as a folder, kept, fetched by its first part, and known by one hash", needs(SITE), async (t) => {
  const site = await staticSite(t);
  const host = await staticSite(t, Object.fromEntries(PARTS.map((name) => [name, join(MODELS, name)])));
  host.isShared = true;
  const context = await browser(t);
  const { page, errors } = await opened(context, site.address);
  await chooseRows(page);
  let byFile = "";

  await t.test("picked in any order it scores what the whole file scores", async () => {
    const digests = [];
    for (const files of [[TINY], [2, 0, 1].map((i) => join(MODELS, PARTS[i]))]) {
      await page.getByLabel("Model file").setInputFiles(files);
      await page.getByRole("option", { name: files.length === 1 ? "tiny-llama.gguf" : PARTS[0] }).waitFor({ state: "attached" });
      await modelReady(page);
      await run(page);
      byFile = await linkOf(page);
      digests.push(decode(byFile).outcome.loglikelihood_digest);
    }
    assert.equal(digests[0], digests[1]);
    const { model } = decode(byFile);
    const n_bytes = PARTS.reduce((sum, name) => sum + readFileSync(join(MODELS, name)).length, 0);
    assert.deepEqual(model, { name: PARTS[0], url: null, n_bytes, sha256: SPLIT_SHA256 });
  });

  await t.test("a part that is missing or another's is named", async () => {
    await page.getByLabel("Model file").setInputFiles([0, 2].map((i) => join(MODELS, PARTS[i])));
    await step(page, /Model/).getByRole("alert").filter({ hasText: PARTS[1] }).getByText("part 2 of 3 is missing").waitFor();
    const folder = scratch(t);
    for (const name of PARTS) copyFileSync(join(MODELS, name), join(folder, name));
    copyFileSync(join(MODELS, PARTS[2]), join(folder, PARTS[1]));
    await page.getByLabel("Model file").setInputFiles(PARTS.map((name) => join(folder, name)));
    await step(page, /Model/).getByRole("alert").getByText(/part 2 of 3.*this file is part 3, expected part 2/).waitFor();
  });

  await t.test("a folder that is dropped is looked through", async () => {
    const folder = join(scratch(t), "tiny model", "gguf");
    mkdirSync(folder, { recursive: true });
    for (const name of PARTS) copyFileSync(join(MODELS, name), join(folder, name));
    writeFileSync(join(folder, "README.md"), "# tiny\n");
    await step(page, /Model/).scrollIntoViewIfNeeded();
    await dropPaths(page, step(page, /Model/), [join(folder, "..")]);
    await modelReady(page);
  });

  await t.test("it is kept in its parts and used on the next visit", async () => {
    await page.getByRole("button", { name: "Keep it for the next visit" }).click();
    await history(page).getByRole("row").filter({ hasText: PARTS[2] }).waitFor();
    await page.getByRole("button", { name: "Keep it for the next visit" }).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("button", { name: `Use: ${PARTS[0]}` }).click();
    await modelReady(page);
    assert.equal(await page.getByRole("button", { name: `Use: ${PARTS[1]}` }).count(), 0);
    await step(page, /Model/).getByText(SPLIT_SHA256).waitFor();
    await history(page).getByRole("button", { name: `Delete: ${PARTS[1]}`, exact: true }).click();
    await page.getByRole("button", { name: `Delete: ${PARTS[1]}`, exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: `Use: ${PARTS[0]}` }).click();
    await history(page).getByRole("alert").getByText(/a part of this model is not here/).waitFor();
  });

  let byAddress = "";
  await t.test("it is fetched from another host by the address of a part", async () => {
    await chooseRows(page);
    await chooseByAddress(page, /Model/, "Model address", new URL(PARTS[1], host.address).href);
    await modelReady(page);
    await run(page);
    byAddress = await linkOf(page);
    assert.deepEqual(decode(byAddress).model, { ...decode(byFile).model, url: new URL(PARTS[0], host.address).href });
    assert.equal(decode(byAddress).outcome.loglikelihood_digest, decode(byFile).outcome.loglikelihood_digest);
    assert.deepEqual(errors.filter((error) => !error.includes("404")), []);
  });

  await t.test("a link to it is reproduced in a fresh browser, and another hash is refused", async () => {
    const { page: fresh } = await opened(await browser(t), site.address);
    const withRows = (link) => ({ ...decode(link), data: { ...decode(link).data, rows: ROWS } });
    const wrong = withRows(byAddress);
    wrong.model.sha256 = "0".repeat(64);
    const refused = await openLink(fresh, encode(site.address, wrong));
    await again(refused);
    await refused.getByRole("alert").getByText(/the parts together have sha256 .*, expected 0{64}/).waitFor({ timeout: 60_000 });
    await reproduced(fresh, encode(site.address, withRows(byAddress)));

    // Without an address the parts are asked for; they are in the cache by now, so another name is as good.
    for (const name of PARTS) await history(fresh).getByRole("button", { name: `Delete: ${name}`, exact: true }).click();
    await fresh.reload();
    const panel = await openLink(fresh, encode(site.address, withRows(byFile)));
    await again(panel);
    await panel.getByText(`${PARTS[0]} and the other 2 parts`).waitFor();
    await panel.getByLabel("Model file").setInputFiles(PARTS.map((name) => join(MODELS, name)));
    await panel.getByLabel("Model file").waitFor({ state: "detached" });
    await again(panel);
    await panel.getByText(/^Reproduced bit for bit/).waitFor({ timeout: 60_000 });
  });
});

/** Question, four choices, letter: MMLU's own files have no head. */
const MMLU_CSV = Array.from({ length: 8 }, (_, i) => `"What is ${i}, and one?",${i + 1},${i + 2},${i + 3},"${i}, or so",A\n`).join("");

test("rows come by address as JSONL, CSV, parquet and from a rows API, few-shot examples too, and links find them again", needs(SITE), async (t) => {
  const folder = scratch(t);
  const put = (name, content) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const { parquetWriteBuffer } = await import(path("web/node_modules/hyparquet-writer/src/index.js"));
  const random = Uint8Array.from({ length: 60_000 }, (_, i) => (i * i * 31 + (i >> 3)) & 255);
  const parquet = parquetWriteBuffer({
    columnData: [
      { name: "question", data: Array.from({ length: 30 }, (_, i) => `How many legs have ${i + 1} ants?`) },
      { name: "choices", data: Array.from({ length: 30 }, (_, i) => [`${6 * (i + 1)}`, `${6 * i + 8}`]) },
      { name: "answer", data: Array.from({ length: 30 }, () => 0) },
      { name: "image", data: Array.from({ length: 30 }, (_, i) => ({ bytes: random.map((byte) => byte ^ (37 * i)), path: `${i}.png` })) },
    ],
    codec: "UNCOMPRESSED",
    schema: [
      { name: "root", num_children: 4 },
      { name: "question", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "choices", type: "BYTE_ARRAY", converted_type: "JSON", repetition_type: "REQUIRED" },
      { name: "answer", type: "INT32", repetition_type: "REQUIRED" },
      { name: "image", num_children: 2, repetition_type: "REQUIRED" },
      { name: "bytes", type: "BYTE_ARRAY", repetition_type: "REQUIRED" },
      { name: "path", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
    ],
  });
  const site = await staticSite(t, { "models/tiny-llama.gguf": TINY });
  const host = await staticSite(t, {
    "rows/spiders.jsonl": put("spiders.jsonl", ROWS),
    "rows/shots.jsonl": put("shots.jsonl", rowsOf(6, "snails")),
    "rows/anatomy_test.csv": put("anatomy_test.csv", MMLU_CSV),
    "rows/ants.parquet": put("ants.parquet", new Uint8Array(parquet)),
  });
  host.isShared = true;
  host.answers["/rows"] = ({ searchParams }) => {
    const [offset, length] = ["offset", "length"].map((name) => Number(searchParams.get(name)));
    const all = ROWS.trim().split("\n").map((line) => JSON.parse(line));
    return { rows: all.slice(offset, offset + length).map((row, i) => ({ row_idx: offset + i, row, truncated_cells: [] })), num_rows_total: all.length, partial: false };
  };
  const at = (name) => new URL(`rows/${name}`, host.address).href;
  const API = `${new URL(host.address).origin}/rows?dataset=own%2Fspiders&config=default&split=test`;
  const { page, errors } = await opened(await browser(t), site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  const links = {};

  for (const [what, address, n] of [["JSONL", at("spiders.jsonl"), 30], ["CSV", at("anatomy_test.csv"), 8], ["a rows API", API, 30], ["parquet", at("ants.parquet"), 30]]) {
    await t.test(`${what} by address`, async () => {
      await chooseByAddress(page, /Task/, "Task address", address);
      await taskReady(page, n);
      await run(page);
      links[what] = await linkOf(page);
      assert.equal(decode(links[what]).data.url, address);
      assert.equal(decode(links[what]).data.n, n);
    });
  }

  await t.test("of a parquet file only ranges are read, and the hash is that of the rows", () => {
    assert.ok(parquet.byteLength > 1_500_000);
    assert.ok(host.nSent["rows/ants.parquet"] < 120_000, `${host.nSent["rows/ants.parquet"]} bytes of ${parquet.byteLength}`);
    const asked = host.requests.filter((request) => request.path === "rows/ants.parquet" && request.method === "GET");
    for (const { range } of asked) assert.match(range, /^bytes=\d+-\d+$/);
    const rows = Array.from({ length: 30 }, (_, i) => `${JSON.stringify({ question: `How many legs have ${i + 1} ants?`, choices: [`${6 * (i + 1)}`, `${6 * i + 8}`], answer: 0 })}\n`).join("");
    assert.equal(decode(links.parquet).data.sha256, sha256(rows).digest("hex"));
    assert.equal(decode(links.parquet).data.name, "ants.jsonl");
  });

  await t.test("few-shot examples by address", async () => {
    await chooseByAddress(page, /Task/, "Task address", at("spiders.jsonl"));
    await taskReady(page, 30);
    await step(page, /Task/).getByText("Settings").click();
    await page.getByLabel("Shots", { exact: false }).first().fill("2");
    await chooseByAddress(page, /Task/, "Few-shot address", at("shots.jsonl"));
    await step(page, /Task/).getByText("Shots are taken from shots.jsonl.").waitFor();
    await run(page);
    links.shots = await linkOf(page);
    const { fewshot, spec } = decode(links.shots);
    assert.equal(spec.num_fewshot, 2);
    assert.deepEqual(fewshot, { name: "shots.jsonl", url: at("shots.jsonl"), n_bytes: rowsOf(6, "snails").length, sha256: sha256(rowsOf(6, "snails")).digest("hex"), n: 6, rows: null });
    assert.notEqual(decode(links.shots).outcome.loglikelihood_digest, decode(links.JSONL).outcome.loglikelihood_digest);
  });

  const fresh = await opened(await browser(t), site.address);
  for (const what of ["shots", "parquet", "a rows API", "CSV"]) {
    await t.test(`a link to ${what} is reproduced in a browser that has nothing`, () => reproduced(fresh.page, links[what]));
  }

  await t.test("rows or shots that have changed at their address are found out", async () => {
    put("shots.jsonl", rowsOf(6, "slugs"));
    const panel = await openLink(fresh.page, links.shots);
    await forgetFiles(fresh.page);
    await fresh.page.reload();
    await again(panel);
    await panel.getByRole("alert").getByText(/this is another file/).waitFor({ timeout: 60_000 });
    await panel.getByLabel("Few-shot file").setInputFiles(rowsFile(rowsOf(6, "snails"), "mine.jsonl"));
    await panel.getByLabel("Few-shot file").waitFor({ state: "detached" });
    await again(panel);
    await panel.getByText(/^Reproduced bit for bit/).waitFor({ timeout: 60_000 });
  });
  assert.deepEqual([...errors, ...fresh.errors], []);
});

test("addresses on Hugging Face are pinned to the commit that was read", needs(SITE), async (t) => {
  const site = await staticSite(t);
  const context = await browser(t);
  const files = { "tiny-llama.gguf": readFileSync(TINY), "test.jsonl": Buffer.from(ROWS) };
  const asked = [];
  await context.route("https://huggingface.co/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    asked.push(pathname);
    const headers = { "Access-Control-Allow-Origin": "*" };
    if (pathname.startsWith("/api/")) {
      const siblings = Object.entries(files).map(([rfilename, bytes]) => ({ rfilename, size: bytes.length, lfs: { sha256: sha256(bytes).digest("hex"), size: bytes.length } }));
      return route.fulfill({ json: { sha: COMMIT, siblings }, headers });
    }
    const body = files[pathname.split("/").at(-1)];
    return body !== undefined && pathname.includes(`/resolve/${COMMIT}/`) ? route.fulfill({ body, headers }) : route.fulfill({ status: 404, headers });
  });
  const { page, errors } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "https://huggingface.co/own/tiny/blob/main/tiny-llama.gguf");
  await modelReady(page);
  await chooseByAddress(page, /Task/, "Task address", "https://huggingface.co/datasets/own/spiders/resolve/main/test.jsonl?download=true");
  await taskReady(page, 30);
  await run(page);
  const link = await linkOf(page);
  assert.equal(decode(link).model.url, `https://huggingface.co/own/tiny/resolve/${COMMIT}/tiny-llama.gguf`);
  assert.equal(decode(link).data.url, `https://huggingface.co/datasets/own/spiders/resolve/${COMMIT}/test.jsonl`);
  assert.ok(!asked.some((path) => path.includes("/resolve/main/")), "a branch was fetched");

  // The list names size, licence and, where the hub is asked, a commit.
  const options = await page.getByLabel("Model", { exact: true }).or(step(page, /Model/).getByRole("combobox")).first().getByRole("option").allInnerTexts();
  assert.ok(options.some((option) => /Qwen2\.5 0\.5B Instruct.*491\sMB/.test(option)), options.join());
  await step(page, /Model/).getByRole("combobox").selectOption({ label: options.find((option) => option.startsWith("Qwen2.5")) });
  await step(page, /Model/).getByText("Apache-2.0").waitFor();
  assert.deepEqual(errors, []);
});

test("a download shows bytes, speed and time left, stops, and goes on in the next visit; another host is cut and resumed too", needs(SITE), async (t) => {
  const site = await staticSite(t, { "models/tiny-llama.gguf": TINY });
  const host = await staticSite(t, { "m.gguf": TINY, "dated.gguf": TINY, "other.gguf": TINY });
  const context = await browser(t);
  await context.addInitScript(() => {
    const persist = navigator.storage.persist.bind(navigator.storage);
    navigator.storage.persist = () => {
      document.documentElement.dataset.asked = "yes";
      return persist();
    };
  });
  const { page } = await opened(context, site.address);
  const model = step(page, /Model/);

  await t.test("shown and stopped", async () => {
    site.speeds["models/tiny-llama.gguf"] = 20_000;
    await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
    await model.getByText(/kB of 93\.3\skB, .*\/s, .* left/).waitFor({ timeout: 30_000 });
    assert.equal(await page.evaluate(() => document.documentElement.dataset.asked), "yes");
    await model.getByRole("button", { name: "Stop the download" }).click();
    await history(page).getByText(/kB of 93\.3\skB/).waitFor({ timeout: 30_000 });
    delete site.speeds["models/tiny-llama.gguf"];
    await page.reload();
    await history(page).getByRole("row").filter({ hasText: "tiny-llama.gguf" }).getByText(/kB of 93\.3\skB/).waitFor();
    const nBefore = site.requests.length;
    await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
    await modelReady(page);
    const [asked] = site.requests.slice(nBefore).filter(({ path }) => path.endsWith(".gguf"));
    assert.match(asked.range, /^bytes=[1-9]\d*-$/);
    await history(page).getByRole("row").filter({ hasText: "tiny-llama.gguf" }).getByText(/^93\.3\skB$/).waitFor();
  });

  await t.test("rows show the same, and stopping leaves the task that was there", async () => {
    const task = step(page, /Task/);
    await page.getByLabel("Task file").setInputFiles(rowsFile());
    await taskReady(page, 30);
    const folder = scratch(t);
    writeFileSync(join(folder, "slow.jsonl"), rowsOf(900));
    site.files["rows/slow.jsonl"] = join(folder, "slow.jsonl");
    site.speeds["rows/slow.jsonl"] = 20_000;
    await chooseByAddress(page, /Task/, "Task address", "rows/slow.jsonl");
    await task.getByText(/Reading .*kB of .*\/s, .* left/).waitFor({ timeout: 30_000 });
    await task.getByRole("button", { name: "Stop the download" }).click();
    await taskReady(page, 30);
    assert.equal(await task.getByRole("alert").count(), 0);
  });

  await t.test("from a host of another origin, with a cut in the middle", async () => {
    host.isShared = true;
    // What tells that the file is still the same is seen by other origins as a date, not as an ETag.
    for (const [name, hasDates, range] of [["dated.gguf", true, /^bytes=[1-9]\d*-$/], ["m.gguf", false, /^null$/]]) {
      host.hasDates = hasDates;
      host.cuts[name] = 30_000;
      await chooseByAddress(page, /Model/, "Model address", new URL(name, host.address).href);
      await history(page).getByRole("row").filter({ hasText: name }).getByText(/^93\.3\skB$/).waitFor();
      await modelReady(page);
      const asked = host.requests.filter(({ path }) => path === name);
      assert.deepEqual(asked.map(({ method }) => method), ["GET", "GET"]);
      assert.match(String(asked[1].range), range);
    }
  });

  await t.test("a host that lets no other origin read is named", async () => {
    host.isShared = false;
    await chooseByAddress(page, /Model/, "Model address", new URL("other.gguf", host.address).href);
    await model.getByRole("alert").getByText(/other\.gguf.*lets no other site read/).first().waitFor({ timeout: 60_000 });
  });
});

test("where the private file system fails, the Cache API keeps a model for the next visit", needs(SITE), async (t) => {
  const site = await staticSite(t, { "models/tiny-llama.gguf": TINY });
  const context = await browser(t);
  await context.addInitScript(() => (navigator.storage.getDirectory = () => Promise.reject(new DOMException("none", "SecurityError"))));
  const { page } = await opened(context, site.address);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  await page.reload();
  site.files = {};
  await page.getByRole("button", { name: "Use: tiny-llama.gguf" }).click();
  await modelReady(page);
  assert.ok(await page.evaluate(async () => (await (await caches.open("evaltab-files")).keys()).length > 0));
});
