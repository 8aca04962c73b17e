//! The letter's protocol with novelty as its only factor.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "conditional",
    summary: "ablation: novelty only",
    order: 70,
    look: Look::new(Paint::Navy, Shape::Pentagon),
    letter: Part::At(&[0.4]),
    beyond: Part::No,
    scored: true,
    behaviour: Behaviour::hosted(|seat| Profile::conditional_with(seat.parameters())),
};
