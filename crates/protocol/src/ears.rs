//! What a participant heard of others within the soft-state time: beacons, claims to tiles, and what was said of objects.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::digest::CoverageDigest;
use crate::grid::{Position, Tile};
use crate::guard::{Exits, Refusals, Rules, Whereabouts};
use crate::ids::AgentId;
use crate::knowledge::{Heard, Neighbour};
use crate::messages::{Beacon, Broadcast, ObjectState};
use crate::office::{Claim, Claims, Evidence, Neighbourhood, OfficeRule};
use crate::parameters::Parameters;
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Memory of what was heard.
#[derive(Debug, Clone)]
pub(crate) struct Ears {
    own: AgentId,
    /// Where the participant is, as far as it knows.
    place: Option<Position>,
    /// Of the last look at what is too old.
    now: Instant,
    rules: Rules,
    office: OfficeRule,
    soft_state: Duration,
    limits: Limits,
    stations: Stations,
    exits: Exits,
    claims: Claims,
    sayings: VecDeque<Said>,
    /// Objects in all of them.
    said: usize,
    refusals: Refusals,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Limits {
    stations: usize,
    message_objects: usize,
    /// Messages whose objects are kept: none where nobody asks for them.
    sayings: usize,
}

/// Everyone whose beacons were heard.
type Stations = SortedMap<AgentId, Box<Beacons>>;

/// Beacons of one agent.
#[derive(Debug, Clone)]
struct Beacons {
    newest: Beacon,
    /// The newest digest that came with one of them, and when that was made.
    digest: Option<(Instant, CoverageDigest)>,
    /// When those before it were made, the oldest first.
    before: VecDeque<Instant>,
}

/// No station's beacons are counted beyond this: six times as many as it sends within the soft-state time.
const MOST_BEACONS: usize = 64;
/// Objects that are kept of what was said: four times as many as a full channel carries within the soft-state time.
const MOST_SAID: usize = 131_072;
/// Whoever was heard more often than this is a station, and not a name that somebody made up once.
const NAMES: usize = 2;

impl Beacons {
    /// When it was last heard, if that was only once or twice.
    fn as_name(&self) -> Option<Instant> {
        (self.before.len() < NAMES).then_some(self.newest.at)
    }

    fn whereabouts(&self) -> Whereabouts {
        (self.newest.state.position, self.newest.at)
    }
}

/// What somebody said of objects in one message.
#[derive(Debug, Clone)]
struct Said {
    at: Instant,
    by: AgentId,
    objects: Vec<ObjectState>,
}

/// What is known of those whom a broadcast speaks of.
struct Known<'a> {
    place: Option<Position>,
    stations: &'a Stations,
}

impl Evidence for Known<'_> {
    fn beacon(&self, agent: AgentId) -> Option<Whereabouts> {
        self.stations.get(agent).map(|held| held.whereabouts())
    }

    fn anybody_near(&self, place: Position, radius_m: f64, host: AgentId) -> bool {
        let near = |at: Position| at.distance(place) <= radius_m;
        let mut others = self.stations.iter().filter(|&(id, _)| id != host);
        self.place.is_some_and(near)
            || others.any(|(_, beacons)| near(beacons.newest.state.position))
    }
}

impl Ears {
    pub(crate) fn new(own: AgentId, parameters: &Parameters, keeps_sayings: bool) -> Self {
        let guard = &parameters.guard;
        Self {
            own,
            place: None,
            now: Instant::from_micros(i64::MIN),
            rules: Rules::new(parameters),
            office: OfficeRule::new(parameters),
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            limits: Limits {
                stations: guard.stations as usize,
                message_objects: guard.message_objects as usize,
                sayings: match keeps_sayings {
                    true => guard.sayings as usize,
                    false => 0,
                },
            },
            stations: SortedMap::default(),
            exits: Exits::default(),
            claims: Claims::default(),
            sayings: VecDeque::new(),
            said: 0,
            refusals: Refusals::default(),
        }
    }

    /// How often something was passed over or let go.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The participant is called `own` from now on.
    pub(crate) fn rename(&mut self, own: AgentId) {
        self.own = own;
    }

    /// The participant is there.
    pub(crate) fn move_to(&mut self, place: Position) {
        self.place = Some(place);
        self.exits.look_again();
    }

    /// Forgets all that was heard, but for how often something was passed over.
    pub(crate) fn clear(&mut self) {
        self.stations.clear();
        self.exits.clear();
        self.claims.clear();
        self.sayings.clear();
        self.said = 0;
    }

    /// Lets go of what is too old at `now`.
    pub(crate) fn forget(&mut self, now: Instant) {
        self.now = now;
        let soft_state = self.soft_state;
        let recent = |at: Instant| now.since(at) <= soft_state;
        let exits = &mut self.exits;
        exits.look_again();
        self.stations.retain(|id, beacons| {
            let was = beacons.as_name();
            while beacons.before.front().is_some_and(|&at| !recent(at)) {
                beacons.before.pop_front();
            }
            let stays = recent(beacons.newest.at);
            exits.note(id, was, beacons.as_name().filter(|_| stays));
            stays
        });
        let said = &mut self.said;
        self.sayings.retain(|saying| {
            let stays = recent(saying.at);
            *said -= if stays { 0 } else { saying.objects.len() };
            stays
        });
    }

    /// A beacon was decoded. Gives whether it can be believed; a late one can, and tells nothing.
    pub(crate) fn hear(&mut self, now: Instant, beacon: &Beacon) -> bool {
        if beacon.sender == self.own || !self.rules.is_fresh(now, beacon.at) {
            return false;
        }
        let held = self.stations.get(beacon.sender);
        let last = held.map(|held| held.whereabouts());
        let last = last.filter(|&(_, at)| now.since(at) <= self.soft_state);
        if !self.rules.is_beacon(self.place, last, beacon) {
            self.refusals.places += 1;
            return false;
        }
        if held.is_none() && !self.make_room(beacon) {
            return false;
        }
        let (beacons, new) = self.stations.get_or_insert_with(beacon.sender, || {
            Box::new(Beacons {
                newest: beacon.clone(),
                digest: None,
                before: VecDeque::new(),
            })
        });
        if !new && beacon.at <= beacons.newest.at {
            return true;
        }
        let was = beacons.as_name().filter(|_| !new);
        if !new {
            if beacons.before.len() >= MOST_BEACONS {
                beacons.before.pop_front();
            }
            beacons.before.push_back(beacons.newest.at);
            beacons.newest.clone_from(beacon);
        }
        if let Some(digest) = beacons.newest.digest.take() {
            beacons.digest = Some((beacon.at, digest));
        }
        self.exits.note(beacon.sender, was, beacons.as_name());
        true
    }

    /// Makes room for one station more, whose first beacon this is, or says that there is none: of those heard only once or twice
    /// the longest unheard is let go, else the farthest, if that is farther off than the new one.
    fn make_room(&mut self, beacon: &Beacon) -> bool {
        if self.stations.len() < self.limits.stations {
            return true;
        }
        self.refusals.stations += 1;
        let place = self.place.unwrap_or(beacon.state.position);
        let off = |beacon: &Beacon| beacon.state.position.distance(place);
        let stations = &self.stations;
        let gone = self.exits.take_name().or_else(|| {
            let all = || stations.iter().map(|(id, b)| (off(&b.newest), id));
            let stays = |id| stations.get(id).is_some();
            self.exits.take_farthest(off(beacon), all, stays)
        });
        gone.is_some_and(|id| self.stations.remove(id).is_some())
    }

    /// A broadcast was decoded. Gives whether a host can have sent it, and its claim where that is news and can be believed.
    pub(crate) fn heed(&mut self, now: Instant, broadcast: &Broadcast) -> (bool, Option<Claim>) {
        if broadcast.host == self.own {
            return (false, None);
        }
        let known = Known {
            place: self.place,
            stations: &self.stations,
        };
        let beacon = known.beacon(broadcast.host);
        if !self.rules.is_host(now, self.place, beacon, broadcast) {
            self.refusals.hosts += 1;
            return (false, None);
        }
        let claim = self
            .claims
            .hear(&self.office, now, self.own, broadcast, &known);
        self.listen(now, broadcast.at, broadcast.host, &broadcast.objects);
        (true, claim)
    }

    /// Somebody spoke of objects.
    pub(crate) fn listen(
        &mut self,
        now: Instant,
        at: Instant,
        by: AgentId,
        objects: &[ObjectState],
    ) {
        let most = self.limits.message_objects;
        if objects.len() > most {
            self.refusals.others += 1;
        }
        let objects = &objects[..objects.len().min(most)];
        if self.limits.sayings == 0
            || by == self.own
            || !self.rules.is_fresh(now, at)
            || objects.is_empty()
        {
            return;
        }
        self.said += objects.len();
        while (self.sayings.len() >= self.limits.sayings || self.said > MOST_SAID)
            && let Some(oldest) = self.sayings.pop_front()
        {
            self.said -= oldest.objects.len();
            self.refusals.others += 1;
        }
        let objects = objects.to_vec();
        self.sayings.push_back(Said { at, by, objects });
    }

    /// The newest beacon of everyone heard, by ascending id, each with the newest digest heard of its sender within the
    /// soft-state time: what a new host begins with.
    pub(crate) fn beacons(&self, now: Instant) -> impl Iterator<Item = Beacon> {
        let soft_state = self.soft_state;
        self.stations.iter().map(move |(_, beacons)| {
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
        self.claims.newest(&self.office, self.now, tile)
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, _: Tile) -> Option<Position> {
        let newest = &self.stations.get(host)?.newest;
        (newest.at > since).then_some(newest.state.position)
    }

    fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant> {
        self.claims.last_word(tile, host)
    }

    fn beacons_since(&self, agent: AgentId, since: Instant) -> u32 {
        let Some(beacons) = self.stations.get(agent) else {
            return 0;
        };
        let newest = core::iter::once(&beacons.newest.at);
        let newer = |&&at: &&Instant| at > since;
        beacons.before.iter().chain(newest).filter(newer).count() as u32
    }

    fn any_other(&self, _: Tile, _: f64, mut found: impl FnMut(AgentId, Position) -> bool) -> bool {
        let mut all = self.stations.iter();
        all.any(|(id, beacons)| found(id, beacons.newest.state.position))
    }
}

impl Heard for Ears {
    fn hears(&self, agent: AgentId) -> bool {
        self.stations.get(agent).is_some()
    }

    fn neighbours(&self, _: f64, mut tell: impl FnMut(Neighbour)) {
        for (id, beacons) in self.stations.iter() {
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
        Ears::new(AgentId(1), &Parameters::default(), true)
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

    /// Ears with room for so many stations.
    fn small_ears(stations: u32) -> Ears {
        let mut parameters = Parameters::default();
        parameters.guard.stations = stations;
        Ears::new(AgentId(1), &parameters, true)
    }

    #[test]
    fn who_goes_is_known_whatever_was_heard_and_forgotten() {
        let mut ears = small_ears(16);
        ears.move_to(Position::default());
        for step in 0..4_000_u64 {
            let draw = AgentId(step).mixed();
            let now = 20 * step as i64;
            let sender = 2 + draw % 40;
            let late = (draw >> 8) % 300;
            let x = (sender * 7 % 50) as f64;
            ears.hear(at(now), &beacon(sender, now - late as i64, x, None));
            if draw >> 16 & 7 == 0 {
                ears.forget(at(now));
            }
            if draw >> 20 & 511 == 0 {
                ears.clear();
            }
            assert!(ears.stations.len() <= 16);
            let names = ears.stations.iter();
            let names = names.filter_map(|(id, beacons)| Some((beacons.as_name()?, id)));
            let mut names: Vec<(Instant, AgentId)> = names.collect();
            names.sort_unstable();
            let mut exits = ears.exits.clone();
            let known: Vec<AgentId> = core::iter::from_fn(|| exits.take_name()).collect();
            assert_eq!(known, names.iter().map(|n| n.1).collect::<Vec<_>>());
        }
        assert!(ears.refusals.stations > 100);
    }

    #[test]
    fn names_go_first_then_the_farthest_and_no_nearer_one() {
        let mut ears = small_ears(8);
        ears.move_to(Position::default());
        // Seven stations that are heard again and again, and one that was heard twice.
        for now in [0, 100, 200] {
            for id in 2..9 {
                ears.hear(at(now), &beacon(id, now, 10.0 * id as f64, None));
            }
        }
        ears.hear(at(200), &beacon(9, 200, 1.0, None));
        ears.hear(at(250), &beacon(9, 250, 1.0, None));
        let heard =
            |ears: &Ears| -> Vec<u64> { ears.stations.iter().map(|(id, _)| id.0).collect() };
        assert!(ears.hear(at(260), &beacon(20, 260, 500.0, None)));
        assert_eq!(heard(&ears), [2, 3, 4, 5, 6, 7, 8, 20]);
        // It becomes a station; then it is the farthest, and goes for a nearer one.
        for now in [300, 400] {
            ears.hear(at(now), &beacon(20, now, 500.0, None));
        }
        assert!(!ears.hear(at(400), &beacon(30, 400, 501.0, None)));
        assert!(ears.hear(at(400), &beacon(31, 400, 499.0, None)));
        assert_eq!(heard(&ears), [2, 3, 4, 5, 6, 7, 8, 31]);
        for now in [450, 500] {
            ears.hear(at(now), &beacon(31, now, 499.0, None));
        }
        // Distances are looked at anew when one has moved: 2 is the farthest now.
        ears.move_to(Position::new(470.0, 0.0));
        assert!(ears.hear(at(500), &beacon(40, 500, 300.0, None)));
        assert_eq!(heard(&ears), [3, 4, 5, 6, 7, 8, 31, 40]);
        assert_eq!(ears.refusals.stations, 4);
    }

    #[test]
    fn newer_beacons_are_counted_and_the_last_word_is_remembered() {
        let mut ears = ears();
        for k in 0..5 {
            ears.hear(at(100 * k), &beacon(2, 100 * k, 5.0, None));
        }
        let since = |millis| ears.beacons_since(AgentId(2), at(millis));
        assert_eq!([-1, 0, 99, 100, 399, 400].map(since), [5, 4, 4, 3, 1, 0]);
        assert_eq!(ears.beacons_since(AgentId(3), at(0)), 0);
        ears.heed(at(450), &broadcast(2, 450));
        ears.forget(at(1_900));
        assert_eq!(ears.claim(TILE), None);
        assert_eq!(ears.last_word(TILE, AgentId(2)), Some(at(450)));
        assert_eq!(ears.last_word(TILE, AgentId(3)), None);
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
        let mut careless = Ears::new(AgentId(1), &Parameters::default(), false);
        careless.heed(at(0), &broadcast(2, 0));
        assert_eq!(sayings(&careless), []);
        assert!(careless.claim(TILE).is_some());
    }

    #[test]
    fn no_more_is_kept_of_what_was_said_than_a_channel_carries() {
        let mut ears = ears();
        let many = std::vec![object(0); 512];
        for n in 0..1_000 {
            ears.listen(at(n), at(n), AgentId(3), &many);
            let held: usize = ears.sayings.iter().map(|said| said.objects.len()).sum();
            assert_eq!(held, ears.said);
            assert!(held <= MOST_SAID);
        }
        // The newest are kept.
        assert_eq!(ears.sayings.len(), 256);
        assert_eq!(ears.sayings.front().map(|said| said.at), Some(at(744)));
        assert_eq!(ears.refusals.others, 744);
        ears.forget(at(1_900));
        assert_eq!((ears.sayings.len(), ears.said), (100, 51_200));
        ears.clear();
        assert_eq!(ears.said, 0);
    }

    #[test]
    fn of_a_message_that_tells_of_too_much_the_first_part_counts() {
        let mut parameters = Parameters::default();
        parameters.guard.message_objects = 3;
        let mut ears = Ears::new(AgentId(1), &parameters, true);
        let told = |ears: &Ears| {
            let mut told = Vec::new();
            ears.sayings(|_, by, objects| told.push((by.0, objects.len())));
            told
        };
        ears.listen(at(0), at(0), AgentId(3), &[object(0); 3]);
        assert_eq!(ears.refusals.others, 0);
        ears.listen(at(10), at(10), AgentId(4), &[object(0); 4]);
        ears.listen(at(20), at(20), AgentId(5), &[object(0); 9]);
        assert_eq!(ears.refusals.others, 2);
        assert_eq!(told(&ears), [(3, 3), (4, 3), (5, 3)]);
    }

    #[test]
    fn a_host_with_nobody_around_it_need_not_serve() {
        // It lists and asks nobody for ten seconds; one hears it from 400 m off.
        let believed = |own: f64, other: Option<f64>| {
            let mut ears = ears();
            ears.move_to(Position::new(own, 0.0));
            for now in (0..10_000).step_by(200) {
                ears.hear(at(now), &beacon(2, now, 0.0, None));
                if let Some(x) = other {
                    ears.hear(at(now), &beacon(3, now, x, None));
                }
                let empty = Broadcast {
                    objects: Vec::new(),
                    tenure: Duration::from_millis(now),
                    ..broadcast(2, now)
                };
                ears.heed(at(now), &empty);
                ears.forget(at(now));
            }
            ears.claim(TILE).is_some()
        };
        assert!(believed(400.0, None));
        // Within half of its footprint somebody wants to be served.
        assert!(believed(151.0, Some(151.0)));
        assert!(!believed(400.0, Some(149.0)));
        assert!(!believed(149.0, None));
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
        assert_eq!(ears.refusals.places, 1);
        ears.refusals = Refusals::default();
        assert_eq!(format!("{ears:?}"), before);
        // An older claim does not replace a newer one.
        ears.heed(at(500), &broadcast(4, 440));
        assert_eq!(ears.claim(TILE).map(|c| c.host), Some(AgentId(3)));
    }
}
