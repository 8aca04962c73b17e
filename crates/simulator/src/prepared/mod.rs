//! What a scenario needs once, whatever the seed and the arms.

mod georeference;
mod outfits;
mod road_map;
mod tiles;

use std::sync::Arc;

use covey_protocol::Tile;
use covey_radio::{Blockage, Channel, ChannelParameters, LinkKind};
use covey_world::network::Building;
use covey_world::paths::{
    ConflictTable, LaneMatchParameters, LaneMatcher, Predictor, RiskPrior, RiskPriorParameters,
};
use covey_world::{GridFrame, Map, Point, Sight, Warnings};

use crate::scenario::{Scenario, ScenarioError};
use crate::sensing::Gate;

pub use georeference::MapReference;
pub(crate) use georeference::size_of;
pub(crate) use outfits::{Outfit, OutfitIx, Outfits};
pub(crate) use road_map::{CarriedMap, Remembering};
pub(crate) use tiles::Tiles;

/// A scenario ready to run: its map, prepared for sight, paths and links. Immutable; threads share it.
#[derive(Debug)]
pub struct Prepared {
    /// As read from its file, `[calibrated]` in force.
    pub scenario: Scenario,
    /// Roads and buildings, in the plane of the SUMO network.
    pub map: Arc<Map>,
    /// What was odd about the map's files.
    pub warnings: Warnings,
    pub(crate) grid: GridFrame,
    pub(crate) azimuth: f64,
    pub(crate) outfits: Outfits,
    pub(crate) sight: Arc<Sight>,
    pub(crate) carried: Arc<CarriedMap>,
    pub(crate) predictor: Arc<Predictor>,
    pub(crate) conflicts: Arc<ConflictTable>,
    pub(crate) channel: Channel,
    pub(crate) mean_errors: Arc<MeanErrors>,
    /// How near a known state must be to an object to be one of it, where there are errors.
    pub(crate) gate: Option<Gate>,
    pub(crate) timeline: Timeline,
    pub(crate) tiles: Tiles,
}

/// Steps of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// Steps in a cycle.
    pub(crate) cycle: u32,
    /// The step of a cycle at which hosts decide and the metric looks.
    pub(crate) decision: u32,
    /// Steps from one beacon, and from one sensing, to the next.
    pub(crate) beacon: u32,
    /// Steps after which knowledge is forgotten.
    pub(crate) soft_state: u32,
    /// Steps from one check of a sender to the next.
    pub(crate) senders: u32,
}

/// Steps of vehicle states that are remembered.
pub(crate) const RING: usize = 64;
/// Seconds of a step.
pub(crate) const STEP_S: f64 = covey_traffic::STEP_US as f64 * 1e-6;

impl Timeline {
    fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let p = &scenario.protocol;
        let whole = |field: &str, seconds: f64, least: f64| {
            let steps = (seconds / STEP_S).round();
            if (steps * STEP_S - seconds).abs() < 1e-9 && steps >= least {
                Ok(steps as u32)
            } else {
                Err(ScenarioError::Value {
                    file: scenario.name.clone(),
                    problem: format!(
                        "{field}: found {seconds}, expected whole steps of {STEP_S} s, at least {least}"
                    ),
                })
            }
        };
        let steps =
            |field: &str, seconds, least| whole(&format!("protocol.{field}"), seconds, least);
        let timeline = Self {
            cycle: steps("cycle_s", p.cycle_s, 2.0)?,
            decision: steps("decision_phase_s", p.decision_phase_s, 1.0)?,
            beacon: steps("beacon_s", p.beacon_s, 1.0)?,
            soft_state: steps("soft_state_s", p.soft_state_s, 1.0)?,
            senders: whole("senders.interval_s", scenario.senders.interval_s, 1.0)?,
        };
        steps("slot_s", p.slot_s, 1.0)?;
        if timeline.soft_state as usize >= RING {
            return Err(ScenarioError::Value {
                file: scenario.name.clone(),
                problem: format!(
                    "protocol.soft_state_s: found {}, expected at most {} s in a simulation",
                    p.soft_state_s,
                    (RING - 1) as f64 * STEP_S
                ),
            });
        }
        Ok(timeline)
    }
}

impl Prepared {
    /// Reads the scenario's map and prepares it.
    ///
    /// # Errors
    /// A file cannot be read or is broken, or times are no whole steps.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let (map, warnings) = scenario.read_map()?;
        let mut prepared = Self::with_map(scenario, map)?;
        prepared.warnings = warnings;
        Ok(prepared)
    }

    /// Prepares a map that is in memory already.
    ///
    /// # Errors
    /// Times are no whole steps, or the grid is senseless.
    pub fn with_map(scenario: &Scenario, map: Map) -> Result<Self, ScenarioError> {
        Self::on(scenario, &Arc::new(map), None)
    }

    /// The tile with the most road: where there is most to decide.
    #[must_use]
    pub fn tile_with_most_road(&self) -> Option<Tile> {
        Tiles::most_road(&self.map, &self.grid, self.scenario.protocol.tile_m)
    }

    /// The tiles that roads run through, row by row.
    #[must_use]
    pub fn tiles_with_road(&self) -> &[Tile] {
        self.tiles.with_road()
    }

    /// Prepares a scenario like this one, which has the same map: what both would compute alike is shared.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn like(&self, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let files = |scenario: &Scenario| (scenario.net(), scenario.buildings());
        if files(scenario) != files(&self.scenario) {
            return Self::new(scenario);
        }
        let mut prepared = Self::on(scenario, &self.map, Some(self))?;
        prepared.warnings = self.warnings.clone();
        Ok(prepared)
    }

    /// Prepares a scenario on the roads of this one, among other buildings: what does not depend on them is shared.
    ///
    /// # Errors
    /// As [`Self::with_map`].
    pub fn among(
        &self,
        scenario: &Scenario,
        buildings: Vec<Building>,
    ) -> Result<Self, ScenarioError> {
        let network = self.map.network.clone();
        let map = Arc::new(Map { network, buildings });
        Self::on(scenario, &map, Some(self))
    }

    /// Prepares a scenario on a map, of which `other` may have something already; both have the same roads.
    fn on(
        scenario: &Scenario,
        map: &Arc<Map>,
        other: Option<&Self>,
    ) -> Result<Self, ScenarioError> {
        let name = scenario.name.clone();
        let value = |problem: String| ScenarioError::Value {
            file: name.clone(),
            problem,
        };
        let scenario = &scenario.in_force();
        let timeline = Timeline::new(scenario)?;
        let azimuth = scenario.grid.azimuth_deg.to_radians();
        let origin = Point::new(scenario.grid.origin_x_m, scenario.grid.origin_y_m);
        let grid = GridFrame::new(origin, azimuth, scenario.protocol.cell_m)
            .ok_or_else(|| value("grid: not a grid".to_string()))?;
        let channel = Channel::new(scenario.channel.clone())
            .map_err(|error| value(format!("channel.{error}")))?;
        let options = scenario.sensing.options(channel.parameters());
        let same_sight =
            |other: &&Self| Arc::ptr_eq(&other.map, map) && *other.sight.options() == options;
        let sight = match other.filter(same_sight) {
            Some(other) => Arc::clone(&other.sight),
            None => Arc::new(Sight::new(&map.buildings, options)),
        };
        let (carried, conflicts) = Self::carry(scenario, map, &sight, grid, other);
        let mean_errors = match other.filter(|other| MeanErrors::agree(&other.channel, &channel)) {
            Some(other) => Arc::clone(&other.mean_errors),
            None => Arc::new(MeanErrors::new(&channel)),
        };
        Ok(Self {
            tiles: Tiles::new(map, &grid, scenario.protocol.tile_m),
            scenario: scenario.clone(),
            map: Arc::clone(map),
            warnings: Warnings::default(),
            grid,
            azimuth,
            outfits: Outfits::new(scenario),
            sight,
            predictor: Arc::clone(&carried.predictor),
            carried: Arc::new(carried),
            conflicts,
            mean_errors,
            gate: Gate::new(&scenario.errors, &scenario.sensing),
            channel,
            timeline,
        })
    }

    /// The map that participants carry, and conflicts of its lanes.
    fn carry(
        scenario: &Scenario,
        map: &Map,
        sight: &Arc<Sight>,
        grid: GridFrame,
        other: Option<&Self>,
    ) -> (CarriedMap, Arc<ConflictTable>) {
        let (network, predictor, conflicts) = match other {
            Some(other) => (
                Arc::clone(&other.carried.network),
                Arc::clone(&other.predictor),
                Arc::clone(&other.conflicts),
            ),
            None => {
                let predictor = Arc::new(Predictor::new(&map.network));
                let conflicts = Arc::new(ConflictTable::new(&map.network, &predictor));
                (Arc::new(map.network.clone()), predictor, conflicts)
            }
        };
        let risk_prior = match other.filter(|other| other.grid == grid) {
            Some(other) => Arc::clone(&other.carried.risk_prior),
            None => Arc::new(RiskPrior::new(
                Arc::clone(&predictor),
                &conflicts,
                grid,
                RiskPriorParameters::default(),
            )),
        };
        let error_m = scenario.demand.position_error_m;
        let as_exact = |other: &&Self| other.scenario.demand.position_error_m == error_m;
        let matcher = match other.filter(as_exact) {
            Some(other) => Arc::clone(&other.carried.matcher),
            None => Arc::new(LaneMatcher::new(
                &predictor,
                LaneMatchParameters {
                    // Positions may be off the road by their errors; the nearest lane counts in any case.
                    max_distance: 3.0 + 2.0 * error_m,
                    ..LaneMatchParameters::default()
                },
            )),
        };
        let carried = CarriedMap {
            grid,
            azimuth: scenario.grid.azimuth_deg.to_radians(),
            network,
            predictor,
            matcher,
            sight: Some(Arc::clone(sight)),
            risk_prior,
        };
        (carried, conflicts)
    }
}

/// Block errors averaged over shadowing and blockage, where they hardly matter.
///
/// On clear and vehicle-blocked links of the default channel noise loses about one block in a thousand at any distance in
/// range. Following the fading of such a pair from step to step would cost far more than all else and change nothing that
/// could be seen, so links whose mean block error is below [`NEGLIGIBLE`] take the mean. All others fade.
#[derive(Debug, Clone)]
pub(crate) struct MeanErrors {
    /// By kind and distance.
    tables: [Vec<f32>; 3],
}

/// Mean block error below which a link takes the mean instead of fading.
pub(crate) const NEGLIGIBLE: f64 = 0.003;
/// Distance between two entries, m.
const SPACING_M: f64 = 25.0;

impl MeanErrors {
    /// Two channels have the same mean errors: they differ in nothing, or in what becomes of messages beside noise.
    fn agree(one: &Channel, other: &Channel) -> bool {
        let (one, other) = (one.parameters(), other.parameters());
        let same_air = ChannelParameters {
            collision: other.collision,
            busy_ratio: other.busy_ratio,
            subframes_per_s: other.subframes_per_s,
            capacity_bytes_per_s: other.capacity_bytes_per_s,
            model: other.model,
            sidelink: other.sidelink.clone(),
            hard_cap: other.hard_cap,
            ..one.clone()
        };
        same_air == *other
    }

    fn new(channel: &Channel) -> Self {
        let p = channel.parameters();
        let table = |kind, case, range: f64| {
            let entries = (range / SPACING_M).ceil() as usize + 1;
            (0..=entries)
                .map(|at| {
                    channel.mean_block_error((at as f64 * SPACING_M).max(1.0), kind, case) as f32
                })
                .collect()
        };
        Self {
            tables: [
                table(LinkKind::Los, Blockage::Clear, p.range_los_m),
                table(LinkKind::NlosV, Blockage::Partial, p.range_nlosv_m),
                table(LinkKind::NlosV, Blockage::Full, p.range_nlosv_m),
            ],
        }
    }

    /// The mean block error, where it is negligible.
    #[inline]
    pub(crate) fn of(&self, case: Option<Blockage>, distance_m: f64) -> Option<f64> {
        let table = match case {
            None | Some(Blockage::Clear) => &self.tables[0],
            Some(Blockage::Partial) => &self.tables[1],
            Some(Blockage::Full) => &self.tables[2],
        };
        let at = distance_m / SPACING_M;
        let below = at as usize;
        let &[near, far] = table.get(below..)?.first_chunk()?;
        let weight = at - below as f64;
        let error = f64::from(near) * (1.0 - weight) + f64::from(far) * weight;
        (error < NEGLIGIBLE).then_some(error)
    }
}
