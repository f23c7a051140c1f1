//! Calibration: how often the model is right when it says it is sure.
//!
//! In: scored multiple-choice items and the rule whose scores go into the softmax. Out: reliability bins, ECE, MCE, Brier score, NLL,
//! selective accuracy, and a temperature fitted on one half and judged on the other.
//! Confidence is the largest probability of softmax(scores / T) over the choices, and "right" means that the choice with that
//! probability is gold, so the accuracy here is that of the confidence rule, whichever rule the headline uses.
//! What needs resampling is in `bootstrap`.
//!
//! Source: Guo et al. 2017, "On calibration of modern neural networks", sections 2 and 4.2 (ECE, MCE, temperature);
//! Nguyen & O'Connor 2015 (equal-mass bins); Geifman & El-Yaniv 2017 (selective accuracy).

use super::estimate::{wilson, Interval};
use super::random::SplitMix64;
use super::rules::pick_of;
use crate::score::{ItemScore, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How confidences are put into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum Binning {
    /// ((m − 1)/M, m/M], the first closed at 0.
    #[default]
    EqualWidth,
    /// As many docs in each as can be; equal confidences share a bin.
    EqualMass,
}

/// One bin of the reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Bin {
    /// Lower edge; for equal mass the smallest confidence inside.
    pub low: f64,
    /// Upper edge; for equal mass the largest confidence inside.
    pub high: f64,
    /// Docs.
    pub n: usize,
    /// Right ones.
    pub n_correct: usize,
    /// `None` for an empty bin.
    pub mean_confidence: Option<f64>,
    /// `None` for an empty bin.
    pub accuracy: Option<f64>,
    /// Wilson's, of the accuracy; `None` for an empty bin.
    pub interval: Option<Interval>,
    /// Mean confidence minus accuracy: above 0 is overconfident.
    pub gap: Option<f64>,
}

/// Calibration in single numbers, at one temperature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct CalibrationValues {
    /// Scores are divided by it.
    pub temperature: f64,
    /// Share of docs whose most probable choice is gold.
    pub accuracy: f64,
    /// Mean of the largest probabilities.
    pub mean_confidence: f64,
    /// Σ n_m/N · |accuracy_m − confidence_m| over the chosen bins.
    pub ece: f64,
    /// Largest |accuracy_m − confidence_m| of a bin that is not empty.
    pub mce: f64,
    /// Mean of Σ (p − gold)² over the choices, 0 to 2, over docs with one gold; `None` without such docs.
    pub brier: Option<f64>,
    /// Mean of −ln p(gold), nats.
    pub nll: f64,
}

/// Accuracy on the docs the model is surest of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct SelectivePoint {
    /// Docs kept.
    pub n: usize,
    /// Share of docs kept.
    pub coverage: f64,
    /// Smallest confidence kept.
    pub confidence: f64,
    /// Accuracy of those kept.
    pub accuracy: f64,
}

/// A temperature fitted on one half of the docs and judged on the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct TemperatureFit {
    /// The T > 0 with the smallest NLL on the fitted half, within 0.01 to 100.
    pub temperature: f64,
    /// The smallest NLL lies at an end of that range.
    pub is_at_bound: bool,
    /// Seed of the split.
    pub seed: u32,
    /// Docs it was fitted on.
    pub n_fit: usize,
    /// Docs it was judged on.
    pub n_held_out: usize,
    /// The other half at T = 1.
    pub before: CalibrationValues,
    /// The other half at the fitted T.
    pub after: CalibrationValues,
}

/// The calibration section of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Calibration {
    /// The rule whose scores are put through the softmax.
    pub confidence_rule: Rule,
    /// Docs.
    pub n: usize,
    /// Bins asked for.
    pub n_bins: usize,
    /// How they are cut.
    pub binning: Binning,
    /// In ascending order, empty ones included.
    pub bins: Vec<Bin>,
    /// At the chosen temperature.
    pub values: CalibrationValues,
    /// At T = 1.
    pub values_at_one: CalibrationValues,
    /// ECE by equal-width bins, at the chosen temperature.
    pub ece_equal_width: f64,
    /// ECE by equal-mass bins, at the chosen temperature.
    pub ece_equal_mass: f64,
    /// From the surest docs to all of them, at most 100 points.
    pub selective: Vec<SelectivePoint>,
    /// `None` for fewer than four docs.
    pub temperature_fit: Option<TemperatureFit>,
}

/// How calibration is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationOptions {
    /// The rule whose scores are put through the softmax.
    pub confidence_rule: Rule,
    /// Number of bins, at least 1.
    pub n_bins: usize,
    /// How they are cut.
    pub binning: Binning,
    /// Divides the scores, above 0.
    pub temperature: f64,
    /// Of the split for the temperature fit.
    pub seed: u32,
}

/// The section; `None` where the rule applies to no doc.
pub fn calibration(items: &[&ItemScore], options: CalibrationOptions) -> Option<Calibration> {
    let table = ScoreTable::new(items, options.confidence_rule);
    if table.docs.is_empty() {
        return None;
    }
    let all: Vec<usize> = (0..table.docs.len()).collect();
    let confident = table.confident(&all, options.temperature);
    let bins = bins(&confident, options.n_bins, options.binning);
    let ece_by = |binning| {
        if binning == options.binning {
            ece(&bins)
        } else {
            ece(&self::bins(&confident, options.n_bins, binning))
        }
    };
    let values = table.values(&all, options.temperature, options)?;
    Some(Calibration {
        confidence_rule: options.confidence_rule,
        n: confident.len(),
        n_bins: options.n_bins,
        binning: options.binning,
        values,
        values_at_one: if options.temperature == 1.0 { values } else { table.values(&all, 1.0, options)? },
        ece_equal_width: ece_by(Binning::EqualWidth),
        ece_equal_mass: ece_by(Binning::EqualMass),
        selective: selective(&confident),
        temperature_fit: table.temperature_fit(options),
        bins,
    })
}

/// Confidence of one doc and whether its most probable choice is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confident {
    /// Largest probability, 1/K to 1.
    pub confidence: f64,
    /// The choice with that probability is gold.
    pub is_correct: bool,
}

/// Confidence of one item; `None` where the rule does not apply.
pub fn confident(item: &ItemScore, rule: Rule, temperature: f64) -> Option<Confident> {
    let pick = pick_of(item, rule)?;
    Some(Confident { confidence: confidence(&rule.scores(&item.choices)?, pick.pick, temperature), is_correct: pick.is_correct })
}

/// Probability of the choice with the highest score.
///
/// The picked choice is added last, so that equal scores in another order give equal bits and stay on one side of a bin's edge.
fn confidence(scores: &[f64], pick: usize, temperature: f64) -> f64 {
    let others = scores.iter().enumerate().filter(|(i, _)| *i != pick);
    1.0 / (others.map(|(_, score)| boltzmann(*score, scores[pick], temperature)).sum::<f64>() + 1.0)
}

/// The bin of each confidence, from 0.
pub fn bin_indices(confident: &[Confident], n_bins: usize, binning: Binning) -> Vec<usize> {
    match binning {
        Binning::EqualWidth => confident.iter().map(|c| equal_width_bin(c.confidence, n_bins)).collect(),
        Binning::EqualMass => {
            let mut order: Vec<usize> = (0..confident.len()).collect();
            order.sort_by(|a, b| confident[*a].confidence.total_cmp(&confident[*b].confidence));
            let mut indices = vec![0; confident.len()];
            // The rank of a doc is the number of docs with less confidence, so equal confidences share a rank.
            let mut rank = 0;
            for (i, at) in order.iter().enumerate() {
                if i > 0 && confident[order[i - 1]].confidence < confident[*at].confidence {
                    rank = i;
                }
                indices[*at] = rank * n_bins / confident.len();
            }
            indices
        }
    }
}

/// The smallest m with confidence ≤ (m + 1)/M, edges as f64.
fn equal_width_bin(confidence: f64, n_bins: usize) -> usize {
    let edge = |m: usize| m as f64 / n_bins as f64;
    let mut bin = (confidence * n_bins as f64) as usize;
    // The product may be rounded across an edge in either direction.
    while bin > 0 && confidence <= edge(bin) {
        bin -= 1;
    }
    while bin + 1 < n_bins && confidence > edge(bin + 1) {
        bin += 1;
    }
    bin.min(n_bins - 1)
}

/// All bins, empty ones included.
pub fn bins(confident: &[Confident], n_bins: usize, binning: Binning) -> Vec<Bin> {
    let mut counts = vec![(0_usize, 0_usize, 0.0_f64, f64::INFINITY, f64::NEG_INFINITY); n_bins];
    for (c, bin) in confident.iter().zip(bin_indices(confident, n_bins, binning)) {
        let count = &mut counts[bin];
        count.0 += 1;
        count.1 += usize::from(c.is_correct);
        count.2 += c.confidence;
        count.3 = count.3.min(c.confidence);
        count.4 = count.4.max(c.confidence);
    }
    let mut last_high = 0.0;
    let bin = |(m, (n, n_correct, sum, least, most)): (usize, (usize, usize, f64, f64, f64))| {
        let (low, high) = match binning {
            Binning::EqualWidth => (m as f64 / n_bins as f64, (m + 1) as f64 / n_bins as f64),
            Binning::EqualMass if n == 0 => (last_high, last_high),
            Binning::EqualMass => (least, most),
        };
        last_high = high;
        let share = |x: f64| (n > 0).then(|| x / n as f64);
        let (mean_confidence, accuracy) = (share(sum), share(n_correct as f64));
        let gap = mean_confidence.zip(accuracy).map(|(confidence, accuracy)| confidence - accuracy);
        Bin { low, high, n, n_correct, mean_confidence, accuracy, interval: (n > 0).then(|| wilson(n_correct, n)), gap }
    };
    counts.into_iter().enumerate().map(bin).collect()
}

/// Σ n_m/N · |gap_m|; 0 without docs.
pub fn ece(bins: &[Bin]) -> f64 {
    let n: usize = bins.iter().map(|bin| bin.n).sum();
    bins.iter().map(|bin| bin.n as f64 / n.max(1) as f64 * bin.gap.map_or(0.0, f64::abs)).sum()
}

/// Largest |gap_m|.
pub fn mce(bins: &[Bin]) -> f64 {
    bins.iter().filter_map(|bin| bin.gap).map(f64::abs).fold(0.0, f64::max)
}

/// Accuracy from the surest docs to all of them; docs of equal confidence are kept or left together.
fn selective(confident: &[Confident]) -> Vec<SelectivePoint> {
    const N_POINTS: usize = 100;
    let mut sorted = confident.to_vec();
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let n = sorted.len();
    let mut points = Vec::new();
    let (mut n_correct, mut next) = (0, 1);
    for (i, c) in sorted.iter().enumerate() {
        n_correct += usize::from(c.is_correct);
        let kept = i + 1;
        let is_last_of_equals = sorted.get(kept).is_none_or(|following| following.confidence < c.confidence);
        if is_last_of_equals && kept * N_POINTS >= next * n {
            points.push(SelectivePoint {
                n: kept,
                coverage: kept as f64 / n as f64,
                confidence: c.confidence,
                accuracy: n_correct as f64 / kept as f64,
            });
            next = kept * N_POINTS / n + 1;
        }
    }
    points
}

/// The scores of one rule over all docs, in a row.
struct ScoreTable<'a> {
    /// One slice of `scores` per doc.
    docs: Vec<ScoredChoices<'a>>,
    scores: Vec<f64>,
}

struct ScoredChoices<'a> {
    start: usize,
    end: usize,
    pick: usize,
    is_correct: bool,
    gold: &'a [usize],
}

impl<'a> ScoreTable<'a> {
    /// The docs to which the rule applies.
    fn new(items: &[&'a ItemScore], rule: Rule) -> Self {
        let mut table = Self { docs: Vec::with_capacity(items.len()), scores: Vec::with_capacity(4 * items.len()) };
        for item in items {
            let (Some(pick), Some(scores)) = (pick_of(item, rule), rule.scores(&item.choices)) else { continue };
            let start = table.scores.len();
            table.scores.extend(scores);
            let end = table.scores.len();
            table.docs.push(ScoredChoices { start, end, pick: pick.pick, is_correct: pick.is_correct, gold: &item.gold });
        }
        table
    }

    fn scores_of(&self, doc: &ScoredChoices) -> &[f64] {
        &self.scores[doc.start..doc.end]
    }

    fn confident(&self, docs: &[usize], temperature: f64) -> Vec<Confident> {
        let one = |doc: &usize| {
            let doc = &self.docs[*doc];
            Confident { confidence: confidence(self.scores_of(doc), doc.pick, temperature), is_correct: doc.is_correct }
        };
        docs.iter().map(one).collect()
    }

    /// Single numbers over some docs; `None` without docs.
    fn values(&self, docs: &[usize], temperature: f64, options: CalibrationOptions) -> Option<CalibrationValues> {
        let n = docs.len();
        if n == 0 {
            return None;
        }
        let confident = self.confident(docs, temperature);
        let bins = bins(&confident, options.n_bins, options.binning);
        let (mut brier, mut n_brier, mut nll) = (0.0, 0_usize, 0.0);
        for doc in docs {
            let doc = &self.docs[*doc];
            let scores = self.scores_of(doc);
            let weights = scores.iter().map(|score| boltzmann(*score, scores[doc.pick], temperature));
            let sum: f64 = weights.clone().sum();
            if let [gold] = *doc.gold {
                brier +=
                    weights.enumerate().map(|(i, w)| if i == gold { (w / sum - 1.0) * (w / sum - 1.0) } else { (w / sum) * (w / sum) }).sum::<f64>();
                n_brier += 1;
            }
            nll += self.nll(doc, temperature, sum);
        }
        Some(CalibrationValues {
            temperature,
            accuracy: confident.iter().filter(|c| c.is_correct).count() as f64 / n as f64,
            mean_confidence: confident.iter().map(|c| c.confidence).sum::<f64>() / n as f64,
            ece: ece(&bins),
            mce: mce(&bins),
            brier: (n_brier > 0).then(|| brier / n_brier as f64),
            nll: nll / n as f64,
        })
    }

    /// −ln of the gold choices' probability, from logarithms, so that an improbable gold choice has a finite one.
    fn nll(&self, doc: &ScoredChoices, temperature: f64, sum: f64) -> f64 {
        let scores = self.scores_of(doc);
        let top = scores[doc.pick];
        let best_gold = doc.gold.iter().map(|gold| scores[*gold]).fold(f64::NEG_INFINITY, f64::max);
        let gold_sum: f64 = doc.gold.iter().map(|gold| boltzmann(scores[*gold], best_gold, temperature)).sum();
        let lead = if best_gold == top { 0.0 } else { (top - best_gold) / temperature };
        lead + libm::log(sum) - libm::log(gold_sum)
    }

    /// d/dβ and d²/dβ² of the mean NLL at β = 1/T: E[s] − E[s | gold] and Var[s] − Var[s | gold].
    fn slope(&self, docs: &[usize], beta: f64) -> (f64, f64) {
        let (mut first, mut second) = (0.0, 0.0);
        for doc in docs {
            let doc = &self.docs[*doc];
            let scores = self.scores_of(doc);
            let (mean, variance) = moments(scores.iter().copied(), scores[doc.pick], beta);
            let gold = doc.gold.iter().map(|gold| scores[*gold]);
            let best_gold = gold.clone().fold(f64::NEG_INFINITY, f64::max);
            let (gold_mean, gold_variance) = moments(gold, best_gold, beta);
            first += mean - gold_mean;
            second += variance - gold_variance;
        }
        (first / docs.len() as f64, second / docs.len() as f64)
    }

    /// T of the smallest NLL over some docs by Newton's method inside a shrinking bracket, and whether it lies at the bracket's end.
    fn fit(&self, docs: &[usize]) -> (f64, bool) {
        /// Far outside of what models need, near enough for the scores to stay finite.
        const RANGE: (f64, f64) = (0.01, 100.0);
        let (mut low, mut high) = (1.0 / RANGE.1, 1.0 / RANGE.0);
        if self.slope(docs, low).0 >= 0.0 {
            return (RANGE.1, true);
        }
        if self.slope(docs, high).0 <= 0.0 {
            return (RANGE.0, true);
        }
        let mut beta = 1.0;
        for _ in 0..100 {
            let (first, second) = self.slope(docs, beta);
            if first > 0.0 {
                high = beta;
            } else {
                low = beta;
            }
            let newton = beta - first / second;
            let next = if second > 0.0 && low < newton && newton < high { newton } else { libm::sqrt(low * high) };
            let has_settled = (next - beta).abs() <= 1e-12 * beta;
            beta = next;
            if has_settled {
                break;
            }
        }
        (1.0 / beta, false)
    }

    fn temperature_fit(&self, options: CalibrationOptions) -> Option<TemperatureFit> {
        let n = self.docs.len();
        if n < 4 {
            return None;
        }
        // A doc with a gold score of −∞ has no NLL at any temperature.
        let order: Vec<usize> = SplitMix64::new(u64::from(options.seed))
            .permutation(n)
            .into_iter()
            .filter(|doc| self.docs[*doc].gold.iter().any(|gold| self.scores_of(&self.docs[*doc])[*gold].is_finite()))
            .collect();
        let (mut fit, mut held_out) = (order.clone(), order);
        held_out = held_out.split_off(fit.len() / 2);
        fit.truncate(fit.len() / 2);
        if fit.is_empty() {
            return None;
        }
        // Back to data order, so that sums do not depend on the shuffle.
        fit.sort_unstable();
        held_out.sort_unstable();
        let (temperature, is_at_bound) = self.fit(&fit);
        Some(TemperatureFit {
            temperature,
            is_at_bound,
            seed: options.seed,
            n_fit: fit.len(),
            n_held_out: held_out.len(),
            before: self.values(&held_out, 1.0, options)?,
            after: self.values(&held_out, temperature, options)?,
        })
    }
}

/// exp((score − top)/T); 1 for the top score itself, also where it is −∞.
fn boltzmann(score: f64, top: f64, temperature: f64) -> f64 {
    if score == top {
        1.0
    } else {
        libm::exp((score - top) / temperature)
    }
}

/// Mean and variance of the scores under exp(β·score), scores taken relative to `top`.
fn moments(scores: impl Iterator<Item = f64>, top: f64, beta: f64) -> (f64, f64) {
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for score in scores {
        if score == top {
            sum += 1.0;
            continue;
        }
        let d = score - top;
        let w = libm::exp(beta * d);
        // −∞ has no weight, and 0 · ∞ is not a number.
        if w > 0.0 {
            sum += w;
            first += w * d;
            second += w * d * d;
        }
    }
    let mean = first / sum;
    (top + mean, second / sum - mean * mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::{choice, item, letters};
    use crate::metrics::synthetic::{synthetic_profile, SyntheticProfile};

    const OPTIONS: CalibrationOptions =
        CalibrationOptions { confidence_rule: Rule::Acc, n_bins: 10, binning: Binning::EqualWidth, temperature: 1.0, seed: 1234 };

    fn of(items: &[ItemScore], options: CalibrationOptions) -> Calibration {
        calibration(&items.iter().collect::<Vec<_>>(), options).expect("docs")
    }

    fn assert_close(got: f64, expected: f64, bound: f64) {
        assert!((got - expected).abs() <= bound, "expected {expected}, got {got}");
    }

    #[test]
    fn bins_are_closed_on_the_right_and_the_first_at_zero() {
        let bin = |confidence| equal_width_bin(confidence, 10);
        assert_eq!([0.0, 0.05, 0.1, 0.10000000000000002, 0.3, 0.30000000000000004, 0.7, 0.95, 1.0].map(bin), [0, 0, 0, 1, 2, 3, 6, 9, 9]);
        for n_bins in 1..=100 {
            for edge in 1..=n_bins {
                assert_eq!(equal_width_bin(edge as f64 / n_bins as f64, n_bins), edge - 1, "{edge}/{n_bins}");
            }
        }
    }

    #[test]
    fn ece_of_two_bins_by_hand() {
        // Three docs at .9, two right: |.9 − .6667| = .2333; one at .6, wrong: .6. ECE 3/4 · .2333 + 1/4 · .6 = .325.
        let items = [letters(0, &[0.9, 0.1], 0), letters(1, &[0.9, 0.1], 0), letters(2, &[0.9, 0.1], 1), letters(3, &[0.6, 0.4], 1)];
        let calibration = of(&items, OPTIONS);
        assert_close(calibration.values.ece, 0.325, 1e-12);
        assert_close(calibration.values.mce, 0.6, 1e-12);
        // −(2 ln .9 + ln .1 + ln .4)/4 = .857381…; 2 · (.01 + .01 + .81 + .36)/4 = .595.
        assert_close(calibration.values.nll, (-(2.0 * 0.9_f64.ln() + 0.1_f64.ln() + 0.4_f64.ln())) / 4.0, 1e-12);
        assert_close(calibration.values.brier.expect("one gold a doc"), 0.595, 1e-12);
        assert_eq!(calibration.bins.iter().map(|bin| bin.n).sum::<usize>(), 4);
        assert_eq!((calibration.bins[0].mean_confidence, calibration.bins[0].gap, calibration.bins[0].interval), (None, None, None));
    }

    #[test]
    fn the_profiles_are_as_calibrated_as_they_say() {
        let [calibrated, overconfident, weak] = SyntheticProfile::ALL.map(|profile| of(&synthetic_profile(profile), OPTIONS));
        // All docs of a profile share a bin, so ECE is |accuracy − p|.
        assert_close(calibrated.values.ece, 0.0, 1e-12);
        assert_close(overconfident.values.ece, 0.18, 1e-12);
        assert_close(weak.values.ece, 0.0, 1e-12);
        assert_eq!(calibrated.values.accuracy, overconfident.values.accuracy);
        assert_close(calibrated.values.accuracy, 0.8, 1e-12);
        assert_close(weak.values.accuracy, 0.4, 1e-12);
    }

    #[test]
    fn equal_mass_bins_hold_equal_numbers_and_keep_equal_confidences_together() {
        let confident: Vec<Confident> = (0..20).map(|i| Confident { confidence: 0.5 + f64::from(i) / 50.0, is_correct: i % 2 == 0 }).collect();
        assert!(bins(&confident, 5, Binning::EqualMass).iter().all(|bin| bin.n == 4));
        let same = vec![Confident { confidence: 0.8, is_correct: true }; 10];
        assert_eq!(bins(&same, 5, Binning::EqualMass).iter().map(|bin| bin.n).collect::<Vec<_>>(), [10, 0, 0, 0, 0]);
    }

    #[test]
    fn temperature_undoes_overconfidence() {
        // .8 right and .98 sure on every doc: the best p is the accuracy of the fitted half, so p(T) = .98^(1/T)/Z ≈ .8.
        let calibration = of(&synthetic_profile(SyntheticProfile::StrongOverconfident), OPTIONS);
        let fit = calibration.temperature_fit.expect("enough docs");
        assert!(fit.temperature > 1.5 && !fit.is_at_bound, "{fit:?}");
        assert!(fit.after.ece < fit.before.ece && fit.after.nll < fit.before.nll, "{fit:?}");
        assert_eq!(fit.after.accuracy, fit.before.accuracy);
        assert_eq!((fit.n_fit, fit.n_held_out), (150, 150));
    }

    #[test]
    fn temperature_of_a_model_that_is_always_right_ends_at_the_bound() {
        let items: Vec<ItemScore> = (0..10).map(|i| letters(i, &[0.9, 0.1], 0)).collect();
        let fit = of(&items, OPTIONS).temperature_fit.expect("enough docs");
        assert_eq!((fit.temperature, fit.is_at_bound), (0.01, true));
        let items: Vec<ItemScore> = (0..10).map(|i| letters(i, &[0.9, 0.1], 1)).collect();
        let fit = of(&items, OPTIONS).temperature_fit.expect("enough docs");
        assert_eq!((fit.temperature, fit.is_at_bound), (100.0, true));
    }

    #[test]
    fn selective_accuracy_keeps_the_surest_docs_first() {
        let items = [letters(0, &[0.6, 0.4], 1), letters(1, &[0.9, 0.1], 0), letters(2, &[0.8, 0.2], 0), letters(3, &[0.8, 0.2], 1)];
        let points = of(&items, OPTIONS).selective;
        let got: Vec<(usize, f64)> = points.iter().map(|point| (point.n, point.accuracy)).collect();
        // The two docs of .8 come together: 1/1, 2/3, 2/4.
        assert_eq!(got, [(1, 1.0), (3, 2.0 / 3.0), (4, 0.5)]);
    }

    #[test]
    fn an_improbable_gold_choice_has_a_finite_nll() {
        let items = [item(0, vec![choice(-1.0, 1), choice(-2001.0, 1)], &[1])];
        assert_close(of(&items, OPTIONS).values.nll, 2000.0, 1e-9);
    }

    #[test]
    fn choices_of_length_zero_leave_every_number_finite() {
        let items: Vec<ItemScore> = (0..8).map(|i| item(i, vec![choice(-1.0, 0), choice(-2.0, 4)], &[1])).collect();
        let calibration = of(&items, CalibrationOptions { confidence_rule: Rule::AccNorm, ..OPTIONS });
        assert_eq!((calibration.values.mean_confidence, calibration.values.nll), (1.0, 0.0));
        assert!(calibration.temperature_fit.expect("enough docs").after.nll.is_finite());
    }
}
