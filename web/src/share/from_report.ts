// A finished run as a link: its settings and hashes as they are, its outcome from the report.
//
// In: what the run left behind. Out: a `RunLink`, or why there can be none. Nothing is computed here but which number goes where.

import { fail, ok, type Failure, type Result } from "../result.ts";
import type { FailedItem, FileMeta, ItemScore, Report, RunMeta } from "../types.ts";
import { fileNameForLink, isSourceUrl, LINK_VERSION, outcomeOf, type CategoryCount, type DataRef, type FileRef, type MetricValue, type RunLink } from "./link.ts";

/** Text of the data files, where the user wants them to travel along. */
export interface Passengers {
  rows: string | null;
  fewshot_rows: string | null;
}

export const NO_PASSENGERS: Passengers = { rows: null, fewshot_rows: null };

/** The link of a run; the demonstration without a model has none, and a file whose hash is still being computed has none yet. */
export function linkOfRun(
  meta: RunMeta,
  report: Report,
  items: readonly ItemScore[],
  failed: readonly FailedItem[],
  passengers: Passengers = NO_PASSENGERS,
): Result<RunLink, Failure<"no_model" | "no_hash">> {
  if (meta.model === null) return fail("no_model", null, "there is no model behind these items");
  const model = fileRef(meta.model.file);
  const data = dataRef(meta.data, passengers.rows);
  const fewshot = meta.fewshot_data === null ? null : dataRef(meta.fewshot_data, passengers.fewshot_rows);
  if (!model.ok) return model;
  if (!data.ok) return data;
  if (fewshot !== null && !fewshot.ok) return fewshot;
  return ok({
    v: LINK_VERSION,
    engine_version: report.engine_version,
    spec: meta.spec,
    model: model.value,
    data: data.value,
    fewshot: fewshot?.value ?? null,
    outcome: outcomeOf(items, failed, {
      n_unscored: report.counts.n_unscored,
      rule: report.rules === null ? null : report.options.rule,
      categories: categoryCounts(report),
      bins: (report.calibration?.bins ?? []).map((bin) => [bin.n, bin.n_correct, bin.mean_confidence ?? 0]),
      metrics: metricValues(report),
      loglikelihood_digest: report.loglikelihood_digest,
    }),
  });
}

function fileRef(file: FileMeta): Result<FileRef, Failure<"no_hash">> {
  if (file.sha256 === null) return fail("no_hash", file.name, "the hash is still being computed");
  const url = file.source_url !== null && isSourceUrl(file.source_url) ? file.source_url : null;
  return ok({ name: fileNameForLink(file.name), url, n_bytes: file.n_bytes, sha256: file.sha256 });
}

function dataRef(file: FileMeta, rows: string | null): Result<DataRef, Failure<"no_hash">> {
  const ref = fileRef(file);
  return ref.ok ? ok({ ...ref.value, n: file.n_rows ?? 0, rows }) : ref;
}

/** Counts by group where the categories are grouped (four of MMLU, not 57), else by category. */
function categoryCounts({ breakdown }: Report): CategoryCount[] {
  if (breakdown === null) return [];
  const innermost = new Set(breakdown.categories.map((category) => category.group));
  const groups = breakdown.groups.filter((group) => innermost.has(group.name));
  const alone = breakdown.categories.filter((category) => category.group === null);
  return [
    ...groups.map(({ alias, micro }): CategoryCount => [alias, micro.n, micro.n_correct]),
    ...alone.map(({ name, accuracy }): CategoryCount => [name, accuracy.n, accuracy.n_correct]),
  ];
}

/** The report's numbers by lm-eval's names, the headline's first. */
function metricValues({ headline, rules, likelihood, rolling, calibration }: Report): MetricValue[] {
  const metrics = new Map<string, number>();
  if (headline !== null) metrics.set(headline.metric, headline.value);
  for (const { rule, accuracy } of rules?.listed ?? []) if (!metrics.has(rule)) metrics.set(rule, accuracy.value);
  if (calibration !== null) metrics.set("ece", calibration.values.ece);
  if (likelihood !== null) metrics.set("perplexity", likelihood.perplexity.value);
  if (rolling !== null) metrics.set("word_perplexity", rolling.word_perplexity.value);
  return [...metrics];
}
