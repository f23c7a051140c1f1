// Step 3: the run, and how far it is.

import { Bar, Problem, Step } from "./parts.tsx";
import * as state from "../state.ts";
import { cancelRun, openProfile, pauseRun, resumeRun, startRun } from "../actions.ts";
import { FLAGS, PROFILES, text } from "../text.ts";
import type { SyntheticProfile } from "../types.ts";

export function RunStep() {
  const phase = state.runPhase.value;
  const canRun = !state.isBusy.value && state.task.value.kind === "ready" && state.taskError.value === null && (state.model.value.kind === "ready" || state.model.value.kind === "chosen");
  return (
    <Step number={3} name="run" heading={text.run.heading}>
      <div class="controls">
        <button type="button" class="primary" disabled={!canRun} onClick={() => void startRun()}>
          {text.run.run}
        </button>
        {phase === "running" && (
          <button type="button" onClick={() => void pauseRun()}>
            {text.run.pause}
          </button>
        )}
        {phase === "paused" && (
          <button type="button" onClick={() => void resumeRun()}>
            {text.run.resume}
          </button>
        )}
        {(phase === "running" || phase === "paused") && (
          <button type="button" onClick={() => void cancelRun()}>
            {text.run.cancel}
          </button>
        )}
      </div>
      <Progress />
      {state.engineDeaths.value > 0 && <p class="hint">{text.run.replaced(state.engineDeaths.value)}</p>}
      {state.runError.value !== null && <Problem error={state.runError.value} />}
      <Boundary />
      <Lesson />
    </Step>
  );
}

function Progress() {
  const { value: progress } = state.progress;
  const phase = state.runPhase.value;
  if (phase === "starting") return <p class="hint">{text.run.preparing}</p>;
  if (progress === null || phase === "idle") return null;
  const share = progress.phase === "done" ? 1 : progress.n_tokens_total === 0 ? 0 : progress.n_done / Math.max(1, progress.n_total);
  return (
    <div class="working" aria-busy={phase === "running"}>
      <Bar value={share} label={text.run.progress} />
      <p class="numbers">
        {state.probing.value !== null && <span>{text.run.order(state.probing.value.order, state.probing.value.n_orders)}</span>}
        <span>{phase === "running" || phase === "failed" ? text.run.phases[progress.phase] : text.run.states[phase]}</span>
        <span>{phase === "done" ? text.task.docs(state.run.value?.n_items ?? 0) : text.run.done(progress.n_done, progress.n_total)}</span>
        {progress.tokens_per_second !== null && <span>{text.run.speed(progress.tokens_per_second)}</span>}
        {progress.seconds_left !== null && phase === "running" && <span>{text.run.left(progress.seconds_left)}</span>}
        {phase === "done" && state.run.value?.meta.seconds != null && <span>{text.run.inAll(state.run.value.meta.seconds)}</span>}
      </p>
    </div>
  );
}

/** What is odd about how the docs meet the tokenizer, known before anything is scored. */
function Boundary() {
  const { value: prepared } = state.prepared;
  if (prepared === null) return null;
  return (
    <details class="more">
      <summary>{text.run.boundary(prepared.flags.length)}</summary>
      <p class="hint">{text.run.prepared(prepared)}</p>
      <ul>
        {prepared.flags.map(({ flag, n_docs, lines }) => (
          <li key={flag}>
            <strong>{FLAGS[flag].name}</strong>: {text.run.flagged(n_docs, lines, FLAGS[flag].gloss)}
          </li>
        ))}
      </ul>
    </details>
  );
}

const LESSONS = ["strong_calibrated", "strong_overconfident", "weak_calibrated"] as const satisfies readonly SyntheticProfile[];

function Lesson() {
  const { value: current } = state.profile;
  return (
    <div class="lesson">
      <p class="hint">{text.run.lesson}</p>
      <div class="controls">
        {LESSONS.map((profile) => (
          <button key={profile} type="button" class="quiet" aria-pressed={current === profile} disabled={state.isBusy.value} onClick={() => void openProfile(profile)}>
            {PROFILES[profile].name}
          </button>
        ))}
      </div>
      {current !== null && <p>{PROFILES[current].lesson}</p>}
    </div>
  );
}
