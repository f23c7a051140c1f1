// Bias probes: picked letters against right ones, lengths, and the same choices in other orders.

import { useCallback } from "preact/hooks";
import { barsScene } from "../charts/bars.ts";
import type { MakeScene } from "../charts/ChartView.tsx";
import { DataTable, Figure } from "./figure.tsx";
import { percent, percentRange } from "../text.ts";
import { bias as words, proportion } from "../text_report.ts";
import * as state from "../state.ts";
import { probeRotations } from "../actions.ts";
import type { Bias, LengthBias, Proportion } from "../types.ts";

const shareAxis = { name: words.shareAxis, format: (share: number) => percent(share, 0) };
const bar = ({ value, interval }: Proportion): { value: number; interval: Proportion["interval"] } => ({ value, interval });
const cell = ({ value, interval }: Proportion): string => `${percent(value)} (${percentRange(interval)})`;

export function BiasView() {
  const bias = state.report.value?.bias ?? null;
  if (bias === null) return null;
  return (
    <section class="report-section" aria-labelledby="bias">
      <h2 id="bias">{words.heading}</h2>
      <p class="hint">{words.intro}</p>
      <div class="columns">
        <Letters bias={bias} />
        <Lengths length={bias.length} />
      </div>
      <Rotations />
    </section>
  );
}

function Letters({ bias }: { bias: Bias }) {
  const { positions } = bias;
  // Letters are all equally long; whole answers are not.
  const areLetters = bias.length === null;
  const name = areLetters ? words.letters : words.places;
  const scene = useCallback<MakeScene>(
    (width, theme, focus) =>
      barsScene({
        groups: positions.map((position) => ({ name: position.letter, bars: [bar(position.picked), bar(position.gold)], note: words.lettersNote(position) })),
        series: [words.picked, words.gold],
        y: shareAxis,
        width,
        theme,
        focus,
      }),
    [positions],
  );
  return (
    <div class="subsection">
      <h3>{name}</h3>
      <Figure
        name={name}
        label={words.lettersChart(positions)}
        scene={scene}
        table={{
          columns: words.columns,
          rows: positions.map(({ letter, n_docs, picked, gold, accuracy_when_gold }) => [letter, String(n_docs), cell(picked), cell(gold), accuracy_when_gold === null ? "" : cell(accuracy_when_gold)]),
        }}
      />
      <p>{words.moved(bias)}</p>
      {!areLetters && <p class="hint">{words.placesHint}</p>}
    </div>
  );
}

function Lengths({ length }: { length: LengthBias | null }) {
  return (
    <div class="subsection">
      <h3>{words.length}</h3>
      {length === null ? <p>{words.noLength}</p> : <LengthFigure length={length} />}
    </div>
  );
}

function LengthFigure({ length }: { length: LengthBias }) {
  const { picked_longest, gold_longest, picked_shortest, gold_shortest } = length;
  const groups = [
    { name: words.longest, picked: picked_longest, gold: gold_longest },
    { name: words.shortest, picked: picked_shortest, gold: gold_shortest },
  ];
  const scene = useCallback<MakeScene>(
    (width, theme, focus) =>
      barsScene({
        groups: groups.map(({ name, picked, gold }) => ({
          name,
          bars: [bar(picked), bar(gold)],
          note: [name, `${words.picked}: ${proportion(picked)}`, `${words.gold}: ${proportion(gold)}`],
        })),
        series: [words.picked, words.gold],
        y: shareAxis,
        width,
        theme,
        focus,
      }),
    [length],
  );
  return (
    <>
      <Figure name={words.length} label={words.lengthChart(length)} scene={scene} table={{ columns: words.lengthColumns, rows: groups.map(({ name, picked, gold }) => [name, cell(picked), cell(gold)]) }} />
      <p>{words.lengths(length)}</p>
    </>
  );
}

/** The one probe that needs the model again. */
function Rotations() {
  const { value: rotations } = state.rotations;
  const { value: run } = state.run;
  const { value: matters } = state.canRotate;
  const isAtHand = run !== null && run.is_complete && state.isLive.value;
  if (rotations === null && isAtHand && matters === false) return <p class="hint">{words.rotateChangesNothing}</p>;
  const canRotate = isAtHand && matters === true && !state.isBusy.value;
  return (
    <div class="subsection">
      {rotations === null ? (
        <p class="controls">
          <button type="button" disabled={!canRotate} onClick={() => void probeRotations()}>
            {words.rotate}
          </button>
          <span class="hint">{isAtHand || state.isBusy.value ? words.rotateHint : words.rotateNeedsRun}</span>
        </p>
      ) : (
        <>
          <p>{words.rotated(rotations)}</p>
          <div class="columns">
            <DataTable
              caption={words.positions}
              columns={words.positionColumns}
              rows={rotations.positions.map(({ position, picked, accuracy_when_gold }) => [letterOf(position), cell(picked), accuracy_when_gold === null ? "" : cell(accuracy_when_gold)])}
            />
            <DataTable caption={words.shifts} columns={words.shiftColumns} rows={rotations.accuracy_by_shift.map(([shift, accuracy]) => [String(shift), cell(accuracy)])} />
          </div>
        </>
      )}
    </div>
  );

  function letterOf(position: number): string {
    return state.report.value?.bias?.positions[position]?.letter ?? String(position + 1);
  }
}
