import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryStore, type BlobStore } from "../src/sources/blob_store.ts";
import { cacheIn, folderOf, PIECE_BYTES, type FileCache } from "../src/sources/cache.ts";
import { download, type Downloaded, type DownloadOptions, type DownloadRequest, type Progress } from "../src/sources/download.ts";
import { minimalStandard } from "./share_fixture.ts";
import { serveFile, type Behaviour, type FileServer } from "./sources_server.ts";

const random = minimalStandard(11);
const BODY = Uint8Array.from({ length: 300_000 }, () => Math.floor(random() * 256));
const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const SHA256 = hash(BODY);

let server: FileServer | null = null;
let cache: FileCache;

/** A store that keeps, as far as the downloads can tell. */
const keepingStore = (): BlobStore => ({ ...memoryStore(), kind: "opfs" });

beforeEach(() => {
  cache = cacheIn(keepingStore());
});
afterEach(() => server?.close());

async function start(behaviour: Partial<Behaviour>): Promise<{ url: string; requests: FileServer["requests"]; behaviour: Behaviour }> {
  const whole = { body: BODY, ...behaviour };
  server = await serveFile(whole);
  return { url: server.url, requests: server.requests, behaviour: whole };
}

const get = (request: DownloadRequest, options: Partial<DownloadOptions> = {}): ReturnType<typeof download> => download(request, { cache, retryDelayMs: 0, ...options });

async function file(result: ReturnType<typeof download>): Promise<Downloaded> {
  const value = await result;
  if (!value.ok) throw new Error(`${value.error.kind}: ${value.error.message}`);
  return value.value;
}

/** The hash of the bytes that a download gives; not the one that it says. */
const hashOf = async (downloaded: Downloaded): Promise<string> => hash(new Uint8Array(await (await downloaded.blob()).arrayBuffer()));

describe("a download", () => {
  it("gives the bytes, the name and the hash, and tells how far it is", async () => {
    const { url } = await start({});
    const told: Progress[] = [];
    const downloaded = await file(get({ url, n_bytes: BODY.length, sha256: SHA256 }, { onProgress: (progress) => told.push(progress) }));
    expect(downloaded).toMatchObject({ name: "tiny model.gguf", size: BODY.length, url, sha256: SHA256, origin: "network", stored: "opfs", why_memory: null });
    expect(await hashOf(downloaded)).toBe(SHA256);
    expect(told.at(-1)).toMatchObject({ n_bytes_done: BODY.length, n_bytes_total: BODY.length, n_bytes_resumed: 0, attempt: 1 });
  });

  it("comes from the cache the second time, without the network", async () => {
    const { url } = await start({});
    await file(get({ url }));
    await server?.close();
    const again = await file(get({ url, sha256: SHA256 }));
    expect(again.origin).toBe("cache");
    expect(await hashOf(again)).toBe(SHA256);
  });

  it("goes on behind the last byte after a cut", async () => {
    const { url, requests } = await start({ cuts: [100_000, 50_000] });
    const downloaded = await file(get({ url, sha256: SHA256 }));
    expect(await hashOf(downloaded)).toBe(SHA256);
    expect(requests).toEqual([
      { method: "GET", range: null, ifRange: null },
      { method: "GET", range: "bytes=100000-", ifRange: '"v1"' },
      { method: "GET", range: "bytes=150000-", ifRange: '"v1"' },
    ]);
  });

  it("goes on in a later visit with what an aborted one left", async () => {
    const { url, requests } = await start({ cuts: [120_000] });
    const abort = new AbortController();
    const first = get({ url }, { signal: abort.signal, retryDelayMs: 60_000, onProgress: ({ n_bytes_done }) => n_bytes_done >= 120_000 && abort.abort() });
    await expect(first).rejects.toMatchObject({ name: "AbortError" });
    expect((await cache.list())[0]).toMatchObject({ url, is_complete: false, n_bytes_stored: 120_000, n_bytes: BODY.length });
    const told: Progress[] = [];
    const downloaded = await file(get({ url, sha256: SHA256 }, { onProgress: (progress) => told.push(progress) }));
    expect(requests.at(-1)).toMatchObject({ range: "bytes=120000-" });
    expect(await hashOf(downloaded)).toBe(SHA256);
    expect(told.at(-1)?.n_bytes_resumed).toBe(120_000);
  });

  it("begins again where the file changed on the server meanwhile", async () => {
    const { url, behaviour } = await start({ cuts: [100_000] });
    const other = BODY.map((byte) => byte ^ 255);
    const options: Partial<DownloadOptions> = {
      onProgress: () => {
        behaviour.body = other;
        behaviour.etag = '"v2"';
      },
    };
    expect(await hashOf(await file(get({ url }, options)))).toBe(hash(other));
  });

  it("begins again where the server does not give ranges", async () => {
    const { url, requests } = await start({ ranges: false, cuts: [100_000] });
    expect(await hashOf(await file(get({ url })))).toBe(SHA256);
    expect(requests).toHaveLength(2);
  });

  it("begins again where nothing tells that the file is the same", async () => {
    const { url, requests } = await start({ etag: null, cuts: [100_000] });
    expect(await hashOf(await file(get({ url })))).toBe(SHA256);
    expect(requests[1]).toMatchObject({ range: null });
  });

  it("never takes a weak validator for a promise of equal bytes", async () => {
    const { url, requests } = await start({ etag: 'W/"v1"', cuts: [100_000] });
    await file(get({ url }));
    expect(requests[1]).toMatchObject({ range: null, ifRange: null });
  });

  it("waits out a server that is busy", async () => {
    const { url, requests } = await start({ statuses: [503, 429] });
    expect(await hashOf(await file(get({ url })))).toBe(SHA256);
    expect(requests).toHaveLength(3);
  });

  it("says what the server said where there is no such file", async () => {
    const { url, requests } = await start({ statuses: [404] });
    expect(await get({ url })).toEqual({ ok: false, error: { kind: "http", place: url, message: "the server answered 404 Not Found" } });
    expect(requests).toHaveLength(1);
  });

  it("gives up after five cuts without a byte between them", async () => {
    const { url, requests } = await start({ cuts: new Array<number>(20).fill(0) });
    expect(await get({ url })).toMatchObject({ ok: false, error: { kind: "network" } });
    expect(requests).toHaveLength(5);
  });

  it("refuses bytes with another hash and keeps nothing of them", async () => {
    const { url } = await start({});
    expect(await get({ url, sha256: "0".repeat(64) })).toMatchObject({ ok: false, error: { kind: "hash" } });
    expect(await cache.list()).toEqual([]);
  });

  it.each([
    ["fewer", 10, false, `${BODY.length} bytes, expected 10`, 1],
    ["more", BODY.length + 1, false, `${BODY.length} bytes, expected ${BODY.length + 1}`, 1],
    ["fewer, which shows on the way,", 10, true, "more bytes come than the 10 expected", 1],
    // All, then nothing behind it, then all again: the file might have changed, but not for ever.
    ["more, which shows at the end,", BODY.length + 1, true, `${BODY.length} bytes, expected ${BODY.length + 1}`, 4],
  ])("refuses a file of which a link claims %s bytes", async (_, n_bytes, isChunked, message, nRequests) => {
    const { url, requests } = await start({ isChunked });
    expect(await get({ url, n_bytes })).toMatchObject({ ok: false, error: { kind: "hash", message } });
    expect(requests).toHaveLength(nRequests);
    expect(await cache.list()).toEqual([]);
  });

  it("rejects with the reason of an abort before it began", async () => {
    const { url, requests } = await start({});
    await expect(get({ url }, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    expect(requests).toHaveLength(0);
  });
});

describe("where the browser has no room", () => {
  it("the download ends in memory, says so, and leaves nothing behind", async () => {
    const inner = keepingStore();
    const nAllowed = 2; // the note and one piece
    let nPuts = 0;
    const full: BlobStore = {
      ...inner,
      put: (folder, name, data) => (++nPuts > nAllowed ? Promise.reject(new DOMException("full", "QuotaExceededError")) : inner.put(folder, name, data)),
    };
    cache = cacheIn(full);
    const { url } = await start({ cuts: [100_000] });
    const downloaded = await file(get({ url, sha256: SHA256 }));
    expect(downloaded).toMatchObject({ stored: "memory", why_memory: "quota", sha256: SHA256 });
    expect(await hashOf(downloaded)).toBe(SHA256);
    expect(await inner.folders()).toEqual([]);
  });

  it("or where its storage fails in another way, the file is in memory", async () => {
    cache = cacheIn({ ...keepingStore(), put: () => Promise.reject(new DOMException("broken", "NotReadableError")) });
    const { url } = await start({});
    const downloaded = await file(get({ url }));
    expect(downloaded).toMatchObject({ stored: "memory", why_memory: "storage_failed" });
    expect(await hashOf(downloaded)).toBe(SHA256);
  });
});

describe("the cache", () => {
  it("lists files with sizes and deletes them", async () => {
    const { url } = await start({});
    await file(get({ url }));
    expect(await cache.list()).toMatchObject([{ url, name: "tiny model.gguf", n_bytes: BODY.length, n_bytes_stored: BODY.length, sha256: SHA256, is_complete: true }]);
    await cache.remove(url);
    expect(await cache.list()).toEqual([]);
    expect(await cache.find(url)).toBeNull();
  });

  it("finds a file by its hash, and only a whole one by its address", async () => {
    const { url } = await start({});
    await file(get({ url }));
    expect((await cache.findBySha256(SHA256))?.url).toBe(url);
    expect(await cache.findBySha256("0".repeat(64))).toBeNull();
    await cache.store.put(folderOf("https://example.org/part"), "note.json", new Blob(["no note"]));
    expect(await cache.find("https://example.org/part")).toBeNull();
  });

  it("keeps a picked file in pieces and gives the same bytes back", async () => {
    const bytes = new Uint8Array(PIECE_BYTES + 1000).fill(7);
    const blob = new Blob([bytes]);
    const kept = await cache.keep({ name: "picked.gguf", size: blob.size, url: null, sha256: null, blob: () => Promise.resolve(blob) }, "f".repeat(64));
    expect(kept).toMatchObject({ name: "picked.gguf", size: blob.size, url: null, sha256: "f".repeat(64) });
    const again = await cache.findBySha256("f".repeat(64));
    expect(Buffer.from(await (await again!.blob()).arrayBuffer()).equals(bytes)).toBe(true);
  });
});
