// SHA-256 of a file that may be larger than memory, beside the engine and not in its way.
//
// In: a blob. Out: its hash as hexadecimal digits.

import { loadModule } from "./module.ts";
import type { CallsOf, HashCalls } from "./protocol.ts";

/** Bytes read at once. */
const PIECE = 8_388_608;

export async function hashCalls(): Promise<CallsOf<HashCalls>> {
  const { Sha256 } = (await loadModule(1)).module;
  return {
    async sha256(file) {
      const hash = new Sha256();
      for (let at = 0; at < file.size; at += PIECE) hash.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()));
      return hash.finish();
    },
  };
}
