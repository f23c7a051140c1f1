// Requests to addresses that a person gave: typed, chosen from the list, or of a link that was asked to run.
//
// In: what `fetch` takes. Out: what it gives. The page's service worker lets no other request of the page go to another host;
// each of these is told to it first, because it may have been stopped since the last one and remembers nothing.

/** Where the worker does not answer, the request is made all the same and the worker decides. Milliseconds. */
const PATIENCE_MS = 2000;

export async function fetchGiven(url: string, init: RequestInit): Promise<Response> {
  const worker = globalThis.navigator?.serviceWorker?.controller;
  const { origin } = new URL(url);
  if (worker != null && origin !== location.origin) {
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      setTimeout(resolve, PATIENCE_MS);
      worker.postMessage({ allow: origin }, [port2]);
    });
    port1.close();
  }
  return fetch(url, init);
}
