//! The metrics of the field: what other papers report, for every arm.

use super::draw::plain;
use super::view::ArmView;
use crate::summary::Average;
use crate::text_table::TextTable;

/// What the table says, and where its columns are defined.
pub(super) const EXPLANATION: &str = "What papers of the field report (docs/metrics.md defines each with its source). Known within: share of other \
     vehicles at that distance that a participant knows of, from whatever source, at most a second old. Age: of what it knows within 150 m, \
     mean and the value that 95 % do not pass. Received again: how often an object within 200 m is received in a second beyond the first. Busy \
     ratio: as measured where slots are simulated, else the share of capacity offered, at most 1. Beacons received and gap: over the first \
     and the third 100 m. Near-conflicts: pairs below 1.5 s to collision, counted once a cycle, of which one did not know of the other in time. \
     False alarms: ghosts believed to be relevant, over relevant objects.";

/// A row per arm; none where no arm has any of it.
pub(super) fn table(arms: &[ArmView<'_>]) -> Option<TextTable> {
    let any = arms.iter().any(|arm| arm.all.field.awareness_200.is_some());
    let mut table = TextTable::new(&[
        "arm",
        "#known within 100 / 200 / 300 m, %",
        "#age, s",
        "#95 % below, s",
        "#received again, per s",
        "#busy ratio",
        "#beacons received to 100 / to 300 m, %",
        "#gap to 100 / to 300 m, s",
        "#near-conflicts unaware / all",
        "#false alarms, %",
    ]);
    for arm in arms {
        let (all, field) = (arm.all, &arm.all.field);
        let percent = |value: Option<f64>| shown(value.map(|x| 100.0 * x), 1);
        let at = |number: usize| field.reception.get(number);
        table.row(vec![
            arm.name.to_string(),
            [
                field.awareness_100,
                field.awareness_200,
                field.awareness_300,
            ]
            .map(|value| percent(mean(value)))
            .join(" / "),
            shown(all.age_s.mean, 3),
            shown(mean(field.age_p95_s), 2),
            shown(mean(field.redundancy_per_s), 1),
            shown(mean(all.cbr), 3),
            [0, 2]
                .map(|number| percent(at(number).and_then(|range| range.ratio)))
                .join(" / "),
            [0, 2]
                .map(|number| shown(at(number).and_then(|range| range.gap_s), 2))
                .join(" / "),
            field
                .near_conflicts
                .map_or_else(dash, |near| format!("{} / {}", near.unaware, near.all)),
            shown(mean(field.false_alarms).map(|x| 100.0 * x), 2),
        ]);
    }
    any.then_some(table)
}

fn mean(average: Option<Average>) -> Option<f64> {
    average?.mean
}

fn shown(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(dash, |x| plain(x, decimals))
}

fn dash() -> String {
    "\u{2013}".to_string()
}
