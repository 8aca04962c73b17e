//! The readings that only the evaluation needs: what participants sense, what is relevant, what messages weigh.

use covey_parameters::{choices, choices_by_name, parameters};
use covey_radio::{ChannelModel, ChannelParameters};
use covey_world::paths::{ReactionDeadline, RelativeSpeed, RelevanceParameters, RelevanceRule};
use covey_world::sight::{CellRule, ObjectRule, SensorHeight, SightOptions};
use serde::{Deserialize, Serialize};

parameters! {
    /// Sensors.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Sensing {
        /// How far a sensor sees.
        range_m: f64 = 150.0, unit "m", range at_least(0.0).at_most(1_000.0), source "letter, table I; TR 103 562";
        /// How high it sits above the roof.
        above_roof_m: f64 = 0.1, unit "m", range at_least(0.0).at_most(100.0), source "reading 5";
        /// How high it sits above the ground, whatever the vehicle; takes the place of `above_roof_m`.
        above_ground_m: Option<f64> = None, unit "m", range at_least(0.0).at_most(100.0), source "reading 5";
        /// When an object counts as seen.
        object: ObjectPoints = ObjectPoints::Centre, source "reading 5";
        /// When a cell counts as seen.
        cell: CellPoints = CellPoints::Centre, source "reading 6";
        /// Height of a cell's points above the ground.
        cell_height_m: f64 = 0.5, unit "m", range at_least(0.0).at_most(100.0), source "reading 6";
        /// Objects in sight that a sensor misses all the same.
        missed: f64 = 0.0, unit "share", range at_least(0.0).at_most(1.0), source "docs/sensing.md";
        /// Objects that it misses besides at the end of its range; at half the range, half as many.
        missed_far: f64 = 0.0, unit "share", range at_least(0.0).at_most(1.0), source "docs/sensing.md";
        /// Objects that it misses besides of which no corner shows; where two of four show, half as many.
        missed_hidden: f64 = 0.0, unit "share", range at_least(0.0).at_most(1.0), source "docs/sensing.md";
        /// For how long it misses an object, once it does; 0: at every look anew.
        missed_for_s: f64 = 0.0, unit "s", range at_least(0.0).at_most(60.0), source "docs/sensing.md";
        /// Objects a sensor begins to see that are not there.
        ghosts_per_s: f64 = 0.0, unit "per s and sensor", range at_least(0.0).at_most(5.0), source "docs/sensing.md";
        /// For how long it sees each.
        ghost_life_s: f64 = 1.0, unit "s", range at_least(0.05).at_most(60.0), source "docs/sensing.md";
        /// Standard deviation of where it sees an object, per axis, new with every look; besides `errors.object_error_m`.
        position_error_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(20.0), source "docs/sensing.md";
        /// Standard deviation of how fast it sees it go, new with every look.
        speed_error_m_per_s: f64 = 0.0, unit "m/s", range at_least(0.0).at_most(20.0), source "docs/sensing.md";
        /// Standard deviation of which way it sees it go, new with every look.
        heading_error_deg: f64 = 0.0, unit "°", range at_least(0.0).at_most(90.0), source "docs/sensing.md";
        /// Standard deviation, over sensors, of an error of position that a sensor always makes, per axis of its vehicle.
        position_bias_m: f64 = 0.0, unit "m", range at_least(0.0).at_most(20.0), source "docs/sensing.md";
        /// The same of speed.
        speed_bias_m_per_s: f64 = 0.0, unit "m/s", range at_least(0.0).at_most(20.0), source "docs/sensing.md";
        /// The same of heading.
        heading_bias_deg: f64 = 0.0, unit "°", range at_least(0.0).at_most(90.0), source "docs/sensing.md";
        /// How long after a look what it saw is at hand: at the first look that is so much later.
        latency_s: f64 = 0.0, unit "s", range at_least(0.0).at_most(1.0), source "docs/sensing.md";
    }
}

choices! {
    /// Which points of an object have to be seen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ObjectPoints {
        /// Its centre, at half its height.
        Centre = "centre",
        /// At least one corner.
        AnyCorner = "any-corner",
        /// All corners.
        AllCorners = "all-corners",
    }
}

choices! {
    /// Which points of a cell have to be seen.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CellPoints {
        /// Its centre, at `cell_height_m`.
        Centre = "centre",
        /// The centre and all four corners.
        Strict = "strict",
    }
}

impl Sensing {
    /// How high sensors sit.
    pub(crate) fn height(&self) -> SensorHeight {
        match self.above_ground_m {
            Some(height) => SensorHeight::AboveGround(height),
            None => SensorHeight::AboveRoof(self.above_roof_m),
        }
    }

    /// The options of sight, with links as far as the channel reaches.
    #[must_use]
    pub fn options(&self, channel: &ChannelParameters) -> SightOptions {
        let longest = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        // Slot by slot, links that do not deliver interfere.
        let reaches = |range_m| match channel.model {
            ChannelModel::Load => range_m,
            ChannelModel::Sps => longest,
        };
        SightOptions {
            range: self.range_m,
            sensor: self.height(),
            object_rule: match self.object {
                ObjectPoints::Centre => ObjectRule::Centre,
                ObjectPoints::AnyCorner => ObjectRule::AnyCorner,
                ObjectPoints::AllCorners => ObjectRule::AllCorners,
            },
            cell_rule: match self.cell {
                CellPoints::Centre => CellRule::Centre,
                CellPoints::Strict => CellRule::Strict,
            },
            cell_height: self.cell_height_m,
            link_range: longest,
            vehicle_link_range: reaches(channel.range_nlosv_m),
            building_link_range: reaches(channel.range_nlos_m),
        }
    }
}

parameters! {
    /// What counts as decision-relevant, and how old knowledge of it may be.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Evaluation {
        /// Horizon H.
        horizon_s: f64 = 4.0, unit "s", range at_least(0.0).at_most(60.0), source "reading 1 (H)";
        /// Margin d_min; `covey calibrate` finds the one at which beacons alone miss 5.8 %.
        margin_m: f64 = 7.0, unit "m", range at_least(0.0).at_most(1_000.0), source "reading 1 (d_min)";
        /// What counts as a conflict course.
        relevance: Relevance = Relevance::Reach, source "reading 1";
        /// v_rel in the deadline.
        relative_speed: RelativeSpeedRule = RelativeSpeedRule::Difference, source "reading 2";
        /// Which senders' beacons go into the reception statistics: one in this many; 1 for all.
        sample_one_in: u32 = 16, unit "senders", range at_least(1.0), source "design: a sample is enough";
    }
}

choices! {
    /// What counts as a conflict course.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Relevance {
        /// Everything ahead and every conflict within reach.
        Reach = "reach",
        /// Only what would meet at constant speed.
        KinematicOverlap = "kinematic-overlap",
        /// Only the nearest object ahead, and crossings.
        LeaderAndCrossings = "leader-and-crossings",
    }
}

choices! {
    /// The relative speed of two vehicles.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RelativeSpeedRule {
        /// The length of the difference of their velocities.
        Difference = "difference",
        /// How fast their distance shrinks.
        Closing = "closing",
        /// The greater of both speeds.
        Maximum = "maximum",
    }
}

impl Evaluation {
    /// The parameters of relevance, with the reaction deadline of the protocol's parameters.
    #[must_use]
    pub fn relevance(&self, protocol: &covey_protocol::Parameters) -> RelevanceParameters {
        RelevanceParameters {
            horizon: self.horizon_s,
            margin: self.margin_m,
            rule: match self.relevance {
                Relevance::Reach => RelevanceRule::Reach,
                Relevance::KinematicOverlap => RelevanceRule::KinematicOverlap,
                Relevance::LeaderAndCrossings => RelevanceRule::LeaderAndCrossings,
            },
            deadline: ReactionDeadline {
                reaction_us: (protocol.reaction_s * 1e6).round() as i64,
                braking: protocol.braking_m_per_s2,
                relative_speed: match self.relative_speed {
                    RelativeSpeedRule::Difference => RelativeSpeed::default(),
                    RelativeSpeedRule::Closing => RelativeSpeed::ClosingSpeed,
                    RelativeSpeedRule::Maximum => RelativeSpeed::MaximumSpeed,
                },
            },
        }
    }
}

parameters! {
    /// When everyone checks what to report, in the arms in which nobody is asked.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct Senders {
        /// From one check to the next, T_GenCpm: whole steps of 0.05 s.
        interval_s: f64 = 0.1, unit "s", range at_least(0.05).at_most(1.0), source "TS 103 324 (T_GenCpmMin); reading 33";
        /// When in the interval.
        phase: SenderPhase = SenderPhase::Staggered, source "reading 33";
    }
}

choices! {
    /// When in the interval a sender checks what to report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SenderPhase {
        /// In a slot by its id, one of those before hosts would decide.
        Staggered = "staggered",
        /// All at once, at the beginning of the interval.
        Common = "common",
    }
}

choices! {
    /// What messages weigh.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SizeModel {
        /// 121 B + 35 B per sensor + 35 B per object; CAM 121 B. TR 103 562, the letter's.
        Tr103562 = "tr103562",
        /// Bytes of really encoded messages, GeoNetworking and BTP included.
        Uper = "uper",
    }
}

choices_by_name!(
    ObjectPoints,
    CellPoints,
    Relevance,
    RelativeSpeedRule,
    SenderPhase,
    SizeModel,
);
