//! Chains against what was published of the recordings.

use super::*;
use std::vec::Vec;

/// How many of 10,000 beacons came after 100, 200, ... 1,000 ms, and how many had the first, second, ... size, by maker, then road:
/// PDF/*_m1.csv of the source.
const SHARES: [[([u16; 10], [u16; 5]); 4]; 2] = [
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

/// Mean interval in ms, mean bytes, correlation of an interval with the next, of a size with the next, of interval and size: means as
/// the source's table has them, correlations from its matrices.
const PUBLISHED: [[[f64; 5]; 4]; 2] = [
    [
        [487.0, 337.0, 0.64, -0.14, 0.54],
        [362.0, 307.0, 0.76, -0.02, 0.57],
        [335.0, 298.0, 0.46, -0.39, 0.37],
        [387.0, 312.0, 0.70, -0.12, 0.53],
    ],
    [
        [422.0, 421.0, 0.60, -0.10, 0.0],
        [424.0, 416.0, 0.55, -0.16, 0.0],
        [441.0, 416.0, 0.58, -0.10, 0.0],
        [426.0, 419.0, 0.58, -0.12, 0.0],
    ],
];

fn every() -> impl Iterator<Item = MeasuredBeacons> {
    let of = |&maker| {
        RoadType::ALL
            .iter()
            .map(move |&road| MeasuredBeacons { maker, road })
    };
    Maker::ALL.iter().flat_map(of)
}

/// Numbers from 0 to 1.
fn units(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// So many beacons of one car.
fn chain(measured: MeasuredBeacons, count: usize) -> Vec<MeasuredBeacon> {
    let mut unit = units(7);
    let first = measured.first([unit(), unit()]);
    let next = |&last: &MeasuredBeacon| Some(measured.next(last, [unit(), unit()]));
    core::iter::successors(Some(first), next)
        .take(count)
        .collect()
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| {
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - ma) * (y - mb))
            .sum::<f64>()
    };
    let apart = product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b);
    product(a, mean_a, b, mean_b) / apart.sqrt()
}

#[test]
fn the_tables_hold_the_published_shares() {
    for measured in every() {
        let (intervals, sizes) = SHARES[measured.maker as usize][measured.road as usize];
        let (mut long, mut large) = ([0u32; 10], [0u32; 5]);
        let mut count = |interval: u16, size: u16, n: u16| {
            long[usize::from(interval)] += u32::from(n);
            large[usize::from(size)] += u32::from(n);
        };
        match measured.law() {
            Law::Together(table) => all(table).for_each(|(pair, n)| {
                let (interval, size) = measured.parts(pair);
                count(interval, size, n);
            }),
            Law::Apart(intervals, sizes) => {
                // Each is counted once as an interval, once as a size.
                all(intervals).for_each(|(interval, n)| count(interval, 4, n));
                let others: u16 = all(intervals).map(|(_, n)| n).sum();
                all(sizes).for_each(|(size, n)| large[usize::from(size)] += u32::from(n));
                large[4] -= u32::from(others);
            }
        }
        let check = |found: &[u32], published: &[u16]| {
            let sum: u32 = found.iter().sum();
            for (&found, &published) in found.iter().zip(published) {
                let share = 1e4 * f64::from(found) / f64::from(sum);
                let apart = (share - f64::from(published)).abs();
                assert!(apart < 0.6, "{measured:?}: {share} for {published}");
            }
        };
        check(&long, &intervals);
        check(&large, &sizes);
    }
}

#[test]
fn what_comes_in_and_what_goes_out_are_the_same_in_number() {
    // So shares stay what they are, however long a chain runs.
    for table in LAWS.iter().flatten().flat_map(|law| match *law {
        Law::Together(table) => [Some(table), None],
        Law::Apart(intervals, sizes) => [Some(intervals), Some(sizes)],
    }) {
        let Some(table) = table else { continue };
        let read: usize = rows(table).map(|(_, row)| 2 + row.len()).sum();
        assert_eq!(read, table.len());
        let mut balance = [0i32; 50];
        for (from, _) in rows(table) {
            for (to, count) in after(table, from) {
                balance[usize::from(from)] -= i32::from(count);
                balance[usize::from(to)] += i32::from(count);
            }
        }
        assert!(balance.iter().all(|b| b.abs() <= 1), "{balance:?}");
    }
}

#[test]
fn chains_have_the_published_means_and_correlations() {
    for measured in every() {
        let [interval_ms, bytes, intervals, sizes, both] =
            PUBLISHED[measured.maker as usize][measured.road as usize];
        let chain = chain(measured, 100_000);
        let long: Vec<f64> = chain.iter().map(|b| 1e3 * b.interval().seconds()).collect();
        let large: Vec<f64> = chain
            .iter()
            .map(|&b| f64::from(measured.bytes(b)))
            .collect();
        let told = [
            mean(&long) / interval_ms - 1.0,
            mean(&large) / bytes - 1.0,
            correlation(&long, &long[1..]) - intervals,
            correlation(&large, &large[1..]) - sizes,
            correlation(&long, &large) - both,
        ];
        for (at, apart) in told.into_iter().enumerate() {
            assert!(apart.abs() < 0.03, "{measured:?}, {at}: {told:?}");
        }
        let mean = 1e3 * measured.mean_interval_s();
        assert!((mean - interval_ms).abs() < 1.0, "{measured:?}: {mean}");
    }
}

#[test]
fn every_number_stands_for_something() {
    for measured in every() {
        let sizes = measured.sizes();
        for unit in [0.0, 0.3, 1.0, 7.0, -1.0, f64::NAN] {
            let first = measured.first([unit, unit]);
            for steps in 1..=LONGEST {
                for size in 0..sizes.len() as u8 {
                    let last = MeasuredBeacon { steps, size };
                    let next = measured.next(last, [unit, unit]);
                    for beacon in [first, next] {
                        assert!((1..=LONGEST).contains(&beacon.steps), "{beacon:?}");
                        assert!(sizes.contains(&measured.bytes(beacon)), "{beacon:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_delayed_beacon_has_a_size_that_goes_with_its_interval() {
    let urban = MeasuredBeacons::default();
    // In town, all beacons of Volkswagen cars that came after a second were of 455 B; of all beacons, one of three.
    let mut unit = units(3);
    let last = urban.first([0.5, 0.5]);
    let second = Duration::from_millis(1_000);
    let mut states = [last; 1_000];
    let mut last = last;
    for state in &mut states {
        last = urban.delayed(last, second, unit());
        assert_eq!(last.interval(), second);
        *state = last;
    }
    let large = states.iter().filter(|&&b| urban.bytes(b) == 455).count();
    assert_eq!(large, states.len());
    for millis in [-5, 0, 130, 149, 151, 5_000] {
        let interval = Duration::from_millis(millis);
        let steps = urban.delayed(last, interval, 0.5).steps;
        let expected = [(149, 1), (151, 2), (5_000, 10)];
        let expected = expected.iter().find(|(upto, _)| millis <= *upto);
        assert_eq!(Some(steps), expected.map(|e| e.1), "{millis}");
    }
}
