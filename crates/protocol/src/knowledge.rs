//! What a contributor knows, and what of its view is worth saying.
//!
//! A contributor judges by what it knows itself: who is around it and listens, what each of them can see and has probably
//! heard. It reports the objects whose summed need reaches the threshold, and silent ones that nobody has spoken of for a
//! soft-state time. Where the host asks by name ([`Content::Requested`]), objects that beacon are reported only when named.
//!
//! What it knows is a function of what it heard within the soft-state time, which whoever keeps it, in maps or in flat arrays,
//! tells through [`Heard`]: nothing else chooses content, and nothing is remembered from one choice to the next.
//!
//! - How well messages get through, by distance: of each neighbour's beacons, how many came since the first of the last second.
//! - What others spoke of: the entries of each report and broadcast are told apart by place, motion and size as those of one
//!   look ([`crate::associate`]), against the stations heard, what oneself sees, and what was said before; the newest
//!   state of each counts. Numbers in messages are not looked at, unless they are to be believed ([`Identities::True`]).

use alloc::vec::Vec;
use core::cell::Cell;

use crate::associate::{Identities, Seen, Sighted};
use crate::contributor::{Asked, Memory};
use crate::demand::need::{self, Course, Needs};
use crate::demand::scene::{Body, NOMINAL, Scene};
use crate::demand::spoken::{self, Spoken};
use crate::demand::{BodySizes, DemandOptions};
use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;
use crate::map::RoadMap;
use crate::messages::{AgentState, Content, ObjectState};
use crate::parameters::Parameters;
use crate::time::{Duration, Instant};

/// Somebody whose beacons are heard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The station id that its messages carry.
    pub id: AgentId,
    /// Its last beacon's state.
    pub state: AgentState,
    /// When that beacon was made.
    pub at: Instant,
    /// How many of its beacons were heard within the soft-state time.
    pub beacons: u32,
    /// When the first of them was made.
    pub first_at: Instant,
}

/// What one participant heard within the soft-state time.
pub trait Heard {
    /// A beacon of `agent` was heard.
    fn hears(&self, agent: AgentId) -> bool;

    /// Tells of everyone whose beacons were heard and who last said it was within `radius_m` of the participant, in any order.
    /// Others may be told of, too.
    fn neighbours(&self, radius_m: f64, tell: impl FnMut(Neighbour));

    /// Tells of every report and broadcast that was heard, in any order: when it was made, by whom, and the objects in it.
    fn sayings<'s>(&'s self, tell: impl FnMut(Instant, AgentId, &'s [ObjectState]));
}

/// The contributor that chooses, at the moment it does.
#[derive(Debug, Clone, Copy)]
pub struct Observer<'a> {
    /// When it chooses what to report.
    pub now: Instant,
    /// The station id that its messages carry.
    pub id: AgentId,
    /// Where it is, and how it moves.
    pub state: &'a AgentState,
    /// Objects that its own sensors see.
    pub sensed: &'a [ObjectState],
    /// The map, where it carries one.
    pub map: Option<&'a dyn RoadMap>,
}

/// Nobody farther off than this can be helped, and nothing farther off stands in the way, in metres.
const AROUND_M: f64 = 300.0;

/// What a contributor knows when it chooses, each thing under one id.
#[derive(Debug, Clone, Copy)]
struct Knowledge<'a> {
    now: Instant,
    own: ObjectId,
    state: &'a AgentState,
    /// Everyone heard around, by ascending id.
    heard: &'a [Neighbour],
    /// What one sees now.
    sensed: &'a [ObjectState],
    /// Objects that others spoke of, by ascending id.
    told: &'a [ObjectState],
    /// How doubtful it is that stations which one sees are who they say, by ascending id, where it is.
    doubts: &'a [(ObjectId, f64)],
    /// What was said of objects in question, by ascending id, each with what it was, as it will be when it is judged.
    said: &'a [(ObjectId, Vec<spoken::Saying>)],
    /// The time until then, in seconds.
    ahead_s: f64,
    links: &'a LinkQuality,
    map: Option<&'a dyn RoadMap>,
}

impl Knowledge<'_> {
    fn said_of(&self, object: ObjectId) -> &[spoken::Saying] {
        let found = self.said.binary_search_by_key(&object, |(id, _)| *id);
        found.map_or(&[], |at| &self.said[at].1)
    }
}

/// How far bodies may have moved since their states were told, and reach beyond their centres, in metres.
const MOVED_M: f64 = 30.0;

/// Chooses what to report; all that it keeps are buffers.
#[derive(Debug, Clone, Default)]
pub struct Chooser {
    scene: Scene,
    needs: Needs,
    bodies: Vec<(Body, f64)>,
    /// Ids and places of `bodies`.
    order: Vec<(ObjectId, u32)>,
    heard: Vec<Neighbour>,
    /// Of what is sensed: it was not in sight for long. Empty where that makes no difference.
    young: Vec<bool>,
}

impl Chooser {
    /// Which of `observer.sensed` to report, whose reports and sights of late `memory` tells: their places in it, ascending. Without
    /// `options` it cannot judge what others need, believes the numbers of objects, and takes [`Content::Demanded`] for
    /// [`Content::SilentOnly`].
    pub fn choose(
        &mut self,
        parameters: &Parameters,
        options: Option<&DemandOptions>,
        observer: &Observer<'_>,
        asked: &Asked,
        memory: &mut Memory,
        heard: &impl Heard,
    ) -> Vec<usize> {
        self.young.clear();
        if let Some((options, confirm)) = options.and_then(|o| Some((o, o.confirm()?))) {
            let (now, sightings) = (observer.now, &mut memory.sightings);
            let since = sightings.look(options.accuracy(), now, observer.sensed);
            let young = since.iter().map(|&since| now.since(since) < confirm);
            self.young.extend(young);
        }
        let included = &memory.included;
        if asked.is_unasked() {
            return options.map_or_else(Vec::new, |options| {
                self.volunteer(parameters, options, observer, heard)
            });
        }
        let sensed = observer.sensed;
        let ordinary = asked.for_content(Content::Included);
        let due = |&k: &usize| ordinary && included.is_due(observer.now, &sensed[k]);
        let mut chosen: Vec<usize> = if asked.for_content(Content::AllVisible) {
            (0..sensed.len()).collect()
        } else {
            let mut chosen = (0..sensed.len()).filter(due).collect();
            if asked.wants_more_than(Content::Included) {
                union(
                    &mut chosen,
                    self.choose_any(parameters, options, observer, asked, heard),
                );
            }
            chosen
        };
        if options.is_none_or(|options| options.identities == Identities::True) {
            // Oneself is no object to oneself; nothing but its number would tell.
            chosen.retain(|&k| observer.sensed[k].id != observer.id.into());
        }
        chosen
    }

    /// The same by all rules but [`Content::AllVisible`] and [`Content::Included`].
    fn choose_any(
        &mut self,
        parameters: &Parameters,
        options: Option<&DemandOptions>,
        observer: &Observer<'_>,
        asked: &Asked,
        heard: &impl Heard,
    ) -> Vec<usize> {
        let all = 0..observer.sensed.len();
        let Some(options) = options else {
            let silent = |&k: &usize| !heard.hears(AgentId(observer.sensed[k].id.0));
            return all.filter(silent).collect();
        };
        let links = self.listen(parameters, observer, heard);
        let neighbours = core::mem::take(&mut self.heard);
        let mut labelled = Labelled::new(options, observer, &neighbours);
        let doubts = core::mem::take(&mut labelled.doubts);
        let silent = |state: &ObjectState| !is_heard(&neighbours, state.id);
        let rare = |state: &ObjectState| {
            let heard = neighbour(&neighbours, state.id).filter(|_| options.on_road);
            heard.is_some_and(|heard| {
                let doubt = doubt_of(&doubts, state.id);
                let here = (observer.now, observer.state.position);
                let unsure = (doubt, options.lost_together());
                options.is_rare(&station(parameters, here, &links, heard, unsure))
            })
        };
        let judge_all = asked.for_content(Content::Demanded);
        let by_need = judge_all || asked.for_content(Content::Requested);
        // Whose need counts: what is not even considered needs no estimate.
        let named = |state: &ObjectState| asked.requested.binary_search(&state.id).is_ok();
        let eligible =
            |state: &&ObjectState| judge_all || silent(state) || named(state) || rare(state);
        let mut doubtful = labelled.young(&self.young, silent);
        let considered: Vec<ObjectState> = match by_need {
            true => labelled.sensed.iter().filter(eligible).copied().collect(),
            false => doubtful.clone(),
        };
        let mut worth: Vec<ObjectId> = Vec::new();
        if !considered.is_empty() {
            let around = around(options, &neighbours, &considered);
            let told = labelled.told(parameters, options, observer, heard, &around);
            if options.road.others_confirm {
                doubtful.retain(|state| !is_among(&told, state.id));
            }
            // What is said in any case need not be judged.
            let said_anyway = |state: &ObjectState| match silent(state) {
                true => told.binary_search_by_key(&state.id, |t| t.id).is_err(),
                false => named(state),
            };
            let (said, judged): (Vec<ObjectState>, Vec<ObjectState>) = considered
                .iter()
                .filter(|state| by_need && !is_among(&doubtful, state.id))
                .copied()
                .partition(said_anyway);
            worth.extend(said.iter().map(|state| state.id));
            if !judged.is_empty() {
                let judged_at = match options.on_road {
                    true => judged_at(parameters, observer.now),
                    false => observer.now,
                };
                let knowledge = Knowledge {
                    now: observer.now,
                    own: observer.id.into(),
                    state: observer.state,
                    heard: &neighbours,
                    sensed: &labelled.sensed,
                    told: &told,
                    doubts: &doubts,
                    said: &labelled.said(&neighbours, judged_at),
                    ahead_s: judged_at.since(observer.now).seconds(),
                    links: &links,
                    map: observer.map,
                };
                let needed = self.needed(options, parameters, &knowledge, &around, &judged);
                let needed = judged.iter().zip(needed).filter(|(_, needed)| *needed);
                worth.extend(needed.map(|(state, _)| state.id));
            }
        }
        let all_silent = asked.for_content(Content::SilentOnly);
        let chosen = |&k: &usize| {
            let state = &labelled.sensed[k];
            worth.contains(&state.id)
                || all_silent && (silent(state) && !is_among(&doubtful, state.id) || rare(state))
        };
        let chosen = all.filter(chosen).collect();
        self.heard = neighbours;
        chosen
    }

    /// Finds who is heard around, and how well.
    fn listen(
        &mut self,
        parameters: &Parameters,
        observer: &Observer<'_>,
        heard: &impl Heard,
    ) -> LinkQuality {
        let mut links = LinkQuality::new(Duration::from_seconds(10.0));
        let near = &mut self.heard;
        near.clear();
        // Sums of floats have a fixed order: these are of whole numbers.
        heard.neighbours(AROUND_M, |neighbour| {
            let distance = neighbour.state.position.distance(observer.state.position);
            // Not-a-number fails here, too.
            let around = distance <= AROUND_M;
            if !around {
                return;
            }
            // The first was heard, or it would not be the first: those after it tell. One that is due now may still come.
            let interval = parameters.beacon_interval_s(neighbour.state.speed);
            let interval = Duration::from_seconds(interval).micros().max(1);
            let due = (observer.now.since(neighbour.first_at).micros() - 1) / interval;
            links.count(
                distance,
                due.clamp(0, 1_000) as f64,
                f64::from(neighbour.beacons.saturating_sub(1)),
            );
            near.push(neighbour);
        });
        near.sort_unstable_by_key(|neighbour| neighbour.id);
        links.age(observer.now);
        links
    }

    /// Whether the summed need of others for each of `objects`, which are among what is sensed, reaches the threshold. Whoever else
    /// needs what is needed already is not looked for.
    fn needed(
        &mut self,
        options: &DemandOptions,
        parameters: &Parameters,
        knowledge: &Knowledge<'_>,
        around: &Around,
        objects: &[ObjectState],
    ) -> Vec<bool> {
        self.gather(options, parameters, knowledge, around);
        self.place(options, knowledge);
        let scene = &mut self.scene;
        let heard_within = parameters.heard_within(options.heard_within_s);
        let mut listeners: Vec<u32> = knowledge
            .heard
            .iter()
            .filter(|heard| knowledge.now.since(heard.at) <= heard_within)
            .filter_map(|heard| scene.find(heard.id.into()))
            .collect();
        let bodies: Vec<Option<u32>> = objects.iter().map(|state| scene.find(state.id)).collect();
        let mut considered = alloc::vec![false; scene.bodies().len()];
        for body in bodies.iter().flatten() {
            considered[*body as usize] = true;
        }
        listeners.retain(|&listener| {
            let mut bodies = bodies.iter().flatten();
            bodies.any(|&body| may_need(scene, &options.course, listener, body))
        });
        lay_ways(
            scene,
            &options.course,
            knowledge.map,
            &listeners,
            &considered,
        );
        let scene = &self.scene;
        scene.allow(parameters.guard.work);
        let trust = options.course.sight_trust;
        let walls = options.walls(knowledge.map);
        let range = options.sensor_range_m;
        let need = alloc::vec![Cell::new(0.0); scene.bodies().len()];
        let open = |object: u32| {
            considered[object as usize] && need[object as usize].get() < options.threshold
        };
        let judge = |i: u32, o: u32| {
            let (listener, object) = (&scene.bodies()[i as usize], &scene.bodies()[o as usize]);
            let near = listener.position.distance(object.position) <= range;
            let seen = if near && scene.sees(i, o, walls) {
                trust
            } else {
                0.0
            };
            let deadline_s = need::deadline_s(scene, parameters, i, o);
            let heard = || knowledge.links.between(object.position, listener.position);
            let mut lacking = 1.0 - seen;
            lacking *= options.lacking(parameters, object, heard, [deadline_s, knowledge.ahead_s]);
            if options.road().is_some_and(|road| road.counts_said) {
                let said = knowledge.said_of(object.id);
                lacking *= spoken::missed(knowledge.links, said, listener.position, deadline_s);
            }
            let sum = &need[o as usize];
            sum.set(sum.get() + lacking);
            seen
        };
        self.needs
            .find(scene, &options.course, parameters, &listeners, open, judge);
        let of = |body: &Option<u32>| body.map_or(0.0, |body| need[body as usize].get());
        bodies
            .iter()
            .map(|body| of(body) >= options.threshold)
            .collect()
    }

    /// All that is known and matters, own sensing before what others told, by ascending id. Whoever is too far from all objects in
    /// question needs none of them, nor stands between one and who needs it.
    fn gather(
        &mut self,
        options: &DemandOptions,
        parameters: &Parameters,
        knowledge: &Knowledge<'_>,
        around: &Around,
    ) {
        let bodies = &mut self.bodies;
        bodies.clear();
        let nominal = options.sizes == BodySizes::Nominal;
        let age = |at: Instant| knowledge.now.since(at).seconds();
        bodies.push((agent(knowledge.own, knowledge.state), 0.0));
        let near = knowledge.heard.iter();
        for heard in near.filter(|heard| around.holds(heard.state.position)) {
            let body = match options.on_road {
                true => {
                    let here = (knowledge.now, knowledge.state.position);
                    let doubt = doubt_of(knowledge.doubts, heard.id.into());
                    let unsure = (doubt, options.lost_together());
                    station(parameters, here, knowledge.links, heard, unsure)
                }
                false => agent(heard.id.into(), &heard.state),
            };
            bodies.push((body, age(heard.at)));
        }
        for state in knowledge.sensed {
            if !is_heard(knowledge.heard, state.id) {
                bodies.push((silent(state), age(state.sensed_at)));
            }
        }
        for state in knowledge.told {
            if !is_heard(knowledge.heard, state.id) {
                bodies.push((silent(state), age(state.sensed_at)));
            }
        }
        if nominal {
            bodies[1..]
                .iter_mut()
                .for_each(|(body, _)| body.size = NOMINAL);
        }
        // Bodies are large: what is sorted is where they are. Own sensing stays first.
        let order = &mut self.order;
        order.clear();
        order.extend((0u32..).zip(&*bodies).map(|(at, (body, _))| (body.id, at)));
        order.sort();
        order.dedup_by_key(|(id, _)| *id);
        order.retain(|&(_, at)| around.holds(bodies[at as usize].0.position));
    }

    fn place(&mut self, options: &DemandOptions, knowledge: &Knowledge<'_>) {
        let bodies = &self.bodies;
        // Listeners further off than this from what is seen need none of it.
        let radius = options.sensor_range_m + options.course.reach_m(20.0);
        let centre: Position = knowledge.state.position;
        let bodies = self.order.iter().map(|&(_, at)| bodies[at as usize]);
        self.scene.place(centre, radius, bodies, knowledge.map);
    }
}

/// How far a way may begin from its body, and then some, in metres.
const OFF_WAY_M: f64 = 30.0;

/// A listener is near enough to an object that it may need it: their ways together are as long as they are apart.
fn may_need(scene: &Scene, course: &Course, listener: u32, object: u32) -> bool {
    let (a, b) = (
        &scene.bodies()[listener as usize],
        &scene.bodies()[object as usize],
    );
    let lengths = 0.5 * (a.size.length + b.size.length) + course.lane_half_m + course.meeting_m;
    let most = course.reach_m(a.speed) + course.reach_m(b.speed) + lengths + OFF_WAY_M;
    a.position.distance(b.position) <= most
}

/// Finds the ways of listeners and of objects in question; where all others go makes no difference.
fn lay_ways(
    scene: &mut Scene,
    course: &Course,
    map: Option<&dyn RoadMap>,
    listeners: &[u32],
    considered: &[bool],
) {
    let mut goes = considered.to_vec();
    for &listener in listeners {
        goes[listener as usize] = true;
    }
    scene.lay_ways(map, |number, body| {
        goes[number as usize].then(|| course.reach_m(body.speed) + body.size.length)
    });
}

/// Labels from here on are of what oneself sees, and of what others told.
const OWN_LABELS: u64 = 1 << 62;
const TOLD_LABELS: u64 = 1 << 61;

/// Where anything matters to one of the objects in question.
#[derive(Debug, Clone, Default)]
struct Around {
    /// Places, and how far around each, squared.
    circles: Vec<(Position, f64)>,
    /// Lowest and highest coordinates of all circles: most of what is said lies outside.
    low: Position,
    high: Position,
}

impl Around {
    /// Adds a circle.
    fn add(&mut self, Position { x, y }: Position, radius_m: f64) {
        let (left, right) = (x - radius_m, x + radius_m);
        let (below, above) = (y - radius_m, y + radius_m);
        if self.circles.is_empty() {
            self.low = Position::new(left, below);
            self.high = Position::new(right, above);
        } else {
            self.low = Position::new(self.low.x.min(left), self.low.y.min(below));
            self.high = Position::new(self.high.x.max(right), self.high.y.max(above));
        }
        self.circles
            .push((Position::new(x, y), radius_m * radius_m));
    }

    fn holds(&self, Position { x, y }: Position) -> bool {
        (self.low.x..=self.high.x).contains(&x)
            && (self.low.y..=self.high.y).contains(&y)
            && self.circles.iter().any(|&(centre, squared)| {
                let (dx, dy) = (x - centre.x, y - centre.y);
                dx * dx + dy * dy <= squared
            })
    }
}

/// Around each of `objects`, as far off as the farthest is that may need it.
fn around(options: &DemandOptions, neighbours: &[Neighbour], objects: &[ObjectState]) -> Around {
    let course = options.course;
    let mut around = Around::default();
    for object in objects {
        let reach = course.reach_m(object.velocity.speed()) + MOVED_M;
        let distance = |heard: &Neighbour| {
            let distance = heard.state.position.distance(object.position);
            (distance <= course.reach_m(heard.state.speed) + reach).then_some(distance)
        };
        let needing = neighbours.iter().filter_map(distance);
        around.add(object.position, needing.fold(0.0, f64::max) + MOVED_M);
    }
    around
}

/// What one sees, each under the id of the station that it is, or a label of its own: ids that came with it are not looked at.
struct Labelled {
    sensed: Vec<ObjectState>,
    /// What was said: of which object, by whom, and when it was sensed. Kept where it counts.
    said: Option<Vec<(ObjectId, AgentId, Instant)>>,
    /// How doubtful it is that stations which one sees are who they say, by ascending id; those beyond doubt are left out.
    doubts: Vec<(ObjectId, f64)>,
    /// Stations, oneself, and what oneself sees; none where ids are believed.
    tracks: Option<Sighted>,
}

/// The doubt in a station, among those by ascending id.
fn doubt_of(doubts: &[(ObjectId, f64)], station: ObjectId) -> f64 {
    let found = doubts.binary_search_by_key(&station, |(id, _)| *id);
    found.map_or(0.0, |at| doubts[at].1)
}

/// One of these states has this id.
fn is_among(states: &[ObjectState], id: ObjectId) -> bool {
    states.iter().any(|state| state.id == id)
}

impl Labelled {
    /// Those of what one sees that `young` marks and that are silent.
    fn young(&self, young: &[bool], silent: impl Fn(&ObjectState) -> bool) -> Vec<ObjectState> {
        let marked = self.sensed.iter().zip(young);
        let marked = marked.filter(|(state, young)| **young && silent(state));
        marked.map(|(state, _)| *state).collect()
    }

    fn new(options: &DemandOptions, observer: &Observer<'_>, neighbours: &[Neighbour]) -> Self {
        let counts_said = options.road().is_some_and(|road| road.counts_said);
        if options.identities == Identities::True {
            return Self {
                sensed: observer.sensed.to_vec(),
                said: counts_said.then(Vec::new),
                doubts: Vec::new(),
                tracks: None,
            };
        }
        let stations = neighbours.iter().map(|heard| {
            let seen = Seen::of_agent(&heard.state, heard.at);
            (heard.id.into(), seen)
        });
        let mut tracks = Sighted::new(options.accuracy(), observer.now, stations);
        let found = tracks.recognise(None, observer.sensed);
        let sensed: Vec<ObjectState> = (OWN_LABELS..)
            .zip(observer.sensed)
            .zip(&found)
            .map(|((own, state), found)| ObjectState {
                id: found.unwrap_or(ObjectId(own)),
                ..*state
            })
            .collect();
        // Others tell of oneself, of stations, and of what oneself sees.
        tracks.add(
            observer.id.into(),
            Seen::of_agent(observer.state, observer.now),
        );
        for (state, _) in sensed.iter().zip(&found).filter(|(_, f)| f.is_none()) {
            tracks.add(state.id, Seen::of_object(state));
        }
        let mut doubts = Vec::new();
        if options.on_road && options.position_error_m > 0.0 {
            let stations = found.iter().zip(tracks.off_m());
            let doubt =
                |(id, off_m): (&Option<ObjectId>, f64)| Some(((*id)?, options.doubt_at(off_m)));
            doubts.extend(stations.filter_map(doubt).filter(|(_, doubt)| *doubt > 0.0));
            doubts.sort_unstable_by_key(|(id, _)| *id);
        }
        Self {
            sensed,
            said: counts_said.then(Vec::new),
            doubts,
            tracks: Some(tracks),
        }
    }

    /// What others told of, as far as it lies `around`: by ascending id, each once, the newest state.
    fn told(
        &mut self,
        parameters: &Parameters,
        options: &DemandOptions,
        observer: &Observer<'_>,
        heard: &impl Heard,
        around: &Around,
    ) -> Vec<ObjectState> {
        let all = Saying::all(parameters, options, observer, heard, around);
        let Some(tracks) = &mut self.tracks else {
            if let Some(said) = &mut self.said {
                for saying in &all {
                    let fresh = saying.fresh.iter();
                    said.extend(fresh.map(|state| (state.id, saying.sender, state.sensed_at)));
                }
            }
            let others = |state: &ObjectState| state.id != observer.id.into();
            let told = all.into_iter().flat_map(|saying| saying.fresh);
            return newest_of_each(&told.filter(others).collect::<Vec<_>>());
        };
        let mut told: Vec<ObjectState> = Vec::new();
        let mut next = TOLD_LABELS;
        for saying in all {
            let found = tracks.recognise(Some(saying.sender.into()), &saying.fresh);
            for (state, found) in saying.fresh.iter().zip(found) {
                let id = found.unwrap_or_else(|| {
                    let new = ObjectId(next);
                    next += 1;
                    tracks.add(new, Seen::of_object(state));
                    new
                });
                if let Some(said) = &mut self.said {
                    said.push((id, saying.sender, state.sensed_at));
                }
                told.push(ObjectState { id, ..*state });
            }
        }
        newest_of_each(&told)
    }
}

impl Labelled {
    /// What was said of each object, by ascending id, as it will be at `judged_at`, by those who are heard.
    fn said(
        &self,
        neighbours: &[Neighbour],
        judged_at: Instant,
    ) -> Vec<(ObjectId, Vec<spoken::Saying>)> {
        let mut all = self.said.clone().unwrap_or_default();
        all.sort_unstable();
        let mut said: Vec<(ObjectId, Vec<spoken::Saying>)> = Vec::new();
        for (object, sender, sensed_at) in all {
            let Some(sender) = neighbour(neighbours, sender.into()) else {
                continue;
            };
            let saying = spoken::Saying {
                from: sender.state.position,
                age_s: judged_at.since(sensed_at).seconds(),
            };
            match said.last_mut() {
                Some((last, sayings)) if *last == object => sayings.push(saying),
                _ => said.push((object, alloc::vec![saying])),
            }
        }
        said
    }
}

/// When hosts next look at what was said, after `now`.
fn judged_at(parameters: &Parameters, now: Instant) -> Instant {
    now.next_after(
        Duration::from_seconds(parameters.cycle_s),
        Duration::from_seconds(parameters.decision_phase_s),
    )
}

/// A neighbour, and how it tells of itself, as it is heard at a time and place.
fn station(
    parameters: &Parameters,
    (now, place): (Instant, Position),
    links: &LinkQuality,
    heard: &Neighbour,
    (doubt, together): (f64, f64),
) -> Body {
    let gaps = f64::from(heard.beacons.saturating_sub(1));
    let between_s = (gaps > 0.0).then(|| heard.at.since(heard.first_at).seconds() / gaps);
    let age_s = now.since(heard.at).seconds();
    let share = links.between(place, heard.state.position);
    let spoken = Spoken::new(parameters, heard.state.speed, age_s, between_s, share);
    let spoken = spoken.lost_together(together, share);
    Body {
        spoken: Some(spoken.in_doubt(doubt)),
        ..agent(heard.id.into(), &heard.state)
    }
}

/// Of each object the state that was sensed last, by ascending id; of equals the one that came first.
fn newest_of_each(told: &[ObjectState]) -> Vec<ObjectState> {
    // States are large: what is sorted is where they are.
    let mut order: Vec<(ObjectId, core::cmp::Reverse<Instant>, usize)> = told
        .iter()
        .enumerate()
        .map(|(at, state)| (state.id, core::cmp::Reverse(state.sensed_at), at))
        .collect();
    order.sort_unstable();
    order.dedup_by_key(|(id, ..)| *id);
    order.into_iter().map(|(.., at)| told[at]).collect()
}

/// What somebody said in one message, as far as it still counts.
struct Saying {
    sender: AgentId,
    /// Objects around, sensed within the soft-state time.
    fresh: Vec<ObjectState>,
}

impl Saying {
    /// All that was said and matters, the newest first, then by ascending sender.
    fn all(
        parameters: &Parameters,
        options: &DemandOptions,
        observer: &Observer<'_>,
        heard: &impl Heard,
        around: &Around,
    ) -> Vec<Self> {
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        let here = observer.state.position;
        let matters = |state: &ObjectState| around.holds(state.position);
        // Where positions have errors, all entries of a message tell that of its sender.
        let whole = options.accuracy().position_m > 0.0;
        let counts = |state: &ObjectState| {
            let age = observer.now.since(state.sensed_at);
            (whole || matters(state))
                && state.is_finite()
                && (Duration::ZERO..=soft_state).contains(&age)
                && state.position.distance(here) <= AROUND_M
        };
        let mut said: Vec<(Instant, AgentId, &[ObjectState])> = Vec::new();
        heard.sayings(|at, sender, objects| {
            if sender != observer.id && objects.iter().any(matters) {
                said.push((at, sender, objects));
            }
        });
        said.sort_by_key(|&(at, sender, _)| (core::cmp::Reverse(at), sender));
        let sayings = said.into_iter().map(|(_, sender, objects)| Self {
            sender,
            fresh: objects.iter().filter(|o| counts(o)).copied().collect(),
        });
        sayings.filter(|saying| !saying.fresh.is_empty()).collect()
    }
}

/// Adds `more` to `places`, both ascending.
fn union(places: &mut Vec<usize>, more: Vec<usize>) {
    places.extend(more);
    places.sort_unstable();
    places.dedup();
}

fn is_heard(neighbours: &[Neighbour], id: ObjectId) -> bool {
    neighbour(neighbours, id).is_some()
}

/// The one with this id.
fn neighbour(neighbours: &[Neighbour], id: ObjectId) -> Option<&Neighbour> {
    let found = neighbours.binary_search_by_key(&id, |heard| heard.id.into());
    found.ok().map(|at| &neighbours[at])
}

fn agent(id: ObjectId, state: &AgentState) -> Body {
    Body {
        id,
        position: state.position,
        heading: Some(state.heading),
        speed: state.speed,
        size: state.size,
        silent: false,
        spoken: None,
    }
}

fn silent(state: &ObjectState) -> Body {
    let moving = state.velocity.speed() >= 0.5;
    Body {
        id: state.id,
        position: state.position,
        heading: moving.then(|| libm::atan2(state.velocity.y, state.velocity.x)),
        speed: state.velocity.speed(),
        size: state.size,
        silent: true,
        spoken: None,
    }
}

mod unasked;

#[cfg(test)]
mod tests;
