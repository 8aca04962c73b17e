//! Demand blocks: what every host of an arm that chooses by demand knew and picked, exactly.
//!
//! `v` number of values and that many f64, as in a decision block. Then `v` number of choices, and for each `v` cycle, `v` host, `v`
//! length and that many bytes: `z` tile column and row; one byte (1 positions are rounded, 2 there is a request factor, 4 there are tracks); values
//! budget, base, report, object and requested bytes, threshold, least gain, and the request factor where there is one; the host's position;
//! twelve values (delivery by distance); `v` number of listeners and per listener `v` id less the one before less 1 (the first: its id) and a position; `v` number
//! of objects and per object `v` id likewise, one byte (1 silent, 2 can be repeated), a value (bytes) where it can; per object
//! `v` number of needs and per need `v` listener less the one before less 1 and two values (now, next); `v` number of candidates and per candidate
//! `v` id likewise, one byte (1 it is a listener, at the same place), a position where it is not, three values (command, bonus, extra bytes), `v` number of
//! views and per view `v` object less the one before less 1 and a value (chance); `v` number of picks and per pick one byte
//! (0 report, 1 repeat, 2 request) and `v` number of the candidate or object; where there are tracks `v` number of them and per track `v`
//! object less the one before less 1, two `z` numbers (place in cm less that of the track before), `v` heading, length, width and age.
//!
//! A position is two values, or, where positions are rounded, two `z` numbers of tenths of a millimetre less those of the position
//! before. They are rounded only where the choice made from the rounded ones is the same, gains included, to the last bit: positions
//! matter by 50 m bins of distance alone, so that is nearly always.

use covey_protocol::AgentId;
use covey_protocol::ObjectId;
use covey_protocol::demand::select::{
    DemandCandidate, DemandListener, DemandProblem, Need, Object, Pick, Selection,
};
use covey_protocol::demand::snapshot::DemandSnapshot;
use covey_protocol::grid::Position;
use covey_protocol::link::{BINS, LinkQuality};

use super::bytes::{Fault, Take, put_v, put_z};
use super::values::{Encoder, Entry, Values};
use super::{DemandDecision, Track};

/// Rounded positions are in this many metres.
const UNIT: f64 = 1e-4;
/// The bit of a choice that has tracks.
const TRACKS: u8 = 4;
/// Rounded positions lie within this many metres; others stay as they are.
const FAR: f64 = 1e8;

fn round(at: Position) -> Position {
    Position::new((at.x / UNIT).round() * UNIT, (at.y / UNIT).round() * UNIT)
}

/// The problem with rounded positions; none where another choice would come of it.
fn rounded(problem: &DemandProblem) -> Option<DemandProblem> {
    let mut other = problem.clone();
    other.host = round(other.host);
    for listener in &mut other.listeners {
        listener.position = round(listener.position);
    }
    for candidate in &mut other.candidates {
        candidate.position = round(candidate.position);
    }
    let mut places = other.listeners.iter().map(|l| l.position);
    let near = |p: Position| p.x.abs() < FAR && p.y.abs() < FAR;
    let all_near =
        places.all(near) && near(other.host) && other.candidates.iter().all(|c| near(c.position));
    (all_near && Selection::choose(problem) == Selection::choose(&other)).then_some(other)
}

/// Positions one after the other.
struct Places {
    rounded: bool,
    last: [i64; 2],
}

impl Places {
    fn put(&mut self, values: &mut Encoder, out: &mut Vec<u8>, at: Position) {
        for (last, x) in self.last.iter_mut().zip([at.x, at.y]) {
            if self.rounded {
                let units = (x / UNIT).round() as i64;
                put_z(out, units - *last);
                *last = units;
            } else {
                values.value(out, x);
            }
        }
    }

    fn take(&mut self, values: &Values, take: &mut Take<'_>) -> Result<Position, Fault> {
        let mut at = [0.0; 2];
        for (last, x) in self.last.iter_mut().zip(&mut at) {
            *x = if self.rounded {
                *last = last.saturating_add(take.z()?);
                *last as f64 * UNIT
            } else {
                values.take(take)?
            };
        }
        Ok(Position::new(at[0], at[1]))
    }
}

/// Ids or numbers that ascend.
#[derive(Default)]
struct Ascending(u64);

impl Ascending {
    fn put(&mut self, out: &mut Vec<u8>, id: u64) {
        put_v(out, id.wrapping_sub(self.0));
        self.0 = id.wrapping_add(1);
    }

    fn take(&mut self, take: &mut Take<'_>) -> Result<u64, Fault> {
        let id = self.0.checked_add(take.v()?);
        let id = id.ok_or("an id of more than 64 bits")?;
        self.0 = id.saturating_add(1);
        Ok(id)
    }

    /// One that counts something of which there are `len`.
    fn take_below(&mut self, take: &mut Take<'_>, len: usize) -> Result<u32, Fault> {
        let number = self.take(take)?;
        let below = usize::try_from(number).is_ok_and(|n| n < len);
        match u32::try_from(number) {
            Ok(number) if below => Ok(number),
            _ => Err(format!("number {number} of {len}")),
        }
    }
}

pub(super) fn push(encoder: &mut Encoder, cycle: u32, decision: &DemandDecision) {
    let mut out = Vec::new();
    put(encoder, &mut out, decision);
    encoder.push(cycle, decision.snapshot.host.0, &out);
}

fn put(values: &mut Encoder, out: &mut Vec<u8>, decision: &DemandDecision) {
    let exact = &decision.snapshot.problem;
    let rounded = rounded(exact);
    let p = rounded.as_ref().unwrap_or(exact);
    put_z(out, i64::from(decision.tile[0]));
    put_z(out, i64::from(decision.tile[1]));
    out.push(u8::from(rounded.is_some()) | u8::from(p.request_factor.is_some()) << 1 | TRACKS);
    for x in [
        p.budget_bytes,
        p.base_bytes,
        p.report_bytes,
        p.object_bytes,
        p.requested_bytes,
        p.threshold,
        p.least_gain,
    ]
    .into_iter()
    .chain(p.request_factor)
    {
        values.value(out, x);
    }
    let mut places = Places {
        rounded: rounded.is_some(),
        last: [0; 2],
    };
    places.put(values, out, p.host);
    for &share in p.links.shares() {
        values.value(out, share);
    }
    put_v(out, p.listeners.len() as u64);
    let mut ids = Ascending::default();
    for listener in &p.listeners {
        ids.put(out, listener.id.0);
        places.put(values, out, listener.position);
    }
    put_objects(values, out, p);
    put_candidates(values, out, p, &mut places);
    put_v(out, decision.picks.len() as u64);
    for pick in &decision.picks {
        let (kind, number) = match *pick {
            Pick::Report(k) => (0, k),
            Pick::Repeat(k) => (1, k),
            Pick::Request(k) => (2, k),
        };
        out.push(kind);
        put_v(out, u64::from(number));
    }
    put_tracks(out, &decision.tracks);
}

fn put_tracks(out: &mut Vec<u8>, tracks: &[Track]) {
    put_v(out, tracks.len() as u64);
    let mut objects = Ascending::default();
    let mut last = [0; 2];
    for track in tracks {
        objects.put(out, u64::from(track.object));
        let place = [i64::from(track.x_cm), i64::from(track.y_cm)];
        put_z(out, place[0] - last[0]);
        put_z(out, place[1] - last[1]);
        last = place;
        for x in [track.heading, track.length_cm, track.width_cm] {
            put_v(out, u64::from(x));
        }
        put_v(out, u64::from(track.age_ms));
    }
}

fn take_tracks(take: &mut Take<'_>, objects: usize) -> Result<Vec<Track>, Fault> {
    let n = take.count(7)?;
    let mut numbers = Ascending::default();
    let mut last = [0i64; 2];
    let mut tracks = Vec::with_capacity(n);
    for _ in 0..n {
        let object = numbers.take_below(take, objects)?;
        for x in &mut last {
            *x = x.saturating_add(take.z()?);
        }
        let cm = |x: i64| i32::try_from(x).map_err(|_| format!("a place of {x} cm"));
        let short = |x: u64| u16::try_from(x).map_err(|_| format!("{x} in a track"));
        tracks.push(Track {
            object,
            x_cm: cm(last[0])?,
            y_cm: cm(last[1])?,
            heading: short(take.v()?)?,
            length_cm: short(take.v()?)?,
            width_cm: short(take.v()?)?,
            age_ms: take.v32()?,
        });
    }
    Ok(tracks)
}

/// Objects, then who needs each of them.
fn put_objects(values: &mut Encoder, out: &mut Vec<u8>, p: &DemandProblem) {
    put_v(out, p.objects.len() as u64);
    let mut ids = Ascending::default();
    for object in &p.objects {
        ids.put(out, object.id.0);
        out.push(u8::from(object.silent) | u8::from(object.repeat_bytes.is_some()) << 1);
        if let Some(bytes) = object.repeat_bytes {
            values.value(out, bytes);
        }
    }
    let mut needs = &p.needs[..];
    for number in 0..p.objects.len() as u32 {
        let count = needs.partition_point(|need| need.object <= number);
        let (of, rest) = needs.split_at(count);
        needs = rest;
        put_v(out, of.len() as u64);
        let mut listeners = Ascending::default();
        for need in of {
            listeners.put(out, u64::from(need.listener));
            values.value(out, need.now);
            values.value(out, need.next);
        }
    }
}

fn put_candidates(values: &mut Encoder, out: &mut Vec<u8>, p: &DemandProblem, places: &mut Places) {
    put_v(out, p.candidates.len() as u64);
    let mut ids = Ascending::default();
    for candidate in &p.candidates {
        ids.put(out, candidate.id.0);
        let listens = listener_at(&p.listeners, candidate.id) == Some(candidate.position);
        out.push(u8::from(listens));
        if !listens {
            places.put(values, out, candidate.position);
        }
        for x in [candidate.command, candidate.bonus, candidate.extra_bytes] {
            values.value(out, x);
        }
        put_v(out, candidate.views.len() as u64);
        let mut objects = Ascending::default();
        for &(object, chance) in &candidate.views {
            objects.put(out, u64::from(object));
            values.value(out, chance);
        }
    }
}

fn listener_at(listeners: &[DemandListener], id: AgentId) -> Option<Position> {
    let at = listeners.binary_search_by_key(&id, |listener| listener.id);
    at.ok().map(|at| listeners[at].position)
}

pub(super) fn decode(values: &Values, entry: &Entry<'_>) -> Result<DemandDecision, Fault> {
    let mut take = Take::new(entry.bytes);
    let decision = decision(values, &mut take, AgentId(entry.host))?;
    take.end()?;
    Ok(decision)
}

fn decision(values: &Values, take: &mut Take<'_>, host: AgentId) -> Result<DemandDecision, Fault> {
    let tile = [take.z32()?, take.z32()?];
    let bits = take.byte()?;
    let mut numbers = [0.0; 7];
    for x in &mut numbers {
        *x = values.take(take)?;
    }
    let request_factor = match bits & 2 {
        0 => None,
        _ => Some(values.take(take)?),
    };
    let mut places = Places {
        rounded: bits & 1 != 0,
        last: [0; 2],
    };
    let position = places.take(values, take)?;
    let mut shares = [0.0; BINS];
    for share in &mut shares {
        *share = values.take(take)?;
    }
    let n = take.count(3)?;
    let mut ids = Ascending::default();
    let mut listeners = Vec::with_capacity(n);
    for _ in 0..n {
        listeners.push(DemandListener {
            id: AgentId(ids.take(take)?),
            position: places.take(values, take)?,
        });
    }
    let objects = take_objects(values, take)?;
    let needs = take_needs(values, take, &listeners, objects.len())?;
    let candidates = take_candidates(values, take, &mut places, &listeners, objects.len())?;
    let picks = take_picks(take, candidates.len(), objects.len())?;
    let tracks = match bits & TRACKS {
        0 => Vec::new(),
        _ => take_tracks(take, objects.len())?,
    };
    let [
        budget_bytes,
        base_bytes,
        report_bytes,
        object_bytes,
        requested_bytes,
        threshold,
        least_gain,
    ] = numbers;
    let problem = DemandProblem {
        budget_bytes,
        base_bytes,
        report_bytes,
        object_bytes,
        requested_bytes,
        threshold,
        least_gain,
        request_factor,
        host: position,
        links: LinkQuality::fixed(&shares),
        listeners,
        objects,
        needs,
        candidates,
    };
    Ok(DemandDecision {
        tile,
        snapshot: DemandSnapshot { host, problem },
        picks,
        tracks,
    })
}

fn take_objects(values: &Values, take: &mut Take<'_>) -> Result<Vec<Object>, Fault> {
    let n = take.count(2)?;
    let mut ids = Ascending::default();
    let mut objects = Vec::with_capacity(n);
    for _ in 0..n {
        let id = ObjectId(ids.take(take)?);
        let bits = take.byte()?;
        objects.push(Object {
            id,
            silent: bits & 1 != 0,
            repeat_bytes: match bits & 2 {
                0 => None,
                _ => Some(values.take(take)?),
            },
        });
    }
    Ok(objects)
}

fn take_needs(
    values: &Values,
    take: &mut Take<'_>,
    listeners: &[DemandListener],
    objects: usize,
) -> Result<Vec<Need>, Fault> {
    let mut needs = Vec::new();
    for object in 0..objects as u32 {
        let n = take.count(3)?;
        let mut numbers = Ascending::default();
        for _ in 0..n {
            needs.push(Need {
                listener: numbers.take_below(take, listeners.len())?,
                object,
                now: values.take(take)?,
                next: values.take(take)?,
            });
        }
    }
    Ok(needs)
}

fn take_candidates(
    values: &Values,
    take: &mut Take<'_>,
    places: &mut Places,
    listeners: &[DemandListener],
    objects: usize,
) -> Result<Vec<DemandCandidate>, Fault> {
    let n = take.count(6)?;
    let mut ids = Ascending::default();
    let mut candidates = Vec::with_capacity(n);
    for _ in 0..n {
        let id = AgentId(ids.take(take)?);
        let position = match take.byte()? & 1 {
            0 => places.take(values, take)?,
            _ => listener_at(listeners, id).ok_or_else(|| format!("no listener {id}"))?,
        };
        let [command, bonus, extra_bytes] =
            [values.take(take)?, values.take(take)?, values.take(take)?];
        let n = take.count(2)?;
        let mut numbers = Ascending::default();
        let mut views = Vec::with_capacity(n);
        for _ in 0..n {
            let object = numbers.take_below(take, objects)?;
            views.push((object, values.take(take)?));
        }
        candidates.push(DemandCandidate {
            id,
            position,
            command,
            bonus,
            extra_bytes,
            views,
        });
    }
    Ok(candidates)
}

fn take_picks(take: &mut Take<'_>, candidates: usize, objects: usize) -> Result<Vec<Pick>, Fault> {
    let n = take.count(2)?;
    let mut picks = Vec::with_capacity(n);
    for _ in 0..n {
        let kind = take.byte()?;
        let number = take.v32()?;
        let (pick, of) = match kind {
            0 => (Pick::Report(number), candidates),
            1 => (Pick::Repeat(number), objects),
            2 => (Pick::Request(number), objects),
            other => return Err(format!("pick {other}, expected at most 2")),
        };
        if number as usize >= of {
            return Err(format!("pick of number {number} of {of}"));
        }
        picks.push(pick);
    }
    Ok(picks)
}
