// A run link as text: `#run=1.<base64url(deflate-raw(JSON))>` in the address's fragment, or the same JSON as a file.
//
// In: `RunLink`, or a fragment or file from anybody. Out: text, or a `RunLink` that is checked down to the last field, or
// why not. A fragment is never sent to a server. Grammar and limits: GRAMMAR.md. Deflate: RFC 1951.

import { deflateSync, Inflate } from "fflate";
import { fail, ok, type Failure, type Result } from "../result.ts";
import { fromBase64Url, toBase64Url } from "./bytes.ts";
import { LINK_VERSION, RUN_LINK, type RunLink } from "./link.ts";
import { parse } from "./shape.ts";

export type LinkErrorKind =
  /** The fragment is not a run link at all. */
  | "not_a_link"
  /** Written by a version of the grammar that this page does not know. */
  | "version"
  /** Longer than any link or file that this page writes. */
  | "too_long"
  /** Not base64url: cut off or changed on its way. */
  | "base64"
  /** Not a whole deflate stream. */
  | "deflate"
  /** Inflates to more than any link holds. */
  | "bomb"
  /** Not JSON. */
  | "json"
  /** JSON that is not a run: a missing or unknown field, a value out of range, counts that contradict each other. */
  | "shape";
export type LinkFailure = Failure<LinkErrorKind>;

/** Above this a link is too long for mail and chat programs; a file takes over. */
export const MAX_FRAGMENT_LENGTH = 32_768;
/** A fragment of the length above holds some 24 kB of deflate data; text of a task packs 3 to 10 times. */
const MAX_INFLATED_BYTES = 1_048_576;
/** A file may carry the rows. */
export const MAX_FILE_BYTES = 16_777_216;

const PREFIX = "run=";

/** What to hand out: a fragment with its "#", or a file where the fragment would be too long. */
export type Encoded = { kind: "link"; fragment: string } | { kind: "file"; name: string; text: string };

/** The link of a run; a file above 32 kB. */
export function encodeRun(run: RunLink): Encoded {
  const text = JSON.stringify(run);
  const packed = deflateSync(new TextEncoder().encode(text), { level: 9 });
  const fragment = `#${PREFIX}${LINK_VERSION}.${toBase64Url(packed)}`;
  return fragment.length <= MAX_FRAGMENT_LENGTH ? { kind: "link", fragment } : { kind: "file", name: fileName(run), text: fileText(run) };
}

const fileName = (run: RunLink): string => `${run.model.name.replace(/\.gguf$/i, "")}-${run.data.name.replace(/\.\w+$/, "")}.evaltab.json`.replace(/[^\w.-]+/g, "_");

/** The same run as a file, for people to read too. */
export const fileText = (run: RunLink): string => `${JSON.stringify(run, null, 1)}\n`;

/** Is there a run link in this fragment? (It may still be refused.) */
export const isRunFragment = (fragment: string): boolean => fragment.replace(/^#/, "").startsWith(PREFIX);

/** The run of a fragment (`location.hash`), or a calm refusal. */
export function decodeRun(fragment: string): Result<RunLink, LinkFailure> {
  if (!isRunFragment(fragment)) return fail("not_a_link", null, "the address has no run link");
  if (fragment.length > MAX_FRAGMENT_LENGTH) return fail("too_long", null, `the link has ${fragment.length} characters, at most ${MAX_FRAGMENT_LENGTH} are read`);
  const match = /^#?run=([0-9A-Za-z]{1,8})\.(.*)$/s.exec(fragment.trim());
  const version = match?.[1];
  const payload = match?.[2];
  if (version === undefined || payload === undefined) return fail("not_a_link", null, "the link has no version and payload");
  if (version !== String(LINK_VERSION)) return fail("version", null, `the link has version ${version}, this page reads version ${LINK_VERSION}`);
  const packed = fromBase64Url(payload);
  if (packed === null || packed.length === 0) return fail("base64", null, "the link was cut off or changed: it is not base64url");
  const inflated = inflateBounded(packed, MAX_INFLATED_BYTES);
  return inflated.ok ? decodeJson(inflated.value) : inflated;
}

/** The run of a file that `encodeRun` or `fileText` wrote. */
export function decodeRunFile(bytes: Uint8Array): Result<RunLink, LinkFailure> {
  if (bytes.length > MAX_FILE_BYTES) return fail("too_long", null, `the file has ${bytes.length} bytes, at most ${MAX_FILE_BYTES} are read`);
  return decodeJson(bytes);
}

function decodeJson(bytes: Uint8Array): Result<RunLink, LinkFailure> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    return fail("json", null, `not JSON in UTF-8: ${error instanceof Error ? error.message : String(error)}`);
  }
  return parse(RUN_LINK, value);
}

/** Inflates piece by piece and stops at the limit: a kilobyte of deflate data becomes at most a megabyte, so little is ever wasted. */
export function inflateBounded(packed: Uint8Array, maxBytes: number): Result<Uint8Array, Failure<"deflate" | "bomb">> {
  const pieces: Uint8Array[] = [];
  let nBytes = 0;
  let isWhole = false;
  const inflate = new Inflate((piece, final) => {
    pieces.push(piece);
    nBytes += piece.length;
    isWhole = final;
  });
  try {
    for (let start = 0; start < packed.length; start += 1024) {
      inflate.push(packed.subarray(start, start + 1024), start + 1024 >= packed.length);
      if (nBytes > maxBytes) return fail("bomb", null, `the data inflate to more than ${maxBytes} bytes`);
    }
  } catch (error) {
    return fail("deflate", null, `the data were cut off or changed: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isWhole) return fail("deflate", null, "the data were cut off");
  const whole = new Uint8Array(nBytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return ok(whole);
}
