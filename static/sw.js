// The page's service worker: makes a host without headers cross-origin isolated, keeps the page for offline use, updates it.
//
// In: requests of pages below this file's folder, and messages. Out: answers with the headers that shared memory needs; the
// page's own files from the cache once all of them are there; word of every byte that a page sends; no answer from a host that the
// page has not named before, as it does where a person gives an address. Models are not its business: the page caches those itself.
//
// One version at a time: the build writes the list of files and their hashes below, so each build is another worker. An
// update is stored whole, each file checked against its hash, before it may take over, and it takes over only when every
// page is closed or one asks for it and reloads. Files of the version before stay as long as a page may still use them.
//
// Source: W3C Service Workers; HTML, "cross-origin isolation"; hosts that set no headers: the same idea as coi-serviceworker.

/** {version, files: {path: sha256}}; null where nothing was built: then nothing is cached. */
const MANIFEST = null;

const SCOPE = new URL(self.registration.scope);
// Caches belong to the origin, which may hold several pages in several folders.
const PREFIX = `evaltab-shell ${SCOPE.pathname} `;
const CACHE = `${PREFIX}${MANIFEST?.version}`;
/** Stored last: a cache without it is not whole and is not used. */
const COMPLETE = "https://shell.invalid/complete";

// "credentialless" also lets through what foreign hosts have not marked; browsers of the Chromium family have it for sure.
const isChromium = (self.navigator.userAgentData?.brands ?? []).some(({ brand }) => brand === "Chromium");
const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": isChromium ? "credentialless" : "require-corp",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

self.addEventListener("install", (event) => {
  // The first worker has nothing to replace and takes over at once; the files are stored when the page is done loading
  // and asks ("fill"). A later one has to have all files before it waits for its turn.
  event.waitUntil(self.registration.active === null ? self.skipWaiting() : fill());
});

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** Origins that the page has named; it names one before each request, so that a worker that was stopped need not remember. */
const allowed = new Set([SCOPE.origin]);

self.addEventListener("message", (event) => {
  const [port] = event.ports;
  if (typeof event.data?.allow === "string") {
    allowed.add(event.data.allow);
    port?.postMessage("allowed");
    return;
  }
  switch (event.data) {
    case "activate":
      event.waitUntil(self.skipWaiting());
      break;
    case "fill":
      event.waitUntil(
        fill()
          .then(forgetOlderVersions)
          .then(
            () => port?.postMessage({ is_offline_ready: MANIFEST !== null, message: null }),
            (error) => port?.postMessage({ is_offline_ready: false, message: String(error) }),
          ),
      );
      break;
  }
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  // Only other methods have a body.
  if (!["GET", "HEAD"].includes(request.method)) event.waitUntil(tellSent(request.clone()));
  const url = new URL(request.url);
  if (/^https?:$/.test(url.protocol) && !allowed.has(url.origin)) return void event.respondWith(answerFromAfar(event));
  if (request.method !== "GET" || url.origin !== SCOPE.origin || !url.pathname.startsWith(SCOPE.pathname)) return;
  // Large, fetched in parts, kept by the page.
  if (request.headers.has("range") || url.pathname.endsWith(".gguf")) return;
  event.respondWith(answer(request, pathOf(url)));
});

/** Tells the pages how many bytes one of them, or one of their workers, is sending anywhere. The page itself never sends any. */
async function tellSent(request) {
  const { byteLength } = await request.arrayBuffer();
  for (const page of await self.clients.matchAll({ type: "window" })) page.postMessage({ n_bytes_sent: byteLength });
}

/** Other pages of the folder, such as a course's own, speak to whom they like. */
async function answerFromAfar({ clientId, request }) {
  const client = await self.clients.get(clientId);
  const isOwn = client !== undefined && pathOf(new URL(client.url)) === "index.html";
  return isOwn ? Response.error() : fetch(request);
}

/** The path below the scope, as the manifest has it: a folder is its index.html. */
function pathOf(url) {
  const path = decodeURI(url.pathname.slice(SCOPE.pathname.length));
  return path === "" || path.endsWith("/") ? `${path}index.html` : path;
}

async function answer(request, path) {
  const response = (await stored(path)) ?? (await fetch(request));
  // A worker's script needs the headers too, else a worker of an isolated page is refused.
  const needsHeaders = request.mode === "navigate" || request.destination === "worker" || request.destination === "sharedworker";
  // Status 0: a redirect that the browser follows itself; it has no headers to add to.
  if (!needsHeaders || response.status === 0) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

/** A file of this version where all of it is stored, or of an older one that a page still uses. */
async function stored(path) {
  if (MANIFEST === null) return undefined;
  const address = addressOf(path);
  if (Object.hasOwn(MANIFEST.files, path)) {
    const cache = await caches.open(CACHE);
    return (await cache.match(COMPLETE)) === undefined ? undefined : cache.match(address);
  }
  for (const name of await olderCaches()) {
    const response = await (await caches.open(name)).match(address);
    if (response !== undefined) return response;
  }
  return undefined;
}

const addressOf = (path) => new URL(encodeURI(path), SCOPE).href;

const olderCaches = async () => (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);

/** Stores what is missing of this version. Rejects where a file is not of this version, as while a host is being updated. */
async function fill() {
  if (MANIFEST === null) return;
  const cache = await caches.open(CACHE);
  if ((await cache.match(COMPLETE)) !== undefined) return;
  for (const [path, sha256] of Object.entries(MANIFEST.files)) {
    const address = addressOf(path);
    if ((await cache.match(address)) !== undefined) continue;
    const response = await fetch(address, { cache: "no-cache" });
    if (!response.ok) throw new Error(`${path}: the server answered ${response.status}`);
    const bytes = await response.arrayBuffer();
    if ((await hexSha256(bytes)) !== sha256) throw new Error(`${path}: not of this version`);
    // A response of our own: one that was redirected may not answer a navigation.
    await cache.put(address, new Response(bytes, { headers: { "Content-Type": response.headers.get("content-type") ?? "application/octet-stream" } }));
  }
  await cache.put(COMPLETE, new Response("complete"));
}

async function hexSha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A page asks for "fill" when it starts; where it is the only one, no page of an older version is left. */
async function forgetOlderVersions() {
  if (MANIFEST === null) return;
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (pages.filter(({ url }) => url.startsWith(SCOPE.href)).length > 1) return;
  for (const name of await olderCaches()) await caches.delete(name);
}
