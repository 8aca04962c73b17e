//! Traffic kept once and replayed as often as needed.
//!
//! Traffic does not depend on who transmits, so it is computed once for each scenario and seed and every arm replays the
//! same [`Recording`]. It is made of flat arrays, 40 bytes a vehicle and step (1,000 vehicles over 80 s: 64 MB), and gives
//! any step at once. [`Recording::save`] and [`Recording::load`] keep it in a file (see [`mod@file`]); what was
//! loaded equals what was saved, bit for bit.
//!
//! Positions are kept as the source gave them; headings, speeds and positions along lanes are rounded to single precision.
//! Sizes are kept once a vehicle: the first that the source gave.

pub mod file;

pub use file::RecordingFileError;

use covey_world::network::{ConnectionIx, EdgeKind, LaneIx};
use covey_world::{Body, Frame, Network, Point, VehicleId, VehicleState};
use std::borrow::Borrow;
use std::convert::Infallible;
use std::fmt;

use crate::{STEP_US, Source};

/// Stands for no lane and no connection.
const NONE: u32 = u32::MAX;

/// The traffic of one run, step by step. The [module](self) says what is kept.
#[derive(Clone, PartialEq, Default)]
pub struct Recording {
    /// Where it came from, for people and result tables (such as `SUMO 1.28.0, seed 3`).
    pub origin: String,
    /// Where each step's entries begin; one more than there are steps.
    starts: Vec<usize>,
    ids: Vec<u32>,
    xs: Vec<f64>,
    ys: Vec<f64>,
    headings: Vec<f32>,
    speeds: Vec<f32>,
    lane_positions: Vec<f32>,
    lanes: Vec<u32>,
    nexts: Vec<u32>,
    /// By vehicle.
    bodies: Vec<Body>,
    /// By vehicle; empty where the source has no names.
    names: Vec<String>,
    /// By vehicle; empty where the source has no types.
    types: Vec<String>,
}

impl Recording {
    /// Takes up to `steps` frames out of `source`; fewer where it ends earlier.
    ///
    /// # Errors
    /// Whatever the source reports.
    pub fn capture<S: Source>(source: &mut S, steps: usize) -> Result<Self, S::Error> {
        let mut recording = Self {
            starts: vec![0],
            ..Self::default()
        };
        let mut frame = Frame::default();
        // Sources number vehicles as they appear; should one leave numbers out, their turn may come later.
        let mut seen = Vec::new();
        while recording.steps() < steps && source.next_frame(&mut frame)? {
            for v in &frame.vehicles {
                let vehicle = v.id.0 as usize;
                if vehicle >= seen.len() {
                    seen.resize(vehicle + 1, false);
                    recording.bodies.resize(vehicle + 1, v.body);
                    recording.names.resize(vehicle + 1, String::new());
                    recording.types.resize(vehicle + 1, String::new());
                }
                if !std::mem::replace(&mut seen[vehicle], true) {
                    recording.bodies[vehicle] = v.body;
                    source
                        .vehicle_name(v.id)
                        .unwrap_or("")
                        .clone_into(&mut recording.names[vehicle]);
                    source
                        .vehicle_type(v.id)
                        .unwrap_or("")
                        .clone_into(&mut recording.types[vehicle]);
                }
            }
            recording.push(&frame);
        }
        Ok(recording)
    }

    fn push(&mut self, frame: &Frame) {
        for v in &frame.vehicles {
            self.ids.push(v.id.0);
            self.xs.push(v.position.x);
            self.ys.push(v.position.y);
            self.headings.push(v.heading as f32);
            self.speeds.push(v.speed as f32);
            self.lane_positions.push(v.lane_position as f32);
            self.lanes.push(v.lane.map_or(NONE, |lane| lane.0));
            self.nexts.push(v.next.map_or(NONE, |next| next.0));
        }
        self.starts.push(self.ids.len());
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of vehicles (and other moving bodies) that appear in it.
    #[must_use]
    pub fn vehicles(&self) -> usize {
        self.bodies.len()
    }

    /// The number of entries: vehicles summed over all steps.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.ids.len()
    }

    /// The vehicles in one step, by ascending number; empty beyond the end.
    #[must_use]
    pub fn ids(&self, step: usize) -> &[u32] {
        self.range(step).map_or(&[], |range| &self.ids[range])
    }

    /// The body of a vehicle.
    #[must_use]
    pub fn body(&self, id: VehicleId) -> Option<Body> {
        self.bodies.get(id.0 as usize).copied()
    }

    /// The name of a vehicle in the source's own files, where there is one.
    #[must_use]
    pub fn name(&self, id: VehicleId) -> Option<&str> {
        let name = self.names.get(id.0 as usize)?;
        (!name.is_empty()).then_some(name.as_str())
    }

    /// The type of a vehicle in the source's own files, where there is one.
    #[must_use]
    pub fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        let kind = self.types.get(id.0 as usize)?;
        (!kind.is_empty()).then_some(kind.as_str())
    }

    /// Every vehicle is there in every step.
    #[must_use]
    pub fn is_closed_population(&self) -> bool {
        self.starts
            .windows(2)
            .all(|w| w[1] - w[0] == self.bodies.len())
    }

    fn range(&self, step: usize) -> Option<std::ops::Range<usize>> {
        Some(*self.starts.get(step)?..*self.starts.get(step + 1)?)
    }

    /// Writes one step into `frame`, whose buffers are reused; `false` beyond the end.
    pub fn frame_into(&self, step: usize, frame: &mut Frame) -> bool {
        frame.vehicles.clear();
        let Some(range) = self.range(step) else {
            return false;
        };
        frame.time_us = step as i64 * STEP_US;
        frame.vehicles.extend(range.map(|i| VehicleState {
            id: VehicleId(self.ids[i]),
            position: Point::new(self.xs[i], self.ys[i]),
            heading: f64::from(self.headings[i]),
            speed: f64::from(self.speeds[i]),
            body: self.bodies[self.ids[i] as usize],
            lane: (self.lanes[i] != NONE).then_some(LaneIx(self.lanes[i])),
            lane_position: f64::from(self.lane_positions[i]),
            next: (self.nexts[i] != NONE).then_some(ConnectionIx(self.nexts[i])),
        }));
        true
    }

    /// One step; none beyond the end.
    #[must_use]
    pub fn frame(&self, step: usize) -> Option<Frame> {
        let mut frame = Frame::default();
        self.frame_into(step, &mut frame).then_some(frame)
    }

    /// The recording as a source, from its first step.
    #[must_use]
    pub fn replay(&self) -> Replay<&Self> {
        Replay {
            recording: self,
            step: 0,
        }
    }

    /// The same, for keeps.
    #[must_use]
    pub fn into_replay(self) -> Replay<Self> {
        Replay {
            recording: self,
            step: 0,
        }
    }

    /// Drops all steps from `steps` on. Vehicles that appear in none of the others keep their numbers.
    pub fn truncate(&mut self, steps: usize) {
        if steps >= self.steps() {
            return;
        }
        self.starts.truncate(steps + 1);
        let end = self.starts.last().copied().unwrap_or(0);
        self.ids.truncate(end);
        self.xs.truncate(end);
        self.ys.truncate(end);
        self.headings.truncate(end);
        self.speeds.truncate(end);
        self.lane_positions.truncate(end);
        self.lanes.truncate(end);
        self.nexts.truncate(end);
    }

    /// Asks `next` what drivers mean to do next, in order of time, for all who are on a lane; what is known already stays.
    pub(crate) fn fill_next(
        &mut self,
        mut next: impl FnMut(VehicleId, LaneIx) -> Option<ConnectionIx>,
    ) {
        for i in 0..self.ids.len() {
            if self.lanes[i] == NONE {
                continue;
            }
            let next = next(VehicleId(self.ids[i]), LaneIx(self.lanes[i]));
            if self.nexts[i] == NONE {
                self.nexts[i] = next.map_or(NONE, |next| next.0);
            }
        }
    }

    /// Fills in what each driver meant to do next, where the source did not know it: from where the vehicle went.
    ///
    /// On a normal lane it is the connection of this lane to the edge that the vehicle is seen on next; none where it first
    /// changes to a lane that leads there, or where the recording ends or the vehicle leaves before it is seen elsewhere.
    /// On an internal lane it is the connection that the vehicle is on. To know the intentions of the last steps too,
    /// capture more steps than needed and [truncate](Self::truncate) afterwards.
    pub fn derive_next(&mut self, network: &Network) {
        // Which connection runs over an internal lane.
        let mut over: Vec<Option<ConnectionIx>> = vec![None; network.lanes.len()];
        for (i, connection) in (0u32..).zip(&network.connections) {
            for via in &connection.via {
                over[via.index()].get_or_insert(ConnectionIx(i));
            }
        }
        /// What is known of a vehicle's future, going back in time.
        #[derive(Clone, Copy)]
        struct Ahead {
            step: usize,
            lane: LaneIx,
            /// The first lane on another edge than `lane`'s.
            then: Option<LaneIx>,
        }
        let mut ahead: Vec<Option<Ahead>> = vec![None; self.bodies.len()];
        let edge = |lane: LaneIx| network.lanes[lane.index()].edge;
        for step in (0..self.steps()).rev() {
            for i in self.starts[step]..self.starts[step + 1] {
                let known = &mut ahead[self.ids[i] as usize];
                let lane = LaneIx(self.lanes[i]);
                if lane.index() >= network.lanes.len() {
                    *known = None;
                    continue;
                }
                let then = match known.filter(|k| k.step == step + 1) {
                    None => None,
                    Some(k) if edge(k.lane) != edge(lane) => Some(k.lane),
                    Some(k) => k.then,
                };
                *known = Some(Ahead { step, lane, then });
                if self.nexts[i] != NONE {
                    continue;
                }
                let here = &network.lanes[lane.index()];
                let next = if network.edges[here.edge.index()].kind == EdgeKind::Internal {
                    over[lane.index()]
                } else {
                    then.and_then(|then| {
                        // An internal lane tells the connection; another normal lane tells where it led.
                        let target = match over[then.index()] {
                            Some(c) => network.connections[c.index()].to,
                            None => then,
                        };
                        let leads = |c: &&ConnectionIx| {
                            edge(network.connections[c.index()].to) == edge(target)
                        };
                        let exact = |c: &&ConnectionIx| network.connections[c.index()].to == target;
                        let ways = || here.outgoing.iter();
                        ways().find(exact).or_else(|| ways().find(leads)).copied()
                    })
                };
                self.nexts[i] = next.map_or(NONE, |next| next.0);
            }
        }
    }
}

impl fmt::Debug for Recording {
    /// A summary: the arrays hold millions of numbers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("origin", &self.origin)
            .field("steps", &self.steps())
            .field("vehicles", &self.vehicles())
            .field("entries", &self.entries())
            .finish_non_exhaustive()
    }
}

/// A recording as a source.
#[derive(Debug, Clone)]
pub struct Replay<R> {
    recording: R,
    step: usize,
}

impl<R: Borrow<Recording>> Source for Replay<R> {
    type Error = Infallible;

    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, Infallible> {
        let more = self.recording.borrow().frame_into(self.step, frame);
        self.step += usize::from(more);
        Ok(more)
    }

    fn vehicle_name(&self, id: VehicleId) -> Option<&str> {
        self.recording.borrow().name(id)
    }

    fn vehicle_type(&self, id: VehicleId) -> Option<&str> {
        self.recording.borrow().vehicle_type(id)
    }
}
