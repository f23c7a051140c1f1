// The lines of a file of exported runs, field by field: what a page of ours writes, and nothing else.
//
// In: foreign JSON, through `parse`. Out: typed lines. The types are the engine's; where they change, these no longer compile.

import { dictionary, flag, integer, json, list, nullable, number, oneOf, record, text, type Shape } from "../share/shape.ts";
import { RULE, SPEC } from "../share/link.ts";
import type { ChoiceScore, EvalError, FailedItem, FileMeta, Group, ItemScore, MetricMeta, ModelMeta, Pick, RunMeta, TaskMeta, TokenizerMeta, TokenMeta, Unscored } from "../types.ts";
import type { Batch, SavedRun } from "./runs.ts";

export const HEADER: Shape<{ format: "evaltab-runs"; v: 1 }> = record({ format: oneOf("evaltab-runs"), v: oneOf(1) });

// Wide enough for a chat template, a whole document as a choice, a task of 100 000 docs in one batch.
const TEXT = text(16_777_216);
const MANY = 1_000_000;
const COUNT = integer(0);
const REAL = number(-Number.MAX_VALUE, Number.MAX_VALUE);

const ERROR: Shape<EvalError> = record<EvalError>({
  kind: oneOf("weights_format", "unsupported_model", "task_format", "task_config", "template", "context_too_long", "run_spec", "io", "internal"),
  place: nullable(TEXT),
  message: TEXT,
});

const UNSCORED: Shape<Unscored> = record<Unscored>({ index: nullable(COUNT), line: COUNT, error: ERROR });

const FAILED: Shape<FailedItem> = record<FailedItem>({ index: COUNT, line: COUNT, error: ERROR });

const CHOICE: Shape<ChoiceScore> = record<ChoiceScore>({
  text: TEXT,
  token_ids: list(COUNT, MANY),
  token_logprobs: list(REAL, MANY),
  loglikelihood: REAL,
  is_greedy: flag,
  least_margin: nullable(REAL),
  n_chars: COUNT,
  n_bytes: COUNT,
  loglikelihood_unconditional: nullable(REAL),
  loglikelihood_answer: nullable(REAL),
});

const PICK: Shape<Pick> = record<Pick>({ rule: RULE, pick: COUNT, is_correct: flag, is_tied: flag, margin: nullable(REAL) });

const PRECISION = oneOf("default", "float32");

export const ITEM: Shape<ItemScore> = record<ItemScore>({
  doc_id: COUNT,
  index: COUNT,
  line: COUNT,
  task: TEXT,
  category: nullable(TEXT),
  question: TEXT,
  output_type: oneOf("multiple_choice", "loglikelihood", "loglikelihood_rolling"),
  choices: list(CHOICE, 10_000),
  gold: list(COUNT, 10_000),
  picks: list(PICK, 100),
  n_context_tokens: COUNT,
  flags: list(
    oneOf(
      "merge_across_join",
      "empty_continuation",
      "double_space",
      "letter_of_several_tokens",
      "truncated",
      "trailing_whitespace",
      "uneven_leading_space",
      "equal_choices",
      "dropped_bytes",
      "whitespace_moved",
    ),
    100,
  ),
  precision: PRECISION,
  n_words: nullable(COUNT),
  n_bytes: nullable(COUNT),
});

const FILE: Shape<FileMeta> = record<FileMeta>({ name: TEXT, n_bytes: COUNT, sha256: nullable(text(64)), n_rows: nullable(COUNT), source_url: nullable(text(4096)) });

const MODEL: Shape<ModelMeta> = record<ModelMeta>({
  file: FILE,
  architecture: TEXT,
  name: nullable(TEXT),
  n_params: COUNT,
  quantisation: TEXT,
  n_params_by_type: dictionary(COUNT, 1000),
  n_ctx: COUNT,
  is_instruct: nullable(flag),
});

const TOKEN: Shape<TokenMeta> = record<TokenMeta>({ id: COUNT, text: TEXT });

const TOKENIZER: Shape<TokenizerMeta> = record<TokenizerMeta>({
  sha256: text(64),
  description: TEXT,
  bos: nullable(TOKEN),
  eos: nullable(TOKEN),
  prefix: nullable(TOKEN),
  adds_bos: flag,
});

const METRIC: Shape<MetricMeta> = record<MetricMeta>({ metric: TEXT, higher_is_better: flag });

const TASK: Shape<TaskMeta> = record<TaskMeta>({
  name: TEXT,
  preset: nullable(TEXT),
  version: nullable(TEXT),
  yaml: TEXT,
  config: json,
  num_fewshot: COUNT,
  target_delimiter: TEXT,
  fewshot_delimiter: TEXT,
  prompt_style: nullable(TEXT),
  metrics: list(METRIC, 1000),
  acc_is_gold_probability: flag,
});

const GROUP: Shape<Group> = record<Group>({ name: TEXT, alias: TEXT, members: list(TEXT, MANY), weight_by_size: flag, version: nullable(TEXT) });

const META: Shape<RunMeta> = record<RunMeta>({
  spec: SPEC,
  model: nullable(MODEL),
  tokenizer: nullable(TOKENIZER),
  data: FILE,
  fewshot_data: nullable(FILE),
  task: TASK,
  groups: list(GROUP, 10_000),
  n_docs: COUNT,
  max_length: COUNT,
  chat_template: nullable(TEXT),
  engine_version: TEXT,
  engine_path: TEXT,
  started_at: nullable(REAL),
  seconds: nullable(REAL),
  n_tokens: COUNT,
  n_threads: COUNT,
  machine: nullable(TEXT),
});

export const RUN: Shape<SavedRun> = record<SavedRun>({
  id: text(64),
  meta: META,
  unscored: list(UNSCORED, MANY),
  is_complete: flag,
  started_at: COUNT,
  updated_at: COUNT,
  n_scored: COUNT,
  n_failed: COUNT,
  headline: nullable(record<{ metric: string; value: number }>({ metric: TEXT, value: REAL })),
  loglikelihood_digest: nullable(text(64)),
});

export const BATCH: Shape<Batch> = record<Batch>({ run_id: text(64), n: COUNT, items: list(ITEM, MANY), failed: list(FAILED, MANY) });
