// Waiting for the state.

import { effect } from "@preact/signals";

/** Resolves once a condition on signals holds, or after `atMostMs`. */
export function until(holds: () => boolean, atMostMs?: number): Promise<void> {
  return new Promise((resolve) => {
    let isOver = false;
    const end = (): void => {
      isOver = true;
      clearTimeout(timer);
      // An effect cannot be disposed of in its own first turn.
      queueMicrotask(() => stop());
      resolve();
    };
    const timer = atMostMs === undefined ? undefined : setTimeout(end, atMostMs);
    const stop = effect(() => {
      if (!isOver && holds()) end();
    });
  });
}
