//! Two runs on the same docs, and one run with its choices rotated.
//!
//! In: the items of both runs. Out: the paired difference with its standard error, McNemar's exact test, the docs that flipped;
//! for rotations, how often the same answer is picked whatever its letter.
//!
//! Source: McNemar 1947; Miller 2024, "Adding error bars to evals", section 4 (paired differences);
//! Pezeshkpour & Hruschka 2023, "Large language models sensitivity to the order of options" (rotations).

use super::estimate::{mean, Mean, Proportion};
use super::rules::pick_of;
use crate::score::{ItemScore, Rule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use ts_rs::TS;

/// Two-sided p-value of McNemar's exact test: discordant pairs fall either way with probability ½.
///
/// 1 where there are none.
pub fn mcnemar_exact(n_only_a: usize, n_only_b: usize) -> f64 {
    let n = n_only_a + n_only_b;
    let smaller = n_only_a.min(n_only_b);
    if n == 0 {
        return 1.0;
    }
    // ln of C(n, smaller)/2ⁿ, then downwards: C(n, i − 1) = C(n, i) · i/(n − i + 1).
    let ln_choose = libm::lgamma(n as f64 + 1.0) - libm::lgamma(smaller as f64 + 1.0) - libm::lgamma((n - smaller) as f64 + 1.0);
    let mut term = libm::exp(ln_choose - n as f64 * std::f64::consts::LN_2);
    let mut tail = 0.0;
    for i in (0..=smaller).rev() {
        tail += term;
        term *= i as f64 / (n - i + 1) as f64;
    }
    (2.0 * tail).min(1.0)
}

/// A doc on which two runs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Flip {
    /// Position among all rows.
    pub index: usize,
    /// This run's pick.
    pub pick: usize,
    /// The other run's pick.
    pub other_pick: usize,
    /// This run is right.
    pub is_correct: bool,
    /// The other run is right.
    pub other_is_correct: bool,
}

/// Two runs on the docs they share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Comparison {
    /// The rule by which both are judged.
    pub rule: Rule,
    /// Docs that both have, with the same number of choices.
    pub n: usize,
    /// Docs of this run that the other one lacks.
    pub n_only_here: usize,
    /// Docs of the other run that this one lacks.
    pub n_only_other: usize,
    /// This run on the shared docs.
    pub accuracy: Proportion,
    /// The other run on the shared docs.
    pub other_accuracy: Proportion,
    /// This run minus the other: mean of the per-doc differences, its standard error and interval.
    pub difference: Mean,
    /// Right in both.
    pub n_both_correct: usize,
    /// Right here, wrong there.
    pub n_only_here_correct: usize,
    /// Wrong here, right there.
    pub n_only_other_correct: usize,
    /// Wrong in both.
    pub n_both_wrong: usize,
    /// McNemar's exact two-sided p-value.
    pub p_value: f64,
    /// Docs with different picks, in data order.
    pub flips: Vec<Flip>,
    /// Largest difference between two log-likelihoods of the same choice, nats.
    pub max_loglikelihood_difference: f64,
    /// Mean of those differences, nats.
    pub mean_loglikelihood_difference: f64,
    /// Every log-likelihood of every shared doc has the same bits.
    pub is_bit_equal: bool,
}

/// This run beside another one by one rule; `None` where they share no doc to which the rule applies.
pub fn compare(items: &[ItemScore], others: &[ItemScore], rule: Rule) -> Option<Comparison> {
    let by_index: BTreeMap<usize, &ItemScore> = items.iter().map(|item| (item.index, item)).collect();
    let others_by_index: BTreeMap<usize, &ItemScore> = others.iter().map(|item| (item.index, item)).collect();
    let pairs: Vec<(&ItemScore, &ItemScore)> = by_index
        .iter()
        .filter_map(|(index, item)| Some((*item, *others_by_index.get(index)?)))
        .filter(|(item, other)| item.task == other.task && item.choices.len() == other.choices.len())
        .filter(|(item, other)| pick_of(item, rule).is_some() && pick_of(other, rule).is_some())
        .collect();
    let mut counts = [[0_usize; 2]; 2];
    let mut differences = Vec::with_capacity(pairs.len());
    let mut ll_differences = Vec::new();
    let mut is_bit_equal = true;
    let mut flips = Vec::new();
    for (item, other) in &pairs {
        let (pick, other_pick) = (pick_of(item, rule)?, pick_of(other, rule)?);
        counts[usize::from(pick.is_correct)][usize::from(other_pick.is_correct)] += 1;
        differences.push(f64::from(i8::from(pick.is_correct) - i8::from(other_pick.is_correct)));
        for (choice, other_choice) in item.choices.iter().zip(&other.choices) {
            let (ll, other_ll) = (choice.loglikelihood, other_choice.loglikelihood);
            is_bit_equal &= ll.to_bits() == other_ll.to_bits();
            ll_differences.push(if ll == other_ll { 0.0 } else { (ll - other_ll).abs() });
        }
        if pick.pick != other_pick.pick {
            flips.push(Flip {
                index: item.index,
                pick: pick.pick,
                other_pick: other_pick.pick,
                is_correct: pick.is_correct,
                other_is_correct: other_pick.is_correct,
            });
        }
    }
    let n = pairs.len();
    let [[n_both_wrong, n_only_other_correct], [n_only_here_correct, n_both_correct]] = counts;
    Some(Comparison {
        rule,
        n,
        n_only_here: by_index.len() - n,
        n_only_other: others_by_index.len() - n,
        accuracy: Proportion::new(n_both_correct + n_only_here_correct, n)?,
        other_accuracy: Proportion::new(n_both_correct + n_only_other_correct, n)?,
        difference: Mean::of(&differences)?,
        n_both_correct,
        n_only_here_correct,
        n_only_other_correct,
        n_both_wrong,
        p_value: mcnemar_exact(n_only_here_correct, n_only_other_correct),
        flips,
        max_loglikelihood_difference: ll_differences.iter().copied().fold(0.0, f64::max),
        mean_loglikelihood_difference: mean(&ll_differences).unwrap_or(0.0),
        is_bit_equal,
    })
}

/// A run in which the choice at position `j` is the one that stands at `(j + shift) mod K` in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RotatedRun {
    /// By how many positions.
    pub shift: usize,
    /// Its items.
    pub items: Vec<ItemScore>,
}

/// One position's share of the picks over all rotations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct PositionShare {
    /// Position, from 0.
    pub position: usize,
    /// Picks at this position, with their share and Wilson's interval.
    pub picked: Proportion,
    /// Right answers that stood at this position, over those docs that have it: accuracy if the answer is at this place.
    pub accuracy_when_gold: Option<Proportion>,
}

/// Several orders of the same choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct RotationReport {
    /// The rule.
    pub rule: Rule,
    /// Docs that every run has.
    pub n: usize,
    /// Orders compared.
    pub n_orders: usize,
    /// Docs whose pick is the same answer in every order.
    pub consistent: Proportion,
    /// Docs that are right in every order.
    pub always_correct: Proportion,
    /// Accuracy by shift, in the order given.
    pub accuracy_by_shift: Vec<(usize, Proportion)>,
    /// Mean over docs of the share of orders in which they are right.
    pub mean_accuracy: Mean,
    /// Where the picks stand.
    pub positions: Vec<PositionShare>,
}

/// Compares rotated runs; the unrotated one is among them with shift 0. `None` where they share no doc.
pub fn rotations(runs: &[RotatedRun], rule: Rule) -> Option<RotationReport> {
    let maps: Vec<(usize, BTreeMap<usize, &ItemScore>)> =
        runs.iter().map(|run| (run.shift, run.items.iter().map(|item| (item.index, item)).collect())).collect();
    let (_, first) = maps.first()?;
    let mut answers_equal = Vec::new();
    let mut always_correct = Vec::new();
    let mut shares = Vec::new();
    let mut correct_by_run = vec![0_usize; runs.len()];
    let mut picked = BTreeMap::<usize, usize>::new();
    let mut gold_at = BTreeMap::<usize, (usize, usize)>::new();
    for index in first.keys() {
        let in_all: Option<Vec<(usize, &ItemScore)>> = maps.iter().map(|(shift, map)| Some((*shift, *map.get(index)?))).collect();
        let Some(orders) = in_all else { continue };
        let picks: Option<Vec<_>> = orders.iter().map(|(_, item)| pick_of(item, rule)).collect();
        let Some(picks) = picks else { continue };
        let mut answers = Vec::with_capacity(orders.len());
        for (((shift, item), pick), n_correct) in orders.iter().zip(&picks).zip(&mut correct_by_run) {
            answers.push((pick.pick + shift) % item.choices.len().max(1));
            *n_correct += usize::from(pick.is_correct);
            for position in 0..item.choices.len() {
                *picked.entry(position).or_default() += usize::from(position == pick.pick);
            }
            if let [gold] = item.gold[..] {
                let at = gold_at.entry(gold).or_default();
                at.0 += usize::from(pick.is_correct);
                at.1 += 1;
            }
        }
        let n_correct = picks.iter().filter(|pick| pick.is_correct).count();
        answers_equal.push(answers.windows(2).all(|pair| pair[0] == pair[1]));
        always_correct.push(n_correct == picks.len());
        shares.push(n_correct as f64 / picks.len() as f64);
    }
    let n = shares.len();
    let n_picks = n * runs.len();
    let position_share = |(position, n_picked): (usize, usize)| {
        let accuracy_when_gold = gold_at.get(&position).and_then(|(n_correct, n)| Proportion::new(*n_correct, *n));
        Some(PositionShare { position, picked: Proportion::new(n_picked, n_picks)?, accuracy_when_gold })
    };
    Some(RotationReport {
        rule,
        n,
        n_orders: runs.len(),
        consistent: Proportion::of(answers_equal)?,
        always_correct: Proportion::of(always_correct)?,
        accuracy_by_shift: runs.iter().zip(correct_by_run).filter_map(|(run, k)| Some((run.shift, Proportion::new(k, n)?))).collect(),
        mean_accuracy: Mean::of(&shares)?,
        positions: picked.into_iter().filter_map(position_share).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::letters;

    /// Right where `bits` is `1`; two letters, gold A.
    fn run(bits: &str) -> Vec<ItemScore> {
        bits.chars().enumerate().map(|(i, bit)| letters(i, if bit == '1' { &[0.9, 0.1] } else { &[0.2, 0.8] }, 0)).collect()
    }

    #[test]
    fn mcnemar_by_hand() {
        // 5 against 1: 2 · (1 + 6)/64; 3 against 0: 2/8; even and empty: 1.
        for (a, b, expected) in [(5, 1, 14.0 / 64.0), (3, 0, 0.25), (4, 4, 1.0), (0, 0, 1.0)] {
            assert!((mcnemar_exact(a, b) - expected).abs() < 1e-12, "{a} against {b}");
            assert_eq!(mcnemar_exact(a, b), mcnemar_exact(b, a));
        }
    }

    #[test]
    fn two_runs_are_compared_doc_by_doc() {
        let comparison = compare(&run("11110"), &run("11001"), Rule::Acc).expect("shared docs");
        let counts = [comparison.n_both_correct, comparison.n_only_here_correct, comparison.n_only_other_correct, comparison.n_both_wrong];
        assert_eq!(counts, [2, 2, 1, 0]);
        // Differences 0, 0, 1, 1, −1: mean .2, sample variance (2 · .04 + 2 · .64 + 1.44)/4 = .7, stderr √.14.
        assert!((comparison.difference.value - 0.2).abs() < 1e-15);
        assert!((comparison.difference.stderr.expect("n > 1") - 0.14_f64.sqrt()).abs() < 1e-15);
        assert_eq!(comparison.flips.iter().map(|flip| flip.index).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(comparison.p_value, 1.0);
        assert!(!comparison.is_bit_equal);
    }

    #[test]
    fn a_run_equals_itself_to_the_bit() {
        let comparison = compare(&run("101"), &run("101"), Rule::Acc).expect("shared docs");
        assert!(comparison.is_bit_equal && comparison.flips.is_empty());
        assert_eq!(comparison.max_loglikelihood_difference, 0.0);
    }

    #[test]
    fn docs_that_only_one_run_has_are_counted() {
        let comparison = compare(&run("1111"), &run("11"), Rule::Acc).expect("shared docs");
        assert_eq!((comparison.n, comparison.n_only_here, comparison.n_only_other), (2, 2, 0));
        assert_eq!(compare(&run("1"), &[], Rule::Acc), None);
    }

    #[test]
    fn rotations_tell_a_letter_from_an_answer() {
        // The file's gold is choice 0. Doc 0: the model knows the answer; doc 1: it always says A.
        let knows = |shift: usize| letters(0, if shift == 0 { &[0.9, 0.1] } else { &[0.1, 0.9] }, if shift == 0 { 0 } else { 1 });
        let says_a = |shift: usize| letters(1, &[0.9, 0.1], if shift == 0 { 0 } else { 1 });
        let runs = [0, 1].map(|shift| RotatedRun { shift, items: vec![knows(shift), says_a(shift)] });
        let report = rotations(&runs, Rule::Acc).expect("shared docs");
        assert_eq!((report.n, report.n_orders, report.consistent.n_correct, report.always_correct.n_correct), (2, 2, 1, 1));
        assert_eq!(report.accuracy_by_shift.iter().map(|(_, p)| p.n_correct).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(report.mean_accuracy.value, 0.75);
        // A is picked in 3 of 4; it is right whenever it is gold (2 of 2), B in 1 of 2.
        let positions: Vec<_> = report.positions.iter().map(|p| (p.picked.n_correct, p.accuracy_when_gold.map(|a| a.value))).collect();
        assert_eq!(positions, [(3, Some(1.0)), (1, Some(0.5))]);
    }
}
