//! Accuracy by category, by group of categories, and the means over them, each under its own name.
//!
//! In: one outcome per scored doc, and which categories make up which group. Out: a table with Wilson intervals, micro and macro
//! means with the standard error that belongs to each.
//!
//! A category is what the docs name (for MMLU its 57 subjects); a group is a set of them (STEM, Humanities …).
//!
//! Source: lm-eval 0.4.13, `Group.aggregate`, `pooled_sample_stderr`, `unweighted_mean_stderr`.

use super::estimate::{Interval, Proportion};
use super::rules::chance;
use crate::score::ItemScore;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use ts_rs::TS;

/// A named set of categories, tasks or other groups; lm-eval's `group`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Group {
    /// Its name, such as `mmlu_stem`.
    pub name: String,
    /// What a table shows.
    pub alias: String,
    /// Names of categories, tasks or groups.
    pub members: Vec<String>,
    /// lm-eval's `weight_by_size`: the group's own number is the micro mean, else the plain mean over its tasks.
    pub weight_by_size: bool,
    /// lm-eval's `metadata.version`.
    pub version: Option<String>,
}

/// What is known of one scored doc here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome<'a> {
    /// Its task.
    pub task: &'a str,
    /// Its category, where it has one.
    pub category: Option<&'a str>,
    /// Right or wrong.
    pub is_correct: bool,
    /// Chance of being right blindly.
    pub chance: f64,
}

impl<'a> Outcome<'a> {
    /// The outcome of an item.
    pub fn new(item: &'a ItemScore, is_correct: bool) -> Self {
        Self { task: &item.task, category: item.category.as_deref(), is_correct, chance: chance(item) }
    }
}

/// How the headline number is averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, Default)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// Every doc counts once.
    #[default]
    Micro,
    /// Every category counts once.
    MacroCategories,
    /// Every group counts once.
    MacroGroups,
}

/// One category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct CategoryResult {
    /// The category, or the task where its docs name none.
    pub name: String,
    /// The task.
    pub task: String,
    /// The innermost group it belongs to.
    pub group: Option<String>,
    /// Share of right docs.
    pub accuracy: Proportion,
    /// Mean chance level.
    pub chance: f64,
}

/// Mean of parts that count alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
pub struct MacroMean {
    /// Parts.
    pub n_parts: usize,
    /// Their mean.
    pub value: f64,
    /// √(Σ w²·se²), w = 1/parts; not available where a part has only one doc.
    pub stderr: Option<f64>,
    /// Value ± 1.96 standard errors, inside [0, 1].
    pub interval: Option<Interval>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct GroupResult {
    /// Its name.
    pub name: String,
    /// What a table shows.
    pub alias: String,
    /// The group around it.
    pub parent: Option<String>,
    /// Its categories, those of inner groups included.
    pub categories: Vec<String>,
    /// Σ n·m / Σ n over its categories: every doc counts once.
    pub micro: Proportion,
    /// lm-eval's pooled standard error of the micro mean; not available where a category has one doc only.
    pub pooled_stderr: Option<f64>,
    /// Every category counts once.
    pub macro_categories: MacroMean,
    /// Mean chance level.
    pub chance: f64,
}

/// Accuracy by category and group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Breakdown {
    /// Sorted by name.
    pub categories: Vec<CategoryResult>,
    /// In the order in which they were described; groups without docs are left out.
    pub groups: Vec<GroupResult>,
    /// All docs.
    pub micro: Proportion,
    /// lm-eval's pooled standard error over all categories.
    pub pooled_stderr: Option<f64>,
    /// Every category counts once; `None` for a single category.
    pub macro_categories: Option<MacroMean>,
    /// Every innermost group counts once, with its micro mean and pooled standard error; `None` below two groups.
    pub macro_groups: Option<MacroMean>,
}

/// Standard error of a micro mean from those of its parts: √(Σ n(n − 1)se² / (Σn − parts) / Σn).
///
/// lm-eval's `pooled_sample_stderr`. `None` where a part has none.
pub fn pooled_stderr(parts: &[(usize, Option<f64>)]) -> Option<f64> {
    let n: usize = parts.iter().map(|(n, _)| n).sum();
    let mut sum = 0.0;
    for (size, stderr) in parts {
        let (size, stderr) = (*size as f64, (*stderr)?);
        sum += (size - 1.0) * stderr * stderr * size;
    }
    (n > parts.len()).then(|| libm::sqrt(sum / (n - parts.len()) as f64 / n as f64))
}

/// Mean of parts that count alike; `None` without parts.
pub fn macro_mean(parts: &[(f64, Option<f64>)]) -> Option<MacroMean> {
    if parts.is_empty() {
        return None;
    }
    let n = parts.len() as f64;
    let value = parts.iter().map(|(value, _)| value).sum::<f64>() / n;
    let variance: Option<f64> = parts.iter().map(|(_, stderr)| stderr.map(|se| se * se)).sum();
    let stderr = variance.map(|variance| libm::sqrt(variance) / n);
    let interval = stderr.map(|se| Interval::normal(value, se).within_unit());
    Some(MacroMean { n_parts: parts.len(), value, stderr, interval })
}

/// The table; `None` without docs. `category_map` (category → group), where given, takes the place of `groups`.
pub fn breakdown(outcomes: &[Outcome], groups: &[Group], category_map: Option<&BTreeMap<String, String>>) -> Option<Breakdown> {
    let mut leaves: BTreeMap<(&str, &str), (usize, usize, f64)> = BTreeMap::new();
    for outcome in outcomes {
        let leaf = leaves.entry((outcome.category.unwrap_or(outcome.task), outcome.task)).or_default();
        leaf.0 += usize::from(outcome.is_correct);
        leaf.1 += 1;
        leaf.2 += outcome.chance;
    }
    let mut categories = Vec::with_capacity(leaves.len());
    for ((name, task), (n_correct, n, chance)) in leaves {
        categories.push(CategoryResult {
            name: name.to_owned(),
            task: task.to_owned(),
            group: None,
            accuracy: Proportion::new(n_correct, n)?,
            chance: chance / n as f64,
        });
    }
    let mapped;
    let groups = match category_map {
        Some(map) => {
            mapped = groups_of_map(map);
            &mapped
        }
        None => groups,
    };
    let parents: BTreeMap<&str, &str> =
        groups.iter().flat_map(|group| group.members.iter().map(|member| (member.as_str(), group.name.as_str()))).collect();
    let mut results = Vec::new();
    for group in groups {
        let names = members(group, groups);
        let parts: Vec<&CategoryResult> = categories.iter().filter(|c| names.contains(c.name.as_str()) || names.contains(c.task.as_str())).collect();
        let Some(sums) = Sums::of(&parts) else { continue };
        results.push(GroupResult {
            name: group.name.clone(),
            alias: group.alias.clone(),
            parent: parents.get(group.name.as_str()).map(|parent| (*parent).to_owned()),
            categories: parts.iter().map(|c| c.name.clone()).collect(),
            micro: sums.micro,
            pooled_stderr: sums.pooled_stderr,
            macro_categories: sums.macro_categories,
            chance: sums.chance,
        });
    }
    // The innermost group is the one with the fewest categories.
    for category in &mut categories {
        let around = results.iter().filter(|group| group.categories.contains(&category.name));
        category.group = around.min_by_key(|group| group.categories.len()).map(|group| group.name.clone());
    }
    let all = Sums::of(&categories.iter().collect::<Vec<_>>())?;
    let mut breakdown = Breakdown {
        macro_categories: (categories.len() > 1).then_some(all.macro_categories),
        macro_groups: None,
        categories,
        groups: results,
        micro: all.micro,
        pooled_stderr: all.pooled_stderr,
    };
    let parts: Vec<_> = breakdown.innermost_groups().map(|group| (group.micro.value, group.pooled_stderr)).collect();
    breakdown.macro_groups = if parts.len() > 1 { macro_mean(&parts) } else { None };
    Some(breakdown)
}

impl Breakdown {
    /// The groups that no other group is inside of.
    pub fn innermost_groups(&self) -> impl Iterator<Item = &GroupResult> {
        let is_parent = |group: &GroupResult| self.groups.iter().any(|other| other.parent.as_deref() == Some(group.name.as_str()));
        self.groups.iter().filter(move |group| !is_parent(group))
    }
}

/// Means over some categories.
struct Sums {
    micro: Proportion,
    pooled_stderr: Option<f64>,
    macro_categories: MacroMean,
    chance: f64,
}

impl Sums {
    /// `None` without categories.
    fn of(parts: &[&CategoryResult]) -> Option<Self> {
        let n: usize = parts.iter().map(|c| c.accuracy.n).sum();
        let n_correct = parts.iter().map(|c| c.accuracy.n_correct).sum();
        let sizes: Vec<(usize, Option<f64>)> = parts.iter().map(|c| (c.accuracy.n, c.accuracy.stderr)).collect();
        let values: Vec<(f64, Option<f64>)> = parts.iter().map(|c| (c.accuracy.value, c.accuracy.stderr)).collect();
        Some(Self {
            micro: Proportion::new(n_correct, n)?,
            pooled_stderr: pooled_stderr(&sizes),
            macro_categories: macro_mean(&values)?,
            chance: parts.iter().map(|c| c.chance * c.accuracy.n as f64).sum::<f64>() / n as f64,
        })
    }
}

/// Names of all categories and tasks under a group, those of inner groups included.
pub fn members<'a>(group: &'a Group, groups: &'a [Group]) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    let mut open: Vec<&str> = group.members.iter().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        // A group that contains itself is walked once.
        if names.insert(name) {
            open.extend(groups.iter().filter(|g| g.name == name).flat_map(|g| g.members.iter().map(String::as_str)));
        }
    }
    names
}

/// One group per value of a category → group map.
fn groups_of_map(map: &BTreeMap<String, String>) -> Vec<Group> {
    let mut members: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for (category, group) in map {
        members.entry(group).or_default().push(category.clone());
    }
    let group =
        |(name, members): (&String, Vec<String>)| Group { name: name.clone(), alias: name.clone(), members, weight_by_size: true, version: None };
    members.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(category: &'static str, task: &'static str, n_correct: usize, n: usize) -> impl Iterator<Item = Outcome<'static>> {
        (0..n).map(move |i| Outcome { task, category: Some(category), is_correct: i < n_correct, chance: 0.25 })
    }

    fn group(name: &str, members: &[&str]) -> Group {
        let members = members.iter().map(|member| (*member).to_owned()).collect();
        Group { name: name.to_owned(), alias: name.to_uppercase(), members, weight_by_size: true, version: None }
    }

    fn assert_close(got: Option<f64>, expected: f64) {
        assert!(got.is_some_and(|got| (got - expected).abs() < 1e-12), "expected {expected}, got {got:?}");
    }

    #[test]
    fn micro_counts_docs_and_macro_counts_categories() {
        // 1/2 and 9/10: micro 10/12, macro (.5 + .9)/2 = .7.
        let all: Vec<Outcome> = outcomes("a", "t", 1, 2).chain(outcomes("b", "t", 9, 10)).collect();
        let table = breakdown(&all, &[], None).expect("docs");
        assert_eq!((table.micro.n_correct, table.micro.n), (10, 12));
        assert_close(table.macro_categories.map(|mean| mean.value), 0.7);
        // Standard errors: √(.25/1) = .5 and √(.09/9) = .1. Macro: √(.25 + .01)/2 = .2549510.
        assert_close(table.macro_categories.and_then(|mean| mean.stderr), 0.254_950_975_679_639_2);
        // Pooled: (2 · 1 · .25 + 10 · 9 · .01)/(12 − 2)/12 = 1.4/120, root .1080123.
        assert_close(table.pooled_stderr, 0.108_012_344_973_464_34);
        assert_eq!(table.macro_groups, None);
    }

    #[test]
    fn a_category_of_one_doc_has_no_standard_error_and_takes_it_from_its_means() {
        let all: Vec<Outcome> = outcomes("a", "t", 1, 1).chain(outcomes("b", "t", 1, 4)).collect();
        let table = breakdown(&all, &[], None).expect("docs");
        assert_eq!(table.categories[0].accuracy.stderr, None);
        assert_eq!((table.pooled_stderr, table.macro_categories.and_then(|mean| mean.stderr)), (None, None));
        // Wilson's interval of one right doc is wide: [.2065, 1].
        assert_close(Some(table.categories[0].accuracy.interval.low), 0.206_543_291_473_892_94);
    }

    #[test]
    fn groups_contain_groups_and_the_innermost_count_for_the_macro_mean() {
        let all: Vec<Outcome> = outcomes("a", "m_a", 1, 2).chain(outcomes("b", "m_b", 2, 2)).chain(outcomes("c", "m_c", 0, 4)).collect();
        let groups = [group("m", &["m_x", "m_y"]), group("m_x", &["m_a", "m_b"]), group("m_y", &["m_c"]), group("m_empty", &["z"])];
        let table = breakdown(&all, &groups, None).expect("docs");
        let names: Vec<_> = table.groups.iter().map(|g| (g.name.as_str(), g.parent.as_deref(), g.micro.n_correct, g.micro.n)).collect();
        assert_eq!(names, [("m", None, 3, 8), ("m_x", Some("m"), 3, 4), ("m_y", Some("m"), 0, 4)]);
        // (.75 + 0)/2
        assert_close(table.macro_groups.map(|mean| mean.value), 0.375);
        let around: Vec<_> = table.categories.iter().map(|c| c.group.as_deref()).collect();
        assert_eq!(around, [Some("m_x"), Some("m_x"), Some("m_y")]);
    }

    #[test]
    fn a_group_that_contains_itself_is_walked_once() {
        let all: Vec<Outcome> = outcomes("a", "t", 1, 2).collect();
        let table = breakdown(&all, &[group("x", &["y", "a"]), group("y", &["x"])], None).expect("docs");
        assert_eq!(table.groups.iter().map(|g| g.micro.n).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn a_category_map_takes_the_place_of_the_tasks_groups() {
        let all: Vec<Outcome> = outcomes("a", "t", 1, 2).chain(outcomes("b", "t", 1, 2)).chain(outcomes("c", "t", 1, 2)).collect();
        let map = BTreeMap::from([("a".to_owned(), "one".to_owned()), ("b".to_owned(), "two".to_owned())]);
        let table = breakdown(&all, &[group("old", &["a", "b", "c"])], Some(&map)).expect("docs");
        assert_eq!(table.groups.iter().map(|g| g.name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(table.categories[2].group, None);
    }

    #[test]
    fn docs_without_a_category_go_under_their_task() {
        let all = [Outcome { task: "piqa", category: None, is_correct: true, chance: 0.5 }];
        let table = breakdown(&all, &[], None).expect("a doc");
        assert_eq!(table.categories[0].name, "piqa");
        assert_eq!((table.macro_categories, breakdown(&[], &[], None)), (None, None));
    }
}
