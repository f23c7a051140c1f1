// A chart as a list of shapes, and the two ways to show it.
//
// In: shapes in CSS pixels, in the order in which they are painted. Out: paint on a canvas, or the text of an SVG file: what is
// downloaded or printed is what is seen. Targets are the places that a pointer or the arrow keys can reach.

export type Point = readonly [x: number, y: number];

export interface Stroke {
  color: string;
  width: number;
  dash?: readonly number[];
}

export type Shape =
  | { kind: "line"; points: readonly Point[]; stroke: Stroke }
  | { kind: "polygon"; points: readonly Point[]; fill: string | null; stroke: Stroke | null; opacity?: number }
  | { kind: "rect"; x: number; y: number; width: number; height: number; fill: string | null; stroke: Stroke | null; opacity?: number; radius?: number }
  | { kind: "circle"; x: number; y: number; radius: number; fill: string | null; stroke: Stroke | null; opacity?: number }
  | { kind: "text"; x: number; y: number; text: string; fill: string; size: number; anchor: "start" | "middle" | "end"; weight?: number; turned?: boolean };

export interface Target {
  id: string;
  /** The area that reacts to a pointer. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** Where its note points to. */
  anchor: Point;
  /** What there is to know of it, a line each. */
  note: readonly string[];
}

export interface Scene {
  width: number;
  height: number;
  background: string;
  font: string;
  shapes: readonly Shape[];
  /** In the order of the arrow keys. */
  targets: readonly Target[];
}

/** The target under a point; of several the last, which is painted on top. */
export const targetAt = ({ targets }: Scene, x: number, y: number): Target | null =>
  targets.findLast((target) => x >= target.x && x < target.x + target.width && y >= target.y && y < target.y + target.height) ?? null;

/** Paints a scene; `ratio` is canvas pixels per CSS pixel. Sets the canvas' size. */
export function paint(canvas: HTMLCanvasElement, scene: Scene, ratio: number): void {
  canvas.width = Math.round(scene.width * ratio);
  canvas.height = Math.round(scene.height * ratio);
  const context = canvas.getContext("2d");
  // A browser under memory pressure may refuse; the table twin still says everything.
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = scene.background;
  context.fillRect(0, 0, scene.width, scene.height);
  context.lineJoin = "round";
  for (const shape of scene.shapes) paintShape(context, shape, scene.font);
}

function paintShape(context: CanvasRenderingContext2D, shape: Shape, font: string): void {
  if (shape.kind === "text") {
    context.font = `${shape.weight ?? 400} ${shape.size}px ${font}`;
    context.fillStyle = shape.fill;
    context.textAlign = shape.anchor === "middle" ? "center" : shape.anchor;
    context.textBaseline = "alphabetic";
    if (shape.turned === true) {
      context.save();
      context.translate(shape.x, shape.y);
      context.rotate(-Math.PI / 2);
      context.fillText(shape.text, 0, 0);
      context.restore();
    } else {
      context.fillText(shape.text, shape.x, shape.y);
    }
    return;
  }
  context.beginPath();
  switch (shape.kind) {
    case "line":
    case "polygon":
      shape.points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
      if (shape.kind === "polygon") context.closePath();
      break;
    case "rect":
      context.roundRect(shape.x, shape.y, shape.width, shape.height, shape.radius ?? 0);
      break;
    case "circle":
      context.arc(shape.x, shape.y, shape.radius, 0, 2 * Math.PI);
      break;
  }
  if (shape.kind !== "line" && shape.fill !== null) {
    context.globalAlpha = shape.opacity ?? 1;
    context.fillStyle = shape.fill;
    context.fill();
    context.globalAlpha = 1;
  }
  if (shape.stroke !== null) {
    context.strokeStyle = shape.stroke.color;
    context.lineWidth = shape.stroke.width;
    context.setLineDash([...(shape.stroke.dash ?? [])]);
    context.stroke();
  }
}

/** The scene as the text of an SVG file; `title` is what a screen reader says of it. */
export function svgOf(scene: Scene, title: string): string {
  const { width, height, background, font } = scene;
  const size = `width="${px(width)}" height="${px(height)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${px(width)} ${px(height)}" role="img" font-family="${escaped(font)}">`,
    `<title>${escaped(title)}</title>`,
    `<rect ${size} fill="${escaped(background)}"/>`,
    ...scene.shapes.map(svgShape),
    "</svg>",
    "",
  ].join("\n");
}

function svgShape(shape: Shape): string {
  switch (shape.kind) {
    case "text": {
      const turn = shape.turned === true ? ` transform="rotate(-90 ${px(shape.x)} ${px(shape.y)})"` : "";
      return `<text x="${px(shape.x)}" y="${px(shape.y)}" font-size="${shape.size}" font-weight="${shape.weight ?? 400}" text-anchor="${shape.anchor}" fill="${escaped(shape.fill)}"${turn}>${escaped(shape.text)}</text>`;
    }
    case "line":
      return `<polyline points="${pointList(shape.points)}" fill="none"${svgStroke(shape.stroke)}/>`;
    case "polygon":
      return `<polygon points="${pointList(shape.points)}"${svgFill(shape)}/>`;
    case "rect":
      return `<rect x="${px(shape.x)}" y="${px(shape.y)}" width="${px(shape.width)}" height="${px(shape.height)}" rx="${shape.radius ?? 0}"${svgFill(shape)}/>`;
    case "circle":
      return `<circle cx="${px(shape.x)}" cy="${px(shape.y)}" r="${px(shape.radius)}"${svgFill(shape)}/>`;
  }
}

const svgFill = (shape: { fill: string | null; stroke: Stroke | null; opacity?: number }): string =>
  ` fill="${escaped(shape.fill ?? "none")}"${shape.opacity === undefined ? "" : ` fill-opacity="${shape.opacity}"`}${shape.stroke === null ? "" : svgStroke(shape.stroke)}`;

const svgStroke = ({ color, width, dash }: Stroke): string =>
  ` stroke="${escaped(color)}" stroke-width="${width}" stroke-linejoin="round"${dash === undefined ? "" : ` stroke-dasharray="${dash.join(" ")}"`}`;

const pointList = (points: readonly Point[]): string => points.map(([x, y]) => `${px(x)},${px(y)}`).join(" ");

/** A hundredth of a pixel is finer than any screen. */
const px = (value: number): string => String(Math.round(value * 100) / 100);

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// Control characters may not stand in XML, and task files have them.
const escaped = (text: string): string => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
