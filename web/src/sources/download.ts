// From an address into the cache: streamed, resumed after a cut, checked against a hash; into memory where there is no room.
//
// In: an absolute address and what is known of the file. Out: a `SourceFile`, and where it is kept. The bytes go into pieces
// of 8 MiB as they come; nothing holds the whole file. A download that was cut goes on where it stopped, in this call after
// a moment, or in the next one, but only with bytes of the same file: see `mayResume`.
//
// Source: RFC 9110, sections 13.1.5 (If-Range) and 14 (range requests).

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { fail, ok, type Result } from "../result.ts";
import { memoryStore, type BlobStore, type StoreKind } from "./blob_store.ts";
import { folderOf, isQuotaError, PIECE_BYTES, pieceName, readNote, readPieces, storageState, writeNote, type CacheNote, type FileCache } from "./cache.ts";
import { fetchGiven } from "./fetch_given.ts";
import { isPinnedHubUrl } from "./hub.ts";
import type { SourceFailure, SourceFile } from "./source_file.ts";

export interface DownloadRequest {
  /** Absolute. */
  url: string;
  /** Shown and kept; by default the last part of the address. */
  name?: string;
  /** Where known: the download is refused if it comes out otherwise. */
  n_bytes?: number | null;
  sha256?: string | null;
}

export interface Progress {
  n_bytes_done: number;
  /** Null where the server does not say. */
  n_bytes_total: number | null;
  /** Of these, bytes that were here already when the download began. */
  n_bytes_resumed: number;
  bytes_per_second: number;
  /** Milliseconds left at this speed. */
  eta_ms: number | null;
  /** 1, and one more for each cut. */
  attempt: number;
}

export interface DownloadOptions {
  cache: FileCache;
  /** Aborting rejects with the signal's reason; what has arrived is kept for the next call. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** First pause before going on after a cut; doubles with each cut in a row. */
  retryDelayMs?: number;
}

export interface Downloaded extends SourceFile {
  sha256: string;
  origin: "network" | "cache";
  stored: StoreKind;
  /** Why it is in memory only and has to be fetched again next time; null where it is kept. */
  why_memory: WhyMemory | null;
}

export type WhyMemory =
  /** The browser grants no more room. */
  | "quota"
  /** The browser has no storage for this page, as in some private windows. */
  | "no_storage"
  /** The browser's storage failed while it was written to. */
  | "storage_failed";

/** Cuts in a row, without a byte between them, after which a download gives up. */
const MAX_CUTS = 5;
/** The same where no answer has come yet: more likely there is nobody, or the host lets no other site read. */
const MAX_SILENCES = 3;

/** The file of an address; from the cache without asking the network where it is there whole. */
export const download = (request: DownloadRequest, options: DownloadOptions): Promise<Result<Downloaded, SourceFailure>> =>
  alone(folderOf(request.url), options.signal, () => downloadAlone(request, options));

/** One tab after another: two that write the same pieces would mix them, and the second finds the file in the cache. */
async function alone<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  return locks === undefined ? work() : locks.request(`evaltab-download-${name}`, signal === undefined ? {} : { signal }, work);
}

async function downloadAlone(request: DownloadRequest, options: DownloadOptions): Promise<Result<Downloaded, SourceFailure>> {
  const { cache } = options;
  const cached = await cache.find(request.url);
  if (cached !== null && cached.sha256 !== null && (request.sha256 ?? cached.sha256) === cached.sha256) {
    return ok({ ...cached, sha256: cached.sha256, origin: "cache", stored: cache.kind, why_memory: cache.kind === "memory" ? "no_storage" : null });
  }
  if (cached !== null) await cache.remove(request.url);
  const transfer = new Transfer(request, options);
  for (let nCuts = 0, attempt = 1; ; attempt++) {
    options.signal?.throwIfAborted();
    const before = transfer.nBytes;
    const end = await transfer.attempt(attempt);
    if (end.kind === "done") return transfer.finish();
    if (end.kind === "refused") return { ok: false, error: end.error };
    nCuts = transfer.nBytes > before ? 0 : nCuts + 1;
    const message = transfer.hasAnswer ? end.message : `no answer (${end.message}): the host cannot be reached, or lets no other site read its files (CORS)`;
    if (nCuts >= (transfer.hasAnswer ? MAX_CUTS : MAX_SILENCES)) return fail("network", request.url, `${message}; gave up after ${attempt} attempts with ${transfer.nBytes} bytes`);
    await pause((options.retryDelayMs ?? 500) * 2 ** nCuts, options.signal);
  }
}

type AttemptEnd = { kind: "done" } | { kind: "cut"; message: string } | { kind: "refused"; error: SourceFailure };

/** One download: the pieces that are here, and the way to more. */
class Transfer {
  #store: BlobStore;
  #whyMemory: WhyMemory | null;
  #note: CacheNote | null = null;
  readonly #folder: string;
  #nPieces = 0;
  #nBytes = 0;
  #nBytesResumed = 0;
  /** Bytes that do not fill a piece yet. */
  #tail: Uint8Array<ArrayBuffer>[] = [];
  #nTailBytes = 0;
  #hash = sha256.create();
  #isLoaded = false;
  #isBegunAnew = false;
  hasAnswer = false;

  constructor(
    readonly request: DownloadRequest,
    readonly options: DownloadOptions,
  ) {
    this.#store = options.cache.store;
    this.#whyMemory = this.#store.kind === "memory" ? "no_storage" : null;
    this.#folder = folderOf(request.url);
  }

  get nBytes(): number {
    return this.#nBytes;
  }

  async attempt(attempt: number): Promise<AttemptEnd> {
    const { request, options } = this;
    if (!this.#isLoaded) await this.#load();
    else if (this.#note !== null && !mayResume(this.#note, request)) await this.#restart();
    let response: Response;
    try {
      response = await fetchGiven(request.url, { headers: this.#rangeHeaders(), signal: options.signal ?? null, cache: "no-store", credentials: "omit" });
    } catch (error) {
      options.signal?.throwIfAborted();
      return { kind: "cut", message: messageOf(error) };
    }
    this.hasAnswer = true;
    const refusal = await this.#accept(response);
    if (refusal !== null) return refusal;
    const meter = new Meter(this.#nBytes, this.#nBytesResumed, attempt, options.onProgress);
    try {
      const reader = response.body?.getReader();
      for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
        await this.#append(read.value);
        if (request.n_bytes != null && this.#nBytes > request.n_bytes) {
          await reader?.cancel().catch(() => undefined);
          await this.#restart();
          return { kind: "refused", error: { kind: "hash", place: request.url, message: `more bytes come than the ${request.n_bytes} expected` } };
        }
        meter.tick(this.#nBytes, this.#note?.n_bytes ?? null);
      }
    } catch (error) {
      // Also on abort: what has arrived is where the next call goes on.
      await this.#flush();
      meter.end(this.#nBytes, this.#note?.n_bytes ?? null);
      options.signal?.throwIfAborted();
      return { kind: "cut", message: messageOf(error) };
    }
    await this.#flush();
    meter.end(this.#nBytes, this.#note?.n_bytes ?? null);
    const total = this.#note?.n_bytes ?? null;
    return total !== null && this.#nBytes < total ? { kind: "cut", message: `the answer ended after ${this.#nBytes} of ${total} bytes` } : { kind: "done" };
  }

  async finish(): Promise<Result<Downloaded, SourceFailure>> {
    const { request } = this;
    const hash = bytesToHex(this.#hash.digest());
    const wrong =
      request.sha256 != null && hash !== request.sha256
        ? `the bytes have sha256 ${hash}, expected ${request.sha256}`
        : request.n_bytes != null && this.#nBytes !== request.n_bytes
          ? `${this.#nBytes} bytes, expected ${request.n_bytes}`
          : null;
    if (wrong !== null || this.#note === null) {
      await this.#store.remove(this.#folder);
      return fail("hash", request.url, wrong ?? "the server sent nothing");
    }
    const note: CacheNote = { ...this.#note, n_bytes: this.#nBytes, sha256: hash, is_complete: true, saved_at: Date.now() };
    await this.#put(() => writeNote(this.#store, note));
    const blob = new Blob(await readPieces(this.#store, this.#folder));
    return ok({ name: note.name, size: blob.size, url: request.url, sha256: hash, origin: "network", stored: this.#store.kind, why_memory: this.#whyMemory, blob: () => Promise.resolve(blob) });
  }

  /** Takes up what an earlier call left, if that may be gone on with. */
  async #load(): Promise<void> {
    this.#isLoaded = true;
    const note = await readNote(this.#store, this.#folder);
    if (note === null || note.is_complete || !mayResume(note, this.request)) return this.#restart();
    this.#note = note;
    for (const piece of await readPieces(this.#store, this.#folder)) {
      this.#hash.update(new Uint8Array(await piece.arrayBuffer()));
      this.#nBytes += piece.size;
      this.#nPieces++;
    }
    this.#nBytesResumed = this.#nBytes;
  }

  async #restart(): Promise<void> {
    await this.#store.remove(this.#folder);
    this.#note = null;
    this.#nPieces = this.#nBytes = this.#nBytesResumed = this.#nTailBytes = 0;
    this.#tail = [];
    this.#hash = sha256.create();
  }

  #rangeHeaders(): Record<string, string> {
    if (this.#nBytes === 0) return {};
    const range = { Range: `bytes=${this.#nBytes}-` };
    // Across origins If-Range would need the server's consent by a preflight, which file hosts do not give: there the
    // validators of the answer are compared instead (`#accept`).
    const validator = strong(this.#note?.etag ?? null) ?? this.#note?.last_modified ?? null;
    return validator !== null && isSameOrigin(this.request.url) ? { ...range, "If-Range": validator } : range;
  }

  /** Looks at the head of an answer and gets ready for its body; an end where there is nothing to read. */
  async #accept(response: Response): Promise<AttemptEnd | null> {
    const { request } = this;
    const discard = (): Promise<void> => response.body?.cancel().catch(() => undefined) ?? Promise.resolve();
    if (response.status === 416) {
      // Nothing behind what is here: whole already, or another file by now.
      await discard();
      // The second time it is a wrong claim of how long the file is, which `finish` says: no reason to fetch it for ever.
      if (this.#note?.n_bytes === this.#nBytes || this.#isBegunAnew) return { kind: "done" };
      this.#isBegunAnew = true;
      await this.#restart();
      return { kind: "cut", message: "the server refused the range" };
    }
    if (!response.ok) {
      await discard();
      const message = `the server answered ${response.status} ${response.statusText}`.trim();
      const isPassing = response.status >= 500 || response.status === 408 || response.status === 429;
      return isPassing ? { kind: "cut", message } : { kind: "refused", error: { kind: "http", place: request.url, message } };
    }
    const etag = response.headers.get("etag");
    const lastModified = response.headers.get("last-modified");
    if (response.status === 206) {
      const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
      const isOther = (start !== undefined && Number(start) !== this.#nBytes) || isChanged(this.#note?.etag, etag) || isChanged(this.#note?.last_modified, lastModified);
      if (isOther) {
        await discard();
        await this.#restart();
        return { kind: "cut", message: "the file changed on the server" };
      }
    } else if (this.#nBytes > 0) {
      await this.#restart();
    }
    if (this.#note !== null) return null;
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    // A compressed answer has the length of what was sent, not of the file.
    const isPlain = (response.headers.get("content-encoding") ?? "identity") === "identity";
    const told = isPlain && Number.isSafeInteger(length) ? length : null;
    if (told !== null && request.n_bytes != null && told !== request.n_bytes) {
      await discard();
      return { kind: "refused", error: { kind: "hash", place: request.url, message: `${told} bytes, expected ${request.n_bytes}` } };
    }
    const nBytes = request.n_bytes ?? told;
    this.#note = { v: 1, url: request.url, name: request.name ?? nameOf(request.url), n_bytes: nBytes, etag, last_modified: lastModified, sha256: null, is_complete: false, saved_at: Date.now() };
    const state = this.#store.kind === "memory" ? null : await storageState();
    if (state !== null && nBytes !== null && nBytes > state.n_bytes_quota - state.n_bytes_used) await this.#moveToMemory("quota");
    await this.#put(() => writeNote(this.#store, this.#requireNote()));
    return null;
  }

  #requireNote(): CacheNote {
    if (this.#note === null) throw new Error("a note is written before any byte");
    return this.#note;
  }

  async #append(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#hash.update(bytes);
    this.#nBytes += bytes.length;
    this.#tail.push(bytes);
    this.#nTailBytes += bytes.length;
    if (this.#note?.n_bytes != null && this.#nBytes > this.#note.n_bytes) this.#note = { ...this.#note, n_bytes: null };
    if (this.#nTailBytes >= PIECE_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.#nTailBytes === 0) return;
    const piece = new Blob(this.#tail);
    await this.#put(() => this.#store.put(this.#folder, pieceName(this.#nPieces), piece));
    this.#nPieces++;
    this.#tail = [];
    this.#nTailBytes = 0;
  }

  /** Writes; where the browser refuses, goes over to memory and writes there: a full disk is no reason to have no file. */
  async #put(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (this.#store.kind === "memory") throw error;
      // Chromium reports some writes beyond the quota as NotReadableError or AbortError: those count as "failed".
      await this.#moveToMemory(isQuotaError(error) ? "quota" : "storage_failed");
      await write();
    }
  }

  /** Takes the pieces along and frees the browser's storage, so that there is room for what has to be kept. */
  async #moveToMemory(why: WhyMemory): Promise<void> {
    const memory = memoryStore();
    if (this.#note !== null) await writeNote(memory, this.#note);
    for (const [i, piece] of (await readPieces(this.#store, this.#folder)).entries()) {
      await memory.put(this.#folder, pieceName(i), new Blob([await piece.arrayBuffer()]));
    }
    // A store that failed may fail here too; what stays is listed as incomplete and can be deleted by hand.
    await this.#store.remove(this.#folder).catch(() => undefined);
    this.#store = memory;
    this.#whyMemory = why;
  }
}

/** May bytes of a new answer follow those that are here? Only where it can be told that they are of the same file. */
function mayResume(note: CacheNote, request: DownloadRequest): boolean {
  if (request.n_bytes != null && note.n_bytes !== null && request.n_bytes !== note.n_bytes) return false;
  return strong(note.etag) !== null || note.last_modified !== null || request.sha256 != null || isPinnedHubUrl(request.url);
}

/** A weak validator does not promise equal bytes. */
const strong = (etag: string | null): string | null => (etag === null || etag.startsWith("W/") ? null : etag);

/** Across origins a header may be hidden: only what both answers show is compared. */
const isChanged = (before: string | null | undefined, now: string | null): boolean => before != null && now !== null && before !== now;

/** Outside a page there are no origins. */
const isSameOrigin = (url: string): boolean => {
  const here: { origin: string } | undefined = globalThis.location;
  return here === undefined || new URL(url).origin === here.origin;
};

/** The last part of an address, as a file name. */
export function nameOf(url: string): string {
  const last = new URL(url).pathname.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(last) || "download";
  } catch {
    // A stray "%": the name as it stands.
    return last;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new DOMException("aborted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** Speed over the last seconds, told at most ten times a second. */
class Meter {
  #marks: { ms: number; nBytes: number }[];
  #toldAt = 0;

  constructor(
    nBytes: number,
    readonly nBytesResumed: number,
    readonly attempt: number,
    readonly tell: ((progress: Progress) => void) | undefined,
  ) {
    this.#marks = [{ ms: performance.now(), nBytes }];
  }

  tick(nBytes: number, total: number | null): void {
    if (performance.now() - this.#toldAt >= 100) this.end(nBytes, total);
  }

  end(nBytes: number, total: number | null): void {
    const ms = performance.now();
    this.#toldAt = ms;
    this.#marks.push({ ms, nBytes });
    // Three seconds: steady enough to read, quick enough to show a stall.
    while (this.#marks.length > 2 && ms - (this.#marks[0]?.ms ?? ms) > 3000) this.#marks.shift();
    const first = this.#marks[0] ?? { ms, nBytes };
    const speed = ms > first.ms ? ((nBytes - first.nBytes) * 1000) / (ms - first.ms) : 0;
    this.tell?.({
      n_bytes_done: nBytes,
      n_bytes_total: total,
      n_bytes_resumed: this.nBytesResumed,
      bytes_per_second: speed,
      eta_ms: total !== null && speed > 0 ? Math.max(0, ((total - nBytes) * 1000) / speed) : null,
      attempt: this.attempt,
    });
  }
}
