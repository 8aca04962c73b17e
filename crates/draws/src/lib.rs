//! All randomness of Covey: draws by address.
//!
//! A draw is a pure function of a seed, a [`Purpose`] and a place; there is no generator to
//! advance. So the order in which draws are made, the number of threads and what else is drawn
//! cannot change any of them: runs that differ only in who transmits share their loss
//! realisations.
//!
//! - [`Draws`]: one draw per (step, pair), as links, messages and errors of position need it.
//! - [`Series`]: one draw per (id, number), as drivers need it.
//! - [`SplitMix`]: a plain stream, for tests and for tools whose draws nobody compares.
//!
//! The function is a chain of SplitMix64 finalisers ([`mix`]), one per word absorbed: seed, purpose,
//! step or id, place. [`Draws`] keeps the chain up to the step, so a draw for one more link costs one
//! finaliser: 17 instructions, against 83 for Philox4x32-10 (docs/channel.md, Cost), whose longer
//! period nothing here needs. It is not a cryptographic generator.
//!
//! ```
//! use covey_draws::{Draws, Purpose};
//!
//! let step = Draws::new(7, Purpose::Reception, 1, 40);
//! let first = step.at(3, 9).unit();
//! let _another = step.at(9, 3).unit();
//! assert_eq!(first, step.at(3, 9).unit());
//! ```

mod addressed;
mod normal;
mod purpose;
mod series;
mod split_mix;

pub use addressed::{Draw, Draws};
pub use purpose::Purpose;
pub use series::Series;
pub use split_mix::{SplitMix, mix};
