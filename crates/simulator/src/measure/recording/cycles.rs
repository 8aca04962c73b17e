//! Relevance blocks and arm blocks.
//!
//! Relevance: `v` number of cycles; per cycle: `v` cycle, `v` number of pairs, and per pair: `v` vehicle less the one of the pair before,
//! `v` object, `v` deadline in ms, one byte relation + 4 x sight.
//!
//! Arm: `v` number of cycles; per cycle: `v` cycle; `v` number of roles and one byte each; `v` number of tiles and per tile
//! `z` column, `z` row, `v` participants, `v` host + 1 (0: none), `v` epoch, `v` contributors, four f64 (price, load, busy, airtime), one byte
//! binding (0: none, else its place in [`Binding`] + 1), `v` relevant, `v` missed; `v` number of pairs and per pair one byte source + 8 x missed +
//! 16 x seen by nobody, `v` age in ms, `v` sender + 1 (0: none); `v` number of deliveries and per delivery `v` sender, one byte
//! kind, `v` number of receivers and per receiver `v` number less the one before less 1 (the first: its number).
//!
//! Seen: `v` number of cycles; per cycle: `v` cycle, `v` number of missed pairs and per pair `v` its number less the one before less 1, `v` number
//! of participants and per participant `v` number likewise.

use super::bytes::{Fault, Take, put_f, put_v, put_z};
use super::{
    ArmCycle, CycleRelevance, CycleSeen, Delivery, Knowledge, MessageKind, OwnSight, Relation,
    Relevant, Role, Seen, Source,
};
use crate::outcome::{Binding, CycleRow, Deficit};

pub(super) fn encode_relevance(cycles: &[CycleRelevance]) -> Vec<u8> {
    let mut out = Vec::new();
    put_v(&mut out, cycles.len() as u64);
    for cycle in cycles {
        put_v(&mut out, u64::from(cycle.cycle));
        put_v(&mut out, cycle.pairs.len() as u64);
        let mut last = 0;
        for pair in &cycle.pairs {
            put_v(&mut out, u64::from(pair.vehicle.saturating_sub(last)));
            last = pair.vehicle;
            put_v(&mut out, u64::from(pair.object));
            put_v(&mut out, u64::from(pair.deadline_ms));
            out.push(pair.relation as u8 | (pair.sight as u8) << 2);
        }
    }
    out
}

pub(super) fn decode_relevance(bytes: &[u8]) -> Result<Vec<CycleRelevance>, Fault> {
    let mut take = Take::new(bytes);
    let count = take.count(2)?;
    let mut cycles = Vec::with_capacity(count);
    for _ in 0..count {
        let cycle = take.v32()?;
        let n = take.count(4)?;
        let mut pairs = Vec::with_capacity(n);
        let mut last = 0u32;
        for _ in 0..n {
            last = last
                .checked_add(take.v32()?)
                .ok_or("a vehicle's number of more than 32 bits")?;
            let (object, deadline_ms) = (take.v32()?, take.v32()?);
            let flags = take.byte()?;
            pairs.push(Relevant {
                vehicle: last,
                object,
                deadline_ms,
                relation: match flags & 3 {
                    0 => Relation::Ahead,
                    1 => Relation::Crossing,
                    other => return Err(format!("relation {other}, expected 0 or 1")),
                },
                sight: match flags >> 2 {
                    0 => OwnSight::Visible,
                    1 => OwnSight::Building,
                    2 => OwnSight::Vehicle,
                    3 => OwnSight::Range,
                    other => return Err(format!("sight {other}, expected 0 to 3")),
                },
            });
        }
        cycles.push(CycleRelevance { cycle, pairs });
    }
    take.end()?;
    Ok(cycles)
}

pub(super) fn encode_arm(cycles: &[ArmCycle]) -> Vec<u8> {
    let mut out = Vec::new();
    put_v(&mut out, cycles.len() as u64);
    for cycle in cycles {
        put_v(&mut out, u64::from(cycle.cycle));
        put_v(&mut out, cycle.roles.len() as u64);
        out.extend(cycle.roles.iter().map(|&role| role as u8));
        put_v(&mut out, cycle.tiles.len() as u64);
        for tile in &cycle.tiles {
            put_z(&mut out, i64::from(tile.tile[0]));
            put_z(&mut out, i64::from(tile.tile[1]));
            put_v(&mut out, u64::from(tile.participants));
            put_v(&mut out, tile.host.map_or(0, |host| host.saturating_add(1)));
            put_v(&mut out, u64::from(tile.epoch));
            put_v(&mut out, u64::from(tile.contributors));
            for x in [tile.price, tile.load, tile.busy, tile.airtime_s] {
                put_f(&mut out, x);
            }
            out.push(tile.binding.map_or(0, |binding| binding as u8 + 1));
            put_v(&mut out, tile.deficit.relevant);
            put_v(&mut out, tile.deficit.missed);
        }
        put_v(&mut out, cycle.knowledge.len() as u64);
        for k in &cycle.knowledge {
            out.push(k.source as u8 | u8::from(k.missed) << 3 | u8::from(k.seen_by_nobody) << 4);
            put_v(&mut out, u64::from(k.age_ms));
            put_v(&mut out, k.from.map_or(0, |id| u64::from(id) + 1));
        }
        put_v(&mut out, cycle.deliveries.len() as u64);
        for delivery in &cycle.deliveries {
            put_v(&mut out, u64::from(delivery.sender));
            out.push(delivery.kind as u8);
            put_v(&mut out, delivery.receivers.len() as u64);
            put_ascending(&mut out, &delivery.receivers);
        }
    }
    out
}

/// Numbers that ascend, without how many there are.
fn put_ascending(out: &mut Vec<u8>, numbers: &[u32]) {
    let mut next = 0;
    for &number in numbers {
        put_v(out, u64::from(number.wrapping_sub(next)));
        next = number.wrapping_add(1);
    }
}

/// How many there are, and numbers that ascend.
fn take_ascending(take: &mut Take<'_>) -> Result<Vec<u32>, Fault> {
    let mut next = 0u32;
    list(take, 1, |take| {
        let number = next
            .checked_add(take.v32()?)
            .ok_or("a vehicle's number of more than 32 bits")?;
        next = number.saturating_add(1);
        Ok(number)
    })
}

pub(super) fn encode_seen(cycles: &[CycleSeen]) -> Vec<u8> {
    let mut out = Vec::new();
    put_v(&mut out, cycles.len() as u64);
    for cycle in cycles {
        put_v(&mut out, u64::from(cycle.cycle));
        put_v(&mut out, cycle.missed.len() as u64);
        let mut next = 0;
        for seen in &cycle.missed {
            put_v(&mut out, u64::from(seen.pair.wrapping_sub(next)));
            next = seen.pair.wrapping_add(1);
            put_v(&mut out, seen.by.len() as u64);
            put_ascending(&mut out, &seen.by);
        }
    }
    out
}

pub(super) fn decode_seen(bytes: &[u8]) -> Result<Vec<CycleSeen>, Fault> {
    let mut take = Take::new(bytes);
    let cycles = list(&mut take, 2, |take| {
        let cycle = take.v32()?;
        let mut next = 0u32;
        let missed = list(take, 2, |take| {
            let pair = next
                .checked_add(take.v32()?)
                .ok_or("a pair's number of more than 32 bits")?;
            next = pair.saturating_add(1);
            let by = take_ascending(take)?;
            Ok(Seen { pair, by })
        })?;
        Ok(CycleSeen { cycle, missed })
    })?;
    take.end()?;
    Ok(cycles)
}

pub(super) fn decode_arm(bytes: &[u8]) -> Result<Vec<ArmCycle>, Fault> {
    let mut take = Take::new(bytes);
    let count = take.count(5)?;
    let mut cycles = Vec::with_capacity(count);
    for _ in 0..count {
        cycles.push(arm_cycle(&mut take)?);
    }
    take.end()?;
    Ok(cycles)
}

fn arm_cycle(take: &mut Take<'_>) -> Result<ArmCycle, Fault> {
    let cycle = take.v32()?;
    let n = take.count(1)?;
    let roles = take.slice(n)?.iter().map(|&byte| role(byte));
    let roles = roles.collect::<Result<Vec<_>, _>>()?;
    Ok(ArmCycle {
        cycle,
        roles,
        tiles: list(take, 41, |take| tile(take, cycle))?,
        knowledge: list(take, 3, knowledge)?,
        deliveries: list(take, 3, delivery)?,
    })
}

/// A list whose items take at least so many bytes each.
fn list<T>(
    take: &mut Take<'_>,
    least: usize,
    mut item: impl FnMut(&mut Take<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let n = take.count(least)?;
    let mut items = Vec::with_capacity(n);
    for _ in 0..n {
        items.push(item(take)?);
    }
    Ok(items)
}

fn tile(take: &mut Take<'_>, cycle: u32) -> Result<CycleRow, Fault> {
    let tile = [take.z32()?, take.z32()?];
    let participants = take.v32()?;
    let host = take.v()?.checked_sub(1);
    let (epoch, contributors) = (take.v32()?, take.v32()?);
    let [price, load, busy, airtime_s] = [take.f()?, take.f()?, take.f()?, take.f()?];
    let all = Binding::ALL;
    let binding = match take.byte()? {
        0 => None,
        at => {
            let found = all.get(usize::from(at) - 1);
            Some(*found.ok_or_else(|| format!("binding {at}, expected at most {}", all.len()))?)
        }
    };
    Ok(CycleRow {
        cycle,
        tile,
        participants,
        host,
        epoch,
        contributors,
        price,
        load,
        busy,
        airtime_s,
        binding,
        deficit: Deficit {
            relevant: take.v()?,
            missed: take.v()?,
        },
    })
}

fn knowledge(take: &mut Take<'_>) -> Result<Knowledge, Fault> {
    let flags = take.byte()?;
    let source = match flags & 7 {
        0 => Source::Unknown,
        1 => Source::Sensing,
        2 => Source::Beacon,
        3 => Source::Report,
        4 => Source::Broadcast,
        other => return Err(format!("source {other}, expected at most 4")),
    };
    Ok(Knowledge {
        source,
        age_ms: take.v32()?,
        missed: flags & 8 != 0,
        seen_by_nobody: flags & 16 != 0,
        from: take.v()?.checked_sub(1).map(|id| id as u32),
    })
}

fn delivery(take: &mut Take<'_>) -> Result<Delivery, Fault> {
    let sender = take.v32()?;
    let kind = match take.byte()? {
        0 => MessageKind::Report,
        1 => MessageKind::Broadcast,
        other => return Err(format!("message kind {other}, expected 0 or 1")),
    };
    Ok(Delivery {
        sender,
        kind,
        receivers: take_ascending(take)?,
    })
}

fn role(byte: u8) -> Result<Role, Fault> {
    Ok(match byte {
        0 => Role::Unequipped,
        1 => Role::Listener,
        2 => Role::Candidate,
        3 => Role::Contributor,
        4 => Role::Host,
        other => return Err(format!("role {other}, expected at most 4")),
    })
}
