//! The listener: what a participant knows, from whatever source, at most one soft-state time old.
//!
//! States of the same object from several sources are told apart by time of sensing (newest wins), then by confidence, then
//! by a fixed order of sources (own senses, the object itself, reporters, hosts; lower id first). The outcome does not
//! depend on the order of arrival, and late or repeated messages change nothing.
//!
//! Nothing from the future is kept, and no more than so many objects and hosts: the oldest is let go first. What is too old is
//! found by its age, so that an input costs no more the more is known.

use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::ids::{AgentId, ObjectId};
use crate::messages::{Broadcast, ObjectState};
use crate::parameters::Parameters;
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// How a state was learned. Ordered as ties are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LearnedFrom {
    /// The own sensors saw it.
    Sensing,
    /// A beacon of the object itself.
    Beacon,
    /// A report heard directly.
    Report(AgentId),
    /// An entry in the broadcast of this host.
    Broadcast(AgentId),
}

/// What is known of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Its newest state, whatever source that came from.
    pub state: ObjectState,
    /// How it was learned.
    pub source: LearnedFrom,
}

/// Keeps what is known.
#[derive(Debug, Clone)]
pub struct Listener {
    own: AgentId,
    soft_state: Duration,
    silence_refreshes: bool,
    limits: Limits,
    now: Instant,
    known: BTreeMap<ObjectId, Known>,
    /// Every object that is known, by when it was sensed or earlier, the oldest on top.
    ages: BinaryHeap<Reverse<(Instant, ObjectId)>>,
    hosts: SortedMap<AgentId, Followed>,
    /// Objects and hosts let go for want of room.
    crowded_out: u64,
    events: VecDeque<Event>,
    wake_told: Option<Instant>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    objects: usize,
    message_objects: usize,
    hosts: usize,
}

/// A host lists no more objects than this: thrice as many as fit into its messages.
const MOST_LISTED: usize = 1_024;
/// Events that nobody asks for are forgotten, the oldest first.
const MOST_EVENTS: usize = 16_384;

/// A host whose broadcasts are followed from one to the next.
#[derive(Debug, Clone)]
struct Followed {
    /// Of the newest broadcast.
    at: Instant,
    sequence: u32,
    /// Objects listed in an unbroken sequence of broadcasts up to that one, and not withdrawn.
    listed: SortedMap<ObjectId, ObjectState>,
}

impl Listener {
    /// A listener on agent `own`, which knows nothing yet.
    #[must_use]
    pub fn new(parameters: &Parameters, own: AgentId) -> Self {
        Self {
            own,
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            silence_refreshes: parameters.silence_refreshes,
            limits: Limits {
                objects: parameters.guard.objects as usize,
                message_objects: parameters.guard.message_objects as usize,
                hosts: parameters.guard.hosts as usize,
            },
            now: Instant::from_micros(i64::MIN),
            known: BTreeMap::new(),
            ages: BinaryHeap::new(),
            hosts: SortedMap::default(),
            crowded_out: 0,
            events: VecDeque::new(),
            wake_told: None,
        }
    }

    /// Takes in what happened at `now`. Own sensing, beacons, reports and broadcasts matter; ticks let old states go.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        match input {
            Input::Sensed { objects, .. } => {
                for state in objects {
                    self.learn(state, LearnedFrom::Sensing);
                }
            }
            Input::Beacon(beacon) if beacon.state.size.is_body() => {
                self.learn(&ObjectState::of_sender(beacon), LearnedFrom::Beacon);
            }
            Input::Report(report) => {
                for state in report.objects.iter().take(self.limits.message_objects) {
                    self.learn(state, LearnedFrom::Report(report.sender));
                }
            }
            Input::Broadcast(broadcast) if broadcast.host != self.own => self.follow(broadcast),
            _ => {}
        }
        self.expire();
    }

    /// Forgets all that is known and goes on from `now`, which may be earlier than before.
    pub fn restart(&mut self, now: Instant) {
        self.now = now;
        self.ages.clear();
        self.hosts.clear();
        let forgotten = core::mem::take(&mut self.known);
        self.events
            .extend(forgotten.into_keys().map(Event::Expired));
    }

    /// The agent is called `own` from now on. What it saw itself went by its old name, and is seen anew; all else stays known.
    pub fn rename(&mut self, own: AgentId) {
        let before = core::mem::replace(&mut self.own, own);
        let tracks = ObjectId::perceived(before, 0)..=ObjectId::perceived(before, u16::MAX);
        let forgotten: Vec<ObjectId> = self.known.range(tracks).map(|(&id, _)| id).collect();
        for id in forgotten.into_iter().chain([own.into()]) {
            if self.known.remove(&id).is_some() {
                self.note(Event::Expired(id));
            }
        }
    }

    /// Objects and hosts that were let go for want of room.
    #[must_use]
    pub fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// What became known, or is known no longer.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(event) = self.poll_event() {
            return Some(Output::Event(event));
        }
        let oldest = self.known.values().map(|k| k.state.sensed_at).min()?;
        // A state is still good at the very end of its time.
        let wake = oldest + self.soft_state + Duration::from_micros(1);
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// What is known of `object`.
    #[must_use]
    pub fn known(&self, object: ObjectId) -> Option<&Known> {
        self.known.get(&object)
    }

    /// All that is known, by ascending object id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Known> {
        self.known.values()
    }

    /// The age of what is known of `object`, at the last input.
    #[must_use]
    pub fn age(&self, object: ObjectId) -> Option<Duration> {
        self.known
            .get(&object)
            .map(|known| self.now.since(known.state.sensed_at))
    }

    fn learn(&mut self, state: &ObjectState, source: LearnedFrom) {
        // Oneself is no object to oneself; the future cannot have been sensed.
        if state.id == self.own.into() || !state.is_finite() || state.sensed_at > self.now {
            return;
        }
        if self.now.since(state.sensed_at) > self.soft_state {
            return;
        }
        let offered = Known {
            state: *state,
            source,
        };
        if let Some(held) = self.known.get_mut(&state.id) {
            if rank(&offered) > rank(held) {
                *held = offered;
            }
            return;
        }
        if self.known.len() >= self.limits.objects {
            self.let_go_of_oldest();
        }
        self.known.insert(state.id, offered);
        self.ages.push(Reverse((state.sensed_at, state.id)));
        self.note(Event::Appeared(state.id));
    }

    fn note(&mut self, event: Event) {
        if self.events.len() >= MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    fn follow(&mut self, broadcast: &Broadcast) {
        if broadcast.at > self.now {
            return;
        }
        let source = LearnedFrom::Broadcast(broadcast.host);
        let objects = &broadcast.objects;
        let objects = &objects[..objects.len().min(self.limits.message_objects)];
        let (now, soft_state) = (self.now, self.soft_state);
        let recent = |at: Instant| now.since(at) <= soft_state;
        self.hosts.retain(|_, host| recent(host.at));
        if !recent(broadcast.at) {
            return;
        }
        if self.hosts.get(broadcast.host).is_none() && self.hosts.len() >= self.limits.hosts {
            let longest = self.hosts.iter().min_by_key(|(_, host)| host.at);
            if let Some((id, _)) = longest {
                self.hosts.remove(id);
                self.crowded_out += 1;
            }
        }
        let (host, new) = self.hosts.get_or_insert_with(broadcast.host, || Followed {
            at: broadcast.at,
            sequence: broadcast.sequence,
            listed: SortedMap::default(),
        });
        if !new && broadcast.at <= host.at {
            // Late or repeated: its states may still be news, but it says nothing about silence.
            for state in objects {
                self.learn(state, source);
            }
            return;
        }
        let unbroken = !new && broadcast.sequence == host.sequence.wrapping_add(1);
        if broadcast.full || !unbroken {
            host.listed.clear();
        }
        host.at = broadcast.at;
        host.sequence = broadcast.sequence;
        for object in &broadcast.withdrawn {
            host.listed.remove(*object);
        }
        for state in objects {
            host.listed.remove(state.id);
        }
        let mut refreshed = SortedMap::default();
        if self.silence_refreshes {
            // Nobody holds anything as sensed later than it speaks.
            let unchanged_since = broadcast.unchanged_since.min(broadcast.at);
            for (_, state) in host.listed.iter_mut() {
                state.sensed_at = state.sensed_at.max(unchanged_since);
            }
            refreshed = host.listed.clone();
        }
        for state in objects {
            if host.listed.len() < MOST_LISTED {
                host.listed.insert(state.id, *state);
            }
        }
        for (_, state) in refreshed.iter() {
            self.learn(state, source);
        }
        for state in objects {
            self.learn(state, source);
        }
    }

    /// Lets go of what is too old.
    fn expire(&mut self) {
        let (now, soft_state) = (self.now, self.soft_state);
        let old = |at: Instant| now.since(at) > soft_state;
        while self.ages.peek().is_some_and(|oldest| old(oldest.0.0)) {
            self.pass_oldest(|_, at| old(at));
        }
    }

    /// Lets go of the object that was sensed first.
    fn let_go_of_oldest(&mut self) {
        let before = self.known.len();
        while self.known.len() == before && !self.ages.is_empty() {
            self.pass_oldest(|noted, at| at <= noted);
        }
        self.crowded_out += 1;
    }

    /// Takes the top of `ages`: the object is forgotten if it `goes` by when it was noted and sensed last, and put back otherwise.
    fn pass_oldest(&mut self, goes: impl Fn(Instant, Instant) -> bool) {
        let Some(Reverse((noted, id))) = self.ages.pop() else {
            return;
        };
        let Some(known) = self.known.get(&id) else {
            return;
        };
        let at = known.state.sensed_at;
        if goes(noted, at) {
            self.known.remove(&id);
            self.note(Event::Expired(id));
        } else {
            self.ages.push(Reverse((at, id)));
        }
    }
}

/// What decides between two states of one object: the greater wins.
fn rank(known: &Known) -> impl Ord + use<> {
    (
        known.state.sensed_at,
        known.state.confidence,
        core::cmp::Reverse(known.source),
    )
}
