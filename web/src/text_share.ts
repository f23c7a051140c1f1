// English text of links, what they claim, and whether it holds; of the history and the cache.

import type { CheckedDoc, LinkedFile } from "./state.ts";
import { bytes, count, plural } from "./text.ts";

const doc = (outcome: CheckedDoc): string => {
  if (outcome === null) return "failed";
  const pick = outcome.pick === null ? "" : `picked ${String.fromCharCode(65 + outcome.pick)}`;
  const right = outcome.is_correct === null ? "" : outcome.is_correct ? "right" : "wrong";
  return [pick, right].filter((part) => part !== "").join(", ");
};

const FILES: Record<LinkedFile, string> = { model: "Model file", data: "Task file", fewshot: "Few-shot file" };

export const share = {
  heading: "Link to this run",
  intro:
    "The link holds every setting, the hashes of model and rows, and the outcome of every doc, packed into the part of the address that no server sees. Whoever opens it can run the same and compare.",
  rows: (n: number) => `Let the rows travel along (${bytes(n)} of questions and answers)`,
  make: "Make a link",
  field: "Link",
  copy: "Copy link",
  copied: "The link is copied",
  size: (n: number) => `${count(n)} characters. ${n < 2000 ? "Fits into a message." : "Some programs cut long addresses: check that it arrives whole."}`,
  local: "The files of this run have no address: whoever opens the link is asked for them by name, and their hashes are checked.",
  tooLong: (name: string) => `This run is too long for a link. ${name} holds the same; whoever gets it opens it under “Runs and files”.`,
  save: "Save as a file",
} as const;

export const incoming = {
  heading: "A run that was sent to you",
  claimed: "claimed, not verified",
  refused: "This link cannot be read",
  nothing: "Nothing was loaded or run.",
  docs: (n: number, nFailed: number, nUnscored: number) =>
    [plural(n, "doc"), nFailed > 0 ? `${count(nFailed)} failed` : "", nUnscored > 0 ? `${plural(nUnscored, "row")} left out` : ""].filter((part) => part !== "").join(", "),
  engine: "Engine",
  settings: "Settings",
  results: "Outcome",
  categories: { caption: "By category", columns: ["Category", "Right", "Docs"] },
  bins: { caption: "Calibration", columns: ["Bin", "Docs", "Right", "Mean confidence"] },
  source: (host: string) => `from ${host}`,
  here: "beside this page",
  noSource: "a file of the sender's",
  inside: "travels in the link",
  all: "Run again and compare",
  quick: (n: number) => `Quick check of ${n} docs`,
  close: "Close",
  running: "Running the same again…",
  needs: (name: string, size: number, nParts: number) => `${name}${nParts > 1 ? ` and the other ${nParts - 1} parts, together` : ","} ${bytes(size)}`,
  files: FILES,
  askedFor: "The link names files that are not here. Choose them; their hashes are checked before anything runs.",
  otherFile: (name: string, message: string) => `${name}: ${message}`,
} as const;

export const verdicts = {
  reproduced: (n: number) => `Reproduced bit for bit: every log-likelihood of all ${plural(n, "doc")} is the same to the last bit.`,
  otherBits: (n: number, claimed: string, here: string) =>
    `Same picks on all ${plural(n, "doc")}, other bits: the log-likelihoods differ in their last digits. ${claimed === here ? `Both ran on engine ${here}.` : `The link was made by engine ${claimed}, this is ${here}.`}`,
  differs: (n: number, nDocs: number) =>
    n === 0 ? `Not reproduced: the log-likelihoods of ${plural(nDocs, "doc")} differ.` : `Not reproduced: ${count(n)} of ${plural(nDocs, "doc")} ${n === 1 ? "comes" : "come"} out otherwise.`,
  otherDocs: (claimed: number, here: number) => `Not comparable: the link speaks of ${plural(claimed, "doc")}, this run has ${count(here)}.`,
  partial: (nChecked: number, nDocs: number, seed: number) =>
    `${count(nChecked)} of ${plural(nDocs, "doc")} checked, drawn with seed ${seed}: every pick and every right or wrong is as claimed. Log-likelihoods and the other docs were not compared.`,
  partlyDiffers: (n: number, nChecked: number) => `Not reproduced: ${count(n)} of the ${plural(nChecked, "doc")} checked ${n === 1 ? "comes" : "come"} out otherwise.`,
  table: { caption: "Docs that came out otherwise", columns: ["Row", "Claimed", "Here"] },
  doc,
  only: (n: number) => `The first ${count(n)} are listed.`,
} as const;

export const history = {
  heading: "Runs and files",
  runs: { caption: "Runs in this browser", columns: ["Began", "Model", "Task", "Docs", "Result"] },
  none: "No run has been kept yet. Every run is written down as it goes on, so that a closed tab loses nothing.",
  open: "Open",
  goOn: "Go on",
  compare: "Compare",
  overlay: "Overlay",
  remove: "Delete",
  /** For screen readers: which run a button is of. */
  of: (action: string, name: string) => `${action}: ${name}`,
  unfinished: (n: number, nDocs: number) => `broke off after ${count(n)} of ${plural(nDocs, "doc")}`,
  exportAll: "Export all runs",
  importRuns: "Import runs",
  importHint: "a file that “Export all runs” wrote",
  openRun: "Open a run file",
  openHint: "an .evaltab.json that somebody sent",
  imported: (n: number) => `${plural(n, "run")} added`,
  choose: "choose this file above, then go on",
  otherEngine: (began: string, here: string) => `${began === "" ? "an older engine" : `engine ${began}`} began this run and this is ${here}: a run has one engine, so run it anew`,
  partMissing: "a part of this model is not here any more",
  files: { caption: "Files in this browser", columns: ["Name", "Size", "From"] },
  noFiles: "No file has been kept yet.",
  part: (stored: number, whole: number | null) => (whole === null ? `${bytes(stored)} so far` : `${bytes(stored)} of ${bytes(whole)}`),
  picked: "a file of this machine",
  use: "Use",
  notKept: (name: string) => `${name} was picked from this machine and is not kept.`,
  keep: "Keep it for the next visit",
  noRoom: "the browser has no room for it",
  storage: (used: number, quota: number) => `${bytes(used)} of the ${bytes(quota)} that the browser grants this site are in use.`,
  persistent: "The browser does not clear them by itself.",
  mayClear: "The browser may clear them when the disk is full.",
  persist: "Ask it not to",
} as const;
