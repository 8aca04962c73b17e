//! What is told unasked: an object that somebody needs and of which nobody was heard to tell for longer than usual.
//!
//! A host asks whoever can tell what is needed, and hears what was said. But its word may be lost, the report may be lost, and it
//! cannot ask for what it never heard of. Whoever sees such an object notices that nobody tells of it: the nearest two speak, and more
//! when that does not help.

use alloc::vec::Vec;

use super::{
    Chooser, Heard, Knowledge, Labelled, Observer, around, doubt_of, is_among, is_heard, judged_at,
    neighbour, station,
};
use crate::demand::DemandOptions;
use crate::ids::ObjectId;
use crate::messages::ObjectState;
use crate::parameters::Parameters;

impl Chooser {
    /// What of its view a contributor tells that nobody asks: silent objects, and stations that are not heard at present, that
    /// somebody needs, of which it heard nobody tell for a while, and to which of those who see them fewer are nearer than that while
    /// has passed times: at first one, then two.
    pub(super) fn volunteer(
        &mut self,
        parameters: &Parameters,
        options: &DemandOptions,
        observer: &Observer<'_>,
        heard: &impl Heard,
    ) -> Vec<usize> {
        let Some(after_s) = options.unasked_after_s() else {
            return Vec::new();
        };
        let links = self.listen(parameters, observer, heard);
        let neighbours = core::mem::take(&mut self.heard);
        let mut labelled = Labelled::new(options, observer, &neighbours);
        let doubts = core::mem::take(&mut labelled.doubts);
        let mute = |state: &ObjectState| match neighbour(&neighbours, state.id) {
            None => true,
            Some(heard) => {
                let here = (observer.now, observer.state.position);
                let unsure = (doubt_of(&doubts, state.id), options.lost_together());
                options.is_lost(&station(parameters, here, &links, heard, unsure))
            }
        };
        let considered: Vec<ObjectState> = labelled
            .sensed
            .iter()
            .filter(|state| mute(state))
            .copied()
            .collect();
        let silent = |state: &ObjectState| !is_heard(&neighbours, state.id);
        let young = labelled.young(&self.young, silent);
        let mut chosen = Vec::new();
        if !considered.is_empty() {
            let around = around(options, &neighbours, &considered);
            let told = labelled.told(parameters, options, observer, heard, &around);
            // For how long nobody told of it, in multiples of what is usual.
            let overdue = |state: &ObjectState| {
                let found = told.binary_search_by_key(&state.id, |t| t.id);
                let confirmed = options.road.others_confirm && found.is_ok();
                if !confirmed && is_among(&young, state.id) {
                    return 0.0;
                }
                let since_s = found.map_or(parameters.soft_state_s, |at| {
                    observer.now.since(told[at].sensed_at).seconds()
                });
                since_s / after_s
            };
            let overdue: Vec<(ObjectState, f64)> = considered
                .iter()
                .map(|state| (*state, overdue(state)))
                .filter(|&(_, times)| times >= 1.0)
                .collect();
            let objects: Vec<ObjectState> = overdue.iter().map(|(state, _)| *state).collect();
            if !objects.is_empty() {
                let knowledge = Knowledge {
                    now: observer.now,
                    own: observer.id.into(),
                    state: observer.state,
                    heard: &neighbours,
                    sensed: &labelled.sensed,
                    told: &told,
                    doubts: &doubts,
                    said: &[],
                    ahead_s: judged_at(parameters, observer.now)
                        .since(observer.now)
                        .seconds(),
                    links: &links,
                    map: observer.map,
                };
                let needed = self.needed(options, parameters, &knowledge, &around, &objects);
                let worth = overdue
                    .iter()
                    .zip(needed)
                    .filter(|&(&(state, times), needed)| {
                        needed && (self.nearer(options, &knowledge, state.id) as f64) < times
                    });
                let worth: Vec<ObjectId> = worth.map(|((state, _), _)| state.id).collect();
                let all = 0..labelled.sensed.len();
                chosen.extend(all.filter(|&k| worth.contains(&labelled.sensed[k].id)));
            }
        }
        self.heard = neighbours;
        chosen
    }

    /// How many of those who are heard and see an object are nearer to it, in the scene of the last judgement.
    fn nearer(
        &self,
        options: &DemandOptions,
        knowledge: &Knowledge<'_>,
        object: ObjectId,
    ) -> usize {
        let scene = &self.scene;
        let Some(number) = scene.find(object) else {
            return 0;
        };
        let place = scene.bodies()[number as usize].position;
        let own_m = place.distance(knowledge.state.position);
        let most_m = own_m.min(options.sensor_range_m);
        let walls = options.walls(knowledge.map);
        let bodies = (0u32..).zip(scene.bodies());
        let nearer = bodies.filter(|&(k, body)| {
            k != number
                && is_heard(knowledge.heard, body.id)
                && body.position.distance(place) < most_m
                && scene.sees(k, number, walls)
        });
        nearer.count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Neighbour;
    use super::*;
    use crate::contributor::{Asked, Contributor, Memory};
    use crate::demand::road::Road;
    use crate::grid::{Position, Velocity};
    use crate::ids::AgentId;

    use crate::messages::{AgentState, Confidence, Size};
    use crate::time::{Duration, Instant};

    const NOW: Instant = Instant::from_millis(10_000);

    fn ago(millis: i64) -> Instant {
        NOW - Duration::from_millis(millis)
    }

    fn car(x: f64, y: f64) -> AgentState {
        AgentState {
            position: Position::new(x, y),
            heading: 0.0,
            speed: 10.0,
            size: Size {
                length: 5.0,
                width: 2.0,
                height: 1.6,
            },
        }
    }

    struct Notes {
        neighbours: Vec<Neighbour>,
        said: Vec<(Instant, AgentId, Vec<ObjectState>)>,
    }

    impl Heard for Notes {
        fn hears(&self, agent: AgentId) -> bool {
            self.neighbours.iter().any(|n| n.id == agent)
        }

        fn neighbours(&self, _: f64, tell: impl FnMut(Neighbour)) {
            self.neighbours.iter().copied().for_each(tell);
        }

        fn sayings<'s>(&'s self, mut tell: impl FnMut(Instant, AgentId, &'s [ObjectState])) {
            for (at, by, objects) in &self.said {
                tell(*at, *by, objects);
            }
        }
    }

    fn options(after_s: f64) -> DemandOptions {
        DemandOptions {
            on_road: true,
            road: Road {
                unasked_after_s: after_s,
                lost_together: 0.03,
                ..Road::default()
            },
            ..DemandOptions::default()
        }
    }

    /// Whether somebody beside the road tells of a car that one behind another car needs, and of which all were told so many
    /// milliseconds ago. The car is silent, or a station whose last beacon has the age given. So many more are heard who see it and
    /// are nearer.
    fn tells(
        options: &DemandOptions,
        told: Option<i64>,
        beacon: Option<i64>,
        nearer: usize,
    ) -> bool {
        let seen = |at: Instant| ObjectState {
            id: ObjectId(3),
            position: Position::new(55.0 - 10.0 * NOW.since(at).seconds(), 0.0),
            velocity: Velocity::new(10.0, 0.0),
            size: car(0.0, 0.0).size,
            sensed_at: at,
            confidence: Confidence::FULL,
        };
        let neighbour = |id, state: AgentState, age| Neighbour {
            id: AgentId(id),
            state,
            at: ago(age),
            beacons: 10,
            first_at: ago(age + 900),
        };
        let mut heard = Notes {
            neighbours: alloc::vec![
                neighbour(1, car(0.0, 0.0), 0),
                neighbour(2, car(15.0, 0.0), 0)
            ],
            said: Vec::new(),
        };
        if let Some(age) = beacon {
            let there = car(55.0 - 0.01 * age as f64, 0.0);
            heard.neighbours.push(neighbour(30, there, age));
        }
        for k in 0..nearer {
            let beside = car(50.0 + 10.0 * k as f64, 12.0);
            heard.neighbours.push(neighbour(40 + k as u64, beside, 0));
        }
        if let Some(age) = told {
            let said = (ago(age), AgentId(2), alloc::vec![seen(ago(age))]);
            heard.said.push(said);
        }
        let observer = Observer {
            now: NOW,
            id: AgentId(9),
            state: &car(40.0, 30.0),
            sensed: &[seen(NOW)],
            map: None,
        };
        let (parameters, mut none) = (Parameters::default(), Memory::default());
        let chosen = Chooser::default().choose(
            &parameters,
            Some(options),
            &observer,
            &Asked::default(),
            &mut none,
            &heard,
        );
        !chosen.is_empty()
    }

    #[test]
    fn what_nobody_tells_of_is_told_unasked_by_the_nearest() {
        let soon = options(0.3);
        assert!(tells(&soon, None, None, 0));
        assert!(tells(&soon, Some(310), None, 0));
        assert!(!tells(&soon, Some(200), None, 0), "somebody told of it");
        // Two speak first, a third when it takes longer.
        assert!(tells(&soon, Some(310), None, 1));
        assert!(!tells(&soon, Some(310), None, 2));
        assert!(tells(&soon, Some(610), None, 2));
        assert!(!tells(&options(3_600.0), None, None, 0));
        let off_road = DemandOptions {
            on_road: false,
            ..soon
        };
        assert!(!tells(&off_road, None, None, 0));
    }

    #[test]
    fn a_station_whose_beacons_are_lost_is_told_unasked() {
        let soon = options(0.3);
        assert!(!tells(&soon, None, Some(50), 0), "it speaks for itself");
        assert!(tells(&soon, None, Some(450), 0));
        let mut trusting = soon;
        trusting.road.lost_together = 0.0;
        assert!(!tells(&trusting, None, Some(450), 0));
    }

    #[test]
    fn only_who_may_speak_unasked_does() {
        let parameters = Parameters::default();
        let own = AgentId(9);
        let report = |options: &DemandOptions| {
            let mut contributor = Contributor::new(&parameters, own).judging(Some(options));
            let now = NOW + contributor.phase();
            let mut asked_by = None;
            let object = ObjectState {
                id: ObjectId(3),
                position: Position::default(),
                velocity: Velocity::default(),
                size: Size::default(),
                sensed_at: now,
                confidence: Confidence::FULL,
            };
            let mut say = || {
                contributor.report(now, |asked, _| {
                    asked_by = Some(asked.is_unasked());
                    alloc::vec![object]
                })
            };
            let (first, again) = (say().is_some(), say().is_some());
            assert!(!again, "once a cycle");
            (first, asked_by, contributor.is_admitted())
        };
        assert_eq!(report(&options(0.3)), (true, Some(true), false));
        assert_eq!(report(&options(3_600.0)), (false, None, false));
    }
}
