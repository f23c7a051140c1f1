// A file to evaluate with or on, wherever it came from: picked, dropped, downloaded or kept from an earlier visit.
//
// In: `File`s and drops. Out: `SourceFile`s; models in several GGUF parts as one list in order. Reading the bytes is left to
// the caller, who takes slices of the blob: a model is never held in memory here.

import { fail, ok, type Failure, type Result } from "../result.ts";

export interface SourceFile {
  name: string;
  /** Bytes. */
  size: number;
  /** Where anybody can get it, revision pinned where the address allows; null for a file of this machine. */
  url: string | null;
  /** Hash of the bytes where it is known already. */
  sha256: string | null;
  /** The bytes, on disk or in memory; slices of it are cheap. */
  blob(): Promise<Blob>;
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
const PART = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;

/** The models among some files, each as its parts in order; other files are left out. A model of one file is a list of one. */
export function modelsAmong(files: readonly SourceFile[]): Result<SourceFile[][], Failure<"missing_part">> {
  const models: SourceFile[][] = [];
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
      models.push([file]);
    }
  }
  for (const [key, { nParts, parts }] of split) {
    const ordered: SourceFile[] = [];
    for (let part = 1; part <= nParts; part++) {
      const file = parts.get(part);
      if (file === undefined) return fail("missing_part", key.split(" ")[0] ?? key, `part ${part} of ${nParts} is missing`);
      ordered.push(file);
    }
    models.push(ordered);
  }
  return ok(models);
}
