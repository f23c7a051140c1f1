//! Which rows of a file are run.
//!
//! In: the categories of all rows and a `Subset`. Out: row positions in file order. The draw comes from a seed and integer
//! arithmetic alone, so a link names the same rows everywhere.

use crate::metrics::random::SplitMix64;
use crate::spec::Subset;
use std::collections::BTreeMap;

/// Positions of the chosen rows, ascending. `categories` has one entry a row; rows without one are a category of their own.
pub fn positions(subset: &Subset, categories: &[Option<String>]) -> Vec<usize> {
    let n_rows = categories.len();
    let mut chosen = match *subset {
        Subset::All => (0..n_rows).collect(),
        Subset::First { n } => (0..n.min(n_rows)).collect(),
        Subset::Random { n, seed } => drawn(&(0..n_rows).collect::<Vec<_>>(), n, &mut SplitMix64::new(seed.into())),
        Subset::PerCategory { n, seed } => {
            let mut members: BTreeMap<&Option<String>, Vec<usize>> = BTreeMap::new();
            for (i, category) in categories.iter().enumerate() {
                members.entry(category).or_default().push(i);
            }
            let mut random = SplitMix64::new(seed.into());
            members.values().flat_map(|members| drawn(members, n, &mut random)).collect()
        }
    };
    chosen.sort_unstable();
    chosen
}

/// `n` of them, or all where there are fewer.
fn drawn(of: &[usize], n: usize, random: &mut SplitMix64) -> Vec<usize> {
    random.permutation(of.len()).into_iter().take(n).map(|i| of[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_in_file_order_and_the_same_for_a_seed() {
        let categories = vec![None; 50];
        let draw = |seed| positions(&Subset::Random { n: 8, seed }, &categories);
        assert!(draw(7).is_sorted() && draw(7).len() == 8);
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert_eq!(positions(&Subset::Random { n: 99, seed: 1 }, &categories).len(), 50);
        assert_eq!(positions(&Subset::First { n: 3 }, &categories), [0, 1, 2]);
    }

    #[test]
    fn every_category_gives_as_many() {
        let categories: Vec<_> = ["a", "b", "a", "b", "a", "c"].iter().map(|c| Some((*c).to_owned())).collect();
        let got = positions(&Subset::PerCategory { n: 2, seed: 3 }, &categories);
        let of = |name: &str| got.iter().filter(|i| categories[**i].as_deref() == Some(name)).count();
        assert_eq!((of("a"), of("b"), of("c")), (2, 2, 1));
    }
}
