//! Age of information: ask whoever was silent longest.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::{Order, Ordered};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "max-age",
    summary: "hosts ask whose last report is oldest",
    order: 130,
    look: Look::new(Paint::Crimson, Shape::Square),
    letter: Part::No,
    beyond: Part::At(&[0.2]),
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        Profile::new(seat.without_digests(), || Ordered::new(Order::OldestReport))
    }),
};
