//! The contributor's side of an admission: report while a host asks for it, fall silent when its word runs out.
//!
//! What it reports is the host's to say ([`Content`]). To judge what others need ([`Content::Demanded`]) a contributor must
//! keep what it knows of them, which it does only [`with_demand`](Contributor::with_demand); without, it reports what sends
//! no beacon.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::demand::DemandOptions;
use crate::demand::associate::{Association, Identities};
use crate::demand::content::{Asked, Chooser, Heard, Knowledge};
use crate::ids::{AgentId, ObjectId};
use crate::link::LinkQuality;
use crate::map::RoadMap;
use crate::messages::{AgentState, Beacon, Broadcast, Content, Message, ObjectState, Report};
use crate::parameters::Parameters;
use crate::role::{Event, Input, Output};
use crate::sorted::SortedMap;
use crate::time::{Duration, Instant};

/// Reports once per cycle while at least one host's lease holds; an agent that several hosts admit sends one report.
#[derive(Debug, Clone)]
pub struct Contributor {
    own: AgentId,
    cycle: Duration,
    phase: Duration,
    soft_state: Duration,
    lease_limit: Duration,
    now: Instant,
    grants: SortedMap<AgentId, Grant>,
    /// When each agent was last heard.
    heard: SortedMap<ObjectId, Instant>,
    sensed: Vec<ObjectState>,
    judgement: Option<Box<Judgement>>,
    reported_slot: Option<Instant>,
    outputs: VecDeque<Output>,
    wake_told: Option<Instant>,
}

/// The newest word of one host.
#[derive(Debug, Clone)]
struct Grant {
    at: Instant,
    /// Until when to report; none where the host does not ask.
    until: Option<Instant>,
    content: Content,
    /// By ascending id.
    requested: Vec<ObjectId>,
}

/// What it takes to judge what others need.
#[derive(Debug, Clone)]
struct Judgement {
    parameters: Parameters,
    options: DemandOptions,
    map: Option<Arc<dyn RoadMap>>,
    links: LinkQuality,
    own: Option<AgentState>,
    /// The last beacon of everyone, within the soft-state time.
    heard: SortedMap<ObjectId, (AgentState, Instant)>,
    /// What others said of objects: the newest state, and when it was said.
    told: SortedMap<ObjectId, (ObjectState, Instant)>,
    /// Tells apart what others speak of, unless their ids are to be believed.
    tracks: Option<Association>,
    chooser: Chooser,
}

impl Judgement {
    fn hear(&mut self, beacon: &Beacon) {
        if !beacon.state.is_finite() {
            return;
        }
        let id = beacon.sender.into();
        let last = self.heard.get(id);
        if last.is_some_and(|&(_, at)| at >= beacon.at) {
            return;
        }
        if let (Some((state, at)), Some(own)) = (last, &self.own) {
            let next = (&beacon.state, beacon.at);
            let interval = self.parameters.beacon_interval((state, *at), next);
            let due = beacon.at.since(*at).seconds() / interval.seconds();
            let distance = own.position.distance(beacon.state.position);
            self.links.count(distance, libm::round(due).max(1.0), 1.0);
        }
        self.heard.insert(id, (beacon.state, beacon.at));
        if let Some(tracks) = &mut self.tracks
            && let Some(seen) = tracks.announce(id, &beacon.state, beacon.at)
        {
            self.told.remove(seen);
        }
    }

    /// Somebody spoke of objects.
    fn listen(&mut self, sender: AgentId, objects: &[ObjectState], now: Instant) {
        match &mut self.tracks {
            None => objects.iter().for_each(|state| self.tell(state, now)),
            Some(tracks) => {
                let labels = tracks.label(Some(sender.into()), objects, true);
                for (state, label) in objects.iter().zip(labels) {
                    if let Some(id) = label {
                        self.tell(&ObjectState { id, ..*state }, now);
                    }
                }
            }
        }
    }

    fn tell(&mut self, state: &ObjectState, now: Instant) {
        if !state.is_finite() || state.sensed_at > now {
            return;
        }
        let (held, new) = self
            .told
            .get_or_insert_with(state.id, || (*state, state.sensed_at));
        if !new && state.sensed_at > held.1 {
            *held = (*state, state.sensed_at);
        }
    }

    fn choose(
        &mut self,
        own: AgentId,
        now: Instant,
        sensed: &[ObjectState],
        asked: Asked<'_>,
    ) -> Vec<usize> {
        let Some(state) = self.own else {
            return Vec::new();
        };
        let soft_state = Duration::from_seconds(self.parameters.soft_state_s);
        self.heard.retain(|_, (_, at)| now.since(*at) <= soft_state);
        self.told.retain(|_, (_, at)| now.since(*at) <= soft_state);
        if let Some(tracks) = &mut self.tracks {
            tracks.forget(now, soft_state);
        }
        self.links.age(now);
        let heard: Vec<Heard> = self
            .heard
            .iter()
            .map(|(id, &(state, at))| Heard { id, state, at })
            .collect();
        let told: Vec<(ObjectState, Instant)> = self.told.iter().map(|(_, &told)| told).collect();
        let knowledge = Knowledge {
            now,
            own: own.into(),
            state: &state,
            heard: &heard,
            sensed,
            told: &told,
            links: &self.links,
            map: self.map.as_deref(),
        };
        self.chooser
            .choose(&self.options, &self.parameters, &knowledge, asked)
    }
}

impl Contributor {
    /// The contributor's side of agent `own`, admitted by nobody yet.
    #[must_use]
    pub fn new(parameters: &Parameters, own: AgentId) -> Self {
        let lease = Duration::from_seconds(parameters.lease_s);
        Self {
            own,
            cycle: Duration::from_seconds(parameters.cycle_s),
            phase: parameters.report_phase(own),
            soft_state: Duration::from_seconds(parameters.soft_state_s),
            // A host may ask for longer than usual, but nobody speaks for long on one word.
            lease_limit: lease.times(4),
            now: Instant::from_micros(i64::MIN),
            grants: SortedMap::default(),
            heard: SortedMap::default(),
            sensed: Vec::new(),
            judgement: None,
            reported_slot: None,
            outputs: VecDeque::new(),
            wake_told: None,
        }
    }

    /// The same, able to judge what others need, with a map where there is one.
    #[must_use]
    pub fn with_demand(
        mut self,
        parameters: &Parameters,
        options: &DemandOptions,
        map: Option<Arc<dyn RoadMap>>,
    ) -> Self {
        self.judgement = Some(Box::new(Judgement {
            parameters: parameters.clone(),
            options: options.clone(),
            map,
            links: LinkQuality::new(Duration::from_seconds(10.0)),
            own: None,
            heard: SortedMap::default(),
            told: SortedMap::default(),
            tracks: match options.identities {
                Identities::Associated => Some(Association::new(options.accuracy())),
                Identities::True => None,
            },
            chooser: Chooser::default(),
        }));
        self
    }

    /// Takes in what happened at `now`. Sensing, beacons and broadcasts matter; a tick at or after the agent's report slot
    /// sends the report of that cycle, once.
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.now = self.now.max(now);
        if let Some(judgement) = &mut self.judgement {
            match input {
                Input::Moved(state) if state.is_finite() => judgement.own = Some(*state),
                Input::Beacon(beacon) if beacon.at <= self.now && beacon.sender != self.own => {
                    judgement.hear(beacon);
                }
                Input::Report(report) if report.sender != self.own => {
                    judgement.listen(report.sender, &report.objects, self.now);
                }
                Input::Broadcast(broadcast) if broadcast.host != self.own => {
                    judgement.listen(broadcast.host, &broadcast.objects, self.now);
                }
                _ => {}
            }
        }
        match input {
            Input::Sensed { objects, .. } => {
                self.sensed.clear();
                self.sensed
                    .extend(objects.iter().filter(|o| o.id != self.own.into()));
            }
            Input::Beacon(beacon) => {
                self.heard.insert(beacon.sender.into(), self.now);
            }
            Input::Broadcast(broadcast) if broadcast.host != self.own => self.obey(broadcast),
            _ => {}
        }
        self.lapse();
        if matches!(input, Input::Tick) {
            self.report();
        }
    }

    /// Reports and events, then when to wake up next.
    pub fn poll_output(&mut self) -> Option<Output> {
        if let Some(output) = self.outputs.pop_front() {
            return Some(output);
        }
        if !self.is_admitted() {
            return None;
        }
        let wake = self.now.next_after(self.cycle, self.phase);
        (self.wake_told.replace(wake) != Some(wake)).then_some(Output::WakeAt(wake))
    }

    /// At least one host asks for reports.
    #[must_use]
    pub fn is_admitted(&self) -> bool {
        self.grants.iter().any(|(_, grant)| grant.until.is_some())
    }

    /// The objects that hosts ask for by name, by ascending id.
    #[must_use]
    pub fn requested(&self) -> Vec<ObjectId> {
        let grants = self.grants.iter().map(|(_, grant)| grant);
        let mut requested: Vec<ObjectId> = grants
            .filter(|grant| grant.until.is_some())
            .flat_map(|grant| grant.requested.iter().copied())
            .collect();
        requested.sort_unstable();
        requested.dedup();
        requested
    }

    fn obey(&mut self, broadcast: &Broadcast) {
        // Only the newest word of a host counts; what comes from the future cannot be told apart from a lie.
        if broadcast.at > self.now {
            return;
        }
        if self
            .grants
            .get(broadcast.host)
            .is_some_and(|g| broadcast.at <= g.at)
        {
            return;
        }
        let was_admitted = self.is_admitted();
        let lease = broadcast.lease.min(self.lease_limit);
        let asked = broadcast.contributors.contains(&self.own);
        let mut requested = broadcast.requested.clone();
        requested.sort_unstable();
        self.grants.insert(
            broadcast.host,
            Grant {
                at: broadcast.at,
                until: asked.then(|| broadcast.at + lease),
                content: broadcast.content,
                requested,
            },
        );
        if asked && !was_admitted {
            self.event(Event::Admitted {
                host: broadcast.host,
            });
        } else if !asked && was_admitted && !self.is_admitted() {
            self.event(Event::Released);
        }
    }

    /// Lets leases and old memories run out.
    fn lapse(&mut self) {
        let was_admitted = self.is_admitted();
        let now = self.now;
        for (_, grant) in self.grants.iter_mut() {
            if grant.until.is_some_and(|until| until < now) {
                grant.until = None;
            }
        }
        let soft_state = self.soft_state;
        self.grants
            .retain(|_, grant| grant.until.is_some() || now.since(grant.at) <= soft_state);
        self.heard.retain(|_, at| now.since(*at) <= soft_state);
        if was_admitted && !self.is_admitted() {
            self.event(Event::Released);
        }
    }

    fn report(&mut self) {
        let slot = self.now.floor_to(self.cycle, self.phase);
        if self.reported_slot.is_some_and(|reported| reported >= slot) {
            return;
        }
        // Admitted by a broadcast of this very cycle: reports begin with the next one.
        let asking: Vec<&Grant> = self
            .grants
            .iter()
            .filter(|(_, grant)| grant.until.is_some() && grant.at < slot)
            .map(|(_, grant)| grant)
            .collect();
        if asking.is_empty() {
            return;
        }
        self.reported_slot = Some(slot);
        let mut objects = self.sensed.clone();
        if asking.iter().all(|g| g.content != Content::AllVisible) {
            // What any host asks for.
            let mut asked_for = alloc::vec![false; objects.len()];
            for grant in asking {
                match (&mut self.judgement, grant.content) {
                    (Some(judgement), Content::Demanded | Content::Requested) => {
                        let asked = Asked {
                            content: grant.content,
                            requested: &grant.requested,
                        };
                        for k in judgement.choose(self.own, self.now, &self.sensed, asked) {
                            asked_for[k] = true;
                        }
                    }
                    _ => {
                        for (k, object) in self.sensed.iter().enumerate() {
                            asked_for[k] |= self.heard.get(object.id).is_none();
                        }
                    }
                }
            }
            let mut asked_for = asked_for.into_iter();
            objects.retain(|_| asked_for.next() == Some(true));
            if objects.is_empty() {
                return;
            }
        }
        self.outputs
            .push_back(Output::Transmit(Message::Report(Report {
                sender: self.own,
                at: self.now,
                objects,
                sensor_information: false,
            })));
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
}
