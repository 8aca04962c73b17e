//! Collective perception over two hops (Wolff, Xhoxhi, Tautz, IV 2024, arXiv 2404.07761).

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "multihop",
    summary: "TS 103 324, and everyone forwards what it was told and does not see, two hops at most",
    order: 112,
    look: Look::new(Paint::Bronze, Shape::TriangleUp),
    letter: Part::No,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::MultiHop,
};
