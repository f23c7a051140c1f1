//! Merges of a SentencePiece vocabulary.
//!
//! In: pieces with scores, as GGUF files of Llama 2, TinyLlama, Mistral and Gemma have them. Out: the merges in order, which such
//! files leave out: any two pieces whose concatenation is a piece, the best score first.
//!
//! Source: SentencePiece's BPE encoder merges by the score of the result. Where one piece has several ways to come about, the
//! order of the two parts' ids decides, as in the `tokenizer.json` of these models.

use super::{TokenType, TokenizerSpec};
use tokenizers::models::bpe::Vocab;

/// All merges, the first to be applied first. `vocab` is that of `spec`.
pub(super) fn merges(spec: &TokenizerSpec, vocab: &Vocab) -> Vec<(String, String)> {
    let is_text = |id: u32| matches!(spec.token_type(id), TokenType::Normal | TokenType::Unused);
    let text_id = |piece: &str| vocab.get(piece).copied().filter(|&id| is_text(id));
    let score = |id: u32| spec.scores.get(id as usize).copied().unwrap_or(0.0);
    let mut results: Vec<(u32, &str)> = (0..).zip(spec.tokens.iter().map(String::as_str)).filter(|&(id, piece)| text_id(piece) == Some(id)).collect();
    results.sort_by(|a, b| score(b.0).total_cmp(&score(a.0)));
    let mut merges = Vec::new();
    for (_, piece) in results {
        let ways = piece.char_indices().skip(1).filter_map(|(at, _)| {
            let (left, right) = piece.split_at(at);
            Some((text_id(left)?, text_id(right)?, at))
        });
        let mut ways: Vec<_> = ways.collect();
        ways.sort_unstable();
        merges.extend(ways.into_iter().map(|(_, _, at)| (piece[..at].to_owned(), piece[at..].to_owned())));
    }
    merges
}
