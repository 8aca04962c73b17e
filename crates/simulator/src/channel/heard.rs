//! What everyone heard: the newest step whose state of an object a receiver holds.
//!
//! Age is all that the metric asks for, and the newest state always wins, so knowledge is a step number for each object and
//! receiver. It is asked for a thousand times less often than it changes: so what is kept is who received which message and
//! what the message told, and the answer is looked up. A test compares it with the protocol's listener.

use std::collections::VecDeque;

use covey_radio::LANES;

use crate::ids::{Lane, Slot};
use crate::world::Stamp;

/// Beacons heard, of up to sixteen arms side by side: for each sender and beacon interval, the receivers and in which arms
/// they heard it.
#[derive(Debug, Clone, Default)]
pub(crate) struct BeaconHistory {
    /// The last intervals, the newest in front.
    intervals: VecDeque<Interval>,
}

/// The beacons of one interval: each sender's row.
#[derive(Debug, Clone, Default)]
struct Interval {
    /// By sender.
    rows: Vec<Row>,
    /// The receivers of all rows.
    words: Vec<Word>,
    /// Arms in which they heard it, receiver by receiver.
    masks: Vec<u16>,
}

/// Who could hear a beacon.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// Of the beacon; zero where there was none.
    stamp: Stamp,
    /// The first of its words, and how many they are.
    begin: u32,
    words: u32,
    /// The lowest place of the first word, over 64.
    low: u32,
}

/// Up to 64 receivers with places in a row.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    /// A bit each.
    present: u64,
    /// The mask of the first of them.
    masks: u32,
}

impl Interval {
    /// Stamp of a sender's beacon and the place in `masks` of a receiver that could hear it.
    fn find(&self, sender: Slot, receiver: Slot) -> Option<(Stamp, usize)> {
        let row = self.rows.get(sender.index()).filter(|row| row.stamp > 0)?;
        let word = (receiver.0 / 64).wrapping_sub(row.low);
        if word >= row.words {
            return None;
        }
        let Word { present, masks } = self.words[(row.begin + word) as usize];
        let bit = 1u64 << (receiver.0 % 64);
        let before = (present & (bit - 1)).count_ones();
        (present & bit != 0).then_some((row.stamp, (masks + before) as usize))
    }
}

/// How often somebody was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HeardOf {
    pub(crate) beacons: u32,
    /// Of the first and the newest of them.
    pub(crate) first: Stamp,
    pub(crate) newest: Stamp,
}

/// What one receiver heard of one sender, by lane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HeardByLane {
    pub(crate) newest: [Stamp; LANES],
    /// Counts of beacons, a byte each.
    times: [u64; LANES / 8],
}

/// Eight lanes' bits as eight bytes of a number, the lowest first.
pub(super) const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut lane = 0;
        while lane < 8 {
            spread[bits] |= ((bits as u64) >> lane & 1) << (8 * lane);
            lane += 1;
        }
        bits += 1;
    }
    spread
};

impl HeardByLane {
    /// One more beacon in the lanes of `bits`; no more than 255 are counted.
    fn add(&mut self, bits: u16) {
        for (times, bits) in self.times.iter_mut().zip(bits.to_le_bytes()) {
            *times += SPREAD[usize::from(bits)];
        }
    }

    /// How many beacons were heard in a lane.
    pub(crate) fn times(&self, lane: Lane) -> u32 {
        let lane = lane.index();
        (self.times[lane / 8] >> (8 * (lane % 8)) & 0xff) as u32
    }
}

impl BeaconHistory {
    /// Begins a new interval and forgets all but the last `keep` of them.
    pub(crate) fn begin_interval(&mut self, size: usize, keep: usize) {
        let mut interval = if self.intervals.len() >= keep {
            self.intervals.pop_back().unwrap_or_default()
        } else {
            Interval::default()
        };
        interval.rows.clear();
        interval.rows.resize(size, Row::default());
        interval.words.clear();
        interval.masks.clear();
        self.intervals.push_front(interval);
    }

    /// Notes who heard a beacon; receivers ascend.
    pub(crate) fn push(&mut self, sender: Slot, stamp: Stamp, receivers: &[Slot], masks: &[u16]) {
        self.push_late(0, sender, stamp, receivers, masks);
    }

    /// Notes who heard a beacon that was made so many intervals ago.
    pub(crate) fn push_late(
        &mut self,
        ago: usize,
        sender: Slot,
        stamp: Stamp,
        receivers: &[Slot],
        masks: &[u16],
    ) {
        if let Some(interval) = self.intervals.get_mut(ago) {
            if interval.rows.len() <= sender.index() {
                interval.rows.resize(sender.index() + 1, Row::default());
            }
            let begin = interval.words.len();
            let low = receivers.first().map_or(0, |first| first.0 / 64);
            for (at, &receiver) in (interval.masks.len() as u32..).zip(receivers) {
                let word = begin + (receiver.0 / 64 - low) as usize;
                while interval.words.len() <= word {
                    let (present, masks) = (0, at);
                    interval.words.push(Word { present, masks });
                }
                interval.words[word].present |= 1 << (receiver.0 % 64);
            }
            interval.masks.extend_from_slice(masks);
            interval.rows[sender.index()] = Row {
                stamp,
                begin: begin as u32,
                words: (interval.words.len() - begin) as u32,
                low,
            };
        }
    }

    /// When `receiver` last heard `sender` in the arm of `lane`, as far back as intervals are kept.
    pub(crate) fn at(&self, sender: Slot, receiver: Slot, lane: Lane) -> Stamp {
        self.each_at(sender, receiver, lane).next().unwrap_or(0)
    }

    /// When `receiver` heard `sender` in the arm of `lane`, the newest first, as far back as intervals are kept.
    pub(crate) fn each_at(
        &self,
        sender: Slot,
        receiver: Slot,
        lane: Lane,
    ) -> impl Iterator<Item = Stamp> + '_ {
        self.intervals.iter().filter_map(move |interval| {
            let (stamp, at) = interval.find(sender, receiver)?;
            (interval.masks[at] & lane.bit() != 0).then_some(stamp)
        })
    }

    /// What `receiver` heard of each of `senders` in the arm of `lane`, of beacons not before `since`.
    ///
    /// All senders of an interval are looked up before those of the next: answers lie far from each other in memory, and those
    /// of one interval do not wait for each other.
    pub(crate) fn counts(
        &self,
        senders: &[Slot],
        receiver: Slot,
        lane: Lane,
        since: Stamp,
    ) -> Vec<HeardOf> {
        let mut counts = vec![HeardOf::default(); senders.len()];
        for interval in &self.intervals {
            for (count, &sender) in counts.iter_mut().zip(senders) {
                if let Some((stamp, at)) = interval.find(sender, receiver)
                    && stamp >= since
                    && interval.masks[at] & lane.bit() != 0
                {
                    if count.beacons == 0 {
                        count.newest = stamp;
                    }
                    count.first = stamp;
                    count.beacons += 1;
                }
            }
        }
        counts
    }

    /// The newest for all lanes of `wanted` at once; 0 for the others.
    pub(crate) fn at_each(&self, sender: Slot, receiver: Slot, mut wanted: u16) -> [Stamp; LANES] {
        let mut newest = [0; LANES];
        for interval in &self.intervals {
            if wanted == 0 {
                break;
            }
            if let Some((stamp, at)) = interval.find(sender, receiver) {
                let mut found = interval.masks[at] & wanted;
                wanted &= !found;
                while found != 0 {
                    newest[found.trailing_zeros() as usize] = stamp;
                    found &= found - 1;
                }
            }
        }
        newest
    }

    /// The newest of all lanes at once, and how many beacons not before `since` were heard in each.
    pub(crate) fn of_each(&self, sender: Slot, receiver: Slot, since: Stamp) -> HeardByLane {
        let mut heard = HeardByLane::default();
        let mut wanted = u16::MAX;
        for interval in &self.intervals {
            let Some((stamp, at)) = interval.find(sender, receiver) else {
                continue;
            };
            let bits = interval.masks[at];
            let mut found = bits & wanted;
            wanted &= !found;
            while found != 0 {
                heard.newest[found.trailing_zeros() as usize] = stamp;
                found &= found - 1;
            }
            if stamp >= since {
                heard.add(bits);
            }
        }
        heard
    }

    /// Forgets a place, as sender and as receiver.
    pub(crate) fn clear(&mut self, slot: Slot) {
        for interval in &mut self.intervals {
            if let Some(row) = interval.rows.get_mut(slot.index()) {
                row.stamp = 0;
            }
            for sender in (0..interval.rows.len() as u32).map(Slot) {
                if let Some((_, at)) = interval.find(sender, slot) {
                    interval.masks[at] = 0;
                }
            }
        }
    }

    /// Moves all stamps.
    pub(crate) fn each(&mut self, f: impl Fn(&mut Stamp)) {
        for interval in &mut self.intervals {
            interval.rows.iter_mut().for_each(|row| f(&mut row.stamp));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots<const N: usize>(numbers: [u32; N]) -> [Slot; N] {
        numbers.map(Slot)
    }

    #[test]
    fn beacons_are_found_by_sender_receiver_and_arm() {
        let mut history = BeaconHistory::default();
        let sender = Slot(2);
        history.begin_interval(4, 2);
        history.push(sender, 5, &slots([0, 3]), &[0b01, 0b11]);
        history.begin_interval(4, 2);
        history.push(sender, 7, &slots([0, 3]), &[0b10, 0b00]);
        let at = |history: &BeaconHistory, receiver, lane| {
            history.at(sender, Slot(receiver), Lane(lane))
        };
        assert_eq!([at(&history, 0, 0), at(&history, 0, 1)], [5, 7]);
        assert_eq!([at(&history, 3, 0), at(&history, 1, 0)], [5, 0]);
        let heard = |beacons, first, newest| HeardOf {
            beacons,
            first,
            newest,
        };
        let counts = |receiver, lane, since| {
            let senders = slots([0, 2]);
            history.counts(&senders, Slot(receiver), Lane(lane), since)[1]
        };
        assert_eq!(counts(0, 0, 0), heard(1, 5, 5));
        assert_eq!(counts(0, 0, 6), heard(0, 0, 0));
        assert_eq!(counts(3, 1, 5), heard(1, 5, 5));
        assert_eq!(counts(1, 0, 0), heard(0, 0, 0));
        for (receiver, wanted) in [(0, 0b11), (0, 0b10), (3, 0b01), (1, 0b11)] {
            let each = history.at_each(sender, Slot(receiver), wanted);
            for (lane, stamp) in (0u8..).zip(each) {
                let expected = if wanted >> lane & 1 != 0 {
                    at(&history, receiver, lane)
                } else {
                    0
                };
                assert_eq!(stamp, expected, "{receiver} {lane}");
            }
        }
        for (receiver, since) in [(0, 0), (0, 6), (3, 0), (1, 0)] {
            let each = history.of_each(sender, Slot(receiver), since);
            for lane in 0..2 {
                assert_eq!(each.newest[usize::from(lane)], at(&history, receiver, lane));
                let heard = history.each_at(sender, Slot(receiver), Lane(lane));
                let times = heard.filter(|&stamp| stamp >= since).count() as u32;
                assert_eq!(each.times(Lane(lane)), times, "{receiver} {lane} {since}");
            }
        }
        history.clear(Slot(3));
        assert_eq!([at(&history, 3, 0), at(&history, 0, 0)], [0, 5]);
        history.begin_interval(4, 2);
        assert_eq!([at(&history, 0, 0), at(&history, 0, 1)], [0, 7]);
        history.push(sender, 9, &slots([0, 1]), &[0b10, 0b10]);
        let twice = history.counts(&[sender], Slot(0), Lane(1), 7);
        assert_eq!(twice, [heard(2, 7, 9)]);
    }
}
