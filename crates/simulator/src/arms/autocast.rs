//! AutoCast (Qiu et al., MobiSys 2022, arXiv 2112.14947): a head ranks who casts which object, by receivers per byte.

use covey_protocol::Profile;

use super::{Behaviour, Look, Paint, Part, Shape, Strategy};
use crate::stack::policies::AutoCast;

/// What tables, help and runs know of it.
pub static ARM: Strategy = Strategy {
    name: "autocast",
    summary: "hosts rank who casts what by the receivers it is hidden from on their ways, per byte",
    order: 142,
    look: Look::new(Paint::Russet, Shape::Diamond),
    letter: Part::No,
    beyond: Part::No,
    scored: false,
    behaviour: Behaviour::hosted(|seat| {
        let (reading, options) = (seat.prepared.scenario.rivals.autocast, seat.demand());
        Profile::demanding(seat.parameters(), seat.demand(), move || {
            AutoCast::new(reading, options.clone())
        })
    }),
};
