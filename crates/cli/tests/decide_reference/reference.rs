//! One host decision, a second time.
//!
//! A literal reading of the five points of the decision (map, airtime, timely delivery, value, score and order), written
//! from their text alone: scalar, from maps and sets, nothing kept between two questions, no code shared with the
//! protocol crate. It is slow and has no error messages; it exists to be compared with.
//!
//! Beside the decision it says whether the decision hangs on rounding ([`Decision::hangs`]): a comparison that decided
//! something had both sides within 1e-9 of each other and was not exact. Agents that are alike in everything that their
//! scores read are never excused: whatever the arithmetic, they must tie, and the lower id goes first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::exact::Number;

/// `(iy, ix)`, so that the order of cells is that of the output.
type Cell = (i32, i32);

/// How close two sides of a comparison are when rounding may decide it.
const CLOSE: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq)]
struct Agent {
    cells: BTreeSet<Cell>,
    /// Report and broadcast together; 0 for the host.
    bytes: f64,
    decoded: bool,
    decoded_fraction: f64,
    prior_without: Option<BTreeMap<Cell, f64>>,
}

/// A snapshot, and the contributors at this point of the decision.
#[derive(Debug, Clone)]
struct Host {
    cycle_s: f64,
    t_max_s: f64,
    kappa_per_s: f64,
    eta_add: f64,
    eta_rem: f64,
    n_max: u64,
    allowance: f64,
    rate: f64,
    capacity: f64,
    airtime_unit_s: f64,
    broadcast_base: f64,
    broadcast_delivery: f64,
    novelty: bool,
    risk_counts: bool,
    timeliness: bool,
    price: f64,
    prior: BTreeMap<Cell, f64>,
    overheard: BTreeSet<Cell>,
    risk: BTreeMap<Cell, (f64, f64)>,
    own_cells: BTreeSet<Cell>,
    contributors: BTreeMap<u64, Agent>,
    candidates: BTreeMap<u64, Agent>,
}

/// What one agent is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worth {
    pub(crate) value: Number,
    pub(crate) airtime: Number,
    pub(crate) score: Number,
    /// The size of the numbers that the score was computed from.
    pub(crate) scale: f64,
}

/// The decision, to be compared.
#[derive(Debug)]
pub(crate) struct Decision {
    pub(crate) map: BTreeMap<Cell, Number>,
    pub(crate) seconds: f64,
    pub(crate) fraction: f64,
    pub(crate) scores: BTreeMap<u64, (&'static str, Worth)>,
    pub(crate) changes: Vec<(&'static str, u64, &'static str)>,
    /// Rounding decides: another order of the same sums may give other changes.
    pub(crate) hangs: bool,
}

/// Decides from a snapshot that is known to be valid.
pub(crate) fn decide(snapshot: &Value) -> Decision {
    let mut host = Host::read(snapshot);
    let map = host.map();
    let seconds = host.seconds().value;
    let fraction = host.fraction().value;
    let mut scores = BTreeMap::new();
    for &id in host.contributors.keys() {
        scores.insert(id, ("contributor", host.contributor(id)));
    }
    for &id in host.candidates.keys() {
        scores.insert(id, ("candidate", host.candidate(id)));
    }
    let mut changes = Vec::new();
    let mut hangs = false;
    host.shed(&mut changes, &mut hangs);
    if changes.is_empty() {
        host.admit(&mut changes, &mut hangs);
        host.remove(&mut changes, &mut hangs);
    }
    Decision {
        map,
        seconds,
        fraction,
        scores,
        changes,
        hangs,
    }
}

impl Host {
    fn read(snapshot: &Value) -> Self {
        let parameters = &snapshot["parameters"];
        let parameter = |name: &str| number(&parameters[name]);
        let factor = |name: &str| match &parameters["factors"] {
            Value::Null => true,
            named => list(named).iter().any(|factor| factor == name),
        };
        let mut host = Self {
            cycle_s: parameter("cycle_s"),
            t_max_s: parameter("t_max_s"),
            kappa_per_s: parameter("kappa_per_s"),
            eta_add: parameter("eta_add"),
            eta_rem: parameter("eta_rem"),
            n_max: parameters["n_max"].as_u64().expect("n_max"),
            allowance: parameter("allowance"),
            rate: parameter("rate_bytes_per_s"),
            capacity: parameter("capacity_bytes_per_s"),
            airtime_unit_s: parameter("airtime_unit_s"),
            broadcast_base: parameter("broadcast_base_bytes"),
            broadcast_delivery: parameter("broadcast_delivery"),
            novelty: factor("novelty"),
            risk_counts: factor("risk"),
            timeliness: factor("timeliness"),
            price: number(&snapshot["price"]),
            prior: confidences(&snapshot["prior"]),
            overheard: cells(&snapshot["overheard"]),
            risk: list(&snapshot["risk"])
                .iter()
                .map(|row| (cell(row), (number(&row[2]), number(&row[3]))))
                .collect(),
            own_cells: BTreeSet::new(),
            contributors: BTreeMap::new(),
            candidates: BTreeMap::new(),
        };
        for row in list(&snapshot["agents"]) {
            let id = row["id"].as_u64().expect("id");
            if row["role"] == "host" {
                host.own_cells = cells(&row["cells"]);
                continue;
            }
            let agent = Agent {
                cells: cells(&row["cells"]),
                bytes: number(&row["report_bytes"]) + number(&row["broadcast_bytes"]),
                decoded: row["decoded"] == true,
                decoded_fraction: number(&row["decoded_fraction"]),
                prior_without: match &row["prior_without"] {
                    Value::Null => None,
                    rows => Some(confidences(rows)),
                },
            };
            if row["role"] == "contributor" {
                host.contributors.insert(id, agent);
            } else {
                host.candidates.insert(id, agent);
            }
        }
        host
    }

    // 1. Map.

    /// What of a cell the twin lacks: (1 - aged prior) times (1 - c) of every source but `without`.
    fn missing(&self, prior: &BTreeMap<Cell, f64>, without: Option<u64>, cell: Cell) -> Number {
        let one = Number::given(1.0);
        let age = self.kappa_per_s * self.cycle_s;
        let ageing = (-age).exp();
        let ageing = Number {
            value: ageing,
            // Nothing is left of the prior where the exponential underflows, whoever computes it.
            exact: age == 0.0 || ageing == 0.0,
        };
        let aged = ageing * Number::given(prior.get(&cell).copied().unwrap_or(0.0));
        let mut factors = vec![one - aged];
        for (&id, contributor) in &self.contributors {
            if Some(id) != without && contributor.cells.contains(&cell) {
                let c = if contributor.decoded {
                    1.0
                } else {
                    contributor.decoded_fraction
                };
                factors.push(one - Number::given(c));
            }
        }
        if self.own_cells.contains(&cell) || self.overheard.contains(&cell) {
            factors.push(Number::given(0.0));
        }
        // In order of size, so that it does not matter which of two like contributors is left out.
        factors.sort_by(|a, b| a.value.total_cmp(&b.value));
        factors.into_iter().fold(one, |product, f| product * f)
    }

    fn map(&self) -> BTreeMap<Cell, Number> {
        let mut known: BTreeSet<Cell> = self.prior.keys().copied().collect();
        known.extend(&self.own_cells);
        known.extend(&self.overheard);
        for contributor in self.contributors.values() {
            known.extend(&contributor.cells);
        }
        known
            .into_iter()
            .map(|cell| {
                let missing = self.missing(&self.prior, None, cell);
                (cell, Number::given(1.0) - missing)
            })
            .filter(|(_, m)| m.value > 0.0)
            .collect()
    }

    // 2. Airtime.

    fn bytes(&self) -> Number {
        let mut bytes: Vec<f64> = self.contributors.values().map(|m| m.bytes).collect();
        bytes.sort_by(f64::total_cmp);
        bytes
            .into_iter()
            .fold(Number::given(self.broadcast_base), |sum, b| {
                sum + Number::given(b)
            })
    }

    fn seconds(&self) -> Number {
        self.bytes() / Number::given(self.rate)
    }

    fn fraction(&self) -> Number {
        self.bytes() / (Number::given(self.capacity) * Number::given(self.cycle_s))
    }

    // 3. Timely delivery.

    fn in_time(&self, deadline: f64, seconds: Number) -> Number {
        let one = Number::given(1.0);
        let y = (Number::given(deadline) - seconds) / Number::given(self.cycle_s);
        if y.value <= 0.0 {
            return Number {
                value: 0.0,
                exact: y.exact || y.value < -CLOSE,
            };
        }
        let n = y.value.floor();
        let f = y - Number::given(n);
        let p = Number::given(self.broadcast_delivery);
        let lost = one - p;
        let all_lost = lost.value.powf(n);
        let all_lost = Number {
            value: all_lost,
            exact: lost.value == 1.0 || all_lost == 0.0 || (lost.value == 0.5 && n < 500.0),
        };
        one - all_lost * (one - p * f)
    }

    // 4. Value. 5. Score.

    fn worth(
        &self,
        agent: &Agent,
        prior: &BTreeMap<Cell, f64>,
        without: Option<u64>,
        seconds: Number,
    ) -> Worth {
        let mut value = Number::given(0.0);
        let mut scale = 0.0;
        for &cell in &agent.cells {
            let (rho, deadline) = self.risk.get(&cell).copied().unwrap_or((0.0, 0.0));
            let mut term = Number::given(1.0);
            if self.novelty {
                term = term * self.missing(prior, without, cell);
            }
            if self.risk_counts {
                term = term * Number::given(rho);
            }
            if self.timeliness {
                term = term * self.in_time(deadline, seconds);
            }
            value = value + term;
            scale += if self.risk_counts { rho } else { 1.0 };
        }
        let airtime = Number::given(agent.bytes)
            / Number::given(self.rate)
            / Number::given(self.airtime_unit_s);
        let cost = Number::given(self.price) * airtime;
        Worth {
            value,
            airtime,
            score: value - cost,
            // Timely delivery is a difference too, so a sum of terms is uncertain by a part of the terms' size.
            scale: value.value.max(cost.value).max(scale * 1e-3),
        }
    }

    fn candidate(&self, id: u64) -> Worth {
        let after = self.with(id);
        self.worth(&self.candidates[&id], &self.prior, None, after.seconds())
    }

    fn contributor(&self, id: u64) -> Worth {
        let agent = &self.contributors[&id];
        let prior = agent.prior_without.as_ref().unwrap_or(&self.prior);
        self.worth(agent, prior, Some(id), self.seconds())
    }

    /// D + j: the newcomer has not been decoded, and its leave-one-out map begins with M.
    fn with(&self, id: u64) -> Self {
        let mut after = self.clone();
        let mut agent = after.candidates.remove(&id).expect("a candidate");
        agent.decoded = false;
        agent.prior_without = None;
        after.contributors.insert(id, agent);
        after
    }

    // Order (a).
    fn shed(&mut self, changes: &mut Vec<(&'static str, u64, &'static str)>, hangs: &mut bool) {
        loop {
            let (over_allowance, allowance_sure) = greater(self.fraction(), self.allowance);
            let (over_cycle, cycle_sure) = greater(self.seconds(), self.t_max_s);
            if self.contributors.is_empty() {
                return;
            }
            // Which bound is broken is part of the answer, so both count.
            *hangs |= !allowance_sure || (!cycle_sure && !over_allowance);
            let because = if over_allowance {
                "allowance"
            } else if over_cycle {
                "cycle"
            } else {
                return;
            };
            let lowest = self.lowest(hangs);
            self.contributors.remove(&lowest);
            changes.push(("remove", lowest, because));
        }
    }

    // Order (b).
    fn admit(&mut self, changes: &mut Vec<(&'static str, u64, &'static str)>, hangs: &mut bool) {
        while (changes.len() as u64) < self.n_max {
            // Those that may be admitted, and whether that is sure.
            let mut eligible: Vec<(u64, Worth)> = Vec::new();
            let mut unsure: Vec<(u64, Worth)> = Vec::new();
            for &id in self.candidates.keys() {
                let after = self.with(id);
                let worth = self.candidate(id);
                let (too_much, allowance_sure) = greater(after.fraction(), self.allowance);
                let (too_long, cycle_sure) = greater(after.seconds(), self.t_max_s);
                let (below, score_sure) = below(&worth, self.eta_add);
                if !(too_much || too_long || below) {
                    eligible.push((id, worth));
                }
                // A condition that surely fails settles it, however close the others are.
                let surely_out = (too_much && allowance_sure)
                    || (too_long && cycle_sure)
                    || (below && score_sure);
                let all_sure = allowance_sure && cycle_sure && score_sure;
                if !all_sure && !surely_out {
                    unsure.push((id, worth));
                }
            }
            let best = eligible.iter().copied().reduce(|best, other| {
                // By ascending id, so only a higher score wins.
                if other.1.score.value > best.1.score.value {
                    other
                } else {
                    best
                }
            });
            let Some((id, worth)) = best else {
                *hangs |= !unsure.is_empty();
                return;
            };
            for (other, theirs) in eligible.iter().chain(&unsure) {
                let agents = (&self.candidates[&id], &self.candidates[other]);
                let alike = agents.0.cells == agents.1.cells && agents.0.bytes == agents.1.bytes;
                let might_win = theirs.score.value > worth.score.value || close(&worth, theirs);
                *hangs |= *other != id && !alike && might_win;
            }
            *hangs |= unsure.iter().any(|&(other, _)| other == id);
            *self = self.with(id);
            changes.push(("admit", id, "score"));
        }
    }

    // Order (c).
    fn remove(&mut self, changes: &mut Vec<(&'static str, u64, &'static str)>, hangs: &mut bool) {
        while (changes.len() as u64) < self.n_max && !self.contributors.is_empty() {
            let mut lowest_hangs = false;
            let lowest = self.lowest(&mut lowest_hangs);
            let worth = self.contributor(lowest);
            let (above, sure) = above(&worth, self.eta_rem);
            *hangs |= !sure;
            if above {
                return;
            }
            *hangs |= lowest_hangs;
            self.contributors.remove(&lowest);
            changes.push(("remove", lowest, "score"));
        }
    }

    /// The contributor with the lowest score, the lower id of several.
    fn lowest(&self, hangs: &mut bool) -> u64 {
        let worths: Vec<(u64, Worth)> = self
            .contributors
            .keys()
            .map(|&id| (id, self.contributor(id)))
            .collect();
        let (id, worth) = worths
            .iter()
            .copied()
            .reduce(|best, other| {
                if other.1.score.value < best.1.score.value {
                    other
                } else {
                    best
                }
            })
            .expect("a contributor");
        for (other, theirs) in &worths {
            let alike = self.alike(id, *other);
            *hangs |= *other != id && !alike && close(&worth, theirs);
        }
        id
    }

    /// Two contributors between which no score can tell.
    fn alike(&self, a: u64, b: u64) -> bool {
        let (a, b) = (&self.contributors[&a], &self.contributors[&b]);
        let evidence = |m: &Agent| if m.decoded { 1.0 } else { m.decoded_fraction };
        a.cells == b.cells
            && a.bytes == b.bytes
            && evidence(a) == evidence(b)
            && a.prior_without.as_ref().unwrap_or(&self.prior)
                == b.prior_without.as_ref().unwrap_or(&self.prior)
    }
}

/// Whether a > b, and whether that is sure.
fn greater(a: Number, b: f64) -> (bool, bool) {
    let near = (a.value - b).abs() <= CLOSE * a.value.abs().max(b.abs());
    (a.value > b, a.exact || !near)
}

/// Whether a score is below a threshold, and whether that is sure.
fn below(worth: &Worth, threshold: f64) -> (bool, bool) {
    let near = (worth.score.value - threshold).abs() <= CLOSE * worth.scale.max(threshold.abs());
    (worth.score.value < threshold, worth.score.exact || !near)
}

/// Whether a score is above a threshold, and whether that is sure.
fn above(worth: &Worth, threshold: f64) -> (bool, bool) {
    let (_, sure) = below(worth, threshold);
    (worth.score.value > threshold, sure)
}

/// Two scores that rounding may turn round.
fn close(a: &Worth, b: &Worth) -> bool {
    let near = (a.score.value - b.score.value).abs() <= CLOSE * a.scale.max(b.scale);
    let exact = a.score.exact && b.score.exact;
    // The same airtime, whatever its rounding, and exact values.
    let same_cost = a.airtime.value == b.airtime.value
        && a.value.exact
        && b.value.exact
        && a.value.value == b.value.value;
    near && !exact && !same_cost
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn cell(row: &Value) -> Cell {
    let part = |at: usize| i32::try_from(row[at].as_i64().expect("an index")).expect("32 bits");
    (part(1), part(0))
}

fn cells(rows: &Value) -> BTreeSet<Cell> {
    list(rows).iter().map(cell).collect()
}

fn confidences(rows: &Value) -> BTreeMap<Cell, f64> {
    list(rows)
        .iter()
        .map(|row| (cell(row), number(&row[2])))
        .collect()
}
