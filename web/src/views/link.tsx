// Run links: one of this run, and one that somebody sent.

import { useState } from "preact/hooks";
import { closeIncoming, forgetLink, giveFile, makeLink, passengerBytes, rerun } from "../actions_link.ts";
import { saveFile } from "../actions.ts";
import type { DataRef, FileRef, RunLink } from "../share/link.ts";
import { partNames } from "../sources/source_file.ts";
import { N_QUICK, type Verdict } from "../share/verify.ts";
import * as state from "../state.ts";
import { bytes, count, fixed, plural } from "../text.ts";
import { incoming as words, share, verdicts } from "../text_share.ts";
import type { RunSpec } from "../types.ts";
import { DataTable } from "./figure.tsx";
import { FilePicker, Problem } from "./parts.tsx";
import "./share.css";

/** Below the report: the link of the run that is looked at. */
export function ShareView() {
  const [withRows, setWithRows] = useState(false);
  const { value: run } = state.run;
  if (run === null || run.meta.model === null || !run.is_complete) return null;
  const nBytes = passengerBytes();
  const chooseRows = (chosen: boolean): void => {
    setWithRows(chosen);
    forgetLink();
  };
  return (
    <section class="report-section" aria-labelledby="report-link">
      <h2 id="report-link">{share.heading}</h2>
      <p class="hint">{share.intro}</p>
      {nBytes !== null && (
        <label class="check">
          <input type="checkbox" checked={withRows} onChange={({ currentTarget }) => chooseRows(currentTarget.checked)} /> {share.rows(nBytes)}
        </label>
      )}
      <div class="controls">
        <button type="button" disabled={state.isBusy.value} onClick={() => void makeLink(withRows && nBytes !== null)}>
          {share.make}
        </button>
      </div>
      <Made hasAddress={run.meta.model.file.source_url !== null && run.meta.data.source_url !== null} />
    </section>
  );
}

function Made({ hasAddress }: { hasAddress: boolean }) {
  const [copied, setCopied] = useState<string | null>(null);
  const { value: link } = state.link;
  switch (link.kind) {
    case "none":
    case "making":
      return null;
    case "failed":
      return <Problem error={link.error} />;
    case "file":
      return (
        <p>
          {share.tooLong(link.name)}{" "}
          <button type="button" onClick={() => saveFile(link.name, new Blob([link.text], { type: "application/json" }))}>
            {share.save}
          </button>
        </p>
      );
    case "ready":
      return (
        <>
          <label class="field">
            <span class="label">{share.field}</span>
            <input type="text" readOnly value={link.href} onFocus={({ currentTarget }) => currentTarget.select()} />
          </label>
          <div class="controls">
            <button
              type="button"
              onClick={async () => {
                await navigator.clipboard.writeText(link.href);
                setCopied(link.href);
              }}
            >
              {share.copy}
            </button>
            <span role="status">{copied === link.href && share.copied}</span>
          </div>
          <p class="hint">
            {share.size(link.href.length)} {!hasAddress && share.local}
          </p>
        </>
      );
  }
}

/** Above the steps: what a link claims, and whether it holds. */
export function IncomingView() {
  const { value: error } = state.incomingError;
  const { value: run } = state.incoming;
  if (error !== null) {
    return (
      <section class="panel" aria-labelledby="incoming">
        <h2 id="incoming">{words.refused}</h2>
        <Problem error={error} />
        <p>{words.nothing}</p>
        <Close />
      </section>
    );
  }
  if (run === null) return null;
  const { value: check } = state.check;
  return (
    <section class="panel" aria-labelledby="incoming">
      <h2 id="incoming">{words.heading}</h2>
      <Claims run={run} isVerified={check.kind === "done" && check.verdict.kind === "reproduced_bit_for_bit"} />
      <div class="controls">
        <button type="button" class="primary" disabled={state.isBusy.value || check.kind === "running"} onClick={() => void rerun("all")}>
          {words.all}
        </button>
        {run.outcome.n_docs > N_QUICK && (
          <button type="button" disabled={state.isBusy.value || check.kind === "running"} onClick={() => void rerun("quick")}>
            {words.quick(N_QUICK)}
          </button>
        )}
        <Close />
      </div>
      {check.kind === "needs" && <Needs run={run} files={check.files} error={check.error} />}
      <div role="status">
        {check.kind === "running" && <p>{words.running}</p>}
        {check.kind === "done" && <Verdict verdict={check.verdict} seed={check.seed} />}
      </div>
    </section>
  );
}

const Close = () => (
  <button type="button" class="quiet" onClick={closeIncoming}>
    {words.close}
  </button>
);

function Claims({ run, isVerified }: { run: RunLink; isVerified: boolean }) {
  const { outcome } = run;
  return (
    <>
      <dl class="facts">
        <FileFact name="Model" file={run.model} />
        <DataFact name="Task" file={run.data} />
        {run.fewshot !== null && <DataFact name="Few-shot examples" file={run.fewshot} />}
        <div>
          <dt>{words.engine}</dt>
          <dd>{run.engine_version}</dd>
        </div>
      </dl>
      <details class="more">
        <summary>{words.settings}</summary>
        <DataTable caption={words.settings} columns={["Setting", "Value"]} rows={settings(run.spec)} />
      </details>
      <h3>
        {words.results} {!isVerified && <span class="claimed">{words.claimed}</span>}
      </h3>
      <p>
        {words.docs(outcome.n_docs, outcome.failed.length, outcome.n_unscored)}. {outcome.metrics.map(([name, value]) => `${name} ${fixed(value, 4)}`).join(", ")}
      </p>
      {outcome.categories.length > 0 && <DataTable {...words.categories} rows={outcome.categories.map(([name, n, nCorrect]) => [name, count(nCorrect), count(n)])} />}
      {outcome.bins.length > 0 && (
        <details class="more">
          <summary>{words.bins.caption}</summary>
          <DataTable {...words.bins} rows={outcome.bins.map(([n, nCorrect, confidence], i) => [count(i + 1), count(n), count(nCorrect), n === 0 ? "" : fixed(confidence, 4)])} />
        </details>
      )}
    </>
  );
}

/** Every setting as it stands in the link. */
const settings = (spec: RunSpec): string[][] => Object.entries(spec).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);

function FileFact({ name, file, more = [] }: { name: string; file: FileRef; more?: string[] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {[file.name, bytes(file.n_bytes), ...more, origin(file)].join(", ")} <span class="hash">{file.sha256}</span>
      </dd>
    </div>
  );
}

const DataFact = ({ name, file }: { name: string; file: DataRef }) => <FileFact name={name} file={file} more={[plural(file.n, "row"), ...(file.rows === null ? [] : [words.inside])]} />;

/** Which host a rerun would ask. */
function origin({ url }: FileRef): string {
  if (url === null) return words.noSource;
  const address = new URL(url, document.baseURI);
  return address.origin === location.origin ? words.here : words.source(address.host);
}

function Needs({ run, files, error }: { run: RunLink; files: state.LinkedFile[]; error: Parameters<typeof Problem>[0]["error"] | null }) {
  return (
    <>
      {files.length > 0 && <p>{words.askedFor}</p>}
      {error !== null && <Problem error={error} />}
      {files.map((which) => {
        const ref = which === "fewshot" ? (run.fewshot ?? run.data) : run[which];
        return (
          <FilePicker
            key={which}
            label={words.files[which]}
            hint={words.needs(ref.name, ref.n_bytes, which === "model" ? partNames(ref.name).length : 1)}
            multiple={which === "model" && partNames(ref.name).length > 1}
            onFiles={(files) => void giveFile(which, files)}
          />
        );
      })}
    </>
  );
}

/** Differences that a person can still read through. */
const N_LISTED = 200;

function Verdict({ verdict, seed }: { verdict: Verdict; seed: number | null }) {
  switch (verdict.kind) {
    case "reproduced_bit_for_bit":
      return <p class="verdict-right">{verdicts.reproduced(verdict.n_docs)}</p>;
    case "same_picks_other_bits":
      // One engine has one set of bits: these were changed, or come from the stock path.
      return <p class={verdict.claimed_engine === verdict.rerun_engine ? "verdict-wrong" : "verdict-right"}>{verdicts.otherBits(verdict.n_docs, verdict.claimed_engine, verdict.rerun_engine)}</p>;
    case "other_docs":
      return <p class="verdict-wrong">{verdicts.otherDocs(verdict.n_claimed, verdict.n_rerun)}</p>;
    case "differs":
      return <Differences sentence={verdicts.differs(verdict.items.length, verdict.n_docs)} items={verdict.items} />;
    case "partial":
      return verdict.items.length === 0 ? (
        <p class="verdict-right">{verdicts.partial(verdict.n_checked, verdict.n_docs, seed ?? 0)}</p>
      ) : (
        <Differences sentence={verdicts.partlyDiffers(verdict.items.length, verdict.n_checked)} items={verdict.items} />
      );
  }
}

function Differences({ sentence, items }: { sentence: string; items: Extract<Verdict, { kind: "differs" }>["items"] }) {
  return (
    <>
      <p class="verdict-wrong">{sentence}</p>
      {items.length > 0 && (
        <DataTable {...verdicts.table} rows={items.slice(0, N_LISTED).map(({ index, claimed, rerun: here }) => [count(index + 1), verdicts.doc(claimed), verdicts.doc(here)])} />
      )}
      {items.length > N_LISTED && <p class="hint">{verdicts.only(N_LISTED)}</p>}
    </>
  );
}
