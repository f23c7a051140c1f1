// The page's end of a worker: calls become promises of results, events go to handlers.
//
// In: a worker that was started. Out: one async function per call of its interface. Nothing here rejects: an error is a value.

import type { Result } from "../result.ts";
import { WORKER_DIED, type AnalysisCalls, type AnalysisEvents, type EngineCalls, type EngineEvents, type EvalErrorLike, type Event, type HashCalls, type Reply } from "./protocol.ts";

export type Client<Calls> = {
  [K in keyof Calls]: Calls[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Result<R, EvalErrorLike>> : never;
};
export type Handlers<Events> = { [K in keyof Events]: (data: Events[K]) => void };

export interface WorkerHandle<Calls> {
  call: Client<Calls>;
  /** It failed in a way that it cannot recover from; what is asked of it from now on fails too. */
  isDead(): boolean;
  /** Gives it up: whoever waits learns why. */
  fail(message: string): void;
  close(): void;
}

const startWorker = (name: string): Worker => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name });

export const startEngine = (handlers: Handlers<EngineEvents>): WorkerHandle<EngineCalls> => clientOf<EngineCalls, EngineEvents>(startWorker("engine"), handlers);
export const startAnalysis = (handlers: Handlers<AnalysisEvents>): WorkerHandle<AnalysisCalls> =>
  clientOf<AnalysisCalls, AnalysisEvents>(startWorker("analysis"), handlers);
export const startHash = (): WorkerHandle<HashCalls> => clientOf<HashCalls, Record<never, never>>(startWorker("hash"), {});

export function clientOf<Calls extends object, Events extends object>(worker: Worker, handlers: Handlers<Events>): WorkerHandle<Calls> {
  const waiting = new Map<number, (result: Result<unknown, EvalErrorLike>) => void>();
  let n = 0;
  let death: EvalErrorLike | null = null;
  const die = (error: EvalErrorLike): void => {
    death ??= error;
    for (const resolve of waiting.values()) resolve({ ok: false, error });
    waiting.clear();
  };
  const fail = (message: string): void => die({ kind: WORKER_DIED, place: null, message });
  worker.addEventListener("message", ({ data }: MessageEvent<Reply | Event<Events>>) => {
    if ("event" in data) {
      handlers[data.event](data.data);
      return;
    }
    waiting.get(data.id)?.(data.result);
    waiting.delete(data.id);
    if (!data.result.ok && data.result.error.kind === WORKER_DIED) die(data.result.error);
  });
  // The script could not be loaded, or the engine's memory ran out: whoever waits has to learn it.
  worker.addEventListener("error", (event) => fail(event.message || "the worker stopped"));
  const send = (call: string, args: unknown[]): Promise<Result<unknown, EvalErrorLike>> =>
    new Promise((resolve) => {
      if (death !== null) return resolve({ ok: false, error: death });
      n += 1;
      waiting.set(n, resolve);
      worker.postMessage({ id: n, call, args }, args.filter((arg) => arg instanceof MessagePort));
    });
  // Every property is a call by that name: the types above say which there are.
  const call = new Proxy({}, { get: (_, name) => (...args: unknown[]) => send(String(name), args) }) as Client<Calls>;
  return { call, isDead: () => death !== null, fail, close: () => worker.terminate() };
}
