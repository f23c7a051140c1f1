// Is a link true? Compares what it claims with what a rerun on this machine gave.
//
// In: the claimed `RunLink`; items of a rerun of all docs, or of a few that a seed chose. Out: a `Verdict`.
// A whole rerun is judged by the digest of every log-likelihood; a partial one has no digest to compare and is judged by
// each doc's pick and whether it was right. The rerun itself, and the words for people, are left to others.

import type { FailedItem, ItemScore } from "../types.ts";
import { fail, ok, type Failure, type Result } from "../result.ts";
import { docOutcome, docOutcomes, inDataOrder, type DocOutcome, type FileRef, type RunLink } from "./link.ts";

/** Docs of a quick check. */
export const N_QUICK = 20;

/** A doc that came out otherwise. `null`: the doc failed there. */
export interface Difference {
  /** Position among the run's docs, in data order from 0. */
  position: number;
  /** Position among all rows of the file. */
  index: number;
  claimed: DocOutcome | null;
  rerun: DocOutcome | null;
}

export type Verdict =
  /** Every log-likelihood of every choice is the same to the last bit. */
  | { kind: "reproduced_bit_for_bit"; n_docs: number }
  /** Same picks, other bits: another engine version computed them. */
  | { kind: "same_picks_other_bits"; n_docs: number; claimed_engine: string; rerun_engine: string }
  /** These docs came out otherwise; an empty list where docs have neither picks nor right and wrong and the log-likelihoods differ. */
  | { kind: "differs"; n_docs: number; items: Difference[] }
  /** The rerun has other docs than the link: nothing can be compared. */
  | { kind: "other_docs"; n_claimed: number; n_rerun: number }
  /** A quick check: picks and right or wrong of `n_checked` docs agree but for `items`; log-likelihoods were not compared. */
  | { kind: "partial"; n_checked: number; n_docs: number; items: Difference[] };

/** What a rerun of all docs gave. */
export interface Rerun {
  items: readonly ItemScore[];
  failed: readonly FailedItem[];
  loglikelihood_digest: string;
  engine_version: string;
}

/** The verdict on a rerun of every doc. */
export function verify(run: RunLink, rerun: Rerun): Verdict {
  const docs = inDataOrder(rerun.items, rerun.failed);
  const claimed = docOutcomes(run.outcome);
  if (docs.length !== claimed.length) return { kind: "other_docs", n_claimed: claimed.length, n_rerun: docs.length };
  const items = differences(run, docs, claimed.map((_, position) => position));
  if (items.length > 0) return { kind: "differs", n_docs: docs.length, items };
  if (rerun.loglikelihood_digest === run.outcome.loglikelihood_digest) return { kind: "reproduced_bit_for_bit", n_docs: docs.length };
  if (run.outcome.correct === null) return { kind: "differs", n_docs: docs.length, items: [] };
  return { kind: "same_picks_other_bits", n_docs: docs.length, claimed_engine: run.engine_version, rerun_engine: rerun.engine_version };
}

/** The verdict on a rerun of the docs at `positions` (`quickPositions`) only. */
export function verifyPartly(run: RunLink, positions: readonly number[], items: readonly ItemScore[], failed: readonly FailedItem[]): Verdict {
  const docs = inDataOrder(items, failed);
  if (docs.length !== positions.length) return { kind: "other_docs", n_claimed: positions.length, n_rerun: docs.length };
  return { kind: "partial", n_checked: docs.length, n_docs: run.outcome.n_docs, items: differences(run, docs, positions) };
}

function differences(run: RunLink, docs: readonly { index: number; item: ItemScore | null }[], positions: readonly number[]): Difference[] {
  const claims = docOutcomes(run.outcome);
  return docs.flatMap(({ index, item }, i) => {
    const position = positions[i] ?? i;
    const claimed = claims[position] ?? null;
    const rerun = item === null ? null : docOutcome(item, run.outcome.rule);
    return isSame(claimed, rerun) ? [] : [{ position, index, claimed, rerun }];
  });
}

const isSame = (a: DocOutcome | null, b: DocOutcome | null): boolean => a?.is_correct === b?.is_correct && a?.pick === b?.pick;

/** `n` of the positions 0 … `nDocs` − 1, rising, the same for the same seed; all where there are no more than `n`. */
export function quickPositions(nDocs: number, seed: number, n: number = N_QUICK): number[] {
  const random = mulberry32(seed);
  // Floyd's sampling: n draws, no list of all positions.
  const chosen = new Set<number>();
  for (let last = Math.max(0, nDocs - n); last < nDocs; last++) {
    const candidate = Math.floor(random() * (last + 1));
    chosen.add(chosen.has(candidate) ? last : candidate);
  }
  return [...chosen].sort((a, b) => a - b);
}

/** Numbers in [0, 1) from a 32-bit seed. Source: T. Ettinger's mulberry32 (public domain). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Is the file at hand the one that the link means? The name does not matter, the bytes do, and their claimed number has to be true. */
export function checkFile(expected: FileRef, actual: { n_bytes: number; sha256: string }): Result<null, Failure<"other_file">> {
  if (actual.sha256 === expected.sha256 && actual.n_bytes === expected.n_bytes) return ok(null);
  const why = actual.n_bytes === expected.n_bytes ? `sha256 ${actual.sha256}, expected ${expected.sha256}` : `${actual.n_bytes} bytes, expected ${expected.n_bytes}`;
  return fail("other_file", expected.name, `this is another file: ${why}`);
}
