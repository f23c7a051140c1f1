//! The tensors of a decoder, read one at a time, in the bytes of the file.
//!
//! In: a header and a [`Source`]. Out: [`Weights`]. Matrices stay quantised; vectors (norms, biases) become float32.
//! [`Loader`] reads a tensor a call, so that a page can show progress and stop in between.

use super::config::DecoderConfig;
use super::gguf::Gguf;
use super::source::Source;
use crate::engine::kernels::gemm::Matrix;
use crate::engine::kernels::unpack::dequantize;
use crate::error::{ErrorKind, EvalError, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One decoder layer.
#[allow(missing_docs)]
pub struct Layer {
    pub attn_norm: Vec<f32>,
    pub wq: Matrix,
    pub wk: Matrix,
    pub wv: Matrix,
    pub bq: Option<Vec<f32>>,
    pub bk: Option<Vec<f32>>,
    pub bv: Option<Vec<f32>>,
    pub q_norm: Option<Vec<f32>>,
    pub k_norm: Option<Vec<f32>>,
    pub wo: Matrix,
    pub ffn_norm: Vec<f32>,
    pub w_gate: Matrix,
    pub w_up: Matrix,
    pub w_down: Matrix,
}

/// A whole decoder.
#[allow(missing_docs)]
pub struct Weights {
    pub embedding: Matrix,
    pub layers: Vec<Layer>,
    pub output_norm: Vec<f32>,
    /// `None`: the embedding table serves.
    pub output: Option<Matrix>,
    pub rope_factors: Vec<f32>,
}

impl Weights {
    /// The output layer.
    pub fn output(&self) -> &Matrix {
        self.output.as_ref().unwrap_or(&self.embedding)
    }

    /// Bytes of all matrices.
    pub fn n_bytes(&self) -> usize {
        let layers = self.layers.iter().flat_map(|l| [&l.wq, &l.wk, &l.wv, &l.wo, &l.w_gate, &l.w_up, &l.w_down]);
        layers.chain([&self.embedding]).chain(&self.output).map(Matrix::n_bytes).sum()
    }
}

/// Reads the tensors of a model in the order of the file.
pub struct Loader {
    /// Names in file order, not yet read from the end on.
    queue: Vec<String>,
    gguf: Arc<Gguf>,
    matrices: BTreeMap<String, Matrix>,
    vectors: BTreeMap<String, Vec<f32>>,
    n_bytes_read: u64,
}

impl Loader {
    /// A loader at the first tensor.
    pub fn new(gguf: Arc<Gguf>) -> Self {
        let mut queue: Vec<_> = gguf.tensors.keys().cloned().collect();
        queue.sort_by_key(|name| std::cmp::Reverse(gguf.tensors[name].offset));
        Self { queue, gguf, matrices: BTreeMap::new(), vectors: BTreeMap::new(), n_bytes_read: 0 }
    }

    /// Bytes of tensors read by now.
    pub fn n_bytes_read(&self) -> u64 {
        self.n_bytes_read
    }

    /// Reads the next tensor; its name, or `None` when all are read.
    ///
    /// # Errors
    /// What the source says, at the tensor.
    pub fn step(&mut self, source: &mut dyn Source) -> Result<Option<String>> {
        let Some(name) = self.queue.pop() else { return Ok(None) };
        let info = &self.gguf.tensors[&name];
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(info.n_bytes)
            .map_err(|_| EvalError::new(ErrorKind::Io, format!("no memory for {} bytes", info.n_bytes)).at(format!("tensor \"{name}\"")))?;
        bytes.resize(info.n_bytes, 0);
        source.read_at(info.offset, &mut bytes).map_err(|e| e.at(format!("tensor \"{name}\"")))?;
        self.n_bytes_read += info.n_bytes as u64;
        if let [k] = info.dims[..] {
            let mut values = vec![0f32; k];
            dequantize(info.kind, &bytes, &mut values);
            self.vectors.insert(name.clone(), values);
        } else {
            let n_out = info.dims[1..].iter().product();
            let matrix = Matrix::new(info.kind, n_out, info.dims[0], bytes).expect("the header's check made the sizes fit");
            self.matrices.insert(name.clone(), matrix);
        }
        Ok(Some(name))
    }

    /// Puts the decoder together.
    ///
    /// # Errors
    /// `WeightsFormat` where a tensor is missing or has another shape than the metadata say.
    pub fn finish(mut self, config: &DecoderConfig) -> Result<Weights> {
        let c = config;
        let (d_q, d_kv) = (c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim);
        let mut layers = Vec::with_capacity(c.n_layers);
        for i in 0..c.n_layers {
            let name = |suffix: &str| format!("blk.{i}.{suffix}");
            layers.push(Layer {
                attn_norm: self.vector(&name("attn_norm.weight"), c.d_model)?,
                wq: self.matrix(&name("attn_q.weight"), d_q, c.d_model)?,
                wk: self.matrix(&name("attn_k.weight"), d_kv, c.d_model)?,
                wv: self.matrix(&name("attn_v.weight"), d_kv, c.d_model)?,
                bq: self.optional_vector(&name("attn_q.bias"), d_q)?,
                bk: self.optional_vector(&name("attn_k.bias"), d_kv)?,
                bv: self.optional_vector(&name("attn_v.bias"), d_kv)?,
                q_norm: if c.has_qk_norm { Some(self.vector(&name("attn_q_norm.weight"), c.head_dim)?) } else { None },
                k_norm: if c.has_qk_norm { Some(self.vector(&name("attn_k_norm.weight"), c.head_dim)?) } else { None },
                wo: self.matrix(&name("attn_output.weight"), c.d_model, d_q)?,
                ffn_norm: self.vector(&name("ffn_norm.weight"), c.d_model)?,
                w_gate: self.matrix(&name("ffn_gate.weight"), c.d_ff, c.d_model)?,
                w_up: self.matrix(&name("ffn_up.weight"), c.d_ff, c.d_model)?,
                w_down: self.matrix(&name("ffn_down.weight"), c.d_model, c.d_ff)?,
            });
        }
        let weights = Weights {
            embedding: self.matrix("token_embd.weight", c.n_vocab, c.d_model)?,
            layers,
            output_norm: self.vector("output_norm.weight", c.d_model)?,
            output: if self.matrices.contains_key("output.weight") { Some(self.matrix("output.weight", c.n_vocab, c.d_model)?) } else { None },
            rope_factors: self.optional_vector("rope_freqs.weight", c.head_dim / 2)?.unwrap_or_default(),
        };
        // A tensor that nothing reads would change the model's output if it were meant to be read.
        if let Some(name) = self.matrices.keys().chain(self.vectors.keys()).next() {
            return Err(EvalError::new(ErrorKind::UnsupportedModel, "is not part of the architecture as this decoder knows it")
                .at(format!("tensor \"{name}\"")));
        }
        Ok(weights)
    }

    fn matrix(&mut self, name: &str, n_out: usize, n_in: usize) -> Result<Matrix> {
        let m = self.matrices.remove(name).ok_or_else(|| missing(name))?;
        if (m.n_out, m.n_in) == (n_out, n_in) {
            Ok(m)
        } else {
            Err(wrong_shape(name, &[m.n_out, m.n_in], &[n_out, n_in]))
        }
    }

    fn optional_vector(&mut self, name: &str, len: usize) -> Result<Option<Vec<f32>>> {
        match self.vectors.remove(name) {
            Some(v) if v.len() != len => Err(wrong_shape(name, &[v.len()], &[len])),
            v => Ok(v),
        }
    }

    fn vector(&mut self, name: &str, len: usize) -> Result<Vec<f32>> {
        self.optional_vector(name, len)?.ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> EvalError {
    EvalError::new(ErrorKind::WeightsFormat, "is missing").at(format!("tensor \"{name}\""))
}

fn wrong_shape(name: &str, found: &[usize], expected: &[usize]) -> EvalError {
    EvalError::new(ErrorKind::WeightsFormat, format!("has shape {found:?}, the metadata ask for {expected:?}")).at(format!("tensor \"{name}\""))
}
