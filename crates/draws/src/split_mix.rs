//! The SplitMix64 generator (Steele, Lea, Flood, OOPSLA 2014).

/// SplitMix64's increment: 2^64 over the golden ratio.
pub(crate) const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output from `state`: advances it once and mixes all its bits. A bijection.
#[inline]
#[must_use]
pub const fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// `bits` as a number on [0, 1), a multiple of 2^-53.
#[inline]
pub(crate) const fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A SplitMix64 stream from a state: for tests and tools, where nothing hangs on the order of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The stream from `state`, which is also its seed.
    #[must_use]
    pub const fn new(state: u64) -> Self {
        Self(state)
    }

    /// The next 64 bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        bits
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Number `n` of the numbers to come, counted from 0, without drawing those before it.
    #[inline]
    #[must_use]
    pub const fn nth(self, n: u64) -> u64 {
        mix(self.0.wrapping_add(n.wrapping_mul(GOLDEN)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_outputs() {
        // First outputs of the reference implementation seeded with 1234567.
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        let start = SplitMix::new(1_234_567);
        let mut stream = start;
        for (n, output) in (0..).zip(published) {
            assert_eq!(start.nth(n), output);
            assert_eq!(stream.bits(), output);
        }
        assert_eq!(mix(1_234_567), published[0]);
        assert_eq!(
            (mix(0), mix(1)),
            (0xE220_A839_7B1D_CDAF, 0x910A_2DEC_8902_5CC1)
        );
    }

    #[test]
    fn units_are_below_one() {
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }
}
