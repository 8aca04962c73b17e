//! Recordings: everything that the viewer shows of a run, in one file that opens quickly at any moment.
//!
//! A [`Writer`] takes plain structs as the run goes on, a [`Reader`] gives them back. What does not depend on the arm (the map,
//! motion, who is relevant to whom) is stored once; what an arm did (roles, tiles, what was known, deliveries, host decisions) is
//! stored per arm, so two arms of a seed can be compared side by side.
//!
//! A [`Recorder`] is an observer that feeds a writer from a run.
//!
//! # Calls
//! In the order of time: [`Writer::step`] for each 50 ms step; after the step at which a cycle is evaluated,
//! [`Writer::relevance`] once and [`Writer::arm_cycle`] for each arm; at the end [`Writer::finish`]. Nothing is seen under the
//! file's name before that; a [`Growth`] lets a reader follow it chunk by chunk.
//!
//! # Layout
//! All numbers little endian; `v` is an unsigned LEB128 number, `z` a zigzag-coded signed one.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `COVEYREC` |
//! | 8..12 | version of the layout, 2 |
//! | 12.. | blocks, each packed with zstd by itself |
//! | then | the index: per block kind (u8), arm (u16), chunk (u32), offset (u64), packed length (u32), unpacked length (u32), first 8 bytes of the BLAKE3 hash of the packed bytes |
//! | last 52 | offset of the index (u64), number of blocks (u32), BLAKE3 hash of the index (32), `COVEYEND` |
//!
//! A chunk is [`CHUNK_CYCLES`] cycles long; every block can be read without any other. Kinds: see [`Kind`]. The contents of
//! the binary blocks are described where they are coded: `motion`, `cycles`, `values`, `decisions`,
//! `demands`.
//!
//! # Hostile files
//! Every length is checked before memory is taken for it: a block unpacks to at most [`MAX_BLOCK`] bytes and lists hold no
//! more than the block can. Anything that does not fit gives a [`RecordingError`] that says where; nothing panics (there is a fuzz
//! target).

mod bytes;
mod cycles;
mod decisions;
mod demands;
mod file;
mod growth;
mod manifest;
mod motion;
mod reader;
mod recorder;
mod values;
mod writer;

use std::path::PathBuf;

use covey_protocol::admission::{Binding, Change};
use thiserror::Error;

use crate::outcome::CycleRow;

pub use super::facts::{
    Delivery, Knowledge, MessageKind, OwnSight, Relation, Relevant, Seen, Source, Track,
};
pub use covey_protocol::demand::select::{Pick, Selection};
pub use covey_protocol::demand::snapshot::DemandSnapshot;
pub use covey_protocol::snapshot::Snapshot;
pub use file::{Kind, MAX_BLOCK};
pub use growth::Growth;
pub use manifest::{ArmHeader, Curve, Grid, Header, Manifest, TileCurve, VehicleHeader};
pub use reader::{Reader, check_block, files_in};
pub use recorder::Recorder;
pub use writer::{Summary, Writer};

/// Cycles in a chunk: 2 s of the letter's cycles.
pub const CHUNK_CYCLES: u32 = 10;

/// The usual ending of a recording's name.
pub const EXTENSION: &str = "covey";

/// What a vehicle is to the protocol at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Role {
    /// It has no radio.
    #[default]
    Unequipped = 0,
    /// It has a radio and listens; no host weighs it.
    Listener = 1,
    /// A host weighed it in this cycle and did not admit it.
    Candidate = 2,
    /// It reports: admitted by a host, or by the sender's own rules.
    Contributor = 3,
    /// It hosts a tile.
    Host = 4,
}

/// One vehicle at one step, as recorded: centimetres, 1/65536 turns and cm/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Placed {
    /// The vehicle's number.
    pub id: u32,
    /// Map x of its centre, in cm.
    pub x_cm: i32,
    /// Map y of its centre, in cm.
    pub y_cm: i32,
    /// Heading in 1/65536 of a turn, counter-clockwise from map east.
    pub heading: u16,
    /// Speed in cm/s.
    pub speed_cm_s: u16,
}

/// All vehicles at one step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StepRecord {
    /// Steps from the start of the run (time over step length).
    pub step: u32,
    /// The vehicles, by ascending number.
    pub vehicles: Vec<Placed>,
}

/// A host's decision.
#[derive(Debug, Clone, PartialEq)]
pub struct HostDecision {
    /// The host's tile.
    pub tile: [i32; 2],
    /// What it knew; its `host` says who. Make it with [`Snapshot::of_view`].
    pub snapshot: Snapshot,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What bound it.
    pub binding: Binding,
}

/// What a host chose that chooses by demand.
#[derive(Debug, Clone, PartialEq)]
pub struct DemandDecision {
    /// The host's tile.
    pub tile: [i32; 2],
    /// What it knew: who needs what, and who could tell it.
    pub snapshot: DemandSnapshot,
    /// What it picked, in order.
    pub picks: Vec<Pick>,
    /// Where it believed the objects to be, by ascending number; recordings of older programs have none.
    pub tracks: Vec<Track>,
}

/// One cycle of one arm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ArmCycle {
    /// Cycles from the start of the run.
    pub cycle: u32,
    /// The role of each vehicle of the last step, in its order.
    pub roles: Vec<Role>,
    /// What each tile that holds a participant did.
    pub tiles: Vec<CycleRow>,
    /// What is known of each pair of the last [`Writer::relevance`], in its order.
    pub knowledge: Vec<Knowledge>,
    /// Reports and broadcasts of the cycle and who decoded them; may be left empty.
    pub deliveries: Vec<Delivery>,
}

/// Relevant pairs of one cycle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CycleRelevance {
    /// Cycles from the start of the run.
    pub cycle: u32,
    /// The pairs, by vehicle, then object.
    pub pairs: Vec<Relevant>,
}

/// Who could have told of what was missed in one cycle of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CycleSeen {
    /// Cycles from the start of the run.
    pub cycle: u32,
    /// One entry for each missed pair, by its number.
    pub missed: Vec<Seen>,
}

/// Why a recording cannot be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file cannot be written.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error(
        "{file}: found {found}, expected a recording (`covey run SCENARIO --record` makes one)"
    )]
    NotARecording {
        /// The file.
        file: PathBuf,
        /// What it is.
        found: String,
    },
    /// The file is a recording, but broken.
    #[error("{file}: the recording is damaged: {found}; record the run again")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong and where.
        found: String,
    },
    /// The folder holds no recording.
    #[error(
        "{folder}: no recording in it (no file ends in .{EXTENSION}); make one with `covey run SCENARIO --record --out {folder}`"
    )]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// The caller broke the order of calls or gave lists of different lengths.
    #[error("recording: {0}")]
    Misuse(String),
}
