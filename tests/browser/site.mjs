// The built site on a plain static host: a loopback server that sets no headers, in a sub-path, and misbehaves when it is told to.
//
// In: web/dist and folders or files to add. Out: an address; what was asked for; ways to cut an answer, to be gone, to serve
// another build.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { path } from "./harness.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** Closed with the test. `files` are more files by their path below the site, such as {"models/m.gguf": "/…/m.gguf"}. */
export async function staticSite(t, files = {}) {
  const site = {
    root: path("web/dist"),
    files,
    /** Path and Range of every request. */
    requests: [],
    /** Nobody answers any more. */
    isDown: false,
    /** Bytes after which the next answer for a path is cut: {"models/m.gguf": 5_000_000}. */
    cuts: {},
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const name = normalize(decodeURIComponent(url.pathname)).replace(/^\/course\/llm\//, "");
    const range = request.headers.range ?? null;
    site.requests.push({ path: name, range });
    if (site.isDown) return void request.socket.destroy();
    if (!url.pathname.startsWith("/course/llm/")) return void response.writeHead(404).end();
    const file = site.files[name] ?? join(site.root, name === "" || name.endsWith("/") ? `${name}index.html` : name);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return void response.writeHead(404).end();
    const start = Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1] ?? 0);
    const headers = { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Length": size - start, ETag: `"${size}-${statSync(file).mtimeMs}"` };
    response.writeHead(range === null ? 200 : 206, range === null ? headers : { ...headers, "Content-Range": `bytes ${start}-${size - 1}/${size}` });
    const cut = site.cuts[name];
    delete site.cuts[name];
    // A while, so that what was sent arrives before the connection ends.
    if (cut === undefined) createReadStream(file, { start }).pipe(response);
    else createReadStream(file, { start, end: start + cut - 1 }).on("end", () => setTimeout(() => response.destroy(), 200)).pipe(response, { end: false });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(site, { address: `http://127.0.0.1:${server.address().port}/course/llm/` });
}
