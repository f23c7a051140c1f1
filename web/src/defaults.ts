// What a fresh page starts with; the same values as `RunSpec::default()` and `ReportOptions::default()` in Rust.

import type { ReportOptions, RunMeta, RunSpec } from "./types.ts";

export const DEFAULT_SPEC: RunSpec = {
  preset: null,
  task_yaml: null,
  prompt_style: null,
  num_fewshot: null,
  fewshot_seed: 1234,
  subset: { kind: "all" },
  chat: "off",
  system_instruction: null,
  target_delimiter: null,
  precision: "default",
  engine: "auto",
  add_bos: "auto",
  prefix_token_id: null,
  max_length: null,
  choice_shift: 0,
  mutual_info: false,
};

export const DEFAULT_OPTIONS: ReportOptions = {
  rule: "acc",
  confidence_rule: "acc",
  n_bins: 10,
  binning: "equal_width",
  temperature: 1,
  aggregation: "micro",
  category_map: null,
  seed: 1234,
  published: null,
};

/** The provenance of items that no model scored. */
export const syntheticMeta = (name: string, nDocs: number): RunMeta => ({
  spec: DEFAULT_SPEC,
  model: null,
  tokenizer: null,
  data: { name, n_bytes: 0, sha256: null, n_rows: nDocs, source_url: null },
  fewshot_data: null,
  task: {
    name,
    preset: null,
    version: null,
    yaml: "",
    config: null,
    num_fewshot: 0,
    target_delimiter: " ",
    fewshot_delimiter: "\n\n",
    prompt_style: null,
    metrics: [],
    acc_is_gold_probability: false,
  },
  groups: [],
  n_docs: nDocs,
  max_length: 0,
  chat_template: null,
  engine_version: "",
  engine_path: "",
  started_at: null,
  seconds: null,
  n_tokens: 0,
  n_threads: 0,
  machine: null,
});
