// Registers the page's service worker: shared memory on hosts without headers, offline use, updates.
//
// In: the worker's address. Out: whether the page is isolated, and why not; whether it works offline; that an update waits.
// What the worker does with requests is in static/sw.js; what is said to people is left to the views.

export type Isolation =
  | { isolated: true }
  | {
      isolated: false;
      reason:
        /** http on a host that is not this machine. */
        | "insecure_context"
        /** The browser has none, or a private window hides it. */
        | "no_service_worker"
        /** Inside another page, which would have to be isolated too. */
        | "embedded"
        /** The worker's script could not be loaded. */
        | "registration_failed"
        /** Reloaded once, and no better: never again in this tab. */
        | "reload_did_not_help";
    };

/** Set before the one reload and cleared once isolated: lives as long as the tab. */
const RELOADED = "evaltab-reloaded-for-isolation";

let registered: ServiceWorkerRegistration | null = null;

/** Isolates the page if that is possible, by one reload at most. Does not resolve where the page is about to reload. */
export async function isolate(scriptUrl: string): Promise<Isolation> {
  const isolated = globalThis.crossOriginIsolated;
  if (isolated) forget(RELOADED);
  if (!globalThis.isSecureContext) return { isolated: false, reason: "insecure_context" };
  if (!("serviceWorker" in navigator)) return isolated ? { isolated } : { isolated: false, reason: "no_service_worker" };
  try {
    // "none": the host's caching rules do not keep an update away.
    registered = await navigator.serviceWorker.register(scriptUrl, { updateViaCache: "none" });
  } catch {
    return isolated ? { isolated } : { isolated: false, reason: "registration_failed" };
  }
  if (isolated) return { isolated };
  if (window.top !== window) return { isolated: false, reason: "embedded" };
  if (!remember(RELOADED)) return { isolated: false, reason: "reload_did_not_help" };
  await navigator.serviceWorker.ready;
  location.reload();
  return new Promise(() => undefined);
}

/** True the first time in this tab. Where the tab has no memory, never: an endless reload is worse than one thread. */
function remember(key: string): boolean {
  try {
    if (sessionStorage.getItem(key) !== null) return false;
    sessionStorage.setItem(key, "1");
    return true;
  } catch {
    return false;
  }
}

function forget(key: string): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was remembered either.
  }
}

/** Stores the page for offline use; call it when the page is idle. Resolves to whether it now works without network. */
export async function fillOfflineCache(): Promise<boolean> {
  if (registered === null) return false;
  const { active } = await navigator.serviceWorker.ready;
  if (active === null) return false;
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<{ is_offline_ready: boolean }>) => {
      port1.close();
      resolve(data.is_offline_ready);
    };
    active.postMessage("fill", [port2]);
  });
}

/** Calls back with the bytes that have left the page in requests so far, at once with 0; never where nobody can count them. */
export function onSent(callback: (nBytes: number) => void): void {
  if (!("serviceWorker" in navigator) || navigator.serviceWorker.controller === null) return;
  let nBytes = 0;
  navigator.serviceWorker.addEventListener("message", ({ data }: MessageEvent<{ n_bytes_sent: number }>) => {
    nBytes += data.n_bytes_sent;
    callback(nBytes);
  });
  callback(nBytes);
}

/** Calls back once a new version is stored and waits; the page goes on with its own until `applyUpdate`. */
export function onUpdate(callback: () => void): void {
  const registration = registered;
  if (registration === null) return;
  if (registration.waiting !== null) callback();
  registration.addEventListener("updatefound", () => {
    const { installing } = registration;
    installing?.addEventListener("statechange", () => {
      if (installing.state === "installed" && registration.active !== null) callback();
    });
  });
}

/** Goes over to the new version and reloads. Not during a run: a run has one engine. */
export function applyUpdate(): void {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  registered?.waiting?.postMessage("activate");
}
