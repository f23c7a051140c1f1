//! The stock path: candle-transformers' own quantised models.
//!
//! It runs architectures that our decoder lacks and is a second opinion in tests. Its models give the logits of the last
//! position only, so a continuation is fed token by token; its quantised matmul rounds activations to 8 bits; it shares nothing
//! between sequences. Numbers from it are the runtime's, not bit-reproducible across targets, and the page says so.

use super::head::{two_best, TokenScore, TwoBest};
use super::tree::Sequence;
use super::Engine;
use crate::error::{ErrorKind, EvalError, Result};
use crate::model::source::{Reader, Source};
use crate::spec::Precision;
use candle_core::quantized::gguf_file::Content;
use candle_core::{DType, Device, Tensor};
use candle_transformers::models as m;

/// One variant per architecture that candle-transformers reads from GGUF.
enum Model {
    Llama(m::quantized_llama::ModelWeights),
    Qwen2(m::quantized_qwen2::ModelWeights),
    Qwen3(m::quantized_qwen3::ModelWeights),
    Gemma3(m::quantized_gemma3::ModelWeights),
    Phi2(m::quantized_phi::ModelWeights),
    Phi3(m::quantized_phi3::ModelWeights),
    Glm4(m::quantized_glm4::ModelWeights),
    Lfm2(m::quantized_lfm2::ModelWeights),
}

/// Architectures (`general.architecture`) that [`Stock::load`] takes.
pub const STOCK_ARCHITECTURES: [&str; 11] =
    ["llama", "qwen2", "qwen3", "gemma", "gemma2", "gemma3", "gemma-embedding", "phi2", "phi3", "glm4", "lfm2"];

/// A model of candle-transformers.
pub struct Stock {
    model: Model,
    n_vocab: usize,
}

fn from_candle(e: candle_core::Error) -> EvalError {
    EvalError::new(ErrorKind::UnsupportedModel, format!("the stock path says: {e}"))
}

/// The header; of a split model the parts' together, with offsets from the start of the first.
fn content(source: &mut dyn Source) -> Result<Content> {
    let mut whole: Option<Content> = None;
    let mut start = 0;
    for size in source.part_sizes() {
        let mut part = Content::read(&mut Reader::of_part(source, start, size)).map_err(from_candle)?;
        for info in part.tensor_infos.values_mut() {
            info.offset = info.offset.saturating_add(part.tensor_data_offset).saturating_add(start);
        }
        part.tensor_data_offset = 0;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.tensor_infos.extend(part.tensor_infos),
        }
        start += size;
    }
    whole.ok_or_else(|| EvalError::new(ErrorKind::Io, "there is no file"))
}

impl Stock {
    /// Loads the whole model.
    ///
    /// # Errors
    /// `UnsupportedModel` for an architecture that candle-transformers lacks and for whatever it says of the file.
    pub fn load(source: &mut dyn Source, architecture: &str, n_vocab: usize) -> Result<Self> {
        let content = content(source)?;
        let reader = &mut Reader::new(source);
        let device = &Device::Cpu;
        let model = match architecture {
            "llama" => m::quantized_llama::ModelWeights::from_gguf(content, reader, device).map(Model::Llama),
            "qwen2" => m::quantized_qwen2::ModelWeights::from_gguf(content, reader, device).map(Model::Qwen2),
            "qwen3" => m::quantized_qwen3::ModelWeights::from_gguf(content, reader, device).map(Model::Qwen3),
            "gemma" | "gemma2" | "gemma3" | "gemma-embedding" => {
                m::quantized_gemma3::ModelWeights::from_gguf(content, reader, device).map(Model::Gemma3)
            }
            "phi2" => m::quantized_phi::ModelWeights::from_gguf(content, reader, device).map(Model::Phi2),
            "phi3" => m::quantized_phi3::ModelWeights::from_gguf(false, content, reader, device).map(Model::Phi3),
            "glm4" => m::quantized_glm4::ModelWeights::from_gguf(content, reader, device, DType::F32).map(Model::Glm4),
            "lfm2" => m::quantized_lfm2::ModelWeights::from_gguf(content, reader, device).map(Model::Lfm2),
            other => {
                return Err(EvalError::new(
                    ErrorKind::UnsupportedModel,
                    format!("architecture \"{other}\" is not supported; this build runs {}", STOCK_ARCHITECTURES.join(", ")),
                )
                .at("key \"general.architecture\""))
            }
        };
        Ok(Self { model: model.map_err(from_candle)?, n_vocab })
    }

    /// Logits after the last of `tokens`, which start at `position`; position 0 forgets what came before.
    fn forward(&mut self, tokens: &[u32], position: usize) -> candle_core::Result<Vec<f32>> {
        let x = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?;
        let logits = match &mut self.model {
            Model::Llama(m) => m.forward(&x, position),
            Model::Qwen2(m) => m.forward(&x, position),
            Model::Qwen3(m) => {
                if position == 0 {
                    m.clear_kv_cache();
                }
                m.forward(&x, position)
            }
            Model::Gemma3(m) => m.forward(&x, position),
            Model::Phi2(m) => m.forward(&x, position),
            Model::Phi3(m) => m.forward(&x, position),
            Model::Glm4(m) => m.forward(&x, position),
            Model::Lfm2(m) => m.forward(&x, position),
        }?;
        logits.flatten_all()?.to_dtype(DType::F32)?.to_vec1()
    }

    /// All logits of every position, token by token: for tests.
    ///
    /// # Errors
    /// What candle says.
    pub fn logits(&mut self, tokens: &[u32]) -> Result<Vec<f32>> {
        let mut all = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            all.extend(self.forward(&[*token], position).map_err(from_candle)?);
        }
        Ok(all)
    }
}

/// Scores one token from its row of logits, in float64.
fn token_score(logits: &[f32], id: u32) -> Option<TokenScore> {
    let target = *logits.get(id as usize)?;
    let TwoBest { max, argmax, second } = two_best(logits);
    let sum: f64 = logits.iter().map(|&l| libm::exp(f64::from(l) - f64::from(max))).sum();
    let is_argmax = argmax == id as usize;
    let rival = if is_argmax { second } else { max };
    let logprob = f64::from(target) - f64::from(max) - libm::log(sum);
    logprob.is_finite().then_some(TokenScore { logprob, is_argmax, margin: target - rival })
}

impl Engine for Stock {
    fn score(&mut self, sequences: &[Sequence], _next: &[u32], _precision: Precision) -> Result<Vec<Vec<TokenScore>>> {
        let mut all = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let mut scores = Vec::with_capacity(sequence.targets.len());
            let mut fed = 0;
            let mut logits = Vec::new();
            for target in &sequence.targets {
                let end = target.position + 1;
                if end > fed {
                    logits = self.forward(&sequence.tokens[fed..end], fed).map_err(from_candle)?;
                    fed = end;
                }
                scores.push(token_score(&logits, target.id).ok_or_else(|| {
                    EvalError::new(ErrorKind::WeightsFormat, format!("no finite log-probability for token {} of {}", target.id, self.n_vocab))
                })?);
            }
            all.push(scores);
        }
        Ok(all)
    }

    fn name(&self) -> &'static str {
        "stock"
    }
}
