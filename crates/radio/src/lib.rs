//! The LTE-V2X PC5 mode 4 channel, as a load-level abstraction.
//!
//! Given where two antennas are, what stands between them and how much has been offered to the
//! channel, this crate says with what probability a message arrives, and draws whether it does. It
//! does not schedule single subframes, and it knows no message formats, hosts or maps: tiles,
//! vehicles and message classes are plain indices. docs/channel.md says what is modelled, what is
//! not, and where each number comes from.
//!
//! A simulation step uses it in this order:
//! 1. Every 100 ms, for each pair in range, [`Channel::update`] turns geometry into a [`PairLink`]:
//!    path loss, shadowing and blockage ([`PairFading`]), block errors. Nothing in it depends on
//!    what is sent, so runs that differ only in traffic policy share it.
//! 2. Each message is offered to its sender's tile; [`LoadMeter::carry`] books it and says whether
//!    it survives thinning and the capacity limit. The load that counts is that of one window
//!    which ends before the present step, so no result feeds back within a step.
//! 3. [`Channel::row`] gives, for each tile's load, collision survival over distance;
//!    [`Reception`], or [`LaneReception`] for up to 16 policies at once, draws who receives.
//!
//! # Guarantees
//! - All randomness is [addressed](covey_draws): same inputs, same results, in any order, on any number
//!   of threads. Transcendental functions come from `libm`, so also on any machine.
//! - A message is received iff `u < p` with one `u` per (sender, receiver, step, class): a smaller
//!   probability never turns a loss into a success.
//! - Arguments that are NaN or infinite mean a lost message, never a panic.
//!
//! ```
//! use covey_radio::{Channel, LinkKind};
//!
//! let channel = Channel::default();
//! let link = channel.mean(100.0, LinkKind::Nlos, 0.64);
//! assert!((link.snr_db - 17.0).abs() < 0.05);
//! assert!((link.collision_loss - 0.042).abs() < 0.0005);
//! ```

mod fading;
pub mod highway;
mod link;
mod load;
mod parameters;
mod pool;
mod reception;
mod scheduling;
pub mod sidelink;
mod tables;
mod transport;

pub use fading::{FadingDraws, LinkGeometry, PairFading};
pub use link::{Blockage, Channel, LinkState, MeanLink};
pub use load::{LoadMeter, Offer};
pub use parameters::{
    BlockErrorCurve, BusyRatio, ChannelParameters, CollisionLaw, CollisionTable, LinkKind,
    ParameterError, UnknownName,
};
pub use pool::{CustomPool, Pool, PoolChoice, PoolPreset};
pub use reception::{CollisionRow, LANES, LaneReception, LaneRow, Number, PairLink, Reception};
pub use scheduling::{ChannelModel, CongestionControl, Reservation, SidelinkParameters};
