//! What an arm's messages told: who received which, and of which objects it spoke.

use std::collections::VecDeque;

use crate::ids::{Slot, Step};
use crate::sensing::Whereabouts;
use crate::world::{GhostId, Stamp};

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

/// What a message said of objects.
#[derive(Debug, Clone, Default)]
struct Said {
    /// The objects, ascending, and where their words are.
    order: Vec<(Slot, u32)>,
    words: Vec<Whereabouts>,
}

impl Said {
    fn of(&self, object: Slot) -> Option<&Whereabouts> {
        let at = self
            .order
            .binary_search_by_key(&object, |&(object, _)| object);
        at.ok().map(|at| &self.words[self.order[at].1 as usize])
    }
}

/// A message and the stamp of what it told of an object, in one number: lists of them are long.
#[derive(Debug, Clone, Copy)]
struct Entry(u64);

impl Entry {
    fn new(message: u64, stamp: Stamp) -> Self {
        Self(message << Stamp::BITS | u64::from(stamp))
    }

    fn message(self) -> u64 {
        self.0 >> Stamp::BITS
    }

    fn stamp(self) -> Stamp {
        self.0 as Stamp
    }
}

/// What an arm's messages told, as far back as they matter: who received each, and which objects it spoke of.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// Steps for which messages are kept.
    memory: u32,
    /// Number of the oldest message kept.
    first: u64,
    /// Every message kept.
    messages: VecDeque<Kept>,
    /// Who spoke each of them.
    speakers: VecDeque<Speaker>,
    /// Of each: it says what it tells; what is told by silence is not received.
    spoken: VecDeque<bool>,
    /// What each said of objects in a host's own words, where that matters; by object.
    said: VecDeque<Said>,
    /// What was told that is not there: message and stamp, the oldest first.
    ghosts: Vec<(GhostId, u64, Stamp)>,
    /// Buffers to use again.
    spare: Vec<Receivers>,
    unsaid: Vec<Said>,
    receivers: Vec<Slot>,
    /// By object, the oldest message first.
    of: Vec<Vec<Entry>>,
    /// The present.
    now: Stamp,
    /// Somebody told of what is still to come: a message may tell of more than its time.
    ahead: bool,
}

/// A message that is kept.
#[derive(Debug, Clone)]
struct Kept {
    step: Step,
    /// Of its step: nothing that it tells of is newer.
    stamp: Stamp,
    receivers: Receivers,
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
            unsaid: Vec::new(),
            receivers: Vec::new(),
            of: Vec::new(),
            now: 0,
            ahead: false,
        }
    }

    /// Makes room, and lets go of messages that are too old at `step`, which has the stamp `now`.
    pub(crate) fn begin(&mut self, step: Step, now: Stamp, size: usize) {
        self.now = now;
        if self.of.len() < size {
            self.of.resize_with(size, Vec::new);
        }
        while let Some(kept) = self.messages.front()
            && kept.step.after(self.memory) < step
        {
            self.first += 1;
            self.speakers.pop_front();
            self.spoken.pop_front();
            if let Some(said) = self.said.pop_front()
                && !said.order.is_empty()
            {
                self.unsaid.push(said);
            }
            if let Some(kept) = self.messages.pop_front() {
                self.spare.push(kept.receivers);
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
        self.messages.push_back(Kept {
            step,
            stamp: self.now,
            receivers: bits,
        });
        self.speakers.push_back(Speaker::Gone);
        self.spoken.push_back(true);
        self.said.push_back(Said::default());
        self.first + self.messages.len() as u64 - 1
    }

    /// Notes who spoke a message, by its number.
    pub(crate) fn spoken_by(&mut self, message: u64, speaker: Speaker) {
        if let Some(place) = self.speakers.get_mut((message - self.first) as usize) {
            *place = speaker;
        }
    }

    /// The newest message says so of an object; [`said_all`](Self::said_all) follows on the last.
    pub(crate) fn say(&mut self, object: Slot, words: Whereabouts) {
        if let Some(said) = self.said.back_mut() {
            if said.order.is_empty()
                && let Some(mut room) = self.unsaid.pop()
            {
                room.order.clear();
                room.words.clear();
                *said = room;
            }
            said.order.push((object, said.words.len() as u32));
            said.words.push(words);
        }
    }

    /// That is all that the newest message says.
    pub(crate) fn said_all(&mut self) {
        if let Some(said) = self.said.back_mut() {
            said.order.sort_unstable();
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
                .receivers
                .has(receiver)
        });
        heard.map(|&(_, _, stamp)| stamp).max().unwrap_or(0)
    }

    /// The newest that `receiver` was told of `object` that is newer than a stamp: of which step, by whom, and in which words, where they
    /// are a host's own.
    pub(crate) fn newest(
        &self,
        object: Slot,
        receiver: Slot,
        than: Stamp,
    ) -> Option<(Stamp, Speaker, Option<&Whereabouts>)> {
        let (mut newest, mut found) = (than, None);
        for entry in self.of.get(object.index())?.iter().rev() {
            // Messages are told in order.
            let Some(at) = entry.message().checked_sub(self.first) else {
                break;
            };
            // Whether it is newer is seen without a look at the message.
            let stamp = entry.stamp();
            let kept = &self.messages[at as usize];
            if stamp <= newest {
                if self.is_no_newer(kept, newest) {
                    break;
                }
                continue;
            }
            if kept.receivers.has(receiver) {
                (newest, found) = (stamp, Some(at as usize));
            }
        }
        let at = found?;
        Some((newest, self.speakers[at], self.said[at].of(object)))
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
        for entry in told.iter().rev() {
            let Some(at) = entry.message().checked_sub(self.first) else {
                break;
            };
            let at = at as usize;
            let kept = &self.messages[at];
            if kept.step < since {
                break;
            }
            times += u32::from(self.spoken[at] && kept.receivers.has(receiver));
        }
        times
    }

    /// [`at`](Self::at) and [`times`](Self::times) in one.
    pub(crate) fn at_and_times(&self, object: Slot, receiver: Slot, since: Step) -> (Stamp, u32) {
        let told = self.of.get(object.index()).map_or(&[][..], Vec::as_slice);
        let (mut newest, mut times) = (0, 0);
        for entry in told.iter().rev() {
            let Some(at) = entry.message().checked_sub(self.first) else {
                break;
            };
            let (at, stamp) = (at as usize, entry.stamp());
            let kept = &self.messages[at];
            if kept.step < since && newest > 0 && self.is_no_newer(kept, newest) {
                break;
            }
            if kept.receivers.has(receiver) {
                newest = newest.max(stamp);
                times += u32::from(kept.step >= since && self.spoken[at]);
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
        let told = told.iter().rev();
        let kept = told.map_while(|entry| {
            let at = entry.message().checked_sub(self.first)?;
            Some((at as usize, entry.stamp()))
        });
        kept.filter(move |&(at, _)| self.messages[at].receivers.has(receiver))
            .map(|(at, stamp)| (self.speakers[at], stamp))
    }

    /// All messages kept, the oldest first: step, speaker, receivers.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (Step, Speaker, &Receivers)> {
        let messages = self.messages.iter().zip(&self.speakers);
        messages.map(|(kept, &speaker)| (kept.step, speaker, &kept.receivers))
    }

    /// A message told that `object` was sensed at `stamp`.
    pub(crate) fn tell(&mut self, message: u64, object: Slot, stamp: Stamp) {
        let first = self.first;
        self.ahead |= stamp > self.now;
        let told = &mut self.of[object.index()];
        // What is too old goes when the list would grow.
        if told.len() == told.capacity() {
            let old = told.partition_point(|entry| entry.message() < first);
            told.drain(..old);
        }
        told.push(Entry::new(message, stamp));
    }

    /// The newest step of which `receiver` was told a state of `object`.
    pub(crate) fn at(&self, object: Slot, receiver: Slot) -> Stamp {
        let Some(told) = self.of.get(object.index()) else {
            return 0;
        };
        let mut newest = 0;
        for entry in told.iter().rev() {
            let Some(at) = entry.message().checked_sub(self.first) else {
                // Messages are told in order.
                break;
            };
            let (kept, stamp) = (&self.messages[at as usize], entry.stamp());
            if newest > 0 && self.is_no_newer(kept, newest) {
                break;
            }
            if stamp > newest && kept.receivers.has(receiver) {
                newest = stamp;
            }
        }
        newest
    }

    /// Neither this message nor any before it tells of more than `newest`.
    #[inline]
    fn is_no_newer(&self, kept: &Kept, newest: Stamp) -> bool {
        kept.stamp <= newest && !self.ahead
    }

    /// Forgets a place, as object and as receiver.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if let Some(told) = self.of.get_mut(slot.index()) {
            told.clear();
        }
        for kept in &mut self.messages {
            kept.receivers.remove(slot);
        }
        for said in &mut self.said {
            said.order.retain(|&(object, _)| object != slot);
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
            for entry in told {
                let mut stamp = entry.stamp();
                f(&mut stamp);
                *entry = Entry::new(entry.message(), stamp);
            }
        }
        self.ghosts.iter_mut().for_each(|entry| f(&mut entry.2));
        self.messages.iter_mut().for_each(|kept| f(&mut kept.stamp));
    }
}

#[cfg(test)]
mod tests {
    use covey_protocol::{Instant, Position, Velocity};

    use super::*;

    fn slots<const N: usize>(numbers: [u32; N]) -> [Slot; N] {
        numbers.map(Slot)
    }

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

    #[test]
    fn the_newest_told_state_counts_until_it_is_forgotten() {
        let mut told = Told::new(20);
        let object = Slot(5);
        let at = |told: &Told, receiver| told.at(object, Slot(receiver));
        told.begin(Step(1), 2, 100);
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
        told.begin(Step(22), 23, 100);
        assert_eq!(at(&told, 3), 1);
        told.begin(Step(23), 24, 100);
        assert_eq!(at(&told, 3), 0);
        // Lists do not grow with what is forgotten.
        for step in 23..2_000 {
            told.begin(Step(step), step as Stamp, 100);
            let message = told.message(Step(step), slots([1]).into_iter());
            told.tell(message, object, step as Stamp);
        }
        assert!(told.of[5].capacity() <= 128, "{}", told.of[5].capacity());
        assert_eq!(at(&told, 1), 1_999);
    }

    #[test]
    fn looking_no_farther_than_needed_finds_the_same() {
        let mut number = 7u64;
        let mut draw = |below: u64| {
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (number >> 33) % below
        };
        for ahead in [0, 3] {
            let mut told = Told::new(20);
            for step in 30..90u32 {
                told.begin(Step(step), step as Stamp, 4);
                for _ in 0..draw(6) {
                    let receivers: Vec<Slot> = (0..4).filter(|_| draw(3) == 0).map(Slot).collect();
                    let message = told.message(Step(step), receivers.into_iter());
                    if draw(4) == 0 {
                        told.is_silence(message);
                    }
                    for object in 0..4 {
                        let stamp = u64::from(step) + ahead - draw(12).min(u64::from(step));
                        told.tell(message, Slot(object), stamp as Stamp);
                    }
                }
                for (object, receiver) in (0..4).flat_map(|o| (0..4).map(move |r| (o, r))) {
                    let [object, receiver] = [object, receiver].map(Slot);
                    let all = told.of(object, receiver).map(|(_, stamp)| stamp);
                    let newest = all.max().unwrap_or(0);
                    assert_eq!(told.at(object, receiver), newest);
                    for than in [0, newest.saturating_sub(1), newest, step as Stamp] {
                        let found = told.newest(object, receiver, than);
                        let expected = Some(newest).filter(|&newest| newest > than);
                        assert_eq!(found.map(|(stamp, ..)| stamp), expected);
                    }
                    let since = Step(step - 8);
                    let times = told.times(object, receiver, since);
                    assert_eq!(told.at_and_times(object, receiver, since), (newest, times));
                }
            }
        }
    }
    #[test]
    fn words_are_found_by_object_until_they_are_forgotten() {
        let words = |x: f64| Whereabouts {
            sensed_at: Instant::from_millis(50),
            position: Position::new(x, 0.0),
            velocity: Velocity::default(),
        };
        let mut told = Told::new(5);
        let said = |told: &Told, object| {
            let (_, _, said) = told.newest(Slot(object), Slot(1), 0)?;
            said.map(|words| words.position.x)
        };
        for step in 1..20u32 {
            told.begin(Step(step), step as Stamp, 10);
            let message = told.message(Step(step), slots([1]).into_iter());
            let host = step % 3 > 0;
            for object in [7, 2, 5] {
                told.tell(message, Slot(object), step as Stamp);
                if host {
                    told.say(Slot(object), words(f64::from(100 * step + object)));
                }
            }
            told.said_all();
            for object in [2, 5, 7] {
                let expected = host.then(|| f64::from(100 * step + object));
                assert_eq!(said(&told, object), expected, "{object} at {step}");
            }
            assert_eq!(said(&told, 3), None);
        }
        told.clear(Slot(5));
        assert_eq!([said(&told, 2), said(&told, 5)], [Some(1902.0), None]);
    }
}
