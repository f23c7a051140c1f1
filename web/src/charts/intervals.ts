// Values with their intervals, one under the other on one axis: the headline, the rules, the categories under their groups.
//
// In: rows as the report has them. Out: a scene of labels, bars, interval bands and values. The band is as heavy as the bar, so
// that a category of five docs looks as unsure as it is. Targets are named by the rows' ids.

import type { Interval } from "../types.ts";
import { fitted, linear, SMALL_TEXT_SIZE, TEXT_SIZE, textWidth, ticks, whisker, type Range } from "./axes.ts";
import type { Scene, Shape, Target } from "./scene.ts";
import { seriesColor, type Theme } from "./theme.ts";

export interface IntervalRow {
  id: string;
  name: string;
  value: number;
  interval: Interval | null;
  /** Beside the bar, such as the number of docs. */
  note: string;
  /** Where blind guessing lands. */
  chance: number | null;
  /** A group stands out from the rows under it. */
  role: "group" | "member" | "single";
  /** What there is to know of it, a line each. */
  details: readonly string[];
}

export interface IntervalsInput {
  rows: readonly IntervalRow[];
  /** Values from elsewhere, as lines through all rows. */
  lines: readonly { name: string; value: number }[];
  range: Range;
  width: number;
  theme: Theme;
  axis: string;
  format(value: number): string;
  focus: string | null;
}

const ROW = 24;
const GROUP_SPACE = 8;
const BAR = 10;

export function intervalsScene({ rows, lines, range, width, theme, axis, format, focus }: IntervalsInput): Scene {
  const weight = (row: IntervalRow): number => (row.role === "group" ? 600 : 400);
  const indent = (row: IntervalRow): number => (row.role === "member" ? 10 : 0);
  const longest = (texts: readonly number[]): number => Math.ceil(Math.max(0, ...texts));
  const labelWidth = Math.min(width * 0.38, longest(rows.map((row) => indent(row) + textWidth(row.name, theme, TEXT_SIZE, weight(row)))));
  const noteWidth = longest(rows.map(({ note }) => textWidth(note, theme, SMALL_TEXT_SIZE)));
  const left = labelWidth + 12;
  const right = Math.max(left + 40, width - noteWidth - 14);
  const x = linear(range, left, right);
  const inside = (value: number): number => Math.min(right, Math.max(left, x(value)));

  const top = lines.length > 0 ? 26 : 8;
  let bottom = top;
  const places = rows.map((row, i) => {
    if (row.role === "group" && i > 0) bottom += GROUP_SPACE;
    const place = bottom;
    bottom += ROW;
    return place;
  });

  const shapes: Shape[] = [];
  const targets: Target[] = [];
  for (const tick of ticks(range, right - left < 240 ? 3 : 5)) {
    shapes.push({ kind: "line", points: [[x(tick), top - 2], [x(tick), bottom + 2]], stroke: { color: theme.grid, width: 1 } });
    shapes.push({ kind: "text", x: x(tick), y: bottom + 18, text: format(tick), anchor: "middle", size: SMALL_TEXT_SIZE, fill: theme.muted });
  }
  shapes.push({ kind: "text", x: (left + right) / 2, y: bottom + 36, text: axis, anchor: "middle", size: TEXT_SIZE, fill: theme.ink });

  const color = seriesColor(theme, 0);
  rows.forEach((row, i) => {
    const y = places[i] ?? top;
    const middle = y + ROW / 2;
    if (row.id === focus) shapes.push({ kind: "rect", x: 0, y, width, height: ROW, fill: theme.grid, stroke: null, opacity: 0.5, radius: 3 });
    shapes.push({
      kind: "text",
      x: indent(row),
      y: middle + 4,
      text: fitted(row.name, labelWidth - indent(row), theme, TEXT_SIZE, weight(row)),
      anchor: "start",
      size: TEXT_SIZE,
      fill: theme.ink,
      weight: weight(row),
    });
    const from = inside(Math.max(range.min, 0));
    shapes.push({ kind: "rect", x: from, y: middle - BAR / 2, width: Math.max(0, inside(row.value) - from), height: BAR, fill: color, stroke: null, opacity: row.role === "group" ? 0.4 : 0.25 });
    if (row.chance !== null) shapes.push({ kind: "line", points: [[inside(row.chance), middle - 8], [inside(row.chance), middle + 8]], stroke: { color: theme.muted, width: 1.25, dash: [2, 2] } });
    if (row.interval !== null) {
      const [low, high] = [inside(row.interval.low), inside(row.interval.high)];
      shapes.push({ kind: "rect", x: low, y: middle - BAR / 2, width: high - low, height: BAR, fill: color, stroke: null, opacity: 0.18 });
      shapes.push(...whisker("horizontal", middle, low, high, 4, { color, width: 1.25 }));
    }
    shapes.push({ kind: "circle", x: inside(row.value), y: middle, radius: row.role === "group" ? 5 : 4, fill: color, stroke: { color: theme.background, width: 1 } });
    shapes.push({ kind: "text", x: width - 2, y: middle + 4, text: row.note, anchor: "end", size: SMALL_TEXT_SIZE, fill: theme.muted });
    targets.push({ id: row.id, x: 0, y, width, height: ROW, anchor: [inside(row.value), middle], note: row.details });
  });

  lines.forEach(({ name, value }, i) => {
    const at = inside(value);
    const stroke = { color: seriesColor(theme, i + 1), width: 1.5, dash: [5, 3] };
    const anchor = at > (left + right) / 2 ? "end" : "start";
    shapes.push({ kind: "line", points: [[at, top - 8], [at, bottom + 2]], stroke });
    shapes.push({ kind: "text", x: at + (anchor === "end" ? 4 : -4), y: top - 12, text: name, anchor, size: SMALL_TEXT_SIZE, fill: stroke.color });
  });
  return { width, height: bottom + 44, background: theme.background, font: theme.font, shapes, targets };
}
