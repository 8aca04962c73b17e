//! The 16-bit numbers by which a station speaks of objects.
//!
//! TS 103 324 wants a number to stay with its object, and no other object to get it for 60 s after its last use. The protocol's
//! ids are larger: stations have 32 bits, and what somebody perceives belongs to who numbered it. A [`Numbering`] stands in
//! between, one for each sending station.

use std::collections::{BTreeMap, BTreeSet};

use covey_protocol::{AgentId, Duration, Instant, ObjectId};

/// The first number of the upper half. In a fused state the lower half numbers stations, the upper one the host's labels.
pub const FIRST_LABEL: u16 = 32_768;
/// For how long after its last use a number is given to no other object.
pub const KEPT: Duration = Duration::from_millis(60_000);
/// How many numbers a half has.
const HALF: usize = 32_768;

/// Which object has which number in the messages of one station.
///
/// Shared ids get a number of the lower half: their own where it is free, which keeps captures of simulations readable. What
/// the station has numbered itself goes by that number where it is free. Everything else gets a free number.
///
/// Memory is bounded: at most 32,768 objects in each half, and none that was not used for 60 s.
#[derive(Debug, Clone)]
pub struct Numbering {
    lower: Half,
    upper: Half,
}

impl Default for Numbering {
    fn default() -> Self {
        Self::new()
    }
}

impl Numbering {
    /// No number is in use.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lower: Half::new(0),
            upper: Half::new(FIRST_LABEL),
        }
    }

    /// The number of `object` in a report that `sender` makes at `now`; none if all of its half are taken.
    pub fn in_report(&mut self, sender: AgentId, object: ObjectId, now: Instant) -> Option<u16> {
        match object.scope() {
            Some((by, number)) if by == sender && number < FIRST_LABEL => {
                self.lower.number(object, Some(number), now)
            }
            _ => self.in_fused_state(sender, object, now),
        }
    }

    /// The number of `object` in a fused state that `host` sends at `now`: of the lower half for shared ids, else of the upper
    /// one; none if all of that half are taken.
    pub fn in_fused_state(&mut self, host: AgentId, object: ObjectId, now: Instant) -> Option<u16> {
        match object.scope() {
            Some((by, number)) => {
                let own = (by == host).then_some(number);
                self.upper.number(object, own, now)
            }
            None => {
                let same = u16::try_from(object.0).ok();
                self.lower.number(object, same, now)
            }
        }
    }
}

/// One half of the numbers.
#[derive(Debug, Clone)]
struct Half {
    first: u16,
    /// Where to look for a free number next, counted from the first: in turn, so that one just given up comes late.
    next: usize,
    /// Number and last use of each object.
    objects: BTreeMap<ObjectId, (u16, Instant)>,
    /// Which object has a number.
    numbers: BTreeMap<u16, ObjectId>,
    /// The same by last use.
    uses: BTreeSet<(Instant, u16)>,
}

impl Half {
    const fn new(first: u16) -> Self {
        Self {
            first,
            next: 0,
            objects: BTreeMap::new(),
            numbers: BTreeMap::new(),
            uses: BTreeSet::new(),
        }
    }

    /// The number that `object` has, or else `wanted`, or else a free one.
    fn number(&mut self, object: ObjectId, wanted: Option<u16>, now: Instant) -> Option<u16> {
        self.forget(now);
        if let Some((number, last)) = self.objects.get_mut(&object) {
            if now > *last {
                self.uses.remove(&(*last, *number));
                self.uses.insert((now, *number));
                *last = now;
            }
            return Some(*number);
        }
        let number = wanted
            .filter(|&number| self.is_free(number))
            .or_else(|| self.next_free())?;
        self.objects.insert(object, (number, now));
        self.numbers.insert(number, object);
        self.uses.insert((now, number));
        Some(number)
    }

    /// Lets go of what was not used for [`KEPT`].
    fn forget(&mut self, now: Instant) {
        while let Some(&(last, number)) = self.uses.first()
            && now.since(last) >= KEPT
        {
            self.uses.pop_first();
            if let Some(object) = self.numbers.remove(&number) {
                self.objects.remove(&object);
            }
        }
    }

    fn is_free(&self, number: u16) -> bool {
        number
            .checked_sub(self.first)
            .is_some_and(|offset| usize::from(offset) < HALF)
            && !self.numbers.contains_key(&number)
    }

    fn next_free(&mut self) -> Option<u16> {
        if self.numbers.len() >= HALF {
            return None;
        }
        let offset = (self.next..HALF)
            .chain(0..self.next)
            .find(|&offset| self.is_free(self.first + offset as u16))?;
        self.next = (offset + 1) % HALF;
        Some(self.first + offset as u16)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATION: AgentId = AgentId(3_000_000_001);

    fn own(number: u16) -> ObjectId {
        ObjectId::perceived(STATION, number)
    }

    fn foreign(number: u16) -> ObjectId {
        ObjectId::perceived(AgentId(7), number)
    }

    #[test]
    fn numbers_are_those_one_would_guess_where_they_are_free() {
        let mut numbering = Numbering::new();
        let now = Instant::ZERO;
        let mut report = |object| numbering.in_report(STATION, object, now).unwrap();
        assert_eq!(report(ObjectId(5)), 5);
        assert_eq!(report(own(6)), 6);
        assert_eq!(report(own(65_535)), 65_535);
        // Taken, too large, or somebody else's.
        assert_eq!(report(own(5)), 0);
        assert_eq!(report(ObjectId(6)), 1);
        assert_eq!(report(ObjectId(4_000_000_000)), 2);
        assert_eq!(report(foreign(65_535)), 32_768);
        let mut fused = |object| numbering.in_fused_state(STATION, object, now).unwrap();
        assert_eq!(fused(ObjectId(5)), 5);
        assert_eq!(fused(own(65_535)), 65_535);
        assert_eq!(fused(foreign(65_535)), 32_768);
        assert_eq!(fused(own(32_768)), 32_769);
        assert_eq!(fused(own(6)), 32_770, "a label, whatever it is in reports");
    }

    #[test]
    fn a_number_is_free_again_sixty_seconds_after_its_last_use() {
        let mut numbering = Numbering::new();
        let mut at = |object, ms| {
            let now = Instant::from_millis(ms);
            numbering.in_report(STATION, object, now).unwrap()
        };
        assert_eq!(at(own(5), 0), 5);
        assert_eq!(at(own(5), 30_000), 5);
        assert_ne!(at(ObjectId(5), 89_999), 5);
        assert_eq!(at(ObjectId(1 << 20 | 5), 89_999), 1);
        // What was given stays, even where the number that it would like is free by now.
        assert_ne!(at(ObjectId(5), 95_000), 5);
        assert_eq!(at(own(5), 95_000), 5);
    }

    #[test]
    fn a_full_half_gives_no_more_and_the_other_goes_on() {
        let mut numbering = Numbering::new();
        let now = Instant::ZERO;
        for id in 0..HALF as u64 {
            let object = ObjectId(3_000_000_000 + id);
            assert!(numbering.in_report(STATION, object, now).is_some());
        }
        assert_eq!(numbering.in_report(STATION, ObjectId(1), now), None);
        assert_eq!(numbering.in_report(STATION, own(1), now), None);
        assert!(numbering.in_report(STATION, foreign(1), now).is_some());
        let later = now + KEPT;
        assert_eq!(numbering.in_report(STATION, ObjectId(1), later), Some(1));
        assert_eq!(numbering.lower.objects.len(), 1);
    }

    /// Objects whose numbers are likely to meet.
    fn objects() -> impl Strategy<Value = ObjectId> {
        prop_oneof![
            (0..6_u64).prop_map(ObjectId),
            (3_000_000_000..3_000_000_004_u64).prop_map(ObjectId),
            prop_oneof![0..6_u16, 32_766..32_772_u16].prop_map(own),
            prop_oneof![0..3_u16, 32_767..32_770_u16].prop_map(foreign),
        ]
    }

    proptest! {
        #[test]
        fn a_number_stays_with_its_object_and_goes_to_no_other_within_sixty_seconds(
            uses in prop::collection::vec((objects(), any::<bool>(), 0..40_000_i64), 1..120),
        ) {
            let mut numbering = Numbering::new();
            let mut now = Instant::ZERO;
            // Who used a number last, and when; and what each object had last.
            let mut used: BTreeMap<u16, (ObjectId, Instant)> = BTreeMap::new();
            let mut had: BTreeMap<(ObjectId, bool), (u16, Instant)> = BTreeMap::new();
            for (object, fused, wait) in uses {
                now = now + Duration::from_millis(wait);
                let number = if fused {
                    numbering.in_fused_state(STATION, object, now)
                } else {
                    numbering.in_report(STATION, object, now)
                }.unwrap();
                if fused {
                    prop_assert_eq!(number >= FIRST_LABEL, object.scope().is_some());
                }
                if let Some((holder, last)) = used.insert(number, (object, now)) {
                    prop_assert!(holder == object || now.since(last) >= KEPT, "{number}: {holder} and {object}");
                }
                let upper = number >= FIRST_LABEL;
                if let Some((before, last)) = had.insert((object, upper), (number, now)) {
                    prop_assert!(before == number || now.since(last) >= KEPT, "{object}: {before} and {number}");
                }
            }
            prop_assert!(numbering.lower.objects.len() + numbering.upper.objects.len() <= used.len());
        }
    }
}
