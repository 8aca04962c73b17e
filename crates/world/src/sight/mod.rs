//! Who sees what, and what stands between two antennas.
//!
//! A sensor sits above the centre of its vehicle's roof and looks all round. It sees a point if the point lies within
//! range and the straight line to it meets no building and no third vehicle:
//!
//! - **Buildings** are upright solid prisms over their outline. **Vehicles** are upright solid boxes, turned by their
//!   heading. Everything stands on flat ground. All are closed: a line that touches one is blocked, and so is a line
//!   that begins or ends inside one. A vehicle inside a footprint therefore sees nothing, unless its sensor is above the
//!   roof.
//! - **An object** is another vehicle's box. It is seen if its centre lies within range in the plane and its
//!   [`ObjectRule`] holds. Neither the observer's box nor the object's own box blocks the line between them.
//! - **A cell** is seen if its centre lies within range in the plane and the line to it, at [`SightOptions::cell_height`],
//!   is free ([`CellRule`]). All vehicles but the observer can block it: a vehicle that stands over the cell's centre
//!   hides it, since the line has to enter that vehicle's box to get there. The observer's own box never hides anything.
//! - **A link** between two vehicles looks at the plane only: see [`LinkState`].
//!
//! A body of kind [`BodyKind::Roadside`](crate::scene::BodyKind) looks and has links; it hides nothing and is not seen.
//!
//! Vehicles whose position, heading or size is not a finite number (or whose size is not positive) see nothing, are not
//! seen, hide nothing and have no links.
//!
//! Use: [`Sight::new`] once per map, [`Sight::observe`] once per instant, then [`Observed::view`] once per sensor with a
//! [`Scratch`] of the calling thread. An [`Observed`] is immutable: any number of threads can share it, and each answer
//! depends on the vehicles and buildings alone.
//!
//! The [`plain`] module holds the same rule as plain loops; tests and benches compare against it.

mod bearing;
mod buildings;
mod cells;
mod hints;
mod horizon;
mod lanes;
mod link_table;
mod links;
mod lookup;
mod nearby;
pub mod plain;
mod prospect;
mod rule;
mod vehicles;
mod view;

use crate::network::Building;
use crate::scene::VehicleState;
use buildings::Buildings;
use prospect::Prospects;
use vehicles::{LONGEST_REACH, NOWHERE, Vehicles};

pub use link_table::LinkTable;
pub use links::Link;
pub use view::{Scratch, View};

/// Which points of an object have to be seen. Points lie at half the object's height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum ObjectRule {
    /// The centre of the box.
    #[default]
    Centre,
    /// At least one of the four corners of the footprint.
    AnyCorner,
    /// All four corners of the footprint.
    AllCorners,
}

/// Which points of a cell have to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum CellRule {
    /// Its centre alone.
    #[default]
    Centre,
    /// The centre and all four corners; only the centre has to be within range.
    Strict,
}

/// How high a sensor sits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SensorHeight {
    /// Metres above the vehicle's own roof.
    AboveRoof(f64),
    /// Metres above the ground, whatever the vehicle. (Inside its own box, which never blocks.)
    AboveGround(f64),
}

/// The sensors of one body, where they differ from everybody's.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// How far they see, in metres in the plane.
    pub range: f64,
    /// How high they sit.
    pub height: SensorHeight,
    /// Where they look: pairs of directions in radians, counter-clockwise from the heading, each from its first to its second
    /// the counter-clockwise way. None: all round.
    pub sectors: Vec<[f64; 2]>,
}

impl Sensor {
    /// It looks that way, given along and across (to the left of) the heading.
    fn faces(&self, along: f64, across: f64) -> bool {
        use std::f64::consts::TAU;
        let direction = across.atan2(along);
        self.sectors.is_empty()
            || self.sectors.iter().any(|&[from, to]| {
                to - from >= TAU
                    || (direction - from).rem_euclid(TAU) <= (to - from).rem_euclid(TAU)
            })
    }
}

/// The parameters of sight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SightOptions {
    /// How far a sensor sees, in metres in the plane. Default 150 (the letter's sensor).
    pub range: f64,
    /// How high it sits. Default 0.1 m above the roof (docs/readings.md, row 5).
    pub sensor: SensorHeight,
    /// When an object is seen. Default: its centre (docs/readings.md, row 5).
    pub object_rule: ObjectRule,
    /// When a cell is seen. Default: its centre (docs/readings.md, row 6).
    pub cell_rule: CellRule,
    /// Height above ground of the points of a cell, in metres. Default 0.5 (docs/readings.md, row 6).
    pub cell_height: f64,
    /// How far apart two antennas are linked at most, in metres in the plane. Default 500 (docs/readings.md, row 26).
    pub link_range: f64,
    /// How far apart they are linked at most if third vehicles stand in between. Default infinite: as far as
    /// [`Self::link_range`].
    pub vehicle_link_range: f64,
    /// How far apart they are linked at most if a building stands in between. Default infinite: as far as
    /// [`Self::link_range`].
    pub building_link_range: f64,
}

impl Default for SightOptions {
    fn default() -> Self {
        Self {
            range: 150.0,
            sensor: SensorHeight::AboveRoof(0.1),
            object_rule: ObjectRule::Centre,
            cell_rule: CellRule::Centre,
            cell_height: 0.5,
            link_range: 500.0,
            vehicle_link_range: f64::INFINITY,
            building_link_range: f64::INFINITY,
        }
    }
}

/// Whether one vehicle sees another, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sighting {
    /// It is seen.
    Seen,
    /// Its centre is too far away.
    OutOfRange,
    /// Buildings alone would not hide it: third vehicles do, or some of its points buildings and the rest vehicles.
    Vehicle,
    /// Buildings alone hide it, whatever vehicles stand in between.
    Building,
}

impl SightOptions {
    /// Two antennas so far apart are linked with this in between, if they are within [`Self::link_range`].
    fn links(&self, state: LinkState, distance_squared: f64) -> bool {
        let range = match state {
            LinkState::Clear => return true,
            LinkState::Vehicle { .. } => self.vehicle_link_range,
            LinkState::Building => self.building_link_range,
        };
        distance_squared <= range * range
    }

    /// Two antennas so far apart are linked only if nothing stands in between.
    fn links_only_clear(&self, distance_squared: f64) -> bool {
        let (vehicle, building) = (self.vehicle_link_range, self.building_link_range);
        distance_squared > vehicle * vehicle && distance_squared > building * building
    }
}

/// What stands between two antennas at the centres of two roofs, seen from above (TR 37.885 clause 6.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkState {
    /// Nothing.
    Clear,
    /// No building, but the footprint of at least one third vehicle.
    Vehicle {
        /// The height of the tallest of them, in metres.
        tallest: f64,
    },
    /// The footprint of a building, whatever its height.
    Building,
}

/// The buildings of a map, prepared for sight, and the parameters in force.
#[derive(Debug, Clone)]
pub struct Sight {
    buildings: Buildings,
    options: SightOptions,
    sight_prospects: Prospects,
    link_prospects: Prospects,
}

/// Buildings of this height, in metres, hide what is behind them from all but the highest sensors; lower ones are looked at
/// one by one.
const SURELY_HIGH: f64 = 4.2;

impl Sight {
    /// Prepares the buildings. Those without area, or with corners or heights that are not numbers, are left out and
    /// counted ([`Self::skipped_buildings`]).
    #[must_use]
    pub fn new(buildings: &[Building], mut options: SightOptions) -> Self {
        // A range that is negative or not a number sees nothing. (`max` takes the number.)
        options.range = options.range.max(0.0);
        options.link_range = options.link_range.max(0.0);
        options.vehicle_link_range = options.vehicle_link_range.max(0.0);
        options.building_link_range = options.building_link_range.max(0.0);
        let buildings = Buildings::new(buildings);
        // Corners of what is in range may lie beyond it.
        let centres = (ObjectRule::Centre, CellRule::Centre);
        let slack = if (options.object_rule, options.cell_rule) == centres {
            0.0
        } else {
            LONGEST_REACH
        };
        let range = options.range + slack;
        Self {
            sight_prospects: Prospects::new(&buildings, range, SURELY_HIGH, false),
            link_prospects: Prospects::new(&buildings, options.link_range, 0.0, true),
            buildings,
            options,
        }
    }

    /// The parameters in force.
    #[must_use]
    pub fn options(&self) -> &SightOptions {
        &self.options
    }

    /// How many buildings were left out.
    #[must_use]
    pub fn skipped_buildings(&self) -> usize {
        self.buildings.skipped
    }

    /// A building stands on the straight line from `a` to `b`, however low: what anybody can tell from a map.
    #[must_use]
    pub fn building_between(&self, a: crate::Point, b: crate::Point) -> bool {
        if !(a.is_finite() && b.is_finite()) {
            return false;
        }
        let along = b - a;
        let mut cut = false;
        self.buildings
            .near(a + along * 0.5, 0.5 * along.length(), |index| {
                cut = cut || self.buildings.cuts_anywhere(index, a, along);
            });
        cut
    }

    /// Prepares the vehicles of one instant. Indices of vehicles in all answers are positions in `frame`.
    #[must_use]
    pub fn observe(&self, frame: &[VehicleState]) -> Observed<'_> {
        Observed {
            sight: self,
            vehicles: Vehicles::new(frame),
        }
    }
}

/// The vehicles of one instant among the buildings.
#[derive(Debug, Clone)]
pub struct Observed<'a> {
    sight: &'a Sight,
    vehicles: Vehicles,
}

impl Observed<'_> {
    /// How many vehicles the frame has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vehicles.slot.len()
    }

    /// There is no vehicle.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vehicles.slot.is_empty()
    }

    /// What the sensor of vehicle `observer` sees.
    ///
    /// A vehicle out of the frame or without a place sees nothing.
    pub fn view<'s>(&'s self, observer: u32, scratch: &'s mut Scratch) -> View<'s> {
        View::new(self, self.slot_of(observer), None, scratch)
    }

    /// What vehicle `observer` sees with sensors of its own.
    pub fn view_with<'s>(
        &'s self,
        observer: u32,
        sensor: &'s Sensor,
        scratch: &'s mut Scratch,
    ) -> View<'s> {
        View::new(self, self.slot_of(observer), Some(sensor), scratch)
    }

    /// Whether vehicle `observer` sees vehicle `object`, and if not, why. It agrees with [`View::objects`].
    ///
    /// One pair is looked at by itself: to know all that a sensor sees, use [`Self::view`]. A vehicle out of the frame or
    /// without a place is out of range, and so is a vehicle to itself.
    #[must_use]
    pub fn hidden_by(&self, observer: u32, object: u32) -> Sighting {
        self.hidden_from(observer, None, object)
    }

    /// As [`Self::hidden_by`], with sensors of the observer's own. What they do not look at is out of range.
    #[must_use]
    pub fn hidden_from(&self, observer: u32, sensor: Option<&Sensor>, object: u32) -> Sighting {
        match (self.slot_of(observer), self.slot_of(object)) {
            (Some(from), Some(to)) if from != to && !self.vehicles.looks_only[to] => {
                plain::sighting(self, from, sensor, to)
            }
            _ => Sighting::OutOfRange,
        }
    }

    fn slot_of(&self, vehicle: u32) -> Option<usize> {
        let slot = *self.vehicles.slot.get(vehicle as usize)?;
        (slot != NOWHERE).then_some(slot as usize)
    }

    /// How far the sensors at a slot see.
    fn range(&self, sensor: Option<&Sensor>) -> f64 {
        match sensor {
            Some(sensor) => sensor.range.max(0.0),
            None => self.sight.options.range,
        }
    }

    /// The sensors at a slot look towards the point `along` away.
    fn faces(&self, slot: usize, sensor: Option<&Sensor>, along: crate::Point) -> bool {
        let axis = self.vehicles.boxes[slot].axis;
        sensor.is_none_or(|sensor| sensor.faces(axis.dot(along), axis.cross(along)))
    }

    fn sensor_height(&self, slot: usize, sensor: Option<&Sensor>) -> f64 {
        match sensor.map_or(self.sight.options.sensor, |sensor| sensor.height) {
            SensorHeight::AboveRoof(above) => self.vehicles.boxes[slot].height + above,
            SensorHeight::AboveGround(height) => height,
        }
    }
}
