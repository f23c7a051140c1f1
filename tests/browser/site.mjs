// The built site on a plain static host: a loopback server that sets no headers, in a sub-path, and misbehaves when it is told to.
//
// In: web/dist and folders or files to add. Out: an address; what was asked for and sent; ways to cut an answer, to be slow, to
// be gone, to serve another build, to let other origins read.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { Transform } from "node:stream";
import { path } from "./harness.mjs";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** Closed with the test. `files` are more files by their path below the site, such as {"models/m.gguf": "/…/m.gguf"}. */
export async function staticSite(t, files = {}) {
  const site = {
    root: path("web/dist"),
    files,
    /** Method, path and Range of every request. */
    requests: [],
    /** Nobody answers any more. */
    isDown: false,
    /** Other origins may read, and see no header but the few that browsers always show. */
    isShared: false,
    /** Tells when a file was changed. */
    hasDates: false,
    /** Answers by path that are no file: a function of the address to anything that is JSON. */
    answers: {},
    /** Bytes after which the next answer for a path is cut: {"models/m.gguf": 5_000_000}. */
    cuts: {},
    /** Bytes a second for a path. */
    speeds: {},
    /** Bytes of bodies that were sent, by path. */
    nSent: {},
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    const name = normalize(decodeURIComponent(url.pathname)).replace(/^\/course\/llm\//, "");
    const range = request.headers.range ?? null;
    site.requests.push({ method: request.method, path: name, range });
    if (site.isDown) return void request.socket.destroy();
    if (site.isShared) response.setHeader("Access-Control-Allow-Origin", "*");
    const answer = site.answers[url.pathname];
    if (answer !== undefined) return void response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer(url)));
    if (!url.pathname.startsWith("/course/llm/")) return void response.writeHead(404).end();
    const file = site.files[name] ?? join(site.root, name === "" || name.endsWith("/") ? `${name}index.html` : name);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return void response.writeHead(404).end();
    const [, from = "0", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? [];
    const [start, end] = [Number(from), to === "" ? size : Number(to) + 1];
    if (start >= size && range !== null) return void response.writeHead(416, { "Content-Range": `bytes */${size}` }).end();
    const headers = { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream", "Content-Length": end - start, ETag: `"${size}-${statSync(file).mtimeMs}"` };
    if (site.hasDates) response.setHeader("Last-Modified", statSync(file).mtime.toUTCString());
    response.writeHead(range === null ? 200 : 206, range === null ? headers : { ...headers, "Content-Range": `bytes ${start}-${end - 1}/${size}` });
    if (request.method === "HEAD") return void response.end();
    const cut = site.cuts[name];
    delete site.cuts[name];
    const count = new Transform({
      transform(chunk, _, done) {
        site.nSent[name] = (site.nSent[name] ?? 0) + chunk.length;
        const speed = site.speeds[name];
        setTimeout(done, speed === undefined ? 0 : (1000 * chunk.length) / speed, null, chunk);
      },
    });
    // Small pieces, so that a slow answer comes little by little.
    const read = (last) => createReadStream(file, { start, end: last - 1, highWaterMark: 8192 });
    if (size === 0) response.end();
    // A while, so that what was sent arrives before the connection ends.
    else if (cut === undefined) read(end).pipe(count).pipe(response);
    else read(start + cut).pipe(count).on("end", () => setTimeout(() => response.destroy(), 200)).pipe(response, { end: false });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(site, { address: `http://127.0.0.1:${server.address().port}/course/llm/` });
}
