//! The matrices of what everyone knows, against the protocol's own listener; and stamps over a change of origin.

use std::collections::BTreeMap;

use covey_protocol::listener::Listener;
use covey_protocol::messages::{Message, ObjectState};
use covey_protocol::{AgentId, Input, Instant, ObjectId, Parameters};
use covey_world::VehicleState;

use crate::measure::{Knowledge, Nobody, Observer, age_us};
use crate::run::Run;
use crate::support::{Script, arms, car, crowded_junction, scenario, seconds, traffic};
use crate::{FrameSource, Prepared, RunOptions, SeedOutcome};

/// A listener for every arm and vehicle, fed with what the channel delivers.
struct Ears {
    parameters: Parameters,
    listeners: BTreeMap<(usize, u32), Listener>,
}

impl Ears {
    fn of(&mut self, arm: usize, vehicle: u32) -> &mut Listener {
        let parameters = &self.parameters;
        self.listeners
            .entry((arm, vehicle))
            .or_insert_with(|| Listener::new(parameters, AgentId(u64::from(vehicle))))
    }
}

impl Observer for Ears {
    fn wants_deliveries(&self) -> bool {
        true
    }

    fn delivered(&mut self, arm: usize, now: Instant, message: &Message, receivers: &[u32]) {
        for &receiver in receivers {
            let input = match message {
                Message::Beacon(beacon) => Input::Beacon(beacon),
                Message::Report(report) => Input::Report(report),
                Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
            };
            self.of(arm, receiver).handle_input(now, input);
        }
    }
}

/// Runs step by step and compares after each; gives how many states were compared, and how many of them were known.
fn compare(prepared: &Prepared, traffic: &mut dyn FrameSource, options: &RunOptions) -> [u64; 2] {
    let names = ["cam-only", "cpm-rmr", "proposed@0.4", "random-redraw@0.8"];
    let mut run = Run::new(&[(prepared, &arms(&names))], 41, options, None).unwrap();
    let mut ears = Ears {
        parameters: prepared.scenario.protocol.clone(),
        listeners: BTreeMap::new(),
    };
    let mut compared = [0; 2];
    for step in run.steps() {
        run.step(step, traffic, &mut ears).unwrap();
        let world = &run.world;
        let part = &run.crews[0].parts[0];
        for (number, arm) in part.arms.iter().enumerate() {
            let knowledge = Knowledge {
                beacons: &part.groups[arm.group].heard,
                lane: arm.lane,
                told: &arm.told,
                oracle: false,
            };
            for &receiver in world.road.participants() {
                let listener = ears.of(number, world.road.id(receiver));
                if world.is_sensing() {
                    let seen = world.sights.seen.of(receiver).iter();
                    let objects: Vec<ObjectState> = seen
                        .map(|&object| world.perceived(receiver, object))
                        .collect();
                    let input = Input::Sensed {
                        objects: &objects,
                        cells: &[],
                    };
                    listener.handle_input(world.now(), input);
                }
                listener.handle_input(world.now(), Input::Tick);
                for &object in world.road.present() {
                    if object == receiver {
                        continue;
                    }
                    let told = knowledge.told(world, object, receiver);
                    let newest = told.max(world.sights.sensed.at(object, receiver));
                    let id = world.road.id(object);
                    let age = listener.age(ObjectId(u64::from(id)));
                    assert_eq!(
                        age_us(world, newest),
                        age.map(covey_protocol::Duration::micros),
                        "step {step:?}, {}, vehicle {} of {id}",
                        names[number],
                        world.road.id(receiver),
                    );
                    compared[0] += 1;
                    compared[1] += u64::from(age.is_some());
                    // Nobody is told of what no participant sensed, or of a later time than that.
                    let itself = if world.road.participates(object) {
                        world.time.stamp(step)
                    } else {
                        0
                    };
                    assert!(told <= itself.max(world.sights.by_any(object)));
                }
            }
        }
    }
    compared
}

#[test]
fn everyone_knows_what_a_listener_would() {
    let prepared = crowded_junction();
    let mut traffic = traffic(&prepared, 41);
    let [compared, known] = compare(&prepared, &mut traffic, &seconds(2.0, 1.0));
    assert!(known > 1_000 && known < compared, "{known} of {compared}");
}

/// Cars around the blind junction that hardly move: silence tells most of them, and 1 and 5 are told by others alone.
fn standing(prepared: &Prepared, step: u32) -> Vec<VehicleState> {
    let network = &prepared.map.network;
    let crept = f64::from(step / 10 % 3) * 0.05;
    vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 160.0 + crept, 8.0),
        car(network, 2, "NC_0", 150.0, 0.0),
        car(network, 3, "NC_0", 130.0 + crept, 0.0),
        car(network, 4, "SC_0", 150.0, 8.0),
        car(network, 5, "EC_0", 120.0, 5.0),
    ]
}

#[test]
fn silence_of_a_broadcast_counts_as_it_does_for_a_listener() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1, 5];
    // So that some broadcasts are lost, and with them what silence means.
    scenario.channel.collision = covey_radio::CollisionLaw::PowerLaw {
        coefficient: 0.5,
        exponent: 0.1,
    };
    for refreshes in [true, false] {
        scenario.protocol.silence_refreshes = refreshes;
        let prepared = Prepared::new(&scenario).unwrap();
        let mut still = Script::new(|step| Some(standing(&prepared, step)));
        let [compared, known] = compare(&prepared, &mut still, &seconds(4.0, 0.2));
        assert!(known > 1_000 && known < compared, "{known} of {compared}");
    }
}

fn text(outcome: &SeedOutcome) -> String {
    serde_json::to_string(&(&outcome.shared, &outcome.arms, &outcome.cycles)).unwrap()
}

#[test]
fn a_new_origin_of_stamps_changes_nothing() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1, 5];
    scenario.evaluation.sample_one_in = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let arms = arms(&["cam-only", "cpm-etsi", "cpm-rmr", "proposed@0.4", "oracle"]);
    let outcome = |rebase_at: u32| {
        let mut run = Run::new(&[(&prepared, &arms)], 1, &seconds(2.0, 18.0), None).unwrap();
        run.world.time.rebase_after(rebase_at);
        let mut still = Script::new(|step| Some(standing(&prepared, step)));
        text(&run.finish(&mut still, &mut Nobody).unwrap()[0])
    };
    // 400 steps: new origins at 150, 250 and 350.
    assert_eq!(outcome(150), outcome(60_000));
}
