// A helper thread of the engine: shares its memory and works for a model's pool as long as it lives.

import { initSync, serve_thread } from "../wasm/evaltab_threads.js";

declare const self: DedicatedWorkerGlobalScope;

/** What a helper needs to join; `alarm` gets a one where it dies. */
export interface Joining {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  pool: number;
  alarm: SharedArrayBuffer;
}

self.addEventListener("message", ({ data: { module, memory, pool, alarm } }: MessageEvent<Joining>) => {
  try {
    initSync({ module, memory });
    serve_thread(pool);
  } catch {
    // The engine waits for this thread's part and hears no message meanwhile; the page looks here.
    Atomics.store(new Int32Array(alarm), 0, 1);
  }
});
