// A chart on the page: a canvas that follows its box, the colour scheme and the printer, and that pointer and keys can explore.
//
// In: a function that makes the scene for a width, and the sentence that says what the chart shows. Out: the canvas, with a note
// on the place that is pointed at. A table with the same numbers belongs beside it and is the caller's.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { paint, svgOf, targetAt, type Scene, type Target } from "./scene.ts";
import { PRINT_THEME, rootFontSize, themeOf, type Theme } from "./theme.ts";
import { giveUp, inTurn } from "./turns.ts";
import "./chart.css";

export type MakeScene = (width: number, theme: Theme, focus: string | null) => Scene;

export interface ChartViewProps {
  scene: MakeScene;
  /** One sentence: what the chart shows. */
  label: string;
  /** What a click or Enter does with a place. */
  onPick?: (id: string) => void;
}

export function ChartView({ scene: make, label, onPick }: ChartViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  /** The box in pixels of the scene, each of which is `zoom` pixels of the page: more than one where the page's type is large. */
  const [{ width, zoom }, setSize] = useState({ width: 0, zoom: 1 });
  const [look, setLook] = useState<{ printing: boolean; changes: number }>({ printing: false, changes: 0 });
  const [focus, setFocus] = useState<string | null>(null);
  const [scene, setScene] = useState<Scene | null>(null);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      const zoomed = rootFontSize() / 16;
      setSize({ width: element.clientWidth / zoomed, zoom: zoomed });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const again = (): void => setLook(({ printing, changes }) => ({ printing, changes: changes + 1 }));
    const print = (printing: boolean) => (): void => setLook(({ changes }) => ({ printing, changes }));
    const [before, after] = [print(true), print(false)];
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    // The page's own switch, if it has one, is an attribute of the document's root.
    const root = new MutationObserver(again);
    scheme.addEventListener("change", again);
    root.observe(document.documentElement, { attributes: true });
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      scheme.removeEventListener("change", again);
      root.disconnect();
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);

  useLayoutEffect(() => {
    const [element, surface] = [box.current, canvas.current];
    if (width === 0 || element === null || surface === null) return;
    const draw = (): void => {
      const made = make(width, look.printing ? PRINT_THEME : themeOf(element), focus);
      // Paper wants more pixels than a screen has.
      paint(surface, made, look.printing ? 3 : window.devicePixelRatio * zoom);
      setScene(made);
    };
    // The printer and a person's finger do not wait.
    if (look.printing || focus !== null) draw();
    else inTurn(surface, draw);
    return () => giveUp(surface);
  }, [make, width, zoom, look, focus]);

  // A finger has no way to hover: its first tap shows the note, a second one picks.
  const isArmed = useRef(true);
  const target = scene?.targets.find(({ id }) => id === focus) ?? null;
  const under = (event: PointerEvent | MouseEvent): Target | null => (scene === null ? null : targetAt(scene, event.offsetX / zoom, event.offsetY / zoom));

  const onKeyDown = (event: KeyboardEvent): void => {
    if (scene === null || scene.targets.length === 0) return;
    const at = scene.targets.findIndex(({ id }) => id === focus);
    const last = scene.targets.length - 1;
    const go = (to: number): void => {
      event.preventDefault();
      setFocus(scene.targets[Math.min(last, Math.max(0, to))]?.id ?? null);
    };
    switch (event.key) {
      case "ArrowRight":
      case "ArrowDown":
        return go(at + 1);
      case "ArrowLeft":
      case "ArrowUp":
        return go(at < 0 ? last : at - 1);
      case "Home":
        return go(0);
      case "End":
        return go(last);
      case "Escape":
        return setFocus(null);
      case "Enter":
        if (focus !== null) onPick?.(focus);
    }
  };

  return (
    <div class="chart" ref={box}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        tabIndex={0}
        style={scene === null ? {} : { width: `${scene.width * zoom}px`, height: `${scene.height * zoom}px` }}
        class={target !== null && onPick !== undefined ? "chart-canvas chart-canvas-picks" : "chart-canvas"}
        onPointerDown={(event) => (isArmed.current = event.pointerType !== "touch" || under(event)?.id === focus)}
        onPointerMove={(event) => setFocus(under(event)?.id ?? null)}
        onPointerLeave={({ pointerType }) => pointerType !== "touch" && setFocus(null)}
        onBlur={() => setFocus(null)}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          const clicked = under(event);
          setFocus(clicked?.id ?? null);
          if (clicked !== null && isArmed.current) onPick?.(clicked.id);
        }}
      />
      {target !== null && scene !== null && (
        <div class="chart-note" aria-hidden="true" style={notePlace(target, scene, zoom)}>
          {target.note.map((line) => (
            <div key={line}>{line}</div>
          ))}
        </div>
      )}
      {/* A live region has to be there before it speaks. */}
      <p class="visually-hidden" role="status">
        {target?.note.join(", ")}
      </p>
    </div>
  );
}

/** Beside the anchor, on the side that has room. */
function notePlace(target: Target, scene: Scene, zoom: number): Record<string, string> {
  const x = target.anchor[0] * zoom;
  const y = target.anchor[1] * zoom;
  const [width, height] = [scene.width * zoom, scene.height * zoom];
  return {
    ...(x > width / 2 ? { left: "auto", right: `${width - x + 14}px` } : { left: `${x + 14}px`, right: "auto" }),
    ...(y > height / 2 ? { top: "auto", bottom: `${height - y + 10}px` } : { top: `${y + 10}px`, bottom: "auto" }),
  };
}

/** How wide a chart in a file is, CSS pixels. */
const FILE_WIDTH = 720;

/** A chart as a file: black on white, whatever the page looks like. */
export const chartSvg = (make: MakeScene, label: string): Blob => new Blob([svgOf(make(FILE_WIDTH, PRINT_THEME, null), label)], { type: "image/svg+xml" });

export function chartPng(make: MakeScene): Promise<Blob | null> {
  const canvas = document.createElement("canvas");
  paint(canvas, make(FILE_WIDTH, PRINT_THEME, null), 3);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
