//! Random admission that keeps its set: what the letter compares itself with.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::RandomChoice;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "random",
    summary: "hosts admit at random within the allowance and keep whom they have",
    order: 40,
    look: Look::new(Paint::Vermillion, Shape::TriangleUp),
    letter: Part::At(&[0.2, 0.4, 0.8]),
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        let seed = seat.seed;
        Profile::new(seat.parameters(), move || RandomChoice::sticking(seed))
    }),
};
