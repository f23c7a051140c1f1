// A number from elsewhere beside this run's: inside the interval or not, and what was done differently.

import { Field, Select } from "./parts.tsx";
import { DataTable } from "./figure.tsx";
import { PARTS } from "../text.ts";
import { published as words } from "../text_report.ts";
import * as state from "../state.ts";
import { setOptions } from "../actions.ts";
import type { Aggregation, PublishedNumber } from "../types.ts";

const NOTHING_KNOWN = { num_fewshot: null, is_instruct: null, uses_chat_template: null, prompt_style: null, metric: null, aggregation: null, n: null };
const METRICS = ["acc", "acc_norm", "acc_bytes", "acc_token", "acc_mutual_info"] as const;
const STYLES = ["mmlu", "question", "parenthesized", "no_labels", "verbose", "qa_pairs", "chat", "continuation"] as const;
const AVERAGES = ["micro", "macro_categories", "macro_groups"] as const satisfies readonly Aggregation[];

/** Choices by name, with one for what the person does not know. */
const orUnknown = <T extends string>(names: readonly T[]): [T | "", string][] => [["", words.unknown], ...names.map((name): [T, string] => [name, name.replaceAll("_", " ")])];
const yesNo = (yes: string, no: string): ["" | "yes" | "no", string][] => [["", words.unknown], ["yes", yes], ["no", no]];
const answerOf = (value: boolean | null): "" | "yes" | "no" => (value === null ? "" : value ? "yes" : "no");
const known = <T extends string>(value: T | ""): T | null => (value === "" ? null : value);
const fromAnswer = (answer: "" | "yes" | "no"): boolean | null => (answer === "" ? null : answer === "yes");
const named = <T extends string>(names: readonly T[], value: string | null): T | "" => names.find((name) => name === value) ?? "";

export function PublishedView() {
  const report = state.report.value;
  const headline = report?.headline ?? null;
  if (report === null || headline === null) return null;
  const { published: number } = state.options.value;
  // Shares are typed as they are printed, in per cent.
  const factor = headline.metric === "word_perplexity" ? 1 : 100;
  const set = (patch: Partial<PublishedNumber>): void => {
    if (number !== null) setOptions({ published: { ...number, ...patch } });
  };
  const { published: comparison } = report;
  return (
    <details class="more compare published" open={number !== null}>
      <summary>
        <h3>{words.heading}</h3>
      </summary>
      <p class="hint">{words.intro}</p>
      <div class="fields">
        <Field label={words.value} hint={factor === 100 ? words.percentHint : words.plainHint}>
          <input
            type="number"
            min={0}
            {...(factor === 100 ? { max: 100 } : {})}
            step="any"
            value={number === null ? "" : Number((factor * number.value).toFixed(6))}
            onChange={({ currentTarget: { valueAsNumber: value } }) => setOptions({ published: value >= 0 && value <= (factor === 100 ? 100 : Infinity) ? { ...NOTHING_KNOWN, ...number, value: value / factor } : null })}
          />
        </Field>
        {number !== null && (
          <>
            <Select label={words.metric} value={named(METRICS, number.metric)} choices={orUnknown(METRICS)} onChange={(metric) => set({ metric: known(metric) })} />
            <Count label={words.shots} value={number.num_fewshot} min={0} onValue={(num_fewshot) => set({ num_fewshot })} />
            <Select label={words.model} value={answerOf(number.is_instruct)} choices={yesNo(words.instruct, words.base)} onChange={(answer) => set({ is_instruct: fromAnswer(answer) })} />
            <Select label={words.chat} value={answerOf(number.uses_chat_template)} choices={yesNo(words.with, words.without)} onChange={(answer) => set({ uses_chat_template: fromAnswer(answer) })} />
            <Select label={words.style} value={named(STYLES, number.prompt_style)} choices={orUnknown(STYLES)} onChange={(style) => set({ prompt_style: known(style) })} />
            <Select label={words.average} value={named(AVERAGES, number.aggregation)} choices={orUnknown(AVERAGES)} onChange={(average) => set({ aggregation: known(average) })} />
            <Count label={words.docs} value={number.n} min={1} onValue={(n) => set({ n })} />
          </>
        )}
      </div>
      {number !== null && (
        <button type="button" class="quiet" onClick={() => setOptions({ published: null })}>
          {words.clear}
        </button>
      )}
      {comparison !== null && (
        <div role="status">
          <p>{words.verdict(comparison, headline)}</p>
          {comparison.differences.length === 0 ? (
            <p>{words.noDifference}</p>
          ) : (
            <DataTable caption={words.differ} columns={words.columns} rows={comparison.differences.map(({ part, here, published }) => [PARTS[part], here, published])} />
          )}
          {comparison.unknown.length > 0 && <p class="hint">{words.notTold(comparison.unknown.map((part) => PARTS[part]))}</p>}
        </div>
      )}
    </details>
  );
}

function Count({ label, value, min, onValue }: { label: string; value: number | null; min: number; onValue: (value: number | null) => void }) {
  return (
    <Field label={label} hint={words.emptyHint}>
      <input
        type="number"
        min={min}
        step={1}
        value={value ?? ""}
        onChange={({ currentTarget: { valueAsNumber: n } }) => onValue(Number.isInteger(n) && n >= min ? n : null)}
      />
    </Field>
  );
}
