//! Which keys the road of a seed depends on, and which only what arms do there: worlds that differ in the latter alone can be run
//! over one road.

use std::fmt::Write as _;

use serde_json::Value;

use super::Scenario;

/// What a key of a scenario decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Who is on the road and where, who sees whom, who can hear whom, and when steps, looks and cycles are.
    Road,
    /// What participants do, what becomes of their messages, and how it is judged.
    Arms,
}

use Side::{Arms, Road};

/// Every key or section of keys, and what it decides. Sections stand here as a whole only where a new key of theirs could not
/// belong elsewhere.
const SIDES: &[(&str, Side)] = &[
    ("name", Arms),
    ("corridor_km", Arms),
    ("calibrated", Arms),
    ("map", Road),
    ("source", Road),
    ("unequipped", Road),
    ("grid", Road),
    ("traffic", Road),
    ("sensing", Road),
    ("errors", Road),
    ("classes", Road),
    ("types", Road),
    ("stations", Road),
    ("penetration", Road),
    ("conduct", Arms),
    ("demand", Arms),
    ("senders", Arms),
    ("rivals", Arms),
    ("sizes", Arms),
    // What is relevant is found for each world apart.
    ("evaluation", Arms),
    ("protocol.cell_m", Road),
    ("protocol.tile_m", Road),
    ("protocol.cycle_s", Road),
    ("protocol.decision_phase_s", Road),
    ("protocol.beacon_s", Road),
    // It says from when on everybody looks, and for how long ghosts are remembered.
    ("protocol.soft_state_s", Road),
    ("protocol.footprint_m", Arms),
    ("protocol.candidates_in_tile_only", Arms),
    ("protocol.beacons", Arms),
    ("protocol.beacon_maker", Arms),
    ("protocol.beacon_road", Arms),
    ("protocol.security", Arms),
    ("protocol.slot_s", Arms),
    ("protocol.t_max_s", Arms),
    ("protocol.kappa_per_s", Arms),
    ("protocol.eta_add", Arms),
    ("protocol.eta_rem", Arms),
    ("protocol.n_max", Arms),
    ("protocol.allowance", Arms),
    ("protocol.target", Arms),
    ("protocol.price_step", Arms),
    ("protocol.rate_bytes_per_s", Arms),
    ("protocol.capacity_bytes_per_s", Arms),
    ("protocol.airtime_unit_s", Arms),
    ("protocol.novelty", Arms),
    ("protocol.risk", Arms),
    ("protocol.timeliness", Arms),
    ("protocol.refresh_s", Arms),
    ("protocol.lease_s", Arms),
    ("protocol.changed_m", Arms),
    ("protocol.changed_m_per_s", Arms),
    ("protocol.silence_refreshes", Arms),
    ("protocol.broadcast_content", Arms),
    ("protocol.broadcast_counts", Arms),
    ("protocol.report_content", Arms),
    ("protocol.empty_reports", Arms),
    ("protocol.digest_every", Arms),
    ("protocol.report_window", Arms),
    ("protocol.beacon_window", Arms),
    ("protocol.reaction_s", Arms),
    ("protocol.braking_m_per_s2", Arms),
    ("protocol.message_bytes", Arms),
    ("protocol.sensor_bytes", Arms),
    ("protocol.object_bytes", Arms),
    ("protocol.withdrawn_bytes", Arms),
    ("protocol.contributor_bytes", Arms),
    ("protocol.requested_bytes", Arms),
    ("protocol.handover", Arms),
    ("protocol.guard", Arms),
    ("channel.carrier_ghz", Road),
    ("channel.tx_power_dbm", Road),
    ("channel.antenna_gain_dbi", Road),
    ("channel.noise_figure_db", Road),
    ("channel.noise_density_dbm_per_hz", Road),
    ("channel.resource_blocks", Road),
    ("channel.sensitivity_dbm", Road),
    ("channel.min_distance_m", Road),
    ("channel.range_los_m", Road),
    ("channel.range_nlosv_m", Road),
    ("channel.range_nlos_m", Road),
    ("channel.shadowing_los_db", Road),
    ("channel.shadowing_nlosv_db", Road),
    ("channel.shadowing_nlos_db", Road),
    ("channel.decorrelation_los_m", Road),
    ("channel.decorrelation_nlos_m", Road),
    ("channel.blockage_partial_mean_db", Road),
    ("channel.blockage_partial_std_db", Road),
    ("channel.blockage_full_mean_db", Road),
    ("channel.blockage_full_std_db", Road),
    ("channel.block_error", Road),
    ("channel.block_error_nlos", Road),
    // Powers of pairs are found where slots are simulated.
    ("channel.model", Road),
    ("channel.collision", Arms),
    ("channel.busy_ratio", Arms),
    ("channel.subframes_per_s", Arms),
    ("channel.capacity_bytes_per_s", Arms),
    ("channel.hard_cap", Arms),
    ("channel.sidelink", Arms),
];

/// What a key decides; none of a key that stands on no side.
fn side(key: &str) -> Option<Side> {
    let covers = |whole: &str| {
        let rest = key.strip_prefix(whole);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found = SIDES.iter().find(|(whole, _)| covers(whole));
    found.map(|&(_, side)| side)
}

/// Every key on the road's side with its value, a line each.
fn flatten(key: &str, value: &Value, lines: &mut String) {
    match value {
        Value::Object(parts) if !key.is_empty() || !parts.is_empty() => {
            for (name, part) in parts {
                let full = match key {
                    "" => name.clone(),
                    key => format!("{key}.{name}"),
                };
                flatten(&full, part, lines);
            }
        }
        // What is on no side counts.
        value if side(key) != Some(Arms) => {
            // Writing into text cannot fail.
            let _ = writeln!(lines, "{key} = {value}");
        }
        _ => {}
    }
}

impl Scenario {
    /// All that the road of a seed depends on, in force: where two scenarios say the same here, traffic, places, sight and links of
    /// a seed are the same, whatever the arms.
    #[must_use]
    pub fn road(&self) -> String {
        let mut lines = String::new();
        // Parameters are numbers, names and lists of them: all can be written.
        let readings = serde_json::to_value(self.readings()).unwrap_or_default();
        flatten("", &readings, &mut lines);
        let _ = writeln!(lines, "unequipped = {:?}", self.unequipped);
        let _ = writeln!(lines, "folder = {:?}", self.folder);
        let _ = writeln!(lines, "map = {:?}", self.map);
        let _ = writeln!(lines, "source = {:?}", self.source);
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::keys;

    #[test]
    fn every_key_is_on_one_side() {
        for key in keys() {
            assert!(
                side(&key.name).is_some(),
                "{}: does the road of a seed depend on it? Say so in SIDES",
                key.name
            );
        }
        for (at, (key, _)) in SIDES.iter().enumerate() {
            let others = SIDES[..at].iter().chain(&SIDES[at + 1..]);
            let within = |other: &str| key.starts_with(&format!("{other}."));
            assert!(
                others
                    .into_iter()
                    .all(|(other, _)| other != key && !within(other)),
                "{key} twice"
            );
        }
    }

    #[test]
    fn every_key_of_the_road_tells_roads_apart() {
        let road = |text: &str| {
            let text = format!("map.net = \"a\"\n{text}\n");
            Scenario::parse("x.toml", &text).unwrap().road()
        };
        let plain = road("");
        for line in [
            "penetration = 0.3",
            "traffic.main_density = 3.0",
            "sensing.missed = 0.1",
            "sensing.range_m = 90.0",
            "errors.position_error_m = 1.0",
            "protocol.tile_m = 400.0",
            "protocol.soft_state_s = 2.2",
            "channel.model = \"sps\"",
            "channel.tx_power_dbm = 20.0",
            "unequipped = [1]",
            "classes.heavy.radio = 0.5",
            "grid.azimuth_deg = 2.0",
            "[[stations]]\nx_m = 1.0\ny_m = 2.0",
            "[[types]]\nname = \"a*\"\nradio = 0.5",
        ] {
            assert_ne!(road(line), plain, "{line}");
        }
        for line in [
            "sizes = \"uper\"",
            "conduct.misbehaving = 0.2",
            "demand.buildings = false",
            "protocol.target = 0.5",
            "protocol.capacity_bytes_per_s = 5e5",
            "protocol.beacons = \"triggered\"",
            "channel.collision = \"s2-20dbm\"",
            "channel.sidelink.pool = \"europe\"",
            "evaluation.margin_m = 3.0",
            "senders.phase = \"common\"",
            "calibrated = { margin_m = 3.0, seeds = [1001], beacon_occupancy = 0.5, cam_only_deficit = 0.05, hysteresis_by_rule = 0.1 }",
        ] {
            assert_eq!(road(line), plain, "{line}");
        }
    }
}
