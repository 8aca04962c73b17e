//! Many draws of one id.

use crate::addressed::absorb;
use crate::purpose::Purpose;
use crate::split_mix::{SplitMix, unit};

/// The draws of one (seed, purpose, id), by number.
///
/// The chain of seed, purpose and id is the state of a [`SplitMix`] stream, and draw `n` is its output `n`.
#[derive(Clone, Copy, Debug)]
pub struct Series(SplitMix);

impl Series {
    /// The draws that `seed` gives `id` for `purpose`.
    #[must_use]
    pub const fn new(seed: u64, purpose: Purpose, id: u64) -> Self {
        let key = absorb(absorb(0, seed), purpose.word(0));
        Self(SplitMix::new(absorb(key, id)))
    }

    /// Draw `n`: 64 random bits.
    #[inline]
    #[must_use]
    pub const fn bits(self, n: u64) -> u64 {
        self.0.nth(n)
    }

    /// Draw `n`: uniform in [0, 1).
    #[inline]
    #[must_use]
    pub const fn unit(self, n: u64) -> f64 {
        unit(self.bits(n))
    }

    /// About normal with mean 0 and deviation 1, from draws `12 n` to `12 n + 11`: the sum of twelve uniform draws
    /// (Irwin and Hall), which needs no function whose last bit differs between machines.
    #[must_use]
    pub fn normal(self, n: u64) -> f64 {
        (0..12).map(|k| self.unit(12 * n + k)).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_draws_stay() {
        // Every trace of the built-in traffic depends on these. They were computed by another program from the definition.
        let draws = Series::new(7, Purpose::Dawdle, 3);
        assert_eq!(draws.bits(0), 0x95B0_B2F5_9968_7ACC);
        assert_eq!(draws.bits(5), 0x4DBF_2988_183C_25A1);
        assert_eq!(
            Series::new(1, Purpose::Turn, 2).bits(3),
            0xC7F6_89C1_6005_0188
        );
    }

    #[test]
    fn draws_have_the_moments_they_claim() {
        let draws = Series::new(7, Purpose::Dawdle, 3);
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
        let base = Series::new(1, Purpose::Turn, 2).bits(3);
        assert_ne!(base, Series::new(2, Purpose::Turn, 2).bits(3));
        assert_ne!(base, Series::new(1, Purpose::Place, 2).bits(3));
        assert_ne!(base, Series::new(1, Purpose::Turn, 3).bits(3));
        assert_ne!(base, Series::new(1, Purpose::Turn, 2).bits(4));
    }
}
