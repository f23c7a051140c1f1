//! Random numbers that are the same on every machine: a seed and integer arithmetic.
//!
//! Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators" (SplitMix64);
//! Lemire 2019, "Fast random integer generation in an interval".

/// SplitMix64: 64 bits of state, passes BigCrush, period 2⁶⁴.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`, n > 0. The bias of the multiplication, n/2⁶⁴, is left in.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// `0..n` in random order (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64s() {
        // First outputs for seed 1234567, from the reference implementation in C (Vigna, splitmix64.c).
        let mut random = SplitMix64::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431];
        for value in expected {
            assert_eq!(random.next_u64(), value);
        }
    }

    #[test]
    fn a_permutation_has_every_index_once() {
        let mut order = SplitMix64::new(7).permutation(100);
        assert_ne!(order, (0..100).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn draws_stay_in_their_ranges() {
        let mut random = SplitMix64::new(0);
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&random.unit()));
            assert!(random.below(3) < 3);
        }
    }
}
