import { expect, test } from "vitest";
import { rotatedRows } from "../src/worker/rotate.ts";

const turn = (row: unknown, shift: number): unknown => {
  const rows = rotatedRows(new TextEncoder().encode(JSON.stringify(row)), shift);
  return rows === null ? null : JSON.parse(new TextDecoder().decode(rows));
};

test("the choice at position j is the one that stood at j + shift, and the gold index follows it", () => {
  expect(turn({ question: "?", choices: ["a", "b", "c", "d"], answer: 2 }, 1)).toEqual({ question: "?", choices: ["b", "c", "d", "a"], answer: 1 });
  expect(turn({ question: "?", choices: ["a", "b", "c", "d"], answer: 0 }, 1)).toEqual({ question: "?", choices: ["b", "c", "d", "a"], answer: 3 });
});

test("a gold letter moves and a gold text stays", () => {
  expect(turn({ choices: ["a", "b"], answer: "B" }, 1)).toEqual({ choices: ["b", "a"], answer: "A" });
  expect(turn({ choices: ["red", "blue"], answer: "red" }, 1)).toEqual({ choices: ["blue", "red"], answer: "red" });
});

test("ARC's labels stay in place while its texts move", () => {
  expect(turn({ choices: { text: ["x", "y", "z"], label: ["1", "2", "3"] }, answerKey: "3" }, 2)).toEqual({ choices: { text: ["z", "x", "y"], label: ["1", "2", "3"] }, answerKey: "1" });
});

test("HellaSwag's label is a number in a string and stays one", () => {
  expect(turn({ endings: ["a", "b", "c", "d"], label: "3" }, 3)).toEqual({ endings: ["d", "a", "b", "c"], label: "0" });
});

test("rows without a list of choices cannot be turned", () => {
  expect(turn({ text: "a passage" }, 1)).toBeNull();
});

test("a malformed line stays as it is", () => {
  const rows = rotatedRows(new TextEncoder().encode('{"choices": ["a", "b"], "answer": 0}\nnot json\n'), 1);
  expect(new TextDecoder().decode(rows ?? new Uint8Array())).toBe('{"choices":["b","a"],"answer":1}\nnot json\n');
});
