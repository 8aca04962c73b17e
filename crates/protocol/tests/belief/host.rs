//! What a host believes of beacons and reports, and whom it asks no more.

use std::collections::BTreeSet;

use covey_protocol::admission::{Action, Admission, Because, Binding, Change};
use covey_protocol::host::Host;
use covey_protocol::messages::{Broadcast, Confidence, Message, ObjectState};
use covey_protocol::parameters::ReportContent;
use covey_protocol::policy::{Plan, Policy, Reporters, View};
use covey_protocol::{AgentId, Cell, Input, ObjectId, Output, Parameters, Profile};

use super::{TILE, at, beacon, object, report, seeing, standing};

/// Wants everybody it knows of.
#[derive(Debug, Clone, Copy)]
struct Everybody;

impl Policy for Everybody {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        let admit = |id: AgentId| Change::new(Action::Admit, id, Because::Score);
        let changes = view.scope.iter().map(|member| admit(member.id)).collect();
        Plan::new(
            Reporters::Changes(changes),
            Binding::Nothing,
            view.parameters,
        )
    }
}

/// A host at 250 m in office since 0 with room for everybody.
pub(crate) fn host() -> Host {
    let parameters = Parameters {
        report_content: ReportContent::All,
        capacity_bytes_per_s: 1e9,
        n_max: 1_000,
        ..Parameters::default()
    };
    let profile = Profile::new(parameters, || Everybody);
    let mut host = Host::new(&profile, AgentId(1), TILE, at(0), None);
    host.handle_input(at(0), Input::Moved(&standing(250.0)));
    host
}

/// The cycle from `begin` on: what was said in its first 100 ms, then the host's broadcast.
pub(crate) fn cycle(host: &mut Host, begin: i64, say: impl FnOnce(&mut Host, i64)) -> Broadcast {
    say(host, begin + 10);
    host.handle_input(at(begin + 199), Input::Tick);
    let mut spoken = None;
    while let Some(output) = host.poll_output() {
        match output {
            Output::Transmit(Message::Broadcast(broadcast)) => spoken = Some(broadcast),
            Output::WakeAt(_) => break,
            _ => {}
        }
    }
    spoken.expect("a broadcast a cycle")
}

fn beacons(host: &mut Host, millis: i64, senders: impl IntoIterator<Item = (u64, f64)>) {
    for (sender, x) in senders {
        host.handle_input(at(millis), Input::Beacon(&beacon(sender, millis, x)));
    }
}

pub(crate) fn listed(broadcast: &Broadcast) -> BTreeSet<u64> {
    broadcast.objects.iter().map(|object| object.id.0).collect()
}

/// Objects from `first` on, a metre apart from `x` on.
fn row(first: u64, count: u64, x: f64, millis: i64) -> Vec<ObjectState> {
    (0..count)
        .map(|k| object(first + k, x + k as f64, millis))
        .collect()
}

#[test]
fn nobody_senses_beyond_five_hundred_metres_nor_in_the_future() {
    let mut host = host();
    let spoken = cycle(&mut host, 0, |host, ms| {
        beacons(host, ms, [(5, 200.0)]);
        let told = vec![
            object(70_000, -299.0, ms),
            object(70_001, -301.0, ms),
            object(70_002, 210.0, ms + 1),
            object(70_003, 210.0, ms),
        ];
        host.handle_input(at(ms), Input::Report(&report(5, ms, told)));
    });
    let told = listed(&spoken);
    assert!(told.contains(&70_003) && !told.contains(&70_001) && !told.contains(&70_002));
    // The first is out of the footprint of 300 m, yet held.
    assert!(host.source_of(ObjectId(70_000)).is_some());
    assert!(host.source_of(ObjectId(70_001)).is_none());
}

#[test]
fn old_reports_and_those_of_its_own_name_are_passed_over() {
    let mut host = host();
    for begin in (0..1_400).step_by(200) {
        cycle(&mut host, begin, |host, ms| beacons(host, ms, [(5, 200.0)]));
    }
    cycle(&mut host, 1_400, |host, ms| {
        beacons(host, ms, [(5, 200.0)]);
        let tell = |host: &mut Host, sender, said, id| {
            let report = report(sender, said, vec![object(id, 210.0, ms)]);
            host.handle_input(at(ms), Input::Report(&report));
        };
        tell(host, 5, ms - 1_001, 70_000);
        tell(host, 5, ms + 1, 70_001);
        tell(host, 1, ms, 70_002);
        tell(host, 5, ms - 1_000, 70_003);
    });
    let held = |id| host.source_of(ObjectId(id)).is_some();
    assert_eq!(
        [70_000, 70_001, 70_002, 70_003].map(held),
        [false, false, false, true]
    );
}

#[test]
fn who_was_not_asked_fills_no_more_than_its_part_with_the_nearest() {
    let mut host = host();
    // A stranger whose beacon was never heard tells of 250 objects, the far ones first.
    let spoken = cycle(&mut host, 0, |host, ms| {
        let mut told = row(70_000, 250, 255.0, ms);
        told.reverse();
        host.handle_input(at(ms), Input::Report(&report(99, ms, told)));
    });
    let expected: BTreeSet<u64> = (70_000..70_192).collect();
    assert_eq!(listed(&spoken), expected);
    assert_eq!(host.crowded_out(), 58);
    // Those of the host's own sensors come on top.
    let spoken = cycle(&mut host, 1_000, |host, ms| {
        host.handle_input(
            at(ms),
            Input::Report(&report(99, ms, row(70_000, 250, 255.0, ms))),
        );
        let sensed = row(80_000, 30, 100.0, ms);
        let input = Input::Sensed {
            objects: &sensed,
            cells: &[],
        };
        host.handle_input(at(ms), input);
    });
    assert_eq!(spoken.objects.len(), 192 + 30);
}

#[test]
fn a_broadcast_lists_the_nearest_three_hundred_and_sixty() {
    let mut host = host();
    let spoken = cycle(&mut host, 0, |host, ms| {
        let sensed: Vec<ObjectState> = (0..400)
            .map(|k| object(80_000 + k, 250.0 + 0.5 * k as f64, ms))
            .collect();
        let input = Input::Sensed {
            objects: &sensed,
            cells: &[],
        };
        host.handle_input(at(ms), input);
    });
    assert_eq!(listed(&spoken), (80_000..80_360).collect());
    assert_eq!(host.crowded_out(), 40);
}

#[test]
fn of_a_long_report_the_first_five_hundred_and_twelve_objects_are_looked_at() {
    let mut host = host();
    cycle(&mut host, 0, |host, ms| {
        let told: Vec<ObjectState> = (0..600)
            .map(|k| object(70_000 + k, 250.0 + 0.1 * k as f64, ms))
            .collect();
        host.handle_input(at(ms), Input::Report(&report(99, ms, told)));
    });
    assert!(host.source_of(ObjectId(70_511)).is_some());
    assert!(host.source_of(ObjectId(70_512)).is_none());
}

#[test]
fn objects_of_those_not_asked_leave_room_for_those_who_were() {
    let mut host = host();
    for begin in [0, 200] {
        cycle(&mut host, begin, |host, ms| beacons(host, ms, [(5, 255.0)]));
    }
    assert_eq!(host.contributors(), [AgentId(5)]);
    cycle(&mut host, 400, |host, ms| {
        beacons(host, ms, [(5, 255.0)]);
        for k in 0..9 {
            let told = (0..500).map(|n| object(100_000 + 500 * k + n, 260.0, ms));
            let told = report(900 + k, ms, told.collect());
            host.handle_input(at(ms), Input::Report(&told));
        }
        let told = report(5, ms, vec![object(70_000, 260.0, ms)]);
        host.handle_input(at(ms), Input::Report(&told));
    });
    assert!(host.source_of(ObjectId(70_000)).is_some());
    // Of 4,500 only as many were held as there was room beside the station itself.
    let held = (100_000..104_500).filter(|&id| host.source_of(ObjectId(id)).is_some());
    assert_eq!(held.count(), 4_095);
}

#[test]
fn among_members_names_go_first_and_then_the_farthest_but_no_contributor() {
    let mut host = host();
    // 1,024 stations that are heard three times; 5 is the farthest of them and reports.
    let all = || {
        (5..1_029).map(|id| {
            (
                id,
                if id == 5 {
                    549.0
                } else {
                    100.0 + 0.1 * id as f64
                },
            )
        })
    };
    for ms in [10, 110, 210] {
        beacons(&mut host, ms, all());
    }
    host.handle_input(at(399), Input::Tick);
    while !matches!(host.poll_output(), Some(Output::WakeAt(_)) | None) {}
    assert!(host.contributors().contains(&AgentId(5)));
    let scope = |host: &mut Host, begin: i64, say: &[(u64, f64)]| {
        let say = say.to_vec();
        cycle(host, begin, move |host, ms| {
            beacons(host, ms, say);
        });
        host.contributors().to_vec()
    };
    // One that is farther than all but contributors finds no room; all are contributors here, so even the nearest finds none.
    let members = scope(&mut host, 400, &[(5_000, 251.0)]);
    assert!(members.contains(&AgentId(5)) && !members.contains(&AgentId(5_000)));
}

/// Asks nobody.
#[derive(Debug, Clone, Copy)]
struct Nobody;

impl Policy for Nobody {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        Plan::new(
            Reporters::Changes(Vec::new()),
            Binding::Nothing,
            view.parameters,
        )
    }
}

#[test]
fn where_there_is_room_for_eight_a_name_goes_first_and_then_the_farthest() {
    let mut parameters = Parameters::default();
    parameters.guard.stations = 8;
    let profile = Profile::new(parameters, || Nobody);
    let mut host = Host::new(&profile, AgentId(1), TILE, at(0), None);
    host.handle_input(at(0), Input::Moved(&standing(250.0)));
    let steady = || (2..=8).map(|id| (id, 260.0 + 10.0 * id as f64));
    let spoken = cycle(&mut host, 0, |host, _| {
        for ms in [10, 110, 190] {
            beacons(host, ms, steady());
        }
        beacons(host, 190, [(20, 251.0)]);
        beacons(host, 192, [(21, 252.0)]);
    });
    assert_eq!(listed(&spoken), [2, 3, 4, 5, 6, 7, 8, 21].into());
    // 21 becomes a station; then 8, which is 90 m off, goes for one that is nearer, and for nobody else.
    let spoken = cycle(&mut host, 200, |host, _| {
        beacons(host, 210, steady().chain([(21, 252.0)]));
        beacons(host, 310, steady().chain([(21, 252.0)]));
        beacons(host, 312, [(22, 345.0), (23, 338.0)]);
    });
    assert_eq!(listed(&spoken), [23].into(), "all else is as it was");
    let held = |id| host.source_of(ObjectId(id)).is_some();
    assert!(held(7) && held(21) && !held(8) && !held(22));
    assert_eq!(host.crowded_out(), 2);
}

#[test]
fn a_station_does_not_jump_while_it_is_fresh() {
    let mut host = host();
    cycle(&mut host, 0, |host, ms| beacons(host, ms, [(5, 200.0)]));
    let place = |broadcast: &Broadcast| {
        let found = broadcast.objects.iter().find(|o| o.id == ObjectId(5));
        found.map(|object| object.position.x)
    };
    // 0.2 s later it may be 70 m off, and not 71.
    let spoken = cycle(&mut host, 200, |host, ms| beacons(host, ms, [(5, 271.0)]));
    assert_eq!(place(&spoken), None, "nothing new is believed of it");
    let spoken = cycle(&mut host, 400, |host, ms| beacons(host, ms, [(5, 289.0)]));
    assert_eq!(place(&spoken), Some(289.0));
}

/// Cells 20 m wide, all of a row that holds the street.
fn street() -> Vec<Cell> {
    (0..25).map(|ix| Cell::new(ix, 12)).collect()
}

#[test]
fn who_is_asked_and_tells_of_nothing_where_there_is_something_is_not_asked_for_a_minute() {
    // How often it is asked in so many cycles, where so many of its two beacons in each are heard.
    let run = |objects_there: u64, cycles: i64, heard: fn(i64) -> usize| {
        let mut host = host();
        let mut asked = 0;
        for k in 0..cycles {
            let spoken = cycle(&mut host, 200 * k, |host, ms| {
                for ms in [ms, ms + 100].into_iter().take(heard(k)) {
                    let claims = seeing(5, ms, 200.0, &street());
                    host.handle_input(at(ms), Input::Beacon(&claims));
                }
                let ms = ms + 100;
                host.handle_input(at(ms), Input::Report(&report(5, ms, Vec::new())));
                let sensed = row(80_000, objects_there, 210.0, ms);
                let input = Input::Sensed {
                    objects: &sensed,
                    cells: &[],
                };
                host.handle_input(at(ms), input);
            });
            asked += usize::from(spoken.contributors.contains(&AgentId(5)));
        }
        asked
    };
    // Every beacon is heard, so that none of its reports can be lost: 32 in vain, and some cycles until the first of them.
    let all = |_| 2;
    let many = run(5, 80, all);
    assert!((32..=36).contains(&many), "{many}");
    // Where there is next to nothing, nothing is to be told.
    assert!(run(4, 80, all) >= 78);
    // Where three in four beacons come, more reports may have been lost.
    let some = run(5, 200, |k| if k % 2 == 0 { 2 } else { 1 });
    assert!((115..=150).contains(&some), "{some}");
    // One that is heard badly may well report, however long it is not heard to.
    let few = run(5, 1_000, |k| usize::from(k % 3 != 2));
    assert!(few >= 998, "{few}");
}

#[test]
fn what_one_tells_of_alone_where_two_others_look_is_half_as_sure() {
    let confidence = |lookers: u64| {
        let mut host = host();
        let mut last = Confidence::FULL;
        for k in 0..6 {
            let spoken = cycle(&mut host, 1_000 * k, |host, ms| {
                for id in 5..=5 + lookers {
                    for ms in [ms - 5, ms] {
                        let beacon = seeing(id, ms, 200.0 + id as f64, &street());
                        host.handle_input(at(ms), Input::Beacon(&beacon));
                    }
                    let told = match id {
                        5 => vec![object(70_000, 260.0, ms)],
                        _ => Vec::new(),
                    };
                    host.handle_input(at(ms), Input::Report(&report(id, ms, told)));
                }
            });
            if let Some(ghost) = spoken.objects.iter().find(|o| o.id == ObjectId(70_000)) {
                last = ghost.confidence;
            }
        }
        last.percent()
    };
    let [alone, one, two] = [0, 1, 2].map(confidence);
    assert_eq!(alone, one);
    assert!(
        two <= alone / 2 + 1 && two >= alone / 2 - 1,
        "{two} of {alone}"
    );
}

#[test]
fn an_object_that_the_host_itself_would_see_is_half_as_sure() {
    let mut host = host();
    let mut seen = Vec::new();
    for k in 0..4 {
        let spoken = cycle(&mut host, 1_000 * k, |host, ms| {
            let looks: &[Cell] = if k == 3 { &street() } else { &[] };
            let input = Input::Sensed {
                objects: &[],
                cells: looks,
            };
            host.handle_input(at(ms), input);
            for ms in [ms - 5, ms] {
                host.handle_input(at(ms), Input::Beacon(&beacon(5, ms, 200.0)));
            }
            let told = vec![object(70_000, 260.0, ms)];
            host.handle_input(at(ms), Input::Report(&report(5, ms, told)));
        });
        seen.extend(
            spoken
                .objects
                .iter()
                .find(|o| o.id == ObjectId(70_000))
                .map(|o| o.confidence),
        );
    }
    let percent: Vec<u8> = seen.iter().map(|c| c.percent()).collect();
    assert!(
        percent[3] < percent[2] && percent[3] >= percent[2] / 2 - 1,
        "{percent:?}"
    );
}
