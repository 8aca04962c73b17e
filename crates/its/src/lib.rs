//! The protocol's messages as ETSI ITS messages, byte for byte.
//!
//! | protocol value | on the air | BTP port |
//! |---|---|---|
//! | [`Beacon`](covey_protocol::messages::Beacon) | CAM (EN 302 637-2 v1.4.1), the coverage digest as an extension | 2001 |
//! | [`Report`](covey_protocol::messages::Report) | CPM (TS 103 324 v2.1.1) | 2009 |
//! | [`Broadcast`](covey_protocol::messages::Broadcast) | CPM with the fused objects, the rest as an extension | 2009 |
//!
//! There are three layers, each usable alone:
//!
//! - [`Wire`] turns protocol values into messages and back. It knows the map's projection ([`GeoReference`], given by the
//!   caller) and what time it is ([`ItsTime`]); a [`Numbering`] for each sending station keeps its object numbers.
//! - [`Cam`] and [`Cpm`] are the messages as plain values in the units of the standard, `None` where the standard says
//!   "unavailable". `encode` and `decode` are unaligned PER.
//! - [`frame`] puts them into GeoNetworking single-hop broadcasts with BTP-B, and takes frames of any stack apart;
//!   [`pcap`] writes and reads captures.
//!
//! # Guarantees
//! - Bytes that anybody may have written never panic; time and memory are bounded by [`MAX_MESSAGE_LEN`].
//! - A value that does not fit its field is clamped, marked unavailable, left out and counted, or refused, as
//!   `docs/messages.md` lists; nothing ever wraps.
//! - Receivers that know nothing of our extensions read the rest: both are extension additions, in the second place, because
//!   the first one of `CamParameters` belongs to TS 103 900.

mod asn;
pub mod cam;
pub mod cpm;
mod error;
pub mod frame;
pub mod fused;
pub mod geo;
pub mod numbering;
pub mod pcap;
#[doc(hidden)]
pub mod samples;
pub mod sizes;
mod time;
mod units;
mod wire;

pub use cam::{Cam, CarriedDigest};
pub use cpm::{Cpm, CpmObject, Sensor};
pub use error::{DecodeError, EncodeError};
pub use frame::{Decoded, decode_frame};
pub use fused::FusedState;
pub use geo::{EarthPosition, GeoReference, TangentPlane};
pub use numbering::Numbering;
pub use time::ItsTime;
pub use wire::{CpmOptions, Cpms, Wire};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The longest message or frame that is looked at, in bytes; longer ones are refused unread.
pub const MAX_MESSAGE_LEN: usize = 8_192;
