//! The contributor's side: what of its view is worth saying.
//!
//! A contributor judges by what it knows itself: who is around it and listens, what each of them can see and has probably
//! heard. It reports the objects whose summed need reaches the threshold, and silent ones that nobody has spoken of for a
//! soft-state time. Where the host asks by name ([`Content::Requested`]), objects that beacon are reported only when named.

use alloc::vec::Vec;

use super::associate::{Identities, Seen, associate};
use super::need::Needs;
use super::scene::{Body, NOMINAL, Scene};
use super::{BodySizes, DemandOptions};
use crate::grid::Position;
use crate::ids::ObjectId;
use crate::link::LinkQuality;
use crate::map::RoadMap;
use crate::messages::{AgentState, Content, ObjectState};
use crate::parameters::Parameters;
use crate::time::{Duration, Instant};

/// Somebody heard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heard {
    /// Who, as an object.
    pub id: ObjectId,
    /// Its last beacon's state.
    pub state: AgentState,
    /// When that was.
    pub at: Instant,
}

/// What a contributor knows when it chooses.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    /// The present.
    pub now: Instant,
    /// Oneself.
    pub own: ObjectId,
    /// Where oneself is, and how one moves.
    pub state: &'a AgentState,
    /// Everyone heard within the soft-state time, by ascending id.
    pub heard: &'a [Heard],
    /// What one sees now.
    pub sensed: &'a [ObjectState],
    /// Silent objects known from others within the soft-state time, by ascending id, and when they were last spoken of.
    pub told: &'a [(ObjectState, Instant)],
    /// How well messages get through, by distance.
    pub links: &'a LinkQuality,
    /// The map, where one carries one.
    pub map: Option<&'a dyn RoadMap>,
}

/// What a host asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked<'a> {
    /// The rule.
    pub content: Content,
    /// Objects that beacon and are asked for, by ascending id.
    pub requested: &'a [ObjectId],
}

/// How far bodies may have moved since their states were told, and reach beyond their centres, in metres.
const MOVED_M: f64 = 30.0;

/// Chooses what to report; keeps its buffers.
#[derive(Debug, Clone, Default)]
pub struct Chooser {
    scene: Scene,
    needs: Needs,
    bodies: Vec<(Body, f64)>,
}

impl Chooser {
    /// Which of `knowledge.sensed` to report: their places in it, ascending.
    pub fn choose(
        &mut self,
        options: &DemandOptions,
        parameters: &Parameters,
        knowledge: &Knowledge<'_>,
        asked: Asked<'_>,
    ) -> Vec<usize> {
        let labelled;
        let relabelled;
        let knowledge = match (asked.content, options.identities) {
            (Content::AllVisible, _) | (_, Identities::True) => knowledge,
            (_, Identities::Associated) => {
                labelled = Labelled::new(options, knowledge);
                relabelled = Knowledge {
                    sensed: &labelled.sensed,
                    told: &labelled.told,
                    ..*knowledge
                };
                &relabelled
            }
        };
        match asked.content {
            Content::AllVisible => (0..knowledge.sensed.len()).collect(),
            Content::SilentOnly => {
                let silent = |&k: &usize| !is_heard(knowledge, knowledge.sensed[k].id);
                (0..knowledge.sensed.len()).filter(silent).collect()
            }
            Content::Demanded | Content::Requested => {
                self.choose_demanded(options, parameters, knowledge, asked)
            }
        }
    }

    fn choose_demanded(
        &mut self,
        options: &DemandOptions,
        parameters: &Parameters,
        knowledge: &Knowledge<'_>,
        asked: Asked<'_>,
    ) -> Vec<usize> {
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        // Whose need counts: what is not even considered needs no estimate.
        let eligible = |state: &ObjectState| {
            !is_heard(knowledge, state.id)
                || asked.content == Content::Demanded
                || asked.requested.binary_search(&state.id).is_ok()
        };
        if !knowledge.sensed.iter().any(eligible) {
            return Vec::new();
        }
        self.gather(options, knowledge);
        self.keep_what_matters(options, knowledge.sensed.iter().filter(|s| eligible(s)));
        self.build(options, knowledge);
        let scene = &self.scene;
        let heard_within = Duration::from_seconds(options.heard_within_s);
        let listeners: Vec<u32> = knowledge
            .heard
            .iter()
            .filter(|heard| knowledge.now.since(heard.at) <= heard_within)
            .filter_map(|heard| scene.find(heard.id))
            .collect();
        let mut wanted = alloc::vec![false; scene.bodies().len()];
        for state in knowledge.sensed.iter().filter(|state| eligible(state)) {
            if let Some(body) = scene.find(state.id) {
                wanted[body as usize] = true;
            }
        }
        let trust = options.course.sight_trust;
        let range = options.sensor_range_m;
        self.needs.find(
            scene,
            &options.course,
            parameters,
            &listeners,
            |object| wanted[object as usize],
            |i, o| {
                let (a, b) = (&scene.bodies()[i as usize], &scene.bodies()[o as usize]);
                if a.position.distance(b.position) <= range && scene.sees(i, o, knowledge.map) {
                    trust
                } else {
                    0.0
                }
            },
        );
        let mut need = alloc::vec![0.0; scene.bodies().len()];
        for pair in self.needs.pairs() {
            let (listener, object) = (
                &scene.bodies()[pair.listener as usize],
                &scene.bodies()[pair.object as usize],
            );
            let mut lacking = pair.unseen;
            if !object.silent {
                let lost = 1.0 - knowledge.links.between(object.position, listener.position);
                lacking *= libm::pow(lost, pair.deadline_s / parameters.beacon_s);
            }
            need[pair.object as usize] += lacking;
        }
        let worth = |state: &ObjectState| {
            let heard = is_heard(knowledge, state.id);
            if heard && asked.requested.binary_search(&state.id).is_ok() {
                return true;
            }
            let told = knowledge
                .told
                .binary_search_by_key(&state.id, |(told, _)| told.id)
                .ok()
                .map(|at| knowledge.told[at].1);
            if !heard && told.is_none_or(|at| knowledge.now.since(at) > soft_state) {
                return true;
            }
            scene
                .find(state.id)
                .is_some_and(|body| need[body as usize] >= options.threshold)
        };
        let chosen = knowledge.sensed.iter().enumerate();
        chosen
            .filter(|(_, state)| eligible(state) && worth(state))
            .map(|(k, _)| k)
            .collect()
    }

    /// All that is known, own sensing before what others told.
    fn gather(&mut self, options: &DemandOptions, knowledge: &Knowledge<'_>) {
        let bodies = &mut self.bodies;
        bodies.clear();
        let nominal = options.sizes == BodySizes::Nominal;
        let age = |at: Instant| knowledge.now.since(at).seconds();
        bodies.push((agent(knowledge.own, knowledge.state), 0.0));
        for heard in knowledge.heard {
            bodies.push((agent(heard.id, &heard.state), age(heard.at)));
        }
        for state in knowledge.sensed {
            if !is_heard(knowledge, state.id) {
                bodies.push((silent(state), age(state.sensed_at)));
            }
        }
        for (state, _) in knowledge.told {
            if !is_heard(knowledge, state.id) {
                bodies.push((silent(state), age(state.sensed_at)));
            }
        }
        if nominal {
            bodies[1..]
                .iter_mut()
                .for_each(|(body, _)| body.size = NOMINAL);
        }
        // A stable sort keeps own sensing first.
        bodies.sort_by_key(|(body, _)| body.id);
        bodies.dedup_by_key(|(body, _)| body.id);
    }

    /// Leaves out whoever is too far from all `objects` to need one of them, or to stand between one and who needs it.
    fn keep_what_matters<'a>(
        &mut self,
        options: &DemandOptions,
        objects: impl Iterator<Item = &'a ObjectState>,
    ) {
        let course = options.course;
        // Each object, and how far off the farthest is that may need it.
        let objects: Vec<(Position, f64)> = objects
            .map(|object| {
                let reach = course.reach_m(object.velocity.speed()) + MOVED_M;
                let distance = |body: &Body| {
                    let distance = body.position.distance(object.position);
                    (distance <= course.reach_m(body.speed) + reach).then_some(distance)
                };
                let needing = self.bodies.iter().filter_map(|(body, _)| distance(body));
                (object.position, needing.fold(0.0, f64::max) + MOVED_M)
            })
            .collect();
        self.bodies.retain(|(body, _)| {
            let near = |&(at, radius): &(Position, f64)| body.position.distance(at) <= radius;
            objects.iter().any(near)
        });
    }

    fn build(&mut self, options: &DemandOptions, knowledge: &Knowledge<'_>) {
        let bodies = &mut self.bodies;
        let course = options.course;
        // Listeners further off than this from what is seen need none of it.
        let radius = options.sensor_range_m + course.reach_m(20.0);
        let centre: Position = knowledge.state.position;
        self.scene
            .rebuild(centre, radius, bodies.drain(..), knowledge.map, |body| {
                course.reach_m(body.speed) + body.size.length
            });
    }
}

/// Labels from here on are of what oneself sees, and of what others told.
const OWN_LABELS: u64 = 1 << 62;
const TOLD_LABELS: u64 = 1 << 61;

/// What one sees and was told of, each under the id of the station that it is, or a label of its own: ids that came with it
/// are not looked at.
struct Labelled {
    sensed: Vec<ObjectState>,
    told: Vec<(ObjectState, Instant)>,
}

impl Labelled {
    fn new(options: &DemandOptions, knowledge: &Knowledge<'_>) -> Self {
        let accuracy = options.accuracy();
        let mut tracks: Vec<Seen> = knowledge
            .heard
            .iter()
            .map(|heard| Seen::of_agent(&heard.state, heard.at))
            .collect();
        let mut labels: Vec<ObjectId> = knowledge.heard.iter().map(|heard| heard.id).collect();
        let entries: Vec<Seen> = knowledge.sensed.iter().map(Seen::of_object).collect();
        let found = associate(&tracks, &entries, accuracy);
        let sensed: Vec<ObjectState> = (OWN_LABELS..)
            .zip(knowledge.sensed)
            .zip(&found)
            .map(|((own, state), found)| ObjectState {
                id: found.map_or(ObjectId(own), |at| labels[at as usize]),
                ..*state
            })
            .collect();
        // Others tell of oneself, of stations, and of what oneself sees.
        tracks.push(Seen::of_agent(knowledge.state, knowledge.now));
        labels.push(knowledge.own);
        for ((state, entry), _) in sensed
            .iter()
            .zip(&entries)
            .zip(&found)
            .filter(|(_, found)| found.is_none())
        {
            tracks.push(*entry);
            labels.push(state.id);
        }
        let entries: Vec<Seen> = knowledge
            .told
            .iter()
            .map(|(state, _)| Seen::of_object(state))
            .collect();
        let found = associate(&tracks, &entries, accuracy);
        let mut told: Vec<(ObjectState, Instant)> = (TOLD_LABELS..)
            .zip(knowledge.told)
            .zip(found)
            .map(|((own, &(state, at)), found)| {
                let id = found.map_or(ObjectId(own), |at| labels[at as usize]);
                (ObjectState { id, ..state }, at)
            })
            .collect();
        told.sort_by_key(|(state, _)| state.id);
        Self { sensed, told }
    }
}

fn is_heard(knowledge: &Knowledge<'_>, id: ObjectId) -> bool {
    knowledge
        .heard
        .binary_search_by_key(&id, |heard| heard.id)
        .is_ok()
}

fn agent(id: ObjectId, state: &AgentState) -> Body {
    Body {
        id,
        position: state.position,
        heading: Some(state.heading),
        speed: state.speed,
        size: state.size,
        silent: false,
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
    }
}
