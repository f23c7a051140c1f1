// The headline number and the other scoring rules beside it.

import { Metric, Select, Strip, type Term } from "./parts.tsx";
import { AGGREGATIONS, count, fixed, METRICS, percent, percentRange, PROFILES, range, RULES, significant, significantRange, text } from "../text.ts";
import * as state from "../state.ts";
import { setOptions } from "../actions.ts";
import type { Aggregation, Breakdown, Headline, HeadlineMetric, Perplexity, Report, Rule, RuleTable } from "../types.ts";

export function Overview() {
  const { value: report } = state.report;
  if (report === null) return null;
  return (
    <section class="report-section overview" aria-labelledby="report-overview">
      <h2 id="report-overview">{text.overview.heading}</h2>
      <Subject />
      <div class="columns even">
        <div>
          {report.headline !== null && <HeadlineNumber headline={report.headline} report={report} />}
          <p class="hint">{text.overview.counts(report.counts)}</p>
        </div>
        <div>
          {report.rules !== null && report.rules.listed.length > 0 && <Rules table={report.rules} chosen={report.options.rule} />}
          <OtherNumbers report={report} />
        </div>
      </div>
    </section>
  );
}

/** Which run this is: of a kept or printed report nothing else says so at the top. */
function Subject() {
  const { value: run } = state.run;
  const { value: profile } = state.profile;
  if (run === null) return null;
  const { model, task, data, started_at } = run.meta;
  if (model === null) return profile === null ? null : <p>{text.overview.madeUp(PROFILES[profile].name)}</p>;
  return <p>{text.overview.subject(model.file.name, task.name, data.name, task.num_fewshot, started_at)}</p>;
}

const TERMS: Record<HeadlineMetric, Term> = {
  acc: "accuracy",
  acc_norm: "accuracy",
  acc_bytes: "accuracy",
  acc_token: "accuracy",
  acc_mutual_info: "accuracy",
  acc_mutual_info_answer: "accuracy",
  gold_probability: "goldProbability",
  greedy: "greedy",
  word_perplexity: "perplexity",
};

function HeadlineNumber({ headline, report }: { headline: Headline; report: Report }) {
  const isShare = headline.metric !== "word_perplexity";
  const show = (value: number): string => (isShare ? percent(value) : significant(value));
  const interval = headline.interval;
  const between = interval === null ? null : isShare ? percentRange(interval) : significantRange(interval);
  const words = text.overview;
  return (
    <div class="headline">
      <p class="figure-name">
        <Metric term={TERMS[headline.metric]}>{METRICS[headline.metric]}</Metric>
        {report.breakdown !== null && <Average breakdown={report.breakdown} value={headline.aggregation} />}
      </p>
      <p class="figure-value">
        <output aria-label={METRICS[headline.metric]}>{show(headline.value)}</output>
        {between !== null && (
          <span class="figure-interval">
            <Metric term="interval">{words.interval}</Metric> {between}
          </span>
        )}
      </p>
      {isShare && (
        <Strip
          value={headline.value}
          low={interval?.low ?? null}
          high={interval?.high ?? null}
          chance={headline.chance}
          label={words.strip(show(headline.value), between, headline.chance)}
        />
      )}
      <p class="reading">{words.reading(headline)}</p>
      <dl class="numbers-list">
        <Number name={words.docs} value={count(headline.n)} />
        {headline.stderr !== null && <Number name={words.stderr} term="stderr" value={isShare ? percent(headline.stderr, 2) : fixed(headline.stderr)} />}
        {headline.chance !== null && <Number name={words.chance} term="chance" value={percent(headline.chance)} />}
        {headline.chance_corrected !== null && (
          <Number
            name={words.chanceCorrected}
            term="chanceCorrected"
            value={`${fixed(headline.chance_corrected)}${headline.chance_corrected_interval === null ? "" : ` (${range(headline.chance_corrected_interval)})`}`}
          />
        )}
        {headline.detectable !== null && <Number name={words.detectable} term="detectable" value={words.detectableValue(headline.detectable)} />}
        {headline.n_tied > 0 && <Number name={words.ties} term="ties" value={words.tiesValue(headline.n_tied)} />}
      </dl>
    </div>
  );
}

function Average({ breakdown, value }: { breakdown: Breakdown; value: Aggregation }) {
  const choices = (["micro", "macro_categories", "macro_groups"] as const).filter((name) => name === "micro" || breakdown[name] !== null);
  if (choices.length < 2) return null;
  return (
    <label class="inline-select">
      <span class="visually-hidden">{text.overview.average}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = choices.find((name) => name === currentTarget.value);
          if (chosen !== undefined) setOptions({ aggregation: chosen });
        }}
      >
        {choices.map((name) => (
          <option key={name} value={name}>
            {AGGREGATIONS[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

function Number({ name, term, value }: { name: string; term?: Term; value: string }) {
  return (
    <div>
      <dt>{term === undefined ? name : <Metric term={term}>{name}</Metric>}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Rules({ table, chosen }: { table: RuleTable; chosen: Rule }) {
  const words = text.overview;
  return (
    <div class="rules">
      <table>
        <caption>
          <Select
            label={words.rule}
            value={chosen}
            choices={table.listed.map(({ rule }) => [rule, RULES[rule].name] as const)}
            onChange={(rule) => setOptions({ rule, confidence_rule: rule })}
          />
          <span class="hint screen-only">{words.ruleHint}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">{words.columns.rule}</th>
            <th scope="col" class="right">{words.columns.accuracy}</th>
            <th scope="col">{words.columns.interval}</th>
            <th scope="col" class="right">
              <Metric term="ties">{words.columns.ties}</Metric>
            </th>
            <th scope="col" class="right wide-only">{words.columns.length}</th>
          </tr>
        </thead>
        <tbody>
          {table.listed.map(({ rule, accuracy, n_tied, mean_pick_chars }) => (
            <tr key={rule} class={rule === chosen ? "chosen" : ""}>
              <th scope="row">
                <Metric term={rule}>
                  <code>{RULES[rule].name}</code>
                </Metric>
                <span class="gloss">{RULES[rule].gloss}</span>
              </th>
              <td class="right">{percent(accuracy.value)}</td>
              <td class="fixed">{percentRange(accuracy.interval)}</td>
              <td class="right">{n_tied}</td>
              <td class="right wide-only">{mean_pick_chars.toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {table.folded.map(({ rule, equals, because }) => (
        <p key={rule} class="hint">
          <code>{RULES[rule].name}</code> {words.equals} <code>{RULES[equals].name}</code> {words.folded(because)}
        </p>
      ))}
      {table.acc_and_acc_norm !== null && table.acc_and_acc_norm.n_differ > 0 && <p class="reading">{words.parting(table.acc_and_acc_norm)}</p>}
    </div>
  );
}

const perplexity = ({ value, interval }: Perplexity): string => `${significant(value)}${interval === null ? "" : ` (${significantRange(interval)})`}`;

function OtherNumbers({ report }: { report: Report }) {
  const { choice_metrics: choice, likelihood, rolling } = report;
  return (
    <dl class="numbers-list">
      {choice !== null && (
        <>
          <Number name="exact_match" term="exactMatch" value={percent(choice.exact_match.value)} />
          <Number name={text.overview.goldProbability} term="goldProbability" value={percent(choice.gold_probability.value)} />
          {choice.brier_score !== null && <Number name="brier_score" term="brier" value={fixed(choice.brier_score.value)} />}
        </>
      )}
      {likelihood !== null && <Number name="perplexity" term="perplexity" value={perplexity(likelihood.perplexity)} />}
      {rolling !== null && (
        <>
          <Number name="word_perplexity" term="perplexity" value={perplexity(rolling.word_perplexity)} />
          {rolling.byte_perplexity !== null && <Number name="byte_perplexity" term="perplexity" value={perplexity(rolling.byte_perplexity)} />}
          {rolling.bits_per_byte !== null && <Number name="bits_per_byte" term="bitsPerByte" value={perplexity(rolling.bits_per_byte)} />}
        </>
      )}
    </dl>
  );
}
