// Two versions of the engine: what a link of one says on the other, and that no run has both.
//
// The other version is the build itself with another version number and a ln 2 whose second part is 0.05 % larger: logarithms
// change by some 1e-13, so picks stay and bits do not. Its files have names of their own, as a build with other contents gives.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { browser, downloaded, needs, opened, path } from "./harness.mjs";
import { staticSite } from "./site.mjs";
import { again, chooseByAddress, decode, encode, history, linkOf, modelReady, offlineReady, openLink, ROWS, rowsFile, run, runAndPause, SITE, slowRows, step, taskReady, TINY } from "./steps.mjs";

const HERE = /^version = "(.*)"$/m.exec(readFileSync(path("Cargo.toml"), "utf8"))[1];
/** As long, so that it fits where the other stands. */
const NEXT = HERE.slice(0, -1) + (HERE.endsWith("9") ? "8" : "9");
/** The second part of ln 2 in fdlibm's and so in libm's logarithm, as a constant in the code. */
const f64Const = (value) => {
  const bytes = Buffer.alloc(9, 0x44);
  bytes.writeDoubleLE(value, 1);
  return bytes;
};
const LN2_LOW = 1.90821492927058770002e-10;

function replaced(bytes, from, to) {
  const copy = Buffer.from(bytes);
  let n = 0;
  for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + to.length), n++) to.copy(copy, at);
  return { copy, n };
}

/** The next version of the site. */
function nextVersion(t, root) {
  const next = mkdtempSync(join(tmpdir(), "evaltab-next-"));
  t.after(() => rmSync(next, { recursive: true }));
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name).slice(root.length + 1));
  const renamed = new Map(names.filter((name) => name.startsWith("assets/")).map((name) => [name.slice(7), name.slice(7).replace(/-[\w-]{8}(\.\w+)$/, "-nextnext$1")]));
  // Two files may differ in their hash alone.
  assert.equal(new Set(renamed.values()).size, renamed.size);
  const rename = (text) => [...renamed].reduce((all, [from, to]) => all.replaceAll(from, to), text);
  const files = {};
  for (const name of names) {
    let bytes = readFileSync(join(root, name));
    if (name.endsWith(".wasm")) {
      const version = replaced(bytes, Buffer.from(HERE), Buffer.from(NEXT));
      const other = replaced(version.copy, f64Const(LN2_LOW), f64Const(1.0005 * LN2_LOW));
      assert.ok(version.n > 0 && other.n > 0, "the module has neither its version nor ln 2 where this test looks");
      bytes = other.copy;
    } else if (/\.(js|css|html|json)$/.test(name)) bytes = Buffer.from(rename(bytes.toString("utf8")));
    files[rename(name)] = bytes;
  }
  const worker = files["sw.js"].toString("utf8");
  const manifest = JSON.parse(/const MANIFEST = (\{.*\});/.exec(worker)[1]);
  manifest.version = "next";
  for (const name of Object.keys(manifest.files)) manifest.files[name] = createHash("sha256").update(files[name]).digest("hex");
  files["sw.js"] = Buffer.from(worker.replace(/const MANIFEST = .*;/, `const MANIFEST = ${JSON.stringify(manifest)};`));
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(next, name)), { recursive: true });
    writeFileSync(join(next, name), bytes);
  }
  return next;
}

const says = (page, version) => page.getByText(new RegExp(`^evaltab ${version.replaceAll(".", "\\.")}\\.`)).waitFor({ timeout: 60_000 });

test("a run has one engine, whatever is installed meanwhile, and a link says which", needs(SITE), async (t) => {
  const site = await staticSite(t, { "models/tiny-llama.gguf": TINY });
  const context = await browser(t);
  const { page } = await opened(context, site.address);
  await says(page, HERE);
  await offlineReady(page);
  await chooseByAddress(page, /Model/, "Model address", "models/tiny-llama.gguf");
  await modelReady(page);
  // Long enough to be under way while the next version comes.
  await page.getByLabel("Task file").setInputFiles(rowsFile(slowRows(4000), "many.jsonl"));
  await step(page, /Task/).getByText(/docs of 4.?000 rows/).waitFor();
  await runAndPause(page);

  site.root = nextVersion(t, site.root);
  const second = await context.newPage();
  await second.goto(site.address);
  const update = (on) => on.getByRole("button", { name: "Reload", exact: false }).first();

  await t.test("the page that runs cannot be updated, another one is still the old version until it is asked to", async () => {
    await update(second).waitFor({ timeout: 60_000 });
    await says(second, HERE);
    await update(page).waitFor();
    assert.ok(await update(page).isDisabled());
    await Promise.all([second.waitForEvent("load"), update(second).click()]);
    await says(second, NEXT);
    assert.equal(await second.evaluate(() => crossOriginIsolated), true);
  });

  await t.test("the run under way goes on with the engine that began it, and so does the next in that page", async () => {
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await step(page, /Run/).getByText("Cancelled", { exact: true }).waitFor({ timeout: 60_000 });
    const { text } = await downloaded(page, () => page.getByRole("button", { name: "Download results.json" }).click());
    assert.equal(JSON.parse(text).evaltab.meta.engine_version, HERE);
    // A worker that starts only now, the hash of a picked file, comes from the old version's files too.
    await page.getByLabel("Model file").setInputFiles(TINY);
    await modelReady(page);
    await page.getByLabel("Task file").setInputFiles(rowsFile());
    await taskReady(page, 30);
    await run(page);
  });
  const link = await linkOf(page);
  assert.equal(decode(link).engine_version, HERE);

  await t.test("the new version does not go on with a run that the old one began", async () => {
    await second.reload();
    await history(second).getByRole("button", { name: /^Go on/ }).first().click();
    await history(second).getByRole("alert").getByText(`engine ${HERE} began this run and this is ${NEXT}`).waitFor();
  });

  await t.test("a run of the old version that is opened again is still the old version's", async () => {
    await history(second).getByRole("button", { name: /^Open: .*spiders\.jsonl/ }).first().click();
    assert.equal(decode(await linkOf(second)).engine_version, HERE);
  });

  await t.test("the old version's link has the same picks and other bits on the new one", async () => {
    const claimed = decode(link);
    claimed.model.url = "models/tiny-llama.gguf";
    claimed.data.rows = ROWS;
    const panel = await openLink(second, encode(site.address, claimed));
    await again(panel);
    await panel.getByText(`Same picks on all 30 docs, other bits: the log-likelihoods differ in their last digits. The link was made by engine ${HERE}, this is ${NEXT}.`).waitFor({ timeout: 60_000 });
    const made = decode(await linkOf(second));
    assert.equal(made.engine_version, NEXT);
    assert.notEqual(made.outcome.loglikelihood_digest, claimed.outcome.loglikelihood_digest);
  });

  await t.test("and the new version's own link is reproduced to the last bit", async () => {
    const own = decode(await linkOf(second));
    own.data.rows = ROWS;
    const panel = await openLink(second, encode(site.address, own));
    await again(panel);
    await panel.getByText(/^Reproduced bit for bit/).waitFor({ timeout: 60_000 });
  });
});
