// One measurement of onnxruntime-web: prefill of some tokens by a graph from ids to logits (export_onnx.py).
// In: {file, tokens, n_threads, repeats}. Out: {values} in tokens a second, or {error}.

addEventListener("message", async ({ data: { file, tokens, n_threads, repeats } }) => {
  try {
    const ort = await import("/peer/ort.wasm.min.mjs");
    ort.env.wasm.wasmPaths = new URL("/peer/", location.href).href;
    ort.env.wasm.numThreads = n_threads;
    const session = await ort.InferenceSession.create(`/onnx/${file}`, { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
    const input_ids = new ort.Tensor("int64", BigInt64Array.from(tokens, BigInt), [1, tokens.length]);
    const values = [];
    for (let i = 0; i <= repeats; i++) {
      const start = performance.now();
      await session.run({ input_ids });
      // The first run allots its buffers.
      if (i > 0) values.push((1000 * tokens.length) / (performance.now() - start));
    }
    postMessage({ values });
  } catch (e) {
    postMessage({ error: e.message ?? String(e) });
  }
});
