// The headline number and the other scoring rules beside it.

import { Metric, Select, Strip, type Term } from "./parts.tsx";
import { AGGREGATIONS, count, EQUAL_BECAUSE, fixed, METRICS, percent, percentRange, plural, pValue, range, RULES, significant } from "../text.ts";
import * as state from "../state.ts";
import { setOptions } from "../actions.ts";
import type { Aggregation, Breakdown, Headline, HeadlineMetric, Perplexity, Report, Rule, RuleParting, RuleTable } from "../types.ts";

export function Overview() {
  const { value: report } = state.report;
  if (report === null) return null;
  return (
    <section class="report-section overview" aria-labelledby="report-overview">
      <h2 id="report-overview">Overview</h2>
      <div class="columns even">
        <div>
          {report.headline !== null && <HeadlineNumber headline={report.headline} report={report} />}
          <Counts report={report} />
        </div>
        <div>
          {report.rules !== null && report.rules.listed.length > 0 && <Rules table={report.rules} chosen={report.options.rule} />}
          <OtherNumbers report={report} />
        </div>
      </div>
    </section>
  );
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
  const between = interval === null ? null : isShare ? percentRange(interval) : range(interval, 2);
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
            <Metric term="interval">95 %</Metric> {between}
          </span>
        )}
      </p>
      {isShare && (
        <Strip
          value={headline.value}
          low={interval?.low ?? null}
          high={interval?.high ?? null}
          chance={headline.chance}
          label={`${show(headline.value)}${between === null ? "" : `, interval ${between}`}${headline.chance === null ? "" : `, chance ${percent(headline.chance)}`}, on a line from 0 to 100 %`}
        />
      )}
      <p class="reading">{reading(headline)}</p>
      <dl class="numbers-list">
        <Number name="docs" value={plural(headline.n, "doc")} />
        {headline.stderr !== null && <Number name="standard error" term="stderr" value={isShare ? percent(headline.stderr, 2) : fixed(headline.stderr)} />}
        {headline.chance !== null && <Number name="chance" term="chance" value={percent(headline.chance)} />}
        {headline.chance_corrected !== null && (
          <Number
            name="above chance"
            term="chanceCorrected"
            value={`${fixed(headline.chance_corrected)}${headline.chance_corrected_interval === null ? "" : ` (${range(headline.chance_corrected_interval)})`}`}
          />
        )}
        {headline.detectable !== null && (
          <Number name="detectable" term="detectable" value={`${(100 * headline.detectable.from_fixed).toFixed(1)} points from a number, ${(100 * headline.detectable.from_independent_run).toFixed(1)} from another run`} />
        )}
        {headline.n_tied > 0 && <Number name="ties" value={`${plural(headline.n_tied, "doc")} with a tie; the first choice was taken`} />}
      </dl>
    </div>
  );
}

/** What the number says to someone who sees one for the first time. */
function reading(headline: Headline): string {
  if (headline.n_correct === null || headline.interval === null) return "";
  const right = `${count(headline.n_correct)} of ${plural(headline.n, "doc")} right. `;
  if (headline.chance === null) return right;
  if (headline.is_chance_inside) return `${right}Guessing lies inside the interval: this run does not show that the model knows more than nothing.`;
  if (headline.interval.high < headline.chance) return `${right}Below guessing, and not by accident: look at the prompt, and at how the answers are given.`;
  return `${right}Above guessing, beyond what luck explains.`;
}

function Average({ breakdown, value }: { breakdown: Breakdown; value: Aggregation }) {
  const choices = (["micro", "macro_categories", "macro_groups"] as const).filter((name) => name === "micro" || breakdown[name] !== null);
  if (choices.length < 2) return null;
  return (
    <label class="inline-select">
      <span class="visually-hidden">Average</span>
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
  return (
    <div class="rules">
      <table>
        <caption>
          <Select
            label="Scoring rule"
            value={chosen}
            choices={table.listed.map(({ rule }) => [rule, RULES[rule].name] as const)}
            onChange={(rule) => setOptions({ rule, confidence_rule: rule })}
          />
          <span class="hint">Everything in the report follows; nothing is run again.</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col" class="right">
              Accuracy
            </th>
            <th scope="col">95 % interval</th>
            <th scope="col" class="right">
              Ties
            </th>
            <th scope="col" class="right wide-only">
              Length of picks
            </th>
          </tr>
        </thead>
        <tbody>
          {table.listed.map(({ rule, accuracy, n_tied, mean_pick_chars }) => (
            <tr key={rule} class={rule === chosen ? "chosen" : ""}>
              <th scope="row">
                <code>{RULES[rule].name}</code>
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
          <code>{RULES[rule].name}</code> equals <code>{RULES[equals].name}</code> here: {EQUAL_BECAUSE[because]}.
        </p>
      ))}
      {table.acc_and_acc_norm !== null && table.acc_and_acc_norm.n_differ > 0 && <p class="reading">{parting(table.acc_and_acc_norm)}</p>}
    </div>
  );
}

/** A difference in mean length below this share of the right answers' length explains nothing. */
const TELLING = 0.1;

function parting({ n, n_differ, n_only_a_correct, n_only_b_correct, p_value, mean_chars_a, mean_chars_b, mean_chars_gold }: RuleParting): string {
  const who = `acc and acc_norm pick different choices on ${count(n_differ)} of ${plural(n, "doc")}`;
  const result = `on those, acc alone is right ${plural(n_only_a_correct, "time")}, acc_norm alone ${plural(n_only_b_correct, "time")} (McNemar's test: ${pValue(p_value)})`;
  const lengths = `Picks of acc have ${mean_chars_a.toFixed(1)} characters on average, those of acc_norm ${mean_chars_b.toFixed(1)}, the right answers ${mean_chars_gold.toFixed(1)}`;
  const why =
    mean_chars_b - mean_chars_a > TELLING * mean_chars_gold
      ? "every further token makes a text less probable, so acc favours short answers; acc_norm takes that back"
      : mean_chars_a - mean_chars_b > TELLING * mean_chars_gold
        ? "acc does not favour short answers here; dividing by length does"
        : "length is hardly what makes the difference here";
  return `${who}; ${result}. ${lengths}: ${why}.`;
}

const perplexity = ({ value, interval }: Perplexity): string => `${significant(value)}${interval === null ? "" : ` (${significant(interval.low)}\u2009–\u2009${significant(interval.high)})`}`;

function OtherNumbers({ report }: { report: Report }) {
  const { choice_metrics: choice, likelihood, rolling } = report;
  return (
    <dl class="numbers-list">
      {choice !== null && (
        <>
          <Number name="exact_match" term="exactMatch" value={percent(choice.exact_match.value)} />
          <Number name="probability of gold" term="goldProbability" value={percent(choice.gold_probability.value)} />
          {choice.brier_score !== null && <Number name="brier_score" term="brier" value={fixed(choice.brier_score.value)} />}
        </>
      )}
      {likelihood !== null && <Number name="perplexity" term="perplexity" value={perplexity(likelihood.perplexity)} />}
      {rolling !== null && (
        <>
          <Number name="word_perplexity" term="perplexity" value={perplexity(rolling.word_perplexity)} />
          {rolling.byte_perplexity !== null && <Number name="byte_perplexity" term="perplexity" value={perplexity(rolling.byte_perplexity)} />}
          {rolling.bits_per_byte !== null && <Number name="bits_per_byte" value={perplexity(rolling.bits_per_byte)} />}
        </>
      )}
    </dl>
  );
}

function Counts({ report: { counts } }: { report: Report }) {
  const parts = [
    `${plural(counts.n_scored, "doc")} of ${count(counts.n_docs)} scored`,
    ...(counts.n_unscored > 0 ? [`${plural(counts.n_unscored, "row")} left out`] : []),
    ...(counts.n_failed > 0 ? [`${count(counts.n_failed)} failed`] : []),
    ...(counts.n_flagged > 0 ? [`${count(counts.n_flagged)} flagged at the join`] : []),
    ...(counts.n_settled_in_float32 > 0 ? [`${plural(counts.n_settled_in_float32, "near tie")} settled in float32`] : []),
  ];
  return <p class="hint">{parts.join(" · ")}</p>;
}
