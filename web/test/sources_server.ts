// A file server on loopback for the tests of downloads: it can cut an answer, forget about ranges, change the file.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface FileServer {
  url: string;
  /** One entry a request: method, Range and If-Range as they came. */
  requests: { method: string; range: string | null; ifRange: string | null }[];
  close(): Promise<void>;
}

export interface Behaviour {
  body: Uint8Array;
  etag?: string | null;
  lastModified?: string;
  ranges?: boolean;
  /** Sends without saying how much it will be. */
  isChunked?: boolean;
  /** Bytes after which the connection is cut, request by request; a request without an entry gets all. */
  cuts?: number[];
  /** Answers instead of the file, request by request. */
  statuses?: number[];
}

export function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ url: string; close: () => Promise<void> }> {
  const server: Server = createServer(handler);
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const close = (): Promise<void> =>
        new Promise((done) => {
          server.closeAllConnections();
          server.close(() => done());
        });
      resolve({ url: `http://127.0.0.1:${port}`, close });
    });
  });
}

/** Serves one file; `behaviour` may be changed between requests. */
export async function serveFile(behaviour: Behaviour): Promise<FileServer> {
  const requests: FileServer["requests"] = [];
  const server = await serve((request, response) => {
    const { body, etag = '"v1"', lastModified, ranges = true } = behaviour;
    const range = request.headers.range ?? null;
    const ifRange = request.headers["if-range"]?.toString() ?? null;
    requests.push({ method: request.method ?? "", range, ifRange });
    const status = behaviour.statuses?.shift();
    if (status !== undefined && status !== 200) {
      response.writeHead(status).end();
      return;
    }
    if (etag !== null) response.setHeader("ETag", etag);
    if (lastModified !== undefined) response.setHeader("Last-Modified", lastModified);
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    const isPartial = ranges && range !== null && (ifRange === null || ifRange === etag || ifRange === lastModified);
    if (isPartial && start >= body.length) {
      response.writeHead(416, { "Content-Range": `bytes */${body.length}` }).end();
      return;
    }
    const part = isPartial ? body.subarray(start) : body;
    response.writeHead(isPartial ? 206 : 200, { ...(behaviour.isChunked === true ? {} : { "Content-Length": part.length }), ...(isPartial ? { "Content-Range": `bytes ${start}-${body.length - 1}/${body.length}` } : {}) });
    const cut = behaviour.cuts?.shift();
    if (cut === undefined || cut >= part.length) response.end(part);
    else response.write(part.subarray(0, cut), () => setImmediate(() => response.destroy()));
  });
  return { url: `${server.url}/models/tiny%20model.gguf`, requests, close: server.close };
}
