//! What participants say to each other, as values. How they look on the wire is another crate's matter.

use alloc::vec::Vec;

use crate::digest::CoverageDigest;
use crate::grid::{Cell, Position, Tile, Velocity};
use crate::ids::{AgentId, ObjectId};
use crate::time::{Duration, Instant};

/// Extent of a body, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Size {
    /// Along the heading, in metres.
    pub length: f64,
    /// Across the heading, in metres.
    pub width: f64,
    /// From the ground up.
    pub height: f64,
}

impl Size {
    /// That of a station beside the road with its antenna so high: it has no body that anybody could meet.
    #[must_use]
    pub const fn roadside(height: f64) -> Self {
        Self {
            length: -1.0,
            width: -1.0,
            height,
        }
    }

    /// It is that of a body on the road; a size of 0 is one that is not known.
    #[must_use]
    pub fn is_body(&self) -> bool {
        // Not-a-number is a body, too: a wrong size makes nobody vanish.
        !(self.length < 0.0 && self.width < 0.0)
    }
}

/// Where an agent is and how it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AgentState {
    /// Centre of the body in the grid frame.
    pub position: Position,
    /// Direction, radians counter-clockwise from the frame's first axis.
    pub heading: f64,
    /// Along the heading, in m/s.
    pub speed: f64,
    /// Length and width of its body.
    pub size: Size,
}

impl AgentState {
    /// The velocity in the grid frame.
    #[must_use]
    pub fn velocity(&self) -> Velocity {
        Velocity::new(
            self.speed * libm::cos(self.heading),
            self.speed * libm::sin(self.heading),
        )
    }

    /// Position and speed are finite numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.speed.is_finite() && self.heading.is_finite()
    }
}

/// How sure a source is of a state, in per cent: 100 for what was sensed directly or said by the object itself, less with
/// every hop and with age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Confidence(u8);

impl Confidence {
    /// Sensed directly, or said by the object itself.
    pub const FULL: Self = Self(100);

    /// From per cent; more than 100 is 100.
    #[must_use]
    pub const fn from_percent(percent: u8) -> Self {
        Self(if percent > 100 { 100 } else { percent })
    }

    /// 0 to 100, in per cent.
    #[must_use]
    pub const fn percent(self) -> u8 {
        self.0
    }

    /// What is left after one hop more and `age` since the state was sensed: nine tenths, and nothing after one second.
    #[must_use]
    pub fn relayed(self, age: Duration) -> Self {
        let left = 1_000_000_i64
            .saturating_sub(age.micros())
            .clamp(0, 1_000_000);
        Self((i64::from(self.0) * 9 * left / 10_000_000) as u8)
    }
}

/// An object as somebody knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObjectState {
    /// As whoever tells of it numbers it.
    pub id: ObjectId,
    /// Centre of the body in the grid frame.
    pub position: Position,
    /// In the grid frame.
    pub velocity: Velocity,
    /// Length and width of its body.
    pub size: Size,
    /// When it was sensed, or when it spoke of itself.
    pub sensed_at: Instant,
    /// How sure the source is.
    pub confidence: Confidence,
}

impl ObjectState {
    /// Position and velocity are finite numbers.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.velocity.x.is_finite() && self.velocity.y.is_finite()
    }

    /// The object that `beacon` speaks of: its sender.
    #[must_use]
    pub fn of_sender(beacon: &Beacon) -> Self {
        Self {
            id: beacon.sender.into(),
            position: beacon.state.position,
            velocity: beacon.state.velocity(),
            size: beacon.state.size,
            sensed_at: beacon.at,
            confidence: Confidence::FULL,
        }
    }
}

/// What every participant says all the time (on the road: a CAM).
#[derive(Debug, Clone, PartialEq)]
pub struct Beacon {
    /// The station that sends it.
    pub sender: AgentId,
    /// When; also the time of the state.
    pub at: Instant,
    /// Where and how fast.
    pub state: AgentState,
    /// Where it can see; not in every beacon where digests are sent less often.
    pub digest: Option<CoverageDigest>,
    /// It says what changes rarely, too (on the road: the low-frequency container, every 0.5 s).
    pub low_frequency: bool,
}

/// What an admitted contributor says once a cycle (on the road: a CPM).
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The station that sends it.
    pub sender: AgentId,
    /// When it was made.
    pub at: Instant,
    /// What the contributor sees and was asked for, each with the time of sensing.
    pub objects: Vec<ObjectState>,
    /// It tells of its sensors, too (on the road: the sensor information container, once a second).
    pub sensor_information: bool,
}

/// Which objects a contributor is asked to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Content {
    /// All that it sees.
    #[default]
    AllVisible,
    /// Only those of which it has heard no beacon within the soft-state time.
    SilentOnly,
    /// Those that somebody nearby needs, as far as the contributor can tell ([`crate::knowledge`]); nothing is sent
    /// where none is left.
    Demanded,
    /// As before, but of objects that beacon only those that the host names.
    Requested,
    /// Those that the generation rules of TS 103 324 want ([`crate::inclusion`]): an ordinary report.
    Included,
}

impl Content {
    /// How many rules there are.
    pub(crate) const COUNT: usize = Self::Included as usize + 1;

    /// Contributors judge by need what to say: silence is an answer.
    #[must_use]
    pub const fn is_by_need(self) -> bool {
        matches!(self, Self::Demanded | Self::Requested)
    }
}

/// What a host says once a cycle: the fused state, and who reports in the next cycle.
///
/// Between two full refreshes only objects that changed are listed. An object that was listed before and is neither listed
/// nor withdrawn now is unchanged, and the host holds it as sensed at `unchanged_since` or later; that holds for receivers
/// who have all broadcasts of the host since it was listed, which the sequence number tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Broadcast {
    /// The host that sends it.
    pub host: AgentId,
    /// Which tile it hosts.
    pub tile: Tile,
    /// When it was made.
    pub at: Instant,
    /// Where the host is.
    pub position: Position,
    /// Counts the broadcasts of this host's term.
    pub sequence: u32,
    /// Counts changes of the contributor set.
    pub epoch: u32,
    /// How long this host has been in office.
    pub tenure: Duration,
    /// The tile's congestion price, for the next host to go on from.
    pub price: f64,
    /// The beginning of the cycle whose states it carries.
    pub cycle_start: Instant,
    /// Who is asked to report.
    pub contributors: Vec<AgentId>,
    /// How long that holds without another word.
    pub lease: Duration,
    /// What they are asked to report.
    pub content: Content,
    /// Objects that beacon and are asked for nonetheless; only with [`Content::Requested`].
    pub requested: Vec<ObjectId>,
    /// All objects are listed, not only the changed ones.
    pub full: bool,
    /// Objects that changed since they were last listed, or all.
    pub objects: Vec<ObjectState>,
    /// Objects listed before that the host no longer holds as fresh.
    pub withdrawn: Vec<ObjectId>,
    /// Objects listed before and neither listed nor withdrawn now were sensed at this time or later.
    pub unchanged_since: Instant,
}

/// What participants send each other.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// From every participant, whatever its role.
    Beacon(Beacon),
    /// From a contributor, once a cycle.
    Report(Report),
    /// From a host, once a cycle, to all who hear it.
    Broadcast(Broadcast),
}

impl Message {
    /// The station that sent it, whatever kind of message it is.
    #[must_use]
    pub fn sender(&self) -> AgentId {
        match self {
            Self::Beacon(beacon) => beacon.sender,
            Self::Report(report) => report.sender,
            Self::Broadcast(broadcast) => broadcast.host,
        }
    }
}

/// A cell on an agent's predicted path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathCell {
    /// A cell that the path crosses.
    pub cell: Cell,
    /// How long until the agent gets there.
    pub after: Duration,
    /// How much it counts: 1 for the path itself, less for approaches that conflict with it.
    pub weight: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_falls_with_hops_and_age() {
        let once = Confidence::FULL.relayed(Duration::ZERO);
        assert_eq!(once.percent(), 90);
        assert_eq!(once.relayed(Duration::from_millis(500)).percent(), 40);
        assert_eq!(
            Confidence::FULL
                .relayed(Duration::from_millis(2_000))
                .percent(),
            0
        );
        assert_eq!(
            Confidence::FULL
                .relayed(Duration::from_micros(i64::MIN))
                .percent(),
            90
        );
        assert_eq!(Confidence::from_percent(200), Confidence::FULL);
    }
}
