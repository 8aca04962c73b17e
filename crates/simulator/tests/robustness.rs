//! What is not as the letter has it: rare beacons, participants that misbehave, maps without buildings.
//!
//! The blind junction is that of the other toys: 0 comes from the south between two buildings and hosts; 1 comes from the
//! west and has no radio; 2 stands in the north and sees 1.

mod support;

use covey_protocol::beacons::BeaconRule;
use covey_protocol::messages::Message;
use covey_protocol::parameters::{Guard, ReportContent};
use covey_protocol::{AgentId, Instant, Position, Tile};
use covey_simulator::conduct::{Conduct, Misbehaviour};
use covey_simulator::events::Senses;
use covey_simulator::{Nobody, Observer, Outcome, Prepared, Scenario, SeedOutcome, simulate};
use support::{Script, arms, car, empty_channel, scenario, seconds, still};

fn junction(names: &[&str], change: impl FnOnce(&mut Scenario)) -> SeedOutcome {
    play(names, &mut Nobody, change)
}

fn watched(observer: &mut dyn Observer, change: impl FnOnce(&mut Scenario)) {
    play(&["proposed@0.4"], observer, change);
}

fn play(
    names: &[&str],
    observer: &mut dyn Observer,
    change: impl FnOnce(&mut Scenario),
) -> SeedOutcome {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    scenario.protocol.report_content = ReportContent::All;
    scenario.evaluation.sample_one_in = 1;
    change(&mut scenario);
    let prepared = Prepared::new(&scenario).unwrap();
    let network = &prepared.map.network;
    let vehicles = vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 165.0, 8.0),
        car(network, 2, "NC_0", 150.0, 0.0),
    ];
    simulate(
        &prepared,
        &mut still(vehicles),
        &arms(names),
        1,
        &seconds(2.0, 2.0),
        observer,
    )
    .unwrap()
}

#[test]
fn triggered_beacons_follow_the_motion() {
    let beacons = |rule: BeaconRule| {
        let mut scenario = scenario("toy/straight");
        empty_channel(&mut scenario);
        scenario.penetration = 1.0;
        scenario.protocol.beacons = rule;
        let prepared = Prepared::new(&scenario).unwrap();
        let network = &prepared.map.network;
        // One stands, one goes 10 m/s.
        let mut frames = Script::new(|step| {
            let front = 100.0 + 0.5 * f64::from(step);
            Some(vec![
                car(network, 0, "AB_0", 300.0, 0.0),
                car(network, 1, "BA_0", front, 10.0),
            ])
        });
        let outcome = simulate(
            &prepared,
            &mut frames,
            &arms(&["cam-only", "proposed@0.4", "demand@0.4"]),
            1,
            &seconds(2.0, 10.0),
            &mut Nobody,
        )
        .unwrap();
        outcome
            .arms
            .iter()
            .map(|arm| arm.traffic[0].messages)
            .collect::<Vec<_>>()
    };
    assert_eq!(beacons(BeaconRule::Periodic), [200; 3]);
    // Once a second, and after every 4 m: at 0.5 s, for at 0.4 s it is 4 m and no more.
    assert_eq!(beacons(BeaconRule::Triggered), [10 + 20; 3]);
}

#[test]
fn hosts_cope_with_triggered_beacons() {
    let names = ["cam-only", "proposed@0.4", "demand@0.4"];
    let outcome = junction(&names, |scenario| {
        scenario.protocol.beacons = BeaconRule::Triggered;
    });
    // The hidden car is missed without cooperation, and told of with it.
    let missed: Vec<u64> = outcome.arms.iter().map(|arm| arm.deficit.missed).collect();
    assert_eq!(missed[0], 10);
    assert_eq!(missed[1..], [0, 0]);
    // Standing vehicles that send a digest with every fifth beacon send one with every beacon now.
    let lean = junction(&["proposed-lean@0.4"], |scenario| {
        scenario.protocol.beacons = BeaconRule::Triggered;
    });
    let arm = &lean.arms[0];
    assert_eq!(arm.digest_bytes.count, arm.traffic[0].messages);
}

#[test]
fn who_is_silent_when_named_helps_nobody() {
    let names = ["proposed@0.4", "demand@0.4"];
    let behave = |misbehaving, misbehaviour| {
        junction(&names, |scenario| {
            scenario.conduct = Conduct {
                misbehaving,
                misbehaviour,
            };
        })
    };
    let honest = behave(0.0, Misbehaviour::Silent);
    let silent = behave(1.0, Misbehaviour::Silent);
    let liars = behave(1.0, Misbehaviour::ClaimViews);
    for arm in 0..2 {
        assert_eq!(honest.arms[arm].deficit.missed, 0);
        for wrong in [&silent, &liars] {
            assert_eq!(wrong.arms[arm].deficit.missed, 10);
        }
        assert_eq!(silent.arms[arm].traffic[1].messages, 0);
    }
    // A liar reports nothing, every cycle: 121 B and 35 B of sensor information.
    let reports = &liars.arms[0].traffic[1];
    assert_eq!((reports.messages, reports.bytes), (10, 1_560));
    assert!(liars.arms[1].traffic[1].messages > 0);
    // Its digest marks everything.
    let digest = |outcome: &SeedOutcome| outcome.arms[0].digest_bytes.value().unwrap();
    assert_ne!(digest(&liars), digest(&honest));
    assert_eq!(digest(&silent), digest(&honest));
}

#[test]
fn lies_in_office_and_in_reports_are_told_and_bounded() {
    let names = ["proposed@0.4"];
    let run = |misbehaviour| {
        let mut outcome = junction(&names, |scenario| {
            scenario.conduct = Conduct {
                misbehaving: 1.0,
                misbehaviour,
            };
        });
        outcome.arms.remove(0)
    };
    let honest = {
        let mut outcome = junction(&names, |_| {});
        outcome.arms.remove(0)
    };
    let [reports, broadcasts] = [1, 2];
    let ghosts = run(Misbehaviour::Ghosts);
    assert!(ghosts.traffic[reports].bytes >= honest.traffic[reports].bytes + 10 * 30 * 35);
    assert_eq!(ghosts.deficit.missed, 0, "the truth is told besides");
    let nobody = run(Misbehaviour::ServeNobody);
    // A broadcast without anything in it.
    assert_eq!(
        nobody.traffic[broadcasts].bytes,
        121 * nobody.traffic[broadcasts].messages
    );
    assert_eq!(nobody.deficit.missed, 10);
    let everybody = run(Misbehaviour::AskEverybody);
    assert!(everybody.traffic[reports].messages >= honest.traffic[reports].messages);
    for misbehaviour in [Misbehaviour::HighPrice, Misbehaviour::LongTenure] {
        // There is one host, and nobody to believe it.
        assert_eq!(run(misbehaviour).deficit.missed, 0);
    }
}

/// The junction with everybody doing the same wrong.
fn all(misbehaviour: Misbehaviour) -> Outcome {
    all_waiting(misbehaviour, Guard::default().silent_share)
}

/// The same, with hosts passed over at once of which at least such a share of beacons is heard and no fresh word.
fn all_waiting(misbehaviour: Misbehaviour, silent_share: f64) -> Outcome {
    let mut outcome = junction(&["proposed@0.4"], |scenario| {
        scenario.protocol.guard.silent_share = silent_share;
        scenario.conduct = Conduct {
            misbehaving: 1.0,
            misbehaviour,
        };
    });
    outcome.arms.remove(0)
}

#[test]
fn a_host_that_says_nothing_or_the_same_again_serves_nobody() {
    let [reports, broadcasts] = [1, 2];
    let silent = all(Misbehaviour::SilentHost);
    assert_eq!(silent.traffic[broadcasts].messages, 0);
    assert_eq!(silent.traffic[reports].messages, 0);
    assert_eq!(silent.deficit.missed, 10);
    // The first broadcast of each asked nobody yet, and counts once: that of 2, which takes office from 0 and sees the hidden car, for
    // a second. Where 0 is waited for, that second comes later and lies whole in the window that is measured.
    for (silent_share, missed) in [(1.0, 5), (2.0, 4)] {
        let replay = all_waiting(Misbehaviour::Replay, silent_share);
        assert!(replay.traffic[broadcasts].messages >= 10);
        assert_eq!(replay.traffic[reports].messages, 0);
        assert_eq!(replay.deficit.missed, missed, "{silent_share}");
    }
}

#[test]
fn who_is_not_believed_is_neither_known_nor_asked() {
    let honest = junction(&["cam-only", "proposed@0.4"], |_| {});
    let [beacons, reports] = [0, 1];
    for misbehaviour in [Misbehaviour::FarOff, Misbehaviour::ClockAhead] {
        let liars = all(misbehaviour);
        // Its beacons take their room on the channel, and nobody takes them in.
        assert_eq!(
            liars.traffic[beacons].messages,
            honest.arms[1].traffic[beacons].messages
        );
        assert_eq!(liars.traffic[reports].messages, 0, "{misbehaviour:?}");
        assert_eq!(liars.deficit.missed, 10, "{misbehaviour:?}");
        assert!(liars.aware[0] < honest.arms[1].aware[0], "{misbehaviour:?}");
    }
}

#[test]
fn what_is_said_with_a_clock_behind_is_too_old_to_be_of_use() {
    let liars = all(Misbehaviour::ClockBehind);
    assert_eq!(liars.deficit.missed, 10);
    let age = |outcome: &Outcome| outcome.age.value().unwrap();
    let honest = junction(&["proposed@0.4"], |_| {});
    assert!(age(&liars) > age(&honest.arms[0]));
}

/// Beacons with where their senders are.
#[derive(Default)]
struct Beacons {
    truth: Vec<(AgentId, Position)>,
    /// How far off the truth each is.
    off_m: Vec<f64>,
    told: Vec<Position>,
}

impl Observer for Beacons {
    fn wants_senses(&self) -> bool {
        true
    }

    fn senses(&mut self, _: Instant, agent: AgentId, senses: &Senses<'_>) {
        self.truth.retain(|&(id, _)| id != agent);
        self.truth.push((agent, senses.state.position));
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(&mut self, _: usize, _: Instant, _: Option<Tile>, message: &Message, _: u32) {
        if let Message::Beacon(beacon) = message {
            let truth = self.truth.iter().find(|(id, _)| *id == beacon.sender);
            let (_, truth) = truth.unwrap();
            self.off_m.push(truth.distance(beacon.state.position));
            self.told.push(beacon.state.position);
        }
    }
}

#[test]
fn liars_tell_the_centre_or_a_place_beside_the_truth() {
    let heard = |misbehaviour| {
        let mut beacons = Beacons::default();
        watched(&mut beacons, |scenario| {
            scenario.conduct = Conduct {
                misbehaving: 1.0,
                misbehaviour,
            };
        });
        assert!(beacons.told.len() > 20);
        beacons
    };
    let elsewhere = heard(Misbehaviour::Elsewhere);
    assert!(elsewhere.off_m.iter().all(|off| (off - 150.0).abs() < 1e-6));
    let centre = heard(Misbehaviour::AtCentre);
    for told in &centre.told {
        let middle = Tile::containing(*told, 500.0).unwrap().centre(500.0);
        assert_eq!(*told, middle);
    }
    assert!(centre.off_m.iter().any(|&off| off > 10.0));
    let honest = heard(Misbehaviour::Silent);
    assert!(honest.off_m.iter().all(|&off| off == 0.0));
}

#[test]
fn one_who_says_it_is_at_the_centre_is_waited_for() {
    // Nobody takes office in the first second; then the nearest does, which takes each other for nearer here.
    let hosts = |misbehaving| {
        let outcome = junction(&["proposed@0.4"], |scenario| {
            scenario.conduct = Conduct {
                misbehaving,
                misbehaviour: Misbehaviour::AtCentre,
            };
        });
        outcome.cycles[0]
            .iter()
            .filter(|row| row.host.is_some())
            .count()
    };
    assert!(hosts(1.0) < hosts(0.0), "{} and {}", hosts(1.0), hosts(0.0));
    assert!(hosts(1.0) > 0);
}

#[test]
fn a_host_without_buildings_on_its_map_takes_hidden_cars_for_seen() {
    let run = |buildings| {
        let mut outcome = junction(&["demand@0.4"], |scenario| {
            scenario.demand.buildings = buildings;
        });
        outcome.arms.remove(0)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!(with.deficit.missed, 0);
    // Who is thought to see the hidden car is not told of it by the host as well.
    assert!(without.traffic[2].bytes < with.traffic[2].bytes);
}

#[test]
fn a_share_of_misbehaviour_is_a_share() {
    let error = Scenario::parse("x.toml", "map.net = \"a\"\nconduct.misbehaving = 1.5\n");
    assert_eq!(
        error.unwrap_err().to_string(),
        "x.toml: conduct.misbehaving: found 1.5, expected 0 to 1 (a share of participants)"
    );
    let text = "map.net = \"a\"\n[conduct]\nmisbehaving = 0.05\nmisbehaviour = \"silent\"\n\
                [protocol]\nbeacons = \"triggered\"\n[demand]\nbuildings = false\n";
    let scenario = Scenario::parse("x.toml", text).unwrap();
    assert_eq!(scenario.conduct.misbehaviour, Misbehaviour::Silent);
    assert_eq!(scenario.protocol.beacons, BeaconRule::Triggered);
    assert!(!scenario.demand.buildings);
    for &misbehaviour in Misbehaviour::ALL {
        let name = misbehaviour.name();
        let text = format!("map.net = \"a\"\nconduct.misbehaviour = \"{name}\"\n");
        let scenario = Scenario::parse("x.toml", &text).unwrap();
        assert_eq!(scenario.conduct.misbehaviour, misbehaviour);
    }
    let text = "map.net = \"a\"\nconduct.misbehaviour = \"ghost\"\n";
    let error = Scenario::parse("x.toml", text).unwrap_err().to_string();
    assert!(
        error.contains("ghost") && error.contains("ghosts"),
        "{error}"
    );
}
