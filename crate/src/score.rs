//! Log-probabilities of one doc → every score of it, by every rule at once.
//!
//! In: a `Doc` and, for each of its requests, the log-probability of every scored token. Out: `ItemScore`.
//! Everything a report shows is computed from `ItemScore`s, without the model; aggregates are left to `metrics`.
//!
//! Source of `acc`, `acc_norm`, `acc_bytes`, `acc_mutual_info`: lm-eval 0.4.13, `ConfigurableTask.process_results`.
//! `acc_token` is lighteval's and HELM's; the null context "Answer:" is HELM's and GPT-3's (Brown et al. 2020, section 2.4).

use crate::error::EvalError;
use crate::spec::Precision;
use crate::task::doc::{Doc, OutputType};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What is odd about how a doc meets the tokenizer: one entry of the boundary report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum BoundaryFlag {
    /// A token spans the join of context and continuation.
    MergeAcrossJoin,
    /// The continuation has no token of its own; it was encoded alone.
    EmptyContinuation,
    /// Two spaces meet at the join.
    DoubleSpace,
    /// A single letter takes more than one token.
    LetterOfSeveralTokens,
    /// The left of the prompt was cut off.
    Truncated,
    /// A choice ends in whitespace.
    TrailingWhitespace,
    /// Some choices start with a space and some do not.
    UnevenLeadingSpace,
    /// Two choices are the same text.
    EqualChoices,
    /// Bytes that the vocabulary cannot express were dropped.
    DroppedBytes,
    /// Whitespace of the context moved to the continuation.
    WhitespaceMoved,
}

/// One scored continuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ChoiceScore {
    /// The choice's text, delimiter not included.
    pub text: String,
    /// Ids of the scored tokens.
    pub token_ids: Vec<u32>,
    /// ln p of each of them, nats.
    pub token_logprobs: Vec<f64>,
    /// Sum of `token_logprobs`, in order; 0 for an empty continuation.
    pub loglikelihood: f64,
    /// Every token was the argmax.
    pub is_greedy: bool,
    /// Smallest of "logit minus the best other logit" over the tokens: its sign decides `is_greedy`; `None` without tokens.
    #[serde(default)]
    pub least_margin: Option<f64>,
    /// Unicode code points of `text`.
    pub n_chars: usize,
    /// UTF-8 bytes of `text`.
    pub n_bytes: usize,
    /// Log-likelihood of the continuation after the prefix token alone, where asked for.
    pub loglikelihood_unconditional: Option<f64>,
    /// Log-likelihood of the continuation after "Answer:", where asked for.
    pub loglikelihood_answer: Option<f64>,
}

/// A scoring rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// ll
    Acc,
    /// ll / characters (lm-eval's `acc_norm`)
    AccNorm,
    /// ll / UTF-8 bytes
    AccBytes,
    /// ll / tokens
    AccToken,
    /// ll − ll given the prefix token (lm-eval's `acc_mutual_info`)
    AccMutualInfo,
    /// ll − ll given "Answer:" (HELM, GPT-3)
    AccMutualInfoAnswer,
}

impl Rule {
    /// Every rule, in the order in which they are shown.
    pub const ALL: [Rule; 6] = [Rule::Acc, Rule::AccNorm, Rule::AccBytes, Rule::AccToken, Rule::AccMutualInfo, Rule::AccMutualInfoAnswer];

    /// The metric's name in files: lm-eval's where lm-eval has the rule.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Acc => "acc",
            Rule::AccNorm => "acc_norm",
            Rule::AccBytes => "acc_bytes",
            Rule::AccToken => "acc_token",
            Rule::AccMutualInfo => "acc_mutual_info",
            Rule::AccMutualInfoAnswer => "acc_mutual_info_answer",
        }
    }

    /// This rule's score of one choice; `None` where the log-likelihood it needs was not asked for.
    ///
    /// A choice of length 0 has no length to divide by: its score is −∞, so that it is picked only if every choice is empty.
    // DIFFERS: lm-eval divides 0 by 0 here and numpy's argmax then prefers the NaN.
    pub fn score(self, choice: &ChoiceScore) -> Option<f64> {
        let ll = choice.loglikelihood;
        let per = |length: usize| if length == 0 { f64::NEG_INFINITY } else { ll / length as f64 };
        match self {
            Rule::Acc => Some(ll),
            Rule::AccNorm => Some(per(choice.n_chars)),
            Rule::AccBytes => Some(per(choice.n_bytes)),
            Rule::AccToken => Some(per(choice.token_ids.len())),
            Rule::AccMutualInfo => choice.loglikelihood_unconditional.map(|null| ll - null),
            Rule::AccMutualInfoAnswer => choice.loglikelihood_answer.map(|null| ll - null),
        }
    }

    /// This rule's score of every choice; `None` where it does not apply to one of them.
    pub fn scores(self, choices: &[ChoiceScore]) -> Option<Vec<f64>> {
        choices.iter().map(|choice| self.score(choice)).collect()
    }

    /// How far this rule's score of a choice may be from the float32 one, where each log-likelihood may be `ll_error` nats off.
    fn score_error(self, choice: &ChoiceScore, ll_error: f64) -> f64 {
        match self {
            Rule::Acc => ll_error,
            Rule::AccNorm => ll_error / choice.n_chars.max(1) as f64,
            Rule::AccBytes => ll_error / choice.n_bytes.max(1) as f64,
            Rule::AccToken => ll_error / choice.token_ids.len().max(1) as f64,
            // A difference of two log-likelihoods.
            Rule::AccMutualInfo | Rule::AccMutualInfoAnswer => 2.0 * ll_error,
        }
    }
}

/// One rule's verdict on one doc.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Pick {
    /// The rule.
    pub rule: Rule,
    /// Index of the first maximum.
    pub pick: usize,
    /// It is one of the gold indices.
    pub is_correct: bool,
    /// Another choice has exactly the same score.
    pub is_tied: bool,
    /// Best score minus second best, in the rule's own unit; `None` where the second best is −∞ (a choice of length 0).
    pub margin: Option<f64>,
}

/// One scored doc.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ItemScore {
    /// lm-eval's `doc_id`, within its task.
    pub doc_id: usize,
    /// Position among all rows of the file, from 0: the order of the digest.
    pub index: usize,
    /// Line of the file, from 1.
    pub line: usize,
    /// Task, for groups the subject's.
    pub task: String,
    /// Subject or category.
    pub category: Option<String>,
    /// The question alone, for a table.
    pub question: String,
    /// How it was scored.
    pub output_type: OutputType,
    /// One per choice (exactly one for the other output types).
    pub choices: Vec<ChoiceScore>,
    /// Right choices.
    pub gold: Vec<usize>,
    /// One per rule that applies; empty unless multiple choice.
    pub picks: Vec<Pick>,
    /// Tokens of the context that were fed.
    pub n_context_tokens: usize,
    /// What the boundary report says of this doc.
    pub flags: Vec<BoundaryFlag>,
    /// In which arithmetic the numbers were made.
    pub precision: Precision,
    /// For rolling log-likelihood and the like: words and bytes of the document.
    pub n_words: Option<usize>,
    /// UTF-8 bytes of the document.
    pub n_bytes: Option<usize>,
}

/// A doc that failed while it ran; the run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FailedItem {
    /// Position among all rows.
    pub index: usize,
    /// Line of the file.
    pub line: usize,
    /// Why.
    pub error: EvalError,
}

/// What the engine gives for one continuation.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenScores {
    /// ln p of each scored token, nats, in order; empty for an empty continuation.
    pub token_logprobs: Vec<f64>,
    /// Every token was the argmax; true for an empty continuation.
    pub is_greedy: bool,
    /// Smallest of "logit minus the best other logit" over the tokens: its sign decides `is_greedy`; `None` without tokens.
    pub least_margin: Option<f64>,
}

impl TokenScores {
    /// Sum of the token log-probabilities, added from the first to the last; 0 for an empty continuation.
    pub fn loglikelihood(&self) -> f64 {
        // `sum()` starts at −0, which would stay −0 without tokens and give other bits than 0 in the digest.
        self.token_logprobs.iter().fold(0.0, |sum, logprob| sum + logprob)
    }
}

/// One continuation of a doc with what was measured of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredContinuation {
    /// Ids of the scored tokens.
    pub token_ids: Vec<u32>,
    /// Given the doc's context.
    pub scores: TokenScores,
    /// Given the prefix token alone, where asked for.
    pub loglikelihood_unconditional: Option<f64>,
    /// Given "Answer:", where asked for.
    pub loglikelihood_answer: Option<f64>,
}

/// What a run knows of a doc after its forward pass.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredDoc {
    /// One per request of the doc, in order.
    pub continuations: Vec<ScoredContinuation>,
    /// Tokens of the context that were fed.
    pub n_context_tokens: usize,
    /// What the boundary report says of this doc.
    pub flags: Vec<BoundaryFlag>,
    /// In which arithmetic the numbers were made.
    pub precision: Precision,
}

/// A doc and its log-probabilities → all of its scores.
///
/// `scored.continuations` has one entry per request of `doc`. For `loglikelihood_rolling` the tokens of the doc's only
/// request are those of all windows in order, and words and bytes are counted in its only choice.
pub fn item_score(doc: &Doc, scored: ScoredDoc) -> ItemScore {
    debug_assert_eq!(doc.requests.len(), scored.continuations.len());
    let choices: Vec<ChoiceScore> = scored
        .continuations
        .into_iter()
        .enumerate()
        .map(|(i, continuation)| {
            let text = match (doc.choices.get(i), doc.requests.get(i)) {
                (Some(choice), _) => choice.clone(),
                (None, Some(request)) => request.continuation.clone(),
                (None, None) => String::new(),
            };
            ChoiceScore {
                n_chars: text.chars().count(),
                n_bytes: text.len(),
                text,
                token_ids: continuation.token_ids,
                loglikelihood: continuation.scores.loglikelihood(),
                token_logprobs: continuation.scores.token_logprobs,
                is_greedy: continuation.scores.is_greedy,
                least_margin: continuation.scores.least_margin,
                loglikelihood_unconditional: continuation.loglikelihood_unconditional,
                loglikelihood_answer: continuation.loglikelihood_answer,
            }
        })
        .collect();
    let picks = match doc.output_type {
        OutputType::MultipleChoice => picks(&choices, &doc.gold),
        OutputType::Loglikelihood | OutputType::LoglikelihoodRolling => Vec::new(),
    };
    let document = match doc.output_type {
        OutputType::LoglikelihoodRolling => doc.choices.first().map(String::as_str),
        OutputType::MultipleChoice | OutputType::Loglikelihood => None,
    };
    ItemScore {
        doc_id: doc.doc_id,
        index: doc.index,
        line: doc.line,
        task: doc.task.clone(),
        category: doc.category.clone(),
        question: doc.question.clone(),
        output_type: doc.output_type,
        choices,
        gold: doc.gold.clone(),
        picks,
        n_context_tokens: scored.n_context_tokens,
        flags: scored.flags,
        precision: scored.precision,
        n_words: document.map(n_words),
        n_bytes: document.map(str::len),
    }
}

/// The verdict of every rule that applies, in the order of `Rule::ALL`.
pub fn picks(choices: &[ChoiceScore], gold: &[usize]) -> Vec<Pick> {
    Rule::ALL.into_iter().filter_map(|rule| Some(pick(rule, &rule.scores(choices)?, gold))).collect()
}

// DIFFERS: with several gold choices lm-eval compares the pick of `acc_mutual_info` with the whole list and stops; here, as for
// the other rules, any of them is right.
/// First maximum of `scores`, which is not empty.
fn pick(rule: Rule, scores: &[f64], gold: &[usize]) -> Pick {
    let mut best = 0;
    for (i, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = i;
        }
    }
    let second = scores.iter().enumerate().filter(|(i, _)| *i != best).map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let is_tied = second == scores[best];
    // Equal infinities have no difference; two choices of length 0 are tied all the same.
    let margin = if is_tied { Some(0.0) } else { Some(scores[best] - second).filter(|margin| margin.is_finite()) };
    Pick { rule, pick: best, is_correct: gold.contains(&best), is_tied, margin }
}

/// Allowance for one log-likelihood in the default precision, nats: half as much again as the engine's bound of 1e-2.
const LL_ERROR: f64 = 1.5e-2;

/// Whether, by any rule, another choice is so near to the picked one that float32 might pick it.
///
/// Raw log-likelihoods are near within 3e-2 nats; scores per length within 1.5e-2 · (1/length + 1/length); differences of two
/// log-likelihoods within 6e-2.
pub fn near_ties(item: &ItemScore) -> bool {
    item.picks.iter().any(|pick| {
        let Some(picked) = item.choices.get(pick.pick) else { return false };
        let Some(best) = pick.rule.score(picked) else { return false };
        item.choices.iter().enumerate().filter(|(i, _)| *i != pick.pick).any(|(_, other)| {
            let allowance = pick.rule.score_error(picked, LL_ERROR) + pick.rule.score_error(other, LL_ERROR);
            pick.rule.score(other).is_some_and(|score| best - score <= allowance)
        })
    })
}

/// Pieces of Python's `re.split(r"\s+", text)`, empty end pieces counted: one more than there are runs of whitespace.
pub fn n_words(text: &str) -> usize {
    // Python's `str` patterns also count the four separators U+001C to U+001F as whitespace.
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let mut n_runs = 0;
    let mut in_run = false;
    for c in text.chars() {
        let space = is_space(c);
        n_runs += usize::from(space && !in_run);
        in_run = space;
    }
    n_runs + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::{choice, item};

    /// A choice by what rules divide by.
    fn of_lengths(text: &str, loglikelihood: f64, n_tokens: usize) -> ChoiceScore {
        ChoiceScore {
            text: text.to_owned(),
            token_ids: vec![0; n_tokens],
            token_logprobs: vec![loglikelihood / n_tokens as f64; n_tokens],
            n_chars: text.chars().count(),
            n_bytes: text.len(),
            ..choice(loglikelihood, 1)
        }
    }

    fn pick_by(picks: &[Pick], rule: Rule) -> &Pick {
        picks.iter().find(|pick| pick.rule == rule).expect("the rule applies")
    }

    #[test]
    fn raw_bytes_and_tokens_each_pick_another_choice() {
        // Per byte: −.727, −.337, −.524. Per token: −2, −1.318, −1.222.
        let choices = [
            of_lengths(" He leaves.", -8.0, 4),
            of_lengths(" He picks up the towel and folds it neatly.", -14.5, 11),
            of_lengths(" He defenestrates it.", -11.0, 9),
        ];
        assert_eq!(choices.each_ref().map(|choice| choice.n_bytes), [11, 43, 21]);
        let picks = picks(&choices, &[1]);
        assert_eq!(pick_by(&picks, Rule::Acc).pick, 0);
        assert_eq!(pick_by(&picks, Rule::AccBytes).pick, 1);
        assert_eq!(pick_by(&picks, Rule::AccToken).pick, 2);
        assert!(pick_by(&picks, Rule::AccBytes).is_correct && !pick_by(&picks, Rule::Acc).is_correct);
    }

    #[test]
    fn characters_are_code_points_and_bytes_are_utf8() {
        // "東京" has 2 characters and 6 bytes, "abcde" 5 and 5: per character −1.5 and −.8, per byte −.5 and −.8.
        let picks = picks(&[of_lengths("東京", -3.0, 1), of_lengths("abcde", -4.0, 1)], &[0]);
        assert_eq!(pick_by(&picks, Rule::AccNorm).pick, 1);
        assert_eq!(pick_by(&picks, Rule::AccBytes).pick, 0);
    }

    #[test]
    fn the_first_maximum_wins_a_tie_and_the_tie_is_told() {
        let picks = picks(&[choice(-2.0, 1), choice(-1.0, 1), choice(-1.0, 1)], &[2]);
        let acc = pick_by(&picks, Rule::Acc);
        assert_eq!((acc.pick, acc.is_tied, acc.is_correct, acc.margin), (1, true, false, Some(0.0)));
    }

    #[test]
    fn a_choice_of_length_zero_is_never_picked_by_length() {
        let picks = picks(&[of_lengths("", 0.0, 1), choice(-5.0, 3)], &[1]);
        let acc_norm = pick_by(&picks, Rule::AccNorm);
        assert_eq!((acc_norm.pick, acc_norm.is_tied, acc_norm.margin), (1, false, None));
        assert_eq!(pick_by(&picks, Rule::Acc).pick, 0);
    }

    #[test]
    fn mutual_information_needs_every_choice_scored_without_context() {
        let with = |ll: f64, null: f64| ChoiceScore { loglikelihood_unconditional: Some(null), ..choice(ll, 1) };
        // −2 − (−1) = −1 and −5 − (−9) = 4.
        let both = picks(&[with(-2.0, -1.0), with(-5.0, -9.0)], &[1]);
        assert_eq!((pick_by(&both, Rule::AccMutualInfo).pick, pick_by(&both, Rule::Acc).pick), (1, 0));
        let one = picks(&[with(-2.0, -1.0), choice(-5.0, 1)], &[1]);
        assert!(one.iter().all(|pick| pick.rule != Rule::AccMutualInfo));
    }

    #[test]
    fn near_ties_scale_with_the_rule() {
        let pair = |a: ChoiceScore, b: ChoiceScore| near_ties(&item(0, vec![a, b], &[0]));
        // Letters: raw differences below and above 3e-2 nats.
        assert!(pair(choice(-1.0, 1), choice(-1.029, 1)));
        assert!(!pair(choice(-1.0, 1), choice(-1.031, 1)));
        // 10 characters each, raw 1 apart: per character .1, allowance 1.5e-2 · 2/10 = 3e-3.
        assert!(!pair(choice(-2.0, 10), choice(-3.0, 10)));
        // Raw far apart, equal per character: −2/2 and −10/10.
        assert!(pair(choice(-2.0, 2), choice(-10.0, 10)));
    }

    #[test]
    fn near_ties_look_at_every_choice_and_not_only_at_the_second() {
        // Per character: −1 (100), −1.0002 (100), −1.01 (1). The second is 2e-4 away, allowance 3e-4; the third, 1e-2 away, is within
        // 1.5e-2 · (1/100 + 1).
        let choices = |second: f64| vec![choice(-100.0, 100), choice(second, 100), choice(-1.01, 1)];
        let by_chars = |choices| {
            near_ties(&ItemScore {
                picks: vec![Pick { rule: Rule::AccNorm, pick: 0, is_correct: true, is_tied: false, margin: None }],
                ..item(0, choices, &[0])
            })
        };
        assert!(by_chars(choices(-100.02)));
        assert!(by_chars(choices(-150.0)));
        assert!(!by_chars(vec![choice(-100.0, 100), choice(-150.0, 100)]));
    }

    #[test]
    fn an_item_keeps_the_order_of_its_sum() {
        let scores = TokenScores { token_logprobs: vec![-1e16, -1.0, 1e16], is_greedy: false, least_margin: None };
        // (−1e16 − 1) + 1e16 = 0 in f64: 1 is half a unit in the last place and rounds to even.
        assert_eq!(scores.loglikelihood(), 0.0);
        let empty = TokenScores { token_logprobs: Vec::new(), is_greedy: true, least_margin: None };
        assert_eq!(empty.loglikelihood().to_bits(), 0.0_f64.to_bits());
    }
}
