// Small pieces that several views are made of.

import { cloneElement, type ComponentChildren, type JSX } from "preact";
import { useId } from "preact/hooks";
import { GLOSSARY, text } from "../text.ts";
import type { EvalErrorLike } from "../worker/protocol.ts";

export type Term = keyof typeof GLOSSARY;

/** A word that opens its definition. */
export function Metric({ term, children }: { term: Term; children: ComponentChildren }) {
  const id = useId();
  return (
    <span class="metric">
      <button type="button" class="term" popovertarget={id}>
        {children}
      </button>
      <span id={id} popover="auto" class="definition">
        {GLOSSARY[term]}
      </span>
    </span>
  );
}

/** One of the steps from a model to a run. A drop into it is meant for it, whatever the file's name says. */
export function Step({ number, name, heading, takesDrops = false, children }: { number: number; name: string; heading: string; takesDrops?: boolean; children: ComponentChildren }) {
  const id = `step-${name}`;
  return (
    <section class="step" aria-labelledby={id} {...(takesDrops ? { "data-drop": name } : {})}>
      <h2 id={id}>
        <span class="number">{number}</span> {heading}
      </h2>
      {children}
    </section>
  );
}

export function Problem({ error, name }: { error: EvalErrorLike; name?: string }) {
  return (
    <p class="problem" role="alert">
      {name !== undefined && <strong>{name}: </strong>}
      {text.errors.sentence(error)}
    </p>
  );
}

export function Bar({ value, label }: { value: number | null; label: string }) {
  return value === null ? <progress aria-label={label} /> : <progress aria-label={label} value={value} max={1} />;
}

interface FieldProps {
  label: string;
  hint?: string;
  children: JSX.Element;
}

/** A labelled control. The label holds its text alone, so that the control's name is that text and nothing else. */
export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {cloneElement(children, hint === undefined ? { id } : { id, "aria-describedby": hintId })}
      {hint !== undefined && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  choices: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
  disabled?: boolean;
}

export function Select<T extends string>({ label, value, choices, onChange, disabled = false }: SelectProps<T>) {
  return (
    <Field label={label}>
      <select
        value={value}
        disabled={disabled}
        onChange={({ currentTarget }) => {
          const chosen = choices.find(([key]) => key === currentTarget.value);
          if (chosen !== undefined) onChange(chosen[0]);
        }}
      >
        {choices.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface OfferedProps<T> {
  label: string;
  entries: readonly T[];
  keyOf: (entry: T) => string;
  nameOf: (entry: T) => string;
  /** Null where a person brought something of their own, which `own` names. */
  chosen: T | null;
  own: string;
  disabled: boolean;
  onChoose: (entry: T) => void;
}

const OWN = "";

/** What the page offers, to choose from. */
export function Offered<T>({ label, entries, keyOf, nameOf, chosen, own, disabled, onChoose }: OfferedProps<T>) {
  const choices = entries.map((entry): readonly [string, string] => [keyOf(entry), nameOf(entry)]);
  return (
    <Select
      label={label}
      value={chosen === null ? OWN : keyOf(chosen)}
      choices={chosen === null ? [[OWN, own], ...choices] : choices}
      disabled={disabled}
      onChange={(key) => {
        const entry = entries.find((candidate) => keyOf(candidate) === key);
        if (entry !== undefined) onChoose(entry);
      }}
    />
  );
}

/** The head of a table, a column each. */
export const ColumnHeads = ({ columns, children }: { columns: readonly string[]; children?: ComponentChildren }) => (
  <thead>
    <tr>
      {columns.map((column) => (
        <th key={column} scope="col">
          {column}
        </th>
      ))}
      {children}
    </tr>
  </thead>
);

interface DropProps {
  label: string;
  hint: string;
  accept?: string;
  multiple?: boolean;
  disabled?: boolean;
  onFiles: (files: File[]) => void;
}

/** A file picker; its whole box takes drops, handled where all drops are. */
export function FilePicker({ label, hint, accept, multiple = false, disabled = false, onFiles }: DropProps) {
  return (
    <div class="picker">
      <Field label={label} hint={hint}>
        <input
          type="file"
          {...(accept === undefined ? {} : { accept })}
          multiple={multiple}
          disabled={disabled}
          onChange={({ currentTarget }) => {
            const files = [...(currentTarget.files ?? [])];
            // The same file chosen again is a choice too.
            currentTarget.value = "";
            if (files.length > 0) onFiles(files);
          }}
        />
      </Field>
    </div>
  );
}

interface AddressProps {
  label: string;
  action: string;
  placeholder: string;
  disabled?: boolean;
  onAddress: (address: string) => void;
}

export function Address({ label, action, placeholder, disabled = false, onAddress }: AddressProps) {
  return (
    <form
      class="address"
      onSubmit={(event) => {
        event.preventDefault();
        const value = new FormData(event.currentTarget).get("address");
        if (typeof value === "string" && value.trim() !== "") onAddress(value.trim());
      }}
    >
      <Field label={label}>
        <input name="address" type="text" inputMode="url" autocomplete="off" spellcheck={false} placeholder={placeholder} disabled={disabled} />
      </Field>
      <button type="submit" disabled={disabled}>
        {action}
      </button>
    </form>
  );
}

/** Value, interval and chance on one line from 0 to 1. */
export function Strip({ value, low, high, chance, label }: { value: number; low: number | null; high: number | null; chance: number | null; label: string }) {
  const x = (share: number): string => `${100 * share}%`;
  return (
    <svg class="strip" role="img" aria-label={label} height="34" width="100%">
      <line class="strip-axis" x1="0" x2="100%" y1="17" y2="17" />
      {[0, 0.25, 0.5, 0.75, 1].map((tick) => (
        <line key={tick} class="strip-axis" x1={x(tick)} x2={x(tick)} y1="13" y2="21" />
      ))}
      {chance !== null && <line class="strip-chance" x1={x(chance)} x2={x(chance)} y1="3" y2="31" />}
      {low !== null && high !== null && <line class="strip-interval" x1={x(low)} x2={x(high)} y1="17" y2="17" />}
      <circle class="strip-value" cx={x(value)} cy="17" r="6" />
    </svg>
  );
}
