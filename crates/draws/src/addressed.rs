//! One draw per step and pair.

use crate::normal::{normal_quantile, normal_quantiles};
use crate::purpose::Purpose;
use crate::split_mix::{mix, unit};

/// The chain of words one longer.
#[inline]
pub(crate) const fn absorb(state: u64, word: u64) -> u64 {
    mix(state ^ word)
}

/// All draws of one (seed, purpose, message class, step).
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The draws of `purpose` at `step` in the run with this seed.
    ///
    /// `class` is the message class, or what else a purpose tells apart by it; 0 where there is none. A message's size is no part of the
    /// address: a beacon that carries a few bytes more is lost or received as it was without.
    pub const fn new(seed: u64, purpose: Purpose, class: u8, step: u64) -> Self {
        let state = absorb(absorb(0, seed), purpose.word(class));
        Self {
            state: absorb(state, step),
        }
    }

    /// The draw of the ordered pair (a, b).
    #[inline]
    pub const fn at(&self, a: u32, b: u32) -> Draw {
        Draw(absorb(self.state, ((a as u64) << 32) | b as u64))
    }

    /// The draw of the unordered pair {a, b}.
    #[inline]
    pub const fn between(&self, a: u32, b: u32) -> Draw {
        if a < b { self.at(a, b) } else { self.at(b, a) }
    }

    /// [`Draw::unit`] of (sender, receiver) for each receiver, as far as both slices reach.
    pub fn fill_units(&self, sender: u32, receivers: &[u32], units: &mut [f32]) {
        for (unit, &receiver) in units.iter_mut().zip(receivers) {
            *unit = self.at(sender, receiver).unit();
        }
    }

    /// [`Draw::normal`] of (a, b) for each b, as far as both slices reach.
    pub fn fill_normals(&self, a: u32, bs: &[u32], normals: &mut [f64]) {
        let many = bs.len().min(normals.len());
        let normals = &mut normals[..many];
        for (normal, &b) in normals.iter_mut().zip(bs) {
            *normal = self.at(a, b).probability();
        }
        normal_quantiles(normals);
    }
}

/// One draw: 64 random bits, read as whatever distribution is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// All 64 bits, for choices by order or by remainder.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(self) -> f64 {
        unit(self.0)
    }

    /// Uniform on [0, 1), a multiple of 2^-24: exact in `f32`.
    ///
    /// `unit() < p` is true with probability p to within 2^-24, for every p in [0, 1]: always for
    /// 1, never for 0 and for NaN.
    #[inline]
    pub fn unit(self) -> f32 {
        (self.0 >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Standard normal by the inverse distribution function; always finite.
    #[inline]
    pub fn normal(self) -> f64 {
        normal_quantile(self.probability())
    }

    /// Uniform on (0, 1).
    #[inline]
    fn probability(self) -> f64 {
        // Half a step from either end, and exact: 53 bits would round up to 1.
        ((self.0 >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_draws_stay() {
        // Every stored result depends on these: a change here changes all of them.
        // They were computed by another program from the definition.
        let draws = Draws::new(7, Purpose::Reception, 1, 40);
        assert_eq!(draws.at(3, 9).bits(), 0x834B_70C1_93A6_9B0F);
        assert_eq!(draws.at(9, 3).bits(), 0x205D_A1E4_E0AD_E7F6);
        let equipment = Draws::new(7, Purpose::Equipment, 0, 0);
        assert_eq!(equipment.between(9, 3).bits(), 0xA221_2D8D_3361_7911);
    }

    #[test]
    fn each_part_of_the_address_counts() {
        let reference = Draws::new(7, Purpose::Reception, 1, 40).at(3, 9);
        let others = [
            Draws::new(8, Purpose::Reception, 1, 40).at(3, 9),
            Draws::new(7, Purpose::Thinning, 1, 40).at(3, 9),
            Draws::new(7, Purpose::Reception, 2, 40).at(3, 9),
            Draws::new(7, Purpose::Reception, 1, 41).at(3, 9),
            Draws::new(7, Purpose::Reception, 1, 40).at(4, 9),
            Draws::new(7, Purpose::Reception, 1, 40).at(3, 8),
            Draws::new(7, Purpose::Reception, 1, 40).at(9, 3),
        ];
        assert!(others.iter().all(|other| *other != reference));
        let draws = Draws::new(7, Purpose::Shadowing, 0, 40);
        assert_eq!(draws.between(3, 9), draws.between(9, 3));
    }

    /// Draws of small neighbouring addresses, as a simulation makes them.
    fn grid() -> impl Iterator<Item = (u64, u32, u32)> {
        (0..40u64).flat_map(|step| (0..50).flat_map(move |a| (0..50).map(move |b| (step, a, b))))
    }

    #[test]
    fn neighbouring_addresses_are_uniform() {
        const BINS: usize = 1024;
        let mut counts = [0u32; BINS];
        let mut low = [0u32; BINS];
        for (step, a, b) in grid() {
            let draw = Draws::new(1, Purpose::Reception, 0, step).at(a, b);
            counts[(f64::from(draw.unit()) * BINS as f64) as usize] += 1;
            low[((draw.bits() >> 11) % BINS as u64) as usize] += 1;
        }
        let expected = 100_000.0 / BINS as f64;
        for counts in [counts, low] {
            let chi2: f64 = counts
                .iter()
                .map(|&n| (f64::from(n) - expected).powi(2) / expected)
                .sum();
            // 1023 degrees of freedom: mean 1023, standard deviation 45.2; five of them each way.
            assert!((797.0..1249.0).contains(&chi2), "chi-square {chi2}");
        }
    }

    #[test]
    fn neighbouring_addresses_are_uncorrelated() {
        let at = |seed, class, step, a, b| {
            Draws::new(seed, Purpose::Reception, class, step)
                .at(a, b)
                .uniform()
                - 0.5
        };
        let mut sums = [0.0; 6];
        let mut n = 0.0;
        for (step, a, b) in grid() {
            let here = at(1, 0, step, a, b);
            let neighbours = [
                at(2, 0, step, a, b),
                at(1, 1, step, a, b),
                at(1, 0, step + 1, a, b),
                at(1, 0, step, a + 1, b),
                at(1, 0, step, a, b + 1),
                // The other direction of the link.
                if a < b {
                    at(1, 0, step, b, a)
                } else {
                    at(1, 0, step, b + 64, a)
                },
            ];
            for (sum, there) in sums.iter_mut().zip(neighbours) {
                *sum += 12.0 * here * there;
            }
            n += 1.0;
        }
        for sum in sums {
            let z: f64 = sum / f64::sqrt(n);
            assert!(z.abs() < 4.5, "correlation of {z} standard errors");
        }
    }

    #[test]
    fn normal_draws_are_standard_and_finite() {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (step, a, b) in grid() {
            let z = Draws::new(1, Purpose::Shadowing, 0, step).at(a, b).normal();
            sum += z;
            squares += z * z;
        }
        assert!((sum / 1e5).abs() < 0.015 && (squares / 1e5 - 1.0).abs() < 0.02);
        assert!(Draw(0).normal() < -8.0 && Draw(u64::MAX).normal() > 8.0);
        assert!(Draw(0).normal().is_finite() && Draw(u64::MAX).normal().is_finite());
    }

    #[test]
    fn normals_are_the_same_one_by_one() {
        let draws = Draws::new(1, Purpose::Sensed, 2, 40);
        let bs: Vec<u32> = (0..1_000).map(|n| n * 7).collect();
        let mut normals = vec![0.0; 1_003];
        draws.fill_normals(5, &bs, &mut normals);
        for (&b, normal) in bs.iter().zip(&normals) {
            assert_eq!(draws.at(5, b).normal().to_bits(), normal.to_bits());
        }
        assert_eq!(normals[1_000..], [0.0; 3]);
    }

    #[test]
    fn units_are_certain_at_the_ends() {
        assert!(Draw(u64::MAX).unit() < 1.0 && Draw(u64::MAX).uniform() < 1.0);
        assert_eq!(Draw(0).unit(), 0.0);
    }
}
