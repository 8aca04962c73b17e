//! What a host remembers of each agent that it hears.

use alloc::vec::Vec;

use crate::digest::CoverageDigest;
use crate::grid::{Cell, Position, Window};
use crate::ids::ObjectId;
use crate::messages::{AgentState, Beacon, PathCell};
use crate::time::{Duration, Instant};

/// An agent, as its beacons and reports tell.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) state: AgentState,
    pub(super) heard_at: Instant,
    beacons: History,
    /// Its newest digest. Beacons come more often than decisions, so cells are looked up when one is made.
    digest: Option<CoverageDigest>,
    digest_at: Option<Instant>,
    /// Where it is about to drive, and the time of the beacon that this follows from.
    pub(super) path: Vec<PathCell>,
    pub(super) path_of: Option<Instant>,
    pub(super) reports: Reports,
}

/// A contributor's reports, as the host received them.
#[derive(Debug, Clone, Default)]
pub(super) struct Reports {
    /// When the newest one was made.
    pub(super) at: Option<Instant>,
    /// How many objects they had.
    pub(super) objects: Recent,
    /// Which, by ascending id.
    pub(super) ids: Vec<ObjectId>,
    /// When the oldest of them was sensed.
    pub(super) sensed_at: Option<Instant>,
    /// What they added to broadcasts, in bytes.
    pub(super) broadcast_bytes: Recent,
    /// Due and decoded, cycle by cycle.
    pub(super) history: History,
    /// Cycles in a row in which it was asked and nothing came, or a report without objects.
    pub(super) in_vain: u32,
    /// Objects of it that others told of, too, and that nobody else saw who looked there; forgotten over time.
    pub(super) backed: f64,
    pub(super) contradicted: f64,
}

/// What is left of what spoke for and against a reporter, from one decision to the next: a half after ten.
const LEFT: f64 = 0.933;
/// So many objects of a reporter that others do not see weigh as much as one that they do.
const FORGIVEN: f64 = 4.0;

impl Reports {
    /// Others saw `backed` objects of its last report, too, and `contradicted` ones not although they looked there.
    pub(super) fn weigh(&mut self, backed: f64, contradicted: f64) {
        self.backed = LEFT * self.backed + backed;
        self.contradicted = LEFT * self.contradicted + contradicted;
    }

    /// Not too much of what it told of late is contradicted.
    pub(super) fn is_trusted(&self, most: f64) -> bool {
        self.contradicted <= most || self.contradicted <= FORGIVEN * self.backed
    }

    /// A whole round of reports, their sizes and what they add to broadcasts, is not known yet.
    pub(super) fn is_new(&self, round: usize) -> bool {
        !self.objects.has(round) || !self.broadcast_bytes.has(round)
    }
}

/// The newest of numbers that come one by one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recent {
    /// The newest first.
    values: [f64; Self::MOST],
    held: usize,
}

impl Recent {
    /// As many as are kept.
    const MOST: usize = 10;

    /// One more.
    pub(super) fn push(&mut self, value: f64) {
        self.values.rotate_right(1);
        self.values[0] = value;
        self.held = (self.held + 1).min(Self::MOST);
    }

    /// The newest; 0 where there is none.
    pub(super) fn last(&self) -> f64 {
        self.values[0]
    }

    /// There are `many`, or as many as are kept.
    fn has(&self, many: usize) -> bool {
        self.held >= many.min(Self::MOST)
    }

    /// The mean of the newest `many`, of which those that did not come yet are taken to be `expected`.
    pub(super) fn mean(&self, many: usize, expected: f64) -> f64 {
        let many = many.clamp(1, Self::MOST);
        let held = self.held.min(many);
        let sum: f64 = self.values[..held].iter().sum();
        (sum + (many - held) as f64 * expected) / many as f64
    }
}

/// Hits and misses, newest in the lowest bit.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct History {
    hits: u32,
    slots: u32,
}

impl History {
    /// `misses` misses, then a hit or another miss.
    pub(super) fn push(&mut self, misses: u32, hit: bool) {
        let shift = misses.saturating_add(1);
        self.hits = self.hits.checked_shl(shift).unwrap_or(0) | u32::from(hit);
        self.slots = self.slots.saturating_add(shift).min(32);
    }

    /// So many of those remembered are hits.
    fn hits(&self) -> u32 {
        self.hits.count_ones()
    }

    /// Share of hits in the last `window` slots, with `misses` more of them at the end; none where there are no slots.
    pub(super) fn share(&self, window: u32, misses: u32) -> Option<f64> {
        let slots = self.slots.saturating_add(misses).min(window);
        if slots == 0 {
            return None;
        }
        let hits = self.hits.checked_shl(misses).unwrap_or(0);
        let mask = u32::MAX.checked_shr(32 - slots.min(32)).unwrap_or(0);
        Some(f64::from((hits & mask).count_ones()) / f64::from(slots))
    }
}

impl Member {
    /// A member from its first beacon.
    pub(super) fn new(beacon: &Beacon) -> Self {
        let mut beacons = History::default();
        beacons.push(0, true);
        Self {
            state: beacon.state,
            heard_at: beacon.at,
            beacons,
            digest: None,
            digest_at: None,
            path: Vec::new(),
            path_of: None,
            reports: Reports::default(),
        }
    }

    /// Takes in a beacon; a late one still counts as heard, but its state is old news.
    ///
    /// Returns how many beacons were due since the last one, this one included; 0 for old news.
    pub(super) fn hear(&mut self, beacon: &Beacon, interval: Duration) -> u32 {
        let mut due = 0;
        if beacon.at > self.heard_at {
            let steps = slots_between(self.heard_at, beacon.at, interval);
            self.beacons.push(steps.saturating_sub(1), true);
            self.state = beacon.state;
            self.heard_at = beacon.at;
            due = steps.max(1);
        }
        if let Some(digest) = &beacon.digest
            && self.digest_at.is_none_or(|at| beacon.at > at)
        {
            self.digest_at = Some(beacon.at);
            self.digest = Some(digest.clone());
        }
        due
    }

    /// When it was last heard, if that was only once or twice.
    pub(super) fn as_name(&self) -> Option<Instant> {
        (self.beacons.hits() <= 2).then_some(self.heard_at)
    }

    /// It says that it sees the cell.
    pub(super) fn claims_to_see(&self, cell: Cell) -> bool {
        let digest = self.digest.as_ref();
        digest.is_some_and(|digest| {
            let by_row = |c: &Cell| (c.iy, c.ix).cmp(&(cell.iy, cell.ix));
            digest.cells().binary_search_by(by_row).is_ok()
        })
    }

    /// It was last heard within `radius_m` of `centre`.
    pub(super) fn is_within(&self, centre: Position, radius_m: f64) -> bool {
        self.state.position.distance(centre) <= radius_m
    }

    /// Appends the cells of its newest digest as numbers of the host's window, ascending; those beyond are left out.
    pub(super) fn view(&self, window: &Window, cells: &mut Vec<u32>) {
        if let Some(digest) = &self.digest {
            cells.extend(digest.cells().iter().filter_map(|&cell| window.index(cell)));
        }
    }

    /// Share of its last beacons that was decoded, as of `now`.
    pub(super) fn beacon_share(&self, now: Instant, interval: Duration, window: u32) -> f64 {
        // The beacon of the present interval may still come.
        let missing = slots_between(self.heard_at, now, interval).saturating_sub(1);
        self.beacons.share(window, missing).unwrap_or(0.0)
    }
}

/// Whole intervals from `earlier` to `later`, to the nearest.
fn slots_between(earlier: Instant, later: Instant, interval: Duration) -> u32 {
    let micros = later.since(earlier).micros().max(0);
    let slots = micros.saturating_add(interval.micros() / 2) / interval.micros().max(1);
    u32::try_from(slots).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_the_newest_and_of_what_is_expected() {
        let mut recent = Recent::default();
        assert_eq!((recent.last(), recent.mean(5, 7.0)), (0.0, 7.0));
        assert!(!recent.has(1));
        recent.push(17.0);
        assert_eq!((recent.mean(1, 7.0), recent.mean(5, 7.0)), (17.0, 9.0));
        for value in 0..20 {
            recent.push(f64::from(value));
        }
        assert_eq!((recent.last(), recent.mean(5, 7.0)), (19.0, 17.0));
        assert!(recent.has(1_000), "it keeps no more");
        assert_eq!(recent.mean(1_000, 7.0), recent.mean(Recent::MOST, 7.0));
    }

    #[test]
    fn a_history_counts_what_was_due() {
        let mut history = History::default();
        assert_eq!(history.share(10, 0), None);
        history.push(0, true);
        history.push(2, true); // hit, miss, miss, hit
        assert_eq!(history.share(10, 0), Some(0.5));
        assert_eq!(history.share(2, 0), Some(0.5));
        assert_eq!(history.share(10, 4), Some(0.25));
        assert_eq!(history.share(10, u32::MAX), Some(0.0));
        history.push(u32::MAX, true);
        assert_eq!(history.share(32, 0), Some(1.0 / 32.0));
    }

    fn beacon(millis: i64, digest: Option<i32>) -> Beacon {
        Beacon {
            sender: crate::AgentId(5),
            at: Instant::from_millis(millis),
            state: AgentState {
                position: Position::new(millis as f64, 0.0),
                ..AgentState::default()
            },
            digest: digest.and_then(|ix| CoverageDigest::new(alloc::vec![Cell::new(ix, 3)]).ok()),
            low_frequency: false,
        }
    }

    #[test]
    fn a_member_is_as_its_newest_beacon_says_and_as_well_heard_as_beacons_were_due() {
        let every = Duration::from_millis(100);
        let now = |millis| Instant::from_millis(millis);
        let mut member = Member::new(&beacon(0, None));
        assert_eq!(member.as_name(), Some(now(0)));
        // In time, late by less than half an interval, after two that were lost, and one that comes too late.
        assert_eq!(member.hear(&beacon(100, None), every), 1);
        assert_eq!(member.as_name(), Some(now(100)));
        assert_eq!(member.hear(&beacon(249, None), every), 1);
        assert_eq!(member.as_name(), None, "heard three times");
        assert_eq!(member.hear(&beacon(550, None), every), 3);
        assert_eq!(member.hear(&beacon(300, None), every), 0);
        assert_eq!(member.hear(&beacon(550, None), every), 0);
        assert_eq!(
            (member.heard_at, member.state.position.x),
            (now(550), 550.0)
        );
        // Four of six.
        let share = |millis, window| member.beacon_share(now(millis), every, window);
        assert_eq!(share(550, 32), 4.0 / 6.0);
        assert_eq!(share(699, 32), 4.0 / 6.0, "the next may still come");
        assert_eq!(share(700, 32), 4.0 / 7.0);
        assert_eq!(share(550, 3), 1.0 / 3.0);
        assert_eq!(share(550, 4), 0.5);
        assert!(member.is_within(Position::new(500.0, 0.0), 50.0));
        assert!(!member.is_within(Position::new(500.0, 0.0), 49.9));
        // One much too early counts as one.
        assert_eq!(member.hear(&beacon(560, None), every), 1);
    }

    #[test]
    fn a_member_sees_what_its_newest_digest_tells() {
        let every = Duration::from_millis(100);
        let mut member = Member::new(&beacon(0, None));
        let sees = |member: &Member, ix| member.claims_to_see(Cell::new(ix, 3));
        assert!(!sees(&member, 4));
        member.hear(&beacon(200, Some(4)), every);
        assert!(sees(&member, 4) && !sees(&member, 5));
        // Beacons without one change nothing; one from before, or of the same time, is old news.
        member.hear(&beacon(300, None), every);
        member.hear(&beacon(100, Some(5)), every);
        member.hear(&beacon(200, Some(5)), every);
        assert!(sees(&member, 4) && !sees(&member, 5));
        // A late one may still bring the newest digest.
        member.hear(&beacon(250, Some(6)), every);
        assert!(sees(&member, 6) && !sees(&member, 4));
        let window = Window::around(crate::Tile::new(0, 0), 500.0, 20.0);
        let mut cells = alloc::vec![7];
        member.view(&window, &mut cells);
        let place = window.index(Cell::new(6, 3));
        assert_eq!((cells.len(), cells.get(1).copied()), (2, place));
    }

    #[test]
    fn what_speaks_against_a_reporter_is_forgotten_by_a_half_in_ten_decisions() {
        let mut reports = Reports::default();
        reports.weigh(0.0, 80.0);
        assert!(!reports.is_trusted(40.0));
        for _ in 0..9 {
            reports.weigh(0.0, 0.0);
        }
        assert!(!reports.is_trusted(40.0));
        reports.weigh(0.0, 0.0);
        assert!(reports.is_trusted(40.0), "{}", reports.contradicted);
        // Four objects that others do not see are forgiven for each that they do.
        let mut reports = Reports::default();
        reports.weigh(25.0, 100.0);
        assert!(reports.is_trusted(40.0));
        reports.weigh(0.0, 0.0);
        assert!(reports.is_trusted(40.0), "both are forgotten alike");
        reports.weigh(0.0, 1.0);
        assert!(!reports.is_trusted(40.0));
    }

    #[test]
    fn a_reporter_is_new_until_a_whole_round_of_its_reports_is_known() {
        let mut reports = Reports::default();
        for _ in 0..2 {
            assert!(reports.is_new(2));
            reports.objects.push(1.0);
        }
        for _ in 0..2 {
            assert!(reports.is_new(2));
            reports.broadcast_bytes.push(1.0);
        }
        assert!(!reports.is_new(2) && reports.is_new(3));
    }
}
