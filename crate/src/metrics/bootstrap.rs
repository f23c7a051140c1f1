//! What resampling says of the ECE: its interval, and what a perfectly calibrated model would show.
//!
//! In: the items and the view of `calibration`. Out: percentile interval of resampled ECEs; ECEs of models that are right with
//! exactly the probability they state. Apart from `calibration` because it takes some hundred milliseconds for 14 000 docs.
//!
//! Source: Efron 1979 (bootstrap); Bröcker & Smith 2007, "Increasing the reliability of reliability diagrams" (consistency resampling).

use super::calibration::{bin_indices, bins, confident, ece, CalibrationOptions, Confident};
use super::estimate::{mean, quantile, Interval};
use super::random::SplitMix64;
use crate::score::ItemScore;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Draws of each kind.
pub const N_DRAWS: usize = 1000;

/// Resampled calibration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct CalibrationBootstrap {
    /// Docs.
    pub n: usize,
    /// Bins.
    pub n_bins: usize,
    /// Draws of each kind.
    pub n_draws: usize,
    /// Seed of both streams.
    pub seed: u32,
    /// The ECE itself.
    pub ece: f64,
    /// 2.5 and 97.5 % points of the ECE over docs drawn with replacement, the bins held fixed.
    pub ece_interval: Interval,
    /// Mean ECE of a perfectly calibrated model with these confidences: what chance alone gives at this n and these bins.
    pub calibrated_ece: f64,
    /// 2.5 and 97.5 % points of it.
    pub calibrated_interval: Interval,
    /// Share of perfectly calibrated draws with at least this ECE, (k + 1)/(draws + 1).
    pub p_value: f64,
}

/// Both resamplings; `None` where the rule applies to no doc.
pub fn calibration_bootstrap(items: &[&ItemScore], options: CalibrationOptions) -> Option<CalibrationBootstrap> {
    let confident: Vec<Confident> = items.iter().filter_map(|item| confident(item, options.confidence_rule, options.temperature)).collect();
    let n = confident.len();
    if n == 0 {
        return None;
    }
    let observed = ece(&bins(&confident, options.n_bins, options.binning));
    let bin_of = bin_indices(&confident, options.n_bins, options.binning);
    // N · ECE is the sum over bins of |Σ (is_correct − confidence)|.
    let residuals: Vec<f64> = confident.iter().map(|c| f64::from(u8::from(c.is_correct)) - c.confidence).collect();
    let mut random = SplitMix64::new(u64::from(options.seed));
    let mut sums = vec![0.0; options.n_bins];
    let mut draw = |one: &mut dyn FnMut(&mut [f64])| {
        sums.fill(0.0);
        one(&mut sums);
        sums.iter().map(|sum: &f64| sum.abs()).sum::<f64>() / n as f64
    };
    let mut resampled = Vec::with_capacity(N_DRAWS);
    let mut calibrated = Vec::with_capacity(N_DRAWS);
    for _ in 0..N_DRAWS {
        resampled.push(draw(&mut |sums| {
            for _ in 0..n {
                let i = random.below(n);
                sums[bin_of[i]] += residuals[i];
            }
        }));
        calibrated.push(draw(&mut |sums| {
            for (c, bin) in confident.iter().zip(&bin_of) {
                let is_correct = random.unit() < c.confidence;
                sums[*bin] += f64::from(u8::from(is_correct)) - c.confidence;
            }
        }));
    }
    resampled.sort_by(f64::total_cmp);
    calibrated.sort_by(f64::total_cmp);
    let interval = |sorted: &[f64]| Some(Interval { low: quantile(sorted, 0.025)?, high: quantile(sorted, 0.975)? });
    let n_at_least = calibrated.iter().filter(|ece| **ece >= observed).count();
    Some(CalibrationBootstrap {
        n,
        n_bins: options.n_bins,
        n_draws: N_DRAWS,
        seed: options.seed,
        ece: observed,
        ece_interval: interval(&resampled)?,
        calibrated_ece: mean(&calibrated)?,
        calibrated_interval: interval(&calibrated)?,
        p_value: (n_at_least + 1) as f64 / (N_DRAWS + 1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::calibration::Binning;
    use crate::metrics::synthetic::{synthetic_profile, SyntheticProfile};
    use crate::score::Rule;

    #[test]
    fn chance_alone_explains_the_calibrated_profiles_and_not_the_overconfident_one() {
        let options = CalibrationOptions { confidence_rule: Rule::Acc, n_bins: 10, binning: Binning::EqualWidth, temperature: 1.0, seed: 1234 };
        let of = |profile| {
            let items = synthetic_profile(profile);
            calibration_bootstrap(&items.iter().collect::<Vec<_>>(), options).expect("docs")
        };
        let calibrated = of(SyntheticProfile::StrongCalibrated);
        // One bin of 300 docs: the ECE of a calibrated model is |mean of 300 draws − .8|, in the mean √(2/π · .16/300) = .01843.
        assert!((calibrated.calibrated_ece - 0.01843).abs() < 0.0015, "{calibrated:?}");
        assert!(calibrated.p_value > 0.9, "{calibrated:?}");
        let overconfident = of(SyntheticProfile::StrongOverconfident);
        assert!(overconfident.ece_interval.contains(0.18) && overconfident.ece_interval.low > overconfident.calibrated_interval.high);
        assert!((overconfident.p_value - 1.0 / 1001.0).abs() < 1e-12);
        assert_eq!(calibration_bootstrap(&[], options), None);
    }
}
