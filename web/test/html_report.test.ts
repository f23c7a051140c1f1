import { describe, expect, it } from "vitest";
import { htmlReport } from "../src/export/html_report.ts";
import { syntheticMeta } from "../src/defaults.ts";
import type { RunState } from "../src/worker/protocol.ts";
import type { Report } from "../src/types.ts";

const EVIL = `<img src=x onerror="alert('1')">&`;

/** Only the fields that the file is made from. */
const report = {
  engine_version: "0.1.0",
  counts: { n_docs: 10, n_scored: 7, n_unscored: 1, n_failed: 0, n_flagged: 0, n_settled_in_float32: 0 },
  headline: {
    metric: "acc",
    aggregation: "micro",
    // 163 of 418 and its Wilson interval, z = 1.96.
    value: 163 / 418,
    stderr: null,
    interval: { low: 0.3444, high: 0.4375 },
    interval_method: "wilson",
    n: 418,
    n_correct: 163,
    n_tied: 0,
    higher_is_better: true,
    chance: 0.25,
    chance_corrected: null,
    chance_corrected_interval: null,
    is_chance_inside: false,
    detectable: null,
  },
  rules: null,
  breakdown: null,
  calibration: null,
  likelihood: null,
  rolling: null,
  boundary: [],
  protocol: { paragraph: `Scored ${EVIL}.`, facts: [{ name: "task", value: EVIL }] },
  loglikelihood_digest: "b".repeat(64),
} as unknown as Report;

const run: RunState = {
  meta: syntheticMeta(EVIL, 10),
  n_items: 7,
  n_failed: 0,
  unscored: [{ index: null, line: 3, error: { kind: "task_format", place: null, message: EVIL } }],
  is_complete: false,
  saved_id: null,
};

describe("the report as one file", () => {
  const text = htmlReport(report, run, [{ title: EVIL, svg: "<svg></svg>" }]);

  it("holds text from models and tasks as text", () => {
    expect(text).not.toContain("<img");
    expect(text).toContain("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;");
  });

  it("allows itself nothing but its own style", () => {
    expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(text).not.toMatch(/<script|<link|@import|url\(/);
  });

  it("has headline, interval, the chart, and what was left out", () => {
    expect(text).toContain("39.0\u00a0%");
    expect(text).toContain("34.4\u2009–\u200943.8\u00a0%");
    expect(text).toContain("<svg></svg>");
    expect(text).toContain('<th scope="row">3</th>');
  });

  it("says that the run was not finished", () => {
    expect(text).toContain("This run was not finished: 7 of 10 docs.");
    expect(htmlReport(report, { ...run, is_complete: true }, [])).not.toContain("not finished");
  });
});
