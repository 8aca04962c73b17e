//! Sender-side arms: everyone reports by the generation rules of TS 103 324, with or without the redundancy mitigation of
//! TR 103 562.
//!
//! Every `senders.interval_s` a sender looks which objects are due, by the rules that contributors follow, too
//! ([`covey_protocol::inclusion`]). Once a second the message carries sensor information, with objects or without.
//!
//! Mitigation leaves an object out if its own beacon was decoded within the last second, or another's report of it was (one
//! is enough), or the last report of it is within 4 m and 0.5 m/s of its present state. What is left is cut to the 32 that
//! were longest not reported by anyone.

use covey_protocol::inclusion::{FASTER_M_PER_S, Inclusion, MOVED_M, Motion, TURNED_RAD, turn};
use covey_protocol::messages::ObjectState;

use super::reports::SentReports;
use super::{Stack, Turn};
use crate::channel::{BeaconHistory, Class, Speaker, Told, sensor_information_is_due};
use crate::ids::{Lane, Slot, Step};
use crate::prepared::{Prepared, RING, STEP_S};
use crate::sensing::Whereabouts;
use crate::world::{PairStamps, Stamp, Time, World, rebase};

const MOST_OBJECTS: usize = 32;
/// By utility a message has room for 10 objects (506 bytes), and takes none below this utility.
const MOST_USEFUL: usize = 10;
const LEAST_UTILITY: f64 = 1.0;
/// For how long what others told counts.
const WINDOW_S: f64 = 1.0;

/// What a sender leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SenderRules {
    /// Nothing that the generation rules want.
    Generation,
    /// What others have told, by redundancy mitigation.
    Mitigation,
    /// What is of little use, and what passes a size limit.
    Utility,
}

/// The senders' memory.
#[derive(Debug)]
pub(crate) struct Senders {
    rules: SenderRules,
    /// When each sender last included each object, by object and sender.
    included: PairStamps,
    ranked: Vec<(Stamp, Slot)>,
    /// States of those, where sensors err.
    states: Vec<ObjectState>,
    reports: SentReports,
    /// Sensors err, so that senders go by what they saw, and have to find out who is who.
    imperfect: bool,
    /// What each sender included of late, as it saw it, by place; where sensors err.
    histories: Vec<Inclusion>,
}

/// What a sender has heard of others.
#[derive(Clone, Copy)]
struct Others<'a> {
    reported: &'a Told,
    beacons: &'a BeaconHistory,
    lane: Lane,
}

impl Stack for Senders {
    fn rebase(&mut self) {
        self.included.each(rebase);
    }

    fn begin(&mut self, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        let (road, now) = (&world.road, world.time.stamp(world.step()));
        self.included.grow(road.size());
        if self.imperfect {
            self.histories.resize_with(road.size(), Inclusion::default);
        }
        for &slot in road.left() {
            self.included.clear(slot, now);
            if self.imperfect {
                self.histories[slot.index()] = Inclusion::default();
            }
        }
    }

    fn report(&mut self, turn: &mut Turn<'_>) {
        let (world, clock) = (turn.stage.world, turn.stage.clock);
        let mut reports = std::mem::take(&mut self.reports);
        reports.clear(world);
        let thinning = Class::Report.thinning(world);
        for &slot in world.road.participants() {
            if !clock.checks(world, slot) {
                continue;
            }
            let told = self.compose_any(turn, slot);
            let own = world.road.outfit(world.prepared, slot).sender;
            let sensors = own.sensors() > 0 && sensor_information_is_due(world, slot);
            if sensors || !told.0.is_empty() || !told.1.is_empty() {
                reports.send(turn, &thinning, slot, told, sensors);
            }
        }
        self.reports = reports;
    }

    fn tell_reports(&self, turn: &mut Turn<'_>) {
        self.reports.tell(turn);
    }

    fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        self.reports.deliver(turn, carried);
    }

    fn arrive(&mut self, turn: &mut Turn<'_>) {
        self.reports.arrive(turn);
    }

    fn wait(&mut self, turn: &mut Turn<'_>) {
        self.reports.wait(turn);
    }
}

impl Senders {
    /// Senders that follow these rules.
    pub(crate) fn new(rules: SenderRules, prepared: &Prepared) -> Self {
        Self {
            rules,
            included: PairStamps::default(),
            ranked: Vec::new(),
            states: Vec::new(),
            reports: SentReports::every(prepared.timeline.senders),
            imperfect: !prepared.scenario.sensing.is_exact(),
            histories: Vec::new(),
        }
    }

    /// The objects that `sender` reports in this step, and what it sees that is not there.
    pub(super) fn compose_any(
        &mut self,
        turn: &Turn<'_>,
        sender: Slot,
    ) -> (Vec<Slot>, Vec<ObjectState>) {
        let world = turn.stage.world;
        let others = Others {
            reported: turn.told,
            beacons: &turn.beacons.heard,
            lane: turn.lane,
        };
        if self.imperfect {
            self.compose_imperfect(world, sender, others)
        } else {
            (self.compose(world, sender, others), Vec::new())
        }
    }

    /// The objects that `sender` reports in this step.
    fn compose(&mut self, world: &World<'_>, sender: Slot, others: Others<'_>) -> Vec<Slot> {
        self.ranked.clear();
        let window = (WINDOW_S / STEP_S) as u32;
        let sensed = world.sights.step;
        let recent = |stamp: Stamp| stamp > 0 && sensed < world.time.step_of(stamp).after(window);
        for &object in world.sights.seen.of(sender) {
            let last = self.included.at(object, sender);
            if recent(last) && !changed(world, object, world.time.step_of(last), true) {
                continue;
            }
            if self.rules != SenderRules::Mitigation {
                self.ranked.push((last, object));
                continue;
            }
            if recent(others.beacons.at(object, sender, others.lane)) {
                continue;
            }
            let by_others = others.reported.at(object, sender);
            let known = recent(by_others)
                || by_others > 0
                    && remembered(world, by_others)
                    && !changed(world, object, world.time.step_of(by_others), false);
            if !known {
                self.ranked.push((last.max(by_others), object));
            }
        }
        if self.rules == SenderRules::Utility {
            self.keep_most_useful(world, sender, others);
        }
        if self.rules == SenderRules::Mitigation && self.ranked.len() > MOST_OBJECTS {
            self.ranked
                .sort_unstable_by_key(|&(stamp, object)| (stamp, world.road.id(object)));
            self.ranked.truncate(MOST_OBJECTS);
        }
        let stamp = world.time.stamp(sensed);
        let mut objects = Vec::with_capacity(self.ranked.len());
        for &(_, object) in &self.ranked {
            self.included.set(object, sender, stamp);
            objects.push(object);
        }
        objects
    }

    /// The same where sensors err: of what `sender` sees, by what it saw; and what it sees that is not there.
    ///
    /// A sender knows again what it saw before, but what others tell of, or who beacons, it must recognise by place.
    fn compose_imperfect(
        &mut self,
        world: &World<'_>,
        sender: Slot,
        others: Others<'_>,
    ) -> (Vec<Slot>, Vec<ObjectState>) {
        self.ranked.clear();
        let now = Time::instant(world.sights.step);
        let history = &self.histories[sender.index()];
        let mut states = std::mem::take(&mut self.states);
        states.clear();
        for (object, state) in world.seen_as(sender) {
            if !history.is_due(now, &state) {
                continue;
            }
            let others_told = match self.rules {
                SenderRules::Mitigation => {
                    match told_by_others(world, sender, object, &state, others) {
                        None => continue,
                        Some(stamp) => stamp,
                    }
                }
                SenderRules::Generation | SenderRules::Utility => 0,
            };
            self.ranked.push((others_told, object));
            states.push(state);
        }
        let ghosts = world.ghosts.seen_by(sender, world.sights.step);
        let ghosts: Vec<ObjectState> = ghosts.filter(|state| history.is_due(now, state)).collect();
        match self.rules {
            SenderRules::Utility => self.keep_most_useful(world, sender, others),
            SenderRules::Mitigation if self.ranked.len() > MOST_OBJECTS => {
                for (stamp, object) in &mut self.ranked {
                    *stamp = self.included.at(*object, sender).max(*stamp);
                }
                self.ranked
                    .sort_unstable_by_key(|&(stamp, object)| (stamp, world.road.id(object)));
                self.ranked.truncate(MOST_OBJECTS);
            }
            SenderRules::Mitigation | SenderRules::Generation => {}
        }
        let objects: Vec<Slot> = self.ranked.iter().map(|&(_, object)| object).collect();
        // Where nothing is cut nobody asks for it.
        if self.rules != SenderRules::Generation {
            let stamp = world.time.stamp(world.sights.step);
            for &object in &objects {
                self.included.set(object, sender, stamp);
            }
        }
        // Mostly nothing was cut.
        if objects.len() < states.len() {
            let numbers: Vec<u64> = objects
                .iter()
                .map(|&o| u64::from(world.road.id(o)))
                .collect();
            states.retain(|state| numbers.contains(&state.id.0));
        }
        states.extend_from_slice(&ghosts);
        self.histories[sender.index()].note(now, &states);
        self.states = states;
        (objects, ghosts)
    }

    /// Leaves the objects of the highest utility, as many as fit into a message, and none of little utility.
    ///
    /// The utility is what changed since the object was last included, in units of the generation rules (4 m, 0.5 m/s, 4
    /// degrees, 1 s), each at most 1, so that whatever is due has at least 1; an object never included has the highest. What
    /// announced itself within a second is worth half.
    fn keep_most_useful(&mut self, world: &World<'_>, sender: Slot, others: Others<'_>) {
        let sensed = world.sights.step;
        let window = (WINDOW_S / STEP_S) as u32;
        let mut rated: Vec<(u64, Slot)> = Vec::with_capacity(self.ranked.len());
        for &(_, object) in &self.ranked {
            let last = self.included.at(object, sender);
            let utility = if last == 0 || !remembered(world, last) {
                4.0
            } else {
                let step = world.time.step_of(last);
                let motion = |step| match self.imperfect {
                    true => Motion::from(&world.perceived_at(sender, object, step)),
                    false => Motion::from(&world.road.moment(object, step).state),
                };
                let (now, then) = (motion(sensed), motion(step));
                let moved = (now.position.distance(then.position) / MOVED_M).min(1.0);
                let faster = ((now.speed - then.speed).abs() / FASTER_M_PER_S).min(1.0);
                let turned = (turn(now.heading, then.heading) / TURNED_RAD).min(1.0);
                let waited = (f64::from(sensed.since(step)) * STEP_S / WINDOW_S).min(1.0);
                moved + faster + turned + waited
            };
            let announced = others.beacons.at(object, sender, others.lane);
            let known = announced > 0 && sensed < world.time.step_of(announced).after(window);
            let utility = if known { 0.5 * utility } else { utility };
            if utility >= LEAST_UTILITY {
                rated.push(((utility * 1e6) as u64, object));
            }
        }
        rated.sort_unstable_by_key(|&(utility, object)| {
            (std::cmp::Reverse(utility), world.road.id(object))
        });
        rated.truncate(MOST_USEFUL);
        self.ranked.clear();
        self.ranked.extend(rated.iter().map(|&(_, o)| (0, o)));
    }
}

/// When somebody else last told of an object that `sender` sees as `own`, as far as it recognises it, 0 for never; none where
/// mitigation leaves the object out.
fn told_by_others(
    world: &World<'_>,
    sender: Slot,
    object: Slot,
    own: &ObjectState,
    others: Others<'_>,
) -> Option<Stamp> {
    let window = (WINDOW_S / STEP_S) as u32;
    let sensed = world.sights.step;
    let recent = |stamp: Stamp| stamp > 0 && sensed < world.time.step_of(stamp).after(window);
    let announced = others.beacons.at(object, sender, others.lane);
    if recent(announced) {
        let told = world.announced(object, world.time.step_of(announced));
        if recognises(world, own, Whereabouts::from(&told)) {
            return None;
        }
    }
    let Some((stamp, Speaker::Reporter(by), _)) = others.reported.newest(object, sender, 0) else {
        return Some(0);
    };
    if !remembered(world, stamp) {
        return Some(0);
    }
    let told = world.whereabouts(by, object, world.time.step_of(stamp));
    if !recognises(world, own, told) {
        return Some(0);
    }
    // Nobody asks where they head.
    let motion = |state: Whereabouts| Motion {
        position: state.position,
        speed: state.velocity.speed(),
        heading: 0.0,
    };
    let told_of = || recent(stamp) || !motion(own.into()).has_moved_since(&motion(told));
    (!told_of()).then_some(stamp)
}

/// Whoever sees an object as `own` takes what was told of it to be of the same.
pub(super) fn recognises(world: &World<'_>, own: &ObjectState, told: Whereabouts) -> bool {
    let heading = || own.velocity.y.atan2(own.velocity.x);
    let there = told.later(own.sensed_at);
    let gate = world.prepared.gate;
    gate.is_none_or(|gate| gate.holds(own.position, heading, there))
}

/// Its state at that time is still at hand.
fn remembered(world: &World<'_>, stamp: Stamp) -> bool {
    world.step().since(world.time.step_of(stamp)) < RING as u32
}

/// The object's state at the newest sensing differs from that at step `then`.
fn changed(world: &World<'_>, object: Slot, then: Step, heading: bool) -> bool {
    let motion = |step: Step| Motion::from(&world.road.moment(object, step).state);
    let (now, then) = (motion(world.sights.step), motion(then));
    match heading {
        true => now.has_changed_since(&then),
        false => now.has_moved_since(&then),
    }
}
