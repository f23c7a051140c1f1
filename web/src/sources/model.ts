// A model by its address: one file, or all parts of a split one by the address of any of them.
//
// In: an address and what is known of the model. Out: its files in the cache, checked; or the first that is missing or wrong.
// One download is download.ts.

import { fail, ok, type Result } from "../result.ts";
import { download, type Downloaded, type DownloadOptions, type DownloadRequest, type Progress } from "./download.ts";
import { hubFileUrl, parseHubUrl, pinHubUrl, type PinnedFile } from "./hub.ts";
import { joined, modelSha256, partUrls, type SourceFailure, type SourceFile } from "./source_file.ts";

export interface PinnedModel extends PinnedFile {
  /** Each file's own; one for a model that is not split. */
  parts: PinnedFile[];
}

export interface ModelRequest extends Pick<DownloadRequest, "url" | "n_bytes" | "sha256"> {
  /** What is known of each file. */
  parts?: readonly Pick<PinnedFile, "n_bytes" | "sha256">[];
}

/** `pinHubUrl` for a model: every part of the same commit. Rejects with the signal's reason on abort. */
export async function pinModelUrl(url: string, options: { signal?: AbortSignal; hosts?: readonly string[] } = {}): Promise<Result<PinnedModel, SourceFailure>> {
  const file = parseHubUrl(url, options.hosts);
  const first = await pinHubUrl(partUrls(file === null ? url : hubFileUrl(file))[0], options);
  if (!first.ok) return first;
  const parts = [first.value];
  for (const other of partUrls(first.value.url).slice(1)) {
    // Elsewhere nothing is known beforehand, and nobody is asked.
    const part: Result<PinnedFile, SourceFailure> = first.value.revision === null ? ok({ ...first.value, url: other }) : await pinHubUrl(other, options);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  const sizes = parts.flatMap((part) => part.n_bytes ?? []);
  const hashes = parts.flatMap((part) => part.sha256 ?? []);
  return ok({
    ...first.value,
    n_bytes: sizes.length === parts.length ? sizes.reduce((sum, size) => sum + size, 0) : null,
    sha256: hashes.length === parts.length ? modelSha256(hashes) : null,
    parts,
  });
}

/** All files of a model, one after another; from the cache where they are there whole. */
export async function downloadModel(request: ModelRequest, options: DownloadOptions): Promise<Result<Downloaded, SourceFailure>> {
  const urls = partUrls(request.url);
  if (urls.length === 1) return download(request, options);
  for (;;) {
    const parts = await downloadParts(urls, request, options);
    if (!parts.ok) return parts;
    const [first, ...more] = parts.value;
    const model = joined([first, ...more]);
    const hash = modelSha256(parts.value.map((part) => part.sha256));
    const wrong = problemOf(request, hash, model.size);
    const isAllCached = parts.value.every((part) => part.origin === "cache");
    if (wrong === null) {
      const why_memory = parts.value.map((part) => part.why_memory).find((why) => why !== null) ?? null;
      return ok({ ...model, sha256: hash, origin: isAllCached ? "cache" : "network", stored: why_memory === null ? first.stored : "memory", why_memory });
    }
    for (const url of urls) await options.cache.remove(url);
    // Kept parts may be older than the model that is asked for: the network has a say, once.
    if (parts.value.every((part) => part.origin === "network")) return fail("hash", request.url, wrong);
  }
}

type Parts = [Downloaded, ...Downloaded[]];

async function downloadParts(urls: readonly [string, ...string[]], request: ModelRequest, options: DownloadOptions): Promise<Result<Parts, SourceFailure>> {
  let before = { n_bytes: 0, n_bytes_resumed: 0 };
  const get = async (url: string, i: number): Promise<Result<Downloaded, SourceFailure>> => {
    const { n_bytes, n_bytes_resumed } = before;
    const { onProgress } = options;
    const tell = (part: Progress): void => {
      const n_bytes_done = n_bytes + part.n_bytes_done;
      const n_bytes_total = request.n_bytes ?? null;
      const eta_ms = n_bytes_total !== null && part.bytes_per_second > 0 ? (Math.max(0, n_bytes_total - n_bytes_done) * 1000) / part.bytes_per_second : null;
      onProgress?.({ ...part, n_bytes_done, n_bytes_total, n_bytes_resumed: n_bytes_resumed + part.n_bytes_resumed, eta_ms });
    };
    const known = request.parts?.[i];
    const part = await download({ url, n_bytes: known?.n_bytes ?? null, sha256: known?.sha256 ?? null }, { ...options, ...(onProgress === undefined ? {} : { onProgress: tell }) });
    if (part.ok) before = { n_bytes: n_bytes + part.value.size, n_bytes_resumed: n_bytes_resumed + (part.value.origin === "cache" ? part.value.size : 0) };
    return part;
  };
  const [firstUrl, ...otherUrls] = urls;
  const first = await get(firstUrl, 0);
  if (!first.ok) return first;
  const parts: Parts = [first.value];
  for (const [i, url] of otherUrls.entries()) {
    const part = await get(url, i + 1);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  return ok(parts);
}

/** Which part is another one cannot be told from one hash over all. */
function problemOf(request: ModelRequest, hash: string, nBytes: number): string | null {
  if (request.sha256 != null && hash !== request.sha256) return `the parts together have sha256 ${hash}, expected ${request.sha256}`;
  return request.n_bytes != null && nBytes !== request.n_bytes ? `the parts together have ${nBytes} bytes, expected ${request.n_bytes}` : null;
}

/** The same file with the hashes of its parts. */
export function withHashes(file: SourceFile, hashes: readonly string[]): SourceFile {
  const { parts } = file;
  if (parts === undefined) return { ...file, sha256: hashes[0] ?? null };
  return { ...file, sha256: modelSha256(hashes), parts: parts.map((part, i) => ({ ...part, sha256: hashes[i] ?? null })) };
}
