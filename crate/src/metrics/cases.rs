//! Items for unit tests, from as little as each of them needs.

use crate::score::{picks, ChoiceScore, ItemScore};
use crate::spec::Precision;
use crate::task::doc::OutputType;

/// A choice of one-byte letters with a log-likelihood.
pub fn choice(loglikelihood: f64, n_chars: usize) -> ChoiceScore {
    ChoiceScore {
        text: "x".repeat(n_chars),
        token_ids: vec![7],
        token_logprobs: vec![loglikelihood],
        loglikelihood,
        is_greedy: false,
        least_margin: None,
        n_chars,
        n_bytes: n_chars,
        loglikelihood_unconditional: None,
        loglikelihood_answer: None,
    }
}

/// A multiple-choice item of the given choices.
pub fn item(index: usize, choices: Vec<ChoiceScore>, gold: &[usize]) -> ItemScore {
    ItemScore {
        doc_id: index,
        index,
        line: index + 1,
        task: "t".to_owned(),
        category: None,
        question: format!("q{index}"),
        output_type: OutputType::MultipleChoice,
        picks: picks(&choices, gold),
        choices,
        gold: gold.to_vec(),
        n_context_tokens: 3,
        flags: Vec::new(),
        precision: Precision::Default,
        n_words: None,
        n_bytes: None,
    }
}

/// A letter item whose choices have the given probabilities.
pub fn letters(index: usize, probabilities: &[f64], gold: usize) -> ItemScore {
    item(index, probabilities.iter().map(|p| choice(libm::log(*p), 1)).collect(), &[gold])
}

/// An item of another output type.
pub fn text_item(index: usize, output_type: OutputType, loglikelihood: f64, n_words: usize, n_bytes: usize) -> ItemScore {
    let mut item = item(index, vec![choice(loglikelihood, 1)], &[0]);
    item.output_type = output_type;
    item.picks = Vec::new();
    item.n_words = Some(n_words);
    item.n_bytes = Some(n_bytes);
    item
}
