//! A batch of sequences as one tree of tokens: what several of them begin with stands in it once.
//!
//! In: sequences. Out: nodes, parents before children, so that a forward pass over the nodes in order is a forward pass over
//! all sequences. The first nodes may be a chain whose keys and values are still there from the batch before.

use std::collections::HashMap;

/// Tokens to run through the model and what is asked of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// Input ids; not empty.
    pub tokens: Vec<u32>,
    /// What to score, in order of position.
    pub targets: Vec<Target>,
}

/// "ln p of `id` after the token at `position`".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Index into the sequence's tokens.
    pub position: usize,
    /// The token that is scored.
    pub id: u32,
}

impl Sequence {
    /// The sequence that scores `continuation` after `context`: all tokens but the last are fed.
    ///
    /// Without continuation there is nothing to feed or score. `context` is not empty.
    pub fn of_pair(context: &[u32], continuation: &[u32]) -> Self {
        let fed = continuation.len().saturating_sub(1);
        let tokens = context.iter().chain(&continuation[..fed]).copied().collect();
        let targets = continuation.iter().enumerate().map(|(j, &id)| Target { position: context.len() - 1 + j, id }).collect();
        Self { tokens, targets }
    }
}

/// Length of the common beginning.
pub fn common_prefix(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

const ROOT: u32 = u32::MAX;

/// The tree of one batch. A node is an index; its slot in the key-value cache is the same number.
pub struct Tree {
    tokens: Vec<u32>,
    parents: Vec<u32>,
    positions: Vec<u32>,
    /// First node of the run of single steps (parent = the node before) that a node is in.
    run_starts: Vec<u32>,
    children: HashMap<(u32, u32), u32>,
    n_kept: usize,
}

impl Tree {
    /// A tree that begins with a kept chain.
    pub fn new(kept: &[u32]) -> Self {
        let mut tree = Self {
            tokens: Vec::new(),
            parents: Vec::new(),
            positions: Vec::new(),
            run_starts: Vec::new(),
            children: HashMap::new(),
            n_kept: kept.len(),
        };
        tree.insert(kept);
        tree
    }

    /// Adds a sequence; the node of each of its tokens.
    pub fn insert(&mut self, tokens: &[u32]) -> Vec<u32> {
        let mut parent = ROOT;
        tokens
            .iter()
            .enumerate()
            .map(|(position, &token)| {
                let next = self.tokens.len() as u32;
                let node = *self.children.entry((parent, token)).or_insert(next);
                if node == next {
                    self.tokens.push(token);
                    self.parents.push(parent);
                    self.positions.push(position as u32);
                    let follows = node > 0 && parent == node - 1;
                    self.run_starts.push(if follows { self.run_starts[parent as usize] } else { node });
                }
                parent = node;
                node
            })
            .collect()
    }

    /// Nodes in all.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Nodes whose keys and values are there already: the first ones.
    pub fn n_kept(&self) -> usize {
        self.n_kept
    }

    /// The token of a node.
    pub fn token(&self, node: usize) -> u32 {
        self.tokens[node]
    }

    /// Distance from the start of the node's sequences.
    pub fn position(&self, node: usize) -> usize {
        self.positions[node] as usize
    }

    /// Whether a node's parent is the node before it.
    pub fn continues(&self, node: usize) -> bool {
        self.run_starts[node] != node as u32
    }

    /// The nodes from the start of a sequence to `node`, as ranges in order.
    pub fn path(&self, node: usize) -> Vec<std::ops::Range<usize>> {
        let mut ranges = Vec::new();
        let mut end = node as u32;
        loop {
            let start = self.run_starts[end as usize];
            ranges.push(start as usize..end as usize + 1);
            match self.parents[start as usize] {
                ROOT => break,
                parent => end = parent,
            }
        }
        ranges.reverse();
        ranges
    }

    /// The nodes of as much of `tokens` as the tree has.
    pub fn find(&self, tokens: &[u32]) -> Vec<u32> {
        let mut parent = ROOT;
        tokens
            .iter()
            .map_while(|&token| {
                parent = *self.children.get(&(parent, token))?;
                Some(parent)
            })
            .collect()
    }
}
