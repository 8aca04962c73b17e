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

#![cfg_attr(
    not(feature = "wire"),
    allow(dead_code, unreachable_pub, reason = "lengths alone use a part of it")
)]

#[cfg(feature = "wire")]
mod asn;
#[cfg(feature = "wire")]
pub mod cam;
#[cfg(feature = "wire")]
pub mod cpm;
#[cfg(feature = "wire")]
mod error;
#[cfg(feature = "wire")]
pub mod frame;
#[cfg(feature = "wire")]
pub mod fused;
pub mod geo;
#[cfg(feature = "wire")]
pub mod numbering;
#[cfg(feature = "wire")]
pub mod pcap;
mod plain;
#[cfg(feature = "wire")]
#[doc(hidden)]
pub mod samples;
pub mod sizes;
#[cfg(feature = "wire")]
mod time;
#[cfg(feature = "wire")]
mod units;
#[cfg(feature = "wire")]
mod wire;

#[cfg(feature = "wire")]
pub use cam::{Cam, CarriedDigest};
#[cfg(feature = "wire")]
pub use cpm::Cpm;
#[cfg(feature = "wire")]
pub use error::{DecodeError, EncodeError};
#[cfg(feature = "wire")]
pub use frame::{Decoded, decode_frame};
#[cfg(feature = "wire")]
pub use fused::FusedState;
pub use geo::{EarthPosition, GeoReference, TangentPlane};
#[cfg(feature = "wire")]
pub use numbering::Numbering;
pub use plain::{CpmObject, Sensor};
#[cfg(feature = "wire")]
pub use time::ItsTime;
#[cfg(feature = "wire")]
pub use wire::{CpmOptions, Cpms, Wire};

/// The README's example is a test.
#[cfg(all(doctest, feature = "wire"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The longest message or frame that is looked at, in bytes; longer ones are refused unread.
pub const MAX_MESSAGE_LEN: usize = 8_192;
