//! What the own vehicle tells a node, and what it is told.
//!
//! - [`lines`]: JSON lines, the schema for bridges (docs/node.md).
//! - [`nmea`]: positions as a GNSS receiver writes them; [`gpsd`]: as gpsd gives them.
//! - [`sources`]: where these come from: a local socket, files, gpsd, CPMs; each is a task that hands on [`Word`](sources::Word)s.

pub mod gpsd;
pub mod lines;
pub mod nmea;
pub mod sources;
