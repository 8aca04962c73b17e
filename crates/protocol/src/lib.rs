//! Who should speak?
//!
//! Vehicles that share what they see over a congested channel mostly see the same things. In each 500 m [`Tile`] one of
//! them, the host, keeps a map of what the regional digital twin already holds and admits only those whose timely, new,
//! risk-relevant view is worth its airtime; everyone in range receives the fused picture.
//!
//! This crate is that protocol and nothing else: no clock, no socket, no thread, no file, no logger, no random source, no
//! `std`. Time comes in as integer microseconds, messages come in and go out as values, so the same code runs in a
//! simulator and in an on-board unit.
//!
//! Begin with [`Participant`], which is a vehicle, and [`Profile`], which is what it is like. Write a [`Policy`] to choose
//! otherwise than the letter does.
//!
#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod admission;
pub mod associate;
mod beaconing;
pub mod beacons;
pub mod contributor;
pub mod demand;
pub mod digest;
mod ears;
pub mod grid;
pub mod guard;
pub mod host;
mod ids;
pub mod inclusion;
pub mod knowledge;
pub mod link;
pub mod listener;
pub mod map;
pub mod measured;
pub mod messages;
pub mod office;
pub mod parameters;
mod participant;
pub mod policy;
mod price;
mod profile;
mod risk;
mod role;
pub mod security;
pub mod select;
pub mod sightings;
#[cfg(feature = "snapshot")]
pub mod snapshot;
mod sorted;
mod time;
mod timeliness;

pub use digest::CoverageDigest;
pub use grid::{Cell, Position, Tile, Velocity, Window};
pub use ids::{AgentId, ObjectId};
pub use map::RoadMap;
pub use messages::{AgentState, Beacon, Broadcast, Message, ObjectState, Report, Size};
pub use parameters::Parameters;
pub use participant::Participant;
pub use policy::Policy;
pub use profile::{Chance, PolicyMaker, Profile};
pub use role::{Event, Input, Output};
pub use time::{Duration, Instant};
