//! Beacons as cars on sale send them.
//!
//! Intervals and sizes of CAMs that Volkswagen and Renault cars sent in field tests, as R. Molina-Masegosa, M. Sepulcre, J. Gozalvez,
//! F. Berens and V. Martinez published them (Empirical Models for the Realistic Generation of Cooperative Awareness Messages in
//! Vehicular Networks, IEEE Transactions on Vehicular Technology, 2020; repository msepulcre/CAM-model). Intervals are multiples of
//! 100 ms, sizes one of four or five; signatures and certificates are already in them.
//!
//! What comes next depends on what came last: the source's Markov chains of one step, Volkswagen's of interval and size together,
//! Renault's of each by itself. Of the published models these foretell beacons best that they were not made from, but for chains of five
//! steps, which are a little better for three of the eight and repeat the recording (docs/readings.md, measured beacons).
//!
//! How a car moves is not in the tables, but for this: whoever stands beacons once a second.
//!
//! Nothing is drawn here: whoever has a random number between 0 and 1 is told what it stands for.

mod tables;

use crate::messages::AgentState;
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

/// The longest interval, in steps.
const LONGEST: u8 = 10;

/// Whoever is slower stands, in m/s: as traffic simulators have it (SUMO's halting speed).
pub const STANDING_M_PER_S: f64 = 0.1;

/// Sizes of both makers' beacons, in bytes: sizeBytes.m of the repository.
const SIZES: [&[u32]; 2] = [&[200, 300, 360, 455], &[200, 330, 480, 600, 800]];

/// What follows what, as [`tables`] has it.
#[derive(Clone, Copy)]
enum Law {
    /// Interval and size together.
    Together(&'static [u16]),
    /// Intervals, and sizes.
    Apart(&'static [u16], &'static [u16]),
}

/// By maker, then road.
const LAWS: [[Law; 4]; 2] = [
    [
        Law::Together(tables::VOLKSWAGEN_URBAN),
        Law::Together(tables::VOLKSWAGEN_SUBURBAN),
        Law::Together(tables::VOLKSWAGEN_HIGHWAY),
        Law::Together(tables::VOLKSWAGEN_UNIVERSAL),
    ],
    [
        Law::Apart(tables::RENAULT_URBAN_INTERVALS, tables::RENAULT_URBAN_SIZES),
        Law::Apart(
            tables::RENAULT_SUBURBAN_INTERVALS,
            tables::RENAULT_SUBURBAN_SIZES,
        ),
        Law::Apart(
            tables::RENAULT_HIGHWAY_INTERVALS,
            tables::RENAULT_HIGHWAY_SIZES,
        ),
        Law::Apart(
            tables::RENAULT_UNIVERSAL_INTERVALS,
            tables::RENAULT_UNIVERSAL_SIZES,
        ),
    ],
];

/// Mean intervals in seconds, by maker and road.
const MEANS_S: [[f64; 4]; 2] = {
    let mut means = [[0.0; 4]; 2];
    let mut at = 0;
    while at < 8 {
        means[at / 4][at % 4] = mean_interval_s(LAWS[at / 4][at % 4]);
        at += 1;
    }
    means
};

const fn mean_interval_s(law: Law) -> f64 {
    let (table, sizes) = match law {
        Law::Together(table) => (table, SIZES[0].len()),
        Law::Apart(intervals, _) => (intervals, 1),
    };
    let (mut steps, mut all, mut at) = (0, 0, 0);
    while at < table.len() {
        let (from, entries) = (table[at] as usize, table[at + 1] as usize);
        let mut entry = 0;
        while entry < entries {
            let count = table[at + 3 + 2 * entry] as usize;
            steps += count * (from / sizes + 1);
            all += count;
            entry += 1;
        }
        at += 2 + 2 * entries;
    }
    STEP.seconds() * steps as f64 / all as f64
}

/// One beacon: when it came, and how large it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredBeacon {
    /// Steps since the one before it.
    steps: u8,
    /// Place of its size.
    size: u8,
}

impl MeasuredBeacon {
    /// The time since the one before it.
    #[must_use]
    pub fn interval(self) -> Duration {
        STEP.times(i64::from(self.steps))
    }
}

/// What was measured of one maker's cars on one kind of road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeasuredBeacons {
    /// Whose cars.
    pub maker: Maker,
    /// Where they drove.
    pub road: RoadType,
}

impl MeasuredBeacons {
    fn law(self) -> Law {
        LAWS[self.maker as usize][self.road as usize]
    }

    fn sizes(self) -> &'static [u32] {
        SIZES[self.maker as usize]
    }

    fn beacon(self, interval: u16, size: u16) -> MeasuredBeacon {
        MeasuredBeacon {
            steps: (interval + 1).min(u16::from(LONGEST)) as u8,
            size: size.min(self.sizes().len() as u16 - 1) as u8,
        }
    }

    /// Both parts of a pair.
    fn parts(self, pair: u16) -> (u16, u16) {
        let sizes = self.sizes().len() as u16;
        (pair / sizes, pair % sizes)
    }

    fn pair(self, beacon: MeasuredBeacon) -> u16 {
        (u16::from(beacon.steps) - 1) * self.sizes().len() as u16 + u16::from(beacon.size)
    }

    /// The beacon that two numbers from 0 to 1 stand for where nothing is known of the one before.
    #[must_use]
    pub fn first(self, units: [f64; 2]) -> MeasuredBeacon {
        let any = |table, unit| pick(|| all(table), unit).unwrap_or(0);
        match self.law() {
            Law::Together(table) => {
                let (interval, size) = self.parts(any(table, units[0]));
                self.beacon(interval, size)
            }
            Law::Apart(intervals, sizes) => {
                self.beacon(any(intervals, units[0]), any(sizes, units[1]))
            }
        }
    }

    /// The beacon after `last` that two numbers from 0 to 1 stand for.
    #[must_use]
    pub fn next(self, last: MeasuredBeacon, units: [f64; 2]) -> MeasuredBeacon {
        match self.law() {
            Law::Together(table) => match pick(|| after(table, self.pair(last)), units[0]) {
                Some(pair) => {
                    let (interval, size) = self.parts(pair);
                    self.beacon(interval, size)
                }
                None => self.first(units),
            },
            Law::Apart(intervals, sizes) => {
                let interval = follower(intervals, u16::from(last.steps) - 1, units[0]);
                self.beacon(interval, follower(sizes, u16::from(last.size), units[1]))
            }
        }
    }

    /// The beacon so long after `last`, whatever made it wait, whose size a number from 0 to 1 stands for.
    #[must_use]
    pub fn delayed(self, last: MeasuredBeacon, interval: Duration, unit: f64) -> MeasuredBeacon {
        let steps = (interval.micros() + STEP.micros() / 2) / STEP.micros();
        let interval = steps.clamp(1, i64::from(LONGEST)) as u16 - 1;
        let size = match self.law() {
            Law::Together(table) => {
                let so_long = |pair: u16| self.parts(pair).0 == interval;
                let from = |(pair, _): &(u16, u16)| so_long(*pair);
                let pair = pick(|| after(table, self.pair(last)).filter(from), unit)
                    .or_else(|| pick(|| all(table).filter(from), unit));
                pair.map_or(u16::from(last.size), |pair| self.parts(pair).1)
            }
            Law::Apart(_, sizes) => follower(sizes, u16::from(last.size), unit),
        };
        self.beacon(interval, size)
    }

    /// The bytes of a beacon, signature included.
    #[must_use]
    pub fn bytes(self, beacon: MeasuredBeacon) -> u32 {
        let sizes = self.sizes();
        sizes[usize::from(beacon.size).min(sizes.len() - 1)]
    }

    /// The mean time from one beacon to the next of whoever does not stand, in seconds.
    #[must_use]
    pub fn mean_interval_s(self) -> f64 {
        MEANS_S[self.maker as usize][self.road as usize]
    }
}

/// An agent in this state stands.
#[must_use]
pub fn stands(state: &AgentState) -> bool {
    state.speed.abs() < STANDING_M_PER_S
}

/// The rows of a table: what came first, what followed it and how often, flat.
fn rows(mut table: &'static [u16]) -> impl Iterator<Item = (u16, &'static [u16])> {
    core::iter::from_fn(move || {
        let (&[from, entries], rest) = table.split_first_chunk()?;
        let (row, rest) = rest.split_at_checked(2 * usize::from(entries))?;
        table = rest;
        Some((from, row))
    })
}

/// What followed `from`, and how often.
fn after(table: &'static [u16], from: u16) -> impl Iterator<Item = (u16, u16)> {
    let row = rows(table).find(|row| row.0 == from);
    let row = row.map_or(&[] as &[u16], |row| row.1);
    row.chunks_exact(2).map(|entry| (entry[0], entry[1]))
}

/// What there was, and how often.
fn all(table: &'static [u16]) -> impl Iterator<Item = (u16, u16)> {
    rows(table).map(|(from, row)| (from, row.iter().skip(1).step_by(2).sum()))
}

/// What follows `from`, or anything where nothing did.
fn follower(table: &'static [u16], from: u16, unit: f64) -> u16 {
    pick(|| after(table, from), unit)
        .or_else(|| pick(|| all(table), unit))
        .unwrap_or(0)
}

/// Which of several a number from 0 to 1 falls into, where their counts are laid end to end. Not-a-number is the first.
fn pick<I: Iterator<Item = (u16, u16)>>(some: impl Fn() -> I, unit: f64) -> Option<u16> {
    let sum: u32 = some().map(|(_, count)| u32::from(count)).sum();
    let mut left = unit * f64::from(sum);
    let mut last = None;
    for (what, count) in some() {
        left -= f64::from(count);
        last = Some(what);
        if left < 0.0 || left.is_nan() {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests;
