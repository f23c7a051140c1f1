// A run's report as one HTML file: opens offline, prints well, holds no script.
//
// In: the report, what is known of the run, charts as SVG text. Out: the text of the file. Whatever comes from a model, a task or a
// link is escaped by the template tag; only `Markup` that was made here or by `svgOf` goes in as it is.

import { bytes, count, EQUAL_BECAUSE, FLAGS, fixed, METRICS, percent, percentRange, range, RULES, text } from "../text.ts";
import { file as words } from "../text_report.ts";
import type { RunState } from "../worker/protocol.ts";
import type { Bin, Headline, Perplexity, Report } from "../types.ts";

export interface ChartFile {
  title: string;
  /** From `svgOf`, which escapes its own texts. */
  svg: string;
}

class Markup {
  constructor(readonly text: string) {}
}

type Part = string | Markup | readonly Part[] | null;

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function textOf(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string") return part.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
  return part instanceof Markup ? part.text : part.map(textOf).join("");
}

const html = (strings: TemplateStringsArray, ...parts: Part[]): Markup => new Markup(String.raw({ raw: strings }, ...parts.map(textOf)));

export function htmlReport(report: Report, run: RunState, charts: readonly ChartFile[]): string {
  const { meta } = run;
  const model = meta.model === null ? null : (meta.model.name ?? meta.model.file.name);
  const title = words.title(meta.task.name, model);
  const { counts, headline } = report;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${run.is_complete ? null : html`<p class="warning">${words.incomplete(counts.n_scored + counts.n_failed, counts.n_docs)}</p>`}
${headline && headlinePart(headline)}
<p class="card">${report.protocol.paragraph}</p>
${charts.map(({ title: name, svg }) => html`<figure><figcaption>${name}</figcaption>${new Markup(svg)}</figure>`)}
${rulesPart(report)}
${breakdownPart(report)}
${calibrationPart(report)}
${perplexityPart(report)}
${section(words.boundary, table(words.boundaryColumns, report.boundary.map(({ flag, n }) => [FLAGS[flag].name, count(n), FLAGS[flag].gloss])))}
${section(words.leftOut, table(words.leftOutColumns, run.unscored.map(({ line, error }) => [count(line), text.errors.sentence(error)])))}
<section><h2>${words.docs}</h2>${factList(countFacts(report))}</section>
<section><h2>${words.facts}</h2>${factList([
    ...report.protocol.facts.map(({ name, value }): [string, string] => [name, value]),
    ...(meta.model === null ? [] : [[meta.model.file.name, bytes(meta.model.file.n_bytes)] as [string, string]]),
  ])}</section>
<footer>${words.made(report.engine_version)}</footer>
</main>
</body>
</html>
`.text;
}

function headlinePart({ metric, value, interval, stderr, n, n_correct, chance, chance_corrected, detectable }: Headline): Markup {
  const isShare = metric !== "word_perplexity";
  const show = (number: number): string => (isShare ? percent(number) : fixed(number, 2));
  const facts: [string, string][] = [];
  if (interval !== null) facts.push([words.interval, isShare ? percentRange(interval) : range(interval, 2)]);
  if (stderr !== null) facts.push([words.stderr, isShare ? percent(stderr, 2) : fixed(stderr)]);
  if (chance !== null) facts.push([words.chance, percent(chance)]);
  if (chance_corrected !== null) facts.push([words.chanceCorrected, percent(chance_corrected)]);
  if (detectable !== null) facts.push([words.detectable, percent(detectable.from_fixed)]);
  return html`<p class="headline"><strong>${show(value)}</strong> ${METRICS[metric]}, ${words.of(n, n_correct)}</p>${factList(facts)}`;
}

function rulesPart({ rules }: Report): Markup | null {
  if (rules === null) return null;
  const rows = rules.listed.map(({ rule, accuracy, n_tied }) => [
    RULES[rule].name,
    percent(accuracy.value, 2),
    percentRange(accuracy.interval),
    accuracy.stderr === null ? "" : percent(accuracy.stderr, 2),
    `${count(accuracy.n_correct)} / ${count(accuracy.n)}`,
    count(n_tied),
  ]);
  const notes = rules.folded.map(({ rule, equals, because }) => html`<p>${words.folded(RULES[rule].name, RULES[equals].name, EQUAL_BECAUSE[because])}</p>`);
  return section(words.rules, html`${table(words.ruleColumns, rows)}${notes}`);
}

function breakdownPart({ breakdown }: Report): Markup | null {
  if (breakdown === null || breakdown.categories.length < 2) return null;
  const groups = breakdown.groups.map(({ alias, micro, macro_categories }) => [alias, count(micro.n), percent(micro.value), percentRange(micro.interval), percent(macro_categories.value)]);
  return html`${section(words.groups, table(words.groupColumns, groups))}${section(words.categories, table(words.categoryColumns, breakdown.categories.map(words.category)))}`;
}

function calibrationPart({ calibration }: Report): Markup | null {
  if (calibration === null) return null;
  const { ece, mce, brier, nll, temperature } = calibration.values;
  const names = words.calibrationFacts;
  const facts: [string, string][] = [
    [names.ece, fixed(ece, 4)],
    [names.mce, fixed(mce, 4)],
    ...(brier === null ? [] : [[names.brier, fixed(brier, 4)] as [string, string]]),
    [names.nll, fixed(nll, 4)],
    [names.temperature, fixed(temperature, 2)],
    [names.n_bins, `${count(calibration.n_bins)}, ${names[calibration.binning]}`],
  ];
  return section(words.calibration, html`${factList(facts)}${table(words.binColumns, calibration.bins.map(binRow))}`);
}

const binRow = ({ low, high, n, n_correct, mean_confidence, accuracy, interval, gap }: Bin): string[] => [
  range({ low, high }, 2),
  count(n),
  count(n_correct),
  mean_confidence === null ? "" : fixed(mean_confidence),
  accuracy === null ? "" : fixed(accuracy),
  interval === null ? "" : range(interval),
  gap === null ? "" : fixed(gap),
];

function perplexityPart({ likelihood, rolling }: Report): Markup | null {
  const facts: [string, string][] = [];
  const add = (name: string, perplexity: Perplexity | null): void => {
    if (perplexity !== null) facts.push([name, perplexity.interval === null ? fixed(perplexity.value) : `${fixed(perplexity.value)} (${range(perplexity.interval)})`]);
  };
  add("perplexity", likelihood?.perplexity ?? null);
  add("word_perplexity", rolling?.word_perplexity ?? null);
  add("byte_perplexity", rolling?.byte_perplexity ?? null);
  add("bits_per_byte", rolling?.bits_per_byte ?? null);
  return facts.length === 0 ? null : section(words.perplexity, factList(facts));
}

const countFacts = ({ counts }: Report): [string, string][] => [
  ["n_docs", count(counts.n_docs)],
  ["n_scored", count(counts.n_scored)],
  ["n_failed", count(counts.n_failed)],
  ["n_unscored", count(counts.n_unscored)],
  ["n_flagged", count(counts.n_flagged)],
  ["n_settled_in_float32", count(counts.n_settled_in_float32)],
];

const section = (heading: string, content: Markup | null): Markup | null => content && html`<section><h2>${heading}</h2>${content}</section>`;

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): Markup | null =>
  rows.length === 0
    ? null
    : html`<div class="scroll"><table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead><tbody>${rows.map(
        ([head, ...cells]) => html`<tr><th scope="row">${head ?? ""}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`,
      )}</tbody></table></div>`;

const factList = (facts: readonly (readonly [string, string])[]): Markup => html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;

const STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #fff; color: #1a1a1a; font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 48rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { margin-top: 2.5rem; font-size: 1.15rem; }
.headline { font-size: 1.1rem; }
.headline strong { display: block; font-size: 3rem; line-height: 1.1; font-variant-numeric: tabular-nums; }
.card { padding: 0.75rem 1rem; border-left: 3px solid #0072b2; background: #f5f6f7; overflow-wrap: anywhere; }
.warning { padding: 0.5rem 1rem; border: 1px solid #b34700; }
figure { margin: 2rem 0; break-inside: avoid; }
figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
thead th { border-bottom: 1px solid #1a1a1a; font-weight: 600; }
dl { display: grid; gap: 0.25rem; margin: 1rem 0; font-size: 0.875rem; }
dl div { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 1rem; }
dt { color: #595959; }
dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
footer { margin-top: 3rem; color: #595959; font-size: 0.875rem; }
@media print { main { padding: 0; max-width: none; } tr { break-inside: avoid; } }
`;
