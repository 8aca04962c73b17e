//! The tables that a finished run leaves: `runs` (a row per arm and seed) and `cycles` (a row per arm, seed, tile and cycle).
//!
//! In a sweep every row begins with the values that make its world.

use covey_simulator::outcome::{AWARENESS_M, Binding, Mean, Traffic};
use covey_simulator::{CycleRow, Outcome, SharedOutcome};

use super::typed::{Cell, Column, Kind};
use crate::field::{DELIVERY_RANGES, age_quantile, busy_ratio};
use crate::names::{allowance_of, strategy_of};

/// Names of the message classes, in the order of [`Outcome::traffic`].
const CLASSES: [&str; 3] = ["beacons", "reports", "broadcasts"];

/// A list of columns under construction, so that names and cells cannot get out of step.
#[derive(Default)]
struct Row {
    columns: Vec<Column>,
    cells: Vec<Cell>,
}

impl Row {
    fn text(&mut self, name: &str, value: Option<&str>) {
        self.columns.push(Column::new(name, Kind::Text));
        self.cells.push(value.into());
    }

    fn integer(&mut self, name: &str, value: impl Into<Cell>) {
        self.columns.push(Column::new(name, Kind::Integer));
        self.cells.push(value.into());
    }

    fn number(&mut self, name: &str, value: impl Into<Cell>) {
        self.columns.push(Column::new(name, Kind::Number));
        self.cells.push(value.into());
    }

    /// What every class of messages did on the air.
    fn traffic(&mut self, o: &Outcome) {
        for (class, traffic) in CLASSES.iter().zip(&o.traffic) {
            let Traffic {
                messages,
                bytes,
                in_range,
                delivered,
                thinned,
                lost,
            } = *traffic;
            for (name, count) in [
                ("messages", messages),
                ("bytes", bytes),
                ("in_range", in_range),
                ("delivered", delivered),
                ("thinned", thinned),
                ("lost", lost),
            ] {
                self.integer(&format!("{class}_{name}"), count);
            }
        }
    }
}

impl Row {
    /// What only a channel that is simulated slot by slot has: null where it is modelled by load.
    fn scheduled(&mut self, o: &Outcome) {
        for (name, mean) in [
            ("load_resources", &o.load_resources),
            ("cbr", &o.cbr),
            ("channel_occupancy", &o.channel_occupancy),
            ("latency_s", &o.latency),
        ] {
            self.number(name, Mean::value(mean));
        }
    }

    /// The metrics of the field (docs/metrics.md) that have no column above.
    fn field(&mut self, o: &Outcome) {
        let field = &o.field;
        for (within, [known, all]) in AWARENESS_M.iter().zip(field.aware) {
            self.integer(&format!("aware_known_{within}m"), known);
            self.integer(&format!("aware_all_{within}m"), all);
        }
        self.number("age_p95_s", age_quantile(&field.ages, 0.95));
        self.number("object_redundancy_per_s", field.redundancy.value());
        self.number("busy_ratio", busy_ratio(o).value());
        for range in &DELIVERY_RANGES {
            self.number(&range.column("gap_s"), range.gap(o).value());
        }
        self.integer("near_conflicts_unaware", field.near[0]);
        self.integer("near_conflicts_all", field.near[1]);
        self.integer("false_alarms", field.false_alarms);
        self.integer("missed_by_provenance", o.missed_by_provenance);
    }

    /// Pairs of a sampled sender's beacon and a receiver in range, and those delivered, by distance.
    fn reception(&mut self, o: &Outcome) {
        for range in &DELIVERY_RANGES {
            let [pairs, delivered] = range.reception(o);
            self.integer(&range.column("pairs"), pairs);
            self.integer(&range.column("delivered"), delivered);
        }
    }
}

fn run(shared: &SharedOutcome, o: &Outcome) -> Row {
    let mut row = Row::default();
    row.text("arm", Some(&o.arm));
    row.text("strategy", Some(strategy_of(&o.arm)));
    row.number("allowance", allowance_of(&o.arm));
    row.integer("seed", o.seed);
    row.integer("relevant", o.deficit.relevant);
    row.integer("missed", o.deficit.missed);
    row.number("deficit", o.deficit.ratio());
    row.integer("relevant_all", o.deficit_all.relevant);
    row.integer("missed_all", o.deficit_all.missed);
    row.number("deficit_all", o.deficit_all.ratio());
    // Means, and the weight of each, so that seeds can be pooled: participants in every (tile, cycle), or one for each.
    row.integer("participant_cycles", o.load.count);
    row.integer("tile_cycles", o.load_by_tile.count);
    for (name, mean) in [
        ("load", &o.load),
        ("load_by_tile", &o.load_by_tile),
        ("load_digest", &o.load_digest),
        ("load_reports", &o.load_reports),
        ("load_broadcast", &o.load_broadcast),
        ("beacon_load", &o.beacon_load),
        ("busy", &o.busy),
    ] {
        row.number(name, Mean::value(mean));
    }
    row.integer("overloaded", o.overloaded);
    row.integer("host_cycles", o.contributors.count);
    for (name, mean) in [
        ("price", &o.price),
        ("contributors", &o.contributors),
        ("churn", &o.churn),
        ("digest_bytes", &o.digest_bytes),
    ] {
        row.number(name, Mean::value(mean));
    }
    row.integer("host_changes", o.host_changes);
    row.integer("rival_hosts", o.rival_hosts);
    for (binding, count) in Binding::ALL.iter().zip(o.binding) {
        let name = binding.name();
        row.integer(&format!("bound_by_{name}"), count);
    }
    let m = &o.misses;
    for (name, count) in [
        ("missed_equipped_stale", m.equipped_stale),
        ("missed_equipped_unknown", m.equipped_unknown),
        ("missed_unequipped_stale", m.unequipped_stale),
        ("missed_unequipped_unknown", m.unequipped_unknown),
        ("missed_behind_building", m.behind_building),
        ("missed_behind_vehicle", m.behind_vehicle),
        ("missed_out_of_range", m.out_of_range),
        ("missed_ahead", m.ahead),
        ("missed_seen_by_nobody", m.seen_by_nobody),
    ] {
        row.integer(name, count);
    }
    row.traffic(o);
    row.number("age_s", o.age.value());
    row.integer("aware_known", o.aware[0]);
    row.integer("aware_all", o.aware[1]);
    row.number("redundancy_per_s", o.redundancy.value());
    row.integer("path_cells_seen", o.path_cells[0]);
    row.integer("path_cells_all", o.path_cells[1]);
    row.integer("vehicles", shared.vehicles);
    row.integer("participants", shared.participants);
    row.integer("tiles", shared.tiles);
    row.number("speed_m_per_s", shared.speed.value());
    row.scheduled(o);
    row.reception(o);
    row.field(o);
    row
}

/// Columns of the table of runs.
#[must_use]
pub fn run_columns() -> Vec<Column> {
    run(&SharedOutcome::default(), &Outcome::default()).columns
}

/// The row of one arm and seed.
#[must_use]
pub fn run_row(shared: &SharedOutcome, outcome: &Outcome) -> Vec<Cell> {
    run(shared, outcome).cells
}

/// Columns of the table of cycles.
#[must_use]
pub fn cycle_columns() -> Vec<Column> {
    let columns: [(&str, Kind); 16] = [
        ("arm", Kind::Text),
        ("seed", Kind::Integer),
        ("cycle", Kind::Integer),
        ("tile_x", Kind::Integer),
        ("tile_y", Kind::Integer),
        ("participants", Kind::Integer),
        ("host", Kind::Integer),
        ("epoch", Kind::Integer),
        ("contributors", Kind::Integer),
        ("price", Kind::Number),
        ("occupancy", Kind::Number),
        ("busy", Kind::Number),
        ("airtime_s", Kind::Number),
        ("binding", Kind::Text),
        ("relevant", Kind::Integer),
        ("missed", Kind::Integer),
    ];
    columns
        .into_iter()
        .map(|(name, kind)| Column::new(name, kind))
        .collect()
}

/// The row of one cycle. What only a host has is null where there is none.
#[must_use]
pub fn cycle_row(arm: &str, seed: u64, cycle: &CycleRow) -> Vec<Cell> {
    let hosted = |cell: Cell| {
        if cycle.host.is_some() {
            cell
        } else {
            Cell::Null
        }
    };
    vec![
        arm.into(),
        seed.into(),
        cycle.cycle.into(),
        cycle.tile[0].into(),
        cycle.tile[1].into(),
        cycle.participants.into(),
        cycle.host.into(),
        hosted(cycle.epoch.into()),
        hosted(cycle.contributors.into()),
        hosted(cycle.price.into()),
        cycle.load.into(),
        cycle.busy.into(),
        hosted(cycle.airtime_s.into()),
        cycle.binding.map(Binding::name).into(),
        cycle.deficit.relevant.into(),
        cycle.deficit.missed.into(),
    ]
}

#[cfg(test)]
mod tests {
    use covey_simulator::outcome::{DISTANCE_BINS, Deficit};

    use super::*;

    #[test]
    fn names_are_unique_and_rows_fit_them() {
        for columns in [run_columns(), cycle_columns()] {
            let mut names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), columns.len());
        }
        let row = run_row(&SharedOutcome::default(), &Outcome::default());
        assert_eq!(row.len(), run_columns().len());
    }

    #[test]
    fn delivery_is_told_by_distance() {
        let outcome = Outcome {
            reception: (0..DISTANCE_BINS as u64).map(|bin| [100, bin]).collect(),
            ..Outcome::default()
        };
        let columns = run_columns();
        let row = run_row(&SharedOutcome::default(), &outcome);
        let at = |name: &str| row[columns.iter().position(|c| c.name == name).unwrap()].clone();
        assert_eq!(at("sampled_pairs_0_100m"), Cell::Integer(400));
        assert_eq!(at("sampled_delivered_0_100m"), Cell::Integer(1 + 2 + 3));
        assert_eq!(
            at("sampled_delivered_400_500m"),
            Cell::Integer(16 + 17 + 18 + 19)
        );
    }

    #[test]
    fn a_tile_without_host_has_no_price() {
        let mut cycle = CycleRow {
            cycle: 3,
            tile: [1, -1],
            participants: 2,
            host: None,
            epoch: 0,
            contributors: 0,
            price: 0.0,
            load: 0.1,
            busy: 0.7,
            airtime_s: 0.0,
            binding: None,
            deficit: Deficit::default(),
        };
        let names: Vec<String> = cycle_columns().into_iter().map(|c| c.name).collect();
        let at = |name: &str| names.iter().position(|n| n == name).unwrap();
        let row = cycle_row("cam-only", 1, &cycle);
        assert_eq!(row.len(), names.len());
        assert_eq!(row[at("price")], Cell::Null);
        assert_eq!(row[at("occupancy")], Cell::Number(0.1));
        cycle.host = Some(7);
        cycle.binding = Some(Binding::Allowance);
        let row = cycle_row("proposed@0.4", 1, &cycle);
        assert_eq!(row[at("price")], Cell::Number(0.0));
        assert_eq!(row[at("binding")], Cell::Text("allowance".to_string()));
    }
}
