// The page's settings at the start are the module's own: a run from a fresh page is a run of the native command.

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { DEFAULT_OPTIONS, DEFAULT_SPEC } from "../src/defaults.ts";
import { default_report_options, default_run_spec, initSync } from "../src/wasm/evaltab.js";

beforeAll(() => {
  initSync({ module: new WebAssembly.Module(readFileSync(new URL("../src/wasm/evaltab_bg.wasm", import.meta.url))) });
});

test("a fresh page's run settings are the module's", () => expect(DEFAULT_SPEC).toEqual(default_run_spec()));
test("a fresh page's view of a report is the module's", () => expect(DEFAULT_OPTIONS).toEqual(default_report_options()));
