//! Motion blocks.
//!
//! `v` number of steps; per step: `v` step number, `v` number of vehicles, and per vehicle: `v` number less the one before it
//! in the step less 1 (the first: its number), then four `z`: x, y, heading and speed, each less what was expected. Expected
//! is, for a vehicle of the step before in the same block, x and y moved on as they moved then (0 at first), and the same heading and speed;
//! for another one 0. Heading differences are taken modulo a turn.

use super::bytes::{Fault, Take, put_v, put_z};
use super::{Placed, StepRecord};

/// What is expected of the next step.
#[derive(Clone, Copy)]
struct Expected {
    placed: Placed,
    dx: i32,
    dy: i32,
}

pub(super) fn encode(steps: &[StepRecord]) -> Vec<u8> {
    let mut out = Vec::new();
    put_v(&mut out, steps.len() as u64);
    let mut before: Vec<Expected> = Vec::new();
    for step in steps {
        put_v(&mut out, u64::from(step.step));
        put_v(&mut out, step.vehicles.len() as u64);
        let mut next = Vec::with_capacity(step.vehicles.len());
        let mut last: Option<u32> = None;
        let mut at = 0;
        for v in &step.vehicles {
            put_v(&mut out, u64::from(gap(last, v.id)));
            last = Some(v.id);
            let e = find(&before, &mut at, v.id);
            let (x, y) = guess(e);
            let p = e.map_or(Placed::default(), |e| e.placed);
            put_z(&mut out, i64::from(v.x_cm) - i64::from(x));
            put_z(&mut out, i64::from(v.y_cm) - i64::from(y));
            put_z(
                &mut out,
                i64::from(v.heading.wrapping_sub(p.heading) as i16),
            );
            put_z(&mut out, i64::from(v.speed_cm_s) - i64::from(p.speed_cm_s));
            next.push(expect(e, *v));
        }
        before = next;
    }
    out
}

pub(super) fn decode(bytes: &[u8]) -> Result<Vec<StepRecord>, Fault> {
    let mut take = Take::new(bytes);
    let count = take.count(2)?;
    let mut steps = Vec::with_capacity(count);
    let mut before: Vec<Expected> = Vec::new();
    for _ in 0..count {
        let step = take.v32()?;
        let n = take.count(5)?;
        let mut vehicles = Vec::with_capacity(n);
        let mut next = Vec::with_capacity(n);
        let mut last: Option<u32> = None;
        let mut at = 0;
        for _ in 0..n {
            let gap = take.v32()?;
            let id = match last {
                None => Some(gap),
                Some(last) => last.checked_add(gap).and_then(|id| id.checked_add(1)),
            };
            let id = id.ok_or("a vehicle's number of more than 32 bits")?;
            last = Some(id);
            let e = find(&before, &mut at, id);
            let (x, y) = guess(e);
            let p = e.map_or(Placed::default(), |e| e.placed);
            let far = |n: i64| i32::try_from(n).map_err(|_| "a position out of range".to_string());
            let placed = Placed {
                id,
                x_cm: far(i64::from(x) + i64::from(take.z32()?))?,
                y_cm: far(i64::from(y) + i64::from(take.z32()?))?,
                heading: p.heading.wrapping_add(take.z32()? as u16),
                speed_cm_s: u16::try_from(i64::from(p.speed_cm_s) + i64::from(take.z32()?))
                    .map_err(|_| "a speed out of range".to_string())?,
            };
            next.push(expect(e, placed));
            vehicles.push(placed);
        }
        before = next;
        steps.push(StepRecord { step, vehicles });
    }
    take.end()?;
    Ok(steps)
}

fn gap(last: Option<u32>, id: u32) -> u32 {
    match last {
        None => id,
        Some(last) => id.wrapping_sub(last).wrapping_sub(1),
    }
}

/// The entry of `id`; `at` moves on, since both lists ascend.
fn find(before: &[Expected], at: &mut usize, id: u32) -> Option<Expected> {
    while before.get(*at).is_some_and(|e| e.placed.id < id) {
        *at += 1;
    }
    before.get(*at).copied().filter(|e| e.placed.id == id)
}

fn guess(e: Option<Expected>) -> (i32, i32) {
    e.map_or((0, 0), |e| {
        (
            e.placed.x_cm.wrapping_add(e.dx),
            e.placed.y_cm.wrapping_add(e.dy),
        )
    })
}

fn expect(e: Option<Expected>, placed: Placed) -> Expected {
    let (dx, dy) = e.map_or((0, 0), |e| {
        (
            placed.x_cm.wrapping_sub(e.placed.x_cm),
            placed.y_cm.wrapping_sub(e.placed.y_cm),
        )
    });
    Expected { placed, dx, dy }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps() -> impl Strategy<Value = Vec<StepRecord>> {
        let placed = (
            any::<u8>(),
            -1_000_000..1_000_000i32,
            any::<i32>(),
            any::<u16>(),
            any::<u16>(),
        );
        let step = prop::collection::vec(placed, 0..6).prop_map(|list| {
            let mut vehicles: Vec<Placed> = list
                .into_iter()
                .map(|(id, x_cm, y, heading, speed_cm_s)| Placed {
                    id: u32::from(id % 8),
                    x_cm,
                    y_cm: y % 1_000_000,
                    heading,
                    speed_cm_s,
                })
                .collect();
            vehicles.sort_by_key(|v| v.id);
            vehicles.dedup_by_key(|v| v.id);
            vehicles
        });
        prop::collection::vec(step, 0..5).prop_map(|list| {
            let numbered = list.into_iter().enumerate();
            numbered
                .map(|(n, vehicles)| StepRecord {
                    step: n as u32 + 7,
                    vehicles,
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn motion_comes_back(steps in steps()) {
            prop_assert_eq!(decode(&encode(&steps)), Ok(steps));
        }
    }
}
