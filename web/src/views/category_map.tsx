// Another grouping of the same categories: a line each, as text that can be pasted and kept.

import { useState } from "preact/hooks";
import { Field } from "./parts.tsx";
import { categoryMap as words } from "../text_report.ts";
import * as state from "../state.ts";
import { setOptions } from "../actions.ts";
import type { CategoryResult } from "../types.ts";

export function CategoryMap({ categories }: { categories: readonly CategoryResult[] }) {
  const [problem, setProblem] = useState<string | null>(null);
  const { category_map: map } = state.options.value;
  const lines = categories.map(({ name, group }) => `${name}: ${map?.[name] ?? group ?? ""}`).join("\n");
  return (
    <details class="more">
      <summary>{words.heading}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const value = new FormData(event.currentTarget).get("map");
          const read = mapOf(typeof value === "string" ? value : "", new Set(categories.map(({ name }) => name)));
          setProblem(read.ok ? null : read.problem);
          if (read.ok) setOptions({ category_map: read.map });
        }}
      >
        <p class="hint">{words.intro}</p>
        <Field label={words.label}>
          <textarea name="map" key={lines} defaultValue={lines} rows={Math.min(14, categories.length + 1)} spellcheck={false} />
        </Field>
        {problem !== null && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="controls">
          <button type="submit">{words.apply}</button>
          {map !== null && (
            <button type="button" class="quiet" onClick={() => setOptions({ category_map: null })}>
              {words.reset}
            </button>
          )}
        </p>
      </form>
    </details>
  );
}

/** A category's name may hold colons itself: the last one divides. A category without a group stays alone. */
function mapOf(text: string, known: ReadonlySet<string>): { ok: true; map: Record<string, string> } | { ok: false; problem: string } {
  const pairs: [string, string][] = [];
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const colon = line.lastIndexOf(":");
    if (colon < 0) return { ok: false, problem: words.noColon(i + 1) };
    const name = line.slice(0, colon).trim();
    if (!known.has(name)) return { ok: false, problem: words.unknown(i + 1, name) };
    const group = line.slice(colon + 1).trim();
    if (group !== "") pairs.push([name, group]);
  }
  return { ok: true, map: Object.fromEntries(pairs) };
}
