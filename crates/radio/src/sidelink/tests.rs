//! Scenes of a few stations, worked out by hand: who may not take which resource, who hears whom, and why.

mod choosing;
mod counting;
mod hearing;
mod lasting;

use super::*;
use crate::{ChannelParameters, CongestionControl, CustomPool, LinkKind, PoolChoice, PoolPreset};

/// Stations that receive each other with the given powers in dBm; none where nothing is listed.
struct Scene {
    begin: Vec<u32>,
    receivers: Vec<u32>,
    power_mw: Vec<f32>,
    beside_far_mw: Vec<f32>,
    links: Vec<LinkClass>,
    ids: Vec<u32>,
    area: Vec<u16>,
    far_mw: Vec<f32>,
}

impl Scene {
    fn new(stations: u32, dbm: impl Fn(u32, u32) -> f64) -> Self {
        let mut scene = Self {
            begin: vec![0],
            receivers: Vec::new(),
            power_mw: Vec::new(),
            beside_far_mw: Vec::new(),
            links: Vec::new(),
            ids: (100..100 + stations).collect(),
            area: Vec::new(),
            far_mw: Vec::new(),
        };
        for from in 0..stations {
            for to in (0..stations).filter(|&to| to != from && dbm(from, to).is_finite()) {
                scene.receivers.push(to);
                scene
                    .power_mw
                    .push(levels::milliwatts(dbm(from, to)) as f32);
            }
            scene.begin.push(scene.receivers.len() as u32);
        }
        let link = LinkClass::new(LinkKind::Los, true);
        scene.links.resize(scene.receivers.len(), link);
        scene.beside_far_mw.clone_from(&scene.power_mw);
        scene
    }

    /// Stations lie in areas, between which so much power goes, in dBm.
    fn within(mut self, area: &[u16], areas: u16, dbm: impl Fn(u16, u16) -> f64) -> Self {
        self.area = area.to_vec();
        let pairs = (0..areas).flat_map(|from| (0..areas).map(move |to| (from, to)));
        let mw = pairs.map(|(from, to)| levels::milliwatts(dbm(from, to)) as f32);
        self.far_mw = mw.collect();
        for from in 0..area.len() {
            let listed = self.begin[from] as usize..self.begin[from + 1] as usize;
            for at in listed {
                let to = area[self.receivers[at] as usize];
                let far = usize::from(area[from]) * usize::from(areas) + usize::from(to);
                self.beside_far_mw[at] = self.power_mw[at] - self.far_mw[far];
            }
        }
        self
    }

    fn reach(&self) -> Reach<'_> {
        let far = (!self.area.is_empty()).then_some(Far {
            area: &self.area,
            power_mw: &self.far_mw,
            areas: self.far_mw.len().isqrt(),
        });
        Reach {
            begin: &self.begin,
            receivers: &self.receivers,
            power_mw: &self.power_mw,
            beside_far_mw: &self.beside_far_mw,
            links: &self.links,
            ids: &self.ids,
            far,
        }
    }
}

const NEVER: f64 = f64::NEG_INFINITY;

fn pool(stations: usize, sidelink: SidelinkParameters) -> Sidelink {
    let parameters = ChannelParameters {
        sidelink,
        ..ChannelParameters::default()
    };
    let mut sidelink = Sidelink::new(&Channel::new(parameters).unwrap(), 5).unwrap();
    sidelink.resize(stations);
    sidelink
}

/// The letter's pool: two subchannels.
fn letter(stations: usize) -> Sidelink {
    pool(stations, SidelinkParameters::default())
}

/// Somebody sends in a slot, whatever it would have chosen.
fn sends(sidelink: &mut Sidelink, station: u32, slot: u64, [first, count]: [u8; 2], period: u16) {
    let message = sidelink.flights.len() as u32;
    sidelink.stations[station as usize].granted[0] += u32::from(count);
    sidelink.flights.push(Flight {
        ticket: u64::from(station),
        station,
        left: 1,
        parts: vec![Vec::new()],
        ..Flight::default()
    });
    sidelink.queue[slot as usize % ROWS].push(Transmission {
        station,
        first,
        count,
        cooperative: 0,
        class: 0,
        period,
        address: slot << 32,
        message,
    });
}

fn run(sidelink: &mut Sidelink, scene: &Scene, until: u64) -> Vec<(u64, Vec<u32>)> {
    let mut arrived = Vec::new();
    sidelink.run(until, &scene.reach(), &mut arrived);
    arrived
        .into_iter()
        .map(|arrival| (arrival.ticket, arrival.receivers))
        .collect()
}

/// What is left for a station to choose from: slots counted from now, and first subchannels.
fn left(sidelink: &mut Sidelink, station: u32, count: u8) -> Vec<(u16, u8)> {
    let wish = Wish {
        count,
        period: 100,
        first: 1,
        last: 100,
    };
    let (now, rule) = (sidelink.now, sidelink.rule);
    let subchannels = sidelink.pool.subchannels();
    sidelink
        .medium
        .choose(station, now, &wish, &rule, |_| false, 77);
    sidelink.medium.choice.left(subchannels, &wish)
}

fn message(station: u32, bytes: u32) -> Message {
    Message {
        ticket: 9,
        station,
        class: 2,
        bytes,
        period: 200,
        latency: 50,
        priority: 5,
        ..Message::default()
    }
}
