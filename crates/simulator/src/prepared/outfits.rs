//! What everybody on the road carries: found once for each class, type and station.

use covey_its::sizes::Sender;
use covey_world::scene::BodyKind;
use covey_world::sight::Sensor;
use covey_world::{Point, VehicleState};

use crate::classes::Class;
use crate::readings::Sensing;
use crate::scenario::Scenario;
use crate::stations::FIRST_STATION;

/// What somebody carries, and how large it is.
#[derive(Debug, Clone)]
pub(crate) struct Outfit {
    /// What it is taken for.
    kind: BodyKind,
    /// The chance that it has a radio.
    pub(crate) radio: f64,
    /// Sensors of its own, if it has a radio; none: everybody's.
    pub(crate) sensor: Option<Sensor>,
    /// The same as its messages tell them: each sector is a sensor.
    pub(crate) told: Vec<covey_its::Sensor>,
    /// What of it counts for the size of its messages.
    pub(crate) sender: Sender,
    /// What kind of station its messages say.
    pub(crate) station_type: u8,
    /// Length, width and height, where they are not the traffic's.
    size: [Option<f64>; 3],
}

/// The outfits of a scenario: of classes, then of types by class, then of stations.
#[derive(Debug, Clone)]
pub(crate) struct Outfits {
    all: Vec<Outfit>,
    stations: Vec<VehicleState>,
    /// Nobody's kind or size differs from what the traffic says.
    plain: bool,
}

const KINDS: usize = BodyKind::ALL.len();

/// A place in the list of outfits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OutfitIx(u32);

fn place(kind: BodyKind) -> usize {
    BodyKind::ALL.iter().position(|&k| k == kind).unwrap_or(0)
}

impl Outfits {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let outfit = |kind, class: &Class| {
            let bare = Outfit {
                kind,
                radio: scenario.penetration * class.radio.unwrap_or(1.0),
                sensor: None,
                told: Vec::new(),
                sender: Sender::default(),
                station_type: class.station_type.unwrap_or_default().code(),
                size: [class.length_m, class.width_m, class.height_m],
            };
            bare.with_sensor(class.sensor(&scenario.sensing), &scenario.sensing)
        };
        let classes = &scenario.classes;
        let mut all: Vec<Outfit> = BodyKind::ALL
            .iter()
            .map(|&kind| outfit(kind, &classes.of(kind)))
            .collect();
        for rule in &scenario.types {
            all.extend(BodyKind::ALL.iter().map(|&kind| {
                let (kind, class) = rule.class_of(classes, kind);
                outfit(kind, &class)
            }));
        }
        let plain = scenario.types.is_empty()
            && scenario.stations.is_empty()
            && all.iter().all(|outfit| outfit.size == [None; 3]);
        all.extend(scenario.stations.iter().map(|station| {
            let bare = Outfit {
                radio: 1.0,
                ..outfit(BodyKind::Roadside, &classes.of(BodyKind::Roadside))
            };
            bare.with_sensor(Some(station.sensor(&scenario.sensing)), &scenario.sensing)
        }));
        let stations = scenario.stations.iter().enumerate();
        Self {
            all,
            stations: stations
                .map(|(number, station)| station.state(number))
                .collect(),
            plain,
        }
    }

    pub(crate) fn get(&self, at: OutfitIx) -> &Outfit {
        &self.all[at.0 as usize]
    }

    /// How far anybody sees.
    pub(crate) fn farthest(&self, sensing: &Sensing) -> f64 {
        let own = self.all.iter().filter_map(|outfit| outfit.sensor.as_ref());
        own.fold(sensing.range_m, |farthest, own| farthest.max(own.range))
    }

    /// What everyone carries follows from its kind alone.
    pub(crate) fn are_plain(&self) -> bool {
        self.plain
    }

    /// The stations, as vehicles that do not move.
    pub(crate) fn stations(&self) -> &[VehicleState] {
        &self.stations
    }

    /// The outfit of a class.
    pub(crate) fn of_kind(&self, kind: BodyKind) -> OutfitIx {
        OutfitIx(place(kind) as u32)
    }

    /// The outfit of a station, by its number as a vehicle.
    pub(crate) fn of_station(&self, id: u32) -> OutfitIx {
        let first = self.all.len() - self.stations.len();
        OutfitIx(first as u32 + (id - FIRST_STATION))
    }

    /// The outfit of a type of a class.
    pub(crate) fn of_type(
        &self,
        scenario: &Scenario,
        kind: BodyKind,
        name: Option<&str>,
    ) -> OutfitIx {
        let rule = name.and_then(|name| scenario.types.iter().position(|rule| rule.fits(name)));
        let group = rule.map_or(0, |rule| rule + 1);
        OutfitIx((group * KINDS + place(kind)) as u32)
    }
}

/// Sensor type "several, fused" of TS 103 324.
const FUSED_SENSORS: u8 = 12;

/// Sensors as messages tell them, each sector by itself; none of whoever sees nothing.
fn told(range_m: f64, sectors: &[[f64; 2]]) -> Vec<covey_its::Sensor> {
    let range = (range_m * 10.0).round().clamp(0.0, 4_095.0) as u16;
    let sensor = |id, sector| covey_its::Sensor {
        id,
        kind: FUSED_SENSORS,
        range: Some(range),
        sector,
    };
    let round = |&[from, to]: &[f64; 2]| to - from >= std::f64::consts::TAU;
    if range == 0 {
        Vec::new()
    } else if sectors.is_empty() || sectors.iter().any(round) {
        vec![sensor(1, None)]
    } else {
        let between =
            |&[from, to]: &[f64; 2]| covey_its::Sensor::between(from.to_degrees(), to.to_degrees());
        // A message tells at most 128.
        let sectors = sectors.iter().take(128).map(between);
        (1..)
            .zip(sectors)
            .map(|(id, sector)| sensor(id, Some(sector)))
            .collect()
    }
}

impl Outfit {
    /// The same with sensors of its own, or with everybody's.
    fn with_sensor(self, own: Option<Sensor>, sensing: &Sensing) -> Self {
        let told = match &own {
            Some(own) => told(own.range, &own.sectors),
            None => told(sensing.range_m, &[]),
        };
        Self {
            sender: Sender::with(&told, self.kind == BodyKind::Roadside),
            sensor: own,
            told,
            ..self
        }
    }

    /// Gives a vehicle its kind and size; the front stays where it is.
    pub(crate) fn fit(&self, vehicle: &mut VehicleState) {
        let body = &mut vehicle.body;
        body.kind = self.kind;
        let [length, width, height] = self.size;
        if let Some(length) = length {
            let back = Point::from_heading(vehicle.heading) * ((body.length - length) * 0.5);
            vehicle.position = vehicle.position + back;
            body.length = length;
        }
        body.width = width.unwrap_or(body.width);
        body.height = height.unwrap_or(body.height);
    }
}
