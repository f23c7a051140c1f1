// A helper thread: joins the module's memory and works for a model's engine until the model is gone.

import { workerData } from "node:worker_threads";
import { initSync, serve_thread } from "../../web/src/wasm/evaltab_threads.js";

const { module, memory, pool } = workerData;
initSync({ module, memory, thread_stack_size: 1 << 20 });
serve_thread(pool);
