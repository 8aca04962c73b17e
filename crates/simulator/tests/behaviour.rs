//! What every arm does on the blind junction, as a table to be read in review: messages, bytes, misses.

mod support;

use std::fmt::Write as _;

use covey_simulator::{Arm, Arms, Nobody, Outcome, Prepared, simulate};
use support::{scenario, seconds, traffic};

/// The allowances at which arms that have one are shown.
const ALLOWANCES: [f64; 3] = [0.05, 0.1, 0.4];

fn arms() -> Vec<Arm> {
    let each = |strategy: &'static covey_simulator::Strategy| match strategy.has_allowance() {
        true => ALLOWANCES.map(|b| Arm::at(strategy, b)).to_vec(),
        false => vec![Arm::plain(strategy)],
    };
    Arms::builtin().iter().flat_map(each).collect()
}

fn row(table: &mut String, outcome: &Outcome) {
    let [beacons, reports, broadcasts] = &outcome.traffic;
    writeln!(
        table,
        "{:21} {:7} {:8} {:8} {:8} {:7} {:7} {:6} {:6} {:6.2}",
        outcome.arm,
        beacons.bytes,
        reports.messages,
        reports.bytes,
        broadcasts.messages,
        broadcasts.bytes,
        outcome.deficit.relevant,
        outcome.deficit.missed,
        outcome.overloaded,
        outcome.contributors.value().unwrap_or(0.0),
    )
    .unwrap();
}

#[test]
fn every_arm_at_three_allowances_on_the_blind_junction() {
    let prepared = Prepared::new(&scenario("toy/blind-junction")).unwrap();
    let mut traffic = traffic(&prepared, 3);
    let options = seconds(4.0, 10.0);
    let outcome = simulate(&prepared, &mut traffic, &arms(), 3, &options, &mut Nobody).unwrap();
    let mut table = format!(
        "{:21} {:>7} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6} {:>6} {:>6}\n",
        "arm", "beacons", "reports", "bytes", "casts", "bytes", "matter", "missed", "over", "asked"
    );
    for arm in &outcome.arms {
        row(&mut table, arm);
    }
    insta::assert_snapshot!(table);
}
