// A worker of the page: the engine, the analysis or the hash, by its name.
//
// In: requests of protocol.ts, one after another. Out: replies and events. The engine's module is loaded once, at the first
// request; requests are handled as they come, so a pause is heard while a run goes on.

import { WORKER_DIED, type EvalErrorLike, type Reply } from "./protocol.ts";

declare const self: DedicatedWorkerGlobalScope;

type Handlers = Record<string, (...args: never[]) => unknown>;

async function handlersFor(name: string): Promise<Handlers> {
  const post = (event: string, data: unknown): void => self.postMessage({ event, data });
  switch (name) {
    case "engine":
      return { ...(await (await import("./engine.ts")).engineCalls(post)) };
    case "analysis":
      return { ...(await (await import("./analysis.ts")).analysisCalls(post)) };
    case "hash":
      return { ...(await (await import("./hash.ts")).hashCalls()) };
    default:
      throw new Error(`there is no worker named ${JSON.stringify(name)}`);
  }
}

const handlers = handlersFor(self.name);

self.addEventListener("message", async ({ data }: MessageEvent<{ id: number; call: string; args: unknown[] }>) => {
  const reply = (result: Reply["result"]): void => self.postMessage({ id: data.id, result } satisfies Reply);
  try {
    const handler = (await handlers)[data.call];
    if (handler === undefined) throw new Error(`there is no call ${JSON.stringify(data.call)}`);
    reply({ ok: true, value: await handler(...(data.args as never[])) });
  } catch (error) {
    reply({ ok: false, error: evalError(error) });
  }
});

/** The engine throws `EvalError`s as plain objects; a trap, such as at the end of memory, leaves a module that cannot go on. */
function evalError(error: unknown): EvalErrorLike {
  if (typeof error === "object" && error !== null && "kind" in error && "message" in error) return error as EvalErrorLike;
  if (error instanceof WebAssembly.RuntimeError) return { kind: WORKER_DIED, place: null, message: error.message };
  return { kind: "internal", place: null, message: error instanceof Error ? error.message : String(error) };
}
