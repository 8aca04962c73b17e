//! Messages with any values at all, given to real roles: nothing panics, nothing is known that could not be.
//!
//! The script says which message, its fields byte by byte, and how much time passes before the next.

use covey_protocol::demand::DemandOptions;
use covey_protocol::host::Host;
use covey_protocol::messages::AgentState;
use covey_protocol::{
    AgentId, Duration, Input, Instant, Output, Parameters, Participant, Position, Profile, Tile,
};

use super::script::Script;

/// Which message a target plays mostly.
#[derive(Clone, Copy)]
enum Kind {
    Beacon,
    Report,
    Broadcast,
}

pub(crate) fn beacons(bytes: &[u8]) {
    play(bytes, Kind::Beacon);
}

pub(crate) fn reports(bytes: &[u8]) {
    play(bytes, Kind::Report);
}

pub(crate) fn broadcasts(bytes: &[u8]) {
    play(bytes, Kind::Broadcast);
}

fn play(bytes: &[u8], mostly: Kind) {
    let mut script = Script { bytes };
    // Cells are mostly large: a host's maps are small then, and inputs quick. Whether it judges by itself what others need is the
    // script's to say, too.
    let choice = script.byte();
    let mut parameters = Parameters::default();
    if choice % 16 != 15 {
        parameters.cell_m = 100.0;
    }
    let profile = match choice % 2 {
        0 => Profile::letter_with(parameters),
        _ => Profile::demand_with(parameters, DemandOptions::default()),
    };
    let mut now = Instant::ZERO;
    let mut participant = Participant::new(&profile, AgentId(1), now);
    let mut host = Host::new(&profile, AgentId(2), Tile::new(0, 0), now, None);
    let own = AgentState {
        position: Position::new(250.0, 250.0),
        ..AgentState::default()
    };
    participant.handle_input(now, Input::Moved(&own));
    host.handle_input(now, Input::Moved(&own));
    while !script.bytes.is_empty() {
        let kind = match script.byte() % 8 {
            0 => Kind::Beacon,
            1 => Kind::Report,
            2 => Kind::Broadcast,
            3 => {
                host.handle_input(now, Input::Occupancy(script.number()));
                let objects = script.objects(now);
                let cells = script.cells();
                let sensed = Input::Sensed {
                    objects: &objects,
                    cells: &cells,
                };
                host.handle_input(now, sensed);
                participant.handle_input(now, sensed);
                continue;
            }
            _ => mostly,
        };
        let (beacon, report, broadcast);
        let input = match kind {
            Kind::Beacon => {
                beacon = script.beacon(now);
                Input::Beacon(&beacon)
            }
            Kind::Report => {
                report = script.report(now);
                Input::Report(&report)
            }
            Kind::Broadcast => {
                broadcast = script.broadcast(now);
                Input::Broadcast(&broadcast)
            }
        };
        host.handle_input(now, input);
        participant.handle_input(now, input);
        now = now + Duration::from_millis(i64::from(script.byte() % 64));
        host.handle_input(now, Input::Tick);
        participant.handle_input(now, Input::Tick);
        while let Some(output) = host.poll_output() {
            check_wake(&output, now);
        }
        while let Some(output) = participant.poll_output() {
            check_wake(&output, now);
        }
        check(&host, &participant, &profile.parameters);
    }
}

pub(crate) fn check_wake(output: &Output, now: Instant) {
    if let Output::WakeAt(at) = output {
        assert!(*at > now, "a wake-up in the past");
    }
}

fn check(host: &Host, participant: &Participant, parameters: &Parameters) {
    assert!(host.coverage().all(|(_, m)| m > 0.0 && m <= 1.0));
    assert!(host.price() >= 0.0 && host.price().is_finite());
    assert!(host.contributors().is_sorted());
    let listener = participant.listener();
    for known in listener.iter() {
        assert!(known.state.is_finite());
        assert_ne!(
            known.state.id,
            AgentId(1).into(),
            "knows itself as an object"
        );
        let age = listener.age(known.state.id);
        assert!(age.is_some_and(|age| {
            age >= Duration::ZERO && age <= Duration::from_seconds(parameters.soft_state_s)
        }));
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let ramp: Vec<u8> = (0..=255).collect();
    let sane: Vec<u8> = (0..400u32).map(|i| (i * 37 % 61) as u8).collect();
    vec![ramp, sane]
}
