//! `covey.snapshot/1` as a file has it, and the checks that turn it into a [`Snapshot`].

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::reading::{
    Checked, Shape, fail, not_negative, object, objects, positive, rows, shapes, share, some,
    some_not_negative, some_rows, some_share,
};
use super::{Agent, SNAPSHOT_SCHEMA, Snapshot};
use crate::admission::{Factors, Role, Rules};
use crate::grid::Cell;
use crate::ids::AgentId;

/// A snapshot, as written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    schema: String,
    #[serde(deserialize_with = "object")]
    parameters: ParametersPart,
    #[serde(deserialize_with = "not_negative")]
    price: f64,
    host: u64,
    #[serde(deserialize_with = "rows")]
    prior: Vec<MapRow>,
    #[serde(deserialize_with = "rows")]
    overheard: Vec<CellRow>,
    #[serde(deserialize_with = "rows")]
    risk: Vec<RiskRow>,
    #[serde(deserialize_with = "objects")]
    agents: Vec<AgentPart>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParametersPart {
    #[serde(deserialize_with = "positive")]
    cycle_s: f64,
    #[serde(deserialize_with = "not_negative")]
    t_max_s: f64,
    #[serde(deserialize_with = "not_negative")]
    kappa_per_s: f64,
    eta_add: f64,
    eta_rem: f64,
    n_max: u64,
    #[serde(deserialize_with = "not_negative")]
    allowance: f64,
    #[serde(deserialize_with = "positive")]
    rate_bytes_per_s: f64,
    #[serde(deserialize_with = "positive")]
    capacity_bytes_per_s: f64,
    #[serde(deserialize_with = "positive")]
    airtime_unit_s: f64,
    #[serde(deserialize_with = "not_negative")]
    broadcast_base_bytes: f64,
    #[serde(deserialize_with = "share")]
    broadcast_delivery: f64,
    #[serde(default, deserialize_with = "some")]
    factors: Option<Vec<Factor>>,
}

/// Which of the optional fields there must be depends on the role; a host has none, and whatever it has is not looked at.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentPart {
    id: u64,
    role: AgentRole,
    #[serde(deserialize_with = "rows")]
    cells: Vec<CellRow>,
    #[serde(default, deserialize_with = "some")]
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded: Option<bool>,
    #[serde(default, deserialize_with = "some_share")]
    #[serde(skip_serializing_if = "Option::is_none")]
    decoded_fraction: Option<f64>,
    #[serde(default, deserialize_with = "some_not_negative")]
    #[serde(skip_serializing_if = "Option::is_none")]
    report_bytes: Option<f64>,
    #[serde(default, deserialize_with = "some_not_negative")]
    #[serde(skip_serializing_if = "Option::is_none")]
    broadcast_bytes: Option<f64>,
    #[serde(default, deserialize_with = "some_rows")]
    #[serde(skip_serializing_if = "Option::is_none")]
    prior_without: Option<Vec<MapRow>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "Cow<'_, str>")]
enum AgentRole {
    Host,
    Contributor,
    Candidate,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "Cow<'_, str>")]
enum Factor {
    Novelty,
    Risk,
    Timeliness,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "a cell [ix, iy]")]
struct CellRow(i32, i32);

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "an entry [ix, iy, m]")]
struct MapRow(i32, i32, #[serde(deserialize_with = "share")] f64);

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "an entry [ix, iy, rho, deadline_s]")]
struct RiskRow(
    i32,
    i32,
    #[serde(deserialize_with = "not_negative")] f64,
    #[serde(deserialize_with = "not_negative")] f64,
);

shapes! {
    Document = "a snapshot {…}",
    ParametersPart = "parameters {…}",
    AgentPart = "an agent {…}",
    CellRow = "a cell [ix, iy]",
    MapRow = "an entry [ix, iy, m]",
    RiskRow = "an entry [ix, iy, rho, deadline_s]",
}

impl TryFrom<Cow<'_, str>> for AgentRole {
    type Error = String;

    fn try_from(name: Cow<'_, str>) -> Result<Self, String> {
        match &*name {
            "host" => Ok(Self::Host),
            "contributor" => Ok(Self::Contributor),
            "candidate" => Ok(Self::Candidate),
            other => Err(format!(
                "found \"{other}\", expected \"host\", \"contributor\" or \"candidate\""
            )),
        }
    }
}

impl TryFrom<Cow<'_, str>> for Factor {
    type Error = String;

    fn try_from(name: Cow<'_, str>) -> Result<Self, String> {
        match &*name {
            "novelty" => Ok(Self::Novelty),
            "risk" => Ok(Self::Risk),
            "timeliness" => Ok(Self::Timeliness),
            other => Err(format!(
                "found \"{other}\", expected \"novelty\", \"risk\" or \"timeliness\""
            )),
        }
    }
}

impl Document {
    /// The snapshot that it describes.
    pub(super) fn check(self) -> Checked<Snapshot> {
        let p = self.parameters;
        let rules = p.rules()?;
        let host = AgentId(self.host);
        let (host_cells, agents) = agents(self.agents, host)?;
        Ok(Snapshot {
            rules,
            broadcast_base_bytes: p.broadcast_base_bytes,
            broadcast_delivery: p.broadcast_delivery,
            price: self.price,
            host,
            host_cells,
            prior: map("prior", &self.prior)?,
            overheard: cells(&self.overheard),
            risk: unique(
                "risk",
                self.risk.iter().map(|r| (Cell::new(r.0, r.1), r.2, r.3)),
                |&(cell, ..)| cell,
            )?,
            agents,
        })
    }

    /// The document of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut agents = alloc::vec![AgentPart {
            id: snapshot.host.0,
            role: AgentRole::Host,
            cells: cell_rows(&snapshot.host_cells),
            decoded: None,
            decoded_fraction: None,
            report_bytes: None,
            broadcast_bytes: None,
            prior_without: None,
        }];
        agents.extend(snapshot.agents.iter().map(AgentPart::of));
        let risk = snapshot.risk.iter();
        Self {
            schema: SNAPSHOT_SCHEMA.to_owned(),
            parameters: ParametersPart::of(snapshot),
            price: snapshot.price,
            host: snapshot.host.0,
            prior: map_rows(&snapshot.prior),
            overheard: cell_rows(&snapshot.overheard),
            risk: risk
                .map(|&(cell, rho, deadline)| RiskRow(cell.ix, cell.iy, rho, deadline))
                .collect(),
            agents,
        }
    }
}

impl ParametersPart {
    fn rules(&self) -> Checked<Rules> {
        if self.eta_rem > self.eta_add {
            let (found, most) = (self.eta_rem, self.eta_add);
            return fail(
                "parameters.eta_rem",
                format!("found {found}, expected at most eta_add = {most}"),
            );
        }
        Ok(Rules {
            cycle_s: self.cycle_s,
            t_max_s: self.t_max_s,
            kappa_per_s: self.kappa_per_s,
            eta_add: self.eta_add,
            eta_rem: self.eta_rem,
            n_max: u32::try_from(self.n_max).unwrap_or(u32::MAX),
            allowance: self.allowance,
            rate_bytes_per_s: self.rate_bytes_per_s,
            capacity_bytes_per_s: self.capacity_bytes_per_s,
            airtime_unit_s: self.airtime_unit_s,
            factors: match &self.factors {
                None => Factors::ALL,
                Some(named) => Factors {
                    novelty: named.contains(&Factor::Novelty),
                    risk: named.contains(&Factor::Risk),
                    timeliness: named.contains(&Factor::Timeliness),
                },
            },
        })
    }

    fn of(snapshot: &Snapshot) -> Self {
        let rules = &snapshot.rules;
        let counts = [
            (Factor::Novelty, rules.factors.novelty),
            (Factor::Risk, rules.factors.risk),
            (Factor::Timeliness, rules.factors.timeliness),
        ];
        let named = counts.into_iter().filter(|&(_, counts)| counts);
        Self {
            cycle_s: rules.cycle_s,
            t_max_s: rules.t_max_s,
            kappa_per_s: rules.kappa_per_s,
            eta_add: rules.eta_add,
            eta_rem: rules.eta_rem,
            n_max: u64::from(rules.n_max),
            allowance: rules.allowance,
            rate_bytes_per_s: rules.rate_bytes_per_s,
            capacity_bytes_per_s: rules.capacity_bytes_per_s,
            airtime_unit_s: rules.airtime_unit_s,
            broadcast_base_bytes: snapshot.broadcast_base_bytes,
            broadcast_delivery: snapshot.broadcast_delivery,
            factors: Some(named.map(|(factor, _)| factor).collect()),
        }
    }
}

impl AgentPart {
    /// The candidate or contributor at `path`.
    fn agent(&self, role: Role, path: &str) -> Checked<Agent> {
        fn needed<T>(path: &str, key: &str, value: Option<T>) -> Checked<T> {
            match value {
                Some(value) => Ok(value),
                None => fail(format!("{path}.{key}"), "missing: add it"),
            }
        }
        Ok(Agent {
            id: AgentId(self.id),
            role,
            cells: cells(&self.cells),
            decoded: match role {
                Role::Contributor => needed(path, "decoded", self.decoded)?,
                Role::Candidate => false,
            },
            decoded_fraction: needed(path, "decoded_fraction", self.decoded_fraction)?,
            report_bytes: needed(path, "report_bytes", self.report_bytes)?,
            broadcast_bytes: needed(path, "broadcast_bytes", self.broadcast_bytes)?,
            prior_without: match &self.prior_without {
                Some(rows) => Some(map(&format!("{path}.prior_without"), rows)?),
                None => None,
            },
        })
    }

    fn of(agent: &Agent) -> Self {
        Self {
            id: agent.id.0,
            role: match agent.role {
                Role::Contributor => AgentRole::Contributor,
                Role::Candidate => AgentRole::Candidate,
            },
            cells: cell_rows(&agent.cells),
            decoded: (agent.role == Role::Contributor).then_some(agent.decoded),
            decoded_fraction: Some(agent.decoded_fraction),
            report_bytes: Some(agent.report_bytes),
            broadcast_bytes: Some(agent.broadcast_bytes),
            prior_without: agent.prior_without.as_deref().map(map_rows),
        }
    }
}

/// The host's cells, and everyone else by ascending id.
fn agents(list: Vec<AgentPart>, host: AgentId) -> Checked<(Vec<Cell>, Vec<Agent>)> {
    let mut host_cells = None;
    let mut agents = Vec::new();
    for (at, part) in list.iter().enumerate() {
        let path = format!("agents[{at}]");
        let role = match part.role {
            AgentRole::Contributor => Role::Contributor,
            AgentRole::Candidate => Role::Candidate,
            AgentRole::Host if host_cells.is_some() => {
                return fail(
                    format!("{path}.role"),
                    "a second host, expected exactly one agent with role \"host\"",
                );
            }
            AgentRole::Host if part.id != host.0 => {
                let id = AgentId(part.id);
                return fail(
                    "host",
                    format!("found {host}, but the agent with role \"host\" is {id}"),
                );
            }
            AgentRole::Host => {
                host_cells = Some(cells(&part.cells));
                continue;
            }
        };
        agents.push(part.agent(role, &path)?);
    }
    let mut ids: Vec<(u64, usize)> = list.iter().zip(0..).map(|(a, at)| (a.id, at)).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let (id, at) = pair[1];
        return fail(
            format!("agents[{at}].id"),
            format!("{} is given twice, expected each id once", AgentId(id)),
        );
    }
    let Some(host_cells) = host_cells else {
        return fail("agents", "no agent has role \"host\", expected exactly one");
    };
    agents.sort_unstable_by_key(|agent| agent.id);
    Ok((host_cells, agents))
}

/// Cells, sorted; those given twice count once.
fn cells(rows: &[CellRow]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = rows.iter().map(|row| Cell::new(row.0, row.1)).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// A map of cells, sorted; a cell given twice is refused.
fn map(path: &str, rows: &[MapRow]) -> Checked<Vec<(Cell, f64)>> {
    let entries = rows.iter().map(|row| (Cell::new(row.0, row.1), row.2));
    unique(path, entries, |&(cell, _)| cell)
}

fn unique<T>(
    path: &str,
    entries: impl Iterator<Item = T>,
    cell: fn(&T) -> Cell,
) -> Checked<Vec<T>> {
    let mut entries: Vec<T> = entries.collect();
    entries.sort_by_key(cell);
    let mut pairs = entries.windows(2);
    match pairs.find(|pair| cell(&pair[0]) == cell(&pair[1])) {
        Some(pair) => {
            let twice = cell(&pair[0]);
            fail(
                path,
                format!("cell {twice} is given twice, expected each cell once"),
            )
        }
        None => Ok(entries),
    }
}

fn cell_rows(cells: &[Cell]) -> Vec<CellRow> {
    cells.iter().map(|c| CellRow(c.ix, c.iy)).collect()
}

fn map_rows(map: &[(Cell, f64)]) -> Vec<MapRow> {
    map.iter().map(|&(c, m)| MapRow(c.ix, c.iy, m)).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    const EXAMPLE: &str = include_str!("../../../../examples/snapshot.json");

    /// What is said of the example with one text in place of another.
    fn refused(from: &str, to: &str) -> String {
        assert!(EXAMPLE.contains(from), "{from}");
        let changed = EXAMPLE.replacen(from, to, 1);
        Snapshot::parse(&changed).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let snapshot = Snapshot::parse(EXAMPLE).unwrap();
        assert_eq!(Snapshot::parse(&snapshot.to_json()), Ok(snapshot.clone()));
        let value = snapshot.to_value().to_string();
        assert_eq!(Snapshot::parse(&value), Ok(snapshot));
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_known_one() {
        for (from, to, says) in [
            (
                "\"factors\"",
                "\"factor\"",
                "parameters.factor: unknown key, the nearest known one is \"factors\"",
            ),
            (
                "\"price\"",
                "\"prize\":1,\"price\"",
                "prize: unknown key, the nearest known one is \"price\"",
            ),
            (
                "\"report_bytes\":331",
                "\"report_byte\":331",
                "agents[2].report_byte: unknown key, the nearest known one is \"report_bytes\"",
            ),
        ] {
            assert_eq!(refused(from, to), says);
        }
    }

    #[test]
    fn keys_given_twice_are_refused() {
        for (from, to, says) in [
            (
                "\"price\":0.7",
                "\"price\":0.7,\"price\":0.8",
                "price: given twice, expected once",
            ),
            (
                "\"n_max\":1",
                "\"n_max\":1,\"n_max\":1",
                "parameters.n_max: given twice, expected once",
            ),
            (
                "\"decoded\":false",
                "\"decoded\":false,\"decoded\":true",
                "agents[1].decoded: given twice, expected once",
            ),
        ] {
            assert_eq!(refused(from, to), says);
        }
    }

    #[test]
    fn errors_say_where_what_was_found_and_what_was_expected() {
        for (from, to, says) in [
            (
                "[4,1]",
                "[4]",
                "agents[2].cells[1]: found a list of 1, expected a cell [ix, iy]",
            ),
            (
                "[4,1]",
                "[4,1,1]",
                "agents[2].cells[1]: found a longer list, expected a cell [ix, iy]",
            ),
            (
                "[4,1]",
                "{}",
                "agents[2].cells[1]: found an object {…}, expected a cell [ix, iy]",
            ),
            (
                "[4,1]",
                "[4,1.5]",
                "agents[2].cells[1][1]: found floating point `1.5`, expected a whole number of 32 bits with sign",
            ),
            (
                "\"decoded\":false",
                "\"decoded\":\"no\"",
                "agents[1].decoded: found string \"no\", expected true or false",
            ),
            (
                "\"role\":\"host\"",
                "\"role\":\"hosts\"",
                "agents[0].role: found \"hosts\", expected \"host\", \"contributor\" or \"candidate\"",
            ),
            (
                "\"price\":0.7",
                "\"price\":-1",
                "price: found -1, expected a number of at least 0",
            ),
            (
                "\"price\":0.7",
                "\"price\":null",
                "price: found null, expected a number of at least 0",
            ),
            ("\"price\":0.7,", "", "price: missing: add it"),
            (
                "[1,0,0.9]",
                "[1,0,1.5]",
                "prior[1][2]: found 1.5, expected a number from 0 to 1",
            ),
            (
                "[\"novelty\",\"risk\",\"timeliness\"]",
                "null",
                "parameters.factors: found null, expected a list […]",
            ),
            (
                "\"overheard\":[[6,0]]",
                "\"overheard\":7",
                "overheard: found integer `7`, expected a list […]",
            ),
        ] {
            assert_eq!(refused(from, to), says);
        }
    }

    /// Values alone, in the order of the keys, are no object.
    #[test]
    fn lists_are_no_objects() {
        let text = EXAMPLE.replace(
            "{\"id\":17,\"role\":\"host\",\"cells\":[[0,0],[1,0]]}",
            "[17,\"host\",[[0,0]]]",
        );
        assert_eq!(
            Snapshot::parse(&text).unwrap_err().to_string(),
            "agents[0]: found a list […], expected an agent {…}"
        );
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for (from, to, says) in [
            (
                "\"eta_rem\":-0.25",
                "\"eta_rem\":0.26",
                "parameters.eta_rem: found 0.26, expected at most eta_add = 0.25",
            ),
            (
                "\"role\":\"contributor\"",
                "\"role\":\"host\"",
                "agents[1].role: a second host, expected exactly one agent with role \"host\"",
            ),
            (
                "\"host\":17",
                "\"host\":18",
                "host: found 18, but the agent with role \"host\" is 17",
            ),
            (
                "{\"id\":17,\"role\":\"host\",\"cells\":[[0,0],[1,0]]},",
                "",
                "agents: no agent has role \"host\", expected exactly one",
            ),
            (
                "\"id\":58",
                "\"id\":23",
                "agents[3].id: 23 is given twice, expected each id once",
            ),
            (
                "[3,0,0.1]",
                "[2,0,0.1]",
                "prior: cell [2, 0] is given twice, expected each cell once",
            ),
            (
                "[5,2,0.5,0.70]",
                "[4,2,0.5,0.70]",
                "risk: cell [4, 2] is given twice, expected each cell once",
            ),
            (
                "[2,0,0.2]]",
                "[1,0,0.2]]",
                "agents[1].prior_without: cell [1, 0] is given twice, expected each cell once",
            ),
            (
                "\"decoded\":false,",
                "",
                "agents[1].decoded: missing: add it",
            ),
            (
                ",\"report_bytes\":331",
                "",
                "agents[2].report_bytes: missing: add it",
            ),
            (
                "\"timeliness\"",
                "\"time\"",
                "parameters.factors[2]: found \"time\", expected \"novelty\", \"risk\" or \"timeliness\"",
            ),
            (
                "covey.snapshot/1",
                "covey.snapshot/2",
                "schema: found \"covey.snapshot/2\", expected \"covey.snapshot/1\"",
            ),
        ] {
            assert_eq!(refused(from, to), says);
        }
        assert!(refused("{\"schema\"", "{schema").starts_with("not JSON: "));
        let long = "x".repeat(61);
        let says = refused("covey.snapshot/1", &long);
        assert!(says.contains(&format!("found \"{}…\"", &long[..60])));
        let says = refused("covey.snapshot/1", &long[..60]);
        assert!(says.contains(&format!("found \"{}\"", &long[..60])));
    }

    #[test]
    fn numbers_at_the_edge_of_their_range_are_taken() {
        for (from, to, holds) in [
            ("\"eta_rem\":-0.25", "\"eta_rem\":0.25", true),
            ("\"price\":0.7", "\"price\":0", true),
            ("\"price\":0.7", "\"price\":-1e-9", false),
            ("[3,0,0.1]", "[3,0,0]", true),
            ("[3,0,0.1]", "[3,0,1]", true),
            ("[3,0,0.1]", "[3,0,-0.1]", false),
            ("\"cycle_s\":0.2", "\"cycle_s\":0", false),
            ("\"cycle_s\":0.2", "\"cycle_s\":1e-9", true),
            ("\"cycle_s\":0.2", "\"cycle_s\":-1", false),
            ("\"price\":0.7", "\"price\":1e999", false),
            ("\"decoded_fraction\":0.95", "\"decoded_fraction\":1", true),
            (
                "\"decoded_fraction\":0.95",
                "\"decoded_fraction\":1.01",
                false,
            ),
            (
                "\"decoded_fraction\":0.95",
                "\"decoded_fraction\":null",
                false,
            ),
        ] {
            assert!(EXAMPLE.contains(from), "{from}");
            let changed = EXAMPLE.replacen(from, to, 1);
            assert_eq!(Snapshot::parse(&changed).is_ok(), holds, "{to}");
        }
    }

    #[test]
    fn a_snapshot_is_what_its_document_says_in_order() {
        let text = EXAMPLE
            .replacen("[[3,0],[4,1],[4,2]]", "[[4,2],[3,0],[4,2],[4,1]]", 1)
            .replacen("\"id\":58", "\"id\":5", 1)
            .replacen("[\"novelty\",\"risk\",\"timeliness\"]", "[\"risk\"]", 1)
            .replacen("\"n_max\":1", "\"n_max\":5000000000", 1);
        let snapshot = Snapshot::parse(&text).unwrap();
        let ids: Vec<u64> = snapshot.agents.iter().map(|agent| agent.id.0).collect();
        assert_eq!(ids, [5, 23, 42]);
        let cells = [(3, 0), (4, 1), (4, 2)].map(|(ix, iy)| Cell::new(ix, iy));
        assert_eq!(snapshot.agents[2].cells, cells);
        assert_eq!(snapshot.agents[2].role, Role::Candidate);
        assert!(
            snapshot.agents[1]
                .prior_without
                .as_ref()
                .is_some_and(|p| p.len() == 3)
        );
        let factors = snapshot.rules.factors;
        assert_eq!(
            [factors.novelty, factors.risk, factors.timeliness],
            [false, true, false]
        );
        assert_eq!(snapshot.rules.n_max, u32::MAX);
        assert_eq!((snapshot.price, snapshot.host), (0.7, AgentId(17)));
        assert_eq!(snapshot.risk[1], (Cell::new(1, 0), 3.0, 0.4));
        // Without a word of factors all count.
        let text = EXAMPLE.replacen(",\"factors\":[\"novelty\",\"risk\",\"timeliness\"]", "", 1);
        assert_eq!(Snapshot::parse(&text).unwrap().rules.factors, Factors::ALL);
    }
}
