//! Hosted arms: hosts of tiles, the contributors that they admit, and the host rule.
//!
//! Every host is the protocol's own [`Host`], every contributor's side its [`Contributor`], and the host rule and the choice of
//! content are the protocol's. What a participant would keep of what it heard is kept here for all at once, in flat arrays; a
//! test holds what is sent against real participants.

mod broadcasts;
mod ears;
mod office;
mod spoken;

use std::sync::{Arc, Mutex, PoisonError};

use covey_protocol::contributor::Contributor;
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::demand::{Demand, DemandOptions, Views};
use covey_protocol::host::{Host, Witness};
use covey_protocol::knowledge::{Chooser, Observer as Chooses};
use covey_protocol::messages::{Beacon, Broadcast, Message, ObjectState, Report};
use covey_protocol::office::{Claim, OfficeRule, Vacancy};
use covey_protocol::policy::{Explanation, View};
use covey_protocol::snapshot::Snapshot;
use covey_protocol::{
    AgentId, CoverageDigest, Duration, Event, Input, Instant, ObjectId, Output, Parameters,
    Position, Profile, RoadMap, Tile,
};

use crate::air::{self, Air, BROADCAST, BeaconLanes, REPORT};
use crate::arm::{Arm, PolicyMaker, Strategy};
use crate::awareness::{BeaconHistory, Speaker, Told};
use crate::conduct::Misbehaviour;
use crate::cured::Credit;
use crate::observe::{HostView, Observer, Shown};
use crate::outcome::{Binding, Outcome};
use crate::policies::{Lottery, RandomChoice};
use crate::prepared::Prepared;
use crate::rivals::{MaximumCoverage, Order, Ordered};
use crate::run::tell_delivered;
use crate::shared::{RING, Shared};
use crate::sizes::Sizes;
use crate::slots::NO_SLOT;

use ears::{ContributorEars, Sayings};
pub(crate) use spoken::Spoken;

/// A host at work.
struct InOffice {
    slot: u32,
    tile: u32,
    host: Host,
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

/// Where hosts leave what their policies were shown, for whoever records.
#[derive(Debug, Clone, Default)]
struct Show(Arc<Mutex<Option<Shown>>>);

impl Show {
    fn replace(&self, shown: Option<Shown>) -> Option<Shown> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut kept, shown)
    }
}

impl Witness for Show {
    fn planned(&mut self, view: &View<'_>, explanation: Option<Explanation<'_>>) {
        let shown = match explanation {
            Some(Explanation::Demand(problem, selection)) => {
                let snapshot = DemandSnapshot {
                    host: view.host,
                    problem: problem.clone(),
                };
                Shown::Demand(Box::new((snapshot, selection.clone())))
            }
            _ => Shown::Coverage(Box::new(Snapshot::of_view(view))),
        };
        self.replace(Some(shown));
    }
}

/// One hosted arm.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Set where someone records.
    show: Option<Show>,
    /// Where someone records, what was learned from reports alone: it tells them from broadcasts.
    pub(crate) reported: Option<Told>,
    /// Steps for which messages matter.
    soft_state: u32,
    pub(crate) profile: Profile,
    rule: OfficeRule,
    hosts: Vec<InOffice>,
    /// Index in `hosts` by place.
    host_of: Vec<u32>,
    contributors: Vec<Option<Box<Contributor>>>,
    /// By place: when in the cycle it reports, where it contributes.
    phases: Vec<Duration>,
    /// By place: the newest claim to each tile that it heard.
    claims: Vec<Vec<(Tile, Claim)>>,
    /// By tile: a host that was in it for as long as anybody remembers, wherever it was last heard.
    settled: Vec<Option<AgentId>>,
    vacant: Vec<Vacancy>,
    /// Reports of this step, with their bytes.
    reports: Vec<(u32, Report, u32)>,
    pub(crate) served: Vec<Served>,
    /// What decisions are good for.
    pub(crate) credit: Credit,
    receivers: Vec<u32>,
    chooser: Chooser,
    /// What was said of objects, where contributors choose by it what to say.
    sayings: Option<Sayings>,
}

impl Arm {
    /// What a participant of this arm is like in a run with this seed, the map included: the run's own hosts, contributors and
    /// listeners are just so. None for arms without hosts.
    #[must_use]
    pub fn profile(&self, seed: u64, prepared: &Prepared) -> Option<Profile> {
        let map = Arc::clone(&prepared.carried) as Arc<dyn RoadMap>;
        let hosted = self.strategy.is_hosted();
        hosted.then(|| profile(*self, None, seed, prepared).with_map(map))
    }
}

/// What a participant of an arm is like, with the arm's policy or an own one, without a map.
fn profile(arm: Arm, own: Option<PolicyMaker>, seed: u64, prepared: &Prepared) -> Profile {
    let scenario = &prepared.scenario;
    let mut p = scenario.protocol.clone();
    p.allowance = arm.allowance.unwrap_or(p.allowance);
    // Those who choose the whole set anew know no quota, and those that look at no view need no digest.
    let whole_set = |p: Parameters| Parameters {
        n_max: u32::MAX,
        ..p
    };
    let blind = |p: Parameters| Parameters {
        digest_every: 0,
        ..whole_set(p)
    };
    if let Some(own) = own {
        let mut profile = Profile::letter_with(whole_set(p));
        profile.policy = Arc::new(move || own.make(seed));
        return profile;
    }
    let options = |views| DemandOptions {
        sensor_range_m: scenario.sensing.range_m,
        // Stations tell how well they know where they are.
        position_error_m: scenario.errors.position_error_m,
        views,
        ..scenario.demand.clone()
    };
    let views = scenario.demand.views;
    let random = move |redraw| move || RandomChoice { seed, redraw };
    match arm.strategy {
        Strategy::CoverageOnly => Profile::coverage_only_with(p),
        Strategy::Conditional => Profile::conditional_with(p),
        Strategy::ConditionalRisk => Profile::conditional_risk_with(p),
        Strategy::ProposedLean => Profile::lean_with(p),
        Strategy::Random => Profile::new(p, random(false)),
        Strategy::RandomRedraw => Profile::new(whole_set(p), random(true)),
        Strategy::Nearest => Profile::new(blind(p), || Ordered::new(Order::Nearest)),
        Strategy::MaxAge => Profile::new(blind(p), || Ordered::new(Order::OldestReport)),
        Strategy::Cmass => Profile::new(blind(p), MaximumCoverage::default),
        Strategy::Demand => Profile::demand_with(p, options(views)),
        Strategy::DemandDigest => Profile::demand_with(p, options(Views::Digests)),
        Strategy::DemandRandom => {
            let made = options(views);
            Profile::demanding(p, options(views), move || {
                Demand::new(made.clone()).at_random(Arc::new(Lottery { seed }))
            })
        }
        Strategy::Proposed
        | Strategy::CamOnly
        | Strategy::CpmEtsi
        | Strategy::CpmRmr
        | Strategy::CpmUtility
        | Strategy::Oracle
        | Strategy::Omniscient => Profile::letter_with(p),
    }
}

impl Hosted {
    /// With the arm's policy, or with another in its place; nobody carries a map yet.
    pub(crate) fn new(
        arm: Arm,
        own_policy: Option<PolicyMaker>,
        seed: u64,
        prepared: &Prepared,
    ) -> Self {
        let profile = profile(arm, own_policy, seed, prepared);
        Self {
            show: None,
            reported: None,
            soft_state: prepared.timeline.soft_state,
            rule: OfficeRule::new(&profile.parameters),
            hosts: Vec::new(),
            host_of: Vec::new(),
            contributors: Vec::new(),
            phases: Vec::new(),
            claims: Vec::new(),
            settled: Vec::new(),
            vacant: Vec::new(),
            reports: Vec::new(),
            served: Vec::new(),
            credit: Credit::default(),
            receivers: Vec::new(),
            chooser: Chooser::default(),
            sayings: profile.judgement.as_ref().map(|_| Sayings::default()),
            profile,
        }
    }

    /// All participants carry this map.
    pub(crate) fn carry(&mut self, map: Arc<dyn RoadMap>) {
        self.profile.map = Some(map);
    }

    /// Someone records: hosts keep what they were shown.
    pub(crate) fn watch(&mut self) {
        self.show = Some(Show::default());
        self.reported = Some(Told::new(self.soft_state));
    }

    /// Makes room for new places and lets go of those that were left.
    pub(crate) fn begin(&mut self, shared: &Shared<'_>, hosts: &mut [u16], lane: usize) {
        let size = shared.slots.len();
        self.host_of.resize(size, NO_SLOT);
        self.contributors.resize_with(size, || None);
        self.phases.resize(size, Duration::ZERO);
        self.claims.resize_with(size, Vec::new);
        self.vacant.resize(size, None);
        if let Some(sayings) = &mut self.sayings {
            sayings.begin(shared.step, self.soft_state, &shared.left);
        }
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
            self.claims[slot].clear();
            self.vacant[slot] = None;
            for host in &mut self.hosts {
                if let Some(following) = host.following.get_mut(slot) {
                    *following = (0, 0);
                }
            }
        }
    }

    /// Composes the reports that are due in this step and offers them.
    pub(crate) fn report(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        heard: &BeaconHistory,
        lane: usize,
        air: &mut Air,
        sizes: &Sizes,
    ) {
        self.reports.clear();
        let now = shared.now();
        let phase = Duration::from_micros(i64::from(shared.phase()) * covey_traffic::STEP_US);
        let thinning = air::thinning(shared, REPORT);
        let (profile, chooser) = (&self.profile, &mut self.chooser);
        for &slot in &shared.participants {
            if self.phases[slot as usize] != phase {
                continue;
            }
            let Some(contributor) = &mut self.contributors[slot as usize] else {
                continue;
            };
            while contributor.poll_event().is_some() {}
            if !contributor.is_admitted() {
                // It has nothing to send, whatever it senses.
                continue;
            }
            let misbehaviour = shared.misbehaviour(slot);
            let sensed = spoken.sensed(shared, slot);
            let observer = Chooses {
                now,
                id: shared.agent(slot),
                state: &shared.here(slot).state,
                sensed,
                map: profile.map.as_deref(),
            };
            let ears = ContributorEars {
                shared,
                heard,
                sayings: self.sayings.as_ref(),
                lane,
                slot,
            };
            let report = contributor.report(now, |asked| {
                if misbehaviour.is_some() {
                    return Vec::new();
                }
                let judgement = profile.judgement.as_ref();
                let chosen =
                    chooser.choose(&profile.parameters, judgement, &observer, asked, &ears);
                chosen.into_iter().map(|k| sensed[k]).collect()
            });
            let report = match misbehaviour {
                None => report,
                Some(Misbehaviour::Silent) => None,
                // Whatever it was asked for, it sends a report without any object.
                Some(Misbehaviour::ClaimViews) => contributor.is_admitted().then(|| Report {
                    sender: shared.agent(slot),
                    at: now,
                    objects: Vec::new(),
                    sensor_information: true,
                }),
            };
            if let Some(report) = report {
                let bytes = sizes.contribution(&report);
                air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                self.reports.push((slot, report, bytes));
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
            let Some(host) = self.hosts.get_mut(self.host_of[place as usize] as usize) else {
                continue;
            };
            spoken.hand_over(sender, shared.step, &self.profile.parameters, |beacon| {
                host.host.handle_input(now, Input::Beacon(beacon));
            });
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
            if let Some(sayings) = &mut self.sayings {
                sayings.push(shared, report.sender, &report.objects, &receivers);
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

    /// Reports of this step with their bytes, for observers.
    pub(crate) fn reports(&self) -> &[(u32, Report, u32)] {
        &self.reports
    }

    /// Tells hosts what their sensors see, and where they are.
    pub(crate) fn sense(&mut self, shared: &Shared<'_>, spoken: &mut Spoken) {
        let now = shared.now();
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
            let state = &shared.here(host.slot).state;
            host.host.handle_input(now, Input::Moved(state));
        }
    }

    /// Tells hosts how busy their tile is.
    pub(crate) fn measure_load(
        &mut self,
        shared: &Shared<'_>,
        air: &Air,
        number: usize,
        observer: &mut dyn Observer,
    ) {
        let timeline = &shared.prepared.timeline;
        if shared.phase() % timeline.beacon != timeline.decision % timeline.beacon {
            return;
        }
        let now = shared.now();
        let occupancy = |tile: u32| {
            let bytes = air.last_cycle(tile).cooperative();
            bytes as f64 / shared.cycle_capacity()
        };
        for host in &mut self.hosts {
            let input = Input::Occupancy(occupancy(host.tile));
            host.host.handle_input(now, input);
        }
        if observer.wants_senses() {
            let tiles = &shared.prepared.tiles;
            let loads: Vec<(Tile, f64)> = (0..tiles.len() as u32)
                .filter_map(|number| Some((tiles.tile(number)?, occupancy(number))))
                .collect();
            observer.loads(number, now, &loads);
        }
    }

    /// Hosts fuse, decide and offer their broadcasts.
    pub(crate) fn serve(
        &mut self,
        shared: &Shared<'_>,
        air: &mut Air,
        sizes: &Sizes,
        number: usize,
        observer: &mut dyn Observer,
        retention: Option<&mut Vec<u64>>,
    ) -> Vec<(u32, Broadcast, u32)> {
        self.served.clear();
        self.credit.begin(shared);
        let now = shared.now();
        let thinning = air::thinning(shared, BROADCAST);
        let mut broadcasts = Vec::with_capacity(self.hosts.len());
        let mut retention = retention;
        for InOffice {
            slot, tile, host, ..
        } in &mut self.hosts
        {
            let agent = shared.agent(*slot);
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
                            number,
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
