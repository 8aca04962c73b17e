//! What is evaluated is what ships: real participants, one per vehicle, are fed exactly what a run delivered, and must send what
//! the run sent, message by message.

#![expect(clippy::print_stdout, reason = "figures of docs/messages.md")]

#[path = "../support/mod.rs"]
mod support;

mod crowd;
mod wire;

use covey_protocol::beacons::BeaconRule;
use covey_protocol::measured::Maker;
use covey_protocol::parameters::Handover;
use covey_radio::CollisionLaw;
use covey_simulator::{Arm, FrameSource, MapReference, Prepared, RunError, RunOptions, simulate};
use covey_world::Frame;
use crowd::Crowds;
use support::{arms, crowded_junction, scenario, seconds, traffic};
use wire::Bytes;

const ARMS: [&str; 4] = [
    "proposed@0.4",
    "random-redraw@0.4",
    "proposed-lean@0.4",
    "demand@0.15",
];

/// The vehicles that are on a stretch of the road at the beginning, wherever they go: nobody appears or leaves.
struct Stretch<S> {
    traffic: S,
    /// Metres along the map's first axis.
    along: std::ops::Range<f64>,
    chosen: Option<Vec<u32>>,
}

impl<S: FrameSource> FrameSource for Stretch<S> {
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, RunError> {
        let more = self.traffic.next_frame(frame)?;
        let along = &self.along;
        let chosen = self.chosen.get_or_insert_with(|| {
            let on_it = frame.vehicles.iter();
            let on_it = on_it.filter(|v| along.contains(&v.position.x));
            let mut ids: Vec<u32> = on_it.map(|v| v.id.0).collect();
            ids.sort_unstable();
            ids
        });
        frame
            .vehicles
            .retain(|v| chosen.binary_search(&v.id.0).is_ok());
        Ok(more)
    }
}

/// Runs all arms with participants beside them.
fn beside(
    prepared: &Prepared,
    traffic: &mut dyn FrameSource,
    arms: &[Arm],
    seed: u64,
    options: &RunOptions,
    bytes: bool,
    change: impl Fn(&mut covey_protocol::Profile),
) -> Crowds {
    let profiles = arms.iter().map(|arm| {
        let mut profile = arm.profile(seed, prepared).unwrap();
        change(&mut profile);
        profile
    });
    let reference = || MapReference::of(&prepared.scenario, &prepared.map).unwrap();
    let bytes = bytes.then(|| Bytes::new(reference()));
    let mut crowds = Crowds::new(profiles.collect(), bytes);
    simulate(prepared, traffic, arms, seed, options, &mut crowds).unwrap();
    crowds.finish();
    crowds
}

fn assert_same(crowds: &Crowds, least_reports: u64) {
    for (name, crowd) in ARMS.iter().zip(crowds.iter()) {
        assert_eq!(crowd.differences, [] as [String; 0], "{name}");
        let sent = &crowd.sent;
        assert!(sent.beacons > 1_000, "{name}: {sent:?}");
        assert!(sent.reports >= least_reports, "{name}: {sent:?}");
        assert!(sent.broadcasts > 50, "{name}: {sent:?}");
    }
}

#[test]
fn at_the_blind_junction_participants_send_what_the_run_sends() {
    let mut scenario = scenario("toy/blind-junction");
    // So that messages are lost, and objects that beacon are asked for by name.
    scenario.channel.collision = CollisionLaw::PowerLaw {
        coefficient: 0.5,
        exponent: 0.1,
    };
    scenario.demand.request_factor = Some(0.1);
    scenario.demand.least_gain = 0.02;
    let prepared = Prepared::new(&scenario).unwrap();
    let mut traffic = traffic(&prepared, 3);
    let arms = arms(&ARMS);
    let options = seconds(10.0, 20.0);
    let crowds = beside(&prepared, &mut traffic, &arms, 3, &options, false, |_| {});
    assert_same(&crowds, 20);
    let demand = crowds.iter().last().unwrap();
    assert!(demand.sent.requests > 0, "{:?}", demand.sent);
}

#[test]
fn with_measured_beacons_participants_send_what_the_run_sends() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.protocol.beacons = BeaconRule::Measured;
    scenario.protocol.beacon_maker = Maker::Renault;
    let prepared = Prepared::new(&scenario).unwrap();
    let arms = arms(&ARMS);
    let options = seconds(10.0, 20.0);
    let same = |prepared: &Prepared, change: &dyn Fn(&mut covey_protocol::Profile)| {
        let mut traffic = traffic(prepared, 3);
        beside(prepared, &mut traffic, &arms, 3, &options, false, change)
    };
    assert_same(&same(&prepared, &|_| {}), 10);
    scenario.protocol.beacon_maker = Maker::Volkswagen;
    let prepared = Prepared::new(&scenario).unwrap();
    assert_same(&same(&prepared, &|_| {}), 10);
    // Without numbers to draw by, they beacon as if triggered, and are noticed.
    let others = same(&prepared, &|profile| profile.chance = None);
    assert!(others.iter().all(|crowd| !crowd.differences.is_empty()));
}

/// The corridor, and the vehicles of a stretch of it.
fn stretch() -> (Prepared, impl FrameSource) {
    let mut scenario = scenario("tamagawa");
    scenario.traffic.warmup_s = 20.0;
    let prepared = Prepared::new(&scenario).unwrap();
    let traffic = Stretch {
        traffic: traffic(&prepared, 3),
        along: 1_500.0..2_100.0,
        chosen: None,
    };
    (prepared, traffic)
}

#[test]
fn on_a_stretch_of_the_corridor_participants_send_what_the_run_sends() {
    let (prepared, mut stretch) = stretch();
    let arms = arms(&ARMS);
    let options = seconds(4.0, 6.0);
    let crowds = beside(&prepared, &mut stretch, &arms, 3, &options, false, |_| {});
    assert!(crowds.vehicles() >= 150, "{}", crowds.vehicles());
    assert_same(&crowds, 100);
    for (name, crowd) in ARMS.iter().zip(crowds.iter()) {
        assert!(crowd.sent.offices_left > 0, "{name}: {:?}", crowd.sent);
    }
}

/// What rounding by the wire changes: docs/messages.md has the figures that this prints.
#[test]
fn through_bytes_participants_send_almost_what_the_run_sends() {
    let (prepared, mut stretch) = stretch();
    let arms = arms(&ARMS);
    let options = seconds(4.0, 6.0);
    let crowds = beside(&prepared, &mut stretch, &arms, 3, &options, true, |_| {});
    for (name, crowd) in ARMS.iter().zip(crowds.iter()) {
        let (sent, changed) = (&crowd.sent, &crowd.changed);
        let vehicles = crowds.vehicles();
        println!("{name}, {vehicles} vehicles: {sent:?} {changed:?}");
        let share = |[count, all]: [u64; 2]| count as f64 / all.max(1) as f64;
        let all = sent.beacons + sent.reports + sent.broadcasts;
        assert!(share([changed.unsent, all]) < 0.01, "{name}: {changed:?}");
        // Choice by demand turns among those of equal worth, and goes on from whom it asked: one choice that rounding turned
        // turns those that follow. A set drawn anew every cycle fills the allowance to the last byte that hosts expect, so that
        // rounding decides now and then who still fits.
        let [asked, told] = match *name {
            "demand@0.15" => [0.6, 0.1],
            "random-redraw@0.4" => [0.15, 0.001],
            _ => [0.02, 0.001],
        };
        let broadcasts = share([changed.broadcasts, sent.broadcasts]);
        assert!(broadcasts < asked, "{name}: {changed:?}");
        assert!(share(changed.objects) < told, "{name}: {changed:?}");
    }
}

#[test]
fn another_host_rule_is_noticed() {
    let prepared = crowded_junction();
    let mut traffic = traffic(&prepared, 3);
    let arms = arms(&["proposed@0.4"]);
    let options = seconds(2.0, 8.0);
    let crowds = beside(
        &prepared,
        &mut traffic,
        &arms,
        3,
        &options,
        false,
        |profile| {
            profile.parameters.handover = Some(Handover {
                beyond_m: 10.0,
                nearer_m: 5.0,
            });
        },
    );
    let crowd = crowds.iter().next().unwrap();
    assert!(!crowd.differences.is_empty());
}
