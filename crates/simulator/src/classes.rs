//! Who is on the road: by class, who has a radio, with which sensors, as what kind of station, how large.
//!
//! Classes are those of [`BodyKind`]. SUMO's types have theirs by `vClass`, recorded ones by their type or its name
//! (`covey_traffic::recorded::body`); a [`TypeRule`] says otherwise for types by name. Whoever has no radio is still there: it
//! blocks sight, is seen, and can be relevant to others.

use std::collections::BTreeMap;

use covey_parameters::{
    Field, Key, Kind, OutOfRange, Parameter, choices, choices_by_name, parameters,
};
use covey_world::scene::BodyKind;
use covey_world::sight::{Sensor, SensorHeight};
use serde::{Deserialize, Serialize};

use crate::readings::Sensing;

choices! {
    /// What kind of station a message says its sender is (ETSI TS 102 894-2, StationType).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StationType {
        /// Not said.
        Unknown = "unknown",
        /// A person on foot.
        Pedestrian = "pedestrian",
        /// A bicycle.
        Cyclist = "cyclist",
        /// A moped.
        Moped = "moped",
        /// A motorcycle.
        Motorcycle = "motorcycle",
        /// A passenger car.
        PassengerCar = "passengerCar",
        /// A bus.
        Bus = "bus",
        /// A truck up to 3.5 t.
        LightTruck = "lightTruck",
        /// A heavier truck.
        HeavyTruck = "heavyTruck",
        /// A trailer.
        Trailer = "trailer",
        /// A vehicle at work: police, road works.
        SpecialVehicle = "specialVehicle",
        /// A tram.
        Tram = "tram",
        /// A station beside the road.
        RoadSideUnit = "roadSideUnit",
    }
}

impl StationType {
    /// Its number in messages.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::RoadSideUnit => 15,
            other => other as u8,
        }
    }
}

choices! {
    /// A class of road users, by the name that its section has.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ClassName {
        /// Cars, vans and whatever has no class of its own.
        Car = "car",
        /// Trucks and buses.
        Heavy = "heavy",
        /// Motorcycles and mopeds.
        TwoWheeler = "two_wheeler",
        /// Bicycles and scooters.
        Bicycle = "bicycle",
        /// Persons on foot.
        Pedestrian = "pedestrian",
        /// Trams and trains.
        Rail = "rail",
        /// Ships, aircraft, containers.
        Other = "other",
    }
}

choices_by_name!(StationType, ClassName);

impl ClassName {
    /// The bodies of the class.
    #[must_use]
    pub const fn kind(self) -> BodyKind {
        match self {
            Self::Car => BodyKind::Car,
            Self::Heavy => BodyKind::Heavy,
            Self::TwoWheeler => BodyKind::TwoWheeler,
            Self::Bicycle => BodyKind::Bicycle,
            Self::Pedestrian => BodyKind::Pedestrian,
            Self::Rail => BodyKind::Rail,
            Self::Other => BodyKind::Other,
        }
    }
}

parameters! {
    /// One class of road users. What is left out is as for everybody, or as the class has it by itself.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Class, checked by Self::pairs {
        /// How many of the class have a radio; left out: 1 for cars, heavy ones and motorcycles, 0 for all others.
        radio: Option<f64> = None, unit "share of `penetration`", range at_least(0.0).at_most(1.0), source "design";
        /// How far the sensors of those with a radio see; left out: `sensing.range_m`, and 0 for bicycles and persons, whose radios have no sensors.
        range_m: Option<f64> = None, unit "m", range at_least(0.0).at_most(1_000.0), source "design";
        /// How high these sensors sit above the roof; left out: as in `sensing`.
        above_roof_m: Option<f64> = None, unit "m", range at_least(0.0).at_most(100.0), source "design";
        /// How high they sit above the ground, in place of `above_roof_m`; left out: as in `sensing`.
        above_ground_m: Option<f64> = None, unit "m", range at_least(0.0).at_most(100.0), source "design";
        /// Where they look: pairs of directions counter-clockwise from the heading, `[-60, 60]` to the front; none: all round.
        sectors_deg: Vec<f64> = Vec::new(), unit "°", range at_least(-360.0).at_most(360.0), source "design";
        /// What kind of station its messages say; left out: passengerCar, heavyTruck, motorcycle, cyclist, pedestrian, tram, unknown by class.
        station_type: Option<StationType> = None, source "ETSI TS 102 894-2";
        /// Length of everyone in it; left out: as the traffic says.
        length_m: Option<f64> = None, unit "m", range above(0.0).at_most(400.0), source "traffic";
        /// Width of everyone in it; left out: as the traffic says.
        width_m: Option<f64> = None, unit "m", range above(0.0).at_most(20.0), source "traffic";
        /// Height of everyone in it; left out: as the traffic says.
        height_m: Option<f64> = None, unit "m", range above(0.0).at_most(50.0), source "traffic";
    }
}

impl Class {
    fn pairs(&self) -> Result<(), OutOfRange> {
        pairs(&self.sectors_deg)
    }

    /// What `self` leaves out is as in `below`.
    fn over(&self, below: &Self) -> Self {
        let height = self.above_roof_m.is_some() || self.above_ground_m.is_some();
        let heights = if height { self } else { below };
        Self {
            radio: self.radio.or(below.radio),
            range_m: self.range_m.or(below.range_m),
            above_roof_m: heights.above_roof_m,
            above_ground_m: heights.above_ground_m,
            sectors_deg: if self.sectors_deg.is_empty() {
                below.sectors_deg.clone()
            } else {
                self.sectors_deg.clone()
            },
            station_type: self.station_type.or(below.station_type),
            length_m: self.length_m.or(below.length_m),
            width_m: self.width_m.or(below.width_m),
            height_m: self.height_m.or(below.height_m),
        }
    }

    /// What a class has by itself.
    fn by_itself(kind: BodyKind) -> Self {
        let (radio, station_type) = match kind {
            BodyKind::Car => (1.0, StationType::PassengerCar),
            BodyKind::Heavy => (1.0, StationType::HeavyTruck),
            BodyKind::TwoWheeler => (1.0, StationType::Motorcycle),
            BodyKind::Bicycle => (0.0, StationType::Cyclist),
            BodyKind::Pedestrian => (0.0, StationType::Pedestrian),
            BodyKind::Rail => (0.0, StationType::Tram),
            BodyKind::Other => (0.0, StationType::Unknown),
            BodyKind::Roadside => (1.0, StationType::RoadSideUnit),
        };
        Self {
            radio: Some(radio),
            range_m: matches!(kind, BodyKind::Bicycle | BodyKind::Pedestrian).then_some(0.0),
            station_type: Some(station_type),
            ..Self::default()
        }
    }

    /// The sensors, where they are not everybody's.
    pub(crate) fn sensor(&self, sensing: &Sensing) -> Option<Sensor> {
        let height = match (self.above_ground_m, self.above_roof_m) {
            (Some(height), _) => Some(SensorHeight::AboveGround(height)),
            (None, Some(above)) => Some(SensorHeight::AboveRoof(above)),
            (None, None) => None,
        };
        if self.range_m.is_none() && height.is_none() && self.sectors_deg.is_empty() {
            return None;
        }
        Some(Sensor {
            range: self.range_m.unwrap_or(sensing.range_m),
            height: height.unwrap_or_else(|| sensing.height()),
            sectors: sectors(&self.sectors_deg),
        })
    }
}

/// Directions come in pairs.
pub(crate) fn pairs(directions: &[f64]) -> Result<(), OutOfRange> {
    if directions.len().is_multiple_of(2) {
        return Ok(());
    }
    Err(OutOfRange::new(
        "sectors_deg",
        directions.len() as f64,
        "an even number of directions, from and to",
    ))
}

/// Pairs of directions in degrees as sectors.
pub(crate) fn sectors(directions: &[f64]) -> Vec<[f64; 2]> {
    let pairs = directions.chunks_exact(2);
    pairs
        .map(|pair| [pair[0].to_radians(), pair[1].to_radians()])
        .collect()
}

parameters! {
    /// Classes of road users.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Classes {
        /// Cars, vans and whatever has no class of its own.
        car: Class = Class::default(), source "design";
        /// Trucks and buses.
        heavy: Class = Class::default(), source "design";
        /// Motorcycles and mopeds.
        two_wheeler: Class = Class::default(), source "design";
        /// Bicycles and scooters.
        bicycle: Class = Class::default(), source "design";
        /// Persons on foot.
        pedestrian: Class = Class::default(), source "design";
        /// Trams and trains.
        rail: Class = Class::default(), source "design";
        /// Ships, aircraft, containers.
        other: Class = Class::default(), source "design";
    }
}

impl Classes {
    /// The class of a body, with what it has by itself where nothing is said.
    #[must_use]
    pub fn of(&self, kind: BodyKind) -> Class {
        let given = match kind {
            BodyKind::Car => Some(&self.car),
            BodyKind::Heavy => Some(&self.heavy),
            BodyKind::TwoWheeler => Some(&self.two_wheeler),
            BodyKind::Bicycle => Some(&self.bicycle),
            BodyKind::Pedestrian => Some(&self.pedestrian),
            BodyKind::Rail => Some(&self.rail),
            BodyKind::Other => Some(&self.other),
            BodyKind::Roadside => None,
        };
        let own = Class::by_itself(kind);
        given.map_or(own.clone(), |given| given.over(&own))
    }

    /// All classes, with nothing left to what they have by themselves.
    pub(crate) fn settled(&self) -> Self {
        Self {
            car: self.of(BodyKind::Car),
            heavy: self.of(BodyKind::Heavy),
            two_wheeler: self.of(BodyKind::TwoWheeler),
            bicycle: self.of(BodyKind::Bicycle),
            pedestrian: self.of(BodyKind::Pedestrian),
            rail: self.of(BodyKind::Rail),
            other: self.of(BodyKind::Other),
        }
    }
}

/// What holds for those of a type, by its name in SUMO's files or in a recording; the first rule that fits counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Option<toml::Value>>")]
pub struct TypeRule {
    /// The type's name; with `*` at its end, all whose names begin so.
    pub name: String,
    /// The class that they are taken for; where it is left out, as the traffic says.
    pub class: Option<ClassName>,
    /// What differs from their class.
    #[serde(flatten)]
    pub outfit: Class,
}

impl TypeRule {
    /// The definitions of its keys.
    pub const FIELDS: &'static [Field] = &{
        let mut all = [Field::new(
            "name",
            Kind::Text,
            "The type's name in SUMO's files or in a recording; with `*` at its end, all whose names begin so.",
        )
        .required(); 2 + Class::FIELDS.len()];
        all[1] = Field::new(
            "class",
            Kind::Choice(ClassName::CHOICES),
            "The class that they are taken for; where it is left out, as the traffic says.",
        )
        .optional();
        let mut at = 0;
        while at < Class::FIELDS.len() {
            all[2 + at] = Class::FIELDS[at];
            at += 1;
        }
        all
    };

    /// The rule is for types of that name.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }

    /// What holds for a type that is of that class by the traffic.
    pub(crate) fn class_of(&self, classes: &Classes, kind: BodyKind) -> (BodyKind, Class) {
        let kind = self.class.map_or(kind, ClassName::kind);
        (kind, self.outfit.over(&classes.of(kind)))
    }
}

impl Parameter for TypeRule {
    const KIND: Kind = Kind::Group(Self::FIELDS);

    fn value(&self) -> covey_parameters::Value {
        covey_parameters::Value::Group
    }

    fn check(&self, key: &Key<'_>, field: &'static Field) -> Result<(), OutOfRange> {
        self.outfit.check(key, field)
    }
}

impl TryFrom<BTreeMap<String, Option<toml::Value>>> for TypeRule {
    type Error = String;

    /// What has no value is left out, as summaries write it.
    fn try_from(given: BTreeMap<String, Option<toml::Value>>) -> Result<Self, String> {
        let given = given.into_iter();
        let mut table: toml::Table = given
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        let name = table.remove("name").ok_or("missing field `name`")?;
        let class = table.remove("class").map(toml::Value::try_into);
        let outfit: Class = toml::Value::Table(table)
            .try_into()
            .map_err(|error: toml::de::Error| error.to_string())?;
        Ok(Self {
            name: name
                .as_str()
                .ok_or("name: expected text in quotes")?
                .to_string(),
            class: class
                .transpose()
                .map_err(|error: toml::de::Error| error.to_string())?,
            outfit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn scenario(text: &str) -> Scenario {
        Scenario::parse("x.toml", &format!("map.net = \"a\"\n{text}")).unwrap()
    }

    #[test]
    fn what_is_left_out_is_as_the_class_has_it() {
        let given = scenario("[classes.bicycle]\nradio = 0.5\n[classes.heavy]\nrange_m = 80\n");
        let bicycle = given.classes.of(BodyKind::Bicycle);
        assert_eq!((bicycle.radio, bicycle.range_m), (Some(0.5), Some(0.0)));
        assert_eq!(bicycle.station_type, Some(StationType::Cyclist));
        let heavy = given.classes.of(BodyKind::Heavy);
        assert_eq!((heavy.radio, heavy.range_m), (Some(1.0), Some(80.0)));
        assert!(
            given
                .classes
                .of(BodyKind::Car)
                .sensor(&given.sensing)
                .is_none()
        );
        assert_eq!(heavy.sensor(&given.sensing).unwrap().range, 80.0);
        assert_eq!(
            given.readings().classes.heavy.station_type,
            Some(StationType::HeavyTruck)
        );
        assert_eq!(StationType::Tram.code(), 11);
        assert_eq!(StationType::RoadSideUnit.code(), 15);
        assert_eq!(StationType::PassengerCar.code(), 5);
    }

    #[test]
    fn the_first_rule_that_fits_a_type_counts() {
        let given = scenario(
            "[[types]]\nname = \"taxi*\"\nradio = 1.0\nsectors_deg = [-60, 60]\n\
             [[types]]\nname = \"taxi7\"\nclass = \"bicycle\"\n[[types]]\nname = \"cargo\"\nclass = \"bicycle\"\n",
        );
        let rule = |name: &str| given.types.iter().find(|rule| rule.fits(name));
        let (kind, class) = rule("taxi7")
            .unwrap()
            .class_of(&given.classes, BodyKind::Car);
        assert_eq!((kind, class.radio), (BodyKind::Car, Some(1.0)));
        let sectors = class.sensor(&given.sensing).unwrap().sectors;
        assert!((sectors[0][1] - 60.0_f64.to_radians()).abs() < 1e-12);
        let (kind, class) = rule("cargo")
            .unwrap()
            .class_of(&given.classes, BodyKind::Car);
        assert_eq!((kind, class.radio), (BodyKind::Bicycle, Some(0.0)));
        assert!(rule("tax").is_none());
    }

    #[test]
    fn mistakes_in_lists_are_named_with_line_and_fix() {
        let error = |text: &str| {
            Scenario::parse("x.toml", &format!("map.net = \"a\"\n{text}"))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("[[types]]\nname = \"a\"\nradoi = 1.0\n"),
            "x.toml: line 4: unknown field `radoi` in `types`: did you mean `radio`?"
        );
        assert_eq!(
            error("[[types]]\nname = \"a\"\nclass = \"cars\"\n"),
            "x.toml: line 4: types.class: found \"cars\", expected \"car\", \"heavy\", \"two_wheeler\", \"bicycle\", \
             \"pedestrian\", \"rail\", \"other\""
        );
        assert_eq!(
            error("[[types]]\nname = \"a\"\nradio = 2.0\n"),
            "x.toml: types.radio: found 2, expected 0 to 1 (a share of `penetration`)"
        );
        assert_eq!(
            error("[classes.car]\nsectors_deg = [10]\n"),
            "x.toml: classes.car.sectors_deg: found 1, expected an even number of directions, from and to"
        );
        assert_eq!(
            error("[[stations]]\nname = \"a\"\nx_m = 3\n"),
            "x.toml: line 2: stations: missing field `y_m`"
        );
    }
}
