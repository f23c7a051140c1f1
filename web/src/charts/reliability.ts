// The reliability diagram: how often the model is right against how sure it is, bin by bin.
//
// In: calibrations from the report, the first one being the run that is looked at. Out: a scene with the diagonal of perfect
// calibration, each bin's gap to it, its accuracy with Wilson's interval, a marker whose area grows with the bin's docs, and the
// docs per bin below. Targets are named by the bins' numbers. Source: Guo et al. 2017, figure 1.

import type { Bin, Calibration } from "../types.ts";
import { dashOf, legend, linear, marker, SMALL_TEXT_SIZE, TEXT_SIZE, textWidth, ticks, whisker } from "./axes.ts";
import type { Point, Scene, Shape, Target } from "./scene.ts";
import { seriesColor, type Theme } from "./theme.ts";

export interface ReliabilityWords {
  confidence: string;
  accuracy: string;
  docs: string;
  share(value: number): string;
  count(value: number): string;
  note(bin: Bin): string[];
}

export interface ReliabilityInput {
  runs: readonly { name: string; calibration: Calibration }[];
  width: number;
  theme: Theme;
  words: ReliabilityWords;
  /** Id of the target that is looked at. */
  focus: string | null;
}

const COUNTS_HEIGHT = 64;
const MAX_PLOT_HEIGHT = 460;
const MIN_RADIUS = 3;
const UNIT = { min: 0, max: 1 };

export function reliabilityScene({ runs, width, theme, words, focus }: ReliabilityInput): Scene {
  const key = legend(runs.length < 2 ? [] : runs.map(({ name }, i) => ({ name, color: seriesColor(theme, i) })), 8, 4, width - 16, theme);
  const left = 30 + textWidth(words.share(1), theme, SMALL_TEXT_SIZE);
  const right = width - 14;
  const top = key.height + 14;
  const bottom = top + Math.min(MAX_PLOT_HEIGHT, right - left);
  const countsTop = bottom + 18;
  const countsBottom = countsTop + COUNTS_HEIGHT;
  const x = linear(UNIT, left, right);
  const y = linear(UNIT, bottom, top);
  // Neighbours may touch, not cover one another.
  const maxRadius = Math.min(13, Math.max(6, (right - left) / 30));
  const marks = width < 420 ? [0, 0.5, 1] : [0, 0.2, 0.4, 0.6, 0.8, 1];

  const shapes: Shape[] = [...key.shapes];
  const text = (at: Point, content: string, anchor: "start" | "middle" | "end", size = SMALL_TEXT_SIZE, fill = theme.muted): void => {
    shapes.push({ kind: "text", x: at[0], y: at[1], text: content, anchor, size, fill });
  };
  for (const mark of marks) {
    shapes.push({ kind: "line", points: [[left, y(mark)], [right, y(mark)]], stroke: { color: theme.grid, width: 1 } });
    shapes.push({ kind: "line", points: [[x(mark), top], [x(mark), bottom]], stroke: { color: theme.grid, width: 1 } });
    text([left - 7, y(mark) + 4], words.share(mark), "end");
    text([x(mark), countsBottom + 16], words.share(mark), mark === 1 ? "end" : "middle");
  }
  shapes.push({ kind: "text", x: 14, y: (top + bottom) / 2, text: words.accuracy, anchor: "middle", size: TEXT_SIZE, fill: theme.ink, turned: true });
  text([(left + right) / 2, countsBottom + 34], words.confidence, "middle", TEXT_SIZE, theme.ink);

  const first = runs[0]?.calibration;
  const focused = first?.bins.findIndex((_, i) => String(i) === focus) ?? -1;
  const focusedBin = first?.bins[focused];
  if (focusedBin !== undefined) shapes.push({ kind: "rect", x: x(focusedBin.low), y: top, width: x(focusedBin.high) - x(focusedBin.low), height: countsBottom - top, fill: theme.grid, stroke: null, opacity: 0.6 });

  // The gaps of the run that is looked at: from its accuracy to where the diagonal is.
  for (const bin of first?.bins ?? []) {
    if (bin.mean_confidence === null || bin.accuracy === null || bin.gap === null) continue;
    const half = Math.max(3, Math.min(x(bin.high) - x(bin.low) - 2, 26, 2 * (right - x(bin.mean_confidence))) / 2);
    const [upper, lower] = [y(Math.max(bin.accuracy, bin.mean_confidence)), y(Math.min(bin.accuracy, bin.mean_confidence))];
    const fill = bin.gap > 0 ? theme.overconfident : theme.underconfident;
    shapes.push({ kind: "rect", x: x(bin.mean_confidence) - half, y: upper, width: 2 * half, height: lower - upper, fill, stroke: null, opacity: 0.24 });
  }
  shapes.push({ kind: "line", points: [[x(0), y(0)], [x(1), y(1)]], stroke: { color: theme.muted, width: 1.25, dash: [5, 4] } });

  // The run that is looked at comes last, on top of the others.
  for (let series = runs.length - 1; series >= 0; series--) {
    const calibration = runs[series]?.calibration;
    if (calibration === undefined) continue;
    const color = seriesColor(theme, series);
    const most = Math.max(1, ...calibration.bins.map(({ n }) => n));
    const filled = calibration.bins.flatMap((bin) =>
      bin.mean_confidence === null || bin.accuracy === null ? [] : [{ bin, at: [x(bin.mean_confidence), y(bin.accuracy)] as const }],
    );
    if (runs.length > 1) shapes.push({ kind: "line", points: filled.map(({ at }) => at), stroke: { color, width: 1.5, dash: dashOf(series) } });
    for (const { bin, at } of filled) {
      if (bin.interval !== null) shapes.push(...whisker("vertical", at[0], y(bin.interval.low), y(bin.interval.high), 3.5, { color, width: 1.25 }));
      const radius = Math.max(MIN_RADIUS, maxRadius * Math.sqrt(bin.n / most));
      shapes.push(marker(series, at[0], at[1], radius, color, { color: bin === focusedBin ? theme.ink : theme.background, width: bin === focusedBin ? 2 : 1 }));
    }
  }

  if (first !== undefined) shapes.push(...counts(first, { x, top: countsTop, bottom: countsBottom, left, right, theme, words }));
  return { width, height: countsBottom + 44, background: theme.background, font: theme.font, shapes, targets: first === undefined ? [] : targets(first) };

  function targets({ bins }: Calibration): Target[] {
    return bins.map((bin, i) => ({
      id: String(i),
      x: x(bin.low),
      y: top,
      // Bins of equal mass can be as narrow as a line.
      width: Math.max(4, x(bin.high) - x(bin.low)),
      height: countsBottom - top,
      anchor: [x(bin.mean_confidence ?? (bin.low + bin.high) / 2), y(bin.accuracy ?? (bin.low + bin.high) / 2)],
      note: words.note(bin),
    }));
  }
}

interface CountsArea {
  x: (value: number) => number;
  top: number;
  bottom: number;
  left: number;
  right: number;
  theme: Theme;
  words: ReliabilityWords;
}

/** Docs per bin, as bars below the diagram. */
function counts({ bins }: Calibration, { x, top, bottom, left, right, theme, words }: CountsArea): Shape[] {
  const most = Math.max(1, ...bins.map(({ n }) => n));
  const scale = linear({ min: 0, max: most }, bottom, top + 4);
  const highest = ticks({ min: 0, max: most }, 2).at(-1) ?? most;
  const label = (at: number, text: string): Shape => ({ kind: "text", x: left - 7, y: at + 4, text, anchor: "end", size: SMALL_TEXT_SIZE, fill: theme.muted });
  return [
    { kind: "line", points: [[left, scale(highest)], [right, scale(highest)]], stroke: { color: theme.grid, width: 1 } },
    ...bins.map(
      (bin): Shape => ({
        kind: "rect",
        x: x(bin.low) + 1,
        y: scale(bin.n),
        width: Math.max(1.5, x(bin.high) - x(bin.low) - 2),
        height: bottom - scale(bin.n),
        fill: seriesColor(theme, 0),
        stroke: null,
        opacity: 0.75,
      }),
    ),
    { kind: "line", points: [[left, bottom], [right, bottom]], stroke: { color: theme.muted, width: 1 } },
    label(bottom, "0"),
    label(scale(highest), words.count(highest)),
    { kind: "text", x: 14, y: (top + bottom) / 2, text: words.docs, anchor: "middle", size: TEXT_SIZE, fill: theme.ink, turned: true },
  ];
}
