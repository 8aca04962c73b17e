//! Random admission with a fresh set every cycle: random choice at its best.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::RandomChoice;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "random-redraw",
    summary: "hosts draw a fresh random set every cycle within the allowance",
    order: 50,
    look: Look::new(Paint::Rose, Shape::TriangleDown),
    letter: Part::At(&[0.2, 0.4, 0.8]),
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        let seed = seat.seed;
        Profile::new(seat.without_quota(), move || RandomChoice::redrawing(seed))
    }),
};
