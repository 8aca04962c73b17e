//! Who reports in the next cycle: the decision that host-side policies differ in.
//!
//! A [`Host`](crate::host::Host) gathers what it knows into a [`View`] and asks its [`Policy`] for a [`Plan`]: whom it wants to
//! report, and what. The host works out the airtime and grants what its bounds allow (allowance, cycle time, quota, scope), for
//! every policy alike, and says what it cut. The letter's protocol is [`ConditionalCoverage`]; its ablations are masks on the
//! score. Others (random choice, choice by demand) see the same view, so that they differ in nothing but the choice.

use alloc::vec::Vec;

use crate::admission::{Admission, AdmissionProblem, Binding, Change, Decision, Rules};
use crate::associate::Accuracy;
use crate::grid::{Tile, Window};
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;
use crate::map::RoadMap;
use crate::messages::{AgentState, Content, ObjectState, PathCell};
use crate::parameters::Parameters;
use crate::select::{DemandProblem, Selection};
use crate::time::Instant;

/// What a host knows when it plans the next cycle. Nothing in it comes from anywhere but decoded messages, own sensing and
/// the map that the host carries.
#[derive(Debug)]
#[non_exhaustive]
pub struct View<'a> {
    /// The moment of planning, at the end of a cycle.
    pub now: Instant,
    /// Who plans; it is a member of the scope, too.
    pub host: AgentId,
    /// The tile that it hosts.
    pub tile: Tile,
    /// Its window of cells; cell numbers below refer to it.
    pub window: &'a Window,
    /// The rules of the decision: bounds, thresholds, factors.
    pub rules: &'a Rules,
    /// Map, risk, airtime, contributors and candidates, as Algorithm 1 wants them.
    pub problem: &'a AdmissionProblem<'a>,
    /// The service scope: every participant within the footprint, by ascending id, the host included.
    pub scope: &'a [ScopeMember<'a>],
    /// Objects that are fresh at the host, by ascending id.
    pub objects: &'a [HeldObject],
    /// Every number of the protocol, those behind the rules included.
    pub parameters: &'a Parameters,
    /// The beginning of the present cycle.
    pub cycle_start: Instant,
    /// Everything the host knows of, fresh or not, near or not, at most one soft-state time old; by ascending id, the host
    /// not included. Only for policies that [look at it](Hints::known).
    pub known: &'a [KnownObject],
    /// The last decoded report of everyone in the service scope that sent any within the soft-state time, by ascending id.
    pub reports: &'a [LastReport<'a>],
    /// How well messages get through, by distance.
    pub links: &'a LinkQuality,
    /// The cooperative occupancy of the tile as last measured; none before the first measurement.
    pub occupancy: Option<f64>,
    /// This cycle's broadcast is a full refresh: receivers forget what was listed before.
    pub refresh: bool,
    /// The map, where the host carries one.
    pub map: Option<&'a dyn RoadMap>,
    /// Somebody looks on and wants the whole [explanation](Policy::explanation); it must not change the plan.
    pub watched: bool,
}

/// Everything that the host knows of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownObject {
    /// Its newest state, from whatever source.
    pub state: ObjectState,
    /// When its last beacon was made; none where none was decoded within the soft-state time: it is silent.
    pub announced_at: Option<Instant>,
    /// The mean time between its beacons that were decoded of late, in seconds; none where there was only one.
    pub beacons_every_s: Option<f64>,
    /// When somebody last reported it, or a neighbouring host listed it.
    pub reported_at: Option<Instant>,
    /// Since when the host holds it.
    pub since: Instant,
    /// Its direction in radians, by its beacon or its motion when it last moved.
    pub heading: Option<f64>,
    /// What receivers of all of the host's broadcasts hold of it.
    pub listing: Listing,
}

/// What the host's earlier broadcasts say of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Listing {
    /// Nothing, or it has been withdrawn.
    #[default]
    None,
    /// Its state as it still is: not naming it refreshes it, at no cost.
    Unchanged,
    /// A state that has changed since: it will be listed anew or withdrawn.
    Changed,
}

/// A decoded report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastReport<'a> {
    /// The contributor that sent it.
    pub sender: AgentId,
    /// When it was sent.
    pub at: Instant,
    /// When its oldest state was sensed; when it was sent, where it had none.
    pub sensed_at: Instant,
    /// What it contained, by ascending id.
    pub objects: &'a [ObjectId],
}

/// A member of the service scope.
#[derive(Debug, Clone, Copy)]
pub struct ScopeMember<'a> {
    /// Its station id; members are in this order.
    pub id: AgentId,
    /// Its last beacon's state.
    pub state: &'a AgentState,
    /// When that beacon was made.
    pub heard_at: Instant,
    /// Share of its recent beacons that the host decoded.
    pub beacon_share: f64,
    /// Its predicted path, where somebody looks at paths ([`Hints::paths`]).
    pub path: &'a [PathCell],
}

/// An object that the host holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldObject {
    /// Its newest state, from whatever source.
    pub state: ObjectState,
    /// The host senses it, or hears its beacons, itself.
    pub direct: bool,
    /// Its own beacons are heard.
    pub announced: bool,
}

/// What a policy wants of the next cycle. The host grants it as far as its bounds allow.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Who shall report in the next cycle.
    pub reporters: Reporters,
    /// What kept the policy from wanting more; the host says so where one of its bounds did.
    pub binding: Binding,
    /// What contributors are asked to report.
    pub content: Content,
    /// Objects that beacon and are asked for nonetheless; only with [`Content::Requested`].
    pub requested: Vec<ObjectId>,
    /// What the broadcast repeats.
    pub repeat: Repeat,
}

/// Whom a policy wants to report in the next cycle.
#[derive(Debug, Clone, PartialEq)]
pub enum Reporters {
    /// Changes of the present set, in this order.
    Changes(Vec<Change>),
    /// The whole set, the most wanted first: the host takes them in this order, and passes over whoever does not fit. Who is
    /// not named reports no longer.
    Ranking(Vec<AgentId>),
}

impl Plan {
    /// A plan that says only who reports: the rest is by the parameters.
    #[must_use]
    pub fn new(reporters: Reporters, binding: Binding, parameters: &Parameters) -> Self {
        Self {
            reporters,
            binding,
            content: parameters.content(),
            requested: Vec::new(),
            repeat: Repeat::Fresh,
        }
    }

    /// The changes of a decision.
    #[must_use]
    pub fn of(decision: Decision, parameters: &Parameters) -> Self {
        let changes = Reporters::Changes(decision.changes);
        Self::new(changes, decision.binding, parameters)
    }
}

/// Which objects a broadcast repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Repeat {
    /// All that are fresh at the host, as the parameters have it.
    #[default]
    Fresh,
    /// Of the fresh ones only these, the most wanted first. Objects listed before stay listed while they are fresh and
    /// unchanged, until the next full refresh.
    Picked(Vec<ObjectId>),
}

/// What a policy looks at; what it does not, the host need not work out. Begin with one of the constants, and change what
/// differs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Hints {
    /// What it needs of the coverage map.
    pub coverage: Coverage,
    /// It looks at [`View::known`], which is empty otherwise.
    pub known: bool,
    /// It looks at predicted paths or at the risk that follows from them. For [`Coverage::Weighed`] the factors that count in
    /// the score say the same.
    pub paths: bool,
    /// How positions are to be associated where perceived objects are told apart by them; none where the ids in messages are to
    /// be believed, as in the letter.
    pub association: Option<Accuracy>,
}

/// What a policy needs of the coverage map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Nothing: no map is made, and candidates' views tell nothing of what their reports would add.
    Ignored,
    /// The map, as far as it tells what candidates would cost.
    Priced,
    /// The map, and that without each contributor.
    Weighed,
}

impl Hints {
    /// Everything that there is to see; ids are believed.
    pub const ALL: Self = Self {
        coverage: Coverage::Weighed,
        known: true,
        paths: true,
        association: None,
    };

    /// As Algorithm 1: coverage, and risk where it counts.
    pub const SCORE: Self = Self {
        known: false,
        paths: false,
        ..Self::ALL
    };

    /// What candidates cost, and nothing else.
    pub const COSTS: Self = Self {
        coverage: Coverage::Priced,
        ..Self::SCORE
    };

    /// Everything but coverage.
    pub const NO_COVERAGE: Self = Self {
        coverage: Coverage::Ignored,
        ..Self::ALL
    };
}

/// Chooses who reports in the next cycle. It can go to another thread, so that many hosts may be simulated side by side.
pub trait Policy: Send {
    /// Plans the next cycle.
    ///
    /// `admission` has fused the map of `view.problem` ([`Admission::fuse`]) where the policy looks at coverage; it may decide
    /// with it ([`Admission::decide_fused`]), read its map, or leave it alone. The plan must depend on nothing but the
    /// arguments and the policy's own parameters. It need not keep any bound: the host does.
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan;

    /// What it looks at. Asked once, when a host takes office.
    fn hints(&self) -> Hints {
        Hints::ALL
    }

    /// What the last plan was chosen from, and why, for those who want to know. What the choice had no use for may be left out
    /// of it, unless the [view](View::watched) said that somebody looks on.
    fn explanation(&self) -> Option<Explanation<'_>> {
        None
    }
}

/// Why a plan is what it is, where that is not told by the view.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Explanation<'a> {
    /// Choice by demand: who needs what and who could tell it, and what was picked.
    Demand(&'a DemandProblem, &'a Selection),
}

/// The letter's policy: admit whose timely, new, risk-relevant view is worth its airtime.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConditionalCoverage;

impl Policy for ConditionalCoverage {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        Plan::of(
            admission.decide_fused(view.rules, view.problem),
            view.parameters,
        )
    }

    fn hints(&self) -> Hints {
        Hints::SCORE
    }
}

impl<P: Policy + ?Sized> Policy for alloc::boxed::Box<P> {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        (**self).plan(view, admission)
    }

    fn hints(&self) -> Hints {
        (**self).hints()
    }

    fn explanation(&self) -> Option<Explanation<'_>> {
        (**self).explanation()
    }
}
