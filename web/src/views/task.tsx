// Step 2: which task, and how its docs are turned into prompts.

import { Address, Field, FilePicker, Offered, Problem, Select, Step } from "./parts.tsx";
import { text } from "../text.ts";
import * as state from "../state.ts";
import { chooseFewshotFile, chooseFewshotUrl, chooseSample, chooseTaskFiles, chooseTaskUrl, setSpec, stopReading } from "../actions.ts";
import type { RunSpec, Subset } from "../types.ts";

export function TaskStep() {
  const { value } = state.task;
  const busy = state.isBusy.value;
  const url = value.kind === "ready" ? value.file.url : null;
  const sample = state.sampleTasks.value.find(({ file }) => `tasks/${file}` === url);
  return (
    <Step number={2} name="task" heading={text.task.heading} takesDrops>
      <Offered
        label={text.task.sample}
        entries={state.sampleTasks.value}
        keyOf={({ file }) => file}
        nameOf={({ title, n_rows }) => `${title} (${text.task.docs(n_rows)})`}
        chosen={sample ?? null}
        own={nameOf(value)}
        disabled={busy}
        onChoose={(entry) => void chooseSample(entry)}
      />
      {sample !== undefined && <p class="hint">{sample.description}</p>}
      {value.kind === "failed" && <Problem error={value.error} name={value.name} />}
      {value.kind === "reading" && (
        <p class="hint">
          {text.task.reading(value.name, value.progress)}{" "}
          <button type="button" class="quiet" onClick={stopReading}>
            {text.model.cancel}
          </button>
        </p>
      )}
      {state.taskError.value !== null && <Problem error={state.taskError.value} />}
      <Summary />
      <FilePicker
        label={text.task.file}
        hint={text.task.drop}
        accept=".jsonl,.ndjson,.json,.csv,.parquet,.zip,.yaml,.yml"
        multiple
        disabled={busy}
        onFiles={(files) => void chooseTaskFiles(files)}
      />
      <details class="more">
        <summary>{text.model.address}</summary>
        <Address label={text.task.url} action={text.model.open} placeholder="https://…/rows.jsonl" disabled={busy} onAddress={(address) => void chooseTaskUrl(address)} />
      </details>
      <Settings />
    </Step>
  );
}

function nameOf(value: state.TaskPhase): string {
  switch (value.kind) {
    case "none":
      return "";
    case "ready":
      return value.file.name;
    case "reading":
    case "failed":
      return value.name;
  }
}

/** Of rows that are left out; the files have them all. */
const SHOWN_ROWS = 50;

function Summary() {
  const { value: info } = state.taskInfo;
  if (info === null) return null;
  const [example] = info.examples;
  return (
    <>
      <p class="summary">
        {info.preset === info.name && text.task.readAs}
        <strong>{info.name}</strong>
        {text.task.summary(info)}
      </p>
      {info.warnings.map((warning) => (
        <p key={warning} class="hint">
          {warning}
        </p>
      ))}
      {info.unscored.length > 0 && (
        <details class="problem">
          <summary>{text.task.leftOut(info.unscored.length)}</summary>
          <ul>
            {info.unscored.slice(0, SHOWN_ROWS).map(({ line, error }) => (
              <li key={line}>{text.task.line(line, error)}</li>
            ))}
            {info.unscored.length > SHOWN_ROWS && <li>{text.task.more(info.unscored.length - SHOWN_ROWS)}</li>}
          </ul>
        </details>
      )}
      {example !== undefined && (
        <details class="more">
          <summary>{text.task.examples}</summary>
          {example.requests.slice(0, 1).map(({ context, continuation }) => (
            <pre key={context} class="prompt" tabIndex={0}>
              {context}
              <mark>{continuation}</mark>
            </pre>
          ))}
          <p class="hint">{text.task.scored(example.requests.length - 1)}</p>
        </details>
      )}
    </>
  );
}

const STYLES = ["", "mmlu", "question", "parenthesized", "no_labels", "verbose", "qa_pairs", "chat", "continuation"] as const;

const DEFAULT_N = 50;

function Settings() {
  const { value: spec } = state.spec;
  const { value: task } = state.task;
  const busy = state.isBusy.value;
  const set = (patch: Partial<RunSpec>): void => void setSpec(patch);
  const words = text.settings;
  const subset = spec.subset;
  const style = STYLES.find((name) => name === spec.prompt_style) ?? "";
  return (
    <details class="more settings">
      <summary>{text.task.settings}</summary>
      <fieldset disabled={busy}>
        <Select
          label={words.preset}
          value={spec.preset ?? ""}
          choices={[["", words.recognised], ...(state.engine.value?.presets ?? []).map(({ name, title }) => [name, title] as const)]}
          onChange={(name) => set({ preset: name === "" ? null : name, task_yaml: null })}
        />
        <Select label={words.style} value={style} choices={STYLES.map((name) => [name, name === "" ? words.asTask : name] as const)} onChange={(name) => set({ prompt_style: name === "" ? null : name })} />
        <Select label={words.subset} value={subset.kind} choices={words.subsets} onChange={(kind) => set({ subset: subsetOf(kind, subset) })} />
        {subset.kind !== "all" && <NumberField label={words.n} value={subset.n} min={1} onValue={(n) => n !== null && set({ subset: { ...subset, n } })} />}
        {(subset.kind === "random" || subset.kind === "per_category") && (
          <NumberField label={words.seed} value={subset.seed} min={0} onValue={(seed) => seed !== null && set({ subset: { ...subset, seed } })} />
        )}
        <NumberField label={words.shots} hint={words.shotsHint} value={spec.num_fewshot} min={0} onValue={(num_fewshot) => set({ num_fewshot })} />
        <Select label={words.chat} value={spec.chat} choices={words.chats} onChange={(chat) => set({ chat })} />
        <Field label={words.system}>
          <input type="text" value={spec.system_instruction ?? ""} onChange={({ currentTarget }) => set({ system_instruction: currentTarget.value === "" ? null : currentTarget.value })} />
        </Field>
        <Select
          label={words.precision}
          value={spec.precision}
          choices={words.precisions}
          onChange={(precision) => set({ precision })}
        />
        <Select label={words.engine} value={spec.engine} choices={words.engines} onChange={(engine) => set({ engine })} />
        <NumberField label={words.window} hint={words.windowHint} value={spec.max_length} min={1} onValue={(max_length) => set({ max_length })} />
        <label class="check">
          <input type="checkbox" checked={spec.mutual_info} onChange={({ currentTarget }) => set({ mutual_info: currentTarget.checked })} /> {words.mutualInfo}
        </label>
        <FilePicker label={text.task.fewshot} hint={words.fewshotHint} accept=".jsonl,.ndjson,.csv,.parquet,.zip" onFiles={([file]) => file && void chooseFewshotFile(file)} />
        <Address label={words.fewshotUrl} action={text.model.open} placeholder="https://…/dev.jsonl" disabled={busy} onAddress={(address) => void chooseFewshotUrl(address)} />
        {task.kind === "ready" && task.fewshot !== null && <p class="hint">{words.fewshotIs(task.fewshot.name)}</p>}
        <Yaml />
      </fieldset>
    </details>
  );
}

function subsetOf(kind: Subset["kind"], before: Subset): Subset {
  const n = before.kind === "all" ? DEFAULT_N : before.n;
  const seed = before.kind === "random" || before.kind === "per_category" ? before.seed : 1234;
  switch (kind) {
    case "all":
      return { kind };
    case "first":
      return { kind, n };
    case "random":
    case "per_category":
      return { kind, n, seed };
  }
}

function Yaml() {
  const yaml = state.spec.value.task_yaml ?? state.taskInfo.value?.yaml ?? "";
  return (
    <form
      class="yaml"
      onSubmit={(event) => {
        event.preventDefault();
        const value = new FormData(event.currentTarget).get("yaml");
        if (typeof value === "string") void setSpec({ task_yaml: value, preset: null });
      }}
    >
      <Field label={text.task.yaml}>
        <textarea name="yaml" key={yaml} defaultValue={yaml} rows={12} spellcheck={false} />
      </Field>
      <button type="submit">{text.task.applyYaml}</button>{" "}
      {state.spec.value.task_yaml !== null && (
        <button type="button" class="quiet" onClick={() => void setSpec({ task_yaml: null })}>
          {text.task.ownYaml}
        </button>
      )}
    </form>
  );
}

interface NumberProps {
  label: string;
  hint?: string;
  value: number | null;
  min: number;
  onValue: (value: number | null) => void;
}

function NumberField({ label, hint, value, min, onValue }: NumberProps) {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      <input
        type="number"
        min={min}
        step={1}
        value={value ?? ""}
        onChange={({ currentTarget }) => {
          const n = currentTarget.valueAsNumber;
          if (Number.isNaN(n)) onValue(null);
          else if (Number.isInteger(n) && n >= min) onValue(n);
        }}
      />
    </Field>
  );
}
