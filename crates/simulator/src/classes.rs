//! Who is on the road: by class, who has a radio.
//!
//! Classes are those of [`BodyKind`]. SUMO's types have theirs by `vClass`, recorded ones by their type or its name
//! (`covey_traffic::recorded::body`). Whoever has no radio is still there: it blocks sight, is seen, and can be relevant to others.

use covey_parameters::parameters;
use covey_world::scene::BodyKind;
use serde::{Deserialize, Serialize};

parameters! {
    /// One class of road users.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Class without default {
        /// How many of the class have a radio, as a share of `penetration`.
        radio: f64, unit "share of `penetration`", range at_least(0.0).at_most(1.0), source "design";
    }
}

const WITH: Class = Class { radio: 1.0 };
const WITHOUT: Class = Class { radio: 0.0 };

parameters! {
    /// Classes of road users.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Classes {
        /// Cars, vans and whatever has no class of its own.
        car: Class = WITH, source "design";
        /// Trucks and buses.
        heavy: Class = WITH, source "design";
        /// Motorcycles and mopeds.
        two_wheeler: Class = WITH, source "design";
        /// Bicycles and scooters.
        bicycle: Class = WITHOUT, source "design";
        /// Persons on foot.
        pedestrian: Class = WITHOUT, source "design";
        /// Trams and trains.
        rail: Class = WITHOUT, source "design";
        /// Ships, aircraft, containers.
        other: Class = WITHOUT, source "design";
    }
}

impl Classes {
    /// The class of a body.
    #[must_use]
    pub const fn of(&self, kind: BodyKind) -> Class {
        match kind {
            BodyKind::Car => self.car,
            BodyKind::Heavy => self.heavy,
            BodyKind::TwoWheeler => self.two_wheeler,
            BodyKind::Bicycle => self.bicycle,
            BodyKind::Pedestrian => self.pedestrian,
            BodyKind::Rail => self.rail,
            BodyKind::Other => self.other,
        }
    }
}
