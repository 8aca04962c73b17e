//! The air of one pool: who is received with which power in a slot, who decodes what, and what every station senses.

use covey_draws::{Draws, Purpose};

use super::levels::{Decoder, PER_OCTAVE, UNSENSED, level, milliwatts, noise_mw};
use crate::Channel;
use crate::parameters::LinkKind;
use crate::pool::{MOST_SUBCHANNELS, Pool};

/// Slots of memory: more than the second that is sensed, and the second that can be reserved.
pub(super) const ROWS: usize = 1024;
/// Slots of a chunk: ratios are counted by chunks.
pub const CHUNK: u64 = 50;
/// Chunks of a second.
const CHUNKS: usize = 20;
/// Chunks over which the busy ratio is taken.
const BUSY_CHUNKS: u64 = 2;
/// Message classes that are told apart.
pub const CLASSES: usize = 3;

/// How a receiver is linked with a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkClass(u8);

impl LinkClass {
    const CURVE: u8 = 1;
    const DELIVERS: u8 = 2;

    /// A link of this kind; where it does not deliver, control messages may be decoded over it but no data.
    pub fn new(kind: LinkKind, delivers: bool) -> Self {
        let curve = u8::from(kind == LinkKind::Nlos) * Self::CURVE;
        Self(curve | (u8::from(delivers) * Self::DELIVERS))
    }
}

/// Who receives whom with which power, by sender. It may change from call to call.
#[derive(Clone, Copy, Debug)]
pub struct Reach<'a> {
    /// Where the receivers of each station begin; one entry more than stations.
    pub begin: &'a [u32],
    /// Receivers, by sender.
    pub receivers: &'a [u32],
    /// The power of the sender's whole transmission at each of them, in mW.
    pub power_mw: &'a [f32],
    /// How they are linked.
    pub links: &'a [LinkClass],
    /// By station: its number, for draws.
    pub ids: &'a [u32],
    /// What reaches stations that are in no list.
    pub far: Option<Far<'a>>,
}

/// Power between areas whose stations are in no list of each other.
#[derive(Clone, Copy, Debug)]
pub struct Far<'a> {
    /// By station: its area.
    pub area: &'a [u16],
    /// By area of the sender and of the receiver: the power of a transmission, in mW. Zero where stations are listed.
    pub power_mw: &'a [f32],
    /// How many areas there are.
    pub areas: usize,
}

impl Reach<'_> {
    fn of(&self, station: u32) -> std::ops::Range<usize> {
        let at = station as usize;
        match (self.begin.get(at), self.begin.get(at + 1)) {
            (Some(&a), Some(&b)) => a as usize..b as usize,
            _ => 0..0,
        }
    }
}

/// A block on the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transmission {
    pub(super) station: u32,
    /// The first of its subchannels, and how many they are.
    pub(super) first: u8,
    pub(super) count: u8,
    /// Subchannels of it that a busy ratio without beacons counts.
    pub(super) cooperative: u8,
    pub(super) class: u8,
    /// Slots until the resource is used again, as announced; 0 for not at all.
    pub(super) period: u16,
    /// The message and which of its blocks, for draws.
    pub(super) address: u64,
    /// The message in flight.
    pub(super) message: u32,
}

/// What a station wants to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) count: u8,
    /// Slots from one use to the next; 0 for one use.
    pub(super) period: u16,
    /// First and last slot, counted from now.
    pub(super) first: u16,
    pub(super) last: u16,
}

/// How a station chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) sensing: u16,
    pub(super) threshold: u8,
    pub(super) step: u8,
    pub(super) share: f64,
    pub(super) average: bool,
}

/// The air.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    subchannels: usize,
    stations: usize,
    /// Sensed levels, by slot, station and subchannel.
    sensed: Vec<u8>,
    /// Levels of reservations that stations decoded, by slot, station and subchannel; 0 for none.
    reserved: Vec<u8>,
    /// The longest announced period so far.
    longest: u64,
    control: Decoder,
    /// Block errors in general, and behind buildings.
    data: [Decoder; 2],
    /// Noise in a subchannel, and in the data of a transmission by its subchannels less one.
    noise: f32,
    data_noise: Vec<f32>,
    /// Power below which nothing is decoded.
    least: f32,
    busy_above: f32,
    emission: Option<Vec<f32>>,
    /// Power by station and subchannel, of the slot under way.
    power: Vec<f32>,
    far: Vec<f32>,
    sends: Vec<bool>,
    /// By chunk and station: subchannels sensed, those busy, those of them that beacons do not need.
    counted: Vec<[u16; 3]>,
    /// By chunk, station and class: subchannels sent in.
    used: Vec<u16>,
    pub(super) choice: Choice,
}

/// Working memory of choices.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    average: Vec<f32>,
    reserved: Vec<u8>,
    candidates: Vec<(u32, u32, u32)>,
    unsensed: Vec<bool>,
}

impl Medium {
    pub(super) fn new(channel: &Channel, pool: &Pool) -> Self {
        let parameters = channel.parameters();
        let sidelink = &parameters.sidelink;
        let subchannels = pool.subchannels();
        let least = parameters.sensitivity_dbm.map_or(0.0, milliwatts);
        Self {
            subchannels,
            stations: 0,
            sensed: Vec::new(),
            reserved: Vec::new(),
            longest: 0,
            control: Decoder::control(),
            data: [LinkKind::Los, LinkKind::Nlos].map(|kind| Decoder::data(channel, kind)),
            noise: noise_mw(parameters, pool.resource_blocks()),
            data_noise: (1..=subchannels)
                .map(|count| noise_mw(parameters, pool.data_blocks(count)))
                .collect(),
            least: least as f32,
            busy_above: milliwatts(sidelink.busy_threshold_dbm) as f32,
            emission: match sidelink.in_band_emission {
                true => pool.emission(),
                false => None,
            },
            power: Vec::new(),
            far: Vec::new(),
            sends: Vec::new(),
            counted: Vec::new(),
            used: Vec::new(),
            choice: Choice::default(),
        }
    }

    /// Makes room for so many stations; what those before sensed stays.
    pub(super) fn grow(&mut self, stations: usize) {
        if stations <= self.stations {
            return;
        }
        let wide = match self.stations {
            0 => stations,
            _ => stations + stations / 4,
        };
        let (old, new) = (self.stations * self.subchannels, wide * self.subchannels);
        let quiet = level(self.noise);
        self.sensed = widened(&self.sensed, old, new, ROWS, quiet);
        self.reserved = widened(&self.reserved, old, new, ROWS, 0);
        self.counted = widened(&self.counted, self.stations, wide, CHUNKS, [0; 3]);
        let classes = [self.stations, wide].map(|stations| stations * CLASSES);
        self.used = widened(&self.used, classes[0], classes[1], CHUNKS, 0);
        self.power.resize(new, 0.0);
        self.sends.resize(wide, false);
        self.stations = wide;
    }

    /// Forgets all that a station sensed.
    pub(super) fn forget(&mut self, station: u32) {
        let at = station as usize;
        if at >= self.stations {
            return;
        }
        let quiet = level(self.noise);
        for row in 0..ROWS {
            let cells = self.cells(row, at);
            self.sensed[cells.clone()].fill(quiet);
            self.reserved[cells].fill(0);
        }
        for chunk in 0..CHUNKS {
            self.counted[chunk * self.stations + at] = [0; 3];
            self.used[(chunk * self.stations + at) * CLASSES..][..CLASSES].fill(0);
        }
    }

    #[inline]
    fn cells(&self, row: usize, station: usize) -> std::ops::Range<usize> {
        let begin = (row * self.stations + station) * self.subchannels;
        begin..begin + self.subchannels
    }

    /// One slot: what is sent is received, sensed and counted. Gives, transmission by transmission, who decoded the data.
    pub(super) fn slot(
        &mut self,
        now: u64,
        sent: &[Transmission],
        reach: &Reach<'_>,
        seed: u64,
        mut decoded: impl FnMut(usize, u32),
    ) {
        let chunk = (now / CHUNK) as usize % CHUNKS;
        if now % CHUNK == 0 {
            self.counted[chunk * self.stations..][..self.stations].fill([0; 3]);
            let all = self.stations * CLASSES;
            self.used[chunk * all..][..all].fill(0);
        }
        self.add_up(chunk, sent, reach);
        self.sense(now, chunk, reach);
        for (at, transmission) in sent.iter().enumerate() {
            self.receive(now, transmission, reach, seed, |receiver| {
                decoded(at, receiver);
            });
        }
        for transmission in sent {
            self.sends[transmission.station as usize] = false;
        }
        let row = now as usize % ROWS * self.stations * self.subchannels;
        self.reserved[row..][..self.stations * self.subchannels].fill(0);
    }

    /// Adds up the power of everyone who sends, by station and subchannel.
    fn add_up(&mut self, chunk: usize, sent: &[Transmission], reach: &Reach<'_>) {
        let subchannels = self.subchannels;
        self.power.fill(0.0);
        let areas = reach.far.map_or(0, |far| far.areas);
        self.far.clear();
        self.far.resize(areas * subchannels, 0.0);
        for transmission in sent {
            let &Transmission {
                station,
                first,
                count,
                ..
            } = transmission;
            self.sends[station as usize] = true;
            let used = (chunk * self.stations + station as usize) * CLASSES;
            self.used[used + usize::from(transmission.class)] += u16::from(count);
            let share = 1.0 / f32::from(count);
            let taken = usize::from(first)..usize::from(first) + usize::from(count);
            let range = reach.of(station);
            let receivers = reach.receivers[range.clone()]
                .iter()
                .zip(&reach.power_mw[range.clone()]);
            if count == 1 {
                for (&receiver, &power) in receivers {
                    self.power[receiver as usize * subchannels + usize::from(first)] += power;
                }
            } else {
                for (&receiver, &power) in receivers {
                    let cells = &mut self.power[receiver as usize * subchannels..][taken.clone()];
                    cells.iter_mut().for_each(|cell| *cell += power * share);
                }
            }
            if transmission.cooperative > 0 {
                let above = self.busy_above * f32::from(count);
                let counted = &mut self.counted[chunk * self.stations..][..self.stations];
                for (&receiver, &power) in reach.receivers[range.clone()]
                    .iter()
                    .zip(&reach.power_mw[range])
                {
                    let heard = u16::from(power > above) * u16::from(transmission.cooperative);
                    counted[receiver as usize][2] += heard;
                }
            }
            if let Some(far) = reach.far {
                let from = usize::from(far.area[station as usize]);
                let row = &far.power_mw[from * areas..][..areas];
                for subchannel in taken {
                    let cells = &mut self.far[subchannel * areas..][..areas];
                    for (cell, &power) in cells.iter_mut().zip(row) {
                        *cell += power * share;
                    }
                }
            }
        }
    }

    /// Every station senses every subchannel, unless it sends itself.
    fn sense(&mut self, now: u64, chunk: usize, reach: &Reach<'_>) {
        let subchannels = self.subchannels;
        let row = &mut self.sensed[now as usize % ROWS * self.stations * subchannels..];
        let counted = &mut self.counted[chunk * self.stations..][..self.stations];
        let areas = reach.far.map_or(0, |far| far.areas);
        let stations = self.stations.min(reach.ids.len());
        for (station, count) in counted.iter_mut().enumerate().take(stations) {
            let power = &mut self.power[station * subchannels..][..subchannels];
            if let Some(far) = reach.far {
                let area = usize::from(far.area[station]);
                for (subchannel, power) in power.iter_mut().enumerate() {
                    *power += self.far[subchannel * areas + area];
                }
            }
            if let Some(emission) = &self.emission {
                leak(power, emission);
            }
            let row = &mut row[station * subchannels..][..subchannels];
            if self.sends[station] {
                row.fill(UNSENSED);
                continue;
            }
            let mut busy = 0;
            for (cell, &power) in row.iter_mut().zip(power.iter()) {
                let power = power + self.noise;
                *cell = level(power);
                busy += u16::from(power > self.busy_above);
            }
            count[0] += subchannels as u16;
            count[1] += busy;
        }
    }

    /// Who decodes a transmission: control first, then data.
    fn receive(
        &mut self,
        now: u64,
        transmission: &Transmission,
        reach: &Reach<'_>,
        seed: u64,
        mut decoded: impl FnMut(u32),
    ) {
        let &Transmission {
            station,
            first,
            count,
            period,
            ..
        } = transmission;
        let [first, count] = [first, count].map(usize::from);
        let subchannels = self.subchannels;
        let draws = Draws::new(
            seed,
            Purpose::Block,
            transmission.class,
            transmission.address,
        );
        let sender = reach.ids[station as usize];
        let noise = self.data_noise[count - 1];
        let [own, own_control] = self.own(first, count);
        let share = 1.0 / count as f32;
        let control_noise = noise * share;
        let range = reach.of(station);
        let receivers = reach.receivers[range.clone()].iter();
        let links = reach.power_mw[range.clone()]
            .iter()
            .zip(&reach.links[range]);
        let row_of = |at: u64| at as usize % ROWS * self.stations * subchannels;
        let announced: Vec<usize> = repeats(period).map(|ahead| row_of(now + ahead)).collect();
        self.longest = self.longest.max(u64::from(period));
        for (&receiver, (&power, link)) in receivers.zip(links) {
            if self.sends[receiver as usize] || power < self.least {
                continue;
            }
            let cells = &self.power[receiver as usize * subchannels..][..subchannels];
            let all: f32 = match count {
                1 => cells[first],
                _ => cells[first..first + count].iter().sum(),
            };
            let ratio = power / ((all - power * own).max(0.0) + noise);
            let control = match count {
                1 => ratio,
                _ => {
                    power * share / ((cells[first] - power * own_control).max(0.0) + control_noise)
                }
            };
            let draw = draws.at(sender, reach.ids[receiver as usize]);
            // Two draws of 24 bits each.
            let unit = (draw.bits() as u32 & 0xFF_FFFF) as f32 * (1.0 / (1u32 << 24) as f32);
            if unit >= self.control.success(control) {
                continue;
            }
            let at = receiver as usize * subchannels + first;
            for &row in &announced {
                let level = level(power * share).max(1);
                for cell in &mut self.reserved[row + at..][..count] {
                    *cell = (*cell).max(level);
                }
            }
            let curve = &self.data[usize::from(link.0 & LinkClass::CURVE)];
            if link.0 & LinkClass::DELIVERS != 0 && draw.unit() < curve.success(ratio) {
                decoded(receiver);
            }
        }
    }

    /// How much of a transmission's own power is in its subchannels together, and in the first.
    fn own(&self, first: usize, count: usize) -> [f32; 2] {
        let share = 1.0 / count as f32;
        let Some(emission) = &self.emission else {
            return [1.0, share];
        };
        let taken = first..first + count;
        let into = |victim: usize| -> f32 {
            let row = &emission[victim * self.subchannels..][taken.clone()];
            row.iter().sum::<f32>() * share
        };
        [taken.clone().map(into).sum(), into(first)]
    }

    /// The share of subchannels that a station found busy in the two chunks before `now`.
    pub(super) fn busy_ratio(&self, station: u32, now: u64) -> f64 {
        let [sensed, busy, _] = self.count(station, now, BUSY_CHUNKS);
        if sensed == 0 {
            0.0
        } else {
            busy as f64 / sensed as f64
        }
    }

    /// The share of subchannels that a station heard used for what beacons do not need, in so many chunks before `now`.
    pub(super) fn cooperative_ratio(&self, station: u32, now: u64, chunks: u64) -> f64 {
        let [.., cooperative] = self.count(station, now, chunks);
        cooperative as f64 / (chunks * CHUNK * self.subchannels as u64) as f64
    }

    fn count(&self, station: u32, now: u64, chunks: u64) -> [u64; 3] {
        let mut sum = [0; 3];
        let this = now / CHUNK;
        for chunk in this.saturating_sub(chunks)..this {
            let at = chunk as usize % CHUNKS * self.stations + station as usize;
            for (sum, &count) in sum.iter_mut().zip(self.counted.get(at).unwrap_or(&[0; 3])) {
                *sum += u64::from(count);
            }
        }
        sum
    }

    /// Subchannels that a station sent in in the last second before `now`, by class.
    pub(super) fn used(&self, station: u32, now: u64) -> [u32; CLASSES] {
        let mut sum = [0; CLASSES];
        let this = now / CHUNK;
        for chunk in this.saturating_sub(CHUNKS as u64)..this {
            let at = (chunk as usize % CHUNKS * self.stations + station as usize) * CLASSES;
            for (sum, &used) in sum
                .iter_mut()
                .zip(self.used.get(at..at + CLASSES).unwrap_or(&[]))
            {
                *sum += u32::from(used);
            }
        }
        sum
    }

    /// A station chooses a resource: the slot counted from `now`, and its first subchannel. `planned` are slots from now in which
    /// it sends already, and `bits` the draw. None where it sends in every slot.
    pub(super) fn choose(
        &mut self,
        station: u32,
        now: u64,
        wish: &Wish,
        rule: &Rule,
        planned: impl Fn(u16) -> bool,
        bits: u64,
    ) -> Option<(u16, u8)> {
        let mut choice = std::mem::take(&mut self.choice);
        self.look(&mut choice, station, now, wish, rule, planned);
        let taken = choice.take(self.subchannels, wish, rule, bits);
        self.choice = choice;
        taken
    }

    /// Averages, reservations and exclusions of the slots of a window.
    fn look(
        &self,
        choice: &mut Choice,
        station: u32,
        now: u64,
        wish: &Wish,
        rule: &Rule,
        planned: impl Fn(u16) -> bool,
    ) {
        let subchannels = self.subchannels;
        let at = station as usize;
        choice.average.clear();
        choice.reserved.clear();
        choice.unsensed.clear();
        // Periods shorter than 100 slots are looked at as they repeat.
        let step = match wish.period {
            1..100 => u64::from(wish.period),
            _ => 100,
        };
        for ahead in u64::from(wish.first)..=u64::from(wish.last) {
            let mut sum = [0.0f32; MOST_SUBCHANNELS];
            let mut samples = 0u32;
            let mut unsensed = planned(ahead as u16);
            let latest = ahead / step + 1;
            for back in latest..=(u64::from(rule.sensing) + ahead) / step {
                let row = now.wrapping_add(ahead).wrapping_sub(back * step) as usize % ROWS;
                let cells = &self.sensed[self.cells(row, at)];
                if cells[0] == UNSENSED {
                    unsensed = true;
                    continue;
                }
                samples += 1;
                for (sum, &cell) in sum.iter_mut().zip(cells) {
                    *sum += super::levels::power(cell);
                }
            }
            let mean = 1.0 / samples.max(1) as f32;
            choice
                .average
                .extend(sum[..subchannels].iter().map(|sum| sum * mean));
            choice.unsensed.push(unsensed);
            let begin = choice.reserved.len();
            choice.reserved.resize(begin + subchannels, 0);
            let mut use_at = ahead;
            loop {
                let row = (now + use_at) as usize % ROWS;
                let cells = &self.reserved[self.cells(row, at)];
                for (highest, &cell) in choice.reserved[begin..].iter_mut().zip(cells) {
                    *highest = (*highest).max(cell);
                }
                use_at += u64::from(wish.period);
                if wish.period == 0 || use_at > self.longest {
                    break;
                }
            }
        }
    }
}

impl Choice {
    /// Takes one of the candidates: slot counted from now, first subchannel.
    fn take(
        &mut self,
        subchannels: usize,
        wish: &Wish,
        rule: &Rule,
        bits: u64,
    ) -> Option<(u16, u8)> {
        let count = usize::from(wish.count).clamp(1, subchannels);
        let places = subchannels - count + 1;
        let all = self.unsensed.len() * places;
        let enough = (rule.share * all as f64).ceil().max(1.0) as usize;
        let mut threshold = rule.threshold;
        loop {
            self.candidates.clear();
            for (slot, _) in self
                .unsensed
                .iter()
                .enumerate()
                .filter(|&(_, &unsensed)| !unsensed)
            {
                let row = slot * subchannels;
                for first in 0..places {
                    let cells = row + first..row + first + count;
                    if self.reserved[cells.clone()]
                        .iter()
                        .any(|&level| level > threshold)
                    {
                        continue;
                    }
                    let mean: f32 = self.average[cells].iter().sum();
                    let number = (slot * places + first) as u32;
                    // Equal powers are ordered by chance.
                    let order = (u64::from(number) + 1).wrapping_mul(bits | 1) >> 32;
                    self.candidates.push((mean.to_bits(), order as u32, number));
                }
            }
            if self.candidates.len() >= enough || threshold == u8::MAX {
                break;
            }
            threshold = threshold.saturating_add(rule.step.max(1));
        }
        if self.candidates.is_empty() {
            return None;
        }
        let mut kept = self.candidates.len();
        if rule.average && kept > enough {
            self.candidates.select_nth_unstable(enough - 1);
            kept = enough;
        }
        // In an order that does not depend on how they were selected.
        let kept = &mut self.candidates[..kept];
        kept.sort_unstable_by_key(|&(_, _, number)| number);
        let pick = ((u128::from(bits) * kept.len() as u128) >> 64) as usize;
        let number = kept[pick].2 as usize;
        Some((
            wish.first + (number / places) as u16,
            (number % places) as u8,
        ))
    }

    /// The slots and subchannels that were left to choose from at the last choice, for those who want to know why.
    #[cfg(test)]
    pub(super) fn left(&self, subchannels: usize, wish: &Wish) -> Vec<(u16, u8)> {
        let places = subchannels - usize::from(wish.count) + 1;
        let mut left: Vec<_> = self
            .candidates
            .iter()
            .map(|&(_, _, number)| number as usize)
            .collect();
        left.sort_unstable();
        let named = |number: usize| {
            (
                wish.first + (number / places) as u16,
                (number % places) as u8,
            )
        };
        left.into_iter().map(named).collect()
    }
}

/// Slots after which an announced resource is used again, as far as receivers count on it: once, or for periods shorter than 100
/// slots as often as fit into 100.
fn repeats(period: u16) -> impl Iterator<Item = u64> {
    let times = match period {
        0 => 0,
        1..100 => 100 / period,
        _ => 1,
    };
    (1..=u64::from(times)).map(move |time| time * u64::from(period))
}

/// Power leaks from each subchannel into the others.
fn leak(power: &mut [f32], emission: &[f32]) {
    let count = power.len();
    let mut leaked = [0.0; MOST_SUBCHANNELS];
    for (victim, leaked) in leaked.iter_mut().enumerate().take(count) {
        let row = &emission[victim * count..][..count];
        *leaked = row
            .iter()
            .zip(power.iter())
            .map(|(share, power)| share * power)
            .sum();
    }
    power.copy_from_slice(&leaked[..count]);
}

/// Rows of `old` cells with room for `new` each.
fn widened<T: Copy>(cells: &[T], old: usize, new: usize, rows: usize, fill: T) -> Vec<T> {
    let mut wide = vec![fill; rows * new];
    for row in 0..rows {
        wide[row * new..][..old].copy_from_slice(&cells[row * old..][..old]);
    }
    wide
}

/// The level of reservations above which a reference power of `dbm` lies, for subchannels of so many resource blocks.
pub(super) fn reference_level(dbm: f64, resource_blocks: u32) -> u8 {
    // A reference power is that of one of twelve subcarriers of a block.
    level((milliwatts(dbm) * 12.0 * f64::from(resource_blocks)) as f32)
}

/// Decibels as a number of levels.
pub(super) fn levels_of(db: f64) -> u8 {
    let octaves = db / (10.0 * std::f64::consts::LOG10_2);
    (octaves * PER_OCTAVE).round().clamp(1.0, 254.0) as u8
}
