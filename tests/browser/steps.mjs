// The steps that tests of links and sources go through: choose a model, choose rows, run, make a link, open it.
//
// In: pages of harness.mjs. Controls are found by their labels.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { path } from "./harness.mjs";

export const MODELS = path("tests/fixtures/models");
export const TINY = `${MODELS}/tiny-llama.gguf`;
export const SITE = path("web/dist/index.html");

/** `n` four-choice rows of our own; 30 are enough for a quick check to be a part of them. */
export const rowsOf = (n, what = "spiders") =>
  Array.from({ length: n }, (_, i) => `${JSON.stringify({ question: `How many legs have ${i + 1} ${what}?`, choices: [0, 1, 2, 3].map((j) => String(8 * (i + 1) + j)), answer: 0 })}\n`).join("");
export const ROWS = rowsOf(30);
export const rowsFile = (text = ROWS, name = "spiders.jsonl") => ({ name, mimeType: "application/jsonl", buffer: Buffer.from(text) });

export const step = (page, name) => page.getByRole("region", { name });
export const history = (page) => page.getByRole("region", { name: "Runs and files" });
export const incoming = (page) => page.getByRole("region", { name: "A run that was sent to you" });

export async function chooseByAddress(page, region, label, address) {
  const field = page.getByLabel(label);
  if (!(await field.isVisible())) await step(page, region).getByText("From an address").click();
  await field.fill(address);
  await step(page, region).locator("form").filter({ has: field }).getByRole("button", { name: "Open", exact: true }).click();
}

/** Also: the one reload that makes the page isolated is over. */
export const offlineReady = (page) => page.getByText("This page works without a network now.").waitFor({ timeout: 120_000 });

export const modelReady = (page) => step(page, /Model/).getByText(/^llama, /).waitFor({ timeout: 60_000 });
export const taskReady = (page, n, nRows = n) => step(page, /Task/).getByText(`${n} docs of ${nRows} rows`).waitFor({ timeout: 60_000 });

export async function run(page) {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await step(page, /Run/).getByText("Finished", { exact: true }).waitFor({ timeout: 120_000 });
}

/** `n` rows that take their time: long questions that share no beginning. */
export const slowRows = (n) =>
  Array.from({ length: n }, (_, i) => `${JSON.stringify({ question: `${i} ${`said spider ${i} to beetle ${n - i}; `.repeat(9)}how many legs?`, choices: ["six", "eight", "ten", "none"], answer: i % 4 })}\n`).join("");

/** Starts a run and pauses it as soon as the page shows that something was scored: in the page, before the run can end. */
export async function runAndPause(page) {
  await page.evaluate(() => {
    const look = () => {
      const pause = [...document.querySelectorAll("button")].find((button) => button.textContent === "Pause");
      if (pause === undefined || document.querySelectorAll("[role=grid] [role=row]").length < 2) return;
      observer.disconnect();
      pause.click();
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await step(page, /Run/).getByText("Paused", { exact: true }).waitFor({ timeout: 60_000 });
}

export async function linkOf(page) {
  await page.getByRole("button", { name: "Make a link" }).click();
  return page.getByLabel("Link", { exact: true }).inputValue();
}

export const decode = (link) => JSON.parse(inflateRawSync(Buffer.from(link.split("#run=1.")[1], "base64url")));
export const encode = (address, run) => `${address}#run=1.${deflateRawSync(JSON.stringify(run)).toString("base64url")}`;

/** Opens a link in a page that may be anywhere, as from a mail. */
export async function openLink(page, link) {
  await page.goto("about:blank");
  await page.goto(link);
  await incoming(page).getByText("claimed, not verified").waitFor();
  return incoming(page);
}

export const again = (panel) => panel.getByRole("button", { name: "Run again and compare" }).click();

/** Runs a link's run again and waits for the best of verdicts. */
export async function reproduced(page, link) {
  const panel = await openLink(page, link);
  await again(panel);
  await panel.getByText(/^Reproduced bit for bit/).waitFor({ timeout: 120_000 });
}

/** Removes the files that the page keeps, as a person does who clears the site's data. The browser refuses while one is being written. */
export async function forgetFiles(page) {
  await page.waitForFunction(async () => {
    const root = await navigator.storage.getDirectory();
    return root.removeEntry("evaltab", { recursive: true }).then(() => true, (error) => error.name === "NotFoundError");
  }, null, { polling: 100 });
}
