//! Who is who for the length of one judgement.

use alloc::vec::Vec;

use super::assignment::Assignment;
use super::{Accuracy, CELL_M, GATE, MOST_S, ROUNDING_M, Seen, drift};
use crate::grid::Position;
use crate::ids::ObjectId;
use crate::messages::ObjectState;
use crate::time::Instant;

/// Bodies that are told apart for the length of one judgement, by one who keeps no tracks from look to look.
///
/// They are sorted by where they are at the moment of the judgement, so that an entry is compared only with those that can be
/// it: what lies within a gate when it was seen has moved by no more than its speed allows since then.
#[derive(Debug, Clone)]
pub(crate) struct Sighted {
    accuracy: Accuracy,
    now: Instant,
    labels: Vec<ObjectId>,
    seen: Vec<Seen>,
    /// Places at `now`, ascending along the `axis` from the first look on.
    spots: Vec<Spot>,
    sorted: bool,
    axis: usize,
    /// Those too fast to be looked up by place.
    wild: Vec<u32>,
    /// Of the bodies in `spots`: the highest speed in m/s, and when the first and the last was seen.
    fastest: f64,
    times: Option<[Instant; 2]>,
    /// Room to use again.
    entries: Vec<Seen>,
    near: Vec<u32>,
    begin: Vec<u32>,
    assignment: Assignment,
}

/// Where a body is at the moment of the judgement.
#[derive(Debug, Clone, Copy)]
struct Spot {
    place: [f64; 2],
    velocity: [f64; 2],
    number: u32,
}

/// How far off an entry a body may be that it fits, in metres: at the moment of the judgement, and when the entry was seen; and the
/// seconds in between, where all bodies went on as they went.
#[derive(Debug, Clone, Copy)]
struct Reach {
    at: Instant,
    now_m: f64,
    then_m: f64,
    since_s: Option<f64>,
}

/// Nothing on a road is faster, in m/s.
const WILD: f64 = 80.0;

impl Sighted {
    /// Bodies that are told apart at `now`.
    pub(crate) fn new(
        accuracy: Accuracy,
        now: Instant,
        bodies: impl IntoIterator<Item = (ObjectId, Seen)>,
    ) -> Self {
        let mut sighted = Self {
            accuracy,
            now,
            labels: Vec::new(),
            seen: Vec::new(),
            spots: Vec::new(),
            sorted: false,
            axis: 0,
            wild: Vec::new(),
            fastest: 0.0,
            times: None,
            entries: Vec::new(),
            near: Vec::new(),
            begin: Vec::new(),
            assignment: Assignment::default(),
        };
        for (label, seen) in bodies {
            sighted.add(label, seen);
        }
        sighted
    }

    /// One body more.
    pub(crate) fn add(&mut self, label: ObjectId, seen: Seen) {
        let number = self.seen.len() as u32;
        self.labels.push(label);
        self.seen.push(seen);
        let [x, y] = seen.velocity;
        let speed = libm::sqrt(x * x + y * y);
        let (here, _) = seen.moved(self.now);
        // Whatever is nowhere, or moves in no way, is nothing that anybody sees.
        if !(here.is_finite() && speed.is_finite()) {
            return;
        }
        if speed > WILD {
            self.wild.push(number);
            return;
        }
        self.fastest = self.fastest.max(speed);
        let [first, last] = self.times.unwrap_or([seen.at; 2]);
        self.times = Some([first.min(seen.at), last.max(seen.at)]);
        let spot = Spot {
            place: [here.x, here.y],
            velocity: seen.velocity,
            number,
        };
        let at = match self.sorted {
            // Numbers ascend, so it comes after all others at its place.
            true => {
                let (axis, along) = (self.axis, spot.place[self.axis]);
                self.spots
                    .partition_point(|other| other.place[axis] <= along)
            }
            false => self.spots.len(),
        };
        self.spots.insert(at, spot);
    }

    /// Which bodies the entries of one look are, none for none of them; the looker itself is not among them.
    pub(crate) fn recognise(
        &mut self,
        looker: Option<ObjectId>,
        objects: &[ObjectState],
    ) -> Vec<Option<ObjectId>> {
        if !self.sorted {
            self.sort();
        }
        let mut near = core::mem::take(&mut self.near);
        let mut begin = core::mem::take(&mut self.begin);
        let mut entries = core::mem::take(&mut self.entries);
        entries.clear();
        entries.extend(objects.iter().map(Seen::of_object));
        near.clear();
        begin.clear();
        begin.push(0);
        // Mostly all of a look were seen at one time.
        let mut reach: Option<Reach> = None;
        for entry in &entries {
            let reach = match &mut reach {
                Some(reach) if reach.at == entry.at => *reach,
                reach => *reach.insert(self.reach(entry)),
            };
            self.find_near(looker, entry, reach, &mut near);
            begin.push(near.len() as u32);
        }
        let assignment = &mut self.assignment;
        assignment.find(&self.seen, &entries, self.accuracy, |entry| {
            &near[begin[entry] as usize..begin[entry + 1] as usize]
        });
        (self.near, self.begin, self.entries) = (near, begin, entries);
        let label = |track: &Option<u32>| track.map(|track| self.labels[track as usize]);
        assignment.track_of.iter().map(label).collect()
    }

    /// How far off the bodies that they are taken for the entries of the last look were, in metres, with the offset of the look taken out;
    /// 0 for those that are none.
    pub(crate) fn off_m(&self) -> impl Iterator<Item = f64> {
        self.assignment.off_m()
    }

    /// Sorts all bodies along the axis over which they are spread the most.
    fn sort(&mut self) {
        let spread = |axis: usize| {
            let along = self.spots.iter().map(|spot| spot.place[axis]);
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
                (low.min(at), high.max(at))
            });
            high - low
        };
        let axis = usize::from(spread(1) > spread(0));
        self.spots.sort_unstable_by(|a, b| {
            let order = a.place[axis].total_cmp(&b.place[axis]);
            order.then(a.number.cmp(&b.number))
        });
        self.axis = axis;
        self.sorted = true;
    }

    /// No body that is farther off an entry fits it.
    fn reach(&self, entry: &Seen) -> Reach {
        let since = self.now.since(entry.at).seconds();
        let Some([first, last]) = self.times else {
            return Reach {
                at: entry.at,
                now_m: 0.0,
                then_m: 0.0,
                since_s: None,
            };
        };
        let seconds = |at: Instant| entry.at.since(at).seconds().clamp(-1.0, MOST_S).abs();
        let [apart, aligned] = self.accuracy.variances();
        let most = drift(seconds(first).max(seconds(last)));
        let gate = |variance: f64| GATE * libm::sqrt(variance + most * most);
        // The offset of a report is a median of offsets within the first gate, axis by axis.
        let gates = match aligned < apart {
            true => gate(aligned) + 1.5 * gate(apart),
            false => gate(apart),
        };
        // Nothing is moved by more or less than the time that has passed.
        let whole = |to: Instant| [first, last].map(|from| to.since(from).seconds());
        let steady = [whole(self.now), whole(entry.at)];
        let steady = steady
            .as_flattened()
            .iter()
            .all(|s| (-1.0..=2.0).contains(s));
        Reach {
            at: entry.at,
            now_m: gates + self.fastest * since.abs() + ROUNDING_M,
            then_m: gates + ROUNDING_M,
            since_s: steady.then_some(since),
        }
    }

    /// Appends the bodies that may be an entry of `looker`, ascending.
    fn find_near(&self, looker: Option<ObjectId>, entry: &Seen, reach: Reach, near: &mut Vec<u32>) {
        let Position { x, y } = entry.position;
        let beside = |number: u32| {
            let there = self.seen[number as usize].position;
            there.x <= x + CELL_M
                && there.x >= x - CELL_M
                && (there.y - y).abs() <= CELL_M
                && Some(self.labels[number as usize]) != looker
        };
        let some = near.len();
        let [at, off] = match self.axis {
            0 => [x, y],
            _ => [y, x],
        };
        let (low, high) = (at - reach.now_m, at + reach.now_m);
        // Where it was when the entry was seen.
        let was_near = |spot: &Spot| {
            reach.since_s.is_none_or(|since_s| {
                let [px, py] = spot.place;
                let [vx, vy] = spot.velocity;
                (px - vx * since_s - x).abs() <= reach.then_m
                    && (py - vy * since_s - y).abs() <= reach.then_m
            })
        };
        let (along, across) = (self.axis, 1 - self.axis);
        let from = self.spots.partition_point(|spot| spot.place[along] < low);
        let strip = self.spots[from..].iter();
        for spot in strip.take_while(|spot| spot.place[along] <= high) {
            let there = (spot.place[across] - off).abs() <= reach.now_m;
            if there && was_near(spot) && beside(spot.number) {
                near.push(spot.number);
            }
        }
        near.extend(self.wild.iter().copied().filter(|&number| beside(number)));
        near[some..].sort_unstable();
    }
}
