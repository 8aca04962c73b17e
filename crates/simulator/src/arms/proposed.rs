//! The letter's protocol.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "proposed",
    summary: "the letter's protocol: conditional coverage, risk and timeliness against a price",
    order: 90,
    look: Look::new(Paint::Blue, Shape::Circle),
    letter: Part::At(&[0.2, 0.4, 0.8]),
    beyond: Part::No,
    scored: true,
    behaviour: Behaviour::hosted(|seat| Profile::letter_with(seat.parameters())),
};
