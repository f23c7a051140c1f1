// A file to evaluate with or on, wherever it came from: picked, dropped, downloaded or kept from an earlier visit.
//
// In: `File`s and drops. Out: `SourceFile`s; a model in several GGUF parts as one, with its parts in order. Reading the bytes is
// left to the caller, who takes slices of the blob: a model is never held in memory here.
//
// Source of the names of parts: llama.cpp's `llama_split_path`.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { fail, ok, type Failure, type Result } from "../result.ts";

export interface SourceFile {
  name: string;
  /** Bytes; of all parts. */
  size: number;
  /** Where anybody can get it, revision pinned where the address allows; null for a file of this machine. */
  url: string | null;
  /** Hash of the bytes where it is known already; of a split model `modelSha256`. */
  sha256: string | null;
  /** The bytes, on disk or in memory; slices of it are cheap. */
  blob(): Promise<Blob>;
  /** The files of a split model in order, whose name and address are the first one's; absent for one file. */
  parts?: readonly SourceFile[];
}

export const partsOf = (file: SourceFile): readonly SourceFile[] => file.parts ?? [file];

/** Parts in order as one file; a file alone stays what it is. */
export function joined(parts: readonly [SourceFile, ...SourceFile[]]): SourceFile {
  const [first] = parts;
  if (parts.length === 1) return first;
  const hashes = parts.flatMap((part) => part.sha256 ?? []);
  return {
    name: first.name,
    size: parts.reduce((sum, part) => sum + part.size, 0),
    url: first.url,
    sha256: hashes.length === parts.length ? modelSha256(hashes) : null,
    blob: async () => new Blob(await Promise.all(parts.map((part) => part.blob()))),
    parts,
  };
}

/** What a model is known by: the SHA-256 of its file; of a split one, the SHA-256 of its parts' SHA-256, 32 bytes each, in order. */
export function modelSha256(parts: readonly string[]): string {
  const [first = ""] = parts;
  if (parts.length === 1) return first;
  const hash = sha256.create();
  for (const part of parts) hash.update(hexToBytes(part));
  return bytesToHex(hash.digest());
}

export type SourceErrorKind =
  /** No answer, or the answer broke off for good. */
  | "network"
  /** The server said no. */
  | "http"
  /** The bytes are not those that were asked for. */
  | "hash"
  /** A file of a kind or shape that is not read here. */
  | "format"
  /** A part of a split model is missing. */
  | "missing_part";
export type SourceFailure = Failure<SourceErrorKind>;

export const fromFile = (file: File): SourceFile => ({ name: file.name, size: file.size, url: null, sha256: null, blob: () => Promise.resolve(file) });

/** All files of a drop, folders opened, by path. */
export async function filesFromDrop(transfer: DataTransfer): Promise<File[]> {
  // Entries are gone after the first await: take them all before.
  const entries = [...transfer.items].flatMap((item) => (item.kind === "file" ? [item.webkitGetAsEntry() ?? item.getAsFile()] : []));
  const nested = await Promise.all(entries.map((entry) => (entry === null ? [] : entry instanceof File ? [entry] : filesOfEntry(entry))));
  return nested.flat();
}

async function filesOfEntry(entry: FileSystemEntry): Promise<File[]> {
  if (isFileEntry(entry)) return [await new Promise<File>((resolve, reject) => entry.file(resolve, reject))];
  if (!isDirectoryEntry(entry)) return [];
  const reader = entry.createReader();
  const files: File[] = [];
  for (;;) {
    // A call gives at most 100 entries; an empty list is the end.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return files;
    const sorted = [...batch].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const child of sorted) files.push(...(await filesOfEntry(child)));
  }
}

const isFileEntry = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isDirectoryEntry = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/** llama.cpp's name for part i of n: "name-00001-of-00003.gguf". */
const PART = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/i;

/** Names of all parts by the name of one of them, in order; any other name alone. */
export function partNames(name: string): [string, ...string[]] {
  const match = PART.exec(name);
  if (match === null) return [name];
  const [, stem = "", part = "", nParts = "", ending = ""] = match;
  if (Number(part) < 1 || Number(part) > Number(nParts)) return [name];
  const names = Array.from({ length: Number(nParts) }, (_, i) => `${stem}-${String(i + 1).padStart(5, "0")}-of-${nParts}${ending}`);
  const [first = name, ...more] = names;
  return [first, ...more];
}

/** The same for addresses. A query, as of a signed address, holds for one file and is no part's. */
export function partUrls(url: string): [string, ...string[]] {
  const [, folder = "", name = url] = /^([^?#]*\/)?([^?#]*)$/.exec(url) ?? [];
  const [first, ...more] = partNames(name);
  return [folder + first, ...more.map((part) => folder + part)];
}

/** The models among some files; other files are left out. */
export function modelsAmong(files: readonly SourceFile[]): Result<SourceFile[], Failure<"missing_part">> {
  const models: SourceFile[] = [];
  const split = new Map<string, { nParts: number; parts: Map<number, SourceFile> }>();
  for (const file of files) {
    const match = PART.exec(file.name);
    if (match !== null) {
      const [, stem = "", part = "", nParts = ""] = match;
      const key = `${stem} ${nParts}`;
      const group = split.get(key) ?? { nParts: Number(nParts), parts: new Map<number, SourceFile>() };
      group.parts.set(Number(part), file);
      split.set(key, group);
    } else if (/\.gguf$/i.test(file.name)) {
      models.push(file);
    }
  }
  for (const { nParts, parts } of split.values()) {
    const ordered: SourceFile[] = [];
    for (let part = 1; part <= nParts; part++) {
      const file = parts.get(part);
      if (file === undefined) {
        const [some] = parts.values();
        return fail("missing_part", partNames(some?.name ?? "")[part - 1] ?? null, `part ${part} of ${nParts} is missing`);
      }
      ordered.push(file);
    }
    const [first, ...more] = ordered;
    if (first !== undefined) models.push(joined([first, ...more]));
  }
  return ok(models);
}
