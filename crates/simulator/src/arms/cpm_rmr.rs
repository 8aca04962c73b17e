//! Collective perception with redundancy mitigation: what others told lately is left out.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::SenderRules;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "cpm-rmr",
    summary: "the same with the redundancy mitigation of TR 103 562",
    order: 30,
    look: Look::new(Paint::Pine, Shape::Square),
    letter: Part::Plain,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::Senders(SenderRules::Mitigation),
};
