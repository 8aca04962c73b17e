//! The host rule over flat arrays: what every participant heard, as [`OfficeRule`](covey_protocol::office::OfficeRule) asks it.

use covey_protocol::office::{Claim, Neighbourhood, Standing};

use super::*;

/// What one participant heard, as far as the host rule asks.
struct TileEars<'a> {
    shared: &'a Shared<'a>,
    heard: &'a BeaconHistory,
    lane: usize,
    slot: u32,
    claims: &'a [(Tile, Claim)],
    settled: &'a [Option<AgentId>],
    /// Participants in the tile and around it, nearest to its centre first.
    others: &'a [(f64, u32)],
    /// Nobody moved farther since it was last heard, in metres.
    moved_m: f64,
}

impl Neighbourhood for TileEars<'_> {
    fn claim(&self, tile: Tile) -> Option<Claim> {
        let &(_, claim) = self.claims.iter().find(|(of, _)| *of == tile)?;
        let soft_state = self.shared.prepared.soft_state();
        (self.shared.now().since(claim.at) <= soft_state).then_some(claim)
    }

    fn beaconed_since(&self, host: AgentId, since: Instant, tile: Tile) -> Option<Position> {
        let number = self.shared.prepared.tiles.number(Some(tile));
        if self.settled[number as usize] == Some(host) {
            // Wherever it was last heard, that was in the tile.
            return None;
        }
        let host = self.shared.slot_of(host.into())?;
        let stamp = self.heard.at(host, self.slot, self.lane);
        if stamp == 0 {
            return None;
        }
        let step = self.shared.step_of(stamp);
        (self.shared.instant(step) > since).then(|| self.shared.moment(host, step).state.position)
    }

    fn any_other(
        &self,
        _: Tile,
        reach_m: f64,
        mut found: impl FnMut(AgentId, Position) -> bool,
    ) -> bool {
        let shared = self.shared;
        let soft = shared.prepared.timeline.soft_state;
        // Whoever was near when it last spoke cannot be much farther away now.
        let near = |&&(distance, _): &&(f64, u32)| distance <= reach_m + self.moved_m;
        self.others.iter().take_while(near).any(|&(_, other)| {
            let stamp = match other == self.slot {
                true => 0,
                false => self.heard.at(other, self.slot, self.lane),
            };
            stamp > 0 && {
                let step = shared.step_of(stamp);
                shared.step - step <= soft
                    && found(
                        shared.agent(other),
                        shared.moment(other, step).state.position,
                    )
            }
        })
    }
}

impl Hosted {
    /// The host rule, for everyone.
    pub(crate) fn elect(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        group: &mut BeaconLanes,
        lane: usize,
        outcome: &mut Outcome,
        measured: bool,
    ) {
        let slot_at = shared.now();
        let fastest = shared
            .frame
            .vehicles
            .iter()
            .fold(0.0, |fastest: f64, v| fastest.max(v.speed));
        // A vehicle may have been a little faster than the fastest is now.
        let moved_m = (fastest + 15.0) * self.profile.parameters.soft_state_s;
        let tile_m = self.profile.parameters.tile_m;
        self.settle(shared);
        for &slot in &shared.participants {
            let place = slot as usize;
            let position = shared.here(slot).state.position;
            let tile = Tile::containing(position, tile_m);
            let ears = TileEars {
                shared,
                heard: &group.heard,
                lane,
                slot,
                claims: &self.claims[place],
                settled: &self.settled,
                others: tile.map_or(&[], |tile| spoken.nearest_first(shared, tile, tile_m)),
                moved_m,
            };
            let office = self.hosts.get(self.host_of[place] as usize);
            let standing = Standing {
                id: shared.agent(slot),
                position,
                listening_since: shared.instant(shared.appeared[place]),
                office: office.map(|office| office.host.tile()),
            };
            let vacancy = &mut self.vacant[place];
            let election = self.rule.elect(slot_at, &standing, vacancy, &ears);
            if election.leaves {
                self.leave_office(slot, &mut group.hosts, lane);
            }
            if let Some(tile) = election.takes {
                self.take_office(shared, spoken, &group.heard, slot, tile, lane);
                group.hosts[place] |= 1 << lane;
                outcome.host_changes += u64::from(measured);
            }
        }
    }

    /// Finds the hosts that were in their tile for the whole soft-state time, where hosts do not hand over: most
    /// participants need not be asked where they last heard them.
    fn settle(&mut self, shared: &Shared<'_>) {
        self.settled.clear();
        self.settled.resize(shared.prepared.tiles.len(), None);
        let parameters = &self.profile.parameters;
        if parameters.handover.is_some() {
            return;
        }
        let soft = shared.prepared.timeline.soft_state;
        for host in &self.hosts {
            let tile = host.host.tile();
            let begin = shared.step.saturating_sub(soft);
            if shared.appeared[host.slot as usize] > begin {
                continue;
            }
            let stayed = (begin..=shared.step).all(|step| {
                let position = shared.moment(host.slot, step).state.position;
                Tile::containing(position, parameters.tile_m) == Some(tile)
            });
            if stayed && let Some(settled) = self.settled.get_mut(host.tile as usize) {
                *settled = Some(shared.agent(host.slot));
            }
        }
    }

    fn take_office(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        heard: &BeaconHistory,
        slot: u32,
        tile: Tile,
        lane: usize,
    ) {
        let place = slot as usize;
        let now = shared.now();
        let soft_state = shared.prepared.soft_state();
        let inheritance = self.claims[place]
            .iter()
            .find(|(of, claim)| *of == tile && now.since(claim.at) <= soft_state)
            .map(|(_, claim)| claim.inheritance);
        let mut host = Host::new(&self.profile, shared.agent(slot), tile, now, inheritance);
        if let Some(show) = &self.show {
            host.watch(Box::new(show.clone()));
        }
        host.handle_input(now, Input::Moved(&shared.here(slot).state));
        host.handle_input(
            now,
            Input::Sensed {
                objects: spoken.sensed(shared, slot),
                cells: shared.cells.of(slot),
            },
        );
        // By ascending id, as a participant keeps them.
        let channel = shared.prepared.channel.parameters();
        let longest = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        let mut others: Vec<u32> = shared
            .around(slot, longest, self.profile.parameters.soft_state_s)
            .collect();
        others.sort_unstable_by_key(|&other| shared.agent(other));
        for other in others {
            if let Some(beacon) = self.newest_beacon(shared, spoken, heard, [other, slot], lane) {
                host.handle_input(now, Input::Beacon(&beacon));
            }
        }
        self.host_of[place] = self.hosts.len() as u32;
        self.hosts.push(InOffice {
            slot,
            tile: shared.prepared.tiles.number(Some(tile)),
            host,
            listed: Vec::new(),
            following: Vec::new(),
        });
    }

    /// The newest beacon of one place that another heard within the soft-state time, with the newest digest of them.
    fn newest_beacon(
        &self,
        shared: &Shared<'_>,
        spoken: &Spoken,
        heard: &BeaconHistory,
        [other, slot]: [u32; 2],
        lane: usize,
    ) -> Option<Beacon> {
        let soft = shared.prepared.timeline.soft_state;
        let mut newest: Option<Beacon> = None;
        for stamp in heard.each_at(other, slot, lane) {
            let step = shared.step_of(stamp);
            if shared.step - step > soft {
                break;
            }
            let beacon = spoken.beacon(other, step, &self.profile.parameters)?;
            match &mut newest {
                None => newest = Some(beacon),
                Some(newest) => newest.digest = beacon.digest,
            }
            if newest
                .as_ref()
                .is_some_and(|newest| newest.digest.is_some())
                || self.profile.parameters.digest_every == 0
            {
                break;
            }
        }
        newest
    }

    pub(super) fn leave_office(&mut self, slot: u32, hosts: &mut [u16], lane: usize) {
        let at = std::mem::replace(&mut self.host_of[slot as usize], NO_SLOT);
        self.hosts.remove(at as usize);
        for (at, host) in (0u32..).zip(&self.hosts) {
            self.host_of[host.slot as usize] = at;
        }
        hosts[slot as usize] &= !(1 << lane);
    }
}
