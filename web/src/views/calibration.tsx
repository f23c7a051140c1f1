// Calibration: the reliability diagram with its controls, the numbers under it, selective accuracy, other runs over this one.

import { useCallback } from "preact/hooks";
import type { MakeScene } from "../charts/ChartView.tsx";
import { curvesScene } from "../charts/curves.ts";
import { reliabilityScene } from "../charts/reliability.ts";
import { Field, Metric, Select, type Term } from "./parts.tsx";
import { Figure } from "./figure.tsx";
import { count, fixed, percent, PROFILES, RULES } from "../text.ts";
import { calibration as words } from "../text_report.ts";
import * as state from "../state.ts";
import { removeOverlay, setOptions, showItems, showOverlay } from "../actions.ts";
import type { Calibration, CalibrationBootstrap, CalibrationValues, RuleTable, SyntheticProfile, TemperatureFit } from "../types.ts";

const UNIT = { min: 0, max: 1 };
const N_BINS = { min: 5, max: 30 };
/** The slider moves in powers of two: halving and doubling are equally far from 1. */
const TEMPERATURE = { min: -3, max: 3, step: 0.02 };
const PROFILE_NAMES = ["strong_calibrated", "strong_overconfident", "weak_calibrated"] as const satisfies readonly SyntheticProfile[];

export function CalibrationView() {
  const { value: report } = state.report;
  if (report === null || report.calibration === null) return null;
  return (
    <section class="report-section" aria-labelledby="report-calibration">
      <h2 id="report-calibration">{words.heading}</h2>
      <p class="hint">{words.intro}</p>
      <div class="columns">
        <div class="subsection">
          <Diagram calibration={report.calibration} />
          <p class="hint screen-only">{words.pickHint}</p>
        </div>
        <div class="subsection">
          <Controls calibration={report.calibration} rules={report.rules} />
          <Numbers calibration={report.calibration} bootstrap={state.bootstrap.value} />
          {report.calibration.temperature_fit !== null && <Fit fit={report.calibration.temperature_fit} />}
          <Overlays />
        </div>
      </div>
      <Selective calibration={report.calibration} />
    </section>
  );
}

/** This run first, then what is laid over it. */
function runsWith(calibration: Calibration, overlays: (typeof state.overlays)["value"]): { name: string; calibration: Calibration }[] {
  return [{ name: words.run, calibration }, ...overlays.map(({ name, calibration: other }) => ({ name, calibration: other }))];
}

function Diagram({ calibration }: { calibration: Calibration }) {
  const { value: overlays } = state.overlays;
  const scene = useCallback<MakeScene>(
    (width, theme, focus) =>
      reliabilityScene({
        runs: runsWith(calibration, overlays),
        width,
        theme,
        focus,
        words: { confidence: words.axisConfidence, accuracy: words.axisAccuracy, docs: words.axisDocs, share: words.share, count, note: words.note },
      }),
    [calibration, overlays],
  );
  return (
    <Figure
      name={words.diagram}
      label={words.label(calibration)}
      scene={scene}
      table={{ columns: words.columns, rows: calibration.bins.map(words.row) }}
      onPick={(id) => showItems({ bin: Number(id) })}
    />
  );
}

function Controls({ calibration, rules }: { calibration: Calibration; rules: RuleTable | null }) {
  const { value: options } = state.options;
  const listed = rules?.listed.map(({ rule }) => rule) ?? [];
  return (
    <div class="fields">
      <Field label={`${words.bins}: ${options.n_bins}`}>
        <input type="range" min={N_BINS.min} max={N_BINS.max} step={1} value={options.n_bins} onInput={({ currentTarget }) => setOptions({ n_bins: currentTarget.valueAsNumber })} />
      </Field>
      <Select
        label={words.cut}
        value={options.binning}
        choices={[
          ["equal_width", words.cuts.equal_width],
          ["equal_mass", words.cuts.equal_mass],
        ]}
        onChange={(binning) => setOptions({ binning })}
      />
      {listed.length > 1 && (
        <Select label={words.scores} value={calibration.confidence_rule} choices={listed.map((rule) => [rule, RULES[rule].name] as const)} onChange={(confidence_rule) => setOptions({ confidence_rule })} />
      )}
      <Field label={`${words.temperature}: ${fixed(options.temperature, 2)}`}>
        <input
          type="range"
          {...TEMPERATURE}
          value={Math.log2(options.temperature)}
          aria-valuetext={fixed(options.temperature, 2)}
          onInput={({ currentTarget }) => setOptions({ temperature: Number((2 ** currentTarget.valueAsNumber).toFixed(3)) })}
        />
      </Field>
      <button type="button" class="quiet" disabled={options.temperature === 1} onClick={() => setOptions({ temperature: 1 })}>
        {words.reset}
      </button>
    </div>
  );
}

function Numbers({ calibration: { values, values_at_one }, bootstrap }: { calibration: Calibration; bootstrap: CalibrationBootstrap | null }) {
  const isChanged = values.temperature !== 1;
  const before = (key: "ece" | "mce" | "brier" | "nll"): string | null => {
    const value: CalibrationValues[typeof key] = values_at_one[key];
    return isChanged && value !== null ? words.atOne(value) : null;
  };
  return (
    <>
      <p class="key-number">
        <Metric term="ece">{words.ece}</Metric> <output aria-label={words.ece}>{fixed(values.ece)}</output>{" "}
        <span class="hint">
          {bootstrap === null ? words.waiting : words.eceInterval(bootstrap)} {before("ece")}
        </span>
      </p>
      {bootstrap !== null && (
        <p>
          <Metric term="calibratedEce">{words.calibratedEce}</Metric> {words.calibrated(bootstrap)}
        </p>
      )}
      <dl class="numbers-list">
        <Value name={words.mce} term="mce" value={fixed(values.mce)} more={before("mce")} />
        {values.brier !== null && <Value name={words.brier} term="brier" value={fixed(values.brier)} more={before("brier")} />}
        <Value name={words.nll} term="nll" value={fixed(values.nll)} more={before("nll")} />
        <Value name={words.meanConfidence} term="confidence" value={percent(values.mean_confidence)} more={null} />
        <Value name={words.accuracy} term="accuracy" value={percent(values.accuracy)} more={null} />
      </dl>
    </>
  );
}

function Value({ name, term, value, more }: { name: string; term: Term; value: string; more: string | null }) {
  return (
    <div>
      <dt>
        <Metric term={term}>{name}</Metric>
      </dt>
      <dd>
        {value} {more !== null && <span class="hint">{more}</span>}
      </dd>
    </div>
  );
}

/** The slider moves freely; the fit keeps half of the docs aside to be judged on. */
function Fit({ fit }: { fit: TemperatureFit }) {
  // As the slider has it: a third decimal is far below what the fit can tell.
  const temperature = Number(fit.temperature.toFixed(3));
  return (
    <div class="subsection">
      <p>
        <Metric term="temperature">{words.temperature}</Metric>. {words.fitted(fit)}
      </p>
      <p class="controls">
        <button type="button" disabled={state.options.value.temperature === temperature} onClick={() => setOptions({ temperature })}>
          {words.fit(fit)}
        </button>
      </p>
    </div>
  );
}

const NOTHING = "";

function Overlays() {
  const { value: overlays } = state.overlays;
  const { value: run } = state.run;
  const choices: { key: string; name: string; of: state.CalibrationSource }[] = [
    ...PROFILE_NAMES.map((profile) => ({ key: profile, name: PROFILES[profile].name, of: profile })),
    ...state.saved.value
      .filter(({ id, is_complete }) => is_complete && id !== run?.saved_id)
      .map(({ id, meta, n_scored }) => {
        const name = words.overRun(`${meta.model?.file.name ?? ""} ${meta.task.name}`.trim(), n_scored);
        return { key: id, name, of: { saved_id: id } };
      }),
  ];
  return (
    <div class="overlays">
      <Field label={words.over}>
        <select
          value={NOTHING}
          onChange={({ currentTarget }) => {
            const chosen = choices.find(({ key }) => key === currentTarget.value);
            // The control is a menu: it goes back to saying what it does.
            currentTarget.value = NOTHING;
            if (chosen !== undefined) void showOverlay(chosen.key, chosen.name, chosen.of);
          }}
        >
          <option value={NOTHING}>{words.overNothing}</option>
          {choices.map(({ key, name }) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {overlays.length > 0 && (
        <ul class="chips">
          {overlays.map(({ key, name }) => (
            <li key={key}>
              {name}{" "}
              <button type="button" class="quiet" aria-label={words.remove(name)} onClick={() => removeOverlay(key)}>
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Selective({ calibration }: { calibration: Calibration }) {
  const { value: overlays } = state.overlays;
  const chance = state.report.value?.headline?.chance ?? null;
  const scene = useCallback<MakeScene>(
    (width, theme, focus) =>
      curvesScene({
        curves: runsWith(calibration, overlays).map(({ name, calibration: { selective } }) => ({ name, points: selective.map(({ coverage, accuracy }) => [coverage, accuracy] as const) })),
        x: { name: words.axisCoverage, range: UNIT, format: words.share },
        y: { name: words.axisAccuracy, range: UNIT, format: words.share },
        levels: chance === null ? [] : [{ name: words.chance, value: chance }],
        note: (_, i) => {
          const point = calibration.selective[i];
          return point === undefined ? [] : words.selectiveNote(point);
        },
        width,
        theme,
        focus,
      }),
    [calibration, overlays, chance],
  );
  return (
    <div class="subsection">
      <h3>
        <Metric term="selective">{words.selective}</Metric>
      </h3>
      <Figure name={words.selective} label={words.selectiveLabel(calibration)} scene={scene} table={{ columns: words.selectiveColumns, rows: calibration.selective.map(words.selectiveRow) }} />
    </div>
  );
}
