//! Coverage summaries and requests (SRA-CP, Liu et al. 2025, arXiv 2511.17461).

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "requests",
    summary: "whoever has a risky blind zone asks those whose coverage summaries hold it",
    order: 144,
    look: Look::new(Paint::Royal, Shape::Hexagon),
    letter: Part::No,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::Requests,
};
