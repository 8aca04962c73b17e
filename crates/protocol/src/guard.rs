//! What may be believed of what others say: rules over messages, places and times, with the numbers of [`crate::parameters::Guard`].
//!
//! A rule here is a function of a message and of what one knows without it. Participants ask them at their door, hosts and the host
//! rule where they look; whoever keeps what was heard in another shape asks the same ones. Whoever is cooperative never meets one.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::grid::{Position, Tile};
use crate::ids::AgentId;
use crate::messages::{Beacon, Broadcast, Message, Report};
use crate::parameters::Parameters;
use crate::role::Input;
use crate::time::{Duration, Instant};

/// The rules with their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    soft_state: Duration,
    ahead: Duration,
    tile_m: f64,
    reach_m: f64,
    fastest_m_per_s: f64,
    margin_m: f64,
}

/// A place at a time, as a station told it.
pub type Whereabouts = (Position, Instant);

impl Rules {
    /// The rules with the numbers of `parameters`.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let guard = &parameters.guard;
        Self {
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            ahead: Duration::from_seconds(guard.ahead_s),
            tile_m: parameters.tile_m,
            reach_m: guard.reach_m,
            fastest_m_per_s: guard.fastest_m_per_s,
            margin_m: guard.margin_m,
        }
    }

    /// What was said at `at` and is heard at `now` is neither from the future nor older than the soft-state time.
    #[must_use]
    pub fn is_fresh(&self, now: Instant, at: Instant) -> bool {
        at <= now && now.since(at) <= self.soft_state
    }

    /// Somebody at `there` can be heard at `own`, where that is known.
    #[must_use]
    pub fn is_in_reach(&self, own: Option<Position>, there: Position) -> bool {
        // Not-a-number fails here, too.
        own.is_none_or(|own| own.distance(there) <= self.reach_m)
    }

    /// One station can have been at both places at these times.
    #[must_use]
    pub fn is_one_way(&self, a: Whereabouts, b: Whereabouts) -> bool {
        let seconds = b.1.since(a.1).seconds().abs();
        a.0.distance(b.0) <= self.margin_m + self.fastest_m_per_s * seconds
    }

    /// A beacon can be of a station that was `last` heard of there, and be heard at `own`.
    #[must_use]
    pub fn is_beacon(
        &self,
        own: Option<Position>,
        last: Option<Whereabouts>,
        beacon: &Beacon,
    ) -> bool {
        let here = (beacon.state.position, beacon.at);
        beacon.state.is_finite()
            && self.is_in_reach(own, here.0)
            && last.is_none_or(|last| self.is_one_way(last, here))
    }

    /// A broadcast can be of a host in its tile that is heard at `own` and whose newest `beacon` is this, if any was heard.
    #[must_use]
    pub fn is_host(
        &self,
        now: Instant,
        own: Option<Position>,
        beacon: Option<Whereabouts>,
        broadcast: &Broadcast,
    ) -> bool {
        let here = (broadcast.position, broadcast.at);
        here.0.is_finite()
            && self.is_fresh(now, here.1)
            && self.is_in_reach(own, here.0)
            && self.is_inside(here.0, broadcast.tile)
            && beacon.is_none_or(|beacon| self.is_one_way(beacon, here))
    }

    /// In the tile, or so little beside it that rounding may have put it there.
    fn is_inside(&self, Position { x, y }: Position, tile: Tile) -> bool {
        const ROUNDING_M: f64 = 0.5;
        let centre = tile.centre(self.tile_m);
        let half = 0.5 * self.tile_m + ROUNDING_M;
        (x - centre.x).abs() <= half && (y - centre.y).abs() <= half
    }
}

/// Who goes where there is no room for one more: of those heard only once or twice the longest unheard, else the farthest.
///
/// Kept in step with whoever keeps the stations, so that an input costs no more the more of them there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exits {
    /// Everyone heard only once or twice, by when that was last.
    names: BTreeSet<(Instant, AgentId)>,
    /// Stations by distance, the nearest first, as they were when somebody last looked.
    far: Vec<(f64, AgentId)>,
}

impl Exits {
    /// A station was a name last heard at `was`, or none, and is one of `is`, or none.
    pub(crate) fn note(&mut self, id: AgentId, was: Option<Instant>, is: Option<Instant>) {
        if was == is {
            return;
        }
        if let Some(at) = was {
            self.names.remove(&(at, id));
        }
        if let Some(at) = is {
            self.names.insert((at, id));
        }
    }

    /// Takes the name that was not heard for longest.
    pub(crate) fn take_name(&mut self) -> Option<AgentId> {
        self.names.pop_first().map(|(_, id)| id)
    }

    /// Takes the farthest, if it is farther off than `off_m`. `all` tells of everybody with their distances, and is asked only where
    /// nobody has looked since distances changed; `stays` says who is still there.
    pub(crate) fn take_farthest<I: Iterator<Item = (f64, AgentId)>>(
        &mut self,
        off_m: f64,
        all: impl FnOnce() -> I,
        stays: impl Fn(AgentId) -> bool,
    ) -> Option<AgentId> {
        while self.far.pop_if(|&mut (_, id)| !stays(id)).is_some() {}
        if self.far.is_empty() {
            self.far.extend(all());
            self.far
                .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let gone = self.far.pop_if(|&mut (off, _)| off > off_m);
        gone.map(|(_, id)| id)
    }

    /// Distances are others now.
    pub(crate) fn look_again(&mut self) {
        self.far.clear();
    }

    /// Nobody is there any more.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.far.clear();
    }
}

/// How often something was passed over or let go, by what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Refusals {
    /// Messages from too far ahead of the own clock.
    pub ahead: u64,
    /// Messages older than the soft-state time.
    pub old: u64,
    /// Messages that were heard before.
    pub repeated: u64,
    /// Beacons from out of reach, or of a station that cannot be where it says.
    pub places: u64,
    /// Broadcasts of hosts that cannot be one.
    pub hosts: u64,
    /// Stations let go for want of room, or not taken in.
    pub stations: u64,
    /// Objects, hosts, sayings, requests and senders ahead let go for want of room, and messages not all of whose objects were looked at.
    pub others: u64,
    /// Jumps of the own clock.
    pub jumps: u64,
}

/// Lets messages in at the times that they count from.
///
/// A message that is heard before it was said comes from a clock that is ahead: all its times are moved back by as much. What its
/// sender said is remembered by its own times, so that nothing counts twice.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    ahead: Duration,
    soft_state: Duration,
    most: usize,
    /// Senders ahead of the own clock: the newest time that each told with a kind of message, by (sender, kind).
    future: Vec<((AgentId, u8), Instant)>,
}

/// A message that may be let in.
pub(crate) enum Entry<'a> {
    /// As it came.
    Plain(Input<'a>),
    /// With its times moved back.
    Moved(Message),
    /// Passed over.
    Refused,
}

impl Door {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            ahead: Duration::from_seconds(parameters.guard.ahead_s),
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            most: parameters.guard.future as usize,
            future: Vec::new(),
        }
    }

    /// Forgets those ahead.
    pub(crate) fn clear(&mut self) {
        self.future.clear();
    }

    /// What is let in of `input` at `now`; all but messages is.
    pub(crate) fn admit<'a>(
        &mut self,
        now: Instant,
        input: Input<'a>,
        refusals: &mut Refusals,
    ) -> Entry<'a> {
        let (sender, kind, at) = match input {
            Input::Beacon(beacon) => (beacon.sender, 0, beacon.at),
            Input::Report(report) => (report.sender, 1, report.at),
            Input::Broadcast(broadcast) => (broadcast.host, 2, broadcast.at),
            _ => return Entry::Plain(input),
        };
        let early = at.since(now);
        if now.since(at) > self.soft_state {
            refusals.old += 1;
            return Entry::Refused;
        }
        if early > self.ahead {
            refusals.ahead += 1;
            return Entry::Refused;
        }
        if early <= Duration::ZERO && self.future.is_empty() {
            return Entry::Plain(input);
        }
        if !self.is_news(now, (sender, kind), at, refusals) {
            refusals.repeated += 1;
            return Entry::Refused;
        }
        if early <= Duration::ZERO {
            return Entry::Plain(input);
        }
        match input {
            Input::Beacon(beacon) => Entry::Moved(Message::Beacon(Beacon {
                at: now,
                ..beacon.clone()
            })),
            Input::Report(report) => Entry::Moved(Message::Report(earlier_report(report, early))),
            Input::Broadcast(broadcast) => {
                Entry::Moved(Message::Broadcast(earlier_broadcast(broadcast, early)))
            }
            _ => Entry::Plain(input),
        }
    }

    /// Nothing as new was heard of a sender that is ahead, or was of late; remembers it where it is ahead.
    fn is_news(
        &mut self,
        now: Instant,
        key: (AgentId, u8),
        at: Instant,
        refusals: &mut Refusals,
    ) -> bool {
        let soft_state = self.soft_state;
        let found = self.future.binary_search_by_key(&key, |&(key, _)| key);
        if let Ok(place) = found {
            let newest = &mut self.future[place].1;
            if at <= *newest {
                return false;
            }
            *newest = at;
            return true;
        }
        if at <= now {
            return true;
        }
        if self.future.len() >= self.most {
            self.future.retain(|&(_, at)| now.since(at) <= soft_state);
            if self.future.len() >= self.most {
                let oldest = self
                    .future
                    .iter()
                    .enumerate()
                    .min_by_key(|(_, (_, at))| *at);
                if let Some((place, _)) = oldest {
                    self.future.remove(place);
                    refusals.others += 1;
                }
            }
        }
        let found = self.future.binary_search_by_key(&key, |&(key, _)| key);
        self.future
            .insert(found.unwrap_or_else(|place| place), (key, at));
        true
    }
}

fn earlier_report(report: &Report, early: Duration) -> Report {
    let mut report = report.clone();
    report.at = report.at - early;
    for object in &mut report.objects {
        object.sensed_at = object.sensed_at - early;
    }
    report
}

fn earlier_broadcast(broadcast: &Broadcast, early: Duration) -> Broadcast {
    let mut broadcast = broadcast.clone();
    broadcast.at = broadcast.at - early;
    broadcast.cycle_start = broadcast.cycle_start - early;
    broadcast.unchanged_since = broadcast.unchanged_since - early;
    for object in &mut broadcast.objects {
        object.sensed_at = object.sensed_at - early;
    }
    broadcast
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::AgentState;

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    fn beacon(sender: u64, millis: i64, x: f64) -> Beacon {
        Beacon {
            sender: AgentId(sender),
            at: at(millis),
            state: AgentState {
                position: Position::new(x, 0.0),
                ..AgentState::default()
            },
            digest: None,
            low_frequency: false,
        }
    }

    /// When a beacon that is heard at `now` counts from, if it is let in.
    fn let_in(door: &mut Door, now: i64, said: &Beacon) -> Option<Instant> {
        match door.admit(at(now), Input::Beacon(said), &mut Refusals::default()) {
            Entry::Plain(_) => Some(said.at),
            Entry::Moved(Message::Beacon(moved)) => Some(moved.at),
            _ => None,
        }
    }

    #[test]
    fn who_is_ahead_is_heard_now_and_once() {
        let door = &mut Door::new(&Parameters::default());
        assert_eq!(let_in(door, 1_000, &beacon(1, 1_000, 0.0)), Some(at(1_000)));
        assert_eq!(let_in(door, 1_000, &beacon(2, 1_050, 0.0)), Some(at(1_000)));
        assert_eq!(let_in(door, 1_000, &beacon(3, 1_051, 0.0)), None);
        // The same again, before and after its time has come; then the next one.
        for now in [1_000, 1_020, 1_049, 1_060, 1_500] {
            assert_eq!(let_in(door, now, &beacon(2, 1_050, 0.0)), None, "{now}");
        }
        assert_eq!(let_in(door, 1_100, &beacon(2, 1_150, 0.0)), Some(at(1_100)));
        // Old ones never.
        assert_eq!(let_in(door, 3_000, &beacon(1, 2_000, 0.0)), Some(at(2_000)));
        assert_eq!(let_in(door, 3_000, &beacon(1, 1_999, 0.0)), None);
    }

    #[test]
    fn those_ahead_are_remembered_up_to_a_number() {
        let door = &mut Door::new(&Parameters::default());
        let mut refusals = Refusals::default();
        for sender in 0..10_000 {
            let said = beacon(sender, 1_030, 0.0);
            door.admit(at(1_000), Input::Beacon(&said), &mut refusals);
            assert!(door.future.len() <= 256);
        }
        assert_eq!(refusals.others, 10_000 - 256);
    }

    #[test]
    fn nobody_jumps_and_nobody_is_heard_from_afar() {
        let rules = Rules::new(&Parameters::default());
        let last = Some((Position::new(0.0, 0.0), at(0)));
        let own = Some(Position::new(0.0, 0.0));
        let can_be = |x, millis| rules.is_beacon(own, last, &beacon(1, millis, x));
        assert!(can_be(59.0, 100) && !can_be(61.0, 100));
        assert!(can_be(149.0, 1_000) && !can_be(151.0, 1_000));
        // One that comes late is from before.
        assert!(can_be(59.0, -100) && !can_be(61.0, -100));
        assert!(!can_be(f64::NAN, 100));
        let stranger = |x| rules.is_beacon(own, None, &beacon(1, 0, x));
        assert!(stranger(1_500.0) && !stranger(1_501.0));
        assert!(rules.is_beacon(None, None, &beacon(1, 0, 9e9)));
    }

    #[test]
    fn who_was_ahead_longest_ago_is_forgotten_first() {
        let mut parameters = Parameters::default();
        parameters.guard.future = 2;
        let door = &mut Door::new(&parameters);
        let mut refusals = Refusals::default();
        let mut hear = |now: i64, sender, said| {
            let beacon = beacon(sender, said, 0.0);
            let entry = door.admit(at(now), Input::Beacon(&beacon), &mut refusals);
            (!matches!(entry, Entry::Refused), refusals.others)
        };
        assert_eq!(hear(1_000, 7, 1_020), (true, 0));
        assert_eq!(hear(1_000, 5, 1_010), (true, 0));
        assert_eq!(hear(1_000, 9, 1_030), (true, 1), "5 is forgotten");
        assert_eq!(hear(1_001, 7, 1_020), (false, 1));
        assert_eq!(hear(1_001, 9, 1_030), (false, 1));
        // After a soft-state time there is room for others without anybody being let go.
        assert_eq!(hear(2_031, 4, 2_040), (true, 1));
        assert_eq!(hear(2_031, 3, 2_041), (true, 1));
        assert_eq!(hear(2_031, 4, 2_040), (false, 1));
        door.clear();
        assert_eq!(let_in(door, 2_031, &beacon(4, 2_040, 0.0)), Some(at(2_031)));
    }

    #[test]
    fn kinds_of_messages_are_told_apart() {
        let door = &mut Door::new(&Parameters::default());
        let mut refusals = Refusals::default();
        let report = Report {
            sender: AgentId(2),
            at: at(1_020),
            objects: Vec::new(),
            sensor_information: false,
        };
        assert!(let_in(door, 1_000, &beacon(2, 1_030, 0.0)).is_some());
        let entry = door.admit(at(1_000), Input::Report(&report), &mut refusals);
        let moved = match entry {
            Entry::Moved(Message::Report(report)) => Some(report.at),
            _ => None,
        };
        assert_eq!(moved, Some(at(1_000)));
        // Somebody whose clock is right is not held against those ahead.
        assert_eq!(let_in(door, 1_000, &beacon(3, 990, 0.0)), Some(at(990)));
        assert_eq!(let_in(door, 1_000, &beacon(3, 990, 0.0)), Some(at(990)));
        assert_eq!(refusals, Refusals::default());
    }

    #[test]
    fn all_times_of_a_word_from_ahead_are_moved_by_as_much() {
        use crate::messages::{Confidence, Content, ObjectState, Size};
        let object = ObjectState {
            id: crate::ObjectId(70),
            position: Position::default(),
            velocity: crate::Velocity::default(),
            size: Size::default(),
            sensed_at: at(1_010),
            confidence: Confidence::FULL,
        };
        let said = Broadcast {
            host: AgentId(9),
            tile: Tile::new(0, 0),
            at: at(1_040),
            position: Position::default(),
            sequence: 0,
            epoch: 0,
            tenure: Duration::from_millis(500),
            price: 0.0,
            cycle_start: at(1_000),
            contributors: Vec::new(),
            lease: Duration::from_millis(600),
            content: Content::AllVisible,
            requested: Vec::new(),
            full: true,
            objects: std::vec![object],
            withdrawn: Vec::new(),
            unchanged_since: at(1_020),
        };
        let moved = earlier_broadcast(&said, Duration::from_millis(40));
        assert_eq!(moved.at, at(1_000));
        assert_eq!(moved.cycle_start, at(960));
        assert_eq!(moved.unchanged_since, at(980));
        assert_eq!(moved.objects[0].sensed_at, at(970));
        assert_eq!((moved.tenure, moved.lease), (said.tenure, said.lease));
    }

    #[test]
    fn names_go_by_when_they_were_heard_and_stations_by_how_far_off_they_are() {
        let mut exits = Exits::default();
        exits.note(AgentId(1), None, Some(at(30)));
        exits.note(AgentId(2), None, Some(at(10)));
        exits.note(AgentId(3), None, Some(at(20)));
        // 2 is heard again, 3 often enough to be a station.
        exits.note(AgentId(2), Some(at(10)), Some(at(40)));
        exits.note(AgentId(3), Some(at(20)), None);
        exits.note(AgentId(1), Some(at(30)), Some(at(30)));
        assert_eq!(exits.take_name(), Some(AgentId(1)));
        assert_eq!(exits.take_name(), Some(AgentId(2)));
        assert_eq!(exits.take_name(), None);
        let all = |offs: &[(f64, u64)]| {
            let offs: Vec<_> = offs.iter().map(|&(off, id)| (off, AgentId(id))).collect();
            move || offs.into_iter()
        };
        let anybody = |_| true;
        let first = all(&[(50.0, 4), (90.0, 5), (90.0, 6), (70.0, 7)]);
        // As far off is not farther; of two as far off the higher id goes.
        assert_eq!(exits.take_farthest(90.0, first.clone(), anybody), None);
        assert_eq!(exits.take_farthest(80.0, first, anybody), Some(AgentId(6)));
        // Until distances change nobody is asked again; who has gone meanwhile is passed over.
        let second = all(&[(99.0, 8)]);
        let gone = |id| id != AgentId(5);
        assert_eq!(
            exits.take_farthest(60.0, second.clone(), gone),
            Some(AgentId(7))
        );
        exits.look_again();
        assert_eq!(exits.take_farthest(60.0, second, gone), Some(AgentId(8)));
        exits.note(AgentId(1), None, Some(at(30)));
        exits.clear();
        assert_eq!(exits.take_name(), None);
        assert_eq!(exits.take_farthest(0.0, all(&[]), anybody), None);
    }
}
