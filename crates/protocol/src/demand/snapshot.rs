//! One choice by demand as a file: `covey.demand-snapshot/1` in, `covey.demand-decision/1` out.
//!
//! The snapshot holds a [`DemandProblem`] with agents and objects named by id; docs/protocol.md describes its fields. Deciding runs
//! [`Selection::choose`], the code that hosts run.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::{Value, json};

use super::select::{
    DemandCandidate, DemandListener, DemandProblem, Need, Object, Pick, Selection,
};
use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::link::{BINS, LinkQuality};
use crate::snapshot::SnapshotError;
use crate::snapshot::parse::{ANY, At, NOT_NEGATIVE, Result, SHARE, fail, top};

/// The schema that [`DemandSnapshot::parse`] reads.
pub const DEMAND_SNAPSHOT_SCHEMA: &str = "covey.demand-snapshot/1";
/// The schema that a [`DemandOutcome`] is written in.
pub const DEMAND_DECISION_SCHEMA: &str = "covey.demand-decision/1";

/// What a host knew when it chose by demand.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandSnapshot {
    /// The host.
    pub host: AgentId,
    /// What there was to choose from.
    pub problem: DemandProblem,
}

/// A choice with its reasons; serialises as `covey.demand-decision/1`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DemandOutcome {
    /// [`DEMAND_DECISION_SCHEMA`].
    pub schema: &'static str,
    /// The host.
    pub host: u64,
    /// Everything picked, in order.
    pub picks: Vec<PickRow>,
    /// Who reports in the next cycle, by id.
    pub contributors: Vec<u64>,
    /// What the broadcast lists, by id.
    pub repeat: Vec<u64>,
    /// What is asked for although it beacons, by id.
    pub requested: Vec<u64>,
    /// Expected bytes of broadcast and reports.
    pub bytes: f64,
    /// The budget.
    pub budget_bytes: f64,
    /// Needs that stay open, expected: at the end of this cycle and of the next.
    pub open_now: f64,
    /// At the end of the next cycle.
    pub open_next: f64,
    /// Something worth picking did not fit.
    pub cut: bool,
}

/// A pick, as written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PickRow {
    /// `report`, `repeat` or `request`.
    pub pick: &'static str,
    /// Of the agent or object.
    pub id: u64,
    /// Expected number of needs fulfilled, and the bonus.
    pub gain: f64,
    /// Expected bytes.
    pub bytes: f64,
}

impl DemandSnapshot {
    /// Reads and checks a snapshot.
    ///
    /// # Errors
    /// Anything that is not a snapshot of this schema; the error names the field.
    pub fn parse(json: &str) -> core::result::Result<Self, SnapshotError> {
        let value = top(json)?;
        let at = At::of(&value);
        let schema = at.field("schema")?;
        if schema.text()? != DEMAND_SNAPSHOT_SCHEMA {
            return fail("schema", format!("expected \"{DEMAND_SNAPSHOT_SCHEMA}\""));
        }
        let rules = at.field("parameters")?;
        let number = |key: &str| rules.field(key)?.number(NOT_NEGATIVE);
        let host = at.field("host")?;
        let listeners = by_id(
            &at.field("listeners")?,
            |item| {
                Ok(DemandListener {
                    id: AgentId(item.field("id")?.whole()?),
                    position: position(item)?,
                })
            },
            |l: &DemandListener| l.id.0,
        )?;
        let objects = by_id(
            &at.field("objects")?,
            |item| {
                let repeat = item.field("repeat_bytes")?;
                Ok(Object {
                    id: ObjectId(item.field("id")?.whole()?),
                    silent: item.field("silent")?.flag()?,
                    repeat_bytes: match repeat.is_null() {
                        true => None,
                        false => Some(repeat.number(NOT_NEGATIVE)?),
                    },
                })
            },
            |o: &Object| o.id.0,
        )?;
        let listener = |item: &At<'_>| {
            let id = item.whole()?;
            match listeners.binary_search_by_key(&id, |l| l.id.0) {
                Ok(found) => Ok(found as u32),
                Err(_) => fail(item.path(), format!("found {id}, expected a listener's id")),
            }
        };
        let object = |item: &At<'_>| {
            let id = item.whole()?;
            match objects.binary_search_by_key(&id, |o| o.id.0) {
                Ok(found) => Ok(found as u32),
                Err(_) => fail(item.path(), format!("found {id}, expected an object's id")),
            }
        };
        let mut needs = Vec::new();
        let field = at.field("needs")?;
        for item in field.items()? {
            let [who, what, now, next] = item.tuple("a need [listener, object, now, next]")?;
            needs.push(Need {
                listener: listener(&who)?,
                object: object(&what)?,
                now: now.number(SHARE)?,
                next: next.number(SHARE)?,
            });
        }
        needs.sort_by_key(|need| (need.object, need.listener));
        if let Some(pair) = needs
            .windows(2)
            .find(|p| (p[0].object, p[0].listener) == (p[1].object, p[1].listener))
        {
            let id = objects[pair[0].object as usize].id;
            return fail(
                "needs",
                format!("object {id} is given twice for one listener"),
            );
        }
        let candidates = by_id(
            &at.field("candidates")?,
            |item| {
                let mut views = Vec::new();
                for view in item.field("views")?.items()? {
                    let [what, chance] = view.tuple("a view [object, chance]")?;
                    views.push((object(&what)?, chance.number(SHARE)?));
                }
                views.sort_by_key(|view| view.0);
                if views.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                    let views = item.field("views")?;
                    return fail(views.path(), "an object is given twice".to_string());
                }
                Ok(DemandCandidate {
                    id: AgentId(item.field("id")?.whole()?),
                    position: position(item)?,
                    command: item.field("command")?.number(SHARE)?,
                    bonus: item.field("bonus")?.number(NOT_NEGATIVE)?,
                    extra_bytes: item.field("extra_bytes")?.number(NOT_NEGATIVE)?,
                    views,
                })
            },
            |c: &DemandCandidate| c.id.0,
        )?;
        let delivery = at.field("delivery")?;
        let mut shares = Vec::new();
        for item in delivery.items()? {
            shares.push(item.number(SHARE)?);
        }
        if shares.is_empty() || shares.len() > BINS {
            return fail(
                "delivery",
                format!("found {} shares, expected 1 to {BINS}", shares.len()),
            );
        }
        let factor = rules.field("request_factor")?;
        Ok(Self {
            host: AgentId(host.field("id")?.whole()?),
            problem: DemandProblem {
                budget_bytes: number("budget_bytes")?,
                base_bytes: number("base_bytes")?,
                report_bytes: number("report_bytes")?,
                object_bytes: number("object_bytes")?,
                requested_bytes: number("requested_bytes")?,
                threshold: number("threshold")?,
                least_gain: number("least_gain")?,
                request_factor: match factor.is_null() {
                    true => None,
                    false => Some(factor.number(NOT_NEGATIVE)?),
                },
                host: position(&host)?,
                links: LinkQuality::fixed(&shares),
                listeners,
                objects,
                needs,
                candidates,
            },
        })
    }

    /// The snapshot as JSON of schema `covey.demand-snapshot/1`; [`DemandSnapshot::parse`] gives it back.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The snapshot as a JSON value of schema `covey.demand-snapshot/1`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let p = &self.problem;
        let place = |at: Position| json!([at.x, at.y]);
        let listener = |k: u32| p.listeners[k as usize].id.0;
        let object = |k: u32| p.objects[k as usize].id.0;
        let listeners = p.listeners.iter();
        let listeners = listeners.map(|l| json!({"id": l.id.0, "position": place(l.position)}));
        let objects = p.objects.iter();
        let objects = objects
            .map(|o| json!({"id": o.id.0, "silent": o.silent, "repeat_bytes": o.repeat_bytes}));
        let needs = p.needs.iter();
        let needs = needs.map(|n| json!([listener(n.listener), object(n.object), n.now, n.next]));
        let candidates = p.candidates.iter().map(|c| {
            let views = c
                .views
                .iter()
                .map(|&(k, chance)| json!([object(k), chance]));
            json!({
                "id": c.id.0, "position": place(c.position), "command": c.command, "bonus": c.bonus,
                "extra_bytes": c.extra_bytes, "views": views.collect::<Vec<_>>(),
            })
        });
        json!({
            "schema": DEMAND_SNAPSHOT_SCHEMA,
            "host": {"id": self.host.0, "position": place(p.host)},
            "parameters": {
                "budget_bytes": p.budget_bytes,
                "base_bytes": p.base_bytes,
                "report_bytes": p.report_bytes,
                "object_bytes": p.object_bytes,
                "requested_bytes": p.requested_bytes,
                "threshold": p.threshold,
                "least_gain": p.least_gain,
                "request_factor": p.request_factor,
            },
            "delivery": p.links.shares(),
            "listeners": listeners.collect::<Vec<_>>(),
            "objects": objects.collect::<Vec<_>>(),
            "needs": needs.collect::<Vec<_>>(),
            "candidates": candidates.collect::<Vec<_>>(),
        })
    }

    /// Chooses, and says why.
    #[must_use]
    pub fn decide(&self) -> DemandOutcome {
        let problem = &self.problem;
        let chosen = Selection::choose(problem);
        let agent = |k: u32| problem.candidates[k as usize].id.0;
        let object = |k: u32| problem.objects[k as usize].id.0;
        let picks = chosen.picks.iter().map(|picked| {
            let (pick, id) = match picked.pick {
                Pick::Report(k) => ("report", agent(k)),
                Pick::Repeat(k) => ("repeat", object(k)),
                Pick::Request(k) => ("request", object(k)),
            };
            PickRow {
                pick,
                id,
                gain: picked.gain,
                bytes: picked.bytes,
            }
        });
        DemandOutcome {
            schema: DEMAND_DECISION_SCHEMA,
            host: self.host.0,
            picks: picks.collect(),
            contributors: chosen.reports().into_iter().map(agent).collect(),
            repeat: chosen.repeats().into_iter().map(object).collect(),
            requested: chosen.requests().into_iter().map(object).collect(),
            bytes: chosen.bytes,
            budget_bytes: problem.budget_bytes,
            open_now: chosen.open[0],
            open_next: chosen.open[1],
            cut: chosen.cut,
        }
    }
}

impl DemandOutcome {
    /// What is no longer a finite number, where the snapshot's numbers are together too large to compute with.
    #[must_use]
    pub fn overflow(&self) -> Option<String> {
        let picks = self.picks.iter().map(|p| p.gain + p.bytes);
        let all = picks.chain([self.bytes, self.open_now, self.open_next]);
        let odd = all.into_iter().any(|x| !x.is_finite());
        odd.then(|| "a gain or a number of bytes".into())
    }
}

fn position(item: &At<'_>) -> Result<Position> {
    let [x, y] = item.field("position")?.tuple("a position [x, y]")?;
    Ok(Position::new(x.number(ANY)?, y.number(ANY)?))
}

/// A list of things with ids, by ascending id; an id given twice is refused.
fn by_id<T>(
    list: &At<'_>,
    read: impl Fn(&At<'_>) -> Result<T>,
    id: impl Fn(&T) -> u64,
) -> Result<Vec<T>> {
    let mut things = Vec::new();
    for item in list.items()? {
        things.push(read(&item)?);
    }
    things.sort_by_key(&id);
    if let Some(pair) = things.windows(2).find(|pair| id(&pair[0]) == id(&pair[1])) {
        return fail(
            list.path(),
            format!("id {} is given twice, expected each id once", id(&pair[0])),
        );
    }
    Ok(things)
}
