// Files that were downloaded or kept: whole ones to open without the network, broken-off ones to go on with.
//
// In: addresses and hashes. Out: `SourceFile`s, a list with sizes. A file is a folder of the blob store: its pieces in order
// and a note of what they are. Pieces are written one by one, so a crash loses one piece; together they are one blob that
// the browser reads from disk.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { parse, flag, integer, nullable, oneOf, record, text, type Shape } from "../share/shape.ts";
import { openBlobStore, type BlobStore, type StoreKind } from "./blob_store.ts";
import { joined, partNames, type SourceFile } from "./source_file.ts";

/** Bytes of a piece: what a crash may cost, and what is held in memory while it fills. */
export const PIECE_BYTES = 8_388_608;

/** What is known of a file in the cache. */
export interface CacheNote {
  v: 1;
  /** The address it came from; for a file that was picked, "file:" and its hash. */
  url: string;
  name: string;
  /** Size of the whole file where the server said it. */
  n_bytes: number | null;
  /** The server's validators: a download goes on only where they are unchanged. */
  etag: string | null;
  last_modified: string | null;
  /** Hash of the whole file, once it is whole. */
  sha256: string | null;
  is_complete: boolean;
  /** Milliseconds since 1970. */
  saved_at: number;
}

const NOTE: Shape<CacheNote> = record<CacheNote>({
  v: oneOf(1),
  url: text(4096),
  name: text(1024),
  n_bytes: nullable(integer(0)),
  etag: nullable(text(1024)),
  last_modified: nullable(text(256)),
  sha256: nullable(text(64)),
  is_complete: flag,
  saved_at: integer(0),
});

/** A line of the list of cached files. */
export interface CacheEntry extends CacheNote {
  n_bytes_stored: number;
}

export interface FileCache {
  readonly kind: StoreKind;
  readonly store: BlobStore;
  list(): Promise<CacheEntry[]>;
  /** The file of an address where it is here whole. */
  find(url: string): Promise<SourceFile | null>;
  /** Also a split model all of whose parts are here. */
  findBySha256(sha256: string): Promise<SourceFile | null>;
  /** The model that an address is a part of, or all of; null where a part is not here whole. */
  findModel(url: string): Promise<SourceFile | null>;
  /** Copies a picked file in, so that the next visit has it. Rejects with `QuotaExceededError` where there is no room. */
  keep(file: SourceFile, sha256: string): Promise<SourceFile>;
  remove(url: string): Promise<void>;
}

export const openCache = async (): Promise<FileCache> => cacheIn(await openBlobStore());

/** A cache in a given store. */
export function cacheIn(store: BlobStore): FileCache {
  const list = async (): Promise<CacheEntry[]> => {
    const entries: CacheEntry[] = [];
    for (const folder of await store.folders()) {
      const note = await readNote(store, folder);
      if (note === null) continue;
      const pieces = await readPieces(store, folder);
      entries.push({ ...note, n_bytes_stored: sizeOf(pieces) });
    }
    return entries.sort((a, b) => b.saved_at - a.saved_at);
  };
  const find = async (url: string): Promise<SourceFile | null> => {
    const note = await readNote(store, folderOf(url));
    return note?.is_complete === true ? open(store, note) : null;
  };
  const modelOf = async (entry: CacheEntry, entries: readonly CacheEntry[]): Promise<SourceFile | null> => {
    const parts: SourceFile[] = [];
    for (const name of partNames(entry.name)) {
      const part = entries.find((candidate) => candidate.is_complete && candidate.name === name && placeOf(candidate.url) === placeOf(entry.url));
      const file = part === undefined ? null : await find(part.url);
      if (file === null) return null;
      parts.push(file);
    }
    const [first, ...more] = parts;
    return first === undefined ? null : joined([first, ...more]);
  };
  return {
    kind: store.kind,
    store,
    list,
    find,
    async findBySha256(hash) {
      const entries = await list();
      const whole = entries.find((candidate) => candidate.is_complete && candidate.sha256 === hash);
      if (whole !== undefined) return find(whole.url);
      for (const entry of entries) {
        const [first, ...more] = partNames(entry.name);
        if (more.length === 0 || entry.name !== first) continue;
        const model = await modelOf(entry, entries);
        if (model?.sha256 === hash) return model;
      }
      return null;
    },
    async findModel(url) {
      const entries = await list();
      const entry = entries.find((candidate) => candidate.url === url);
      return entry === undefined ? null : modelOf(entry, entries);
    },
    async keep(file, hash) {
      const url = file.url ?? `file:${hash}`;
      const folder = folderOf(url);
      await store.remove(folder);
      const note: CacheNote = { v: 1, url, name: file.name, n_bytes: file.size, etag: null, last_modified: null, sha256: hash, is_complete: false, saved_at: Date.now() };
      try {
        await writeNote(store, note);
        const blob = await file.blob();
        for (let i = 0; i * PIECE_BYTES < blob.size; i++) {
          await store.put(folder, pieceName(i), blob.slice(i * PIECE_BYTES, (i + 1) * PIECE_BYTES));
        }
        const whole = { ...note, is_complete: true };
        await writeNote(store, whole);
        return await open(store, whole);
      } catch (error) {
        await store.remove(folder);
        throw error;
      }
    },
    remove: (url) => store.remove(folderOf(url)),
  };
}

/** Where a file lies, without its name: parts of one model lie together. */
const placeOf = (url: string): string => (url.startsWith("file:") ? "file:" : url.slice(0, url.lastIndexOf("/")));

/** The folder of an address: 128 bits of its hash, because names of files may not hold an address. */
export const folderOf = (url: string): string => bytesToHex(sha256(utf8ToBytes(url))).slice(0, 32);

export const pieceName = (i: number): string => String(i).padStart(6, "0");

const NOTE_NAME = "note.json";

/** The note of a folder; null where there is none or it is not ours. */
export async function readNote(store: BlobStore, folder: string): Promise<CacheNote | null> {
  const blob = await store.get(folder, NOTE_NAME);
  if (blob === null) return null;
  try {
    const note = parse(NOTE, JSON.parse(await blob.text()));
    return note.ok ? note.value : null;
  } catch {
    // Not JSON: as good as no note, and the next download writes a new one.
    return null;
  }
}

export const writeNote = (store: BlobStore, note: CacheNote): Promise<void> =>
  store.put(folderOf(note.url), NOTE_NAME, new Blob([JSON.stringify(note)], { type: "application/json" }));

/** The pieces of a folder in order, up to the first that is missing. */
export async function readPieces(store: BlobStore, folder: string): Promise<Blob[]> {
  const pieces: Blob[] = [];
  for (;;) {
    const piece = await store.get(folder, pieceName(pieces.length));
    if (piece === null) return pieces;
    pieces.push(piece);
  }
}

export const sizeOf = (pieces: readonly Blob[]): number => pieces.reduce((sum, piece) => sum + piece.size, 0);

async function open(store: BlobStore, note: CacheNote): Promise<SourceFile> {
  const blob = new Blob(await readPieces(store, folderOf(note.url)));
  return { name: note.name, size: blob.size, url: note.url.startsWith("file:") ? null : note.url, sha256: note.sha256, blob: () => Promise.resolve(blob) };
}

export interface StorageState {
  n_bytes_used: number;
  /** What the browser grants this site in all. */
  n_bytes_quota: number;
  /** The browser will not clear it by itself. */
  is_persistent: boolean;
}

/** What the browser says of this site's storage; null where it does not say. */
export async function storageState(): Promise<StorageState | null> {
  const storage = globalThis.navigator?.storage;
  if (storage?.estimate === undefined) return null;
  const { usage = 0, quota = 0 } = await storage.estimate();
  return { n_bytes_used: usage, n_bytes_quota: quota, is_persistent: (await storage.persisted?.()) ?? false };
}

/** Asks the browser not to clear this site's storage by itself. */
export const askPersistence = async (): Promise<boolean> => (await globalThis.navigator?.storage?.persist?.()) ?? false;

/** A put that failed because there is no more room. */
export const isQuotaError = (error: unknown): boolean => error instanceof Error && error.name === "QuotaExceededError";
