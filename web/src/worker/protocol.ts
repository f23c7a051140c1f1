// Every message between the page and its workers, typed once.
//
// Two instances of one worker script: the engine (model, task, run) and the analysis (the items of the run that is looked at).
// A call of the page is a request with a number, answered by one reply; what workers say unasked is an event. Items go from the
// engine to the analysis by a port of their own and never through the page: its thread only draws.

import type { Encoded } from "../share/codec.ts";
import type { Verdict } from "../share/verify.ts";
import type { RunLink } from "../share/link.ts";
import type { SavedRun } from "../history/runs.ts";
import type {
  Calibration,
  CalibrationBootstrap,
  Comparison,
  DocView,
  EnginePath,
  EvalError,
  ExportFile,
  FailedItem,
  ItemDetail,
  ItemScore,
  LoadStep,
  ModelInfo,
  Phase,
  Prepared,
  PresetInfo,
  Report,
  ReportOptions,
  RotationReport,
  Rule,
  RunMeta,
  RunSpec,
  SyntheticProfile,
  TaskInfo,
  Unscored,
} from "../types.ts";

export interface NamedBytes {
  name: string;
  bytes: Uint8Array;
}

/** What the page knows of a run and the engine does not. */
export interface Provenance {
  model_sha256: string | null;
  model_url: string | null;
  data_url: string | null;
  fewshot_url: string | null;
  machine: string;
}

export interface EngineInfo {
  version: string;
  n_threads: number;
  presets: PresetInfo[];
}

export interface RunRequest {
  spec: RunSpec;
  provenance: Provenance;
  /** Only these docs, by position among the task's docs; null for all. */
  only: number[] | null;
  /** Choices in an order shifted by so many places: a probe for letter bias. */
  rotation: number;
  /** Goes on with a run that was broken off: its items are not scored again. */
  resume: string | null;
  /** Goes on with the open run, whose engine died after it had scored these. */
  scored: ItemScore[] | null;
}

/** The kind of error after which a worker is of no use any more. */
export const WORKER_DIED = "worker_died";

export type Harness = "lm_eval" | "inspect";

export type RunEnd = "done" | "cancelled";

export interface EngineCalls {
  /** `alarm`: where a helper thread that dies leaves a one, because the engine then waits for it for ever; null where nobody looks. */
  connect(port: MessagePort, alarm: SharedArrayBuffer | null): EngineInfo;
  /** A split model in its parts, in order; `name` is the first one's. */
  loadModel(files: readonly Blob[], name: string, engine: EnginePath): ModelInfo;
  setTask(data: NamedBytes, fewshot: NamedBytes | null): null;
  /** Another YAML file that the task's may include. */
  addInclude(name: string, text: string): null;
  taskInfo(spec: RunSpec): TaskInfo;
  exportTask(harness: Harness, spec: RunSpec): ExportFile[];
  run(request: RunRequest): RunEnd;
  pause(): null;
  resume(): null;
  cancel(): null;
  /** The hash came after the run began. */
  setModelSha256(sha256: string): null;
  /** With what only the rows know, such as hashes of docs and prompts. */
  export(kind: "results" | "samples", options: ReportOptions): string;
  docView(index: number): DocView;
  /** Whether another order of the choices gives the model anything else to read; false where rows have no list of choices. */
  rotationMatters(): boolean;
  /** Scores one item with other words; the run keeps its own. */
  rescore(index: number, context: string, continuations: string[]): ItemScore;
}

export interface RunProgress {
  phase: Phase;
  n_done: number;
  n_total: number;
  n_tokens_done: number;
  n_tokens_total: number;
  /** Over the last seconds; null at first. */
  tokens_per_second: number | null;
  seconds_left: number | null;
}

export interface EngineEvents {
  loading: LoadStep;
  prepared: Prepared;
  progress: RunProgress;
}

/** What the engine tells the analysis. */
export type RunMessage =
  | { kind: "begin"; meta: RunMeta; unscored: Unscored[]; rotation: number; resume: string | null; goes_on: boolean }
  | { kind: "step"; items: ItemScore[]; failed: FailedItem[] }
  | { kind: "model_sha256"; sha256: string }
  | { kind: "end"; meta: RunMeta; how: RunEnd };

export type ItemFilter = "all" | "right" | "wrong" | "tied" | "disagree" | "flagged" | "failed";
export type ItemSort = "line" | "question" | "category" | "confidence" | "margin" | "correct";

export interface ItemQuery {
  filter: ItemFilter;
  search: string;
  /** Category names; null for all. */
  categories: string[] | null;
  bin: number | null;
  confidence: { min: number; max: number } | null;
  sort: ItemSort;
  descending: boolean;
}

export interface ItemRow {
  index: number;
  line: number;
  question: string;
  category: string | null;
  /** Why it has no score. */
  error: string | null;
  choices: { letter: string; text: string; loglikelihood: number; per_char: number | null; is_gold: boolean; is_pick: boolean }[];
  is_correct: boolean | null;
  is_tied: boolean;
  is_flagged: boolean;
  rules_disagree: boolean;
  confidence: number | null;
}

export type ExportKind = "results" | "samples" | "csv";

/** A run that can be looked at: how many items it has and what is known of it. */
export interface RunState {
  meta: RunMeta;
  n_items: number;
  n_failed: number;
  unscored: Unscored[];
  is_complete: boolean;
  saved_id: string | null;
}

export interface ItemView {
  item: ItemScore;
  detail: ItemDetail;
}

export interface AnalysisCalls {
  connect(port: MessagePort): null;
  openProfile(profile: SyntheticProfile): null;
  openSaved(id: string): null;
  /** What the open run has scored. */
  scored(): ItemScore[];
  report(options: ReportOptions): Report;
  bootstrap(options: ReportOptions): CalibrationBootstrap | null;
  /** Calibration of another run at the same options, to be drawn over this one. */
  calibrationOf(which: SyntheticProfile | { saved_id: string }, options: ReportOptions): Calibration | null;
  /** Indices of the items that a query wants, in its order. */
  find(query: ItemQuery, options: ReportOptions): Uint32Array;
  rows(indices: number[], options: ReportOptions): ItemRow[];
  item(index: number, options: ReportOptions): ItemView | null;
  export(kind: ExportKind, options: ReportOptions): string;
  compare(savedId: string, rule: Rule): Comparison | null;
  rotations(rule: Rule): RotationReport | null;
  link(rows: string | null, fewshotRows: string | null, options: ReportOptions): Encoded;
  verify(link: RunLink, positions: number[] | null): Verdict;
  saved(): SavedRun[];
  removeSaved(id: string): null;
  exportSaved(): Blob;
  importSaved(file: Blob): number;
}

export interface AnalysisEvents {
  changed: RunState;
  /** The history could not be written; the run itself goes on. */
  notSaved: EvalErrorLike;
}

export interface HashCalls {
  sha256(file: Blob): string;
}

/** The shape of every error on the page. */
export interface EvalErrorLike {
  kind: EvalError["kind"] | string;
  place: string | null;
  message: string;
}

export type CallsOf<T> = { [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => R | Promise<R> : never };

export type Request<Calls> = { [K in keyof Calls]: { id: number; call: K; args: Calls[K] extends (...args: infer A) => unknown ? A : never } }[keyof Calls];
export type Reply = { id: number; result: { ok: true; value: unknown } | { ok: false; error: EvalErrorLike } };
export type Event<Events> = { [K in keyof Events]: { event: K; data: Events[K] } }[keyof Events];
