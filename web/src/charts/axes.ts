// What charts share: scales, ticks, text that fits, markers.
//
// In: ranges of values and of pixels. Out: functions from the one to the other, and shapes.

import type { Point, Shape, Stroke } from "./scene.ts";
import type { Theme } from "./theme.ts";

export interface Range {
  min: number;
  max: number;
}

export type Scale = (value: number) => number;

export const linear = (values: Range, from: number, to: number): Scale => {
  const span = values.max - values.min || 1;
  return (value) => from + ((value - values.min) / span) * (to - from);
};

/** Round values inside a range, about `n` of them: steps of 1, 2 or 5 times a power of ten. */
export function ticks({ min, max }: Range, n: number): number[] {
  const span = max - min;
  if (!(span > 0)) return [min];
  const rough = span / Math.max(1, n);
  const power = 10 ** Math.floor(Math.log10(rough));
  // The round step that is nearest by ratio.
  const off = (factor: number): number => Math.abs(Math.log((factor * power) / rough));
  const step = power * [1, 2, 5, 10].reduce((best, factor) => (off(factor) < off(best) ? factor : best));
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  // Multiples of the step, with the noise of the multiplication cut off.
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export const TEXT_SIZE = 12;
export const SMALL_TEXT_SIZE = 11;

let ruler: CanvasRenderingContext2D | null = null;

/** Width of a text in CSS pixels. */
export function textWidth(text: string, theme: Theme, size = TEXT_SIZE, weight = 400): number {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (ruler === null) return text.length * size * 0.6;
  ruler.font = `${weight} ${size}px ${theme.font}`;
  return ruler.measureText(text).width;
}

/** The text, or as much of its beginning as fits, with an ellipsis. */
export function fitted(text: string, width: number, theme: Theme, size = TEXT_SIZE, weight = 400): string {
  if (textWidth(text, theme, size, weight) <= width) return text;
  const characters = [...text];
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${characters.slice(0, middle).join("").trimEnd()}…`, theme, size, weight) <= width) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("").trimEnd()}…`;
}

/** A vertical or horizontal interval with end strokes. */
export function whisker(orientation: "vertical" | "horizontal", at: number, low: number, high: number, cap: number, stroke: Stroke): Shape[] {
  const point = (along: number, across: number): Point => (orientation === "vertical" ? [across, along] : [along, across]);
  return [
    { kind: "line", points: [point(low, at), point(high, at)], stroke },
    { kind: "line", points: [point(low, at - cap), point(low, at + cap)], stroke },
    { kind: "line", points: [point(high, at - cap), point(high, at + cap)], stroke },
  ];
}

/** A series' marker, of the same area whatever its form: circle, square, diamond, triangle. */
export function marker(series: number, x: number, y: number, radius: number, fill: string, stroke: Stroke): Shape {
  const polygon = (points: Point[]): Shape => ({ kind: "polygon", points, fill, stroke });
  switch (series % 4) {
    case 1: {
      const half = (radius * Math.sqrt(Math.PI)) / 2;
      return { kind: "rect", x: x - half, y: y - half, width: 2 * half, height: 2 * half, fill, stroke };
    }
    case 2: {
      const half = radius * Math.sqrt(Math.PI / 2);
      return polygon([[x, y - half], [x + half, y], [x, y + half], [x - half, y]]);
    }
    case 3: {
      // An equilateral triangle of side s has the area √3/4·s².
      const side = radius * Math.sqrt((4 * Math.PI) / Math.sqrt(3));
      const height = (side * Math.sqrt(3)) / 2;
      return polygon([[x, y - (2 * height) / 3], [x + side / 2, y + height / 3], [x - side / 2, y + height / 3]]);
    }
    default:
      return { kind: "circle", x, y, radius, fill, stroke };
  }
}

/** A series' line: whole for the first, then dashed in different ways. */
export const dashOf = (series: number): readonly number[] => [[], [6, 3], [2, 3], [8, 3, 2, 3]][series % 4] ?? [];

export interface LegendEntry {
  name: string;
  color: string;
}

export const LEGEND_LINE = 20;

/** Names of the series with their markers, in as many lines as the width needs. */
export function legend(entries: readonly LegendEntry[], x: number, y: number, width: number, theme: Theme): { shapes: Shape[]; height: number } {
  const shapes: Shape[] = [];
  let left = x;
  let top = y;
  entries.forEach(({ name, color }, series) => {
    const text = fitted(name, width - 22, theme);
    const needed = 22 + textWidth(text, theme) + 16;
    if (left > x && left + needed - 16 > x + width) {
      left = x;
      top += LEGEND_LINE;
    }
    shapes.push(marker(series, left + 7, top + 10, 5, color, { color: theme.background, width: 1 }));
    shapes.push({ kind: "text", x: left + 18, y: top + 14, text, fill: theme.ink, size: TEXT_SIZE, anchor: "start" });
    left += needed;
  });
  return { shapes, height: entries.length === 0 ? 0 : top + LEGEND_LINE - y };
}
