//! The GGUF container: header, metadata and the list of tensors.
//!
//! In: a [`Source`]. Out: [`Gguf`]. Tensor data stays where it is; `weights` reads it tensor by tensor.
//! Every count and offset comes from the file and is checked before anything is allocated for it, in 64 bits, because `usize`
//! has 32 in a browser.
//!
//! A split model is several such files: the first has the model's metadata, each has the tensors whose data it holds. Here they
//! become one header whose offsets count from the start of the first file.
//!
//! DIFFERS from candle's reader, which serves the stock path: errors name the key or tensor, and IQ4_NL is known.
//! Source: ggml's `docs/gguf.md`, versions 2 and 3 (version 1 files are no longer made); llama.cpp's `gguf-split` for the keys
//! `split.no`, `split.count` and `split.tensors.count`.

use super::source::{Reader, Source};
use crate::engine::kernels::kind::TensorKind;
use crate::error::{ErrorKind, EvalError, Result};
use crate::tokenizer::TokenizerSpec;
use std::collections::BTreeMap;
use std::io::Read;

/// A metadata value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any integer type.
    Int(i64),
    /// f32 or f64.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// UTF-8 text.
    Text(String),
    /// An array of text.
    Texts(Vec<String>),
    /// An array of integers or booleans.
    Ints(Vec<i64>),
    /// An array of floats.
    Floats(Vec<f32>),
}

/// One entry of the tensor list.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorInfo {
    /// Elements along each dimension, the contiguous one first, as in the file.
    pub dims: Vec<usize>,
    /// How numbers are stored.
    pub kind: TensorKind,
    /// First byte, from the start of the file; of the first one of a split model.
    pub offset: u64,
    /// Bytes.
    pub n_bytes: usize,
}

impl TensorInfo {
    /// Number of elements.
    pub fn n_elements(&self) -> u64 {
        self.dims.iter().map(|&d| d as u64).product()
    }
}

/// A parsed header.
#[derive(Debug, Clone)]
pub struct Gguf {
    /// Metadata by key.
    pub metadata: BTreeMap<String, Value>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, TensorInfo>,
}

fn bad(message: impl Into<String>) -> EvalError {
    EvalError::new(ErrorKind::WeightsFormat, message)
}

/// Reads numbers and text off a source.
struct Parser<'a> {
    reader: Reader<'a>,
}

impl Parser<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        self.fill(&mut out)?;
        Ok(out)
    }

    fn fill(&mut self, out: &mut [u8]) -> Result<()> {
        if self.reader.remaining() < out.len() as u64 {
            let at = self.reader.position();
            return Err(bad(format!("the file ends inside its header: {} bytes wanted at {at}, {} left", out.len(), self.reader.remaining())));
        }
        self.reader.read_exact(out)?;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    /// A count whose items take at least `min_bytes` each: more than the file has room for is an error.
    fn count(&mut self, min_bytes: u64, what: &str) -> Result<usize> {
        let n = self.u64()?;
        let room = self.reader.remaining() / min_bytes;
        usize::try_from(n).ok().filter(|_| n <= room).ok_or_else(|| bad(format!("{what} is {n}, the file has room for at most {room}")))
    }

    fn text(&mut self) -> Result<String> {
        let n = self.count(1, "the length of a text")?;
        let mut bytes = vec![0; n];
        self.fill(&mut bytes)?;
        // Some vocabularies hold pieces that are not UTF-8; they can never be matched by text, so a stand-in serves.
        Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
    }

    fn int(&mut self, type_id: u32) -> Result<i64> {
        Ok(match type_id {
            0 => i64::from(self.bytes::<1>()?[0]),
            1 => i64::from(self.bytes::<1>()?[0] as i8),
            2 => i64::from(u16::from_le_bytes(self.bytes()?)),
            3 => i64::from(i16::from_le_bytes(self.bytes()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.bytes()?)),
            7 => i64::from(self.bytes::<1>()?[0] != 0),
            10 => i64::try_from(self.u64()?).map_err(|_| bad("an integer is above 2^63"))?,
            11 => i64::from_le_bytes(self.bytes()?),
            other => return Err(bad(format!("value type {other} is not known"))),
        })
    }

    fn value(&mut self) -> Result<Value> {
        Ok(match self.u32()? {
            6 => Value::Float(f64::from(f32::from_le_bytes(self.bytes()?))),
            7 => Value::Bool(self.bytes::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            12 => Value::Float(f64::from_le_bytes(self.bytes()?)),
            9 => {
                let item = self.u32()?;
                match item {
                    6 => {
                        let n = self.count(4, "the length of an array")?;
                        Value::Floats((0..n).map(|_| Ok(f32::from_le_bytes(self.bytes()?))).collect::<Result<_>>()?)
                    }
                    8 => {
                        let n = self.count(8, "the length of an array")?;
                        Value::Texts((0..n).map(|_| self.text()).collect::<Result<_>>()?)
                    }
                    12 => {
                        let n = self.count(8, "the length of an array")?;
                        Value::Floats((0..n).map(|_| Ok(f64::from_le_bytes(self.bytes()?) as f32)).collect::<Result<_>>()?)
                    }
                    9 => return Err(bad("arrays of arrays are not supported")),
                    _ => {
                        let n = self.count(1, "the length of an array")?;
                        Value::Ints((0..n).map(|_| self.int(item)).collect::<Result<_>>()?)
                    }
                }
            }
            type_id => Value::Int(self.int(type_id)?),
        })
    }
}

/// Names at which one more thing about the file can be said.
fn at_key(key: &str) -> impl Fn(EvalError) -> EvalError + '_ {
    move |e| e.at(format!("key \"{key}\""))
}

impl Gguf {
    /// Parses a header.
    ///
    /// # Errors
    /// `WeightsFormat` where the file is not a GGUF, ends too early or contradicts itself; `UnsupportedModel` for a tensor type
    /// that the engine does not read. The place is the key or tensor, and the part of a split model.
    pub fn read(source: &mut dyn Source) -> Result<Self> {
        let sizes = source.part_sizes();
        let n_given = sizes.len();
        let mut whole = Self { metadata: BTreeMap::new(), tensors: BTreeMap::new() };
        let mut start = 0;
        for (i, size) in sizes.into_iter().enumerate() {
            let place = |e: EvalError| match (n_given, e.place.clone()) {
                (1, _) => e,
                (_, None) => e.at(format!("part {} of {n_given}", i + 1)),
                (_, Some(inner)) => e.at(format!("part {} of {n_given}, {inner}", i + 1)),
            };
            let part = Self::read_part(source, start, size).map_err(place)?;
            part.check_split(i, n_given).map_err(place)?;
            if i == 0 {
                whole.metadata = part.metadata;
            }
            for (name, info) in part.tensors {
                if whole.tensors.insert(name.clone(), info).is_some() {
                    return Err(place(bad("is in an earlier part too").at(format!("tensor \"{name}\""))));
                }
            }
            start += size;
        }
        match whole.uint("split.tensors.count") {
            Some(n) if n_given > 1 && n as usize != whole.tensors.len() => {
                Err(at_key("split.tensors.count")(bad(format!("is {n}, the {n_given} parts have {} tensors", whole.tensors.len()))))
            }
            _ => Ok(whole),
        }
    }

    /// Is this part `i`, from 0, of a model of so many files?
    fn check_split(&self, i: usize, n_given: usize) -> Result<()> {
        let n_parts = self.uint("split.count").unwrap_or(1).max(1) as usize;
        let no = self.uint("split.no").unwrap_or(0) as usize;
        let wrong = |message: String| Err(at_key(if no == i { "split.count" } else { "split.no" })(bad(message)));
        match (no == i, n_parts == n_given) {
            (true, true) => Ok(()),
            _ if n_parts <= 1 => wrong(format!("is missing: this file is a whole model and no part of one in {n_given} files")),
            (false, true) => wrong(format!("this file is part {}, expected part {}", no + 1, i + 1)),
            // Of a model of which one file was given, all that can be said is what else it needs.
            (_, false) if n_given == 1 => wrong(format!(
                "this file is part {} of {n_parts}, and the others are missing: they are named like it, up to \"-{n_parts:05}-of-{n_parts:05}.gguf\"",
                no + 1
            )),
            (_, false) => wrong(format!("this file is part {} of {n_parts}, but {n_given} files were given", no + 1)),
        }
    }

    /// One file, whose bytes begin at `start` of the source.
    fn read_part(source: &mut dyn Source, start: u64, file_size: u64) -> Result<Self> {
        let mut p = Parser { reader: Reader::of_part(source, start, file_size) };
        if file_size < 24 || &p.bytes::<4>()? != b"GGUF" {
            return Err(bad(format!("not a GGUF file: it has {file_size} bytes and does not start with \"GGUF\" followed by a header")));
        }
        let version = p.u32()?;
        if !(2..=3).contains(&version) {
            let hint = if version.swap_bytes() <= 3 { " (a big-endian file)" } else { "" };
            return Err(bad(format!("GGUF version {version}{hint} is not supported, only 2 and 3")));
        }
        // A tensor takes at least name length, dimension count, type and offset; a key its length, type and one byte.
        let n_tensors = p.count(24, "the number of tensors")?;
        let n_keys = p.count(13, "the number of keys")?;
        let mut metadata = BTreeMap::new();
        for i in 0..n_keys {
            let key = p.text().map_err(|e| e.at(format!("key {} of {n_keys}", i + 1)))?;
            let value = p.value().map_err(at_key(&key))?;
            metadata.insert(key, value);
        }
        let mut infos = Vec::new();
        for i in 0..n_tensors {
            let name = p.text().map_err(|e| e.at(format!("tensor {} of {n_tensors}", i + 1)))?;
            let place = |e: EvalError| e.at(format!("tensor \"{name}\""));
            let n_dims = p.u32().map_err(place)?;
            if !(1..=4).contains(&n_dims) {
                return Err(place(bad(format!("{n_dims} dimensions, expected 1 to 4"))));
            }
            let dims: Vec<u64> = (0..n_dims).map(|_| p.u64()).collect::<Result<_>>().map_err(place)?;
            let kind = TensorKind::from_ggml(p.u32().map_err(place)?).map_err(place)?;
            let offset = p.u64().map_err(place)?;
            infos.push((name, dims, kind, offset));
        }
        let alignment = match metadata.get("general.alignment") {
            None => 32,
            Some(&Value::Int(a)) if a > 0 && a <= 1 << 20 && (a as u64).is_power_of_two() => a as u64,
            Some(other) => return Err(at_key("general.alignment")(bad(format!("{other:?} is not an alignment")))),
        };
        let data_start = p.reader.position().next_multiple_of(alignment);
        let mut tensors = BTreeMap::new();
        for (name, dims, kind, offset) in infos {
            let place = |e: EvalError| e.at(format!("tensor \"{name}\""));
            if offset % alignment != 0 {
                return Err(place(bad(format!("its offset {offset} is no multiple of the alignment {alignment}"))));
            }
            let mut info = tensor_info(&dims, kind, data_start.checked_add(offset), file_size).map_err(place)?;
            info.offset += start;
            if tensors.insert(name.clone(), info).is_some() {
                return Err(bad("appears twice").at(format!("tensor \"{name}\"")));
            }
        }
        Ok(Self { metadata, tensors })
    }

    /// A tensor by name.
    pub fn tensor(&self, name: &str) -> Result<&TensorInfo> {
        self.tensors.get(name).ok_or_else(|| bad("is missing").at(format!("tensor \"{name}\"")))
    }

    /// A text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key) {
            Some(Value::Text(t)) => Some(t),
            _ => None,
        }
    }

    /// A non-negative integer that fits `u32`.
    pub fn uint(&self, key: &str) -> Option<u32> {
        match self.metadata.get(key) {
            Some(&Value::Int(i)) => u32::try_from(i).ok(),
            _ => None,
        }
    }

    /// A number of either type.
    pub fn float(&self, key: &str) -> Option<f64> {
        match self.metadata.get(key) {
            Some(&Value::Float(f)) => Some(f),
            Some(&Value::Int(i)) => Some(i as f64),
            _ => None,
        }
    }

    /// A boolean.
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.metadata.get(key) {
            Some(&Value::Bool(b)) => Some(b),
            _ => None,
        }
    }

    /// The `tokenizer.*` keys. The lists are taken out: a vocabulary is the better part of a header, nobody else reads it.
    pub fn take_tokenizer_spec(&mut self) -> TokenizerSpec {
        let mut take = |key: &str| self.metadata.remove(key);
        let tokens = take("tokenizer.ggml.tokens");
        let merges = take("tokenizer.ggml.merges");
        let token_types = take("tokenizer.ggml.token_type");
        let scores = take("tokenizer.ggml.scores");
        let texts = |value| if let Some(Value::Texts(texts)) = value { texts } else { Vec::new() };
        let text = |key: &str| self.text(key).map(str::to_owned);
        TokenizerSpec {
            model: text("tokenizer.ggml.model").unwrap_or_default(),
            pre: text("tokenizer.ggml.pre"),
            tokens: texts(tokens),
            merges: texts(merges),
            token_types: if let Some(Value::Ints(types)) = token_types { types.into_iter().map(|t| t as i32).collect() } else { Vec::new() },
            scores: if let Some(Value::Floats(scores)) = scores { scores } else { Vec::new() },
            bos_id: self.uint("tokenizer.ggml.bos_token_id"),
            eos_id: self.uint("tokenizer.ggml.eos_token_id"),
            unk_id: self.uint("tokenizer.ggml.unknown_token_id"),
            add_bos: self.flag("tokenizer.ggml.add_bos_token"),
            add_space_prefix: self.flag("tokenizer.ggml.add_space_prefix"),
            chat_template: text("tokenizer.chat_template"),
        }
    }

    /// A count that the model cannot do without.
    pub fn required_uint(&self, key: &str) -> Result<usize> {
        self.uint(key).filter(|&u| u > 0).map(|u| u as usize).ok_or_else(|| at_key(key)(bad("is missing or not a positive integer")))
    }
}

fn tensor_info(dims: &[u64], kind: TensorKind, offset: Option<u64>, file_size: u64) -> Result<TensorInfo> {
    let n = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).filter(|&n| n > 0);
    let n = n.ok_or_else(|| bad(format!("dimensions {dims:?} are empty or overflow")))?;
    let block = kind.block_len() as u64;
    if !dims[0].is_multiple_of(block) {
        return Err(bad(format!("rows of {} elements are not whole blocks of {block} ({})", dims[0], kind.name())));
    }
    let n_bytes = (n / block).checked_mul(kind.block_bytes() as u64);
    let end = offset.zip(n_bytes).and_then(|(o, n)| o.checked_add(n));
    match (offset, n_bytes, end) {
        (Some(offset), Some(n_bytes), Some(end)) if end <= file_size => Ok(TensorInfo {
            dims: dims.iter().map(|&d| usize::try_from(d)).collect::<Result<_, _>>().map_err(|_| bad("too large for this machine"))?,
            kind,
            offset,
            n_bytes: usize::try_from(n_bytes).map_err(|_| bad("too large for this machine"))?,
        }),
        (Some(offset), Some(n_bytes), _) => Err(bad(format!("needs {n_bytes} bytes at {offset}, file ends at {file_size}"))),
        _ => Err(bad("its offset or size overflows")),
    }
}
