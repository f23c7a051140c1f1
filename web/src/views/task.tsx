// Step 2: which task, and how its docs are turned into prompts.

import { Address, Field, FilePicker, Problem, Select } from "./parts.tsx";
import { count, plural, text } from "../text.ts";
import * as state from "../state.ts";
import { chooseFewshotFile, chooseSample, chooseTaskFiles, chooseTaskUrl, setSpec } from "../actions.ts";
import type { ChatMode, RunSpec, Subset } from "../types.ts";

const OWN = "";

export function TaskStep() {
  const { value } = state.task;
  const busy = state.isBusy.value;
  const url = value.kind === "ready" ? value.file.url : null;
  const sample = state.sampleTasks.value.find(({ file }) => `tasks/${file}` === url);
  return (
    <section class="step" aria-labelledby="step-task" data-drop="task">
      <h2 id="step-task">
        <span class="number">2</span> {text.task.heading}
      </h2>
      <Field label={text.task.sample}>
        <select
          value={sample?.file ?? OWN}
          disabled={busy}
          onChange={({ currentTarget }) => {
            const chosen = state.sampleTasks.value.find(({ file }) => file === currentTarget.value);
            if (chosen !== undefined) void chooseSample(chosen);
          }}
        >
          {sample === undefined && <option value={OWN}>{value.kind === "ready" ? value.file.name : value.kind === "none" ? "" : value.name}</option>}
          {state.sampleTasks.value.map(({ file, title, n_rows }) => (
            <option key={file} value={file}>
              {title} ({plural(n_rows, "doc")})
            </option>
          ))}
        </select>
      </Field>
      {sample !== undefined && <p class="hint">{sample.description}</p>}
      {value.kind === "failed" && <Problem error={value.error} name={value.name} />}
      {value.kind === "reading" && <p class="hint">Reading {value.name}…</p>}
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
        <summary>From an address</summary>
        <Address label={text.task.url} action={text.model.open} placeholder="https://…/rows.jsonl" disabled={busy} onAddress={(address) => void chooseTaskUrl(address)} />
      </details>
      <Settings />
    </section>
  );
}

function Summary() {
  const { value: info } = state.taskInfo;
  if (info === null) return null;
  const [example] = info.examples;
  const nCategories = Object.keys(info.categories).length;
  return (
    <>
      <p class="summary">
        <strong>{info.name}</strong>
        {info.preset === null || info.preset === info.name ? "" : `, recognised as ${info.preset}`}: {plural(info.n_docs, "doc")} of {plural(info.n_rows, "row")}
        {nCategories > 1 && `, ${count(nCategories)} categories`}
      </p>
      {info.warnings.map((warning) => (
        <p key={warning} class="hint">
          {warning}
        </p>
      ))}
      {info.unscored.length > 0 && (
        <details class="problem">
          <summary>{plural(info.unscored.length, "row")} left out, counted in the report</summary>
          <ul>
            {info.unscored.slice(0, 50).map(({ line, error }) => (
              <li key={line}>
                line {line}: {text.errors.sentence(error)}
              </li>
            ))}
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
          <p class="hint">
            The marked text is scored{example.requests.length > 1 && `, as are the ${example.requests.length - 1} other choices in its place`}.
          </p>
        </details>
      )}
    </>
  );
}

const STYLES = ["", "mmlu", "question", "parenthesized", "no_labels", "verbose", "qa_pairs", "chat", "continuation"] as const;
const SUBSETS = [
  ["all", "all docs"],
  ["first", "the first n"],
  ["random", "n drawn at random"],
  ["per_category", "n of each category"],
] as const;
const CHATS = [
  ["off", "off"],
  ["one_message", "on, shots in one message"],
  ["turns", "on, shots as turns"],
] as const satisfies readonly (readonly [ChatMode, string])[];

const DEFAULT_N = 50;

function Settings() {
  const { value: spec } = state.spec;
  const busy = state.isBusy.value;
  const set = (patch: Partial<RunSpec>): void => void setSpec(patch);
  const subset = spec.subset;
  const style = STYLES.find((name) => name === spec.prompt_style) ?? "";
  return (
    <details class="more settings">
      <summary>{text.task.settings}</summary>
      <fieldset disabled={busy}>
        <Select
          label="Read rows as"
          value={spec.preset ?? ""}
          choices={[["", "what their fields say"], ...(state.engine.value?.presets ?? []).map(({ name, title }) => [name, title] as const)]}
          onChange={(name) => set({ preset: name === "" ? null : name, task_yaml: null })}
        />
        <Select label="Prompt style" value={style} choices={STYLES.map((name) => [name, name === "" ? "as the task says" : name] as const)} onChange={(name) => set({ prompt_style: name === "" ? null : name })} />
        <Select label="Docs" value={subset.kind} choices={SUBSETS} onChange={(kind) => set({ subset: subsetOf(kind, subset) })} />
        {subset.kind !== "all" && <NumberField label="Number of docs" value={subset.n} min={1} onValue={(n) => n !== null && set({ subset: { ...subset, n } })} />}
        {(subset.kind === "random" || subset.kind === "per_category") && (
          <NumberField label="Seed of the draw" value={subset.seed} min={0} onValue={(seed) => seed !== null && set({ subset: { ...subset, seed } })} />
        )}
        <NumberField label="Shots" hint="empty: as the task says" value={spec.num_fewshot} min={0} onValue={(num_fewshot) => set({ num_fewshot })} />
        <Select label="Chat template" value={spec.chat} choices={CHATS} onChange={(chat) => set({ chat })} />
        <Field label="System text">
          <input type="text" value={spec.system_instruction ?? ""} onChange={({ currentTarget }) => set({ system_instruction: currentTarget.value === "" ? null : currentTarget.value })} />
        </Field>
        <Select
          label="Arithmetic"
          value={spec.precision}
          choices={[
            ["default", "16-bit activations, near ties in float32"],
            ["float32", "float32 throughout (slower)"],
          ]}
          onChange={(precision) => set({ precision })}
        />
        <NumberField label="Window in tokens" hint="empty: the model's" value={spec.max_length} min={1} onValue={(max_length) => set({ max_length })} />
        <label class="check">
          <input type="checkbox" checked={spec.mutual_info} onChange={({ currentTarget }) => set({ mutual_info: currentTarget.checked })} /> Also score each choice without its question (mutual information)
        </label>
        <FilePicker label={text.task.fewshot} hint="rows that the shots are taken from" accept=".jsonl,.ndjson,.csv,.parquet,.zip" onFiles={([file]) => void chooseFewshotFile(file ?? null)} />
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
