import { beforeAll, describe, expect, it } from "vitest";
import { fitted, marker, ticks } from "../src/charts/axes.ts";
import { intervalsScene, type IntervalRow } from "../src/charts/intervals.ts";
import { reliabilityScene, type ReliabilityWords } from "../src/charts/reliability.ts";
import { svgOf, targetAt, type Scene, type Shape } from "../src/charts/scene.ts";
import { PRINT_THEME } from "../src/charts/theme.ts";
import type { Bin, Calibration } from "../src/types.ts";

beforeAll(() => {
  // Text is measured on a canvas; without one a character counts as 0.6 of its size.
  Object.assign(globalThis, { document: { createElement: () => ({ getContext: () => null }) } });
});

const scene = (shapes: Shape[], targets: Scene["targets"] = []): Scene => ({ width: 100, height: 50, background: "#fff", font: "sans-serif", shapes, targets });

describe("ticks", () => {
  it("are steps of 1, 2 or 5 times a power of ten", () => {
    expect(ticks({ min: 0, max: 1 }, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks({ min: 0, max: 14_042 }, 2)).toEqual([0, 5_000, 10_000]);
    expect(ticks({ min: 0.25, max: 0.75 }, 4)).toEqual([0.3, 0.4, 0.5, 0.6, 0.7]);
  });

  it("carry no noise of binary fractions", () => {
    expect(ticks({ min: 0, max: 0.5 }, 5)).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5]);
  });

  it("of a range without width are its only value", () => {
    expect(ticks({ min: 3, max: 3 }, 4)).toEqual([3]);
  });
});

describe("a marker", () => {
  it("has the same area in every form", () => {
    const areas = [0, 1, 2, 3].map((series) => areaOf(marker(series, 50, 50, 10, "#000", { color: "#fff", width: 1 })));
    // π·10², by the shoelace formula where it is a polygon.
    for (const area of areas) expect(area).toBeCloseTo(314.159, 2);
  });
});

function areaOf(shape: Shape): number {
  switch (shape.kind) {
    case "circle":
      return Math.PI * shape.radius ** 2;
    case "rect":
      return shape.width * shape.height;
    case "polygon":
      return Math.abs(
        shape.points.reduce((sum, [x, y], i) => {
          const [nextX, nextY] = shape.points[(i + 1) % shape.points.length] ?? [0, 0];
          return sum + (x * nextY - nextX * y) / 2;
        }, 0),
      );
    default:
      return Number.NaN;
  }
}

describe("a text that has to fit", () => {
  it("stays whole where there is room and ends in an ellipsis where there is not", () => {
    // 12 px · 0.6 = 7.2 px a character.
    expect(fitted("abcdef", 44, PRINT_THEME)).toBe("abcdef");
    expect(fitted("abcdefgh", 44, PRINT_THEME)).toBe("abcde…");
  });

  it("is not cut inside of a character", () => {
    expect(fitted("😀😀😀😀", 30, PRINT_THEME)).toMatch(/^(😀)*…$/u);
  });
});

describe("the SVG file of a scene", () => {
  it("holds foreign text as text", () => {
    const svg = svgOf(scene([{ kind: "text", x: 0, y: 0, text: '<script>alert("1")</script> & \u0004', fill: "#000", size: 12, anchor: "start" }]), "</title><script>");
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; \ufffd");
    expect(svg).toContain("<title>&lt;/title&gt;&lt;script&gt;</title>");
  });

  it("has the scene's size and every shape", () => {
    const svg = svgOf(
      scene([
        { kind: "line", points: [[0, 0], [10.005, 20]], stroke: { color: "#f00", width: 2, dash: [5, 4] } },
        { kind: "rect", x: 1, y: 2, width: 3, height: 4, fill: "#0f0", stroke: null, opacity: 0.5 },
        { kind: "circle", x: 5, y: 6, radius: 7, fill: null, stroke: { color: "#00f", width: 1 } },
      ]),
      "title",
    );
    expect(svg).toContain('viewBox="0 0 100 50"');
    expect(svg).toContain('<polyline points="0,0 10.01,20" fill="none" stroke="#f00" stroke-width="2" stroke-linejoin="round" stroke-dasharray="5 4"/>');
    expect(svg).toContain('<rect x="1" y="2" width="3" height="4" rx="0" fill="#0f0" fill-opacity="0.5"/>');
    expect(svg).toContain('<circle cx="5" cy="6" r="7" fill="none" stroke="#00f" stroke-width="1" stroke-linejoin="round"/>');
  });
});

describe("a target", () => {
  const target = (id: string, x: number) => ({ id, x, y: 0, width: 10, height: 10, anchor: [x, 0] as const, note: [] });

  it("is the last of those under a point", () => {
    const both = scene([], [target("under", 0), target("over", 5)]);
    expect(targetAt(both, 7, 5)?.id).toBe("over");
    expect(targetAt(both, 3, 5)?.id).toBe("under");
    expect(targetAt(both, 50, 5)).toBeNull();
  });
});

const bin = (low: number, high: number, n: number, nCorrect: number, confidence: number): Bin =>
  n === 0
    ? { low, high, n, n_correct: 0, mean_confidence: null, accuracy: null, interval: null, gap: null }
    : { low, high, n, n_correct: nCorrect, mean_confidence: confidence, accuracy: nCorrect / n, interval: { low: 0.25, high: 0.75 }, gap: confidence - nCorrect / n };

const WORDS: ReliabilityWords = { confidence: "confidence", accuracy: "accuracy", docs: "docs", share: (value) => `${Math.round(100 * value)}%`, count: String, note: ({ n }) => [`${n} docs`] };

function reliability(bins: Bin[], focus: string | null = null): Scene {
  // The scene reads the bins alone.
  const calibration = { bins } as Calibration;
  return reliabilityScene({ runs: [{ name: "this run", calibration }], width: 600, theme: PRINT_THEME, words: WORDS, focus });
}

const circles = ({ shapes }: Scene) => shapes.flatMap((shape) => (shape.kind === "circle" ? [shape] : []));
const diagonal = ({ shapes }: Scene) => shapes.flatMap((shape) => (shape.kind === "line" && shape.stroke.dash !== undefined ? [shape.points] : []))[0] ?? [];

describe("the reliability diagram", () => {
  const bins = [bin(0, 0.5, 25, 10, 0.4), bin(0.5, 0.9, 0, 0, 0), bin(0.9, 1, 100, 50, 0.9)];

  it("has a marker per bin with docs, at its mean confidence and accuracy", () => {
    const made = reliability(bins);
    const [[left, bottom] = [0, 0], [right, top] = [0, 0]] = diagonal(made);
    const at = (confidence: number, accuracy: number) => [left + confidence * (right - left), bottom + accuracy * (top - bottom)];
    const places = circles(made).map(({ x, y }) => [x, y]);
    expect(places).toHaveLength(2);
    [at(0.4, 0.4), at(0.9, 0.5)].forEach((place, i) => place.forEach((value, axis) => expect(places[i]?.[axis]).toBeCloseTo(value, 6)));
  });

  it("shows the number of docs as area", () => {
    const [few, many] = circles(reliability(bins));
    // A quarter of the docs, a quarter of the area, half of the radius.
    expect((few?.radius ?? 0) / (many?.radius ?? 1)).toBeCloseTo(0.5, 6);
  });

  it("shades an overconfident gap in the colour that means it, from the accuracy to the diagonal", () => {
    const made = reliability(bins);
    const [[, bottom] = [0, 0], [, top] = [0, 0]] = diagonal(made);
    const gaps = made.shapes.filter((shape) => shape.kind === "rect" && shape.fill === PRINT_THEME.overconfident);
    expect(gaps).toHaveLength(1);
    // From 0.5 to 0.9 of the plot's height.
    expect(gaps[0]?.kind === "rect" ? gaps[0].height : 0).toBeCloseTo(0.4 * (bottom - top), 6);
  });

  it("has a target per bin, empty ones included, so that the arrow keys pass all of them", () => {
    expect(reliability(bins).targets.map(({ id, note }) => [id, note])).toEqual([
      ["0", ["25 docs"]],
      ["1", ["0 docs"]],
      ["2", ["100 docs"]],
    ]);
  });
});

describe("intervals on one axis", () => {
  const row = (id: string, value: number, low: number, high: number): IntervalRow => ({ id, name: id, value, interval: { low, high }, note: "n", chance: 0.25, role: "single", details: [id] });

  it("are as wide as the numbers say", () => {
    const made = intervalsScene({
      rows: [row("few", 0.5, 0.1, 0.9), row("many", 0.5, 0.45, 0.55)],
      lines: [],
      range: { min: 0, max: 1 },
      width: 500,
      theme: PRINT_THEME,
      axis: "accuracy",
      format: String,
      focus: null,
    });
    const bands = made.shapes.flatMap((shape) => (shape.kind === "rect" && shape.opacity === 0.18 ? [shape.width] : []));
    expect(bands).toHaveLength(2);
    // 0.8 of the axis against 0.1 of it.
    expect((bands[0] ?? 0) / (bands[1] ?? 1)).toBeCloseTo(8, 6);
    expect(made.targets.map(({ id }) => id)).toEqual(["few", "many"]);
  });
});
