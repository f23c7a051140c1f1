import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromBase64Url, packBits, toBase64Url, unpackBits } from "../src/share/bytes.ts";
import { decodeRun, decodeRunFile, encodeRun, fileText, inflateBounded, MAX_FRAGMENT_LENGTH } from "../src/share/codec.ts";
import { isSourceUrl, type RunLink } from "../src/share/link.ts";
import { makeRun } from "./share_fixture.ts";

/** A fragment of any JSON text, made by Node's own deflate and base64url. */
const fragmentOf = (json: string): string => `#run=1.${deflateRawSync(Buffer.from(json)).toString("base64url")}`;

const kindOf = (fragment: string): string => {
  const result = decodeRun(fragment);
  return result.ok ? "ok" : result.error.kind;
};

const fragment = (run: RunLink): string => {
  const encoded = encodeRun(run);
  if (encoded.kind !== "link") throw new Error("expected a link");
  return encoded.fragment;
};

describe("a run link", () => {
  it("comes back as it was written", () => {
    const run = makeRun(1254);
    expect(decodeRun(fragment(run))).toEqual({ ok: true, value: run });
  });

  it("is raw deflate of JSON in base64url, as its grammar says", () => {
    const run = makeRun(10);
    const payload = fragment(run).slice("#run=1.".length);
    expect(JSON.parse(inflateRawSync(Buffer.from(payload, "base64url")).toString())).toEqual(run);
  });

  it.each([
    [100, 1115],
    [1254, 1778],
    [14042, 8253],
  ])("of %i docs has the size that the grammar states, %i characters", (n, nCharacters) => {
    expect(fragment(makeRun(n))).toHaveLength(nCharacters);
  });

  it("holds no text of the rows unless they were asked for", () => {
    const rows = '{"question":"Where does the heron nest?","choices":["reed","roof"],"answer":0}\n';
    const without = makeRun(1);
    expect(JSON.stringify(decodeRun(fragment(without)))).not.toContain("heron");
    const run = { ...without, data: { ...without.data, n: 1, rows, n_bytes: rows.length, sha256: createHash("sha256").update(rows).digest("hex") } };
    expect(decodeRun(fragment(run))).toEqual({ ok: true, value: run });
  });

  it("becomes a file above 32 kB", () => {
    const run = makeRun(4);
    // Digits of hashes do not pack well.
    const noise = Array.from({ length: 2000 }, (_, i) => createHash("sha256").update(String(i)).digest("hex")).join("\n");
    const long = { ...run, spec: { ...run.spec, system_instruction: noise } };
    const encoded = encodeRun(long);
    expect(encoded.kind).toBe("file");
    if (encoded.kind === "file") expect(decodeRunFile(new TextEncoder().encode(encoded.text))).toEqual({ ok: true, value: long });
  });

  it("survives any settings, names and outcomes that a run can have", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 60 });
    const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const run = fc
      .record({
        n: fc.integer({ min: 0, max: 300 }),
        yaml: fc.option(text, { nil: null }),
        system: fc.option(text, { nil: null }),
        shots: fc.option(fc.integer({ min: 0, max: 25 }), { nil: null }),
        seed,
        subset: fc.oneof(fc.constant({ kind: "all" } as const), fc.record({ kind: fc.constant("per_category" as const), n: fc.integer({ min: 1, max: 99 }), seed })),
      })
      .map(({ n, yaml, system, shots, seed: fewshotSeed, subset }): RunLink => {
        const base = makeRun(n);
        return { ...base, spec: { ...base.spec, task_yaml: yaml, system_instruction: system, num_fewshot: shots, fewshot_seed: fewshotSeed, subset } };
      });
    fc.assert(
      fc.property(run, (value) => {
        expect(decodeRun(fragment(value))).toEqual({ ok: true, value });
        expect(decodeRunFile(new TextEncoder().encode(fileText(value)))).toEqual({ ok: true, value });
      }),
      { numRuns: 60 },
    );
  });
});

describe("a run link that was tampered with is refused:", () => {
  const run = makeRun(40);
  const json = JSON.stringify(run);
  const good = fragment(run);
  const changed = (change: (copy: Record<string, any>) => void): string => {
    const copy = JSON.parse(json);
    change(copy);
    return fragmentOf(JSON.stringify(copy));
  };

  it("another fragment", () => expect(kindOf("#help")).toBe("not_a_link"));
  it("no payload", () => expect(kindOf("#run=1")).toBe("not_a_link"));
  it("an unknown version", () => expect(kindOf(good.replace("run=1.", "run=2."))).toBe("version"));
  it("broken base64", () => expect(kindOf(`${good.slice(0, 60)}*${good.slice(61)}`)).toBe("base64"));
  it("a link cut in the middle", () => expect(["deflate", "base64"]).toContain(kindOf(good.slice(0, good.length / 2))));
  it("an empty payload", () => expect(kindOf("#run=1.")).toBe("base64"));
  it("bytes that are no deflate stream", () => expect(kindOf(`#run=1.${Buffer.from("not deflate at all").toString("base64url")}`)).toBe("deflate"));
  it("a link of 40 000 characters", () => expect(kindOf(`#run=1.${"A".repeat(40_000)}`)).toBe("too_long"));
  it("a decompression bomb", () => {
    const bomb = `#run=1.${deflateRawSync(Buffer.alloc(20_000_000)).toString("base64url")}`;
    expect(bomb.length).toBeLessThan(MAX_FRAGMENT_LENGTH);
    expect(kindOf(bomb)).toBe("bomb");
  });
  it("no JSON", () => expect(kindOf(fragmentOf("{"))).toBe("json"));
  it("text that is not UTF-8", () => expect(kindOf(`#run=1.${deflateRawSync(Buffer.from([0x22, 0xff, 0x22])).toString("base64url")}`)).toBe("json"));
  it("another shape", () => expect(kindOf(fragmentOf("[1,2]"))).toBe("shape"));
  it("a missing field", () => expect(kindOf(changed((copy) => delete copy["model"]))).toBe("shape"));
  it("an unknown field", () => expect(kindOf(changed((copy) => (copy["script"] = "x")))).toBe("shape"));
  it("an unknown setting", () => expect(kindOf(changed((copy) => (copy["spec"].temperature = 0)))).toBe("shape"));
  it("a script in a file name", () => expect(kindOf(changed((copy) => (copy["model"].name = "<script>alert(1)</script>.gguf")))).toBe("shape"));
  it("a name that reads backwards", () => expect(kindOf(changed((copy) => (copy["data"].name = "rows\u202Efug.jsonl")))).toBe("shape"));
  it("a very long name", () => expect(kindOf(changed((copy) => (copy["data"].name = "x".repeat(300))))).toBe("shape"));
  it("a script for an address", () => expect(kindOf(changed((copy) => (copy["model"].url = "javascript:alert(1)")))).toBe("shape"));
  it("a hash of another length", () => expect(kindOf(changed((copy) => (copy["model"].sha256 = "00")))).toBe("shape"));
  it("a number as text", () => expect(kindOf(changed((copy) => (copy["outcome"].n_docs = "40")))).toBe("shape"));
  it("a bit set of another length", () => expect(kindOf(changed((copy) => (copy["outcome"].n_docs = 41)))).toBe("shape"));
  it("more right docs than the bit set has", () => expect(kindOf(changed((copy) => (copy["outcome"].categories[0][2] += 1)))).toBe("shape"));
  it("more right docs than docs", () => expect(kindOf(changed((copy) => (copy["outcome"].categories[0][2] = 999)))).toBe("shape"));
  it("rows that do not have the claimed hash", () => expect(kindOf(changed((copy) => (copy["data"].rows = "{}\n")))).toBe("shape"));

  it("and the place and the reason are named", () => {
    const result = decodeRun(changed((copy) => (copy["model"].n_bytes = -1)));
    expect(result).toEqual({ ok: false, error: { kind: "shape", place: "model.n_bytes", message: "-1 is outside 0 to 9007199254740991" } });
  });

  it("and a prototype cannot be reached through it", () => {
    const polluted = json.replace(/^\{/, '{"__proto__":{"polluted":true},');
    expect(kindOf(fragmentOf(polluted))).toBe("shape");
    expect(kindOf(fragmentOf(json.replace('"spec":{', '"spec":{"constructor":{"prototype":{"polluted":true}},')))).toBe("shape");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("whatever character is changed, without a crash", () => {
    fc.assert(
      fc.property(fc.integer({ min: 7, max: good.length - 1 }), fc.constantFrom(..."AZaz09-_*% "), (at, character) => {
        const result = decodeRun(good.slice(0, at) + character + good.slice(at + 1));
        expect(typeof result.ok).toBe("boolean");
      }),
    );
  });
});

describe("bytes as text", () => {
  it("base64url is Node's base64url", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64url");
        expect(toBase64Url(bytes)).toBe(text);
        expect(fromBase64Url(text)).toEqual(new Uint8Array(bytes));
      }),
    );
  });

  it("three picks of two bits are one byte, lowest bits first", () => {
    // 1 + 2·4 + 3·16
    expect(packBits([1, 2, 3], 2)).toEqual(Uint8Array.of(57));
  });

  it("numbers of any width come back", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }).chain((width) => fc.tuple(fc.constant(width), fc.array(fc.integer({ min: 0, max: 2 ** width - 1 }), { maxLength: 50 }))),
        ([width, values]) => {
          expect(unpackBits(packBits(values, width), width, values.length)).toEqual(values);
        },
      ),
    );
  });

  it("inflating stops at the limit and not a byte before", () => {
    const packed = new Uint8Array(deflateRawSync(Buffer.alloc(5000, "ab")));
    expect(inflateBounded(packed, 5000).ok).toBe(true);
    expect(inflateBounded(packed, 4999)).toMatchObject({ ok: false, error: { kind: "bomb" } });
  });
});

describe("addresses that a link may name", () => {
  it.each(["models/a.gguf", "https://huggingface.co/a/b/resolve/main/c.gguf", "http://localhost:8000/m.gguf", "http://127.0.0.1/m.gguf", "tasks/my%20rows.jsonl"])("%s is one", (url) =>
    expect(isSourceUrl(url)).toBe(true),
  );
  it.each(["javascript:alert(1)", "data:text/plain,x", "blob:https://a/b", "http://example.org/m.gguf", "//example.org/m", "/etc/passwd", "../secret", "a/%2e%2e/b", "https://user:pass@example.org/", "file:///etc/passwd", ""])("%s is none", (url) =>
    expect(isSourceUrl(url)).toBe(false),
  );
});
