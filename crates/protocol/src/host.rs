//! The host: it fuses, decides, and tells everyone.
//!
//! Once per cycle, at its decision phase, a host
//!
//! 1. forgets who has not been heard for the soft-state time, and drops contributors that are gone or out of its footprint
//!    (an epoch each, outside the quota);
//! 2. fuses the cycle's objects and brings the coverage map and the leave-one-out maps up to date;
//! 3. asks its [`Policy`] who shall report next, which with [`ConditionalCoverage`] is Algorithm 1;
//! 4. broadcasts the fused state, the contributor list and its lease, the price, the epoch and its tenure.
//!
//! It knows what it decoded and nothing else. What a candidate's report would cost, for one, it estimates: the objects of
//! its own fused state in the candidate's visible cells, and at least the mean of the reports it gets.
//!
//! Calls that may change what [`Host::poll_output`] gives: `handle_input` with [`Input::Tick`] at or after the next decision
//! (a broadcast and events), any other call only the next wake-up.

mod costs;
mod fused;
mod members;
mod without;

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::admission::{
    Admission, AdmissionCandidate, AdmissionContributor, AdmissionProblem, Rules,
};
use crate::demand::associate::Association;
use crate::grid::{Cell, Tile, Window};
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;
use crate::map::RoadMap;
use crate::messages::{
    AgentState, Beacon, Broadcast, Content, Message, ObjectState, PathCell, Report,
};
use crate::parameters::Parameters;
use crate::policy::{self, ConditionalCoverage, LastReport, Policy, Repeat, ScopeMember, View};
use crate::price::Price;
use crate::risk::RiskMap;
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

use costs::{Costs, LastBroadcast};
use fused::FusedState;
use members::Member;
use without::{MapWithout, without_trace};

/// How slowly a host forgets how well it hears, in seconds.
const LINK_MEMORY_S: f64 = 10.0;

/// What a new host takes over from the broadcasts of the one before it, where it heard them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Inheritance {
    /// The congestion price.
    pub price: f64,
    /// The epoch.
    pub epoch: u32,
}

/// The host of one tile.
#[derive(Debug, Clone)]
pub struct Host<P = ConditionalCoverage> {
    parameters: Parameters,
    rules: Rules,
    policy: P,
    id: AgentId,
    tile: Tile,
    window: Window,
    in_office_since: Instant,
    now: Instant,
    /// The decision slot that was served last.
    decided: Instant,
    own: AgentState,
    own_cells: Vec<u32>,
    own_path: Vec<PathCell>,
    members: SortedMap<AgentId, Member>,
    /// Where the sender of the last beacon stands among them.
    last_heard: usize,
    fused: FusedState,
    contributors: Vec<AgentId>,
    /// The coverage map M, over the window.
    map: Vec<f64>,
    /// The map without each contributor.
    without: SortedMap<AgentId, MapWithout>,
    overheard: Vec<u32>,
    risk: RiskMap,
    price: Price,
    epoch: u32,
    sequence: u32,
    last_broadcast: LastBroadcast,
    costs: Costs,
    admission: Admission,
    links: LinkQuality,
    occupancy: Option<f64>,
    map_data: Option<Arc<dyn RoadMap>>,
    /// Tells perceived objects apart where the policy asks for it.
    tracks: Option<Association>,
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
    buffers: Buffers,
}

/// Room that decisions use again.
#[derive(Debug, Clone, Default)]
struct Buffers {
    /// The views of all in the service scope, one behind the other.
    cells: Vec<u32>,
    /// Leave-one-out priors on the contributors' own cells, one behind the other.
    priors: Vec<f64>,
    without: Vec<(u32, f64)>,
    /// Cells of a path and their weights.
    path: Vec<(u32, f64)>,
}

impl Host<ConditionalCoverage> {
    /// A host of `tile` with the letter's policy, in office from `now` on.
    #[must_use]
    pub fn new(
        parameters: &Parameters,
        id: AgentId,
        tile: Tile,
        now: Instant,
        inheritance: Option<Inheritance>,
    ) -> Self {
        Self::with_policy(parameters, id, tile, now, inheritance, ConditionalCoverage)
    }
}

impl<P: Policy> Host<P> {
    /// A host of `tile` with a policy of your own, in office from `now` on.
    #[must_use]
    pub fn with_policy(
        parameters: &Parameters,
        id: AgentId,
        tile: Tile,
        now: Instant,
        inheritance: Option<Inheritance>,
        policy: P,
    ) -> Self {
        let inheritance = inheritance.unwrap_or_default();
        let window = Window::around(tile, parameters.tile_m, parameters.cell_m);
        let tracks = policy.association().map(Association::new);
        let mut host = Self {
            rules: parameters.rules(),
            policy,
            id,
            tile,
            window,
            in_office_since: now,
            now,
            decided: Instant::ZERO,
            own: AgentState::default(),
            own_cells: Vec::new(),
            own_path: Vec::new(),
            members: SortedMap::default(),
            last_heard: 0,
            fused: FusedState::default(),
            contributors: Vec::new(),
            map: alloc::vec![0.0; window.len()],
            without: SortedMap::default(),
            overheard: Vec::new(),
            risk: RiskMap::default(),
            price: Price::new(inheritance.price, parameters.price_step, parameters.target),
            epoch: inheritance.epoch,
            sequence: 0,
            last_broadcast: LastBroadcast::default(),
            costs: Costs::default(),
            buffers: Buffers::default(),
            admission: Admission::new(),
            links: LinkQuality::new(Duration::from_seconds(LINK_MEMORY_S)),
            occupancy: None,
            map_data: None,
            tracks,
            outputs: VecDeque::new(),
            wake_told: None,
            parameters: parameters.clone(),
        };
        // A slot that begins this very moment is still to be served.
        host.decided = host.slot(now - Duration::from_micros(1));
        host
    }

    /// The same host with a map of roads and buildings.
    #[must_use]
    pub fn with_map(mut self, map: Option<Arc<dyn RoadMap>>) -> Self {
        self.map_data = map;
        self
    }

    /// The policy, with whatever it tells about itself.
    #[must_use]
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// How well messages get through, by distance.
    #[must_use]
    pub fn links(&self) -> &LinkQuality {
        &self.links
    }

    /// The tile.
    #[must_use]
    pub fn tile(&self) -> Tile {
        self.tile
    }

    /// The contributors, by ascending id, the host not included.
    #[must_use]
    pub fn contributors(&self) -> &[AgentId] {
        &self.contributors
    }

    /// The congestion price.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price.value()
    }

    /// The epoch: how often the contributor set has changed.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The id that the newest state of an object came with, where the host holds it: what the reporter calls the object that
    /// the host lists under `object`. The two differ where the host tells objects apart by itself.
    #[must_use]
    pub fn source_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.fused.source_of(object)
    }

    /// Since when it has been in office.
    #[must_use]
    pub fn in_office_since(&self) -> Instant {
        self.in_office_since
    }

    /// The coverage map of the last decision: cells with something in it.
    pub fn coverage(&self) -> impl Iterator<Item = (Cell, f64)> {
        let cells = self.map.iter().enumerate();
        cells
            .filter(|&(_, &m)| m > 0.0)
            .map(|(at, &m)| (self.window.cell(at as u32), m))
    }

    /// What everyone was worth in the last decision.
    #[must_use]
    pub fn scores(&self) -> &[crate::admission::Score] {
        self.admission.scores()
    }

    /// Takes in what happened at `now`.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        match input {
            Input::Tick => {
                let slot = self.slot(self.now);
                if slot > self.decided {
                    self.decided = slot;
                    self.serve(slot);
                }
            }
            Input::Moved(state) => {
                if state.is_finite() {
                    self.own = *state;
                    if let Some(tracks) = &mut self.tracks {
                        let own = tracks.announce(self.id.into(), state, self.now);
                        own.into_iter().for_each(|seen| self.fused.drop(seen));
                    }
                }
            }
            Input::Sensed { objects, cells } => {
                self.own_cells.clear();
                let window = &self.window;
                self.own_cells
                    .extend(cells.iter().filter_map(|&cell| window.index(cell)));
                self.own_cells.sort_unstable();
                self.own_cells.dedup();
                let now = self.now;
                let past = objects.iter().filter(|o| o.sensed_at <= now);
                match &mut self.tracks {
                    None => past.for_each(|state| self.fused.sensed(state, state.id)),
                    Some(tracks) => {
                        let past: Vec<ObjectState> = past.copied().collect();
                        let labels = tracks.label(Some(self.id.into()), &past, true);
                        for (state, label) in labelled(&past, &labels) {
                            self.fused.sensed(&label, state.id);
                        }
                    }
                }
            }
            Input::Beacon(beacon) => self.hear(beacon),
            Input::Report(report) => self.take(report),
            Input::Broadcast(broadcast) => self.overhear(broadcast),
            Input::Occupancy(occupancy) => {
                self.price.update(occupancy);
                if occupancy.is_finite() {
                    self.occupancy = Some(occupancy);
                }
            }
            Input::Path { agent, cells } => {
                let path = if agent == self.id {
                    Some(&mut self.own_path)
                } else {
                    self.members.get_mut(agent).map(|member| &mut member.path)
                };
                if let Some(path) = path {
                    path.clear();
                    path.extend_from_slice(cells);
                }
            }
        }
    }

    /// Broadcasts and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        let wake = self.now.next_after(
            Duration::from_seconds(self.parameters.cycle_s),
            Duration::from_seconds(self.parameters.decision_phase_s),
        );
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
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
        let member = self
            .members
            .get_or_insert_near(&mut self.last_heard, beacon.sender, || Member::new(beacon));
        let last = (&member.state, member.heard_at);
        let next = (&beacon.state, beacon.at);
        let interval = self.parameters.beacon_interval(last, next);
        let due = member.hear(beacon, interval);
        let distance = beacon.state.position.distance(self.own.position);
        self.links.count(distance, f64::from(due), 1.0);
        if let Some(tracks) = &mut self.tracks {
            let seen = tracks.announce(beacon.sender.into(), &beacon.state, beacon.at);
            seen.into_iter().for_each(|seen| self.fused.drop(seen));
        }
        self.fused.announced(beacon);
    }

    fn take(&mut self, report: &Report) {
        if report.sender == self.id || report.at > self.now {
            return;
        }
        let labelled: Option<Vec<(ObjectState, ObjectId)>> = self.tracks.as_mut().map(|tracks| {
            let past = |o: &&ObjectState| o.sensed_at <= self.now;
            let past: Vec<ObjectState> = report.objects.iter().filter(past).copied().collect();
            let labels = tracks.label(Some(report.sender.into()), &past, true);
            labelled(&past, &labels)
                .map(|(state, label)| (label, state.id))
                .collect()
        });
        if let Some(member) = self.members.get_mut(report.sender)
            && member.reports.at.is_none_or(|at| report.at > at)
        {
            member.reports.at = Some(report.at);
            member.reports.objects = report.objects.len();
            let ids = &mut member.reports.ids;
            ids.clear();
            match &labelled {
                None => ids.extend(report.objects.iter().map(|object| object.id)),
                Some(labelled) => ids.extend(labelled.iter().map(|(object, _)| object.id)),
            }
            ids.sort_unstable();
            ids.dedup();
            member.reports.sensed_at = report.objects.iter().map(|o| o.sensed_at).min();
        }
        match &labelled {
            None => {
                for state in report.objects.iter().filter(|o| o.sensed_at <= self.now) {
                    self.fused.reported(report.sender, state, state.id);
                }
            }
            Some(labelled) => {
                for (state, source) in labelled {
                    self.fused.reported(report.sender, state, *source);
                }
            }
        }
    }

    /// Objects of this or the last cycle in a neighbour's broadcast cover their cells.
    fn overhear(&mut self, broadcast: &Broadcast) {
        // A broadcast older than the own last decision was heard before it, or came too late to count.
        if broadcast.host == self.id || broadcast.at < self.decided || broadcast.at > self.now {
            return;
        }
        if let Some(tracks) = &mut self.tracks {
            let labels = tracks.label(None, &broadcast.objects, false);
            for (_, state) in labelled(&broadcast.objects, &labels) {
                self.fused.overheard(&state);
            }
        }
        for object in &broadcast.objects {
            if self.tracks.is_none() {
                self.fused.overheard(object);
            }
            if object.sensed_at >= broadcast.cycle_start
                && let Some(cell) = Cell::containing(object.position, self.parameters.cell_m)
                && let Some(at) = self.window.index(cell)
            {
                self.overheard.push(at);
            }
        }
    }

    /// One cycle's work, in the slot that began at `slot`.
    fn serve(&mut self, slot: Instant) {
        let cycle_start = slot - Duration::from_seconds(self.parameters.decision_phase_s);
        self.forget();
        self.fused.gather(
            &self.parameters,
            self.id,
            self.own.position,
            cycle_start,
            self.now,
        );
        self.count_reports(cycle_start);
        self.assess_risk();
        self.overheard.sort_unstable();
        self.overheard.dedup();
        self.links.age(self.now);
        let speech = self.decide(cycle_start);
        self.overheard.clear();
        self.broadcast(cycle_start, speech);
    }

    /// Lets go of who is gone.
    fn forget(&mut self) {
        let soft_state = Duration::from_seconds(self.parameters.soft_state_s);
        let now = self.now;
        self.members
            .retain(|_, member| now.since(member.heard_at) <= soft_state);
        if let Some(tracks) = &mut self.tracks {
            tracks.forget(now, soft_state);
        }
        let gone: Vec<AgentId> = self
            .contributors
            .iter()
            .copied()
            .filter(|&id| !self.members.get(id).is_some_and(|m| self.in_scope(m)))
            .collect();
        for id in gone {
            self.contributors.retain(|&held| held != id);
            self.without.remove(id);
            self.epoch = self.epoch.wrapping_add(1);
            self.outputs.push_back(Output::Event(Event::Dropped(id)));
        }
    }

    fn in_scope(&self, member: &Member) -> bool {
        member.state.position.distance(self.own.position) <= self.parameters.footprint_m
    }

    /// Notes which contributors' reports of this cycle were decoded, and what they added.
    fn count_reports(&mut self, cycle_start: Instant) {
        for &id in &self.contributors {
            if let Some(member) = self.members.get_mut(id) {
                let decoded = member.reports.at.is_some_and(|at| at >= cycle_start);
                member.reports.history.push(0, decoded);
                if decoded {
                    member.reports.broadcast_bytes = Some(self.fused.share(id));
                }
            }
        }
    }

    fn assess_risk(&mut self) {
        self.risk.reset(self.window.len());
        let mut cells = core::mem::take(&mut self.buffers.path);
        let mut add = |risk: &mut RiskMap, speed: f64, path: &[PathCell]| {
            cells.clear();
            cells.extend(
                path.iter()
                    .filter_map(|p| Some((self.window.index(p.cell)?, p.weight))),
            );
            risk.add(self.parameters.reaction_deadline_s(speed.abs()), &cells);
        };
        add(&mut self.risk, self.own.speed, &self.own_path);
        let footprint_m = self.parameters.footprint_m;
        for (_, member) in self.members.iter() {
            if member.state.position.distance(self.own.position) <= footprint_m {
                add(&mut self.risk, member.state.speed, &member.path);
            }
        }
        self.risk.finish();
        self.buffers.path = cells;
    }

    fn decide(&mut self, cycle_start: Instant) -> Speech {
        let parameters = &self.parameters;
        let mut buffers = core::mem::take(&mut self.buffers);
        let mut costs = core::mem::take(&mut self.costs);
        let cells = &mut buffers.cells;
        cells.clear();
        let mut scope: Vec<ScopeMember<'_>> = Vec::with_capacity(self.members.len() + 1);
        // Each of them with its view, as a part of `cells`.
        let mut views: Vec<(&Member, Range<usize>)> = Vec::with_capacity(self.members.len());
        let mut delivery = 0.0;
        for (id, member) in self.members.iter().filter(|(_, m)| self.in_scope(m)) {
            let interval = Duration::from_seconds(parameters.beacon_interval_s(member.state.speed));
            let beacon_share = member.beacon_share(self.now, interval, parameters.beacon_window);
            delivery += beacon_share;
            scope.push(ScopeMember {
                id,
                state: &member.state,
                heard_at: member.heard_at,
                beacon_share,
                path: &member.path,
            });
            let begin = cells.len();
            member.view(&self.window, cells);
            views.push((member, begin..cells.len()));
        }
        let cells = &*cells;
        // The channel is reciprocal: how well members are heard tells how well they hear.
        let delivery = if scope.is_empty() {
            1.0
        } else {
            delivery / scope.len() as f64
        };

        // Contributors are in scope, and both go by ascending id.
        let mut held: Vec<(AgentId, &Member, &[u32])> = Vec::with_capacity(self.contributors.len());
        let mut at = 0;
        for &id in &self.contributors {
            at += scope[at..].iter().take_while(|s| s.id < id).count();
            if scope.get(at).is_some_and(|s| s.id == id) {
                let (member, view) = &views[at];
                held.push((id, member, &cells[view.clone()]));
            }
        }
        let priors = &mut buffers.priors;
        priors.clear();
        for &(id, _, cells) in &held {
            if let Some(without) = self.without.get(id) {
                without.read(&self.map, cells, priors);
            }
        }
        let mut priors = &priors[..];

        // The last map serves for contributors not yet heard; candidates are judged by the new one.
        let counted = self.last_broadcast.counted(parameters.broadcast_counts);
        costs.begin(parameters, &self.fused, &self.window, counted);
        if held.iter().any(|(_, member, _)| member.reports.is_new()) {
            costs.weigh(&self.map);
        }
        let mut mean_report = None;
        let mut contributors = Vec::with_capacity(held.len());
        for &(id, member, cells) in &held {
            let reports = &member.reports;
            let [visible, new] = if reports.is_new() {
                costs.objects_in(cells)
            } else {
                [0.0; 2]
            };
            let report_bytes = match reports.at {
                Some(_) => parameters.report_bytes(reports.objects as f64),
                None => parameters.report_bytes(visible),
            };
            let (sum, count) = mean_report.unwrap_or((0.0, 0.0));
            if reports.at.is_some() {
                mean_report = Some((sum + report_bytes, count + 1.0));
            }
            let listed = reports
                .broadcast_bytes
                .unwrap_or(new * parameters.object_bytes)
                * counted.listed_share;
            let prior_without = self.without.get(id).map(|_| {
                let (own, rest) = priors.split_at(cells.len());
                priors = rest;
                own
            });
            contributors.push(AdmissionContributor {
                id,
                cells,
                decoded: reports.at.is_some_and(|at| at >= cycle_start),
                decoded_fraction: reports
                    .history
                    .share(parameters.report_window, 0)
                    .unwrap_or(0.0),
                report_bytes,
                broadcast_bytes: listed + parameters.contributor_bytes,
                prior_without,
            });
        }
        let least_report = mean_report.map_or(0.0, |(sum, count)| sum / count);
        let problem = AdmissionProblem {
            price: self.price.value(),
            broadcast_base_bytes: costs.base_bytes,
            broadcast_delivery: delivery,
            prior: &self.map,
            rho: self.risk.rho(),
            deadline_s: self.risk.deadline_s(),
            host_cells: &self.own_cells,
            overheard: &self.overheard,
            contributors: &contributors,
            candidates: &[],
        };
        self.admission.fuse(&self.rules, &problem);
        costs.weigh(self.admission.map());

        let mut candidates = Vec::with_capacity(scope.len());
        for (s, (_, view)) in scope.iter().zip(&views) {
            let in_tile = || Tile::containing(s.state.position, parameters.tile_m);
            if self.contributors.binary_search(&s.id).is_ok()
                || (parameters.candidates_in_tile_only && in_tile() != Some(self.tile))
            {
                continue;
            }
            let cells = &cells[view.clone()];
            let [visible, new] = costs.objects_in(cells);
            candidates.push(AdmissionCandidate {
                id: s.id,
                cells,
                decoded_fraction: s.beacon_share,
                report_bytes: parameters.report_bytes(visible).max(least_report),
                broadcast_bytes: new * parameters.object_bytes * counted.listed_share
                    + parameters.contributor_bytes,
            });
        }
        let problem = AdmissionProblem {
            candidates: &candidates,
            ..problem
        };
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        let reports: Vec<LastReport<'_>> = scope
            .iter()
            .zip(&views)
            .filter_map(|(s, (member, _))| {
                let reports = &member.reports;
                let at = reports.at.filter(|&at| self.now.since(at) <= soft_state)?;
                Some(LastReport {
                    sender: s.id,
                    at,
                    sensed_at: reports.sensed_at.unwrap_or(at),
                    objects: &reports.ids,
                })
            })
            .collect();
        let own = ScopeMember {
            id: self.id,
            state: &self.own,
            heard_at: self.now,
            beacon_share: 1.0,
            path: &self.own_path,
        };
        let at = scope.partition_point(|s| s.id < self.id);
        scope.insert(at, own);
        let known = if self.policy.looks_at_known() {
            self.fused.known(parameters, self.id, cycle_start, self.now)
        } else {
            Vec::new()
        };
        let plan = self.policy.plan(
            &View {
                now: self.now,
                host: self.id,
                tile: self.tile,
                window: &self.window,
                rules: &self.rules,
                problem: &problem,
                scope: &scope,
                objects: self.fused.fresh(),
                parameters,
                cycle_start,
                known: &known,
                reports: &reports,
                links: &self.links,
                occupancy: self.occupancy,
                refresh: self.fused.refresh_due(parameters, self.now),
                map: self.map_data.as_deref(),
            },
            &mut self.admission,
        );

        // The maps of this cycle, of the set as it was.
        let decay = self.rules.decay();
        for contributor in &contributors {
            if let Some(map) = self.without.get_mut(contributor.id)
                && let Some(before) = contributor.prior_without
            {
                let spare = &mut buffers.without;
                map.age(&self.admission, decay, contributor, before, spare);
            }
        }
        self.map.clear();
        let map = self.admission.map().iter();
        self.map.extend(map.map(|&m| without_trace(m)));
        self.buffers = buffers;
        self.costs = costs;

        let before = core::mem::take(&mut self.contributors);
        self.contributors.clone_from(&before);
        policy::apply(&mut self.contributors, &plan);
        let held = &self.contributors;
        self.without.retain(|id, _| held.binary_search(&id).is_ok());
        for &id in held {
            if before.binary_search(&id).is_err() {
                if self.policy.weighs_coverage() {
                    self.without.insert(id, MapWithout::default());
                }
                // Its record begins anew with its admission.
                if let Some(member) = self.members.get_mut(id) {
                    member.reports.history = members::History::default();
                }
            }
        }
        let changes = u32::try_from(plan.decision.changes.len()).unwrap_or(u32::MAX);
        self.epoch = self.epoch.wrapping_add(changes);
        self.outputs
            .push_back(Output::Event(Event::Decided(plan.decision)));
        Speech {
            content: plan.content,
            requested: plan.requested,
            repeat: plan.repeat,
        }
    }

    fn broadcast(&mut self, cycle_start: Instant, speech: Speech) {
        let listing = match &speech.repeat {
            Repeat::Fresh => self.fused.list(&self.parameters, self.now),
            Repeat::Picked(ids) => self.fused.list_picked(&self.parameters, ids, self.now),
        };
        let content = self.parameters.broadcast_content;
        let listable = self.fused.listable(content).count();
        self.last_broadcast = LastBroadcast {
            listed_share: match listable {
                0 => 1.0,
                n => listing.objects.len() as f64 / n as f64,
            },
            withdrawn: listing.withdrawn.len() as f64,
        };
        let broadcast = Broadcast {
            host: self.id,
            tile: self.tile,
            at: self.now,
            position: self.own.position,
            sequence: self.sequence,
            epoch: self.epoch,
            tenure: self.now.since(self.in_office_since),
            price: self.price.value(),
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
        self.sequence = self.sequence.wrapping_add(1);
        self.outputs
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

/// What a plan says of the broadcast.
struct Speech {
    content: Content,
    requested: Vec<ObjectId>,
    repeat: Repeat,
}
