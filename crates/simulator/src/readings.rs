//! The readings that only the evaluation needs: what participants sense, what is relevant, what messages weigh.

use covey_radio::ChannelParameters;
use covey_world::paths::{ReactionDeadline, RelativeSpeed, RelevanceParameters, RelevanceRule};
use covey_world::sight::{CellRule, ObjectRule, SensorHeight, SightOptions};
use serde::{Deserialize, Serialize};

/// Sensors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sensing {
    /// How far a sensor sees, in metres. Default 150; letter, table of parameters.
    pub range_m: f64,
    /// How high it sits above the roof, in metres. Default 0.1; reading 5.
    pub above_roof_m: f64,
    /// How high it sits above the ground, in metres, whatever the vehicle; takes the place of `above_roof_m`. Reading 5.
    pub above_ground_m: Option<f64>,
    /// When an object counts as seen. Default `centre`; reading 5.
    pub object: ObjectPoints,
    /// When a cell counts as seen. Default `centre`; reading 6.
    pub cell: CellPoints,
    /// Height of a cell's points above the ground, in metres. Default 0.5; reading 6.
    pub cell_height_m: f64,
}

/// Which points of an object have to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectPoints {
    /// The centre.
    #[default]
    Centre,
    /// At least one corner.
    AnyCorner,
    /// All corners.
    AllCorners,
}

/// Which points of a cell have to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellPoints {
    /// The centre.
    #[default]
    Centre,
    /// The centre and all four corners.
    Strict,
}

impl Default for Sensing {
    fn default() -> Self {
        Self {
            range_m: 150.0,
            above_roof_m: 0.1,
            above_ground_m: None,
            object: ObjectPoints::default(),
            cell: CellPoints::default(),
            cell_height_m: 0.5,
        }
    }
}

impl Sensing {
    /// The options of sight, with links as far as the channel reaches.
    #[must_use]
    pub fn options(&self, channel: &ChannelParameters) -> SightOptions {
        let longest = channel
            .range_los_m
            .max(channel.range_nlosv_m)
            .max(channel.range_nlos_m);
        SightOptions {
            range: self.range_m,
            sensor: match self.above_ground_m {
                Some(height) => SensorHeight::AboveGround(height),
                None => SensorHeight::AboveRoof(self.above_roof_m),
            },
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
            vehicle_link_range: channel.range_nlosv_m,
            building_link_range: channel.range_nlos_m,
        }
    }
}

/// What counts as decision-relevant, and how old knowledge of it may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluation {
    /// Horizon H, in seconds. Default 4; reading 1.
    pub horizon_s: f64,
    /// Margin d_min, in metres. Default 7; reading 1, calibrated by `covey calibrate`.
    pub margin_m: f64,
    /// What counts as a conflict course. Default `reach`; reading 1.
    pub relevance: Relevance,
    /// v_rel in the deadline. Default `difference`; reading 2.
    pub relative_speed: RelativeSpeedRule,
    /// Which senders' beacons go into the reception statistics: one in this many. Default 16; 1 for all.
    pub sample_one_in: u32,
}

/// What counts as a conflict course.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relevance {
    /// Everything ahead and every conflict within reach.
    #[default]
    Reach,
    /// Only what would meet at constant speed.
    KinematicOverlap,
    /// Only the nearest object ahead, and crossings.
    LeaderAndCrossings,
}

/// The relative speed of two vehicles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelativeSpeedRule {
    /// The length of the difference of their velocities.
    #[default]
    Difference,
    /// How fast their distance shrinks.
    Closing,
    /// The greater of both speeds.
    Maximum,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            horizon_s: 4.0,
            margin_m: 7.0,
            relevance: Relevance::default(),
            relative_speed: RelativeSpeedRule::default(),
            sample_one_in: 16,
        }
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

/// What messages weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizeModel {
    /// 121 B + 35 B per sensor + 35 B per object; CAM 121 B. TR 103 562, the letter's.
    #[default]
    Tr103562,
    /// Bytes of really encoded messages, GeoNetworking and BTP included.
    Uper,
}
