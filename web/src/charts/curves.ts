// Curves over one axis, such as accuracy over coverage.
//
// In: series of points. Out: a scene with a legend, lines that differ in dash and marker, and one target per point of the first
// series, whose note speaks of all of them. Points are drawn as they come; there is no smoothing.

import { dashOf, legend, linear, marker, SMALL_TEXT_SIZE, TEXT_SIZE, textWidth, ticks, type Range } from "./axes.ts";
import type { Point, Scene, Shape, Target } from "./scene.ts";
import { seriesColor, type Theme } from "./theme.ts";

export interface Curve {
  name: string;
  points: readonly Point[];
}

export interface CurvesInput {
  curves: readonly Curve[];
  x: { name: string; range: Range; format(value: number): string };
  y: { name: string; range: Range; format(value: number): string };
  /** Values on the y axis, such as the level of chance. */
  levels: readonly { name: string; value: number }[];
  note(point: Point, i: number): string[];
  width: number;
  theme: Theme;
  focus: string | null;
}

const MAX_HEIGHT = 260;

export function curvesScene({ curves, x, y, levels, note, width, theme, focus }: CurvesInput): Scene {
  const key = legend(curves.length < 2 ? [] : curves.map(({ name }, i) => ({ name, color: seriesColor(theme, i) })), 8, 4, width - 16, theme);
  const yTicks = ticks(y.range, 4);
  const left = 30 + Math.max(0, ...yTicks.map((tick) => textWidth(y.format(tick), theme, SMALL_TEXT_SIZE)));
  const right = width - 16;
  const top = key.height + 12;
  const bottom = top + Math.min(MAX_HEIGHT, Math.max(140, (right - left) * 0.55));
  const toX = linear(x.range, left, right);
  const toY = linear(y.range, bottom, top);
  const shapes: Shape[] = [...key.shapes];
  const text = (at: Point, content: string, anchor: "start" | "middle" | "end", size = SMALL_TEXT_SIZE, fill = theme.muted): void => {
    shapes.push({ kind: "text", x: at[0], y: at[1], text: content, anchor, size, fill });
  };

  for (const tick of yTicks) {
    shapes.push({ kind: "line", points: [[left, toY(tick)], [right, toY(tick)]], stroke: { color: theme.grid, width: 1 } });
    text([left - 7, toY(tick) + 4], y.format(tick), "end");
  }
  for (const tick of ticks(x.range, width < 420 ? 3 : 5)) {
    shapes.push({ kind: "line", points: [[toX(tick), bottom], [toX(tick), bottom + 4]], stroke: { color: theme.muted, width: 1 } });
    text([toX(tick), bottom + 18], x.format(tick), toX(tick) > right - 12 ? "end" : "middle");
  }
  shapes.push({ kind: "line", points: [[left, bottom], [right, bottom]], stroke: { color: theme.muted, width: 1 } });
  text([(left + right) / 2, bottom + 36], x.name, "middle", TEXT_SIZE, theme.ink);
  shapes.push({ kind: "text", x: 14, y: (top + bottom) / 2, text: y.name, anchor: "middle", size: TEXT_SIZE, fill: theme.ink, turned: true });

  for (const { name, value } of levels) {
    shapes.push({ kind: "line", points: [[left, toY(value)], [right, toY(value)]], stroke: { color: theme.muted, width: 1.25, dash: [2, 3] } });
    text([right, toY(value) - 5], name, "end");
  }

  for (let series = curves.length - 1; series >= 0; series--) {
    const points = (curves[series]?.points ?? []).map(([px, py]) => [toX(px), toY(py)] as const);
    const color = seriesColor(theme, series);
    shapes.push({ kind: "line", points, stroke: { color, width: 2, dash: dashOf(series) } });
    const alone = points.length === 1 ? points[0] : undefined;
    if (alone !== undefined) shapes.push(marker(series, alone[0], alone[1], 4, color, { color: theme.background, width: 1 }));
  }

  const first = curves[0]?.points ?? [];
  const targets = first.map((point, i): Target => {
    const at = toX(point[0]);
    const [before, after] = [first[i - 1], first[i + 1]];
    const [from, to] = [before === undefined ? left : (toX(before[0]) + at) / 2, after === undefined ? right : (toX(after[0]) + at) / 2];
    return { id: String(i), x: Math.min(from, to), y: top, width: Math.max(1, Math.abs(to - from)), height: bottom - top, anchor: [at, toY(point[1])], note: note(point, i) };
  });
  curves.forEach(({ points }, series) => {
    const point = focus === null ? undefined : points[Number(focus)];
    if (point !== undefined) shapes.push(marker(series, toX(point[0]), toY(point[1]), 5, seriesColor(theme, series), { color: theme.ink, width: 1.5 }));
  });
  return { width, height: bottom + 44, background: theme.background, font: theme.font, shapes, targets };
}
