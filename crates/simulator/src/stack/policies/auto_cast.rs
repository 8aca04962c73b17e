//! AutoCast (Qiu et al., MobiSys 2022, arXiv 2112.14947): a cluster head ranks who casts which object.
//!
//! The reward of an object from a sender is the number of receivers from whom it is hidden and on whose way it is; what is ranked
//! is reward per byte, and what fits into the budget is cast (`mckp_greedy_scheduling_algorithm` of its published code). Rewards
//! are whole numbers that know no losses, no deadlines, and nothing of what was told before; an object earns a reward from so many
//! senders, whatever the chance that they are heard.
//!
//! Head, budget, grants, bytes and losses are those of every arm with hosts. Who sees what the head draws over the boxes that it
//! knows, or believes from a report of late, where AutoCast's beacons carry lists of detected objects; so that it learns of
//! what nobody told it, what the ranking leaves of the budget goes to whoever was not heard of for longest.

use std::collections::BTreeMap;

use covey_protocol::admission::{Admission, Binding};
use covey_protocol::demand::associate::Identities;
use covey_protocol::demand::need::Needs;
use covey_protocol::demand::scene::{Body, NOMINAL, Scene};
use covey_protocol::demand::{BodySizes, DemandOptions};
use covey_protocol::messages::Content;
use covey_protocol::policy::{Hints, KnownObject, Listing, Plan, Policy, Repeat, Reporters, View};
use covey_protocol::{AgentId, Instant, ObjectId, RoadMap, Tile};

use crate::rivals::{AutoCast as Reading, Ranking};

/// The head's side of AutoCast.
#[derive(Debug, Clone)]
pub(crate) struct AutoCast {
    reading: Reading,
    /// What is a way, how far sensors see, what is to be believed: as in choice by demand.
    options: DemandOptions,
    scene: Scene,
    needs: Needs,
    /// When each member last reported or was last asked.
    attended: BTreeMap<AgentId, Instant>,
}

/// Somebody who could cast objects.
#[derive(Debug, Clone, PartialEq)]
struct Sender {
    id: AgentId,
    /// What its message takes without objects; nothing for the head, whose broadcast goes out anyhow.
    bytes: f64,
    /// Objects by number, and how many receivers each would serve.
    rewards: Vec<(u32, u32)>,
}

/// Who casts: places among the senders, in the order of choosing.
#[derive(Debug, Clone, PartialEq, Default)]
struct Schedule {
    chosen: Vec<usize>,
    bytes: f64,
    /// Something of value did not fit.
    cut: bool,
}

impl Schedule {
    /// Takes the sender of the highest reward per byte while it fits. An object that has as many senders as `reading` allows earns
    /// nobody anything more.
    fn greedy(reading: &Reading, senders: &[Sender], object_bytes: f64, room: f64) -> Self {
        let mut schedule = Self::default();
        let mut times: BTreeMap<u32, u32> = BTreeMap::new();
        let mut left: Vec<usize> = (0..senders.len()).collect();
        loop {
            let mut best: Option<(f64, usize, f64)> = None;
            for (place, &k) in left.iter().enumerate() {
                let sender = &senders[k];
                let open = |object: &u32| {
                    times.get(object).copied().unwrap_or(0) < reading.senders_per_object
                };
                let rewards = sender.rewards.iter().filter(|(object, _)| open(object));
                let rewards = rewards.map(|&(_, reward)| f64::from(reward));
                // It tells of all that it was chosen for, whoever else does.
                let bytes = sender.bytes + object_bytes * sender.rewards.len() as f64;
                let worth = match reading.ranking {
                    Ranking::Object => rewards.fold(0.0, f64::max) / object_bytes.max(1e-9),
                    Ranking::Message => rewards.sum::<f64>() / bytes.max(1e-9),
                };
                // Senders come by ascending id: of equals the first.
                if worth > 0.0 && best.is_none_or(|(most, ..)| worth > most) {
                    best = Some((worth, place, bytes));
                }
            }
            let Some((_, place, bytes)) = best else { break };
            let k = left.remove(place);
            if schedule.bytes + bytes > room {
                schedule.cut = true;
                continue;
            }
            schedule.bytes += bytes;
            schedule.chosen.push(k);
            for &(object, _) in &senders[k].rewards {
                *times.entry(object).or_default() += 1;
            }
        }
        schedule
    }
}

impl AutoCast {
    /// With this reading; `options` say what a way is and what is to be believed.
    pub(crate) fn new(reading: Reading, options: DemandOptions) -> Self {
        Self {
            reading,
            options,
            scene: Scene::with_memory(),
            needs: Needs::default(),
            attended: BTreeMap::new(),
        }
    }

    /// Everything that the head knows, itself included, moved forward to the present.
    fn look_around(&mut self, view: &View<'_>) {
        let course = self.options.course;
        let nominal = self.options.sizes == BodySizes::Nominal;
        let known = view.known.iter().map(|known| {
            let state = &known.state;
            let body = Body {
                id: state.id,
                position: state.position,
                heading: known.heading,
                speed: state.velocity.speed(),
                size: if nominal { NOMINAL } else { state.size },
                silent: known.announced_at.is_none(),
                spoken: None,
            };
            (body, view.now.since(state.sensed_at).seconds())
        });
        let is_known = |id: ObjectId| {
            let found = view.known.binary_search_by_key(&id, |k| k.state.id);
            found.is_ok()
        };
        // The head itself, and stations beside the road, which are no objects but may cast.
        let others = view.scope.iter().filter(|m| !is_known(m.id.into()));
        let others = others.map(|member| {
            let body = Body {
                id: member.id.into(),
                position: member.state.position,
                heading: Some(member.state.heading),
                speed: member.state.speed,
                size: member.state.size,
                silent: false,
                spoken: None,
            };
            (body, view.now.since(member.heard_at).seconds().max(0.0))
        });
        let mut bodies: Vec<(Body, f64)> = known.chain(others).collect();
        bodies.sort_by_key(|(body, _)| body.id);
        let own = view.scope.iter().find(|member| member.id == view.host);
        let Some(own) = own else {
            self.scene = Scene::with_memory();
            return;
        };
        let radius_m = view.parameters.footprint_m + self.options.sensor_range_m;
        let reach = |body: &Body| course.reach_m(body.speed) + body.size.length;
        self.scene
            .rebuild(own.state.position, radius_m, bodies, view.map, reach);
    }

    /// Members that were heard of late, as bodies of the scene.
    fn members(&self, view: &View<'_>) -> Vec<u32> {
        let within = view.parameters.heard_within(self.options.heard_within_s);
        let heard = view.scope.iter();
        let heard = heard.filter(|member| view.now.since(member.heard_at) <= within);
        heard
            .filter_map(|member| self.scene.find(member.id.into()))
            .collect()
    }

    /// The receivers of each object from whom it is hidden and on whose way it is, by body of the scene.
    fn receivers(&mut self, view: &View<'_>, members: &[u32]) -> BTreeMap<u32, Vec<u32>> {
        let (scene, options) = (&self.scene, &self.options);
        let announced = self.reading.announced;
        let walls = walls(options, view.map);
        let wanted = |object: u32| {
            let body = &scene.bodies()[object as usize];
            let at = view.known.binary_search_by_key(&body.id, |k| k.state.id);
            at.is_ok() && (body.silent || announced)
        };
        scene.allow(view.parameters.guard.work);
        self.needs.find(
            scene,
            &options.course,
            view.parameters,
            members,
            wanted,
            |i, o| f64::from(u8::from(sees(scene, options, walls, i, o))),
        );
        let mut receivers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for pair in self.needs.pairs().iter().filter(|pair| pair.unseen > 0.5) {
            receivers
                .entry(pair.object)
                .or_default()
                .push(pair.listener);
        }
        receivers
    }

    /// Who could cast what, and for how many: the head first.
    fn senders(
        &self,
        view: &View<'_>,
        members: &[u32],
        receivers: &BTreeMap<u32, Vec<u32>>,
    ) -> Vec<Sender> {
        let p = view.parameters;
        let scene = &self.scene;
        let mut senders = Vec::new();
        let rewards = |sender: u32, casts: &dyn Fn(u32) -> bool| {
            let place = scene.bodies()[sender as usize].position;
            let near = |&&body: &&u32| {
                let there = scene.bodies()[body as usize].position;
                body != sender && there.distance(place) <= self.reading.reach_m
            };
            let served = receivers
                .iter()
                .map(|(&o, who)| (o, who.iter().filter(near).count()));
            let served = served.filter(|&(object, count)| count > 0 && casts(object));
            served
                .map(|(object, count)| (object, count as u32))
                .collect::<Vec<_>>()
        };
        let host = scene.find(view.host.into());
        if let Some(host) = host {
            let own = |object: u32| self.listable(view, scene.bodies()[object as usize].id);
            senders.push(Sender {
                id: view.host,
                bytes: 0.0,
                rewards: rewards(host, &own),
            });
        }
        for &member in members.iter().filter(|&&m| Some(m) != host) {
            let body = &scene.bodies()[member as usize];
            let tile = Tile::containing(body.position, p.tile_m);
            if self.options.candidates_in_tile_only && tile != Some(view.tile) {
                continue;
            }
            let seen = |object: u32| object != member && self.is_seen_by(view, member, object);
            senders.push(Sender {
                id: AgentId(body.id.0),
                bytes: p.report_bytes(0.0) + p.contributor_bytes,
                rewards: rewards(member, &seen),
            });
        }
        senders
    }

    /// The head sees an object itself, and holds it as fresh, and its broadcast has to say so.
    fn listable(&self, view: &View<'_>, id: ObjectId) -> bool {
        let held = view.objects.binary_search_by_key(&id, |o| o.state.id);
        let direct = held.is_ok_and(|at| view.objects[at].direct && !view.objects[at].announced);
        direct && (view.refresh || listing(view.known, id) != Listing::Unchanged)
    }

    /// A member has reported an object of late, or a line says that it sees it.
    fn is_seen_by(&self, view: &View<'_>, member: u32, object: u32) -> bool {
        let (scene, options) = (&self.scene, &self.options);
        let bodies = scene.bodies();
        let id = AgentId(bodies[member as usize].id.0);
        let report = view.reports.binary_search_by_key(&id, |r| r.sender).ok();
        let told = report.is_some_and(|at| {
            let report = &view.reports[at];
            let fresh = view.now.since(report.at).seconds() <= options.report_stale_s;
            let object = bodies[object as usize].id;
            fresh && report.objects.binary_search(&object).is_ok()
        });
        told || sees(scene, options, walls(options, view.map), member, object)
    }

    /// Notes who was attended to.
    fn attend(&mut self, view: &View<'_>) {
        for report in view.reports {
            let at = self.attended.entry(report.sender).or_insert(report.at);
            *at = (*at).max(report.at);
        }
        self.attended
            .retain(|id, _| view.scope.binary_search_by_key(id, |s| s.id).is_ok());
    }

    /// Those who were not heard of for long, longest first.
    fn unheard(&self, view: &View<'_>, senders: &[Sender]) -> Vec<AgentId> {
        let Some(survey_s) = self.reading.survey_s else {
            return Vec::new();
        };
        let last = |id: AgentId| self.attended.get(&id).copied();
        let overdue = |id: &AgentId| {
            let age = |at: Instant| view.now.since(at).seconds();
            *id != view.host && last(*id).is_none_or(|at| age(at) >= survey_s)
        };
        let mut unheard: Vec<AgentId> = senders.iter().map(|s| s.id).filter(overdue).collect();
        // Those never heard of come before all others, in the order of their mixed numbers.
        unheard.sort_by_key(|&id| (last(id), id.mixed()));
        unheard
    }
}

/// A line over known boxes and buildings goes from one body to another within the sensors' range.
fn sees(
    scene: &Scene,
    options: &DemandOptions,
    walls: Option<&dyn RoadMap>,
    from: u32,
    to: u32,
) -> bool {
    let [a, b] = [from, to].map(|body| scene.bodies()[body as usize].position);
    a.distance(b) <= options.sensor_range_m && scene.sees(from, to, walls)
}

/// The map as far as sight lines are concerned.
fn walls<'m>(options: &DemandOptions, map: Option<&'m dyn RoadMap>) -> Option<&'m dyn RoadMap> {
    map.filter(|_| options.buildings)
}

fn listing(known: &[KnownObject], id: ObjectId) -> Listing {
    let at = known.binary_search_by_key(&id, |k| k.state.id);
    at.map_or(Listing::None, |at| known[at].listing)
}

impl Policy for AutoCast {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        self.attend(view);
        self.look_around(view);
        let members = self.members(view);
        let receivers = self.receivers(view, &members);
        let senders = self.senders(view, &members, &receivers);
        let p = view.parameters;
        let room = view.rules.room_bytes() - p.empty_bytes();
        let schedule = Schedule::greedy(&self.reading, &senders, p.object_bytes, room);
        let bodies = self.scene.bodies();
        let (mut reporters, mut cast, mut requested) = (Vec::new(), Vec::new(), Vec::new());
        for &k in &schedule.chosen {
            let sender = &senders[k];
            let objects = sender.rewards.iter().map(|&(o, _)| &bodies[o as usize]);
            if sender.id == view.host {
                cast.extend(objects.map(|body| body.id));
                continue;
            }
            reporters.push(sender.id);
            requested.extend(objects.filter(|body| !body.silent).map(|body| body.id));
        }
        requested.sort_unstable();
        requested.dedup();
        let ranked = reporters.len();
        let unheard = self.unheard(view, &senders);
        reporters.extend(
            unheard
                .into_iter()
                .filter(|id| !reporters[..ranked].contains(id))
                .collect::<Vec<_>>(),
        );
        let mut bytes = schedule.bytes;
        let each = p.report_bytes(1.0) + p.contributor_bytes;
        let fits = |_: &AgentId| {
            bytes += each;
            bytes <= room
        };
        let surveyed = reporters[ranked..].iter().copied().take_while(fits).count();
        reporters.truncate(ranked + surveyed);
        self.attended
            .extend(reporters.iter().map(|&id| (id, view.now)));
        Plan {
            reporters: Reporters::Ranking(reporters),
            binding: match schedule.cut {
                true => Binding::Allowance,
                false => Binding::Value,
            },
            content: Content::Requested,
            requested,
            repeat: Repeat::Picked(cast),
        }
    }

    fn hints(&self) -> Hints {
        let mut hints = Hints::NO_COVERAGE;
        hints.paths = false;
        hints.association = match self.options.identities {
            Identities::Associated => Some(self.options.accuracy()),
            Identities::True => None,
        };
        hints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three senders of 100 bytes and 10 an object: 1 serves five with object 7, 2 serves four with 7 and three with 8, 3 serves two
    /// with 9; the head serves one with 9 at no bytes but the object's.
    fn senders() -> [Sender; 4] {
        let sender = |id, bytes, rewards: &[(u32, u32)]| Sender {
            id: AgentId(id),
            bytes,
            rewards: rewards.to_vec(),
        };
        [
            sender(0, 0.0, &[(9, 1)]),
            sender(1, 100.0, &[(7, 5)]),
            sender(2, 100.0, &[(7, 4), (8, 3)]),
            sender(3, 100.0, &[(9, 2)]),
        ]
    }

    fn chosen(ranking: Ranking, senders_per_object: u32, room: f64) -> (Vec<usize>, bool) {
        let reading = Reading {
            ranking,
            senders_per_object,
            ..Reading::default()
        };
        let schedule = Schedule::greedy(&reading, &senders(), 10.0, room);
        assert!(schedule.bytes <= room);
        (schedule.chosen, schedule.cut)
    }

    #[test]
    fn what_serves_most_receivers_a_byte_is_cast_once() {
        // The head first (1 a 10 bytes), then 2 (7 a 120), after which 1 and 3 have nothing new.
        assert_eq!(chosen(Ranking::Message, 1, 1e6), (vec![0, 2], false));
        // By objects alone 1 comes first (5 a 10 bytes), then 2 for what is left to it (3), then 3 (2).
        assert_eq!(chosen(Ranking::Object, 1, 1e6), (vec![1, 2, 3], false));
    }

    #[test]
    fn more_senders_are_paid_for_only_where_the_reading_wants_them() {
        assert_eq!(chosen(Ranking::Message, 2, 1e6), (vec![0, 2, 1, 3], false));
    }

    #[test]
    fn what_does_not_fit_is_passed_over() {
        assert_eq!(chosen(Ranking::Message, 1, 115.0), (vec![0], true));
        assert_eq!(chosen(Ranking::Object, 1, 115.0), (vec![1], true));
        assert_eq!(chosen(Ranking::Message, 1, 5.0), (vec![], true));
    }
}
