//! The yardstick within the same bytes: a selector that knows the truth.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "omniscient",
    summary: "yardstick: knows who misses what, who sees it and every link, same bytes",
    order: 180,
    look: Look::new(Paint::Slate, Shape::Diamond),
    letter: Part::No,
    beyond: Part::At(&[0.15, 0.22, 0.45]),
    scored: false,
    behaviour: Behaviour::Omniscient,
};
