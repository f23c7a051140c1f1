//! What a table of items and the drawer of one item show, for one way of looking at a run.
//!
//! In: items and `ReportOptions`. Out: columns with one entry per item, in data order; the choices of one item in full.

use super::{ReportOptions, Sorted};
use crate::metrics::bias::letter;
use crate::metrics::calibration::{bin_indices, confident, Confident};
use crate::metrics::perplexity::is_greedy;
use crate::metrics::rules::{pick_of, rules_disagree, softmax};
use crate::score::{ChoiceScore, ItemScore, Pick, Rule};
use crate::task::doc::OutputType;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One entry per scored item in every column, in data order.
///
/// Entries are `None` where an item has no such thing: picks and confidences outside of multiple choice, right and wrong for
/// rolling log-likelihoods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ItemColumns {
    /// Position among all rows: the key to the item.
    pub index: Vec<usize>,
    /// The headline rule's pick.
    pub pick: Vec<Option<usize>>,
    /// It is gold; for `loglikelihood` the continuation is greedy.
    pub is_correct: Vec<Option<bool>>,
    /// Another choice has the same score by the headline's rule.
    pub is_tied: Vec<bool>,
    /// Best score minus second best by the headline's rule, in its unit.
    pub margin: Vec<Option<f64>>,
    /// Not every rule picks the same choice.
    pub rules_disagree: Vec<bool>,
    /// Largest probability over the choices, by the confidence rule and the temperature.
    pub confidence: Vec<Option<f64>>,
    /// The most probable choice is gold: what calibration counts as right.
    pub is_confidence_correct: Vec<Option<bool>>,
    /// Bin of the reliability diagram, from 0.
    pub bin: Vec<Option<usize>>,
}

/// A rule's score of one choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleScore {
    /// The rule.
    pub rule: Rule,
    /// In nats, or nats per character, byte, token; `None` for −∞ (a choice of length 0).
    pub score: Option<f64>,
    /// This choice is the rule's pick.
    pub is_pick: bool,
}

/// One choice in the drawer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ChoiceDetail {
    /// `A`, `B` …
    pub letter: String,
    /// It is right.
    pub is_gold: bool,
    /// By every rule that applies.
    pub scores: Vec<RuleScore>,
    /// Softmax over the choices, by the confidence rule and the temperature.
    pub probability: f64,
}

/// One item in the drawer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ItemDetail {
    /// Position among all rows.
    pub index: usize,
    /// In order; empty outside of multiple choice.
    pub choices: Vec<ChoiceDetail>,
    /// The rules' verdicts.
    pub picks: Vec<Pick>,
}

/// The table's columns.
pub fn item_columns(items: &[ItemScore], options: &ReportOptions) -> ItemColumns {
    let sorted = Sorted::new(items);
    let options = options.for_items(&sorted.multiple_choice);
    let confidences: Vec<Option<Confident>> = sorted.all.iter().map(|item| confident(item, options.confidence_rule, options.temperature)).collect();
    let known: Vec<Confident> = confidences.iter().flatten().copied().collect();
    let mut bins = bin_indices(&known, options.n_bins, options.binning).into_iter();
    let picks: Vec<Option<&Pick>> = sorted.all.iter().map(|item| pick_of(item, options.rule)).collect();
    let is_correct = |(item, pick): (&&ItemScore, &Option<&Pick>)| match item.output_type {
        OutputType::MultipleChoice => pick.map(|pick| pick.is_correct),
        OutputType::Loglikelihood => Some(is_greedy(item)),
        OutputType::LoglikelihoodRolling => None,
    };
    ItemColumns {
        index: sorted.all.iter().map(|item| item.index).collect(),
        pick: picks.iter().map(|pick| pick.map(|pick| pick.pick)).collect(),
        is_correct: sorted.all.iter().zip(&picks).map(is_correct).collect(),
        is_tied: picks.iter().map(|pick| pick.is_some_and(|pick| pick.is_tied)).collect(),
        margin: picks.iter().map(|pick| pick.and_then(|pick| pick.margin)).collect(),
        rules_disagree: sorted.all.iter().map(|item| rules_disagree(item)).collect(),
        confidence: confidences.iter().map(|c| c.map(|c| c.confidence)).collect(),
        is_confidence_correct: confidences.iter().map(|c| c.map(|c| c.is_correct)).collect(),
        bin: confidences.iter().map(|c| c.and_then(|_| bins.next())).collect(),
    }
}

/// One item's choices by every rule.
pub fn item_detail(item: &ItemScore, options: &ReportOptions) -> ItemDetail {
    let items = [item];
    let options = options.for_items(&items);
    let scores = options.confidence_rule.scores(&item.choices).unwrap_or_default();
    let probabilities = softmax(&scores, options.temperature);
    let choice = |(position, (choice, probability)): (usize, (&ChoiceScore, f64))| ChoiceDetail {
        letter: letter(position),
        is_gold: item.gold.contains(&position),
        scores: item
            .picks
            .iter()
            .filter_map(|pick| {
                let score = pick.rule.score(choice)?;
                Some(RuleScore { rule: pick.rule, score: Some(score).filter(|score| score.is_finite()), is_pick: pick.pick == position })
            })
            .collect(),
        probability,
    };
    let choices = match item.output_type {
        OutputType::MultipleChoice => item.choices.iter().zip(probabilities).enumerate().map(choice).collect(),
        OutputType::Loglikelihood | OutputType::LoglikelihoodRolling => Vec::new(),
    };
    ItemDetail { index: item.index, choices, picks: item.picks.clone() }
}
