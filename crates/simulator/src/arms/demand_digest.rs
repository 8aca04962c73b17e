//! Choice by demand that believes digests instead of its own map's sight lines.

use covey_protocol::Profile;
use covey_protocol::demand::{DemandOptions, Views};

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "demand-digest",
    summary: "choice by demand with views from digests, not sight lines",
    order: 160,
    look: Look::new(Paint::Indigo, Shape::Square),
    letter: Part::No,
    beyond: Part::At(&[0.22]),
    scored: true,
    behaviour: Behaviour::hosted(|seat| {
        let options = DemandOptions {
            views: Views::Digests,
            ..seat.demand()
        };
        Profile::demand_with(seat.parameters(), options)
    }),
};
