//! The buildings as sight needs them: footprints with oriented walls, and a grid to find those near a point.

use super::bearing::{greater, lesser};
use super::lookup::{CellKey, Window, cell};
use super::rule::{self, SightLine, Wall};
use crate::geometry::Point;
use crate::network::Building;

/// Side of a cell of the building grid, in metres.
const CELL: f64 = 64.0;
/// Footprints wider than this are not put into the grid but looked at always, so that no outline can fill the memory.
const WIDEST_IN_GRID: f64 = 1_000.0;
/// So are footprints that lie further out than this.
const FARTHEST_IN_GRID: f64 = 1e9;
/// Outlines with more corners are not checked for crossing themselves; they count as if they did.
const MOST_CORNERS_CHECKED: usize = 2_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Footprint {
    first_wall: u32,
    end_wall: u32,
    /// Lower left corner of the bounding box.
    pub min: Point,
    /// Upper right corner of the bounding box.
    pub max: Point,
    /// Height of the prism.
    pub height: f64,
    /// The outline does not cross itself, so its walls have an outer side: their right.
    pub simple: bool,
}

impl Footprint {
    /// The square of the distance from `p` to the bounding box.
    #[inline]
    pub(crate) fn distance_squared(&self, p: Point) -> f64 {
        distance_squared(self.min, self.max, p)
    }

    /// The bounding boxes of footprint and line have a point in common.
    #[inline]
    fn may_meet(&self, a: Point, b: Point) -> bool {
        lesser(a.x, b.x) <= self.max.x
            && greater(a.x, b.x) >= self.min.x
            && lesser(a.y, b.y) <= self.max.y
            && greater(a.y, b.y) >= self.min.y
    }

    /// The line passes the bounding box by clearly more than rounding leaves open: no wall of it can be met.
    #[inline]
    fn is_beside(&self, from: Point, along: Point) -> bool {
        const CLEARLY_M: f64 = 1e-3;
        let half = (self.max - self.min) * 0.5;
        let off = along.cross(self.min + half - from);
        let reach = along.x.abs() * half.y + along.y.abs() * half.x;
        off.abs() > reach + CLEARLY_M * (along.x.abs() + along.y.abs())
    }

    fn surrounds(&self, p: Point) -> bool {
        p.x >= self.min.x && p.x <= self.max.x && p.y >= self.min.y && p.y <= self.max.y
    }
}

#[inline]
fn distance_squared(min: Point, max: Point, p: Point) -> f64 {
    let x = greater(greater(min.x - p.x, p.x - max.x), 0.0);
    let y = greater(greater(min.y - p.y, p.y - max.y), 0.0);
    x * x + y * y
}

/// All buildings, prepared once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buildings {
    pub footprints: Vec<Footprint>,
    pub walls: Vec<Wall>,
    /// By wall: the height of its building; not a number if the outline crosses itself.
    wall_heights: Vec<f64>,
    /// Buildings that were left out because their outline or height makes no sense.
    pub skipped: usize,
    /// The cells that bounding boxes touch, ascending.
    keys: Vec<CellKey>,
    /// Where each cell's entries begin, and the end of the last.
    begin: Vec<u32>,
    /// The footprints by cell.
    entries: Vec<u32>,
    /// Footprints that are not in the grid.
    pub wide: Vec<u32>,
}

impl Buildings {
    pub(crate) fn new(buildings: &[Building]) -> Self {
        let mut result = Self::default();
        for building in buildings {
            if !result.add(building) {
                result.skipped += 1;
            }
        }
        let mut places: Vec<(CellKey, u32)> = Vec::new();
        for (index, footprint) in result.footprints.iter().enumerate() {
            let (min, max) = (footprint.min, footprint.max);
            let far = [min.x, min.y, max.x, max.y]
                .iter()
                .any(|c| c.abs() > FARTHEST_IN_GRID);
            if far || max.x - min.x > WIDEST_IN_GRID || max.y - min.y > WIDEST_IN_GRID {
                result.wide.push(index as u32);
                continue;
            }
            for iy in cell(min.y, CELL)..=cell(max.y, CELL) {
                for ix in cell(min.x, CELL)..=cell(max.x, CELL) {
                    places.push((CellKey::new(ix, iy), index as u32));
                }
            }
        }
        places.sort_unstable();
        for (key, index) in places {
            if result.keys.last() != Some(&key) {
                result.keys.push(key);
                result.begin.push(result.entries.len() as u32);
            }
            result.entries.push(index);
        }
        result.begin.push(result.entries.len() as u32);
        result
    }

    fn add(&mut self, building: &Building) -> bool {
        if building.height.is_nan()
            || building.height <= 0.0
            || !building.outline.iter().all(|p| p.is_finite())
        {
            return false;
        }
        let mut corners = building.outline.clone();
        corners.dedup();
        while corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if corners.len() < 3 {
            return false;
        }
        let doubled_area: f64 = (1..corners.len() - 1)
            .map(|i| (corners[i] - corners[0]).cross(corners[i + 1] - corners[0]))
            .sum();
        // Below a square millimetre there is nothing to hide behind.
        if !doubled_area.is_finite() || doubled_area.abs() < 2e-6 {
            return false;
        }
        if doubled_area < 0.0 {
            corners.reverse();
        }
        let first_wall = self.walls.len() as u32;
        for (i, &start) in corners.iter().enumerate() {
            let end = corners[(i + 1) % corners.len()];
            self.walls.push(Wall {
                start,
                along: end - start,
            });
        }
        let mut min = corners[0];
        let mut max = corners[0];
        for p in &corners {
            min = Point::new(min.x.min(p.x), min.y.min(p.y));
            max = Point::new(max.x.max(p.x), max.y.max(p.y));
        }
        let simple = is_simple(&self.walls[first_wall as usize..]);
        let height = if simple { building.height } else { f64::NAN };
        self.wall_heights.resize(self.walls.len(), height);
        self.footprints.push(Footprint {
            first_wall,
            end_wall: self.walls.len() as u32,
            min,
            max,
            height: building.height,
            simple,
        });
        true
    }

    /// The bounding box of all footprints in the grid.
    pub(crate) fn bounds(&self) -> Option<(Point, Point)> {
        let mut bounds: Option<(Point, Point)> = None;
        for (index, footprint) in self.footprints.iter().enumerate() {
            if self.wide.binary_search(&(index as u32)).is_err() {
                let (min, max) = bounds.unwrap_or((footprint.min, footprint.max));
                bounds = Some((
                    Point::new(min.x.min(footprint.min.x), min.y.min(footprint.min.y)),
                    Point::new(max.x.max(footprint.max.x), max.y.max(footprint.max.y)),
                ));
            }
        }
        bounds
    }

    /// The walls of one footprint.
    #[inline]
    pub(crate) fn walls_of(&self, footprint: &Footprint) -> &[Wall] {
        &self.walls[footprint.first_wall as usize..footprint.end_wall as usize]
    }

    /// Calls `visit` with each footprint whose bounding box lies within `range` of `p`, each once.
    pub(crate) fn near(&self, p: Point, range: f64, mut visit: impl FnMut(u32)) {
        let window = Window::around(p, range, CELL);
        let limit = range * range;
        window.runs(&self.keys, |run| {
            for place in run {
                for &index in self.in_cell(place as u32) {
                    let footprint = &self.footprints[index as usize];
                    // A footprint stands in each cell it touches: it is taken in the first of them inside the window.
                    let home = CellKey::new(
                        cell(footprint.min.x, CELL).max(window.west),
                        cell(footprint.min.y, CELL).max(window.south),
                    );
                    if self.keys[place] == home && footprint.distance_squared(p) <= limit {
                        visit(index);
                    }
                }
            }
        });
        for &index in &self.wide {
            if self.footprints[index as usize].distance_squared(p) <= limit {
                visit(index);
            }
        }
    }

    /// Calls `visit` with each occupied cell within `range` of `p` and the square of its distance.
    #[inline]
    pub(crate) fn cells_near(&self, p: Point, range: f64, mut visit: impl FnMut(u32, f64)) {
        let limit = range * range;
        Window::around(p, range, CELL).runs(&self.keys, |run| {
            for place in run {
                let (min, max) = self.square_of(place as u32);
                let distance_squared = distance_squared(min, max, p);
                if distance_squared <= limit {
                    visit(place as u32, distance_squared);
                }
            }
        });
    }

    /// The corners of a cell.
    #[inline]
    pub(crate) fn square_of(&self, place: u32) -> (Point, Point) {
        let (ix, iy) = self.keys[place as usize].cell();
        let min = Point::new(f64::from(ix) * CELL, f64::from(iy) * CELL);
        (min, min + Point::new(CELL, CELL))
    }

    /// The footprints whose bounding boxes touch a cell.
    #[inline]
    pub(crate) fn in_cell(&self, place: u32) -> &[u32] {
        let place = place as usize;
        &self.entries[self.begin[place] as usize..self.begin[place + 1] as usize]
    }

    /// The position of a footprint's first wall among all walls.
    pub(crate) fn first_wall_of(&self, footprint: &Footprint) -> u32 {
        footprint.first_wall
    }

    /// The line enters a simple footprint that is at least as high as `height` by this wall, if there is such a wall.
    #[inline]
    pub(crate) fn enters_by(&self, wall: u32, from: Point, along: Point, height: f64) -> bool {
        let wall = wall as usize;
        self.wall_heights.get(wall).is_some_and(|&h| h >= height)
            && rule::enters(from, along, &self.walls[wall])
    }

    /// The footprint holds the point.
    pub(crate) fn holds(&self, footprint: &Footprint, p: Point) -> bool {
        footprint.surrounds(p) && rule::inside(p, self.walls_of(footprint))
    }

    /// The footprint cuts the line in the plane.
    pub(crate) fn cuts(&self, index: u32, from: Point, along: Point) -> bool {
        let footprint = &self.footprints[index as usize];
        let walls = self.walls_of(footprint);
        if footprint.simple {
            let from_inside = self.holds(footprint, from);
            return rule::tall_blocks(from, along, walls, true, from_inside);
        }
        footprint.may_meet(from, from + along)
            && rule::tall_blocks(from, along, walls, false, self.holds(footprint, from))
    }

    /// The same, where most footprints are nowhere near the line.
    pub(crate) fn cuts_anywhere(&self, index: u32, from: Point, along: Point) -> bool {
        let footprint = &self.footprints[index as usize];
        !footprint.is_beside(from, along) && self.cuts(index, from, along)
    }

    /// The building blocks the line.
    pub(crate) fn blocks(&self, index: u32, line: &SightLine) -> bool {
        let footprint = &self.footprints[index as usize];
        if footprint.height >= line.from_height.max(line.to_height) {
            return self.cuts(index, line.from, line.along);
        }
        footprint.may_meet(line.from, line.from + line.along)
            && rule::low_blocks(line, self.walls_of(footprint), footprint.height)
    }
}

/// No two walls meet, other than neighbours at their common corner.
fn is_simple(walls: &[Wall]) -> bool {
    let n = walls.len();
    if n > MOST_CORNERS_CHECKED {
        return false;
    }
    for i in 0..n {
        for j in i + 1..n {
            let neighbours = j == i + 1 || (i == 0 && j == n - 1);
            if neighbours {
                let (a, b) = if j == i + 1 {
                    (&walls[i], &walls[j])
                } else {
                    (&walls[j], &walls[i])
                };
                // A spike that runs back along itself.
                if a.along.cross(b.along) == 0.0 && a.along.dot(b.along) < 0.0 {
                    return false;
                }
            } else if touches(&walls[i], &walls[j]) {
                return false;
            }
        }
    }
    true
}

fn touches(a: &Wall, b: &Wall) -> bool {
    let (s, e) = (
        a.along.cross(b.start - a.start),
        a.along.cross(b.end() - a.start),
    );
    if s == 0.0 && e == 0.0 {
        let length = a.along.dot(a.along);
        let (p, q) = (
            a.along.dot(b.start - a.start),
            a.along.dot(b.end() - a.start),
        );
        return p.max(q) >= 0.0 && p.min(q) <= length;
    }
    rule::crosses(a.start, a.along, b).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64, height: f64) -> Building {
        Building {
            outline: vec![
                Point::new(x, y),
                Point::new(x, y + side),
                Point::new(x + side, y + side),
                Point::new(x + side, y),
            ],
            height,
        }
    }

    #[test]
    fn outlines_that_make_no_sense_are_left_out() {
        let mut bad = square(0.0, 0.0, 1.0, f64::NAN);
        let mut list = vec![bad.clone()];
        bad.height = 5.0;
        bad.outline[2].x = f64::INFINITY;
        list.push(bad.clone());
        bad.outline.truncate(2);
        list.push(bad);
        list.push(square(0.0, 0.0, 1.0, 5.0));
        let buildings = Buildings::new(&list);
        assert_eq!((buildings.footprints.len(), buildings.skipped), (1, 3));
    }

    #[test]
    fn a_bow_tie_is_not_simple_and_a_square_is() {
        let mut tie = square(0.0, 0.0, 10.0, 5.0);
        tie.outline.swap(0, 1);
        tie.outline[0].y = 11.0;
        let buildings = Buildings::new(&[tie, square(20.0, 0.0, 10.0, 5.0)]);
        assert!(!buildings.footprints[0].simple);
        assert!(buildings.footprints[1].simple);
    }

    #[test]
    fn nearby_footprints_are_found_once() {
        let list: Vec<_> = (0..40)
            .flat_map(|i| (0..40).map(move |j| (i, j)))
            .map(|(i, j)| {
                square(
                    f64::from(i) * 37.0 - 700.0,
                    f64::from(j) * 41.0 - 800.0,
                    80.0,
                    9.0,
                )
            })
            .collect();
        let mut list = list;
        list.push(square(-5_000.0, -9_000.0, 9_000.0, 9.0));
        let buildings = Buildings::new(&list);
        for p in [
            Point::new(0.0, 0.0),
            Point::new(-650.0, 811.0),
            Point::new(3e9, 0.0),
        ] {
            let mut found = Vec::new();
            buildings.near(p, 150.0, |i| found.push(i));
            found.sort_unstable();
            let all: Vec<u32> = (0..list.len() as u32)
                .filter(|&i| buildings.footprints[i as usize].distance_squared(p) <= 22_500.0)
                .collect();
            assert_eq!(found, all);
        }
    }
}
