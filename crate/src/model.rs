//! A model file: header → configuration, tokenizer, weights → an engine that is ready to score.
//!
//! In: a [`Source`]. Out: [`Model`]. [`ModelLoader`] reads a tensor a call.

pub mod config;
pub mod gguf;
pub mod source;
pub mod weights;

use crate::engine::decoder::Decoder;
use crate::engine::kernels::pool::{Pool, Shared};
use crate::engine::stock::{Stock, STOCK_ARCHITECTURES};
use crate::engine::{Engine, Sequence, TokenScore};
use crate::error::{ErrorKind, EvalError, Result};
use crate::spec::{EnginePath, Precision};
use crate::tokenizer::Tokenizer;
use config::{DecoderConfig, OWN_ARCHITECTURES};
use gguf::Gguf;
use serde::{Deserialize, Serialize};
use source::Source;
use std::collections::BTreeMap;
use std::sync::Arc;
use ts_rs::TS;

/// What a page shows of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelInfo {
    /// File name.
    pub file_name: String,
    /// Size of the file.
    #[ts(type = "number")]
    pub n_bytes: u64,
    /// `general.architecture`.
    pub architecture: String,
    /// `general.name`.
    pub name: Option<String>,
    /// `general.license`.
    pub license: Option<String>,
    /// Number of weights.
    #[ts(type = "number")]
    pub n_params: u64,
    /// Weights by number kind.
    #[ts(type = "Record<string, number>")]
    pub n_params_by_type: BTreeMap<String, u64>,
    /// The kind that most weights have.
    pub quantisation: String,
    /// Tokens the model was trained to see.
    pub n_ctx: usize,
    /// Entries of the vocabulary.
    pub n_vocab: usize,
    /// Layers.
    pub n_layers: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// `"own"` or `"stock"`.
    pub engine: String,
    /// The tokenizer in words.
    pub tokenizer: String,
    /// Hash of everything that decides token ids.
    pub tokenizer_sha256: String,
    /// The file has a chat template.
    pub has_chat_template: bool,
    /// Tuned on instructions, as far as name and chat template tell.
    pub is_instruct: Option<bool>,
    /// Bytes that the weights take in memory.
    #[ts(type = "number")]
    pub n_weight_bytes: u64,
}

/// One step of loading.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LoadStep {
    /// Bytes read by now.
    #[ts(type = "number")]
    pub bytes_loaded: u64,
    /// Size of the file.
    #[ts(type = "number")]
    pub total_bytes: u64,
    /// The tensor that was read.
    pub tensor: Option<String>,
    /// Nothing is left to read.
    pub done: bool,
}

/// The engine of a model.
#[allow(clippy::large_enum_variant)]
enum Runner {
    Own(Decoder, Arc<Shared>),
    Stock(Stock),
}

/// A loaded model.
pub struct Model {
    /// What it is.
    pub info: ModelInfo,
    tokenizer: Arc<Tokenizer>,
    runner: Runner,
}

impl Model {
    /// Its tokenizer.
    pub fn tokenizer(&self) -> Arc<Tokenizer> {
        Arc::clone(&self.tokenizer)
    }

    /// The engine, by its trait.
    pub fn engine(&mut self) -> &mut dyn Engine {
        match &mut self.runner {
            Runner::Own(decoder, _) => decoder,
            Runner::Stock(stock) => stock,
        }
    }

    /// What helper threads need to join our own engine's pool.
    pub fn pool_shared(&self) -> Option<Arc<Shared>> {
        match &self.runner {
            Runner::Own(_, shared) => Some(Arc::clone(shared)),
            Runner::Stock(_) => None,
        }
    }

    /// Threads that score.
    pub fn n_threads(&self) -> usize {
        match &self.runner {
            Runner::Own(decoder, _) => decoder.n_threads(),
            Runner::Stock(_) => 1,
        }
    }

    /// Runs made-up tokens through the engine; the sum of what it says, so that nothing is optimised away.
    pub fn bench_prefill(&mut self, n_tokens: usize, n_sequences: usize, float32: bool) -> Result<f64> {
        let n_vocab = self.info.n_vocab as u32;
        let token = |i: usize| (i as u32).wrapping_mul(2_654_435_761) % n_vocab;
        let sequences: Vec<_> =
            (0..n_sequences).map(|s| Sequence::of_pair(&(0..n_tokens).map(|i| token(s * n_tokens + i)).collect::<Vec<_>>(), &[token(s)])).collect();
        let precision = if float32 { Precision::Float32 } else { Precision::Default };
        let scores: Vec<Vec<TokenScore>> = self.engine().score(&sequences, &[], precision)?;
        Ok(scores.iter().flatten().map(|s| s.logprob).sum())
    }
}

/// Reads a model.
pub struct ModelLoader {
    gguf: Arc<Gguf>,
    info: ModelInfo,
    tokenizer: Tokenizer,
    stage: Stage,
    n_threads: usize,
}

enum Stage {
    Own(DecoderConfig, weights::Loader),
    Stock(Option<Stock>),
}

impl ModelLoader {
    /// Parses the header and decides which engine runs the model.
    ///
    /// # Errors
    /// As [`Gguf::read`] and [`DecoderConfig::from_gguf`].
    pub fn open(source: &mut dyn Source, name: &str, path: EnginePath, n_threads: usize) -> Result<Self> {
        let mut gguf = Gguf::read(source)?;
        let missing = |key: &str| EvalError::new(ErrorKind::WeightsFormat, "is missing").at(format!("key \"{key}\""));
        let architecture = gguf.text("general.architecture").ok_or_else(|| missing("general.architecture"))?.to_owned();
        if !OWN_ARCHITECTURES.contains(&&*architecture) && !STOCK_ARCHITECTURES.contains(&&*architecture) {
            return Err(EvalError::new(
                ErrorKind::UnsupportedModel,
                format!("architecture \"{architecture}\" is not supported; this build runs {}", STOCK_ARCHITECTURES.join(", ")),
            )
            .at("key \"general.architecture\""));
        }
        let own = match path {
            EnginePath::Stock => None,
            EnginePath::Own => Some(DecoderConfig::from_gguf(&gguf)?),
            // A variant that our decoder lacks may be one that candle-transformers has; a damaged file is one for neither.
            EnginePath::Auto => match DecoderConfig::from_gguf(&gguf) {
                Ok(config) => Some(config),
                Err(e) if e.kind == ErrorKind::UnsupportedModel => None,
                Err(e) => return Err(e),
            },
        };
        let tokenizer = Tokenizer::from_spec(gguf.take_tokenizer_spec())?;
        let engine = if own.is_some() { "own" } else { "stock" };
        let info = info(&gguf, &tokenizer, source.size(), name, &architecture, engine)?;
        let gguf = Arc::new(gguf);
        let stage = match own {
            Some(config) => Stage::Own(config, weights::Loader::new(Arc::clone(&gguf))),
            None => Stage::Stock(None),
        };
        Ok(Self { gguf, info, tokenizer, stage, n_threads })
    }

    /// The header.
    pub fn gguf(&self) -> &Gguf {
        &self.gguf
    }

    /// Reads the next tensor; the stock path reads everything in one step.
    ///
    /// # Errors
    /// What the source says, at the tensor.
    pub fn step(&mut self, source: &mut dyn Source) -> Result<LoadStep> {
        let total_bytes = self.info.n_bytes;
        match &mut self.stage {
            Stage::Own(_, loader) => {
                let tensor = loader.step(source)?;
                let done = tensor.is_none();
                let bytes_loaded = if done { total_bytes } else { loader.n_bytes_read() };
                Ok(LoadStep { bytes_loaded, total_bytes, tensor, done })
            }
            Stage::Stock(stock) => {
                *stock = Some(Stock::load(source, &self.info.architecture, self.info.n_vocab)?);
                Ok(LoadStep { bytes_loaded: total_bytes, total_bytes, tensor: None, done: true })
            }
        }
    }

    /// The model, when everything is read.
    ///
    /// # Errors
    /// `WeightsFormat` where tensors are missing.
    pub fn finish(self) -> Result<Model> {
        let mut info = self.info;
        let runner = match self.stage {
            Stage::Own(config, loader) => {
                let weights = loader.finish(&config)?;
                info.n_weight_bytes = weights.n_bytes() as u64;
                let pool = Pool::new(self.n_threads);
                let shared = pool.shared();
                Runner::Own(Decoder::new(config, Arc::new(weights), pool), shared)
            }
            Stage::Stock(stock) => Runner::Stock(stock.ok_or_else(|| EvalError::new(ErrorKind::Internal, "the model was not read"))?),
        };
        Ok(Model { info, tokenizer: Arc::new(self.tokenizer), runner })
    }
}

/// Whether a model is tuned on instructions, by its names; `None` where they do not tell.
fn is_instruct(names: &[&str]) -> Option<bool> {
    let names = names.join(" ").to_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| names.contains(w));
    match (has(&["instruct", "chat", "-it-", "-it."]), has(&["base", "pretrain"])) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

fn info(gguf: &Gguf, tokenizer: &Tokenizer, n_bytes: u64, name: &str, architecture: &str, engine: &str) -> Result<ModelInfo> {
    let mut n_params_by_type: BTreeMap<String, u64> = BTreeMap::new();
    for tensor in gguf.tensors.values() {
        *n_params_by_type.entry(tensor.kind.name().to_owned()).or_default() += tensor.n_elements();
    }
    let quantisation = n_params_by_type.iter().max_by_key(|(_, &n)| n).map(|(k, _)| k.clone()).unwrap_or_default();
    let embedding = gguf.tensor("token_embd.weight")?;
    let key = |suffix: &str| format!("{architecture}.{suffix}");
    Ok(ModelInfo {
        file_name: name.to_owned(),
        n_bytes,
        architecture: architecture.to_owned(),
        name: gguf.text("general.name").map(str::to_owned),
        license: gguf.text("general.license").map(str::to_owned),
        n_params: n_params_by_type.values().sum(),
        n_params_by_type,
        quantisation,
        n_ctx: gguf.required_uint(&key("context_length"))?,
        n_vocab: embedding.dims.get(1).copied().unwrap_or(0),
        n_layers: gguf.required_uint(&key("block_count"))?,
        d_model: gguf.required_uint(&key("embedding_length"))?,
        engine: engine.to_owned(),
        tokenizer: tokenizer.description().to_owned(),
        tokenizer_sha256: tokenizer.sha256().to_owned(),
        has_chat_template: tokenizer.chat_template().is_some(),
        is_instruct: is_instruct(&[name, gguf.text("general.name").unwrap_or_default()]),
        n_weight_bytes: gguf.tensors.values().map(|t| t.n_bytes as u64).sum(),
    })
}
