//! What the protocol does, as small tables that are read in review: a change of behaviour shows as a change of a line.
//!
//! After a change that is meant, `INSTA_UPDATE=always cargo test -p covey-protocol --all-features --test behaviour` writes the
//! tables anew.

mod bounds;
mod crowd;
#[cfg(feature = "snapshot")]
mod explanations;
mod office;
mod record;
#[cfg(feature = "snapshot")]
mod views;
