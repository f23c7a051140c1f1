//! Where a model's bytes come from: a file, the files of a split model, a `Blob` in a worker, a buffer. Read at an offset, never
//! held whole.
//!
//! Source of the names of parts: llama.cpp's `llama_split_path` ("NAME-00001-of-00003.gguf").

use crate::error::{ErrorKind, EvalError, Result};
use sha2::{Digest, Sha256};

/// Random access to bytes.
pub trait Source {
    /// Length in bytes.
    fn size(&self) -> u64;
    /// Fills `out` from `offset`.
    ///
    /// # Errors
    /// `Io` where the bytes cannot be had; a range past the end is one.
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<()>;
    /// Lengths of the files that the bytes are in, one behind the other: several for a split model.
    fn part_sizes(&self) -> Vec<u64> {
        vec![self.size()]
    }
}

/// The files of a split model in order, as one source.
pub struct Parts<S>(pub Vec<S>);

impl<S: Source> Source for Parts<S> {
    fn size(&self) -> u64 {
        self.0.iter().map(Source::size).sum()
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<()> {
        let (mut at, mut n_filled) = (offset, 0);
        for part in &mut self.0 {
            let size = part.size();
            if at < size && n_filled < out.len() {
                let n = (out.len() - n_filled).min(usize::try_from(size - at).unwrap_or(usize::MAX));
                part.read_at(at, &mut out[n_filled..n_filled + n])?;
                n_filled += n;
                at = size;
            }
            at -= size.min(at);
        }
        if n_filled == out.len() {
            Ok(())
        } else {
            Err(past_end(offset, out.len(), self.size()))
        }
    }

    fn part_sizes(&self) -> Vec<u64> {
        self.0.iter().map(Source::size).collect()
    }
}

/// Paths of all parts of a split model by the path of one of them; of any other file, its own.
#[cfg(not(target_arch = "wasm32"))]
pub fn part_paths(path: &std::path::Path) -> Vec<std::path::PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match split_name(&name) {
        Some((stem, n_parts)) => (1..=n_parts).map(|i| path.with_file_name(format!("{stem}-{i:05}-of-{n_parts:05}.gguf"))).collect(),
        None => vec![path.to_owned()],
    }
}

/// What stands before the number in a part's name, and how many parts there are.
#[cfg(not(target_arch = "wasm32"))]
fn split_name(name: &str) -> Option<(&str, u32)> {
    let (rest, n_parts) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
    let (stem, i) = rest.rsplit_once('-')?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|&n| n > 0 && text.len() == 5);
    let (i, n_parts) = (number(i)?, number(n_parts)?);
    (i <= n_parts).then_some((stem, n_parts))
}

/// What a model is known by: the SHA-256 of its file; of a split one, the SHA-256 of its parts' SHA-256 in order.
pub fn model_sha256(parts: &[[u8; 32]]) -> [u8; 32] {
    match parts {
        [only] => *only,
        parts => Sha256::digest(parts.concat()).into(),
    }
}

impl Source for std::io::Cursor<Vec<u8>> {
    fn size(&self) -> u64 {
        self.get_ref().len() as u64
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|s| self.get_ref().get(s..s.checked_add(out.len())?));
        out.copy_from_slice(bytes.ok_or_else(|| past_end(offset, out.len(), self.size()))?);
        Ok(())
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Source for std::fs::File {
    fn size(&self) -> u64 {
        self.metadata().map_or(0, |m| m.len())
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        self.seek(SeekFrom::Start(offset))?;
        self.read_exact(out)?;
        Ok(())
    }
}

/// The error for a range that is not inside the source.
pub fn past_end(offset: u64, n_bytes: usize, size: u64) -> EvalError {
    EvalError::new(ErrorKind::Io, format!("needs {n_bytes} bytes at {offset}, file ends at {size}"))
}

/// `Read + Seek` over a source or one part of it, through a buffer of one chunk: for libraries that want a reader.
pub struct Reader<'a> {
    source: &'a mut dyn Source,
    start: u64,
    size: u64,
    position: u64,
    chunk: Vec<u8>,
    chunk_start: u64,
}

impl<'a> Reader<'a> {
    const CHUNK: u64 = 1 << 20;

    /// A reader at the start of `source`.
    pub fn new(source: &'a mut dyn Source) -> Self {
        let size = source.size();
        Self::of_part(source, 0, size)
    }

    /// A reader of the `size` bytes from `start`; positions count from there.
    pub fn of_part(source: &'a mut dyn Source, start: u64, size: u64) -> Self {
        Self { source, start, size, position: 0, chunk: Vec::new(), chunk_start: 0 }
    }

    /// Bytes from the start.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes between here and the end.
    pub fn remaining(&self) -> u64 {
        self.size.saturating_sub(self.position)
    }
}

impl std::io::Read for Reader<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let to_io = |e: EvalError| std::io::Error::other(e.to_string());
        let n = out.len().min(usize::try_from(self.remaining()).unwrap_or(usize::MAX));
        if n as u64 >= Self::CHUNK {
            self.source.read_at(self.start + self.position, &mut out[..n]).map_err(to_io)?;
            self.position += n as u64;
            return Ok(n);
        }
        let inside = self.position.checked_sub(self.chunk_start).map(|o| o as usize).filter(|&o| o < self.chunk.len());
        let at = match inside {
            Some(at) => at,
            None => {
                // Cannot truncate: at most CHUNK.
                self.chunk.resize(self.remaining().min(Self::CHUNK) as usize, 0);
                self.chunk_start = self.position;
                self.source.read_at(self.start + self.position, &mut self.chunk).map_err(to_io)?;
                0
            }
        };
        let n = n.min(self.chunk.len() - at);
        out[..n].copy_from_slice(&self.chunk[at..at + n]);
        self.position += n as u64;
        Ok(n)
    }
}

impl std::io::Seek for Reader<'_> {
    fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
        let target = match to {
            std::io::SeekFrom::Start(at) => Some(at),
            std::io::SeekFrom::End(by) => self.size.checked_add_signed(by),
            std::io::SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = target.ok_or_else(|| std::io::Error::other("seek before the start"))?;
        Ok(self.position)
    }
}
