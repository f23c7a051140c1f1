// A value, or what is wrong and where: errors are values in this project, and an abort is not an error.
//
// `Failure` has the shape of the engine's `EvalError` {kind, place, message}; each module names its own kinds.

export type Result<T, E> = { ok: true; value: T } | { ok: false; error: E };

export interface Failure<Kind extends string> {
  /** What to branch on. */
  kind: Kind;
  /** Where: a field, a line, an address; null where the message says it all. */
  place: string | null;
  /** One sentence for a person: lower case, no full stop, with the numbers and names that matter. */
  message: string;
}

export const ok = <T>(value: T): { ok: true; value: T } => ({ ok: true, value });

export const fail = <Kind extends string>(kind: Kind, place: string | null, message: string): { ok: false; error: Failure<Kind> } => ({
  ok: false,
  error: { kind, place, message },
});
