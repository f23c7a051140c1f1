//! Likelihood of texts: perplexity of a last word (LAMBADA), and of whole documents per word and per byte.
//!
//! In: items of output type `loglikelihood` or `loglikelihood_rolling`. Out: perplexities with standard errors.
//!
//! Source: lm-eval 0.4.13, `perplexity`, `weighted_perplexity`, `bits_per_byte`. Its standard error of `perplexity` is a
//! bootstrap, `bootstrap_stderr` here, which goes into files. Beside the number stands the delta method's, perplexity ·
//! stderr(mean log-likelihood), which needs no random numbers and is steadier where few docs carry the mean. The
//! perplexities over words and bytes, for which lm-eval gives none, have that of a ratio estimator (Cochran 1977, 2.11).

use super::estimate::{mean, sample_stddev, Interval, Mean, Proportion, Z};
use super::random::PythonRandom;
use crate::score::ItemScore;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A perplexity, or bits per byte.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Perplexity {
    /// exp of the mean, or bits.
    pub value: f64,
    /// Delta method; not available for one doc.
    pub stderr: Option<f64>,
    /// exp of the mean log-likelihood ± 1.96 standard errors, so never below 1; for bits ± 1.96 standard errors.
    pub interval: Option<Interval>,
}

/// Items of output type `loglikelihood`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct LikelihoodResult {
    /// The continuation is what the model would have written greedily; lm-eval's `acc` of this output type.
    pub accuracy: Proportion,
    /// Mean log-likelihood of a continuation, nats.
    pub loglikelihood: Mean,
    /// exp(−mean log-likelihood over docs).
    pub perplexity: Perplexity,
}

/// Items of output type `loglikelihood_rolling`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RollingResult {
    /// Documents.
    pub n: usize,
    /// Sum of their log-likelihoods, nats.
    pub loglikelihood: f64,
    /// Pieces between runs of whitespace.
    pub n_words: usize,
    /// UTF-8 bytes.
    pub n_bytes: usize,
    /// Tokens scored.
    pub n_tokens: usize,
    /// exp(−Σ ll / Σ words).
    pub word_perplexity: Perplexity,
    /// exp(−Σ ll / Σ bytes); `None` where all documents are empty.
    pub byte_perplexity: Option<Perplexity>,
    /// −Σ ll / (Σ bytes · ln 2); `None` where all documents are empty.
    pub bits_per_byte: Option<Perplexity>,
}

/// Whether the only continuation of the item is greedy.
pub fn is_greedy(item: &ItemScore) -> bool {
    item.choices.first().is_some_and(|choice| choice.is_greedy)
}

fn loglikelihood(item: &ItemScore) -> f64 {
    item.choices.first().map_or(0.0, |choice| choice.loglikelihood)
}

/// exp of −`nats` with the uncertainty of `nats`.
fn exp_of(nats: f64, stderr: Option<f64>) -> Perplexity {
    let value = libm::exp(-nats);
    Perplexity {
        value,
        stderr: stderr.map(|se| value * se),
        interval: stderr.map(|se| Interval { low: libm::exp(-(nats + Z * se)), high: libm::exp(-(nats - Z * se)) }),
    }
}

/// Over items of output type `loglikelihood`; `None` without items.
pub fn likelihood(items: &[&ItemScore]) -> Option<LikelihoodResult> {
    let lls: Vec<f64> = items.iter().map(|item| loglikelihood(item)).collect();
    let mean_ll = Mean::of(&lls)?;
    Some(LikelihoodResult {
        accuracy: Proportion::of(items.iter().map(|item| is_greedy(item)))?,
        loglikelihood: mean_ll,
        perplexity: exp_of(mean_ll.value, mean_ll.stderr),
    })
}

/// lm-eval's standard error of `perplexity` with `bootstrap_iters=1000`: the standard deviation of 1000 perplexities of docs drawn
/// with replacement, by Python's random stream of seed 0. `None` below two items.
pub fn bootstrap_stderr(items: &[&ItemScore]) -> Option<f64> {
    if items.len() < 2 {
        return None;
    }
    let lls: Vec<f64> = items.iter().map(|item| loglikelihood(item)).collect();
    let n = lls.len();
    let mut random = PythonRandom::new(0);
    let perplexities: Vec<f64> = (0..BOOTSTRAP_ITERS).map(|_| libm::exp(-((0..n).map(|_| lls[random.below(n)]).sum::<f64>() / n as f64))).collect();
    sample_stddev(&perplexities)
}

/// Draws of `bootstrap_stderr`: one chunk of lm-eval's.
pub const BOOTSTRAP_ITERS: usize = 1000;

/// Over items of output type `loglikelihood_rolling`; `None` without items.
pub fn rolling(items: &[&ItemScore]) -> Option<RollingResult> {
    let lls: Vec<f64> = items.iter().map(|item| loglikelihood(item)).collect();
    let words: Vec<f64> = items.iter().map(|item| item.n_words.unwrap_or(0) as f64).collect();
    let bytes: Vec<f64> = items.iter().map(|item| item.n_bytes.unwrap_or(0) as f64).collect();
    let (per_word, per_word_stderr) = ratio(&lls, &words)?;
    let per_byte = ratio(&lls, &bytes);
    Some(RollingResult {
        n: items.len(),
        loglikelihood: lls.iter().sum(),
        n_words: items.iter().filter_map(|item| item.n_words).sum(),
        n_bytes: items.iter().filter_map(|item| item.n_bytes).sum(),
        n_tokens: items.iter().filter_map(|item| item.choices.first()).map(|choice| choice.token_ids.len()).sum(),
        word_perplexity: exp_of(per_word, per_word_stderr),
        byte_perplexity: per_byte.map(|(nats, stderr)| exp_of(nats, stderr)),
        bits_per_byte: per_byte.map(|(nats, stderr)| {
            let bits = -nats / std::f64::consts::LN_2;
            let stderr = stderr.map(|se| se / std::f64::consts::LN_2);
            Perplexity { value: bits, stderr, interval: stderr.map(|se| Interval::normal(bits, se)) }
        }),
    })
}

/// Σa/Σb and the standard error of that ratio over docs: sd(a − ratio·b)/(√n · mean b). `None` where Σb is 0.
fn ratio(a: &[f64], b: &[f64]) -> Option<(f64, Option<f64>)> {
    let mean_b = mean(b).filter(|mean| *mean > 0.0)?;
    let ratio = a.iter().sum::<f64>() / b.iter().sum::<f64>();
    let residuals: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - ratio * b).collect();
    Some((ratio, sample_stddev(&residuals).map(|sd| sd / (libm::sqrt(a.len() as f64) * mean_b))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::text_item;
    use crate::task::doc::OutputType;

    fn assert_close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-12 * expected.abs().max(1.0), "expected {expected}, got {got}");
    }

    #[test]
    fn perplexity_is_the_exponential_of_the_mean_over_docs() {
        // ln 2 and ln 8: mean ln 4. Sample sd (ln 8 − ln 2)/√2, stderr half of ln 4, so 4 · ln 4/2 = 2.7725887.
        let items = [text_item(0, OutputType::Loglikelihood, -2.0_f64.ln(), 0, 0), text_item(1, OutputType::Loglikelihood, -8.0_f64.ln(), 0, 0)];
        let result = likelihood(&items.iter().collect::<Vec<_>>()).expect("docs");
        assert_close(result.perplexity.value, 4.0);
        assert_close(result.perplexity.stderr.expect("n > 1"), 2.772_588_722_239_781);
        assert_eq!(likelihood(&[]), None);
    }

    #[test]
    fn word_and_byte_perplexities_weigh_documents_by_length() {
        // Σll = −6 ln 2, Σwords = 3, Σbytes = 12: 2² = 4 a word, √2 a byte, half a bit a byte.
        let items = [
            text_item(0, OutputType::LoglikelihoodRolling, -2.0 * 2.0_f64.ln(), 1, 4),
            text_item(1, OutputType::LoglikelihoodRolling, -4.0 * 2.0_f64.ln(), 2, 8),
        ];
        let result = rolling(&items.iter().collect::<Vec<_>>()).expect("docs");
        assert_close(result.word_perplexity.value, 4.0);
        assert_close(result.byte_perplexity.expect("bytes").value, std::f64::consts::SQRT_2);
        assert_close(result.bits_per_byte.expect("bytes").value, 0.5);
        // Both documents have the same ratio, so it is certain as far as they tell.
        assert_close(result.word_perplexity.stderr.expect("n > 1"), 0.0);
    }

    #[test]
    fn an_empty_document_has_one_word_and_no_byte() {
        let items = [text_item(0, OutputType::LoglikelihoodRolling, 0.0, crate::score::n_words(""), 0)];
        let result = rolling(&[&items[0]]).expect("a doc");
        assert_eq!((result.word_perplexity.value, result.byte_perplexity, result.bits_per_byte), (1.0, None, None));
    }
}
