//! Random draws by address.
//!
//! A draw is a pure function of (seed, purpose, class, step, a, b). There is no generator to
//! advance, so the order in which draws are made, the number of threads and what else is drawn
//! cannot change any of them: runs that differ only in who transmits share their loss
//! realisations.
//!
//! The function is a chain of SplitMix64 finalisers (Steele, Lea, Flood, OOPSLA 2014), one per
//! word absorbed. [`Draws`] keeps the chain up to the step, so a draw for one more link costs one
//! finaliser: 17 instructions, against 83 for Philox4x32-10 (docs/channel.md, Cost), whose longer
//! period nothing here needs. It is not a cryptographic generator.

/// SplitMix64's increment: 2^64 over the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's output function.
#[inline]
const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[inline]
const fn absorb(state: u64, word: u64) -> u64 {
    finalise((state ^ word).wrapping_add(GOLDEN))
}

/// What a draw decides. Draws of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose(u32);

impl Purpose {
    /// Whether a receiver gets a message: (sender, receiver), step, message class.
    pub const RECEPTION: Self = Self(1);
    /// Whether a message passes capacity thinning: (sender, sender), step, message class.
    pub const THINNING: Self = Self(2);
    /// Innovation of a pair's shadowing: unordered pair, step.
    pub const SHADOWING: Self = Self(3);
    /// A pair's blockage for one episode: unordered pair, the episode's first step.
    pub const BLOCKAGE: Self = Self(4);

    /// A purpose of the caller's own, kept apart from this crate's.
    pub const fn custom(number: u8) -> Self {
        Self(0x100 + number as u32)
    }
}

/// All draws of one (seed, purpose, message class, step).
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The draws of `purpose` at `step` in the run with this seed.
    ///
    /// `class` is the message class; 0 where there is none. A message's size is no part of the
    /// address: a beacon that carries a few bytes more is lost or received as it was without.
    pub const fn new(seed: u64, purpose: Purpose, class: u8, step: u64) -> Self {
        let state = absorb(absorb(0, seed), ((purpose.0 as u64) << 8) | class as u64);
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
}

/// One draw: 64 random bits, read as whatever distribution is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw(u64);

impl Draw {
    /// The bits themselves.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(self) -> f64 {
        (self.0 >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
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
        // Half a step from either end, and exact: 53 bits would round up to 1.
        normal_quantile(((self.0 >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64))
    }
}

/// Quantile of the standard normal distribution to about 1e-15 relative: Wichura's PPND16
/// (algorithm AS 241, Applied Statistics 37(3), 1988).
pub(crate) fn normal_quantile(p: f64) -> f64 {
    #[inline]
    fn ratio(x: f64, numerator: [f64; 8], denominator: [f64; 8]) -> f64 {
        let horner = |c: [f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        horner(numerator) / horner(denominator)
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, CENTRE.0, CENTRE.1);
    }
    let r = libm::sqrt(-libm::log(p.min(1.0 - p)));
    let tail = if r <= 5.0 {
        ratio(r - 1.6, MIDDLE.0, MIDDLE.1)
    } else {
        ratio(r - 5.0, FAR.0, FAR.1)
    };
    tail.copysign(q)
}

type Ratio = ([f64; 8], [f64; 8]);

#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const CENTRE: Ratio = (
    [3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
    [1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077,
     21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852854561],
);
#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const MIDDLE: Ratio = (
    [1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
     1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4],
    [1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455,
     0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9],
);
#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "digits as published")]
const FAR: Ratio = (
    [6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
     0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
    [1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525,
     7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finaliser_is_splitmix64() {
        // First outputs of the reference implementation seeded with 1234567.
        let outputs: Vec<u64> = (1..=5u64)
            .map(|n| finalise(GOLDEN.wrapping_mul(n).wrapping_add(1_234_567)))
            .collect();
        assert_eq!(
            outputs,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821
            ]
        );
    }

    #[test]
    fn known_draws_stay() {
        // Every stored result depends on these: a change here changes all of them.
        // They were computed by another program from the definition.
        let draws = Draws::new(7, Purpose::RECEPTION, 1, 40);
        assert_eq!(draws.at(3, 9).bits(), 0x834B_70C1_93A6_9B0F);
        assert_eq!(draws.at(9, 3).bits(), 0x205D_A1E4_E0AD_E7F6);
        let custom = Draws::new(7, Purpose::custom(1), 0, 0);
        assert_eq!(custom.between(9, 3).bits(), 0xA221_2D8D_3361_7911);
    }

    #[test]
    fn each_part_of_the_address_counts() {
        let reference = Draws::new(7, Purpose::RECEPTION, 1, 40).at(3, 9);
        let others = [
            Draws::new(8, Purpose::RECEPTION, 1, 40).at(3, 9),
            Draws::new(7, Purpose::THINNING, 1, 40).at(3, 9),
            Draws::new(7, Purpose::RECEPTION, 2, 40).at(3, 9),
            Draws::new(7, Purpose::RECEPTION, 1, 41).at(3, 9),
            Draws::new(7, Purpose::RECEPTION, 1, 40).at(4, 9),
            Draws::new(7, Purpose::RECEPTION, 1, 40).at(3, 8),
            Draws::new(7, Purpose::RECEPTION, 1, 40).at(9, 3),
        ];
        assert!(others.iter().all(|other| *other != reference));
        let draws = Draws::new(7, Purpose::SHADOWING, 0, 40);
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
            let draw = Draws::new(1, Purpose::RECEPTION, 0, step).at(a, b);
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
            Draws::new(seed, Purpose::RECEPTION, class, step)
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
    fn normal_quantile_meets_published_values() {
        // Wichura's own check values and the usual percentile.
        for (p, z) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_6),
            (1e-20, -9.262_340_089_798_408),
            (0.975, 1.959_963_984_540_054_2),
        ] {
            let found = normal_quantile(p);
            assert!((found - z).abs() < 1e-14 * z.abs(), "{p}: {found}");
        }
    }

    #[test]
    fn normal_draws_are_standard_and_finite() {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (step, a, b) in grid() {
            let z = Draws::new(1, Purpose::SHADOWING, 0, step).at(a, b).normal();
            sum += z;
            squares += z * z;
        }
        assert!((sum / 1e5).abs() < 0.015 && (squares / 1e5 - 1.0).abs() < 0.02);
        assert!(Draw(0).normal() < -8.0 && Draw(u64::MAX).normal() > 8.0);
        assert!(Draw(0).normal().is_finite() && Draw(u64::MAX).normal().is_finite());
    }

    #[test]
    fn units_are_certain_at_the_ends() {
        assert!(Draw(u64::MAX).unit() < 1.0 && Draw(u64::MAX).uniform() < 1.0);
        assert_eq!(Draw(0).unit(), 0.0);
    }
}
