// What the browser tests share: the site as `cargo xtask start` serves it, Chromium, and a page that tells its errors.
//
// In: web/dist; Chromium at $CHROMIUM or /usr/bin/chromium. Where one of them or a model is missing, a test is skipped and
// says why. Out: Playwright pages, closed with the test. Controls are found by their labels, as a person finds them.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const path = (name) => join(ROOT, name);

const { chromium } = createRequire(path("web/package.json"))("playwright-core");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const MODEL = join(process.env.EVALTAB_MODELS ?? path(".models"), "SmolLM2-135M-Instruct.Q4_1.gguf");
/** A file of the reference material beside the project. */
export const shared = (name) => join(process.env.EVALTAB_SHARED ?? path("../shared"), name);

/** Options of a test that needs Chromium and these files. */
export function needs(...files) {
  const missing = [CHROMIUM, ...files].find((file) => !existsSync(file));
  return { skip: missing === undefined ? false : `${missing} is not here`, timeout: 600_000 };
}

/** The first `n` lines of a file, as a file to drop. */
export function firstLines(file, n) {
  return readFileSync(file, "utf8").split("\n").slice(0, n).join("\n") + "\n";
}

/** Serves the site until the test ends; returns its address. `options` are those of `cargo xtask start`. */
export async function served(t, ...options) {
  const server = spawn("cargo", ["xtask", "start", "--no-build", "--port", "0", ...options], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => server.kill());
  let said = "";
  for await (const piece of server.stdout) {
    said += piece;
    const address = /http:\/\/localhost:\d+\//.exec(said)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error(`the server ended:\n${said}`);
}

/** A browser with a profile of its own, closed with the test. */
export async function browser(t, options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "evaltab-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    acceptDownloads: true,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  t.after(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  });
  return context;
}

/** A page at an address; what it throws or logs as an error is in `errors`. It is evaltab's own, not one that embeds it. */
export async function opened(context, address) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address);
  // On a host without headers the page reloads once, when its service worker has taken over.
  await page.waitForFunction(() => crossOriginIsolated);
  await page.waitForLoadState();
  return { page, errors };
}

/** Drops a file on an element, as a person drags it from a folder. */
export async function drop(locator, name, content) {
  const transfer = await locator.page().evaluateHandle(
    ([name, base64]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      return transfer;
    },
    [name, Buffer.from(content).toString("base64")],
  );
  for (const event of ["dragenter", "dragover", "drop"]) await locator.dispatchEvent(event, { dataTransfer: transfer });
}

/** A file that a click downloads, as bytes and as text. */
export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  const bytes = readFileSync(await download.path());
  return { name: download.suggestedFilename(), bytes, text: bytes.toString("utf8") };
}
