import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkFile, N_QUICK, quickPositions, verify, verifyPartly, type Rerun } from "../src/share/verify.ts";
import type { FailedItem } from "../src/types.ts";
import { makeItem, makeItems, makeRun } from "./share_fixture.ts";

const N = 100;
const items = makeItems(N);
const run = makeRun(N, items);
const rerun = (change: Partial<Rerun> = {}): Rerun => ({ items, failed: [], loglikelihood_digest: run.outcome.loglikelihood_digest, engine_version: "0.1.0", ...change });
const failure = (index: number): FailedItem => ({ index, line: index + 1, error: { kind: "context_too_long", place: null, message: "" } });

describe("a rerun of every doc", () => {
  it("with the same digest is reproduced bit for bit, whatever the order of the items", () => {
    expect(verify(run, rerun())).toEqual({ kind: "reproduced_bit_for_bit", n_docs: N });
    expect(verify(run, rerun({ items: [...items].reverse() })).kind).toBe("reproduced_bit_for_bit");
  });

  it("with another digest and the same picks has other bits", () => {
    expect(verify(run, rerun({ loglikelihood_digest: "0".repeat(64), engine_version: "0.2.0" }))).toEqual({
      kind: "same_picks_other_bits",
      n_docs: N,
      claimed_engine: "0.1.0",
      rerun_engine: "0.2.0",
    });
  });

  it("lists each doc whose pick differs, also where both picks are wrong", () => {
    const [first, second] = [makeItem(3, 1, 0), makeItem(3, 2, 0)];
    const claimed = makeRun(N, items.map((item) => (item.index === 3 ? first : item)));
    const verdict = verify(claimed, rerun({ items: items.map((item) => (item.index === 3 ? second : item)), loglikelihood_digest: "0".repeat(64) }));
    expect(verdict).toEqual({
      kind: "differs",
      n_docs: N,
      items: [{ position: 3, index: 3, claimed: { is_correct: false, pick: 1 }, rerun: { is_correct: false, pick: 2 } }],
    });
  });

  it("lists a doc that failed this time", () => {
    const verdict = verify(run, rerun({ items: items.slice(1), failed: [failure(0)], loglikelihood_digest: "0".repeat(64) }));
    expect(verdict).toMatchObject({ kind: "differs", items: [{ position: 0, rerun: null }] });
  });

  it("with fewer docs is of other docs", () => {
    expect(verify(run, rerun({ items: items.slice(1) }))).toEqual({ kind: "other_docs", n_claimed: N, n_rerun: N - 1 });
  });

  it("never calls a changed link reproduced", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: N - 1 }), (position) => {
        const others = items.map((item, i) => (i === position ? makeItem(i, ((item.picks[0]?.pick ?? 0) + 1) % 4, item.gold[0] ?? 0) : item));
        const verdict = verify(makeRun(N, others), rerun());
        expect(verdict).toMatchObject({ kind: "differs", items: [{ position }] });
      }),
    );
  });
});

describe("a quick check", () => {
  const positions = quickPositions(N, 5);
  const some = positions.map((position) => items[position]).filter((item) => item !== undefined);

  it("takes twenty docs, rising, the same for the same seed", () => {
    expect(positions).toHaveLength(N_QUICK);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
    expect(quickPositions(N, 5)).toEqual(positions);
    expect(quickPositions(N, 6)).not.toEqual(positions);
    expect(quickPositions(7, 5)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(quickPositions(0, 5)).toEqual([]);
  });

  it("chooses every doc equally often", () => {
    const counts = new Array<number>(40).fill(0);
    for (let seed = 0; seed < 4000; seed++) for (const position of quickPositions(40, seed, 10)) counts[position] = (counts[position] ?? 0) + 1;
    // 4000 draws with probability 1/4: 1000, standard deviation 27; six of them.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(165);
  });

  it("says that it is partial, and where docs agree", () => {
    expect(verifyPartly(run, positions, some, [])).toEqual({ kind: "partial", n_checked: 20, n_docs: N, items: [] });
  });

  it("lists a doc of the twenty that differs", () => {
    const changed = some.map((item, i) => (i === 4 ? makeItem(item.index, ((item.picks[0]?.pick ?? 0) + 1) % 4, item.gold[0] ?? 0) : item));
    const verdict = verifyPartly(run, positions, changed, []);
    expect(verdict).toMatchObject({ kind: "partial", items: [{ position: positions[4], index: positions[4] }] });
  });
});

describe("a file at hand", () => {
  it("is the link's by its hash, not by its name", () => {
    expect(checkFile({ ...run.model, name: "renamed.gguf" }, run.model).ok).toBe(true);
    expect(checkFile(run.model, { n_bytes: 1, sha256: run.model.sha256 })).toMatchObject({ ok: false, error: { kind: "other_file", message: `this is another file: 1 bytes, expected ${run.model.n_bytes}` } });
    expect(checkFile(run.model, { n_bytes: run.model.n_bytes, sha256: "f".repeat(64) })).toMatchObject({ ok: false, error: { kind: "other_file", place: run.model.name } });
  });
});
