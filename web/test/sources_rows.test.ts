import { zipSync } from "fflate";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { parseCatalog } from "../src/sources/catalog.ts";
import { hubFileUrl, isPinnedHubUrl, isRowsApiUrl, parseHubUrl, pinHubUrl } from "../src/sources/hub.ts";
import { rowsFromApi, rowsOf, toJson } from "../src/sources/rows.ts";
import { fromFile, type SourceFile } from "../src/sources/source_file.ts";
import { readFileSync } from "node:fs";
import { parquetWithPictures } from "./parquet_fixture.ts";
import { serve } from "./sources_server.ts";

const source = (name: string, bytes: Uint8Array | string): SourceFile => fromFile(new File([bytes as BlobPart], name));
const utf8 = new TextDecoder();

async function read(file: SourceFile): Promise<{ name: string; text: string; converted_from: string | null }> {
  const rows = await rowsOf(file);
  if (!rows.ok) throw new Error(rows.error.message);
  return { name: rows.value.name, text: utf8.decode(rows.value.bytes), converted_from: rows.value.converted_from };
}

describe("rows of a file", () => {
  it("that is JSONL or CSV are its bytes, untouched", async () => {
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0d, 0x0a, 0xff);
    for (const name of ["rows.jsonl", "rows.csv"]) {
      const rows = await rowsOf(source(name, bytes));
      expect(rows).toEqual({ ok: true, value: { name, bytes, converted_from: null } });
    }
  });

  it("that is parquet become JSON lines with columns in order, lists, 64-bit integers and missing values", async () => {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: "question", data: ["2 + 2?", "Ünïcode \u2028 \"quoted\""], type: "STRING" },
        { name: "choices", data: [["3", "4"], ["a", "b"]], type: "JSON" },
        { name: "answer", data: [1n, 9007199254740993n], type: "INT64" },
        { name: "score", data: [0.5, null], type: "DOUBLE", nullable: true },
      ],
    });
    expect(await read(source("test-00000-of-00001.parquet", new Uint8Array(buffer)))).toEqual({
      name: "test-00000-of-00001.jsonl",
      text: '{"question":"2 + 2?","choices":["3","4"],"answer":1,"score":0.5}\n{"question":"Ünïcode \u2028 \\"quoted\\"","choices":["a","b"],"answer":9007199254740993,"score":null}\n',
      converted_from: "parquet",
    });
  });

  it("that is parquet with pictures are the columns beside them", async () => {
    const name = "train-00000-of-00001.parquet";
    expect(await read(source(name, parquetWithPictures(2, 10)))).toMatchObject({
      text: '{"question":"What is on picture 0?","answer":0}\n{"question":"What is on picture 1?","answer":1}\n',
    });
  });

  it("that is a zip are those of the one data file inside", async () => {
    const text = '{"a":1}\n';
    const zip = zipSync({ "data/rows.jsonl": new TextEncoder().encode(text), "README.md": new Uint8Array(3), "__MACOSX/data/._rows.jsonl": new Uint8Array(3) });
    expect(await read(source("rows.zip", zip))).toEqual({ name: "rows.jsonl", text, converted_from: "zip" });
  });

  it("in a zip of two or none are not guessed", async () => {
    const file = new TextEncoder().encode("{}");
    expect(await rowsOf(source("two.zip", zipSync({ "a.jsonl": file, "b.csv": file })))).toMatchObject({ ok: false, error: { kind: "format", message: expect.stringContaining("a.jsonl, b.csv") } });
    expect(await rowsOf(source("none.zip", zipSync({ "README.md": file })))).toMatchObject({ ok: false, error: { kind: "format" } });
  });

  it("that is a broken parquet or zip are an error with its name", async () => {
    expect(await rowsOf(source("x.parquet", "PAR1 and then nothing"))).toMatchObject({ ok: false, error: { kind: "format", place: "x.parquet" } });
    expect(await rowsOf(source("x.zip", "PK\u0003\u0004 and then nothing"))).toMatchObject({ ok: false, error: { kind: "format", place: "x.zip" } });
  });
});

describe("values that JSON lacks", () => {
  it.each([
    [12345678901234567890n, "12345678901234567890"],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [Number.NaN, "null"],
    [Uint8Array.of(1, 2, 3), '"AQID"'],
    [Float32Array.of(0.5, 2), "[0.5,2]"],
    [BigInt64Array.of(1n, -2n), "[1,-2]"],
    [{ a: undefined, __proto__: null, 'b"': [null] }, '{"a":null,"b\\"":[null]}'],
  ])("%s is written as %s", (value, json) => expect(toJson(value)).toBe(json));
});

describe("the rows API", () => {
  const nRows = 250;
  const row = (i: number): object => ({ question: `q${i}`, answer: i % 4 });

  async function withApi<T>(truncated: number | null, work: (url: string, offsets: string[]) => Promise<T>): Promise<T> {
    const offsets: string[] = [];
    let isBusy = true;
    const server = await serve((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://localhost");
      if (isBusy) {
        isBusy = false;
        response.writeHead(429).end();
        return;
      }
      offsets.push(searchParams.get("offset") ?? "");
      const offset = Number(searchParams.get("offset"));
      const n = Math.min(Number(searchParams.get("length")), 100, nRows - offset);
      const rows = Array.from({ length: n }, (_, i) => ({ row_idx: offset + i, row: row(offset + i), truncated_cells: offset + i === truncated ? ["question"] : [] }));
      response.end(JSON.stringify({ features: [], rows, num_rows_total: nRows, num_rows_per_page: 100, partial: false }));
    });
    try {
      return await work(`${server.url}/rows?dataset=cais%2Fmmlu&config=anatomy&split=test`, offsets);
    } finally {
      await server.close();
    }
  }

  it("is read page by page, waiting where it is busy", () =>
    withApi(null, async (url, offsets) => {
      const rows = await rowsFromApi(url, { retryDelayMs: 0 });
      expect(offsets).toEqual(["0", "100", "200"]);
      const text = Array.from({ length: nRows }, (_, i) => `${JSON.stringify(row(i))}\n`).join("");
      expect(rows).toEqual({ ok: true, value: { name: "cais_mmlu-anatomy-test.jsonl", bytes: new TextEncoder().encode(text), converted_from: "rows_api" } });
    }));

  it("is refused where the server shortened a cell", () =>
    withApi(120, async (url) => {
      expect(await rowsFromApi(url, { retryDelayMs: 0 })).toMatchObject({ ok: false, error: { kind: "format", message: "row 120 is shortened in question" } });
    }));

  it("is known by its address", () => {
    expect(isRowsApiUrl("https://datasets-server.huggingface.co/rows?dataset=cais%2Fmmlu&config=anatomy&split=test")).toBe(true);
    expect(isRowsApiUrl("https://example.org/rows.jsonl")).toBe(false);
  });
});

describe("a Hugging Face address", () => {
  const commit = "9217f5db79a29953eb74d5343926648285ec7e67";

  it.each([
    ["https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/a%20b/c.gguf?download=true", "models", "Qwen/Qwen2.5-0.5B-Instruct-GGUF", "main", "a b/c.gguf"],
    ["https://huggingface.co/Qwen/X/blob/v1.0/c.gguf", "models", "Qwen/X", "v1.0", "c.gguf"],
    ["https://huggingface.co/datasets/cais/mmlu/resolve/refs%2Fconvert%2Fparquet/anatomy/test/0000.parquet", "datasets", "cais/mmlu", "refs/convert/parquet", "anatomy/test/0000.parquet"],
  ])("%s is taken apart", (url, kind, repository, revision, path) => {
    expect(parseHubUrl(url)).toEqual({ base: "https://huggingface.co", kind, repository, revision, path });
  });

  it.each(["https://huggingface.co/Qwen/X", "https://example.org/a/b/resolve/main/c.gguf", "nonsense"])("%s is none of a file", (url) => expect(parseHubUrl(url)).toBeNull());

  it("is pinned where it names a commit", () => {
    expect(isPinnedHubUrl(`https://huggingface.co/Qwen/X/resolve/${commit}/c.gguf`)).toBe(true);
    expect(isPinnedHubUrl("https://huggingface.co/Qwen/X/resolve/main/c.gguf")).toBe(false);
  });

  async function withHub<T>(answers: Record<string, { status?: number; headers?: Record<string, string>; body?: unknown }>, work: (base: string, host: string) => Promise<T>): Promise<T> {
    const server = await serve((request, response) => {
      const answer = answers[request.url ?? ""];
      response.writeHead(answer === undefined ? 404 : (answer.status ?? 200), answer?.headers).end(answer?.body === undefined ? undefined : JSON.stringify(answer.body));
    });
    try {
      return await work(server.url, new URL(server.url).host);
    } finally {
      await server.close();
    }
  }

  it("of a branch becomes one of the commit, with size and hash from the API", () =>
    withHub(
      { "/api/models/Qwen/X/revision/main?blobs=true": { body: { sha: commit, siblings: [{ rfilename: "c.gguf", size: 134, lfs: { sha256: "a".repeat(64), size: 491400032, pointerSize: 134 } }] } } },
      async (base, host) => {
        expect(await pinHubUrl(`${base}/Qwen/X/resolve/main/c.gguf`, { hosts: [host] })).toEqual({
          ok: true,
          value: { url: `${base}/Qwen/X/resolve/${commit}/c.gguf`, revision: commit, n_bytes: 491400032, sha256: "a".repeat(64) },
        });
      },
    ));

  it("of a branch becomes one of the commit in x-repo-commit where the API is silent", () =>
    withHub({ "/Qwen/X/resolve/main/c.gguf": { headers: { "x-repo-commit": commit } } }, async (base, host) => {
      expect(await pinHubUrl(`${base}/Qwen/X/resolve/main/c.gguf`, { hosts: [host] })).toMatchObject({ ok: true, value: { url: `${base}/Qwen/X/resolve/${commit}/c.gguf`, revision: commit, sha256: null } });
    }));

  it("of a file that is not there is an error", () =>
    withHub({}, async (base, host) => {
      expect(await pinHubUrl(`${base}/Qwen/X/resolve/main/c.gguf`, { hosts: [host] })).toMatchObject({ ok: false, error: { kind: "http" } });
    }));

  it("of another host stays as it is", async () => {
    expect(await pinHubUrl("https://example.org/c.gguf")).toEqual({ ok: true, value: { url: "https://example.org/c.gguf", revision: null, n_bytes: null, sha256: null } });
  });

  it("is written with every part encoded", () => {
    expect(hubFileUrl({ base: "https://huggingface.co", kind: "datasets", repository: "a/b", revision: "refs/pr/1", path: "x y/z#.parquet" })).toBe("https://huggingface.co/datasets/a/b/resolve/refs%2Fpr%2F1/x%20y/z%23.parquet");
  });
});

describe("the list of models", () => {
  it("that is shipped can be read, and its default is beside the page", () => {
    const catalog = parseCatalog(JSON.parse(readFileSync(new URL("../../static/models.json", import.meta.url), "utf8")));
    expect(catalog.ok && catalog.value[0]).toMatchObject({ url: "models/SmolLM2-135M-Instruct.Q4_1.gguf", n_bytes: 98362432, license: "Apache-2.0" });
    if (!catalog.ok) return;
    for (const { url } of catalog.value.slice(1)) expect(isPinnedHubUrl(url)).toBe(true);
    for (const { name, n_bytes, sha256, license } of catalog.value) expect([n_bytes, sha256, license], name).not.toContain(null);
    expect(catalog.value.map(({ url }) => url.split("/").at(-1))).toContain("qwen2.5-0.5b-instruct-q4_k_m.gguf");
    expect(catalog.value.length).toBeGreaterThanOrEqual(4);
  });

  it("with an address that no page fetches is an error that names the entry", () => {
    expect(parseCatalog({ models: [{ name: "a", url: "javascript:alert(1)" }] })).toMatchObject({ ok: false, error: { place: "models[0].url" } });
  });
});
