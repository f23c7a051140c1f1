// The engine's module in this worker: with shared memory and helper threads where the page is isolated, else with one thread.
//
// In: how many threads are wanted. Out: the module, and how helpers join a model. Both builds hold the same code.

import * as single from "../wasm/evaltab.js";
import type { Joining } from "./thread.ts";

/** Both builds have this; they differ in how they start. */
export type Module = Omit<typeof single, "default" | "initSync" | "start">;

export interface Loaded {
  module: Module;
  n_threads: number;
  /** Starts a helper thread that works for a model's pool until the worker ends; null with one thread. */
  startHelper: ((pool: number, alarm: SharedArrayBuffer) => void) | null;
}

export async function loadModule(nThreads: number): Promise<Loaded> {
  if (nThreads > 1 && globalThis.crossOriginIsolated) {
    const threads = await import("../wasm/evaltab_threads.js");
    const module = await WebAssembly.compileStreaming(fetch(new URL("../wasm/evaltab_threads_bg.wasm", import.meta.url)));
    const { memory } = threads.initSync({ module });
    const startHelper = (pool: number, alarm: SharedArrayBuffer): void => {
      new Worker(new URL("./thread.ts", import.meta.url), { type: "module" }).postMessage({ module, memory, pool, alarm } satisfies Joining);
    };
    return { module: threads, n_threads: nThreads, startHelper };
  }
  await single.default({ module_or_path: new URL("../wasm/evaltab_bg.wasm", import.meta.url) });
  return { module: single, n_threads: 1, startHelper: null };
}
