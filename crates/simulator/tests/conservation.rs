//! Nothing is lost from the books: pairs of message and receiver, misses, and the ceiling that no arm passes.

mod support;

use std::collections::BTreeSet;

use covey_protocol::Instant;
use covey_protocol::messages::Message;
use covey_simulator::events::{Miss, StepView};
use covey_simulator::{Arms, CycleRow, Observer, Prepared, simulate};
use support::{arms, crowded_junction, empty_channel, run, scenario, seconds, traffic};

/// Counts deliveries as they are told, in the measured window.
#[derive(Default)]
struct Counter {
    measured: bool,
    /// By arm and class: messages and deliveries.
    told: Vec<[[u64; 2]; 3]>,
    offered: Vec<[u64; 3]>,
    cycles: u64,
}

fn class(message: &Message) -> usize {
    match message {
        Message::Beacon(_) => 0,
        Message::Report(_) => 1,
        Message::Broadcast(_) => 2,
    }
}

impl Observer for Counter {
    fn step(&mut self, view: &StepView<'_>) {
        self.measured = view.measured;
    }

    fn wants_messages(&self) -> bool {
        true
    }

    fn message(
        &mut self,
        arm: usize,
        _: Instant,
        _: Option<covey_protocol::Tile>,
        message: &Message,
        _: u32,
    ) {
        if self.measured {
            self.offered[arm][class(message)] += 1;
        }
    }

    fn wants_deliveries(&self) -> bool {
        true
    }

    fn delivered(&mut self, arm: usize, _: Instant, message: &Message, receivers: &[u32]) {
        if self.measured {
            let [messages, pairs] = &mut self.told[arm][class(message)];
            *messages += 1;
            *pairs += receivers.len() as u64;
        }
        let sender = match message {
            Message::Beacon(m) => m.sender,
            Message::Report(m) => m.sender,
            Message::Broadcast(m) => m.host,
        };
        assert!(receivers.iter().all(|&r| u64::from(r) != sender.0));
        let distinct: BTreeSet<u32> = receivers.iter().copied().collect();
        assert_eq!(distinct.len(), receivers.len(), "each receiver once");
    }

    fn cycle(&mut self, _: usize, rows: &[CycleRow], misses: &[Miss]) {
        self.cycles += 1;
        let missed: u64 = rows.iter().map(|row| row.deficit.missed).sum();
        assert_eq!(missed, misses.len() as u64);
        for miss in misses {
            assert_ne!(miss.vehicle, miss.object);
            // What was missed was unknown, or older than its deadline; ages are never negative.
            if let Some(age) = miss.age_us {
                assert!(age >= 0 && age > miss.deadline_us, "{miss:?}");
            }
        }
    }
}

#[test]
fn every_pair_in_range_is_delivered_thinned_or_lost() {
    let prepared = crowded_junction();
    let arms = Arms::builtin().letter();
    let mut counter = Counter {
        told: vec![Default::default(); arms.len()],
        offered: vec![Default::default(); arms.len()],
        ..Counter::default()
    };
    let outcome = simulate(
        &prepared,
        &mut traffic(&prepared, 11),
        &arms,
        11,
        &seconds(2.0, 1.0),
        &mut counter,
    )
    .unwrap();
    assert_eq!(counter.cycles, 5 * arms.len() as u64);
    let mut sums = [[0; 3]; 3];
    for (number, arm) in outcome.arms.iter().enumerate() {
        for (class, traffic) in arm.traffic.iter().enumerate() {
            assert_eq!(
                traffic.in_range,
                traffic.delivered + traffic.thinned + traffic.lost,
                "{} class {class}",
                arm.arm
            );
            let [messages, pairs] = counter.told[number][class];
            assert_eq!(messages, traffic.messages, "{} class {class}", arm.arm);
            assert_eq!(counter.offered[number][class], traffic.messages);
            assert_eq!(pairs, traffic.delivered, "{} class {class}", arm.arm);
            for (sum, part) in
                sums[class]
                    .iter_mut()
                    .zip([traffic.delivered, traffic.thinned, traffic.lost])
            {
                *sum += part;
            }
        }
        let misses = &arm.misses;
        let kinds = misses.equipped_stale
            + misses.equipped_unknown
            + misses.unequipped_stale
            + misses.unequipped_unknown;
        assert_eq!(kinds, arm.deficit.missed);
        let by_cycle: u64 = arm.by_cycle.iter().map(|cycle| cycle.missed).sum();
        assert_eq!(by_cycle, arm.deficit.missed);
        assert_eq!(
            arm.deficit.relevant, outcome.arms[0].deficit.relevant,
            "relevance is no matter of the arm"
        );
        // Beacon statistics are of all senders here.
        let sampled = arm
            .reception
            .iter()
            .fold([0, 0], |sum, bin| [sum[0] + bin[0], sum[1] + bin[1]]);
        assert_eq!(sampled, [arm.traffic[0].in_range, arm.traffic[0].delivered]);
    }
    // Every fate of every class occurs, or the equations would show little.
    for (class, sum) in sums.iter().enumerate() {
        assert!(sum.iter().all(|&part| part > 0), "class {class}: {sum:?}");
    }
}

#[test]
fn nobody_beats_the_oracle() {
    let prepared = crowded_junction();
    let arms = Arms::builtin().letter();
    for seed in [21, 22] {
        let outcome = run(&prepared, &arms, seed, &seconds(1.6, 1.0));
        let oracle = outcome.arms.last().unwrap();
        assert_eq!(oracle.arm, "oracle");
        for arm in &outcome.arms {
            assert!(arm.deficit.missed >= oracle.deficit.missed, "{}", arm.arm);
            for (of_arm, of_oracle) in arm.by_cycle.iter().zip(&oracle.by_cycle) {
                assert!(of_arm.missed >= of_oracle.missed, "{}", arm.arm);
            }
        }
        let [alone, ..] = &outcome.arms[..] else {
            unreachable!()
        };
        assert!(alone.deficit.missed > oracle.deficit.missed);
    }
}

/// What arms missed, by arm and cycle.
#[derive(Default)]
struct Missed(Vec<Vec<Vec<Miss>>>);

impl Observer for Missed {
    fn cycle(&mut self, arm: usize, _: &[CycleRow], misses: &[Miss]) {
        if self.0.len() <= arm {
            self.0.resize_with(arm + 1, Vec::new);
        }
        self.0[arm].push(misses.to_vec());
    }
}

fn missed(prepared: &Prepared, names: &[&str]) -> Vec<Vec<Vec<Miss>>> {
    let mut missed = Missed::default();
    simulate(
        prepared,
        &mut traffic(prepared, 31),
        &arms(names),
        31,
        &seconds(2.0, 2.0),
        &mut missed,
    )
    .unwrap();
    missed.0
}

fn pair(miss: &Miss) -> (u32, u32) {
    (miss.vehicle, miss.object)
}

#[test]
fn on_an_empty_channel_everyone_reporting_knows_all_that_anyone_senses() {
    let mut scenario = scenario("toy/blind-junction");
    empty_channel(&mut scenario);
    scenario.penetration = 0.6;
    scenario.traffic.warmup_s = 10.0;
    let prepared = Prepared::new(&scenario).unwrap();
    let found = missed(&prepared, &["cam-only", "cpm-etsi", "oracle"]);
    let [silent, everyone, oracle] = &found[..] else {
        unreachable!()
    };
    let mut beyond = 0;
    for ((silent, everyone), oracle) in silent.iter().zip(everyone).zip(oracle) {
        let ceiling: BTreeSet<_> = oracle.iter().map(pair).collect();
        let heard: BTreeSet<_> = everyone.iter().map(pair).collect();
        assert!(ceiling.is_subset(&heard));
        // Whatever the oracle knows in time is known to everyone, if later than the deadline.
        for miss in everyone
            .iter()
            .filter(|miss| !ceiling.contains(&pair(miss)))
        {
            assert!(miss.age_us.is_some(), "{miss:?}");
        }
        beyond += silent.len() - everyone.len();
    }
    assert!(beyond > 0, "reports told of something");

    // Where time does not press, both miss the same.
    let mut patient = scenario.clone();
    patient.protocol.reaction_s = 2.0;
    let prepared = Prepared::new(&patient).unwrap();
    let found = missed(&prepared, &["cpm-etsi", "oracle"]);
    for (everyone, oracle) in found[0].iter().zip(&found[1]) {
        let [everyone, oracle] =
            [everyone, oracle].map(|missed| missed.iter().map(pair).collect::<BTreeSet<_>>());
        assert_eq!(everyone, oracle);
    }
}
