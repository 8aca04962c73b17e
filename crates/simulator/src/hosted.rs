//! Hosted arms: hosts of tiles, the contributors that they admit, and the host rule.
//!
//! Every host is the protocol's own [`Host`], every contributor's side its [`Contributor`]. What all participants would do
//! alike (keep the newest broadcast of each tile, apply the host rule once per cycle) is done here for all at once, by the
//! rules of [`covey_protocol::participant`].

mod broadcasts;
mod office;
mod spoken;

use std::sync::{Arc, Mutex, PoisonError};

use covey_protocol::admission::Admission;
use covey_protocol::contributor::Contributor;
use covey_protocol::demand::associate::Accuracy;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::demand::{Demand, DemandOptions, Views};
use covey_protocol::election::{self, Claim};
use covey_protocol::host::{Host, Inheritance};
use covey_protocol::map::RoadMap;
use covey_protocol::messages::{Beacon, Broadcast, Message, ObjectState, PathCell, Report};
use covey_protocol::parameters::Handover;
use covey_protocol::policy::{ConditionalCoverage, Plan, Policy, View};
use covey_protocol::snapshot::Snapshot;
use covey_protocol::{
    AgentId, CoverageDigest, Duration, Event, Input, ObjectId, Output, Parameters, Position, Tile,
};

use crate::air::{self, Air, BROADCAST, REPORT};
use crate::arm::{Arm, PolicyMaker, Strategy};
use crate::awareness::{BeaconHistory, Speaker, Told};
use crate::conduct::Misbehaviour;
use crate::cured::Credit;
use crate::demanded::ContentChoice;
use crate::observe::{HostView, Observer, Shown};
use crate::outcome::{Binding, Outcome};
use crate::policies::{Lottery, RandomChoice};
use crate::prepared::Prepared;
use crate::rivals::{MaximumCoverage, Order, Ordered};
use crate::run::tell_delivered;
use crate::shared::{RING, Shared};
use crate::sizes::Sizes;
use crate::slots::NO_SLOT;

pub(crate) use spoken::Spoken;

/// The newest broadcast for a tile, as one participant heard it.
#[derive(Debug, Clone, Copy)]
struct Office {
    tile: Tile,
    host: AgentId,
    step: u32,
    position: Position,
    /// That is in the tile.
    inside: bool,
    inheritance: Inheritance,
}

/// A host at work.
struct InOffice {
    slot: u32,
    tile: u32,
    host: Host<Box<dyn Policy>>,
    /// Beacons heard since the last decision, whose paths are to be told: sender and step.
    news: Vec<(u32, u32)>,
    /// Objects that a receiver of all broadcasts holds, as the host calls them, with the sequence number that last listed
    /// them.
    listed: Vec<(ObjectId, u32)>,
    /// By receiver: one more than the last sequence number received, and the first of the unbroken run up to it.
    following: Vec<(u32, u32)>,
}

impl std::fmt::Debug for InOffice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InOffice")
            .field("slot", &self.slot)
            .field("tile", &self.tile)
            .finish_non_exhaustive()
    }
}

/// What a tile's host did in this cycle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    pub(crate) tile: u32,
    pub(crate) host: u64,
    pub(crate) epoch: u32,
    pub(crate) contributors: u32,
    pub(crate) price: f64,
    pub(crate) airtime_s: f64,
    pub(crate) changes: u32,
    pub(crate) binding: Binding,
}

/// Where a watched policy leaves what it was shown.
#[derive(Debug, Clone, Default)]
struct Show(Arc<Mutex<Option<Shown>>>);

impl Show {
    fn replace(&self, shown: Option<Shown>) -> Option<Shown> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut kept, shown)
    }
}

/// A policy whose view is kept for whoever records.
struct Watched<P> {
    policy: P,
    show: Show,
}

impl Policy for Watched<Box<dyn Policy>> {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let shown = Shown::Coverage(Box::new(Snapshot::of_view(view)));
        self.show.replace(Some(shown));
        self.policy.plan(view, admission)
    }

    fn weighs_coverage(&self) -> bool {
        self.policy.weighs_coverage()
    }

    fn looks_at_known(&self) -> bool {
        self.policy.looks_at_known()
    }

    fn association(&self) -> Option<Accuracy> {
        self.policy.association()
    }
}

impl Policy for Watched<Demand> {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let plan = self.policy.plan(view, admission);
        if let Some(problem) = self.policy.problem() {
            let snapshot = DemandSnapshot {
                host: view.host,
                problem: problem.clone(),
            };
            let shown = Box::new((snapshot, self.policy.selection().clone()));
            self.show.replace(Some(Shown::Demand(shown)));
        }
        plan
    }

    fn weighs_coverage(&self) -> bool {
        self.policy.weighs_coverage()
    }

    fn looks_at_known(&self) -> bool {
        self.policy.looks_at_known()
    }

    fn association(&self) -> Option<Accuracy> {
        self.policy.association()
    }
}

/// A policy that looks at what everyone would cost, and at nothing else.
struct ByAirtime<P>(P);

impl<P: Policy> Policy for ByAirtime<P> {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        self.0.plan(view, admission)
    }

    fn weighs_coverage(&self) -> bool {
        false
    }

    fn looks_at_known(&self) -> bool {
        false
    }
}

/// Digests at 2 Hz: with every fifth beacon.
const LEAN_DIGEST_EVERY: u32 = 5;

/// One hosted arm.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Set where someone records.
    show: Option<Show>,
    /// Where someone records, what was learned from reports alone: it tells them from broadcasts.
    pub(crate) reported: Option<Told>,
    /// Steps for which messages matter.
    soft_state: u32,
    arm: Arm,
    own_policy: Option<PolicyMaker>,
    seed: u64,
    pub(crate) parameters: Parameters,
    hosts: Vec<InOffice>,
    /// Index in `hosts` by place.
    host_of: Vec<u32>,
    contributors: Vec<Option<Box<Contributor>>>,
    /// By place: when in the cycle it reports, where it contributes.
    phases: Vec<Duration>,
    offices: Vec<Vec<Office>>,
    /// By tile: a host that was in it for as long as anybody remembers, wherever it was last heard.
    settled: Vec<Option<AgentId>>,
    /// The own tile of a place, and since which step it has had no host.
    vacant: Vec<Option<(u32, u32)>>,
    /// Reports of this step, with their bytes and the places of their objects.
    reports: Vec<(u32, Report, u32)>,
    pub(crate) served: Vec<Served>,
    /// What decisions are good for.
    pub(crate) credit: Credit,
    receivers: Vec<u32>,
    /// How contributors choose what to say, where the arm leaves that to them.
    content: Option<ContentChoice>,
}

impl Hosted {
    /// With the arm's policy, or with another in its place.
    pub(crate) fn new(
        arm: Arm,
        own_policy: Option<PolicyMaker>,
        seed: u64,
        prepared: &Prepared,
    ) -> Self {
        let mut parameters = prepared.scenario.protocol.clone();
        parameters.allowance = arm.allowance.unwrap_or(parameters.allowance);
        let [novelty, risk, timeliness] = match arm.strategy {
            Strategy::CoverageOnly => [false, false, false],
            Strategy::Conditional => [true, false, false],
            Strategy::ConditionalRisk => [true, true, false],
            _ => [parameters.novelty, parameters.risk, parameters.timeliness],
        };
        parameters.novelty = novelty;
        parameters.risk = risk;
        parameters.timeliness = timeliness;
        let mut content = None;
        match arm.strategy {
            Strategy::ProposedLean => {
                parameters.report_silent_only = true;
                parameters.digest_every = LEAN_DIGEST_EVERY;
            }
            Strategy::Demand | Strategy::DemandRandom | Strategy::DemandDigest => {
                let mut options = prepared.scenario.demand.clone();
                options.sensor_range_m = prepared.scenario.sensing.range_m;
                // Stations tell how well they know where they are.
                options.position_error_m = prepared.scenario.errors.position_error_m;
                parameters.digest_every = 0;
                if arm.strategy == Strategy::DemandDigest {
                    options.views = Views::Digests;
                    parameters.digest_every = LEAN_DIGEST_EVERY;
                }
                parameters.handover = Some(Handover::USUAL);
                content = Some(ContentChoice::new(options));
            }
            // They look at nothing that a digest tells.
            Strategy::Nearest | Strategy::MaxAge | Strategy::Cmass => parameters.digest_every = 0,
            _ => {}
        }
        Self {
            show: None,
            reported: None,
            soft_state: prepared.timeline.soft_state,
            arm,
            own_policy,
            seed,
            parameters,
            hosts: Vec::new(),
            host_of: Vec::new(),
            contributors: Vec::new(),
            phases: Vec::new(),
            settled: Vec::new(),
            offices: Vec::new(),
            vacant: Vec::new(),
            reports: Vec::new(),
            served: Vec::new(),
            credit: Credit::default(),
            receivers: Vec::new(),
            content,
        }
    }

    /// Someone records: hosts keep what they were shown.
    pub(crate) fn watch(&mut self) {
        self.show = Some(Show::default());
        self.reported = Some(Told::new(self.soft_state));
    }

    fn options(&self) -> DemandOptions {
        let content = self.content.as_ref();
        content.map_or_else(DemandOptions::default, |content| content.options.clone())
    }

    /// Somebody looks at where others are about to drive: whoever records, or a policy that may weigh risk.
    fn looks_at_paths(&self) -> bool {
        let weighs_risk = match self.arm.strategy {
            Strategy::Random | Strategy::RandomRedraw => false,
            Strategy::CoverageOnly | Strategy::Conditional | Strategy::ConditionalRisk => {
                self.parameters.risk || self.parameters.timeliness
            }
            _ => true,
        };
        weighs_risk || self.show.is_some() || self.own_policy.is_some()
    }

    fn policy(&self) -> Box<dyn Policy> {
        let show = self.show.clone();
        match (show, self.demand()) {
            (Some(show), Some(policy)) => Box::new(Watched { policy, show }),
            (None, Some(policy)) => Box::new(policy),
            (Some(show), None) => Box::new(Watched {
                policy: self.other_policy(),
                show,
            }),
            (None, None) => self.other_policy(),
        }
    }

    /// The policy of the arm, where it is choice by demand.
    fn demand(&self) -> Option<Demand> {
        if self.own_policy.is_some() {
            return None;
        }
        match self.arm.strategy {
            Strategy::Demand | Strategy::DemandDigest => Some(Demand::new(self.options())),
            Strategy::DemandRandom => {
                let lottery = Lottery { seed: self.seed };
                Some(Demand::new(self.options()).at_random(Arc::new(lottery)))
            }
            _ => None,
        }
    }

    fn other_policy(&self) -> Box<dyn Policy> {
        if let Some(own) = &self.own_policy {
            return own.make(self.seed);
        }
        match self.arm.strategy {
            Strategy::Nearest => Box::new(Ordered::new(Order::Nearest)),
            Strategy::MaxAge => Box::new(Ordered::new(Order::OldestReport)),
            Strategy::Cmass => Box::new(MaximumCoverage::default()),
            Strategy::Random => self.random_choice(false),
            Strategy::RandomRedraw => self.random_choice(true),
            _ => Box::new(ConditionalCoverage),
        }
    }

    fn random_choice(&self, redraw: bool) -> Box<dyn Policy> {
        let seed = self.seed;
        let choice = RandomChoice { seed, redraw };
        if self.show.is_some() {
            // Recordings show all that a host knew.
            Box::new(choice)
        } else {
            Box::new(ByAirtime(choice))
        }
    }

    /// The beacon that a place sends in this step carries a digest.
    pub(crate) fn digest_due(&self, shared: &Shared<'_>, slot: u32) -> bool {
        self.digest_due_at(shared, slot, shared.step)
    }

    /// The beacon that a place sent at a step carried a digest.
    fn digest_due_at(&self, shared: &Shared<'_>, slot: u32, step: u32) -> bool {
        shared.carries_digest(slot, step, self.parameters.digest_every)
    }

    /// Makes room for new places and lets go of those that were left.
    pub(crate) fn begin(&mut self, shared: &Shared<'_>, hosts: &mut [u16], lane: usize) {
        let size = shared.slots.len();
        self.host_of.resize(size, NO_SLOT);
        self.contributors.resize_with(size, || None);
        self.phases.resize(size, Duration::ZERO);
        self.offices.resize_with(size, Vec::new);
        self.vacant.resize(size, None);
        if let Some(reported) = &mut self.reported {
            reported.begin(shared.step, size);
            for &slot in &shared.left {
                reported.clear(slot);
            }
        }
        for &slot in &shared.left {
            let slot = slot as usize;
            if self.host_of[slot] != NO_SLOT {
                self.leave_office(slot as u32, hosts, lane);
            }
            self.contributors[slot] = None;
            self.offices[slot].clear();
            self.vacant[slot] = None;
            for host in &mut self.hosts {
                host.news.retain(|&(sender, _)| sender != slot as u32);
                if let Some(following) = host.following.get_mut(slot) {
                    *following = (0, 0);
                }
            }
        }
    }

    /// Composes the reports that are due in this step and offers them.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn report(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        heard: &BeaconHistory,
        told: &Told,
        lane: usize,
        air: &mut Air,
        sizes: &Sizes,
    ) {
        self.reports.clear();
        let now = shared.now();
        let phase = Duration::from_micros(i64::from(shared.phase()) * covey_traffic::STEP_US);
        let thinning = air::thinning(shared, REPORT);
        for &slot in &shared.participants {
            if self.phases[slot as usize] != phase {
                continue;
            }
            let Some(contributor) = &mut self.contributors[slot as usize] else {
                continue;
            };
            let agent = shared.agent(slot);
            if let Some(wrong) = shared.misbehaviour(slot) {
                // Time passes for its leases, too.
                contributor.handle_input(now, Input::Tick);
                while contributor.poll_output().is_some() {}
                if wrong == Misbehaviour::ClaimViews && contributor.is_admitted() {
                    let report = Report {
                        sender: agent,
                        at: now,
                        objects: Vec::new(),
                        sensor_information: false,
                    };
                    let bytes = sizes.report(0, true);
                    air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                    self.reports.push((slot, report, bytes));
                }
                continue;
            }
            if !contributor.is_admitted() {
                // It has nothing to send, whatever it senses.
                while contributor.poll_output().is_some() {}
                continue;
            }
            let objects = spoken.sensed(shared, slot);
            if let Some(content) = &mut self.content {
                let requested = contributor.requested();
                let chosen = content.choose(
                    shared,
                    &self.parameters,
                    heard,
                    told,
                    lane,
                    slot,
                    objects,
                    &requested,
                );
                contributor.handle_input(
                    now,
                    Input::Sensed {
                        objects: &chosen,
                        cells: &[],
                    },
                );
            } else if self.parameters.report_silent_only {
                let soft = shared.prepared.timeline.soft_state;
                let silent: Vec<ObjectState> = objects
                    .iter()
                    .filter(|object| {
                        shared.slot_of(object.id).is_none_or(|object| {
                            let stamp = heard.at(object, slot, lane);
                            stamp == 0 || shared.step - shared.step_of(stamp) > soft
                        })
                    })
                    .copied()
                    .collect();
                contributor.handle_input(
                    now,
                    Input::Sensed {
                        objects: &silent,
                        cells: &[],
                    },
                );
            } else {
                contributor.handle_input(
                    now,
                    Input::Sensed {
                        objects,
                        cells: &[],
                    },
                );
            }
            contributor.handle_input(now, Input::Tick);
            while let Some(output) = contributor.poll_output() {
                if let Output::Transmit(Message::Report(report)) = output {
                    let bytes = sizes.report(report.objects.len(), true);
                    air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                    self.reports.push((slot, report, bytes));
                }
            }
        }
    }

    /// Hosts hear the beacons of this step, which are by lane.
    pub(crate) fn hear(
        &mut self,
        shared: &Shared<'_>,
        spoken: &Spoken,
        heard: &[Vec<(u32, u32)>],
        lane: usize,
    ) {
        let now = shared.now();
        for &(place, sender) in &heard[lane] {
            let digest = self.digest_due(shared, sender);
            let Some(host) = self.hosts.get_mut(self.host_of[place as usize] as usize) else {
                continue;
            };
            if let Some(beacon) = spoken.beacon(sender, shared.step) {
                if digest {
                    host.host.handle_input(now, Input::Beacon(beacon));
                } else {
                    let plain = Beacon {
                        digest: None,
                        ..beacon.clone()
                    };
                    host.host.handle_input(now, Input::Beacon(&plain));
                }
                host.news.push((sender, shared.step));
            }
        }
    }

    /// Delivers the reports of this step; `carried` goes with them one by one.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn deliver_reports(
        &mut self,
        shared: &Shared<'_>,
        air: &mut Air,
        carried: &[bool],
        told: &mut Told,
        receptions: &mut u64,
        number: usize,
        observer: &mut dyn Observer,
    ) {
        let now = shared.now();
        let reception = air::reception(shared, REPORT);
        let stamp = shared.stamp(shared.sensed_step);
        let mut receivers = std::mem::take(&mut self.receivers);
        for ((sender, report, bytes), &carried) in self.reports.iter().zip(carried) {
            air.deliver(
                shared,
                &reception,
                *sender,
                REPORT,
                *bytes,
                carried,
                &mut receivers,
            );
            *receptions += (receivers.len() * report.objects.len()) as u64;
            let message = told.message(shared.step, receivers.iter().copied());
            told.spoken_by(message, Speaker::Reporter(*sender));
            let mut by_report = self.reported.as_mut().map(|reported| {
                let message = reported.message(shared.step, receivers.iter().copied());
                (reported, message)
            });
            for object in &report.objects {
                if let Some(object) = shared.slot_of(object.id) {
                    told.tell(message, object, stamp);
                    if let Some((reported, message)) = &mut by_report {
                        reported.tell(*message, object, stamp);
                    }
                }
            }
            if observer.wants_deliveries() {
                let message = Message::Report(report.clone());
                tell_delivered(observer, number, shared, &message, &receivers);
            }
            for &receiver in &receivers {
                let at = self.host_of[receiver as usize];
                if at != NO_SLOT {
                    let host = &mut self.hosts[at as usize].host;
                    host.handle_input(now, Input::Report(report));
                }
            }
        }
        self.receivers = receivers;
    }

    /// Reports of this step, for observers.
    pub(crate) fn reports(&self) -> impl Iterator<Item = (u32, &Report)> {
        self.reports.iter().map(|(slot, report, _)| (*slot, report))
    }

    /// Tells hosts what their sensors see and how busy their tile is.
    pub(crate) fn inform(&mut self, shared: &Shared<'_>, spoken: &mut Spoken, air: &Air) {
        let now = shared.now();
        let timeline = &shared.prepared.timeline;
        let measured = shared.phase() % timeline.beacon == timeline.decision % timeline.beacon;
        for host in &mut self.hosts {
            if shared.is_sensing() {
                host.host.handle_input(
                    now,
                    Input::Sensed {
                        objects: spoken.sensed(shared, host.slot),
                        cells: shared.cells.of(host.slot),
                    },
                );
            }
            if measured {
                let bytes = air.last_cycle(host.tile).cooperative();
                let occupancy = bytes as f64 / shared.cycle_capacity();
                host.host.handle_input(now, Input::Occupancy(occupancy));
            }
        }
    }

    /// Hosts fuse, decide and offer their broadcasts.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn serve(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        air: &mut Air,
        sizes: &Sizes,
        lane: usize,
        observer: &mut dyn Observer,
        retention: Option<&mut Vec<u64>>,
    ) -> Vec<(u32, Broadcast, u32)> {
        self.served.clear();
        self.credit.begin(shared);
        let now = shared.now();
        let thinning = air::thinning(shared, BROADCAST);
        let mut broadcasts = Vec::with_capacity(self.hosts.len());
        let mut retention = retention;
        let with_paths = self.looks_at_paths();
        for InOffice {
            slot,
            tile,
            host,
            news,
            ..
        } in &mut self.hosts
        {
            let agent = shared.agent(*slot);
            host.handle_input(now, Input::Moved(&shared.here(*slot).state));
            if with_paths {
                // The newest beacon of each sender tells its path.
                news.sort_unstable();
                for (at, &(sender, step)) in news.iter().enumerate() {
                    if news.get(at + 1).is_some_and(|next| next.0 == sender) {
                        continue;
                    }
                    let id = shared.agent(sender);
                    let cells = spoken.path(shared, sender, step);
                    host.handle_input(now, Input::Path { agent: id, cells });
                }
                let mut own = Vec::new();
                spoken.own_path(shared, *slot, &mut own);
                host.handle_input(now, Input::Path { agent, cells: &own });
            }
            news.clear();
            let price = host.price();
            host.handle_input(now, Input::Tick);
            let mut drops = 0;
            while let Some(output) = host.poll_output() {
                match output {
                    Output::Event(Event::Dropped(_)) => drops += 1,
                    Output::Event(Event::Decided(decision)) => {
                        if let Some(histogram) = retention.as_deref_mut() {
                            for score in host.scores() {
                                if score.role == covey_protocol::admission::Role::Contributor
                                    && score.score > 0.0
                                {
                                    let bin = (score.score * 10.0) as usize;
                                    let last = histogram.len() - 1;
                                    histogram[bin.min(last)] += 1;
                                }
                            }
                        }
                        self.credit
                            .decided(agent, &decision, host.scores(), host.contributors());
                        self.served.push(Served {
                            tile: *tile,
                            host: agent.0,
                            epoch: host.epoch(),
                            contributors: host.contributors().len() as u32,
                            price,
                            airtime_s: decision.airtime_after.seconds,
                            changes: decision.changes.len() as u32 + drops,
                            binding: binding(decision.binding),
                        });
                        observer.decision(
                            lane,
                            &HostView {
                                host: agent.0,
                                tile: host.tile(),
                                decision: &decision,
                                scores: host.scores(),
                                contributors: host.contributors(),
                                price,
                                epoch: host.epoch(),
                                coverage: Vec::new(),
                                shown: self.show.as_ref().and_then(|show| show.replace(None)),
                            },
                        );
                    }
                    Output::Transmit(Message::Broadcast(broadcast)) => {
                        let bytes = sizes.broadcast(&broadcast);
                        air.offer(shared, &thinning, *slot, BROADCAST, bytes, 0);
                        broadcasts.push((*slot, broadcast, bytes));
                    }
                    _ => {}
                }
            }
        }
        broadcasts
    }
}

fn binding(binding: covey_protocol::admission::Binding) -> Binding {
    use covey_protocol::admission::Binding as B;
    match binding {
        B::Nothing => Binding::Nothing,
        B::Value => Binding::Value,
        B::Price => Binding::Price,
        B::Allowance => Binding::Allowance,
        B::Cycle => Binding::Cycle,
        B::Quota => Binding::Quota,
    }
}
