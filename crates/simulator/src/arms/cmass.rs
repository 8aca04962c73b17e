//! C-MASS (arXiv 2407.00412): budgeted maximum coverage with exploration.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::MaximumCoverage;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "cmass",
    summary: "hosts choose by budgeted maximum coverage with exploration",
    order: 140,
    look: Look::new(Paint::Brick, Shape::Hexagon),
    letter: Part::No,
    beyond: Part::At(&[0.2, 0.4]),
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        Profile::new(seat.without_digests(), MaximumCoverage::default)
    }),
};
