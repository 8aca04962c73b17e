//! The air of one pool: who is received with which power in a slot, who decodes what, and what every station senses.

use covey_draws::{Draws, Purpose};

use super::choice::{Choice, Rule, Wish};
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
    /// A link over which nothing is delivered.
    pub const SILENT: Self = Self(0);
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
    /// The same less what [`far`](Self::far) has between the areas of the two, so that nobody counts twice.
    pub beside_far_mw: &'a [f32],
    /// How they are linked.
    pub links: &'a [LinkClass],
    /// By station: its number, for draws.
    pub ids: &'a [u32],
    /// What reaches stations that are in no list.
    pub far: Option<Far<'a>>,
}

/// Power between areas of whose stations some are in no list of each other.
#[derive(Clone, Copy, Debug)]
pub struct Far<'a> {
    /// By station: its area.
    pub area: &'a [u16],
    /// By area of the sender and of the receiver: the power of a transmission, in mW. Zero where all pairs are listed.
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

/// The air.
#[derive(Clone, Debug)]
pub(super) struct Medium {
    subchannels: usize,
    stations: usize,
    /// Sensed levels, by station, slot and subchannel: who chooses reads a second of its own.
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
    levels: Vec<u8>,
    far: Vec<f32>,
    far_by_area: Vec<f32>,
    sends: Vec<bool>,
    /// By station: subchannels, a bit each, that it hears used for what beacons do not need.
    cooperative: Vec<u16>,
    /// Rows of reservations that the transmission under way announces.
    announced: Vec<usize>,
    /// By chunk and station: subchannels sensed, those busy, those of them that beacons do not need.
    counted: Vec<[u16; 3]>,
    /// By chunk, station and class: subchannels sent in.
    used: Vec<u16>,
    pub(super) choice: Choice,
}

/// Cells of a station's memory: one cache line more than it needs, so that those of all stations do not fall on the same few.
fn memory_of(subchannels: usize) -> usize {
    ROWS * subchannels + 64
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
            levels: Vec::new(),
            far: Vec::new(),
            far_by_area: Vec::new(),
            sends: Vec::new(),
            cooperative: Vec::new(),
            announced: Vec::new(),
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
        self.sensed
            .resize(wide * memory_of(self.subchannels), quiet);
        self.reserved = widened(&self.reserved, old, new, ROWS, 0);
        self.counted = widened(&self.counted, self.stations, wide, CHUNKS, [0; 3]);
        let classes = [self.stations, wide].map(|stations| stations * CLASSES);
        self.used = widened(&self.used, classes[0], classes[1], CHUNKS, 0);
        self.power.resize(new, 0.0);
        self.sends.resize(wide, false);
        self.cooperative.resize(wide, 0);
        self.stations = wide;
    }

    /// Forgets all that a station sensed.
    pub(super) fn forget(&mut self, station: u32) {
        let at = station as usize;
        if at >= self.stations {
            return;
        }
        let quiet = level(self.noise);
        let memory = memory_of(self.subchannels);
        self.sensed[at * memory..][..memory].fill(quiet);
        for row in 0..ROWS {
            let cells = self.reserved_cells(row, at);
            self.reserved[cells].fill(0);
        }
        for chunk in 0..CHUNKS {
            self.counted[chunk * self.stations + at] = [0; 3];
            self.used[(chunk * self.stations + at) * CLASSES..][..CLASSES].fill(0);
        }
    }

    #[inline]
    fn reserved_cells(&self, row: usize, station: usize) -> std::ops::Range<usize> {
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
        if now.is_multiple_of(CHUNK) {
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
            let receivers = &reach.receivers[range.clone()];
            let powers = &reach.beside_far_mw[range.clone()];
            spread(&mut self.power, subchannels, receivers, powers, &taken);
            if transmission.cooperative > 0 {
                let above = self.busy_above * f32::from(count);
                // The last of its subchannels; whoever else is heard in them, they count once.
                let most = transmission.cooperative.min(count);
                let marks = ((1u16 << most) - 1) << (first + count - most);
                for (&receiver, &power) in receivers.iter().zip(&reach.power_mw[range]) {
                    self.cooperative[receiver as usize] |= marks * u16::from(power > above);
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
        let memory = memory_of(subchannels);
        let row = now as usize % ROWS * subchannels;
        let counted = &mut self.counted[chunk * self.stations..][..self.stations];
        let stations = self.stations.min(reach.ids.len());
        let power = &mut self.power[..stations * subchannels];
        if let Some(far) = reach.far {
            // By area: what is added to a station lies together.
            self.far_by_area.clear();
            self.far_by_area.resize(self.far.len(), 0.0);
            for (subchannel, cells) in self.far.chunks_exact(far.areas.max(1)).enumerate() {
                let turned = self.far_by_area[subchannel..].iter_mut();
                for (turned, &cell) in turned.step_by(subchannels).zip(cells) {
                    *turned = cell;
                }
            }
            for (power, &area) in power.chunks_exact_mut(subchannels).zip(far.area) {
                let far = &self.far_by_area[usize::from(area) * subchannels..][..subchannels];
                for (power, far) in power.iter_mut().zip(far) {
                    *power += far;
                }
            }
        }
        if let Some(emission) = &self.emission {
            for power in power.chunks_exact_mut(subchannels) {
                leak(power, emission);
            }
        }
        let (noise, above) = (self.noise, self.busy_above);
        self.levels.clear();
        self.levels
            .extend(power.iter().map(|&power| level(power + noise)));
        let sensed = self.sensed.chunks_exact_mut(memory);
        let all = sensed
            .zip(self.levels.chunks_exact(subchannels))
            .zip(power.chunks_exact(subchannels))
            .zip(counted)
            .zip(&mut self.cooperative)
            .zip(&self.sends);
        for (((((sensed, levels), power), count), cooperative), &sends) in all {
            let cells = &mut sensed[row..][..subchannels];
            let cooperative = std::mem::take(cooperative);
            if sends {
                cells.fill(UNSENSED);
                continue;
            }
            cells.copy_from_slice(levels);
            let busy: u16 = power
                .iter()
                .map(|power| u16::from(power + noise > above))
                .sum();
            count[0] += subchannels as u16;
            count[1] += busy;
            count[2] += cooperative.count_ones() as u16;
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
        let row_of = |at: u64| at as usize % ROWS * self.stations * subchannels;
        self.announced.clear();
        self.announced
            .extend(repeats(period).map(|ahead| row_of(now + ahead)));
        self.longest = self.longest.max(u64::from(period));
        // What the loop goes by stays where it is while it writes down reservations.
        let (powers, sends, least) = (&self.power[..], &self.sends[..], self.least);
        let (announced, reserved) = (&self.announced[..], &mut self.reserved[..]);
        let receivers = reach.receivers[range.clone()].iter();
        let links = reach.power_mw[range.clone()]
            .iter()
            .zip(&reach.links[range]);
        for (&receiver, (&power, link)) in receivers.zip(links) {
            let station = receiver as usize;
            if sends[station] || power < least {
                continue;
            }
            let at = station * subchannels + first;
            let cells = &powers[at..][..count];
            let (ratio, control) = match cells {
                &[all] => {
                    let ratio = power / ((all - power * own).max(0.0) + noise);
                    (ratio, ratio)
                }
                cells => {
                    let all: f32 = cells.iter().sum();
                    let rest = (cells[0] - power * own_control).max(0.0) + control_noise;
                    (
                        power / ((all - power * own).max(0.0) + noise),
                        power * share / rest,
                    )
                }
            };
            let success = self.control.success(control);
            if success <= 0.0 {
                continue;
            }
            let draw = draws.at(sender, reach.ids[station]);
            // Two draws of 24 bits each.
            let unit = (draw.bits() as u32 & 0xFF_FFFF) as f32 * (1.0 / (1u32 << 24) as f32);
            if unit >= success {
                continue;
            }
            if !announced.is_empty() {
                let level = level(power * share).max(1);
                for &row in announced {
                    for cell in &mut reserved[row + at..][..count] {
                        *cell = (*cell).max(level);
                    }
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

    /// What a station sensed in a slot, by subchannel.
    #[cfg(test)]
    pub(super) fn sensed_at(&self, station: usize, slot: u64) -> &[u8] {
        let row = slot as usize % ROWS * self.subchannels;
        &self.sensed[station * memory_of(self.subchannels) + row..][..self.subchannels]
    }

    /// Levels of the reservations for a slot that a station decoded, by subchannel.
    #[cfg(test)]
    pub(super) fn reserved_at(&self, station: usize, slot: u64) -> &[u8] {
        &self.reserved[self.reserved_cells(slot as usize % ROWS, station)]
    }

    /// The share of subchannels that a station found busy in the two chunks before `now`.
    pub(super) fn busy_ratio(&self, station: u32, now: u64) -> f64 {
        let [sensed, busy, _] = self.count(station, now, BUSY_CHUNKS);
        share(busy, sensed)
    }

    /// The share of subchannels that a station heard used for what beacons do not need, in so many chunks before `now`.
    pub(super) fn cooperative_ratio(&self, station: u32, now: u64, chunks: u64) -> f64 {
        let [sensed, _, cooperative] = self.count(station, now, chunks);
        share(cooperative, sensed)
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
        let slots = usize::from(wish.last + 1 - wish.first);
        choice.unsensed.clear();
        choice
            .unsensed
            .extend((wish.first..=wish.last).map(planned));
        self.add_sensed(choice, station, now, wish, rule);
        let subchannels = self.subchannels;
        choice.reserved.clear();
        choice.reserved.resize(slots * subchannels, 0);
        let mut later = 0;
        loop {
            for (ahead, met) in
                (u64::from(wish.first)..).zip(choice.reserved.chunks_exact_mut(subchannels))
            {
                if later > 0 && ahead + later > self.longest {
                    break;
                }
                let row = (now + ahead + later) as usize % ROWS;
                let cells = &self.reserved[self.reserved_cells(row, station as usize)];
                for (highest, &cell) in met.iter_mut().zip(cells) {
                    *highest = (*highest).max(cell);
                }
            }
            later += u64::from(wish.period);
            if wish.period == 0 || u64::from(wish.first) + later > self.longest {
                break;
            }
        }
    }

    /// Adds up what a station sensed in the slots that those of a window repeat, and marks those of which it sensed nothing.
    fn add_sensed(&self, choice: &mut Choice, station: u32, now: u64, wish: &Wish, rule: &Rule) {
        let subchannels = self.subchannels;
        let memory = memory_of(subchannels);
        let sensed = &self.sensed[station as usize * memory..][..ROWS * subchannels];
        let slots = choice.unsensed.len();
        choice.sums.clear();
        choice.sums.resize(slots * subchannels, 0.0);
        choice.samples.clear();
        choice.samples.resize(slots, 0);
        let [first, last, sensing] = [wish.first, wish.last, rule.sensing].map(u64::from);
        // Periods shorter than 100 slots are looked at as they repeat.
        let step = match wish.period {
            1..100 => u64::from(wish.period),
            _ => 100,
        };
        for back in (1..=(sensing + last) / step).map(|times| times * step) {
            // Of the slots that lie so far back, those that have passed and are not older than what is sensed.
            let mut ahead = first.max(back.saturating_sub(sensing));
            let end = (last + 1).min(back);
            while ahead < end {
                let row = now.wrapping_add(ahead).wrapping_sub(back) as usize % ROWS;
                let count = ((end - ahead) as usize).min(ROWS - row);
                let at = (ahead - first) as usize;
                let cells = &sensed[row * subchannels..][..count * subchannels];
                let sums = &mut choice.sums[at * subchannels..][..count * subchannels];
                for (sum, &cell) in sums.iter_mut().zip(cells) {
                    *sum += match cell {
                        UNSENSED => 0.0,
                        level => super::levels::power(level),
                    };
                }
                let marks = choice.samples[at..]
                    .iter_mut()
                    .zip(&mut choice.unsensed[at..]);
                for (cells, (samples, unsensed)) in cells.chunks_exact(subchannels).zip(marks) {
                    *samples += u32::from(cells[0] != UNSENSED);
                    *unsensed |= cells[0] == UNSENSED;
                }
                ahead += count as u64;
            }
        }
    }
}

/// A part of all; nothing of nothing.
fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
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

/// Adds a transmission's power to what its receivers have in the subchannels that it takes.
fn spread(
    all: &mut [f32],
    subchannels: usize,
    receivers: &[u32],
    powers: &[f32],
    taken: &std::ops::Range<usize>,
) {
    let share = 1.0 / taken.len() as f32;
    let pairs = receivers.iter().zip(powers);
    if taken.len() == 1 {
        for (&receiver, &power) in pairs {
            all[receiver as usize * subchannels + taken.start] += power;
        }
    } else {
        for (&receiver, &power) in pairs {
            let power = power * share;
            let cells = &mut all[receiver as usize * subchannels + taken.start..][..taken.len()];
            cells.iter_mut().for_each(|cell| *cell += power);
        }
    }
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
