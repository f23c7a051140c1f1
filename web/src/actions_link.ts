// What happens with run links: making one, opening one, running what it claims again.
//
// In: events of the views, the address's fragment. Out: state. Nothing of a link is fetched or run before a person asks for it,
// and no file stands in for another: each is known by its hash.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { analysis, cache, chooseModelFiles, fetchModel, hashed, loadModel, setSpec, setTask, startRun } from "./actions.ts";
import { rowsOf } from "./sources/rows.ts";
import { rowsFromUrl } from "./sources/rows_by_url.ts";
import { fromFile, type SourceFile } from "./sources/source_file.ts";
import { decodeRun, decodeRunFile, isRunFragment } from "./share/codec.ts";
import type { DataRef, FileRef, RunLink } from "./share/link.ts";
import { checkFile, quickPositions } from "./share/verify.ts";
import * as state from "./state.ts";
import { ok, type Result } from "./result.ts";
import { until } from "./until.ts";
import type { EvalErrorLike } from "./worker/protocol.ts";

/** Looks at the address now and whenever its fragment changes. */
export function watchAddress(): void {
  const look = (): void => {
    if (isRunFragment(location.hash)) show(decodeRun(location.hash));
  };
  look();
  addEventListener("hashchange", look);
}

export async function openRunFile(file: File): Promise<void> {
  show(decodeRunFile(new Uint8Array(await file.arrayBuffer())));
}

function show(run: Result<RunLink, EvalErrorLike>): void {
  given.clear();
  state.check.value = { kind: "idle" };
  state.incoming.value = run.ok ? run.value : null;
  state.incomingError.value = run.ok ? null : run.error;
}

export function closeIncoming(): void {
  state.incoming.value = null;
  state.incomingError.value = null;
  state.check.value = { kind: "idle" };
  history.replaceState(null, "", location.pathname + location.search);
}

// Making a link

/** Is the text of the rows at hand for the run that is looked at? */
export function passengerBytes(): number | null {
  const { value: task } = state.task;
  return state.isLive.value && task.kind === "ready" ? task.file.bytes.length + (task.fewshot?.bytes.length ?? 0) : null;
}

/** Takes the link away that is shown or being made: it says something else than what is chosen now. */
export function forgetLink(): void {
  state.link.value = { kind: "none" };
}

export async function makeLink(withRows: boolean): Promise<void> {
  const making = { kind: "making" } as const;
  state.link.value = making;
  const link = await linkOfRun(withRows);
  // Whatever came in between is newer than this one.
  if (state.link.value === making) state.link.value = link;
}

async function linkOfRun(withRows: boolean): Promise<state.Link> {
  await hashed();
  // The hash reaches the analysis on its own way.
  if (state.run.value?.meta.model !== null) await until(() => state.run.value?.meta.model?.file.sha256 != null);
  const { value: task } = state.task;
  const files = withRows && task.kind === "ready" ? task : null;
  const [rows, fewshotRows] = [textOf(files?.file ?? null), textOf(files?.fewshot ?? null)];
  if (!rows.ok) return { kind: "failed", error: rows.error };
  if (!fewshotRows.ok) return { kind: "failed", error: fewshotRows.error };
  const made = await analysis.call.link(rows.value, fewshotRows.value, state.options.value);
  if (!made.ok) return { kind: "failed", error: made.error };
  if (made.value.kind === "file") return made.value;
  return { kind: "ready", href: location.href.replace(/#.*$/, "").replace(/[?&]embed=1/, "") + made.value.fragment };
}

/** A file as text that has the file's bytes again when it is written. */
function textOf(file: state.TaskFile | null): Result<string | null, EvalErrorLike> {
  try {
    return { ok: true, value: file && new TextDecoder("utf-8", { ignoreBOM: true, fatal: true }).decode(file.bytes) };
  } catch {
    return { ok: false, error: { kind: "task_format", place: file?.name ?? null, message: "not UTF-8: such rows cannot travel in a link" } };
  }
}

// Running a link again

/** Files that a person gave for the link, by hash. */
const given = new Map<string, state.TaskFile>();

/** Runs the link's run again, all of it or a few docs, and compares. Asks for files where they are neither here nor to be had. */
export async function rerun(mode: "all" | "quick"): Promise<void> {
  const { value: run } = state.incoming;
  if (run === null || state.isBusy.value || state.check.value.kind === "running") return;
  const seed = mode === "quick" ? (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) : null;
  state.check.value = { kind: "running", seed };
  // Before the model is loaded: the setting says by which implementation.
  await setSpec({ engine: run.spec.engine });
  const data = await rowsOfRef(run.data);
  const fewshot = run.fewshot === null ? null : await rowsOfRef(run.fewshot);
  const model = await haveModel(run.model);
  const missing: state.LinkedFile[] = [];
  if (!model.ok) missing.push("model");
  if (!data.ok) missing.push("data");
  if (fewshot !== null && !fewshot.ok) missing.push("fewshot");
  if (!data.ok || !model.ok || (fewshot !== null && !fewshot.ok)) {
    const failures = [model, data, fewshot].flatMap((result) => (result === null || result.ok || result.error === null ? [] : [result.error]));
    state.check.value = { kind: "needs", files: missing, error: failures[0] ?? null };
    return;
  }
  await setTask(data.value, run.spec, fewshot?.value ?? null);
  const positions = seed === null ? null : quickPositions(run.outcome.n_docs, seed);
  const before = state.run.value?.meta.started_at;
  await startRun(null, positions);
  if (state.runPhase.value !== "done") {
    state.check.value = { kind: "idle" };
    return;
  }
  // The last items reach the analysis on their own way.
  await until(() => state.run.value?.is_complete === true && state.run.value.meta.started_at !== before);
  const verdict = await analysis.call.verify(run, positions);
  if (state.incoming.value !== run) return;
  state.check.value = verdict.ok ? { kind: "done", seed, verdict: verdict.value } : { kind: "needs", files: [], error: verdict.error };
}

/** A file that was asked for, of a split model all parts; refused where it is another one. */
export async function giveFile(which: state.LinkedFile, files: File[]): Promise<void> {
  const { value: run } = state.incoming;
  const [file] = files;
  if (run === null || file === undefined) return;
  const given = which === "model" ? await giveModel(run.model, files) : await giveRows(which === "data" ? run.data : (run.fewshot ?? run.data), file);
  const { value: check } = state.check;
  if (check.kind !== "needs") return;
  state.check.value = given.ok ? { ...check, files: check.files.filter((other) => other !== which), error: null } : { ...check, error: given.error };
}

async function giveModel(ref: FileRef, files: File[]): Promise<Result<null, EvalErrorLike>> {
  await chooseModelFiles(files);
  await hashed();
  const { value: model } = state.model;
  if (model.kind === "failed") return { ok: false, error: model.error };
  return checkFile(ref, { n_bytes: model.kind === "ready" ? model.file.size : 0, sha256: state.modelSha256.value ?? "" });
}

async function giveRows(ref: DataRef, file: File): Promise<Result<null, EvalErrorLike>> {
  const rows = await rowsOf(fromFile(file));
  if (!rows.ok) return rows;
  const checked = checkFile(ref, fingerprint(rows.value.bytes));
  if (checked.ok) given.set(ref.sha256, { ...rows.value, url: null });
  return checked;
}

const fingerprint = (bytes: Uint8Array): { n_bytes: number; sha256: string } => ({ n_bytes: bytes.length, sha256: bytesToHex(sha256(bytes)) });

/** An error of null: the link does not say where to get the file. */
export type Found<T> = Result<T, EvalErrorLike | null>;

/** The link's rows: from the link itself, from what is open, from what was given, from their address. */
export async function rowsOfRef(ref: DataRef): Promise<Found<state.TaskFile>> {
  if (ref.rows !== null) return { ok: true, value: { name: ref.name, bytes: new TextEncoder().encode(ref.rows), url: ref.url, converted_from: null } };
  const { value: task } = state.task;
  const open = task.kind === "ready" ? [task.file, task.fewshot] : [];
  for (const file of [given.get(ref.sha256), ...open]) {
    if (file != null && fingerprint(file.bytes).sha256 === ref.sha256) return { ok: true, value: { ...file, name: ref.name } };
  }
  if (ref.url === null) return { ok: false, error: null };
  const url = new URL(ref.url, document.baseURI).href;
  const wasCached = (await (await cache).find(url)) !== null;
  const rows = await rowsFromUrl({ url }, { cache: await cache });
  if (!rows.ok) return rows;
  const checked = checkFile(ref, fingerprint(rows.value.bytes));
  if (checked.ok) return { ok: true, value: { ...rows.value, name: ref.name, url: ref.url } };
  if (!wasCached) return checked;
  // The file may have changed at its address since it was kept: look there once.
  await (await cache).remove(url);
  return rowsOfRef(ref);
}

/** A hash is a hash of one length: another one is a claim that cannot be true. */
const sizeOf = (ref: ModelRef, { size }: SourceFile): Result<null, EvalErrorLike> =>
  checkFile({ ...ref, sha256: ref.sha256 ?? "" }, { n_bytes: size, sha256: ref.sha256 ?? "" });

/** A model whose hash is not known is known by name and size: a run that broke off before its file was hashed. */
export type ModelRef = Omit<FileRef, "sha256"> & { sha256: string | null };

/** Loads a model: the one that is loaded, one from the cache, or from its address. */
export async function haveModel(ref: ModelRef): Promise<Found<null>> {
  const { value: loaded } = state.model;
  if (loaded.kind === "ready") {
    await hashed();
    const isSame = ref.sha256 === null ? loaded.file.name === ref.name && loaded.file.size === ref.n_bytes : state.modelSha256.value === ref.sha256;
    if (isSame) return sizeOf(ref, loaded.file);
  }
  const cached = ref.sha256 === null ? null : await (await cache).findBySha256(ref.sha256);
  const checked = cached === null ? ok(null) : sizeOf(ref, cached);
  if (!checked.ok) return checked;
  const isLoaded =
    cached !== null
      ? await loadModel({ ...cached, name: ref.name, url: ref.url })
      : ref.url !== null &&
        (await fetchModel({ url: new URL(ref.url, document.baseURI).href, n_bytes: ref.n_bytes, sha256: ref.sha256, source_url: ref.url }));
  if (isLoaded) return { ok: true, value: null };
  const { value: model } = state.model;
  return { ok: false, error: model.kind === "failed" ? model.error : null };
}
