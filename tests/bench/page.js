// What the driver calls in the page: `measure(request)` in a worker of ours, `wllama(request)` with the peer.

const models = new Map();
async function blob(name) {
  if (!models.has(name)) models.set(name, await (await fetch(`/models/${name}`)).blob());
  return models.get(name);
}

window.measure = async (request) => {
  const model = request.model ? await blob(request.model) : new Blob([]);
  const worker = new Worker("/worker.js", { type: "module" });
  const answer = await new Promise((resolve) => {
    worker.addEventListener("message", ({ data }) => resolve(data));
    worker.addEventListener("error", (e) => resolve({ error: e.message }));
    worker.postMessage({ ...request, model });
  });
  worker.terminate();
  return answer;
};

window.wllama = async ({ model, n_tokens, n_threads, repeats }) => {
  const { Wllama } = await import("/wllama/index.js");
  const peer = new Wllama({ "single-thread/wllama.wasm": "/wllama/single-thread/wllama.wasm", "multi-thread/wllama.wasm": "/wllama/multi-thread/wllama.wasm" }, { suppressNativeLog: true });
  await peer.loadModel([await blob(model)], { n_ctx: 1024, n_batch: 512, n_threads });
  const tokens = Array.from({ length: n_tokens }, (_, i) => Math.imul(i, 2654435761) >>> 0).map((t) => 300 + (t % 40000));
  const values = [];
  await peer.decode(tokens.slice(0, 8), {});
  for (let i = 0; i < repeats; i++) {
    await peer.kvClear();
    const start = performance.now();
    await peer.decode(tokens, {});
    values.push((1000 * n_tokens) / (performance.now() - start));
  }
  await peer.exit();
  return { values };
};
window.isReady = true;
