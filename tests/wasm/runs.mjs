// What the tests of the built module share: loading it, running a task with it, and the native command's run of the same.
//
// In: the module that `cargo xtask build` left in web/src/wasm, the fixture models. Out: the two files of a run, as text.

import { execFileSync } from "node:child_process";
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const path = (name) => join(ROOT, name);

/** The compiled module and its JavaScript; `name` is `evaltab` or `evaltab_threads`. */
export async function loaded(name) {
  const module = new WebAssembly.Module(readFileSync(path(`web/src/wasm/${name}_bg.wasm`)));
  const evaltab = await import(path(`web/src/wasm/${name}.js`));
  const { memory } = evaltab.initSync({ module });
  return { evaltab, module, memory };
}

/** A model from a file, read in pieces as the page reads a Blob. */
export function loadModel(evaltab, file, n_threads = 1) {
  const descriptor = openSync(file, "r");
  try {
    const source = {
      size: fstatSync(descriptor).size,
      read(offset, length) {
        const bytes = new Uint8Array(length);
        return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
      },
    };
    const loader = new evaltab.ModelLoader(source, basename(file), "auto", n_threads);
    while (!loader.step().done);
    return loader.finish();
  } finally {
    closeSync(descriptor);
  }
}

/** Runs the task in `file` to its end; `settings` differ from the default RunSpec. */
export function runTask(evaltab, model, file, settings = {}) {
  const task = new evaltab.Task(basename(file), readFileSync(file));
  const run = new evaltab.Run(model, task, { ...evaltab.default_run_spec(), ...settings });
  while (run.step().phase !== "done");
  const options = evaltab.default_report_options();
  const files = { results: JSON.parse(run.results_json(options)), samples: run.samples_jsonl() };
  run.free();
  task.free();
  return files;
}

/** The native command's two files for the same. */
export function runNatively(model, file, settings = {}) {
  const out = mkdtempSync(join(tmpdir(), "evaltab-"));
  try {
    const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${JSON.stringify(value)}`]);
    const args = ["run", "--quiet", "--package", "evaltab", "--", "--model", model, "--data", file, "--out", out, ...set];
    execFileSync("cargo", args, { cwd: ROOT, stdio: ["ignore", "ignore", "pipe"] });
    return { results: JSON.parse(readFileSync(join(out, "results.json"), "utf8")), samples: readFileSync(join(out, "samples.jsonl"), "utf8") };
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** Starts a worker that shares the module's memory and works for the pool; resolves when it has ended. */
export function helper({ module, memory }, pool) {
  const worker = new Worker(new URL("./helper.mjs", import.meta.url), { workerData: { module, memory, pool } });
  return new Promise((resolve, reject) => worker.once("error", reject).once("exit", resolve));
}
