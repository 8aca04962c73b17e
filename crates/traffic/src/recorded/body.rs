//! How large a recorded vehicle is: from its type.
//!
//! Floating-car data give a type's name and no sizes. Where the scenario's own files are at hand, [`VehicleTypes::read`]
//! takes the sizes from their `<vType>` elements; sizes that these leave out are SUMO's defaults for the class. Where a
//! type is not known, its name decides (case does not matter, the first rule that fits counts):
//!
//! | the name contains | body |
//! |---|---|
//! | `ped`, `person`, `walk` | pedestrian, 0.215 x 0.478 x 1.719 m (SUMO's default) |
//! | `bicycle`, `bike` (not `motorbike`), `cycl` (not `motorcycl`), `scooter` | bicycle, 1.6 x 0.65 x 1.7 m |
//! | `moped`, `motorcycl`, `motorbike` | motorcycle, 2.2 x 0.9 x 1.5 m |
//! | `tram`, `train`, `rail`, `subway` (not `trailer`) | on rails, as large as [`Body::HEAVY`] |
//! | `ship`, `boat`, `ferry`, `container` | no road user, as large as [`Body::HEAVY`] |
//! | `bus`, `coach`, `truck`, `trailer`, `lorry`, `heavy` | [`Body::HEAVY`] |
//! | anything else | [`Body::CAR`] |

use covey_world::Body;
use covey_world::scene::BodyKind;
use quick_xml::events::BytesStart;
use std::collections::BTreeMap;
use std::path::Path;

use super::elements::{attribute, visit_elements};
use super::error::FcdError;

/// A person on foot, as SUMO has it.
pub const PEDESTRIAN: Body = body(0.215, 0.478, 1.719, BodyKind::Pedestrian);
/// A bicycle and its rider, as SUMO has it.
pub const BICYCLE: Body = body(1.6, 0.65, 1.7, BodyKind::Bicycle);
/// A motorcycle and its rider, as SUMO has it.
pub const MOTORCYCLE: Body = body(2.2, 0.9, 1.5, BodyKind::TwoWheeler);

const fn body(length: f64, width: f64, height: f64, kind: BodyKind) -> Body {
    Body {
        length,
        width,
        height,
        kind,
    }
}

/// The body of a vehicle type of which only the name is known; the rules are in the [module's](self) table.
#[must_use]
pub fn body_by_name(name: &str) -> Body {
    let name = name.to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["ped", "person", "walk"]) && !has(&["moped"]) {
        PEDESTRIAN
    } else if has(&["moped", "motorcycl", "motorbike"]) {
        MOTORCYCLE
    } else if has(&["bicycle", "bike", "cycl", "scooter"]) {
        BICYCLE
    } else if has(&["tram", "train", "rail", "subway"]) && !has(&["trail"]) {
        Body {
            kind: BodyKind::Rail,
            ..Body::HEAVY
        }
    } else if has(&["ship", "boat", "ferry", "container"]) {
        Body {
            kind: BodyKind::Other,
            ..Body::HEAVY
        }
    } else if has(&["bus", "coach", "truck", "trailer", "lorry", "heavy"]) {
        Body::HEAVY
    } else {
        Body::CAR
    }
}

/// SUMO's default body for a vehicle class (as SUMO 1.28 reports them); passenger cars for classes not listed.
#[must_use]
pub fn body_by_class(class: &str) -> Body {
    use BodyKind::{Car, Heavy, Other, Rail};
    match class {
        "pedestrian" => PEDESTRIAN,
        "wheelchair" => body(1.2, 0.72, 1.2, BodyKind::Pedestrian),
        "bicycle" => BICYCLE,
        "scooter" => body(1.2, 0.5, 1.7, BodyKind::Bicycle),
        "moped" => body(2.1, 0.78, 1.7, BodyKind::TwoWheeler),
        "motorcycle" => MOTORCYCLE,
        "delivery" | "emergency" => body(6.5, 2.16, 2.86, Car),
        "truck" => body(7.1, 2.4, 2.4, Heavy),
        "trailer" => body(16.5, 2.55, 4.0, Heavy),
        "bus" => body(12.0, 2.5, 3.4, Heavy),
        "coach" => body(14.0, 2.6, 4.0, Heavy),
        "tram" | "cable_car" => body(22.0, 2.4, 3.2, Rail),
        "rail_urban" | "subway" => body(109.5, 3.0, 3.6, Rail),
        "rail" => body(135.0, 2.84, 3.75, Rail),
        "rail_electric" | "rail_fast" => body(200.0, 2.95, 3.89, Rail),
        "ship" | "aircraft" | "drone" => body(17.0, 4.0, 4.0, Other),
        "container" => body(6.096, 2.438, 2.591, Other),
        _ => body(5.0, 1.8, 1.5, Car),
    }
}

/// The vehicle types of a scenario, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VehicleTypes {
    known: BTreeMap<String, Body>,
}

impl VehicleTypes {
    /// No types known: bodies go by name alone.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// SUMO's built-in types (`DEFAULT_VEHTYPE` and its kin), which every SUMO run has.
    #[must_use]
    pub fn sumo_defaults() -> Self {
        let mut types = Self::new();
        for (name, class) in [
            ("DEFAULT_VEHTYPE", "passenger"),
            ("DEFAULT_PEDTYPE", "pedestrian"),
            ("DEFAULT_BIKETYPE", "bicycle"),
            ("DEFAULT_CONTAINERTYPE", "container"),
            ("DEFAULT_TAXITYPE", "taxi"),
            ("DEFAULT_RAILTYPE", "rail"),
        ] {
            types.set(name, body_by_class(class));
        }
        types
    }

    /// Sets the body of a type.
    pub fn set(&mut self, name: impl Into<String>, body: Body) {
        self.known.insert(name.into(), body);
    }

    /// The body of the type called `name`; by the name's parts where it is not known.
    #[must_use]
    pub fn body(&self, name: &str) -> Body {
        match self.known.get(name) {
            Some(body) => *body,
            None => body_by_name(name),
        }
    }

    /// The number of known types.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// No type is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Adds the `<vType>` elements of a SUMO route or additional file, plain or gzipped.
    ///
    /// A size that is not a positive number below 1,000 m is taken as not given.
    ///
    /// # Errors
    /// The file cannot be read or is not XML.
    pub fn read(&mut self, path: &Path) -> Result<(), FcdError> {
        visit_elements(path, |tag| self.see(tag))
    }

    /// Takes note of an element if it is a vehicle type.
    pub(crate) fn see(&mut self, tag: &BytesStart<'_>) {
        if matches!(tag.name().as_ref(), "vType" | "vtype") {
            self.add(tag);
        }
    }

    fn add(&mut self, tag: &BytesStart<'_>) {
        let Some(name) = attribute(tag, "id") else {
            return;
        };
        let class = attribute(tag, "vClass").unwrap_or_default();
        let mut body = body_by_class(&class);
        let size = |name: &str| {
            attribute(tag, name)
                .and_then(|text| text.trim().parse::<f64>().ok())
                .filter(|size| *size > 0.0 && *size < 1000.0)
        };
        if let Some(length) = size("length") {
            body.length = length;
        }
        if let Some(width) = size("width") {
            body.width = width;
        }
        if let Some(height) = size("height") {
            body.height = height;
        }
        self.set(name, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_where_nothing_is_known() {
        for (name, kind) in [
            ("passenger/sedan", BodyKind::Car),
            ("DEFAULT_VEHTYPE", BodyKind::Car),
            ("city_bus", BodyKind::Heavy),
            ("Truck7.5t", BodyKind::Heavy),
            ("tram", BodyKind::Rail),
            ("bike_fast", BodyKind::Bicycle),
            ("semitrailer", BodyKind::Heavy),
            ("ferry", BodyKind::Other),
            ("motorcycle", BodyKind::TwoWheeler),
            ("MotorBike", BodyKind::TwoWheeler),
            ("moped", BodyKind::TwoWheeler),
            ("DEFAULT_PEDTYPE", BodyKind::Pedestrian),
            ("", BodyKind::Car),
        ] {
            assert_eq!(body_by_name(name).kind, kind, "{name}");
        }
        assert_eq!(body_by_name("motorcycle"), MOTORCYCLE);
        assert_eq!(body_by_name("x"), Body::CAR);
        assert_eq!(body_by_name("lorry"), Body::HEAVY);
    }

    #[test]
    fn known_types_come_before_names() {
        let mut types = VehicleTypes::sumo_defaults();
        assert_eq!(types.body("DEFAULT_VEHTYPE").width, 1.8);
        types.set("bus_small", body(6.0, 2.0, 2.5, BodyKind::Car));
        assert_eq!(types.body("bus_small").length, 6.0);
        assert_eq!(types.body("bus_large"), Body::HEAVY);
    }
}
