//! The host rule: who hosts a tile.
//!
//! Once per cycle, just before hosts decide, every participant applies the rule to what it heard:
//!
//! - The *incumbent* of a tile is the host of the newest broadcast for it, if that is no older than the soft-state time and
//!   the host was last seen inside the tile.
//! - A tile without incumbent goes to the agent nearest its centre, by beacons heard within the soft-state time, the lower id
//!   on a tie. Who has not listened for that long does not stand.
//! - Should the nearest not take office (it may be a vehicle that beacons but knows nothing of all this), the next nearest
//!   does after another soft-state time, and so on: a tile with a willing participant always gets a host. Where
//!   [`crate::parameters::Guard::silent_share`] is not above 1, a host that says nothing for a soft-state time in which that share of
//!   its beacons is heard has fallen silent, and is passed over at once.
//! - A host that leaves its tile leaves office. The next one starts from the digests it has heard, and goes on from price and
//!   epoch if it heard them within the soft-state time.
//! - Where [`Handover`] says so, a host far from the centre gives way to one much nearer.
//! - Of two hosts of one tile that hear each other, one stays and the other leaves office at once ([`OfficeRule::yields`]).
//!
//! A claim counts as far as it can be believed ([`Claims`]): it is from inside the tile and from within reach, agrees with the
//! claimant's beacons, is no older than the soft-state time, tells no longer a tenure than the claimant's first word allows, and
//! comes from somebody who serves. Whoever was let down, by a host that did not serve or by one that was handed over to and never
//! took office, is wary for a while: claims count then from those who have served, and hosts hand over only to those who
//! speak as hosts already.
//!
//! The rule is a function of what was heard, so all who heard the same agree. Whoever keeps what was heard, in maps or in
//! flat arrays, tells it through [`Neighbourhood`] and [`Evidence`]; nothing else decides who hosts.

use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use crate::grid::{Position, Tile};
use crate::guard::Whereabouts;
use crate::ids::AgentId;
use crate::messages::Broadcast;
use crate::parameters::{BroadcastContent, Handover, Parameters};
use crate::time::{Duration, Instant};

/// What the newest broadcast for a tile said of its host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The host that claims the tile.
    pub host: AgentId,
    /// When it said so.
    pub at: Instant,
    /// Where it was when it said so.
    pub position: Position,
    /// How long it had been in office.
    pub tenure: Duration,
    /// What the next host goes on from.
    pub inheritance: Inheritance,
}

/// What a new host takes over from the broadcasts of the one before it, where it heard them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Inheritance {
    /// The congestion price that it last told.
    pub price: f64,
    /// How often its contributor set, and those before it, had changed.
    pub epoch: u32,
}

impl Claim {
    /// The claim that a broadcast makes.
    #[must_use]
    pub fn of(broadcast: &Broadcast) -> Self {
        Self {
            host: broadcast.host,
            at: broadcast.at,
            position: broadcast.position,
            tenure: broadcast.tenure,
            inheritance: Inheritance {
                price: broadcast.price,
                epoch: broadcast.epoch,
            },
        }
    }
}

/// What one participant knows of those whom a broadcast speaks of.
pub trait Evidence {
    /// Where `agent` said it was in its newest beacon, and when, if one was heard within the soft-state time.
    fn beacon(&self, agent: AgentId) -> Option<Whereabouts>;

    /// The participant, or anybody but `host` whose beacon it heard within the soft-state time, is within `radius_m` of `place`.
    fn anybody_near(&self, place: Position, radius_m: f64, host: AgentId) -> bool;
}

/// The claims that one participant heard, and what speaks for each claimant.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    records: Vec<Record>,
    /// Counts what was heard.
    heard: u64,
    /// When a host was last found not to serve.
    let_down: Option<Instant>,
}

/// What is held of one claimant of one tile.
#[derive(Debug, Clone, Copy)]
struct Record {
    tile: Tile,
    /// Its newest claim, as far as it is believed.
    claim: Claim,
    /// The number of that word among all that were heard.
    order: u64,
    /// Since when it can have been in office, by its first word.
    since: Instant,
    /// Its words since one of its beacons was heard.
    unseen: u32,
    /// When it last served somebody, or nobody was there to be served; its first word where neither was.
    served_at: Instant,
    /// It has served somebody.
    proven: bool,
}

impl Record {
    /// It can be believed in office, by one who is `wary` or is not.
    fn is_believed(&self, rule: &OfficeRule, wary: bool) -> bool {
        let within = |at: Instant, limit: Duration| self.claim.at.since(at) <= limit;
        self.unseen <= rule.unseen
            && (!rule.must_serve || within(self.served_at, rule.serve) && (self.proven || !wary))
    }
}

impl Claims {
    /// A broadcast was heard at `now` that a host can have sent. Gives its claim, where it is news and can be believed.
    pub fn hear(
        &mut self,
        rule: &OfficeRule,
        now: Instant,
        own: AgentId,
        broadcast: &Broadcast,
        evidence: &impl Evidence,
    ) -> Option<Claim> {
        let (tile, mut claim) = (broadcast.tile, Claim::of(broadcast));
        self.heard += 1;
        let since = claim.at - claim.tenure.max(Duration::ZERO);
        let found = |record: &Record| record.tile == tile && record.claim.host == claim.host;
        let at = match self.records.iter().position(found) {
            Some(at) if self.records[at].claim.at >= claim.at => return None,
            Some(at) => at,
            None => {
                self.make_room(rule, now);
                self.records.push(Record {
                    tile,
                    claim,
                    order: self.heard,
                    since,
                    unseen: 0,
                    served_at: claim.at,
                    proven: false,
                });
                self.records.len() - 1
            }
        };
        let record = &mut self.records[at];
        let believed = record.is_believed(rule, false);
        if since < record.since - rule.rounding {
            claim.tenure = claim.at.since(record.since);
        } else {
            record.since = since;
        }
        record.claim = claim;
        record.order = self.heard;
        record.unseen = match evidence.beacon(claim.host) {
            Some(_) => 0,
            None => record.unseen.saturating_add(1),
        };
        if serves(own, broadcast, evidence) {
            record.proven = true;
            record.served_at = claim.at;
        } else if rule.must_serve
            && !evidence.anybody_near(claim.position, rule.around_m, claim.host)
        {
            record.served_at = claim.at;
        }
        let record = *record;
        if believed && rule.must_serve && claim.at.since(record.served_at) > rule.serve {
            self.let_down = Some(now);
        }
        let wary = self.is_wary(rule, now);
        record.is_believed(rule, wary).then_some(claim)
    }

    /// The newest claim to `tile` that is no older than the soft-state time and can be believed.
    #[must_use]
    pub fn newest(&self, rule: &OfficeRule, now: Instant, tile: Tile) -> Option<Claim> {
        let wary = self.is_wary(rule, now);
        let counts = |record: &&Record| {
            record.tile == tile
                && now.since(record.claim.at) <= rule.soft_state
                && record.is_believed(rule, wary)
        };
        // Of two of one time the first that was heard.
        let newest = |record: &&Record| (record.claim.at, Reverse(record.order));
        let counting = self.records.iter().filter(counts);
        counting.max_by_key(newest).map(|record| record.claim)
    }

    /// When `host` last claimed `tile`, as far as it is remembered.
    #[must_use]
    pub fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant> {
        let mut records = self.records.iter();
        let found = records.find(|record| record.tile == tile && record.claim.host == host);
        found.map(|record| record.claim.at)
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// How many claimants are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// No claimant is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn is_wary(&self, rule: &OfficeRule, now: Instant) -> bool {
        self.let_down.is_some_and(|at| now.since(at) <= rule.wary)
    }

    /// Lets go of the claimant that was not heard for longest, where there are as many as are remembered.
    fn make_room(&mut self, rule: &OfficeRule, now: Instant) {
        if self.records.len() < rule.most {
            return;
        }
        self.records
            .retain(|record| now.since(record.claim.at) <= rule.wary);
        if self.records.len() >= rule.most {
            let oldest = self.records.iter().enumerate();
            let oldest = oldest.min_by_key(|(_, record)| (record.claim.at, record.order));
            if let Some((at, _)) = oldest {
                self.records.remove(at);
            }
        }
    }
}

/// A broadcast lists a station that is heard, or asks somebody who is, the receiver included.
fn serves(own: AgentId, broadcast: &Broadcast, evidence: &impl Evidence) -> bool {
    let here = |agent: AgentId| {
        agent != broadcast.host && (agent == own || evidence.beacon(agent).is_some())
    };
    broadcast.contributors.iter().any(|&agent| here(agent))
        || broadcast
            .objects
            .iter()
            .any(|object| object.id.shared().is_some() && here(AgentId(object.id.0)))
}

/// What one participant heard of others, as far as the host rule asks.
pub trait Neighbourhood {
    /// The newest claim to `tile` heard within the soft-state time that can be believed.
    fn claim(&self, tile: Tile) -> Option<Claim>;

    /// Where `host` said it was in its newest beacon, if that is newer than `since`. None may also stand for a place inside
    /// `tile` where hosts do not hand over: it makes no difference then.
    fn beaconed_since(&self, host: AgentId, since: Instant, tile: Tile) -> Option<Position>;

    /// When `host` last claimed `tile`, as far as it is remembered.
    fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant>;

    /// How many beacons of `agent` were heard that are newer than `since`, which is within the soft-state time.
    fn beacons_since(&self, agent: AgentId, since: Instant) -> u32;

    /// Asks `found` about other agents heard within the soft-state time, and where they last said they were, until it says
    /// yes; gives whether it did. All within `reach_m` of the centre of `tile` are asked about; others may be.
    fn any_other(
        &self,
        tile: Tile,
        reach_m: f64,
        found: impl FnMut(AgentId, Position) -> bool,
    ) -> bool;
}

/// The participant that applies the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Its id; on a tie the lower one comes first.
    pub id: AgentId,
    /// Where it is in the slot that the rule is applied in.
    pub position: Position,
    /// Since when it listens.
    pub listening_since: Instant,
    /// The tile it hosts, if it does.
    pub office: Option<Tile>,
}

/// What a participant remembers from one election to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Watch {
    /// The own tile, and since when it has had no incumbent, as far as the participant knows.
    pub vacancy: Option<(Tile, Instant)>,
    /// When it last waited in vain for the nearest to take office.
    pub let_down: Option<Instant>,
    /// The office that it handed over last, and when.
    pub handed_over: Option<(Tile, Instant)>,
}

/// What follows for the participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Election {
    /// It leaves its office.
    pub leaves: bool,
    /// It takes office in this tile.
    pub takes: Option<Tile>,
}

/// The host rule with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OfficeRule {
    tile_m: f64,
    soft_state: Duration,
    handover: Option<Handover>,
    /// So many words of one who is not heard to beacon are believed. Words, not time: at the edge of reach, and where the channel is
    /// full, a word gets through now and then without a beacon before it.
    unseen: u32,
    serve: Duration,
    wary: Duration,
    /// So many beacons heard within the soft-state time tell of a host without broadcasts that it is silent, and not badly heard.
    beacons: u32,
    /// Broadcasts list those around the host.
    must_serve: bool,
    /// Whoever is this near to a host is to be served by it.
    around_m: f64,
    /// What rounding of times may make of a tenure.
    rounding: Duration,
    /// Claimants that are remembered.
    most: usize,
}

impl OfficeRule {
    /// The rule with the numbers of `parameters`.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            tile_m: parameters.tile_m,
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            handover: parameters.handover,
            unseen: libm::ceil(parameters.guard.unseen_s / parameters.cycle_s) as u32,
            serve: Duration::from_seconds(parameters.guard.serve_s),
            wary: Duration::from_seconds(parameters.guard.wary_s),
            beacons: libm::ceil(
                parameters.guard.silent_share
                    * libm::floor(parameters.soft_state_s / parameters.beacon_s + 1e-9),
            ) as u32,
            must_serve: parameters.broadcast_content == BroadcastContent::All,
            around_m: 0.5 * parameters.footprint_m,
            rounding: Duration::from_millis(10),
            most: parameters.guard.hosts as usize,
        }
    }

    /// Applies the rule in the decision slot that begins at `slot`.
    pub fn elect(
        &self,
        slot: Instant,
        standing: &Standing,
        watch: &mut Watch,
        heard: &impl Neighbourhood,
    ) -> Election {
        let mut election = Election::default();
        let here = Tile::containing(standing.position, self.tile_m);
        let wary = watch.let_down.is_some_and(|at| slot.since(at) <= self.wary);
        if let Some(office) = standing.office {
            // A wary host stays until it hears the one that it gives way to ([`Self::yields`]).
            if here == Some(office)
                && (wary || !self.hands_over(office, standing.position, standing.position, heard))
            {
                return election;
            }
            election.leaves = true;
            watch.handed_over = (here == Some(office)).then_some((office, slot));
        }
        let Some(tile) = here else {
            watch.vacancy = None;
            return election;
        };
        let ready = standing.listening_since + self.soft_state;
        if self.has_incumbent(tile, standing.position, wary, heard) {
            if let Some((of, since)) = watch.vacancy.take()
                && of == tile
            {
                self.note(slot, since.max(ready), watch);
            }
            return election;
        }
        let since = match watch.vacancy {
            Some((of, since)) if of == tile => since,
            _ => slot,
        };
        watch.vacancy = Some((tile, since));
        let since = since.max(ready);
        let back = watch.handed_over.is_some_and(|(of, at)| {
            // Nobody has taken what it gave away: it goes on itself.
            of == tile && slot.since(at) >= self.soft_state && since <= at
        });
        if back || slot >= ready && self.is_next(slot, since, tile, standing, heard) {
            watch.vacancy = None;
            self.note(slot, since, watch);
            election.takes = Some(tile);
        }
        election
    }

    /// An office was vacant since `since`: where hosts hand over, whoever should have taken it has let others down.
    fn note(&self, slot: Instant, since: Instant, watch: &mut Watch) {
        if self.handover.is_some() && slot.since(since) >= self.soft_state {
            watch.let_down = Some(slot);
        }
    }

    /// A host of `tile` is in office, as far as a participant at `own` knows.
    fn has_incumbent(
        &self,
        tile: Tile,
        own: Position,
        wary: bool,
        heard: &impl Neighbourhood,
    ) -> bool {
        let Some(claim) = heard.claim(tile) else {
            return false;
        };
        // Its beacon may be newer than its broadcast.
        let position = heard
            .beaconed_since(claim.host, claim.at, tile)
            .unwrap_or(claim.position);
        let gives_way = match wary {
            // It goes when it hears a nearer one, and not before.
            true => self.gives_way(tile, position, own),
            false => self.hands_over(tile, position, own, heard),
        };
        Tile::containing(position, self.tile_m) == Some(tile) && !gives_way
    }

    /// The host of `tile`, at `position`, hands over to somebody nearer the centre whom a participant at `own` knows of, itself
    /// included.
    fn hands_over(
        &self,
        tile: Tile,
        position: Position,
        own: Position,
        heard: &impl Neighbourhood,
    ) -> bool {
        let Some(handover) = self.handover else {
            return false;
        };
        let off = position.distance(tile.centre(self.tile_m));
        if off <= handover.beyond_m {
            return false;
        }
        self.gives_way(tile, position, own)
            || heard.any_other(tile, off - handover.nearer_m, |_, rival| {
                self.gives_way(tile, position, rival)
            })
    }

    /// Nobody nearer the centre is left who should take office first. Every soft-state time without a host since `since` lets
    /// one more of the nearest be passed over.
    fn is_next(
        &self,
        slot: Instant,
        since: Instant,
        tile: Tile,
        standing: &Standing,
        heard: &impl Neighbourhood,
    ) -> bool {
        let waited = slot.since(since).micros() / self.soft_state.micros().max(1);
        let mut passed_over = waited.max(0);
        let centre = tile.centre(self.tile_m);
        let own = (standing.position.distance(centre), standing.id);
        let comes_first = |id: AgentId, at: Position| {
            let nearer = id != standing.id
                && closer((at.distance(centre), id), own)
                && Tile::containing(at, self.tile_m) == Some(tile)
                && !self.fell_silent(slot, tile, id, heard);
            passed_over -= i64::from(nearer);
            passed_over < 0
        };
        !heard.any_other(tile, own.0, comes_first)
    }

    /// `agent` was the host of `tile` and says nothing any more, although every one of its beacons is heard: the link is not to blame.
    /// After a second soft-state time it is passed over as everybody is.
    fn fell_silent(
        &self,
        slot: Instant,
        tile: Tile,
        agent: AgentId,
        heard: &impl Neighbourhood,
    ) -> bool {
        let Some(last) = heard.last_word(tile, agent) else {
            return false;
        };
        let silent = slot.since(last);
        silent > self.soft_state
            && silent <= self.soft_state.times(2)
            && heard.beacons_since(agent, slot - self.soft_state) >= self.beacons
    }

    /// A host of `tile` at `position` hands over to an agent at `rival`.
    fn gives_way(&self, tile: Tile, position: Position, rival: Position) -> bool {
        let Some(handover) = self.handover else {
            return false;
        };
        let centre = tile.centre(self.tile_m);
        let off = position.distance(centre);
        off > handover.beyond_m
            && rival.distance(centre) <= off - handover.nearer_m
            && Tile::containing(rival, self.tile_m) == Some(tile)
    }

    /// Of two hosts of `tile` that hear each other, `mine` leaves: longer tenure stays, then nearer the centre, then the lower
    /// id; but whose office is handed over leaves, however long it was in office.
    #[must_use]
    pub fn yields(&self, tile: Tile, mine: &Claim, theirs: &Claim) -> bool {
        let hands_over = |a: &Claim, b: &Claim| self.gives_way(tile, a.position, b.position);
        hands_over(mine, theirs)
            || (!hands_over(theirs, mine)
                && match mine.tenure.cmp(&theirs.tenure) {
                    Ordering::Greater => false,
                    Ordering::Less => true,
                    Ordering::Equal => {
                        let centre = tile.centre(self.tile_m);
                        let place = |c: &Claim| (c.position.distance(centre), c.host);
                        !closer(place(mine), place(theirs))
                    }
                })
    }
}

/// Nearer, or as near with a lower id. A total order even for positions that are not numbers.
fn closer(a: (f64, AgentId), b: (f64, AgentId)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)) == Ordering::Less
}

#[cfg(test)]
mod tests;
