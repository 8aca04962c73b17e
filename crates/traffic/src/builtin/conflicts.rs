//! Where ways inside a junction meet.
//!
//! Who is whose foe, and who yields, comes from the junction's right-of-way table; where, from the shapes. Ways from the
//! same lane and ways into the same lane always meet. Where a junction has no table, ways that come close are foes, and the
//! one from the road of lower priority yields (of equals, the one listed later).

use super::roads::{Conflict, Meeting, Track, TrackKind};
use covey_world::network::{ConnectionIx, Network};
use covey_world::{Point, Polyline};

/// Two centre lines nearer than this (m) cannot be used side by side: half a car plus half a heavy vehicle, and a little.
const CLEARANCE: f64 = 2.5;
/// Ways from the same lane part where their centre lines are this far apart, m.
const PARTING: f64 = 2.2;
/// Distance between the points at which shapes are compared, m.
const SAMPLE: f64 = 0.5;

/// Fills in the conflicts between the ways of one junction.
pub(crate) fn find(network: &Network, ways: &[(ConnectionIx, Vec<u32>)], tracks: &mut [Track]) {
    let samples: Vec<Vec<Vec<Point>>> = ways
        .iter()
        .map(|(_, ids)| {
            ids.iter()
                .map(|&id| sample(&tracks[id as usize].shape))
                .collect()
        })
        .collect();
    for (i, (a, a_tracks)) in ways.iter().enumerate() {
        for (j, (b, b_tracks)) in ways.iter().enumerate().skip(i + 1) {
            let ca = &network.connections[a.index()];
            let cb = &network.connections[b.index()];
            let same_from = ca.from == cb.from;
            let same_to = ca.to == cb.to;
            let (foes, a_yields, b_yields) = relation(network, *a, *b);
            if !foes && !same_from && !same_to {
                continue;
            }
            for (k, &ta) in a_tracks.iter().enumerate() {
                for (l, &tb) in b_tracks.iter().enumerate() {
                    let both_last = k + 1 == a_tracks.len() && l + 1 == b_tracks.len();
                    let meeting = if same_from {
                        if k == 0 && l == 0 {
                            Meeting::Diverge
                        } else {
                            continue;
                        }
                    } else if same_to && both_last {
                        Meeting::Merge
                    } else {
                        Meeting::Cross
                    };
                    let Some((za, zb)) = zone(
                        meeting,
                        (&samples[i][k], &tracks[ta as usize]),
                        (&samples[j][l], &tracks[tb as usize]),
                    ) else {
                        continue;
                    };
                    let conflict = |other, mine: (f64, f64), its: (f64, f64), yields| Conflict {
                        other,
                        meeting,
                        enter: mine.0,
                        exit: mine.1,
                        other_enter: its.0,
                        other_exit: its.1,
                        yields,
                    };
                    push(tracks, ta, conflict(tb, za, zb, a_yields));
                    push(tracks, tb, conflict(ta, zb, za, b_yields));
                }
            }
        }
    }
    // A way that others cross must be kept clear from its first track on.
    for (_, ids) in ways {
        let crossed = ids.iter().any(|&id| {
            tracks[id as usize]
                .crossing()
                .is_some_and(|c| c.conflicts.iter().any(|x| x.meeting == Meeting::Cross))
        });
        for &id in ids {
            if let TrackKind::Crossing(c) = &mut tracks[id as usize].kind {
                c.keep_clear = crossed;
            }
        }
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
            .any(|q| (q.x - p.x).abs() < reach && p.distance(*q) < reach)
    };
    let first = samples.iter().position(close)?;
    let last = samples.iter().rposition(close)?;
    Some((
        (first as f64 * step - SAMPLE).max(0.0),
        (last as f64 * step + SAMPLE).min(length),
    ))
}

type Zone = ((f64, f64), (f64, f64));

fn zone(meeting: Meeting, a: (&[Point], &Track), b: (&[Point], &Track)) -> Option<Zone> {
    let (la, lb) = (a.1.length, b.1.length);
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
                let apart = mine
                    .iter()
                    .position(|p| its.iter().all(|q| p.distance(*q) >= PARTING));
                apart.map_or(length, |k| k as f64 * step)
            };
            Some(((0.0, part(a.0, la, b.0)), (0.0, part(b.0, lb, a.0))))
        }
    }
}
