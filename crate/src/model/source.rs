//! Where a model's bytes come from: a file, a `Blob` in a worker, a buffer. Read at an offset, never held whole.

use crate::error::{ErrorKind, EvalError, Result};

/// Random access to bytes.
pub trait Source {
    /// Length in bytes.
    fn size(&self) -> u64;
    /// Fills `out` from `offset`.
    ///
    /// # Errors
    /// `Io` where the bytes cannot be had; a range past the end is one.
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<()>;
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

/// `Read + Seek` over a source, through a buffer of one chunk: for libraries that want a reader.
pub struct Reader<'a> {
    source: &'a mut dyn Source,
    size: u64,
    position: u64,
    chunk: Vec<u8>,
    chunk_start: u64,
}

impl<'a> Reader<'a> {
    const CHUNK: u64 = 1 << 20;

    /// A reader at the start of `source`.
    pub fn new(source: &'a mut dyn Source) -> Self {
        Self { size: source.size(), source, position: 0, chunk: Vec::new(), chunk_start: 0 }
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
            self.source.read_at(self.position, &mut out[..n]).map_err(to_io)?;
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
                self.source.read_at(self.position, &mut self.chunk).map_err(to_io)?;
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
