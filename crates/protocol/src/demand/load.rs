//! How much of the channel is taken, and what is worth saying then.

use super::DemandOptions;
use super::scene::Scene;
use crate::grid::Tile;
use crate::policy::{ScopeMember, View};

/// The share of the channel that is taken: as measured, and by the beacons of those heard in the tile.
pub(super) fn taken(view: &View<'_>, scene: &Scene) -> f64 {
    let parameters = view.parameters;
    let in_tile = |member: &&ScopeMember<'_>| {
        Tile::containing(member.state.position, parameters.tile_m) == Some(view.tile)
    };
    let rate = |member: &ScopeMember<'_>| {
        let body = scene.find(member.id.into());
        let spoken = body.and_then(|body| scene.bodies()[body as usize].spoken);
        let rule = || parameters.beacon_interval_s(member.state.speed);
        1.0 / spoken.map_or_else(rule, |spoken| spoken.every_s)
    };
    let beacons: f64 = view.scope.iter().filter(in_tile).map(rate).sum();
    let taken = beacons * parameters.empty_bytes() / parameters.capacity_bytes_per_s;
    view.occupancy.unwrap_or(0.0) + taken
}

impl DemandOptions {
    /// What a pick is worth at least where so much of the channel is taken, and whether it is idle.
    pub(super) fn least_gain_at(&self, load: f64) -> (f64, bool) {
        if !self.adapts || !load.is_finite() {
            return (self.least_gain, false);
        }
        let share = (load - self.idle_load) / (self.full_load - self.idle_load);
        if share <= 0.0 {
            return (self.idle_gain.min(self.least_gain), true);
        }
        if share >= 1.0 {
            let over = (load - self.full_load) / (1.0 - self.full_load).max(1e-3);
            return (self.least_gain * (1.0 + 2.0 * over.clamp(0.0, 1.0)), false);
        }
        // From one to the other by equal factors.
        let low = self.idle_gain.min(self.least_gain).max(1e-9);
        let high = self.least_gain.max(low);
        (low * libm::pow(high / low, share), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_gain_follows_the_load() {
        let fixed = DemandOptions::default();
        assert_eq!(fixed.least_gain_at(0.0), (0.1, false));
        let adapts = DemandOptions {
            adapts: true,
            ..fixed
        };
        let at = |load| {
            let (gain, idle) = adapts.least_gain_at(load);
            ((gain * 1e4).round() / 1e4, idle)
        };
        assert_eq!([at(0.0), at(0.3)], [(0.005, true); 2]);
        // Half-way between both loads: the mean by factors.
        assert_eq!(at(0.55), (0.0224, false));
        assert_eq!(
            [at(0.8), at(1.0), at(7.0)],
            [(0.1, false), (0.3, false), (0.3, false)]
        );
        assert_eq!(at(f64::NAN), (0.1, false));
        let odd = DemandOptions {
            full_load: 0.3,
            ..adapts.clone()
        };
        assert!(odd.validate().is_err());
    }
}
