//! Scoring rules side by side: accuracy by each, which are equal by construction, and where two of them part.
//!
//! In: scored multiple-choice items. Out: one result per rule that says something of its own, the folded rest with the reason,
//! and what else is read from the same log-likelihoods: `exact_match`, `brier_score`, probability of the gold choices.
//!
//! Source: lm-eval 0.4.13, `process_results` (the rules), `brier_score`; truthfulqa `process_results_mc2` (gold probability).

use super::compare::mcnemar_exact;
use super::estimate::{mean, Mean, Proportion};
use crate::score::{ChoiceScore, ItemScore, Pick, Rule};
use crate::task::doc::OutputType;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Accuracy by one rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleResult {
    /// The rule.
    pub rule: Rule,
    /// Over the docs to which the rule applies.
    pub accuracy: Proportion,
    /// Docs whose best score is shared by another choice; the first of them was picked.
    pub n_tied: usize,
    /// Mean length of the picked choices, code points.
    pub mean_pick_chars: f64,
}

/// Why two rules pick the same on every doc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum EqualBecause {
    /// The choices of every doc have as many characters as one another.
    EqualChars,
    /// The choices of every doc have as many bytes as one another.
    EqualBytes,
    /// The choices of every doc have as many tokens as one another.
    EqualTokens,
    /// Every character of every choice is one byte.
    OneBytePerChar,
}

/// A rule that cannot differ from another one on these docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct FoldedRule {
    /// The rule that is not listed.
    pub rule: Rule,
    /// The listed rule that it equals.
    pub equals: Rule,
    /// Why.
    pub because: EqualBecause,
}

/// Where two rules part, and how long their picks are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleParting {
    /// One rule.
    pub a: Rule,
    /// The other.
    pub b: Rule,
    /// Docs to which both apply.
    pub n: usize,
    /// Docs where they pick different choices.
    pub n_differ: usize,
    /// Docs where only `a` is right.
    pub n_only_a_correct: usize,
    /// Docs where only `b` is right.
    pub n_only_b_correct: usize,
    /// McNemar's exact two-sided p-value of the two counts above.
    pub p_value: f64,
    /// Mean length of `a`'s picks, code points.
    pub mean_chars_a: f64,
    /// Mean length of `b`'s picks, code points.
    pub mean_chars_b: f64,
    /// Mean length of the gold choices, code points.
    pub mean_chars_gold: f64,
    /// Mean length of all choices (mean over docs of the mean of each), code points.
    pub mean_chars_all: f64,
}

/// All rules on one set of docs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RuleTable {
    /// Rules that have something of their own to say, `acc` first.
    pub listed: Vec<RuleResult>,
    /// Rules equal to a listed one by construction.
    pub folded: Vec<FoldedRule>,
    /// Docs on which the listed rules do not all pick the same choice.
    pub n_rules_disagree: usize,
    /// `acc` and `acc_norm`, unless the latter is folded.
    pub acc_and_acc_norm: Option<RuleParting>,
}

/// The pick of `rule`, where it applies.
pub fn pick_of(item: &ItemScore, rule: Rule) -> Option<&Pick> {
    item.picks.iter().find(|pick| pick.rule == rule)
}

/// All rules; `None` without docs.
pub fn rule_table(items: &[&ItemScore]) -> Option<RuleTable> {
    let folded = folded(items);
    let is_folded = |rule: Rule| folded.iter().any(|f| f.rule == rule);
    let listed: Vec<RuleResult> = Rule::ALL.into_iter().filter(|rule| !is_folded(*rule)).filter_map(|rule| rule_result(items, rule)).collect();
    if listed.is_empty() {
        return None;
    }
    let n_rules_disagree = items.iter().filter(|item| rules_disagree(item)).count();
    let acc_and_acc_norm = if is_folded(Rule::AccNorm) { None } else { parting(items, Rule::Acc, Rule::AccNorm) };
    Some(RuleTable { listed, folded, n_rules_disagree, acc_and_acc_norm })
}

/// Whether two rules pick different choices on this doc.
pub fn rules_disagree(item: &ItemScore) -> bool {
    item.picks.windows(2).any(|pair| pair[0].pick != pair[1].pick)
}

/// Accuracy by one rule; `None` where it applies to no doc.
pub fn rule_result(items: &[&ItemScore], rule: Rule) -> Option<RuleResult> {
    let picks: Vec<(&ItemScore, &Pick)> = items.iter().filter_map(|item| Some((*item, pick_of(item, rule)?))).collect();
    let chars: Vec<f64> = picks.iter().filter_map(|(item, pick)| Some(item.choices.get(pick.pick)?.n_chars as f64)).collect();
    Some(RuleResult {
        rule,
        accuracy: Proportion::of(picks.iter().map(|(_, pick)| pick.is_correct))?,
        n_tied: picks.iter().filter(|(_, pick)| pick.is_tied).count(),
        mean_pick_chars: mean(&chars)?,
    })
}

/// Rules that equal another one whatever the model says, in the order of `Rule::ALL`.
fn folded(items: &[&ItemScore]) -> Vec<FoldedRule> {
    // A length of 0 is no divisor, so equal lengths of 0 prove nothing.
    let equal_lengths = |length: fn(&ChoiceScore) -> usize| {
        items.iter().all(|item| {
            let first = item.choices.first().map_or(0, length);
            first > 0 && item.choices.iter().all(|choice| length(choice) == first)
        })
    };
    let mut folded = Vec::new();
    if items.is_empty() {
        return folded;
    }
    let chars_equal = equal_lengths(|choice| choice.n_chars);
    if chars_equal {
        folded.push(FoldedRule { rule: Rule::AccNorm, equals: Rule::Acc, because: EqualBecause::EqualChars });
    }
    if equal_lengths(|choice| choice.n_bytes) {
        folded.push(FoldedRule { rule: Rule::AccBytes, equals: Rule::Acc, because: EqualBecause::EqualBytes });
    } else if !chars_equal && items.iter().all(|item| item.choices.iter().all(|choice| choice.n_chars == choice.n_bytes)) {
        folded.push(FoldedRule { rule: Rule::AccBytes, equals: Rule::AccNorm, because: EqualBecause::OneBytePerChar });
    }
    if equal_lengths(|choice| choice.token_ids.len()) {
        folded.push(FoldedRule { rule: Rule::AccToken, equals: Rule::Acc, because: EqualBecause::EqualTokens });
    }
    folded
}

/// Where rules `a` and `b` part; `None` where no doc has both.
fn parting(items: &[&ItemScore], a: Rule, b: Rule) -> Option<RuleParting> {
    let both: Vec<(&ItemScore, &Pick, &Pick)> = items.iter().filter_map(|item| Some((*item, pick_of(item, a)?, pick_of(item, b)?))).collect();
    let mean_over = |length: &dyn Fn(&(&ItemScore, &Pick, &Pick)) -> f64| mean(&both.iter().map(length).collect::<Vec<_>>());
    let chars = |item: &ItemScore, choice: usize| item.choices.get(choice).map_or(0.0, |choice| choice.n_chars as f64);
    let n_only_a_correct = both.iter().filter(|(_, a, b)| a.is_correct && !b.is_correct).count();
    let n_only_b_correct = both.iter().filter(|(_, a, b)| b.is_correct && !a.is_correct).count();
    Some(RuleParting {
        a,
        b,
        n: both.len(),
        n_differ: both.iter().filter(|(_, a, b)| a.pick != b.pick).count(),
        n_only_a_correct,
        n_only_b_correct,
        p_value: mcnemar_exact(n_only_a_correct, n_only_b_correct),
        mean_chars_a: mean_over(&|(item, a, _)| chars(item, a.pick))?,
        mean_chars_b: mean_over(&|(item, _, b)| chars(item, b.pick))?,
        mean_chars_gold: mean_over(&|(item, _, _)| item.gold.iter().map(|gold| chars(item, *gold)).sum::<f64>() / item.gold.len().max(1) as f64)?,
        mean_chars_all: mean_over(&|(item, _, _)| {
            item.choices.iter().map(|choice| choice.n_chars as f64).sum::<f64>() / item.choices.len().max(1) as f64
        })?,
    })
}

/// Probability of picking a right choice blindly: right choices over choices (1/K where one is right), 0 where nothing is picked.
pub fn chance(item: &ItemScore) -> f64 {
    match item.output_type {
        OutputType::MultipleChoice => item.gold.len() as f64 / item.choices.len().max(1) as f64,
        OutputType::Loglikelihood | OutputType::LoglikelihoodRolling => 0.0,
    }
}

/// Accuracy above chance as a share of what there is above chance: (acc − chance)/(1 − chance).
///
/// `None` where chance leaves nothing above it.
pub fn chance_corrected(accuracy: f64, chance: f64) -> Option<f64> {
    (chance < 1.0).then(|| (accuracy - chance) / (1.0 - chance))
}

/// Softmax of `scores / temperature`. A score of −∞ has probability 0; where all are −∞ the result is uniform.
pub fn softmax(scores: &[f64], temperature: f64) -> Vec<f64> {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return vec![1.0 / scores.len() as f64; scores.len()];
    }
    let mut probabilities: Vec<f64> = scores.iter().map(|score| libm::exp((score - max) / temperature)).collect();
    let sum: f64 = probabilities.iter().sum();
    for p in &mut probabilities {
        *p /= sum;
    }
    probabilities
}

// DIFFERS: lm-eval's `brier_score` stops where rows have different numbers of choices; here it is the mean over all of them.
/// Numbers over whole distributions of the raw log-likelihoods, and greediness.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct ChoiceMetrics {
    /// lm-eval's `exact_match`: a gold choice is what the model would have written greedily.
    pub exact_match: Proportion,
    /// Probability of the gold choices among the choices, softmax of raw log-likelihoods; TruthfulQA mc2's `acc`.
    pub gold_probability: Mean,
    /// lm-eval's `brier_score`: Σ (p − gold)² over the choices, 0 to 2, docs with one gold only; `None` without such docs.
    pub brier_score: Option<Mean>,
}

/// Over all docs; `None` without docs.
pub fn choice_metrics(items: &[&ItemScore]) -> Option<ChoiceMetrics> {
    let mut gold_probabilities = Vec::with_capacity(items.len());
    let mut briers = Vec::with_capacity(items.len());
    for item in items {
        let lls: Vec<f64> = item.choices.iter().map(|choice| choice.loglikelihood).collect();
        let p = softmax(&lls, 1.0);
        gold_probabilities.push(item.gold.iter().filter_map(|gold| p.get(*gold)).sum());
        if let [gold] = item.gold[..] {
            briers.push(brier(&p, gold));
        }
    }
    Some(ChoiceMetrics {
        exact_match: Proportion::of(items.iter().map(|item| gold_is_greedy(item)))?,
        gold_probability: Mean::of(&gold_probabilities)?,
        brier_score: Mean::of(&briers),
    })
}

/// Whether a gold choice is the model's greedy continuation.
pub fn gold_is_greedy(item: &ItemScore) -> bool {
    item.gold.iter().any(|gold| item.choices.get(*gold).is_some_and(|choice| choice.is_greedy))
}

/// Σ (p − 1 for the gold choice, p − 0 for the others)².
pub fn brier(p: &[f64], gold: usize) -> f64 {
    p.iter().enumerate().map(|(i, p)| if i == gold { (p - 1.0) * (p - 1.0) } else { p * p }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::{choice, item, letters};

    #[test]
    fn letters_fold_every_length_rule_into_acc() {
        let items = [letters(0, &[0.7, 0.1, 0.1, 0.1], 0), letters(1, &[0.1, 0.2, 0.3, 0.4], 0)];
        let table = rule_table(&items.iter().collect::<Vec<_>>()).expect("docs");
        assert_eq!(table.listed.iter().map(|result| result.rule).collect::<Vec<_>>(), [Rule::Acc]);
        let folded: Vec<_> = table.folded.iter().map(|f| (f.rule, f.equals, f.because)).collect();
        assert_eq!(
            folded,
            [
                (Rule::AccNorm, Rule::Acc, EqualBecause::EqualChars),
                (Rule::AccBytes, Rule::Acc, EqualBecause::EqualBytes),
                (Rule::AccToken, Rule::Acc, EqualBecause::EqualTokens),
            ]
        );
        assert_eq!((table.listed[0].accuracy.n_correct, table.n_rules_disagree), (1, 0));
        assert_eq!(table.acc_and_acc_norm, None);
    }

    #[test]
    fn ascii_choices_of_uneven_length_fold_bytes_into_characters() {
        let items = [item(0, vec![choice(-2.0, 2), choice(-3.0, 9)], &[1])];
        let table = rule_table(&[&items[0]]).expect("docs");
        let bytes = table.folded.iter().find(|f| f.rule == Rule::AccBytes).expect("folded");
        assert_eq!((bytes.equals, bytes.because), (Rule::AccNorm, EqualBecause::OneBytePerChar));
        // acc picks the short choice, acc_norm the long one, which is gold.
        let parting = table.acc_and_acc_norm.expect("not folded");
        assert_eq!((parting.n_differ, parting.n_only_a_correct, parting.n_only_b_correct), (1, 0, 1));
        assert_eq!((parting.mean_chars_a, parting.mean_chars_b, parting.mean_chars_gold, parting.mean_chars_all), (2.0, 9.0, 9.0, 5.5));
        assert_eq!(table.n_rules_disagree, 1);
    }

    #[test]
    fn chance_is_the_mean_of_one_over_the_number_of_choices() {
        let items = [letters(0, &[0.5, 0.5], 0), letters(1, &[0.25; 4], 0)];
        assert_eq!(items.iter().map(chance).collect::<Vec<_>>(), [0.5, 0.25]);
        // (.8 − .25)/(1 − .25) = .7333…
        assert!((chance_corrected(0.8, 0.25).expect("chance < 1") - 0.733_333_333_333_333_3).abs() < 1e-15);
        assert_eq!(chance_corrected(1.0, 1.0), None);
    }

    #[test]
    fn brier_gold_probability_and_exact_match_by_hand() {
        // Probabilities .7, .1, .2; gold 0: .3² + .1² + .2² = .14.
        let mut one = letters(0, &[0.7, 0.1, 0.2], 0);
        one.choices[0].is_greedy = true;
        let metrics = choice_metrics(&[&one]).expect("a doc");
        assert!((metrics.brier_score.expect("one gold").value - 0.14).abs() < 1e-15);
        assert!((metrics.gold_probability.value - 0.7).abs() < 1e-15);
        assert_eq!(metrics.exact_match.n_correct, 1);
        // Two gold choices: their probabilities add up, and there is no Brier score.
        one.gold = vec![0, 2];
        let metrics = choice_metrics(&[&one]).expect("a doc");
        assert!((metrics.gold_probability.value - 0.9).abs() < 1e-15);
        assert_eq!(metrics.brier_score, None);
    }

    #[test]
    fn softmax_gives_no_probability_to_a_choice_that_cannot_be() {
        assert_eq!(softmax(&[0.0, f64::NEG_INFINITY], 1.0), [1.0, 0.0]);
        assert_eq!(softmax(&[f64::NEG_INFINITY; 4], 1.0), [0.25; 4]);
        assert_eq!(softmax(&[-2000.0, -2000.0], 1.0), [0.5, 0.5]);
    }

    #[test]
    fn no_docs_give_no_table() {
        assert_eq!(rule_table(&[]), None);
        assert_eq!(choice_metrics(&[]), None);
    }
}
