//! What holds for every set of items: properties of scores, aggregates and files, over random ones.

use evaltab::metrics::calibration::{bins, ece, mce, Binning, Confident};
use evaltab::metrics::compare::{compare, mcnemar_exact};
use evaltab::metrics::estimate::{wilson, Proportion};
use evaltab::metrics::groups::{breakdown, Outcome};
use evaltab::metrics::rules::softmax;
use evaltab::report::files::{results_json, samples_jsonl};
use evaltab::report::items::item_columns;
use evaltab::report::{loglikelihood_digest, report, ReportOptions, RunMeta};
use evaltab::score::{near_ties, picks, ChoiceScore, ItemScore, Rule};
use evaltab::spec::Precision;
use evaltab::task::doc::OutputType;
use proptest::prelude::*;

fn choice(loglikelihood: f64, text: String, n_tokens: usize, null: f64) -> ChoiceScore {
    ChoiceScore {
        token_ids: vec![0; n_tokens],
        token_logprobs: vec![loglikelihood / n_tokens as f64; n_tokens],
        loglikelihood,
        is_greedy: loglikelihood > -1.0,
        least_margin: None,
        n_chars: text.chars().count(),
        n_bytes: text.len(),
        text,
        loglikelihood_unconditional: Some(null),
        loglikelihood_answer: None,
    }
}

fn any_choice() -> impl Strategy<Value = ChoiceScore> {
    (-60.0..0.0_f64, "[a-z東🙂 ]{0,12}", 1..6_usize, -60.0..0.0_f64).prop_map(|(ll, text, n_tokens, null)| choice(ll, text, n_tokens, null))
}

fn any_item() -> impl Strategy<Value = ItemScore> {
    (prop::collection::vec(any_choice(), 2..6), any::<prop::sample::Index>(), 0..4_usize).prop_map(|(choices, gold, category)| {
        let gold = vec![gold.index(choices.len())];
        ItemScore {
            doc_id: 0,
            index: 0,
            line: 1,
            task: "t".to_owned(),
            category: Some(format!("c{category}")),
            question: "q".to_owned(),
            output_type: OutputType::MultipleChoice,
            picks: picks(&choices, &gold),
            choices,
            gold,
            n_context_tokens: 1,
            flags: Vec::new(),
            precision: Precision::Default,
            n_words: None,
            n_bytes: None,
        }
    })
}

fn any_items() -> impl Strategy<Value = Vec<ItemScore>> {
    prop::collection::vec(any_item(), 1..40).prop_map(|mut items| {
        for (index, item) in items.iter_mut().enumerate() {
            (item.index, item.doc_id, item.line) = (index, index, index + 1);
        }
        items
    })
}

/// A report's bits, as text that reads back exactly.
fn bits(items: &[ItemScore], options: &ReportOptions) -> String {
    serde_json::to_string(&report(&RunMeta::default(), items, &[], &[], options)).expect("JSON")
}

proptest! {
    #[test]
    fn no_allowed_error_changes_a_pick_of_an_item_without_near_ties(
        item in any_item(),
        errors in prop::collection::vec((-1.49e-2..1.49e-2_f64, -1.49e-2..1.49e-2_f64), 6),
    ) {
        let mut moved = item.choices.clone();
        for (choice, (error, null_error)) in moved.iter_mut().zip(errors) {
            choice.loglikelihood += error;
            choice.loglikelihood_unconditional = choice.loglikelihood_unconditional.map(|null| null + null_error);
        }
        if !near_ties(&item) {
            for (pick, moved) in item.picks.iter().zip(picks(&moved, &item.gold)) {
                prop_assert_eq!((pick.rule, pick.pick, pick.is_correct), (moved.rule, moved.pick, moved.is_correct));
            }
        }
    }

    #[test]
    fn a_pick_has_no_better_choice_and_no_equal_one_before_it(item in any_item()) {
        for pick in &item.picks {
            let scores = pick.rule.scores(&item.choices).expect("the rule applies");
            prop_assert!(scores.iter().all(|score| *score <= scores[pick.pick]));
            prop_assert!(scores[..pick.pick].iter().all(|score| *score < scores[pick.pick]));
            prop_assert_eq!(pick.is_tied, scores.iter().filter(|score| **score == scores[pick.pick]).count() > 1);
            prop_assert!(pick.margin.is_none_or(|margin| margin >= 0.0));
        }
    }

    #[test]
    fn the_order_of_items_changes_no_bit_of_the_report(items in any_items(), seed in any::<u64>()) {
        let mut shuffled = items.clone();
        let order = evaltab::metrics::random::SplitMix64::new(seed).permutation(items.len());
        for (place, from) in order.into_iter().enumerate() {
            shuffled[place] = items[from].clone();
        }
        let options = ReportOptions { binning: Binning::EqualMass, ..ReportOptions::default() };
        prop_assert_eq!(bits(&items, &options), bits(&shuffled, &options));
        prop_assert_eq!(loglikelihood_digest(&items), loglikelihood_digest(&shuffled));
        prop_assert_eq!(item_columns(&items, &options), item_columns(&shuffled, &options));
    }

    #[test]
    fn items_survive_json_to_the_bit(items in any_items()) {
        let text = serde_json::to_string(&items).expect("JSON");
        let back: Vec<ItemScore> = serde_json::from_str(&text).expect("items");
        prop_assert_eq!(loglikelihood_digest(&back), loglikelihood_digest(&items));
        prop_assert_eq!(back, items);
    }

    #[test]
    fn every_line_of_the_files_is_json(items in any_items()) {
        let results = results_json(&RunMeta::default(), &items, &[], &[], &[], &ReportOptions::default());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&results.to_string()).is_ok());
        let samples = samples_jsonl(&RunMeta::default(), &items, &[]);
        prop_assert_eq!(samples.matches('\n').count(), items.len());
        for line in samples.split_terminator('\n') {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok());
        }
    }

    #[test]
    fn confidence_is_at_least_one_over_k_and_temperature_changes_no_pick(items in any_items(), temperature in 0.05..20.0_f64) {
        for rule in [Rule::Acc, Rule::AccNorm, Rule::AccMutualInfo] {
            let at = |temperature| item_columns(&items, &ReportOptions { confidence_rule: rule, temperature, ..ReportOptions::default() });
            let (one, other) = (at(1.0), at(temperature));
            prop_assert_eq!(&one.is_confidence_correct, &other.is_confidence_correct);
            for (confidence, item) in other.confidence.iter().zip(&items) {
                let confidence = confidence.expect("multiple choice");
                prop_assert!((1.0 / item.choices.len() as f64 - 1e-12..=1.0).contains(&confidence), "{}", confidence);
            }
        }
    }

    #[test]
    fn bins_hold_every_doc_once_and_ece_is_at_most_mce(
        pairs in prop::collection::vec((0.0..=1.0_f64, any::<bool>()), 1..200),
        n_bins in 1..=30_usize,
        is_equal_mass in any::<bool>(),
    ) {
        let binning = if is_equal_mass { Binning::EqualMass } else { Binning::EqualWidth };
        let confident: Vec<Confident> =
            pairs.iter().map(|(confidence, is_correct)| Confident { confidence: *confidence, is_correct: *is_correct }).collect();
        let bins = bins(&confident, n_bins, binning);
        prop_assert_eq!(bins.iter().map(|bin| bin.n).sum::<usize>(), pairs.len());
        prop_assert!((0.0..=mce(&bins) + 1e-12).contains(&ece(&bins)));
        prop_assert!(mce(&bins) <= 1.0);
        for bin in bins.iter().filter(|bin| bin.n > 0) {
            let mean = bin.mean_confidence.expect("not empty");
            prop_assert!(bin.low - 1e-12 <= mean && mean <= bin.high + 1e-12);
        }
        if is_equal_mass {
            // Distinct confidences share out evenly.
            let mut sorted: Vec<f64> = pairs.iter().map(|(confidence, _)| *confidence).collect();
            sorted.sort_by(f64::total_cmp);
            if sorted.windows(2).all(|pair| pair[0] < pair[1]) {
                let (least, most) = (bins.iter().map(|b| b.n).min(), bins.iter().map(|b| b.n).max());
                prop_assert!(most <= least.map(|n| n + 1));
            }
        }
    }

    #[test]
    fn wilsons_interval_holds_the_share_and_shrinks_with_n(n in 1..5000_usize, share in 0.0..=1.0_f64) {
        let n_correct = (share * n as f64) as usize;
        let interval = wilson(n_correct, n);
        prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
        prop_assert!(interval.contains(n_correct as f64 / n as f64));
        let wider = wilson(2 * n_correct, 2 * n);
        prop_assert!(wider.high - wider.low < interval.high - interval.low);
        // Swapping right and wrong mirrors it.
        let mirrored = wilson(n - n_correct, n);
        prop_assert!((mirrored.low + interval.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn softmax_sums_to_one_and_keeps_the_order(scores in prop::collection::vec(-500.0..0.0_f64, 1..8), temperature in 0.05..50.0_f64) {
        let p = softmax(&scores, temperature);
        prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (a, b) in (0..p.len()).flat_map(|a| (0..p.len()).map(move |b| (a, b))) {
            prop_assert!(scores[a] < scores[b] || p[a] >= p[b]);
        }
    }

    #[test]
    fn micro_is_the_mean_over_docs_and_equals_macro_for_equal_sizes(
        counts in prop::collection::vec((0..=20_usize, 0..20_usize), 2..8),
        is_equal in any::<bool>(),
    ) {
        let names: Vec<String> = (0..counts.len()).map(|i| format!("c{i}")).collect();
        let mut outcomes = Vec::new();
        for ((n_correct, more), name) in counts.iter().zip(&names) {
            let n = if is_equal { 20 } else { n_correct + more + 1 };
            outcomes.extend((0..n).map(|i| Outcome { task: "t", category: Some(name), is_correct: i < *n_correct, chance: 0.0 }));
        }
        let table = breakdown(&outcomes, &[], None).expect("docs");
        let share = Proportion::of(outcomes.iter().map(|outcome| outcome.is_correct)).expect("docs");
        prop_assert_eq!(table.micro, share);
        if is_equal {
            let macro_mean = table.macro_categories.expect("two categories");
            prop_assert!((macro_mean.value - share.value).abs() < 1e-12);
            // For equal sizes the pooled and the macro standard error are the same number.
            let (pooled, of_macro) = (table.pooled_stderr.expect("n > 1"), macro_mean.stderr.expect("n > 1"));
            prop_assert!((pooled - of_macro).abs() < 1e-12);
        }
    }

    #[test]
    fn mcnemars_p_value_is_a_probability_that_falls_with_the_imbalance(a in 0..400_usize, b in 0..400_usize) {
        let p = mcnemar_exact(a, b);
        prop_assert!(0.0 < p && p <= 1.0);
        prop_assert!(a < b || mcnemar_exact(a + 1, b) <= p + 1e-12);
    }

    #[test]
    fn a_comparison_turned_round_has_the_opposite_difference(a in any_items(), b in any_items()) {
        if let (Some(here), Some(there)) = (compare(&a, &b, Rule::Acc), compare(&b, &a, Rule::Acc)) {
            prop_assert_eq!(here.difference.value, -there.difference.value);
            prop_assert_eq!((here.n_only_here_correct, here.p_value), (there.n_only_other_correct, there.p_value));
            prop_assert_eq!(here.flips.len(), there.flips.len());
        }
    }
}
