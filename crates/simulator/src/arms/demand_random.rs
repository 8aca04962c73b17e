//! Choice by demand with its choice taken away: the same content, drawn at random.

use std::sync::Arc;

use covey_protocol::Profile;
use covey_protocol::demand::Demand;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::Lottery;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "demand-random",
    summary: "the same content and bytes, but who reports is drawn at random",
    order: 150,
    look: Look::new(Paint::Ultramarine, Shape::TriangleUp),
    letter: Part::No,
    beyond: Part::At(&[0.15, 0.22]),
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        let (seed, options) = (seat.seed, seat.demand());
        Profile::demanding(seat.parameters(), seat.demand(), move || {
            Demand::new(options.clone()).at_random(Arc::new(Lottery { seed }))
        })
    }),
};
