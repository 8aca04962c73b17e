//! Sensors that miss, invent, misplace and take their time: what participants are told, and what that makes of what they know.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::{AgentId, Instant};
use covey_simulator::events::{Senses, StepView};
use covey_simulator::{Observer, Prepared, Scenario, SeedOutcome, simulate};
use support::{arms, run, scenario, seconds, traffic};

/// Numbers of objects from here on are those of ghosts.
const GHOSTS: u64 = 0xC000_0000;

/// What everybody senses.
#[derive(Default)]
struct Notes {
    /// Looks of participants.
    looks: u64,
    /// Objects that they saw and that are there.
    seen: u64,
    /// By ghost: who saw it, and when it was seen first and last.
    ghosts: BTreeMap<u64, (BTreeSet<AgentId>, Instant, Instant)>,
    /// How far off ghosts were when they appeared, in metres, and in which second that was.
    apparitions: Vec<(f64, i64)>,
    /// How old what was seen was, in microseconds.
    ages: BTreeSet<i64>,
}

impl Observer for Notes {
    fn step(&mut self, _: &StepView<'_>) {}

    fn wants_senses(&self) -> bool {
        true
    }

    fn senses(&mut self, now: Instant, of: AgentId, senses: &Senses<'_>) {
        let Some((objects, _)) = senses.sensed else {
            return;
        };
        self.looks += 1;
        for object in objects {
            self.ages.insert(now.since(object.sensed_at).micros());
            if object.id.0 < GHOSTS {
                self.seen += 1;
                continue;
            }
            let apparitions = &mut self.apparitions;
            let ghost = self.ghosts.entry(object.id.0).or_insert_with(|| {
                let off = object.position.distance(senses.state.position);
                apparitions.push((off, now.micros() / 1_000_000));
                (BTreeSet::new(), now, now)
            });
            ghost.0.insert(of);
            ghost.2 = now;
        }
    }
}

fn notes(change: impl Fn(&mut Scenario)) -> Notes {
    let mut scenario = scenario("toy/blind-junction");
    change(&mut scenario);
    let prepared = Prepared::new(&scenario).unwrap();
    let mut traffic = traffic(&prepared, 3);
    let mut notes = Notes::default();
    let options = seconds(0.0, 20.0);
    let arms = arms(&["cam-only"]);
    simulate(&prepared, &mut traffic, &arms, 3, &options, &mut notes).unwrap();
    notes
}

#[test]
fn sensors_miss_as_many_as_they_should() {
    let (all, some) = (notes(|_| {}), notes(|s| s.sensing.missed = 0.3));
    assert_eq!(all.looks, some.looks);
    let share = 1.0 - some.seen as f64 / all.seen as f64;
    assert!((share - 0.3).abs() < 0.02, "{share}");
    // What is half hidden is missed more often.
    let hidden = notes(|s| s.sensing.missed_hidden = 1.0);
    assert!(hidden.seen < all.seen, "{} of {}", hidden.seen, all.seen);
}

#[test]
fn ghosts_come_as_often_and_stay_as_long_as_they_should() {
    let notes = notes(|s| {
        s.sensing.ghosts_per_s = 0.2;
        s.sensing.ghost_life_s = 0.5;
    });
    // Looks are 0.1 s apart.
    let expected = 0.2 * 0.1 * notes.looks as f64;
    let born = notes.ghosts.len() as f64;
    assert!(
        (born - expected).abs() < 4.0 * expected.sqrt(),
        "{born} for {expected}"
    );
    let mut lives: BTreeMap<i64, u32> = BTreeMap::new();
    for (by, first, last) in notes.ghosts.values() {
        assert_eq!(by.len(), 1, "a ghost is one observer's own");
        *lives.entry(last.since(*first).micros()).or_default() += 1;
    }
    // Five looks, but for those whose observer leaves and for the last ones.
    let whole = lives.get(&400_000).copied().unwrap_or(0);
    assert!(f64::from(whole) > 0.9 * born, "{lives:?}");
    assert!(lives.keys().all(|&us| us <= 400_000), "{lives:?}");
}

#[test]
fn ghosts_appear_at_any_distance_and_at_any_time() {
    let notes = notes(|s| s.sensing.ghosts_per_s = 0.5);
    let all = notes.apparitions.len() as f64;
    assert!(all > 100.0, "{all}");
    // Evenly over 150 m: as many in each third.
    let mut thirds = [0u32; 3];
    for (off, _) in &notes.apparitions {
        thirds[(off / 50.0).clamp(0.0, 2.0) as usize] += 1;
    }
    let spread = (all * 2.0 / 9.0).sqrt();
    for third in thirds {
        assert!(
            (f64::from(third) - all / 3.0).abs() < 4.0 * spread,
            "{thirds:?}"
        );
    }
    let farthest = notes.apparitions.iter().map(|a| a.0);
    assert!(farthest.fold(0.0, f64::max) <= 150.0 + 1e-6);
    // Without memory: counts by second spread as they do by chance, and those of one second do not tell of the next.
    let mut counts = [0.0; 20];
    for (_, second) in &notes.apparitions {
        counts[(*second).clamp(0, 19) as usize] += 1.0;
    }
    let mean = all / 20.0;
    let product = |lag: usize| -> f64 {
        let pairs = counts.iter().zip(&counts[lag..]);
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / (20 - lag) as f64
    };
    let dispersion = product(0) / mean;
    assert!((0.3..2.2).contains(&dispersion), "{dispersion}: {counts:?}");
    let correlation = product(1) / product(0);
    assert!(correlation.abs() < 0.8, "{correlation}: {counts:?}");
}

#[test]
fn what_is_seen_is_at_hand_when_it_should_be() {
    assert_eq!(notes(|_| {}).ages, BTreeSet::from([0]));
    let late = notes(|s| s.sensing.latency_s = 0.2);
    assert_eq!(late.ages, BTreeSet::from([200_000]));
    // At the first look that is so much later.
    let later = notes(|s| s.sensing.latency_s = 0.25);
    assert_eq!(later.ages, BTreeSet::from([300_000]));
}

const ARMS: [&str; 5] = [
    "cam-only",
    "oracle",
    "cpm-etsi",
    "proposed@0.4",
    "demand@0.15",
];

fn outcomes(change: impl Fn(&mut Scenario)) -> SeedOutcome {
    let mut scenario = scenario("toy/blind-junction");
    change(&mut scenario);
    let prepared = Prepared::new(&scenario).unwrap();
    run(&prepared, &arms(&ARMS), 3, &seconds(5.0, 15.0))
}

#[test]
fn without_errors_all_that_comes_in_time_is_known() {
    for arm in outcomes(|_| {}).arms {
        assert_eq!(arm.missed_by_provenance, arm.deficit.missed, "{}", arm.arm);
        assert_eq!(arm.field.false_alarms, 0, "{}", arm.arm);
    }
}

#[test]
fn errors_within_the_gate_cost_little_and_ghosts_alarm() {
    let outcome = outcomes(|s| {
        s.sensing.position_error_m = 1.0;
        s.sensing.speed_error_m_per_s = 0.5;
        s.sensing.heading_error_deg = 3.0;
        s.sensing.missed = 0.05;
        s.sensing.ghosts_per_s = 1.0;
    });
    for arm in &outcome.arms {
        // The gate allows for three standard deviations; a state may also be taken for that of another object.
        let (missed, relevant) = (arm.deficit.missed, arm.deficit.relevant);
        let apart = missed.abs_diff(arm.missed_by_provenance);
        assert!(apart * 50 <= relevant, "{}: {apart}", arm.arm);
        assert!(arm.field.false_alarms > 0, "{}", arm.arm);
    }
    let arm = |name: &str| outcome.arms.iter().find(|arm| arm.arm == name).unwrap();
    // Whoever hears of more hears of more ghosts, and the ceiling of information is one of errors, too.
    let alarms = |name| arm(name).field.false_alarms;
    assert!(alarms("cpm-etsi") > alarms("cam-only"));
    assert!(alarms("oracle") >= alarms("cpm-etsi"));
    let missed = |name| arm(name).deficit.missed;
    for name in ARMS {
        assert!(missed("oracle") <= missed(name), "{name}");
    }
    // The same draws, whatever runs beside.
    let again = outcomes(|s| {
        s.sensing.position_error_m = 1.0;
        s.sensing.speed_error_m_per_s = 0.5;
        s.sensing.heading_error_deg = 3.0;
        s.sensing.missed = 0.05;
        s.sensing.ghosts_per_s = 1.0;
    });
    assert_eq!(again.arms, outcome.arms);
}

#[test]
fn bad_values_are_refused_by_name() {
    let error = |line: &str| {
        let text = format!("map.net = \"a\"\n{line}\n");
        Scenario::parse("x.toml", &text).unwrap_err().to_string()
    };
    for (key, bad) in [
        ("sensing.missed", "1.1"),
        ("sensing.missed_far", "-0.1"),
        ("sensing.missed_hidden", "nan"),
        ("sensing.missed_for_s", "-1.0"),
        ("sensing.ghosts_per_s", "6.0"),
        ("sensing.ghost_life_s", "0.0"),
        ("sensing.position_error_m", "21.0"),
        ("sensing.speed_error_m_per_s", "-0.5"),
        ("sensing.heading_error_deg", "91.0"),
        ("sensing.position_bias_m", "inf"),
        ("sensing.speed_bias_m_per_s", "-0.5"),
        ("sensing.heading_bias_deg", "nan"),
        ("sensing.latency_s", "2.0"),
        ("sensing.range_m", "-1.0"),
        ("errors.position_error_m", "-0.1"),
        ("errors.position_correlation_s", "nan"),
        ("errors.object_error_m", "21.0"),
    ] {
        let said = error(&format!("{key} = {bad}"));
        assert!(
            said.starts_with(&format!("x.toml: {key}: found ")),
            "{said}"
        );
        assert!(said.contains("expected"), "{said}");
    }
    let said = error("classes.car.sectors_deg = [10.0]");
    assert!(said.contains("sectors_deg"), "{said}");
    let said = error("protocol.beacons = \"real\"");
    assert!(said.contains("protocol.beacons"), "{said}");
    let said = error("protocol.security = \"yes\"");
    assert!(said.contains("expected \"none\", \"signed\""), "{said}");
    let said = error("protocol.beacon_maker = \"opel\"");
    assert!(said.contains("\"volkswagen\", \"renault\""), "{said}");
    let said = error("protocol.beacon_road = \"alley\"");
    assert!(said.contains("protocol.beacon_road"), "{said}");
    assert!(said.contains("\"universal\""), "{said}");
}
