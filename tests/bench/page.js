// What the driver calls in the page: `measure(request)` in a worker of ours, `wllama(request)` and `ort(request)` with a peer.

const models = new Map();
async function blob(name) {
  if (!models.has(name)) models.set(name, await (await fetch(`/models/${name}`)).blob());
  return models.get(name);
}

const tokens = (n) => Array.from({ length: n }, (_, i) => 300 + ((Math.imul(i, 2654435761) >>> 0) % 40000));

/** The answer of a worker that lives for one measurement. */
async function inWorker(script, request) {
  const worker = new Worker(script, { type: "module" });
  const answer = await new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => resolve(data));
    worker.addEventListener("error", (e) => resolve({ error: e.message }));
    worker.postMessage(request);
  });
  worker.terminate();
  return answer;
}

window.measure = async (request) => inWorker("/worker.js", { ...request, model: request.model ? await blob(request.model) : new Blob([]) });

window.wllama = async ({ model, n_tokens, n_threads, repeats }) => {
  const { Wllama } = await import("/wllama/index.js");
  const peer = new Wllama({ "single-thread/wllama.wasm": "/wllama/single-thread/wllama.wasm", "multi-thread/wllama.wasm": "/wllama/multi-thread/wllama.wasm" }, { suppressNativeLog: true });
  await peer.loadModel([await blob(model)], { n_ctx: 1024, n_batch: 512, n_threads });
  const values = [];
  await peer.decode(tokens(n_tokens), {});
  for (let i = 0; i < repeats; i++) {
    await peer.kvClear();
    const start = performance.now();
    await peer.decode(tokens(n_tokens), {});
    values.push((1000 * n_tokens) / (performance.now() - start));
  }
  await peer.exit();
  return { values };
};
// A worker of its own each time: the runtime takes the number of threads once.
window.ort = (request) => inWorker("/ort.js", { ...request, tokens: tokens(request.n_tokens) });
window.isReady = true;
