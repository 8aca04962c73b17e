//! The host's bounds hold whatever its policy asks for: policies that want everybody, and one that lies.

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::admission::{Action, Admission, Because, Binding, Change, Decision};
use covey_protocol::messages::{Broadcast, Content, Message};
use covey_protocol::parameters::ReportContent;
use covey_protocol::policy::{Coverage, Hints, Plan, Policy, Repeat, Reporters, View};
use covey_protocol::{
    AgentId, Cell, Duration, Event, Instant, ObjectId, Parameters, Position, Profile,
};

use crate::network::Network;

/// Heard by everybody, and far outside the footprint of all but itself.
const FAR: AgentId = AgentId(99);
/// Heard by nobody.
const NOBODY: AgentId = AgentId(777);
/// Bytes that a host may spend in a cycle.
const ROOM: f64 = 4_000.0;

/// How a greedy policy says whom it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Changes,
    Ranking,
}

/// Wants everybody it knows of, and some it does not; never lets go of anybody.
#[derive(Debug, Clone, Copy)]
struct Greedy {
    form: Form,
    content: Content,
    hints: Hints,
}

impl Policy for Greedy {
    fn plan(&mut self, view: &View<'_>, _: &mut Admission) -> Plan {
        let scope = view.scope.iter().map(|member| member.id);
        let ids: Vec<AgentId> = scope.chain([FAR, NOBODY]).collect();
        let admit = |id: &AgentId| Change::new(Action::Admit, *id, Because::Score);
        let reporters = match self.form {
            Form::Changes => Reporters::Changes(ids.iter().map(admit).collect()),
            Form::Ranking => Reporters::Ranking(ids),
        };
        Plan {
            content: self.content,
            ..Plan::new(reporters, Binding::Nothing, view.parameters)
        }
    }

    fn hints(&self) -> Hints {
        self.hints
    }
}

/// The same, and it asks for thousands of objects by name and has everything repeated that it ever heard of, and more.
#[derive(Debug, Clone, Copy)]
struct Liar(Form);

impl Policy for Liar {
    fn plan(&mut self, view: &View<'_>, admission: &mut Admission) -> Plan {
        let mut greedy = Greedy {
            form: self.0,
            content: Content::Requested,
            hints: Hints::NO_COVERAGE,
        };
        let known = view.known.iter().map(|known| known.state.id);
        // The number of names comes and goes, so that there is always something to withdraw, too.
        let names = if view.now.micros() / 200_000 % 3 == 0 {
            0
        } else {
            5_000
        };
        Plan {
            requested: (0..names).map(ObjectId).collect(),
            repeat: Repeat::Picked(known.chain((0..5_000).map(ObjectId)).collect()),
            ..greedy.plan(view, admission)
        }
    }

    fn hints(&self) -> Hints {
        Hints::NO_COVERAGE
    }
}

/// Sixteen agents around the middle of a tile, each of which sees six silent objects, three of them with its neighbour; and
/// one far off. Everything moves.
fn crowd(profile: Profile) -> Network {
    let mut network = Network::of(profile);
    for k in 0..16_u64 {
        let x = 150.0 + 12.0 * k as f64;
        let node = network.add(k + 1, x, 250.0);
        node.speed = 1.5;
        let seen = (3 * k..3 * k + 6).map(|o| {
            let place = Position::new(140.0 + 5.0 * o as f64, 230.0 + 7.0 * (o % 6) as f64);
            (ObjectId(1_000 + o), place)
        });
        node.objects = seen.collect();
        let cells = node
            .objects
            .iter()
            .filter_map(|&(_, p)| Cell::containing(p, 20.0));
        node.cells = cells.collect();
    }
    network.add(FAR.0, 900.0, 250.0);
    network
}

/// Runs for `cycles` cycles.
fn drive(network: &mut Network, cycles: u32) {
    for _ in 0..cycles {
        for node in network.nodes.values_mut() {
            node.objects.iter_mut().for_each(|(_, p)| p.x += 0.3);
        }
        network.run(200);
    }
}

/// The usual numbers, with room for so many bytes and admissions in a cycle.
fn parameters(room: f64, n_max: u32) -> Parameters {
    let usual = Parameters::default();
    Parameters {
        allowance: room / (usual.capacity_bytes_per_s * usual.cycle_s),
        n_max,
        // Whose sizes a host knows: by the generation rules the bounds hold on average.
        report_content: ReportContent::All,
        ..usual
    }
}

/// What a host decided and said, and the bytes of the reports that its contributors sent until it spoke again.
struct Cycle {
    decision: Decision,
    broadcast: Broadcast,
    reports: f64,
}

/// All cycles of all hosts but the far one.
fn cycles(network: &Network) -> Vec<Cycle> {
    let p = &network.profile.parameters;
    let mut decisions: BTreeMap<(Instant, AgentId), Decision> = BTreeMap::new();
    for (at, id, event) in &network.events {
        if let Event::Decided(decision) = event {
            decisions.insert((*at, *id), decision.clone());
        }
    }
    let reports = |broadcast: &Broadcast| -> f64 {
        let until = broadcast.at + Duration::from_millis(200);
        let sent = network
            .sent
            .iter()
            .filter_map(|(at, message)| match message {
                Message::Report(report) if *at > broadcast.at && *at <= until => Some(report),
                _ => None,
            });
        sent.map(|report| p.report_bytes(report.objects.len() as f64))
            .sum()
    };
    let broadcasts = network
        .sent
        .iter()
        .filter_map(|(_, message)| match message {
            Message::Broadcast(broadcast) if broadcast.host != FAR => Some(broadcast),
            _ => None,
        });
    broadcasts
        .map(|broadcast| Cycle {
            decision: decisions.remove(&(broadcast.at, broadcast.host)).unwrap(),
            broadcast: broadcast.clone(),
            reports: reports(broadcast),
        })
        .collect()
}

/// Checks every cycle of a run; gives whom the host cut, and why, and how many contributors it had at most.
fn check(network: &Network, what: &str) -> (BTreeSet<(AgentId, u8)>, usize) {
    let p = &network.profile.parameters;
    let (mut cuts, mut most) = (BTreeSet::new(), 0);
    let room = p.rules().room_bytes() + 1e-6;
    let all = cycles(network);
    assert!(all.len() >= 40, "{what}: {} cycles", all.len());
    for cycle in &all {
        let Cycle {
            decision,
            broadcast,
            reports,
        } = cycle;
        let what = format!("{what}, {}: {decision:?}", broadcast.at);
        assert!(decision.airtime_after.fraction <= p.allowance, "{what}");
        let admit = |c: &&Change| c.action == Action::Admit;
        let admitted = decision.changes.iter().filter(admit).count();
        assert!(admitted <= p.n_max as usize, "{what}");
        for id in &broadcast.contributors {
            assert_ne!(*id, broadcast.host, "{what}");
            let place = network.nodes[id].position;
            let far = place.distance(network.nodes[&broadcast.host].position);
            assert!(far <= p.footprint_m, "{what}");
        }
        let offered = p.broadcast_bytes(broadcast) + reports;
        assert!(offered <= room, "{what}: offered {offered} B");
        assert_eq!(
            decision.binding == Binding::Nothing,
            decision.cut.iter().all(|cut| cut.because == Because::Scope),
            "{what}"
        );
        cuts.extend(decision.cut.iter().map(|cut| (cut.id, cut.because as u8)));
        most = most.max(broadcast.contributors.len());
    }
    (cuts, most)
}

#[test]
fn a_policy_that_wants_everybody_gets_what_the_bounds_allow() {
    let mut blind = Hints::COSTS;
    blind.coverage = Coverage::Ignored;
    for form in [Form::Changes, Form::Ranking] {
        for content in [Content::AllVisible, Content::Demanded] {
            for (n_max, hints) in [(1, Hints::ALL), (3, Hints::COSTS), (1, blind)] {
                let greedy = Greedy {
                    form,
                    content,
                    hints,
                };
                let what = format!("{greedy:?}, at most {n_max}");
                let mut network = crowd(Profile::new(parameters(ROOM, n_max), move || greedy));
                drive(&mut network, 60);
                let (cuts, most) = check(&network, &what);
                assert!((4..10).contains(&most), "{what}: {most}");
                let cut = |id, because| cuts.contains(&(id, because as u8));
                assert!(cut(FAR, Because::Scope), "{what}");
                assert!(cut(NOBODY, Because::Scope), "{what}");
                assert!(cut(AgentId(16), Because::Quota), "{what}");
                assert!(cut(AgentId(16), Because::Allowance), "{what}");
            }
        }
    }
}

#[test]
fn a_policy_that_lies_is_not_believed() {
    for form in [Form::Changes, Form::Ranking] {
        // In the second case not even what is to be repeated fits.
        for (room, someone) in [(ROOM, true), (900.0, false)] {
            let what = format!("{form:?}, {room} B");
            let mut network = crowd(Profile::new(parameters(room, 1), move || Liar(form)));
            drive(&mut network, 60);
            let (_, most) = check(&network, &what);
            assert_eq!(most > 0, someone, "{what}");
            let broadcasts = network
                .sent
                .iter()
                .filter_map(|(_, message)| match message {
                    Message::Broadcast(broadcast) => Some(broadcast),
                    _ => None,
                });
            let some = |has: fn(&Broadcast) -> bool| broadcasts.clone().any(has);
            assert!(some(|b| !b.requested.is_empty()), "{what}");
            assert!(some(|b| b.objects.len() > 10), "{what}");
            assert!(some(|b| !b.withdrawn.is_empty()), "{what}");
        }
    }
}

#[test]
fn a_broadcast_that_is_too_long_by_itself_leaves_room_for_nobody() {
    for form in [Form::Changes, Form::Ranking] {
        let greedy = Greedy {
            form,
            content: Content::AllVisible,
            hints: Hints::ALL,
        };
        // Sixteen agents beacon: 35 bytes each.
        let mut network = crowd(Profile::new(parameters(600.0, 1), move || greedy));
        drive(&mut network, 20);
        let all = cycles(&network);
        assert!(!all.is_empty());
        for Cycle {
            decision,
            broadcast,
            reports,
        } in all
        {
            assert!(decision.airtime_after.fraction > network.profile.parameters.allowance);
            assert_eq!((broadcast.contributors.len(), reports), (0, 0.0));
            assert_eq!(decision.binding, Binding::Allowance);
            for id in (1..=16).map(AgentId).filter(|&id| id != broadcast.host) {
                let cut = decision.cut.iter().find(|cut| cut.id == id);
                assert_eq!(cut.map(|cut| cut.because), Some(Because::Allowance));
            }
        }
    }
}
