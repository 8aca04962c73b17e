//! What is in force in a run: every parameter and reading, once.

use covey_parameters::parameters;
use covey_protocol::Parameters;
use covey_protocol::demand::DemandOptions;
use covey_radio::ChannelParameters;
use covey_traffic::builtin::BuiltinConfig;
use serde::{Deserialize, Serialize};

use super::{GridFrame, Scenario};
use crate::classes::{Classes, TypeRule};
use crate::conduct::Conduct;
use crate::errors::Errors;
use crate::readings::{Evaluation, Senders, Sensing, SizeModel};
use crate::rivals::Rivals;
use crate::stations::Station;

/// Parameters that a run takes from elsewhere in its scenario, and where that is. They are no keys of a scenario.
pub const TAKEN: [(&str, &str); 5] = [
    (
        "channel.capacity_bytes_per_s",
        "protocol.capacity_bytes_per_s",
    ),
    ("demand.sensor_range_m", "sensing.range_m"),
    ("demand.position_error_m", "errors.position_error_m"),
    (
        "demand.velocity_error_m_per_s",
        "sensing.speed_error_m_per_s",
    ),
    ("demand.ghosts_per_s", "sensing.ghosts_per_s"),
];

parameters! {
    /// The sections of a scenario that hold parameters. In `summary.json` they stand under `readings`, as they were in force.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Readings {
        /// Where the grid of cells and tiles lies in the map: it counts from an origin, along axes turned by an azimuth.
        grid: GridFrame = GridFrame::default(), source "reading 7";
        /// The built-in traffic, and the densities of a closed SUMO population.
        traffic: BuiltinConfig = BuiltinConfig::default(), source "reading 42";
        /// What hosts and contributors go by: cycle, bounds, price, thresholds, sizes of messages.
        protocol: Parameters = Parameters::default(), source "letter";
        /// Choice by demand, for the arms that use it.
        demand: DemandOptions = DemandOptions::default(), source "design";
        /// What becomes of a message on its way: path loss, block errors, collisions, ranges.
        channel: ChannelParameters = ChannelParameters::default(), source "docs/channel.md";
        /// When everyone checks what to report, in the arms in which nobody is asked.
        senders: Senders = Senders::default(), source "reading 33";
        /// How published rivals are read, for the arms that are one.
        rivals: Rivals = Rivals::default(), source "docs/beyond-the-letter.md, rivals";
        /// How far and from where everyone sees, and what counts as seen.
        sensing: Sensing = Sensing::default(), source "letter";
        /// Errors of positions; none as a rule.
        errors: Errors = Errors::default(), source "docs/readings.md, errors of positions";
        /// Which objects count as relevant to a vehicle, and when they are evaluated.
        evaluation: Evaluation = Evaluation::default(), source "reading 1";
        /// Who is on the road, by class: radios, sensors, kind of station, size.
        classes: Classes = Classes::default(), source "design";
        /// What differs from their class for types of traffic, a section `[[types]]` each; the first whose name fits counts.
        types: Vec<TypeRule> = Vec::new(), source "design";
        /// Stations beside the road, a section `[[stations]]` each: with a radio and sensors, objects to nobody; they may host.
        stations: Vec<Station> = Vec::new(), source "scenario";
        /// How participants behave; by the rules as a rule.
        conduct: Conduct = Conduct::default(), source "reading 45";
        /// Vehicles that participate.
        penetration: f64 = 0.8, unit "share of vehicles", range above(0.0).at_most(1.0), source "letter, table I";
        /// What messages weigh.
        sizes: SizeModel = SizeModel::Tr103562, source "reading 21";
    }
}

impl Scenario {
    /// The sections as the file gives them.
    pub(crate) fn sections(&self) -> Readings {
        Readings {
            grid: self.grid,
            traffic: self.traffic.clone(),
            protocol: self.protocol.clone(),
            demand: self.demand.clone(),
            channel: self.channel.clone(),
            senders: self.senders,
            rivals: self.rivals,
            sensing: self.sensing,
            errors: self.errors,
            evaluation: self.evaluation,
            classes: self.classes.clone(),
            types: self.types.clone(),
            stations: self.stations.clone(),
            conduct: self.conduct,
            penetration: self.penetration,
            sizes: self.sizes,
        }
    }

    /// The scenario with everything settled that one section takes from another: see [`TAKEN`], and what hosts expect
    /// messages to weigh, which follows from `sizes`.
    #[must_use]
    pub fn in_force(&self) -> Self {
        let mut settled = self.clone();
        if settled.sizes == SizeModel::Uper {
            super::estimates::estimate_encoded(&mut settled.protocol);
        }
        settled.classes = settled.classes.settled();
        settled.channel.capacity_bytes_per_s = settled.protocol.capacity_bytes_per_s;
        settled.demand.sensor_range_m = settled.sensing.range_m;
        // Stations tell how well they know where they are, and how well their sensors see.
        let sensing = &settled.sensing;
        settled.demand.position_error_m = settled
            .errors
            .position_error_m
            .hypot(sensing.position_deviation_m());
        settled.demand.velocity_error_m_per_s = sensing.velocity_deviation();
        settled.demand.ghosts_per_s = sensing.ghosts_per_s;
        settled
    }

    /// Every parameter and reading in force.
    #[must_use]
    pub fn readings(&self) -> Readings {
        self.in_force().sections()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_from_elsewhere_is_what_stands_there() {
        let scenario = Scenario::parse(
            "x.toml",
            "map.net = \"a\"\nprotocol.capacity_bytes_per_s = 5e5\nsensing.range_m = 80\nerrors.position_error_m = 2\n\
             sensing.speed_error_m_per_s = 0.5\n",
        )
        .unwrap();
        let readings = scenario.readings();
        let mut values = std::collections::BTreeMap::new();
        readings.each(&mut |key, _, value| {
            values.insert(key.to_string(), value);
        });
        for (key, from) in TAKEN {
            assert_eq!(values[key], values[from], "{key}");
            assert_ne!(values[key].number(), Some(242_000.0), "{key}");
        }
    }

    #[test]
    fn hosts_expect_what_encoded_messages_weigh() {
        let given = Scenario::parse("x.toml", "map.net = \"a\"\nsizes = \"uper\"\n").unwrap();
        let readings = given.readings();
        assert_ne!(readings.protocol.object_bytes, given.protocol.object_bytes);
        assert_eq!(given.in_force().readings(), readings);
    }

    #[test]
    fn readings_are_read_back_as_they_were_written() {
        let text = "map.net = \"a\"\n[channel.collision]\ncoefficient = 0.21\nexponent = 1.93\n\
                    [protocol.handover]\nbeyond_m = 90.0\nnearer_m = 40.0\n\
                    [[types]]\nname = \"taxi*\"\nclass = \"car\"\nradio = 1.0\nsectors_deg = [-60, 60]\n\
                    [[stations]]\nname = \"corner\"\nx_m = 7.0\ny_m = -3.0\nrange_m = 120.0\n";
        let readings = Scenario::parse("x.toml", text).unwrap().readings();
        let written = serde_json::to_string(&readings).unwrap();
        assert_eq!(
            serde_json::from_str::<Readings>(&written).unwrap(),
            readings
        );
        assert_eq!(readings.types[0].outfit.radio, Some(1.0));
        assert_eq!(readings.stations[0].range_m, Some(120.0));
    }
}
