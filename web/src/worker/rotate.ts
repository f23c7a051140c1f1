// The same rows with their choices in another order: a probe for a model that likes a letter more than an answer.
//
// In: JSONL rows in one of the shapes that tasks have, and by how many places. Out: rows in which the choice at position j is the
// one that stood at (j + shift) mod K, with the gold answer moved along. Which rows are docs, and prompts, are left to the engine.

type Row = Record<string, unknown>;

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const rotated = <T>(list: readonly T[], shift: number): T[] => list.map((_, j) => list[(j + shift) % list.length] as T);

/** The rotated rows, or null where their shape has no list of choices that can be turned. */
export function rotatedRows(bytes: Uint8Array, shift: number): Uint8Array | null {
  const lines = new TextDecoder().decode(bytes).split("\n");
  const out: string[] = [];
  for (const line of lines) {
    const row = parsed(line);
    // What is no row is reported by the engine, and again here.
    const turned = row === null ? line : rotatedRow(row, shift);
    if (turned === null) return null;
    out.push(typeof turned === "string" ? turned : JSON.stringify(turned));
  }
  return new TextEncoder().encode(out.join("\n"));
}

function parsed(line: string): Row | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRow(value) ? value : null;
  } catch {
    return null;
  }
}

function rotatedRow(row: Row, shift: number): Row | null {
  const { choices, endings, options } = row;
  if (isList(choices)) return withGold({ ...row, choices: rotated(choices, shift) }, choices.length, shift, ["answer", "label", "gold"]);
  // ARC, OpenBookQA, CommonsenseQA: labels stay where they are, texts move.
  if (isRow(choices) && isList(choices["text"]) && isList(choices["label"])) {
    const texts = choices["text"];
    const labels = choices["label"];
    const gold = labels.indexOf(row["answerKey"]);
    if (gold < 0) return row;
    return { ...row, choices: { ...choices, text: rotated(texts, shift) }, answerKey: labels[moved(gold, texts.length, shift)] };
  }
  if (isList(endings)) return withGold({ ...row, endings: rotated(endings, shift) }, endings.length, shift, ["label"]);
  if (isList(options)) return withGold({ ...row, options: rotated(options, shift) }, options.length, shift, ["answer", "label", "gold"]);
  if (typeof row["sol1"] === "string" && typeof row["sol2"] === "string") {
    const [sol1, sol2] = rotated([row["sol1"], row["sol2"]], shift);
    return withGold({ ...row, sol1, sol2 }, 2, shift, ["label"]);
  }
  return null;
}

const moved = (gold: number, n: number, shift: number): number => (((gold - shift) % n) + n) % n;

/** A gold answer given by its text stays; an index or a letter moves. */
function withGold(row: Row, n: number, shift: number, fields: readonly string[]): Row {
  const out = { ...row };
  for (const field of fields) {
    const gold = row[field];
    if (isList(gold) && gold.every((index) => typeof index === "number")) out[field] = gold.map((index) => moved(Number(index), n, shift));
    else if (typeof gold === "number" && Number.isInteger(gold) && gold >= 0 && gold < n) out[field] = moved(gold, n, shift);
    else if (typeof gold === "string" && /^\d+$/.test(gold) && Number(gold) < n) out[field] = String(moved(Number(gold), n, shift));
    else if (typeof gold === "string" && /^[A-Z]$/.test(gold) && gold.charCodeAt(0) - 65 < n) out[field] = String.fromCharCode(65 + moved(gold.charCodeAt(0) - 65, n, shift));
  }
  return out;
}
