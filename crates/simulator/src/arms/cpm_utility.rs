//! Collective perception with objects chosen by utility under a size limit.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::SenderRules;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "cpm-utility",
    summary: "TS 103 324 with objects chosen by utility under a size limit",
    order: 110,
    look: Look::new(Paint::Umber, Shape::Hexagon),
    letter: Part::No,
    beyond: Part::Plain,
    scored: false,
    behaviour: Behaviour::Senders(SenderRules::Utility),
};
