//! Real participants whose messages go through real bytes, and somebody who forges some.

use std::collections::BTreeMap;

use covey_its::{
    Cam, Cpm, CpmOptions, EarthPosition, ItsTime, Numbering, Sensor, TangentPlane, Wire,
};
use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, Message, ObjectState, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Event, Input, Instant, ObjectId, Output, Participant,
    Position, Profile, Tile, Velocity,
};

pub(crate) const STEP: Duration = Duration::from_millis(50);
pub(crate) const TILE: Tile = Tile::new(0, 0);

/// One real participant.
pub(crate) struct Node {
    pub(crate) participant: Participant,
    pub(crate) position: Position,
    /// What it sees, standing, and the cells in its view.
    pub(crate) objects: Vec<(u64, Position)>,
    pub(crate) cells: Vec<Cell>,
    /// How far its clock is ahead.
    pub(crate) clock: Duration,
    pub(crate) alive: bool,
}

/// A frame on the air: the messages of one word, as bytes.
#[derive(Clone)]
pub(crate) enum Frame {
    Cam(Vec<u8>),
    Report(Vec<Vec<u8>>),
    Fused(Vec<Vec<u8>>),
}

pub(crate) struct Air {
    plane: TangentPlane,
    zero: ItsTime,
    options: CpmOptions,
    numbers: BTreeMap<AgentId, Numbering>,
    profile: Profile,
    pub(crate) nodes: BTreeMap<AgentId, Node>,
    pub(crate) now: Instant,
    /// Words of real participants, with their times.
    pub(crate) sent: Vec<(Instant, Message, Frame)>,
    pub(crate) events: Vec<(Instant, AgentId, Event)>,
    forged: Vec<Frame>,
}

impl Air {
    pub(crate) fn new(profile: Profile) -> Self {
        Self {
            plane: TangentPlane::new(EarthPosition::new(35.6123, 139.6273), 0.0),
            zero: ItsTime::from_unix_millis(1_794_783_600_000).unwrap(),
            options: CpmOptions {
                sensors: vec![Sensor {
                    id: 1,
                    kind: 12,
                    range: Some(1_500),
                    sector: None,
                }],
                ..CpmOptions::default()
            },
            numbers: BTreeMap::new(),
            profile,
            nodes: BTreeMap::new(),
            now: Instant::ZERO,
            sent: Vec::new(),
            events: Vec::new(),
            forged: Vec::new(),
        }
    }

    /// Adds an agent that stands at (x, y) and sees nothing.
    pub(crate) fn add(&mut self, id: u64, x: f64, y: f64) -> &mut Node {
        let node = Node {
            participant: Participant::new(&self.profile, AgentId(id), self.now),
            position: Position::new(x, y),
            objects: Vec::new(),
            cells: Vec::new(),
            clock: Duration::ZERO,
            alive: true,
        };
        self.nodes.entry(AgentId(id)).or_insert(node)
    }

    pub(crate) fn node(&mut self, id: u64) -> &mut Node {
        self.nodes.get_mut(&AgentId(id)).unwrap()
    }

    pub(crate) fn hosts(&self) -> Vec<u64> {
        let alive = self.nodes.values().filter(|node| node.alive);
        let hosts = alive.filter(|n| n.participant.host().is_some_and(|h| h.tile() == TILE));
        hosts.map(|node| node.participant.id().0).collect()
    }

    /// Broadcasts of real hosts since `since`.
    pub(crate) fn broadcasts(&self, since: Instant) -> Vec<&Broadcast> {
        let sent = self.sent.iter().filter(|(at, _, _)| *at >= since);
        sent.filter_map(|(_, message, _)| match message {
            Message::Broadcast(broadcast) => Some(broadcast),
            _ => None,
        })
        .collect()
    }

    /// Reports of `id` since `since`.
    pub(crate) fn reports_of(&self, id: u64, since: Instant) -> usize {
        let sent = self.sent.iter().filter(|(at, _, _)| *at >= since);
        sent.filter(|(_, m, _)| matches!(m, Message::Report(_)) && m.sender() == AgentId(id))
            .count()
    }

    /// A forged word is on the air in this step.
    pub(crate) fn forge(&mut self, message: &Message, state: &AgentState) {
        let frame = self.encode(message, state);
        self.forged.push(frame);
    }

    /// An old frame is on the air again.
    pub(crate) fn replay(&mut self, frame: Frame) {
        self.forged.push(frame);
    }

    pub(crate) fn encode(&mut self, message: &Message, state: &AgentState) -> Frame {
        let wire = Wire::new(&self.plane, self.zero);
        let numbers = self.numbers.entry(message.sender()).or_default();
        let bytes = |cpms: Vec<Cpm>| cpms.iter().map(|cpm| cpm.encode().unwrap()).collect();
        match message {
            Message::Beacon(beacon) => {
                Frame::Cam(wire.cam(beacon, None).unwrap().encode().unwrap())
            }
            Message::Report(report) => {
                let cpms = wire.report_cpms(report, state, &self.options, numbers);
                Frame::Report(bytes(cpms.unwrap().messages))
            }
            Message::Broadcast(broadcast) => {
                let cpms = wire.broadcast_cpms(broadcast, &self.options, numbers);
                Frame::Fused(bytes(cpms.unwrap().messages))
            }
        }
    }

    fn decode(&self, frame: &Frame, heard_at: Instant) -> Message {
        let wire = Wire::new(&self.plane, self.zero);
        let cpms = |parts: &[Vec<u8>]| -> Vec<Cpm> {
            parts
                .iter()
                .map(|part| Cpm::decode(part).unwrap())
                .collect()
        };
        match frame {
            Frame::Cam(bytes) => {
                let cam = Cam::decode(bytes).unwrap();
                Message::Beacon(wire.beacon(&cam, heard_at).unwrap())
            }
            Frame::Report(parts) => {
                let parts = cpms(parts);
                let mut report = wire.report(&parts[0]).unwrap();
                for part in &parts[1..] {
                    report.objects.extend(wire.report(part).unwrap().objects);
                }
                Message::Report(report)
            }
            Frame::Fused(parts) => Message::Broadcast(wire.broadcast(&cpms(parts)).unwrap()),
        }
    }

    /// Runs for `millis` ms; `attack` may forge something in every step.
    pub(crate) fn run(&mut self, millis: i64, mut attack: impl FnMut(&mut Self)) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            attack(self);
            self.step();
            self.now = self.now + STEP;
        }
    }

    fn step(&mut self) {
        let now = self.now;
        let sensing = now.floor_to(Duration::from_millis(100), Duration::ZERO) == now;
        let mut outgoing = Vec::new();
        for (&id, node) in &mut self.nodes {
            if !node.alive {
                continue;
            }
            let clock = now + node.clock;
            let state = standing_at(node.position);
            node.participant.handle_input(clock, Input::Moved(&state));
            if sensing {
                let objects: Vec<ObjectState> = node
                    .objects
                    .iter()
                    .map(|&(id, position)| object(id, position, clock))
                    .collect();
                let cells = &node.cells;
                let objects = &objects;
                node.participant
                    .handle_input(clock, Input::Sensed { objects, cells });
                node.participant.handle_input(clock, Input::Occupancy(0.1));
            }
            node.participant.handle_input(clock, Input::Tick);
            while let Some(output) = node.participant.poll_output() {
                match output {
                    Output::Transmit(message) => outgoing.push((id, message, state)),
                    Output::Event(event) => self.events.push((now, id, event)),
                    Output::WakeAt(_) => break,
                    _ => {}
                }
            }
        }
        let mut frames: Vec<(Option<AgentId>, Frame)> = Vec::new();
        for (id, message, state) in outgoing {
            let frame = self.encode(&message, &state);
            self.sent.push((now, message, frame.clone()));
            frames.push((Some(id), frame));
        }
        frames.extend(self.forged.drain(..).map(|frame| (None, frame)));
        for (from, frame) in frames {
            for id in self.nodes.keys().copied().collect::<Vec<_>>() {
                let node = &self.nodes[&id];
                if Some(id) == from || !node.alive {
                    continue;
                }
                let clock = now + node.clock;
                let message = self.decode(&frame, clock);
                let node = self.nodes.get_mut(&id).unwrap();
                node.participant.handle_input(clock, input(&message));
            }
        }
    }
}

pub(crate) fn input(message: &Message) -> Input<'_> {
    match message {
        Message::Beacon(beacon) => Input::Beacon(beacon),
        Message::Report(report) => Input::Report(report),
        Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
    }
}

pub(crate) fn standing_at(position: Position) -> AgentState {
    AgentState {
        position,
        heading: 0.0,
        speed: 0.0,
        size: Size {
            length: 4.5,
            width: 1.8,
            height: 1.5,
        },
    }
}

pub(crate) fn object(id: u64, position: Position, sensed_at: Instant) -> ObjectState {
    ObjectState {
        id: ObjectId(id),
        position,
        velocity: Velocity::default(),
        size: standing_at(position).size,
        sensed_at,
        confidence: Confidence::FULL,
    }
}

/// A beacon of `id` at a place.
pub(crate) fn beacon(id: u64, position: Position, at: Instant, cells: &[Cell]) -> Message {
    Message::Beacon(Beacon {
        sender: AgentId(id),
        at,
        state: standing_at(position),
        digest: match cells.is_empty() {
            true => None,
            false => CoverageDigest::new(cells.to_vec()).ok(),
        },
        low_frequency: false,
    })
}

/// A report of `id` with these objects.
pub(crate) fn report(id: u64, at: Instant, objects: Vec<ObjectState>) -> Message {
    Message::Report(Report {
        sender: AgentId(id),
        at,
        objects,
        sensor_information: false,
    })
}

/// A broadcast of `id` that claims the tile, lists nothing and asks nobody.
pub(crate) fn claim(id: u64, position: Position, at: Instant, sequence: u32) -> Broadcast {
    Broadcast {
        host: AgentId(id),
        tile: TILE,
        at,
        position,
        sequence,
        epoch: 0,
        tenure: Duration::from_millis(100_000 + 200 * i64::from(sequence)),
        price: 0.0,
        cycle_start: at - Duration::from_millis(150),
        contributors: Vec::new(),
        lease: Duration::from_millis(600),
        content: Content::AllVisible,
        requested: Vec::new(),
        full: true,
        objects: Vec::new(),
        withdrawn: Vec::new(),
        unchanged_since: at,
    }
}
