//! The contributor's side of an admission: report while a host asks for it, fall silent when its word runs out.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::ids::{AgentId, ObjectId};
use crate::messages::{Broadcast, Content, Message, ObjectState, Report};
use crate::parameters::Parameters;
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Reports once per cycle while at least one host's lease holds; an agent that several hosts admit sends one report.
#[derive(Debug, Clone)]
pub struct Contributor {
    own: AgentId,
    cycle: Duration,
    phase: Duration,
    soft_state: Duration,
    lease_limit: Duration,
    now: Instant,
    grants: SortedMap<AgentId, Grant>,
    /// When each agent was last heard.
    heard: SortedMap<ObjectId, Instant>,
    sensed: Vec<ObjectState>,
    reported_slot: Option<Instant>,
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
}

/// The newest word of one host.
#[derive(Debug, Clone, Copy)]
struct Grant {
    at: Instant,
    /// Until when to report; none where the host does not ask.
    until: Option<Instant>,
    content: Content,
}

impl Contributor {
    /// The contributor's side of agent `own`, admitted by nobody yet.
    #[must_use]
    pub fn new(parameters: &Parameters, own: AgentId) -> Self {
        let lease = Duration::from_seconds(parameters.lease_s);
        Self {
            own,
            cycle: Duration::from_seconds(parameters.cycle_s),
            phase: parameters.report_phase(own),
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            // A host may ask for longer than usual, but nobody speaks for long on one word.
            lease_limit: lease.times(4),
            now: Instant::from_micros(i64::MIN),
            grants: SortedMap::default(),
            heard: SortedMap::default(),
            sensed: Vec::new(),
            reported_slot: None,
            outputs: VecDeque::new(),
            wake_told: None,
        }
    }

    /// Takes in what happened at `now`. Sensing, beacons and broadcasts matter; a tick at or after the agent's report slot
    /// sends the report of that cycle, once.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        match input {
            Input::Sensed { objects, .. } => {
                self.sensed.clear();
                self.sensed
                    .extend(objects.iter().filter(|o| o.id != self.own.into()));
            }
            Input::Beacon(beacon) => {
                self.heard.insert(beacon.sender.into(), self.now);
            }
            Input::Broadcast(broadcast) if broadcast.host != self.own => self.obey(broadcast),
            _ => {}
        }
        self.lapse();
        if matches!(input, Input::Tick) {
            self.report();
        }
    }

    /// Reports and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        if !self.is_admitted() {
            return None;
        }
        let wake = self.now.next_after(self.cycle, self.phase);
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// At least one host asks for reports.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.grants.iter().any(|(_, grant)| grant.until.is_some())
    }

    fn obey(&mut self, broadcast: &Broadcast) {
        // Only the newest word of a host counts; what comes from the future cannot be told apart from a lie.
        if broadcast.at > self.now {
            return;
        }
        if self
            .grants
            .get(broadcast.host)
            .is_some_and(|g| broadcast.at <= g.at)
        {
            return;
        }
        let was_admitted = self.is_admitted();
        let lease = broadcast.lease.min(self.lease_limit);
        let asked = broadcast.contributors.contains(&self.own);
        self.grants.insert(
            broadcast.host,
            Grant {
                at: broadcast.at,
                until: asked.then(|| broadcast.at + lease),
                content: broadcast.content,
            },
        );
        if asked && !was_admitted {
            self.event(Event::Admitted {
                host: broadcast.host,
            });
        } else if !asked && was_admitted && !self.is_admitted() {
            self.event(Event::Released);
        }
    }

    /// Lets leases and old memories run out.
    fn lapse(&mut self) {
        let was_admitted = self.is_admitted();
        let now = self.now;
        for (_, grant) in self.grants.iter_mut() {
            if grant.until.is_some_and(|until| until < now) {
                grant.until = None;
            }
        }
        let soft_state = self.soft_state;
        self.grants
            .retain(|_, grant| grant.until.is_some() || now.since(grant.at) <= soft_state);
        self.heard.retain(|_, at| now.since(*at) <= soft_state);
        if was_admitted && !self.is_admitted() {
            self.event(Event::Released);
        }
    }

    fn report(&mut self) {
        let slot = self.now.floor_to(self.cycle, self.phase);
        if self.reported_slot.is_some_and(|reported| reported >= slot) {
            return;
        }
        // Admitted by a broadcast of this very cycle: reports begin with the next one.
        let mut asking = self
            .grants
            .iter()
            .filter(|(_, grant)| grant.until.is_some() && grant.at < slot)
            .map(|(_, grant)| grant.content)
            .peekable();
        if asking.peek().is_none() {
            return;
        }
        let all = asking.any(|content| content == Content::AllVisible);
        let mut objects = self.sensed.clone();
        if !all {
            objects.retain(|object| self.heard.get(object.id).is_none());
            if objects.is_empty() {
                self.reported_slot = Some(slot);
                return;
            }
        }
        self.reported_slot = Some(slot);
        self.outputs
            .push_back(Output::Transmit(Message::Report(Report {
                sender: self.own,
                at: self.now,
                objects,
            })));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
}
