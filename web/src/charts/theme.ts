// Colours and type of the charts, as the page's style sheet has them.
//
// In: an element of the page, or nothing for paper. Out: a theme. Series differ in shape and dash as well as in hue, and the hues
// are Okabe and Ito's (2008), which people with any kind of colour vision tell apart.

export interface Theme {
  background: string;
  ink: string;
  muted: string;
  grid: string;
  /** One hue per series; a fifth series starts again. */
  series: readonly string[];
  /** The gap of a bin that is surer than right, and of one that is less sure than right. */
  overconfident: string;
  underconfident: string;
  font: string;
}

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";

/** Black on white, for files and paper. */
export const PRINT_THEME: Theme = {
  background: "#ffffff",
  ink: "#1a1a1a",
  muted: "#595959",
  grid: "#dddddd",
  series: ["#0072b2", "#b34700", "#007a5a", "#8f3f71"],
  overconfident: "#d55e00",
  underconfident: "#0072b2",
  font: FONT,
};

/** The theme at an element, from custom properties; what the style sheet does not set is as on paper. */
export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string, fallback: string): string => style.getPropertyValue(`--chart-${name}`).trim() || fallback;
  return {
    background: read("background", PRINT_THEME.background),
    ink: read("ink", PRINT_THEME.ink),
    muted: read("muted", PRINT_THEME.muted),
    grid: read("grid", PRINT_THEME.grid),
    series: PRINT_THEME.series.map((fallback, i) => read(`series-${i + 1}`, fallback)),
    overconfident: read("overconfident", PRINT_THEME.overconfident),
    underconfident: read("underconfident", PRINT_THEME.underconfident),
    font: FONT,
  };
}

/** CSS pixels of the page's type; larger on very wide screens. */
export const rootFontSize = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;

export const seriesColor = (theme: Theme, i: number): string => theme.series[i % theme.series.length] ?? theme.ink;
