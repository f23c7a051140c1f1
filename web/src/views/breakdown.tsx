// Accuracy by category, under the groups that the categories belong to.

import { useCallback, useMemo } from "preact/hooks";
import { signal } from "@preact/signals";
import { intervalsScene, type IntervalRow } from "../charts/intervals.ts";
import type { MakeScene } from "../charts/ChartView.tsx";
import { CategoryMap } from "./category_map.tsx";
import { Figure } from "./figure.tsx";
import { Metric, Select } from "./parts.tsx";
import { count, percent, percentRange, text } from "../text.ts";
import * as state from "../state.ts";
import { showItems } from "../actions.ts";
import type { Breakdown, CategoryResult, GroupResult, Proportion } from "../types.ts";

type Order = "name" | "accuracy" | "docs";

const order = signal<Order>("name");

export function BreakdownView() {
  const breakdown = state.report.value?.breakdown ?? null;
  if (breakdown === null || breakdown.categories.length < 2) return null;
  return (
    <section class="report-section" aria-labelledby="report-categories">
      <h2 id="report-categories">{text.breakdown.heading}</h2>
      <Means breakdown={breakdown} />
      <Select label={text.breakdown.order} value={order.value} choices={text.breakdown.orders} onChange={(value) => (order.value = value)} />
      <Bars breakdown={breakdown} />
      <p class="hint">{text.breakdown.hint}</p>
      <CategoryMap categories={breakdown.categories} />
    </section>
  );
}

function Means({ breakdown: { micro, macro_categories, macro_groups } }: { breakdown: Breakdown }) {
  const words = text.breakdown;
  return (
    <p class="reading">
      <Metric term="micro">{words.micro}</Metric> {percent(micro.value)}
      {macro_categories !== null && (
        <>
          {", "}
          <Metric term="macro">{words.macro(macro_categories.n_parts)}</Metric> {percent(macro_categories.value)}
        </>
      )}
      {macro_groups !== null && words.groups(macro_groups.n_parts, macro_groups.value)}.
    </p>
  );
}

interface Row extends IntervalRow {
  categories: string[];
  accuracy: Proportion;
}

function rowsOf({ categories, groups }: Breakdown, by: Order): Row[] {
  const compare = (a: { name: string; accuracy: Proportion }, b: { name: string; accuracy: Proportion }): number => {
    switch (by) {
      case "name":
        return a.name < b.name ? -1 : 1;
      case "accuracy":
        return b.accuracy.value - a.accuracy.value;
      case "docs":
        return b.accuracy.n - a.accuracy.n;
    }
  };
  const row = (name: string, accuracy: Proportion, chance: number, role: Row["role"], members: string[]): Row => ({
    id: `${role} ${name}`,
    name,
    value: accuracy.value,
    interval: accuracy.interval,
    note: text.breakdown.note(accuracy),
    chance,
    role,
    details: text.breakdown.details(name, accuracy),
    categories: members,
    accuracy,
  });
  const member = ({ name, accuracy, chance }: CategoryResult, role: Row["role"]): Row => row(name, accuracy, chance, role, [name]);
  // Groups of one category each (four categories without subjects) say nothing twice.
  const innermost = groups.filter(({ name }) => categories.some(({ group }) => group === name));
  const isNested = innermost.some((group) => group.categories.length > 1);
  if (!isNested) return [...categories].sort(compare).map((category) => member(category, "single"));
  const grouped = innermost
    .map((group: GroupResult) => ({ group, name: group.alias, accuracy: group.micro }))
    .sort(compare)
    .flatMap(({ group, name, accuracy }) => [
      row(name, accuracy, group.chance, "group", group.categories),
      ...categories
        .filter((category) => category.group === group.name)
        .sort(compare)
        .map((category) => member(category, "member")),
    ]);
  const others = categories.filter(({ group }) => !innermost.some(({ name }) => name === group)).sort(compare);
  return [...grouped, ...others.map((category) => member(category, "single"))];
}

function Bars({ breakdown }: { breakdown: Breakdown }) {
  const by = order.value;
  const published = state.options.value.published?.value ?? null;
  const rows = useMemo(() => rowsOf(breakdown, by), [breakdown, by]);
  const scene = useCallback<MakeScene>(
    (width, theme, focus) => intervalsScene({ rows, lines: published === null ? [] : [{ name: text.breakdown.published, value: published }], range: { min: 0, max: 1 }, width, theme, focus, axis: text.breakdown.axis, format: (value) => percent(value, 0) }),
    [rows, published],
  );
  const best = rows.reduce((a, b) => (b.value > a.value ? b : a));
  const worst = rows.reduce((a, b) => (b.value < a.value ? b : a));
  return (
    <Figure
      name={text.breakdown.chart}
      scene={scene}
      label={text.breakdown.label(rows.length, best, worst)}
      table={{ columns: text.breakdown.columns, rows: rows.map(({ name, accuracy }) => [name, percent(accuracy.value), percentRange(accuracy.interval), count(accuracy.n_correct), count(accuracy.n)]) }}
      onPick={(id) => {
        const picked = rows.find((row) => row.id === id);
        if (picked !== undefined) showItems({ categories: picked.categories });
      }}
    />
  );
}
