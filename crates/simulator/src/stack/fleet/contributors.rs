//! The contributors' side of a fleet: who is asked, and what it says.

use covey_protocol::contributor::Contributor;
use covey_protocol::knowledge::{Chooser, Observer};
use covey_protocol::messages::{Broadcast, ObjectState, Report};
use covey_protocol::{AgentId, Duration, Profile};

use super::ears::{ContributorEars, Sayings};
use crate::channel::{Class, Parcel, Ticket};
use crate::conduct::Misbehaviour;
use crate::ids::{Slot, Step};
use crate::stack::Turn;
use crate::stack::conduct::{ghosts, misdate};
use crate::world::{Time, World};

/// A report on its way.
#[derive(Debug)]
pub(super) struct SentReport {
    pub(super) parcel: Parcel,
    pub(super) ticket: Ticket,
    pub(super) report: Report,
    /// When its objects were sensed.
    pub(super) sensed: Step,
}

/// Everyone who was ever asked.
#[derive(Debug)]
pub(super) struct Contributors {
    by_place: Vec<Option<Box<Contributor>>>,
    /// By place: when in the cycle it reports, where it contributes.
    phases: Vec<Duration>,
    chooser: Chooser,
    /// Whoever is on the road may speak unasked.
    volunteers: bool,
    /// What was said of objects, where contributors choose by it what to say.
    sayings: Option<Sayings>,
    /// Reports of this step.
    pub(super) sent: Vec<SentReport>,
    /// Those of earlier steps that have not arrived.
    pub(super) waiting: Vec<SentReport>,
}

impl Contributors {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            by_place: Vec::new(),
            phases: Vec::new(),
            chooser: Chooser::default(),
            volunteers: profile
                .judgement
                .as_ref()
                .is_some_and(|options| options.unasked_after_s().is_some()),
            sayings: profile.judgement.as_ref().map(|_| Sayings::default()),
            sent: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Makes room for new places, and lets go of those that were left and of what was said more than `soft_state` steps ago.
    pub(super) fn begin(&mut self, world: &World<'_>, soft_state: u32) {
        let size = world.road.size();
        self.by_place.resize_with(size, || None);
        self.phases.resize(size, Duration::ZERO);
        for slot in world.road.left() {
            self.by_place[slot.index()] = None;
        }
        if let Some(sayings) = &mut self.sayings {
            sayings.begin(world.step(), soft_state, world.road.left());
        }
    }

    /// Receivers of a message remember what was said of objects, where that matters.
    pub(super) fn overhear(
        &mut self,
        world: &World<'_>,
        by: AgentId,
        objects: &[ObjectState],
        receivers: &[Slot],
    ) {
        if let Some(sayings) = &mut self.sayings {
            sayings.push(world, by, objects, receivers);
        }
    }

    /// A receiver obeys a broadcast that names it, or no longer does.
    pub(super) fn heed(
        &mut self,
        world: &World<'_>,
        profile: &Profile,
        receiver: Slot,
        broadcast: &Broadcast,
    ) {
        let agent = world.agent(receiver);
        let asked = broadcast.contributors.binary_search(&agent).is_ok();
        if asked || self.by_place[receiver.index()].is_some() {
            let contributor = self.enlist(world, profile, receiver);
            let place = world.here(receiver).state.position;
            contributor.obey(world.now(), Some(place), broadcast);
        }
    }

    /// Composes the reports that are due in this step and offers them.
    pub(super) fn report(&mut self, profile: &Profile, turn: &mut Turn<'_>) {
        let world = turn.stage.world;
        self.sent.clear();
        let phase = Duration::from_micros(i64::from(world.phase()) * covey_traffic::STEP_US);
        let thinning = Class::Report.thinning(world);
        for &slot in world.road.participants() {
            if self.volunteers {
                self.enlist(world, profile, slot);
            }
            if self.phases[slot.index()] != phase {
                continue;
            }
            if let Some(mut report) = self.compose(profile, turn, slot) {
                misdate(world, slot, &mut report);
                let own = world.road.outfit(world.prepared, slot).sender;
                let certificate = turn.air.certificate(world, Class::Report, slot);
                let bytes = turn.stage.sizes.contribution(&report, own, certificate);
                let parcel = Parcel::report(slot, bytes, world.prepared.timeline.cycle);
                let ticket = turn.air.offer(world, &thinning, parcel);
                let sensed = world.sights.step;
                self.sent.push(SentReport {
                    parcel,
                    ticket,
                    report,
                    sensed,
                });
            }
        }
    }

    /// The contributor at a place, from the first time on that it may speak.
    fn enlist(&mut self, world: &World<'_>, profile: &Profile, slot: Slot) -> &mut Contributor {
        let place = slot.index();
        if self.by_place[place].is_none() {
            let contributor = Contributor::new(&profile.parameters, world.agent(slot));
            let contributor = contributor.judging(profile.judgement.as_ref());
            self.phases[place] = contributor.phase();
            self.by_place[place] = Some(Box::new(contributor));
        }
        self.by_place[place].as_mut().expect("was just put there")
    }

    /// What the contributor at a place reports now, if it is asked.
    fn compose(&mut self, profile: &Profile, turn: &mut Turn<'_>, slot: Slot) -> Option<Report> {
        let world = turn.stage.world;
        let now = world.now();
        let contributor = self.by_place[slot.index()].as_mut()?;
        while contributor.poll_event().is_some() {}
        if !contributor.may_speak() {
            // It has nothing to send, whatever it senses.
            return None;
        }
        let misbehaviour = world.misbehaviour(slot);
        let sensed = turn.spoken.sensed(world, slot);
        let observer = Observer {
            now,
            id: world.agent(slot),
            state: &world.here(slot).state,
            sensed,
            map: profile.map.as_deref(),
        };
        let ears = ContributorEars {
            world,
            heard: &turn.beacons.heard,
            sayings: self.sayings.as_ref(),
            lane: turn.lane,
            slot,
        };
        let chooser = &mut self.chooser;
        let sensed_at = Time::instant(world.sights.step);
        let report = contributor.report(now, |asked, memory| {
            if let Some(Misbehaviour::ClaimViews | Misbehaviour::Silent) = misbehaviour {
                return Vec::new();
            }
            let (p, judgement) = (&profile.parameters, profile.judgement.as_ref());
            let chosen = chooser.choose(p, judgement, &observer, asked, memory, &ears);
            let mut told: Vec<ObjectState> = chosen.into_iter().map(|k| sensed[k]).collect();
            if misbehaviour == Some(Misbehaviour::Ghosts) {
                told.extend(ghosts(world, slot, sensed_at));
            }
            told
        });
        match misbehaviour {
            Some(Misbehaviour::Silent) => None,
            // Whatever it was asked for, it sends a report without any object.
            Some(Misbehaviour::ClaimViews) => contributor.is_admitted().then(|| Report {
                sender: world.agent(slot),
                at: now,
                objects: Vec::new(),
                sensor_information: true,
            }),
            _ => report,
        }
    }
}
