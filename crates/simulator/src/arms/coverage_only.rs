//! The letter's protocol without its three factors: whoever sees most.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "coverage-only",
    summary: "ablation: candidates ranked by visible cells alone",
    order: 60,
    look: Look::new(Paint::Azure, Shape::Square),
    letter: Part::At(&[0.4]),
    beyond: Part::No,
    scored: true,
    behaviour: Behaviour::hosted(|seat| Profile::coverage_only_with(seat.parameters())),
};
