//! A network in memory: real participants, a reachability rule, seeded loss, virtual time in steps of 50 ms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use covey_protocol::host::Host;
use covey_protocol::messages::{AgentState, Confidence, Message, ObjectState, PathCell, Size};
use covey_protocol::{
    AgentId, Cell, Duration, Event, Input, Instant, ObjectId, Output, Participant, Position,
    Profile, RoadMap, Tile, Velocity,
};

pub(crate) const STEP: Duration = Duration::from_millis(50);

/// One agent of the network.
pub(crate) struct Node {
    pub(crate) participant: Participant,
    pub(crate) position: Position,
    /// Metres per second along x.
    pub(crate) speed: f64,
    /// Cells in view.
    pub(crate) cells: Vec<Cell>,
    /// Objects in view, standing.
    pub(crate) objects: Vec<(ObjectId, Position)>,
    pub(crate) alive: bool,
}

/// A map of ways that begin at certain places, and lead nowhere from anywhere else.
#[derive(Debug, Default)]
struct Ways(Mutex<Vec<(Position, Vec<Cell>)>>);

impl RoadMap for Ways {
    fn building_between(&self, _: Position, _: Position) -> bool {
        false
    }

    fn way_ahead(&self, _: Position, _: f64, _: f64, _: &mut Vec<Position>) {}

    fn lane_heading(&self, _: Position) -> Option<f64> {
        None
    }

    fn path_ahead(&self, state: &AgentState, _: f64, path: &mut Vec<PathCell>) {
        for (from, cells) in self.0.lock().unwrap().iter() {
            if *from == state.position {
                path.extend(cells.iter().map(|&cell| PathCell {
                    cell,
                    after: Duration::ZERO,
                    weight: 1.0,
                }));
            }
        }
    }
}

/// A message under way.
struct Flight {
    arrives: Instant,
    from: AgentId,
    to: AgentId,
    message: Message,
}

/// What happens to a copy of a message on its way to one receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Deliver,
    Lose,
    /// Delivered twice, and that late.
    Repeat(Duration),
    Delay(Duration),
}

type Rule = Box<dyn Fn(&Message, AgentId, Instant) -> Fate>;

pub(crate) struct Network {
    pub(crate) profile: Profile,
    pub(crate) nodes: BTreeMap<AgentId, Node>,
    pub(crate) now: Instant,
    /// Pairs (sender, receiver) that cannot hear each other.
    pub(crate) deaf: BTreeSet<(AgentId, AgentId)>,
    pub(crate) rule: Rule,
    /// Everything that was sent, with its time.
    pub(crate) sent: Vec<(Instant, Message)>,
    pub(crate) events: Vec<(Instant, AgentId, Event)>,
    /// Cooperative occupancy that every host measures.
    pub(crate) occupancy: f64,
    under_way: Vec<Flight>,
    ways: Arc<Ways>,
}

impl Network {
    /// A network of the letter's participants.
    pub(crate) fn new() -> Self {
        Self::of(Profile::letter())
    }

    /// A network of participants of this kind, with a map on which nobody goes anywhere yet.
    pub(crate) fn of(profile: Profile) -> Self {
        let ways = Arc::new(Ways::default());
        Self {
            profile: profile.with_map(ways.clone()),
            nodes: BTreeMap::new(),
            now: Instant::ZERO,
            deaf: BTreeSet::new(),
            rule: Box::new(|_, _, _| Fate::Deliver),
            sent: Vec::new(),
            events: Vec::new(),
            occupancy: 0.0,
            under_way: Vec::new(),
            ways,
        }
    }

    /// Adds an agent that stands at (x, y) and sees nothing.
    pub(crate) fn add(&mut self, id: u64, x: f64, y: f64) -> &mut Node {
        let id = AgentId(id);
        let node = Node {
            participant: Participant::new(&self.profile, id, self.now),
            position: Position::new(x, y),
            speed: 0.0,
            cells: Vec::new(),
            objects: Vec::new(),
            alive: true,
        };
        self.nodes.entry(id).or_insert(node)
    }

    pub(crate) fn node(&mut self, id: u64) -> &mut Node {
        self.nodes.get_mut(&AgentId(id)).unwrap()
    }

    /// Nobody of `a` hears anybody of `b`, and the other way round.
    pub(crate) fn separate(&mut self, a: &[u64], b: &[u64]) {
        for &x in a {
            for &y in b {
                self.deaf.insert((AgentId(x), AgentId(y)));
                self.deaf.insert((AgentId(y), AgentId(x)));
            }
        }
    }

    /// The hosts of `tile`, by id.
    pub(crate) fn hosts(&self, tile: Tile) -> Vec<u64> {
        self.nodes
            .values()
            .filter(|n| n.alive)
            .filter(|n| n.participant.host().is_some_and(|h| h.tile() == tile))
            .map(|n| n.participant.id().0)
            .collect()
    }

    pub(crate) fn host(&self, id: u64) -> &Host {
        self.nodes[&AgentId(id)].participant.host().unwrap()
    }

    /// Runs for `millis` ms.
    pub(crate) fn run(&mut self, millis: i64) {
        let end = self.now + Duration::from_millis(millis);
        while self.now < end {
            self.step();
            self.now = self.now + STEP;
        }
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a step of the network in the order of its events"
    )]
    fn step(&mut self) {
        let now = self.now;
        let sensing = now.floor_to(Duration::from_millis(100), Duration::ZERO) == now;
        let mut outgoing = Vec::new();
        for (&id, node) in &mut self.nodes {
            if !node.alive {
                continue;
            }
            node.position.x += node.speed * STEP.seconds();
            let state = AgentState {
                position: node.position,
                heading: 0.0,
                speed: node.speed,
                size: Size::default(),
            };
            let participant = &mut node.participant;
            participant.handle_input(now, Input::Moved(&state));
            if sensing {
                let objects: Vec<ObjectState> = node
                    .objects
                    .iter()
                    .map(|&(id, position)| standing(id, position, now))
                    .collect();
                let cells = &node.cells;
                participant.handle_input(
                    now,
                    Input::Sensed {
                        objects: &objects,
                        cells,
                    },
                );
                participant.handle_input(now, Input::Occupancy(self.occupancy));
            }
            participant.handle_input(now, Input::Tick);
            while let Some(output) = participant.poll_output() {
                match output {
                    Output::Transmit(message) => outgoing.push((id, message)),
                    Output::Event(event) => self.events.push((now, id, event)),
                    Output::WakeAt(at) => assert!(at > now, "{id} wants to wake up in the past"),
                    other => panic!("{id} puts out {other:?}"),
                }
            }
        }
        for (from, message) in outgoing {
            self.sent.push((now, message.clone()));
            for &to in self.nodes.keys() {
                if to == from || self.deaf.contains(&(from, to)) {
                    continue;
                }
                let late: &[Duration] = match (self.rule)(&message, to, now) {
                    Fate::Deliver => &[Duration::ZERO],
                    Fate::Lose => &[],
                    Fate::Repeat(late) => &[Duration::ZERO, late],
                    Fate::Delay(late) => &[late],
                };
                for &late in late {
                    self.under_way.push(Flight {
                        arrives: now + late,
                        from,
                        to,
                        message: message.clone(),
                    });
                }
            }
        }
        let (arrived, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|f| f.arrives <= now);
        self.under_way = later;
        for Flight {
            from, to, message, ..
        } in arrived
        {
            let node = self.nodes.get_mut(&to).unwrap();
            if !node.alive {
                continue;
            }
            assert_ne!(from, to);
            let input = match &message {
                Message::Beacon(beacon) => Input::Beacon(beacon),
                Message::Report(report) => Input::Report(report),
                Message::Broadcast(broadcast) => Input::Broadcast(broadcast),
            };
            node.participant.handle_input(now, input);
        }
    }

    /// From where `agent` is now the map knows a way through `cells`, each with weight 1.
    pub(crate) fn predict(&mut self, agent: u64, cells: &[Cell]) {
        let from = self.node(agent).position;
        self.ways.0.lock().unwrap().push((from, cells.to_vec()));
    }

    /// Reports sent by `id` since `since`.
    pub(crate) fn reports_of(&self, id: u64, since: Instant) -> Vec<Instant> {
        self.sent
            .iter()
            .filter(|(at, message)| {
                *at >= since
                    && matches!(message, Message::Report(_))
                    && message.sender() == AgentId(id)
            })
            .map(|(at, _)| *at)
            .collect()
    }
}

pub(crate) fn standing(id: ObjectId, position: Position, sensed_at: Instant) -> ObjectState {
    ObjectState {
        id,
        position,
        velocity: Velocity::default(),
        size: Size::default(),
        sensed_at,
        confidence: Confidence::FULL,
    }
}

/// A uniform number in 0..1 for a key: the same for the same key, whatever was drawn before.
pub(crate) fn draw(seed: u64, message: &Message, to: AgentId, at: Instant) -> f64 {
    let class = match message {
        Message::Beacon(_) => 1,
        Message::Report(_) => 2,
        Message::Broadcast(_) => 3,
    };
    let mut key = seed;
    for part in [message.sender().0, to.0, at.micros() as u64, class] {
        key = AgentId(key ^ part).mixed();
    }
    (key >> 11) as f64 / (1u64 << 53) as f64
}
