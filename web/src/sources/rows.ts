// Rows of any source as the bytes the engine reads: JSON lines or CSV.
//
// In: a file, or the address of a rows API. Out: name and bytes. JSONL and CSV come out as they are, to the byte; parquet
// and the rows API become JSON lines; a zip gives the one data file inside. What the rows mean is left to the engine.
//
// Source: Apache Parquet (through hyparquet), PKZIP (through fflate), Hugging Face's data set viewer.

import { unzipSync } from "fflate";
import { parquetMetadataAsync, parquetReadObjects, parquetSchema, type AsyncBuffer, type FileMetaData, type SchemaTree } from "hyparquet";
import { fail, ok, type Result } from "../result.ts";
import { fetchGiven } from "./fetch_given.ts";
import type { SourceFailure, SourceFile } from "./source_file.ts";

export interface RowsFile {
  /** The name of the data, converted ones with ".jsonl". */
  name: string;
  bytes: Uint8Array;
  converted_from: "parquet" | "zip" | "rows_api" | null;
}

/** Rows are held in memory, as JSON too: more than this is no task for a tab. */
export const MAX_ROWS_BYTES = 536_870_912;

/** What is read first, from the end of a parquet file: the footers of evaluation sets have some kB. */
export const FOOTER_BYTES = 65_536;

/** The rows of a file, by what its first bytes say it is. */
export async function rowsOf(file: SourceFile): Promise<Result<RowsFile, SourceFailure>> {
  return rowsOfBlob(file.name, await file.blob());
}

async function rowsOfBlob(name: string, blob: Blob): Promise<Result<RowsFile, SourceFailure>> {
  const magic = await blob.slice(0, 4).text();
  if (magic === "PAR1") return fromParquet(name, blob);
  if (blob.size > MAX_ROWS_BYTES) return fail("format", name, `${blob.size} bytes, at most ${MAX_ROWS_BYTES} are read`);
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return magic === "PK\u0003\u0004" ? fromZip(name, bytes) : ok({ name, bytes, converted_from: null });
}

/** Only the footer and then the pages of columns are read from the blob, so the file itself is never in memory whole. */
async function fromParquet(name: string, blob: Blob): Promise<Result<RowsFile, SourceFailure>> {
  const file: AsyncBuffer = { byteLength: blob.size, slice: (start, end) => blob.slice(start, end).arrayBuffer() };
  try {
    return await rowsOfParquet(name, file, await parquetMetadataAsync(file));
  } catch (error) {
    return fail("format", name, `parquet: ${messageOf(error)}`);
  }
}

/** The rows of a parquet file whose footer has been read. Rejects where the file is broken, or with what `file` rejects with. */
export async function rowsOfParquet(name: string, file: AsyncBuffer, metadata: FileMetaData): Promise<Result<RowsFile, SourceFailure>> {
  const { columns, n_bytes } = readableColumns(metadata);
  if (n_bytes.inflated > MAX_ROWS_BYTES) return fail("format", name, `${n_bytes.inflated} bytes of rows, at most ${MAX_ROWS_BYTES} are read`);
  // Codecs beside snappy are seldom needed and not small.
  const { compressors } = await import("hyparquet-compressors");
  const rows = await parquetReadObjects({ file, metadata, compressors, columns });
  return ok({ name: withExtension(name, "jsonl"), bytes: toJsonLines(rows), converted_from: "parquet" });
}

export interface ReadableColumns {
  columns: string[];
  /** Of these columns in the file, and when unpacked. */
  n_bytes: { packed: number; inflated: number };
}

/** The columns that can be in a prompt: all but pictures and sound, which are most of a file that has them. */
export function readableColumns(metadata: FileMetaData): ReadableColumns {
  const columns = parquetSchema(metadata).children.flatMap((column) => (isMedia(column) ? [] : [column.element.name]));
  const n_bytes = { packed: 0, inflated: 0 };
  for (const { meta_data } of metadata.row_groups.flatMap((group) => group.columns)) {
    if (meta_data === undefined || !columns.includes(meta_data.path_in_schema[0] ?? "")) continue;
    n_bytes.packed += Number(meta_data.total_compressed_size);
    n_bytes.inflated += Number(meta_data.total_uncompressed_size);
  }
  return { columns, n_bytes };
}

/** The way in which Hugging Face's data sets store pictures and sound, alone or in lists: raw `bytes` beside a `path`. */
function isMedia({ children }: SchemaTree): boolean {
  const bytes = children.find(({ element }) => element.name === "bytes")?.element;
  const isRaw = bytes?.type === "BYTE_ARRAY" && bytes.converted_type === undefined && bytes.logical_type === undefined;
  return (isRaw && children.length === 2 && children.some(({ element }) => element.name === "path")) || children.some(isMedia);
}

const DATA_FILE = /\.(jsonl|ndjson|json|csv|parquet)$/i;

async function fromZip(name: string, bytes: Uint8Array): Promise<Result<RowsFile, SourceFailure>> {
  const found: { name: string; size: number }[] = [];
  try {
    // First pass: only the directory, so that nothing is inflated before its size is known.
    unzipSync(bytes, {
      filter: (entry) => {
        // macOS adds a hidden twin to each file.
        if (DATA_FILE.test(entry.name) && !/(^|\/)(__MACOSX\/|\.)/.test(entry.name)) found.push({ name: entry.name, size: entry.originalSize });
        return false;
      },
    });
    const [only, ...more] = found;
    if (only === undefined) return fail("format", name, "the zip holds no .jsonl, .json, .csv or .parquet file");
    if (more.length > 0) return fail("format", name, `the zip holds ${found.length} data files, one is expected: ${found.map((entry) => entry.name).join(", ")}`);
    if (only.size > MAX_ROWS_BYTES) return fail("format", only.name, `${only.size} bytes of rows, at most ${MAX_ROWS_BYTES} are read`);
    const inflated = unzipSync(bytes, { filter: (entry) => entry.name === only.name })[only.name];
    if (inflated === undefined) return fail("format", only.name, "the zip's directory names a file that is not in it");
    const inner = await rowsOfBlob(only.name.split("/").at(-1) ?? only.name, new Blob([inflated]));
    return inner.ok ? ok({ ...inner.value, converted_from: inner.value.converted_from ?? "zip" }) : inner;
  } catch (error) {
    return fail("format", name, `zip: ${messageOf(error)}`);
  }
}

export interface RowsProgress {
  n_rows_done: number;
  n_rows_total: number;
}

export interface ApiOptions {
  signal?: AbortSignal;
  onProgress?: (progress: RowsProgress) => void;
  /** First pause after "too many requests"; doubles. */
  retryDelayMs?: number;
}

/** Rows a request: the API's most. */
const ROWS_PER_REQUEST = 100;
const MAX_RETRIES = 5;

/** All rows of a split through the rows API (`isRowsApiUrl`). Rejects with the signal's reason on abort. */
export async function rowsFromApi(url: string, options: ApiOptions = {}): Promise<Result<RowsFile, SourceFailure>> {
  const address = new URL(url);
  const rows: unknown[] = [];
  for (;;) {
    address.searchParams.set("offset", String(rows.length));
    address.searchParams.set("length", String(ROWS_PER_REQUEST));
    const answer = await fetchJson(address.href, options);
    if (!answer.ok) return answer;
    const page = readPage(answer.value);
    if (!page.ok) return fail("format", address.href, page.error);
    if (page.value.rows.length === 0 && rows.length < page.value.n_rows_total) return fail("format", address.href, `the server has ${page.value.n_rows_total} rows and gave none from row ${rows.length} on`);
    rows.push(...page.value.rows);
    options.onProgress?.({ n_rows_done: rows.length, n_rows_total: page.value.n_rows_total });
    if (rows.length >= page.value.n_rows_total) break;
  }
  const parts = ["dataset", "config", "split"].map((part) => address.searchParams.get(part) ?? "").filter((part) => part !== "" && part !== "default");
  const name = `${parts.join("-")}.jsonl`.replace(/[^\w.-]+/g, "_");
  return ok({ name, bytes: toJsonLines(rows), converted_from: "rows_api" });
}

async function fetchJson(url: string, { signal, retryDelayMs = 1000 }: ApiOptions): Promise<Result<unknown, SourceFailure>> {
  for (let nRetries = 0; ; nRetries++) {
    signal?.throwIfAborted();
    try {
      const answer = await fetchGiven(url, { signal: signal ?? null, credentials: "omit" });
      if (answer.ok) return ok(await answer.json());
      const isPassing = answer.status === 429 || answer.status >= 500;
      if (!isPassing || nRetries === MAX_RETRIES) return fail("http", url, `the server answered ${answer.status} ${answer.statusText}`.trim());
    } catch (error) {
      signal?.throwIfAborted();
      if (nRetries === MAX_RETRIES) return fail("network", url, messageOf(error));
    }
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs * 2 ** nRetries));
  }
}

interface Page {
  rows: unknown[];
  n_rows_total: number;
}

/** The parts of an answer that count; a cell that the server shortened would be scored as if it were whole, so it is refused. */
function readPage(answer: unknown): { ok: true; value: Page } | { ok: false; error: string } {
  const page = entriesOf(answer);
  const rows = page.get("rows");
  const total = page.get("num_rows_total");
  if (!Array.isArray(rows) || typeof total !== "number") return { ok: false, error: "this is no answer of a rows API: it lacks rows or num_rows_total" };
  if (page.get("partial") === true) return { ok: false, error: "the server has only a part of this data set" };
  const values: unknown[] = [];
  for (const row of rows) {
    const entry = entriesOf(row);
    const truncated = entry.get("truncated_cells");
    if (Array.isArray(truncated) && truncated.length > 0) return { ok: false, error: `row ${String(entry.get("row_idx"))} is shortened in ${truncated.map(String).join(", ")}` };
    values.push(entry.get("row"));
  }
  return { ok: true, value: { rows: values, n_rows_total: total } };
}

const entriesOf = (value: unknown): Map<string, unknown> => new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);

/** One row a line, "\n" after each. */
export function toJsonLines(rows: readonly unknown[]): Uint8Array {
  const encoder = new TextEncoder();
  const lines = rows.map((row) => encoder.encode(`${toJson(row)}\n`));
  const bytes = new Uint8Array(lines.reduce((sum, line) => sum + line.length, 0));
  let at = 0;
  for (const line of lines) {
    bytes.set(line, at);
    at += line.length;
  }
  return bytes;
}

/** JSON of what parquet holds beside JSON's own types: 64-bit integers keep every digit, times become ISO 8601, raw bytes base64. */
export function toJson(value: unknown): string {
  switch (typeof value) {
    case "bigint":
      return value.toString();
    case "number":
      return Number.isFinite(value) ? JSON.stringify(value) : "null";
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "object":
      break;
    default:
      return "null";
  }
  if (value === null) return "null";
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "null" : JSON.stringify(value.toISOString());
  if (value instanceof Uint8Array) return JSON.stringify(btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join("")));
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (ArrayBuffer.isView(value)) return `[${Array.from(value as unknown as Iterable<number | bigint>, toJson).join(",")}]`;
  return `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${toJson(inner)}`).join(",")}}`;
}

const withExtension = (name: string, extension: string): string => `${name.replace(/\.[^.]*$/, "")}.${extension}`;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
