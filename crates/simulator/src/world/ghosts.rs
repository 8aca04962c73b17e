//! What sensors see that is not there.
//!
//! A ghost appears at a look, at a distance drawn uniformly from the sensor's range and in a direction drawn uniformly from what it faces,
//! goes on as its observer went at that time, as a reflection does, and is gone after `sensing.ghost_life_s`. Each is one
//! observer's own.

use covey_draws::{Draws, Purpose};
use covey_protocol::messages::{Confidence, ObjectState, Size};
use covey_protocol::{Instant, ObjectId, Position};
use covey_world::paths::{Relevance, RelevantPairs};
use covey_world::sight::Sensor;
use covey_world::{Body, Frame, Point, VehicleId, VehicleState};

use super::road::Road;
use super::stamps::Time;
use crate::ids::{FrameIndex, Slot, Step};
use crate::prepared::{Prepared, STEP_S};

/// Ghosts have these numbers as objects: no vehicle has, and no station.
const FIRST: u64 = 0xC000_0000;
/// So many numbers there are, before the first is used again.
const NUMBERS: u32 = 1 << 28;

/// A ghost, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GhostId(u32);

impl GhostId {
    /// The ghost that is called so, if it is one.
    pub(crate) fn of(object: ObjectId) -> Option<Self> {
        let number = object.0.checked_sub(FIRST)?;
        let number = u32::try_from(number).ok()?;
        (number < NUMBERS).then_some(Self(number))
    }

    fn object(self) -> ObjectId {
        ObjectId(FIRST + u64::from(self.0))
    }
}

/// Something that one observer sees and that is not there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ghost {
    pub(crate) id: GhostId,
    pub(crate) observer: Slot,
    born: Step,
    /// The first step at which it is not seen any more.
    until: Step,
    /// As it was when it appeared.
    first: ObjectState,
    /// Where it goes, in the map's frame.
    heading: f64,
}

impl Ghost {
    /// Its observer sees it if it looks at `step`.
    pub(crate) fn is_seen(&self, step: Step) -> bool {
        (self.born..self.until).contains(&step)
    }

    /// Where it is at `step`.
    fn at(&self, step: Step) -> ObjectState {
        let seconds = f64::from(step.since(self.born)) * STEP_S;
        let Position { x, y } = self.first.position;
        let velocity = self.first.velocity;
        ObjectState {
            position: Position::new(x + seconds * velocity.x, y + seconds * velocity.y),
            sensed_at: Time::instant(step),
            ..self.first
        }
    }

    /// As a vehicle of a frame at `step`.
    pub(crate) fn body(&self, prepared: &Prepared, step: Step) -> VehicleState {
        let state = self.at(step);
        let Position { x, y } = state.position;
        let position = prepared.grid.to_map(Point::new(x, y));
        let body = Body::CAR;
        let matcher = &prepared.carried.matcher;
        let lane = matcher.match_lane(position, self.heading);
        VehicleState {
            id: VehicleId(u32::MAX - self.id.0),
            position,
            heading: self.heading,
            speed: state.velocity.speed(),
            body,
            lane: lane.map(|(lane, _)| lane),
            lane_position: lane.map_or(0.0, |(_, at)| at + body.length / 2.0),
            next: None,
        }
    }
}

/// A ghost that would matter to a vehicle if it were there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RelevantGhost {
    pub(crate) ghost: Ghost,
    /// Where the vehicle stands in the frame.
    pub(crate) vehicle: FrameIndex,
    pub(crate) deadline_us: i64,
}

/// All ghosts that anybody may still believe in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ghosts {
    /// By observer, then age.
    all: Vec<Ghost>,
    born: u32,
}

impl Ghosts {
    /// Those of places that were left are gone.
    pub(super) fn forget(&mut self, left: &[Slot]) {
        if !self.all.is_empty() {
            self.all.retain(|ghost| !left.contains(&ghost.observer));
        }
    }

    /// Participants look at `step`: ghosts appear to some of them, and those that nobody remembers are let go.
    pub(super) fn look(&mut self, prepared: &Prepared, seed: u64, road: &Road, step: Step) {
        let sensing = &prepared.scenario.sensing;
        if sensing.ghosts_per_s <= 0.0 {
            return;
        }
        let timeline = &prepared.timeline;
        let remembered = timeline.soft_state + sensing.latency_steps() + timeline.beacon;
        self.all
            .retain(|ghost| ghost.until.after(remembered) > step);
        let chance = sensing.ghosts_per_s * f64::from(timeline.beacon) * STEP_S;
        let draws = |class| Draws::new(seed, Purpose::Ghost, class, u64::from(step.0));
        let [appears, distance, direction] = [0, 1, 2].map(draws);
        let life = (sensing.ghost_life_s / STEP_S).round().max(1.0) as u32;
        for &slot in road.participants() {
            let id = road.id(slot);
            if appears.at(id, 0).uniform() >= chance {
                continue;
            }
            let sensor = road.sensor(prepared, slot);
            let range = sensor.map_or(sensing.range_m, |own| own.range);
            let off = range * distance.at(id, 0).uniform();
            let bearing = bearing(sensor, direction.at(id, 0).uniform());
            let own = &road.moment(slot, step).state;
            let (sin, cos) = (own.heading + bearing).sin_cos();
            let Position { x, y } = own.position;
            let number = GhostId(self.born % NUMBERS);
            self.born = self.born.wrapping_add(1);
            self.all.push(Ghost {
                id: number,
                observer: slot,
                born: step,
                until: step.after(life),
                first: ObjectState {
                    id: number.object(),
                    position: Position::new(x + off * cos, y + off * sin),
                    velocity: own.velocity(),
                    size: Size {
                        length: Body::CAR.length,
                        width: Body::CAR.width,
                        height: Body::CAR.height,
                    },
                    sensed_at: Instant::ZERO,
                    confidence: Confidence::FULL,
                },
                heading: road.vehicle(slot).heading,
            });
        }
        self.all
            .sort_by_key(|ghost| (ghost.observer, ghost.born, ghost.id));
    }

    /// What an observer saw at `step` that was not there.
    pub(crate) fn seen_by(
        &self,
        observer: Slot,
        step: Step,
    ) -> impl Iterator<Item = ObjectState> + '_ {
        let first = self.all.partition_point(|ghost| ghost.observer < observer);
        let own = self.all[first..].iter();
        own.take_while(move |ghost| ghost.observer == observer)
            .filter(move |ghost| ghost.is_seen(step))
            .map(move |ghost| ghost.at(step))
    }

    /// Which of them would be relevant to whom, by the rule for objects that are there.
    pub(super) fn find_relevant(
        &self,
        prepared: &Prepared,
        frame: &Frame,
        step: Step,
        rule: &mut Relevance,
        found: &mut Vec<RelevantGhost>,
    ) {
        let there = frame.vehicles.len();
        let mut frame = frame.clone();
        let bodies = self.all.iter().map(|ghost| ghost.body(prepared, step));
        frame.vehicles.extend(bodies);
        let mut pairs = RelevantPairs::new();
        rule.step(&frame, &mut pairs);
        for (vehicle, relevant) in pairs.iter() {
            let number = (relevant.object as usize).checked_sub(there);
            if let Some(number) = number.filter(|_| (vehicle as usize) < there) {
                found.push(RelevantGhost {
                    ghost: self.all[number],
                    vehicle: FrameIndex(vehicle),
                    deadline_us: relevant.deadline_us,
                });
            }
        }
    }

    /// All that anybody may believe in, whether they are still seen or not.
    pub(super) fn all(&self) -> &[Ghost] {
        &self.all
    }
}

/// The direction, from straight ahead, that a number from 0 to 1 stands for among those that a sensor faces.
fn bearing(sensor: Option<&Sensor>, unit: f64) -> f64 {
    let sectors = sensor.map_or(&[][..], |own| &own.sectors);
    let width = |&[from, to]: &[f64; 2]| (to - from).rem_euclid(std::f64::consts::TAU);
    let all: f64 = sectors.iter().map(width).sum();
    if all <= 0.0 {
        return unit * std::f64::consts::TAU;
    }
    let mut left = unit * all;
    for sector in sectors {
        if left <= width(sector) {
            return sector[0] + left;
        }
        left -= width(sector);
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ghosts_are_where_the_sensor_looks() {
        let sensor = Sensor {
            range: 100.0,
            height: covey_world::sight::SensorHeight::AboveRoof(0.1),
            sectors: vec![[-0.5, 0.5], [3.0, 3.5]],
        };
        for k in 0..100 {
            let at = bearing(Some(&sensor), f64::from(k) / 99.0);
            let faced = (-0.5..=0.5).contains(&at) || (3.0..=3.5 + 1e-9).contains(&at);
            assert!(faced, "{k}: {at}");
        }
        assert!((bearing(None, 0.25) - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    }

    #[test]
    fn numbers_of_ghosts_are_nobody_elses() {
        assert_eq!(GhostId::of(GhostId(7).object()), Some(GhostId(7)));
        assert_eq!(GhostId::of(ObjectId(7)), None);
        assert_eq!(GhostId::of(ObjectId(u64::from(u32::MAX) + 1)), None);
        assert_eq!(
            GhostId::of(ObjectId::perceived(covey_protocol::AgentId(1), 2)),
            None
        );
    }
}
