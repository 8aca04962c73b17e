//! What all arms of a seed share, step by step: who is on the road, who sees what, who can hear whom, what matters to whom. None
//! of it depends on who transmits.

mod ghosts;
mod lies;
mod links;
mod lists;
mod pair_memory;
mod perceived;
mod reach;
mod road;
mod scene;
mod sight;
mod slots;
mod stamps;

use std::time::Instant as Clock;

use covey_protocol::messages::{Confidence, ObjectState, Size};
use covey_protocol::{AgentId, Instant, ObjectId};
use covey_radio::ChannelModel;
use covey_world::paths::{self, RelevantPairs};

use crate::ids::{Slot, Step, TileNumber};
use crate::prepared::Prepared;
use crate::sensing::{Moving, Way, Whereabouts};

pub(crate) use ghosts::{GhostId, Ghosts, RelevantGhost};
pub(crate) use links::Links;
use perceived::{Perceived, Seen};
pub(crate) use reach::Powers;
pub(crate) use road::{Moment, Road};
pub(crate) use sight::Sights;
pub(crate) use stamps::{PairStamps, Stamp, Time, rebase};

/// What is wanted of a world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Cells that participants see.
    pub(crate) cells: bool,
    /// Takes the place of the scenarios' d_min, in metres.
    pub(crate) margin_m: Option<f64>,
    /// Threads that may work on it.
    pub(crate) threads: usize,
}

/// Where the time of a world went, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) traffic_s: f64,
    pub(crate) sight_s: f64,
    pub(crate) links_s: f64,
    /// CPU time of threads other than the caller's.
    pub(crate) helpers_cpu_s: f64,
}

/// What matters to whom: the evaluator's, which no participant may see.
#[derive(Debug)]
struct Relevance {
    rule: paths::Relevance,
    pairs: RelevantPairs,
    ghosts: Vec<RelevantGhost>,
}

impl Relevance {
    fn new(prepared: &Prepared, margin_m: Option<f64>) -> Self {
        let scenario = &prepared.scenario;
        let mut relevance = scenario.evaluation.relevance(&scenario.protocol);
        relevance.margin = margin_m.unwrap_or(relevance.margin);
        let (predictor, conflicts) = (&prepared.predictor, &prepared.conflicts);
        let rule = paths::Relevance::new(predictor.clone(), conflicts.clone(), relevance);
        Self {
            rule: rule.with_lanes(prepared.carried.matcher.clone()),
            pairs: RelevantPairs::new(),
            ghosts: Vec::new(),
        }
    }
}

/// The world of a seed: one road, for all scenarios that have it in common.
#[derive(Debug)]
pub(crate) struct World<'p> {
    /// The scenario whose turn it is.
    pub(crate) prepared: &'p Prepared,
    /// All scenarios, and what is relevant in each.
    scenarios: Vec<(&'p Prepared, Relevance)>,
    turn: usize,
    pub(crate) seed: u64,
    pub(crate) time: Time,
    pub(crate) road: Road,
    pub(crate) sights: Sights,
    perceived: Perceived,
    pub(crate) ghosts: Ghosts,
    pub(crate) links: Links,
    /// Empty unless slots are simulated.
    pub(crate) powers: Powers,
    wanted: Wanted,
    ears: links::Ears,
    pub(crate) spent: Spent,
}

impl<'p> World<'p> {
    /// A world for these scenarios, which have one road ([`Scenario::road`](crate::Scenario::road)); the first has its turn.
    pub(crate) fn new(
        first: &'p Prepared,
        others: &[&'p Prepared],
        seed: u64,
        wanted: Wanted,
    ) -> Self {
        let scenarios = std::iter::once(&first).chain(others);
        Self {
            prepared: first,
            scenarios: scenarios
                .map(|&prepared| (prepared, Relevance::new(prepared, wanted.margin_m)))
                .collect(),
            turn: 0,
            seed,
            time: Time::default(),
            road: Road::default(),
            sights: Sights::new(wanted.cells),
            perceived: Perceived::default(),
            ghosts: Ghosts::default(),
            links: Links::default(),
            powers: Powers::default(),
            wanted,
            ears: links::Ears::default(),
            spent: Spent::default(),
        }
    }

    /// It is the turn of another scenario: all that is asked from now on is answered as it says. The road is everyone's.
    pub(crate) fn turn_to(&mut self, turn: usize) {
        self.turn = turn;
        self.prepared = self.scenarios[turn].0;
    }

    /// The present step.
    #[inline]
    pub(crate) fn step(&self) -> Step {
        self.time.step
    }

    /// The present.
    pub(crate) fn now(&self) -> Instant {
        Time::instant(self.time.step)
    }

    /// How old a stamp is, in steps; none where it stands for never.
    #[inline]
    pub(crate) fn age(&self, stamp: Stamp) -> Option<u32> {
        (stamp > 0).then(|| self.time.step.since(self.time.step_of(stamp)))
    }

    /// A vehicle's present state.
    #[inline]
    pub(crate) fn here(&self, slot: Slot) -> &Moment {
        self.road.moment(slot, self.time.step)
    }

    /// The agent at a place.
    #[inline]
    pub(crate) fn agent(&self, slot: Slot) -> AgentId {
        self.road.agent(slot)
    }

    /// The tile in which a place's vehicle really is.
    #[inline]
    pub(crate) fn tile(&self, slot: Slot) -> TileNumber {
        self.road.tile(slot)
    }

    /// Who matters to whom in this cycle, where it was asked for.
    pub(crate) fn relevant(&self) -> &RelevantPairs {
        &self.scenarios[self.turn].1.pairs
    }

    /// To whom which ghosts would matter in this cycle if they were there.
    pub(crate) fn relevant_ghosts(&self) -> &[RelevantGhost] {
        &self.scenarios[self.turn].1.ghosts
    }

    /// Steps into the cycle.
    pub(crate) fn phase(&self) -> u32 {
        self.time.step.0 % self.prepared.timeline.cycle
    }

    /// The number of the present cycle.
    pub(crate) fn cycle(&self) -> u32 {
        self.time.step.0 / self.prepared.timeline.cycle
    }

    /// This step is that of the hosts' decision and of the metric.
    pub(crate) fn is_decision(&self) -> bool {
        self.phase() == self.prepared.timeline.decision
    }

    /// Sensors look at this step.
    pub(crate) fn is_sensing(&self) -> bool {
        let interval = self.prepared.timeline.beacon;
        self.time.step.0.is_multiple_of(interval)
    }

    /// Takes in the frame of the next step, which the caller put into `self.road.frame`. Without `everyone_looks`, only
    /// participants look. Gives whether stamps have a new origin: all that are kept elsewhere must then be moved by [`rebase`].
    pub(crate) fn advance(&mut self, step: Step, everyone_looks: bool) -> bool {
        let rebased = self.time.go_to(step);
        if rebased {
            self.sights.rebase();
        }
        self.road.place(self.prepared, self.seed, step);
        self.sights.everyone_looks = everyone_looks;
        let now = self.time.stamp(step);
        self.sights.begin(self.road.size(), self.road.left(), now);
        // Where sensors take their time, what they saw before is not found anew.
        let lasting = self.prepared.scenario.sensing.latency_s > 0.0;
        if !self.road.left().is_empty() && (lasting || !self.is_sensing()) {
            self.forget_left();
        }
        self.ghosts.forget(self.road.left());
        if self.is_sensing() {
            self.look();
            self.ghosts.look(self.prepared, self.seed, &self.road, step);
        } else if !self.road.taken().is_empty() {
            self.admit_newcomers();
        }
        rebased
    }

    /// At the step of decisions, finds who matters to whom by the rule of the scenario whose turn it is; gives how long it took.
    pub(crate) fn relate(&mut self) -> f64 {
        if !self.is_decision() {
            return 0.0;
        }
        let clock = Clock::now();
        let Relevance {
            rule,
            pairs,
            ghosts,
        } = &mut self.scenarios[self.turn].1;
        rule.step(&self.road.frame, pairs);
        ghosts.clear();
        if !self.ghosts.all().is_empty() {
            let step = self.time.step;
            self.ghosts
                .find_relevant(self.prepared, &self.road.frame, step, rule, ghosts);
        }
        clock.elapsed().as_secs_f64()
    }

    /// Takes who left out of what was last sensed and linked, before others get their places. Where sensors look in this
    /// step all of it is found anew.
    fn forget_left(&mut self) {
        let mut gone = vec![false; self.road.size()];
        for slot in self.road.left() {
            gone[slot.index()] = true;
        }
        let stays = |slot: Slot| !gone[slot.index()];
        self.sights.retain(stays);
        self.perceived.begin(self.sights.step, self.road.size());
        self.links
            .retain(|sender, receiver| stays(sender) && stays(receiver));
        self.powers.forget(&gone);
    }

    /// Who comes between two looks is linked to nobody yet; where slots are simulated its power counts all the same.
    fn admit_newcomers(&mut self) {
        let (channel, sight) = (&self.prepared.channel, &self.prepared.sight);
        if channel.parameters().model == ChannelModel::Sps {
            let near_m = sight.options().link_range;
            self.powers.admit(&self.road, channel, sight, near_m);
        }
    }

    /// Sensors look and links are found anew.
    fn look(&mut self) {
        let scene = scene::Scene {
            prepared: self.prepared,
            seed: self.seed,
            step: self.time.step,
            observed: self.prepared.sight.observe(&self.road.frame.vehicles),
            road: &self.road,
            threads: self.wanted.threads.max(1),
        };
        let clock = Clock::now();
        self.sights.look(&scene, &self.time);
        let step = self.sights.step;
        self.perceived.begin(step, self.road.size());
        if self.senses_wrong() {
            let moments = self.road.moments(step).iter();
            let ways = moments.map(|moment| Way::from(moment.velocity));
            self.perceived.ways.clear();
            self.perceived.ways.extend(ways);
        }
        let sight_s = clock.elapsed().as_secs_f64();
        scene.link(&mut self.links, &mut self.powers, &mut self.ears);
        let links_s = clock.elapsed().as_secs_f64() - sight_s;
        let spent = &mut self.spent;
        spent.sight_s += sight_s;
        spent.links_s += links_s;
        for helpers_cpu_s in [&mut self.sights.helpers_cpu_s, &mut self.ears.helpers_cpu_s] {
            spent.helpers_cpu_s += std::mem::take(helpers_cpu_s);
        }
    }

    /// Participants that may have been within a radius of a place at some time of so many seconds, itself not included.
    pub(crate) fn around(
        &self,
        slot: Slot,
        radius_m: f64,
        seconds: f64,
    ) -> impl Iterator<Item = Slot> + '_ {
        let speeds = self.road.frame.vehicles.iter().map(|v| v.speed);
        let fastest = speeds.fold(0.0, f64::max);
        // A vehicle may have been a little faster than the fastest is now.
        let reach = radius_m + 2.0 * (fastest + 15.0) * seconds;
        let here = self.here(slot).truth();
        let participants = self.road.participants().iter().copied();
        participants
            .filter(move |&other| other != slot && self.here(other).truth().distance(here) <= reach)
    }

    /// An object as it was at a step; its position is exact.
    fn object(&self, slot: Slot, step: Step) -> ObjectState {
        let moment = self.road.moment(slot, step);
        let state = &moment.state;
        ObjectState {
            id: ObjectId(u64::from(self.road.id(slot))),
            position: moment.truth(),
            velocity: moment.velocity,
            size: state.size,
            sensed_at: Time::instant(step),
            confidence: Confidence::FULL,
        }
    }

    /// An object as somebody sensed it at the newest sensing.
    pub(crate) fn perceived(&self, observer: Slot, object: Slot) -> ObjectState {
        self.perceived_at(observer, object, self.sights.step)
    }

    /// An object as somebody sensed it at a step of the last [`RING`](crate::prepared::RING), if it looked.
    pub(crate) fn perceived_at(&self, observer: Slot, object: Slot, step: Step) -> ObjectState {
        let Whereabouts {
            position, velocity, ..
        } = self.whereabouts(observer, object, step);
        ObjectState {
            position,
            velocity,
            ..self.object(object, step)
        }
    }

    /// Where somebody sensed an object to be at such a step, and how it moved.
    pub(crate) fn whereabouts(&self, observer: Slot, object: Slot, step: Step) -> Whereabouts {
        let Moving { position, velocity } = match self.senses_wrong() {
            true => self.sensed_wrong(observer, object, step),
            false => self.moving(object, step),
        };
        Whereabouts {
            sensed_at: Time::instant(step),
            position,
            velocity,
        }
    }

    /// An object as somebody sensed it at such a step, where sensors err.
    fn sensed_wrong(&self, observer: Slot, object: Slot, step: Step) -> Moving {
        let [by, number] = [observer, object].map(|slot| self.road.id(slot));
        let seen = match step == self.sights.step {
            true => Some(self.newest_of(observer)),
            false => self.perceived.known(observer, by, step),
        };
        if let Some(state) = seen.and_then(|seen| seen.of(object, number)) {
            return state;
        }
        let mut state = [self.displaced(observer, object, step)];
        let heading = self.road.moment(observer, step).state.heading;
        let noise = self.prepared.scenario.sensing.noise(self.seed, step);
        let way = Way::from(state[0].velocity);
        noise.distort_all(by, heading, &[number], &mut state, |_| way);
        state[0]
    }

    /// Something is seen where it is not, or to go otherwise than it does.
    fn senses_wrong(&self) -> bool {
        let scenario = &self.prepared.scenario;
        !scenario.errors.are_none() || scenario.sensing.distorts()
    }

    /// All that there is of what somebody sensed at the newest sensing, as it sensed it.
    fn newest_of(&self, observer: Slot) -> &Seen {
        self.perceived.newest_of(observer, |seen| {
            let objects = self.sights.seen.of(observer);
            seen.objects.clear();
            seen.objects.extend_from_slice(objects);
            seen.numbers.clear();
            let numbers = objects.iter().map(|&object| self.road.id(object));
            seen.numbers.extend(numbers);
            let step = self.sights.step;
            let placed = objects.iter();
            let placed = placed.map(|&object| self.displaced(observer, object, step));
            seen.states.clear();
            seen.states.extend(placed);
            let own = self.road.moment(observer, step);
            let noise = self.prepared.scenario.sensing.noise(self.seed, step);
            seen.observer = self.road.id(observer);
            let (ways, states) = (&self.perceived.ways, &mut seen.states);
            let way = |k: usize| ways[objects[k].index()];
            noise.distort_all(seen.observer, own.state.heading, &seen.numbers, states, way);
        })
    }

    /// The place and the motion of an object at a step; both are exact.
    fn moving(&self, object: Slot, step: Step) -> Moving {
        let moment = self.road.moment(object, step);
        Moving {
            position: moment.truth(),
            velocity: moment.velocity,
        }
    }

    /// An object where one who senses it at a step takes it to be by `errors`.
    fn displaced(&self, observer: Slot, object: Slot, step: Step) -> Moving {
        let mut state = self.moving(object, step);
        let ids = [self.road.id(observer), self.road.id(object)];
        let own = self.road.moment(observer, step);
        let errors = &self.prepared.scenario.errors;
        state.position = errors.perceived(self.seed, ids, step.0, own.error, state.position);
        state
    }

    /// The objects that somebody sensed at the newest sensing, what is not there apart, each as it sensed it; sizes are left out.
    pub(crate) fn seen_as(&self, observer: Slot) -> impl Iterator<Item = (Slot, ObjectState)> {
        let step = self.sights.step;
        let (wrong, exact): (_, &[_]) = match self.senses_wrong() {
            true => (self.newest_of(observer), &[]),
            false => (Seen::NONE, self.sights.seen.of(observer)),
        };
        let wrong = wrong.objects.iter().zip(&wrong.numbers).zip(&wrong.states);
        let wrong = wrong.map(|((&object, &number), &state)| (object, number, state));
        let exact = exact.iter();
        let exact =
            exact.map(move |&object| (object, self.road.id(object), self.moving(object, step)));
        wrong.chain(exact).map(move |(object, number, moving)| {
            let state = ObjectState {
                id: ObjectId(u64::from(number)),
                position: moving.position,
                velocity: moving.velocity,
                size: Size::default(),
                sensed_at: Time::instant(step),
                confidence: Confidence::FULL,
            };
            (object, state)
        })
    }

    /// All that somebody sensed at the newest sensing, what is not there included.
    pub(crate) fn sensed(&self, observer: Slot, objects: &mut Vec<ObjectState>) {
        objects.clear();
        let step = self.sights.step;
        let sized = |(object, state)| {
            let size = self.road.moment(object, step).state.size;
            ObjectState { size, ..state }
        };
        objects.extend(self.seen_as(observer).map(sized));
        objects.extend(self.ghosts.seen_by(observer, self.sights.step));
    }

    /// Bytes that a tile carries in a cycle.
    pub(crate) fn cycle_capacity(&self) -> f64 {
        let p = &self.prepared.scenario.protocol;
        p.capacity_bytes_per_s * p.cycle_s
    }
}
