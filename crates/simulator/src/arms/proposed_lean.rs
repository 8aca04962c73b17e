//! The letter's protocol with leaner messages: silent objects only, digests at 2 Hz.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "proposed-lean",
    summary: "the letter's protocol, reports of silent objects only, digests at 2 Hz",
    order: 100,
    look: Look::new(Paint::Cornflower, Shape::Pentagon),
    letter: Part::No,
    beyond: Part::At(&[0.2, 0.4]),
    scored: false,
    behaviour: Behaviour::hosted(|seat| Profile::lean_with(seat.parameters())),
};
