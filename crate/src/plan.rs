//! The order in which docs are scored, and how many go into a batch.
//!
//! In: the sequences of each doc. Out: an order in which docs that begin alike follow one another, so that what they share is
//! computed once and kept, and batches of some [`BATCH_ROWS`] new tokens, so that the linear layers see many rows at once.
//! The order changes nothing but the time: the engine gives the same bits for any.

use crate::engine::tree::common_prefix;

/// New tokens in a batch: at this many rows unpacking weights costs a few per cent of multiplying them.
pub const BATCH_ROWS: usize = 320;

/// Beginnings shorter than this are not worth leaving the order of the file for.
const WORTH_SHARING: usize = 24;

/// Positions of docs in the order of scoring. `beginnings` has the tokens of each doc's first sequence.
///
/// Docs with a common beginning of [`WORTH_SHARING`] tokens form a group; groups come in the order of their first docs, and a
/// group's docs in the order of their tokens, where the longest common beginnings are neighbours.
pub fn order(beginnings: &[&[u32]]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..beginnings.len()).collect();
    sorted.sort_by(|&a, &b| beginnings[a].cmp(beginnings[b]).then(a.cmp(&b)));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for doc in sorted {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|&last| common_prefix(beginnings[last], beginnings[doc]) >= WORTH_SHARING) => group.push(doc),
            _ => groups.push(vec![doc]),
        }
    }
    groups.sort_by_key(|group| group.iter().min().copied());
    groups.concat()
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn docs_that_share_a_long_beginning_are_neighbours_and_groups_keep_file_order() {
        let shared = |first: u32, last: u32| -> Vec<u32> { (0..30).map(|i| first * 100 + i).chain([last]).collect() };
        let docs = [shared(2, 9), shared(1, 5), shared(2, 3), shared(1, 4)];
        let beginnings: Vec<&[u32]> = docs.iter().map(Vec::as_slice).collect();
        assert_eq!(order(&beginnings), [2, 0, 3, 1]);
    }

    #[test]
    fn docs_that_share_little_stay_in_file_order() {
        assert_eq!(order(&[&[3, 1], &[1, 2], &[3, 0]]), [0, 1, 2]);
    }

    #[test]
    fn no_docs_have_no_order() {
        assert!(order(&[]).is_empty());
    }
}
