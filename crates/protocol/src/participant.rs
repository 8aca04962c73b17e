//! A participant: beacon, listener, contributor and, when its turn comes, host.
//!
//! This is what an on-board unit embeds. It beacons its state and digest, keeps what it learns, reports when a host asks,
//! and applies the host rule ([`crate::office`]) to what it hears once per cycle, just before hosts decide.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::beacons::{BeaconRule, BeaconTimer};
use crate::contributor::Contributor;
use crate::digest::CoverageDigest;
use crate::ears::Ears;
use crate::grid::{Cell, Tile};
use crate::guard::{Door, Entry, Refusals};
use crate::host::Host;
use crate::ids::{AgentId, ObjectId};
use crate::knowledge::{Chooser, Observer};
use crate::listener::Listener;
use crate::messages::{AgentState, Beacon, Broadcast, Message, ObjectState};
use crate::office::{Inheritance, Neighbourhood, OfficeRule, Standing, Watch};
use crate::profile::Profile;
use crate::role::{Event, Input, Output};
use crate::time::{Duration, Instant};

/// Outputs that nobody asks for are forgotten, the oldest first.
const MOST_OUTPUTS: usize = 16_384;

/// One participating agent.
///
/// Feed it what happens ([`handle_input`](Self::handle_input)) and do what comes out ([`poll_output`](Self::poll_output)). No
/// call has to come before another: what is not known yet is not acted upon.
#[derive(Debug)]
pub struct Participant {
    profile: Profile,
    id: AgentId,
    started: Instant,
    now: Instant,
    own: Option<AgentState>,
    sensed: Vec<ObjectState>,
    cells: Vec<Cell>,
    door: Door,
    refusals: Refusals,
    ears: Ears,
    listener: Listener,
    contributor: Contributor,
    chooser: Chooser,
    rule: OfficeRule,
    host: Option<Host>,
    watch: Watch,
    beacons: BeaconTimer,
    /// The beacon slot that was served last.
    beaconed: Instant,
    /// The decision slot in which the host rule was applied last.
    elected: Option<Instant>,
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
}

impl Participant {
    /// Agent `id`, switched on at `now`.
    #[must_use]
    pub fn new(profile: &Profile, id: AgentId, now: Instant) -> Self {
        let parameters = &profile.parameters;
        Self {
            id,
            started: now,
            now,
            own: None,
            sensed: Vec::new(),
            cells: Vec::new(),
            door: Door::new(parameters),
            refusals: Refusals::default(),
            ears: Ears::new(id, parameters, profile.keeps_sayings()),
            listener: Listener::new(parameters, id),
            contributor: Contributor::new(parameters, id).judging(profile.judgement.as_ref()),
            chooser: Chooser::default(),
            rule: OfficeRule::new(parameters),
            host: None,
            watch: Watch::default(),
            beacons: BeaconTimer::default(),
            beaconed: beacon_slot_before(profile, id, now),
            elected: None,
            outputs: VecDeque::new(),
            wake_told: None,
            profile: profile.clone(),
        }
    }

    /// The id that it goes by, through all roles.
    #[must_use]
    pub fn id(&self) -> AgentId {
        self.id
    }

    /// The objects that it knows of, from its sensors and from messages.
    #[must_use]
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// At least one host asks for its reports.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.contributor.is_admitted()
    }

    /// The host it is, if it is one.
    #[must_use]
    pub fn host(&self) -> Option<&Host> {
        self.host.as_ref()
    }

    /// How often something that was heard was passed over, or let go for want of room.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        let ears = self.ears.refusals();
        let others = [self.listener.crowded_out(), self.contributor.crowded_out()];
        let others = others
            .iter()
            .fold(ears.others, |sum, n| sum.saturating_add(*n));
        Refusals {
            places: ears.places,
            hosts: ears.hosts,
            stations: ears.stations,
            others: self.refusals.others.saturating_add(others),
            ..self.refusals
        }
    }

    /// Takes in what happened at `now`.
    ///
    /// A beacon is sent with the first word of the own state ([`Input::Moved`]), or the first tick, in its slot; reports and
    /// broadcasts on ticks in theirs. What is heard at the instant of a tick counts for it if it is handed over before.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.keep_time(now);
        match self.door.admit(self.now, input, &mut self.refusals) {
            Entry::Plain(input) => self.take_in(input),
            Entry::Moved(Message::Beacon(beacon)) => self.take_in(Input::Beacon(&beacon)),
            Entry::Moved(Message::Report(report)) => self.take_in(Input::Report(&report)),
            Entry::Moved(Message::Broadcast(broadcast)) => {
                self.take_in(Input::Broadcast(&broadcast));
            }
            Entry::Refused => {}
        }
        self.collect();
    }

    /// From `now` on it is called `id`.
    ///
    /// What it heard stays. A host goes on in office as a new one that heard the one before: with its price and epoch, with all whose
    /// beacons it heard, and with a tenure that begins now, so that a claim under a name that nobody knows is no stronger than
    /// anybody's. Who asked the old name for reports has to ask again.
    pub fn rename(&mut self, now: Instant, id: AgentId) {
        self.keep_time(now);
        let before = core::mem::replace(&mut self.id, id);
        for object in &mut self.sensed {
            if let Some((_, number)) = object.id.scope().filter(|(by, _)| *by == before) {
                object.id = ObjectId::perceived(id, number);
            }
        }
        self.ears.rename(id);
        self.listener.rename(id);
        if self.contributor.is_admitted() {
            self.outputs.push_back(Output::Event(Event::Released));
        }
        self.refusals.others += self.contributor.crowded_out();
        self.contributor =
            Contributor::new(&self.profile.parameters, id).judging(self.profile.judgement.as_ref());
        self.beacons = BeaconTimer::default();
        self.beaconed = beacon_slot_before(&self.profile, id, self.now);
        self.wake_told = None;
        if let (Some(host), Some(own)) = (self.host.take(), self.own) {
            let inheritance = host.claim(self.now).inheritance;
            self.begin_term(host.tile(), &own, Some(inheritance));
        }
        self.collect();
    }

    /// Time goes on to `now`; where it jumps, all that was heard before is of no use, and is forgotten.
    fn keep_time(&mut self, now: Instant) {
        let parameters = &self.profile.parameters;
        let back = self.now.since(now);
        let jumps = back > Duration::from_seconds(parameters.guard.clock_back_s)
            || now.since(self.now) > Duration::from_seconds(parameters.soft_state_s);
        if !jumps {
            self.now = self.now.max(now);
            return;
        }
        self.leave_office();
        self.refusals.jumps += 1;
        self.outputs.push_back(Output::Event(Event::ClockJumped {
            by: now.since(self.now),
        }));
        self.now = now;
        self.started = now;
        self.sensed.clear();
        self.cells.clear();
        self.door.clear();
        self.ears.clear();
        self.listener.restart(now);
        self.refusals.others += self.contributor.crowded_out();
        self.contributor = Contributor::new(&self.profile.parameters, self.id)
            .judging(self.profile.judgement.as_ref());
        self.watch = Watch::default();
        self.beacons = BeaconTimer::default();
        self.beaconed = beacon_slot_before(&self.profile, self.id, now);
        self.elected = None;
        self.wake_told = None;
    }

    fn take_in(&mut self, input: Input<'_>) {
        let mut heeded = true;
        match input {
            Input::Moved(state) if state.is_finite() => {
                self.own = Some(*state);
                self.ears.move_to(state.position);
                self.beacon();
            }
            Input::Sensed { objects, cells } => {
                self.sensed.clear();
                self.sensed.extend_from_slice(objects);
                self.cells.clear();
                self.cells.extend_from_slice(cells);
            }
            Input::Beacon(beacon) => heeded = self.ears.hear(self.now, beacon),
            Input::Report(report) => {
                self.ears
                    .listen(self.now, report.at, report.sender, &report.objects);
            }
            Input::Broadcast(broadcast) => heeded = self.heed(broadcast),
            Input::Tick => {
                self.ears.forget(self.now);
                self.beacon();
                self.report();
                self.hold_election();
            }
            _ => {}
        }
        if !heeded {
            return;
        }
        self.listener.handle_input(self.now, input);
        if let Some(host) = &mut self.host {
            host.handle_input(self.now, input);
        }
    }

    /// Messages and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        let p = &self.profile.parameters;
        let cycle = Duration::from_seconds(p.cycle_s);
        let next = |period, phase| self.now.next_after(period, phase);
        let wake = next(Duration::from_seconds(p.beacon_s), p.beacon_phase(self.id))
            .min(next(cycle, Duration::from_seconds(p.decision_phase_s)))
            .min(next(cycle, p.report_phase(self.id)));
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// Takes over what the roles have to say; wake-ups are the participant's own affair.
    fn collect(&mut self) {
        let outputs = &mut self.outputs;
        let mut keep = |output: Output| {
            if !matches!(output, Output::WakeAt(_)) {
                outputs.push_back(output);
            }
            if outputs.len() > MOST_OUTPUTS {
                outputs.pop_front();
            }
        };
        while let Some(event) = self.listener.poll_event() {
            keep(Output::Event(event));
        }
        while let Some(event) = self.contributor.poll_event() {
            keep(Output::Event(event));
        }
        if let Some(host) = &mut self.host {
            while let Some(output) = host.poll_output() {
                keep(output);
            }
        }
    }

    /// Gives whether a host can have sent the broadcast.
    fn heed(&mut self, broadcast: &Broadcast) -> bool {
        let (plausible, claim) = self.ears.heed(self.now, broadcast);
        if !plausible {
            return false;
        }
        let place = self.own.map(|own| own.position);
        self.contributor.obey(self.now, place, broadcast);
        if let Some(host) = &self.host
            && let Some(theirs) = claim
            && host.tile() == broadcast.tile
            && self
                .rule
                .yields(broadcast.tile, &host.claim(broadcast.at), &theirs)
        {
            self.leave_office();
        }
        true
    }

    /// Sends the beacon of this slot, if it is due and was not sent yet.
    fn beacon(&mut self) {
        let p = &self.profile.parameters;
        let interval = Duration::from_seconds(p.beacon_s);
        let slot = self.now.floor_to(interval, p.beacon_phase(self.id));
        let Some(state) = self.own else {
            return;
        };
        if self.beaconed >= slot {
            return;
        }
        self.beaconed = slot;
        let due = match (p.beacons, &self.profile.chance) {
            (BeaconRule::Measured, Some(chance)) => {
                let unit = |number, what| chance(self.id, number, what);
                let measured = p.measured_beacons();
                self.beacons.next_measured(measured, unit, &state, self.now)
            }
            (rule, _) => self.beacons.next(rule, &state, self.now),
        };
        let Some(due) = due else {
            return;
        };
        let mut digest = None;
        if p.carries_digest(self.id, due.previous, self.now) {
            match CoverageDigest::new(self.cells.clone()) {
                Ok(made) => digest = Some(made),
                Err(_) => self.outputs.push_back(Output::Event(Event::DigestTooLarge)),
            }
        }
        self.outputs
            .push_back(Output::Transmit(Message::Beacon(Beacon {
                sender: self.id,
                at: self.now,
                state,
                digest,
                low_frequency: due.low_frequency,
            })));
    }

    /// Sends the report of this cycle, if a host asks for one and it was not sent yet.
    fn report(&mut self) {
        let Some(state) = self.own else {
            return self.contributor.lapse(self.now);
        };
        let (profile, sensed) = (&self.profile, &self.sensed);
        let (chooser, ears) = (&mut self.chooser, &self.ears);
        let observer = Observer {
            now: self.now,
            id: self.id,
            state: &state,
            sensed,
            map: profile.map.as_deref(),
        };
        let report = self.contributor.report(self.now, |asked, memory| {
            let (p, judgement) = (&profile.parameters, profile.judgement.as_ref());
            let chosen = chooser.choose(p, judgement, &observer, asked, memory, ears);
            chosen.into_iter().map(|k| sensed[k]).collect()
        });
        let report = report.map(|report| Output::Transmit(Message::Report(report)));
        self.outputs.extend(report);
    }

    /// Applies the host rule, once per cycle, in the slot in which hosts decide.
    fn hold_election(&mut self) {
        let p = &self.profile.parameters;
        let slot = self.now.floor_to(
            Duration::from_seconds(p.cycle_s),
            Duration::from_seconds(p.decision_phase_s),
        );
        let Some(own) = self.own else {
            return;
        };
        if self.elected.is_some_and(|done| done >= slot) {
            return;
        }
        self.elected = Some(slot);
        let standing = Standing {
            id: self.id,
            position: own.position,
            listening_since: self.started,
            office: self.host.as_ref().map(Host::tile),
        };
        let election = self
            .rule
            .elect(slot, &standing, &mut self.watch, &self.ears);
        if election.leaves {
            self.leave_office();
        }
        if let Some(tile) = election.takes {
            self.take_office(tile, &own);
        }
    }

    fn take_office(&mut self, tile: Tile, own: &AgentState) {
        let inheritance = self.ears.claim(tile).map(|claim| claim.inheritance);
        self.begin_term(tile, own, inheritance);
        self.outputs
            .push_back(Output::Event(Event::TookOffice(tile)));
    }

    /// Hosts from now on, with what was heard so far.
    fn begin_term(&mut self, tile: Tile, own: &AgentState, inheritance: Option<Inheritance>) {
        let mut host = Host::new(&self.profile, self.id, tile, self.now, inheritance);
        host.handle_input(self.now, Input::Moved(own));
        host.handle_input(
            self.now,
            Input::Sensed {
                objects: &self.sensed,
                cells: &self.cells,
            },
        );
        for beacon in self.ears.beacons(self.now) {
            host.handle_input(self.now, Input::Beacon(&beacon));
        }
        self.host = Some(host);
    }

    fn leave_office(&mut self) {
        if let Some(host) = self.host.take() {
            self.outputs
                .push_back(Output::Event(Event::LeftOffice(host.tile())));
        }
    }
}

/// The beacon slot before the first that agent `id` serves, switched on at `now`: of those that have begun only one that begins this
/// very moment is still to be served.
fn beacon_slot_before(profile: &Profile, id: AgentId, now: Instant) -> Instant {
    let parameters = &profile.parameters;
    let before = now - Duration::from_micros(1);
    let interval = Duration::from_seconds(parameters.beacon_s);
    before.floor_to(interval, parameters.beacon_phase(id))
}
