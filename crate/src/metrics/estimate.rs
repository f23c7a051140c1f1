//! A number with its uncertainty: proportions, means, their standard errors and intervals.
//!
//! In: counts or per-item values. Out: value, standard error, interval.
//!
//! Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference" (the interval);
//! lm-eval 0.4.13, `mean_stderr` (sample standard deviation, n − 1 inside, over √n).

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Two-sided 95 % quantile of the normal distribution, to the two decimals that tables and papers use.
pub const Z: f64 = 1.96;

/// Quantile of the normal distribution for a power of 80 %.
const Z_POWER: f64 = 0.841_621_233_572_914_2;

/// A closed interval at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `x` lies inside, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// `value ± Z · stderr`.
    pub fn normal(value: f64, stderr: f64) -> Self {
        Self { low: value - Z * stderr, high: value + Z * stderr }
    }

    /// The part inside [0, 1].
    #[must_use]
    pub fn within_unit(self) -> Self {
        Self { low: self.low.clamp(0.0, 1.0), high: self.high.clamp(0.0, 1.0) }
    }
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Wilson's score interval of a proportion.
    Wilson,
    /// Value ± 1.96 standard errors.
    Normal,
}

/// Wilson's interval of `n_correct` out of `n`, z = 1.96. Without observations it is all of [0, 1].
pub fn wilson(n_correct: usize, n: usize) -> Interval {
    if n == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (k, n) = (n_correct as f64, n as f64);
    let (p, z2) = (k / n, Z * Z);
    let scale = 1.0 + z2 / n;
    let centre = (p + z2 / (2.0 * n)) / scale;
    let half_width = Z * libm::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n)) / scale;
    Interval {
        // At the edges the formula gives 0 and 1 but for rounding.
        low: if n_correct == 0 { 0.0 } else { (centre - half_width).max(0.0) },
        high: if k == n { 1.0 } else { (centre + half_width).min(1.0) },
    }
}

/// A share of docs that are right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Proportion {
    /// Docs.
    pub n: usize,
    /// Right ones.
    pub n_correct: usize,
    /// `n_correct / n`.
    pub value: f64,
    /// Sample standard deviation over √n; not available for n = 1.
    pub stderr: Option<f64>,
    /// Wilson's.
    pub interval: Interval,
}

impl Proportion {
    /// `None` without observations.
    pub fn new(n_correct: usize, n: usize) -> Option<Self> {
        if n == 0 {
            return None;
        }
        let value = n_correct as f64 / n as f64;
        // The sample variance of n zeros and ones is n/(n − 1) · p(1 − p).
        let stderr = (n > 1).then(|| libm::sqrt(value * (1.0 - value) / (n - 1) as f64));
        Some(Self { n, n_correct, value, stderr, interval: wilson(n_correct, n) })
    }

    /// Share of true values.
    pub fn of(values: impl IntoIterator<Item = bool>) -> Option<Self> {
        let (mut n, mut n_correct) = (0, 0);
        for value in values {
            n += 1;
            n_correct += usize::from(value);
        }
        Self::new(n_correct, n)
    }
}

/// A mean of per-doc values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct Mean {
    /// Values.
    pub n: usize,
    /// Their mean.
    pub value: f64,
    /// Sample standard deviation over √n; not available for n = 1.
    pub stderr: Option<f64>,
    /// Value ± 1.96 standard errors; not available for n = 1.
    pub interval: Option<Interval>,
}

impl Mean {
    /// `None` without values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let value = mean(values)?;
        let stderr = sample_stddev(values).map(|sd| sd / libm::sqrt(values.len() as f64));
        Some(Self { n: values.len(), value, stderr, interval: stderr.map(|se| Interval::normal(value, se)) })
    }
}

/// Sum in order over n; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation, n − 1 inside; `None` for fewer than two values.
pub fn sample_stddev(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    Some(libm::sqrt(squares / (values.len() - 1) as f64))
}

/// The `q`-quantile of ascending values, linear between neighbours (numpy's default); `None` without values.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64))
}

/// The smallest difference that a two-sided test at 5 % finds with a power of 80 %, by the normal approximation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct DetectableDifference {
    /// Between this accuracy and a fixed number: (1.96 + 0.84) · √(p(1 − p)/n).
    pub from_fixed: f64,
    /// Between this run and another one on as many other docs: √2 times as much.
    pub from_independent_run: f64,
}

impl DetectableDifference {
    /// For `n_correct` out of `n` > 0; p is the centre of Wilson's interval, so that a run without errors is not infinitely sharp.
    pub fn new(n_correct: usize, n: usize) -> Self {
        let z2 = Z * Z;
        let p = (n_correct as f64 + z2 / 2.0) / (n as f64 + z2);
        let from_fixed = (Z + Z_POWER) * libm::sqrt(p * (1.0 - p) / n as f64);
        Self { from_fixed, from_independent_run: std::f64::consts::SQRT_2 * from_fixed }
    }

    /// For any number with a standard error.
    pub fn from_stderr(stderr: f64) -> Self {
        let from_fixed = (Z + Z_POWER) * stderr;
        Self { from_fixed, from_independent_run: std::f64::consts::SQRT_2 * from_fixed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, expected: f64, bound: f64, what: &str) {
        assert!((got - expected).abs() <= bound, "{what}: expected {expected}, got {got}");
    }

    #[test]
    fn wilson_equals_published_intervals_to_four_decimals() {
        // MMLU tables with z = 1.96; 0/10 and 10/10 by hand: z²/(n + z²) = 3.8416/13.8416 = .27754.
        let cases = [
            (163, 418, 0.3444, 0.4375),
            (146, 286, 0.4528, 0.5679),
            (141, 264, 0.4739, 0.5933),
            (155, 286, 0.4840, 0.5988),
            (605, 1254, 0.4549, 0.5101),
            (0, 10, 0.0, 0.2775),
            (10, 10, 0.7225, 1.0),
        ];
        for (n_correct, n, low, high) in cases {
            let interval = wilson(n_correct, n);
            assert_close(interval.low, low, 5.1e-5, &format!("low of {n_correct}/{n}"));
            assert_close(interval.high, high, 5.1e-5, &format!("high of {n_correct}/{n}"));
        }
        assert_eq!((wilson(0, 10).low, wilson(10, 10).high), (0.0, 1.0));
        assert_eq!(wilson(0, 0), Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn stderr_of_a_proportion_has_n_minus_one_inside() {
        // √(605/1254 · 649/1254 / 1253) = .0141165
        let p = Proportion::new(605, 1254).expect("n > 0");
        assert_close(p.stderr.expect("n > 1"), 0.0141165, 5e-8, "stderr of 605/1254");
        assert_eq!(Proportion::new(1, 1).expect("n > 0").stderr, None);
        assert_eq!(Proportion::new(0, 0), None);
        let values: Vec<f64> = (0..1254).map(|i| f64::from(u8::from(i < 605))).collect();
        assert_close(Mean::of(&values).and_then(|m| m.stderr).expect("n > 1"), p.stderr.expect("n > 1"), 1e-15, "mean of zeros and ones");
    }

    #[test]
    fn mean_and_stderr_of_four_values_by_hand() {
        // Mean 2.5, squares 2.25 + .25 + .25 + 2.25 = 5, sd √(5/3), stderr √(5/12) = .6454972.
        let m = Mean::of(&[1.0, 2.0, 3.0, 4.0]).expect("four values");
        assert_eq!(m.value, 2.5);
        assert_close(m.stderr.expect("n > 1"), 0.645_497_224_367_903, 1e-15, "stderr");
        assert_eq!(Mean::of(&[]), None);
        assert_eq!(Mean::of(&[3.0]).expect("one value").stderr, None);
    }

    #[test]
    fn quantiles_are_linear_between_neighbours() {
        // numpy.quantile([1, 2, 4, 8], [0, .25, .5, .9, 1]) = [1, 1.75, 3, 6.8, 8]
        let values = [1.0, 2.0, 4.0, 8.0];
        for (q, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (0.9, 6.8), (1.0, 8.0)] {
            assert_close(quantile(&values, q).expect("values"), expected, 1e-12, &format!("q {q}"));
        }
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn detectable_difference_of_1254_docs_is_four_points() {
        // p = .4826 → (1.96 + .8416) · √(.4826 · .5174/1254) = 2.8016 · .014111 = .03953
        let d = DetectableDifference::new(605, 1254);
        assert_close(d.from_fixed, 0.03953, 1e-5, "from a fixed number");
        assert_close(d.from_independent_run, 0.05591, 1e-5, "from a run of the same size");
        assert!(DetectableDifference::new(10, 10).from_fixed > 0.0);
    }
}
