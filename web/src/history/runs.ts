// Runs that this browser keeps: settings, provenance and every item, written as the run goes on.
//
// In: a run's beginning, its items batch by batch, its end. Out: the list of runs, a run to reopen or to go on with, all runs
// as one file. A batch is one transaction: after a crash it is there whole or not at all, and the run goes on behind it.
// What the numbers mean, and how a run goes on, are left to others.

import { parse, type ShapeFailure } from "../share/shape.ts";
import { fail, ok, type Failure, type Result } from "../result.ts";
import type { FailedItem, ItemScore, RunMeta, Unscored } from "../types.ts";
import { BATCH, HEADER, RUN } from "./shapes.ts";

/** Everything of a run but its items. */
export interface SavedRun {
  id: string;
  meta: RunMeta;
  unscored: Unscored[];
  is_complete: boolean;
  /** Milliseconds since 1970. */
  started_at: number;
  updated_at: number;
  /** What a list shows: items scored and failed so far. */
  n_scored: number;
  n_failed: number;
  /** The headline's value and the digest, once the run is complete. */
  headline: { metric: string; value: number } | null;
  loglikelihood_digest: string | null;
}

/** Items of one step. An index that comes again replaces the earlier item: near ties are scored twice. */
export interface Batch {
  run_id: string;
  /** Order of the steps, from 0. */
  n: number;
  items: ItemScore[];
  failed: FailedItem[];
}

export interface OpenedRun {
  run: SavedRun;
  /** Each index once, in data order. */
  items: ItemScore[];
  failed: FailedItem[];
}

export type HistoryErrorKind =
  /** The browser's database refused: private window, no room, blocked by another tab. */
  | "storage"
  /** There is no such run. */
  | "no_run"
  /** A file that no page of ours wrote. */
  | "format";
export type HistoryFailure = Failure<HistoryErrorKind>;

export interface History {
  /** A new run; returns its id. */
  begin(meta: RunMeta, unscored: Unscored[]): Promise<Result<string, HistoryFailure>>;
  /** Adds what a step gave. In order: the promise of one call resolves before the next call. */
  append(id: string, items: ItemScore[], failed: FailedItem[]): Promise<Result<null, HistoryFailure>>;
  /** Writes what was learnt since `begin` (hash of the model, seconds) and, at the end, the outcome. */
  finish(id: string, meta: RunMeta, outcome: Pick<SavedRun, "headline" | "loglikelihood_digest">): Promise<Result<null, HistoryFailure>>;
  /** Newest first. */
  list(): Promise<Result<SavedRun[], HistoryFailure>>;
  open(id: string): Promise<Result<OpenedRun, HistoryFailure>>;
  remove(id: string): Promise<Result<null, HistoryFailure>>;
  /** All runs as JSON lines. */
  exportAll(): Promise<Result<Blob, HistoryFailure>>;
  /** Adds the runs of such a file; all of them or, where a line is wrong, none. A run that is here already stays as it is. */
  importAll(file: Blob): Promise<Result<{ n_added: number; n_present: number }, HistoryFailure>>;
  close(): void;
}

const FORMAT = "evaltab-runs";

export async function openHistory(name = "evaltab"): Promise<Result<History, HistoryFailure>> {
  const opened = await attempt(() => openDatabase(name));
  return opened.ok ? ok(historyIn(opened.value)) : opened;
}

function openDatabase(name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("runs", { keyPath: "id" });
      request.result.createObjectStore("batches", { keyPath: ["run_id", "n"] });
    };
    request.onsuccess = () => {
      // Another tab with a newer page wants to change the database: do not stand in its way.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error ?? new Error("the database did not open"));
    request.onblocked = () => reject(new Error("another tab holds an older version of the database"));
  });
}

function historyIn(database: IDBDatabase): History {
  const transact = <T>(mode: IDBTransactionMode, work: (runs: IDBObjectStore, batches: IDBObjectStore) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      // "strict": a batch is on the disk before the run goes on, not only in the system's buffers.
      const transaction = database.transaction(["runs", "batches"], mode, { durability: "strict" });
      let result: { value: T } | null = null;
      transaction.oncomplete = () => (result === null ? reject(new Error("the transaction ended early")) : resolve(result.value));
      transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was aborted"));
      work(transaction.objectStore("runs"), transaction.objectStore("batches")).then(
        (value) => (result = { value }),
        (error: unknown) => {
          reject(error);
          // Already over where the transaction itself was what failed.
          if (transaction.error === null) transaction.abort();
        },
      );
    });
  const readRun = async (runs: IDBObjectStore, id: string): Promise<SavedRun> => {
    const run = await wait<SavedRun | undefined>(runs.get(id));
    if (run === undefined) throw new NoRun(id);
    return run;
  };
  /** Of the runs that are being written: so that a step costs no reading of all steps before it. */
  const known = new Map<string, Map<number, End>>();
  const readBatches = (batches: IDBObjectStore, id: string): Promise<Batch[]> => wait(batches.getAll(rangeOf(id)));

  return {
    begin: (meta, unscored) =>
      attempt(async () => {
        const now = Date.now();
        const run: SavedRun = { id: crypto.randomUUID(), meta, unscored, is_complete: false, started_at: now, updated_at: now, n_scored: 0, n_failed: 0, headline: null, loglikelihood_digest: null };
        await transact("readwrite", (runs) => wait(runs.add(run)));
        return run.id;
      }),
    append: (id, items, failed) =>
      attempt(() =>
        transact("readwrite", async (runs, batches) => {
          const run = await readRun(runs, id);
          const n = await wait(batches.count(rangeOf(id)));
          const batch: Batch = { run_id: id, n, items, failed };
          await wait(batches.add(batch));
          const ends = known.get(id) ?? endsOf(n === 0 ? [] : await readBatches(batches, id));
          known.set(id, endsOf([batch], ends));
          const nScored = [...ends.values()].filter((end) => end === "scored").length;
          await wait(runs.put({ ...run, updated_at: Date.now(), n_scored: nScored, n_failed: ends.size - nScored }));
          return null;
        }),
      ),
    finish: (id, meta, outcome) =>
      attempt(() =>
        transact("readwrite", async (runs, batches) => {
          const run = await readRun(runs, id);
          const { items, failed } = merge(await readBatches(batches, id));
          await wait(runs.put({ ...run, ...outcome, meta, is_complete: true, updated_at: Date.now(), n_scored: items.length, n_failed: failed.length }));
          return null;
        }),
      ),
    list: () =>
      attempt(async () => {
        const runs = await transact("readonly", (store) => wait<SavedRun[]>(store.getAll()));
        return runs.sort((a, b) => b.started_at - a.started_at);
      }),
    open: (id) => attempt(() => transact("readonly", async (runs, batches) => ({ run: await readRun(runs, id), ...merge(await readBatches(batches, id)) }))),
    remove: (id) =>
      attempt(() =>
        transact("readwrite", async (runs, batches) => {
          await wait(runs.delete(id));
          await wait(batches.delete(rangeOf(id)));
          return null;
        }),
      ),
    exportAll: () =>
      attempt(async () => {
        const runs = await transact("readonly", (store) => wait<SavedRun[]>(store.getAll()));
        // One run after another into blobs, which the browser may keep on disk: all runs at once may not fit into memory.
        const parts: Blob[] = [new Blob([`${JSON.stringify({ format: FORMAT, v: 1 })}\n`])];
        for (const run of runs) {
          const batches = await transact("readonly", (_, store) => readBatches(store, run.id));
          parts.push(new Blob([run, ...batches].map((line) => `${JSON.stringify(line)}\n`)));
        }
        return new Blob(parts, { type: "application/jsonl" });
      }),
    async importAll(file) {
      const lines = readLines(await file.text());
      if (!lines.ok) return lines;
      return attempt(() =>
        transact("readwrite", async (runs, batches) => {
          const present = new Set(await wait(runs.getAllKeys()));
          const added = lines.value.runs.filter((run) => !present.has(run.id));
          for (const run of added) await wait(runs.add(run));
          for (const batch of lines.value.batches) if (!present.has(batch.run_id)) await wait(batches.add(batch));
          return { n_added: added.length, n_present: lines.value.runs.length - added.length };
        }),
      );
    },
    close: () => database.close(),
  };
}

/** Every batch of a run: an array sorts behind every number. */
const rangeOf = (id: string): IDBKeyRange => IDBKeyRange.bound([id, 0], [id, []]);

/** How a doc ended. */
type End = "scored" | "failed";

/** How each doc ended by some batches, after others. A doc may come again: near ties are scored twice. */
function endsOf(batches: readonly Batch[], ends: Map<number, End> = new Map()): Map<number, End> {
  for (const { items, failed } of batches) {
    for (const { index } of failed) ends.set(index, "failed");
    for (const { index } of items) ends.set(index, "scored");
  }
  return ends;
}

/** Batches as items in data order; the last one of an index counts, and an item that was scored after all has not failed. */
function merge(batches: readonly Batch[]): { items: ItemScore[]; failed: FailedItem[] } {
  const items = new Map<number, ItemScore>();
  const failed = new Map<number, FailedItem>();
  for (const batch of batches) {
    for (const failure of batch.failed) {
      failed.set(failure.index, failure);
      items.delete(failure.index);
    }
    for (const item of batch.items) {
      items.set(item.index, item);
      failed.delete(item.index);
    }
  }
  const byIndex = <T extends { index: number }>(values: Iterable<T>): T[] => [...values].sort((a, b) => a.index - b.index);
  return { items: byIndex(items.values()), failed: byIndex(failed.values()) };
}

/** The lines of an export, each checked; batches belong to a run above them and their numbers count up. */
function readLines(text: string): Result<{ runs: SavedRun[]; batches: Batch[] }, HistoryFailure> {
  const runs: SavedRun[] = [];
  const batches: Batch[] = [];
  let nBatches = 0;
  for (const [i, line] of text.split("\n").entries()) {
    const place = `line ${i + 1}`;
    const wrong = (message: string, inside: string | null = null): Result<never, HistoryFailure> => fail("format", inside === null ? place : `${place}, ${inside}`, message);
    if (line === "" && i > 0) continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return wrong("not JSON");
    }
    if (i === 0) {
      if (!parse(HEADER, value).ok) return wrong("this is no file of exported runs");
      continue;
    }
    const isBatch = typeof value === "object" && value !== null && Object.hasOwn(value, "run_id");
    const checked: Result<SavedRun | Batch, ShapeFailure> = isBatch ? parse(BATCH, value) : parse(RUN, value);
    if (!checked.ok) return wrong(checked.error.message, checked.error.place);
    if ("run_id" in checked.value) {
      if (checked.value.run_id !== runs.at(-1)?.id || checked.value.n !== nBatches) return wrong("a batch that does not follow its run");
      batches.push(checked.value);
      nBatches++;
    } else {
      const { id } = checked.value;
      if (runs.some((run) => run.id === id)) return wrong(`run ${id} comes twice`);
      runs.push(checked.value);
      nBatches = 0;
    }
  }
  return ok({ runs, batches });
}

class NoRun extends Error {
  constructor(id: string) {
    super(`there is no run ${id}`);
  }
}

/** What the database throws, as a value. */
async function attempt<T>(work: () => Promise<T>): Promise<Result<T, HistoryFailure>> {
  try {
    return ok(await work());
  } catch (error) {
    if (error instanceof NoRun) return fail("no_run", null, error.message);
    const name = error instanceof Error ? error.name : "";
    return fail("storage", null, name === "QuotaExceededError" ? "there is no room left in this browser's storage" : error instanceof Error ? error.message : String(error));
  }
}

const wait = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the database gave no reason"));
  });
