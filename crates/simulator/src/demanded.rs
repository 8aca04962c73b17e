//! The contributor's side of choice by demand, from what the run knows that a participant knows.
//!
//! The run keeps awareness in matrices instead of one listener per vehicle; what a contributor goes by is read from its own
//! entries there: beacons it decoded, what reports and broadcasts told it, and its own sensing.

use covey_protocol::demand::DemandOptions;
use covey_protocol::demand::content::{Asked, Chooser, Heard, Knowledge};
use covey_protocol::link::LinkQuality;
use covey_protocol::messages::{Content, ObjectState};
use covey_protocol::{Duration, Instant, ObjectId, Parameters};

use crate::awareness::{BeaconHistory, Stamp, Told};
use crate::road_map::Remembering;
use crate::shared::Shared;

/// For so many steps an object is taken to be told of by the same station.
const TELLER_STEPS: u32 = 200;
/// Beyond this nobody that a contributor could help is looked for, in metres.
const AROUND_M: f64 = 300.0;

/// Chooses what contributors report.
#[derive(Debug, Default)]
pub(crate) struct ContentChoice {
    pub(crate) options: DemandOptions,
    chooser: Chooser,
    heard: Vec<Heard>,
    told: Vec<(ObjectState, Instant)>,
    map: Option<Remembering>,
}

impl ContentChoice {
    pub(crate) fn new(options: DemandOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Which of what a place sensed it reports.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn choose(
        &mut self,
        shared: &Shared<'_>,
        parameters: &Parameters,
        beacons: &BeaconHistory,
        known: &Told,
        lane: usize,
        slot: u32,
        sensed: &[ObjectState],
        requested: &[ObjectId],
    ) -> Vec<ObjectState> {
        let here = shared.here(slot).state;
        let soft = shared.prepared.timeline.soft_state;
        let recent = |stamp: Stamp| stamp > 0 && shared.step - shared.step_of(stamp) <= soft;
        let mut links = LinkQuality::new(Duration::from_seconds(10.0));
        self.heard.clear();
        let range = shared.links.range(slot);
        for &other in &shared.links.receivers[range] {
            let stamp = beacons.at(other, slot, lane);
            if !recent(stamp) {
                continue;
            }
            let step = shared.step_of(stamp);
            let state = shared.moment(other, step).state;
            let distance = state.position.distance(here.position);
            // Of those it knows to be there: was the last beacon heard?
            let decoded = shared.step - step < shared.prepared.timeline.beacon;
            links.count(distance, 1.0, f64::from(u8::from(decoded)));
            if distance <= AROUND_M {
                self.heard.push(Heard {
                    id: shared.agent(other).into(),
                    state,
                    at: shared.instant(step),
                });
            }
        }
        links.age(shared.now());
        self.heard.sort_unstable_by_key(|heard| heard.id);
        self.told.clear();
        for &object in &shared.places {
            if shared.here(object).truth().distance(here.position) > AROUND_M {
                continue;
            }
            let stamp = known.at(object, slot);
            if object == slot || !recent(stamp) {
                continue;
            }
            let step = shared.step_of(stamp);
            let mut state = shared.object(object, step);
            let errors = &shared.prepared.scenario.errors;
            if errors.position_error_m > 0.0 {
                // Who told it is not kept: somebody else, with an error of its own.
                let teller = u32::MAX - shared.slots.id(object);
                let long_ago = step - step % TELLER_STEPS;
                let own = errors.next(shared.seed, teller, long_ago, None);
                let ids = [teller, shared.slots.id(object)];
                state.position = errors.perceived(shared.seed, ids, step, own, state.position);
            }
            self.told.push((state, state.sensed_at));
        }
        self.told.sort_unstable_by_key(|(state, _)| state.id);
        let map = self
            .map
            .get_or_insert_with(|| Remembering::new(&shared.prepared.carried));
        let knowledge = Knowledge {
            now: shared.now(),
            own: shared.agent(slot).into(),
            state: &here,
            heard: &self.heard,
            sensed,
            told: &self.told,
            links: &links,
            map: Some(map),
        };
        let content = match self.options.request_factor {
            Some(_) => Content::Requested,
            None => Content::Demanded,
        };
        let asked = Asked { content, requested };
        let chosen = self
            .chooser
            .choose(&self.options, parameters, &knowledge, asked);
        chosen.into_iter().map(|k| sensed[k]).collect()
    }
}
