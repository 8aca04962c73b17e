//! The scheduled sidelink on a published highway: delivery over distance, to be held against the simulations of González-Martín et al.,
//! "Analytical Models of the Performance of C-V2X Mode 4 Vehicular Communications", IEEE TVT 68(2), 2019.
//!
//! The published setting: one straight line of vehicles, WINNER+ B1 in line of sight at 5.91 GHz with antennas at 1.5 m, shadowing of
//! 3 dB, no antenna gains, noise of -95 dBm over 10 MHz, nothing decoded or sensed below -90.5 dBm, 190 B in one subchannel.
//! Resources of every reservation that is sensed are excluded, as in its model (eq. 29), and then by steps of 3 dB fewer.
//! What it leaves open is chosen here: the line is 4 km long unless it is to be shorter, and has ends, near which there is less interference, unless it is closed to
//! a ring; half of the vehicles drive each way with 70 km/h; shadowing of a pair changes over 25 m (TR 36.885, freeway).

use std::f64::consts::FRAC_PI_2;

use covey_draws::{Draws, Purpose};

use crate::sidelink::{Arrival, CHUNK, LinkClass, Message, Reach, Sidelink};
use crate::{
    BlockErrorCurve, Channel, ChannelParameters, CustomPool, LinkKind, ParameterError, PoolChoice,
    SidelinkParameters,
};

/// The published numbers: delivery by setting and distance, with the losses by cause. From the figures of msepulcre/C-V2X, revision
/// 71d4c25; numbers only.
const PUBLISHED: &str = include_str!("../data/gonzalez-martin-2019.csv");

/// Interferers farther away are left out, as in the source.
const REACH_M: f64 = 1_000.0;
/// Power below which nothing is decoded or sensed, in dBm; also the threshold of the busy ratio here.
const SENSING_DBM: f64 = -90.5;
/// The lowest threshold that there is for reservations: all are looked at first.
const RESERVATIONS_DBM: f64 = -128.0;
/// Distance over which shadowing changes, in metres.
const DECORRELATION_M: f64 = 25.0;
/// Slots from one update of places and powers to the next.
const UPDATE: u64 = 100;
/// Distances of the published curves, in metres, 25 m apart.
const DISTANCES: usize = 21;
const SPACING_M: f64 = 25.0;

/// A published setting and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Subchannels of the pool.
    pub subchannels: u32,
    /// Transmit power, in dBm.
    pub tx_dbm: f64,
    /// Messages per second and vehicle.
    pub rate_hz: u32,
    /// Vehicles per metre.
    pub vehicles_per_m: f64,
    /// Busy ratio of the source's model.
    pub cbr: f64,
    /// Distances, in metres.
    pub distance_m: Vec<f64>,
    /// Delivery over them, as simulated by the source.
    pub pdr: Vec<f64>,
    /// Loss to half duplex over them.
    pub half_duplex: Vec<f64>,
}

/// The twelve published settings, in the order of subchannels, power, rate and density.
pub fn published() -> Vec<Published> {
    let mut all: Vec<Published> = Vec::new();
    for line in PUBLISHED.lines().skip(1) {
        let numbers: Vec<f64> = line
            .split(',')
            .filter_map(|cell| cell.parse().ok())
            .collect();
        let [
            density,
            rate,
            tx_dbm,
            subchannels,
            _,
            cbr,
            distance,
            pdr,
            _,
            half_duplex,
            ..,
        ] = numbers[..]
        else {
            continue;
        };
        let setting = |one: &Published| {
            (
                one.vehicles_per_m,
                f64::from(one.rate_hz),
                one.tx_dbm,
                f64::from(one.subchannels),
            )
        };
        let at = all
            .iter()
            .position(|one| setting(one) == (density, rate, tx_dbm, subchannels));
        let at = at.unwrap_or_else(|| {
            all.push(Published {
                subchannels: subchannels as u32,
                tx_dbm,
                rate_hz: rate as u32,
                vehicles_per_m: density,
                cbr,
                distance_m: Vec::new(),
                pdr: Vec::new(),
                half_duplex: Vec::new(),
            });
            all.len() - 1
        });
        all[at].distance_m.push(distance);
        all[at].pdr.push(pdr);
        all[at].half_duplex.push(half_duplex);
    }
    all.sort_by(|a, b| {
        let key = |one: &Published| (one.subchannels, one.tx_dbm as i64, one.rate_hz);
        key(a)
            .cmp(&key(b))
            .then(a.vehicles_per_m.total_cmp(&b.vehicles_per_m))
    });
    all
}

/// How a setting is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Chance to keep a resource.
    pub keep_probability: f64,
    /// Seconds before measuring.
    pub warmup_s: f64,
    /// Seconds measured.
    pub measure_s: f64,
    /// Length of the road, in metres.
    pub road_m: f64,
    /// The road has no ends.
    pub ring: bool,
    /// Speed of the vehicles, half of them each way, in m/s.
    pub speed_m_per_s: f64,
    /// What all draws begin with.
    pub seed: u64,
}

impl Default for Options {
    /// Nothing is kept, as in the studies of the same group; a line with ends; 70 km/h.
    fn default() -> Self {
        Self {
            keep_probability: 0.0,
            warmup_s: 3.0,
            measure_s: 10.0,
            road_m: 4_000.0,
            ring: false,
            speed_m_per_s: 70.0 / 3.6,
            seed: 1,
        }
    }
}

/// What came of a setting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Busy ratio with the threshold of -90.5 dBm, of vehicles that no end of the road is within reach of.
    pub cbr: f64,
    /// The same as the source's model counts: a subchannel is busy where a single vehicle is received above the threshold.
    pub cbr_single: f64,
    /// Delivery over the published distances.
    pub pdr: Vec<f64>,
    /// Share of messages lost because the receiver sent in the same slot.
    pub half_duplex: f64,
}

impl Measured {
    /// Mean absolute difference of delivery from the published one, as a share.
    pub fn difference(&self, published: &Published) -> f64 {
        let pairs = self.pdr.iter().zip(&published.pdr);
        let sum: f64 = pairs.map(|(ours, theirs)| (ours - theirs).abs()).sum();
        sum / published.pdr.len().max(1) as f64
    }
}

/// The channel of a setting.
fn channel(setting: &Published, options: &Options) -> Result<Channel, ParameterError> {
    // The source takes noise over 12 blocks and a rate of 0.5 with 2 subchannels, over 10 and 0.7 with 4: so many are for data here.
    let (resource_blocks, mcs, block_error) = match setting.subchannels {
        2 => (14, 8, BlockErrorCurve::QpskR05),
        _ => (12, 9, BlockErrorCurve::QpskR07),
    };
    Channel::new(ChannelParameters {
        tx_power_dbm: setting.tx_dbm,
        antenna_gain_dbi: 0.0,
        // -95 dBm over 50 blocks.
        noise_density_dbm_per_hz: -95.0 - 9.0 - 10.0 * libm::log10(50.0 * 180e3),
        noise_figure_db: 9.0,
        sensitivity_dbm: Some(SENSING_DBM),
        block_error,
        sidelink: SidelinkParameters {
            pool: PoolChoice::Custom(CustomPool {
                subchannels: setting.subchannels,
                resource_blocks,
                mcs,
            }),
            keep_probability: options.keep_probability,
            busy_threshold_dbm: SENSING_DBM,
            rsrp_threshold_dbm: RESERVATIONS_DBM,
            ..SidelinkParameters::default()
        },
        ..ChannelParameters::default()
    })
}

/// WINNER+ B1 in line of sight as the source has it, in dB.
fn path_loss_db(distance_m: f64) -> f64 {
    let log_carrier = libm::log10(5.91);
    let log_distance = libm::log10(distance_m.max(3.0));
    let free = 20.0 * log_distance + 46.4 + 20.0 * libm::log10(5.91 / 5.0);
    let modelled = if distance_m < 4.0 * 1.5 * 1.5 * 5.91e9 / 3e8 {
        22.7 * log_distance + 27.0 + 20.0 * log_carrier
    } else {
        40.0 * log_distance + 7.56 - 2.0 * 17.3 * libm::log10(1.5) + 2.7 * log_carrier
    };
    modelled.max(free)
}

/// The road and who receives whom.
struct Road {
    length_m: f64,
    ring: bool,
    places_m: Vec<f64>,
    speeds: Vec<f64>,
    ids: Vec<u32>,
    begin: Vec<u32>,
    receivers: Vec<u32>,
    power_mw: Vec<f32>,
    links: Vec<LinkClass>,
    /// Mean power at whole metres, in dBm.
    mean_dbm: Vec<f64>,
    draws: Vec<Draws>,
}

impl Road {
    fn new(setting: &Published, options: &Options) -> Self {
        let count = (setting.vehicles_per_m * options.road_m).round() as u32;
        let draws = Draws::new(options.seed, Purpose::Place, 0, 0);
        let spacing = options.road_m / f64::from(count);
        let place = |at| (f64::from(at) + draws.at(at, 0).uniform()) * spacing;
        let way = |at: u32| {
            if draws.at(at, 1).bits() & 1 == 0 {
                1.0
            } else {
                -1.0
            }
        };
        let steps = (2.0 * options.speed_m_per_s * (options.warmup_s + options.measure_s)
            / DECORRELATION_M) as u64;
        Self {
            length_m: options.road_m,
            ring: options.ring,
            places_m: (0..count).map(place).collect(),
            speeds: (0..count)
                .map(|at| way(at) * options.speed_m_per_s)
                .collect(),
            ids: (0..count).collect(),
            begin: Vec::new(),
            receivers: Vec::new(),
            power_mw: Vec::new(),
            links: Vec::new(),
            mean_dbm: (0..=(REACH_M as u32))
                .map(|m| setting.tx_dbm - path_loss_db(f64::from(m)))
                .collect(),
            draws: (0..steps + 3)
                .map(|step| Draws::new(options.seed, Purpose::Shadowing, 0, step))
                .collect(),
        }
    }

    /// No end of the road is within reach: the source's busy ratio is that of a road without ends.
    fn is_inside(&self, at: usize) -> bool {
        self.ring || (REACH_M..self.length_m - REACH_M).contains(&self.places_m[at])
    }

    /// How far two vehicles are apart.
    fn distance_m(&self, a: usize, b: usize) -> f64 {
        let apart = (self.places_m[a] - self.places_m[b]).abs();
        if self.ring {
            apart.min(self.length_m - apart)
        } else {
            apart
        }
    }

    /// Moves everyone for a time (who leaves at one end comes in at the other), which ends `elapsed_s` after the beginning, and finds who receives whom.
    fn advance(&mut self, seconds: f64, elapsed_s: f64) {
        for (place, speed) in self.places_m.iter_mut().zip(&self.speeds) {
            *place = (*place + speed * seconds).rem_euclid(self.length_m);
        }
        self.begin.clear();
        self.begin.push(0);
        self.receivers.clear();
        self.power_mw.clear();
        for a in 0..self.ids.len() {
            for b in 0..self.ids.len() {
                let distance = self.distance_m(a, b);
                if a == b || distance > REACH_M {
                    continue;
                }
                // Between two places 25 m of relative motion apart, shadowing turns from one draw to the next.
                let moved = (self.speeds[a] - self.speeds[b]).abs() * elapsed_s / DECORRELATION_M;
                let (at, part) = (moved as usize, moved.fract() * FRAC_PI_2);
                let draw = |at: usize| {
                    self.draws[at.min(self.draws.len() - 1)]
                        .between(a as u32, b as u32)
                        .normal()
                };
                let mut shadowing = libm::cos(part) * draw(at);
                if part > 0.0 {
                    shadowing += libm::sin(part) * draw(at + 1);
                }
                let dbm = self.mean_dbm[distance as usize] - 3.0 * shadowing;
                self.receivers.push(b as u32);
                self.power_mw.push(libm::pow(10.0, dbm / 10.0) as f32);
            }
            self.begin.push(self.receivers.len() as u32);
        }
        self.links
            .resize(self.receivers.len(), LinkClass::new(LinkKind::Los, true));
    }

    fn reach(&self) -> Reach<'_> {
        Reach {
            begin: &self.begin,
            receivers: &self.receivers,
            power_mw: &self.power_mw,
            beside_far_mw: &self.power_mw,
            links: &self.links,
            ids: &self.ids,
            far: None,
        }
    }
}

/// Counts of a run.
#[derive(Default)]
struct Counts {
    /// In range and delivered, by distance.
    pairs: [[u64; 2]; DISTANCES],
    /// Pairs of whom the receiver sent in the same slot, and all.
    both: [u64; 2],
    /// Busy ratios by all power and by single vehicles, summed up, and how many.
    busy: [f64; 3],
}

impl Counts {
    fn note(&mut self, road: &Road, arrived: &[Arrival]) {
        let mut heard = vec![false; road.ids.len()];
        for same in arrived.chunk_by(|a, b| a.slot == b.slot) {
            for arrival in same {
                for &receiver in &arrival.receivers {
                    heard[receiver as usize] = true;
                }
                let sender = arrival.station as usize;
                for (receiver, heard) in heard.iter_mut().enumerate() {
                    let delivered = std::mem::take(heard);
                    let at = (road.distance_m(sender, receiver) / SPACING_M).round() as usize;
                    if receiver == sender || at >= DISTANCES {
                        continue;
                    }
                    self.pairs[at][0] += 1;
                    self.pairs[at][1] += u64::from(delivered);
                    self.both[1] += 1;
                }
                let sends = |other: &&Arrival| {
                    let far = road.distance_m(sender, other.station as usize) / SPACING_M;
                    other.station != arrival.station && (far.round() as usize) < DISTANCES
                };
                self.both[0] += same.iter().filter(sends).count() as u64;
            }
        }
    }
}

/// Runs one setting.
///
/// # Errors
/// An option is out of range.
pub fn run(setting: &Published, options: &Options) -> Result<Measured, ParameterError> {
    let channel = channel(setting, options)?;
    let mut sidelink = Sidelink::new(&channel, options.seed)?;
    let mut road = Road::new(setting, options);
    let stations = road.ids.len();
    sidelink.resize(stations);
    let period = 1_000 / u64::from(setting.rate_hz.max(1));
    let phases = Draws::new(options.seed, Purpose::Place, 1, 0);
    let phase = |station: u32| phases.at(station, 2).bits() % period;
    let mut by_phase: Vec<Vec<u32>> = vec![Vec::new(); period as usize];
    for station in 0..stations as u32 {
        by_phase[phase(station) as usize].push(station);
    }
    let [begin, end] =
        [options.warmup_s, options.warmup_s + options.measure_s].map(|s| (s * 1e3) as u64);
    let mut counts = Counts::default();
    let mut arrived = Vec::new();
    for slot in 0..end {
        if slot.is_multiple_of(UPDATE) {
            if slot >= begin {
                counts.note(&road, &arrived);
                for station in
                    (0..stations as u32).filter(|&station| road.is_inside(station as usize))
                {
                    // No byte is mandatory, so this counts whoever is heard by himself.
                    let single = sidelink.cooperative_ratio(station, (UPDATE / CHUNK) as u32);
                    counts.busy[0] += sidelink.busy_ratio(station);
                    counts.busy[1] += single;
                    counts.busy[2] += 1.0;
                }
            }
            arrived.clear();
            let seconds = if slot == 0 { 0.0 } else { UPDATE as f64 / 1e3 };
            road.advance(seconds, slot as f64 / 1e3);
        }
        for &station in &by_phase[(slot % period) as usize] {
            let message = Message {
                ticket: slot,
                station,
                class: 0,
                bytes: 190,
                mandatory_bytes: 0,
                period: period as u16,
                latency: period as u16,
                address: slot as u32,
                priority: 5,
            };
            sidelink.offer(&message, &road.reach());
        }
        sidelink.run(slot + 1, &road.reach(), &mut arrived);
    }
    Ok(Measured {
        cbr: counts.busy[0] / counts.busy[2].max(1.0),
        cbr_single: counts.busy[1] / counts.busy[2].max(1.0),
        pdr: counts
            .pairs
            .iter()
            .map(|&[all, delivered]| delivered as f64 / all.max(1) as f64)
            .collect(),
        half_duplex: counts.both[0] as f64 / counts.both[1].max(1) as f64,
    })
}
