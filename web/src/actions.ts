// What happens when a person does something, or a worker says something: the only writer of state.ts.
//
// In: events of the views and of the workers. Out: state. Long work is in workers; of several answers to one question only the
// newest counts.

import { batch } from "@preact/signals";
import { strToU8, zipSync } from "fflate";
import { DEFAULT_SPEC } from "./defaults.ts";
import * as state from "./state.ts";
import { text } from "./text.ts";
import { until } from "./until.ts";
import { parseCatalog, type CatalogEntry } from "./sources/catalog.ts";
import { askPersistence, openCache, storageState } from "./sources/cache.ts";
import { nameOf, type Progress } from "./sources/download.ts";
import { pinHubUrl } from "./sources/hub.ts";
import { applyUpdate, fillOfflineCache, isolate, onSent, onUpdate } from "./sources/isolation.ts";
import { downloadModel, pinModelUrl, withHashes, type ModelRequest } from "./sources/model.ts";
import { rowsOf, type RowsFile, type RowsProgress } from "./sources/rows.ts";
import { rowsFromUrl } from "./sources/rows_by_url.ts";
import { htmlReport } from "./export/html_report.ts";
import { fromFile, modelsAmong, partsOf, type SourceFile } from "./sources/source_file.ts";
import { startAnalysis, startEngine, startHash, type WorkerHandle } from "./worker/client.ts";
import { WORKER_DIED, type EngineCalls, type EvalErrorLike, type ExportKind, type Harness, type ItemQuery, type RunEnd, type RunRequest } from "./worker/protocol.ts";
import type { ReportOptions, RunSpec, SyntheticProfile } from "./types.ts";
import type { Result } from "./result.ts";

const problem = (message: string, place: string | null = null): EvalErrorLike => ({ kind: "io", place, message });
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const announce = (sentence: string): void => void (state.announcement.value = sentence);

/** Runs one at a time; whoever asks meanwhile causes one more turn, so the last state is always answered. */
function latest(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let again = false;
  const turn = async (): Promise<void> => {
    do {
      again = false;
      await work();
    } while (again);
    running = null;
  };
  return () => {
    if (running === null) running = turn();
    else again = true;
    return running;
  };
}

export const cache = openCache();
export const analysis = startAnalysis({
  changed(run) {
    const isNew = state.run.value === null || state.run.value.meta.started_at !== run.meta.started_at || state.run.value.meta.task.name !== run.meta.task.name;
    const isOver = run.is_complete && (isNew || state.run.value?.is_complete === false);
    state.run.value = run;
    if (isOver && run.saved_id !== null) void refreshSaved();
    if (isNew) {
      batch(() => {
        state.report.value = null;
        state.bootstrap.value = null;
        state.rotations.value = null;
        state.comparison.value = null;
        state.opened.value = null;
        state.link.value = { kind: "none" };
        state.query.value = state.DEFAULT_QUERY;
        state.found.value = new Uint32Array();
        state.rows.value = new Map();
      });
    }
    void refresh();
  },
  notSaved(error) {
    state.historyError.value = error;
  },
});

/** Does not resolve where the page is about to reload: nothing heavy starts before. */
const isolated = isolate("./sw.js");
let engine: Promise<WorkerHandle<EngineCalls>> | null = null;
/** How often the page looks for helper threads that died, milliseconds. */
const ALARM_MS = 1000;

export function startedEngine(): Promise<WorkerHandle<EngineCalls>> {
  engine ??= (async () => {
    await isolated;
    const handle = startEngine({
      loading({ bytes_loaded, total_bytes }) {
        if (state.model.value.kind === "loading") state.model.value = { ...state.model.value, n_bytes: bytes_loaded, total_bytes };
      },
      prepared: (prepared) => void (state.prepared.value = prepared),
      progress: (progress) => void (state.progress.value = progress),
    });
    const { port1, port2 } = new MessageChannel();
    await analysis.call.connect(port2);
    const alarm = globalThis.crossOriginIsolated ? new SharedArrayBuffer(4) : null;
    const info = await handle.call.connect(port1, alarm);
    if (alarm !== null) watch(handle, new Int32Array(alarm));
    if (info.ok) state.engine.value = info.value;
    else state.runError.value = info.error;
    return handle;
  })();
  return engine;
}

function watch(handle: WorkerHandle<EngineCalls>, alarm: Int32Array): void {
  const timer = setInterval(() => {
    if (Atomics.load(alarm, 0) !== 0) handle.fail(text.errors.threadDied);
    if (handle.isDead()) clearInterval(timer);
  }, ALARM_MS);
}

let replacing: Promise<Result<unknown, EvalErrorLike>> | null = null;

/** A new engine in place of one that died, with its model and task. */
const replaceEngine = (): Promise<Result<unknown, EvalErrorLike>> => (replacing ??= replacement().finally(() => (replacing = null)));

/** The engine; another one where it died. */
async function livingEngine(): Promise<WorkerHandle<EngineCalls>> {
  if ((await startedEngine()).isDead()) await replaceEngine();
  return startedEngine();
}

async function replacement(): Promise<Result<unknown, EvalErrorLike>> {
  (await startedEngine()).close();
  engine = null;
  const { call } = await startedEngine();
  const { value: model } = state.model;
  const { value: task } = state.task;
  if (model.kind === "ready") {
    const { loaded } = await giveModel(call, model.file);
    if (!loaded.ok) return loaded;
  }
  if (task.kind !== "ready") return { ok: true, value: null };
  const set = await call.setTask(task.file, task.fewshot);
  if (set.ok) await giveIncludes();
  return set;
}

/** Called once, after the first paint. */
export async function start(): Promise<void> {
  void loadLists();
  void refreshSaved();
  state.isolation.value = await isolated;
  await startedEngine();
  onSent((nBytes) => (state.bytesSent.value = nBytes));
  onUpdate(() => (state.updateWaits.value = true));
  state.worksOffline.value = await fillOfflineCache();
}

export const update = (): void => applyUpdate();

async function loadLists(): Promise<void> {
  const [models, tasks] = await Promise.all([fetchJson("models.json"), fetchJson("tasks/index.json")]);
  if (models.ok) {
    const entries = parseCatalog(models.value);
    if (entries.ok) {
      state.catalog.value = entries.value;
      const [first] = entries.value;
      if (first !== undefined && state.model.value.kind === "none") state.model.value = { kind: "chosen", entry: first };
    }
  }
  if (tasks.ok) {
    // Written by this project and served with the page.
    const { tasks: samples } = tasks.value as { tasks: state.SampleTask[] };
    state.sampleTasks.value = samples;
    const [, general] = samples;
    if (general !== undefined && state.task.value.kind === "none") await chooseSample(general);
  }
}

async function fetchJson(path: string): Promise<Result<unknown, EvalErrorLike>> {
  try {
    const answer = await fetch(new URL(path, document.baseURI));
    if (!answer.ok) return { ok: false, error: problem(`the server answered ${answer.status}`, path) };
    return { ok: true, value: await answer.json() };
  } catch (error) {
    return { ok: false, error: problem(messageOf(error), path) };
  }
}

// Model

let modelChoice = 0;
let downloading: AbortController | null = null;
let hashing: Promise<void> = Promise.resolve();

/** Once the chosen model's hash is known. */
export const hashed = (): Promise<void> => hashing;

export function chooseCatalogModel(entry: CatalogEntry): void {
  modelChoice += 1;
  downloading?.abort();
  state.model.value = { kind: "chosen", entry };
}

export async function chooseModelFiles(files: File[]): Promise<void> {
  const models = modelsAmong(files.map(fromFile));
  const name = files[0]?.name ?? "";
  if (!models.ok) return failModel(name, models.error);
  // A file without the ending goes to the engine all the same: it says what is wrong with it.
  const [model] = models.value.length > 0 ? models.value : files.map(fromFile);
  if (model !== undefined) await loadModel(model);
}

export async function chooseModelUrl(address: string): Promise<void> {
  const url = absolute(address);
  if (url === null) return failModel(address, problem(text.errors.notAnAddress, address));
  const pinned = await pinModelUrl(url).catch((error: unknown) => ({ ok: false as const, error: problem(messageOf(error), url) }));
  if (!pinned.ok) return failModel(address, pinned.error);
  await fetchModel({ ...pinned.value, source_url: portable(pinned.value.url) });
}

/** Downloads and loads the chosen entry of the list; a no-op where a model is loaded. */
export async function loadChosenModel(): Promise<boolean> {
  const { value } = state.model;
  if (value.kind === "ready") return true;
  if (value.kind !== "chosen") return false;
  const { entry } = value;
  return fetchModel({ url: new URL(entry.url, document.baseURI).href, n_bytes: entry.n_bytes, sha256: entry.sha256, source_url: entry.url });
}

/** What has arrived is kept: the next download goes on from there. */
export function stopDownload(): void {
  modelChoice += 1;
  downloading?.abort();
  const [first] = state.catalog.value;
  state.model.value = first === undefined ? { kind: "none" } : { kind: "chosen", entry: first };
}

/** An address below the page's folder without the folder: so it holds wherever the same files are served. */
function portable(url: string): string {
  const folder = new URL("./", document.baseURI).href;
  return url.startsWith(folder) ? url.slice(folder.length) : url;
}

function absolute(address: string): string | null {
  try {
    return new URL(address, document.baseURI).href;
  } catch {
    return null;
  }
}

function failModel(name: string, error: EvalErrorLike): void {
  modelChoice += 1;
  state.model.value = { kind: "failed", name, error };
  announce(text.errors.sentence(error));
}

export async function fetchModel(request: ModelRequest & { source_url: string }): Promise<boolean> {
  const choice = ++modelChoice;
  downloading?.abort();
  downloading = new AbortController();
  const { signal } = downloading;
  const name = nameOf(request.url);
  state.model.value = { kind: "downloading", name, progress: null };
  void askPersistence();
  try {
    const file = await downloadModel(
      request,
      { cache: await cache, signal, onProgress: (progress) => choice === modelChoice && (state.model.value = { kind: "downloading", name, progress }) },
    );
    if (choice !== modelChoice) return false;
    if (!file.ok) {
      failModel(name, file.error);
      return false;
    }
    const isLoaded = await loadModel({ ...file.value, url: request.source_url });
    state.whyMemory.value = isLoaded ? file.value.why_memory : null;
    return isLoaded;
  } catch (error) {
    // An abort is not an error.
    if (!signal.aborted) failModel(name, problem(messageOf(error), name));
    return false;
  } finally {
    // The list of kept files has this one too, or what has come of it.
    void refreshSaved();
  }
}

export async function loadModel(file: SourceFile): Promise<boolean> {
  const choice = ++modelChoice;
  state.model.value = { kind: "loading", name: file.name, n_bytes: 0, total_bytes: file.size };
  state.modelSha256.value = file.sha256;
  state.whyMemory.value = null;
  state.isLive.value = false;
  const { call } = await livingEngine();
  const { blobs, loaded } = await giveModel(call, file);
  if (choice !== modelChoice) return false;
  if (!loaded.ok) {
    failModel(file.name, loaded.error);
    return false;
  }
  state.model.value = { kind: "ready", file, info: loaded.value };
  announce(text.model.loaded(file.name));
  if (file.sha256 === null) hashing = hashModel(blobs, choice);
  void refreshTask();
  return true;
}

async function giveModel(call: WorkerHandle<EngineCalls>["call"], file: SourceFile) {
  const blobs = await Promise.all(partsOf(file).map((part) => part.blob()));
  return { blobs, loaded: await call.loadModel(blobs, file.name, state.spec.value.engine) };
}

/** Beside everything else; the run's provenance gets it when it is there. */
async function hashModel(blobs: readonly Blob[], choice: number): Promise<void> {
  const worker = startHash();
  const hashes: string[] = [];
  for (const blob of blobs) {
    const sha256 = await worker.call.sha256(blob);
    if (sha256.ok) hashes.push(sha256.value);
  }
  worker.close();
  const { value } = state.model;
  if (choice !== modelChoice || value.kind !== "ready" || hashes.length < blobs.length) return;
  const file = withHashes(value.file, hashes);
  state.model.value = { ...value, file };
  state.modelSha256.value = file.sha256;
  if (file.sha256 !== null) await (await startedEngine()).call.setModelSha256(file.sha256);
}

// Task

let taskChoice = 0;

export async function chooseSample(sample: state.SampleTask): Promise<void> {
  const url = `tasks/${sample.file}`;
  const choice = ++taskChoice;
  try {
    const bytes = new Uint8Array(await (await fetch(new URL(url, document.baseURI))).arrayBuffer());
    if (choice === taskChoice) await setTask({ name: sample.file, bytes, url, converted_from: null }, { ...DEFAULT_SPEC, ...sample.spec });
  } catch (error) {
    failTask(sample.file, problem(messageOf(error), url));
  }
}

/** A data file, YAML files beside it, or both. Of several YAML files the task is the one that no other includes. */
export async function chooseTaskFiles(files: File[]): Promise<void> {
  const isYaml = ({ name }: File): boolean => /\.ya?ml$/i.test(name);
  const yamls = await Promise.all(files.filter(isYaml).map(async (file) => ({ name: file.name, text: await file.text() })));
  const main = yamls.find(({ name }) => !yamls.some((other) => other.name !== name && other.text.includes(name))) ?? yamls[0];
  includes = yamls.filter((yaml) => yaml !== main);
  const data = files.find((file) => !isYaml(file));
  if (data !== undefined) return readTask(data.name, () => rowsOf(fromFile(data)), null, main?.text ?? null);
  if (main === undefined) return;
  await giveIncludes();
  await setSpec({ task_yaml: main.text, preset: null });
}

/** YAML files that the task's own may include. */
let includes: { name: string; text: string }[] = [];

async function giveIncludes(): Promise<void> {
  const { call } = await startedEngine();
  for (const { name, text: yaml } of includes) await call.addInclude(name, yaml);
}

export async function chooseTaskUrl(address: string): Promise<void> {
  const rows = await rowsAt(address);
  if (rows !== null) await readTask(address, rows.read, rows.url);
}

/** How the rows at an address are read, and the address as a link names it; null where it is none, which the page says. */
async function rowsAt(address: string): Promise<{ read: ReadRows; url: string } | null> {
  const url = absolute(address);
  const pinned = url === null ? { ok: false as const, error: problem(text.errors.notAnAddress, address) } : await pinHubUrl(url);
  if (!pinned.ok) {
    failTask(address, pinned.error);
    return null;
  }
  return { read: async (options) => rowsFromUrl(pinned.value, { cache: await cache, ...options }), url: portable(pinned.value.url) };
}

/** The task that was there stays where there was one: only its reading stops. */
export const stopReading = (): void => reading?.abort();

export const chooseFewshotFile = (file: File): Promise<void> => readFewshot(file.name, () => rowsOf(fromFile(file)), null);

export async function chooseFewshotUrl(address: string): Promise<void> {
  const rows = await rowsAt(address);
  if (rows !== null) await readFewshot(address, rows.read, rows.url);
}

async function readFewshot(name: string, read: ReadRows, url: string | null): Promise<void> {
  const { value } = state.task;
  if (value.kind !== "ready") return;
  const rows = await readRows(name, read, value);
  if (rows !== null) await setTask(value.file, state.spec.value, { ...rows, url });
}

async function readTask(name: string, read: ReadRows, url: string | null, yaml: string | null = null): Promise<void> {
  const { value } = state.task;
  const rows = await readRows(name, read, value.kind === "ready" ? value : { kind: "none" });
  // Another file has another shape: what was said of the last one's prompt does not hold for it.
  if (rows !== null) await setTask({ ...rows, url }, { ...state.spec.value, preset: null, prompt_style: null, task_yaml: yaml });
}

type ReadRows = (options: { signal: AbortSignal; onProgress: (progress: Progress | RowsProgress) => void }) => Promise<Result<RowsFile, EvalErrorLike>>;

let reading: AbortController | null = null;

/** Rows while the page says that it reads them; null where they did not come. `before`: what is there again after an abort. */
async function readRows(name: string, read: ReadRows, before: state.TaskPhase): Promise<RowsFile | null> {
  const choice = ++taskChoice;
  reading?.abort();
  reading = new AbortController();
  const { signal } = reading;
  state.task.value = { kind: "reading", name, progress: null };
  try {
    const rows = await read({ signal, onProgress: (progress) => void (choice === taskChoice && (state.task.value = { kind: "reading", name, progress })) });
    if (choice !== taskChoice) return null;
    if (rows.ok) return rows.value;
    failTask(name, rows.error);
  } catch (error) {
    if (choice !== taskChoice) return null;
    // An abort is not an error.
    if (signal.aborted) state.task.value = before;
    else failTask(name, problem(messageOf(error), name));
  } finally {
    void refreshSaved();
  }
  return null;
}

function failTask(name: string, error: EvalErrorLike): void {
  taskChoice += 1;
  state.task.value = { kind: "failed", name, error };
  state.taskInfo.value = null;
  announce(text.errors.sentence(error));
}

export async function setTask(file: state.TaskFile, spec: RunSpec, fewshot: state.TaskFile | null = null): Promise<void> {
  const choice = ++taskChoice;
  batch(() => {
    state.task.value = { kind: "ready", file, fewshot };
    state.spec.value = spec;
    state.taskInfo.value = null;
    state.taskError.value = null;
  });
  const { call } = await livingEngine();
  state.isLive.value = false;
  const done = await call.setTask(file, fewshot);
  if (choice !== taskChoice) return;
  if (!done.ok) return failTask(file.name, done.error);
  await giveIncludes();
  await refreshTask();
}

const refreshTask = latest(async () => {
  if (state.task.value.kind !== "ready" || state.isBusy.value) return;
  const ask = async () => (await livingEngine()).call.taskInfo(state.spec.value);
  let info = await ask();
  // It is asked again once where the engine died over it.
  if (!info.ok && info.error.kind === WORKER_DIED) info = await ask();
  batch(() => {
    if (info.ok) state.taskInfo.value = info.value;
    state.taskError.value = info.ok ? null : info.error;
  });
});

export async function setSpec(patch: Partial<RunSpec>): Promise<void> {
  const before = state.spec.value;
  state.spec.value = { ...before, ...patch };
  const { value } = state.model;
  if (patch.engine !== undefined && patch.engine !== before.engine && value.kind === "ready") await loadModel(value.file);
  else await refreshTask();
}

// Run

/** The whole way: loads the chosen model where that has not been done, then runs. */
export async function startRun(resume: string | null = null, only: number[] | null = null): Promise<void> {
  if (state.isBusy.value) return;
  batch(() => {
    state.runPhase.value = "starting";
    state.runError.value = null;
    state.engineDeaths.value = 0;
    state.progress.value = null;
    state.prepared.value = null;
    state.profile.value = null;
    state.canRotate.value = null;
  });
  const fail = (error: EvalErrorLike | null): void => {
    state.runPhase.value = error === null ? "idle" : "failed";
    state.runError.value = error;
    if (error !== null) announce(text.errors.sentence(error));
  };
  // What failed says so where it was chosen.
  if (!(await loadChosenModel())) return fail(null);
  const { value: task } = state.task;
  const { value: model } = state.model;
  if (task.kind !== "ready" || model.kind !== "ready") return fail(null);
  await livingEngine();
  state.runPhase.value = "running";
  state.isLive.value = true;
  announce(text.run.started);
  const end = await runToEnd(runRequest(state.spec.value, { rotation: 0, resume, only, scored: null }));
  if (!end.ok) return fail(end.error);
  const { call } = await startedEngine();
  state.runPhase.value = end.value;
  // What waits for the end of the run, such as the resampling, follows now.
  void refresh();
  announce(end.value === "done" ? text.run.finished : text.run.cancelled);
  const rotation = await call.rotationMatters();
  if (rotation.ok) state.canRotate.value = rotation.value;
  await hashing;
  await refreshSaved();
}

/** Runs; an engine that dies is replaced and the run goes on, unless nothing was scored since the last one died. */
async function runToEnd(request: RunRequest): Promise<Result<RunEnd, EvalErrorLike>> {
  let nScored = -1;
  for (;;) {
    const end = await (await startedEngine()).call.run(request);
    if (end.ok || end.error.kind !== WORKER_DIED) return end;
    const scored = await analysis.call.scored();
    const items = scored.ok ? scored.value : [];
    if (items.length <= nScored) return end;
    nScored = items.length;
    const replaced = await replaceEngine();
    if (!replaced.ok) return replaced;
    state.engineDeaths.value += 1;
    announce(text.run.replaced(state.engineDeaths.value));
    // Where it died before its first item there is no run to go on with yet.
    request = { ...request, scored: items.length > 0 ? items : null };
  }
}

function runRequest(spec: RunSpec, part: Pick<RunRequest, "rotation" | "resume" | "only" | "scored">): RunRequest {
  const { value: task } = state.task;
  const { value: model } = state.model;
  const provenance = {
    model_sha256: state.modelSha256.value,
    model_url: model.kind === "ready" ? model.file.url : null,
    data_url: task.kind === "ready" ? task.file.url : null,
    fewshot_url: task.kind === "ready" ? (task.fewshot?.url ?? null) : null,
    machine: navigator.userAgent,
  };
  return { spec, provenance, ...part };
}

export async function pauseRun(): Promise<void> {
  state.runPhase.value = "paused";
  await (await startedEngine()).call.pause();
}

export async function resumeRun(): Promise<void> {
  state.runPhase.value = "running";
  await (await startedEngine()).call.resume();
}

/** The batch that is under way is finished first. */
export async function cancelRun(): Promise<void> {
  state.runPhase.value = "cancelling";
  await (await startedEngine()).call.cancel();
}

/** The three made-up models: a lesson that needs no model. */
export async function openProfile(profile: SyntheticProfile): Promise<void> {
  if (state.isBusy.value) return;
  state.runPhase.value = "idle";
  state.profile.value = profile;
  state.isLive.value = false;
  await analysis.call.openProfile(profile);
}

// Report

/** Least pause between two reports of a growing run, milliseconds; longer where a report takes long. */
const REPORT_PAUSE_MS = 400;
const BOOTSTRAP_PAUSE_MS = 500;
let bootstrapTimer: ReturnType<typeof setTimeout> | undefined;

const refresh = latest(async () => {
  if (!state.hasItems.value) return;
  const began = performance.now();
  const report = await analysis.call.report(state.options.value);
  if (report.ok) state.report.value = report.value;
  else state.runError.value = report.error;
  await refreshFound();
  await refreshOpened();
  clearTimeout(bootstrapTimer);
  bootstrapTimer = setTimeout(() => void refreshBootstrap(), BOOTSTRAP_PAUSE_MS);
  // The last report comes as soon as the run is over.
  await until(() => !state.isBusy.value, Math.max(REPORT_PAUSE_MS, 3 * (performance.now() - began)));
});

async function refreshBootstrap(): Promise<void> {
  if (state.isBusy.value) return;
  const bootstrap = await analysis.call.bootstrap(state.options.value);
  if (bootstrap.ok) state.bootstrap.value = bootstrap.value;
}

export function setOptions(patch: Partial<ReportOptions>): void {
  batch(() => {
    state.options.value = { ...state.options.value, ...patch };
    state.bootstrap.value = null;
    // A bin is a bin of one cut only.
    if (patch.n_bins !== undefined || patch.binning !== undefined) state.query.value = { ...state.query.value, bin: null };
  });
  void refresh();
  void refreshOverlays();
}

/** Draws another run's calibration over this one's, at the same bins. */
export async function showOverlay(key: string, name: string, of: state.CalibrationSource): Promise<void> {
  const calibration = await analysis.call.calibrationOf(of, state.options.value);
  if (!calibration.ok || calibration.value === null) return;
  state.overlays.value = [...state.overlays.value.filter((overlay) => overlay.key !== key), { key, name, of, calibration: calibration.value }];
}

export const removeOverlay = (key: string): void => void (state.overlays.value = state.overlays.value.filter((overlay) => overlay.key !== key));

const refreshOverlays = latest(async () => {
  for (const { key, name, of } of state.overlays.value) await showOverlay(key, name, of);
});

/** The choices in every other order: letter bias and consistency. */
export async function probeRotations(): Promise<void> {
  const { value: report } = state.report;
  const { value: run } = state.run;
  const nOrders = report?.bias?.positions.length ?? 0;
  if (run === null || !state.isLive.value || state.isBusy.value || nOrders < 2) return;
  const { call } = await startedEngine();
  for (let rotation = 1; rotation < nOrders; rotation++) {
    batch(() => {
      state.runPhase.value = "running";
      state.probing.value = { order: rotation + 1, n_orders: nOrders };
    });
    const end = await call.run(runRequest(run.meta.spec, { rotation, resume: null, only: null, scored: null }));
    if (end.ok && end.value === "done") continue;
    state.runError.value = end.ok ? null : end.error;
    break;
  }
  batch(() => {
    state.runPhase.value = "done";
    state.probing.value = null;
  });
  const rotations = await analysis.call.rotations(state.options.value.rule);
  if (rotations.ok) state.rotations.value = rotations.value;
}

/** This run beside a kept one, doc by doc. */
export async function compareWith(savedId: string, name: string): Promise<void> {
  const comparison = await analysis.call.compare(savedId, state.options.value.rule);
  if (comparison.ok) state.comparison.value = { name, comparison: comparison.value };
  else state.historyError.value = comparison.error;
}

// Items

const refreshFound = latest(async () => {
  const found = await analysis.call.find(state.query.value, state.options.value);
  if (!found.ok) return;
  batch(() => {
    state.found.value = found.value;
    state.cursor.value = Math.max(0, Math.min(state.cursor.value, found.value.length - 1));
    state.rowsAge.value += 1;
  });
});

export function setQuery(patch: Partial<ItemQuery>): void {
  state.query.value = { ...state.query.value, ...patch };
  state.cursor.value = 0;
  void refreshFound();
}

/** The items behind a place in a chart. */
export function showItems(patch: Partial<ItemQuery>): void {
  setQuery({ ...state.DEFAULT_QUERY, ...patch });
  state.itemsAsked.value += 1;
}

let wanted: number[] = [];

const refreshRows = latest(async () => {
  const rows = await analysis.call.rows(wanted, state.options.value);
  if (rows.ok) state.rows.value = new Map(rows.value.map((row) => [row.index, row]));
});

/** The rows in view; those of before are forgotten. */
export function showRows(indices: number[]): void {
  wanted = indices;
  void refreshRows();
}

export async function openItem(index: number): Promise<void> {
  const place = state.found.value.indexOf(index);
  if (place >= 0) state.cursor.value = place;
  state.opened.value = { index, view: null, doc: null, rescored: null, error: null };
  await refreshOpened();
  if (!state.isLive.value || state.isBusy.value) return;
  const doc = await (await startedEngine()).call.docView(index);
  if (doc.ok && state.opened.value?.index === index) state.opened.value = { ...state.opened.value, doc: doc.value };
}

async function refreshOpened(): Promise<void> {
  const index = state.opened.value?.index;
  if (index === undefined) return;
  const view = await analysis.call.item(index, state.options.value);
  const { value: opened } = state.opened;
  if (view.ok && opened?.index === index) state.opened.value = { ...opened, view: view.value };
}

export const closeItem = (): void => void (state.opened.value = null);

/** The next or previous item of the table's order, in the drawer too where it is open. */
export function step(by: number): void {
  const { length } = state.found.value;
  if (length === 0) return;
  state.cursor.value = Math.max(0, Math.min(length - 1, state.cursor.value + by));
  const index = state.found.value[state.cursor.value];
  if (state.opened.value !== null && index !== undefined) void openItem(index);
}

export async function rescore(context: string, continuations: string[]): Promise<void> {
  const { value: opened } = state.opened;
  if (opened === null) return;
  const item = await (await startedEngine()).call.rescore(opened.index, context, continuations);
  if (state.opened.value?.index !== opened.index) return;
  state.opened.value = { ...state.opened.value, rescored: item.ok ? item.value : opened.rescored, error: item.ok ? null : item.error };
}

// Files

const EXPORTS: Record<ExportKind, { name: string; type: string }> = {
  results: { name: "results.json", type: "application/json" },
  samples: { name: "samples.jsonl", type: "application/jsonl" },
  csv: { name: "items.csv", type: "text/csv" },
};

export async function exportFile(kind: ExportKind): Promise<void> {
  const { name, type } = EXPORTS[kind];
  await hashing;
  // The engine still has the rows of the run it made: its files say more.
  const isLive = kind !== "csv" && state.isLive.value;
  const content = isLive ? await (await startedEngine()).call.export(kind, state.options.value) : await analysis.call.export(kind, state.options.value);
  if (content.ok) saveFile(name, new Blob([content.value], { type }));
  else state.runError.value = content.error;
}

/** The same task for another harness, as a zip: to check a number there. */
export async function exportTask(harness: Harness): Promise<void> {
  const files = await (await startedEngine()).call.exportTask(harness, state.spec.value);
  if (!files.ok) {
    state.runError.value = files.error;
    return;
  }
  const zip = zipSync(Object.fromEntries(files.value.map(({ name, text: content }) => [name, strToU8(content)])));
  saveFile(`${harness}.zip`, new Blob([zip], { type: "application/zip" }));
}

export async function exportHtml(): Promise<void> {
  const { value: report } = state.report;
  const { value: run } = state.run;
  if (report === null || run === null) return;
  const charts = await Promise.all([...state.figures].map(async ([title, { svg }]) => ({ title, svg: await svg() })));
  saveFile("report.html", new Blob([htmlReport(report, run, charts)], { type: "text/html" }));
}

export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// History and cache

export async function refreshSaved(): Promise<void> {
  const runs = await analysis.call.saved();
  if (runs.ok) state.saved.value = runs.value;
  else state.historyError.value = runs.error;
  const files = await cache;
  state.cached.value = await files.list();
  state.storage.value = await storageState();
}
