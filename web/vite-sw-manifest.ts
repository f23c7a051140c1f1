// Writes the list of the page's files and their hashes into its service worker, after everything else is in dist/.
//
// In: the finished output folder, with sw.js as it stands in static/. Out: sw.js with its MANIFEST. Models are left out: they
// are large and the page caches them itself. A build with other bytes has another version, and so another worker.

import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import type { Plugin } from "vite";

const PLACE = "const MANIFEST = null;";

export function serviceWorkerManifest(): Plugin {
  let outDir = "dist";
  return {
    name: "service-worker-manifest",
    apply: "build",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir);
    },
    closeBundle: {
      order: "post",
      sequential: true,
      async handler() {
        const script = await readFile(join(outDir, "sw.js"), "utf8");
        if (!script.includes(PLACE)) throw new Error(`sw.js has no line "${PLACE}"`);
        await writeFile(join(outDir, "sw.js"), script.replace(PLACE, `const MANIFEST = ${JSON.stringify(await manifestOf(outDir))};`));
      },
    },
  };
}

/** Files of a folder with their hashes, by path; and one hash over all of it. */
async function manifestOf(folder: string): Promise<{ version: string; files: Record<string, string> }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter((path) => path !== "sw.js" && !path.startsWith("models/") && !/\.(gguf|map)$/.test(path))
    .sort();
  const files: Record<string, string> = {};
  for (const path of paths) files[path] = createHash("sha256").update(await readFile(join(folder, path))).digest("hex");
  return { version: createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16), files };
}
