// This run beside another one that was kept, doc by doc.

import { Field } from "./parts.tsx";
import { DataTable } from "./figure.tsx";
import { count } from "../text.ts";
import { comparison as words } from "../text_report.ts";
import * as state from "../state.ts";
import { compareWith, openItem } from "../actions.ts";
import type { SavedRun } from "../history/runs.ts";
import type { Comparison } from "../types.ts";

const NOTHING = "";
/** A longer list is what the files are for. */
const MAX_FLIPS = 200;

const nameOf = ({ meta, started_at }: SavedRun): string => words.run(meta.model?.file.name ?? "", meta.task.name, started_at);

export function ComparisonView() {
  const { value: run } = state.run;
  const { value: compared } = state.comparison;
  const others = state.saved.value.filter(({ id, n_scored }) => id !== run?.saved_id && n_scored > 0);
  return (
    <details class="more compare" open={compared !== null}>
      <summary>
        <h3>{words.heading}</h3>
      </summary>
      <p class="hint">{words.intro}</p>
      {others.length === 0 ? (
        <p class="hint">{words.none}</p>
      ) : (
        <Field label={words.other}>
          <select
            value={NOTHING}
            disabled={state.isBusy.value}
            onChange={({ currentTarget }) => {
              const chosen = others.find(({ id }) => id === currentTarget.value);
              // The control is a menu: it goes back to saying what it does.
              currentTarget.value = NOTHING;
              if (chosen !== undefined) void compareWith(chosen.id, nameOf(chosen));
            }}
          >
            <option value={NOTHING}>{words.nothing}</option>
            {others.map((other) => (
              <option key={other.id} value={other.id}>
                {nameOf(other)}
              </option>
            ))}
          </select>
        </Field>
      )}
      {compared !== null && (compared.comparison === null ? <p role="status">{words.notComparable}</p> : <Paired name={compared.name} comparison={compared.comparison} />)}
    </details>
  );
}

function Paired({ name, comparison }: { name: string; comparison: Comparison }) {
  const { n_both_correct, n_only_here_correct, n_only_other_correct, n_both_wrong, flips } = comparison;
  return (
    <div role="status">
      <p>{words.difference(comparison, name)}</p>
      <DataTable
        caption={words.table}
        columns={words.columns}
        rows={[
          [words.rightHere, count(n_both_correct), count(n_only_here_correct)],
          [words.wrongHere, count(n_only_other_correct), count(n_both_wrong)],
        ]}
      />
      <p>
        {words.only(comparison)} {words.bits(comparison)}
      </p>
      {flips.length > 0 && (
        <details class="more">
          <summary>{words.flips(flips.length)}</summary>
          <ul class="flips">
            {flips.slice(0, MAX_FLIPS).map(({ index, is_correct, other_is_correct }) => (
              <li key={index}>
                <button type="button" class="quiet" onClick={() => void openItem(index)}>
                  {words.flip(index, is_correct, other_is_correct)}
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
