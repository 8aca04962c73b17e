//! The letter's protocol with novelty and risk, without timeliness.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "conditional-risk",
    summary: "ablation: novelty and risk, without timeliness",
    order: 80,
    look: Look::new(Paint::Cobalt, Shape::Hexagon),
    letter: Part::At(&[0.4]),
    beyond: Part::No,
    scored: true,
    behaviour: Behaviour::hosted(|seat| Profile::conditional_risk_with(seat.parameters())),
};
