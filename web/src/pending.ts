// Temporary until types.ts has them.
import type { BoundaryFlag, Doc, Unscored } from "./types.ts";
export type Phase = "encode" | "score" | "settle" | "done";
export interface ModelInfo { file_name: string; n_bytes: number; architecture: string; name: string | null; license: string | null; n_params: number; n_params_by_type: Record<string, number>; quantisation: string; n_ctx: number; n_vocab: number; n_layers: number; d_model: number; engine: string; tokenizer: string; tokenizer_sha256: string; has_chat_template: boolean; is_instruct: boolean | null; n_weight_bytes: number }
export interface LoadStep { bytes_loaded: number; total_bytes: number; tensor: string; done: boolean }
export interface Step { phase: Phase; items: import("./types.ts").ItemScore[]; failed: import("./types.ts").FailedItem[]; n_done: number; n_total: number; n_tokens: number; n_tokens_done: number; n_tokens_total: number }
export interface TokenView { id: number; text: string }
export interface JoinView { index: number; line: number; flags: BoundaryFlag[]; context_end: TokenView[]; n_context_tokens: number; continuations: TokenView[][] }
export interface Prepared { n_docs: number; failed: number; n_requests: number; n_tokens: number; longest: number; flags: { flag: BoundaryFlag; n_docs: number; lines: number[] }[]; examples: JoinView[]; prefix_token: TokenView; adds_bos: boolean; max_length: number }
export interface TaskInfo { file_name: string; data_sha256: string; preset: string | null; name: string; yaml: string; n_rows: number; n_docs: number; unscored: Unscored[]; warnings: string[]; categories: Record<string, number>; examples: Doc[]; num_fewshot: number }
export interface PresetInfo { name: string; title: string; yaml: string }
