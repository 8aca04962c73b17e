//! The host rule: who hosts a tile.
//!
//! The incumbent stays while it is in the tile. Otherwise the participating agent nearest the tile's centre hosts, by
//! beaconed positions, the lower id on a tie. It is a function of what was heard, so all who heard the same agree; nothing
//! is handed over.

use core::cmp::Ordering;

use crate::grid::{Position, Tile};
use crate::ids::AgentId;
use crate::parameters::Handover;
use crate::time::Duration;

/// Who hosts `tile`, of side `tile_m` metres, given where agents are; none where no agent is inside.
#[must_use]
pub fn elect(
    tile: Tile,
    tile_m: f64,
    incumbent: Option<AgentId>,
    agents: impl IntoIterator<Item = (AgentId, Position)>,
) -> Option<AgentId> {
    let centre = tile.centre(tile_m);
    let mut nearest: Option<(f64, AgentId)> = None;
    for (id, position) in agents {
        if Tile::containing(position, tile_m) != Some(tile) {
            continue;
        }
        if incumbent == Some(id) {
            return incumbent;
        }
        let offered = (position.distance(centre), id);
        if nearest.is_none_or(|held| closer(offered, held)) {
            nearest = Some(offered);
        }
    }
    nearest.map(|(_, id)| id)
}

/// Who hosts `tile`, as [`elect`], but an incumbent far from the centre hands over to the nearest where `handover` says so.
#[must_use]
pub fn elect_or_hand_over(
    tile: Tile,
    tile_m: f64,
    handover: Option<Handover>,
    incumbent: Option<AgentId>,
    agents: impl IntoIterator<Item = (AgentId, Position)> + Clone,
) -> Option<AgentId> {
    let elected = elect(tile, tile_m, incumbent, agents.clone())?;
    if let Some(handover) = handover
        && incumbent == Some(elected)
    {
        let mut here = agents.clone().into_iter();
        let position = here.find(|&(id, _)| id == elected)?.1;
        let nearest = elect(tile, tile_m, None, agents.clone())?;
        let mut all = agents.into_iter();
        let rival = all.find(|&(id, _)| id == nearest)?.1;
        if gives_way(tile, tile_m, handover, position, rival) {
            return Some(nearest);
        }
    }
    Some(elected)
}

/// A host of `tile` at `position` hands over to an agent at `rival`.
#[must_use]
pub fn gives_way(
    tile: Tile,
    tile_m: f64,
    handover: Handover,
    position: Position,
    rival: Position,
) -> bool {
    let centre = tile.centre(tile_m);
    let off = position.distance(centre);
    Tile::containing(rival, tile_m) == Some(tile)
        && off > handover.beyond_m
        && rival.distance(centre) <= off - handover.nearer_m
}

/// How many of `agents` are nearer the centre of `tile` than agent `own` at `position`, and inside it.
#[must_use]
pub fn nearer(
    tile: Tile,
    tile_m: f64,
    own: AgentId,
    position: Position,
    agents: impl IntoIterator<Item = (AgentId, Position)>,
) -> usize {
    let centre = tile.centre(tile_m);
    agents
        .into_iter()
        .filter(|&(id, _)| id != own)
        .filter(|&(_, at)| Tile::containing(at, tile_m) == Some(tile))
        .filter(|&(id, at)| closer((at.distance(centre), id), (position.distance(centre), own)))
        .count()
}

/// A host in office, as another host of the same tile sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// Who.
    pub host: AgentId,
    /// How long it has been in office.
    pub tenure: Duration,
    /// Where it is.
    pub position: Position,
}

/// Of two hosts of one tile, `a` stays: longer tenure first, then nearer the centre, then lower id.
#[must_use]
pub fn stays(tile: Tile, tile_m: f64, a: &Claim, b: &Claim) -> bool {
    match a.tenure.cmp(&b.tenure) {
        Ordering::Greater => true,
        Ordering::Less => false,
        Ordering::Equal => {
            let centre = tile.centre(tile_m);
            closer(
                (a.position.distance(centre), a.host),
                (b.position.distance(centre), b.host),
            )
        }
    }
}

/// Nearer, or as near with a lower id. A total order even for positions that are not numbers.
fn closer(a: (f64, AgentId), b: (f64, AgentId)) -> bool {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)) == Ordering::Less
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: Tile = Tile::new(0, 0);

    fn at(id: u64, x: f64, y: f64) -> (AgentId, Position) {
        (AgentId(id), Position::new(x, y))
    }

    #[test]
    fn the_nearest_to_the_centre_hosts_and_the_incumbent_stays() {
        let agents = [at(1, 10.0, 10.0), at(2, 260.0, 240.0), at(3, 900.0, 250.0)];
        assert_eq!(elect(TILE, 500.0, None, agents), Some(AgentId(2)));
        assert_eq!(
            elect(TILE, 500.0, Some(AgentId(1)), agents),
            Some(AgentId(1))
        );
        // The incumbent has left the tile, or is not heard at all.
        assert_eq!(
            elect(TILE, 500.0, Some(AgentId(3)), agents),
            Some(AgentId(2))
        );
        assert_eq!(
            elect(TILE, 500.0, Some(AgentId(9)), agents),
            Some(AgentId(2))
        );
        assert_eq!(elect(TILE, 500.0, None, [at(3, 900.0, 250.0)]), None);
    }

    #[test]
    fn a_host_far_off_hands_over_only_to_one_much_nearer() {
        let elect = |agents: [(AgentId, Position); 2]| {
            elect_or_hand_over(TILE, 500.0, Some(Handover::USUAL), Some(AgentId(1)), agents)
        };
        let far = at(1, 400.0, 250.0); // 150 m off
        assert_eq!(elect([far, at(2, 340.0, 250.0)]), Some(AgentId(2)));
        assert_eq!(elect([far, at(2, 360.0, 250.0)]), Some(AgentId(1)));
        assert_eq!(
            elect([at(1, 345.0, 250.0), at(2, 250.0, 250.0)]),
            Some(AgentId(1)),
            "95 m is near enough"
        );
        assert_eq!(elect([at(1, 510.0, 250.0), far]), Some(AgentId(1)));
    }

    #[test]
    fn ties_go_to_the_lower_id_in_any_order() {
        let a = at(7, 240.0, 250.0);
        let b = at(4, 260.0, 250.0);
        assert_eq!(elect(TILE, 500.0, None, [a, b]), Some(AgentId(4)));
        assert_eq!(elect(TILE, 500.0, None, [b, a]), Some(AgentId(4)));
    }

    #[test]
    fn exactly_one_of_two_hosts_stays() {
        let claim = |id, ms, x| Claim {
            host: AgentId(id),
            tenure: Duration::from_millis(ms),
            position: Position::new(x, 250.0),
        };
        for (a, b) in [
            (claim(1, 400, 0.0), claim(2, 200, 250.0)),
            (claim(1, 200, 0.0), claim(2, 200, 250.0)),
            (claim(1, 200, 240.0), claim(2, 200, 260.0)),
            (claim(1, 200, f64::NAN), claim(2, 200, 260.0)),
        ] {
            assert_ne!(stays(TILE, 500.0, &a, &b), stays(TILE, 500.0, &b, &a));
        }
        assert!(stays(
            TILE,
            500.0,
            &claim(2, 400, 0.0),
            &claim(1, 200, 250.0)
        ));
    }
}
