import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryStore } from "../src/sources/blob_store.ts";
import { cacheIn, type FileCache } from "../src/sources/cache.ts";
import type { Progress } from "../src/sources/download.ts";
import { downloadModel, pinModelUrl } from "../src/sources/model.ts";
import { rowsFromUrl } from "../src/sources/rows_by_url.ts";
import { fromFile, joined, modelSha256, modelsAmong, partNames, partUrls, type SourceFile } from "../src/sources/source_file.ts";
import { parquetWithPictures } from "./parquet_fixture.ts";
import { serve } from "./sources_server.ts";

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
/** By Node: the hash over the raw hashes. */
const overHashes = (parts: readonly Uint8Array[]): string => sha256(Buffer.concat(parts.map((part) => Buffer.from(sha256(part), "hex"))));

const PARTS = [1, 2, 3].map((i) => new Uint8Array(readFileSync(new URL(`../../tests/fixtures/models/tiny-llama-split-0000${i}-of-00003.gguf`, import.meta.url))));
const NAMES = [1, 2, 3].map((i) => `m-0000${i}-of-00003.gguf`);
const WHOLE = PARTS.reduce((sum, part) => sum + part.length, 0);

let cache: FileCache;
let close: (() => Promise<void>) | null = null;
beforeEach(() => {
  cache = cacheIn({ ...memoryStore(), kind: "opfs" });
});
afterEach(async () => {
  await close?.();
  close = null;
});

/** Files by path; bytes sent and requests are counted. */
async function site(files: Record<string, Uint8Array | object>, options: { ranges?: boolean; change?: (n: number) => void } = {}): Promise<{ url: string; asked: string[]; nSent: () => number; files: typeof files }> {
  const asked: string[] = [];
  let nSent = 0;
  const server = await serve((request, response) => {
    options.change?.(asked.length);
    asked.push(`${request.method} ${request.url} ${request.headers.range ?? ""}`.trim());
    const file = files[request.url ?? ""];
    if (file === undefined) return void response.writeHead(404).end();
    const body = file instanceof Uint8Array ? file : Buffer.from(JSON.stringify(file));
    const range = options.ranges === false ? null : /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
    const [start, end] = range === null ? [0, body.length] : [Number(range[1]), range[2] === "" ? body.length : Number(range[2]) + 1];
    const part = body.subarray(start, end);
    const isHead = request.method === "HEAD";
    if (!isHead) nSent += part.length;
    response.writeHead(range === null ? 200 : 206, { "Content-Length": part.length, ETag: `"${sha256(body)}"`, ...(range === null ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${body.length}` }) });
    response.end(isHead ? undefined : part);
  });
  close = server.close;
  return { url: server.url, asked, nSent: () => nSent, files };
}

describe("a model in several files", () => {
  const part = (i: number): SourceFile => fromFile(new File([PARTS[i - 1] as BlobPart], NAMES[i - 1] ?? ""));
  const other = (name: string): SourceFile => fromFile(new File(["GGUF"], name));

  it("comes in order, beside other models and files, and is known by the hash of its parts' hashes", async () => {
    const models = modelsAmong([part(2), other("small.gguf"), part(3), other("README.md"), part(1)]);
    expect(models.ok && models.value.map(({ name, size, parts }) => [name, size, parts?.map((file) => file.name)])).toEqual([
      ["small.gguf", 4, undefined],
      [NAMES[0], WHOLE, NAMES],
    ]);
    const blob = await (models.ok ? models.value[1] : undefined)?.blob();
    expect(Buffer.concat(PARTS).equals(Buffer.from((await blob?.arrayBuffer()) ?? new ArrayBuffer()))).toBe(true);
    expect(modelSha256(PARTS.map(sha256))).toBe(overHashes(PARTS));
    expect(modelSha256([sha256("x")])).toBe(sha256("x"));
    expect(joined([part(1)]).parts).toBeUndefined();
  });

  it("that lacks a part is an error that names it", () => {
    expect(modelsAmong([part(1), part(3)])).toEqual({ ok: false, error: { kind: "missing_part", place: NAMES[1], message: "part 2 of 3 is missing" } });
  });

  it.each([
    ["a-00002-of-00002.gguf", ["a-00001-of-00002.gguf", "a-00002-of-00002.gguf"]],
    ["a-00003-of-00002.gguf", ["a-00003-of-00002.gguf"]],
    ["a.gguf", ["a.gguf"]],
  ])("%s has the parts %s", (name, names) => {
    expect(partNames(name)).toEqual(names);
    expect(partUrls(`https://example.org/x%20y/${name}`)).toEqual(names.map((part) => `https://example.org/x%20y/${part}`));
    expect(partUrls(`models/${name}`)).toEqual(names.map((part) => `models/${part}`));
    expect(partUrls(`https://example.org/${name}?signed=1`)).toEqual([`https://example.org/${name}?signed=1`]);
  });

  const files = (): Record<string, Uint8Array> => Object.fromEntries(NAMES.map((name, i) => [`/${name}`, PARTS[i] ?? new Uint8Array()]));

  it("is fetched by the address of any part, counted as one, and comes from the cache the next time", async () => {
    const { url, asked } = await site(files());
    const told: Progress[] = [];
    const request = { url: `${url}/${NAMES[1]}`, n_bytes: WHOLE, sha256: overHashes(PARTS) };
    const model = await downloadModel(request, { cache, onProgress: (progress) => told.push(progress) });
    expect(model).toMatchObject({ ok: true, value: { name: NAMES[0], url: `${url}/${NAMES[0]}`, size: WHOLE, sha256: overHashes(PARTS), origin: "network", why_memory: null } });
    expect(told.at(-1)).toMatchObject({ n_bytes_done: WHOLE, n_bytes_total: WHOLE });
    expect(asked).toHaveLength(3);
    expect(await downloadModel(request, { cache })).toMatchObject({ ok: true, value: { origin: "cache" } });
    expect((await cache.findBySha256(overHashes(PARTS)))?.parts).toHaveLength(3);
    expect((await cache.findModel(`${url}/${NAMES[2]}`))?.name).toBe(NAMES[0]);
    expect(asked).toHaveLength(3);
    await cache.remove(`${url}/${NAMES[1]}`);
    expect(await cache.findBySha256(overHashes(PARTS))).toBeNull();
    expect(await cache.findModel(`${url}/${NAMES[0]}`)).toBeNull();
  });

  it("of which a part is not there is an error with that part's address", async () => {
    const { url } = await site({ ...files(), [`/${NAMES[2]}`]: undefined } as Record<string, Uint8Array>);
    expect(await downloadModel({ url: `${url}/${NAMES[0]}` }, { cache })).toMatchObject({ ok: false, error: { kind: "http", place: `${url}/${NAMES[2]}` } });
  });

  it("with another hash is refused, nothing of it is kept, and older kept parts are fetched anew once", async () => {
    const { url, files: served, asked } = await site(files());
    const request = { url: `${url}/${NAMES[0]}` };
    await downloadModel(request, { cache });
    const newer = Uint8Array.of(1, 2, 3);
    served[`/${NAMES[1]}`] = newer;
    const sum = overHashes([PARTS[0] ?? newer, newer, PARTS[2] ?? newer]);
    expect(await downloadModel({ ...request, sha256: sum }, { cache })).toMatchObject({ ok: true, value: { sha256: sum, origin: "network" } });
    expect(asked).toHaveLength(6);
    expect(await downloadModel({ ...request, sha256: "0".repeat(64) }, { cache })).toMatchObject({ ok: false, error: { kind: "hash" } });
    expect(asked).toHaveLength(9);
    expect(await cache.list()).toEqual([]);
  });

  it("on Hugging Face is pinned in all parts to one commit, with its size and hash", async () => {
    const commit = "9217f5db79a29953eb74d5343926648285ec7e67";
    const siblings = NAMES.map((rfilename, i) => ({ rfilename, size: 134, lfs: { sha256: sha256(PARTS[i] ?? ""), size: PARTS[i]?.length } }));
    const answer = { sha: commit, siblings };
    const { url } = await site({ "/api/models/a/b/revision/main?blobs=true": answer, [`/api/models/a/b/revision/${commit}?blobs=true`]: answer });
    const pinned = await pinModelUrl(`${url}/a/b/resolve/main/${NAMES[1]}?download=true`, { hosts: [new URL(url).host] });
    expect(pinned).toMatchObject({ ok: true, value: { url: `${url}/a/b/resolve/${commit}/${NAMES[0]}`, n_bytes: WHOLE, sha256: overHashes(PARTS) } });
    expect(pinned.ok && pinned.value.parts.map((part) => part.n_bytes)).toEqual(PARTS.map((part) => part.length));
  });
});

describe("rows of a parquet file by its address", () => {
  const N_ROWS = 40;
  const FILE = parquetWithPictures(N_ROWS, 50_000);
  const text = Array.from({ length: N_ROWS }, (_, i) => `{"question":"What is on picture ${i}?","answer":${i % 4}}\n`).join("");
  const rows = { name: "test.jsonl", bytes: new TextEncoder().encode(text), converted_from: "parquet" };

  it("are read by ranges that leave the pictures where they are", async () => {
    const { url, asked, nSent } = await site({ "/test.parquet": FILE });
    const told: number[] = [];
    expect(await rowsFromUrl({ url: `${url}/test.parquet` }, { cache, onProgress: (progress) => "n_bytes_done" in progress && told.push(progress.n_bytes_done) })).toEqual({ ok: true, value: rows });
    expect(FILE.length).toBeGreaterThan(2_000_000);
    expect(nSent()).toBeLessThan(100_000);
    expect(asked[0]).toBe("HEAD /test.parquet");
    for (const request of asked.slice(1)) expect(request).toMatch(/^GET \/test\.parquet bytes=\d+-\d+$/);
    expect(told.at(-1)).toBe(nSent());
    expect(await cache.list()).toEqual([]);
  });

  it("come with the whole file where the server gives no ranges", async () => {
    const { url, nSent } = await site({ "/test.parquet": FILE }, { ranges: false });
    expect(await rowsFromUrl({ url: `${url}/test.parquet`, sha256: sha256(FILE) }, { cache })).toEqual({ ok: true, value: rows });
    // The first answer is dropped at its head, of which some may have come.
    expect(nSent()).toBe(2 * FILE.length);
    expect(await cache.list()).toMatchObject([{ sha256: sha256(FILE), is_complete: true }]);
  });

  it("come with the whole file, checked and kept, where that is little", async () => {
    const small = parquetWithPictures(4, 100);
    const { url, asked } = await site({ "/small.parquet": small });
    expect(await rowsFromUrl({ url: `${url}/small.parquet`, n_bytes: small.length, sha256: sha256(small) }, { cache })).toMatchObject({ ok: true });
    expect(asked).toEqual(["GET /small.parquet"]);
    expect(await rowsFromUrl({ url: `${url}/small.parquet`, n_bytes: small.length, sha256: "0".repeat(64) }, { cache })).toMatchObject({ ok: false, error: { kind: "hash" } });
  });

  it("of two versions are not mixed", async () => {
    const behaviour = { "/test.parquet": FILE };
    const { url } = await site(behaviour, { change: (n) => n === 2 && (behaviour["/test.parquet"] = parquetWithPictures(N_ROWS, 50_001)) });
    expect(await rowsFromUrl({ url: `${url}/test.parquet` }, { cache, retryDelayMs: 0 })).toMatchObject({ ok: false, error: { kind: "network", message: "the file changed on the server" } });
  });

  it("stop with the reason of an abort", async () => {
    const { url } = await site({ "/test.parquet": FILE });
    const abort = new AbortController();
    const reading = rowsFromUrl({ url: `${url}/test.parquet` }, { cache, signal: abort.signal, onProgress: () => abort.abort() });
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
  });

  it("that is no parquet file are an error", async () => {
    const { url } = await site({ "/test.parquet": new Uint8Array(2_000_000) });
    expect(await rowsFromUrl({ url: `${url}/test.parquet` }, { cache })).toMatchObject({ ok: false, error: { kind: "format" } });
  });
});
