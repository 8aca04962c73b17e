//! What everyone heard: the newest step whose state of an object a receiver holds.
//!
//! Age is all that the metric asks for, and the newest state always wins, so knowledge is a step number for each object and
//! receiver. It is asked for a thousand times less often than it changes: so what is kept is who received which message and
//! what the message told, and the answer is looked up. A test compares it with the protocol's listener.

use std::collections::VecDeque;

use covey_protocol::messages::ObjectState;
use covey_radio::LANES;

use crate::ids::{Lane, Slot, Step};
use crate::world::{GhostId, Stamp};

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

/// Who spoke a message, by place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// Somebody who reported what it sees.
    Reporter(Slot),
    /// A host that broadcast what it holds.
    Host(Slot),
    /// Nobody who is still there.
    Gone,
}

/// The receivers of a message: a bit for each place from the first to the last of them; or a list, where they are few among many
/// places. So a message takes no more room where the world is larger but its neighbourhood is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Receivers {
    /// The place of the first bit, over 64.
    low: usize,
    words: Vec<u64>,
    /// Ascending; empty where there are words.
    list: Vec<Slot>,
}

/// So many words are taken however few the receivers are; more only where they are no more than the receivers.
const FEW_WORDS: usize = 32;

impl Receivers {
    /// The message reached this place.
    #[inline]
    pub(crate) fn has(&self, receiver: Slot) -> bool {
        if !self.list.is_empty() {
            return self.list.binary_search(&receiver).is_ok();
        }
        let word = (receiver.index() / 64).wrapping_sub(self.low);
        let word = self.words.get(word).copied().unwrap_or(0);
        word >> (receiver.0 % 64) & 1 != 0
    }

    /// In place of those it held, these.
    fn fill(&mut self, receivers: &[Slot]) {
        self.list.clear();
        self.words.clear();
        let (Some(low), Some(high)) = (receivers.iter().min(), receivers.iter().max()) else {
            return;
        };
        self.low = low.index() / 64;
        let words = high.index() / 64 + 1 - self.low;
        if words <= FEW_WORDS.max(receivers.len()) {
            self.words.resize(words, 0);
            for receiver in receivers {
                self.words[receiver.index() / 64 - self.low] |= 1 << (receiver.0 % 64);
            }
        } else {
            self.list.extend_from_slice(receivers);
            self.list.sort_unstable();
        }
    }

    /// Whoever is at this place did not receive it.
    fn remove(&mut self, receiver: Slot) {
        if let Ok(at) = self.list.binary_search(&receiver) {
            self.list.remove(at);
        }
        let word = (receiver.index() / 64).wrapping_sub(self.low);
        if let Some(word) = self.words.get_mut(word) {
            *word &= !(1 << (receiver.0 % 64));
        }
    }
}

/// What an arm's messages told, as far back as they matter: who received each, and which objects it spoke of.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// Steps for which messages are kept.
    memory: u32,
    /// Number of the oldest message kept.
    first: u64,
    /// Step and receivers of every message kept.
    messages: VecDeque<(Step, Receivers)>,
    /// Who spoke each of them.
    speakers: VecDeque<Speaker>,
    /// Of each: it says what it tells; what is told by silence is not received.
    spoken: VecDeque<bool>,
    /// What each said of objects in a host's own words, where that matters; by object.
    said: VecDeque<Vec<(Slot, ObjectState)>>,
    /// What was told that is not there: message and stamp, the oldest first.
    ghosts: Vec<(GhostId, u64, Stamp)>,
    /// Buffers to use again.
    spare: Vec<Receivers>,
    receivers: Vec<Slot>,
    /// By object: message and stamp.
    of: Vec<Vec<(u64, Stamp)>>,
}

impl Told {
    /// Messages are kept for `memory` steps.
    pub(crate) fn new(memory: u32) -> Self {
        Self {
            memory,
            first: 0,
            messages: VecDeque::new(),
            speakers: VecDeque::new(),
            spoken: VecDeque::new(),
            said: VecDeque::new(),
            ghosts: Vec::new(),
            spare: Vec::new(),
            receivers: Vec::new(),
            of: Vec::new(),
        }
    }

    /// Makes room, and lets go of messages that are too old at `step`.
    pub(crate) fn begin(&mut self, step: Step, size: usize) {
        if self.of.len() < size {
            self.of.resize_with(size, Vec::new);
        }
        while let Some((at, _)) = self.messages.front()
            && at.after(self.memory) < step
        {
            self.first += 1;
            self.speakers.pop_front();
            self.spoken.pop_front();
            self.said.pop_front();
            if let Some((_, bits)) = self.messages.pop_front() {
                self.spare.push(bits);
            }
        }
        let first = self.first;
        self.ghosts.retain(|&(_, message, _)| message >= first);
    }

    /// A message of `step` that `receivers` decoded; gives its number for [`tell`](Self::tell).
    pub(crate) fn message(&mut self, step: Step, receivers: impl Iterator<Item = Slot>) -> u64 {
        let mut bits = self.spare.pop().unwrap_or_default();
        self.receivers.clear();
        self.receivers.extend(receivers);
        bits.fill(&self.receivers);
        self.messages.push_back((step, bits));
        self.speakers.push_back(Speaker::Gone);
        self.spoken.push_back(true);
        self.said.push_back(Vec::new());
        self.first + self.messages.len() as u64 - 1
    }

    /// Notes who spoke a message, by its number.
    pub(crate) fn spoken_by(&mut self, message: u64, speaker: Speaker) {
        if let Some(place) = self.speakers.get_mut((message - self.first) as usize) {
            *place = speaker;
        }
    }

    /// A message says so of objects.
    pub(crate) fn say(&mut self, message: u64, mut objects: Vec<(Slot, ObjectState)>) {
        objects.sort_by_key(|&(object, _)| object);
        if let Some(place) = self.said.get_mut((message - self.first) as usize) {
            *place = objects;
        }
    }

    /// A message told of something that is not there, as sensed at `stamp`.
    pub(crate) fn tell_ghost(&mut self, message: u64, ghost: GhostId, stamp: Stamp) {
        self.ghosts.push((ghost, message, stamp));
    }

    /// The newest step of which `receiver` was told of something that is not there.
    pub(crate) fn ghost_at(&self, ghost: GhostId, receiver: Slot) -> Stamp {
        let told = self.ghosts.iter().filter(|entry| entry.0 == ghost);
        let heard = told.filter(|&&(_, message, _)| {
            self.messages[(message - self.first) as usize]
                .1
                .has(receiver)
        });
        heard.map(|&(_, _, stamp)| stamp).max().unwrap_or(0)
    }

    /// The newest that `receiver` was told of `object`: of which step, by whom, and in which words, where they are a host's own.
    pub(crate) fn newest(
        &self,
        object: Slot,
        receiver: Slot,
    ) -> Option<(Stamp, Speaker, Option<&ObjectState>)> {
        let mut newest: Option<(Stamp, usize)> = None;
        for &(message, stamp) in self.of.get(object.index())?.iter().rev() {
            if message < self.first {
                break;
            }
            let at = (message - self.first) as usize;
            if newest.is_none_or(|(known, _)| stamp > known) && self.messages[at].1.has(receiver) {
                newest = Some((stamp, at));
            }
        }
        let (stamp, at) = newest?;
        let said = &self.said[at];
        let said = said.binary_search_by_key(&object, |&(object, _)| object);
        let said = said.ok().map(|place| &self.said[at][place].1);
        Some((stamp, self.speakers[at], said))
    }

    /// A message tells by not saying anything.
    pub(crate) fn is_silence(&mut self, message: u64) {
        if let Some(place) = self.spoken.get_mut((message - self.first) as usize) {
            *place = false;
        }
    }

    /// How many messages since `since` told `receiver` of `object` in so many words.
    pub(crate) fn times(&self, object: Slot, receiver: Slot, since: Step) -> u32 {
        let told = self.of.get(object.index()).map_or(&[][..], Vec::as_slice);
        let mut times = 0;
        for &(message, _) in told.iter().rev() {
            if message < self.first {
                break;
            }
            let at = (message - self.first) as usize;
            let (step, bits) = &self.messages[at];
            if *step < since {
                break;
            }
            times += u32::from(self.spoken[at] && bits.has(receiver));
        }
        times
    }

    /// [`at`](Self::at) and [`times`](Self::times) in one.
    pub(crate) fn at_and_times(&self, object: Slot, receiver: Slot, since: Step) -> (Stamp, u32) {
        let told = self.of.get(object.index()).map_or(&[][..], Vec::as_slice);
        let (mut newest, mut times) = (0, 0);
        for &(message, stamp) in told.iter().rev() {
            if message < self.first {
                break;
            }
            let at = (message - self.first) as usize;
            let (step, bits) = &self.messages[at];
            if bits.has(receiver) {
                newest = newest.max(stamp);
                times += u32::from(*step >= since && self.spoken[at]);
            }
        }
        (newest, times)
    }

    /// Who told `receiver` of `object`, and of which step; the newest message first.
    pub(crate) fn of(
        &self,
        object: Slot,
        receiver: Slot,
    ) -> impl Iterator<Item = (Speaker, Stamp)> + '_ {
        let told = self.of.get(object.index()).map_or(&[][..], Vec::as_slice);
        told.iter()
            .rev()
            .take_while(|&&(message, _)| message >= self.first)
            .filter(move |&&(message, _)| {
                self.messages[(message - self.first) as usize]
                    .1
                    .has(receiver)
            })
            .map(|&(message, stamp)| (self.speakers[(message - self.first) as usize], stamp))
    }

    /// All messages kept, the oldest first: step, speaker, receivers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (Step, Speaker, &Receivers)> {
        let messages = self.messages.iter().zip(&self.speakers);
        messages.map(|((step, bits), &speaker)| (*step, speaker, bits))
    }

    /// A message told that `object` was sensed at `stamp`.
    pub(crate) fn tell(&mut self, message: u64, object: Slot, stamp: Stamp) {
        let first = self.first;
        let told = &mut self.of[object.index()];
        // What is too old goes when the list would grow.
        if told.len() == told.capacity() {
            told.retain(|&(message, _)| message >= first);
        }
        told.push((message, stamp));
    }

    /// The newest step of which `receiver` was told a state of `object`.
    pub(crate) fn at(&self, object: Slot, receiver: Slot) -> Stamp {
        let Some(told) = self.of.get(object.index()) else {
            return 0;
        };
        let mut newest = 0;
        for &(message, stamp) in told.iter().rev() {
            if message < self.first {
                // Messages are told in order.
                break;
            }
            if stamp > newest
                && self.messages[(message - self.first) as usize]
                    .1
                    .has(receiver)
            {
                newest = stamp;
            }
        }
        newest
    }

    /// Forgets a place, as object and as receiver.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if let Some(told) = self.of.get_mut(slot.index()) {
            told.clear();
        }
        for (_, bits) in &mut self.messages {
            bits.remove(slot);
        }
        for said in &mut self.said {
            said.retain(|&(object, _)| object != slot);
        }
        for speaker in &mut self.speakers {
            if matches!(*speaker, Speaker::Reporter(by) | Speaker::Host(by) if by == slot) {
                *speaker = Speaker::Gone;
            }
        }
    }

    /// Moves all stamps.
    pub(crate) fn each(&mut self, f: impl Fn(&mut Stamp)) {
        for told in &mut self.of {
            told.iter_mut().for_each(|entry| f(&mut entry.1));
        }
        self.ghosts.iter_mut().for_each(|entry| f(&mut entry.2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_are_found_wherever_they_are_and_in_any_order() {
        let mut receivers = Receivers::default();
        let crowd: Vec<u32> = (0..500).map(|n| 4_000 + n * 7).collect();
        for some in [&[700, 3, 64, 65, 9_000][..], &crowd, &[5_000], &[]] {
            let slots: Vec<Slot> = some.iter().map(|&n| Slot(n)).collect();
            receivers.fill(&slots);
            let found: Vec<u32> = (0..10_000).filter(|&n| receivers.has(Slot(n))).collect();
            let mut expected = some.to_vec();
            expected.sort_unstable();
            assert_eq!(found, expected);
            // Neither grows with places that do not matter.
            assert_eq!(receivers.list.len(), if some.len() == 5 { 5 } else { 0 });
            assert!(receivers.words.len() <= 56, "{}", receivers.words.len());
        }
        for some in [[5_000, 5_001], [5_000, 500_000]] {
            receivers.fill(&slots(some));
            receivers.remove(Slot(5_000));
            receivers.remove(Slot(1));
            assert!(!receivers.has(Slot(5_000)) && receivers.has(Slot(some[1])));
        }
    }

    fn slots<const N: usize>(numbers: [u32; N]) -> [Slot; N] {
        numbers.map(Slot)
    }

    #[test]
    fn the_newest_told_state_counts_until_it_is_forgotten() {
        let mut told = Told::new(20);
        let object = Slot(5);
        let at = |told: &Told, receiver| told.at(object, Slot(receiver));
        told.begin(Step(1), 100);
        let first = told.message(Step(1), slots([3, 70]).into_iter());
        told.tell(first, object, 2);
        let second = told.message(Step(2), slots([3]).into_iter());
        told.tell(second, object, 1);
        assert_eq!((at(&told, 3), at(&told, 70), at(&told, 4)), (2, 2, 0));
        told.spoken_by(first, Speaker::Reporter(Slot(8)));
        told.spoken_by(second, Speaker::Host(Slot(9)));
        let of = |told: &Told, receiver| told.of(object, Slot(receiver)).collect::<Vec<_>>();
        let both = [(Speaker::Host(Slot(9)), 1), (Speaker::Reporter(Slot(8)), 2)];
        assert_eq!(of(&told, 3), both);
        assert_eq!(of(&told, 70), both[1..]);
        told.clear(Slot(9));
        assert_eq!(of(&told, 3)[0], (Speaker::Gone, 1));
        told.clear(Slot(70));
        assert_eq!(at(&told, 70), 0);
        let times = |told: &Told, receiver, since| told.times(object, Slot(receiver), Step(since));
        assert_eq!(
            [times(&told, 3, 1), times(&told, 3, 2), times(&told, 4, 0)],
            [2, 1, 0]
        );
        told.is_silence(second);
        assert_eq!([times(&told, 3, 1), times(&told, 3, 2)], [1, 0]);
        for (receiver, since) in [(3, 1), (3, 2), (70, 0), (4, 0)] {
            let both = told.at_and_times(object, Slot(receiver), Step(since));
            let one_by_one = (at(&told, receiver), times(&told, receiver, since));
            assert_eq!(both, one_by_one, "{receiver} {since}");
        }
        told.begin(Step(22), 100);
        assert_eq!(at(&told, 3), 1);
        told.begin(Step(23), 100);
        assert_eq!(at(&told, 3), 0);
        // Lists do not grow with what is forgotten.
        for step in 23..2_000 {
            told.begin(Step(step), 100);
            let message = told.message(Step(step), slots([1]).into_iter());
            told.tell(message, object, step as Stamp);
        }
        assert!(told.of[5].capacity() <= 128, "{}", told.of[5].capacity());
        assert_eq!(at(&told, 1), 1_999);
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
