//! Speak when somebody needs it: admission by demand.
//!
//! The letter asks what the twin lacks, cell by cell. This policy asks who lacks what, and who could tell them in time, by
//! listener and object. At the end of a cycle the host
//!
//! 1. moves everything it knows forward to the present and finds the ways ahead ([`scene`]);
//! 2. finds who needs what: objects on a collision course that the listener does not see ([`need`]), weighed by the chance
//!    that it has not heard of them otherwise: their beacons, reports of this cycle, earlier broadcasts;
//! 3. predicts what each candidate sees: its last report while that is fresh, sight lines over known boxes and buildings
//!    after that;
//! 4. picks reports and repeated objects by gain per byte within its budget ([`select`]).
//!
//! The contributor's side is [`crate::knowledge`]: it reports what somebody near it needs, as far as it can tell, and stays silent
//! when that is nothing. There is no digest, no price, no hysteresis and no quota.
//!
//! Everything is a function of what the host decoded, sensed and carries as a map; nothing else reaches it.

mod hearsay;
mod load;
pub mod need;
mod outlook;
pub mod road;
pub mod scene;
mod shadows;
#[cfg(feature = "snapshot")]
pub mod snapshot;
pub mod spoken;

pub use crate::{associate, select};

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use covey_parameters::{OutOfRange, choices, parameters};

use crate::admission::{Admission, Binding};
use crate::grid::{Position, Tile};
use crate::ids::{AgentId, ObjectId};
use crate::map::RoadMap;
use crate::messages::Content;
use crate::parameters::Parameters;
use crate::policy::{Explanation, Hints, Listing, Plan, Policy, Repeat, Reporters, View};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

use associate::{Accuracy, Identities};
use hearsay::Hearsay;
use need::{Course, Needs};
use outlook::{Outlook, Targets};
use road::Road;
use scene::{Body, NOMINAL, Scene};
use select::{DemandCandidate, DemandListener, DemandProblem, Need, Object, Pick, Selection};
use shadows::Shadows;
use spoken::Spoken;

/// Chance that somebody still sees what it just reported.
const STILL_SEES: f64 = 0.97;
/// Weight of one more report in the mean of how much longer reports are than foreseen.
const SURPRISE_RATE: f64 = 0.05;
/// How much a fresh report that leaves out an object in sight speaks against the sight line.
const LEFT_OUT: f64 = 0.4;

choices! {
    /// Where predicted views come from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Views {
        /// Sight lines that the host draws over the boxes and buildings it knows.
        SightLines = "sight-lines",
        /// The coverage digests in beacons.
        Digests = "digests",
    }
}

choices! {
    /// How large bodies are taken to be.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BodySizes {
        /// As messages tell.
        True = "true",
        /// All others are cars of one size, whatever messages tell.
        Nominal = "nominal",
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(Views, BodySizes);

parameters! {
    /// The numbers of the policy.
    #[derive(Debug, Clone, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
    pub struct DemandOptions, checked by Self::agree {
        /// What makes an object needed.
        course: Course = Course::default(), source "design: choice by demand";
        /// Members must have been heard within this time.
        heard_within_s: f64 = 0.5, unit "s", range above(0.0).at_most(3_600.0), source "design: choice by demand";
        /// Only members inside the host's tile are asked to report.
        candidates_in_tile_only: bool = true, source "reading 15";
        /// Summed need from which contributors report an object.
        threshold: f64 = 0.3, unit "needs", range at_least(0.0), source "design: choice by demand";
        /// How far sensors see.
        sensor_range_m: f64 = 150.0, unit "m", range at_least(0.0).at_most(1_000.0), source "letter, table I";
        /// Up to this age a report tells what its sender sees.
        report_fresh_s: f64 = 0.25, unit "s", range at_least(0.0).at_most(3_600.0), source "design: choice by demand";
        /// From this age on a report tells nothing of it; at least `report_fresh_s`.
        report_stale_s: f64 = 0.45, unit "s", range at_least(0.0).at_most(3_600.0), source "design: choice by demand";
        /// What a second without a report from it adds to a candidate's gain: nobody is forgotten.
        bonus_per_s: f64 = 0.1, unit "needs per s", range at_least(0.0), source "design: choice by demand";
        /// After this time the bonus grows no further.
        bonus_limit_s: f64 = 5.0, unit "s", range at_least(0.0), source "design: choice by demand";
        /// A pick is worth at least this: for less, the loss that its bytes cause elsewhere is greater.
        least_gain: f64 = 0.1, unit "needs", range at_least(0.0), source "design: choice by demand";
        /// Objects that beacon are reported only at the host's request; a request must be worth so many times the gain per
        /// byte of the last pick. None lets contributors judge by themselves.
        request_factor: Option<f64> = Some(3.0), range at_least(0.0), source "design: choice by demand";
        /// Cooperative occupancy to keep to, below the allowance. None: the allowance alone.
        target: Option<f64> = None, unit "share of capacity", range above(0.0).at_most(1.0),
            source "design: choice by demand";
        /// Where predicted views come from.
        views: Views = Views::SightLines, source "design: choice by demand";
        /// How perceived objects are told apart.
        identities: Identities = Identities::Associated, source "design: choice by demand";
        /// How large bodies are taken to be.
        sizes: BodySizes = BodySizes::True, source "design: choice by demand";
        /// Standard deviation of stations' own positions, per axis, as stations tell it with their positions; it widens the
        /// gates of association.
        position_error_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(20.0), source "docs/readings.md, errors of positions";
        /// Standard deviation of the velocities that sensors tell, per axis; it widens the gates of association.
        velocity_error_m_per_s: f64 = 0.0, unit "m/s", range at_least(0.0).at_most(20.0), source "docs/sensing.md";
        /// Objects that a sensor begins to see although they are not there, as its maker states.
        ghosts_per_s: f64 = 0.0, unit "per s and sensor", range at_least(0.0).at_most(5.0), source "docs/sensing.md";
        /// Buildings of the map hide what is behind them; not so with a map of roads alone.
        buildings: bool = true, source "design: choice by demand";
        /// The rules of `road` are in force. The arm `demand`, which has no allowance, goes by them whatever is set here.
        on_road: bool = false, source "design: choice by demand";
        /// What is heeded where the road is not as the letter has it.
        road: Road = Road::default(), source "design: choice by demand";
    }
}

impl DemandOptions {
    /// The rules between parameters.
    fn agree(&self) -> Result<(), OutOfRange> {
        if self.report_stale_s < self.report_fresh_s {
            let found = self.report_stale_s;
            let expected = "at least report_fresh_s";
            return Err(OutOfRange::new("report_stale_s", found, expected));
        }
        Ok(())
    }

    /// The map as far as sight lines are concerned.
    pub(crate) fn walls<'m>(&self, map: Option<&'m dyn RoadMap>) -> Option<&'m dyn RoadMap> {
        map.filter(|_| self.buildings)
    }

    /// How well positions and sizes in messages can be trusted.
    #[must_use]
    pub fn accuracy(&self) -> Accuracy {
        Accuracy {
            position_m: self.position_error_m,
            velocity_m_per_s: self.velocity_error_m_per_s,
            sizes: self.sizes == BodySizes::True,
        }
    }
}

/// A source of random numbers that are addressed, not drawn from a stream: the same arguments, the same number.
pub trait Draw: fmt::Debug + Send + Sync {
    /// The number of `agent` as a candidate of `host` at `at`.
    fn draw(&self, host: AgentId, agent: AgentId, at: Instant) -> u64;
}

/// The policy: picks reports and repeated objects by how many needs a byte of them fulfils.
#[derive(Debug, Clone, Default)]
pub struct Demand {
    options: DemandOptions,
    /// Reports are chosen at random, as many bytes of them as by gain.
    random: Option<Arc<dyn Draw>>,
    scene: Scene,
    needs: Needs,
    /// When each candidate last reported or was last asked.
    attended: SortedMap<AgentId, Instant>,
    /// Objects listed in the last broadcast, by the time of sensing.
    listed: SortedMap<ObjectId, Instant>,
    /// Objects that reports were foreseen to have, of those asked last.
    foreseen: SortedMap<AgentId, f64>,
    /// How many more they have on average, or fewer.
    surprise: f64,
    /// Bytes planned in the last cycle.
    planned_bytes: f64,
    /// The channel is idle: contributors are asked for all that is silent.
    idle: bool,
    problem: Option<DemandProblem>,
    selection: Selection,
}

impl Demand {
    /// The policy with these numbers.
    #[must_use]
    pub fn new(options: DemandOptions) -> Self {
        Self {
            options,
            scene: Scene::with_memory(),
            ..Self::default()
        }
    }

    /// The same, but who reports is drawn at random, as many bytes of reports as would have been chosen.
    #[must_use]
    pub fn at_random(mut self, draw: Arc<dyn Draw>) -> Self {
        self.random = Some(draw);
        self
    }

    /// The numbers that it was made with.
    #[must_use]
    pub fn options(&self) -> &DemandOptions {
        &self.options
    }

    /// What the last plan chose from.
    #[must_use]
    pub fn problem(&self) -> Option<&DemandProblem> {
        self.problem.as_ref()
    }

    /// What the last plan chose, and why.
    #[must_use]
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Bytes for the next cycle: the allowance, or less where a target is set and the tile is over it.
    ///
    /// There is nothing to wind up: the budget is what the host planned last plus the room that the measurement shows, cut
    /// to the allowance.
    fn budget(&self, view: &View<'_>) -> f64 {
        let rules = view.rules;
        let capacity = rules.capacity_bytes_per_s * rules.cycle_s;
        let allowed = (rules.allowance * capacity).min(rules.t_max_s * rules.rate_bytes_per_s);
        match (self.options.target, view.occupancy) {
            (Some(target), Some(occupancy)) => {
                let room = (target - occupancy) * capacity;
                (self.planned_bytes + room).clamp(0.1 * allowed, allowed)
            }
            _ => allowed,
        }
    }

    /// Everything the host knows, the host included, moved forward to the present.
    fn build_scene(&mut self, view: &View<'_>) {
        let now = view.now;
        let course = self.options.course;
        let nominal = self.options.sizes == BodySizes::Nominal;
        let (on_road, doubt) = (self.options.on_road, self.options.doubt());
        let together = self.options.lost_together();
        let Some(own) = view.scope.iter().find(|member| member.id == view.host) else {
            self.scene = Scene::with_memory();
            return;
        };
        let own_body = (
            Body {
                id: view.host.into(),
                position: own.state.position,
                heading: Some(own.state.heading),
                speed: own.state.speed,
                size: own.state.size,
                silent: false,
                spoken: on_road
                    .then(|| Spoken::new(view.parameters, own.state.speed, 0.0, None, 1.0)),
            },
            0.0,
        );
        let at = view
            .known
            .partition_point(|known| known.state.id < view.host.into());
        let body = |known: &crate::policy::KnownObject| {
            let state = &known.state;
            let spoken = known.announced_at.filter(|_| on_road).map(|at| {
                let heard = view.links.between(own.state.position, state.position);
                let (age_s, between_s) = (now.since(at).seconds(), known.beacons_every_s);
                let speed = state.velocity.speed();
                let spoken = Spoken::new(view.parameters, speed, age_s, between_s, heard);
                spoken.lost_together(together, heard).in_doubt(doubt)
            });
            let body = Body {
                id: state.id,
                position: state.position,
                heading: known.heading,
                speed: state.velocity.speed(),
                size: if nominal { NOMINAL } else { state.size },
                silent: known.announced_at.is_none(),
                spoken,
            };
            (body, now.since(state.sensed_at).seconds())
        };
        let (before, after) = view.known.split_at(at);
        let bodies = before
            .iter()
            .map(body)
            .chain(core::iter::once(own_body))
            .chain(after.iter().map(body));
        // What matters to a member at the edge of the footprint may lie beyond it.
        let radius = view.parameters.footprint_m + self.options.sensor_range_m;
        let reach = |body: &Body| course.reach_m(body.speed) + body.size.length;
        let centre = own.state.position;
        // Stations beside the road are no objects, but they may report.
        let stations = view
            .scope
            .iter()
            .filter(|member| member.id != view.host && !member.state.size.is_body());
        let stations = stations.map(|member| (Body::station(member.id.into(), member.state), 0.0));
        let mut all: Vec<(Body, f64)> = stations.collect();
        if all.is_empty() {
            self.scene.rebuild(centre, radius, bodies, view.map, reach);
        } else {
            all.extend(bodies);
            all.sort_by_key(|(body, _)| body.id);
            self.scene.rebuild(centre, radius, all, view.map, reach);
        }
    }

    /// Who needs what, who could tell it, and what that costs; and the numbers of needed objects by body. Candidates have the
    /// views of objects that are reported unasked: others matter only where a candidate is picked.
    fn pose(&mut self, view: &View<'_>) -> (DemandProblem, Vec<u32>) {
        let parameters = view.parameters;
        let (scene, options) = (&self.scene, &self.options);
        // What needs leave of it is for views, and what those leave for the choice.
        let work = parameters.guard.work;
        scene.allow(work / 2);
        let (members, listeners) = self.listeners(view);
        let outlook = Outlook::new(view, scene, options);
        let range = options.sensor_range_m;
        let within = |a: u32, b: u32| {
            let (a, b) = (&scene.bodies()[a as usize], &scene.bodies()[b as usize]);
            a.position.distance(b.position) <= range
        };
        let trust = options.course.sight_trust;
        self.needs.find(
            scene,
            &options.course,
            parameters,
            &members,
            |object| scene.bodies()[object as usize].is_object(),
            |i, o| match within(i, o) && outlook.sees(i, o) {
                true => trust,
                false => 0.0,
            },
        );
        scene.allow(scene.left().unwrap_or(0) + work / 4);
        let hearsay = Hearsay::new(view, scene, &self.listed);
        let (wanted, objects) = self.wanted_objects(view);
        let needs = self.weighed_needs(view, &hearsay, &members, &wanted);
        let withdrawn = withdrawn(view, hearsay.host) as f64;
        let (least_gain, idle) = match options.on_road {
            true => options.least_gain_at(load::taken(view, scene)),
            false => (options.least_gain, false),
        };
        let mut problem = DemandProblem {
            budget_bytes: self.budget(view),
            base_bytes: parameters.empty_bytes() + parameters.withdrawn_bytes * withdrawn,
            report_bytes: parameters.report_bytes(0.0) + parameters.contributor_bytes,
            object_bytes: parameters.object_bytes,
            requested_bytes: parameters.requested_bytes,
            threshold: match idle {
                true => 0.0,
                false => options.threshold,
            },
            least_gain,
            // Whoever is asked for all that is silent is asked for nothing by name.
            request_factor: match idle {
                true => Some(f64::MAX),
                false => options.request_factor,
            },
            host: hearsay.host,
            links: view.links.clone(),
            listeners,
            objects,
            needs,
            candidates: Vec::new(),
        };
        let content = problem.content();
        let unasked = Targets::new(scene, &wanted, |number| content[number as usize]);
        problem.candidates = self.offers(view, &members, &unasked, &outlook);
        self.idle = idle;
        (problem, wanted)
    }

    /// Chooses, and looks at what else those see who are picked.
    fn choose(&self, view: &View<'_>, problem: &DemandProblem, wanted: &[u32]) -> Selection {
        let scene = &self.scene;
        let outlook = Outlook::new(view, scene, &self.options);
        let mut shadows = Shadows::default();
        let mut beaconing: Option<Targets> = None;
        let look = |candidate: u32, worth: &[bool], views: &mut Vec<(u32, f64)>, work: &mut u32| {
            let targets = beaconing.get_or_insert_with(|| {
                Targets::new(scene, wanted, |number| worth[number as usize])
            });
            let id = problem.candidates[candidate as usize].id;
            if let Some(body) = scene.find(id.into()) {
                scene.allow(*work);
                *views = self.foreseen_views(view, body, targets, &outlook, &mut shadows);
                *work = scene.left().unwrap_or(0);
            }
        };
        match &self.random {
            None => {
                let left = self.scene.left().unwrap_or(0);
                let work = left + view.parameters.guard.work / 4;
                Selection::choose_looking(problem, work, look)
            }
            Some(draw) => {
                let rank = |agent| draw.draw(view.host, agent, view.now);
                Selection::choose_at_random_looking(problem, rank, look)
            }
        }
    }

    /// Gives candidates the views that the choice had no use for, for whoever looks on.
    fn complete(&self, view: &View<'_>, problem: &mut DemandProblem, wanted: &[u32]) {
        let scene = &self.scene;
        scene.allow(u32::MAX);
        let outlook = Outlook::new(view, scene, &self.options);
        let all = Targets::new(scene, wanted, |_| true);
        let mut shadows = Shadows::default();
        for candidate in &mut problem.candidates {
            if let Some(body) = scene.find(candidate.id.into()) {
                candidate.views = self.foreseen_views(view, body, &all, &outlook, &mut shadows);
            }
        }
    }

    /// The members of the scope that were heard of late: their bodies, and where they are.
    fn listeners(&self, view: &View<'_>) -> (Vec<u32>, Vec<DemandListener>) {
        let heard_within = view.parameters.heard_within(self.options.heard_within_s);
        let (mut members, mut listeners) = (Vec::new(), Vec::new());
        for member in view.scope {
            if view.now.since(member.heard_at) <= heard_within
                && let Some(body) = self.scene.find(member.id.into())
            {
                members.push(body);
                listeners.push(DemandListener {
                    id: member.id,
                    position: self.scene.bodies()[body as usize].position,
                });
            }
        }
        (members, listeners)
    }

    /// Objects that somebody needs, numbered anew: the numbers by body, [`u32::MAX`] for all others, and the objects.
    fn wanted_objects(&self, view: &View<'_>) -> (Vec<u32>, Vec<Object>) {
        let bodies = self.scene.bodies();
        let mut wanted = alloc::vec![u32::MAX; bodies.len()];
        for pair in self.needs.pairs() {
            wanted[pair.object as usize] = 0;
        }
        let mut objects = Vec::new();
        for (body, number) in bodies.iter().zip(&mut wanted) {
            if *number == u32::MAX {
                continue;
            }
            *number = objects.len() as u32;
            objects.push(Object {
                id: body.id,
                silent: body.silent || self.options.is_rare(body),
                repeat_bytes: repeat_bytes(view, body.id, self.options.confirm()),
            });
        }
        (wanted, objects)
    }

    /// The needs found, weighed by the chance that the listener has not heard of the object otherwise; by object, then listener.
    fn weighed_needs(
        &self,
        view: &View<'_>,
        hearsay: &Hearsay,
        members: &[u32],
        wanted: &[u32],
    ) -> Vec<Need> {
        let (parameters, bodies) = (view.parameters, self.scene.bodies());
        let mut needs: Vec<Need> = Vec::with_capacity(self.needs.pairs().len());
        let mut number = 0;
        for pair in self.needs.pairs() {
            while members[number] != pair.listener {
                number += 1;
            }
            let object = &bodies[pair.object as usize];
            let place = bodies[pair.listener as usize].position;
            let cycle = parameters.cycle_s;
            let heard = || view.links.between(object.position, place);
            let lacking = |ahead_s| {
                let times = [pair.deadline_s, ahead_s];
                pair.unseen * self.options.lacking(parameters, object, heard, times)
            };
            let lacking = match object.spoken {
                None => [lacking(0.0); 2],
                Some(_) => [lacking(0.0), lacking(cycle)],
            };
            let missed = hearsay.missed(view, pair.object, place, pair.deadline_s, cycle);
            let [now, next] = [lacking[0] * missed[0], lacking[1] * missed[1]];
            needs.push(Need {
                listener: number as u32,
                object: wanted[pair.object as usize],
                now,
                next,
            });
        }
        needs.sort_unstable_by_key(|need| (need.object, need.listener));
        needs
    }

    /// What each candidate would report of `targets`, and how likely it learns that it should.
    fn offers(
        &self,
        view: &View<'_>,
        members: &[u32],
        targets: &Targets,
        outlook: &Outlook<'_>,
    ) -> Vec<DemandCandidate> {
        let (scene, options) = (&self.scene, &self.options);
        let host = scene.find(view.host.into());
        let mut candidates = Vec::with_capacity(members.len());
        let mut shadows = Shadows::default();
        for &member in members.iter().filter(|&&m| Some(m) != host) {
            if scene.is_spent() {
                break;
            }
            let body = &scene.bodies()[member as usize];
            let id = AgentId(body.id.0);
            let in_tile =
                Tile::containing(body.position, view.parameters.tile_m) == Some(view.tile);
            if options.candidates_in_tile_only && !in_tile {
                continue;
            }
            let views = self.foreseen_views(view, member, targets, outlook, &mut shadows);
            let heard = host.map_or(1.0, |host| {
                let host = scene.bodies()[host as usize].position;
                view.links.between(host, body.position)
            });
            // Who reports already may still act on the list before this one.
            let contributors = view.problem.contributors;
            let asked = contributors.binary_search_by_key(&id, |c| c.id).is_ok();
            let command = if asked {
                1.0 - (1.0 - heard) * (1.0 - heard)
            } else {
                heard
            };
            let idle_s = self.attended.get(id).map_or(options.bonus_limit_s, |&at| {
                view.now
                    .since(at)
                    .seconds()
                    .clamp(0.0, options.bonus_limit_s)
            });
            candidates.push(DemandCandidate {
                id,
                position: body.position,
                command,
                bonus: options.bonus_per_s * idle_s,
                extra_bytes: view.parameters.object_bytes * self.surprise.max(0.0),
                views,
            });
        }
        candidates
    }

    /// Of `targets` those that a candidate sees, by number, and how likely: by its last report while that is fresh, by sight
    /// after that.
    fn foreseen_views(
        &self,
        view: &View<'_>,
        member: u32,
        targets: &Targets,
        outlook: &Outlook<'_>,
        shadows: &mut Shadows,
    ) -> Vec<(u32, f64)> {
        let (scene, options) = (&self.scene, &self.options);
        let body = &scene.bodies()[member as usize];
        let report = view
            .reports
            .binary_search_by_key(&AgentId(body.id.0), |report| report.sender)
            .ok()
            .map(|at| &view.reports[at]);
        let freshness = report.map_or(0.0, |report| {
            let age = view.now.since(report.at).seconds();
            let span = (options.report_stale_s - options.report_fresh_s).max(1e-9);
            ((options.report_stale_s - age) / span).clamp(0.0, 1.0)
        });
        let range = options.sensor_range_m;
        let mut around = Vec::new();
        targets.each_around(scene, body.position, range, |object, number| {
            if object != member {
                around.push((object, number));
            }
        });
        let mut panorama = outlook.around(shadows, member, around.len());
        let mut views = Vec::new();
        for (object, number) in around {
            let other = &scene.bodies()[object as usize];
            let reported = report.is_some_and(|r| r.objects.binary_search(&other.id).is_ok());
            let chance = if freshness >= 1.0 && reported {
                STILL_SEES
            } else {
                let seen = panorama.shows(object);
                let drawn = options.course.sight_trust * f64::from(u8::from(seen));
                let told = if reported {
                    STILL_SEES
                } else {
                    LEFT_OUT * drawn
                };
                freshness * told + (1.0 - freshness) * drawn
            };
            if chance > 0.05 {
                views.push((number, chance));
            }
        }
        views
    }

    /// Learns how much longer reports are than foreseen: they also carry what the host did not know of.
    fn compare(&mut self, view: &View<'_>) {
        for report in view.reports.iter().filter(|r| r.at >= view.cycle_start) {
            if let Some(foreseen) = self.foreseen.get(report.sender) {
                let surprise = report.objects.len() as f64 - foreseen;
                self.surprise += SURPRISE_RATE * (surprise - self.surprise);
            }
        }
    }

    /// Notes who was attended to, so that nobody is forgotten.
    fn remember(&mut self, view: &View<'_>, problem: &DemandProblem, chosen: &Selection) {
        self.foreseen.clear();
        for picked in &chosen.picks {
            if let Pick::Report(k) = picked.pick {
                let candidate = &problem.candidates[k as usize];
                let content = picked.bytes - problem.report_bytes - candidate.extra_bytes;
                let objects = content / problem.object_bytes.max(1e-9);
                self.foreseen.insert(candidate.id, objects);
            }
        }
        for report in view.reports {
            self.attended.insert(report.sender, report.at);
        }
        for number in chosen.reports() {
            let id = problem.candidates[number as usize].id;
            self.attended.insert(id, view.now);
        }
        let limit = Duration::from_seconds(self.options.bonus_limit_s.max(1.0));
        let now = view.now;
        self.attended.retain(|_, at| now.since(*at) <= limit);
        self.listed.clear();
        for number in chosen.repeats() {
            let id = problem.objects[number as usize].id;
            if let Ok(at) = view.known.binary_search_by_key(&id, |k| k.state.id) {
                self.listed.insert(id, view.known[at].state.sensed_at);
            }
        }
        self.planned_bytes = chosen.bytes;
    }

    /// Whom it picked, the most wanted first, and what kept it from more.
    fn wanted(problem: &DemandProblem, chosen: &Selection) -> (Vec<AgentId>, Binding) {
        let picks = chosen.picks.iter().filter_map(|picked| match picked.pick {
            Pick::Report(k) => Some(problem.candidates[k as usize].id),
            _ => None,
        });
        let picked: Vec<AgentId> = picks.collect();
        let binding = if chosen.cut {
            Binding::Allowance
        } else if problem.candidates.len() == picked.len() {
            Binding::Nothing
        } else {
            Binding::Value
        };
        (picked, binding)
    }
}

impl Policy for Demand {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        self.compare(view);
        self.build_scene(view);
        let (mut problem, wanted) = self.pose(view);
        let chosen = self.choose(view, &problem, &wanted);
        if view.watched {
            self.complete(view, &mut problem, &wanted);
        }
        let (picked, binding) = Self::wanted(&problem, &chosen);
        self.remember(view, &problem, &chosen);
        let ids = |numbers: Vec<u32>| -> Vec<ObjectId> {
            let id = |&number: &u32| problem.objects[number as usize].id;
            numbers.iter().map(id).collect()
        };
        let plan = Plan {
            reporters: Reporters::Ranking(picked),
            binding,
            content: match problem.request_factor {
                _ if self.idle => Content::SilentOnly,
                Some(_) => Content::Requested,
                None => Content::Demanded,
            },
            requested: ids(chosen.requests()),
            repeat: Repeat::Picked(ids(chosen.repeats())),
        };
        self.problem = Some(problem);
        self.selection = chosen;
        plan
    }

    fn hints(&self) -> Hints {
        Hints {
            paths: false,
            association: match self.options.identities {
                Identities::Associated => Some(self.options.accuracy()),
                Identities::True => None,
            },
            ..Hints::NO_COVERAGE
        }
    }

    fn explanation(&self) -> Option<Explanation<'_>> {
        let problem = self.problem.as_ref()?;
        Some(Explanation::Demand(problem, &self.selection))
    }
}

/// Objects that this broadcast withdraws if it says nothing of them.
fn withdrawn(view: &View<'_>, host: Position) -> usize {
    if view.refresh {
        return 0;
    }
    view.known
        .iter()
        .filter(|k| k.listing == Listing::Changed || !in_footprint(view, host, k))
        .filter(|k| k.listing != Listing::None)
        .count()
}

fn in_footprint(view: &View<'_>, host: Position, known: &crate::policy::KnownObject) -> bool {
    known.state.position.distance(host) <= view.parameters.footprint_m
}

/// What listing an object would add to the broadcast; none where the host does not hold it as fresh, silence tells it, or nobody but
/// the host has seen it, for less than it takes to `confirm` it.
fn repeat_bytes(view: &View<'_>, id: ObjectId, confirm: Option<Duration>) -> Option<f64> {
    view.objects
        .binary_search_by_key(&id, |o| o.state.id)
        .ok()?;
    let at = view.known.binary_search_by_key(&id, |k| k.state.id).ok()?;
    let parameters: &Parameters = view.parameters;
    let known = &view.known[at];
    let alone = known.announced_at.is_none() && known.reported_at.is_none();
    if alone && confirm.is_some_and(|confirm| view.now.since(known.since) < confirm) {
        return None;
    }
    match known.listing {
        _ if view.refresh => Some(parameters.object_bytes),
        Listing::None => Some(parameters.object_bytes),
        Listing::Unchanged => None,
        // It would be withdrawn otherwise.
        Listing::Changed => Some((parameters.object_bytes - parameters.withdrawn_bytes).max(0.0)),
    }
}
