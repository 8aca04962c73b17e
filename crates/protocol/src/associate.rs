//! Which object is which: perceived objects carry no identity that another station could know.
//!
//! A beacon names its sender. What somebody *sees* is a box at a place, and whose box that is must be found out: it is a
//! station whose beacons are heard, a body that somebody spoke of before, or something new. [`Association`] keeps a track of
//! each body and gives every entry of a report a label: the station's id, or a number of its own. Ids that came with the
//! entries are never looked at.
//!
//! An entry fits a track that, moved forward at constant velocity to the time of sensing, lies within a gate of it (an
//! ellipse along the direction of travel, as wide as the positions' errors make it), goes about as fast the same way, and has
//! about the same length. Of all fitting pairs the nearest is taken again and again, each track and each entry once: nothing
//! is seen twice in one look. Where positions have errors, all entries of a report share the error of the reporter's own
//! position: it is estimated as the median offset of a first assignment, taken out, and the assignment made anew.
//!
//! Guarantees: the outcome depends on the arguments alone, ties go to the lower label and then to the earlier entry; no more
//! than [`MOST_TRACKS`] tracks are kept, whatever is said.

mod around;
mod assignment;
mod sighted;

use alloc::vec::Vec;

use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::messages::{AgentState, ObjectState, Size};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

use around::{Around, Present, SLACK_M};
use assignment::Assignment;
pub(crate) use sighted::Sighted;

/// No more tracks than this are kept; what does not fit gets no label.
pub const MOST_TRACKS: usize = 8_192;

/// Own labels are the upper half of 16 bits, the width of an object's id in a CPM, from above.
const LABELS: u16 = 32_768;
/// Side of the cells of the index, in metres: nothing moves farther within the memory of tracks at road speeds.
const CELL_M: f64 = 50.0;
/// Nothing is moved forward by more seconds.
const MOST_S: f64 = 2.0;
/// Much more than rounding leaves open, in metres.
const ROUNDING_M: f64 = 1e-3;
/// Gate, in standard deviations.
const GATE: f64 = 3.0;
/// What prediction and sensing leave open where positions have no errors, in metres.
const LEAST_SPREAD_M: f64 = 0.6;
/// Changes of speed that constant velocity does not foresee, in m/s².
const ACCELERATION: f64 = 3.0;
/// What sensing leaves open of a velocity, in m/s.
const VELOCITY_SPREAD: f64 = 0.5;
/// Lengths of one body differ by no more than this, in metres.
const LENGTH_GATE_M: f64 = 2.5;
/// Weight of a new position in that of a track.
const NEWS: f64 = 0.5;

covey_parameters::choices! {
    /// How perceived objects are told apart.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Identities {
        /// By association of positions, as on the road.
        Associated = "associated",
        /// By the ids in messages, as if everybody knew everybody's.
        True = "true",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(Identities);

/// How well positions can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Accuracy {
    /// Standard deviation of stations' own positions, per axis, in metres; stations tell it in their messages.
    pub position_m: f64,
    /// Standard deviation of velocities that sensors tell, per axis, in m/s.
    pub velocity_m_per_s: f64,
    /// Lengths that messages tell are real ones.
    pub sizes: bool,
}

impl Accuracy {
    /// What is left open between an entry and a track whose positions have so much variance.
    fn spread(self, variance: f64) -> Spread {
        Spread {
            variance,
            velocity: self.velocity_spread(),
            sizes: self.sizes,
        }
    }

    /// What sensing leaves open of a velocity, in m/s.
    fn velocity_spread(self) -> f64 {
        let one = self.velocity_m_per_s;
        if one > 0.0 && one.is_finite() {
            libm::hypot(VELOCITY_SPREAD, 2.0 * one.min(20.0))
        } else {
            VELOCITY_SPREAD
        }
    }

    /// Variance between an entry and a track, per axis, in m², with the reporter's own error taken out.
    pub(crate) fn spread_m2(self) -> f64 {
        self.variances()[1]
    }

    /// Variance between an entry and a track: before the reporter's own error is taken out, and after.
    fn variances(self) -> [f64; 2] {
        let one = if self.position_m.is_finite() {
            self.position_m.clamp(0.0, 20.0)
        } else {
            0.0
        };
        let least = LEAST_SPREAD_M * LEAST_SPREAD_M;
        [least + 2.0 * one * one, least + 1.2 * one * one]
    }
}

/// What may lie between an entry and the track that it is one of.
#[derive(Debug, Clone, Copy)]
struct Spread {
    /// Of positions, per axis, in m².
    variance: f64,
    /// Of velocities, in m/s.
    velocity: f64,
    /// Lengths tell bodies apart.
    sizes: bool,
}

/// Something of which a place and a motion are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The centre of its body.
    pub position: Position,
    /// Its velocity, in m/s.
    pub velocity: [f64; 2],
    /// Its direction, as a unit vector, where known.
    pub direction: Option<[f64; 2]>,
    /// Its length in metres; 0 for unknown.
    pub length: f64,
    /// When it was there, and moved so.
    pub at: Instant,
}

impl Seen {
    /// From a beacon's state.
    #[must_use]
    pub fn of_agent(state: &AgentState, at: Instant) -> Self {
        let (sine, cosine) = libm::sincos(state.heading);
        let direction = [cosine, sine];
        Self {
            position: state.position,
            velocity: direction.map(|d| d * state.speed),
            direction: Some(direction),
            length: length(state.size),
            at,
        }
    }

    /// From what somebody saw.
    #[must_use]
    pub fn of_object(state: &ObjectState) -> Self {
        let velocity = [state.velocity.x, state.velocity.y];
        let speed = libm::hypot(velocity[0], velocity[1]);
        Self {
            position: state.position,
            velocity,
            direction: (speed >= 0.5).then(|| velocity.map(|v| v / speed)),
            length: length(state.size),
            at: state.sensed_at,
        }
    }

    /// Where it is at `at`, going on as it went.
    fn moved(&self, at: Instant) -> (Position, f64) {
        let seconds = at.since(self.at).seconds().clamp(-1.0, MOST_S);
        let position = Position::new(
            self.position.x + seconds * self.velocity[0],
            self.position.y + seconds * self.velocity[1],
        );
        (position, seconds)
    }

    /// How far an entry is off this one, in squared standard deviations; none beyond the gates.
    fn distance(&self, entry: &Seen, offset: [f64; 2], spread: Spread) -> Option<f64> {
        let Spread {
            variance,
            velocity,
            sizes,
        } = spread;
        let (here, seconds) = self.moved(entry.at);
        let off = [
            entry.position.x - offset[0] - here.x,
            entry.position.y - offset[1] - here.y,
        ];
        let drift = drift(seconds);
        let along_variance = variance + drift * drift;
        let squared = off[0] * off[0] + off[1] * off[1];
        // Not-a-number fails here too.
        let near = squared <= GATE * GATE * along_variance;
        if !near {
            return None;
        }
        let spread = self.squared_deviations(entry, off, [along_variance, variance]);
        let velocity = self.velocity_off(entry) / (velocity + ACCELERATION * seconds.abs());
        let lengths = self.length > 0.0 && entry.length > 0.0 && sizes;
        if spread > GATE * GATE
            || velocity > GATE
            || lengths && (self.length - entry.length).abs() > LENGTH_GATE_M
        {
            return None;
        }
        Some(spread + velocity * velocity)
    }

    /// How far an entry that is `off` by so much is off this one, in squared standard deviations, with variances along and across the way.
    fn squared_deviations(
        &self,
        entry: &Seen,
        off: [f64; 2],
        [along_m2, across_m2]: [f64; 2],
    ) -> f64 {
        match self.direction.or(entry.direction) {
            Some([c, s]) => {
                let along = off[0] * c + off[1] * s;
                let across = off[1] * c - off[0] * s;
                along * along / along_m2 + across * across / across_m2
            }
            None => (off[0] * off[0] + off[1] * off[1]) / along_m2,
        }
    }

    /// By how much an entry goes otherwise, in m/s.
    fn velocity_off(&self, entry: &Seen) -> f64 {
        libm::hypot(
            entry.velocity[0] - self.velocity[0],
            entry.velocity[1] - self.velocity[1],
        )
    }
}

/// How far changes of speed may have taken something within so many seconds, in metres.
fn drift(seconds: f64) -> f64 {
    0.5 * ACCELERATION * seconds * seconds
}

fn length(size: Size) -> f64 {
    if size.length.is_finite() {
        size.length
    } else {
        0.0
    }
}

/// A body that is kept track of.
#[derive(Debug, Clone, Copy)]
struct Track {
    label: ObjectId,
    seen: Seen,
    /// When its last beacon was made, if its label is a station's.
    announced_at: Option<Instant>,
}

/// Tracks of everything around, from beacons and from what others see.
#[derive(Debug, Clone, Default)]
pub struct Association {
    own: AgentId,
    accuracy: Accuracy,
    tracks: Vec<Track>,
    /// By track: the cell in which it was seen last.
    cells: Vec<[i32; 2]>,
    numbers: SortedMap<ObjectId, u32>,
    /// Where the station stands among them that spoke last.
    last: usize,
    next: u16,
    /// Room to use again.
    entries: Vec<Seen>,
    present: Present,
    around: Around,
    assignment: Assignment,
}

impl Association {
    /// No tracks yet, kept by agent `own`: labels that it gives are its own.
    #[must_use]
    pub fn new(own: AgentId, accuracy: Accuracy) -> Self {
        Self {
            own,
            accuracy,
            ..Self::default()
        }
    }

    /// How many tracks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tracks.len()
    }

    /// There are no tracks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// A station said where it is. Gives the label of a body that turns out to be this station, known until now only
    /// because others saw it: that track is gone.
    pub fn announce(
        &mut self,
        station: ObjectId,
        state: &AgentState,
        at: Instant,
    ) -> Option<ObjectId> {
        if !state.is_finite() {
            return None;
        }
        let known = self.numbers.get_near(&mut self.last, station).copied();
        if let Some(number) = known
            && let Some(announced_at) = self.tracks[number as usize].announced_at
        {
            if announced_at < at {
                self.present.forget();
                self.tracks[number as usize].announced_at = Some(at);
                self.put(number, Seen::of_agent(state, at));
            }
            return None;
        }
        self.present.forget();
        let seen = Seen::of_agent(state, at);
        let mut retired = None;
        // The first word of a station: it may have been seen before.
        let [apart, _] = self.accuracy.variances();
        let spread = self.accuracy.spread(apart);
        let mut best: Option<(f64, ObjectId)> = None;
        let here = cell(seen.position);
        for (track, there) in self.tracks.iter().zip(&self.cells) {
            let beside = |axis: usize| here[axis].abs_diff(there[axis]) <= 1;
            if track.announced_at.is_none()
                && beside(0)
                && beside(1)
                && let Some(cost) = track.seen.distance(&seen, [0.0, 0.0], spread)
                && best.is_none_or(|(least, label)| {
                    cost < least || cost <= least && track.label < label
                })
            {
                best = Some((cost, track.label));
            }
        }
        if let Some((_, label)) = best {
            self.remove(label);
            retired = Some(label);
        }
        self.add(station, seen, Some(at));
        retired
    }

    /// Labels of what `sender` saw in one look, one for each entry: none where an entry is unusable, or fits nothing and
    /// `create` is false.
    pub fn label(
        &mut self,
        sender: Option<ObjectId>,
        objects: &[ObjectState],
        create: bool,
    ) -> Vec<Option<ObjectId>> {
        let mut entries = core::mem::take(&mut self.entries);
        entries.clear();
        let usable = objects.iter().filter(|object| object.is_finite());
        entries.extend(usable.map(Seen::of_object));
        let not = sender.and_then(|id| self.numbers.get(id).copied());
        let mut around = core::mem::take(&mut self.around);
        let mut present = core::mem::take(&mut self.present);
        let mut assignment = core::mem::take(&mut self.assignment);
        around.find(self, &mut present, not, &entries, SLACK_M);
        let mut spotted = around.spotted(self);
        assignment.pair_up(&spotted, &entries, |entry| around.of(entry));
        if let Some(offset) = assignment.begin(&spotted, &entries, self.accuracy) {
            // What is nearer than that was tried already.
            if !offset.iter().all(|off| off.abs() <= SLACK_M) {
                around.find(self, &mut present, not, &entries, f64::INFINITY);
                spotted = around.spotted(self);
                assignment.pair_up(&spotted, &entries, |entry| around.of(entry));
            }
            assignment.finish(&spotted, &entries, self.accuracy, offset);
        }
        self.present = present;
        let mut labels = alloc::vec![None; objects.len()];
        let usable = objects.iter().zip(&mut labels);
        let usable = usable.filter_map(|(object, label)| object.is_finite().then_some(label));
        for ((label, entry), found) in usable.zip(&entries).zip(&assignment.track_of) {
            *label = match *found {
                Some(spot) => {
                    let number = around.track(spot);
                    self.update(number, entry);
                    Some(self.tracks[number as usize].label)
                }
                None if create => self.new_label().inspect(|&label| {
                    self.add(label, *entry, None);
                }),
                None => None,
            };
        }
        (self.assignment, self.around, self.entries) = (assignment, around, entries);
        labels
    }

    /// Forgets what was neither heard nor seen for `memory`.
    pub fn forget(&mut self, now: Instant, memory: Duration) {
        let old: Vec<ObjectId> = self
            .tracks
            .iter()
            .filter(|track| now.since(track.seen.at) > memory)
            .map(|track| track.label)
            .collect();
        for label in old {
            self.remove(label);
        }
    }

    /// Takes a look at a track into account.
    fn update(&mut self, number: u32, entry: &Seen) {
        let track = &self.tracks[number as usize];
        if entry.at <= track.seen.at {
            return;
        }
        // A station knows better where it is, as long as it can be heard.
        let fresh = Duration::from_millis(500);
        if track
            .announced_at
            .is_some_and(|at| entry.at.since(at) <= fresh)
        {
            return;
        }
        let (here, _) = track.seen.moved(entry.at);
        let mixed = Seen {
            position: Position::new(
                here.x + NEWS * (entry.position.x - here.x),
                here.y + NEWS * (entry.position.y - here.y),
            ),
            direction: entry.direction.or(track.seen.direction),
            ..*entry
        };
        self.put(number, mixed);
    }

    fn new_label(&mut self) -> Option<ObjectId> {
        if self.tracks.len() >= MOST_TRACKS {
            return None;
        }
        loop {
            // More labels than tracks: some are free.
            let label = ObjectId::perceived(self.own, u16::MAX - self.next % LABELS);
            self.next = self.next.wrapping_add(1);
            if self.numbers.get(label).is_none() {
                return Some(label);
            }
        }
    }

    fn add(&mut self, label: ObjectId, seen: Seen, announced_at: Option<Instant>) {
        if self.tracks.len() >= MOST_TRACKS {
            return;
        }
        let [apart, _] = self.accuracy.variances();
        self.present.put(self.tracks.len(), &seen, apart);
        self.numbers.insert(label, self.tracks.len() as u32);
        self.cells.push(cell(seen.position));
        self.tracks.push(Track {
            label,
            seen,
            announced_at,
        });
    }

    fn put(&mut self, number: u32, seen: Seen) {
        let [apart, _] = self.accuracy.variances();
        self.present.put(number as usize, &seen, apart);
        self.cells[number as usize] = cell(seen.position);
        self.tracks[number as usize].seen = seen;
    }

    /// Lets go of a body.
    pub(crate) fn drop(&mut self, label: ObjectId) {
        self.remove(label);
    }

    fn remove(&mut self, label: ObjectId) {
        let Some(number) = self.numbers.remove(label) else {
            return;
        };
        self.present.forget();
        self.cells.swap_remove(number as usize);
        self.tracks.swap_remove(number as usize);
        if let Some(moved) = self.tracks.get(number as usize) {
            // The last track has its place now.
            self.numbers.insert(moved.label, number);
        }
    }
}

fn cell(position: Position) -> [i32; 2] {
    // The floor; casting saturates.
    let place = |v: f64| {
        let along = v / CELL_M;
        let cut = along as i32;
        cut.saturating_sub(i32::from(f64::from(cut) > along))
    };
    [place(position.x), place(position.y)]
}

#[cfg(test)]
mod tests;
