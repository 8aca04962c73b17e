//! The fused state: what a host holds of the objects around it, and the broadcast that tells it.

use alloc::vec::Vec;

use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::messages::{Beacon, ObjectState};
use crate::parameters::{BroadcastContent, Parameters};
use crate::policy::{HeldObject, KnownObject, Listing as Listed};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Objects as the host holds them, from own sensing, beacons and reports.
#[derive(Debug, Clone, Default)]
pub(super) struct FusedState {
    objects: SortedMap<ObjectId, Held>,
    /// Fresh objects within the footprint at the last [`gather`](Self::gather), by ascending id.
    fresh: Vec<HeldObject>,
    /// Bytes of the broadcast that each reporter is the reason for, at the last gather.
    shares: SortedMap<AgentId, f64>,
    /// The last listed state of every object that receivers of all broadcasts hold.
    sent: SortedMap<ObjectId, ObjectState>,
    refreshed_at: Option<Instant>,
}

#[derive(Debug, Clone)]
struct Held {
    state: ObjectState,
    /// Last own sensing or beacon.
    direct_at: Option<Instant>,
    /// Last beacon.
    announced_at: Option<Instant>,
    /// Last report of it, or broadcast with it, by somebody else.
    reported_at: Option<Instant>,
    /// Its direction when it last moved or spoke.
    heading: Option<f64>,
    /// The id that its newest state came with: whatever the sender calls it.
    source: ObjectId,
    /// Who reported it since the last decision, each once.
    reporters: Vec<AgentId>,
}

/// The object part of a broadcast.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listing {
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

    /// It spoke for itself.
    pub(super) fn announced(&mut self, beacon: &Beacon) {
        let state = ObjectState::of_sender(beacon);
        if let Some(held) = self.hold(&state, state.id) {
            held.direct_at = held.direct_at.max(Some(beacon.at));
            if held.announced_at.is_none_or(|at| beacon.at >= at) {
                held.announced_at = Some(beacon.at);
                held.heading = Some(beacon.state.heading);
            }
        }
    }

    /// `reporter` saw it.
    pub(super) fn reported(&mut self, reporter: AgentId, state: &ObjectState, source: ObjectId) {
        if let Some(held) = self.hold(state, source) {
            held.reported_at = held.reported_at.max(Some(state.sensed_at));
            if !held.reporters.contains(&reporter) {
                held.reporters.push(reporter);
            }
        }
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

    /// The entry of an object, with the newest of both states, the surer one where they are of one time.
    fn hold(&mut self, state: &ObjectState, source: ObjectId) -> Option<&mut Held> {
        if !state.is_finite() {
            return None;
        }
        let (held, _) = self.objects.get_or_insert_with(state.id, || Held {
            state: *state,
            direct_at: None,
            announced_at: None,
            reported_at: None,
            heading: direction(state),
            source,
            reporters: Vec::new(),
        });
        let newer = (state.sensed_at, state.confidence);
        if newer > (held.state.sensed_at, held.state.confidence) {
            held.state = *state;
            held.source = source;
            held.heading = direction(state).or(held.heading);
        }
        Some(held)
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
        for (id, held) in self.objects.iter_mut() {
            let known = held.state.sensed_at >= cycle_start && held.state.sensed_at <= now;
            if known
                && id != own.into()
                && held.state.position.distance(centre) <= parameters.footprint_m
            {
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
                self.fresh.push(object);
            }
            held.reporters.clear();
        }
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
        let others = self.objects.iter().filter(|&(id, _)| id != own.into());
        others
            .map(|(id, held)| KnownObject {
                state: held.state,
                announced_at: recent(held.announced_at),
                reported_at: held.reported_at,
                heading: held.heading,
                listing: match self.sent.get(id) {
                    None => Listed::None,
                    Some(sent)
                        if held.state.sensed_at < cycle_start
                            || changed(parameters, sent, &held.state) =>
                    {
                        Listed::Changed
                    }
                    Some(_) => Listed::Unchanged,
                },
            })
            .collect()
    }

    /// The object part of a broadcast at `now` that lists `picked` objects and goes on with those listed before while they
    /// are fresh and unchanged; remembers it as sent.
    pub(super) fn list_picked(
        &mut self,
        parameters: &Parameters,
        picked: &[ObjectId],
        now: Instant,
    ) -> Listing {
        let full = self.refresh_due(parameters, now);
        let mut objects = Vec::new();
        let mut held = SortedMap::default();
        let mut unchanged_since = now;
        for object in &self.fresh {
            let state = &object.state;
            let unchanged = self
                .sent
                .get(state.id)
                .filter(|sent| !full && !changed(parameters, sent, state));
            if let Some(sent) = unchanged {
                unchanged_since = unchanged_since.min(state.sensed_at);
                held.insert(state.id, *sent);
            } else if picked.binary_search(&state.id).is_ok() {
                objects.push(ObjectState {
                    confidence: state.confidence.relayed(now.since(state.sensed_at)),
                    ..*state
                });
                held.insert(state.id, *state);
            }
        }
        self.remember(full, objects, held, unchanged_since, now)
    }

    /// The object part of the broadcast at `now`, and remembers it as sent.
    pub(super) fn list(&mut self, parameters: &Parameters, now: Instant) -> Listing {
        let full = self.refresh_due(parameters, now);
        let mut objects = Vec::new();
        let mut held = SortedMap::default();
        let mut unchanged_since = now;
        for object in self.listable(parameters.broadcast_content) {
            let state = &object.state;
            let listed = match self.sent.get(state.id) {
                Some(sent) if !full && !changed(parameters, sent, state) => {
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
            held.insert(state.id, listed);
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
    ) -> Listing {
        let withdrawn = if full {
            self.refreshed_at = Some(now);
            Vec::new()
        } else {
            let gone = self.sent.iter().map(|(id, _)| id);
            gone.filter(|&id| held.get(id).is_none()).collect()
        };
        self.sent = held;
        Listing {
            full,
            objects,
            withdrawn,
            unchanged_since,
        }
    }
}

/// The direction of a moving object; a slow one's may be anything.
fn direction(state: &ObjectState) -> Option<f64> {
    (state.velocity.speed() >= 0.5).then(|| libm::atan2(state.velocity.y, state.velocity.x))
}

fn changed(parameters: &Parameters, sent: &ObjectState, now: &ObjectState) -> bool {
    let dv = libm::hypot(
        sent.velocity.x - now.velocity.x,
        sent.velocity.y - now.velocity.y,
    );
    sent.position.distance(now.position) > parameters.changed_m || dv > parameters.changed_m_per_s
}
