//! Choice by demand: who needs what, and who can tell it for the fewest bytes.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "demand",
    summary: "hosts ask whoever can tell somebody what it needs, per byte; without @B as the channel allows",
    order: 170,
    look: Look::new(Paint::Violet, Shape::Star),
    letter: Part::No,
    beyond: Part::At(&[0.15, 0.22, 0.45]),
    scored: true,
    behaviour: Behaviour::adaptive(|seat| {
        let (mut parameters, mut options) = (seat.parameters(), seat.demand());
        if seat.adapts {
            // Between what is worth saying on an idle channel and this ceiling it finds its own way.
            options.on_road = true;
            parameters.allowance = options.ceiling(&parameters);
        }
        Profile::demand_with(parameters, options)
    }),
};
