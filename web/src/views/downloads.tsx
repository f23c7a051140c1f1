// What a run leaves behind, as files.

import { text } from "../text.ts";
import * as state from "../state.ts";
import { exportFile, exportHtml, exportTask } from "../actions.ts";

export function Downloads() {
  const isGrowing = state.isBusy.value;
  return (
    <section class="report-section" aria-labelledby="report-files">
      <h2 id="report-files">{text.files.heading}</h2>
      <p class="hint">{text.files.intro}</p>
      <div class="controls">
        <button type="button" onClick={() => void exportFile("results")}>
          {text.files.download("results.json")}
        </button>
        <button type="button" onClick={() => void exportFile("samples")}>
          {text.files.download("samples.jsonl")}
        </button>
        <button type="button" onClick={() => void exportFile("csv")}>
          {text.files.download("items.csv")}
        </button>
        <button type="button" disabled={isGrowing} onClick={() => void exportHtml()}>
          {text.files.download("report.html")}
        </button>
        <button type="button" onClick={() => window.print()}>
          {text.files.print}
        </button>
      </div>
      {state.isLive.value && (
        <>
          <p class="hint">{text.files.harnesses}</p>
          <div class="controls">
            <button type="button" disabled={isGrowing} onClick={() => void exportTask("lm_eval")}>
              {text.files.lmEval}
            </button>
            <button type="button" disabled={isGrowing} onClick={() => void exportTask("inspect")}>
              {text.files.inspect}
            </button>
          </div>
        </>
      )}
    </section>
  );
}
