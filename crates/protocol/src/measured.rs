//! Beacons as cars on sale send them.
//!
//! Intervals and sizes of CAMs that Volkswagen and Renault cars sent in field tests, as R. Molina-Masegosa, M. Sepulcre, J. Gozalvez,
//! F. Berens and V. Martinez published them (Empirical Models for the Realistic Generation of Cooperative Awareness Messages in
//! Vehicular Networks, IEEE Transactions on Vehicular Technology, 2020; repository msepulcre/CAM-model, folder PDF). Intervals are multiples of 100 ms, sizes one of four or five; signatures and certificates are
//! already in them. The tables are marginal distributions: interval and size of a beacon, and those of the next, are taken as independent,
//! where the source also has joint Markov models. The cars drove freely, and how they moved is not in the tables: a car in a queue
//! is given the same intervals.
//!
//! Nothing is drawn here: whoever has a random number between 0 and 1 is told what it stands for.

use crate::time::Duration;

covey_parameters::choices! {
    /// Whose cars were measured.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Maker {
        /// Volkswagen.
        Volkswagen = "volkswagen",
        /// Renault.
        Renault = "renault",
    }
}

covey_parameters::choices! {
    /// Where they drove.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RoadType {
        /// In town.
        Urban = "urban",
        /// Outside of town.
        Suburban = "suburban",
        /// On motorways.
        Highway = "highway",
        /// All of them together.
        Universal = "universal",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(Maker, RoadType);

/// From one beacon to the next, in steps of this.
const STEP: Duration = Duration::from_millis(100);

/// Sizes of both makers' beacons, in bytes: traces_generation_example.m of the repository.
const SIZES: [&[u32]; 2] = [&[200, 300, 360, 455], &[200, 330, 480, 600, 800]];

/// How many of 10,000 beacons came after 100, 200, ... 1,000 ms, and how many had the first, second, ... size; by maker, then road.
const COUNTS: [[([u16; 10], [u16; 5]); 4]; 2] = [
    [
        (
            [205, 738, 1621, 3855, 487, 1309, 323, 183, 107, 1172],
            [2382, 2869, 1385, 3364, 0],
        ),
        (
            [269, 4174, 1767, 2064, 161, 479, 98, 58, 65, 866],
            [3651, 2743, 1271, 2335, 0],
        ),
        (
            [350, 3330, 1413, 3886, 177, 599, 36, 39, 7, 164],
            [3667, 3111, 1658, 1564, 0],
        ),
        (
            [277, 2998, 1618, 3106, 253, 737, 139, 85, 58, 729],
            [3317, 2890, 1421, 2372, 0],
        ),
    ],
    [
        (
            [656, 1997, 1371, 1950, 2053, 821, 285, 76, 44, 747],
            [2547, 1562, 3012, 2806, 74],
        ),
        (
            [561, 1847, 1041, 2185, 2452, 1019, 258, 125, 36, 476],
            [2439, 1789, 3249, 2465, 58],
        ),
        (
            [565, 1840, 1452, 1943, 1745, 982, 381, 198, 66, 828],
            [2647, 1774, 2925, 2434, 220],
        ),
        (
            [608, 1920, 1281, 2024, 2121, 916, 295, 116, 46, 676],
            [2531, 1633, 3099, 2640, 97],
        ),
    ],
];

/// What was measured of one maker's cars on one kind of road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeasuredBeacons {
    /// Whose cars.
    pub maker: Maker,
    /// Where they drove.
    pub road: RoadType,
}

impl MeasuredBeacons {
    fn counts(self) -> &'static ([u16; 10], [u16; 5]) {
        &COUNTS[self.maker as usize][self.road as usize]
    }

    /// The time to the next beacon that a number from 0 to 1 stands for.
    #[must_use]
    pub fn interval(self, unit: f64) -> Duration {
        STEP.times(place(&self.counts().0, unit) as i64 + 1)
    }

    /// The bytes of a beacon that a number from 0 to 1 stands for, signature included.
    #[must_use]
    pub fn bytes(self, unit: f64) -> u32 {
        let sizes = SIZES[self.maker as usize];
        let at = place(&self.counts().1, unit);
        sizes[at.min(sizes.len() - 1)]
    }

    /// The mean time from one beacon to the next, in seconds.
    #[must_use]
    pub fn mean_interval_s(self) -> f64 {
        let counts = &self.counts().0;
        let all: f64 = counts.iter().map(|&n| f64::from(n)).sum();
        let steps = (1..).zip(counts).map(|(k, &n)| f64::from(k) * f64::from(n));
        STEP.seconds() * steps.sum::<f64>() / all
    }
}

/// Which count a number from 0 to 1 falls into, where they are laid end to end. Not-a-number is the first.
fn place(counts: &[u16], unit: f64) -> usize {
    let all: f64 = counts.iter().map(|&n| f64::from(n)).sum();
    let last = counts.iter().rposition(|&n| n > 0).unwrap_or(0);
    let mut left = unit * all;
    for (at, &count) in counts[..last].iter().enumerate() {
        left -= f64::from(count);
        if left < 0.0 || left.is_nan() {
            return at;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean interval in ms and mean bytes, as the source's table has them.
    const PUBLISHED: [[(f64, f64); 4]; 2] = [
        [
            (487.0, 337.0),
            (362.0, 307.0),
            (335.0, 298.0),
            (387.0, 312.0),
        ],
        [
            (422.0, 421.0),
            (424.0, 416.0),
            (441.0, 416.0),
            (426.0, 419.0),
        ],
    ];

    #[test]
    fn means_are_those_that_were_published() {
        for &maker in Maker::ALL {
            for &road in RoadType::ALL {
                let measured = MeasuredBeacons { maker, road };
                let (interval_ms, bytes) = PUBLISHED[maker as usize][road as usize];
                let units = || (0..10_000).map(|k| (f64::from(k) + 0.5) * 1e-4);
                let mean = units().map(|u| measured.interval(u).seconds()).sum::<f64>() * 0.1;
                assert!((mean - interval_ms).abs() < 2.0, "{measured:?}: {mean}");
                let told = 1e3 * measured.mean_interval_s();
                assert!((told - mean).abs() < 0.5, "{measured:?}: {told}");
                let mean = units().map(|u| f64::from(measured.bytes(u))).sum::<f64>() * 1e-4;
                assert!((mean - bytes).abs() < 3.0, "{measured:?}: {mean}");
            }
        }
    }

    #[test]
    fn every_number_stands_for_something() {
        let measured = MeasuredBeacons::default();
        assert_eq!(measured.interval(0.0), STEP);
        assert_eq!(measured.interval(1.0), STEP.times(10));
        assert_eq!(measured.interval(f64::NAN), STEP);
        assert_eq!(measured.interval(7.0), STEP.times(10));
        assert_eq!([0.0, 1.0].map(|u| measured.bytes(u)), [200, 455]);
        let renault = MeasuredBeacons {
            maker: Maker::Renault,
            ..measured
        };
        assert_eq!(renault.bytes(1.0), 800);
    }
}
