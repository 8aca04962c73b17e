//! Random snapshots that make decisions interesting.
//!
//! Few cells, so that views overlap; numbers from short lists of special values as often as from a range; bounds chosen
//! around what the set as given takes; agents that are copies of each other. A third of the snapshots has only numbers
//! with few binary digits, so that all arithmetic is exact and every tie and every threshold must be decided as written.

use covey_draws::SplitMix;
use serde_json::{Map, Value, json};

/// One seed, one snapshot.
#[derive(Debug)]
pub(crate) struct Random(SplitMix);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut stream = SplitMix::new(seed);
        stream.bits();
        Self(stream)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.bits()
    }

    /// A whole number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number in 0..1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Whether something with this chance happens.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Numbers for one snapshot.
struct Draw {
    random: Random,
    /// Only numbers with few binary digits.
    exact: bool,
}

impl Draw {
    /// A fraction or confidence in 0..=1.
    fn fraction(&mut self) -> f64 {
        match self.random.below(6) {
            0 => 0.0,
            1 => 1.0,
            _ if self.exact => self.random.below(9) as f64 / 8.0,
            2 => self.random.unit() * 1e-4,
            _ => self.random.unit(),
        }
    }

    /// A number in 0..=most.
    fn upto(&mut self, most: f64) -> f64 {
        if self.exact {
            self.random.below(17) as f64 / 16.0 * most
        } else {
            self.random.unit() * most
        }
    }

    fn bytes(&mut self) -> Value {
        if self.exact {
            return json!(64 * self.random.below(20));
        }
        match self.random.below(40) {
            0..4 => json!(0),
            4..8 => json!(self.random.unit() * 1000.0),
            8 => json!(100_000 + self.random.below(900_000)),
            _ => json!(self.random.below(1200)),
        }
    }

    fn confidences(&mut self, cells: &[(i32, i32)]) -> Value {
        let keep = self.random.unit();
        let mut rows = Vec::new();
        for &(ix, iy) in cells {
            if self.random.chance(keep) {
                rows.push(json!([ix, iy, self.fraction()]));
            }
        }
        self.random.shuffle(&mut rows);
        json!(rows)
    }

    /// Some of the cells in any order, some of them more than once.
    fn cells(&mut self, cells: &[(i32, i32)]) -> Value {
        let count = self.random.below(cells.len().min(14) + 1);
        let rows: Vec<Value> = (0..count)
            .map(|_| {
                let (ix, iy) = self.random.pick(cells);
                json!([ix, iy])
            })
            .collect();
        json!(rows)
    }
}

/// The snapshot of this seed, as JSON text.
#[expect(
    clippy::too_many_lines,
    reason = "every field is drawn once, in the order of the file"
)]
pub(crate) fn snapshot(seed: u64) -> String {
    let mut draw = Draw {
        random: Random::new(seed),
        exact: seed.is_multiple_of(3),
    };
    let cells = window(&mut draw.random);
    let cycle_s = if draw.exact {
        draw.random.pick(&[0.125, 0.25, 1.0])
    } else {
        draw.random.pick(&[0.2, 0.2, 0.1, 0.05, 1.0, 0.37])
    };
    let rate = if draw.exact {
        draw.random.pick(&[1024.0, 65536.0, 524_288.0])
    } else {
        draw.random.pick(&[650_000.0, 650_000.0, 10_000.0, 3333.0])
    };
    let capacity = if draw.exact {
        draw.random.pick(&[1024.0, 65536.0, 262_144.0])
    } else {
        draw.random.pick(&[242_000.0, 242_000.0, 50_000.0, 7777.0])
    };
    let base = if draw.exact {
        draw.random.pick(&[0.0, 256.0, 2048.0])
    } else {
        draw.random.pick(&[0.0, 121.0, 2400.0, 2400.0, 5500.5])
    };

    let mut ids: Vec<u64> = (0..60).collect();
    ids.extend([1000, u64::from(u32::MAX), 1 << 40, (1 << 53) - 1]);
    draw.random.shuffle(&mut ids);
    let mut ids = ids.into_iter();
    let mut next_id = || ids.next().expect("enough ids");

    let host = next_id();
    let own = draw.cells(&cells);
    let mut agents = vec![json!({"id": host, "role": "host", "cells": own})];
    let contributors = draw.random.below(13);
    let most = draw.random.pick(&[0, 3, 10, 30]);
    let candidates = draw.random.below(most + 1);
    for nth in 0..contributors + candidates {
        let contributes = nth < contributors;
        let mut agent = agent(&mut draw, &cells, contributes);
        // A copy of an earlier agent of the same role, its cells in another order.
        let from = if contributes { 1 } else { contributors + 1 };
        if agents.len() > from && draw.random.chance(0.3) {
            let like = draw.random.below(agents.len() - from) + from;
            agent = agents[like].as_object().expect("an agent").clone();
            if let Some(Value::Array(rows)) = agent.get_mut("cells") {
                draw.random.shuffle(rows);
                if !rows.is_empty() && draw.random.chance(0.5) {
                    rows.push(rows[0].clone());
                }
            }
        }
        agent.insert("id".into(), json!(next_id()));
        agents.push(agent.into());
    }

    // What the set as given takes, to put the bounds around it.
    let taken = base
        + agents[1..=contributors]
            .iter()
            .map(|m| m["report_bytes"].as_f64().unwrap() + m["broadcast_bytes"].as_f64().unwrap())
            .sum::<f64>();
    draw.random.shuffle(&mut agents);
    let mut bound = |taken: f64| {
        if draw.exact {
            return taken
                * draw
                    .random
                    .pick(&[0.0, 0.5, 1.0, 1.25, 2.0, 64.0, 64.0, 64.0, 64.0]);
        }
        match draw.random.below(8) {
            0 => taken * draw.random.unit() * 1.5,
            1 => taken * (1.0 + draw.random.unit() * 0.2) + 1e-4,
            2 => draw.random.pick(&[0.0, 0.2, 1.0]),
            _ => taken * 3.0 + 100.0,
        }
    };
    let allowance = bound(taken / (capacity * cycle_s));
    let t_max_s = bound(taken / rate);

    let (eta_add, eta_rem) = draw.random.pick(&[
        (0.25, -0.25),
        (0.25, -0.25),
        (0.0, 0.0),
        (1.0, 1.0),
        (1.0, 1.0),
        (0.5, 0.25),
        (0.3, 0.2),
        (-1.0, -2.0),
        (3.0, 2.0),
    ]);
    let kappa = if draw.exact {
        0.0
    } else {
        draw.random.pick(&[0.0, 2.0, 2.0, 2.0, 0.1, 50.0, 1e6])
    };
    let price = if draw.exact {
        draw.random.pick(&[0.0, 0.0, 0.25, 1.0, 8.0])
    } else {
        let drawn = draw.random.unit() * 3.0;
        draw.random.pick(&[0.0, 0.0, 0.7, drawn, 11.0, 1e4])
    };
    let unit = if draw.exact {
        draw.random.pick(&[1.0, 0.125])
    } else {
        draw.random.pick(&[0.001, 0.001, 0.01, 1.0])
    };
    let delivery = if draw.exact {
        draw.random.pick(&[0.0, 0.5, 0.5, 1.0, 1.0])
    } else {
        let drawn = draw.random.unit();
        draw.random
            .pick(&[0.0, 1.0, 0.95, 0.95, 0.95, drawn, drawn, 1e-6])
    };
    let mut parameters = json!({
        "cycle_s": cycle_s, "t_max_s": t_max_s, "kappa_per_s": kappa, "eta_add": eta_add, "eta_rem": eta_rem,
        "n_max": draw.random.pick(&[0, 1, 1, 2, 3, 4, 6]), "allowance": allowance, "rate_bytes_per_s": rate,
        "capacity_bytes_per_s": capacity, "airtime_unit_s": unit, "broadcast_base_bytes": base,
        "broadcast_delivery": delivery,
    });
    let mask = draw.random.below(10);
    // 8 and 9: not given, which means all of them.
    if mask < 8 {
        let mut factors: Vec<&str> = ["novelty", "risk", "timeliness"]
            .into_iter()
            .enumerate()
            .filter(|(bit, _)| mask >> bit & 1 == 1)
            .map(|(_, name)| name)
            .collect();
        draw.random.shuffle(&mut factors);
        parameters["factors"] = json!(factors);
    }
    let risk = risk(&mut draw, &cells, cycle_s, taken / rate);
    let prior = draw.confidences(&cells);
    let mut overheard = draw.cells(&cells);
    if draw.random.chance(0.5) {
        overheard = json!([]);
    }
    json!({
        "schema": "covey.snapshot/1", "parameters": parameters, "price": price, "host": host,
        "prior": prior, "overheard": overheard, "risk": risk, "agents": agents,
    })
    .to_string()
}

/// The cells that anything can happen in: a small block somewhere, sometimes with cells far away.
fn window(random: &mut Random) -> Vec<(i32, i32)> {
    let side = 1 + random.below(6) as i32;
    let corner =
        |random: &mut Random| random.pick(&[0, 0, -3, 1000, -70_000, i32::MIN, i32::MAX - 5]);
    let (left, low) = (corner(random), corner(random));
    let mut cells: Vec<(i32, i32)> = (0..side)
        .flat_map(|dy| (0..side).map(move |dx| (left + dx, low + dy)))
        .collect();
    if random.chance(0.2) {
        cells.extend([
            (i32::MIN, i32::MIN),
            (i32::MAX, i32::MAX),
            (i32::MIN, i32::MAX),
            (0, i32::MAX),
        ]);
        cells.sort_unstable();
        cells.dedup();
    }
    cells
}

fn agent(draw: &mut Draw, cells: &[(i32, i32)], contributes: bool) -> Map<String, Value> {
    let mut agent = Map::new();
    let role = if contributes {
        "contributor"
    } else {
        "candidate"
    };
    agent.insert("role".into(), json!(role));
    agent.insert("cells".into(), draw.cells(cells));
    agent.insert("decoded_fraction".into(), json!(draw.fraction()));
    agent.insert("report_bytes".into(), draw.bytes());
    agent.insert("broadcast_bytes".into(), draw.bytes());
    if contributes {
        agent.insert("decoded".into(), json!(draw.random.chance(0.3)));
        if draw.random.chance(0.5) {
            agent.insert("prior_without".into(), draw.confidences(cells));
        }
    }
    agent
}

/// Risk on some cells: no deadline, exact multiples of the cycle with and without the set's airtime, far ones.
fn risk(draw: &mut Draw, cells: &[(i32, i32)], cycle_s: f64, seconds: f64) -> Value {
    let keep = draw.random.pick(&[0.0, 0.7, 0.9, 1.0]);
    let mut rows = Vec::new();
    for &(ix, iy) in cells {
        if !draw.random.chance(keep) {
            continue;
        }
        let most = draw.random.pick(&[1.0, 4.0]);
        let rho = match draw.random.below(5) {
            0 => 0.0,
            1 => draw.random.below(6) as f64,
            _ => draw.upto(most),
        };
        let cycles = draw.random.below(6) as f64;
        let deadline = match draw.random.below(7) {
            0 => 0.0,
            1 => cycles * cycle_s,
            2 => cycles * cycle_s + seconds,
            3 if !draw.exact => draw.random.pick(&[1e3, 1e6, 1e12]),
            _ => draw.upto(1.0),
        };
        rows.push(json!([ix, iy, rho, deadline]));
    }
    draw.random.shuffle(&mut rows);
    json!(rows)
}
