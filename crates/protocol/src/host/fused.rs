//! The fused state: what a host holds of the objects around it, and the broadcast that tells it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::grid::{Position, Velocity};
use crate::ids::{AgentId, ObjectId};
use crate::messages::{AgentState, Beacon, Confidence, ObjectState};
use crate::parameters::{BroadcastContent, Guard, Parameters};
use crate::policy::{HeldObject, KnownObject, Listing};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Weight of one more gap between beacons in their mean.
const GAP_RATE: f64 = 0.25;
/// A gap that is longer tells nothing of how often somebody beacons, in seconds.
const LONGEST_GAP_S: f64 = 1.2;
/// The direction of whatever is slower may be anything.
const SLOW_M_PER_S: f64 = 0.5;

/// Objects as the host holds them, from own sensing, beacons and reports.
#[derive(Debug, Clone, Default)]
pub(super) struct FusedState {
    objects: SortedMap<ObjectId, Box<Held>>,
    /// Where the object stands among them that was spoken of last.
    last: usize,
    /// Fresh objects within the footprint at the last [`gather`](Self::gather), by ascending id.
    fresh: Vec<HeldObject>,
    /// Bytes of the broadcast that each reporter is the reason for, at the last gather.
    shares: SortedMap<AgentId, f64>,
    /// Of the objects that only one who was asked tells of, at the last gather: their places in `fresh`, and who that is.
    lonely: Vec<(usize, AgentId)>,
    /// How many objects of each who was asked somebody else tells of, too, at the last gather.
    backed: SortedMap<AgentId, f64>,
    /// Room to find out what is too much: distances, and places in `fresh`.
    crowd: Vec<(f64, usize)>,
    /// Objects held that are left out for now, by ascending id.
    left_out: Vec<ObjectId>,
    /// How many objects were left out or let go so far.
    crowded_out: u64,
    /// The last listed state of every object that receivers of all broadcasts hold.
    sent: SortedMap<ObjectId, ObjectState>,
    /// Room for the next listing.
    spare: SortedMap<ObjectId, ObjectState>,
    refreshed_at: Option<Instant>,
}

#[derive(Debug, Clone)]
struct Held {
    /// Its newest state. The velocity is not set where `spoken` is.
    state: ObjectState,
    /// Its heading and speed, where its newest state is from its own beacon: most are replaced before anybody asks for
    /// the velocity.
    spoken: Option<(f64, f64)>,
    /// When it was first sensed, as it is held.
    since: Instant,
    /// Last own sensing or beacon.
    direct_at: Option<Instant>,
    /// Last beacon.
    announced_at: Option<Instant>,
    /// Mean time between beacons, in seconds.
    every_s: Option<f64>,
    /// Last report of it, or broadcast with it, by somebody else.
    reported_at: Option<Instant>,
    /// Last report of it by somebody who was asked.
    vouched_at: Option<Instant>,
    /// Its direction when it last moved or spoke.
    heading: Heading,
    /// The id that its newest state came with: whatever the sender calls it.
    source: ObjectId,
    /// Who reported it since the last decision, each once.
    reporters: Vec<AgentId>,
}

/// A direction; worked out when somebody asks for it.
#[derive(Debug, Clone, Copy)]
enum Heading {
    Unknown,
    /// As a beacon told it.
    Told(f64),
    /// That of a motion.
    Of(Velocity),
}

impl Heading {
    /// The direction of a moving object, of a slow one as it was: its motion may point anywhere.
    fn after(self, velocity: Velocity) -> Self {
        if velocity.speed() >= SLOW_M_PER_S {
            Self::Of(velocity)
        } else {
            self
        }
    }

    fn radians(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::Told(radians) => Some(radians),
            Self::Of(velocity) => Some(libm::atan2(velocity.y, velocity.x)),
        }
    }
}

impl Held {
    fn velocity(&self) -> Velocity {
        match self.spoken {
            None => self.state.velocity,
            Some((heading, speed)) => AgentState {
                heading,
                speed,
                ..AgentState::default()
            }
            .velocity(),
        }
    }
}

/// The object part of a broadcast.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedObjects {
    pub(super) full: bool,
    pub(super) objects: Vec<ObjectState>,
    pub(super) withdrawn: Vec<ObjectId>,
    pub(super) unchanged_since: Instant,
}

impl FusedState {
    /// The host's own sensors saw it.
    pub(super) fn sensed(&mut self, state: &ObjectState, source: ObjectId) {
        if let Some(held) = self.hold(state, source) {
            held.direct_at = held.direct_at.max(Some(state.sensed_at));
        }
    }

    /// It spoke for itself, in finite numbers.
    pub(super) fn announced(&mut self, beacon: &Beacon) {
        let AgentState {
            position,
            heading,
            speed,
            size,
        } = beacon.state;
        let state = ObjectState {
            id: beacon.sender.into(),
            position,
            velocity: Velocity::default(),
            size,
            sensed_at: beacon.at,
            confidence: Confidence::FULL,
        };
        let held = self.enter(&state, state.id, Some((heading, speed)));
        held.direct_at = held.direct_at.max(Some(beacon.at));
        if let Some(at) = held.announced_at
            && beacon.at > at
        {
            let gap_s = beacon.at.since(at).seconds().min(LONGEST_GAP_S);
            let mean = held.every_s.unwrap_or(gap_s);
            held.every_s = Some(mean + GAP_RATE * (gap_s - mean));
        }
        if held.announced_at.is_none_or(|at| beacon.at >= at) {
            held.announced_at = Some(beacon.at);
            held.heading = Heading::Told(heading);
        }
    }

    /// `reporter` saw it, who was `asked` or was not.
    pub(super) fn reported(
        &mut self,
        reporter: AgentId,
        state: &ObjectState,
        source: ObjectId,
        asked: bool,
    ) {
        if let Some(held) = self.hold(state, source) {
            held.reported_at = held.reported_at.max(Some(state.sensed_at));
            if asked {
                held.vouched_at = held.vouched_at.max(Some(state.sensed_at));
            }
            if !held.reporters.contains(&reporter) {
                held.reporters.push(reporter);
            }
        }
    }

    /// There is no room for one more that is not known yet: no more than `most` are held.
    pub(super) fn is_full(&mut self, most: usize, id: ObjectId) -> bool {
        let full = self.objects.len() >= most && self.objects.get(id).is_none();
        self.crowded_out += u64::from(full);
        full
    }

    /// How many objects were left out or let go for want of room.
    pub(super) fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// It is let go of for want of room.
    pub(super) fn let_go(&mut self, id: ObjectId) {
        self.objects.remove(id);
        self.crowded_out += 1;
    }

    /// It is no object of its own: somebody else's beacon tells of it.
    pub(super) fn drop(&mut self, id: ObjectId) {
        self.objects.remove(id);
    }

    /// The id that the newest state of an object came with.
    pub(super) fn source_of(&self, id: ObjectId) -> Option<ObjectId> {
        self.objects.get(id).map(|held| held.source)
    }

    /// A neighbouring host listed it; the object itself is that host's to keep.
    pub(super) fn overheard(&mut self, state: &ObjectState) {
        if let Some(held) = self.objects.get_mut(state.id) {
            held.reported_at = held.reported_at.max(Some(state.sensed_at));
        }
    }

    /// The entry of an object that somebody sensed.
    fn hold(&mut self, state: &ObjectState, source: ObjectId) -> Option<&mut Held> {
        state.is_finite().then(|| self.enter(state, source, None))
    }

    /// The entry of an object, with the newest of both states, the surer one where they are of one time.
    fn enter(
        &mut self,
        state: &ObjectState,
        source: ObjectId,
        spoken: Option<(f64, f64)>,
    ) -> &mut Held {
        let new = || {
            Box::new(Held {
                state: *state,
                spoken,
                since: state.sensed_at,
                direct_at: None,
                announced_at: None,
                every_s: None,
                reported_at: None,
                vouched_at: None,
                heading: Heading::Unknown.after(state.velocity),
                source,
                reporters: Vec::new(),
            })
        };
        let (held, _) = self
            .objects
            .get_or_insert_near(&mut self.last, state.id, new);
        let newer = (state.sensed_at, state.confidence);
        if newer > (held.state.sensed_at, held.state.confidence) {
            held.state = *state;
            held.spoken = spoken;
            held.source = source;
            held.heading = held.heading.after(state.velocity);
        }
        held
    }

    /// Finds what is fresh (sensed or announced within the cycle that began at `cycle_start`) within the footprint, and what
    /// each reporter adds to the broadcast.
    pub(super) fn gather(
        &mut self,
        parameters: &Parameters,
        own: AgentId,
        centre: Position,
        cycle_start: Instant,
        now: Instant,
    ) {
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        self.objects
            .retain(|_, held| now.since(held.state.sensed_at) <= soft_state);
        self.fresh.clear();
        self.shares.clear();
        self.lonely.clear();
        self.backed.clear();
        self.crowd.clear();
        for (id, held) in self.objects.iter_mut() {
            let known = held.state.sensed_at >= cycle_start && held.state.sensed_at <= now;
            if known
                && id != own.into()
                && held.state.position.distance(centre) <= parameters.footprint_m
            {
                held.state.velocity = held.velocity();
                held.spoken = None;
                let within = |at: Option<Instant>| at.is_some_and(|at| at >= cycle_start);
                let object = HeldObject {
                    state: held.state,
                    direct: within(held.direct_at),
                    announced: held
                        .announced_at
                        .is_some_and(|at| now.since(at) <= soft_state),
                };
                let listed = match parameters.broadcast_content {
                    BroadcastContent::All => true,
                    BroadcastContent::SilentOnly => !object.announced,
                };
                if !object.direct && listed {
                    let share = parameters.object_bytes / held.reporters.len().max(1) as f64;
                    for &reporter in &held.reporters {
                        *self.shares.get_or_insert_with(reporter, || 0.0).0 += share;
                    }
                }
                if object.direct || held.reporters.len() > 1 {
                    for &reporter in &held.reporters {
                        *self.backed.get_or_insert_with(reporter, || 0.0).0 += 1.0;
                    }
                } else if !within(held.vouched_at) {
                    let off_m = held.state.position.distance(centre);
                    self.crowd.push((off_m, self.fresh.len()));
                } else if let &[reporter] = &held.reporters[..] {
                    self.lonely.push((self.fresh.len(), reporter));
                }
                self.fresh.push(object);
            }
            held.reporters.clear();
        }
        self.leave_out(&parameters.guard, centre);
    }

    /// Leaves out, the farthest first, what is too much of objects that nobody was asked for, and of all.
    fn leave_out(&mut self, guard: &Guard, centre: Position) {
        self.left_out.clear();
        let unconfirmed = guard.unconfirmed as usize;
        if self.crowd.len() > unconfirmed {
            let (crowd, fresh, out) = (&mut self.crowd, &self.fresh, &mut self.left_out);
            crowd.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            out.extend(crowd[unconfirmed..].iter().map(|&(_, k)| fresh[k].state.id));
        }
        let listed = guard.listed as usize;
        if self.fresh.len() - self.left_out.len() > listed {
            self.left_out.sort_unstable();
            let (crowd, out) = (&mut self.crowd, &mut self.left_out);
            crowd.clear();
            for (k, object) in self.fresh.iter().enumerate() {
                if out.binary_search(&object.state.id).is_err() {
                    crowd.push((object.state.position.distance(centre), k));
                }
            }
            crowd.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            out.extend(crowd[listed..].iter().map(|&(_, k)| self.fresh[k].state.id));
        }
        if self.left_out.is_empty() {
            return;
        }
        self.crowded_out += self.left_out.len() as u64;
        self.left_out.sort_unstable();
        let out = &self.left_out;
        let (mut kept, mut at) = (Vec::new(), 0);
        self.fresh.retain(|object| {
            let stays = out.binary_search(&object.state.id).is_err();
            if stays {
                kept.push(at);
            }
            at += 1;
            stays
        });
        // Places have moved.
        self.lonely
            .retain_mut(|(k, _)| match kept.binary_search(k) {
                Ok(now) => {
                    *k = now;
                    true
                }
                Err(_) => false,
            });
    }

    /// Objects that only one who was asked tells of, and who that is.
    pub(super) fn lonely(&self) -> impl Iterator<Item = (&HeldObject, AgentId)> {
        self.lonely.iter().map(|&(k, by)| (&self.fresh[k], by))
    }

    /// Halves the confidence in some of [`lonely`](Self::lonely) objects, by their number among them.
    pub(super) fn doubt(&mut self, lonely: &[usize]) {
        for &number in lonely {
            let (k, _) = self.lonely[number];
            let confidence = &mut self.fresh[k].state.confidence;
            *confidence = Confidence::from_percent(confidence.percent() / 2);
        }
    }

    /// How many objects of `reporter` somebody else told of, too.
    pub(super) fn backed(&self, reporter: AgentId) -> f64 {
        self.backed.get(reporter).copied().unwrap_or(0.0)
    }

    /// Fresh objects, by ascending id.
    pub(super) fn fresh(&self) -> &[HeldObject] {
        &self.fresh
    }

    /// Bytes that `reporter` adds to the broadcast.
    pub(super) fn share(&self, reporter: AgentId) -> f64 {
        self.shares.get(reporter).copied().unwrap_or(0.0)
    }

    /// Fresh objects that the broadcast would list at a full refresh.
    pub(super) fn listable(
        &self,
        content: BroadcastContent,
    ) -> impl Iterator<Item = &HeldObject> + Clone {
        self.fresh.iter().filter(move |object| match content {
            BroadcastContent::All => true,
            BroadcastContent::SilentOnly => !object.announced,
        })
    }

    /// The next broadcast at `now` is a full refresh.
    pub(super) fn refresh_due(&self, parameters: &Parameters, now: Instant) -> bool {
        let refresh = Duration::from_seconds(parameters.refresh_s);
        self.refreshed_at.is_none_or(|at| now.since(at) >= refresh)
    }

    /// Everything held, by ascending id, without `own`.
    pub(super) fn known(
        &self,
        parameters: &Parameters,
        own: AgentId,
        cycle_start: Instant,
        now: Instant,
    ) -> Vec<KnownObject> {
        let soft_state = Duration::from_seconds(parameters.soft_state_s);
        let recent = |at: Option<Instant>| at.filter(|&at| now.since(at) <= soft_state);
        let out = &self.left_out;
        let others = self.objects.iter();
        let others = others.filter(|(id, _)| {
            *id != own.into() && (out.is_empty() || out.binary_search(id).is_err())
        });
        others
            .map(|(id, held)| KnownObject {
                state: ObjectState {
                    velocity: held.velocity(),
                    ..held.state
                },
                announced_at: recent(held.announced_at),
                beacons_every_s: held.every_s,
                reported_at: held.reported_at,
                since: held.since,
                heading: held.heading.radians(),
                listing: match self.sent.get(id) {
                    None => Listing::None,
                    Some(sent)
                        if held.state.sensed_at < cycle_start
                            || changed(parameters, sent, &held.state, held.velocity()) =>
                    {
                        Listing::Changed
                    }
                    Some(_) => Listing::Unchanged,
                },
            })
            .collect()
    }

    /// What receivers of all broadcasts hold of each fresh object when they get the one at `now`: a full refresh begins anew.
    pub(super) fn listings(&self, parameters: &Parameters, now: Instant) -> Vec<Listing> {
        let full = self.refresh_due(parameters, now);
        let listing = |object: &HeldObject| match self.sent.get(object.state.id) {
            Some(sent) if !full => {
                let state = &object.state;
                if changed(parameters, sent, state, state.velocity) {
                    Listing::Changed
                } else {
                    Listing::Unchanged
                }
            }
            _ => Listing::None,
        };
        self.fresh.iter().map(listing).collect()
    }

    /// How many objects the broadcast at `now` withdraws, unless some of them are listed anew.
    pub(super) fn withdrawals(
        &self,
        parameters: &Parameters,
        listings: &[Listing],
        now: Instant,
    ) -> usize {
        if self.refresh_due(parameters, now) {
            return 0;
        }
        let unchanged = listings.iter().filter(|&&l| l == Listing::Unchanged);
        self.sent.len() - unchanged.count()
    }

    /// Of `picked` objects, the most wanted first, those that are listed in `room` bytes; by ascending id.
    pub(super) fn fitting(
        &self,
        parameters: &Parameters,
        mut listings: Vec<Listing>,
        picked: &[ObjectId],
        mut room: f64,
    ) -> Vec<ObjectId> {
        let mut fitting = Vec::new();
        for id in picked {
            let Ok(at) = self.fresh.binary_search_by_key(id, |o| o.state.id) else {
                continue;
            };
            let bytes = match listings[at] {
                Listing::None => parameters.object_bytes,
                // It is not withdrawn then.
                Listing::Changed => parameters.object_bytes - parameters.withdrawn_bytes,
                Listing::Unchanged => continue,
            };
            if bytes <= room {
                room -= bytes;
                listings[at] = Listing::Unchanged;
                fitting.push(*id);
            }
        }
        fitting.sort_unstable();
        fitting
    }

    /// The object part of a broadcast at `now` that lists `picked` objects and goes on with those listed before while they
    /// are fresh and unchanged; remembers it as sent.
    pub(super) fn list_picked(
        &mut self,
        parameters: &Parameters,
        picked: &[ObjectId],
        now: Instant,
    ) -> ListedObjects {
        let full = self.refresh_due(parameters, now);
        let mut objects = Vec::new();
        let mut held = core::mem::take(&mut self.spare);
        let mut unchanged_since = now;
        let mut passed = 0;
        for object in &self.fresh {
            let state = &object.state;
            let unchanged = self
                .sent
                .get_onward(&mut passed, state.id)
                .filter(|sent| !full && !changed(parameters, sent, state, state.velocity));
            if let Some(sent) = unchanged {
                unchanged_since = unchanged_since.min(state.sensed_at);
                held.push(state.id, *sent);
            } else if picked.binary_search(&state.id).is_ok() {
                objects.push(ObjectState {
                    confidence: state.confidence.relayed(now.since(state.sensed_at)),
                    ..*state
                });
                held.push(state.id, *state);
            }
        }
        self.remember(full, objects, held, unchanged_since, now)
    }

    /// The object part of the broadcast at `now`, and remembers it as sent.
    pub(super) fn list(&mut self, parameters: &Parameters, now: Instant) -> ListedObjects {
        let full = self.refresh_due(parameters, now);
        let mut objects = Vec::new();
        let mut held = core::mem::take(&mut self.spare);
        let mut unchanged_since = now;
        let mut passed = 0;
        for object in self.listable(parameters.broadcast_content) {
            let state = &object.state;
            let listed = match self.sent.get_onward(&mut passed, state.id) {
                Some(sent) if !full && !changed(parameters, sent, state, state.velocity) => {
                    unchanged_since = unchanged_since.min(state.sensed_at);
                    *sent
                }
                _ => {
                    objects.push(ObjectState {
                        confidence: state.confidence.relayed(now.since(state.sensed_at)),
                        ..*state
                    });
                    *state
                }
            };
            held.push(state.id, listed);
        }
        self.remember(full, objects, held, unchanged_since, now)
    }

    fn remember(
        &mut self,
        full: bool,
        objects: Vec<ObjectState>,
        held: SortedMap<ObjectId, ObjectState>,
        unchanged_since: Instant,
        now: Instant,
    ) -> ListedObjects {
        let withdrawn = if full {
            self.refreshed_at = Some(now);
            Vec::new()
        } else {
            let mut passed = 0;
            let gone = self.sent.iter().map(|(id, _)| id);
            gone.filter(|&id| held.get_onward(&mut passed, id).is_none())
                .collect()
        };
        self.spare = core::mem::replace(&mut self.sent, held);
        self.spare.clear();
        ListedObjects {
            full,
            objects,
            withdrawn,
            unchanged_since,
        }
    }
}

/// An object at `velocity` has moved on from, or goes otherwise than, what was sent of it.
fn changed(
    parameters: &Parameters,
    sent: &ObjectState,
    now: &ObjectState,
    velocity: Velocity,
) -> bool {
    let faster = || libm::hypot(sent.velocity.x - velocity.x, sent.velocity.y - velocity.y);
    sent.position.distance(now.position) > parameters.changed_m
        || faster() > parameters.changed_m_per_s
}

#[cfg(test)]
mod tests;
