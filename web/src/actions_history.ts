// What happens with runs and files that this browser keeps.
//
// In: events of the views. Out: state. Going on with a run takes the same model and rows, known by their hashes.

import { analysis, cache, hashed, loadModel, refreshSaved, setSpec, setTask, startRun } from "./actions.ts";
import { haveModel, rowsOfRef, type Found } from "./actions_link.ts";
import type { SavedRun } from "./history/runs.ts";
import type { Result } from "./result.ts";
import { askPersistence, isQuotaError, storageState } from "./sources/cache.ts";
import { partsOf } from "./sources/source_file.ts";
import * as state from "./state.ts";
import { history as words } from "./text_share.ts";
import type { FileMeta } from "./types.ts";
import type { EvalErrorLike } from "./worker/protocol.ts";

const tell = (result: Result<unknown, EvalErrorLike>): void => void (state.historyError.value = result.ok ? null : result.error);

export async function openSaved(id: string): Promise<void> {
  if (state.isBusy.value) return;
  state.profile.value = null;
  state.isLive.value = false;
  state.runPhase.value = "idle";
  tell(await analysis.call.openSaved(id));
}

/** Scores what is left of a run that broke off, by the engine that began it: a run has one. */
export async function goOn({ id, meta }: SavedRun): Promise<void> {
  if (state.isBusy.value || meta.model === null) return;
  const { value: engine } = state.engine;
  if (engine !== null && engine.version !== meta.engine_version) {
    return tell({ ok: false, error: { kind: "run_spec", place: null, message: words.otherEngine(meta.engine_version, engine.version) } });
  }
  await setSpec({ engine: meta.spec.engine });
  const { file: model } = meta.model;
  const found = {
    model: await haveModel({ ...model, url: model.source_url }),
    data: await rowsOf(meta.data),
    fewshot: meta.fewshot_data === null ? null : await rowsOf(meta.fewshot_data),
  };
  for (const [file, result] of [[model, found.model], [meta.data, found.data], [meta.fewshot_data ?? meta.data, found.fewshot]] as const) {
    if (result !== null && !result.ok) return tell({ ok: false, error: result.error ?? { kind: "io", place: file.name, message: words.choose } });
  }
  if (!found.data.ok || found.fewshot?.ok === false) return;
  tell({ ok: true, value: null });
  await setTask(found.data.value, meta.spec, found.fewshot?.value ?? null);
  await startRun(id);
}

const rowsOf = (file: FileMeta): Promise<Found<state.TaskFile>> =>
  rowsOfRef({ name: file.name, url: file.source_url, n_bytes: file.n_bytes, sha256: file.sha256 ?? "", n: file.n_rows ?? 0, rows: null });

export async function removeSaved(id: string): Promise<void> {
  tell(await analysis.call.removeSaved(id));
  await refreshSaved();
}

/** All runs as one file; null where the history could not be read. */
export async function exportSaved(): Promise<Blob | null> {
  const file = await analysis.call.exportSaved();
  tell(file);
  return file.ok ? file.value : null;
}

export async function importSaved(file: File): Promise<void> {
  const added = await analysis.call.importSaved(file);
  tell(added);
  if (added.ok) state.announcement.value = words.imported(added.value);
  await refreshSaved();
}

export async function removeCached(url: string): Promise<void> {
  await (await cache).remove(url);
  await refreshSaved();
}

/** Loads a kept model, of which the file is all or a part. */
export async function useCached(url: string, name: string): Promise<void> {
  const file = await (await cache).findModel(url);
  if (state.isBusy.value) return;
  if (file === null) return tell({ ok: false, error: { kind: "missing_part", place: name, message: words.partMissing } });
  tell({ ok: true, value: null });
  await loadModel(file);
}

/** Copies the loaded model, which was picked, into the cache. */
export async function keepModel(): Promise<void> {
  await hashed();
  const { value: model } = state.model;
  if (model.kind !== "ready") return;
  void askPersistence();
  try {
    for (const part of partsOf(model.file)) if (part.sha256 !== null) await (await cache).keep(part, part.sha256);
    tell({ ok: true, value: null });
  } catch (error) {
    tell({ ok: false, error: { kind: "io", place: model.file.name, message: isQuotaError(error) ? words.noRoom : messageOf(error) } });
  }
  await refreshSaved();
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export async function persist(): Promise<void> {
  await askPersistence();
  state.storage.value = await storageState();
}
