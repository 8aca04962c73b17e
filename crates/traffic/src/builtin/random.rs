//! Addressed random draws.
//!
//! A draw is a pure function of (seed, purpose, id, n): nothing depends on the order in which draws are made. The
//! function is `SplitMix64`: the key of (seed, purpose, id) is its state, and draw `n` is its output `n`.

/// The odd constant by which `SplitMix64` advances its state: 2^64 over the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a draw decides. The numbers are part of every result: never change one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Which vehicles are heavy.
    Kind = 1,
    /// The driver's wish relative to the speed limit.
    SpeedFactor = 2,
    /// Where the vehicles stand at first.
    Place = 3,
    /// The driver's imperfection, one draw a step.
    Dawdle = 4,
    /// Which way to go at a junction.
    Turn = 5,
}

/// The finaliser of `SplitMix64`.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The draws of one (seed, purpose, id).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draws {
    key: u64,
}

impl Draws {
    /// The draws that `seed` gives `id` for `purpose`.
    pub(crate) fn new(seed: u64, purpose: Purpose, id: u64) -> Self {
        let key = mix(seed.wrapping_add(GAMMA));
        let key = mix((key ^ purpose as u64).wrapping_add(GAMMA));
        let key = mix((key ^ id).wrapping_add(GAMMA));
        Self { key }
    }

    /// Draw `n`: 64 random bits.
    pub(crate) fn bits(self, n: u64) -> u64 {
        mix(self.key.wrapping_add(n.wrapping_add(1).wrapping_mul(GAMMA)))
    }

    /// Draw `n`: uniform in [0, 1).
    pub(crate) fn unit(self, n: u64) -> f64 {
        (self.bits(n) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// About normal with mean 0 and deviation 1, from draws `12 n` to `12 n + 11`: the sum of twelve uniform draws
    /// (Irwin and Hall), which needs no function whose last bit differs between machines.
    pub(crate) fn normal(self, n: u64) -> f64 {
        (0..12).map(|k| self.unit(12 * n + k)).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs of `SplitMix64` from state 1234567.
    #[test]
    fn the_generator_gives_the_published_outputs() {
        let draws = Draws { key: 1_234_567 };
        let first: Vec<u64> = (0..5).map(|n| draws.bits(n)).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    #[test]
    fn draws_have_the_moments_they_claim() {
        let draws = Draws::new(7, Purpose::Dawdle, 3);
        let n = 20_000;
        let mean = (0..n).map(|k| draws.unit(k)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.01, "mean {mean}");
        let normals: Vec<f64> = (0..n).map(|k| draws.normal(k)).collect();
        let mean = normals.iter().sum::<f64>() / n as f64;
        let variance = normals.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05);
    }

    #[test]
    fn every_part_of_the_address_matters() {
        let base = Draws::new(1, Purpose::Turn, 2).bits(3);
        assert_ne!(base, Draws::new(2, Purpose::Turn, 2).bits(3));
        assert_ne!(base, Draws::new(1, Purpose::Place, 2).bits(3));
        assert_ne!(base, Draws::new(1, Purpose::Turn, 3).bits(3));
        assert_ne!(base, Draws::new(1, Purpose::Turn, 2).bits(4));
    }
}
