//! Tiles by number.

use std::collections::BTreeMap;

use covey_protocol::{Position, Tile};
use covey_world::{GridFrame, Map};

use crate::ids::TileNumber;

/// The tiles that roads run through, numbered, and one number more for everywhere else.
#[derive(Debug, Clone)]
pub(crate) struct Tiles {
    tiles: Vec<Tile>,
    first: [i32; 2],
    columns: usize,
    /// Number by row and column.
    numbers: Vec<TileNumber>,
}

impl Tiles {
    pub(super) fn new(map: &Map, grid: &GridFrame, tile_m: f64) -> Self {
        let mut tiles: Vec<Tile> = Vec::new();
        for lane in &map.network.lanes {
            let length = lane.shape.length();
            let steps = (length / 20.0).ceil().clamp(1.0, 100_000.0) as usize;
            for step in 0..=steps {
                let p = grid.to_grid(lane.shape.point_at(length * step as f64 / steps as f64));
                if let Some(tile) = Tile::containing(Position::new(p.x, p.y), tile_m)
                    && tiles.last() != Some(&tile)
                {
                    tiles.push(tile);
                }
            }
        }
        tiles.sort_unstable_by_key(|tile| (tile.ty, tile.tx));
        tiles.dedup();
        let span = |value: fn(&Tile) -> i32| {
            let low = tiles.iter().map(value).min().unwrap_or(0);
            let high = tiles.iter().map(value).max().unwrap_or(0);
            (low, (high - low) as usize + 1)
        };
        let ((left, columns), (bottom, rows)) = (span(|t| t.tx), span(|t| t.ty));
        let mut numbers = vec![TileNumber(tiles.len() as u32); columns * rows];
        for (number, tile) in (0..).map(TileNumber).zip(&tiles) {
            numbers[(tile.ty - bottom) as usize * columns + (tile.tx - left) as usize] = number;
        }
        Self {
            first: [left, bottom],
            columns,
            numbers,
            tiles,
        }
    }

    /// The tile with the most lanes, by the metre; of equals the first.
    pub(super) fn most_road(map: &Map, grid: &GridFrame, tile_m: f64) -> Option<Tile> {
        let mut metres: BTreeMap<(i32, i32), f64> = BTreeMap::new();
        for lane in &map.network.lanes {
            let length = lane.shape.length();
            let steps = (length / 20.0).ceil().clamp(1.0, 100_000.0) as usize;
            for step in 0..steps {
                let at = (step as f64 + 0.5) / steps as f64;
                let p = grid.to_grid(lane.shape.point_at(length * at));
                if let Some(tile) = Tile::containing(Position::new(p.x, p.y), tile_m) {
                    *metres.entry((tile.ty, tile.tx)).or_default() += length / steps as f64;
                }
            }
        }
        let mut most: Option<((i32, i32), f64)> = None;
        for (tile, metres) in metres {
            if most.is_none_or(|(_, there)| metres > there) {
                most = Some((tile, metres));
            }
        }
        most.map(|((ty, tx), _)| Tile::new(tx, ty))
    }

    /// Those that roads run through, row by row.
    pub(super) fn with_road(&self) -> &[Tile] {
        &self.tiles
    }

    /// How many numbers there are.
    pub(crate) fn len(&self) -> usize {
        self.tiles.len() + 1
    }

    /// All numbers, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = TileNumber> + use<> {
        (0..self.len() as u32).map(TileNumber)
    }

    /// The number of a tile.
    pub(crate) fn number(&self, tile: Option<Tile>) -> TileNumber {
        let elsewhere = TileNumber(self.tiles.len() as u32);
        let Some(tile) = tile else {
            return elsewhere;
        };
        let column = i64::from(tile.tx) - i64::from(self.first[0]);
        let row = i64::from(tile.ty) - i64::from(self.first[1]);
        match (usize::try_from(column), usize::try_from(row)) {
            (Ok(column), Ok(row)) if column < self.columns => self
                .numbers
                .get(row * self.columns + column)
                .copied()
                .unwrap_or(elsewhere),
            _ => elsewhere,
        }
    }

    /// The tile of a number; none for everywhere else.
    pub(crate) fn tile(&self, number: TileNumber) -> Option<Tile> {
        self.tiles.get(number.index()).copied()
    }
}
