//! Bias probes: where the picks stand and how long they are, beside the gold choices.
//!
//! In: scored multiple-choice items and a rule. Out: counts per position, lengths.
//!
//! Source: Zheng et al. 2023, "Large language models are not robust multiple choice selectors" (position bias).

use super::estimate::{mean, Proportion};
use super::rules::pick_of;
use crate::score::{ItemScore, Rule};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One position (letter) of the choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PositionCount {
    /// Position, from 0.
    pub position: usize,
    /// `A`, `B` …
    pub letter: String,
    /// Docs that have a choice here.
    pub n_docs: usize,
    /// Picks here out of all docs.
    pub picked: Proportion,
    /// Docs with a gold choice here out of all docs.
    pub gold: Proportion,
    /// Accuracy on the docs whose (only) gold choice is here.
    pub accuracy_when_gold: Option<Proportion>,
}

/// Lengths of picks beside those of the gold choices.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct LengthBias {
    /// Docs whose choices differ in length.
    pub n: usize,
    /// Mean length of the picks, code points.
    pub mean_chars_picked: f64,
    /// Mean length of the gold choices, code points.
    pub mean_chars_gold: f64,
    /// Mean over docs of the mean length of a choice, code points.
    pub mean_chars_all: f64,
    /// The pick is one of the longest choices.
    pub picked_longest: Proportion,
    /// A gold choice is one of the longest.
    pub gold_longest: Proportion,
    /// The pick is one of the shortest choices.
    pub picked_shortest: Proportion,
    /// A gold choice is one of the shortest.
    pub gold_shortest: Proportion,
}

/// Both probes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Bias {
    /// The rule whose picks are looked at.
    pub rule: Rule,
    /// One per position that any doc has.
    pub positions: Vec<PositionCount>,
    /// Half the sum of |share picked − share gold|: the share of picks that would have to move to match the gold letters, 0 to 1.
    pub total_variation: f64,
    /// `None` where no doc's choices differ in length (letters).
    pub length: Option<LengthBias>,
}

/// The letter of a position: `A` to `Z`, then numbers.
pub fn letter(position: usize) -> String {
    match u8::try_from(position) {
        Ok(p) if p < 26 => char::from(b'A' + p).to_string(),
        _ => (position + 1).to_string(),
    }
}

/// The probes by one rule; `None` where it applies to no doc.
pub fn bias(items: &[&ItemScore], rule: Rule) -> Option<Bias> {
    let picked: Vec<(&ItemScore, usize, bool)> =
        items.iter().filter_map(|item| pick_of(item, rule).map(|pick| (*item, pick.pick, pick.is_correct))).collect();
    let n_positions = picked.iter().map(|(item, ..)| item.choices.len()).max()?;
    let mut positions = Vec::with_capacity(n_positions);
    let mut total_variation = 0.0;
    for position in 0..n_positions {
        let picked_here = Proportion::of(picked.iter().map(|(_, pick, _)| *pick == position))?;
        let gold_here = Proportion::of(picked.iter().map(|(item, ..)| item.gold.contains(&position)))?;
        // Docs with several gold choices count in parts, so that the shares add up to 1.
        let gold_share: f64 =
            picked.iter().filter(|(item, ..)| item.gold.contains(&position)).map(|(item, ..)| 1.0 / item.gold.len() as f64).sum::<f64>()
                / picked.len() as f64;
        total_variation += (picked_here.value - gold_share).abs() / 2.0;
        positions.push(PositionCount {
            position,
            letter: letter(position),
            n_docs: picked.iter().filter(|(item, ..)| position < item.choices.len()).count(),
            picked: picked_here,
            gold: gold_here,
            accuracy_when_gold: Proportion::of(picked.iter().filter(|(item, ..)| item.gold == [position]).map(|(.., right)| *right)),
        });
    }
    Some(Bias { rule, positions, total_variation, length: length_bias(&picked) })
}

/// Lengths over the docs whose choices differ in length.
fn length_bias(picked: &[(&ItemScore, usize, bool)]) -> Option<LengthBias> {
    let mut lengths = [const { Vec::new() }; 3];
    let mut ends = [const { Vec::new() }; 4];
    for (item, pick, _) in picked {
        let chars: Vec<usize> = item.choices.iter().map(|choice| choice.n_chars).collect();
        let (shortest, longest) = (*chars.iter().min()?, *chars.iter().max()?);
        if shortest == longest {
            continue;
        }
        let gold: Vec<usize> = item.gold.iter().filter_map(|gold| chars.get(*gold).copied()).collect();
        let picked = *chars.get(*pick)?;
        lengths[0].push(picked as f64);
        lengths[1].push(gold.iter().sum::<usize>() as f64 / gold.len().max(1) as f64);
        lengths[2].push(chars.iter().sum::<usize>() as f64 / chars.len() as f64);
        ends[0].push(picked == longest);
        ends[1].push(gold.contains(&longest));
        ends[2].push(picked == shortest);
        ends[3].push(gold.contains(&shortest));
    }
    let n = lengths[0].len();
    let [picked_longest, gold_longest, picked_shortest, gold_shortest] = ends.map(Proportion::of);
    Some(LengthBias {
        n,
        mean_chars_picked: mean(&lengths[0])?,
        mean_chars_gold: mean(&lengths[1])?,
        mean_chars_all: mean(&lengths[2])?,
        picked_longest: picked_longest?,
        gold_longest: gold_longest?,
        picked_shortest: picked_shortest?,
        gold_shortest: gold_shortest?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::cases::{choice, item, letters};

    #[test]
    fn a_model_that_always_says_a_moves_half_of_its_picks() {
        let items: Vec<ItemScore> = (0..4).map(|i| letters(i, &[0.6, 0.4], i % 2)).collect();
        let bias = bias(&items.iter().collect::<Vec<_>>(), Rule::Acc).expect("docs");
        // Picked 1, 0; gold ½, ½: (½ + ½)/2.
        assert_eq!(bias.total_variation, 0.5);
        assert_eq!((bias.positions[0].letter.as_str(), bias.positions[0].picked.n_correct, bias.positions[0].gold.n_correct), ("A", 4, 2));
        assert_eq!(bias.positions[0].accuracy_when_gold.map(|p| p.value), Some(1.0));
        assert_eq!(bias.positions[1].accuracy_when_gold.map(|p| p.value), Some(0.0));
        assert_eq!(bias.length, None);
    }

    #[test]
    fn lengths_of_picks_stand_beside_those_of_the_gold_choices() {
        let items = [item(0, vec![choice(-1.0, 2), choice(-2.0, 8)], &[1]), item(1, vec![choice(-1.0, 3), choice(-2.0, 3)], &[0])];
        let length = bias(&items.iter().collect::<Vec<_>>(), Rule::Acc).and_then(|bias| bias.length).expect("one doc of uneven length");
        assert_eq!((length.n, length.mean_chars_picked, length.mean_chars_gold, length.mean_chars_all), (1, 2.0, 8.0, 5.0));
        assert_eq!((length.picked_shortest.n_correct, length.picked_longest.n_correct, length.gold_longest.n_correct), (1, 0, 1));
    }

    #[test]
    fn letters_end_at_z() {
        assert_eq!([0, 3, 25, 26].map(letter), ["A", "D", "Z", "27"]);
    }
}
