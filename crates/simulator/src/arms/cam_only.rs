//! Beacons only: what everyone knows without any cooperation.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "cam-only",
    summary: "beacons only, nobody reports what it sees",
    order: 10,
    look: Look::new(Paint::Ink, Shape::Cross),
    letter: Part::Plain,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::Silent,
};
