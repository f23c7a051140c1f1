// A helper thread of the engine: shares its memory and works for a model's pool as long as it lives.

import { initSync, serve_thread } from "../wasm/evaltab_threads.js";

declare const self: DedicatedWorkerGlobalScope;

self.addEventListener("message", ({ data }: MessageEvent<{ module: WebAssembly.Module; memory: WebAssembly.Memory; pool: number }>) => {
  initSync({ module: data.module, memory: data.memory });
  serve_thread(data.pool);
});
