//! `covey.demand-snapshot/1` as a file has it, and the checks that turn it into a [`DemandSnapshot`].

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{DEMAND_SNAPSHOT_SCHEMA, DemandSnapshot};
use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::link::{BINS, LinkQuality};
use crate::select::{DemandCandidate, DemandListener, DemandProblem, Need, Object};
use crate::snapshot::reading::{
    Checked, Shape, fail, not_negative, not_negative_or_null, object, objects, row, rows, shapes,
    share, shares,
};

/// A snapshot, as written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    schema: String,
    #[serde(deserialize_with = "object")]
    host: PlacePart,
    #[serde(deserialize_with = "object")]
    parameters: ParametersPart,
    #[serde(deserialize_with = "shares")]
    delivery: Vec<f64>,
    #[serde(deserialize_with = "objects")]
    listeners: Vec<PlacePart>,
    #[serde(deserialize_with = "objects")]
    objects: Vec<ObjectPart>,
    #[serde(deserialize_with = "rows")]
    needs: Vec<NeedRow>,
    #[serde(deserialize_with = "objects")]
    candidates: Vec<CandidatePart>,
}

/// Somebody at a place: the host or a listener.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlacePart {
    id: u64,
    #[serde(deserialize_with = "row")]
    position: PositionRow,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParametersPart {
    #[serde(deserialize_with = "not_negative")]
    budget_bytes: f64,
    #[serde(deserialize_with = "not_negative")]
    base_bytes: f64,
    #[serde(deserialize_with = "not_negative")]
    report_bytes: f64,
    #[serde(deserialize_with = "not_negative")]
    object_bytes: f64,
    #[serde(deserialize_with = "not_negative")]
    requested_bytes: f64,
    #[serde(deserialize_with = "not_negative")]
    threshold: f64,
    #[serde(deserialize_with = "not_negative")]
    least_gain: f64,
    #[serde(deserialize_with = "not_negative_or_null")]
    request_factor: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectPart {
    id: u64,
    silent: bool,
    #[serde(deserialize_with = "not_negative_or_null")]
    repeat_bytes: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CandidatePart {
    id: u64,
    #[serde(deserialize_with = "row")]
    position: PositionRow,
    #[serde(deserialize_with = "share")]
    command: f64,
    #[serde(deserialize_with = "not_negative")]
    bonus: f64,
    #[serde(deserialize_with = "not_negative")]
    extra_bytes: f64,
    #[serde(deserialize_with = "rows")]
    views: Vec<ViewRow>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "a position [x, y]")]
struct PositionRow(f64, f64);

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "a need [listener, object, now, next]")]
struct NeedRow(
    u64,
    u64,
    #[serde(deserialize_with = "share")] f64,
    #[serde(deserialize_with = "share")] f64,
);

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(expecting = "a view [object, chance]")]
struct ViewRow(u64, #[serde(deserialize_with = "share")] f64);

shapes! {
    Document = "a snapshot {…}",
    PlacePart = "an id and a position {…}",
    ParametersPart = "parameters {…}",
    ObjectPart = "an object {…}",
    CandidatePart = "a candidate {…}",
    PositionRow = "a position [x, y]",
    NeedRow = "a need [listener, object, now, next]",
    ViewRow = "a view [object, chance]",
}

impl PositionRow {
    fn position(self) -> Position {
        Position::new(self.0, self.1)
    }

    fn of(position: Position) -> Self {
        Self(position.x, position.y)
    }
}

impl Document {
    /// The snapshot that it describes.
    pub(super) fn check(self) -> Checked<DemandSnapshot> {
        let listeners = by_id(
            "listeners",
            self.listeners.iter().map(|part| DemandListener {
                id: AgentId(part.id),
                position: part.position.position(),
            }),
            |listener| listener.id.0,
        )?;
        let objects = by_id(
            "objects",
            self.objects.iter().map(|part| Object {
                id: ObjectId(part.id),
                silent: part.silent,
                repeat_bytes: part.repeat_bytes,
            }),
            |object| object.id.0,
        )?;
        let needs = needs(&self.needs, &listeners, &objects)?;
        let mut candidates = Vec::with_capacity(self.candidates.len());
        for (at, part) in self.candidates.iter().enumerate() {
            candidates.push(part.candidate(&format!("candidates[{at}].views"), &objects)?);
        }
        let candidates = by_id("candidates", candidates.into_iter(), |c| c.id.0)?;
        if !(1..=BINS).contains(&self.delivery.len()) {
            let found = self.delivery.len();
            return fail(
                "delivery",
                format!("found {found} shares, expected 1 to {BINS}"),
            );
        }
        let p = &self.parameters;
        Ok(DemandSnapshot {
            host: AgentId(self.host.id),
            problem: DemandProblem {
                budget_bytes: p.budget_bytes,
                base_bytes: p.base_bytes,
                report_bytes: p.report_bytes,
                object_bytes: p.object_bytes,
                requested_bytes: p.requested_bytes,
                threshold: p.threshold,
                least_gain: p.least_gain,
                request_factor: p.request_factor,
                host: self.host.position.position(),
                links: LinkQuality::fixed(&self.delivery),
                listeners,
                objects,
                needs,
                candidates,
            },
        })
    }

    /// The document of a snapshot.
    pub(super) fn of(snapshot: &DemandSnapshot) -> Self {
        let p = &snapshot.problem;
        let place = |id: AgentId, position: Position| PlacePart {
            id: id.0,
            position: PositionRow::of(position),
        };
        let listener = |k: u32| p.listeners[k as usize].id.0;
        let object = |k: u32| p.objects[k as usize].id.0;
        let objects = p.objects.iter().map(|o| ObjectPart {
            id: o.id.0,
            silent: o.silent,
            repeat_bytes: o.repeat_bytes,
        });
        let needs = p.needs.iter();
        let needs = needs.map(|n| NeedRow(listener(n.listener), object(n.object), n.now, n.next));
        let candidates = p.candidates.iter().map(|c| CandidatePart {
            id: c.id.0,
            position: PositionRow::of(c.position),
            command: c.command,
            bonus: c.bonus,
            extra_bytes: c.extra_bytes,
            views: c
                .views
                .iter()
                .map(|&(k, chance)| ViewRow(object(k), chance))
                .collect(),
        });
        Self {
            schema: DEMAND_SNAPSHOT_SCHEMA.to_owned(),
            host: place(snapshot.host, p.host),
            parameters: ParametersPart {
                budget_bytes: p.budget_bytes,
                base_bytes: p.base_bytes,
                report_bytes: p.report_bytes,
                object_bytes: p.object_bytes,
                requested_bytes: p.requested_bytes,
                threshold: p.threshold,
                least_gain: p.least_gain,
                request_factor: p.request_factor,
            },
            delivery: p.links.shares().to_vec(),
            listeners: p
                .listeners
                .iter()
                .map(|l| place(l.id, l.position))
                .collect(),
            objects: objects.collect(),
            needs: needs.collect(),
            candidates: candidates.collect(),
        }
    }
}

impl CandidatePart {
    /// The candidate; its views are at `path`.
    fn candidate(&self, path: &str, objects: &[Object]) -> Checked<DemandCandidate> {
        let mut views = Vec::with_capacity(self.views.len());
        for (at, view) in self.views.iter().enumerate() {
            views.push((
                number(objects, view.0, || format!("{path}[{at}][0]"))?,
                view.1,
            ));
        }
        views.sort_by_key(|view| view.0);
        if views.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return fail(path, "an object is given twice, expected each once");
        }
        Ok(DemandCandidate {
            id: AgentId(self.id),
            position: self.position.position(),
            command: self.command,
            bonus: self.bonus,
            extra_bytes: self.extra_bytes,
            views,
        })
    }
}

/// Who needs what, by object and listener.
fn needs(rows: &[NeedRow], listeners: &[DemandListener], objects: &[Object]) -> Checked<Vec<Need>> {
    let mut needs = Vec::with_capacity(rows.len());
    for (at, &NeedRow(who, what, now, next)) in rows.iter().enumerate() {
        let Ok(listener) = listeners.binary_search_by_key(&who, |l| l.id.0) else {
            let path = format!("needs[{at}][0]");
            return fail(path, format!("found {who}, expected a listener's id"));
        };
        needs.push(Need {
            listener: listener as u32,
            object: number(objects, what, || format!("needs[{at}][1]"))?,
            now,
            next,
        });
    }
    let pair = |need: &Need| (need.object, need.listener);
    needs.sort_by_key(pair);
    if let Some(twice) = needs.windows(2).find(|p| pair(&p[0]) == pair(&p[1])) {
        let id = objects[twice[0].object as usize].id;
        return fail(
            "needs",
            format!("object {id} is given twice for one listener"),
        );
    }
    Ok(needs)
}

/// The number of the object with this id, which stands at `path`.
fn number(objects: &[Object], id: u64, path: impl Fn() -> String) -> Checked<u32> {
    match objects.binary_search_by_key(&id, |o| o.id.0) {
        Ok(found) => Ok(found as u32),
        Err(_) => fail(path(), format!("found {id}, expected an object's id")),
    }
}

/// Things with ids, by ascending id; an id given twice is refused.
fn by_id<T>(
    path: &str,
    things: impl Iterator<Item = T>,
    id: impl Fn(&T) -> u64,
) -> Checked<Vec<T>> {
    let mut things: Vec<T> = things.collect();
    things.sort_by_key(&id);
    if let Some(pair) = things.windows(2).find(|pair| id(&pair[0]) == id(&pair[1])) {
        let twice = id(&pair[0]);
        return fail(
            path,
            format!("id {twice} is given twice, expected each id once"),
        );
    }
    Ok(things)
}
