//! Participants that do not play by the rules.
//!
//! A share of the participants misbehaves, drawn by address, whatever the arm. Misbehaviour concerns what a host believes of
//! those it may ask; in office, and on the road, they do as everyone does. Sender-side arms ask nobody and see no difference,
//! nor does the omniscient yardstick.

use covey_protocol::{Cell, Position};
use covey_radio::draw::{Draws, Purpose};
use serde::{Deserialize, Serialize};

use crate::shared::Shared;

/// Draws of who misbehaves.
const CONDUCT: Purpose = Purpose::custom(3);

/// How participants behave.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conduct {
    /// Share of participants that misbehave. Default 0.
    pub misbehaving: f64,
    /// What they do. Default `claim-views`.
    pub misbehaviour: Misbehaviour,
}

/// What a misbehaving participant does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misbehaviour {
    /// It claims views that it does not have: its digest marks every cell within its sensor's range, and when it is asked it
    /// sends reports without any object. Policies that predict views without digests believe in its sight lines, as they do
    /// with everyone.
    #[default]
    ClaimViews,
    /// It is silent when it is named; its digest is true.
    Silent,
}

impl Conduct {
    /// Vehicle `id` misbehaves, if it participates.
    pub(crate) fn misbehaves(&self, seed: u64, id: u32) -> bool {
        self.misbehaving > 0.0
            && Draws::new(seed, CONDUCT, 0, 0).at(id, 0).uniform() < self.misbehaving
    }
}

impl Shared<'_> {
    /// What the vehicle at a place does wrong, if anything.
    pub(crate) fn misbehaviour(&self, slot: u32) -> Option<Misbehaviour> {
        let conduct = &self.prepared.scenario.conduct;
        conduct
            .misbehaves(self.seed, self.slots.id(slot))
            .then_some(conduct.misbehaviour)
    }

    /// The cells that the digest of a place marks.
    pub(crate) fn claimed_cells(&self, slot: u32) -> Vec<Cell> {
        if self.misbehaviour(slot) != Some(Misbehaviour::ClaimViews) {
            return self.cells.of(slot).to_vec();
        }
        let scenario = &self.prepared.scenario;
        let here = self.moment(slot, self.sensed_step).state.position;
        cells_within(here, scenario.sensing.range_m, scenario.protocol.cell_m)
    }
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

    #[test]
    fn the_share_that_misbehaves_is_drawn_once_and_for_all() {
        let conduct = |misbehaving| Conduct {
            misbehaving,
            ..Conduct::default()
        };
        let count = |share, seed| {
            (0..10_000)
                .filter(|&id| conduct(share).misbehaves(seed, id))
                .count()
        };
        assert_eq!((count(0.0, 1), count(1.0, 1)), (0, 10_000));
        assert!((400..600).contains(&count(0.05, 1)));
        // Who misbehaves at a share still does at a larger one; another seed has others.
        let at = |share, seed| (0..1_000).filter(move |&id| conduct(share).misbehaves(seed, id));
        assert!(at(0.05, 1).all(|id| conduct(0.2).misbehaves(1, id)));
        assert!(at(0.05, 1).ne(at(0.05, 2)));
    }
}
