// A helper thread of the engine: joins the pool at `pool` in the shared memory and works until the model is gone.
addEventListener("message", async ({ data: { module, memory, pool } }) => {
  const js = await import("/wasm/evaltab_threads.js");
  js.initSync({ module, memory, thread_stack_size: 1 << 20 });
  postMessage("ready");
  js.serve_thread(pool);
});
