//! The listener: what a participant knows, from whatever source, at most one soft-state time old.
//!
//! States of the same object from several sources are told apart by time of sensing (newest wins), then by confidence, then
//! by a fixed order of sources (own senses, the object itself, reporters, hosts; lower id first). The outcome does not
//! depend on the order of arrival, and late or repeated messages change nothing.

use alloc::collections::VecDeque;

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
    now: Instant,
    known: SortedMap<ObjectId, Known>,
    hosts: SortedMap<AgentId, Followed>,
    /// Nothing held is older than this.
    oldest: Instant,
    events: VecDeque<Event>,
    wake_told: Option<Instant>,
}

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
            now: Instant::from_micros(i64::MIN),
            known: SortedMap::default(),
            hosts: SortedMap::default(),
            oldest: Instant::from_micros(i64::MAX),
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
            Input::Beacon(beacon) => {
                self.learn(&ObjectState::of_sender(beacon), LearnedFrom::Beacon);
            }
            Input::Report(report) => {
                for state in &report.objects {
                    self.learn(state, LearnedFrom::Report(report.sender));
                }
            }
            Input::Broadcast(broadcast) if broadcast.host != self.own => self.follow(broadcast),
            _ => {}
        }
        self.expire();
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
        let oldest = self
            .known
            .iter()
            .map(|(_, known)| known.state.sensed_at)
            .min()?;
        // A state is still good at the very end of its time.
        let wake = oldest + self.soft_state + Duration::from_micros(1);
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// What is known of `object`.
    #[must_use]
    pub fn known(&self, object: ObjectId) -> Option<&Known> {
        self.known.get(object)
    }

    /// All that is known, by ascending object id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Known> {
        self.known.iter().map(|(_, known)| known)
    }

    /// The age of what is known of `object`, at the last input.
    #[must_use]
    pub fn age(&self, object: ObjectId) -> Option<Duration> {
        self.known
            .get(object)
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
        self.oldest = self.oldest.min(state.sensed_at);
        let (held, new) = self.known.get_or_insert_with(state.id, || offered);
        if new {
            self.events.push_back(Event::Appeared(state.id));
        } else if rank(&offered) > rank(held) {
            *held = offered;
        }
    }

    fn follow(&mut self, broadcast: &Broadcast) {
        let source = LearnedFrom::Broadcast(broadcast.host);
        let (host, new) = self.hosts.get_or_insert_with(broadcast.host, || Followed {
            at: broadcast.at,
            sequence: broadcast.sequence,
            listed: SortedMap::default(),
        });
        if !new && broadcast.at <= host.at {
            // Late or repeated: its states may still be news, but it says nothing about silence.
            for state in &broadcast.objects {
                self.learn(state, source);
            }
            return;
        }
        self.oldest = self.oldest.min(broadcast.at);
        let unbroken = !new && broadcast.sequence == host.sequence.wrapping_add(1);
        if broadcast.full || !unbroken {
            host.listed.clear();
        }
        host.at = broadcast.at;
        host.sequence = broadcast.sequence;
        for object in &broadcast.withdrawn {
            host.listed.remove(*object);
        }
        for state in &broadcast.objects {
            host.listed.remove(state.id);
        }
        let mut refreshed = SortedMap::default();
        if self.silence_refreshes {
            for (_, state) in host.listed.iter_mut() {
                state.sensed_at = state.sensed_at.max(broadcast.unchanged_since);
            }
            refreshed = host.listed.clone();
        }
        for state in &broadcast.objects {
            host.listed.insert(state.id, *state);
        }
        for (_, state) in refreshed.iter() {
            self.learn(state, source);
        }
        for state in &broadcast.objects {
            self.learn(state, source);
        }
    }

    /// Lets go of what is too old; looks at all that is held only when something may be.
    fn expire(&mut self) {
        if self.now.since(self.oldest) <= self.soft_state {
            return;
        }
        let Self {
            known,
            hosts,
            events,
            now,
            soft_state,
            oldest,
            ..
        } = self;
        *oldest = Instant::from_micros(i64::MAX);
        let mut recent = |at: Instant| {
            let recent = now.since(at) <= *soft_state;
            if recent {
                *oldest = at.min(*oldest);
            }
            recent
        };
        known.retain(|object, known| {
            let keep = recent(known.state.sensed_at);
            if !keep {
                events.push_back(Event::Expired(object));
            }
            keep
        });
        hosts.retain(|_, host| recent(host.at));
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
