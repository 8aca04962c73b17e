//! Published rivals as arms: what each does on scenes small enough to know every vehicle, and what it may not do.
//!
//! The blind junction is that of `toys.rs`: 0 comes from the south and does not see 1, which has no radio; 2 and 3 stand in the
//! north and see it; 4 follows 0 and sees nothing that 0 does not see.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::messages::Confidence;
use covey_protocol::{AgentId, Duration, Instant, Message, ObjectId, Tile};
use covey_simulator::rivals::Ranking;
use covey_simulator::{Observer, Outcome, Prepared, Scenario, SeedOutcome, simulate};
use covey_world::VehicleState;
use support::{arms, car, empty_channel, run, scenario, seconds, still, traffic};

fn junction(change: impl Fn(&mut Scenario)) -> Prepared {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 1.0;
    scenario.unequipped = vec![1];
    change(&mut scenario);
    Prepared::new(&scenario).unwrap()
}

fn everyone(prepared: &Prepared) -> Vec<VehicleState> {
    let network = &prepared.map.network;
    vec![
        car(network, 0, "SC_0", 170.0, 8.0),
        car(network, 1, "WC_0", 165.0, 8.0),
        car(network, 2, "NC_0", 150.0, 0.0),
        car(network, 3, "NC_0", 138.0, 0.0),
        car(network, 4, "SC_0", 158.0, 10.0),
    ]
}

/// What an arm's stations said and heard, in order.
#[derive(Default)]
struct Notes {
    /// Reports: when, by whom, of which objects.
    reports: Vec<(Instant, AgentId, Vec<ObjectId>)>,
    /// Hosts' broadcasts and requests: when, by whom, naming whom.
    named: Vec<(Instant, AgentId, Vec<AgentId>)>,
    /// Until when somebody may report because it was named.
    leases: BTreeMap<AgentId, Instant>,
    /// Reports by stations that nobody had named.
    unasked: usize,
    /// What each station heard directly from whoever sensed it: object and when it was sensed.
    direct: BTreeMap<AgentId, BTreeSet<(ObjectId, Instant)>>,
    /// Objects told on, and those of them that their tellers had not heard from whoever sensed them.
    forwarded: usize,
    made_up: usize,
}

impl Observer for Notes {
    fn wants_messages(&self) -> bool {
        true
    }

    fn wants_deliveries(&self) -> bool {
        true
    }

    fn message(&mut self, _: usize, now: Instant, _: Option<Tile>, message: &Message, _: u32) {
        match message {
            Message::Beacon(_) => {}
            Message::Report(report) => {
                let lease = self.leases.get(&report.sender);
                self.unasked += usize::from(lease.is_none_or(|&until| now > until));
                for object in &report.objects {
                    if object.confidence < Confidence::FULL {
                        self.forwarded += 1;
                        let heard = self.direct.entry(report.sender).or_default();
                        let known = heard.contains(&(object.id, object.sensed_at));
                        self.made_up += usize::from(!known);
                    }
                }
                let objects = report.objects.iter().map(|o| o.id).collect();
                self.reports.push((now, report.sender, objects));
            }
            Message::Broadcast(broadcast) => {
                let named = broadcast.contributors.clone();
                self.named.push((now, broadcast.host, named));
            }
        }
    }

    fn delivered(&mut self, _: usize, now: Instant, message: &Message, receivers: &[u32]) {
        let receivers = receivers.iter().map(|&id| AgentId(u64::from(id)));
        match message {
            Message::Beacon(_) => {}
            Message::Report(report) => {
                for receiver in receivers {
                    let first = report.objects.iter();
                    let first = first.filter(|o| o.confidence == Confidence::FULL);
                    let heard = self.direct.entry(receiver).or_default();
                    heard.extend(first.map(|o| (o.id, o.sensed_at)));
                }
            }
            Message::Broadcast(broadcast) => {
                for receiver in receivers {
                    if broadcast.contributors.contains(&receiver) {
                        // A report may be made in the step in which the lease ends.
                        let until = now + broadcast.lease + Duration::from_millis(50);
                        self.leases.insert(receiver, until);
                    }
                }
            }
        }
    }
}

/// Four seconds of an arm among vehicles that stay where they are.
fn watch(prepared: &Prepared, arm: &str, vehicles: Vec<VehicleState>) -> (Notes, SeedOutcome) {
    let mut notes = Notes::default();
    let options = seconds(0.0, 4.0);
    let mut frames = still(vehicles);
    let outcome = simulate(
        prepared,
        &mut frames,
        &arms(&[arm]),
        1,
        &options,
        &mut notes,
    );
    (notes, outcome.unwrap())
}

/// Misses of the last second.
fn missed_at_last(outcome: &SeedOutcome) -> u64 {
    let cycles = &outcome.arms[0].by_cycle;
    cycles[cycles.len() - 5..].iter().map(|c| c.missed).sum()
}

fn load(outcome: &Outcome) -> f64 {
    outcome.load.value().unwrap()
}

/// Load of what stations decide on: reports, and what hosts or askers say.
fn decided_load(outcome: &Outcome) -> f64 {
    load(outcome) - outcome.load_digest.value().unwrap()
}

#[test]
fn autocast_learns_of_what_is_hidden_only_by_asking_what_members_see() {
    let blind = junction(|s| s.rivals.autocast.survey_s = None);
    let (notes, outcome) = watch(&blind, "autocast@0.4", everyone(&blind));
    assert!(missed_at_last(&outcome) > 0, "nobody told the head");
    assert!(notes.reports.is_empty());
    let surveying = junction(|_| ());
    let (notes, outcome) = watch(&surveying, "autocast@0.4", everyone(&surveying));
    assert_eq!(missed_at_last(&outcome), 0);
    assert_eq!(notes.unasked, 0, "only those whom the head named report");
    assert_eq!(
        outcome.arms[0].load_digest.value(),
        Some(0.0),
        "no digest is needed"
    );
}

/// How many of 2 and 3, who see the same, the head names in the last second.
fn named_at_last(senders: u32) -> BTreeSet<u64> {
    let prepared = junction(|s| {
        s.rivals.autocast.senders_per_object = senders;
        // Everyone is asked what it sees once, and then only for what it is good for.
        s.rivals.autocast.survey_s = Some(60.0);
    });
    let (notes, outcome) = watch(&prepared, "autocast@0.4", everyone(&prepared));
    assert_eq!(missed_at_last(&outcome), 0);
    let last = notes.named.iter().rev().take(5);
    last.flat_map(|(_, _, named)| named.iter().map(|id| id.0))
        .collect()
}

#[test]
fn autocast_asks_one_sender_for_an_object_unless_more_are_allowed() {
    let one = named_at_last(1);
    assert_eq!(one.len(), 1, "{one:?}");
    assert!(one.is_subset(&BTreeSet::from([2, 3])), "{one:?}");
    assert_eq!(named_at_last(2), BTreeSet::from([2, 3]));
}

#[test]
fn autocast_keeps_its_budget_whatever_it_ranks() {
    for ranking in [Ranking::Object, Ranking::Message] {
        let mut scenario = scenario("toy/blind-junction");
        scenario.penetration = 0.5;
        scenario.traffic.main_density = 30.0;
        scenario.traffic.side_density = 25.0;
        scenario.traffic.warmup_s = 10.0;
        scenario.rivals.autocast.ranking = ranking;
        let prepared = Prepared::new(&scenario).unwrap();
        let arms = arms(&["cam-only", "autocast@0.02", "autocast@0.1"]);
        let outcome = run(&prepared, &arms, 3, &seconds(3.0, 3.0));
        let [cam_only, small, large] = &outcome.arms[..] else {
            panic!("three arms");
        };
        // Leases outlast a change of mind, so a little more may be said than was planned.
        assert!(load(small) <= 1.3 * 0.02, "{}", load(small));
        assert!(load(large) <= 1.2 * 0.1, "{}", load(large));
        assert!(large.deficit.missed < cam_only.deficit.missed);
    }
}

#[test]
fn without_hops_to_go_multihop_is_collective_perception_by_the_standard() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.rivals.multihop.max_hops = 1;
    let prepared = Prepared::new(&scenario).unwrap();
    let outcome = run(
        &prepared,
        &arms(&["cpm-etsi", "multihop"]),
        3,
        &seconds(2.0, 3.0),
    );
    let [etsi, multihop] = &outcome.arms[..] else {
        panic!("two arms");
    };
    assert_eq!(etsi.traffic, multihop.traffic);
    assert_eq!(etsi.deficit, multihop.deficit);
}

#[test]
fn what_is_forwarded_was_heard_from_whoever_sensed_it() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 0.3;
    scenario.rivals.multihop.announced = true;
    let prepared = Prepared::new(&scenario).unwrap();
    let mut notes = Notes::default();
    let mut traffic = traffic(&prepared, 3);
    simulate(
        &prepared,
        &mut traffic,
        &arms(&["multihop"]),
        3,
        &seconds(2.0, 3.0),
        &mut notes,
    )
    .unwrap();
    assert!(notes.forwarded > 20, "{}", notes.forwarded);
    // Two hops: what was told on is never told on again.
    assert_eq!(notes.made_up, 0);
}

#[test]
fn more_copies_are_forwarded_where_nobody_listens_for_them() {
    let bytes = |change: fn(&mut Scenario)| {
        let mut scenario = scenario("toy/blind-junction");
        scenario.penetration = 0.5;
        change(&mut scenario);
        let prepared = Prepared::new(&scenario).unwrap();
        let outcome = run(&prepared, &arms(&["multihop"]), 3, &seconds(2.0, 2.0));
        outcome.arms[0].traffic[1].bytes
    };
    let held = bytes(|_| ());
    let flood = bytes(|s| {
        s.rivals.multihop.most_copies = 1_000;
        s.rivals.multihop.announced = true;
    });
    let gated = bytes(|s| s.rivals.multihop.gate = 1e-6);
    let alone = bytes(|s| s.rivals.multihop.max_hops = 1);
    assert!(flood > held, "{flood} {held}");
    assert!(held > alone, "{held} {alone}");
    assert_eq!(gated, alone, "a full channel carries nothing second-hand");
}

#[test]
fn who_cannot_see_its_way_asks_and_is_answered() {
    let prepared = junction(|_| ());
    let (notes, outcome) = watch(&prepared, "requests@0.4", everyone(&prepared));
    assert!(!notes.named.is_empty(), "nobody asks");
    assert_eq!(notes.unasked, 0, "only those who were asked answer");
    assert_eq!(missed_at_last(&outcome), 0);
    assert!(
        outcome.arms[0].load_digest.value() > Some(0.0),
        "summaries are paid for"
    );
    let told: BTreeSet<u64> = notes
        .reports
        .iter()
        .flat_map(|(_, _, objects)| objects.iter().map(|o| o.0))
        .collect();
    assert_eq!(
        told,
        BTreeSet::from([1]),
        "others speak for themselves, or are seen"
    );
}

#[test]
fn nobody_asks_where_no_blind_zone_is_risky() {
    let prepared = junction(|s| s.rivals.requests.least_risk = 100.0);
    let (notes, _) = watch(&prepared, "requests@0.4", everyone(&prepared));
    assert!(notes.named.is_empty() && notes.reports.is_empty());
}

#[test]
fn askers_and_answerers_keep_the_budget() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 0.5;
    scenario.traffic.main_density = 30.0;
    scenario.traffic.side_density = 25.0;
    scenario.traffic.warmup_s = 10.0;
    let prepared = Prepared::new(&scenario).unwrap();
    let names = [
        "cam-only",
        "requests@0.005",
        "requests@0.02",
        "requests@0.4",
    ];
    let outcome = run(&prepared, &arms(&names), 3, &seconds(3.0, 3.0));
    let [cam_only, least, small, large] = &outcome.arms[..] else {
        panic!("four arms");
    };
    // Whoever speaks goes by what it heard before, so that a tile may be over its budget by a message: 191 B of a cycle's 48,400.
    let a_message = 191.0 / 48_400.0;
    for (arm, budget) in [(least, 0.005), (small, 0.02)] {
        let load = decided_load(arm);
        assert!(load <= budget + a_message, "{}: {load}", arm.arm);
    }
    assert!(decided_load(large) >= decided_load(small));
    assert!(large.deficit.missed < cam_only.deficit.missed);
}

#[test]
fn rivals_work_where_sensors_err_and_messages_take_their_time() {
    let mut scenario = scenario("toy/blind-junction");
    scenario.penetration = 0.5;
    scenario.errors.position_error_m = 1.0;
    scenario.errors.object_error_m = 0.2;
    scenario.sensing.missed = 0.05;
    scenario.sensing.ghosts_per_s = 0.05;
    let names = ["autocast@0.1", "multihop", "requests@0.1"];
    for model in [
        covey_radio::ChannelModel::Load,
        covey_radio::ChannelModel::Sps,
    ] {
        scenario.channel.model = model;
        let prepared = Prepared::new(&scenario).unwrap();
        let outcome = run(&prepared, &arms(&names), 3, &seconds(2.0, 2.0));
        for arm in &outcome.arms {
            assert!(arm.traffic[1].delivered > 0, "{}", arm.arm);
        }
    }
}
