//! The contributor's side of an admission: report while a host asks for it, fall silent when its word runs out.
//!
//! What it reports is the hosts' to say ([`Content`]); which of its objects that means is found in [`crate::knowledge`].

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::demand::DemandOptions;
use crate::grid::Position;
use crate::ids::{AgentId, ObjectId};
use crate::inclusion::Inclusion;
use crate::messages::{Broadcast, Content, ObjectState, Report};
use crate::parameters::Parameters;
use crate::role::Event;
use crate::sightings::Sightings;
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// The shortest time between two sensor information containers: TS 103 324, T_AddSensorInformation.
const SENSOR_INFORMATION: Duration = Duration::from_millis(1_000);

/// What the hosts ask for that a contributor serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    content: [bool; Content::COUNT],
    /// Objects that beacon and are asked for by name, by ascending id.
    pub requested: Vec<ObjectId>,
}

impl Asked {
    /// All of `contents`, and these objects by name.
    #[must_use]
    pub fn new(contents: impl IntoIterator<Item = Content>, mut requested: Vec<ObjectId>) -> Self {
        requested.sort_unstable();
        requested.dedup();
        let mut content = [false; Content::COUNT];
        for rule in contents {
            content[rule as usize] = true;
        }
        Self { content, requested }
    }

    /// Nobody asks for anything.
    #[must_use]
    pub fn is_unasked(&self) -> bool {
        self.content == [false; Content::COUNT]
    }

    /// A host asks by this rule.
    #[must_use]
    pub fn for_content(&self, rule: Content) -> bool {
        self.content[rule as usize]
    }

    /// A host asks by another rule than `rule`.
    pub(crate) fn wants_more_than(&self, rule: Content) -> bool {
        let others = self.content.iter().enumerate();
        let mut others = others.filter(|&(other, _)| other != rule as usize);
        others.any(|(_, &asked)| asked)
    }

    /// A host asks by a rule that is no judgement of need, and so waits for a report even where there is nothing to say.
    fn by_rule(&self) -> bool {
        [Content::AllVisible, Content::SilentOnly, Content::Included]
            .iter()
            .any(|&rule| self.for_content(rule))
    }
}

/// What a contributor remembers from one report to the next.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// What it reported.
    pub included: Inclusion,
    /// What it saw.
    pub sightings: Sightings,
}

/// Reports once per cycle while at least one host's lease holds; an agent that several hosts admit sends one report.
#[derive(Debug, Clone)]
pub struct Contributor {
    own: AgentId,
    cycle: Duration,
    phase: Duration,
    soft_state: Duration,
    lease_limit: Duration,
    /// Nobody farther off asks for anything, in metres.
    reach_m: f64,
    /// Hosts that are served.
    most: usize,
    grants: SortedMap<AgentId, Grant>,
    /// Hosts that were not served, or not remembered, for want of room.
    crowded_out: u64,
    /// What it reported and saw of late.
    memory: Memory,
    /// Reports without objects are sent.
    empty_reports: bool,
    /// It may speak where nobody asks.
    volunteers: bool,
    /// When it last told of its sensors.
    sensors_at: Option<Instant>,
    reported_slot: Option<Instant>,
    events: VecDeque<Event>,
}

/// The newest word of one host.
#[derive(Debug, Clone)]
struct Grant {
    at: Instant,
    /// Until when to report; none where the host does not ask.
    until: Option<Instant>,
    content: Content,
    requested: Vec<ObjectId>,
    /// How far off the host was, in metres; nothing where the own place is not known.
    off_m: f64,
}

/// Hosts whose words are remembered, for each that is served.
const REMEMBERED: usize = 4;

impl Contributor {
    /// The contributor's side of agent `own`, admitted by nobody yet.
    #[must_use]
    pub fn new(parameters: &Parameters, own: AgentId) -> Self {
        Self {
            own,
            cycle: Duration::from_seconds(parameters.cycle_s),
            phase: parameters.report_phase(own),
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            // A host may ask for longer than usual, but nobody speaks for long on one word.
            lease_limit: Duration::from_seconds(parameters.guard.lease_s.max(parameters.lease_s)),
            reach_m: parameters.footprint_m + parameters.guard.grant_margin_m,
            most: parameters.guard.grants as usize,
            grants: SortedMap::default(),
            crowded_out: 0,
            memory: Memory::default(),
            empty_reports: parameters.empty_reports,
            volunteers: false,
            sensors_at: None,
            reported_slot: None,
            events: VecDeque::new(),
        }
    }

    /// The same, by choice by demand with these options: they say whether it may speak where nobody asks.
    #[must_use]
    pub fn judging(mut self, options: Option<&DemandOptions>) -> Self {
        self.volunteers = options.is_some_and(|options| options.unasked_after_s().is_some());
        self
    }

    /// Somebody asks for reports, or it speaks unasked.
    #[must_use]
    pub fn may_speak(&self) -> bool {
        self.volunteers || self.is_admitted()
    }

    /// When in the cycle it reports.
    #[must_use]
    pub fn phase(&self) -> Duration {
        self.phase
    }

    /// At least one host asks for reports.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.grants.iter().any(|(_, grant)| grant.until.is_some())
    }

    /// How often a host was let go, or not listened to, since there were too many.
    #[must_use]
    pub fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// What happened to it since it was last asked.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Takes in a host's word, heard at `place`. Only the newest of each host counts; what comes from the future cannot be told
    /// apart from a lie, and nobody asks from beyond its footprint. Of more hosts than are served the nearest are.
    pub fn obey(&mut self, now: Instant, place: Option<Position>, broadcast: &Broadcast) {
        let held = self.grants.get(broadcast.host);
        if broadcast.host == self.own
            || broadcast.at > now
            || held.is_some_and(|grant| broadcast.at <= grant.at)
        {
            return;
        }
        let was_admitted = self.is_admitted();
        let lease = broadcast.lease.min(self.lease_limit);
        let off_m = place.map_or(0.0, |place| place.distance(broadcast.position));
        // Not-a-number is not near.
        let asked = off_m <= self.reach_m && broadcast.contributors.contains(&self.own);
        if held.is_none() && !self.make_room(now, asked) {
            self.crowded_out += 1;
            return;
        }
        self.grants.insert(
            broadcast.host,
            Grant {
                at: broadcast.at,
                until: asked.then(|| broadcast.at + lease),
                content: broadcast.content,
                requested: if asked {
                    broadcast.requested.clone()
                } else {
                    Vec::new()
                },
                off_m,
            },
        );
        if asked {
            self.serve_nearest();
        }
        if self.is_admitted() && !was_admitted {
            let host = broadcast.host;
            self.events.push_back(Event::Admitted { host });
        } else if !asked && was_admitted && !self.is_admitted() {
            self.events.push_back(Event::Released);
        }
    }

    /// Makes room for the word of one host more, which asks for something or does not; gives whether there is any.
    fn make_room(&mut self, now: Instant, asks: bool) -> bool {
        let most = self.most.saturating_mul(REMEMBERED);
        if self.grants.len() < most {
            return true;
        }
        self.lapse(now);
        let idle = self
            .grants
            .iter()
            .filter(|(_, grant)| grant.until.is_none());
        let longest = idle.min_by_key(|(_, grant)| grant.at).map(|(id, _)| id);
        match longest {
            Some(id) if asks => {
                self.crowded_out += 1;
                self.grants.remove(id).is_some()
            }
            _ => self.grants.len() < most,
        }
    }

    /// Serves no more hosts than it may: the farthest is let go.
    fn serve_nearest(&mut self) {
        let asking = self.grants.iter().filter(|(_, g)| g.until.is_some());
        if asking.clone().count() <= self.most {
            return;
        }
        let off = asking.map(|(id, grant)| (grant.off_m, id));
        let farthest = off.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if let Some(grant) = farthest.and_then(|(_, id)| self.grants.get_mut(id)) {
            grant.until = None;
            grant.requested.clear();
            self.crowded_out += 1;
        }
    }

    /// Lets leases and old memories run out.
    pub fn lapse(&mut self, now: Instant) {
        let was_admitted = self.is_admitted();
        for (_, grant) in self.grants.iter_mut() {
            if grant.until.is_some_and(|until| until < now) {
                grant.until = None;
            }
        }
        let soft_state = self.soft_state;
        self.grants
            .retain(|_, grant| grant.until.is_some() || now.since(grant.at) <= soft_state);
        if was_admitted && !self.is_admitted() {
            self.events.push_back(Event::Released);
        }
    }

    /// The report that is due at `now`, once in a cycle: `choose` gives the objects for what hosts ask for, and is shown what was
    /// reported of late. Where there is nothing to say, header and sensor information tell silence from loss; those who ask by
    /// need know silence as an answer. Where nobody asks, `choose` is shown that, if it may speak unasked.
    pub fn report(
        &mut self,
        now: Instant,
        choose: impl FnOnce(&Asked, &mut Memory) -> Vec<ObjectState>,
    ) -> Option<Report> {
        self.lapse(now);
        let slot = now.floor_to(self.cycle, self.phase);
        if self.reported_slot.is_some_and(|reported| reported >= slot) {
            return None;
        }
        // Admitted by a broadcast of this very cycle: reports begin with the next one.
        let asking = self
            .grants
            .iter()
            .filter(|(_, grant)| grant.until.is_some() && grant.at < slot)
            .map(|(_, grant)| grant);
        if asking.clone().next().is_none() && !self.volunteers {
            return None;
        }
        let asked = Asked::new(
            asking.clone().map(|grant| grant.content),
            asking
                .flat_map(|grant| grant.requested.iter().copied())
                .collect(),
        );
        self.reported_slot = Some(slot);
        let objects = choose(&asked, &mut self.memory);
        if objects.is_empty() && !(self.empty_reports && asked.by_rule()) {
            return None;
        }
        self.memory.included.note(now, &objects);
        let sensor_information = objects.is_empty()
            || self
                .sensors_at
                .is_none_or(|at| now.since(at) >= SENSOR_INFORMATION);
        if sensor_information {
            self.sensors_at = Some(now);
        }
        Some(Report {
            sender: self.own,
            at: now,
            objects,
            sensor_information,
        })
    }
}
