// One measurement in a worker of its own, so that every engine starts with a fresh memory and ends with its thread.
// In: {what, model (Blob), n_tokens, of (a product or a task), n_threads, repeats, float32}. Out: {values} in the unit that `what` has, or {error}.

/** The module, one memory for all threads where there is more than one. */
async function engine(n_threads) {
  const name = n_threads > 1 ? "evaltab_threads" : "evaltab";
  const js = await import(`/wasm/${name}.js`);
  const module = await WebAssembly.compileStreaming(fetch(`/wasm/${name}_bg.wasm`));
  if (n_threads === 1) {
    js.initSync({ module });
    return { js, start: () => undefined };
  }
  const memory = new WebAssembly.Memory({ initial: 512, maximum: 65536, shared: true });
  js.initSync({ module, memory, thread_stack_size: 1 << 20 });
  // A nested worker starts only while its parent waits, so all of them have to be there before anything is timed.
  const start = (model) =>
    Promise.all(Array.from({ length: n_threads - 1 }, () => new Promise((resolve) => {
      const thread = new Worker("/thread.js", { type: "module" });
      thread.addEventListener("message", resolve);
      thread.postMessage({ module, memory, pool: model.thread_pool() });
    })));
  return { js, start };
}

function sourceOf(blob) {
  const reader = new FileReaderSync();
  return { size: blob.size, read: (at, n) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(at, at + n))) };
}

function load(js, blob, path, n_threads) {
  const loader = new js.ModelLoader(sourceOf(blob), "model.gguf", path, n_threads);
  while (!loader.step().done);
  return loader.finish();
}

const timed = async (body) => {
  const start = performance.now();
  await body();
  return performance.now() - start;
};

async function measure({ what, model, n_tokens, of, n_threads, repeats, float32 }) {
  const values = [];
  if (what === "read") {
    // The same bytes into memory, in the chunks that the loader takes.
    const source = sourceOf(model);
    const all = new Uint8Array(model.size);
    for (let i = 0; i < repeats; i++) {
      values.push(await timed(() => {
        for (let at = 0; at < model.size; at += 4 << 20) all.set(source.read(at, Math.min(4 << 20, model.size - at)), at);
      }));
    }
    return values;
  }
  const { js, start } = await engine(n_threads);
  if (what === "gemm") {
    const bench = new js.BenchProduct(of.kind, of.rows, of.n_in, of.n_out, float32 === true);
    for (let i = 0; i < repeats; i++) {
      const ms = await timed(() => { for (let j = 0; j < 10; j++) bench.run(); });
      values.push((10 * of.rows * of.n_in * of.n_out) / ms / 1e6);
    }
    return values;
  }
  if (what === "peak") {
    for (let i = 0; i < repeats; i++) {
      const ms = await timed(() => js.bench_peak(500_000));
      values.push((500_000 * js.bench_peak_macs()) / ms / 1e6);
    }
    return values;
  }
  if (what === "load") {
    for (let i = 0; i < repeats; i++) {
      let loaded;
      values.push(await timed(() => { loaded = load(js, model, "own", 1); }));
      loaded.free();
    }
    return values;
  }
  const loaded = load(js, model, what === "stock" ? "stock" : "own", n_threads);
  await start(loaded);
  // As with the peers, the first run allots the buffers and lets the browser finish compiling.
  loaded.bench_prefill(what === "task" ? 8 : n_tokens, 1, float32 === true);
  if (what === "task") {
    const { data, fewshot, settings } = of;
    const bytes = async (name) => new Uint8Array(await (await fetch(`/data/${name}`)).arrayBuffer());
    const task = new js.Task(data, await bytes(data), fewshot, fewshot && (await bytes(fewshot)));
    for (let i = 0; i < repeats; i++) {
      values.push(await timed(() => {
        const run = new js.Run(loaded, task, { ...js.default_run_spec(), ...settings });
        while (run.step().phase !== "done");
        run.free();
      }) / 1000);
    }
    return values;
  }
  if (what === "item") {
    for (let i = 0; i < repeats; i++) values.push(await timed(() => loaded.bench_prefill(n_tokens, 1, float32 === true)));
    return values;
  }
  for (let i = 0; i < repeats; i++) {
    const ms = await timed(() => loaded.bench_prefill(n_tokens, 1, float32 === true));
    values.push((1000 * n_tokens) / ms);
  }
  return values;
}

addEventListener("message", async ({ data }) => {
  try {
    postMessage({ values: await measure(data) });
  } catch (e) {
    postMessage({ error: e.message ?? String(e) });
  }
});
