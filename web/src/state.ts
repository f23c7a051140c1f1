// All of the page's state, as signals. Views read it; only actions.ts writes it.

import { computed, signal } from "@preact/signals";
import { DEFAULT_OPTIONS, DEFAULT_SPEC } from "./defaults.ts";
import type { SavedRun } from "./history/runs.ts";
import type { Difference, Verdict } from "./share/verify.ts";
import type { RunLink } from "./share/link.ts";
import type { CacheEntry, StorageState } from "./sources/cache.ts";
import type { CatalogEntry } from "./sources/catalog.ts";
import type { Isolation } from "./sources/isolation.ts";
import type { Progress, WhyMemory } from "./sources/download.ts";
import type { RowsProgress } from "./sources/rows.ts";
import type { SourceFile } from "./sources/source_file.ts";
import type { EngineInfo, EvalErrorLike, ItemQuery, ItemRow, ItemView, RunProgress, RunState } from "./worker/protocol.ts";
import type { Calibration, CalibrationBootstrap, Comparison, DocView, ItemScore, ModelInfo, Prepared, Report, ReportOptions, RotationReport, RunSpec, SyntheticProfile, TaskInfo } from "./types.ts";

export type ModelPhase =
  | { kind: "none" }
  | { kind: "chosen"; entry: CatalogEntry }
  | { kind: "downloading"; name: string; progress: Progress | null }
  | { kind: "loading"; name: string; n_bytes: number; total_bytes: number }
  | { kind: "ready"; file: SourceFile; info: ModelInfo }
  | { kind: "failed"; name: string; error: EvalErrorLike };

export interface SampleTask {
  file: string;
  title: string;
  description: string;
  n_rows: number;
  categories: string[];
  spec: Partial<RunSpec>;
  yaml: string | null;
}

export interface TaskFile {
  name: string;
  bytes: Uint8Array;
  url: string | null;
  converted_from: string | null;
}

export type TaskPhase =
  | { kind: "none" }
  | { kind: "reading"; name: string; progress: Progress | RowsProgress | null }
  | { kind: "ready"; file: TaskFile; fewshot: TaskFile | null }
  | { kind: "failed"; name: string; error: EvalErrorLike };

export type RunPhase = "idle" | "starting" | "running" | "paused" | "cancelling" | "cancelled" | "done" | "failed";

export type CalibrationSource = SyntheticProfile | { saved_id: string };

export const engine = signal<EngineInfo | null>(null);
/** How often the engine had to be replaced in this run. */
export const engineDeaths = signal(0);
export const isolation = signal<Isolation | null>(null);
export const worksOffline = signal(false);
/** Bytes that have left the page in requests; null where nobody counts them. */
export const bytesSent = signal<number | null>(null);
export const updateWaits = signal(false);

export const catalog = signal<CatalogEntry[]>([]);
export const sampleTasks = signal<SampleTask[]>([]);

export const model = signal<ModelPhase>({ kind: "none" });
/** Why the downloaded model is not kept for the next visit; null where it is, or was not downloaded. */
export const whyMemory = signal<WhyMemory | null>(null);
export const modelSha256 = signal<string | null>(null);
export const task = signal<TaskPhase>({ kind: "none" });
export const spec = signal<RunSpec>(DEFAULT_SPEC);
export const taskInfo = signal<TaskInfo | null>(null);
export const taskError = signal<EvalErrorLike | null>(null);

export const runPhase = signal<RunPhase>("idle");
export const runError = signal<EvalErrorLike | null>(null);
export const progress = signal<RunProgress | null>(null);
export const prepared = signal<Prepared | null>(null);

/** The run that is looked at; null before the first. */
export const run = signal<RunState | null>(null);
/** The engine still has it: its docs can be looked at and scored again. */
export const isLive = signal(false);
export const profile = signal<SyntheticProfile | null>(null);
export const options = signal<ReportOptions>(DEFAULT_OPTIONS);
export const report = signal<Report | null>(null);
export const bootstrap = signal<CalibrationBootstrap | null>(null);
/** Other runs' calibration, drawn over this one's; `of` is where it comes from. */
export const overlays = signal<{ key: string; name: string; of: CalibrationSource; calibration: Calibration }[]>([]);
/** Whether the live run's prompts list their choices, so that another order of them is another prompt; null until that is known. */
export const canRotate = signal<boolean | null>(null);
/** Which order of the choices is being scored, where that is what runs. */
export const probing = signal<{ order: number; n_orders: number } | null>(null);
export const rotations = signal<RotationReport | null>(null);
export const comparison = signal<{ name: string; comparison: Comparison | null } | null>(null);

export const DEFAULT_QUERY: ItemQuery = { filter: "all", search: "", categories: null, bin: null, confidence: null, sort: "line", descending: false };
export const query = signal<ItemQuery>(DEFAULT_QUERY);
/** Indices of the items that the query wants, in its order. */
export const found = signal<Uint32Array>(new Uint32Array());
/** Counts the answers: rows in view are asked for again. */
export const rowsAge = signal(0);
/** The rows in view. */
export const rows = signal<ReadonlyMap<number, ItemRow>>(new Map());
/** Counts how often a chart asked for its items: the table comes into view. */
export const itemsAsked = signal(0);
/** Place in `found` that the keyboard stands on. */
export const cursor = signal(0);

/** The item in the drawer. */
export const opened = signal<{ index: number; view: ItemView | null; doc: DocView | null; rescored: ItemScore | null; error: EvalErrorLike | null } | null>(null);

export const saved = signal<SavedRun[]>([]);
export const historyError = signal<EvalErrorLike | null>(null);
export const cached = signal<CacheEntry[]>([]);
export const storage = signal<StorageState | null>(null);

export type Link = { kind: "none" } | { kind: "making" } | { kind: "ready"; href: string } | { kind: "file"; name: string; text: string } | { kind: "failed"; error: EvalErrorLike };
export const link = signal<Link>({ kind: "none" });
/** A run that came by a link and waits to be looked at or run again. */
export const incoming = signal<RunLink | null>(null);
/** Why a link or a run file was refused. */
export const incomingError = signal<EvalErrorLike | null>(null);
/** How one doc came out, as a link or a rerun has it; null where it failed. */
export type CheckedDoc = Difference["claimed"];
export type LinkedFile = "model" | "data" | "fewshot";
/** The rerun of `incoming`; `seed` chose the docs of a quick check. */
export type Check =
  | { kind: "idle" }
  | { kind: "needs"; files: LinkedFile[]; error: EvalErrorLike | null }
  | { kind: "running"; seed: number | null }
  | { kind: "done"; seed: number | null; verdict: Verdict };
export const check = signal<Check>({ kind: "idle" });

/** One sentence for screen readers about what has just happened. */
export const announcement = signal("");

/** The charts on the page, by name, in their order. */
export const figures = new Map<string, { svg: () => Promise<string> }>();

export const isBusy = computed(() => runPhase.value === "running" || runPhase.value === "paused" || runPhase.value === "starting" || runPhase.value === "cancelling");
export const hasItems = computed(() => (run.value?.n_items ?? 0) + (run.value?.n_failed ?? 0) > 0);
