//! What was so in a cycle: who mattered to whom, what an arm let them know of it, and who received what.

/// Why an object matters to a vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Relation {
    /// It is ahead on the vehicle's path.
    Ahead = 0,
    /// Their paths cross or merge.
    Crossing = 1,
}

/// What the vehicle's own sensor makes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum OwnSight {
    /// It sees it.
    Visible = 0,
    /// A building is in between.
    Building = 1,
    /// Another vehicle is in between.
    Vehicle = 2,
    /// Beyond the sensor's range.
    Range = 3,
}

/// A decision-relevant object of a vehicle, in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relevant {
    /// Whose decision.
    pub vehicle: u32,
    /// The object: another vehicle's number.
    pub object: u32,
    /// The reaction deadline, in ms.
    pub deadline_ms: u32,
    /// Why it matters.
    pub relation: Relation,
    /// What the vehicle itself sees of it.
    pub sight: OwnSight,
}

/// Where the newest state of an object came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Source {
    /// Nowhere: nothing is known of it.
    #[default]
    Unknown = 0,
    /// The vehicle's own sensor.
    Sensing = 1,
    /// The object's own beacon.
    Beacon = 2,
    /// A contributor's report.
    Report = 3,
    /// A host's broadcast.
    Broadcast = 4,
}

/// What a vehicle knows of a relevant object, under one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Knowledge {
    /// Where the newest state came from.
    pub source: Source,
    /// Its age at the instant of evaluation, in ms; 0 where nothing is known.
    pub age_ms: u32,
    /// Unknown, or older than the deadline.
    pub missed: bool,
    /// No participant saw the object or heard it speak in time: no policy could have helped.
    pub seen_by_nobody: bool,
    /// Who sent that report or broadcast, where it was kept.
    pub from: Option<u32>,
}

/// Who could have told of a missed object: participants whose own sensors had seen it within its deadline.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// Number of the pair among the relevant ones of the cycle.
    pub pair: u32,
    /// The participants, by ascending number; neither the vehicle nor the object is among them.
    pub by: Vec<u32>,
}

/// Where a host believes an object to be that somebody needs, moved on to the moment of its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Track {
    /// The object's number in the host's problem.
    pub object: u32,
    /// Along the grid's first axis, in cm.
    pub x_cm: i32,
    /// Along the grid's second axis, in cm.
    pub y_cm: i32,
    /// Direction in 1/65536 of a turn, counter-clockwise from the grid's first axis.
    pub heading: u16,
    /// Length of its body, in cm.
    pub length_cm: u16,
    /// Width of its body, in cm.
    pub width_cm: u16,
    /// How old what the host knows of it is, in ms.
    pub age_ms: u32,
}

/// A message class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MessageKind {
    /// A contributor's report.
    Report = 0,
    /// A host's broadcast.
    Broadcast = 1,
}

/// Who decoded a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Who sent it.
    pub sender: u32,
    /// What it was.
    pub kind: MessageKind,
    /// Who decoded it, by ascending number.
    pub receivers: Vec<u32>,
}
