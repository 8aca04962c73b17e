//! What a participant heard of others within the soft-state time: beacons, claims to tiles, and what was said of objects.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::digest::CoverageDigest;
use crate::grid::{Position, Tile};
use crate::ids::AgentId;
use crate::knowledge::{Heard, Neighbour};
use crate::messages::{Beacon, Broadcast, ObjectState};
use crate::office::{Claim, Neighbourhood};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Memory of what was heard.
#[derive(Debug, Clone)]
pub(crate) struct Ears {
    own: AgentId,
    soft_state: Duration,
    /// What is said of objects is kept.
    keeps_sayings: bool,
    neighbours: SortedMap<AgentId, Beacons>,
    /// The newest claim to each tile.
    claims: SortedMap<Tile, Claim>,
    sayings: VecDeque<Said>,
}

/// Beacons of one agent.
#[derive(Debug, Clone)]
struct Beacons {
    newest: Beacon,
    /// The newest digest that came with one of them, and when that was made.
    digest: Option<(Instant, CoverageDigest)>,
    /// When those before it were made, the oldest first.
    before: VecDeque<Instant>,
}

/// What somebody said of objects in one message.
#[derive(Debug, Clone)]
struct Said {
    at: Instant,
    by: AgentId,
    objects: Vec<ObjectState>,
}

impl Ears {
    pub(crate) fn new(own: AgentId, soft_state: Duration, keeps_sayings: bool) -> Self {
        Self {
            own,
            soft_state,
            keeps_sayings,
            neighbours: SortedMap::default(),
            claims: SortedMap::default(),
            sayings: VecDeque::new(),
        }
    }

    /// Lets go of what is too old at `now`.
    pub(crate) fn forget(&mut self, now: Instant) {
        let soft_state = self.soft_state;
        let recent = |at: Instant| now.since(at) <= soft_state;
        self.neighbours.retain(|_, beacons| {
            while beacons.before.front().is_some_and(|&at| !recent(at)) {
                beacons.before.pop_front();
            }
            recent(beacons.newest.at)
        });
        self.claims.retain(|_, claim| recent(claim.at));
        self.sayings.retain(|said| recent(said.at));
    }

    /// A beacon was decoded. What comes from the future cannot be told apart from a lie.
    pub(crate) fn hear(&mut self, now: Instant, beacon: &Beacon) {
        if beacon.sender == self.own || beacon.at > now || !beacon.state.is_finite() {
            return;
        }
        let (beacons, new) = self
            .neighbours
            .get_or_insert_with(beacon.sender, || Beacons {
                newest: beacon.clone(),
                digest: None,
                before: VecDeque::new(),
            });
        if !new && beacon.at <= beacons.newest.at {
            return;
        }
        if !new {
            beacons.before.push_back(beacons.newest.at);
            beacons.newest.clone_from(beacon);
        }
        if let Some(digest) = beacons.newest.digest.take() {
            beacons.digest = Some((beacon.at, digest));
        }
    }

    /// A broadcast was decoded.
    pub(crate) fn heed(&mut self, now: Instant, broadcast: &Broadcast) {
        if broadcast.host == self.own || broadcast.at > now {
            return;
        }
        let held = self.claims.get(broadcast.tile);
        if held.is_none_or(|held| broadcast.at > held.at) {
            self.claims.insert(broadcast.tile, Claim::of(broadcast));
        }
        self.listen(now, broadcast.at, broadcast.host, &broadcast.objects);
    }

    /// Somebody spoke of objects.
    pub(crate) fn listen(
        &mut self,
        now: Instant,
        at: Instant,
        by: AgentId,
        objects: &[ObjectState],
    ) {
        if self.keeps_sayings && by != self.own && at <= now && !objects.is_empty() {
            let objects = objects.to_vec();
            self.sayings.push_back(Said { at, by, objects });
        }
    }

    /// The newest beacon of everyone heard, by ascending id, each with the newest digest heard of its sender within the
    /// soft-state time: what a new host begins with.
    pub(crate) fn beacons(&self, now: Instant) -> impl Iterator<Item = Beacon> {
        let soft_state = self.soft_state;
        self.neighbours.iter().map(move |(_, beacons)| {
            let digest = beacons.digest.as_ref();
            let recent = digest.filter(|(at, _)| now.since(*at) <= soft_state);
            Beacon {
                digest: recent.map(|(_, digest)| digest.clone()),
                ..beacons.newest.clone()
            }
        })
    }
}

impl Neighbourhood for Ears {
    fn claim(&self, tile: Tile) -> Option<Claim> {
        self.claims.get(tile).copied()
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, _: Tile) -> Option<Position> {
        let newest = &self.neighbours.get(host)?.newest;
        (newest.at > since).then_some(newest.state.position)
    }

    fn any_other(&self, _: Tile, _: f64, mut found: impl FnMut(AgentId, Position) -> bool) -> bool {
        let mut all = self.neighbours.iter();
        all.any(|(id, beacons)| found(id, beacons.newest.state.position))
    }
}

impl Heard for Ears {
    fn hears(&self, agent: AgentId) -> bool {
        self.neighbours.get(agent).is_some()
    }

    fn neighbours(&self, _: f64, mut tell: impl FnMut(Neighbour)) {
        for (id, beacons) in self.neighbours.iter() {
            let newest = &beacons.newest;
            tell(Neighbour {
                id,
                state: newest.state,
                at: newest.at,
                beacons: beacons.before.len() as u32 + 1,
                first_at: beacons.before.front().copied().unwrap_or(newest.at),
            });
        }
    }

    fn sayings<'s>(&'s self, mut tell: impl FnMut(Instant, AgentId, &'s [ObjectState])) {
        for said in &self.sayings {
            tell(said.at, said.by, &said.objects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Cell;
    use crate::messages::{AgentState, Confidence, Content, Size};
    use std::format;

    const TILE: Tile = Tile::new(0, 0);

    fn at(millis: i64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ears() -> Ears {
        Ears::new(AgentId(1), Duration::from_millis(1_000), true)
    }

    fn beacon(sender: u64, millis: i64, x: f64, digest: Option<i32>) -> Beacon {
        Beacon {
            sender: AgentId(sender),
            at: at(millis),
            state: AgentState {
                position: Position::new(x, 0.0),
                ..AgentState::default()
            },
            digest: digest.and_then(|ix| CoverageDigest::new(std::vec![Cell::new(ix, 0)]).ok()),
            low_frequency: false,
        }
    }

    fn broadcast(host: u64, millis: i64) -> Broadcast {
        Broadcast {
            host: AgentId(host),
            tile: TILE,
            at: at(millis),
            position: Position::default(),
            sequence: 0,
            epoch: 0,
            tenure: Duration::ZERO,
            price: 0.0,
            cycle_start: at(millis),
            contributors: Vec::new(),
            lease: Duration::ZERO,
            content: Content::AllVisible,
            requested: Vec::new(),
            full: true,
            objects: std::vec![object(millis)],
            withdrawn: Vec::new(),
            unchanged_since: at(millis),
        }
    }

    fn object(millis: i64) -> ObjectState {
        ObjectState {
            id: crate::ObjectId(70),
            position: Position::default(),
            velocity: crate::Velocity::default(),
            size: Size::default(),
            sensed_at: at(millis),
            confidence: Confidence::FULL,
        }
    }

    fn sayings(ears: &Ears) -> Vec<(Instant, u64)> {
        let mut said = Vec::new();
        ears.sayings(|at, by, _| said.push((at, by.0)));
        said
    }

    #[test]
    fn a_digest_is_kept_for_the_soft_state_time_when_later_beacons_have_none() {
        let mut ears = ears();
        ears.hear(at(0), &beacon(2, 0, 5.0, Some(3)));
        for k in 1..12 {
            ears.hear(at(100 * k), &beacon(2, 100 * k, 5.0 + k as f64, None));
        }
        let newest = |ears: &Ears, now| {
            let beacon = ears.beacons(at(now)).next().unwrap();
            let cell = beacon.digest.map(|digest| digest.cells()[0].ix);
            (beacon.at, beacon.state.position.x, cell)
        };
        assert_eq!(newest(&ears, 1_000), (at(1_100), 16.0, Some(3)));
        assert_eq!(newest(&ears, 1_001), (at(1_100), 16.0, None));
        // A newer one takes its place.
        ears.hear(at(1_200), &beacon(2, 1_200, 17.0, Some(4)));
        assert_eq!(newest(&ears, 1_200), (at(1_200), 17.0, Some(4)));
    }

    #[test]
    fn beacons_are_counted_over_the_soft_state_time() {
        let mut ears = ears();
        for k in (0..20).filter(|k| k % 4 != 1) {
            ears.hear(at(100 * k), &beacon(2, 100 * k, 5.0, None));
        }
        let counted = |ears: &mut Ears, now| {
            ears.forget(at(now));
            let mut all = Vec::new();
            ears.neighbours(300.0, |n| all.push((n.id.0, n.beacons, n.first_at, n.at)));
            all
        };
        // Those at 1,000, 1,100, 1,200, 1,400, 1,500, 1,600, 1,800, 1,900.
        assert_eq!(counted(&mut ears, 2_000), [(2, 8, at(1_000), at(1_900))]);
        assert_eq!(counted(&mut ears, 2_850), [(2, 1, at(1_900), at(1_900))]);
        assert!(ears.hears(AgentId(2)));
        assert_eq!(counted(&mut ears, 2_901), []);
        assert!(!ears.hears(AgentId(2)));
    }

    #[test]
    fn what_was_said_and_claimed_expires() {
        let mut ears = ears();
        ears.heed(at(0), &broadcast(2, 0));
        ears.listen(at(300), at(250), AgentId(3), &[object(200)]);
        ears.forget(at(1_000));
        assert_eq!(sayings(&ears), [(at(0), 2), (at(250), 3)]);
        assert_eq!(ears.claim(TILE).map(|c| c.host), Some(AgentId(2)));
        ears.forget(at(1_001));
        assert_eq!(sayings(&ears), [(at(250), 3)]);
        assert_eq!(ears.claim(TILE), None);
        ears.forget(at(1_251));
        assert_eq!(sayings(&ears), []);
        // One who need not judge keeps nothing of it.
        let mut careless = Ears::new(AgentId(1), Duration::from_millis(1_000), false);
        careless.heed(at(0), &broadcast(2, 0));
        assert_eq!(sayings(&careless), []);
        assert!(careless.claim(TILE).is_some());
    }

    #[test]
    fn what_comes_late_or_from_the_future_changes_nothing() {
        let mut ears = ears();
        ears.hear(at(400), &beacon(2, 400, 5.0, Some(3)));
        ears.heed(at(450), &broadcast(3, 450));
        let before = format!("{ears:?}");
        for late in [400, 399, 0, -5_000] {
            ears.hear(at(500), &beacon(2, late, 6.0, Some(4)));
        }
        ears.hear(at(500), &beacon(2, 501, 7.0, Some(5)));
        ears.hear(at(500), &beacon(8, 501, 7.0, Some(5)));
        ears.hear(at(500), &beacon(8, 500, f64::NAN, None));
        ears.hear(at(500), &beacon(1, 500, 7.0, None));
        ears.heed(at(500), &broadcast(4, 501));
        ears.heed(at(500), &broadcast(1, 500));
        ears.listen(at(500), at(501), AgentId(4), &[object(501)]);
        ears.listen(at(500), at(500), AgentId(1), &[object(500)]);
        ears.listen(at(500), at(500), AgentId(4), &[]);
        assert_eq!(format!("{ears:?}"), before);
        // An older claim does not replace a newer one.
        ears.heed(at(500), &broadcast(4, 440));
        assert_eq!(ears.claim(TILE).map(|c| c.host), Some(AgentId(3)));
    }
}
