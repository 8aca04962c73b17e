//! Sender-side arms: everyone reports by the generation rules of TS 103 324, with or without the redundancy mitigation of
//! TR 103 562.
//!
//! An object is due if it was not included before, moved more than 4 m, changed its speed by more than 0.5 m/s or its heading
//! by more than 4 degrees since it was, or was not included for 1 s. Once a second the message carries sensor information,
//! with objects or without.
//!
//! Mitigation leaves an object out if its own beacon was decoded within the last second, or another's report of it was (one
//! is enough), or the last report of it is within 4 m and 0.5 m/s of its present state. What is left is cut to the 32 that
//! were longest not reported by anyone.

use crate::awareness::{BeaconHistory, Matrix, Stamp, Told};
use crate::prepared::STEP_S;
use crate::shared::Shared;

const MOVED_M: f64 = 4.0;
const SPEED_M_PER_S: f64 = 0.5;
const HEADING_RAD: f64 = 4.0 / 180.0 * std::f64::consts::PI;
const MOST_OBJECTS: usize = 32;
/// By utility a message has room for 10 objects (506 bytes), and takes none below this utility.
const MOST_USEFUL: usize = 10;
const LEAST_UTILITY: f64 = 1.0;
/// Longest time between two inclusions, between two messages with sensor information, and for which others count.
const WINDOW_S: f64 = 1.0;

/// The senders' memory.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    mitigation: bool,
    /// Objects are chosen by utility under a size limit.
    utility: bool,
    /// When each sender last included each object, by object and sender.
    pub(crate) included: Matrix<Stamp>,
    ranked: Vec<(Stamp, u32)>,
}

impl Senders {
    /// Senders with or without redundancy mitigation.
    pub(crate) fn new(mitigation: bool) -> Self {
        Self {
            mitigation,
            ..Self::default()
        }
    }

    /// Senders that choose objects by utility under a size limit.
    pub(crate) fn by_utility() -> Self {
        Self {
            utility: true,
            ..Self::default()
        }
    }

    /// What `sender` reports in this step: objects into `out`, and whether sensor information is due. None where there is
    /// nothing to say.
    pub(crate) fn compose(
        &mut self,
        shared: &Shared<'_>,
        sender: u32,
        reported: &Told,
        heard: &BeaconHistory,
        lane: usize,
        out: &mut Vec<u32>,
    ) -> Option<bool> {
        out.clear();
        self.ranked.clear();
        let window = (WINDOW_S / STEP_S) as u32;
        let sensed = shared.sensed_step;
        let recent = |stamp: Stamp| stamp > 0 && sensed < shared.step_of(stamp) + window;
        for &object in shared.seen.of(sender) {
            let last = self.included.at(object, sender);
            if recent(last) && !changed(shared, object, shared.step_of(last), true) {
                continue;
            }
            if !self.mitigation {
                self.ranked.push((last, object));
                continue;
            }
            if recent(heard.at(object, sender, lane)) {
                continue;
            }
            let by_others = reported.at(object, sender);
            let known = recent(by_others)
                || by_others > 0
                    && remembered(shared, by_others)
                    && !changed(shared, object, shared.step_of(by_others), false);
            if !known {
                self.ranked.push((last.max(by_others), object));
            }
        }
        if self.utility {
            self.keep_most_useful(shared, sender, heard, lane);
        }
        if self.mitigation && self.ranked.len() > MOST_OBJECTS {
            self.ranked
                .sort_unstable_by_key(|&(stamp, object)| (stamp, shared.slots.id(object)));
            self.ranked.truncate(MOST_OBJECTS);
        }
        let stamp = shared.stamp(sensed);
        for &(_, object) in &self.ranked {
            self.included.row_mut(object)[sender as usize] = stamp;
            out.push(object);
        }
        let cycles = (WINDOW_S / STEP_S) as u64 / u64::from(shared.prepared.timeline.cycle);
        let cycle = u64::from(shared.step / shared.prepared.timeline.cycle);
        let sensor =
            (cycle.wrapping_add(shared.agent(sender).mixed() >> 8)).is_multiple_of(cycles.max(1));
        (sensor || !out.is_empty()).then_some(sensor)
    }
}

impl Senders {
    /// Leaves the objects of the highest utility, as many as fit into a message, and none of little utility.
    ///
    /// The utility is what changed since the object was last included, in units of the generation rules (4 m, 0.5 m/s, 4
    /// degrees, 1 s), each at most 1, so that whatever is due has at least 1; an object never included has the highest. What
    /// announced itself within a second is worth half.
    fn keep_most_useful(
        &mut self,
        shared: &Shared<'_>,
        sender: u32,
        heard: &BeaconHistory,
        lane: usize,
    ) {
        let sensed = shared.sensed_step;
        let window = (WINDOW_S / STEP_S) as u32;
        let mut rated: Vec<(u64, u32)> = Vec::with_capacity(self.ranked.len());
        for &(_, object) in &self.ranked {
            let last = self.included.at(object, sender);
            let utility = if last == 0 || !remembered(shared, last) {
                4.0
            } else {
                let step = shared.step_of(last);
                let (now, then) = (
                    &shared.moment(object, sensed).state,
                    &shared.moment(object, step).state,
                );
                let moved = (now.position.distance(then.position) / MOVED_M).min(1.0);
                let faster = ((now.speed - then.speed).abs() / SPEED_M_PER_S).min(1.0);
                let turned = (turn(now.heading, then.heading) / HEADING_RAD).min(1.0);
                let waited = (f64::from(sensed - step) * STEP_S / WINDOW_S).min(1.0);
                moved + faster + turned + waited
            };
            let announced = heard.at(object, sender, lane);
            let known = announced > 0 && sensed < shared.step_of(announced) + window;
            let utility = if known { 0.5 * utility } else { utility };
            if utility >= LEAST_UTILITY {
                rated.push(((utility * 1e6) as u64, object));
            }
        }
        rated.sort_unstable_by_key(|&(utility, object)| {
            (std::cmp::Reverse(utility), shared.slots.id(object))
        });
        rated.truncate(MOST_USEFUL);
        self.ranked.clear();
        self.ranked.extend(rated.iter().map(|&(_, o)| (0, o)));
    }
}

/// Its state at that time is still at hand.
fn remembered(shared: &Shared<'_>, stamp: Stamp) -> bool {
    shared.step - shared.step_of(stamp) < crate::shared::RING as u32
}

/// The object's state at the newest sensing differs from that at step `then`.
fn changed(shared: &Shared<'_>, object: u32, then: u32, heading: bool) -> bool {
    let now = &shared.moment(object, shared.sensed_step).state;
    let then = &shared.moment(object, then).state;
    now.position.distance(then.position) > MOVED_M
        || (now.speed - then.speed).abs() > SPEED_M_PER_S
        || heading && has_turned(now.heading, then.heading)
}

/// The angle between two headings is more than [`HEADING_RAD`].
fn has_turned(a: f64, b: f64) -> bool {
    // Far enough below the limit no rounding matters.
    (a - b).abs() > 0.99 * HEADING_RAD && turn(a, b) > HEADING_RAD
}

/// The angle between two headings, in radians.
fn turn(a: f64, b: f64) -> f64 {
    (a - b).sin().atan2((a - b).cos()).abs()
}
