//! The sidelink slot by slot: stations choose resources by sensing, keep them for a while, and are heard as power and noise allow.
//!
//! [`Sidelink`] is one pool with its stations, a state machine without clock or random source of its own: [`Sidelink::offer`] hands over
//! a message, [`Sidelink::run`] lets slots pass and gives what arrived. Who receives whom with which power comes in as [`Reach`] and may
//! change from call to call; draws are addressed, so what happens depends on nothing but what was handed over. docs/channel.md says
//! what is modelled and where each number comes from.
//!
//! Nothing here is LTE's alone: slots, sensing rule, counters and periods are parameters.
//!
//! ```
//! use covey_radio::sidelink::{LinkClass, Message, Reach, Sidelink};
//! use covey_radio::{Channel, LinkKind};
//!
//! // Two stations that receive each other with -70 dBm.
//! let reach = Reach {
//!     begin: &[0, 1, 2],
//!     receivers: &[1, 0],
//!     power_mw: &[1e-7; 2],
//!     beside_far_mw: &[1e-7; 2],
//!     links: &[LinkClass::new(LinkKind::Los, true); 2],
//!     ids: &[17, 23],
//!     far: None,
//! };
//! let mut sidelink = Sidelink::new(&Channel::default(), 7)?;
//! sidelink.resize(2);
//! let beacon = Message { ticket: 1, station: 0, bytes: 121, period: 100, latency: 100, ..Message::default() };
//! assert!(sidelink.offer(&beacon, &reach));
//! let mut arrived = Vec::new();
//! sidelink.run(101, &reach, &mut arrived);
//! assert_eq!((arrived[0].ticket, arrived[0].receivers.as_slice()), (1, &[1][..]));
//! # Ok::<(), covey_radio::ParameterError>(())
//! ```

mod choice;
mod congestion;
mod grants;
mod levels;
mod medium;

use covey_draws::{Draw, Draws, Purpose as DrawPurpose};

use crate::pool::Pool;
use crate::scheduling::{CongestionControl, SidelinkParameters};
use crate::{Channel, LinkKind, ParameterError};

use choice::{Rule, Wish};
pub use congestion::occupancy_limit;
use grants::{Grant, Purpose, Station};
pub use medium::{CHUNK, CLASSES, Far, LinkClass, Reach};
use medium::{Medium, ROWS, Transmission, levels_of, reference_level};

/// Slots before or after a block within which it is sent again, where it is (TS 36.321 5.14.1.1).
const RETRANSMISSION_WITHIN: u16 = 15;
/// Slots over which occupancy is taken.
const OCCUPANCY_SLOTS: f64 = 1_000.0;

/// A message that is handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Message {
    /// What the caller calls it.
    pub ticket: u64,
    /// Its sender.
    pub station: u32,
    /// Its class, below [`CLASSES`].
    pub class: u8,
    /// Its size.
    pub bytes: u32,
    /// What of it would be sent anyway, as a beacon: a busy ratio without beacons does not count that.
    pub mandatory_bytes: u32,
    /// Slots until the sender hands over the next of its kind, for which it reserves; 0 reserves nothing.
    pub period: u16,
    /// The last slot in which it may be sent, counted from now.
    pub latency: u16,
    /// What draws know it by: the same for the same message of runs that are compared.
    pub address: u32,
    /// Its priority, 1 the highest.
    pub priority: u32,
}

/// A message whose last block has been sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// What the caller called it.
    pub ticket: u64,
    /// Its sender.
    pub station: u32,
    /// Its class.
    pub class: u8,
    /// The slot of the last block.
    pub slot: u64,
    /// Stations that decoded all of it.
    pub receivers: Vec<u32>,
}

/// A message under way.
#[derive(Clone, Debug, Default)]
struct Flight {
    ticket: u64,
    station: u32,
    class: u8,
    /// Transmissions to come; 0 where the place is free.
    left: u32,
    /// Something of it could not be sent.
    broken: bool,
    /// Receivers by block.
    parts: Vec<Vec<u32>>,
}

/// One pool and its stations.
#[derive(Clone, Debug)]
pub struct Sidelink {
    parameters: SidelinkParameters,
    pool: Pool,
    rule: Rule,
    seed: u64,
    now: u64,
    medium: Medium,
    stations: Vec<Station>,
    /// Transmissions by slot.
    queue: Vec<Vec<Transmission>>,
    flights: Vec<Flight>,
    free: Vec<u32>,
    blocks: Vec<u8>,
}

impl Sidelink {
    /// A silent pool at slot 0, by the channel's parameters; all draws begin with the seed.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn new(channel: &Channel, seed: u64) -> Result<Self, ParameterError> {
        let parameters = channel.parameters().sidelink.clone();
        parameters.validate()?;
        let pool = Pool::new(&parameters.pool, 1.0)?;
        Ok(Self {
            rule: Rule {
                sensing: parameters.sensing_ms as u16,
                threshold: reference_level(parameters.rsrp_threshold_dbm, pool.resource_blocks()),
                step: levels_of(parameters.rsrp_step_db),
                share: parameters.candidate_share,
                average: parameters.average_rssi,
            },
            medium: Medium::new(channel, &pool),
            parameters,
            pool,
            seed,
            now: 0,
            stations: Vec::new(),
            queue: vec![Vec::new(); ROWS],
            flights: Vec::new(),
            free: Vec::new(),
            blocks: Vec::new(),
        })
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The next slot.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Makes room for so many stations.
    pub fn resize(&mut self, stations: usize) {
        if stations > self.stations.len() {
            self.stations.resize_with(stations, Station::default);
        }
        self.medium.grow(stations);
    }

    /// A station leaves: what it has not sent is gone, and another may take its place.
    pub fn forget(&mut self, station: u32) {
        let Some(leaving) = self.stations.get_mut(station as usize) else {
            return;
        };
        let planned = std::mem::take(&mut leaving.planned);
        leaving.grants.clear();
        leaving.granted = [0; CLASSES];
        for slot in planned {
            let row = &mut self.queue[slot as usize % ROWS];
            row.retain(|transmission| transmission.station != station);
        }
        for (at, flight) in (0u32..).zip(&mut self.flights) {
            if flight.left > 0 && flight.station == station {
                flight.left = 0;
                self.free.push(at);
            }
            for part in &mut flight.parts {
                part.retain(|&receiver| receiver != station);
            }
        }
        self.medium.forget(station);
    }

    /// The share of subchannels that a station found busy in the last 100 slots.
    pub fn busy_ratio(&self, station: u32) -> f64 {
        self.medium.busy_ratio(station, self.now)
    }

    /// The share of subchannels that a station heard used for more than mandatory bytes, in so many chunks of [`CHUNK`] slots.
    pub fn cooperative_ratio(&self, station: u32, chunks: u32) -> f64 {
        self.medium
            .cooperative_ratio(station, self.now, u64::from(chunks))
    }

    /// The share of all subchannels that a station itself sent in, over the last second.
    pub fn occupancy(&self, station: u32) -> f64 {
        let used: u32 = self.medium.used(station, self.now).into_iter().sum();
        f64::from(used) / (self.pool.subchannels() as f64 * OCCUPANCY_SLOTS)
    }

    /// Hands a message over. False where it is not sent: congestion control forbids it, or its sender sends in every slot.
    ///
    /// # Panics
    /// If there is no such station or class.
    pub fn offer(&mut self, message: &Message, reach: &Reach<'_>) -> bool {
        assert!(
            usize::from(message.class) < CLASSES,
            "no class {}",
            message.class
        );
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        blocks.extend(self.pool.blocks(message.bytes));
        let sent = self.may_send(message, &blocks) && self.plan(message, &blocks, reach);
        self.blocks = blocks;
        sent
    }

    /// Whether congestion control lets a message pass.
    fn may_send(&self, message: &Message, blocks: &[u8]) -> bool {
        if self.parameters.congestion_control == CongestionControl::Off {
            return true;
        }
        let Some(limit) = occupancy_limit(self.busy_ratio(message.station), message.priority)
        else {
            return true;
        };
        let p = &self.parameters;
        let priorities = [p.beacon_priority, p.report_priority, p.broadcast_priority];
        let used = self.medium.used(message.station, self.now);
        let granted = self.stations[message.station as usize].granted;
        let counts = used.iter().zip(granted).zip(priorities);
        let counts = counts.filter(|&(_, of)| of >= message.priority);
        let used: u32 = counts.map(|((&used, granted), _)| used + granted).sum();
        let times = 1 + u32::from(p.retransmission);
        let more: u32 = blocks.iter().map(|&count| u32::from(count) * times).sum();
        f64::from(used + more) <= limit * self.pool.subchannels() as f64 * OCCUPANCY_SLOTS
    }

    /// Finds a resource for every block.
    fn plan(&mut self, message: &Message, blocks: &[u8], reach: &Reach<'_>) -> bool {
        let flight = self.free.pop().unwrap_or_else(|| {
            self.flights.push(Flight::default());
            self.flights.len() as u32 - 1
        });
        let flying = &mut self.flights[flight as usize];
        flying.ticket = message.ticket;
        flying.station = message.station;
        flying.class = message.class;
        flying.left = 0;
        flying.broken = false;
        flying.parts.truncate(blocks.len());
        flying.parts.resize_with(blocks.len(), Vec::new);
        flying.parts.iter_mut().for_each(Vec::clear);
        let narrow = match message.mandatory_bytes {
            0 => 0,
            bytes => self.pool.blocks(bytes).next().unwrap_or(0),
        };
        let p = &self.parameters;
        let last = (p.t2_ms as u16).min(message.latency);
        let window = [
            p.t1_ms as u16,
            if message.period > 0 {
                last.min(message.period)
            } else {
                last
            },
        ];
        let again = p.retransmission;
        for (block, &count) in (0u16..).zip(blocks) {
            let cooperative = if block == 0 {
                count.saturating_sub(narrow)
            } else {
                count
            };
            let mut wanted = Wanted {
                message,
                flight,
                purpose: Purpose {
                    class: message.class,
                    block,
                    again: false,
                },
                count,
                cooperative,
                window,
            };
            let slot = self.place(&wanted, reach);
            if let (Some(slot), true) = (slot, again) {
                let ahead = (slot - self.now) as u16;
                wanted.purpose.again = true;
                wanted.window = [
                    window[0].max(ahead.saturating_sub(RETRANSMISSION_WITHIN)),
                    window[1].max(ahead).min(ahead + RETRANSMISSION_WITHIN),
                ];
                self.place(&wanted, reach);
            }
            if slot.is_none() {
                self.flights[flight as usize].broken = true;
            }
        }
        let flying = &mut self.flights[flight as usize];
        if flying.left == 0 {
            self.free.push(flight);
            return false;
        }
        true
    }

    /// Gives a block its resource: the one that its sender holds, or another. Gives the slot.
    fn place(&mut self, wanted: &Wanted<'_>, reach: &Reach<'_>) -> Option<u64> {
        let &Wanted {
            message,
            purpose,
            count,
            window,
            ..
        } = wanted;
        let now = self.now;
        let [from, to] = window.map(|ahead| now + u64::from(ahead));
        let id = reach.ids[message.station as usize];
        let draw_for = |of: DrawPurpose, purpose: Purpose| -> Draw {
            Draws::new(self.seed, of, message.class, now).at(id, purpose.number())
        };
        // Both transmissions of a block go on for the same time.
        let draw = |of| draw_for(of, purpose.first());
        let latest = to.max(now + u64::from(message.latency));
        let station = &mut self.stations[message.station as usize];
        station.planned.retain(|&slot| slot >= now);
        let unused = self.parameters.reselect_after;
        let at = match station.held(purpose, count, [from, latest], unused) {
            Some(at) => at,
            None => {
                let wish = Wish {
                    count,
                    period: message.period,
                    first: window[0],
                    last: window[1],
                };
                let bits = draw_for(DrawPurpose::Resource, purpose).bits();
                let taken = |ahead: u16| station.is_taken(now + u64::from(ahead), message.period);
                let (ahead, first) =
                    self.medium
                        .choose(message.station, now, &wish, &self.rule, taken, bits)?;
                if !purpose.again {
                    // The second transmission stays near the first.
                    let second = Purpose {
                        again: true,
                        ..purpose
                    };
                    station.grants.retain(|grant| grant.purpose != second);
                }
                station.grants.push(Grant {
                    purpose,
                    next: now + u64::from(ahead),
                    period: message.period,
                    first,
                    count,
                    uses: uses(&self.parameters, message.period, draw(DrawPurpose::Uses)),
                });
                station.grants.len() - 1
            }
        };
        let grant = &mut station.grants[at];
        let slot = grant.next;
        let (first, count) = (grant.first, grant.count);
        let mut announced = grant.period;
        grant.next += u64::from(grant.period);
        grant.uses -= 1;
        if grant.uses == 0 {
            let keeps = grant.period > 0
                && draw(DrawPurpose::Keep).uniform() < self.parameters.keep_probability;
            if keeps {
                grant.uses = uses(&self.parameters, grant.period, draw(DrawPurpose::Uses));
            } else {
                // Nobody is told of a use that does not come.
                announced = 0;
                station.grants.swap_remove(at);
            }
        }
        station.planned.push(slot);
        station.granted[usize::from(message.class)] += u32::from(count);
        self.flights[wanted.flight as usize].left += 1;
        self.queue[slot as usize % ROWS].push(Transmission {
            station: message.station,
            first,
            count,
            cooperative: wanted.cooperative,
            class: message.class,
            period: announced,
            address: u64::from(message.address) << 32 | u64::from(purpose.number()),
            message: wanted.flight,
        });
        Some(slot)
    }

    /// Lets all slots before `until` pass; what arrived is added to `arrived`, in order.
    pub fn run(&mut self, until: u64, reach: &Reach<'_>, arrived: &mut Vec<Arrival>) {
        while self.now < until {
            let now = self.now;
            let sent = std::mem::take(&mut self.queue[now as usize % ROWS]);
            let flights = &mut self.flights;
            self.medium
                .slot(now, &sent, reach, self.seed, |at, receiver| {
                    let transmission = &sent[at];
                    let block = (transmission.address as u32 >> 1) as usize;
                    if let Some(part) = flights[transmission.message as usize].parts.get_mut(block)
                    {
                        part.push(receiver);
                    }
                });
            self.now += 1;
            for transmission in &sent {
                let granted = &mut self.stations[transmission.station as usize].granted;
                granted[usize::from(transmission.class)] -= u32::from(transmission.count);
                let flight = &mut self.flights[transmission.message as usize];
                flight.left -= 1;
                if flight.left == 0 {
                    self.free.push(transmission.message);
                    arrived.push(Arrival {
                        ticket: flight.ticket,
                        station: flight.station,
                        class: flight.class,
                        slot: now,
                        receivers: flight.receivers(self.parameters.retransmission),
                    });
                }
            }
            let mut sent = sent;
            sent.clear();
            self.queue[now as usize % ROWS] = sent;
        }
    }
}

/// The mean channel at one point, slot by slot, where nobody else sends: no shadowing, no draws.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanSidelink {
    /// Path loss, dB; for NLOSv with the mean blockage of case 3.
    pub path_loss_db: f64,
    /// Power received, dBm.
    pub received_dbm: f64,
    /// Reference power, by which reservations are judged, dBm.
    pub rsrp_dbm: f64,
    /// Subchannels of each transmission that the message takes.
    pub blocks: Vec<u8>,
    /// Signal-to-noise ratio of the last of them, dB.
    pub snr_db: f64,
    /// Chance to lose its control message.
    pub control_bler: f64,
    /// Chance to lose its data.
    pub bler: f64,
    /// Chance that all transmissions are decoded.
    pub delivery: f64,
    /// A station that senses it counts its subchannels as busy.
    pub busy: bool,
}

/// The mean channel of a message of so many bytes.
///
/// # Errors
/// The pool is out of range.
pub fn mean_link(
    channel: &Channel,
    distance_m: f64,
    kind: LinkKind,
    bytes: u32,
) -> Result<MeanSidelink, ParameterError> {
    let parameters = channel.parameters();
    let pool = Pool::new(&parameters.sidelink.pool, 1.0)?;
    let path_loss_db = channel.mean(distance_m, kind, 0.0).path_loss_db;
    let received_mw = channel.received_mw(path_loss_db);
    let dbm = |mw: f64| 10.0 * libm::log10(mw);
    let control = levels::Decoder::control();
    let data = levels::Decoder::data(channel, kind);
    let mut mean = MeanSidelink {
        path_loss_db,
        received_dbm: dbm(received_mw),
        rsrp_dbm: 0.0,
        blocks: pool.blocks(bytes).collect(),
        snr_db: 0.0,
        control_bler: 0.0,
        bler: 0.0,
        delivery: 1.0,
        busy: false,
    };
    for &count in &mean.blocks {
        let count = usize::from(count);
        let noise = levels::noise_mw(parameters, pool.data_blocks(count));
        let ratio = received_mw / f64::from(noise);
        let subcarriers = 12.0 * count as f64 * f64::from(pool.resource_blocks());
        mean.rsrp_dbm = dbm(received_mw / subcarriers);
        mean.snr_db = dbm(ratio);
        mean.control_bler = 1.0 - f64::from(control.success(ratio as f32));
        mean.bler = 1.0 - f64::from(data.success(ratio as f32));
        mean.delivery *= (1.0 - mean.control_bler) * (1.0 - mean.bler);
        let subchannel = received_mw / count as f64
            + f64::from(levels::noise_mw(parameters, pool.resource_blocks()));
        mean.busy = dbm(subchannel) > parameters.sidelink.busy_threshold_dbm;
    }
    Ok(mean)
}

/// A block that wants a resource.
struct Wanted<'a> {
    message: &'a Message,
    flight: u32,
    purpose: Purpose,
    count: u8,
    cooperative: u8,
    /// First and last slot, counted from now.
    window: [u16; 2],
}

impl Flight {
    /// Stations that decoded every block.
    fn receivers(&mut self, again: bool) -> Vec<u32> {
        if self.broken {
            return Vec::new();
        }
        if again || self.parts.len() > 1 {
            for part in &mut self.parts {
                part.sort_unstable();
                part.dedup();
            }
        }
        let mut parts = self.parts.iter_mut();
        let mut all = parts.next().map(std::mem::take).unwrap_or_default();
        for part in parts {
            all.retain(|receiver| part.binary_search(receiver).is_ok());
        }
        all
    }
}

/// For how many messages a resource is taken (TS 36.321 5.14.1.1): more often where they come faster.
fn uses(parameters: &SidelinkParameters, period: u16, draw: Draw) -> u32 {
    if period == 0 {
        return 1;
    }
    let times = 100 / u32::from(period.clamp(20, 100));
    let [least, most] = [parameters.counter_min, parameters.counter_max].map(|uses| uses * times);
    let choices = u64::from(most - least) + 1;
    least + ((u128::from(draw.bits()) * u128::from(choices)) >> 64) as u32
}

#[cfg(test)]
mod tests;
