//! Choice by demand: who needs what, and who can tell it for the fewest bytes.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "demand",
    summary: "hosts ask whoever can tell somebody what it needs, per byte",
    order: 170,
    look: Look::new(Paint::Ink, Shape::Star),
    letter: Part::No,
    beyond: Part::At(&[0.15, 0.22, 0.45]),
    scored: true,
    behaviour: Behaviour::hosted(|seat| Profile::demand_with(seat.parameters(), seat.demand())),
};
