//! Reading a snapshot, field by field, with errors that say where.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde_json::{Map, Value};

use super::{Agent, SNAPSHOT_SCHEMA, Snapshot};
use crate::admission::{Factors, Role, Rules};
use crate::grid::Cell;
use crate::ids::AgentId;

/// Why a text is not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotError {
    /// The field, such as `agents[2].report_bytes`; empty where the text is not JSON at all.
    pub field: String,
    /// What was found and what was expected.
    pub problem: String,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.field, self.problem)
        }
    }
}

impl core::error::Error for SnapshotError {}

pub(crate) type Result<T> = core::result::Result<T, SnapshotError>;

/// A value and the way to it.
#[derive(Clone)]
pub(crate) struct At<'a> {
    path: String,
    value: &'a Value,
}

/// A range of numbers, and how to say it.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    low: f64,
    /// The lower end itself is allowed.
    closed: bool,
    high: f64,
    text: &'static str,
}

pub(crate) const ANY: Range = Range {
    low: f64::NEG_INFINITY,
    closed: true,
    high: f64::INFINITY,
    text: "a number",
};
pub(crate) const SHARE: Range = Range {
    low: 0.0,
    closed: true,
    high: 1.0,
    text: "a number from 0 to 1",
};
pub(crate) const NOT_NEGATIVE: Range = Range {
    low: 0.0,
    closed: true,
    high: f64::INFINITY,
    text: "a number of at least 0",
};
const POSITIVE: Range = Range {
    low: 0.0,
    closed: false,
    high: f64::INFINITY,
    text: "a number above 0",
};

pub(crate) fn fail<T>(path: &str, problem: String) -> Result<T> {
    Err(SnapshotError {
        field: path.to_string(),
        problem,
    })
}

/// The value in a few characters, for error messages.
fn show(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Reads the text as JSON.
pub(crate) fn top(json: &str) -> Result<Value> {
    serde_json::from_str(json).map_err(|error| SnapshotError {
        field: String::new(),
        problem: format!("not JSON: {error}"),
    })
}

impl<'a> At<'a> {
    /// The whole of a snapshot.
    pub(crate) fn of(value: &'a Value) -> Self {
        Self {
            path: String::new(),
            value,
        }
    }

    /// The way to it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// It is `null`.
    pub(crate) fn is_null(&self) -> bool {
        self.value.is_null()
    }

    fn object(&self) -> Result<&'a Map<String, Value>> {
        match self.value {
            Value::Object(map) => Ok(map),
            other => fail(
                &self.path,
                format!("found {}, expected an object {{…}}", show(other)),
            ),
        }
    }

    fn optional(&self, key: &str) -> Result<Option<At<'a>>> {
        let path = if self.path.is_empty() {
            key.to_string()
        } else {
            format!("{}.{key}", self.path)
        };
        Ok(self.object()?.get(key).map(|value| At { path, value }))
    }

    pub(crate) fn field(&self, key: &str) -> Result<At<'a>> {
        match self.optional(key)? {
            Some(found) => Ok(found),
            None if self.path.is_empty() => fail(key, "missing: add it".to_string()),
            None => fail(
                &format!("{}.{key}", self.path),
                "missing: add it".to_string(),
            ),
        }
    }

    pub(crate) fn items(&self) -> Result<impl Iterator<Item = At<'a>> + use<'a>> {
        let Value::Array(items) = self.value else {
            return fail(
                &self.path,
                format!("found {}, expected a list […]", show(self.value)),
            );
        };
        let path = self.path.clone();
        Ok(items.iter().enumerate().map(move |(at, value)| At {
            path: format!("{path}[{at}]"),
            value,
        }))
    }

    /// A list of exactly `N` entries.
    pub(crate) fn tuple<const N: usize>(&self, shape: &str) -> Result<[At<'a>; N]> {
        let found = match self.value {
            Value::Array(items) => items.as_slice(),
            _ => &[],
        };
        match <&[Value; N]>::try_from(found) {
            Ok(items) => Ok(core::array::from_fn(|at| At {
                path: format!("{}[{at}]", self.path),
                value: &items[at],
            })),
            Err(_) => fail(
                &self.path,
                format!("found {}, expected {shape}", show(self.value)),
            ),
        }
    }

    pub(crate) fn number(&self, range: Range) -> Result<f64> {
        match self.value.as_f64() {
            Some(x)
                if x.is_finite()
                    && x <= range.high
                    && (x > range.low || (range.closed && x >= range.low)) =>
            {
                Ok(x)
            }
            _ => fail(
                &self.path,
                format!("found {}, expected {}", show(self.value), range.text),
            ),
        }
    }

    pub(crate) fn whole(&self) -> Result<u64> {
        match self.value.as_u64() {
            Some(n) => Ok(n),
            None => fail(
                &self.path,
                format!(
                    "found {}, expected a whole number of at least 0",
                    show(self.value)
                ),
            ),
        }
    }

    fn index(&self) -> Result<i32> {
        match self.value.as_i64().map(i32::try_from) {
            Some(Ok(n)) => Ok(n),
            _ => fail(
                &self.path,
                format!(
                    "found {}, expected a whole number of 32 bits with sign",
                    show(self.value)
                ),
            ),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str> {
        match self.value {
            Value::String(text) => Ok(text),
            other => fail(
                &self.path,
                format!("found {}, expected a text", show(other)),
            ),
        }
    }

    pub(crate) fn flag(&self) -> Result<bool> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            other => fail(
                &self.path,
                format!("found {}, expected true or false", show(other)),
            ),
        }
    }

    fn cell(&self) -> Result<Cell> {
        let [ix, iy] = self.tuple("a cell [ix, iy]")?;
        Ok(Cell::new(ix.index()?, iy.index()?))
    }

    /// Cells, sorted; those given twice count once.
    fn cells(&self) -> Result<Vec<Cell>> {
        let mut cells = self
            .items()?
            .map(|at| at.cell())
            .collect::<Result<Vec<_>>>()?;
        cells.sort_unstable();
        cells.dedup();
        Ok(cells)
    }

    /// A map of cells, sorted; a cell given twice is refused.
    fn map(&self) -> Result<Vec<(Cell, f64)>> {
        let entries = self
            .items()?
            .map(|at| {
                let [ix, iy, m] = at.tuple("an entry [ix, iy, m]")?;
                Ok((Cell::new(ix.index()?, iy.index()?), m.number(SHARE)?))
            })
            .collect::<Result<Vec<_>>>()?;
        self.unique(entries, |&(cell, _)| cell)
    }

    fn unique<T>(&self, mut entries: Vec<T>, key: fn(&T) -> Cell) -> Result<Vec<T>> {
        entries.sort_by_key(key);
        for pair in entries.windows(2) {
            if key(&pair[0]) == key(&pair[1]) {
                return fail(
                    &self.path,
                    format!(
                        "cell {} is given twice, expected each cell once",
                        key(&pair[0])
                    ),
                );
            }
        }
        Ok(entries)
    }
}

pub(super) fn snapshot(json: &str) -> Result<Snapshot> {
    let value: Value = serde_json::from_str(json).map_err(|error| SnapshotError {
        field: String::new(),
        problem: format!("not JSON: {error}"),
    })?;
    let top = At {
        path: String::new(),
        value: &value,
    };
    if !value.is_object() {
        return fail(
            "",
            format!("found {}, expected a snapshot {{…}}", show(&value)),
        );
    }
    let schema = top.field("schema")?;
    if schema.text()? != SNAPSHOT_SCHEMA {
        return fail(
            "schema",
            format!(
                "found {}, expected \"{SNAPSHOT_SCHEMA}\"",
                show(schema.value)
            ),
        );
    }
    let parameters = top.field("parameters")?;
    let rules = rules(&parameters)?;
    let host = AgentId(top.field("host")?.whole()?);
    let (host_cells, agents) = agents(&top.field("agents")?, host)?;
    Ok(Snapshot {
        rules,
        broadcast_base_bytes: parameters
            .field("broadcast_base_bytes")?
            .number(NOT_NEGATIVE)?,
        broadcast_delivery: parameters.field("broadcast_delivery")?.number(SHARE)?,
        price: top.field("price")?.number(NOT_NEGATIVE)?,
        host,
        host_cells,
        prior: top.field("prior")?.map()?,
        overheard: top.field("overheard")?.cells()?,
        risk: risk(&top.field("risk")?)?,
        agents,
    })
}

fn rules(parameters: &At<'_>) -> Result<Rules> {
    let number = |key, range| parameters.field(key)?.number(range);
    let eta_add = number("eta_add", ANY)?;
    let eta_rem = number("eta_rem", ANY)?;
    if eta_rem > eta_add {
        return fail(
            "parameters.eta_rem",
            format!("found {eta_rem}, expected at most eta_add = {eta_add}"),
        );
    }
    let factors = match parameters.optional("factors")? {
        None => Factors::ALL,
        Some(list) => {
            let mut factors = Factors::NONE;
            for item in list.items()? {
                match item.text()? {
                    "novelty" => factors.novelty = true,
                    "risk" => factors.risk = true,
                    "timeliness" => factors.timeliness = true,
                    _ => {
                        return fail(
                            &item.path,
                            format!(
                                "found {}, expected \"novelty\", \"risk\" or \"timeliness\"",
                                show(item.value)
                            ),
                        );
                    }
                }
            }
            factors
        }
    };
    Ok(Rules {
        cycle_s: number("cycle_s", POSITIVE)?,
        t_max_s: number("t_max_s", NOT_NEGATIVE)?,
        kappa_per_s: number("kappa_per_s", NOT_NEGATIVE)?,
        eta_add,
        eta_rem,
        n_max: u32::try_from(parameters.field("n_max")?.whole()?).unwrap_or(u32::MAX),
        allowance: number("allowance", NOT_NEGATIVE)?,
        rate_bytes_per_s: number("rate_bytes_per_s", POSITIVE)?,
        capacity_bytes_per_s: number("capacity_bytes_per_s", POSITIVE)?,
        airtime_unit_s: number("airtime_unit_s", POSITIVE)?,
        factors,
    })
}

fn risk(list: &At<'_>) -> Result<Vec<(Cell, f64, f64)>> {
    let entries = list
        .items()?
        .map(|at| {
            let [ix, iy, rho, deadline] = at.tuple("an entry [ix, iy, rho, deadline_s]")?;
            Ok((
                Cell::new(ix.index()?, iy.index()?),
                rho.number(NOT_NEGATIVE)?,
                deadline.number(NOT_NEGATIVE)?,
            ))
        })
        .collect::<Result<Vec<_>>>()?;
    list.unique(entries, |&(cell, _, _)| cell)
}

/// The host's cells, and everyone else by ascending id.
fn agents(list: &At<'_>, host: AgentId) -> Result<(Vec<Cell>, Vec<Agent>)> {
    let mut host_cells = None;
    let mut agents = Vec::new();
    let mut ids = Vec::new();
    for item in list.items()? {
        let id = AgentId(item.field("id")?.whole()?);
        ids.push((id, item.path.clone()));
        let cells = item.field("cells")?.cells()?;
        let role_at = item.field("role")?;
        let role = match role_at.text()? {
            "host" => {
                if host_cells.is_some() {
                    return fail(
                        &role_at.path,
                        "a second host, expected exactly one agent with role \"host\"".to_string(),
                    );
                }
                if id != host {
                    return fail(
                        "host",
                        format!("found {host}, but the agent with role \"host\" is {id}"),
                    );
                }
                host_cells = Some(cells);
                continue;
            }
            "contributor" => Role::Contributor,
            "candidate" => Role::Candidate,
            _ => {
                return fail(
                    &role_at.path,
                    format!(
                        "found {}, expected \"host\", \"contributor\" or \"candidate\"",
                        show(role_at.value)
                    ),
                );
            }
        };
        let decoded = match role {
            Role::Contributor => item.field("decoded")?.flag()?,
            Role::Candidate => false,
        };
        agents.push(Agent {
            id,
            role,
            cells,
            decoded,
            decoded_fraction: item.field("decoded_fraction")?.number(SHARE)?,
            report_bytes: item.field("report_bytes")?.number(NOT_NEGATIVE)?,
            broadcast_bytes: item.field("broadcast_bytes")?.number(NOT_NEGATIVE)?,
            prior_without: match item.optional("prior_without")? {
                Some(map) => Some(map.map()?),
                None => None,
            },
        });
    }
    ids.sort();
    for pair in ids.windows(2) {
        if pair[0].0 == pair[1].0 {
            return fail(
                &format!("{}.id", pair[1].1),
                format!("{} is given twice, expected each id once", pair[1].0),
            );
        }
    }
    let Some(host_cells) = host_cells else {
        return fail(
            &list.path,
            "no agent has role \"host\", expected exactly one".to_string(),
        );
    };
    agents.sort_unstable_by_key(|agent| agent.id);
    Ok((host_cells, agents))
}
