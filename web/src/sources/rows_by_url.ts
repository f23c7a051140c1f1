// Rows by their address: a file, the pieces of a parquet file that are needed, or a rows API.
//
// In: an absolute address and what is known of the file. Out: rows as the engine reads them. Files go through the cache, checked
// against their hash. A parquet file is read by ranges where that spares more than half of it, as with pictures beside the
// questions: then there is no hash of the file to check and nothing is kept, and what holds is the hash of the rows, which is
// the one that a link has in any case.
//
// Source: RFC 9110, section 14. No range is counted from the end of the file: browsers ask servers of other origins for leave first.

import { parquetMetadataAsync, type AsyncBuffer } from "hyparquet";
import { fail, type Result } from "../result.ts";
import { download, nameOf, type DownloadOptions, type Progress } from "./download.ts";
import { fetchGiven } from "./fetch_given.ts";
import { isRowsApiUrl } from "./hub.ts";
import { FOOTER_BYTES, MAX_ROWS_BYTES, readableColumns, rowsFromApi, rowsOf, rowsOfParquet, type RowsFile, type RowsProgress } from "./rows.ts";
import type { SourceFailure } from "./source_file.ts";

export interface RowsRequest {
  /** Absolute. */
  url: string;
  /** Of the file at that address. */
  n_bytes?: number | null;
  sha256?: string | null;
}

export interface RowsOptions extends Omit<DownloadOptions, "onProgress"> {
  onProgress?: (progress: Progress | RowsProgress) => void;
}

/** Smaller files come whole: one request, and they are kept. */
const LEAST_BYTES = 1_048_576;
/** Tries of one range. */
const MAX_TRIES = 4;

/** Rejects with the signal's reason on abort. */
export async function rowsFromUrl(request: RowsRequest, options: RowsOptions): Promise<Result<RowsFile, SourceFailure>> {
  if (isRowsApiUrl(request.url)) return rowsFromApi(request.url, options);
  const ranged = await rowsByRanges(request, options);
  if (ranged !== null) return ranged;
  const file = await download(request, options);
  return file.ok ? rowsOf(file.value) : file;
}

/** Thrown by a read, caught below. */
class Unread extends Error {
  constructor(readonly error: SourceFailure | "no_ranges") {
    super("unread");
  }
}

/** Null where the file has to be fetched whole. */
async function rowsByRanges({ url, n_bytes }: RowsRequest, options: RowsOptions): Promise<Result<RowsFile, SourceFailure> | null> {
  if (!/\.parquet$/i.test(new URL(url).pathname) || (await options.cache.find(url)) !== null) return null;
  const size = n_bytes ?? (await sizeOf(url, options.signal));
  if (size === null || size < LEAST_BYTES) return null;
  const file = new RemoteFile(url, size, options);
  try {
    const metadata = await parquetMetadataAsync(file, { initialFetchSize: FOOTER_BYTES });
    const { packed, inflated } = readableColumns(metadata).n_bytes;
    // Too many rows are refused below, from the footer alone.
    if (2 * packed > size && inflated <= MAX_ROWS_BYTES) return null;
    file.total = file.nBytes + packed;
    return await rowsOfParquet(nameOf(url), file, metadata);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!(error instanceof Unread)) return fail("format", url, `parquet: ${error instanceof Error ? error.message : String(error)}`);
    return error.error === "no_ranges" ? null : { ok: false, error: error.error };
  }
}

/** The length that a server tells of a file without sending it. */
async function sizeOf(url: string, signal: AbortSignal | undefined): Promise<number | null> {
  try {
    const head = await fetchGiven(url, { method: "HEAD", signal: signal ?? null, credentials: "omit" });
    const length = Number(head.headers.get("content-length") ?? Number.NaN);
    return head.ok && Number.isSafeInteger(length) && (head.headers.get("content-encoding") ?? "identity") === "identity" ? length : null;
  } catch {
    signal?.throwIfAborted();
    // The download says what is wrong.
    return null;
  }
}

/** Ranges of one version of a file. */
class RemoteFile implements AsyncBuffer {
  nBytes = 0;
  total: number | null = null;
  #version: string | null = null;
  readonly #began = performance.now();

  constructor(
    readonly url: string,
    readonly byteLength: number,
    readonly options: RowsOptions,
  ) {}

  async slice(start: number, end: number = this.byteLength): Promise<ArrayBuffer> {
    if (start < 0 || end <= start || end > this.byteLength) throw new RangeError(`bytes ${start} to ${end} of ${this.byteLength}`);
    for (let nTries = 1; ; nTries++) {
      this.options.signal?.throwIfAborted();
      const read = await this.#read(start, end);
      if (read.ok) return read.value;
      if (nTries === MAX_TRIES) throw new Unread({ kind: "network", place: this.url, message: read.error });
      await new Promise((resolve) => setTimeout(resolve, (this.options.retryDelayMs ?? 500) * 2 ** nTries));
    }
  }

  /** An error is one that may pass. */
  async #read(start: number, end: number): Promise<{ ok: true; value: ArrayBuffer } | { ok: false; error: string }> {
    try {
      const answer = await fetchGiven(this.url, { headers: { Range: `bytes=${start}-${end - 1}` }, signal: this.options.signal ?? null, cache: "no-store", credentials: "omit" });
      if (answer.status === 206) {
        this.#checkVersion(answer);
        const bytes = await answer.arrayBuffer();
        if (bytes.byteLength !== end - start) return { ok: false, error: `${bytes.byteLength} bytes came of ${end - start}` };
        this.#tell(bytes.byteLength);
        return { ok: true, value: bytes };
      }
      await answer.body?.cancel();
      const message = `the server answered ${answer.status} ${answer.statusText}`.trim();
      if (answer.status >= 500 || answer.status === 408 || answer.status === 429) return { ok: false, error: message };
      throw new Unread(answer.ok || answer.status === 416 ? "no_ranges" : { kind: "http", place: this.url, message });
    } catch (error) {
      if (error instanceof Unread) throw error;
      this.options.signal?.throwIfAborted();
      return { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Ranges of two versions would make a third file. Across origins the headers may be hidden; then the length has to do. */
  #checkVersion(answer: Response): void {
    const length = /\/(\d+)$/.exec(answer.headers.get("content-range") ?? "")?.[1];
    const version = answer.headers.get("etag") ?? answer.headers.get("last-modified");
    const isOther = (length !== undefined && Number(length) !== this.byteLength) || (this.#version !== null && version !== null && version !== this.#version);
    if (isOther) throw new Unread({ kind: "network", place: this.url, message: "the file changed on the server" });
    this.#version ??= version;
  }

  #tell(nBytes: number): void {
    this.nBytes += nBytes;
    const speed = (1000 * this.nBytes) / Math.max(1, performance.now() - this.#began);
    const left = this.total === null ? null : Math.max(0, this.total - this.nBytes);
    this.options.onProgress?.({
      n_bytes_done: this.nBytes,
      n_bytes_total: this.total,
      n_bytes_resumed: 0,
      bytes_per_second: speed,
      eta_ms: left === null ? null : (1000 * left) / speed,
      attempt: 1,
    });
  }
}
