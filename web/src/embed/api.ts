// What evaltab.js offers to other pages; the build puts these types beside it as evaltab.d.ts.
//
// In: nothing. Out: types only. The functions themselves are in evaltab.ts, which is held to these signatures.

import type { FailedItem, ItemScore, Report, ReportOptions, RunSpec, Unscored } from "../types.ts";

/** Loads a GGUF model; a split one by the address of one of its parts, or by all of its files. Resolves when it is ready; a model is freed by `close()`, and two at once may not fit into memory. */
export declare function loadModel(source: Source | readonly File[], options?: LoadOptions): Promise<LoadedModel>;

/** Scores every row of `data` by the model. One evaluation at a time on one model. */
export declare function evaluate(model: LoadedModel, data: Source | readonly object[], options?: EvaluateOptions): Promise<Evaluation>;

/** An address, relative to the calling page or absolute (the host must allow cross-origin requests), or the bytes themselves. */
export type Source = string | URL | File | Blob;

export interface LoadOptions {
  /** Told while bytes arrive; not for a file of this machine or from the cache. */
  onProgress?: (progress: { n_bytes_done: number; n_bytes_total: number | null; bytes_per_second: number }) => void;
  /** Refuses other bytes. */
  sha256?: string;
  /** Aborting rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface LoadedModel {
  readonly name: string;
  /** llama, qwen2 … */
  readonly architecture: string;
  readonly n_params: number;
  /** Tokens. */
  readonly n_ctx: number;
  readonly sha256: string;
  /** Frees the model and its worker. */
  close(): void;
}

export interface EvaluateOptions {
  /** Settings that differ from the page's defaults; the task is recognised from the rows unless `preset` or `task_yaml` says it. */
  spec?: Partial<RunSpec>;
  /** Rows of few-shot examples. */
  fewshot?: Source | readonly object[];
  /** How the report looks at the items: rule, bins, temperature. */
  report?: Partial<ReportOptions>;
  onProgress?: (progress: { n_done: number; n_total: number; tokens_per_second: number | null }) => void;
  /** Aborting stops the run after the batch under way and rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface Evaluation {
  report: Report;
  /** In data order. */
  items: ItemScore[];
  failed: FailedItem[];
  /** Rows that are no doc, and why. */
  unscored: Unscored[];
  results_json: string;
  samples_jsonl: string;
  /** "#run=…" to put behind the evaluation page's address; null where the run is too long for a link. */
  link: string | null;
}

/** What the functions reject with, but for aborts. */
export interface EvaltabError extends Error {
  /** What to branch on. */
  kind: string;
  /** A line, field, tensor or address. */
  place: string | null;
}
