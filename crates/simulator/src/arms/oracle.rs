//! The information ceiling: everything that any participant sees, at once, for everyone.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "oracle",
    summary: "all equipped observations, lossless and instant: the information ceiling",
    order: 190,
    look: Look::new(Paint::Muted, Shape::Star),
    letter: Part::Plain,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::Oracle,
};
