//! Loads by tile, from the table of cycles: the mean over all tiles hides those that are full (reading 7).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::tables::typed;
use crate::text_table::TextTable;

/// Sums of one arm and tile.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    cycles: u64,
    load: f64,
    busy: f64,
    over: u64,
}

/// Sums by tile column and row.
type ByTile = BTreeMap<(i64, i64), Sums>;

/// The tiles of every arm.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tiles {
    /// In the order of the table.
    arms: Vec<(String, ByTile)>,
}

impl Tiles {
    /// Reads the table of cycles.
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        let mut tiles = Self::default();
        let columns = ["arm", "tile_x", "tile_y", "occupancy", "busy"];
        typed::read(file, &columns, |row| {
            let (Some(arm), Some(x), Some(y), Some(load), Some(busy)) = (
                row[0].text(),
                row[1].number(),
                row[2].number(),
                row[3].number(),
                row[4].number(),
            ) else {
                return;
            };
            tiles.add(arm, (x as i64, y as i64), load, busy);
        })?;
        Ok(tiles)
    }

    fn add(&mut self, arm: &str, tile: (i64, i64), load: f64, busy: f64) {
        // Rows of an arm come together, so the last is mostly the one.
        let at = match self.arms.iter().rposition(|(name, _)| name == arm) {
            Some(at) => at,
            None => {
                self.arms.push((arm.to_string(), ByTile::new()));
                self.arms.len() - 1
            }
        };
        let sums = self.arms[at].1.entry(tile).or_default();
        sums.cycles += 1;
        sums.load += load;
        sums.busy += busy;
        sums.over += u64::from(busy > 1.0);
    }

    /// A row per arm.
    pub(crate) fn markdown(&self) -> String {
        let mut table = TextTable::new(&[
            "arm",
            "#tiles",
            "#load: least tile",
            "#median tile",
            "#fullest tile",
            "#all bytes: least tile",
            "#median tile",
            "#fullest tile",
            "#tile-cycles over capacity, %",
        ]);
        for (arm, tiles) in &self.arms {
            let spread = |of: fn(&Sums) -> f64| {
                let mut means: Vec<f64> = tiles
                    .values()
                    .map(|sums| of(sums) / sums.cycles.max(1) as f64)
                    .collect();
                means.sort_by(f64::total_cmp);
                let n = means.len();
                let median = (means[(n - 1) / 2] + means[n / 2]) / 2.0;
                [means[0], median, means[n - 1]].map(|x| format!("{x:.3}"))
            };
            let cycles: u64 = tiles.values().map(|sums| sums.cycles).sum();
            let over: u64 = tiles.values().map(|sums| sums.over).sum();
            let mut row = vec![arm.clone(), tiles.len().to_string()];
            row.extend(spread(|sums| sums.load));
            row.extend(spread(|sums| sums.busy));
            row.push(format!("{:.1}", 100.0 * over as f64 / cycles.max(1) as f64));
            table.row(row);
        }
        table.markdown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_told_apart_and_full_ones_counted() {
        let mut tiles = Tiles::default();
        for (tile, load, busy) in [
            ((0, 0), 0.1, 0.8),
            ((0, 0), 0.3, 1.2),
            ((1, 0), 0.5, 0.9),
            ((2, -1), 0.0, 0.1),
        ] {
            tiles.add("proposed@0.4", tile, load, busy);
        }
        tiles.add("cam-only", (0, 0), 0.0, 0.6);
        let text = tiles.markdown();
        assert!(
            text.contains(
                "| proposed@0.4 | 3 | 0.000 | 0.200 | 0.500 | 0.100 | 0.900 | 1.000 | 25.0 |"
            ),
            "{text}"
        );
        assert!(text.contains("| cam-only | 1 | 0.000 | 0.000 | 0.000 | 0.600 |"));
    }
}
