//! A jam at the crossing on record: more bodies than are compared one by one, bounds so narrow that they are met, messages that come late
//! or twice, and somebody who lies.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write;
use std::sync::Arc;

use covey_protocol::beacons::BeaconRule;
use covey_protocol::demand::associate::Identities;
use covey_protocol::demand::road::Road;
use covey_protocol::demand::{BodySizes, Demand, DemandOptions, Draw};
use covey_protocol::host::Host;
use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, Message, ObjectState, Report, Size,
};
use covey_protocol::parameters::{BroadcastContent, Guard, Handover, Parameters, ReportContent};
use covey_protocol::{
    AgentId, Duration, Instant, ObjectId, Participant, Position, Profile, Tile, Velocity,
};

use crate::record::{CROSSING, Car, Fate, LANE, known, record_of, unit};

/// Four queues that crawl across each other, two of three cars with a radio; a third are vans and lorries.
fn jam() -> Vec<Car> {
    let cars = (0..56).map(|k| {
        let (lane, place) = (k % 4, (k / 4) as f64);
        let gap = 8.5 * place + 1.5 * unit(k, 11) - 60.0;
        let (x, y, heading) = match lane {
            0 => (CROSSING + gap, CROSSING - LANE, 0.0),
            1 => (CROSSING - gap, CROSSING + LANE, PI),
            2 => (CROSSING + LANE, CROSSING + gap, FRAC_PI_2),
            _ => (CROSSING - LANE, CROSSING - gap, -FRAC_PI_2),
        };
        let size = match k % 9 {
            2 | 6 => Size {
                length: 6.0,
                width: 2.2,
                height: 2.6,
            },
            4 => Size {
                length: 0.0,
                width: 0.0,
                height: 0.0,
            },
            _ => Size {
                length: 4.4,
                width: 1.8,
                height: 1.5,
            },
        };
        Car {
            id: 7 + 3 * k,
            state: AgentState {
                position: Position::new(x, y),
                heading,
                speed: if k % 5 == 0 { 0.0 } else { 6.0 * unit(k, 12) },
                size,
            },
            equipped: (k + k / 4) % 3 != 0,
        }
    });
    cars.collect()
}

/// Two in three messages come as they should, others late, twice or not at all.
fn badly(chance: f64) -> Fate {
    match (100.0 * chance) as u32 {
        0..66 => Fate::Heard,
        66..74 => Fate::Again(1),
        74..78 => Fate::Again(9),
        78..84 => Fate::Late(2),
        84..86 => Fate::Late(23),
        _ => Fate::Lost,
    }
}

/// Whoever lies, under two names.
const LIAR: u64 = 900;

/// Nobody speaks but the cars.
fn nobody(_: Instant, _: &[Car]) -> Vec<Message> {
    Vec::new()
}

/// Somebody beacons from beside the middle, now and then from elsewhere, and tells of what nobody else sees; in the end it says
/// that it has always been the host there, and serves nobody.
fn liar(now: Instant, cars: &[Car]) -> Vec<Message> {
    let step = now.micros() / 50_000;
    let sender = AgentId(LIAR + u64::from(step % 40 >= 20));
    let beside = Position::new(CROSSING + 60.0, CROSSING);
    // Its clock is ahead, and its place jumps.
    let at = now + Duration::from_millis(10 * (step % 9));
    let position = match step % 13 {
        0 => Position::new(CROSSING + 400.0, CROSSING),
        1 => Position::new(f64::NAN, CROSSING),
        _ => beside,
    };
    let states = cars.iter().take(9).map(|car| ObjectState {
        id: ObjectId(car.id),
        position: Position::new(car.state.position.x + 7.0, car.state.position.y + 1.0),
        velocity: Velocity::new(0.0, unit(car.id, step as u64)),
        size: car.state.size,
        sensed_at: at,
        confidence: Confidence::from_percent(99),
    });
    let objects: Vec<ObjectState> = states.collect();
    match step % 4 {
        0 | 2 => vec![Message::Beacon(Beacon {
            sender,
            at,
            state: AgentState {
                position,
                ..AgentState::default()
            },
            digest: None,
            low_frequency: false,
        })],
        1 => vec![Message::Report(Report {
            sender,
            at,
            objects,
            sensor_information: false,
        })],
        _ if step < 72 => Vec::new(),
        _ => vec![Message::Broadcast(Broadcast {
            host: sender,
            tile: Tile::new(0, 0),
            at,
            position,
            sequence: step as u32,
            epoch: 3,
            tenure: Duration::from_millis(50 * step),
            price: 9.0,
            cycle_start: now - Duration::from_millis(150),
            contributors: match step % 8 {
                3 => vec![AgentId(cars[3].id), AgentId(cars[8].id)],
                _ => Vec::new(),
            },
            lease: Duration::from_millis(600),
            content: Content::AllVisible,
            requested: Vec::new(),
            full: step % 3 == 0,
            objects: objects.into_iter().take((step % 6) as usize).collect(),
            withdrawn: vec![ObjectId(cars[1].id)],
            unchanged_since: now - Duration::from_millis(350),
        })],
    }
}

/// What is said in the jam, and in the end what all know and whom they passed over.
fn record(
    profile: Profile,
    fate: fn(f64) -> Fate,
    others: fn(Instant, &[Car]) -> Vec<Message>,
) -> String {
    let (mut out, stations) = record_of(jam(), profile, 5, fate, others);
    let all = |of: fn(&Participant) -> String| stations.iter().map(of).collect::<Vec<_>>();
    let knows = all(|station| format!("{:x?}", known(station)));
    let refused = all(|station| format!("{:?}", station.refusals()));
    let crowded = all(|station| format!("{:?}", station.host().map(Host::crowded_out)));
    for (what, told) in [("know", knows), ("refuse", refused), ("crowd out", crowded)] {
        let sum = crate::record::digest(0, &told.join(" "));
        let _ = writeln!(out, "{} stations {what} {sum:x}", stations.len());
    }
    out
}

/// So narrow that a jam meets all of them.
fn narrow() -> Guard {
    Guard {
        message_objects: 7,
        unconfirmed: 6,
        listed: 14,
        empty_reports: 2,
        contradicted: 2.0,
        stations: 18,
        objects: 30,
        hosts: 2,
        sayings: 12,
        future: 2,
        wary_s: 1.0,
        serve_s: 0.6,
        unseen_s: 0.4,
        silent_share: 0.4,
        grants: 1,
        ..Guard::default()
    }
}

#[test]
fn a_jam_by_the_letter_within_narrow_bounds() {
    let parameters = Parameters {
        guard: narrow(),
        broadcast_content: BroadcastContent::SilentOnly,
        report_content: ReportContent::All,
        n_max: 3,
        ..Parameters::default()
    };
    insta::assert_snapshot!(record(Profile::letter_with(parameters), badly, liar));
}

#[test]
fn a_jam_over_small_tiles_whose_hosts_come_and_go() {
    let parameters = Parameters {
        tile_m: 40.0,
        footprint_m: 40.0,
        cell_m: 10.0,
        handover: Some(Handover {
            beyond_m: 9.0,
            nearer_m: 4.0,
        }),
        guard: Guard {
            silent_share: 0.5,
            wary_s: 1.2,
            serve_s: 1.0,
            ..Guard::default()
        },
        ..Parameters::default()
    };
    insta::assert_snapshot!(record(Profile::coverage_only_with(parameters), badly, liar));
}

#[test]
fn a_jam_by_demand_with_narrow_bounds_and_ghosts() {
    let options = DemandOptions {
        on_road: true,
        position_error_m: 0.6,
        velocity_error_m_per_s: 0.3,
        ghosts_per_s: 0.1,
        sizes: BodySizes::Nominal,
        road: Road {
            counts_said: true,
            confirm_s: 0.4,
            ..Road::default()
        },
        ..DemandOptions::default()
    };
    let parameters = Parameters {
        guard: narrow(),
        footprint_m: 45.0,
        ..Parameters::default()
    };
    insta::assert_snapshot!(record(
        Profile::demand_with(parameters, options),
        badly,
        liar
    ));
}

/// Steps that are saved, or wasted, show where there are too few of them.
#[test]
fn a_jam_by_demand_with_too_little_work() {
    let parameters = Parameters {
        guard: Guard {
            work: 12_000,
            ..Guard::default()
        },
        ..Parameters::default()
    };
    let options = DemandOptions {
        least_gain: 0.005,
        ..DemandOptions::default()
    };
    insta::assert_snapshot!(record(
        Profile::demand_with(parameters, options),
        |_| Fate::Heard,
        nobody
    ));
}

#[derive(Debug)]
struct Lots;

impl Draw for Lots {
    fn draw(&self, host: AgentId, agent: AgentId, at: Instant) -> u64 {
        AgentId(host.mixed() ^ AgentId(agent.0 ^ at.micros() as u64).mixed()).mixed()
    }
}

#[test]
fn a_jam_by_lot_with_true_names_and_measured_beacons() {
    let options = DemandOptions {
        identities: Identities::True,
        on_road: true,
        candidates_in_tile_only: false,
        request_factor: None,
        ..DemandOptions::default()
    };
    let parameters = Parameters {
        beacons: BeaconRule::Measured,
        allowance: 0.03,
        ..Parameters::default()
    };
    let made = options.clone();
    let mut profile = Profile::demanding(parameters, options, move || {
        Demand::new(made.clone()).at_random(Arc::new(Lots))
    });
    profile.chance = Some(Arc::new(|agent, number, what| {
        unit(agent.0 ^ u64::from(number) << 20, what as u64)
    }));
    insta::assert_snapshot!(record(profile, badly, nobody));
}
