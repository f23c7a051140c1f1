// Work that waits for its turn: a new report changes every chart at once, and one task for all of them would hold the page.
//
// In: pieces of work, at most one per owner. Out: each done in a task of its own, in the order in which the owners came.

const waiting = new Map<object, () => void>();

/** Does the work later; an owner's earlier work that still waits is forgotten. */
export function inTurn(owner: object, work: () => void): void {
  if (waiting.size === 0) setTimeout(turn);
  waiting.set(owner, work);
}

/** Forgets an owner's work. */
export const giveUp = (owner: object): void => void waiting.delete(owner);

function turn(): void {
  for (const [owner, work] of waiting) {
    waiting.delete(owner);
    if (waiting.size > 0) setTimeout(turn);
    work();
    return;
  }
}
