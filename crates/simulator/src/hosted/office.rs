//! The host rule: who takes office, who leaves it.

use super::*;

impl Hosted {
    /// The host rule, for everyone.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    pub(crate) fn elect(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        heard: &BeaconHistory,
        hosts: &mut [u16],
        lane: usize,
        outcome: &mut Outcome,
        measured: bool,
    ) {
        let soft = shared.prepared.timeline.soft_state;
        let fastest = shared
            .frame
            .vehicles
            .iter()
            .fold(0.0, |fastest: f64, v| fastest.max(v.speed));
        // A vehicle may have been a little faster than the fastest is now.
        let moved = (fastest + 15.0) * self.parameters.soft_state_s;
        let tile_m = self.parameters.tile_m;
        let hands_over = self.parameters.handover.is_some();
        self.settle(shared);
        for &slot in &shared.participants {
            let place = slot as usize;
            let tile = shared.tile[place];
            if self.host_of[place] != NO_SLOT {
                let stays = self.hosts[self.host_of[place] as usize].tile == tile
                    && !shared.prepared.tiles.tile(tile).is_some_and(|here| {
                        if !hands_over {
                            return false;
                        }
                        let position = shared.here(slot).state.position;
                        let others = spoken.nearest_first(shared, tile, here, tile_m);
                        self.hands_over(shared, heard, lane, slot, here, position, others, moved)
                    });
                if stays {
                    continue;
                }
                self.leave_office(slot, hosts, lane);
            }
            let Some(here) = shared.prepared.tiles.tile(tile) else {
                self.vacant[place] = None;
                continue;
            };
            // Wherever the host was last heard, that was in the tile.
            let settled = self.settled.get(tile as usize).copied().flatten();
            let is_settled = |office: &Office| {
                office.tile == here
                    && office.inside
                    && settled == Some(office.host)
                    && shared.step - office.step <= soft
            };
            if settled.is_some() && self.offices[place].iter().any(is_settled) {
                self.vacant[place] = None;
                continue;
            }
            self.offices[place].retain(|office| shared.step - office.step <= soft);
            let others = spoken.nearest_first(shared, tile, here, tile_m);
            if self.incumbent(shared, heard, lane, slot, here, others, moved) {
                self.vacant[place] = None;
                continue;
            }
            let since = match self.vacant[place] {
                Some((of, since)) if of == tile => since,
                _ => shared.step,
            };
            self.vacant[place] = Some((tile, since));
            let started = shared.appeared[place] + soft;
            if shared.step < started {
                continue;
            }
            let passed_over = (shared.step - since.max(started)) / soft.max(1);
            let stamp = shared.stamp(shared.step - soft.min(shared.step)).max(1);
            // Whoever was nearer when it last spoke cannot be much farther away now.
            let centre = here.centre(self.parameters.tile_m);
            let position = shared.here(slot).state.position;
            let reach = position.distance(centre) + moved;
            let mut count = 0;
            for some in others.chunks(8) {
                let heard = some.iter().filter_map(|&(distance, other)| {
                    if distance > reach {
                        return None;
                    }
                    let at = heard.at(other, slot, lane);
                    (at >= stamp).then(|| {
                        let state = &shared.moment(other, shared.step_of(at)).state;
                        (shared.agent(other), state.position)
                    })
                });
                count += election::nearer(here, tile_m, shared.agent(slot), position, heard) as u64;
                let rest = some.last().is_some_and(|&(farthest, _)| farthest > reach);
                if rest || count > u64::from(passed_over) {
                    break;
                }
            }
            if count <= u64::from(passed_over) {
                self.take_office(shared, spoken, heard, slot, here, lane);
                hosts[place] |= 1 << lane;
                outcome.host_changes += u64::from(measured);
            }
        }
    }

    /// Finds the hosts that were in their tile for the whole soft-state time, where hosts do not hand over: most
    /// participants need not be asked where they last heard them.
    fn settle(&mut self, shared: &Shared<'_>) {
        self.settled.clear();
        self.settled.resize(shared.prepared.tiles.len(), None);
        if self.parameters.handover.is_some() {
            return;
        }
        let soft = shared.prepared.timeline.soft_state;
        for host in &self.hosts {
            let tile = shared.prepared.tiles.tile(host.tile);
            let begin = shared.step.saturating_sub(soft);
            if tile.is_none() || shared.appeared[host.slot as usize] > begin {
                continue;
            }
            let stayed = (begin..=shared.step).all(|step| {
                let position = shared.moment(host.slot, step).state.position;
                Tile::containing(position, self.parameters.tile_m) == tile
            });
            if stayed && let Some(settled) = self.settled.get_mut(host.tile as usize) {
                *settled = Some(shared.agent(host.slot));
            }
        }
    }

    /// The participant knows of a host in office. `others` are nearest to the centre first, and nobody moved farther than
    /// `moved_m` since it was last heard.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    fn incumbent(
        &self,
        shared: &Shared<'_>,
        heard: &BeaconHistory,
        lane: usize,
        slot: u32,
        tile: Tile,
        others: &[(f64, u32)],
        moved_m: f64,
    ) -> bool {
        let Some(office) = self.offices[slot as usize].iter().find(|o| o.tile == tile) else {
            return false;
        };
        // Its beacon may be newer than its broadcast.
        let position = match shared.slot_of(office.host.into()) {
            Some(host) => {
                let stamp = heard.at(host, slot, lane);
                if stamp > 0 && shared.step_of(stamp) > office.step {
                    shared.moment(host, shared.step_of(stamp)).state.position
                } else {
                    office.position
                }
            }
            None => office.position,
        };
        Tile::containing(position, self.parameters.tile_m) == Some(tile)
            && !self.hands_over(shared, heard, lane, slot, tile, position, others, moved_m)
    }

    /// The host of `tile` at `position` hands over to somebody nearer the centre that the participant knows of.
    #[expect(
        clippy::too_many_arguments,
        reason = "parts of a run, borrowed one by one"
    )]
    fn hands_over(
        &self,
        shared: &Shared<'_>,
        heard: &BeaconHistory,
        lane: usize,
        slot: u32,
        tile: Tile,
        position: Position,
        others: &[(f64, u32)],
        moved_m: f64,
    ) -> bool {
        let Some(handover) = self.parameters.handover else {
            return false;
        };
        let tile_m = self.parameters.tile_m;
        let off = position.distance(tile.centre(tile_m));
        if off <= handover.beyond_m {
            return false;
        }
        let soft = shared.prepared.timeline.soft_state;
        let reach = off - handover.nearer_m + moved_m;
        let near = others
            .iter()
            .take_while(|&&(distance, _)| distance <= reach);
        near.map(|&(_, other)| other).any(|other| {
            let step = if other == slot {
                shared.step
            } else {
                match heard.at(other, slot, lane) {
                    0 => return false,
                    stamp => shared.step_of(stamp),
                }
            };
            shared.step - step <= soft && {
                let rival = shared.moment(other, step).state.position;
                election::gives_way(tile, tile_m, handover, position, rival)
            }
        })
    }

    pub(super) fn take_office(
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
        let inheritance = self.offices[place]
            .iter()
            .find(|o| o.tile == tile)
            .map(|o| o.inheritance);
        let mut host = Host::with_policy(
            &self.parameters,
            shared.agent(slot),
            tile,
            now,
            inheritance,
            self.policy(),
        )
        .with_map(Some(
            Arc::clone(&shared.prepared.carried) as Arc<dyn RoadMap>
        ));
        host.handle_input(now, Input::Moved(&shared.here(slot).state));
        host.handle_input(
            now,
            Input::Sensed {
                objects: spoken.sensed(shared, slot),
                cells: shared.cells.of(slot),
            },
        );
        let soft = shared.prepared.timeline.soft_state;
        let mut news = Vec::new();
        // Nobody farther away can have been heard within the soft-state time.
        let channel = shared.prepared.channel.parameters();
        let longest = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        let fastest = shared
            .frame
            .vehicles
            .iter()
            .fold(0.0, |fastest: f64, v| fastest.max(v.speed));
        let reach = longest + 2.0 * (fastest + 15.0) * self.parameters.soft_state_s;
        let here = shared.here(slot).state.position;
        for &other in &shared.participants {
            if shared.here(other).state.position.distance(here) > reach {
                continue;
            }
            let stamp = heard.at(other, slot, lane);
            if other == slot || stamp == 0 || shared.step - shared.step_of(stamp) > soft {
                continue;
            }
            let step = shared.step_of(stamp);
            if let Some(beacon) = spoken.beacon(other, step) {
                if self.digest_due_at(shared, other, step) {
                    host.handle_input(now, Input::Beacon(beacon));
                } else {
                    let plain = Beacon {
                        digest: None,
                        ..beacon.clone()
                    };
                    host.handle_input(now, Input::Beacon(&plain));
                }
                news.push((other, step));
            }
        }
        self.host_of[place] = self.hosts.len() as u32;
        self.vacant[place] = None;
        self.hosts.push(InOffice {
            slot,
            tile: shared.tile[place],
            host,
            news,
            listed: Vec::new(),
            following: Vec::new(),
        });
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
