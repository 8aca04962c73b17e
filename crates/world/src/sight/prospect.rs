//! What of the buildings can matter from anywhere in a small square.
//!
//! From a street, most walls are hidden behind the nearest ones, wherever in a few metres one stands. A prospect lists
//! those that are not; it is made when the first sensor comes to a square, and kept. It leaves out only walls that are
//! hidden by one other wall from each point of the square, so it never changes an answer.

use super::bearing::{Borders, PAD, bearing, greater, lesser, whole_part, widest_bin};
use super::buildings::Buildings;
use super::lanes::{LANES, Lanes};
use super::lookup::cell;
use super::rule::Wall;
use crate::geometry::Point;
use std::sync::OnceLock;

/// Bins of bearing.
const BINS: usize = 512;
/// Side of a block of squares, in metres.
const BLOCK: f64 = 64.0;
/// Blocks of a map, at most; larger maps do without prospects.
const MOST_BLOCKS: f64 = 1e6;
/// Beyond this range, in metres, single precision is not enough and one does without prospects.
const LONGEST_RANGE: f64 = 1_000.0;
/// Squares are taken wider by this on each side, far more than rounding, in metres.
const RIM: f64 = 1e-3;
/// Inverse distances are widened by this share, far more than their rounding.
const MARGIN: f64 = 1e-7;

/// What can matter from a square.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prospect {
    /// Walls of simple footprints that are high enough, four by four.
    pub walls: Box<[FourWalls]>,
    /// The middle of the square.
    pub middle: Point,
    /// Footprints that are too low, cross themselves or are too wide for the grid.
    pub others: Box<[u32]>,
    /// Footprints that may hold a point of the square.
    pub around: Box<[u32]>,
}

/// Four walls, relative to the middle of the square. Lanes that are not used hold a wall that turns its back to the square.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FourWalls {
    pub start_x: Lanes,
    pub start_y: Lanes,
    pub along_x: Lanes,
    pub along_y: Lanes,
    pub wall: [u32; LANES],
}

/// The prospects of a map, by square, made on demand.
#[derive(Debug, Clone)]
pub(crate) struct Prospects {
    /// How far one looks.
    pub range: f64,
    /// Footprints of at least this height count as walls.
    pub height: f64,
    /// Only what reaches east of the square counts.
    east: bool,
    /// Squares along the side of a block.
    squares: usize,
    west: i32,
    south: i32,
    columns: usize,
    blocks: Vec<OnceLock<Block>>,
    borders: Borders<BINS>,
}

type Block = Box<[OnceLock<Prospect>]>;

impl Prospects {
    /// No prospect is made yet. Squares have a side of `BLOCK / squares`.
    pub(crate) fn new(
        buildings: &Buildings,
        range: f64,
        height: f64,
        east: bool,
        squares: usize,
    ) -> Self {
        let mut result = Self {
            range,
            height,
            east,
            squares,
            west: 0,
            south: 0,
            columns: 0,
            blocks: Vec::new(),
            borders: Borders::default(),
        };
        if let Some((min, max)) = buildings.bounds() {
            let (min, max) = (
                min - Point::new(range, range),
                max + Point::new(range, range),
            );
            let (west, south) = (cell(min.x, BLOCK), cell(min.y, BLOCK));
            let columns = f64::from(cell(max.x, BLOCK)) - f64::from(west) + 1.0;
            let rows = f64::from(cell(max.y, BLOCK)) - f64::from(south) + 1.0;
            if range <= LONGEST_RANGE && columns * rows <= MOST_BLOCKS {
                result.west = west;
                result.south = south;
                result.columns = columns as usize;
                result
                    .blocks
                    .resize_with(columns as usize * rows as usize, OnceLock::new);
            }
        }
        result
    }

    /// The prospect of the square around a point; none if the map does without.
    pub(crate) fn at(&self, buildings: &Buildings, p: Point) -> Option<&Prospect> {
        let column = i64::from(cell(p.x, BLOCK)) - i64::from(self.west);
        let row = i64::from(cell(p.y, BLOCK)) - i64::from(self.south);
        let column = usize::try_from(column).ok().filter(|&c| c < self.columns)?;
        let row = usize::try_from(row).ok()?;
        let block = self.blocks.get(row * self.columns + column)?;
        let n = self.squares;
        let block = block.get_or_init(|| (0..n * n).map(|_| OnceLock::new()).collect());
        let side = BLOCK / n as f64;
        let low = Point::new(
            f64::from(self.west + column as i32) * BLOCK,
            f64::from(self.south + row as i32) * BLOCK,
        );
        let place = |offset: f64| ((offset / side) as usize).min(n - 1);
        let (ix, iy) = (place(p.x - low.x), place(p.y - low.y));
        let square = block[iy * n + ix].get_or_init(|| {
            let min = low + Point::new(ix as f64 * side, iy as f64 * side);
            self.look(buildings, min, min + Point::new(side, side))
        });
        Some(square)
    }

    fn look(&self, buildings: &Buildings, min: Point, max: Point) -> Prospect {
        let rim = Point::new(RIM, RIM);
        let (min, max) = (min - rim, max + rim);
        let middle = (min + max) * 0.5;
        let corners = [min, Point::new(max.x, min.y), max, Point::new(min.x, max.y)];
        let mut others = Vec::new();
        let mut around = Vec::new();
        let mut near = Vec::new();
        buildings.near(middle, self.range + middle.distance(max), |index| {
            let footprint = &buildings.footprints[index as usize];
            if self.east && footprint.max.x < min.x {
            } else if !footprint.simple
                || footprint.height < self.height
                || buildings.wide.binary_search(&index).is_ok()
            {
                others.push(index);
            } else {
                near.push(index);
                if footprint.min.x <= max.x
                    && footprint.max.x >= min.x
                    && footprint.min.y <= max.y
                    && footprint.max.y >= min.y
                {
                    around.push(index);
                }
            }
        });
        others.sort_unstable();
        near.sort_unstable();

        let borders = &self.borders;
        let mut cover = [0.0; BINS];
        let mut candidates = Vec::new();
        for &index in &near {
            let footprint = &buildings.footprints[index as usize];
            let first = buildings.first_wall_of(footprint);
            for (i, wall) in buildings.walls_of(footprint).iter().enumerate() {
                let Some(glimpse) = Glimpse::new(wall.start, wall.along, &corners) else {
                    continue;
                };
                if let Glimpse::Partial(band) = &glimpse {
                    band.raise_cover(borders, &mut cover);
                }
                candidates.push((first + i as u32, glimpse));
            }
        }
        let kept: Vec<u32> = candidates
            .into_iter()
            .filter(|(_, glimpse)| match glimpse {
                Glimpse::Anywhere => true,
                Glimpse::Partial(band) => !band.is_hidden(borders, &cover),
            })
            .map(|(wall, _)| wall)
            .collect();
        let four = |four: &[u32]| {
            let wall = |lane: usize| four.get(lane).map(|&wall| &buildings.walls[wall as usize]);
            let lanes = |f: &dyn Fn(&Wall) -> f64, none: f32| {
                std::array::from_fn(|lane| wall(lane).map_or(none, |wall| f(wall) as f32))
            };
            FourWalls {
                start_x: lanes(&|wall| wall.start.x - middle.x, 0.0),
                start_y: lanes(&|wall| wall.start.y - middle.y, 1e3),
                along_x: lanes(&|wall| wall.along.x, -1.0),
                along_y: lanes(&|wall| wall.along.y, 0.0),
                wall: std::array::from_fn(|lane| four.get(lane).copied().unwrap_or(0)),
            }
        };
        Prospect {
            walls: kept.chunks(LANES).map(four).collect(),
            middle,
            others: others.into(),
            around: around.into(),
        }
    }
}

/// How a wall looks from a square.
enum Glimpse {
    /// Too close to say.
    Anywhere,
    /// In a band of bearings.
    Partial(Band),
}

/// The bearings and distances of a wall, over all points of a square.
struct Band {
    /// Where the wall may be seen, and the width of that.
    from: f64,
    width: f64,
    /// Where it is seen from each point, and the width of that; negative if there is no such bearing.
    sure_from: f64,
    sure_width: f64,
    /// Crossed with a direction: the inverse distance at most, and at least.
    near: Point,
    far: Point,
}

impl Glimpse {
    /// Nothing if the wall turns its back to the whole square.
    fn new(start: Point, along: Point, corners: &[Point; 4]) -> Option<Self> {
        let areas = corners.map(|q| (start - q).cross(along));
        let (mut nearest, mut farthest) = (areas[0], areas[0]);
        for &area in &areas[1..] {
            nearest = greater(nearest, area);
            farthest = lesser(farthest, area);
        }
        let close = 0.01 * (along.x.abs() + along.y.abs());
        if farthest > close {
            return None;
        }
        if nearest > -close || nearest.is_nan() {
            return Some(Self::Anywhere);
        }
        let end = start + along;
        let seen = |p: Point| {
            let first = bearing(p - corners[0]);
            let (mut low, mut high) = (0.0, 0.0);
            for &q in &corners[1..] {
                let mut turn = bearing(p - q) - first;
                if turn > 2.0 {
                    turn -= 4.0;
                } else if turn < -2.0 {
                    turn += 4.0;
                }
                low = lesser(low, turn);
                high = greater(high, turn);
            }
            (first, low - PAD, high + PAD)
        };
        let ((from, from_low, from_high), (to, to_low, to_high)) = (seen(end), seen(start));
        let mut width = to - from;
        if width < 0.0 {
            width += 4.0;
        }
        let total = width - from_low + to_high;
        if total.is_nan() || total > 3.0 || from_high - from_low > 0.9 || to_high - to_low > 0.9 {
            return Some(Self::Anywhere);
        }
        Some(Self::Partial(Band {
            from: from + from_low,
            width: total,
            sure_from: from + from_high,
            sure_width: width - from_high + to_low,
            near: along * (1.0 / nearest),
            far: along * (1.0 / farthest),
        }))
    }
}

/// The bin of a bearing, counted on around the circle.
fn bin_onward(bearing: f64) -> usize {
    whole_part((bearing + 4.0) * (BINS as f64 / 4.0))
}

impl Band {
    const WIDEN: f64 = (1.0 + MARGIN) / (1.0 - widest_bin(BINS) * widest_bin(BINS) / 2.0);

    fn raise_cover(&self, borders: &Borders<BINS>, cover: &mut [f64; BINS]) {
        if self.sure_width <= 0.0 {
            return;
        }
        let first = bin_onward(self.sure_from) + 1;
        let end = bin_onward(self.sure_from + self.sure_width);
        for bin in first..end {
            let at = bin % BINS;
            let (before, after) = (
                borders.0[at].cross(self.far),
                borders.0[at + 1].cross(self.far),
            );
            cover[at] = greater(cover[at], lesser(before, after) * (1.0 - MARGIN));
        }
    }

    fn is_hidden(&self, borders: &Borders<BINS>, cover: &[f64; BINS]) -> bool {
        let first = bin_onward(self.from);
        let last = bin_onward(self.from + self.width);
        (first..=last).all(|bin| {
            let at = bin % BINS;
            let (before, after) = (
                borders.0[at].cross(self.near),
                borders.0[at + 1].cross(self.near),
            );
            greater(before, after) * Self::WIDEN < cover[at]
        })
    }
}
