// The list of models that a page offers: models.json beside it, made to be edited by hand.
//
// In: the file's JSON. Out: entries, or what is wrong and in which. Fetching, and whether a model runs, are left to others.

import { isSourceUrl } from "../share/link.ts";
import { checked, integer, list, matching, nullable, parse, record, text, withDefault, type Shape, type ShapeFailure } from "../share/shape.ts";
import type { Result } from "../result.ts";

export interface CatalogEntry {
  name: string;
  /** Relative to the page, or absolute. */
  url: string;
  /** Null where nobody has looked. */
  n_bytes: number | null;
  sha256: string | null;
  /** SPDX identifier; null where it is not known for sure. */
  license: string | null;
  /** One line for the person who chooses. */
  note: string | null;
}

const ENTRY: Shape<CatalogEntry> = record<CatalogEntry>({
  name: text(200),
  url: checked(text(2048), (url) => (isSourceUrl(url) ? null : `${JSON.stringify(url)} is not an address that this page fetches`)),
  n_bytes: withDefault(nullable(integer(1)), null),
  sha256: withDefault(nullable(matching(/^[0-9a-f]{64}$/, 64, "64 hexadecimal digits")), null),
  license: withDefault(nullable(text(100)), null),
  note: withDefault(nullable(text(500)), null),
});

const CATALOG: Shape<{ models: CatalogEntry[] }> = record<{ models: CatalogEntry[] }>({ models: list(ENTRY, 200) });

/** The entries of models.json; the first is the page's default. */
export function parseCatalog(json: unknown): Result<CatalogEntry[], ShapeFailure> {
  const catalog = parse(CATALOG, json);
  return catalog.ok ? { ok: true, value: catalog.value.models } : catalog;
}
