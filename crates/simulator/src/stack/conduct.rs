//! What misbehaving participants do.

use covey_protocol::{Cell, Position};

use crate::conduct::Misbehaviour;
use crate::ids::Slot;
use crate::world::World;

/// What the vehicle at a place does wrong, if anything.
pub(super) fn misbehaviour(world: &World<'_>, slot: Slot) -> Option<Misbehaviour> {
    let conduct = &world.prepared.scenario.conduct;
    conduct
        .misbehaves(world.seed, world.road.id(slot))
        .then_some(conduct.misbehaviour)
}

/// The cells that the digest of a place marks.
pub(super) fn claimed_cells(world: &World<'_>, slot: Slot) -> Vec<Cell> {
    if misbehaviour(world, slot) != Some(Misbehaviour::ClaimViews) {
        return world.sights.cells.of(slot).to_vec();
    }
    let scenario = &world.prepared.scenario;
    let here = world.road.moment(slot, world.sights.step).state.position;
    cells_within(here, scenario.sensing.range_m, scenario.protocol.cell_m)
}

/// All cells whose centre is within `range` of a position.
fn cells_within(here: Position, range: f64, cell_m: f64) -> Vec<Cell> {
    let corner = |d: f64| Cell::containing(Position::new(here.x + d, here.y + d), cell_m);
    let (Some(low), Some(high)) = (corner(-range), corner(range)) else {
        return Vec::new();
    };
    let mut cells = Vec::new();
    for iy in low.iy..=high.iy {
        for ix in low.ix..=high.ix {
            let centre = Position::new(
                (f64::from(ix) + 0.5) * cell_m,
                (f64::from(iy) + 0.5) * cell_m,
            );
            if centre.distance(here) <= range {
                cells.push(Cell { ix, iy });
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cells_in_range_are_claimed() {
        let cells = cells_within(Position::new(10.0, 10.0), 150.0, 20.0);
        // A circle of 150 m has 177 times the area of a cell.
        assert!((170..=184).contains(&cells.len()), "{}", cells.len());
        assert!(cells.contains(&Cell { ix: 0, iy: 0 }));
        assert!(cells.contains(&Cell { ix: 7, iy: 0 }));
        assert!(!cells.contains(&Cell { ix: 8, iy: 0 }));
        assert!(cells_within(Position::new(f64::NAN, 0.0), 150.0, 20.0).is_empty());
    }
}
