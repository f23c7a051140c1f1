// The benchmark: our engine in headless Chromium against its peers on the same file, in one run, in turn, medians.
//
// In: `node bench.mjs [--quick] [--only gemm] [--rounds N] [--out FILE]`; models in ../../.models (or EVALTAB_MODELS), wasm in ../../web/src/wasm.
// Out: a table on the output, JSON where --out says. Native peers (torch, lm-eval) are `native.py`, see README.md.

import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../..");
const require = createRequire(path.join(root, "web/package.json"));
const { chromium } = require("playwright-core");
const { values: options } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", default: "" }, rounds: { type: "string" }, out: { type: "string" } },
});
const isQuick = options.quick;
const modelsFolder = process.env.EVALTAB_MODELS ?? path.join(root, ".models");
const sharedFolder = process.env.EVALTAB_SHARED ?? path.join(root, "../shared");
const onnxFolder = path.join(modelsFolder, "onnx");
const folders = { "/onnx/": onnxFolder, "/peer/": path.join(here, "node_modules/onnxruntime-web/dist"), "/data/": path.join(sharedFolder, "data"), "/wasm/": path.join(root, "web/src/wasm"), "/models/": modelsFolder, "/wllama/": path.join(here, "node_modules/@wllama/wllama/esm"), "/": here };
const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const server = http.createServer((request, response) => {
  const address = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  const prefix = Object.keys(folders).find((p) => address.startsWith(p));
  const file = path.join(folders[prefix], path.normalize("/" + address.slice(prefix.length)));
  if (!fs.existsSync(file) || !fs.statSync(file).isFile()) return response.writeHead(404).end();
  response.writeHead(200, {
    "content-type": types[path.extname(file)] ?? "application/octet-stream",
    "content-length": fs.statSync(file).size,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  fs.createReadStream(file).pipe(response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
const page = await browser.newPage();
page.setDefaultTimeout(1_200_000);
await page.goto(`http://127.0.0.1:${server.address().port}/page.html`);
await page.waitForFunction(() => window.isReady === true);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const results = [];

/** Runs measurements in turn, `rounds` times, and keeps the median of all values of each. */
async function inTurn(group, unit, measurements, rounds) {
  if (!group.toLowerCase().includes(options.only.toLowerCase())) return;
  const values = new Map(measurements.map(([name]) => [name, []]));
  for (let round = 0; round < Number(options.rounds ?? rounds); round++) {
    for (const [name, body] of measurements) {
      const answer = await body().catch((e) => ({ error: e.message.split("\n")[0] }));
      if (answer.error) console.error(`${group}: ${name}: ${answer.error}`);
      else values.get(name).push(...answer.values);
    }
  }
  for (const [name, all] of values) {
    if (all.length === 0) continue;
    const row = { group, name, unit, median: median(all), min: Math.min(...all), max: Math.max(...all), n: all.length };
    results.push(row);
    console.log(`| ${group} | ${name} | ${row.median.toPrecision(3)} ${unit} | ${row.min.toPrecision(3)} to ${row.max.toPrecision(3)} |`);
  }
}

// Several repeats: for the first second or two the browser still compiles, on the cores that are measured.
const ours = (request) => () => page.evaluate((r) => window.measure(r), { repeats: 5, n_threads: 1, ...request });
const ort = (request) => () => page.evaluate((r) => window.ort(r), { repeats: 5, n_threads: 1, ...request });
const wllama = (request) => () => page.evaluate((r) => window.wllama(r), { repeats: 1, n_threads: 1, ...request });

console.log(`${os.cpus()[0]?.model.trim()}, ${os.cpus().length} processors, ${browser.version()}, load ${os.loadavg()[0].toFixed(1)}\n`);
console.log("| what | who | median | range |\n|---|---|---|---|");

const shapes = [["Q4_1", 576, 1536], ["Q5_0", 896, 4864], ["Q8_0", 896, 4864], ["Q6_K", 4864, 896], ["Q4_K", 4864, 896]];
await inTurn("GEMM, 256 rows", "GMAC/s", [
  ["peak of dot + add", ours({ what: "peak", repeats: 3 })],
  ...shapes.map(([kind, n_in, n_out]) => [`${kind} ${n_in}→${n_out}`, ours({ what: "gemm", of: { kind, rows: 256, n_in, n_out }, repeats: 3 })]),
], 3);

for (const [label, model] of [["SmolLM2-135M Q4_1", "SmolLM2-135M-Instruct.Q4_1.gguf"], ["Qwen2.5-0.5B Q4_K_M", "Qwen2.5-Coder-0.5B-Instruct.Q4_K_M.gguf"]]) {
  if (!fs.existsSync(path.join(modelsFolder, model))) {
    console.error(`skipped: ${model} is not in ${modelsFolder}`);
    continue;
  }
  const onnx = model.replace(/gguf$/, "q8.onnx");
  await inTurn(`load, ${label}`, "ms", [
    ["reading the bytes", ours({ what: "read", model, repeats: 2 })],
    ["ours, ready to score", ours({ what: "load", model, repeats: 2 })],
  ], 2);
  for (const n_tokens of isQuick ? [128] : [128, 512]) {
    await inTurn(`prefill ${n_tokens}, ${label}`, "tokens/s", [
      ["ours, 1 thread", ours({ what: "own", model, n_tokens })],
      ["ours, float32, 1 thread", ours({ what: "own", model, n_tokens, float32: true, repeats: 2 })],
      ["ours, 2 threads", ours({ what: "own", model, n_tokens, n_threads: 2 })],
      ...(fs.existsSync(path.join(onnxFolder, onnx)) ? [["onnxruntime-web 1.30 q8, 1 thread", ort({ file: onnx, n_tokens })], ["onnxruntime-web 1.30 q8, 2 threads", ort({ file: onnx, n_tokens, n_threads: 2 })]] : []),
      ...(n_tokens === 128 && !isQuick ? [["stock candle, 1 thread", ours({ what: "stock", model, n_tokens: 32, repeats: 1 })]] : []),
      ...(n_tokens === 128 && !isQuick ? [["wllama 2.4, 1 thread", wllama({ model, n_tokens })], ["wllama 2.4, 2 threads", wllama({ model, n_tokens, n_threads: 2 })]] : []),
    ], isQuick ? 1 : n_tokens === 128 ? 3 : 2);
  }
}

// The cost of one item by its length, and whole tasks as the page runs them.
const TASKS = [
  ["HellaSwag 0-shot, 100 docs", { data: "hellaswag.jsonl", settings: { preset: "hellaswag" } }],
  ["MMLU 0-shot, 228 docs", { data: "mmlu.jsonl", settings: { preset: "mmlu" } }],
  ["MMLU 5-shot, 228 docs", { data: "mmlu.jsonl", fewshot: "mmlu_dev_fewshot.jsonl", settings: { preset: "mmlu", num_fewshot: 5 } }],
];
if (!isQuick) {
  const model = "SmolLM2-135M-Instruct.Q4_1.gguf";
  await inTurn("one item, SmolLM2-135M Q4_1", "ms", [16, 32, 64, 128, 256, 512, 1024].map((n_tokens) => [`${n_tokens} tokens`, ours({ what: "item", model, n_tokens, repeats: 3 })]), 1);
  for (const [name, task] of fs.existsSync(folders["/data/"]) ? TASKS : []) {
    await inTurn(`whole task, SmolLM2-135M Q4_1, ${name}`, "s", [["ours, 2 threads", ours({ what: "task", model, of: task, n_threads: 2, repeats: 1 })]], 2);
  }
}

await browser.close();
server.close();
if (options.out) fs.writeFileSync(options.out, JSON.stringify({ machine: os.cpus()[0]?.model, n_processors: os.cpus().length, chromium: browser.version(), results }, null, 2));
