//! What was heard before, and messages that come in several parts.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};

use covey_its::Cpm;
use covey_protocol::{Duration, Instant};

/// Frames of this long are remembered.
const REMEMBERED: Duration = Duration::from_millis(1_000);
/// And so many of them.
const MOST_FRAMES: usize = 8_192;
/// Parts are waited for this long.
const PATIENCE: Duration = Duration::from_millis(60);
/// So many messages are waited for.
const MOST_PARTS: usize = 64;

/// Frames heard of late, by a hash whose key nobody else knows.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    hasher: RandomState,
    order: VecDeque<(Instant, u64)>,
    known: HashSet<u64>,
}

impl Duplicates {
    /// Whether a packet was noted of late.
    pub(crate) fn knows(&self, frame: &[u8]) -> bool {
        self.known.contains(&self.hasher.hash_one(frame))
    }

    /// Notes a packet; gives whether it was heard before, from whatever address.
    pub(crate) fn heard(&mut self, now: Instant, frame: &[u8]) -> bool {
        while let Some(&(at, hash)) = self.order.front()
            && (now.since(at) > REMEMBERED || at > now || self.order.len() >= MOST_FRAMES)
        {
            self.order.pop_front();
            self.known.remove(&hash);
        }
        let hash = self.hasher.hash_one(frame);
        if !self.known.insert(hash) {
            return true;
        }
        self.order.push_back((now, hash));
        false
    }
}

/// Which message the parts are of: station, time, whether it is a fused state.
type Whole = (u32, u64, bool);

/// Puts the parts of messages together.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    waiting: BTreeMap<Whole, (Instant, Vec<Cpm>)>,
}

/// A message with all its parts, or as many as came.
#[derive(Debug, PartialEq)]
pub(crate) struct Assembled {
    /// In order.
    pub(crate) parts: Vec<Cpm>,
    /// None is missing.
    pub(crate) complete: bool,
}

impl Assembly {
    /// Takes a part; gives the message where it is the last one missing.
    pub(crate) fn take(&mut self, now: Instant, cpm: Cpm) -> Option<Assembled> {
        let Some((number, all)) = cpm.segment.filter(|&(_, all)| all > 1) else {
            let parts = vec![cpm];
            return Some(Assembled {
                parts,
                complete: true,
            });
        };
        let whole = (cpm.station_id, cpm.reference_ms, cpm.fused.is_some());
        if !self.waiting.contains_key(&whole) && self.waiting.len() >= MOST_PARTS {
            self.drop_oldest();
        }
        let (_, parts) = self
            .waiting
            .entry(whole)
            .or_insert_with(|| (now, Vec::new()));
        let same = |part: &Cpm| part.segment.is_some_and(|(n, a)| n == number || a != all);
        if parts.iter().any(same) {
            return None;
        }
        parts.push(cpm);
        if parts.len() < usize::from(all) {
            return None;
        }
        let (_, mut parts) = self.waiting.remove(&whole)?;
        parts.sort_by_key(|part| part.segment);
        Some(Assembled {
            parts,
            complete: true,
        })
    }

    /// Messages whose other parts will not come any more.
    pub(crate) fn overdue(&mut self, now: Instant) -> Vec<Assembled> {
        let late: Vec<Whole> = self
            .waiting
            .iter()
            .filter(|(_, (since, _))| now.since(*since) > PATIENCE || *since > now)
            .map(|(&whole, _)| whole)
            .collect();
        let taken = late
            .into_iter()
            .filter_map(|whole| self.waiting.remove(&whole));
        taken
            .map(|(_, mut parts)| {
                parts.sort_by_key(|part| part.segment);
                Assembled {
                    parts,
                    complete: false,
                }
            })
            .collect()
    }

    fn drop_oldest(&mut self) {
        let oldest = self.waiting.iter().min_by_key(|(_, (since, _))| *since);
        if let Some(whole) = oldest.map(|(&whole, _)| whole) {
            self.waiting.remove(&whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use covey_its::samples::report;

    use super::*;

    fn part(number: u8, all: u8) -> Cpm {
        Cpm {
            segment: Some((number, all)),
            ..report(1)
        }
    }

    #[test]
    fn parts_come_in_any_order_and_once() {
        let mut assembly = Assembly::default();
        let now = Instant::from_millis(10);
        assert_eq!(assembly.take(now, part(2, 3)), None);
        assert_eq!(assembly.take(now, part(2, 3)), None, "twice");
        assert_eq!(assembly.take(now, part(1, 2)), None, "of another number");
        assert_eq!(assembly.take(now, part(3, 3)), None);
        let whole = assembly.take(now, part(1, 3)).unwrap();
        let order: Vec<u8> = whole.parts.iter().map(|p| p.segment.unwrap().0).collect();
        assert_eq!((order, whole.complete), (vec![1, 2, 3], true));
        assert!(assembly.waiting.is_empty());
        assert!(assembly.take(now, report(1)).is_some_and(|a| a.complete));
    }

    #[test]
    fn what_stays_incomplete_is_given_up() {
        let mut assembly = Assembly::default();
        assert_eq!(assembly.take(Instant::from_millis(0), part(1, 2)), None);
        assert!(assembly.overdue(Instant::from_millis(50)).is_empty());
        let late = assembly.overdue(Instant::from_millis(61));
        assert_eq!((late.len(), late[0].complete), (1, false));
        for station in 0..1_000 {
            let cpm = Cpm {
                station_id: station,
                ..part(1, 8)
            };
            assert_eq!(assembly.take(Instant::from_millis(70), cpm), None);
        }
        assert!(assembly.waiting.len() <= MOST_PARTS);
    }

    #[test]
    fn a_frame_is_heard_once_a_second() {
        let mut duplicates = Duplicates::default();
        let at = Instant::from_millis;
        assert!(!duplicates.heard(at(0), b"frame"));
        assert!(duplicates.heard(at(900), b"frame"));
        assert!(!duplicates.heard(at(1_001), b"frame"));
        for number in 0..20_000_u32 {
            assert!(!duplicates.heard(at(1_002), &number.to_be_bytes()));
        }
        assert!(duplicates.known.len() <= MOST_FRAMES);
        assert_eq!(duplicates.known.len(), duplicates.order.len());
    }
}
