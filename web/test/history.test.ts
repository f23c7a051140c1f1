import "fake-indexeddb/auto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHistory, type History } from "../src/history/runs.ts";
import type { Result } from "../src/result.ts";
import type { FailedItem, RunMeta, Unscored } from "../src/types.ts";
import { makeItem, makeItems, SPEC } from "./share_fixture.ts";

const META: RunMeta = {
  spec: SPEC,
  model: {
    file: { name: "tiny.gguf", n_bytes: 1000, sha256: null, n_rows: null, source_url: null },
    architecture: "llama",
    name: "tiny",
    n_params: 100,
    quantisation: "Q4_1",
    n_params_by_type: { Q4_1: 90, F32: 10 },
    n_ctx: 128,
    is_instruct: null,
  },
  tokenizer: { sha256: "a".repeat(64), description: "byte-level BPE", bos: { id: 1, text: "<s>" }, eos: null, prefix: null, adds_bos: false },
  data: { name: "rows.jsonl", n_bytes: 2000, sha256: "b".repeat(64), n_rows: 20, source_url: null },
  fewshot_data: null,
  task: {
    name: "mmlu",
    preset: "mmlu",
    version: "1",
    yaml: "task: mmlu\n",
    config: { task: "mmlu", nested: [1, { a: null }] },
    num_fewshot: 0,
    target_delimiter: " ",
    fewshot_delimiter: "\n\n",
    prompt_style: "mmlu",
    metrics: [{ metric: "acc", higher_is_better: true }],
    acc_is_gold_probability: false,
  },
  groups: [{ name: "mmlu_stem", alias: "STEM", members: ["anatomy"], weight_by_size: true, version: null }],
  n_docs: 20,
  max_length: 128,
  chat_template: null,
  engine_version: "0.1.0",
  engine_path: "own",
  started_at: null,
  seconds: null,
  n_tokens: 0,
  n_threads: 1,
  machine: null,
};

const UNSCORED: Unscored = { index: null, line: 21, error: { kind: "task_format", place: "line 21", message: "not JSON" } };
const failure = (index: number): FailedItem => ({ index, line: index + 1, error: { kind: "context_too_long", place: null, message: "200 tokens do not fit into 128" } });
const items = makeItems(20);

function value<T>(result: Result<T, { message: string }>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

let history: History;
let nDatabases = 0;
const freshHistory = async (): Promise<History> => value(await openHistory(`test-${nDatabases++}`));

beforeEach(async () => {
  history = await freshHistory();
});
afterEach(() => history.close());

describe("a run that is kept", () => {
  it("comes back with its items in data order", async () => {
    const id = value(await history.begin(META, [UNSCORED]));
    value(await history.append(id, items.slice(10), []));
    value(await history.append(id, items.slice(0, 9), [failure(9)]));
    const opened = value(await history.open(id));
    expect(opened.items).toEqual([...items.slice(0, 9), ...items.slice(10)]);
    expect(opened.failed).toEqual([failure(9)]);
    expect(opened.run).toMatchObject({ meta: META, unscored: [UNSCORED], is_complete: false, n_scored: 19, n_failed: 1 });
  });

  it("takes the later of two scores of one doc", async () => {
    const id = value(await history.begin(META, []));
    const settled = { ...makeItem(2, 3, 3), precision: "float32" as const };
    value(await history.append(id, items.slice(0, 4), [failure(7)]));
    value(await history.append(id, [settled, makeItem(7, 0, 0)], []));
    const opened = value(await history.open(id));
    expect(opened.items.map((item) => item.index)).toEqual([0, 1, 2, 3, 7]);
    expect(opened.items[2]).toEqual(settled);
    expect(opened.run).toMatchObject({ n_scored: 5, n_failed: 0 });
    expect(opened.failed).toEqual([]);
  });

  it("is there after the page was closed in the middle", async () => {
    const id = value(await history.begin(META, []));
    value(await history.append(id, items.slice(0, 5), []));
    history.close();
    history = value(await openHistory(`test-${nDatabases - 1}`));
    const [run] = value(await history.list());
    expect(run).toMatchObject({ id, is_complete: false, n_scored: 5 });
    value(await history.append(id, items.slice(5), []));
    value(await history.finish(id, { ...META, seconds: 12 }, { headline: { metric: "acc", value: 0.25 }, loglikelihood_digest: "c".repeat(64) }));
    expect(value(await history.open(id))).toMatchObject({ items, run: { is_complete: true, n_scored: 20, meta: { seconds: 12 }, headline: { value: 0.25 } } });
  });

  it("leaves no trace when it is deleted", async () => {
    const id = value(await history.begin(META, []));
    const other = value(await history.begin(META, []));
    value(await history.append(id, items, []));
    value(await history.append(other, items.slice(0, 1), []));
    value(await history.remove(id));
    expect(value(await history.list()).map((run) => run.id)).toEqual([other]);
    expect(await history.open(id)).toMatchObject({ ok: false, error: { kind: "no_run" } });
    expect(value(await history.open(other)).items).toHaveLength(1);
  });

  it("cannot be added to once it is deleted", async () => {
    expect(await history.append("gone", items, [])).toMatchObject({ ok: false, error: { kind: "no_run" } });
  });
});

describe("all runs as one file", () => {
  const exported = async (): Promise<Blob> => {
    for (const part of [items.slice(0, 7), items]) {
      const id = value(await history.begin(META, [UNSCORED]));
      value(await history.append(id, part.slice(0, 3), [failure(19)]));
      value(await history.append(id, part.slice(3), []));
    }
    return value(await history.exportAll());
  };

  it("come into another browser as they were", async () => {
    const file = await exported();
    const other = await freshHistory();
    expect(value(await other.importAll(file))).toEqual({ n_added: 2, n_present: 0 });
    for (const run of value(await history.list())) expect(value(await other.open(run.id))).toEqual(value(await history.open(run.id)));
    expect(await (value(await other.exportAll())).text()).toBe(await file.text());
    other.close();
  });

  it("do not replace runs that are here", async () => {
    const file = await exported();
    expect(value(await history.importAll(file))).toEqual({ n_added: 0, n_present: 2 });
    expect(value(await history.list())).toHaveLength(2);
  });

  it.each([
    ["another file", () => '{"a":1}\n', "line 1"],
    ["an empty file", () => "", "line 1"],
    ["a line cut off", (text: string) => text.slice(0, -40), "line 7"],
    ["a log-likelihood that is text", (text: string) => text.replace('"loglikelihood":-1', '"loglikelihood":"<b>"'), "line 3, items[0].choices[0].loglikelihood"],
    ["an unknown field", (text: string) => text.replace('"is_complete":false', '"is_complete":false,"__proto__":{}'), "line 2, __proto__"],
    ["a batch without its run", (text: string) => text.split("\n").toSpliced(1, 1).join("\n"), "line 2"],
    ["a run twice", (text: string) => text + (text.split("\n")[1] ?? ""), "line 8"],
  ])("are refused as a whole where there is %s", async (_, change, place) => {
    const text = await (await exported()).text();
    const other = await freshHistory();
    expect(await other.importAll(new Blob([change(text)]))).toMatchObject({ ok: false, error: { kind: "format", place } });
    expect(value(await other.list())).toEqual([]);
    other.close();
  });
});
