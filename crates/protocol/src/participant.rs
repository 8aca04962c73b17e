//! A participant: beacon, listener, contributor and, when its turn comes, host.
//!
//! This is what an on-board unit embeds. It beacons its state and digest, keeps what it learns, reports when a host asks,
//! and applies the host rule to what it hears once per cycle, just before hosts decide:
//!
//! - The *incumbent* of a tile is the host of the newest broadcast for it, if that is no older than the soft-state time and
//!   the host was last seen inside the tile.
//! - A tile without incumbent goes to the agent nearest its centre, by beacons heard within the soft-state time. Who has not
//!   listened for that long does not stand.
//! - Should the nearest not take office (it may be a vehicle that beacons but knows nothing of all this), the next nearest
//!   does after another soft-state time, and so on: a tile with a willing participant always gets a host.
//! - Of two hosts of one tile that hear each other, one stays ([`election::stays`]), the other leaves office at once.
//! - A host that leaves its tile leaves office; nothing is handed over. The next one starts from the digests it has heard, and
//!   goes on from price and epoch if it heard them within the soft-state time.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::beacons::{self, BeaconRule};
use crate::contributor::Contributor;
use crate::demand::DemandOptions;
use crate::digest::CoverageDigest;
use crate::election::{self, Claim};
use crate::grid::{Cell, Position, Tile};
use crate::host::{Host, Inheritance};
use crate::ids::AgentId;
use crate::listener::Listener;
use crate::map::RoadMap;
use crate::messages::{AgentState, Beacon, Broadcast, Message, ObjectState};
use crate::parameters::Parameters;
use crate::policy::{ConditionalCoverage, Policy};
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// One participating agent.
#[derive(Debug, Clone)]
pub struct Participant<P = ConditionalCoverage> {
    parameters: Parameters,
    policy: P,
    map: Option<Arc<dyn RoadMap>>,
    id: AgentId,
    started: Instant,
    now: Instant,
    own: Option<AgentState>,
    sensed: Vec<ObjectState>,
    cells: Vec<Cell>,
    listener: Listener,
    contributor: Contributor,
    host: Option<Host<P>>,
    /// The last beacon of everyone heard within the soft-state time.
    neighbours: SortedMap<AgentId, Beacon>,
    /// The newest broadcast for each tile, within the soft-state time.
    offices: SortedMap<Tile, Office>,
    /// The own tile, and since when it has had no incumbent.
    vacant: Option<(Tile, Instant)>,
    beaconed: Option<Instant>,
    beacons: u32,
    /// What the last beacon told, and when.
    last_beacon: Option<(AgentState, Instant)>,
    elected: Option<Instant>,
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
}

/// What the newest broadcast for a tile said.
#[derive(Debug, Clone, Copy)]
struct Office {
    host: AgentId,
    at: Instant,
    position: Position,
    inheritance: Inheritance,
}

impl Participant<ConditionalCoverage> {
    /// Agent `id`, switched on at `now`, with the letter's policy.
    #[must_use]
    pub fn new(parameters: &Parameters, id: AgentId, now: Instant) -> Self {
        Self::with_policy(parameters, id, now, ConditionalCoverage)
    }
}

impl<P: Policy + Clone> Participant<P> {
    /// Agent `id`, switched on at `now`, with a policy of your own for when it hosts.
    #[must_use]
    pub fn with_policy(parameters: &Parameters, id: AgentId, now: Instant, policy: P) -> Self {
        Self {
            policy,
            map: None,
            id,
            started: now,
            now,
            own: None,
            sensed: Vec::new(),
            cells: Vec::new(),
            listener: Listener::new(parameters, id),
            contributor: Contributor::new(parameters, id),
            host: None,
            neighbours: SortedMap::default(),
            offices: SortedMap::default(),
            vacant: None,
            beaconed: None,
            beacons: 0,
            last_beacon: None,
            elected: None,
            outputs: VecDeque::new(),
            wake_told: None,
            parameters: parameters.clone(),
        }
    }

    /// The same with a map of roads and buildings, for when it hosts.
    #[must_use]
    pub fn with_map(mut self, map: Option<Arc<dyn RoadMap>>) -> Self {
        self.map = map;
        self
    }

    /// The same, able to judge what others need when it contributes. Call after [`with_map`](Self::with_map).
    #[must_use]
    pub fn with_demand(mut self, options: &DemandOptions) -> Self {
        let contributor = Contributor::new(&self.parameters, self.id);
        self.contributor = contributor.with_demand(&self.parameters, options, self.map.clone());
        self
    }

    /// Who.
    #[must_use]
    pub fn id(&self) -> AgentId {
        self.id
    }

    /// What it knows.
    #[must_use]
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Its contributor's side.
    #[must_use]
    pub fn contributor(&self) -> &Contributor {
        &self.contributor
    }

    /// The host it is, if it is one.
    #[must_use]
    pub fn host(&self) -> Option<&Host<P>> {
        self.host.as_ref()
    }

    /// Takes in what happened at `now`. Beacons, reports and broadcasts are sent on ticks, in their slots.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        match input {
            Input::Tick => {
                self.forget();
                self.beacon();
                self.hold_election();
            }
            Input::Moved(state) if state.is_finite() => self.own = Some(*state),
            Input::Sensed { objects, cells } => {
                self.sensed.clear();
                self.sensed.extend_from_slice(objects);
                self.cells.clear();
                self.cells.extend_from_slice(cells);
            }
            Input::Beacon(beacon) => self.hear(beacon),
            Input::Broadcast(broadcast) => self.heed(broadcast),
            _ => {}
        }
        self.listener.handle_input(self.now, input);
        self.contributor.handle_input(self.now, input);
        while let Some(output) = self.listener.poll_output() {
            keep(&mut self.outputs, output);
        }
        while let Some(output) = self.contributor.poll_output() {
            keep(&mut self.outputs, output);
        }
        if let Some(host) = &mut self.host {
            host.handle_input(self.now, input);
            while let Some(output) = host.poll_output() {
                keep(&mut self.outputs, output);
            }
        }
    }

    /// Messages and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        let p = &self.parameters;
        let cycle = Duration::from_seconds(p.cycle_s);
        let next = |period, phase| self.now.next_after(period, phase);
        let wake = next(Duration::from_seconds(p.beacon_s), p.beacon_phase(self.id))
            .min(next(cycle, Duration::from_seconds(p.decision_phase_s)))
            .min(next(cycle, p.report_phase(self.id)));
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    fn soft_state(&self) -> Duration {
        Duration::from_seconds(self.parameters.soft_state_s)
    }

    fn forget(&mut self) {
        let (now, soft_state) = (self.now, self.soft_state());
        self.neighbours
            .retain(|_, beacon| now.since(beacon.at) <= soft_state);
        self.offices
            .retain(|_, office| now.since(office.at) <= soft_state);
    }

    fn hear(&mut self, beacon: &Beacon) {
        if beacon.sender == self.id || beacon.at > self.now || !beacon.state.is_finite() {
            return;
        }
        let newer = |held: &Beacon| beacon.at > held.at;
        match self.neighbours.get_mut(beacon.sender) {
            Some(held) if newer(held) => {
                held.at = beacon.at;
                held.state = beacon.state;
                if let Some(digest) = &beacon.digest {
                    held.digest = Some(digest.clone());
                }
            }
            Some(_) => {}
            None => {
                self.neighbours.insert(beacon.sender, beacon.clone());
            }
        }
    }

    fn heed(&mut self, broadcast: &Broadcast) {
        if broadcast.host == self.id || broadcast.at > self.now {
            return;
        }
        if self
            .offices
            .get(broadcast.tile)
            .is_none_or(|held| broadcast.at > held.at)
        {
            self.offices.insert(
                broadcast.tile,
                Office {
                    host: broadcast.host,
                    at: broadcast.at,
                    position: broadcast.position,
                    inheritance: Inheritance {
                        price: broadcast.price,
                        epoch: broadcast.epoch,
                    },
                },
            );
        }
        let tile_m = self.parameters.tile_m;
        if let (Some(host), Some(own)) = (&self.host, &self.own)
            && host.tile() == broadcast.tile
        {
            let mine = Claim {
                host: self.id,
                tenure: broadcast.at.since(host.in_office_since()),
                position: own.position,
            };
            let theirs = Claim {
                host: broadcast.host,
                tenure: broadcast.tenure,
                position: broadcast.position,
            };
            let gives_way = |a: &Claim, b: &Claim| {
                self.parameters.handover.is_some_and(|handover| {
                    election::gives_way(broadcast.tile, tile_m, handover, a.position, b.position)
                })
            };
            // Whose office is handed over leaves, however long it was in office.
            let leaves = gives_way(&mine, &theirs)
                || (!gives_way(&theirs, &mine)
                    && !election::stays(broadcast.tile, tile_m, &mine, &theirs));
            if leaves {
                self.leave_office();
            }
        }
    }

    fn beacon(&mut self) {
        let interval = Duration::from_seconds(self.parameters.beacon_s);
        let slot = self
            .now
            .floor_to(interval, self.parameters.beacon_phase(self.id));
        let Some(state) = self.own else {
            return;
        };
        if self.beaconed.is_some_and(|done| done >= slot) {
            return;
        }
        self.beaconed = Some(slot);
        if self.parameters.beacons == BeaconRule::Triggered
            && self
                .last_beacon
                .is_some_and(|(last, at)| !beacons::is_due(&last, &state, self.now.since(at)))
        {
            return;
        }
        self.last_beacon = Some((state, self.now));
        let every = self.parameters.digest_every;
        let with_digest = every > 0 && self.beacons.is_multiple_of(every);
        self.beacons = self.beacons.wrapping_add(1);
        let mut digest = None;
        if with_digest {
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
                low_frequency: false,
            })));
    }

    /// Applies the host rule, once per cycle, in the slot in which hosts decide.
    fn hold_election(&mut self) {
        let slot = self.now.floor_to(
            Duration::from_seconds(self.parameters.cycle_s),
            Duration::from_seconds(self.parameters.decision_phase_s),
        );
        let Some(own) = self.own else {
            return;
        };
        if self.elected.is_some_and(|done| done >= slot) {
            return;
        }
        self.elected = Some(slot);
        let tile_m = self.parameters.tile_m;
        let tile = Tile::containing(own.position, tile_m);
        if let Some(host) = &self.host {
            if tile == Some(host.tile()) && !self.hands_over(host.tile(), own.position) {
                return;
            }
            self.leave_office();
        }
        let Some(tile) = tile else {
            self.vacant = None;
            return;
        };
        if self.incumbent(tile).is_some() {
            self.vacant = None;
            return;
        }
        let since = match self.vacant {
            Some((of, since)) if of == tile => since,
            _ => slot,
        };
        self.vacant = Some((tile, since));
        let soft_state = self.soft_state();
        if self.now.since(self.started) < soft_state {
            return;
        }
        // Every soft-state time without a host lets one more of the nearest be passed over.
        let waited = self.now.since(since.max(self.started + soft_state));
        let passed_over = (waited.micros() / soft_state.micros().max(1)).max(0) as u64;
        let others = self.neighbours.iter().map(|(id, b)| (id, b.state.position));
        let nearer = election::nearer(tile, tile_m, self.id, own.position, others);
        if nearer as u64 <= passed_over {
            self.take_office(tile, &own);
        }
    }

    /// The host of `tile` in office, as far as this participant knows.
    fn incumbent(&self, tile: Tile) -> Option<AgentId> {
        let office = self.offices.get(tile)?;
        // Its beacon may be newer than its broadcast.
        let position = match self.neighbours.get(office.host) {
            Some(beacon) if beacon.at > office.at => beacon.state.position,
            _ => office.position,
        };
        let inside = Tile::containing(position, self.parameters.tile_m) == Some(tile);
        (inside && !self.hands_over(tile, position)).then_some(office.host)
    }

    /// The host of `tile`, at `position`, hands over to somebody nearer the centre that this participant knows of.
    fn hands_over(&self, tile: Tile, position: Position) -> bool {
        let Some(handover) = self.parameters.handover else {
            return false;
        };
        let neighbours = self.neighbours.iter().map(|(_, b)| b.state.position);
        let own = self.own.iter().map(|own| own.position);
        neighbours.chain(own).any(|rival| {
            election::gives_way(tile, self.parameters.tile_m, handover, position, rival)
        })
    }

    fn take_office(&mut self, tile: Tile, own: &AgentState) {
        let inheritance = self.offices.get(tile).map(|office| office.inheritance);
        let mut host = Host::with_policy(
            &self.parameters,
            self.id,
            tile,
            self.now,
            inheritance,
            self.policy.clone(),
        )
        .with_map(self.map.clone());
        host.handle_input(self.now, Input::Moved(own));
        host.handle_input(
            self.now,
            Input::Sensed {
                objects: &self.sensed,
                cells: &self.cells,
            },
        );
        for (_, beacon) in self.neighbours.iter() {
            host.handle_input(self.now, Input::Beacon(beacon));
        }
        self.host = Some(host);
        self.vacant = None;
        self.outputs
            .push_back(Output::Event(Event::TookOffice(tile)));
    }

    fn leave_office(&mut self) {
        if let Some(host) = self.host.take() {
            self.outputs
                .push_back(Output::Event(Event::LeftOffice(host.tile())));
        }
    }
}

/// Keeps a role's output; wake-ups are the participant's own affair.
fn keep(outputs: &mut VecDeque<Output>, output: Output) {
    if !matches!(output, Output::WakeAt(_)) {
        outputs.push_back(output);
    }
}
