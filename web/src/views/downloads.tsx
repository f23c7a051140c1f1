// What a run leaves behind, as files.

import { text } from "../text.ts";
import * as state from "../state.ts";
import { exportFile, exportHtml, exportTask } from "../actions.ts";

export function Downloads() {
  const isGrowing = state.isBusy.value;
  return (
    <section class="report-section" aria-labelledby="report-files">
      <h2 id="report-files">Files</h2>
      <p class="hint">{text.files.intro}</p>
      <div class="controls">
        <button type="button" onClick={() => void exportFile("results")}>
          Download results.json
        </button>
        <button type="button" onClick={() => void exportFile("samples")}>
          Download samples.jsonl
        </button>
        <button type="button" onClick={() => void exportFile("csv")}>
          Download items.csv
        </button>
        <button type="button" disabled={isGrowing} onClick={() => void exportHtml()}>
          Download report.html
        </button>
        <button type="button" onClick={() => window.print()}>
          Print
        </button>
      </div>
      {state.isLive.value && (
        <>
          <p class="hint">{text.files.harnesses}</p>
          <div class="controls">
            <button type="button" disabled={isGrowing} onClick={() => void exportTask("lm_eval")}>
              Download for lm-evaluation-harness
            </button>
            <button type="button" disabled={isGrowing} onClick={() => void exportTask("inspect")}>
              Download for Inspect
            </button>
          </div>
        </>
      )}
    </section>
  );
}
