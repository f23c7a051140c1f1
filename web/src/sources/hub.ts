// Hugging Face addresses: files of a repository pinned to a commit, rows of a data set.
//
// In: an address as a person copies it. Out: the address of exactly one version of the file, with size and hash where the
// hub tells them; or that it is a rows API's. The download itself is download.ts, the rows are rows.ts.
//
// Source: the hub's API (huggingface.co/docs/hub/api) and data set viewer (huggingface.co/docs/dataset-viewer).

import { fail, ok, type Result } from "../result.ts";
import { fetchGiven } from "./fetch_given.ts";
import type { SourceFailure } from "./source_file.ts";

export interface HubFile {
  /** Scheme and host, such as "https://huggingface.co". */
  base: string;
  kind: "models" | "datasets" | "spaces";
  /** "owner/name" (old data sets: "name"). */
  repository: string;
  /** Branch, tag or commit. */
  revision: string;
  /** Path in the repository, not percent-encoded. */
  path: string;
}

export interface PinnedFile {
  url: string;
  /** The commit; null for an address that is not the hub's. */
  revision: string | null;
  n_bytes: number | null;
  sha256: string | null;
}

const COMMIT = /^[0-9a-f]{40}$/;
const HUB_HOSTS = ["huggingface.co", "hf.co", "www.huggingface.co"];

/** A file's address taken apart; null where it is not one. Pages that show a file ("blob") and raw files count too. */
export function parseHubUrl(url: string, hosts: readonly string[] = HUB_HOSTS): HubFile | null {
  if (!URL.canParse(url)) return null;
  const { origin, host, pathname } = new URL(url);
  if (!hosts.includes(host)) return null;
  const match = /^\/(?:(datasets|spaces)\/)?([\w.-]+(?:\/[\w.-]+)?)\/(?:resolve|blob|raw)\/([^/]+)\/(.+)$/.exec(pathname);
  if (match === null) return null;
  const [, kind = "models", repository = "", revision = "", path = ""] = match;
  try {
    return { base: HUB_HOSTS.includes(host) ? "https://huggingface.co" : origin, kind: kind as HubFile["kind"], repository, revision: decodeURIComponent(revision), path: decodeURIComponent(path) };
  } catch {
    // A stray "%" is no address of the hub.
    return null;
  }
}

/** The address that gives the bytes. */
export function hubFileUrl({ base, kind, repository, revision, path }: HubFile): string {
  const prefix = kind === "models" ? "" : `${kind}/`;
  return `${base}/${prefix}${repository}/resolve/${encodeURIComponent(revision)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** An address whose bytes never change. */
export const isPinnedHubUrl = (url: string): boolean => COMMIT.test(parseHubUrl(url)?.revision ?? "");

/**
 * The address of exactly this version of a file: a branch becomes the commit it stands at. Addresses elsewhere come back as
 * they are. Rejects with the signal's reason on abort.
 */
export async function pinHubUrl(url: string, options: { signal?: AbortSignal; hosts?: readonly string[] } = {}): Promise<Result<PinnedFile, SourceFailure>> {
  const file = parseHubUrl(url, options.hosts);
  if (file === null) return ok({ url, revision: null, n_bytes: null, sha256: null });
  const signal = options.signal ?? null;
  // The API tells commit, size and hash in one answer. A file's own answer tells the commit in x-repo-commit, but large files
  // are redirected to another host whose answer, the one a page sees, lacks it.
  const api = `${file.base}/api/${file.kind}/${file.repository}/revision/${encodeURIComponent(file.revision)}?blobs=true`;
  try {
    const answer = await fetchGiven(api, { signal, credentials: "omit" });
    if (answer.ok) {
      const known = fileInAnswer(await answer.json(), file.path);
      if (known !== null) return ok({ url: hubFileUrl({ ...file, revision: known.commit }), revision: known.commit, n_bytes: known.n_bytes, sha256: known.sha256 });
    }
    const head = await fetchGiven(hubFileUrl(file), { method: "HEAD", signal, credentials: "omit" });
    if (!head.ok) return fail("http", url, `the server answered ${head.status} ${head.statusText}`.trim());
    const commit = head.headers.get("x-repo-commit");
    if (commit !== null && COMMIT.test(commit)) return ok({ url: hubFileUrl({ ...file, revision: commit }), revision: commit, n_bytes: null, sha256: null });
    return ok({ url: hubFileUrl(file), revision: COMMIT.test(file.revision) ? file.revision : null, n_bytes: null, sha256: null });
  } catch (error) {
    options.signal?.throwIfAborted();
    return fail("network", url, error instanceof Error ? error.message : String(error));
  }
}

interface KnownFile {
  commit: string;
  n_bytes: number | null;
  sha256: string | null;
}

/** The file in the API's answer {sha, siblings: [{rfilename, size, lfs: {sha256, size}}]}; null where it says nothing of use. */
function fileInAnswer(answer: unknown, path: string): KnownFile | null {
  const commit = field(answer, "sha");
  if (typeof commit !== "string" || !COMMIT.test(commit)) return null;
  const siblings = field(answer, "siblings");
  const file: unknown = Array.isArray(siblings) ? siblings.find((sibling) => field(sibling, "rfilename") === path) : undefined;
  const lfs = field(file, "lfs");
  const size = field(lfs, "size") ?? field(file, "size");
  const hash = field(lfs, "sha256");
  return { commit, n_bytes: typeof size === "number" && Number.isSafeInteger(size) ? size : null, sha256: typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? hash : null };
}

const field = (value: unknown, name: string): unknown => (typeof value === "object" && value !== null ? new Map<string, unknown>(Object.entries(value)).get(name) : undefined);

/** Is this the address of a rows API: path "/rows" with `dataset`, `config` and `split`? */
export function isRowsApiUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { pathname, searchParams } = new URL(url);
  return pathname === "/rows" && ["dataset", "config", "split"].every((name) => searchParams.has(name));
}
