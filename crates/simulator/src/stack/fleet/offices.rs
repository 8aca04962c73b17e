//! The host rule over flat arrays: what every participant heard, as [`OfficeRule`](covey_protocol::office::OfficeRule) asks it.

use covey_protocol::guard::{Rules, Whereabouts};
use covey_protocol::host::Host;
use covey_protocol::messages::{Beacon, Broadcast, ObjectState};
use covey_protocol::office::{Claim, Claims, Evidence, Neighbourhood, OfficeRule, Standing, Watch};
use covey_protocol::{AgentId, Input, Instant, Parameters, Position, Profile, Tile};

use super::witness::Show;
use crate::channel::BeaconHistory;
use crate::ids::{Lane, Slot, Step, TileNumber};
use crate::stack::Turn;
use crate::world::{Time, World};

/// An object as a broadcast listed it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed {
    /// As the host calls it, and holds it.
    pub(super) state: ObjectState,
    /// The sequence number of the broadcast.
    pub(super) since: u32,
}

/// Somebody who received the broadcasts of a host up to some of late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follower {
    pub(super) slot: Slot,
    /// One more than the last sequence number received.
    pub(super) next: u32,
    /// The first of the unbroken run up to it.
    pub(super) first: u32,
}

/// A host at work.
pub(super) struct InOffice {
    pub(super) slot: Slot,
    pub(super) tile: TileNumber,
    pub(super) host: Host,
    /// Objects that a receiver of all broadcasts holds, as the host calls them, with the sequence number that last listed
    /// them.
    pub(super) listed: Vec<Listed>,
    /// Who follows its broadcasts, by ascending place.
    pub(super) following: Vec<Follower>,
    /// What it said first, where it says that again and again.
    pub(super) first: Option<Box<Broadcast>>,
}

impl std::fmt::Debug for InOffice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InOffice")
            .field("slot", &self.slot)
            .field("tile", &self.tile)
            .finish_non_exhaustive()
    }
}

/// Who hosts, and what everyone heard of it.
#[derive(Debug)]
pub(super) struct Offices {
    rule: OfficeRule,
    guard: Rules,
    soft_state_s: f64,
    hosts: Vec<InOffice>,
    /// Index in `hosts` by place.
    host_of: Vec<Option<u32>>,
    /// By place: the claims that it heard.
    claims: Vec<Claims>,
    /// By tile: a host that was in it for as long as anybody remembers, wherever it was last heard.
    settled: Vec<Option<AgentId>>,
    watches: Vec<Watch>,
}

/// What one participant heard, as far as the host rule asks.
struct TileEars<'a> {
    world: &'a World<'a>,
    heard: &'a BeaconHistory,
    lane: Lane,
    slot: Slot,
    rule: &'a OfficeRule,
    claims: &'a Claims,
    settled: &'a [Option<AgentId>],
    /// Participants in the tile and around it, nearest to its centre first.
    others: &'a [(f64, Slot)],
    /// Nobody moved farther since it was last heard, in metres.
    moved_m: f64,
}

impl Neighbourhood for TileEars<'_> {
    fn claim(&self, tile: Tile) -> Option<Claim> {
        self.claims.newest(self.rule, self.world.now(), tile)
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, tile: Tile) -> Option<Position> {
        let number = self.world.prepared.tiles.number(Some(tile));
        if self.settled[number.index()] == Some(host) {
            // Wherever it was last heard, that was in the tile.
            return None;
        }
        let host = self.world.road.slot_of(host.into())?;
        let stamp = self.heard.at(host, self.slot, self.lane);
        if stamp == 0 {
            return None;
        }
        let step = self.world.time.step_of(stamp);
        (Time::instant(step) > since).then(|| self.world.told(host, step).position)
    }

    fn last_word(&self, tile: Tile, host: AgentId) -> Option<Instant> {
        self.claims.last_word(tile, host)
    }

    fn beacons_since(&self, agent: AgentId, since: Instant) -> u32 {
        let Some(sender) = self.world.road.slot_of(agent.into()) else {
            return 0;
        };
        let heard = self.heard.each_at(sender, self.slot, self.lane);
        let times = heard.map(|stamp| Time::instant(self.world.time.step_of(stamp)));
        times.take_while(|&at| at > since).count() as u32
    }

    fn any_other(
        &self,
        _: Tile,
        reach_m: f64,
        mut found: impl FnMut(AgentId, Position) -> bool,
    ) -> bool {
        let world = self.world;
        let soft = world.prepared.timeline.soft_state;
        // Whoever was near when it last spoke cannot be much farther away now.
        let near = |&&(distance, _): &&(f64, Slot)| distance <= reach_m + self.moved_m;
        self.others.iter().take_while(near).any(|&(_, other)| {
            let stamp = match other == self.slot {
                true => 0,
                false => self.heard.at(other, self.slot, self.lane),
            };
            world.age(stamp).is_some_and(|age| age <= soft) && {
                let step = world.time.step_of(stamp);
                found(world.agent(other), world.told(other, step).position)
            }
        })
    }
}

/// What one participant heard of those whom a broadcast speaks of.
struct HostEvidence<'a> {
    world: &'a World<'a>,
    heard: &'a BeaconHistory,
    lane: Lane,
    slot: Slot,
    soft_state_s: f64,
    /// The host that is asked for again and again, and its newest beacon.
    host: (AgentId, Option<Whereabouts>),
}

impl HostEvidence<'_> {
    fn newest(&self, other: Slot) -> Option<Whereabouts> {
        let stamp = self.heard.at(other, self.slot, self.lane);
        let soft = self.world.prepared.timeline.soft_state;
        let recent = self.world.age(stamp).is_some_and(|age| age <= soft);
        recent.then(|| {
            let step = self.world.time.step_of(stamp);
            (self.world.told(other, step).position, Time::instant(step))
        })
    }
}

impl Evidence for HostEvidence<'_> {
    fn beacon(&self, agent: AgentId) -> Option<Whereabouts> {
        match agent == self.host.0 {
            true => self.host.1,
            false => self.newest(self.world.road.slot_of(agent.into())?),
        }
    }

    fn anybody_near(&self, place: Position, radius_m: f64, host: AgentId) -> bool {
        let world = self.world;
        let own = world.here(self.slot).state.position;
        // Whoever is near that place is within this of the participant.
        let around = own.distance(place) + radius_m;
        own.distance(place) <= radius_m
            || world
                .around(self.slot, around, self.soft_state_s)
                .filter(|&other| world.agent(other) != host)
                .filter_map(|other| self.newest(other))
                .any(|(at, _)| at.distance(place) <= radius_m)
    }
}

impl Offices {
    /// Offices of participants with these parameters, all of them vacant.
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            rule: OfficeRule::new(parameters),
            guard: Rules::new(parameters),
            soft_state_s: parameters.soft_state_s,
            hosts: Vec::new(),
            host_of: Vec::new(),
            claims: Vec::new(),
            settled: Vec::new(),
            watches: Vec::new(),
        }
    }

    /// All that are held.
    pub(super) fn all(&mut self) -> impl Iterator<Item = &mut InOffice> {
        self.hosts.iter_mut()
    }

    /// The office of whoever is at a place.
    pub(super) fn held_by(&mut self, slot: Slot) -> Option<&mut InOffice> {
        let at = self.host_of[slot.index()]?;
        self.hosts.get_mut(at as usize)
    }

    /// Makes room for new places and lets go of those that were left.
    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) {
        let road = &turn.stage.world.road;
        let size = road.size();
        self.host_of.resize(size, None);
        self.claims.resize_with(size, Claims::default);
        self.watches.resize(size, Watch::default());
        for &slot in road.left() {
            if self.host_of[slot.index()].is_some() {
                self.leave(slot, turn);
            }
            self.claims[slot.index()].clear();
            self.watches[slot.index()] = Watch::default();
            for host in &mut self.hosts {
                let at = host.following.binary_search_by_key(&slot, |f| f.slot);
                if let Ok(at) = at {
                    host.following.remove(at);
                }
            }
        }
    }

    /// The host rule, for everyone.
    pub(super) fn elect(&mut self, profile: &Profile, show: Option<&Show>, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        let fastest = world
            .road
            .frame
            .vehicles
            .iter()
            .fold(0.0, |fastest: f64, v| fastest.max(v.speed));
        // A vehicle may have been a little faster than the fastest is now.
        let moved_m = (fastest + 15.0) * profile.parameters.soft_state_s;
        let tile_m = profile.parameters.tile_m;
        self.settle(world, &profile.parameters);
        for &slot in world.road.participants() {
            let place = slot.index();
            let position = world.here(slot).state.position;
            let tile = Tile::containing(position, tile_m);
            let spoken = &mut *turn.spoken;
            let ears = TileEars {
                world,
                heard: &turn.beacons.heard,
                lane: turn.lane,
                slot,
                rule: &self.rule,
                claims: &self.claims[place],
                settled: &self.settled,
                others: tile.map_or(&[], |tile| spoken.nearest_first(world, tile, tile_m)),
                moved_m,
            };
            let office = self.host_of[place].and_then(|at| self.hosts.get(at as usize));
            let standing = Standing {
                id: world.agent(slot),
                position,
                listening_since: Time::instant(world.road.appeared(slot)),
                office: office.map(|office| office.host.tile()),
            };
            let watch = &mut self.watches[place];
            let election = self.rule.elect(world.now(), &standing, watch, &ears);
            if election.leaves {
                self.leave(slot, turn);
            }
            if let Some(tile) = election.takes {
                self.take(profile, show, turn, slot, tile);
            }
        }
    }

    /// Finds the hosts that were in their tile for the whole soft-state time, where hosts do not hand over: most
    /// participants need not be asked where they last heard them.
    fn settle(&mut self, world: &World<'_>, parameters: &Parameters) {
        self.settled.clear();
        self.settled.resize(world.prepared.tiles.len(), None);
        if parameters.handover.is_some() {
            return;
        }
        let soft = world.prepared.timeline.soft_state;
        for host in &self.hosts {
            let tile = host.host.tile();
            let begin = world.step().before(soft);
            if world.road.appeared(host.slot) > begin || world.lie(host.slot).is_some() {
                continue;
            }
            let stayed = (begin.0..=world.step().0).map(Step).all(|step| {
                let position = world.road.moment(host.slot, step).state.position;
                Tile::containing(position, parameters.tile_m) == Some(tile)
            });
            if stayed && let Some(settled) = self.settled.get_mut(host.tile.index()) {
                *settled = Some(world.agent(host.slot));
            }
        }
    }

    fn take(
        &mut self,
        profile: &Profile,
        show: Option<&Show>,
        turn: &mut Turn<'_>,
        slot: Slot,
        tile: Tile,
    ) {
        let world = turn.stage.world;
        let place = slot.index();
        let now = world.now();
        let claim = self.claims[place].newest(&self.rule, now, tile);
        let inheritance = claim.map(|claim| claim.inheritance);
        let mut host = Host::new(profile, world.agent(slot), tile, now, inheritance);
        if let Some(show) = show {
            host.watch(Box::new(show.clone()));
        }
        host.handle_input(now, Input::Moved(&world.here(slot).state));
        host.handle_input(
            now,
            Input::Sensed {
                objects: turn.spoken.sensed(world, slot),
                cells: world.sights.cells.of(slot),
            },
        );
        // By ascending id, as a participant keeps them.
        let channel = world.prepared.channel.parameters();
        let longest = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        let mut others: Vec<Slot> = world
            .around(slot, longest, profile.parameters.soft_state_s)
            .collect();
        others.sort_unstable_by_key(|&other| world.agent(other));
        for other in others {
            if let Some(beacon) = newest_beacon(&profile.parameters, turn, [other, slot]) {
                host.handle_input(now, Input::Beacon(&beacon));
            }
        }
        self.host_of[place] = Some(self.hosts.len() as u32);
        self.hosts.push(InOffice {
            slot,
            tile: world.prepared.tiles.number(Some(tile)),
            host,
            listed: Vec::new(),
            following: Vec::new(),
            first: None,
        });
        turn.beacons.hosts[place] |= turn.lane.bit();
        turn.ledger.outcome.host_changes += u64::from(turn.stage.measured);
    }

    fn leave(&mut self, slot: Slot, turn: &mut Turn<'_>) {
        let Some(at) = self.host_of[slot.index()].take() else {
            return;
        };
        self.hosts.remove(at as usize);
        for (at, host) in (0u32..).zip(&self.hosts) {
            self.host_of[host.slot.index()] = Some(at);
        }
        turn.beacons.hosts[slot.index()] &= !turn.lane.bit();
    }

    /// A host can have sent a broadcast, as far as a receiver knows.
    pub(super) fn is_plausible(
        &self,
        turn: &Turn<'_>,
        receiver: Slot,
        broadcast: &Broadcast,
    ) -> bool {
        let evidence = self.evidence(turn, receiver, broadcast.host);
        self.is_host(&evidence, broadcast)
    }

    fn is_host(&self, evidence: &HostEvidence<'_>, broadcast: &Broadcast) -> bool {
        let world = evidence.world;
        let place = world.here(evidence.slot).state.position;
        self.guard
            .is_host(world.now(), Some(place), evidence.host.1, broadcast)
    }

    /// What the participant at a place heard of those whom a broadcast of `host` speaks of.
    fn evidence<'a>(&self, turn: &'a Turn<'_>, slot: Slot, host: AgentId) -> HostEvidence<'a> {
        let mut evidence = HostEvidence {
            world: turn.stage.world,
            heard: &turn.beacons.heard,
            lane: turn.lane,
            slot,
            soft_state_s: self.soft_state_s,
            host: (host, None),
        };
        let place = evidence.world.road.slot_of(host.into());
        evidence.host.1 = place.and_then(|place| evidence.newest(place));
        evidence
    }

    /// A receiver of a broadcast remembers its claim; a host may have to yield to it. Gives whether a host can have sent it, as far
    /// as the receiver knows.
    pub(super) fn heed(
        &mut self,
        turn: &mut Turn<'_>,
        receiver: Slot,
        broadcast: &Broadcast,
    ) -> bool {
        let world = turn.stage.world;
        let now = world.now();
        let evidence = self.evidence(turn, receiver, broadcast.host);
        if !self.is_host(&evidence, broadcast) {
            return false;
        }
        let (tile, agent) = (broadcast.tile, world.agent(receiver));
        let claims = &mut self.claims[receiver.index()];
        let claim = claims.hear(&self.rule, now, agent, broadcast, &evidence);
        if let Some(office) = self.held_by(receiver) {
            let rival = &mut office.host;
            rival.handle_input(now, Input::Broadcast(broadcast));
            let (of, own) = (rival.tile(), rival.claim(broadcast.at));
            if of == tile && claim.is_some_and(|claim| self.rule.yields(tile, &own, &claim)) {
                self.leave(receiver, turn);
            }
        }
        true
    }
}

/// The newest beacon of one place that another heard within the soft-state time, with the newest digest of them.
fn newest_beacon(
    parameters: &Parameters,
    turn: &Turn<'_>,
    [other, slot]: [Slot; 2],
) -> Option<Beacon> {
    let world = turn.stage.world;
    let soft = world.prepared.timeline.soft_state;
    let mut newest: Option<Beacon> = None;
    for stamp in turn.beacons.heard.each_at(other, slot, turn.lane) {
        let step = world.time.step_of(stamp);
        if world.step().since(step) > soft {
            break;
        }
        let beacon = turn.spoken.beacon(other, step, parameters)?;
        match &mut newest {
            None => newest = Some(beacon),
            Some(newest) => newest.digest = beacon.digest,
        }
        if newest
            .as_ref()
            .is_some_and(|newest| newest.digest.is_some())
            || parameters.digest_every == 0
        {
            break;
        }
    }
    newest
}
