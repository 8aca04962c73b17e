//! How much of the channel is taken.

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
