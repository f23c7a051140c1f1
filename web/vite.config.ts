// The build: the page, and the module that other pages embed. Relative addresses, so that the site works from any sub-path.

import { defineConfig } from "vitest/config";
import { moduleTypes } from "./vite-module-types.ts";
import { serviceWorkerManifest } from "./vite-sw-manifest.ts";

/** What makes shared memory possible; hosts that set no headers get the same from the service worker. */
const ISOLATION = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

export default defineConfig({
  base: "./",
  publicDir: "../static",
  plugins: [moduleTypes(), serviceWorkerManifest()],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  worker: { format: "es" },
  server: { headers: ISOLATION },
  preview: { headers: ISOLATION },
  build: {
    target: "es2022",
    // The engine's wasm is a file of its own, never a data address.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { index: "index.html", evaltab: "src/embed/evaltab.ts" },
      preserveEntrySignatures: "exports-only",
      output: { entryFileNames: (chunk) => (chunk.name === "evaltab" ? "evaltab.js" : "assets/[name]-[hash].js") },
    },
  },
  test: { include: ["test/**/*.test.ts"] },
});
