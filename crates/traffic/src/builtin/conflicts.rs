//! Where ways inside a junction meet.
//!
//! Who is whose foe, and who yields, comes from the junction's right-of-way table; where, from the shapes. Ways from the
//! same lane and ways into the same lane always meet. Where a junction has no table, ways that come close are foes, and the
//! one from the road of lower priority yields (of equals, the one listed later).

use super::roads::{Conflict, Meeting, Track, TrackKind, WayPath};
use covey_world::network::{ConnectionIx, Network};
use covey_world::{Point, Polyline};

/// Two centre lines nearer than this (m) cannot be used side by side: half a car plus half a heavy vehicle, and a little.
const CLEARANCE: f64 = 2.5;
/// Ways from the same lane part where their centre lines are this far apart, m.
const PARTING: f64 = 2.5;
/// Distance between the points at which shapes are compared, m.
const SAMPLE: f64 = 0.5;

/// A place to wait inside a junction must be at least this far (m) from the line.
const LEAST_WAITING: f64 = 3.0;

/// Where two ways of a junction meet, in metres from their beginnings.
pub(crate) struct Encounter {
    ways: (usize, usize),
    meeting: Meeting,
    zones: ((f64, f64), (f64, f64)),
    /// Whether the first and the second yield.
    yields: (bool, bool),
}

/// All places where ways of one junction meet.
pub(crate) fn find(network: &Network, ways: &[&WayPath]) -> Vec<Encounter> {
    let samples: Vec<Vec<Point>> = ways.iter().map(|w| sample(&w.shape)).collect();
    let mut encounters = Vec::new();
    for (i, first) in ways.iter().enumerate() {
        for (j, second) in ways.iter().enumerate().skip(i + 1) {
            let (Some(a), Some(b)) = (first.connection(), second.connection()) else {
                continue;
            };
            let ca = &network.connections[a.index()];
            let cb = &network.connections[b.index()];
            let (foes, mut a_yields, mut b_yields) = relation(network, a, b);
            if !ever_together(network, a, b) {
                // They meet only if one waits inside the junction from its own green time on; then it goes first.
                (a_yields, b_yields) = (false, false);
            }
            let meeting = if ca.from == cb.from {
                Meeting::Diverge
            } else if ca.to == cb.to {
                Meeting::Merge
            } else if foes {
                Meeting::Cross
            } else {
                continue;
            };
            let line = |k: usize| (samples[k].as_slice(), ways[k].shape.length());
            if let Some(zones) = zone(meeting, line(i), line(j)) {
                encounters.push(Encounter {
                    ways: (i, j),
                    meeting,
                    zones,
                    yields: (a_yields, b_yields),
                });
            }
        }
    }
    encounters
}

/// Where vehicles on way `k` wait inside the junction without standing in the way of those they yield to.
pub(crate) fn waiting_place(way: &WayPath, k: usize, encounters: &[Encounter]) -> Option<f64> {
    let mut place = way.waiting?;
    for encounter in encounters {
        let mine = if encounter.ways.0 == k && encounter.yields.0 {
            encounter.zones.0
        } else if encounter.ways.1 == k && encounter.yields.1 {
            encounter.zones.1
        } else {
            continue;
        };
        if encounter.meeting != Meeting::Diverge {
            place = place.min(mine.0);
        }
    }
    (place >= LEAST_WAITING && place < way.shape.length() - 0.5).then_some(place)
}

/// Enters the encounters into the tracks that the ways were cut into.
pub(crate) fn assign(encounters: &[Encounter], cut: &[Vec<u32>], tracks: &mut [Track]) {
    for encounter in encounters {
        let (i, j) = encounter.ways;
        let mut start_a = 0.0;
        for (k, &a) in cut[i].iter().enumerate() {
            let length_a = tracks[a as usize].length;
            let mut start_b = 0.0;
            for (l, &b) in cut[j].iter().enumerate() {
                let length_b = tracks[b as usize].length;
                let last = k + 1 == cut[i].len() && l + 1 == cut[j].len();
                let meeting = match encounter.meeting {
                    Meeting::Merge if !last => Meeting::Cross,
                    meeting => meeting,
                };
                let mut za = clip(encounter.zones.0, start_a, length_a);
                let mut zb = clip(encounter.zones.1, start_b, length_b);
                if meeting == Meeting::Diverge {
                    // Counted from the lane's end, so that places on the two tracks can be compared.
                    za = za.map(|z| (-start_a, z.1));
                    zb = zb.map(|z| (-start_b, z.1));
                }
                start_b += length_b;
                if let (Some(za), Some(zb)) = (za, zb) {
                    let (ya, yb) = encounter.yields;
                    push(tracks, a, conflict(b, meeting, (za, zb), (ya, yb)));
                    push(tracks, b, conflict(a, meeting, (zb, za), (yb, ya)));
                }
            }
            start_a += length_a;
        }
    }
    // A way that others cross must be kept clear, and so must one that shares a lane with such a way: who stands on it holds
    // up those who follow, and they stand where others cross.
    let mut crossed = vec![false; cut.len()];
    for encounter in encounters {
        if encounter.meeting == Meeting::Cross {
            crossed[encounter.ways.0] = true;
            crossed[encounter.ways.1] = true;
        }
    }
    let mut clear = crossed.clone();
    for encounter in encounters {
        clear[encounter.ways.0] |= crossed[encounter.ways.1];
        clear[encounter.ways.1] |= crossed[encounter.ways.0];
    }
    for (ids, clear) in cut.iter().zip(clear) {
        for &id in ids {
            if let TrackKind::Crossing(c) = &mut tracks[id as usize].kind {
                c.keep_clear = clear;
            }
        }
    }
}

/// The part of a zone that lies on a track, in the track's coordinates.
fn clip(zone: (f64, f64), start: f64, length: f64) -> Option<(f64, f64)> {
    let from = (zone.0 - start).max(0.0);
    let to = (zone.1 - start).min(length);
    (to > from + 0.01).then_some((from, to))
}

fn conflict(
    other: u32,
    meeting: Meeting,
    (mine, its): ((f64, f64), (f64, f64)),
    (yields, other_yields): (bool, bool),
) -> Conflict {
    Conflict {
        other,
        meeting,
        enter: mine.0,
        exit: mine.1,
        other_enter: its.0,
        other_exit: its.1,
        yields,
        other_yields,
    }
}

fn push(tracks: &mut [Track], track: u32, conflict: Conflict) {
    if let TrackKind::Crossing(crossing) = &mut tracks[track as usize].kind {
        crossing.conflicts.push(conflict);
    }
}

/// Whether two connections of a junction are foes, and who of them yields.
fn relation(network: &Network, a: ConnectionIx, b: ConnectionIx) -> (bool, bool, bool) {
    let ca = &network.connections[a.index()];
    let cb = &network.connections[b.index()];
    let requests = &network.junctions[ca.junction.index()].requests;
    let row = |c: Option<u32>| c.and_then(|r| requests.get(r as usize));
    if let (Some(ra), Some(rb), Some(ia), Some(ib)) =
        (row(ca.request), row(cb.request), ca.request, cb.request)
    {
        let bit = |bits: &[bool], i: u32| bits.get(i as usize).copied().unwrap_or(false);
        let a_yields = bit(&ra.yields_to, ib);
        let b_yields = bit(&rb.yields_to, ia);
        let foes = bit(&ra.foes, ib) || bit(&rb.foes, ia) || a_yields || b_yields;
        return (foes, a_yields, b_yields);
    }
    let priority = |c: covey_world::network::LaneIx| {
        network.edges[network.lanes[c.index()].edge.index()].priority
    };
    let a_yields = priority(ca.from) < priority(cb.from);
    (true, a_yields, !a_yields)
}

/// Whether two connections may ever go at the same time: in some phase of a common light, or without one.
fn ever_together(network: &Network, a: ConnectionIx, b: ConnectionIx) -> bool {
    let ca = &network.connections[a.index()];
    let cb = &network.connections[b.index()];
    let (Some((sa, la)), Some((sb, lb))) = (ca.signal, cb.signal) else {
        return true;
    };
    let goes = |state: &[u8], link: u32| {
        !matches!(
            state.get(link as usize),
            None | Some(b'r' | b'u' | b'y' | b'Y')
        )
    };
    sa != sb
        || network.signals[sa.index()]
            .phases
            .iter()
            .any(|phase| goes(&phase.state, la) && goes(&phase.state, lb))
}

fn sample(shape: &Polyline) -> Vec<Point> {
    let length = shape.length();
    let n = (length / SAMPLE).ceil().clamp(1.0, 2000.0);
    (0..=n as usize)
        .map(|k| shape.point_at(length * k as f64 / n))
        .collect()
}

/// First and last position on `shape`'s samples that lie within `reach` of `other`'s.
fn near(samples: &[Point], length: f64, other: &[Point], reach: f64) -> Option<(f64, f64)> {
    let step = length / (samples.len() - 1) as f64;
    let close = |p: &Point| {
        other
            .iter()
            .any(|q| squared_distance(*p, *q) < reach * reach)
    };
    let first = samples.iter().position(close)?;
    let last = samples.iter().rposition(close)?;
    Some((
        (first as f64 * step - SAMPLE).max(0.0),
        (last as f64 * step + SAMPLE).min(length),
    ))
}

fn squared_distance(p: Point, q: Point) -> f64 {
    (p - q).dot(p - q)
}

type Zone = ((f64, f64), (f64, f64));

fn zone(meeting: Meeting, a: (&[Point], f64), b: (&[Point], f64)) -> Option<Zone> {
    let (la, lb) = (a.1, b.1);
    match meeting {
        Meeting::Cross => Some((
            near(a.0, la, b.0, CLEARANCE)?,
            near(b.0, lb, a.0, CLEARANCE)?,
        )),
        Meeting::Merge => {
            let (enter_a, _) = near(a.0, la, b.0, CLEARANCE).unwrap_or((la, la));
            let (enter_b, _) = near(b.0, lb, a.0, CLEARANCE).unwrap_or((lb, lb));
            Some(((enter_a, la), (enter_b, lb)))
        }
        Meeting::Diverge => {
            // Only the part from the beginning on: two ways from a lane do not meet again.
            let part = |mine: &[Point], length: f64, its: &[Point]| {
                let step = length / (mine.len() - 1) as f64;
                let apart = mine.iter().position(|p| {
                    its.iter()
                        .all(|q| squared_distance(*p, *q) >= PARTING * PARTING)
                });
                apart.map_or(length, |k| k as f64 * step)
            };
            Some(((0.0, part(a.0, la, b.0)), (0.0, part(b.0, lb, a.0))))
        }
    }
}
