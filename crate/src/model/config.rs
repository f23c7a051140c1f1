//! What the decoder needs to know of a model, from its metadata: shapes, constants, and which of the family's variants it is.

use super::gguf::Gguf;
use crate::engine::kernels::math::RopeLayout;
use crate::error::{ErrorKind, EvalError, Result};

/// A llama-shaped decoder: pre-norm, grouped-query attention with rotary positions, gated SiLU.
#[derive(Debug, Clone, PartialEq)]
pub struct DecoderConfig {
    /// `general.architecture`.
    pub architecture: String,
    /// Layers.
    pub n_layers: usize,
    /// Width of the residual stream.
    pub d_model: usize,
    /// Width of the gated layer.
    pub d_ff: usize,
    /// Query heads.
    pub n_heads: usize,
    /// Key and value heads; divides `n_heads`.
    pub n_kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Tokens that the model was trained to see.
    pub n_ctx: usize,
    /// Rows of the embedding table.
    pub n_vocab: usize,
    /// Added to the mean square in RMSNorm.
    pub rms_eps: f32,
    /// Base of the rotary frequencies.
    pub rope_theta: f64,
    /// How rotated pairs lie in a head.
    pub rope_layout: RopeLayout,
    /// RMSNorm over each head of q and k (Qwen3).
    pub has_qk_norm: bool,
}

/// Architectures that our own decoder runs.
pub const OWN_ARCHITECTURES: [&str; 3] = ["llama", "qwen2", "qwen3"];

impl DecoderConfig {
    /// Reads a header.
    ///
    /// # Errors
    /// `UnsupportedModel` for another architecture or a variant that the decoder lacks; `WeightsFormat` for missing or
    /// contradictory numbers.
    pub fn from_gguf(gguf: &Gguf) -> Result<Self> {
        let architecture = gguf
            .text("general.architecture")
            .ok_or_else(|| EvalError::new(ErrorKind::WeightsFormat, "is missing").at("key \"general.architecture\""))?;
        let unsupported = |message: String| EvalError::new(ErrorKind::UnsupportedModel, message);
        if !OWN_ARCHITECTURES.contains(&architecture) {
            return Err(unsupported(format!(
                "architecture \"{architecture}\" is not supported by this decoder, which runs {}",
                OWN_ARCHITECTURES.join(", ")
            ))
            .at("key \"general.architecture\""));
        }
        let key = |suffix: &str| format!("{architecture}.{suffix}");
        let n_heads = gguf.required_uint(&key("attention.head_count"))?;
        let n_kv_heads = gguf.uint(&key("attention.head_count_kv")).map_or(n_heads, |n| n as usize);
        let d_model = gguf.required_uint(&key("embedding_length"))?;
        let head_dim = gguf.uint(&key("attention.key_length")).map_or(d_model / n_heads, |n| n as usize);
        let embedding = gguf.tensor("token_embd.weight")?;
        let n_vocab = embedding.dims.get(1).copied().unwrap_or(0);
        let n_layers = gguf.required_uint(&key("block_count"))?;
        if d_model != embedding.dims[0] {
            return Err(EvalError::new(
                ErrorKind::WeightsFormat,
                format!("is {d_model}, but rows of token_embd.weight have {} elements", embedding.dims[0]),
            )
            .at(format!("key \"{}\"", key("embedding_length"))));
        }
        if n_layers > gguf.tensors.len() {
            return Err(EvalError::new(ErrorKind::WeightsFormat, format!("is {n_layers}, but the file has {} tensors", gguf.tensors.len()))
                .at(format!("key \"{}\"", key("block_count"))));
        }
        if n_kv_heads == 0 || n_heads % n_kv_heads != 0 {
            return Err(EvalError::new(ErrorKind::WeightsFormat, format!("{n_heads} heads do not divide into {n_kv_heads} groups"))
                .at(format!("key \"{}\"", key("attention.head_count_kv"))));
        }
        if head_dim == 0 || !head_dim.is_multiple_of(8) {
            return Err(unsupported(format!("heads of {head_dim} elements; the kernels want a multiple of 8")));
        }
        if gguf.uint(&key("expert_count")).is_some_and(|n| n > 0) {
            return Err(unsupported("mixtures of experts are not supported".into()).at(format!("key \"{}\"", key("expert_count"))));
        }
        if let Some(scaling) = gguf.text(&key("rope.scaling.type")).filter(|&t| t != "none") {
            return Err(unsupported(format!("rope scaling \"{scaling}\" is not supported")).at(format!("key \"{}\"", key("rope.scaling.type"))));
        }
        if gguf.uint(&key("rope.dimension_count")).is_some_and(|n| n as usize != head_dim) {
            return Err(
                unsupported("rotary positions over a part of a head are not supported".into()).at(format!("key \"{}\"", key("rope.dimension_count")))
            );
        }
        Ok(Self {
            n_layers,
            d_model,
            d_ff: gguf.required_uint(&key("feed_forward_length"))?,
            n_heads,
            n_kv_heads,
            head_dim,
            n_ctx: gguf.required_uint(&key("context_length"))?,
            n_vocab,
            rms_eps: gguf.float(&key("attention.layer_norm_rms_epsilon")).unwrap_or(1e-5) as f32,
            rope_theta: gguf.float(&key("rope.freq_base")).unwrap_or(10_000.0),
            rope_layout: if architecture == "llama" { RopeLayout::Interleaved } else { RopeLayout::Halves },
            has_qk_norm: architecture == "qwen3",
            architecture: architecture.to_owned(),
        })
    }
}
