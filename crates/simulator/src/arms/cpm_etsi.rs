//! Collective perception as TS 103 324 has it: everyone reports what changed.

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::SenderRules;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "cpm-etsi",
    summary: "everyone reports by the rules of TS 103 324, no redundancy mitigation",
    order: 20,
    look: Look::new(Paint::Ochre, Shape::Diamond),
    letter: Part::Plain,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::Senders(SenderRules::Generation),
};
