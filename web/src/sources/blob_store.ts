// Named blobs in folders, kept by the browser: in its private file system, else its Cache API, else in memory.
//
// In: (folder, name, bytes). Out: blobs that the browser reads from disk when they are read. A `put` is all or nothing, in
// each of the three: after a crash a blob is there whole or not at all. What the blobs mean is left to cache.ts.

export type StoreKind = "opfs" | "cache_api" | "memory";

export interface BlobStore {
  readonly kind: StoreKind;
  /** Rejects with a `QuotaExceededError` where the browser grants no more space. */
  put(folder: string, name: string, data: Blob): Promise<void>;
  get(folder: string, name: string): Promise<Blob | null>;
  folders(): Promise<string[]>;
  remove(folder: string): Promise<void>;
}

/** The best store that works here; it is tried, not only looked for: private windows offer stores that refuse. */
export async function openBlobStore(): Promise<BlobStore> {
  for (const open of [openOpfs, openCacheApi]) {
    try {
      const store = await open();
      await store.put("probe", "probe", new Blob(["1"]));
      await store.remove("probe");
      return store;
    } catch {
      // This store does not work here: the next one, and the last one always does.
    }
  }
  return memoryStore();
}

const ROOT = "evaltab";

async function openOpfs(): Promise<BlobStore> {
  // Looked up each time: a person may clear the site's data while the page is open.
  const rootDirectory = async (): Promise<FileSystemDirectoryHandle> => (await navigator.storage.getDirectory()).getDirectoryHandle(ROOT, { create: true });
  const isMissing = (error: unknown): boolean => error instanceof DOMException && error.name === "NotFoundError";
  return {
    kind: "opfs",
    async put(folder, name, data) {
      const directory = await (await rootDirectory()).getDirectoryHandle(folder, { create: true });
      const file = await directory.getFileHandle(name, { create: true });
      // Writes go to a copy that takes the file's place on close.
      const writable = await file.createWritable();
      try {
        await writable.write(data);
        await writable.close();
      } catch (error) {
        // The file was created empty above and would pass for a blob of no bytes.
        await writable.abort().catch(() => undefined);
        await directory.removeEntry(name).catch(() => undefined);
        throw error;
      }
    },
    async get(folder, name) {
      try {
        const directory = await (await rootDirectory()).getDirectoryHandle(folder);
        const file = await (await directory.getFileHandle(name)).getFile();
        return file.size > 0 ? file : null;
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    async folders() {
      const names: string[] = [];
      for await (const [name, handle] of (await rootDirectory()).entries()) if (handle.kind === "directory") names.push(name);
      return names.sort();
    },
    async remove(folder) {
      try {
        await (await rootDirectory()).removeEntry(folder, { recursive: true });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

async function openCacheApi(): Promise<BlobStore> {
  const cache = await caches.open(`${ROOT}-files`);
  // A cache's keys are addresses, here of this origin and of nothing that it serves; nobody but this store looks into this cache.
  const address = (folder: string, name: string): string => `/${folder}/${name}`;
  const keys = async (): Promise<[folder: string, Request][]> =>
    (await cache.keys()).map((request) => [new URL(request.url).pathname.split("/")[1] ?? "", request]);
  return {
    kind: "cache_api",
    put: (folder, name, data) => cache.put(address(folder, name), new Response(data)),
    get: async (folder, name) => (await (await cache.match(address(folder, name)))?.blob()) ?? null,
    folders: async () => [...new Set((await keys()).map(([folder]) => folder))].sort(),
    async remove(folder) {
      for (const [name, request] of await keys()) if (name === folder) await cache.delete(request);
    },
  };
}

/** Blobs for as long as the page lives. */
export function memoryStore(): BlobStore {
  const folders = new Map<string, Map<string, Blob>>();
  return {
    kind: "memory",
    put(folder, name, data) {
      const blobs = folders.get(folder) ?? new Map<string, Blob>();
      folders.set(folder, blobs.set(name, data));
      return Promise.resolve();
    },
    get: (folder, name) => Promise.resolve(folders.get(folder)?.get(name) ?? null),
    folders: () => Promise.resolve([...folders.keys()].sort()),
    remove(folder) {
      folders.delete(folder);
      return Promise.resolve();
    },
  };
}
