//! Three made-up models that need no weights: a lesson in calibration.
//!
//! In: a profile's name. Out: 300 items of four choices in which the picked choice has probability p and the others share the rest,
//! so that confidence is p on every item. Exact shares are right, at positions that a seed chooses.

use super::random::SplitMix64;
use crate::score::{picks, ChoiceScore, ItemScore};
use crate::spec::Precision;
use crate::task::doc::OutputType;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A made-up model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SyntheticProfile {
    /// Right on 80 % and 80 % sure.
    StrongCalibrated,
    /// Right on 80 % and 98 % sure.
    StrongOverconfident,
    /// Right on 40 % and 40 % sure.
    WeakCalibrated,
}

impl SyntheticProfile {
    /// All of them, as they are shown.
    pub const ALL: [Self; 3] = [Self::StrongCalibrated, Self::StrongOverconfident, Self::WeakCalibrated];

    /// Its name in files and calls.
    pub fn name(self) -> &'static str {
        match self {
            Self::StrongCalibrated => "strong_calibrated",
            Self::StrongOverconfident => "strong_overconfident",
            Self::WeakCalibrated => "weak_calibrated",
        }
    }

    /// Accuracy in per cent, and the probability of the picked choice.
    fn shape(self) -> (usize, f64) {
        match self {
            Self::StrongCalibrated => (80, 0.80),
            Self::StrongOverconfident => (80, 0.98),
            Self::WeakCalibrated => (40, 0.40),
        }
    }
}

/// Items of a profile.
const N_ITEMS: usize = 300;
/// Choices of an item.
const N_CHOICES: usize = 4;
/// All profiles share the seed, so they are asked the same questions.
const SEED: u64 = 20;

/// The items of a profile.
pub fn synthetic_profile(profile: SyntheticProfile) -> Vec<ItemScore> {
    const CATEGORIES: [&str; 4] = ["stem", "humanities", "social_sciences", "other"];
    let (percent, p) = profile.shape();
    let mut random = SplitMix64::new(SEED);
    let mut is_right = vec![false; N_ITEMS];
    for i in random.permutation(N_ITEMS).into_iter().take(N_ITEMS * percent / 100) {
        is_right[i] = true;
    }
    let item = |(index, is_right): (usize, bool)| {
        let gold = random.below(N_CHOICES);
        let wrong = (gold + 1 + random.below(N_CHOICES - 1)) % N_CHOICES;
        let picked = if is_right { gold } else { wrong };
        let choices: Vec<ChoiceScore> = (0..N_CHOICES).map(|i| choice(i, if i == picked { p } else { (1.0 - p) / (N_CHOICES - 1) as f64 })).collect();
        let gold = vec![gold];
        ItemScore {
            doc_id: index,
            index,
            line: index + 1,
            task: format!("synthetic_{}", profile.name()),
            category: Some(CATEGORIES[index % CATEGORIES.len()].to_owned()),
            question: format!("Made-up question {}", index + 1),
            output_type: OutputType::MultipleChoice,
            picks: picks(&choices, &gold),
            choices,
            gold,
            n_context_tokens: 0,
            flags: Vec::new(),
            precision: Precision::Float32,
            n_words: None,
            n_bytes: None,
        }
    };
    is_right.into_iter().enumerate().map(item).collect()
}

/// A letter with probability `p`.
fn choice(position: usize, p: f64) -> ChoiceScore {
    let loglikelihood = libm::log(p);
    let text = super::bias::letter(position);
    ChoiceScore {
        n_chars: 1,
        n_bytes: 1,
        text,
        token_ids: vec![u32::from(b'A') + position as u32],
        token_logprobs: vec![loglikelihood],
        loglikelihood,
        is_greedy: p > 0.5,
        least_margin: None,
        loglikelihood_unconditional: None,
        loglikelihood_answer: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::calibration::confident;
    use crate::score::Rule;

    #[test]
    fn every_profile_has_its_accuracy_and_its_confidence() {
        for (profile, n_correct, p) in SyntheticProfile::ALL.into_iter().zip([(240, 0.80), (240, 0.98), (120, 0.40)]).map(|(a, (b, c))| (a, b, c)) {
            let items = synthetic_profile(profile);
            let confident: Vec<_> = items.iter().map(|item| confident(item, Rule::Acc, 1.0).expect("multiple choice")).collect();
            assert_eq!(confident.len(), 300);
            assert_eq!(confident.iter().filter(|c| c.is_correct).count(), n_correct, "{}", profile.name());
            assert!(confident.iter().all(|c| (c.confidence - p).abs() < 1e-12 && c.confidence >= 0.25), "{}", profile.name());
        }
    }

    #[test]
    fn profiles_of_one_accuracy_are_right_on_the_same_questions() {
        let right = |profile| synthetic_profile(profile).iter().map(|item| item.picks[0].is_correct).collect::<Vec<_>>();
        assert_eq!(right(SyntheticProfile::StrongCalibrated), right(SyntheticProfile::StrongOverconfident));
    }
}
