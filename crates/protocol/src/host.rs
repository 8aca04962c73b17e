//! The host: it fuses, decides, and tells everyone.
//!
//! Once per cycle, at its decision phase, a host
//!
//! 1. forgets who has not been heard for the soft-state time, and drops contributors that are gone or out of its footprint
//!    (an epoch each, outside the quota);
//! 2. fuses the cycle's objects and brings the coverage map and the leave-one-out maps up to date;
//! 3. asks its [`Policy`] who shall report next, which with [`ConditionalCoverage`](crate::policy::ConditionalCoverage) is Algorithm 1,
//!    and grants what its bounds allow;
//! 4. broadcasts the fused state, the contributor list and its lease, the price, the epoch and its tenure.
//!
//! It knows what it decoded and nothing else. What a candidate's report would cost, for one, it estimates: the objects of
//! its own fused state in the candidate's visible cells, and at least the mean of the reports it gets.
//!
//! Calls that may change what [`Host::poll_output`] gives: `handle_input` with [`Input::Tick`] at or after the next decision
//! (a broadcast and events), any other call only the next wake-up.

mod assess;
mod costs;
mod fused;
mod grant;
mod maps;
mod members;
mod scope;
mod speech;
mod trust;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::admission::{Admission, AdmissionProblem, Decision, Rules};
use crate::associate::Association;
use crate::grid::{Cell, Tile, Window};
use crate::guard;
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;
use crate::map::{self, RoadMap};
use crate::messages::{AgentState, Beacon, Broadcast, Message, ObjectState, PathCell};
use crate::office::{Claim, Inheritance};
use crate::parameters::Parameters;
use crate::policy::{Coverage, Explanation, Hints, Plan, Policy, View};
use crate::price::Price;
use crate::profile::Profile;
use crate::risk::RiskMap;
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

use assess::Assessment;
use costs::{AskedReports, Costs, LastBroadcast};
use fused::FusedState;
use grant::Bounds;
use maps::CoverageMaps;
use members::Member;
use scope::Scope;
use speech::{Room, Speech};

/// How slowly a host forgets how well it hears, in seconds.
const LINK_MEMORY_S: f64 = 10.0;

/// Looks on while a host plans: for those who record or explain.
pub trait Witness: Send {
    /// The host's policy was shown `view` and planned; `explanation` is what it has to say of it.
    fn planned(&mut self, view: &View<'_>, explanation: Option<Explanation<'_>>);
}

/// The host of one tile.
pub struct Host {
    parameters: Parameters,
    rules: Rules,
    id: AgentId,
    now: Instant,
    term: Term,
    own: Own,
    members: SortedMap<AgentId, Box<Member>>,
    /// Which of them go where there is no room.
    exits: guard::Exits,
    /// Who is not asked, and until when: it was asked for long, and in vain.
    barred: SortedMap<AgentId, Instant>,
    /// What may be believed of beacons.
    guard: guard::Rules,
    /// Where the sender of the last beacon stands among them.
    last_heard: usize,
    contributors: Vec<AgentId>,
    picture: Picture,
    maps: CoverageMaps,
    risk: RiskMap,
    channel: Channel,
    choice: Choice,
    road_map: Option<Arc<dyn RoadMap>>,
    outbox: Outbox,
    buffers: Buffers,
}

/// Its time in office.
#[derive(Debug)]
struct Term {
    tile: Tile,
    window: Window,
    in_office_since: Instant,
    /// The decision slot that was served last.
    decided: Instant,
    /// Counts changes of the contributor set.
    epoch: u32,
    /// Counts broadcasts.
    sequence: u32,
}

/// What it knows of objects, and has said of them.
#[derive(Debug, Default)]
struct Picture {
    fused: FusedState,
    /// Tells perceived objects apart where the policy asks for it.
    tracks: Option<Association>,
    /// Room for what is told apart.
    past: Vec<ObjectState>,
    /// Cells in which neighbouring hosts placed an object since the last decision.
    overheard: Vec<u32>,
    last_broadcast: LastBroadcast,
}

impl Picture {
    /// Every cell that was overheard once, ascending.
    fn sum_up(&mut self) {
        self.overheard.sort_unstable();
        self.overheard.dedup();
    }
}

/// What it knows of the channel.
#[derive(Debug)]
struct Channel {
    price: Price,
    links: LinkQuality,
    occupancy: Option<f64>,
}

/// How it chooses.
struct Choice {
    policy: Box<dyn Policy>,
    hints: Hints,
    witness: Option<Box<dyn Witness>>,
    admission: Admission,
    asked: AskedReports,
}

impl Choice {
    /// Brings the map up to date where the policy looks at it, and gives it; the map before it otherwise.
    fn fuse<'a>(&'a mut self, rules: &Rules, problem: &AdmissionProblem<'a>) -> &'a [f64] {
        if self.hints.coverage == Coverage::Ignored {
            return problem.prior;
        }
        self.admission.fuse(rules, problem);
        self.admission.map()
    }

    /// What the policy wants; whoever looks on is told.
    fn ask(&mut self, view: &View<'_>) -> Plan {
        let plan = self.policy.plan(view, &mut self.admission);
        if let Some(witness) = &mut self.witness {
            witness.planned(view, self.policy.explanation());
        }
        plan
    }
}

/// What it has to say.
#[derive(Debug, Default)]
struct Outbox {
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("id", &self.id)
            .field("tile", &self.term.tile)
            .field("contributors", &self.contributors)
            .finish_non_exhaustive()
    }
}

/// The vehicle that hosts.
#[derive(Debug, Clone, Default)]
struct Own {
    state: AgentState,
    /// Cells in view, as numbers of the window, ascending.
    cells: Vec<u32>,
    path: Vec<PathCell>,
}

/// Room that decisions use again.
#[derive(Debug, Default)]
struct Buffers {
    /// The views of all in the service scope, one behind the other.
    cells: Vec<u32>,
    /// Leave-one-out priors on the contributors' own cells, one behind the other.
    priors: Vec<f64>,
    /// Cells of a path and their weights.
    path: Vec<(u32, f64)>,
    costs: Costs,
}

impl Host {
    /// A host of `tile`, in office from `now` on.
    #[must_use]
    pub fn new(
        profile: &Profile,
        id: AgentId,
        tile: Tile,
        now: Instant,
        inheritance: Option<Inheritance>,
    ) -> Self {
        let parameters = profile.parameters.clone();
        let policy = (profile.policy)();
        let hints = policy.hints();
        let association = hints.association.or(profile.association);
        let inheritance = inheritance.unwrap_or_default();
        let window = Window::around(tile, parameters.tile_m, parameters.cell_m);
        let mut host = Self {
            rules: parameters.rules(),
            id,
            now,
            term: Term {
                tile,
                window,
                in_office_since: now,
                decided: Instant::ZERO,
                epoch: inheritance.epoch,
                sequence: 0,
            },
            own: Own::default(),
            members: SortedMap::default(),
            exits: guard::Exits::default(),
            barred: SortedMap::default(),
            guard: guard::Rules::new(&parameters),
            last_heard: 0,
            contributors: Vec::new(),
            picture: Picture {
                tracks: association.map(|accuracy| Association::new(id, accuracy)),
                ..Picture::default()
            },
            maps: CoverageMaps::new(hints.coverage, window.len()),
            risk: RiskMap::default(),
            channel: Channel {
                price: Price::new(
                    match hints.coverage {
                        Coverage::Weighed => inheritance.price.min(parameters.guard.price),
                        // Nobody goes by it.
                        _ => inheritance.price,
                    },
                    parameters.price_step,
                    parameters.target,
                ),
                links: LinkQuality::new(Duration::from_seconds(LINK_MEMORY_S)),
                occupancy: None,
            },
            choice: Choice {
                policy,
                hints,
                witness: None,
                admission: Admission::new(),
                asked: AskedReports::new(&parameters),
            },
            road_map: profile.map.clone(),
            outbox: Outbox::default(),
            buffers: Buffers::default(),
            parameters,
        };
        // A slot that begins this very moment is still to be served.
        host.term.decided = host.slot(now - Duration::from_micros(1));
        host
    }

    /// From now on `witness` looks on while it plans; best before the first decision. The host then works out all that there is
    /// to see, and decides as it would without.
    pub fn watch(&mut self, witness: Box<dyn Witness>) {
        self.choice.witness = Some(witness);
        self.choice.hints.paths = true;
        if self.choice.hints.coverage == Coverage::Priced {
            self.choice.hints.coverage = Coverage::Weighed;
            self.maps = CoverageMaps::new(Coverage::Weighed, self.term.window.len());
        }
    }

    /// The policy, with whatever it tells about itself.
    #[must_use]
    pub fn policy(&self) -> &dyn Policy {
        &*self.choice.policy
    }

    /// How well messages get through, by distance.
    #[must_use]
    pub fn links(&self) -> &LinkQuality {
        &self.channel.links
    }

    /// The tile that it hosts, all its time in office.
    #[must_use]
    pub fn tile(&self) -> Tile {
        self.term.tile
    }

    /// The contributors, by ascending id, the host not included.
    #[must_use]
    pub fn contributors(&self) -> &[AgentId] {
        &self.contributors
    }

    /// The congestion price, as its next broadcast will tell it.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.channel.price.value()
    }

    /// The epoch: how often the contributor set has changed.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.term.epoch
    }

    /// The id that the newest state of an object came with, where the host holds it: what the reporter calls the object that
    /// the host lists under `object`. The two differ where the host tells objects apart by itself.
    #[must_use]
    pub fn source_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.picture.fused.source_of(object)
    }

    /// How often it left out an object, or let one go, for want of room.
    #[must_use]
    pub fn crowded_out(&self) -> u64 {
        self.picture.fused.crowded_out()
    }

    /// Since when it has been in office.
    #[must_use]
    pub fn in_office_since(&self) -> Instant {
        self.term.in_office_since
    }

    /// Its claim to the tile, as another host of it would hear it at `at`.
    #[must_use]
    pub fn claim(&self, at: Instant) -> Claim {
        Claim {
            host: self.id,
            at,
            position: self.own.state.position,
            tenure: at.since(self.term.in_office_since),
            inheritance: Inheritance {
                price: self.channel.price.value(),
                epoch: self.term.epoch,
            },
        }
    }

    /// The coverage map of the last decision: cells with something in it.
    pub fn coverage(&self) -> impl Iterator<Item = (Cell, f64)> {
        let cells = self.maps.map().iter().enumerate();
        cells
            .filter(|&(_, &m)| m > 0.0)
            .map(|(at, &m)| (self.term.window.cell(at as u32), m))
    }

    /// What everyone was worth in the last decision.
    #[must_use]
    pub fn scores(&self) -> &[crate::admission::Score] {
        self.choice.admission.scores()
    }

    /// Takes in what happened at `now`.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        match input {
            Input::Tick => {
                let slot = self.slot(self.now);
                if slot > self.term.decided {
                    self.term.decided = slot;
                    self.serve(slot);
                }
            }
            Input::Moved(state) => {
                if state.is_finite() {
                    self.own.state = *state;
                    if let Some(tracks) = &mut self.picture.tracks {
                        let own = tracks.announce(self.id.into(), state, self.now);
                        own.into_iter()
                            .for_each(|seen| self.picture.fused.drop(seen));
                    }
                }
            }
            Input::Sensed { objects, cells } => {
                let (seen, window) = (&mut self.own.cells, &self.term.window);
                seen.clear();
                seen.extend(cells.iter().filter_map(|&cell| window.index(cell)));
                seen.sort_unstable();
                seen.dedup();
                let now = self.now;
                let past = objects.iter().filter(|o| o.sensed_at <= now);
                match &mut self.picture.tracks {
                    None => past.for_each(|state| self.picture.fused.sensed(state, state.id)),
                    Some(tracks) => {
                        let room = &mut self.picture.past;
                        room.clear();
                        room.extend(past.copied());
                        let labels = tracks.label(Some(self.id.into()), room, true);
                        for (state, label) in labelled(room, &labels) {
                            self.picture.fused.sensed(&label, state.id);
                        }
                    }
                }
            }
            Input::Beacon(beacon) => self.hear(beacon),
            Input::Report(report) => self.take(report),
            Input::Broadcast(broadcast) => self.overhear(broadcast),
            Input::Occupancy(occupancy) => {
                self.channel.price.update(occupancy);
                if occupancy.is_finite() {
                    self.channel.occupancy = Some(occupancy);
                }
            }
        }
    }

    /// Broadcasts and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outbox.outputs.pop_front() {
            return Some(output);
        }
        let wake = self.now.next_after(
            Duration::from_seconds(self.parameters.cycle_s),
            Duration::from_seconds(self.parameters.decision_phase_s),
        );
        (self.outbox.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// The newest decision slot at or before `at`.
    fn slot(&self, at: Instant) -> Instant {
        at.floor_to(
            Duration::from_seconds(self.parameters.cycle_s),
            Duration::from_seconds(self.parameters.decision_phase_s),
        )
    }

    fn hear(&mut self, beacon: &Beacon) {
        if beacon.sender == self.id || beacon.at > self.now || !beacon.state.is_finite() {
            return;
        }
        let most = self.parameters.guard.stations as usize;
        if self.members.len() >= most && !self.make_room(beacon) {
            return;
        }
        let (member, new) =
            self.members
                .get_or_insert_near(&mut self.last_heard, beacon.sender, || {
                    Box::new(Member::new(beacon))
                });
        let last = (&member.state, member.heard_at);
        let next = (&beacon.state, beacon.at);
        let places = (
            (member.state.position, member.heard_at),
            (beacon.state.position, beacon.at),
        );
        if !self.guard.is_one_way(places.0, places.1)
            && self.guard.is_fresh(self.now, member.heard_at)
        {
            return;
        }
        let interval = self.parameters.beacon_interval(last, next);
        let was = member.as_name().filter(|_| !new);
        let due = member.hear(beacon, interval);
        self.exits.note(beacon.sender, was, member.as_name());
        let distance = beacon.state.position.distance(self.own.state.position);
        self.channel.links.count(distance, f64::from(due), 1.0);
        if !beacon.state.size.is_body() {
            return;
        }
        if let Some(tracks) = &mut self.picture.tracks {
            let seen = tracks.announce(beacon.sender.into(), &beacon.state, beacon.at);
            seen.into_iter()
                .for_each(|seen| self.picture.fused.drop(seen));
        }
        self.picture.fused.announced(beacon);
    }

    /// One cycle's work, in the slot that began at `slot`.
    fn serve(&mut self, slot: Instant) {
        let cycle_start = slot - Duration::from_seconds(self.parameters.decision_phase_s);
        self.forget();
        self.picture.fused.gather(
            &self.parameters,
            self.id,
            self.own.state.position,
            cycle_start,
            self.now,
        );
        self.weigh_reporters(cycle_start);
        self.count_reports(cycle_start);
        if self.looks_at_paths() {
            self.predict();
            self.assess_risk();
        } else {
            self.risk.reset(self.term.window.len());
        }
        self.picture.sum_up();
        self.channel.links.age(self.now);
        let plan = self.plan(cycle_start);
        self.picture.overheard.clear();
        self.broadcast(cycle_start, plan);
    }

    /// Somebody looks at where others are about to drive.
    fn looks_at_paths(&self) -> bool {
        let factors = &self.rules.factors;
        self.choice.hints.paths
            || self.choice.hints.coverage == Coverage::Weighed
                && (factors.risk || factors.timeliness)
    }

    /// Lets go of who is gone.
    fn forget(&mut self) {
        let soft_state = Duration::from_seconds(self.parameters.soft_state_s);
        let now = self.now;
        let exits = &mut self.exits;
        exits.look_again();
        self.members.retain(|id, member| {
            let stays = now.since(member.heard_at) <= soft_state;
            if !stays {
                exits.note(id, member.as_name(), None);
            }
            stays
        });
        self.barred.retain(|_, until| *until > now);
        if let Some(tracks) = &mut self.picture.tracks {
            tracks.forget(now, soft_state);
        }
        let (own, footprint_m) = (self.own.state.position, self.parameters.footprint_m);
        let stays = |id: AgentId| {
            let member = self.members.get(id);
            member.is_some_and(|member| member.is_within(own, footprint_m))
                && self.barred.get(id).is_none()
        };
        let contributors = self.contributors.iter().copied();
        let gone: Vec<AgentId> = contributors.filter(|&id| !stays(id)).collect();
        for id in gone {
            self.contributors.retain(|&held| held != id);
            self.term.epoch = self.term.epoch.wrapping_add(1);
            self.outbox
                .outputs
                .push_back(Output::Event(Event::Dropped(id)));
        }
        self.maps.keep(&self.contributors);
    }

    /// Notes which contributors' reports of this cycle were decoded, and what they added.
    fn count_reports(&mut self, cycle_start: Instant) {
        self.bar_idle();
        let mut bytes = 0.0;
        for &id in &self.contributors {
            if let Some(member) = self.members.get_mut(id) {
                let decoded = member.reports.at.is_some_and(|at| at >= cycle_start);
                member.reports.history.push(0, decoded);
                member.reports.in_vain = match decoded && member.reports.objects.last() > 0.0 {
                    true => 0,
                    false => member.reports.in_vain.saturating_add(1),
                };
                if decoded {
                    let added = self.picture.fused.share(id);
                    member.reports.broadcast_bytes.push(added);
                    bytes += self.parameters.report_bytes(member.reports.objects.last());
                }
            }
        }
        self.choice.asked.count(self.contributors.len(), bytes);
    }

    /// Finds where everyone in scope is about to drive, by its newest beacon.
    fn predict(&mut self) {
        let (own, p) = (self.own.state, &self.parameters);
        let road_map = self.road_map.as_deref();
        if own.size.is_body() {
            map::path_ahead(road_map, &own, p.cell_m, &mut self.own.path);
        }
        for (_, member) in self.members.iter_mut() {
            if member.path_of != Some(member.heard_at)
                && member.is_within(own.position, p.footprint_m)
            {
                member.path_of = Some(member.heard_at);
                if member.state.size.is_body() {
                    map::path_ahead(road_map, &member.state, p.cell_m, &mut member.path);
                }
            }
        }
    }

    fn assess_risk(&mut self) {
        self.risk.reset(self.term.window.len());
        let cells = &mut self.buffers.path;
        let mut add = |speed: f64, path: &[PathCell]| {
            cells.clear();
            let inside = |p: &PathCell| Some((self.term.window.index(p.cell)?, p.weight));
            cells.extend(path.iter().filter_map(inside));
            let deadline_s = self.parameters.reaction_deadline_s(speed.abs());
            self.risk.add(deadline_s, cells);
        };
        let own = &self.own;
        add(own.state.speed, &own.path);
        for (_, member) in self.members.iter() {
            if member.is_within(own.state.position, self.parameters.footprint_m) {
                add(member.state.speed, &member.path);
            }
        }
        self.risk.finish();
    }

    /// Works out what everyone is worth and costs, asks the policy, and grants what the bounds allow.
    fn plan(&mut self, cycle_start: Instant) -> Speech {
        let (parameters, own) = (&self.parameters, &self.own);
        let (costs, priors) = (&mut self.buffers.costs, &mut self.buffers.priors);
        let scope = Scope::new(
            parameters,
            &self.term.window,
            own.state.position,
            &self.members,
            self.now,
            &mut self.buffers.cells,
        );
        let last_broadcast = &self.picture.last_broadcast;
        let counted = last_broadcast.counted(parameters.broadcast_counts);
        let assessment = Assessment {
            parameters,
            tile: self.term.tile,
            cycle_start,
            counted,
        };
        costs.begin(parameters, &self.picture.fused, &self.term.window, counted);
        let held = scope.some(&self.contributors);
        let contributors = assessment.contributors(&held, &self.maps, costs, priors);
        let problem = AdmissionProblem {
            price: self.channel.price.value(),
            broadcast_base_bytes: costs.base_bytes,
            broadcast_delivery: scope.delivery,
            prior: self.maps.map(),
            rho: self.risk.rho(),
            deadline_s: self.risk.deadline_s(),
            host_cells: &own.cells,
            overheard: &self.picture.overheard,
            contributors: &contributors,
            candidates: &[],
        };
        costs.weigh(self.choice.fuse(&self.rules, &problem));
        let candidates = assessment.candidates(&scope, &self.contributors, &self.barred, costs);
        let problem = AdmissionProblem {
            candidates: &candidates,
            ..problem
        };
        let fused = &mut self.picture.fused;
        let known = match self.choice.hints.known {
            true => fused.known(parameters, self.id, cycle_start, self.now),
            false => Vec::new(),
        };
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        let view = View {
            now: self.now,
            host: self.id,
            tile: self.term.tile,
            window: &self.term.window,
            rules: &self.rules,
            problem: &problem,
            scope: &scope.with_host(self.id, own, self.now),
            objects: fused.fresh(),
            parameters,
            cycle_start,
            known: &known,
            reports: &scope.reports(self.now, soft_state),
            links: &self.channel.links,
            occupancy: self.channel.occupancy,
            refresh: fused.refresh_due(parameters, self.now),
            map: self.road_map.as_deref(),
            watched: self.choice.witness.is_some(),
        };
        let plan = self.choice.ask(&view);
        let (reporters, binding) = (plan.reporters, plan.binding);
        let asks = (plan.content, plan.requested);
        let room = Room::of(&self.rules, &problem);
        let speech = Speech::compose(parameters, room, asks, plan.repeat, fused, self.now);
        let (granted, decision) = Bounds {
            rules: &self.rules,
            base_bytes: speech.base_bytes,
            present: &self.contributors,
            cost: speech.cost(parameters, &problem, &self.choice.asked),
        }
        .grant(reporters, binding);
        // The maps of this cycle, of the set as it was.
        let (admission, decay) = (&self.choice.admission, self.rules.decay());
        self.maps.advance(admission, decay, &contributors);
        self.settle(granted, decision);
        speech
    }

    /// The contributor set is now `granted`.
    fn settle(&mut self, granted: Vec<AgentId>, decision: Decision) {
        let before = core::mem::replace(&mut self.contributors, granted);
        self.maps.keep(&self.contributors);
        for &id in &self.contributors {
            if before.binary_search(&id).is_err() {
                self.maps.admit(id);
                // Its record begins anew with its admission.
                if let Some(member) = self.members.get_mut(id) {
                    member.reports.history = members::History::default();
                }
            }
        }
        let changes = u32::try_from(decision.changes.len()).unwrap_or(u32::MAX);
        self.term.epoch = self.term.epoch.wrapping_add(changes);
        self.outbox
            .outputs
            .push_back(Output::Event(Event::Decided(decision)));
    }

    fn broadcast(&mut self, cycle_start: Instant, speech: Speech) {
        let listing = speech.listing;
        let content = self.parameters.broadcast_content;
        let listable = self.picture.fused.listable(content).count();
        self.picture.last_broadcast = LastBroadcast {
            listed_share: match listable {
                0 => 1.0,
                n => listing.objects.len() as f64 / n as f64,
            },
            withdrawn: listing.withdrawn.len() as f64,
        };
        let broadcast = Broadcast {
            host: self.id,
            tile: self.term.tile,
            at: self.now,
            position: self.own.state.position,
            sequence: self.term.sequence,
            epoch: self.term.epoch,
            tenure: self.now.since(self.term.in_office_since),
            price: self.channel.price.value(),
            cycle_start,
            contributors: self.contributors.clone(),
            lease: Duration::from_seconds(self.parameters.lease_s),
            content: speech.content,
            requested: speech.requested,
            full: listing.full,
            objects: listing.objects,
            withdrawn: listing.withdrawn,
            unchanged_since: listing.unchanged_since,
        };
        self.term.sequence = self.term.sequence.wrapping_add(1);
        self.outbox
            .outputs
            .push_back(Output::Transmit(Message::Broadcast(broadcast)));
    }
}

/// Each state with its copy under the label that it got, where it got one.
fn labelled<'a>(
    states: &'a [ObjectState],
    labels: &'a [Option<ObjectId>],
) -> impl Iterator<Item = (&'a ObjectState, ObjectState)> {
    let pairs = states.iter().zip(labels);
    pairs.filter_map(|(state, label)| {
        Some((
            state,
            ObjectState {
                id: (*label)?,
                ..*state
            },
        ))
    })
}
