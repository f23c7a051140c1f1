//! Random numbers that are the same on every machine: a seed and integer arithmetic.
//!
//! `SplitMix64` for everything of our own; `PythonRandom` where a number has to equal one that lm-eval draws.
//!
//! Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators" (SplitMix64);
//! Lemire 2019, "Fast random integer generation in an interval"; Matsumoto & Nishimura 1998, "Mersenne twister".

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

    /// Uniform in `0..n`, 0 < n < 2³², from the upper 32 bits. The bias of the multiplication, n/2³², is left in.
    pub fn below(&mut self, n: usize) -> usize {
        (((self.next_u64() >> 32) * n as u64) >> 32) as usize
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

/// The stream of Python's `random.Random(seed)`: MT19937, seeded by `init_by_array([seed])`.
#[derive(Clone)]
pub struct PythonRandom {
    state: [u32; Self::N],
    next: usize,
}

impl PythonRandom {
    const N: usize = 624;
    const M: usize = 397;

    /// `random.Random(seed)`.
    pub fn new(seed: u32) -> Self {
        let mut state = [0_u32; Self::N];
        state[0] = 19_650_218;
        for i in 1..Self::N {
            state[i] = 1_812_433_253_u32.wrapping_mul(state[i - 1] ^ (state[i - 1] >> 30)).wrapping_add(i as u32);
        }
        // The key has one word, so its index is always 0.
        let mut i = 1;
        for _ in 0..Self::N {
            state[i] = (state[i] ^ (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_664_525)).wrapping_add(seed);
            i = Self::after(i, &mut state);
        }
        for _ in 0..Self::N - 1 {
            state[i] = (state[i] ^ (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            i = Self::after(i, &mut state);
        }
        state[0] = 0x8000_0000;
        Self { state, next: Self::N }
    }

    /// The index after `i` while seeding; at the end the last word is carried over to the first.
    fn after(i: usize, state: &mut [u32; Self::N]) -> usize {
        if i + 1 == Self::N {
            state[0] = state[Self::N - 1];
            1
        } else {
            i + 1
        }
    }

    fn refill(&mut self) {
        for i in 0..Self::N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % Self::N] & 0x7fff_ffff);
            let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + Self::M) % Self::N] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }

    fn next_u32(&mut self) -> u32 {
        if self.next == Self::N {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// `random()`: uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        let (a, b) = (self.next_u32() >> 5, self.next_u32() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// `_randbelow(n)`, 0 < n < 2³²: as many bits as `n` has, drawn again while they are not below it.
    fn randbelow(&mut self, n: u32) -> u32 {
        loop {
            let draw = self.next_u32() >> n.leading_zeros();
            if draw < n {
                return draw;
            }
        }
    }

    /// The indices that `sample` draws from `n` elements, `k ≤ n`, in the order of the draw.
    pub fn sample(&mut self, n: usize, k: usize) -> Vec<usize> {
        // A list of all indices where that is smaller than the set of those drawn: 21 + 4^⌈log₄ 3k⌉ by Python's estimate.
        let mut set_size = 21;
        if k > 5 {
            let mut power = 1;
            while power < 3 * k {
                power *= 4;
            }
            set_size += power;
        }
        let mut drawn = Vec::with_capacity(k);
        if n <= set_size {
            let mut pool: Vec<usize> = (0..n).collect();
            for i in 0..k {
                let j = self.randbelow((n - i) as u32) as usize;
                drawn.push(pool[j]);
                pool[j] = pool[n - i - 1];
            }
        } else {
            while drawn.len() < k {
                let j = self.randbelow(n as u32) as usize;
                if !drawn.contains(&j) {
                    drawn.push(j);
                }
            }
        }
        drawn
    }

    /// The index that `choices` draws from `n` elements.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_python_stream_is_pythons() {
        // python3 -c "import random; r = random.Random(0); print([r.random() for _ in range(3)]); print(random.Random(1234).choices(range(10), k=8))"
        let mut random = PythonRandom::new(0);
        for expected in [0.844_421_851_525_048_1, 0.757_954_402_940_302_5, 0.420_571_580_830_845] {
            assert_eq!(random.unit(), expected);
        }
        let mut random = PythonRandom::new(1234);
        let drawn: Vec<usize> = (0..8).map(|_| random.below(10)).collect();
        assert_eq!(drawn, [9, 4, 0, 9, 9, 5, 6, 0]);
    }

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

    #[test]
    fn samples_are_pythons() {
        // python3 -c "import random; r = random.Random(1234); print(r.sample(range(10), 3), r.sample(range(285), 6), r.sample(range(1000), 25)[-3:])"
        let mut random = PythonRandom::new(1234);
        assert_eq!(random.sample(10, 3), [7, 1, 0]);
        assert_eq!(random.sample(285, 6), [46, 17, 42, 50, 181, 121]);
        assert_eq!(random.sample(1000, 25)[22..], [66, 683, 554]);
    }
}
