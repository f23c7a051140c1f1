// evaltab as a module for other pages: load a model, evaluate it on rows, get the report. Signatures and types: api.ts.
//
// In: addresses, files, rows. Out: the same report, items and files as the page's. Work is done in the same workers; models and
// data that come by address stay in the same cache, and runs in the same history, of the site that the module is served from.
// Serve the module from the calling page's own site: browsers start no worker from another one.
//
//   import { loadModel, evaluate } from "./evaltab.js";
//   const model = await loadModel("models/SmolLM2-135M-Instruct.Q4_1.gguf");
//   const { report } = await evaluate(model, [{ question: "2 + 2 = ?", choices: ["3", "4"], answer: 1 }]);

import { DEFAULT_OPTIONS, DEFAULT_SPEC } from "../defaults.ts";
import type { Result } from "../result.ts";
import { openCache, type FileCache } from "../sources/cache.ts";
import { pinHubUrl } from "../sources/hub.ts";
import { downloadModel, pinModelUrl, withHashes } from "../sources/model.ts";
import { rowsOf, toJsonLines } from "../sources/rows.ts";
import { rowsFromUrl } from "../sources/rows_by_url.ts";
import { fromFile, modelsAmong, partsOf, type SourceFile } from "../sources/source_file.ts";
import type { FailedItem, ItemScore, Unscored } from "../types.ts";
import { startAnalysis, startEngine, startHash, type WorkerHandle } from "../worker/client.ts";
import type { EngineCalls, EvalErrorLike, NamedBytes, RunMessage, RunProgress } from "../worker/protocol.ts";
import type * as api from "./api.ts";

class EvaltabError extends Error implements api.EvaltabError {
  readonly kind: string;
  readonly place: string | null;

  constructor({ kind, place, message }: EvalErrorLike) {
    super(place === null ? message : `${place}: ${message}`);
    this.name = "EvaltabError";
    this.kind = kind;
    this.place = place;
  }
}

/** The value, or its error thrown: callers of a module expect exceptions. */
function valueOf<T>(result: Result<T, EvalErrorLike>): T {
  if (!result.ok) throw new EvaltabError(result.error);
  return result.value;
}

/** What stands behind a `LoadedModel`. */
interface Engine {
  worker: WorkerHandle<EngineCalls>;
  url: string | null;
  onProgress: ((progress: RunProgress) => void) | undefined;
}

const engines = new WeakMap<api.LoadedModel, Engine>();

let cache: Promise<FileCache> | null = null;

export const loadModel: typeof api.loadModel = async (source, options = {}) => {
  const file = await modelFile(source, options);
  const sha256 = file.sha256 ?? (await hashed(file)).sha256 ?? "";
  if (options.sha256 !== undefined && options.sha256 !== sha256) {
    throw new EvaltabError({ kind: "hash", place: file.name, message: `the bytes have sha256 ${sha256}, expected ${options.sha256}` });
  }
  const engine: Engine = {
    worker: startEngine({ loading: () => undefined, prepared: () => undefined, progress: (progress) => engine.onProgress?.(progress) }),
    url: file.url,
    onProgress: undefined,
  };
  const blobs = await Promise.all(partsOf(file).map((part) => part.blob()));
  const loaded = await engine.worker.call.loadModel(blobs, file.name, DEFAULT_SPEC.engine);
  if (!loaded.ok || options.signal?.aborted === true) engine.worker.close();
  options.signal?.throwIfAborted();
  const { architecture, n_params, n_ctx } = valueOf(loaded);
  const model: api.LoadedModel = { name: file.name, architecture, n_params, n_ctx, sha256, close: () => engine.worker.close() };
  engines.set(model, engine);
  return model;
};

export const evaluate: typeof api.evaluate = async (model, data, options = {}) => {
  const engine = engines.get(model);
  if (engine === undefined) throw new EvaltabError({ kind: "run_spec", place: "model", message: "this is no model that loadModel gave" });
  const rows = await rowsFrom(data, "rows.jsonl", options);
  const fewshot = options.fewshot === undefined ? null : await rowsFrom(options.fewshot, "fewshot.jsonl", options);
  const { call } = engine.worker;
  valueOf(await call.setTask(rows.file, fewshot?.file ?? null));
  // Messages take two ways to the analysis: only its own word tells that it has the last item.
  let isAnalysed = (): void => undefined;
  const analysed = new Promise<void>((resolve) => (isAnalysed = resolve));
  const analysis = startAnalysis({ changed: ({ is_complete }) => is_complete && isAnalysed(), notSaved: () => undefined });
  const cancel = (): void => void call.cancel();
  options.signal?.addEventListener("abort", cancel);
  engine.onProgress = options.onProgress;
  try {
    const run = await listen(call, analysis);
    const spec = { ...DEFAULT_SPEC, ...options.spec };
    const provenance = { model_sha256: model.sha256, model_url: engine.url, data_url: rows.url, fewshot_url: fewshot?.url ?? null, machine: navigator.userAgent };
    valueOf(await call.run({ spec, provenance, only: null, rotation: 0, resume: null, scored: null }));
    options.signal?.throwIfAborted();
    await analysed;
    const look = { ...DEFAULT_OPTIONS, ...options.report };
    const report = valueOf(await analysis.call.report(look));
    const link = valueOf(await analysis.call.link(null, null, look));
    return {
      report,
      items: byIndex(run.items),
      failed: byIndex(run.failed),
      unscored: run.unscored,
      results_json: valueOf(await analysis.call.export("results", look)),
      samples_jsonl: valueOf(await analysis.call.export("samples", look)),
      link: link.kind === "link" ? link.fragment : null,
    };
  } finally {
    engine.onProgress = undefined;
    options.signal?.removeEventListener("abort", cancel);
    analysis.close();
  }
};

/** Stands between engine and analysis: keeps the items for the caller and hands every message on. */
async function listen(engine: WorkerHandle<EngineCalls>["call"], analysis: ReturnType<typeof startAnalysis>) {
  const fromEngine = new MessageChannel();
  const toAnalysis = new MessageChannel();
  const run: { items: Map<number, ItemScore>; failed: Map<number, FailedItem>; unscored: Unscored[] } = { items: new Map(), failed: new Map(), unscored: [] };
  fromEngine.port1.onmessage = ({ data }: MessageEvent<RunMessage>) => {
    toAnalysis.port1.postMessage(data);
    if (data.kind === "begin") run.unscored = data.unscored;
    if (data.kind !== "step") return;
    for (const item of data.items) run.items.set(item.index, item);
    for (const failure of data.failed) run.failed.set(failure.index, failure);
  };
  valueOf(await analysis.call.connect(toAnalysis.port2));
  valueOf(await engine.connect(fromEngine.port2, null));
  return run;
}

const byIndex = <T>(values: Map<number, T>): T[] => [...values].sort(([a], [b]) => a - b).map(([, value]) => value);

/** A model by its address through the cache, or the files themselves: several where they are the parts of one. */
async function modelFile(source: api.Source | readonly File[], options: api.LoadOptions): Promise<SourceFile> {
  if (isList(source)) {
    const [model] = valueOf(modelsAmong(source.map(fromFile)));
    if (model === undefined) throw new EvaltabError({ kind: "missing_part", place: null, message: "none of these files is a GGUF" });
    return model;
  }
  if (source instanceof File) return fromFile(source);
  if (source instanceof Blob) return fromFile(new File([source], "model.gguf"));
  const pinned = valueOf(await pinModelUrl(new URL(source, document.baseURI).href, signalOf(options)));
  const request = { url: pinned.url, n_bytes: pinned.n_bytes, sha256: options.sha256 ?? pinned.sha256, parts: pinned.parts };
  const progress = options.onProgress === undefined ? {} : { onProgress: options.onProgress };
  return valueOf(await downloadModel(request, { cache: await (cache ??= openCache()), ...signalOf(options), ...progress }));
}

async function rowsFrom(data: api.Source | readonly object[], name: string, options: Pick<api.EvaluateOptions, "signal">): Promise<{ file: NamedBytes; url: string | null }> {
  if (isList(data)) return { file: { name, bytes: toJsonLines(data) }, url: null };
  if (data instanceof Blob) return { file: valueOf(await rowsOf(fromFile(data instanceof File ? data : new File([data], name)))), url: null };
  const pinned = valueOf(await pinHubUrl(new URL(data, document.baseURI).href, signalOf(options)));
  return { file: valueOf(await rowsFromUrl(pinned, { cache: await (cache ??= openCache()), ...signalOf(options) })), url: pinned.url };
}

const isList = <T>(data: api.Source | readonly T[]): data is readonly T[] => Array.isArray(data);

const signalOf = ({ signal }: { signal?: AbortSignal }): { signal?: AbortSignal } => (signal === undefined ? {} : { signal });

async function hashed(file: SourceFile): Promise<SourceFile> {
  const worker = startHash();
  try {
    const hashes: string[] = [];
    for (const part of partsOf(file)) hashes.push(valueOf(await worker.call.sha256(await part.blob())));
    return withHashes(file, hashes);
  } finally {
    worker.close();
  }
}
