// Puts evaltab.d.ts beside evaltab.js: the types of the module that other pages import, in one file.
//
// In: src/embed/api.ts and the engine's generated types, both nothing but types. Out: one file without imports.

import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

export function moduleTypes(): Plugin {
  return {
    name: "module-types",
    apply: "build",
    async generateBundle() {
      const [api, types] = await Promise.all(["src/embed/api.ts", "src/types.ts"].map((path) => readFile(new URL(path, import.meta.url), "utf8")));
      // Both halves stand in one file now.
      this.emitFile({ type: "asset", fileName: "evaltab.d.ts", source: `${api?.replace(/^import type .*;\n/gm, "")}\n${types}` });
    },
  };
}
