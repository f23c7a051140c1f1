// Bars side by side, with whiskers: picked letters beside gold letters, lengths of picks beside lengths of gold choices.
//
// In: groups of values, one per series. Out: a scene. The first series is filled and the second one outlined, so that no one needs
// the hue. Targets are named by the groups' places.

import type { Interval } from "../types.ts";
import { linear, SMALL_TEXT_SIZE, TEXT_SIZE, textWidth, ticks, whisker } from "./axes.ts";
import type { Scene, Shape } from "./scene.ts";
import { seriesColor, type Theme } from "./theme.ts";

export interface BarGroup {
  name: string;
  bars: readonly { value: number; interval: Interval | null }[];
  note: readonly string[];
}

export interface BarsInput {
  groups: readonly BarGroup[];
  series: readonly string[];
  y: { name: string; format(value: number): string };
  width: number;
  theme: Theme;
  focus: string | null;
}

const HEIGHT = 190;
const MAX_BAR = 34;

export function barsScene({ groups, series, y, width, theme, focus }: BarsInput): Scene {
  const most = Math.max(1e-9, ...groups.flatMap(({ bars }) => bars.map(({ value, interval }) => Math.max(value, interval?.high ?? 0))));
  const yTicks = ticks({ min: 0, max: most }, 4);
  const left = 30 + Math.max(0, ...yTicks.map((tick) => textWidth(y.format(tick), theme, SMALL_TEXT_SIZE)));
  const right = width - 8;
  const top = 34;
  const bottom = top + HEIGHT;
  const toY = linear({ min: 0, max: most }, bottom, top);
  const shapes: Shape[] = [];

  const look = (i: number): { fill: string | null; stroke: { color: string; width: number }; opacity: number } => ({
    fill: seriesColor(theme, i),
    stroke: { color: seriesColor(theme, i), width: 1.5 },
    opacity: i === 0 ? 0.85 : 0.1,
  });
  let keyLeft = 8;
  series.forEach((name, i) => {
    shapes.push({ kind: "rect", x: keyLeft, y: 7, width: 11, height: 11, ...look(i) });
    shapes.push({ kind: "text", x: keyLeft + 17, y: 17, text: name, anchor: "start", size: TEXT_SIZE, fill: theme.ink });
    keyLeft += 17 + textWidth(name, theme) + 18;
  });
  for (const tick of yTicks) {
    shapes.push({ kind: "line", points: [[left, toY(tick)], [right, toY(tick)]], stroke: { color: theme.grid, width: 1 } });
    shapes.push({ kind: "text", x: left - 7, y: toY(tick) + 4, text: y.format(tick), anchor: "end", size: SMALL_TEXT_SIZE, fill: theme.muted });
  }
  shapes.push({ kind: "text", x: 14, y: (top + bottom) / 2, text: y.name, anchor: "middle", size: TEXT_SIZE, fill: theme.ink, turned: true });

  const slot = (right - left) / Math.max(1, groups.length);
  const bar = Math.min(MAX_BAR, (slot * 0.72) / Math.max(1, series.length));
  groups.forEach(({ name, bars }, place) => {
    const middle = left + slot * (place + 0.5);
    if (String(place) === focus) shapes.push({ kind: "rect", x: left + slot * place, y: top, width: slot, height: HEIGHT, fill: theme.grid, stroke: null, opacity: 0.5 });
    bars.forEach(({ value, interval }, i) => {
      const x = middle + (i - bars.length / 2) * bar;
      shapes.push({ kind: "rect", x: x + 1, y: toY(value), width: bar - 2, height: bottom - toY(value), ...look(i) });
      if (interval !== null) shapes.push(...whisker("vertical", x + bar / 2, toY(interval.low), toY(interval.high), 4, { color: theme.ink, width: 1.25 }));
    });
    shapes.push({ kind: "text", x: middle, y: bottom + 18, text: name, anchor: "middle", size: TEXT_SIZE, fill: theme.ink });
  });
  shapes.push({ kind: "line", points: [[left, bottom], [right, bottom]], stroke: { color: theme.muted, width: 1 } });
  const targets = groups.map(({ note }, place) => ({
    id: String(place),
    x: left + slot * place,
    y: top,
    width: slot,
    height: HEIGHT + 24,
    anchor: [left + slot * (place + 0.5), toY(Math.max(0, ...(groups[place]?.bars.map(({ value }) => value) ?? [])))] as const,
    note,
  }));
  return { width, height: bottom + 28, background: theme.background, font: theme.font, shapes, targets };
}
