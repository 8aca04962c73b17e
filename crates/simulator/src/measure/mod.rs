//! What is measured of a run, and who may watch it.
//!
//! An arm's [`Ledger`] looks into the world itself, for it is asked a million times a run; everybody else is an
//! [`Observer`](events::Observer) of events: recordings, captures, and whatever a user writes. A [`Tee`](events::Tee) serves several.

#[cfg(feature = "files")]
pub mod capture;
mod cured;
mod evaluation;
pub mod events;
mod facts;
mod field;
mod ghosts;
mod knowledge;
mod ledger;
mod margins;
mod matching;
mod path_cells;
mod presence;
mod recorded;
#[cfg(feature = "files")]
pub mod recording;

pub(crate) use cured::Credit;
pub(crate) use evaluation::Evaluation;
pub(crate) use events::{
    Choice, CycleView, HostView, Nobody, Observer, Senses, Shown, StepView, deliveries_by_id,
};
pub(crate) use facts::Track;
pub(crate) use knowledge::Knowledge;
#[cfg(test)]
pub(crate) use knowledge::age_us;
pub(crate) use ledger::{Ledger, Served};
pub use margins::Margins;
pub(crate) use margins::{MOST_MARGIN_M, by_margin};
pub(crate) use path_cells::PathCells;
pub(crate) use presence::Presence;
