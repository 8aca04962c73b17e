//! What a run costs as vehicles grow at fixed density: one to many copies of the corridor side by side.
//!
//! `cargo run --release -p covey-simulator --example growth -- scenarios/tamagawa/scenario.toml COPIES WARMUP MEASURE ARM... [--threads=N]`
//!
//! Prints wall time per simulated second, CPU time by phase, and peak memory. Vehicles of the copies drive alike but
//! are other vehicles: draws of radio and equipment differ.

#![allow(clippy::print_stdout)]

use covey_simulator::{
    Arm, FrameSource, Nobody, Prepared, RunError, RunOptions, Scenario, simulate,
};
use covey_traffic::Source;
use covey_traffic::builtin::Builtin;
use covey_world::network::{ConnectionIx, EdgeIx, JunctionIx, LaneIx, SignalIx};
use covey_world::{Frame, Map, Point, Polyline, VehicleId};

/// Copies are this far apart, in metres: more than radio reaches.
const APART_M: f64 = 3_000.0;

/// Copies beside each other, before the next row of them begins farther along.
const BESIDE: u32 = 13;

fn offset(copy: u32) -> Point {
    // Across and along the corridor, so that copies do not meet.
    let (across, along) = (copy % BESIDE, copy / BESIDE);
    Point::new(-0.5, 0.87) * (APART_M * f64::from(across))
        + Point::new(0.87, 0.5) * (2.5 * APART_M * f64::from(along))
}

/// The map and `copies - 1` more of it.
fn repeat(map: &Map, copies: u32) -> Map {
    let mut all = Map {
        network: map.network.clone(),
        buildings: map.buildings.clone(),
    };
    let one = &map.network;
    for copy in 1..copies {
        let by = offset(copy);
        let shift = |count: usize| copy * count as u32;
        let (edges, lanes) = (shift(one.edges.len()), shift(one.lanes.len()));
        let (junctions, connections) = (shift(one.junctions.len()), shift(one.connections.len()));
        let signals = shift(one.signals.len());
        let lane = |l: LaneIx| LaneIx(l.0 + lanes);
        let connection = |c: ConnectionIx| ConnectionIx(c.0 + connections);
        let junction = |j: JunctionIx| JunctionIx(j.0 + junctions);
        for e in &one.edges {
            let mut e = e.clone();
            e.from = e.from.map(junction);
            e.to = e.to.map(junction);
            e.lanes.iter_mut().for_each(|l| *l = lane(*l));
            all.network.edges.push(e);
        }
        for l in &one.lanes {
            let mut l = l.clone();
            l.edge = EdgeIx(l.edge.0 + edges);
            let points = l.shape.points().iter().map(|&p| p + by).collect();
            if let Some(shape) = Polyline::new(points) {
                l.shape = shape;
            }
            l.outgoing.iter_mut().for_each(|c| *c = connection(*c));
            l.incoming.iter_mut().for_each(|c| *c = connection(*c));
            all.network.lanes.push(l);
        }
        for c in &one.connections {
            let mut c = c.clone();
            c.from = lane(c.from);
            c.to = lane(c.to);
            c.via.iter_mut().for_each(|l| *l = lane(*l));
            c.junction = junction(c.junction);
            c.signal = c.signal.map(|(s, at)| (SignalIx(s.0 + signals), at));
            all.network.connections.push(c);
        }
        for j in &one.junctions {
            let mut j = j.clone();
            j.position = j.position + by;
            j.outline.iter_mut().for_each(|p| *p = *p + by);
            j.incoming.iter_mut().for_each(|l| *l = lane(*l));
            all.network.junctions.push(j);
        }
        all.network.signals.extend(one.signals.iter().cloned());
        all.buildings.extend(map.buildings.iter().map(|b| {
            let mut b = b.clone();
            b.outline.iter_mut().for_each(|p| *p = *p + by);
            b
        }));
    }
    all
}

/// The traffic of one corridor on all of them.
struct Copies {
    one: Builtin,
    frame: Frame,
    copies: u32,
    vehicles: u32,
    lanes: u32,
    connections: u32,
}

impl FrameSource for Copies {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        let more = Source::next_frame(&mut self.one, &mut self.frame)
            .map_err(|error| RunError::Traffic(error.to_string()))?;
        frame.time_us = self.frame.time_us;
        frame.vehicles.clear();
        for copy in 0..self.copies {
            let by = offset(copy);
            frame.vehicles.extend(self.frame.vehicles.iter().map(|v| {
                let mut v = *v;
                v.id = VehicleId(v.id.0 + copy * self.vehicles);
                v.position = v.position + by;
                v.lane = v.lane.map(|l| LaneIx(l.0 + copy * self.lanes));
                v.next = v.next.map(|c| ConnectionIx(c.0 + copy * self.connections));
                v
            }));
        }
        Ok(more)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut threads = 1;
    if let Some(given) = arguments.pop_if(|last| last.starts_with("--threads=")) {
        threads = given["--threads=".len()..].parse()?;
    }
    let [file, copies, warmup, measure, arms @ ..] = &arguments[..] else {
        return Err("usage: growth SCENARIO COPIES WARMUP MEASURE ARM... [--threads=N]".into());
    };
    let copies: u32 = copies.parse()?;
    let arms: Vec<Arm> = arms
        .iter()
        .map(|arm| arm.parse())
        .collect::<Result<_, _>>()?;
    let scenario = Scenario::read(std::path::Path::new(file))?;
    let (map, _) = scenario.read_map()?;
    let one = Builtin::new(&map.network, &scenario.traffic, 1001)?;
    let vehicles = one.summary().vehicles as u32;
    let mut traffic = Copies {
        one,
        frame: Frame::default(),
        copies,
        vehicles,
        lanes: map.network.lanes.len() as u32,
        connections: map.network.connections.len() as u32,
    };
    let prepared = Prepared::with_map(&scenario, repeat(&map, copies))?;
    let options = RunOptions {
        warmup_s: warmup.parse()?,
        measure_s: measure.parse()?,
        threads,
    };
    let clock = std::time::Instant::now();
    let result = simulate(&prepared, &mut traffic, &arms, 1001, &options, &mut Nobody)?;
    let seconds = clock.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{} vehicles, {} arms, {threads} threads: {:.3} s per simulated second, {:.2} CPU s of other threads; {:?}; {}",
        result.shared.vehicles,
        arms.len(),
        seconds / (options.warmup_s + options.measure_s),
        result.helpers_cpu_s,
        result.timing,
        peak.unwrap_or("peak memory unknown"),
    );
    Ok(())
}
