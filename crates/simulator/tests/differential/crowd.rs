//! One real participant for every vehicle, beside a run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem::discriminant;

use covey_protocol::{
    AgentId, AgentState, Duration, Event, Input, Instant, Message, Output, Participant, Profile,
    Report, Tile,
};
use covey_simulator::Observer;
use covey_simulator::events::{Senses, StepView};

use crate::wire::Bytes;

/// So many differences are told in full.
const TOLD: usize = 5;

/// What the run sent.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    pub(crate) beacons: u64,
    pub(crate) reports: u64,
    pub(crate) broadcasts: u64,
    /// Broadcasts that ask for objects by name.
    pub(crate) requests: u64,
    /// How often a participant left office.
    pub(crate) offices_left: u64,
}

/// The participants of one arm.
#[derive(Debug)]
pub(crate) struct Crowd {
    profile: Profile,
    stations: BTreeMap<AgentId, Station>,
    pub(crate) sent: Sent,
    /// Where a participant sent something else than the run, or nothing.
    pub(crate) differences: Vec<String>,
    /// What bytes change, where messages go through them.
    pub(crate) changed: Changed,
}

/// How often participants that hear rounded messages do otherwise than the run.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// Messages that somebody did not send, or sent and the run did not.
    pub(crate) unsent: u64,
    /// Broadcasts that do not ask the same to report.
    pub(crate) broadcasts: u64,
    /// Reports that do not tell of the same objects.
    pub(crate) reports: u64,
    /// Contributors that one names and the other does not, and how many the run names.
    pub(crate) contributors: [u64; 2],
    /// Objects that one reports and the other does not, and how many the run reports.
    pub(crate) objects: [u64; 2],
}

/// How many are in one list and not in the other, both ascending.
fn apart<T: Ord + Copy>(a: &[T], b: &[T]) -> u64 {
    let (a, b): (BTreeSet<T>, BTreeSet<T>) =
        (a.iter().copied().collect(), b.iter().copied().collect());
    a.symmetric_difference(&b).count() as u64
}

#[derive(Debug)]
struct Station {
    participant: Participant,
    /// Sent and not yet held against the run.
    out: VecDeque<Message>,
    state: AgentState,
}

impl Crowd {
    fn differs(&mut self, now: Instant, what: impl FnOnce() -> String) {
        if self.differences.len() < TOLD {
            self.differences.push(format!("{now}: {}", what()));
        }
    }

    fn input(&mut self, agent: AgentId, now: Instant, input: Input<'_>) {
        let Some(station) = self.stations.get_mut(&agent) else {
            return;
        };
        station.participant.handle_input(now, input);
        while let Some(output) = station.participant.poll_output() {
            match output {
                Output::Transmit(message) => station.out.push_back(message),
                Output::Event(Event::LeftOffice(_)) => self.sent.offices_left += 1,
                Output::WakeAt(_) => break,
                _ => {}
            }
        }
    }

    fn decides_at(&self, now: Instant) -> bool {
        let p = &self.profile.parameters;
        let phase = Duration::from_seconds(p.decision_phase_s);
        now.floor_to(Duration::from_seconds(p.cycle_s), phase) == now
    }

    /// Whatever was sent and the run did not send.
    fn check_rest(&mut self, now: Instant) {
        let rest: Vec<Message> = self
            .stations
            .values_mut()
            .flat_map(|station| station.out.drain(..))
            .collect();
        self.changed.unsent += rest.len() as u64;
        for message in rest {
            self.differs(now, || format!("the run did not send {message:?}"));
        }
    }

    /// Holds what a participant sent against what the run sent.
    fn compare(&mut self, now: Instant, sent: Option<&Message>, message: &Message) {
        match message {
            Message::Broadcast(theirs) => {
                self.changed.contributors[1] += theirs.contributors.len() as u64;
            }
            Message::Report(theirs) => self.changed.objects[1] += theirs.objects.len() as u64,
            Message::Beacon(_) => {}
        }
        if sent == Some(message) {
            return;
        }
        self.differs(now, || format!("the run sent {message:?}, not {sent:?}"));
        let changed = &mut self.changed;
        match (sent, message) {
            (Some(Message::Broadcast(ours)), Message::Broadcast(theirs)) => {
                let apart = apart(&ours.contributors, &theirs.contributors);
                changed.broadcasts += u64::from(apart > 0);
                changed.contributors[0] += apart;
            }
            (Some(Message::Report(ours)), Message::Report(theirs)) => {
                let ids = |report: &Report| -> Vec<_> {
                    report.objects.iter().map(|object| object.id).collect()
                };
                let apart = apart(&ids(ours), &ids(theirs));
                changed.reports += u64::from(apart > 0);
                changed.objects[0] += apart;
            }
            (Some(Message::Beacon(_)), Message::Beacon(_)) => {}
            _ => changed.unsent += 1,
        }
    }
}

/// The participants of all arms.
#[derive(Debug)]
pub(crate) struct Crowds {
    crowds: Vec<Crowd>,
    /// Messages go through bytes.
    bytes: Option<Bytes>,
    vehicles: usize,
    now: Instant,
}

impl Crowds {
    pub(crate) fn new(profiles: Vec<Profile>, bytes: Option<Bytes>) -> Self {
        let crowd = |profile| Crowd {
            profile,
            stations: BTreeMap::new(),
            sent: Sent::default(),
            differences: Vec::new(),
            changed: Changed::default(),
        };
        Self {
            crowds: profiles.into_iter().map(crowd).collect(),
            bytes,
            vehicles: 0,
            now: Instant::ZERO,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Crowd> {
        self.crowds.iter()
    }

    /// The most vehicles at a time, those without a radio included.
    pub(crate) fn vehicles(&self) -> usize {
        self.vehicles
    }

    /// The run is over.
    pub(crate) fn finish(&mut self) {
        for crowd in &mut self.crowds {
            crowd.check_rest(self.now);
        }
    }
}

fn as_input(message: &Message) -> Input<'_> {
    match message {
        Message::Beacon(beacon) => Input::Beacon(beacon),
        Message::Report(report) => Input::Report(report),
        Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
    }
}

impl Observer for Crowds {
    fn step(&mut self, view: &StepView<'_>) {
        self.finish();
        self.now = view.now;
        self.vehicles = self.vehicles.max(view.vehicles.len());
        let mut here: Vec<u64> = view.vehicles.iter().map(|v| u64::from(v.id.0)).collect();
        here.sort_unstable();
        for crowd in &mut self.crowds {
            crowd
                .stations
                .retain(|agent, _| here.binary_search(&agent.0).is_ok());
        }
    }

    fn wants_senses(&self) -> bool {
        true
    }

    fn senses(&mut self, now: Instant, agent: AgentId, senses: &Senses<'_>) {
        for crowd in &mut self.crowds {
            let profile = &crowd.profile;
            let station = crowd.stations.entry(agent).or_insert_with(|| Station {
                participant: Participant::new(profile, agent, now),
                out: VecDeque::new(),
                state: *senses.state,
            });
            station.state = *senses.state;
            if let Some((objects, cells)) = senses.sensed {
                crowd.input(agent, now, Input::Sensed { objects, cells });
            }
            crowd.input(agent, now, Input::Moved(senses.state));
            // Hosts decide after they have heard the beacons of this instant.
            if !crowd.decides_at(now) {
                crowd.input(agent, now, Input::Tick);
            }
        }
    }

    fn loads(&mut self, arm: usize, now: Instant, loads: &[(Tile, f64)]) {
        let crowd = &mut self.crowds[arm];
        let tile_m = crowd.profile.parameters.tile_m;
        let agents: Vec<AgentId> = crowd.stations.keys().copied().collect();
        for &agent in &agents {
            let station = &crowd.stations[&agent];
            let office = station
                .participant
                .host()
                .map(covey_protocol::host::Host::tile);
            let tile = office.or_else(|| Tile::containing(station.state.position, tile_m));
            if let Some((_, load)) = loads.iter().find(|(of, _)| Some(*of) == tile) {
                crowd.input(agent, now, Input::Occupancy(*load));
            }
        }
        if crowd.decides_at(now) {
            for &agent in &agents {
                crowd.input(agent, now, Input::Tick);
            }
        }
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(&mut self, arm: usize, now: Instant, _: Option<Tile>, message: &Message, _: u32) {
        let crowd = &mut self.crowds[arm];
        match message {
            Message::Beacon(_) => crowd.sent.beacons += 1,
            Message::Report(_) => crowd.sent.reports += 1,
            Message::Broadcast(broadcast) => {
                crowd.sent.broadcasts += 1;
                crowd.sent.requests += u64::from(!broadcast.requested.is_empty());
            }
        }
        let station = crowd.stations.get_mut(&message.sender());
        let same_kind = |sent: &Message| discriminant(sent) == discriminant(message);
        let sent = station.and_then(|station| station.out.pop_front_if(|sent| same_kind(sent)));
        crowd.compare(now, sent.as_ref(), message);
    }

    fn wants_deliveries(&self) -> bool {
        true
    }

    fn delivered(&mut self, arm: usize, now: Instant, message: &Message, receivers: &[u32]) {
        let crowd = &mut self.crowds[arm];
        let received = self.bytes.as_mut().map(|bytes| {
            let state = &crowd.stations[&message.sender()].state;
            bytes.through(now, message, state, crowd.profile.judgement.is_none())
        });
        let message = received.as_ref().unwrap_or(message);
        for &receiver in receivers {
            crowd.input(AgentId(u64::from(receiver)), now, as_input(message));
        }
    }
}
