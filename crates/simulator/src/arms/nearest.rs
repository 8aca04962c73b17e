//! The simplest rival: ask whoever is near.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::{Order, Ordered};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "nearest",
    summary: "hosts ask whoever is nearest to them",
    order: 120,
    look: Look::new(Paint::Jade, Shape::TriangleDown),
    letter: Part::No,
    beyond: Part::At(&[0.2]),
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        Profile::new(seat.without_digests(), || Ordered::new(Order::Nearest))
    }),
};
