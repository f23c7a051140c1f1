import { describe, expect, it } from "vitest";
import { linkOfRun } from "../src/share/from_report.ts";
import type { FileMeta, Proportion, Report, RunMeta } from "../src/types.ts";
import { makeItems, SPEC } from "./share_fixture.ts";

const file = (name: string, change: Partial<FileMeta> = {}): FileMeta => ({ name, n_bytes: 10, sha256: "a".repeat(64), n_rows: null, source_url: null, ...change });
const share = (n: number, nCorrect: number): Proportion => ({ n, n_correct: nCorrect, value: nCorrect / n, stderr: null, interval: { low: 0, high: 1 } });

/** Only the fields that a link is made from. */
function metaOf(model: FileMeta | null, data: FileMeta): RunMeta {
  return { spec: SPEC, model: model === null ? null : { file: model }, data, fewshot_data: null } as RunMeta;
}

const items = makeItems(8);
const nRight = items.filter((item) => item.picks[0]?.is_correct).length;

function reportOf(change: object): Report {
  return {
    engine_version: "0.1.0",
    options: { rule: "acc" },
    counts: { n_unscored: 2 },
    headline: { metric: "acc", value: nRight / 8 },
    rules: { listed: [{ rule: "acc", accuracy: share(8, nRight) }, { rule: "acc_norm", accuracy: share(8, 4) }] },
    likelihood: null,
    rolling: null,
    calibration: { bins: [{ n: 0, n_correct: 0, mean_confidence: null }, { n: 8, n_correct: nRight, mean_confidence: 0.123456 }], values: { ece: 0.25 } },
    breakdown: null,
    loglikelihood_digest: "b".repeat(64),
    ...change,
  } as unknown as Report;
}

describe("the link of a run", () => {
  it("has the report's numbers and the files' hashes", () => {
    const meta = metaOf(file("<model>.gguf", { source_url: "https://example.org/m.gguf" }), file("rows.jsonl", { n_rows: 10, source_url: "blob:https://example.org/1" }));
    const link = linkOfRun(meta, reportOf({}), items, []);
    expect(link).toMatchObject({
      ok: true,
      value: {
        v: 1,
        engine_version: "0.1.0",
        model: { name: "_model_.gguf", url: "https://example.org/m.gguf" },
        data: { name: "rows.jsonl", url: null, n: 10, rows: null },
        outcome: {
          n_docs: 8,
          n_unscored: 2,
          rule: "acc",
          metrics: [["acc", nRight / 8], ["acc_norm", 0.5], ["ece", 0.25]],
          bins: [[0, 0, 0], [8, nRight, 0.1235]],
        },
      },
    });
  });

  it("counts by group where categories are grouped, and by category where not", () => {
    const breakdown = {
      categories: [
        { name: "anatomy", group: "mmlu_stem", accuracy: share(3, 1) },
        { name: "astronomy", group: "mmlu_stem", accuracy: share(2, 0) },
        { name: "cooking", group: null, accuracy: share(3, 0) },
      ],
      groups: [
        { name: "mmlu", alias: "MMLU", micro: share(5, 1) },
        { name: "mmlu_stem", alias: "STEM", micro: share(5, 1) },
      ],
    };
    const link = linkOfRun(metaOf(file("m.gguf"), file("rows.jsonl")), reportOf({ breakdown }), items, []);
    expect(link.ok && link.value.outcome.categories).toEqual([["STEM", 5, 1], ["cooking", 3, 0]]);
  });

  it("is not there without a model, and not yet without its hash", () => {
    expect(linkOfRun(metaOf(null, file("rows.jsonl")), reportOf({}), items, [])).toMatchObject({ ok: false, error: { kind: "no_model" } });
    expect(linkOfRun(metaOf(file("m.gguf", { sha256: null }), file("rows.jsonl")), reportOf({}), items, [])).toMatchObject({ ok: false, error: { kind: "no_hash", place: "m.gguf" } });
  });
});
