//! The number kinds of GGUF tensors that the engine reads.

use crate::error::{ErrorKind, EvalError, Result};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[allow(non_camel_case_types, missing_docs)]
pub enum TensorKind {
    F32,
    F16,
    #[serde(rename = "BF16")]
    Bf16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    #[serde(rename = "Q2_K")]
    Q2K,
    #[serde(rename = "Q3_K")]
    Q3K,
    #[serde(rename = "Q4_K")]
    Q4K,
    #[serde(rename = "Q5_K")]
    Q5K,
    #[serde(rename = "Q6_K")]
    Q6K,
    #[serde(rename = "IQ4_NL")]
    Iq4Nl,
}

impl TensorKind {
    /// Every kind, for tests that go through all of them.
    pub const ALL: [Self; 14] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::Q4_0,
        Self::Q4_1,
        Self::Q5_0,
        Self::Q5_1,
        Self::Q8_0,
        Self::Q2K,
        Self::Q3K,
        Self::Q4K,
        Self::Q5K,
        Self::Q6K,
        Self::Iq4Nl,
    ];

    /// From ggml's type number.
    ///
    /// # Errors
    /// `UnsupportedModel` names the number, and the type where it is a known one.
    pub fn from_ggml(id: u32) -> Result<Self> {
        Ok(match id {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            10 => Self::Q2K,
            11 => Self::Q3K,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            20 => Self::Iq4Nl,
            30 => Self::Bf16,
            other => {
                let name = match other {
                    9 => "Q8_1",
                    15 => "Q8_K",
                    16 => "IQ2_XXS",
                    17 => "IQ2_XS",
                    18 => "IQ3_XXS",
                    19 => "IQ1_S",
                    21 => "IQ3_S",
                    22 => "IQ2_S",
                    23 => "IQ4_XS",
                    29 => "IQ1_M",
                    34 => "TQ1_0",
                    35 => "TQ2_0",
                    39 => "MXFP4",
                    _ => "unknown",
                };
                return Err(EvalError::new(ErrorKind::UnsupportedModel, format!("tensor type {other} ({name}) is not supported")));
            }
        })
    }

    /// ggml's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q2K => "Q2_K",
            Self::Q3K => "Q3_K",
            Self::Q4K => "Q4_K",
            Self::Q5K => "Q5_K",
            Self::Q6K => "Q6_K",
            Self::Iq4Nl => "IQ4_NL",
        }
    }

    /// Values of a block; 1 for the float kinds.
    pub fn block_len(self) -> usize {
        super::unpack::with_format!(self, F => <F as super::unpack::Unpack>::LEN, else 1)
    }

    /// Bytes of a block.
    pub fn block_bytes(self) -> usize {
        super::unpack::with_format!(self, F => <F as super::unpack::Unpack>::BYTES, else if self == Self::F32 { 4 } else { 2 })
    }

    /// Whether the integer microkernel serves it.
    pub fn is_quantised(self) -> bool {
        self.block_len() > 1
    }
}
