// Shapes: what foreign JSON has to look like, checked field by field while it is copied into a fresh object.
//
// In: any value that `JSON.parse` gave. Out: a value of the shape's type, or the first thing that is wrong and its path.
// Only own, named fields are read and none but these are allowed, so a key such as "__proto__" is an unknown field, nothing more.

import { fail, ok, type Failure, type Result } from "../result.ts";

/** Thrown inside a shape, caught by `parse`; never leaves this file. */
class Mismatch extends Error {
  constructor(readonly place: string, message: string) {
    super(message);
  }
}

export type Shape<T> = (value: unknown, place: string) => T;
export type ShapeFailure = Failure<"shape">;

/** The value as the shape's type. */
export function parse<T>(shape: Shape<T>, value: unknown): Result<T, ShapeFailure> {
  try {
    return ok(shape(value, ""));
  } catch (error) {
    if (error instanceof Mismatch) return fail("shape", error.place === "" ? null : error.place, error.message);
    throw error;
  }
}

const describe = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return typeof value === "object" ? "an object" : String(value);
};

/** Any text of at most `maxLength` UTF-16 units; lone surrogates are refused because they cannot be written as UTF-8. */
export const text = (maxLength: number): Shape<string> => (value, place) => {
  if (typeof value !== "string") throw new Mismatch(place, `expected text, got ${describe(value)}`);
  if (value.length > maxLength) throw new Mismatch(place, `${value.length} characters, at most ${maxLength} are allowed`);
  if (!isWellFormed(value)) throw new Mismatch(place, "text has half of a surrogate pair");
  return value;
};

const isWellFormed = (value: string): boolean =>
  !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(value);

/** Text that matches a pattern; `expected` says in words what that is. */
export const matching = (pattern: RegExp, maxLength: number, expected: string): Shape<string> => {
  const inner = text(maxLength);
  return (value, place) => {
    const string = inner(value, place);
    if (!pattern.test(string)) throw new Mismatch(place, `expected ${expected}, got ${describe(string)}`);
    return string;
  };
};

/** A finite number in [min, max]. */
export const number = (min: number, max: number): Shape<number> => (value, place) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new Mismatch(place, `expected a number, got ${describe(value)}`);
  if (value < min || value > max) throw new Mismatch(place, `${value} is outside ${min} to ${max}`);
  return value;
};

/** A whole number in [min, max], exact in a double. */
export const integer = (min: number, max: number = Number.MAX_SAFE_INTEGER): Shape<number> => {
  const inner = number(min, max);
  return (value, place) => {
    const n = inner(value, place);
    if (!Number.isSafeInteger(n)) throw new Mismatch(place, `expected a whole number, got ${n}`);
    return n;
  };
};

export const flag: Shape<boolean> = (value, place) => {
  if (typeof value !== "boolean") throw new Mismatch(place, `expected true or false, got ${describe(value)}`);
  return value;
};

/** One of a few words or numbers. */
export const oneOf = <const T extends string | number>(...allowed: readonly T[]): Shape<T> => (value, place) => {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new Mismatch(place, `expected ${allowed.map((a) => JSON.stringify(a)).join(" or ")}, got ${describe(value)}`);
  return found;
};

export const nullable = <T>(inner: Shape<T>): Shape<T | null> => (value, place) => (value === null ? null : inner(value, place));

/** A field that may be missing: then `missing` stands for it. */
export const withDefault = <T>(inner: Shape<T>, missing: T): Shape<T> => (value, place) => (value === undefined ? missing : inner(value, place));

/** A list of at most `maxLength` values of one shape. */
export const list = <T>(inner: Shape<T>, maxLength: number): Shape<T[]> => (value, place) => {
  if (!Array.isArray(value)) throw new Mismatch(place, `expected a list, got ${describe(value)}`);
  if (value.length > maxLength) throw new Mismatch(place, `${value.length} entries, at most ${maxLength} are allowed`);
  return value.map((entry, i) => inner(entry, `${place}[${i}]`));
};

/** A list of exactly these shapes, one each. */
export const tuple = <T extends unknown[]>(...shapes: { [I in keyof T]: Shape<T[I]> }): Shape<T> => (value, place) => {
  const entries = list<unknown>((entry) => entry, shapes.length)(value, place);
  if (entries.length !== shapes.length) throw new Mismatch(place, `expected ${shapes.length} entries, got ${entries.length}`);
  return shapes.map((shape, i) => shape(entries[i], `${place}[${i}]`)) as T;
};

type Fields<T> = { [K in keyof T]-?: Shape<T[K]> };

/** An object with exactly these fields. */
export const record = <T extends object>(fields: Fields<T>): Shape<T> => {
  const names = Object.keys(fields) as (keyof T & string)[]; // the keys of a literal that TypeScript has just checked
  return (value, place) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Mismatch(place, `expected an object, got ${describe(value)}`);
    const prefix = place === "" ? "" : `${place}.`;
    for (const key of Object.keys(value)) {
      if (!names.includes(key as keyof T & string)) throw new Mismatch(`${prefix}${key.slice(0, 80)}`, "unknown field");
    }
    const source = new Map<string, unknown>(Object.entries(value));
    return Object.fromEntries(names.map((name) => [name, fields[name](source.get(name), `${prefix}${name}`)])) as T;
  };
};

/** An object with any names, at most `maxLength` of them, and values of one shape. */
export const dictionary = <T>(inner: Shape<T>, maxLength: number): Shape<Record<string, T>> => (value, place) => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Mismatch(place, `expected an object, got ${describe(value)}`);
  const entries = Object.entries(value);
  if (entries.length > maxLength) throw new Mismatch(place, `${entries.length} entries, at most ${maxLength} are allowed`);
  // fromEntries defines, it does not assign: "__proto__" becomes a field like any other.
  return Object.fromEntries(entries.map(([key, entry]) => [key, inner(entry, `${place}.${key.slice(0, 80)}`)]));
};

/** Any JSON, nested at most 100 deep, copied. */
export const json: Shape<unknown> = (value, place) => copyJson(value, place, 0);

function copyJson(value: unknown, place: string, depth: number): unknown {
  if (depth > 100) throw new Mismatch(place, "nested more than 100 deep");
  if (Array.isArray(value)) return value.map((entry: unknown) => copyJson(entry, place, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]: [string, unknown]) => [key, copyJson(entry, place, depth + 1)]));
}

/** An object whose field `tag` says which of several records it is. */
export const tagged = <Tag extends string, T extends { [K in Tag]: string }>(tag: Tag, variants: { [Name in T[Tag]]: Shape<Extract<T, { [K in Tag]: Name }>> }): Shape<T> => {
  const known = new Map<string, Shape<T>>(Object.entries<Shape<T>>(variants));
  return (value, place) => {
    const name: unknown = value !== null && typeof value === "object" ? Object.getOwnPropertyDescriptor(value, tag)?.value : undefined;
    const shape = typeof name === "string" ? known.get(name) : undefined;
    if (shape === undefined) throw new Mismatch(place === "" ? tag : `${place}.${tag}`, `expected ${[...known.keys()].join(" or ")}, got ${describe(name)}`);
    return shape(value, place);
  };
};

/** A shape with one more demand on the whole value: `problem` returns what is wrong, or null. */
export const checked = <T>(inner: Shape<T>, problem: (value: T) => string | null): Shape<T> => (value, place) => {
  const result = inner(value, place);
  const message = problem(result);
  if (message !== null) throw new Mismatch(place, message);
  return result;
};
