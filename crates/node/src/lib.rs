//! Covey on the road's own frames: one participant as a process.
//!
//! The protocol ([`covey_protocol::Participant`]) and its bytes ([`covey_its`]) are what the simulator runs; around them
//! there is here what a process needs:
//!
//! - [`station`]: a participant behind real frames, without a clock or a socket of its own; it can be driven in any time.
//! - [`link`]: GeoNetworking frames over UDP multicast or raw Ethernet.
//! - [`vehicle`]: what the own vehicle tells, as lines of JSON, NMEA, gpsd, replays, CPMs; [`node`] is the loop around all.
//! - [`secure`]: signed frames after TS 103 097, and the keys and certificates for tests.
//! - [`drive`]: plays a simulated world into many such processes and measures them as the simulator is measured.
//!
//! `docs/node.md` says how to start one.

pub mod clock;
pub mod config;
pub mod drive;
mod failure;
mod gate;
pub mod link;
mod load;
pub mod logging;
pub mod node;
mod opening;
mod reception;
pub mod secure;
pub mod station;
mod status;
pub mod tally;
pub mod vehicle;
