// Runs and files that this browser keeps.

import { compareWith, saveFile, showOverlay } from "../actions.ts";
import { exportSaved, goOn, importSaved, keepModel, openSaved, persist, removeCached, removeSaved, useCached } from "../actions_history.ts";
import { openRunFile } from "../actions_link.ts";
import type { SavedRun } from "../history/runs.ts";
import * as state from "../state.ts";
import { partNames, partsOf, type SourceFile } from "../sources/source_file.ts";
import { bytes, count, dateAndTime, fixed } from "../text.ts";
import { history as words } from "../text_share.ts";
import { ColumnHeads, FilePicker, Problem } from "./parts.tsx";

export function HistoryView() {
  return (
    <section class="report-section" aria-labelledby="history">
      <h2 id="history">{words.heading}</h2>
      {state.historyError.value !== null && <Problem error={state.historyError.value} />}
      <Runs />
      <div class="columns">
        <FilePicker label={words.openRun} hint={words.openHint} accept=".json" onFiles={([file]) => file && void openRunFile(file)} />
        <FilePicker label={words.importRuns} hint={words.importHint} accept=".jsonl" disabled={state.isBusy.value} onFiles={([file]) => file && void importSaved(file)} />
      </div>
      <Files />
      <Keep />
      <Storage />
    </section>
  );
}

function Runs() {
  const { value: runs } = state.saved;
  if (runs.length === 0) return <p class="hint">{words.none}</p>;
  return (
    <>
      <div class="scroll" role="region" aria-label={words.runs.caption} tabIndex={0}>
        <table class="data">
          <caption>{words.runs.caption}</caption>
          <ColumnHeads columns={words.runs.columns}>
            <td />
          </ColumnHeads>
          <tbody>
            {runs.map((run) => (
              <Run key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      </div>
      <div class="controls">
        <button
          type="button"
          onClick={async () => {
            const file = await exportSaved();
            if (file !== null) saveFile("evaltab-runs.jsonl", file);
          }}
        >
          {words.exportAll}
        </button>
      </div>
    </>
  );
}

function Run({ run }: { run: SavedRun }) {
  const { id, meta, headline } = run;
  const name = `${meta.model?.file.name ?? ""}, ${meta.data.name}`;
  const began = dateAndTime(run.started_at);
  const isOpen = state.run.value?.saved_id === id;
  const busy = state.isBusy.value;
  const action = (label: string, isDisabled: boolean, act: () => void) => (
    <button type="button" class="quiet" aria-label={words.of(label, `${name}, ${began}`)} disabled={isDisabled} onClick={act}>
      {label}
    </button>
  );
  return (
    <tr aria-current={isOpen}>
      <th scope="row">{began}</th>
      <td>{meta.model?.file.name}</td>
      <td>{meta.data.name}</td>
      <td>{count(run.is_complete ? run.n_scored : meta.n_docs)}</td>
      <td>{run.is_complete ? headline !== null && `${headline.metric} ${fixed(headline.value)}` : words.unfinished(run.n_scored, meta.n_docs)}</td>
      <td>
        <div class="controls">
          {action(words.open, busy || isOpen, () => void openSaved(id))}
          {!run.is_complete && action(words.goOn, busy, () => void goOn(run))}
          {action(words.compare, busy || isOpen || !state.hasItems.value, () => void compareWith(id, name))}
          {action(words.overlay, busy || isOpen || !state.hasItems.value, () => void showOverlay(id, name, { saved_id: id }))}
          {action(words.remove, busy, () => void removeSaved(id))}
        </div>
      </td>
    </tr>
  );
}

function Files() {
  const { value: files } = state.cached;
  if (files.length === 0) return <p class="hint">{words.noFiles}</p>;
  return (
    <div class="scroll" role="region" aria-label={words.files.caption} tabIndex={0}>
      <table class="data">
        <caption>{words.files.caption}</caption>
        <ColumnHeads columns={words.files.columns}>
          <td />
        </ColumnHeads>
        <tbody>
          {files.map(({ url, name, n_bytes, n_bytes_stored, is_complete }) => (
            <tr key={url}>
              <th scope="row">{name}</th>
              <td>{is_complete ? bytes(n_bytes_stored) : words.part(n_bytes_stored, n_bytes)}</td>
              <td>{url.startsWith("file:") ? words.picked : new URL(url).host}</td>
              <td>
                <div class="controls">
                  {is_complete && /\.gguf$/i.test(name) && partNames(name)[0] === name && (
                    <button type="button" class="quiet" aria-label={words.of(words.use, name)} disabled={state.isBusy.value} onClick={() => void useCached(url, name)}>
                      {words.use}
                    </button>
                  )}
                  <button type="button" class="quiet" aria-label={words.of(words.remove, name)} disabled={state.isBusy.value} onClick={() => void removeCached(url)}>
                    {words.remove}
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const isKept = (file: SourceFile): boolean => partsOf(file).every((part) => state.cached.value.some(({ sha256, is_complete }) => is_complete && sha256 === part.sha256));

/** A picked model is kept only where a person wants it: it is on this machine already. */
function Keep() {
  const { value: model } = state.model;
  if (model.kind !== "ready" || model.file.url !== null || isKept(model.file)) return null;
  return (
    <p class="hint">
      {words.notKept(model.file.name)}{" "}
      <button type="button" class="quiet" disabled={state.isBusy.value} onClick={() => void keepModel()}>
        {words.keep}
      </button>
    </p>
  );
}

function Storage() {
  const { value: storage } = state.storage;
  if (storage === null) return null;
  return (
    <p class="hint">
      {words.storage(storage.n_bytes_used, storage.n_bytes_quota)} {storage.is_persistent ? words.persistent : words.mayClear}{" "}
      {!storage.is_persistent && (
        <button type="button" class="quiet" onClick={() => void persist()}>
          {words.persist}
        </button>
      )}
    </p>
  );
}
