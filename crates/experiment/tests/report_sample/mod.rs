//! A made-up result to draw: the letter's own figures where it prints them, plausible ones elsewhere, with noise by seed.
//! Nothing here was measured.

use covey_draws::SplitMix;
use covey_simulator::outcome::{Deficit, Misses};
use covey_simulator::{CycleRow, Outcome, Timing};
use serde_json::{Map, Value, json};

/// Arm, deficit, load, price, contributors.
const ARMS: [(&str, f64, f64, f64, f64); 16] = [
    ("cam-only", 0.058, 0.0, 0.0, 0.0),
    ("cpm-etsi", 0.039, 1.35, 0.0, 0.0),
    ("cpm-rmr", 0.056, 0.30, 0.0, 0.0),
    ("random@0.2", 0.066, 0.19, 0.0, 4.1),
    ("random@0.4", 0.046, 0.29, 0.0, 8.6),
    ("random@0.8", 0.0156, 0.41, 0.0, 17.9),
    ("random-redraw@0.2", 0.052, 0.19, 0.0, 4.0),
    ("random-redraw@0.4", 0.0325, 0.285, 0.0, 8.5),
    ("random-redraw@0.8", 0.0135, 0.415, 0.0, 17.6),
    ("coverage-only@0.4", 0.044, 0.29, 0.31, 6.1),
    ("conditional@0.4", 0.0373, 0.28, 0.26, 7.2),
    ("conditional-risk@0.4", 0.0334, 0.27, 0.22, 7.7),
    ("proposed@0.2", 0.049, 0.19, 0.007, 4.2),
    ("proposed@0.4", 0.031, 0.26, 0.21, 7.9),
    ("proposed@0.8", 0.014, 0.29, 8.0, 10.4),
    ("oracle", 0.0093, 0.0, 0.0, 0.0),
];

/// Noise in -1..1 of an address.
fn noise(address: u64) -> f64 {
    let x = SplitMix::new(0).nth(address.wrapping_sub(1));
    (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn summed(deviations: &[f64]) -> (f64, f64) {
    let count = deviations.len() as f64;
    let mean = deviations.iter().sum::<f64>() / count;
    let variance =
        deviations.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, 1.96 * (variance / count).sqrt())
}

fn interval(values: &[f64]) -> Value {
    let (mean, half) = summed(values);
    json!({"mean": mean, "lo": mean - half, "hi": mean + half})
}

/// Deficit and load of an arm on a seed: a part that the arms of a seed share, and a part of their own.
fn on_seed(arm: usize, seed: u64) -> (f64, f64) {
    let (_, deficit, load, _, _) = ARMS[arm];
    let own = seed * 100 + arm as u64;
    let deficit = deficit * (1.0 + 0.12 * noise(seed) + 0.07 * noise(own + 5_000));
    let load = load * (1.0 + 0.03 * noise(seed + 900) + 0.015 * noise(own + 9_000));
    (deficit, load)
}

/// The text of a summary of `count` seeds.
pub(crate) fn summary(count: u64) -> String {
    let seeds: Vec<u64> = (1001..1001 + count).collect();
    let relevant = 400_000.0;
    let mut arms = Map::new();
    for (i, (name, _, _, price, contributors)) in ARMS.iter().enumerate() {
        let rows: Vec<(u64, f64, f64)> = seeds
            .iter()
            .map(|&seed| {
                let (deficit, load) = on_seed(i, seed);
                (seed, (deficit * relevant).round() / relevant, load)
            })
            .collect();
        let deficits: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let loads: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let hosted = name.contains('@');
        let load = summed(&loads).0;
        let digest = if hosted { 0.102 } else { 0.0 };
        let broadcast = if hosted { 0.4 * (load - digest) } else { 0.0 };
        let per_seed: Vec<Value> = rows
            .iter()
            .map(|(seed, deficit, load)| {
                json!({"seed": seed, "deficit": deficit, "load": load, "relevant": relevant as u64, "missed": (deficit * relevant).round() as u64})
            })
            .collect();
        arms.insert(
            (*name).to_string(),
            json!({
                "deficit": interval(&deficits), "load": interval(&loads),
                "load_parts": {"digest": digest, "reports": load - digest - broadcast, "broadcast": broadcast},
                "load_by_tile": {"mean": 0.8 * load}, "beacon_occupancy": {"mean": 0.627, "lo": 0.621, "hi": 0.634},
                "deficit_all": {"mean": summed(&deficits).0 * 1.6}, "price": {"mean": price}, "contributors": {"mean": contributors},
                "digest_bytes": {"mean": if hosted { 19.2 } else { 0.0 }}, "per_seed": per_seed
            }),
        );
    }
    json!({
        "schema": "covey.summary/1", "revision": "0123abcd (made up)", "seeds": seeds, "warmup_s": 40.0, "measure_s": 40.0,
        "traffic": "builtin",
        "readings": {
            "penetration": 0.8, "sizes": "tr103562",
            "evaluation": {"horizon_s": 4.0, "margin_m": 7.0, "relevance": "reach", "relative_speed": "difference"},
            "sensing": {"range_m": 150.0, "cell": "centre", "object": "centre"},
            "channel": {"tx_power_dbm": 23.0, "range_los_m": 500.0, "collision": "s2-23dbm"},
            "protocol": {"cell_m": 20.0, "tile_m": 500.0, "cycle_s": 0.2, "kappa_per_s": 2.0, "eta_add": 0.25, "eta_rem": -0.25,
                "n_max": 1, "target": 0.3, "price_step": 0.5, "rate_bytes_per_s": 650_000.0, "footprint_m": 300.0,
                "airtime_unit_s": 0.001, "silence_refreshes": true, "digest_every": 1},
            "traffic": {"main_density": 43.08, "side_density": 12.0}
        },
        "scenario": {"name": "tamagawa", "vehicles": 1168.4, "participants": 934.9, "tiles": 11.0, "corridor_km": 3.7,
            "speed_m_per_s": 4.21, "capacity_bytes_per_s": 242_000.0,
            "files": {"tamagawa.net.xml.gz": "5f0f6b2d6cf1e1a1c1b7e0a55d8c71f0f2a8a6f9f3f0f4b6a1d2c3e4f5061728"}},
        "arms": arms, "paired": paired(&seeds),
        "letter": {
            "cam-only": {"deficit": 0.058, "load": 0.0}, "cpm-etsi": {"deficit": 0.039, "load": 1.35},
            "cpm-rmr": {"deficit": 0.056, "load": 0.30}, "random@0.2": {"deficit": 0.066, "load": 0.19},
            "random@0.4": {"deficit": 0.046, "load": null}, "random@0.8": {"deficit": null, "load": null},
            "proposed@0.2": {"deficit": 0.049, "load": 0.19}, "proposed@0.4": {"deficit": 0.031, "load": 0.26},
            "proposed@0.8": {"deficit": 0.014, "load": 0.29}, "coverage-only@0.4": {"deficit": 0.044, "load": null}
        },
        "timing": {"wall_s": 214.3, "cpu_s": 411.9, "phases": {}}, "peak_rss_bytes": 412_000_000u64
    })
    .to_string()
}

fn paired(seeds: &[u64]) -> Value {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for b in ["0.2", "0.4", "0.8"] {
        for rival in ["random", "random-redraw"] {
            pairs.push((format!("proposed@{b}"), format!("{rival}@{b}")));
        }
    }
    pairs.push(("proposed@0.8".to_string(), "cpm-rmr".to_string()));
    let rungs = [
        "random@0.4",
        "coverage-only@0.4",
        "conditional@0.4",
        "conditional-risk@0.4",
        "proposed@0.4",
    ];
    for rung in rungs.windows(2) {
        pairs.push((rung[1].to_string(), rung[0].to_string()));
    }
    let index = |name: &str| {
        ARMS.iter()
            .position(|arm| arm.0 == name)
            .unwrap_or_default()
    };
    let rows: Vec<Value> = pairs
        .iter()
        .map(|(better, worse)| {
            let of = |seed: u64| (on_seed(index(better), seed).0, on_seed(index(worse), seed).0);
            let points: Vec<f64> = seeds.iter().map(|&seed| 100.0 * (of(seed).1 - of(seed).0)).collect();
            let relative: Vec<f64> = seeds.iter().map(|&seed| 1.0 - of(seed).0 / of(seed).1).collect();
            json!({"better": better, "worse": worse, "deficit_reduction_pp": interval(&points), "deficit_reduction_rel": interval(&relative)})
        })
        .collect();
    Value::Array(rows)
}

/// Runs of all arms on `count` seeds: outcome and cycles.
pub(crate) fn runs(count: u64) -> Vec<(Outcome, Vec<CycleRow>)> {
    let mut runs = Vec::new();
    for seed in 1001..1001 + count {
        for (i, &(name, _, load, price, contributors)) in ARMS.iter().enumerate() {
            let (deficit, _) = on_seed(i, seed);
            let relevant = 400_000;
            let missed = (deficit * relevant as f64) as u64;
            let part = |share: f64| (share * missed as f64) as u64;
            let stale = 0.35 - 0.2 * deficit / 0.066;
            let misses = Misses {
                equipped_stale: part(stale),
                equipped_unknown: part(0.05),
                unequipped_stale: part(0.2),
                unequipped_unknown: missed - part(stale) - part(0.05) - part(0.2),
                behind_building: part(0.48),
                behind_vehicle: part(0.41),
                out_of_range: part(0.08),
                ahead: part(0.6),
                seen_by_nobody: (0.0093 * relevant as f64).min(missed as f64) as u64,
            };
            let hosted = name.contains('@');
            let mut cycles = Vec::new();
            if hosted {
                for cycle in 0..400u32 {
                    let rise = 1.0 - (-f64::from(cycle) / 60.0).exp();
                    let wave = 1.0 + 0.08 * noise(seed * 7_000 + u64::from(cycle) + i as u64 * 77);
                    cycles.push(CycleRow {
                        cycle,
                        tile: [0, 0],
                        participants: 80,
                        host: Some(17),
                        epoch: cycle,
                        contributors: (contributors * rise * wave).round() as u32,
                        price: price * rise * wave,
                        load: load * wave * (0.6 + 0.4 * rise),
                        busy: 0.64 + load * wave,
                        airtime_s: 0.03,
                        binding: None,
                        deficit: Deficit::default(),
                    });
                }
            }
            let cured = if hosted {
                (0..150u64)
                    .map(|k| {
                        let score = (2.2
                            * (noise(seed * 31 + k + 70_000 * i as u64) + 0.1 * (i % 3) as f64)
                            + 0.4)
                            .exp();
                        let luck = 1.0 + noise(seed * 57 + k + 40_000 * (i as u64 + 1));
                        [
                            score.max(0.25),
                            (0.16 * score.sqrt() * luck * 4.0).floor() / 4.0,
                        ]
                    })
                    .collect()
            } else {
                Vec::new()
            };
            let outcome = Outcome {
                arm: name.to_string(),
                seed,
                deficit: Deficit { relevant, missed },
                misses,
                cured,
                ..Outcome::default()
            };
            runs.push((outcome, cycles));
        }
    }
    runs
}

/// Time of one seed.
pub(crate) fn timing() -> Timing {
    Timing {
        traffic_s: 0.9,
        sight_s: 6.4,
        links_s: 3.1,
        paths_s: 1.7,
        beacons_s: 6.2,
        arms_s: 4.9,
        metric_s: 0.8,
    }
}
