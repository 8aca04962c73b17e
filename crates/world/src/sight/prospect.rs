//! What buildings hide, as seen from anywhere in a small square.
//!
//! For each bin of bearing a prospect holds a distance below which no wall stands, whatever point of the square one looks
//! from, a distance beyond which everything is behind one wall that covers the bin, and the walls to be tested exactly
//! in between. It also knows which tiles of the map are hidden from the whole square, and which cells of a grid are not.
//!
//! It is made when the first sensor comes to a square, and kept: buildings do not move. It leaves out only tests whose
//! outcome is known with a margin, so it never changes an answer.

use super::bearing::{Borders, PAD, bearing, greater, lesser, whole_part, widest_bin};
use super::buildings::Buildings;
use super::lookup::cell;
use super::rule;
use crate::geometry::Point;
use crate::grid::GridFrame;
use std::sync::OnceLock;

/// Bins of bearing.
pub(crate) const BINS: usize = 512;
/// Side of a block of squares, in metres.
const BLOCK: f64 = 64.0;
/// Squares along the side of a block. Smaller ones know more each, but there are more of them.
const SQUARES: usize = 16;
/// Blocks of a map, at most; larger maps do without prospects.
const MOST_BLOCKS: f64 = 1e6;
/// Beyond this range, in metres, one does without prospects: they would be large.
const LONGEST_RANGE: f64 = 900.0;
/// Squares are taken wider by this on each side, far more than rounding, in metres.
const RIM: f64 = 1e-3;
/// Walls nearer to the square than this, in metres, are tested against every line.
const CLOSE: f64 = 0.01;
/// Inverse distances are widened by this share, far more than their rounding, that to single precision included.
const MARGIN: f64 = 1e-6;

/// A wall, whichever it is.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Side of a tile, in metres. Each block is cut into whole tiles.
pub(crate) const TILE: f64 = 32.0;
/// Tiles are taken wider by this on each side, so that vehicles with their centre in it lie in it, in metres.
pub(crate) const TILE_RIM: f64 = 7.0;

/// What can matter from a square.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prospect {
    /// By bin; where only what lies east counts, of the eastern bins alone.
    bounds: Box<[Bounds]>,
    /// By bin, and one more that ends the walls of the last.
    bins: Box<[Bin]>,
    /// Walls of simple footprints that are high enough and not hidden, by bin, nearest first; without the nearest of each.
    walls: Box<[FarWall]>,
    /// Footprints that are too low, cross themselves or are too wide for the grid.
    pub others: Box<[u32]>,
    /// Footprints that may hold a point of the square.
    around: Box<[u32]>,
    /// The tiles that are not hidden from the whole square.
    pub open: OpenTiles,
    min: Point,
    max: Point,
    /// The cells that are not hidden from the whole square, for the first grid that was asked about.
    cells: OnceLock<OpenCells>,
}

/// Steps of distance per metre. [`LONGEST_RANGE`] fits.
const STEPS_PER_METRE: f64 = 64.0;

/// What most lines in a bin need, and no more: prospects together are far larger than the processor's caches. In steps of
/// distance; the greatest number stands for never.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Below this no wall stands; rounded down.
    near: u16,
    /// Beyond this all is hidden; rounded up.
    cover: u16,
}

impl Bounds {
    /// From inverse distances; 0 for never.
    fn new(near: f64, cover: f64) -> Self {
        // Casts keep to the limits of the type.
        Self {
            near: (STEPS_PER_METRE / near * (1.0 - MARGIN)) as u16,
            cover: if cover > 0.0 {
                (STEPS_PER_METRE / cover * (1.0 + MARGIN)).ceil() as u16
            } else {
                u16::MAX
            },
        }
    }
}

/// A copy of a prospect's bounds. Copying waits for the memory once, many looks into prospects would wait for each.
#[derive(Debug, Clone)]
pub(crate) struct NearBounds([Bounds; BINS]);

impl Default for NearBounds {
    fn default() -> Self {
        Self([Bounds { near: 0, cover: 0 }; BINS])
    }
}

impl NearBounds {
    pub(crate) fn copy(&mut self, prospect: &Prospect) {
        self.0[..prospect.bounds.len()].copy_from_slice(&prospect.bounds);
    }
}

/// The walls of a bin.
#[derive(Debug, Clone, Copy)]
struct Bin {
    /// The nearest; no wall has this number if there is none.
    first: u32,
    /// Where the others begin.
    begin: u32,
}

/// A wall, and a distance below which it does not stand: prospects are large, so both share a number.
#[derive(Debug, Clone, Copy)]
struct FarWall(u32);

impl FarWall {
    /// Bits of a wall's number.
    const BITS: u32 = 24;
    /// Metres of a step of distance. [`LONGEST_RANGE`] fits the bits that are left.
    const STEP: f64 = 4.0;

    /// From an inverse distance; 0 for never.
    fn new(wall: u32, inverse: f64) -> Self {
        // The cast keeps to the limits of the type and rounds down.
        let near = (1.0 / (Self::STEP * inverse) * (1.0 - MARGIN)) as u8;
        Self(wall | u32::from(near) << Self::BITS)
    }

    fn wall(self) -> u32 {
        self.0 & ((1 << Self::BITS) - 1)
    }

    fn near(self) -> f64 {
        f64::from((self.0 >> Self::BITS) as u8) * Self::STEP
    }
}

/// Cells of a grid, in scan order.
#[derive(Debug, Clone)]
struct OpenCells {
    grid: GridFrame,
    cells: Box<[(i32, i32)]>,
}

/// Tiles around a square, of which some are hidden from all of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenTiles {
    /// Row and column of the first.
    pub south: i32,
    pub west: i32,
    /// By row: a bit for each column, set if the tile is not hidden.
    pub rows: Box<[u64]>,
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
    west: i32,
    south: i32,
    columns: usize,
    blocks: Vec<OnceLock<Block>>,
    borders: Borders<BINS>,
}

type Block = Box<[OnceLock<Prospect>]>;

impl Prospects {
    /// No prospect is made yet.
    pub(crate) fn new(buildings: &Buildings, range: f64, height: f64, east: bool) -> Self {
        let mut result = Self {
            range,
            height,
            east,
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
            // Tiles are numbered in 32 bits.
            let far = [min.x, min.y, max.x, max.y].iter().any(|c| c.abs() > 1e9);
            let few_walls = buildings.walls.len() <= 1 << FarWall::BITS;
            if range <= LONGEST_RANGE && columns * rows <= MOST_BLOCKS && few_walls && !far {
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
        let n = SQUARES;
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
        let corners = corners(min, max);
        let mut cover = [0.0; BINS];
        let mut glimpses = Vec::new();
        for &index in &near {
            let footprint = &buildings.footprints[index as usize];
            let first = buildings.first_wall_of(footprint);
            for (i, wall) in buildings.walls_of(footprint).iter().enumerate() {
                let Some(glimpse) = Glimpse::new(wall.start, wall.along, &corners) else {
                    continue;
                };
                glimpse.raise_cover(borders, &mut cover);
                glimpses.push((first + i as u32, glimpse));
            }
        }
        let mut nearest = [0.0; BINS];
        let mut listed: Vec<(u16, f64, u32)> = Vec::new();
        let mut ends = [0_u32; BINS];
        for (wall, glimpse) in &glimpses {
            glimpse.touch(borders, |bin, inverse| {
                if inverse >= cover[bin] {
                    nearest[bin] = greater(nearest[bin], inverse);
                    ends[bin] += 1;
                    listed.push((bin as u16, inverse, *wall));
                }
            });
        }
        let (bins, walls) = by_bin(listed, ends);
        let bounds = nearest.iter().zip(&cover);
        let mut prospect = Prospect {
            bounds: bounds.map(|(&n, &c)| Bounds::new(n, c)).collect(),
            bins: bins.into(),
            walls: walls.into(),
            others: others.into(),
            around: around.into(),
            open: OpenTiles::default(),
            min,
            max,
            cells: OnceLock::new(),
        };
        prospect.open = prospect.open_tiles(self.range, self.east);
        if self.east {
            prospect.forget_west();
        }
        prospect
    }
}

/// Walls by bin, from (bin, inverse distance, wall) and how many each bin has: the nearest of a bin in its [`Bin`], the others in one list.
fn by_bin(listed: Vec<(u16, f64, u32)>, mut ends: [u32; BINS]) -> (Vec<Bin>, Vec<FarWall>) {
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut by_bin = vec![(0.0, 0); listed.len()];
    for (bin, inverse, wall) in listed {
        let end = &mut ends[usize::from(bin)];
        by_bin[*end as usize] = (inverse, wall);
        *end += 1;
    }
    let mut bins = Vec::with_capacity(BINS + 1);
    let mut walls = Vec::with_capacity(by_bin.len());
    let mut begin = 0;
    for end in ends {
        let walls_here = &mut by_bin[begin..end as usize];
        begin = end as usize;
        // The nearest first: of the walls that block a line, it is found soonest.
        walls_here.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        bins.push(Bin {
            first: walls_here.first().map_or(u32::MAX, |&(_, wall)| wall),
            begin: walls.len() as u32,
        });
        let far = walls_here.iter().skip(1);
        walls.extend(far.map(|&(inverse, wall)| FarWall::new(wall, inverse)));
    }
    bins.push(Bin {
        first: u32::MAX,
        begin: walls.len() as u32,
    });
    (bins, walls)
}

fn corners(min: Point, max: Point) -> [Point; 4] {
    [min, Point::new(max.x, min.y), max, Point::new(min.x, max.y)]
}

/// The square of the distance between two rectangles along the axes.
fn apart_squared(a: (Point, Point), b: (Point, Point)) -> f64 {
    let x = greater(greater(a.0.x - b.1.x, b.0.x - a.1.x), 0.0);
    let y = greater(greater(a.0.y - b.1.y, b.0.y - a.1.y), 0.0);
    x * x + y * y
}

/// Bins that hold a line towards the east, from due south to due north: the first so many.
const EASTERN_BINS: usize = BINS / 2 + 1;

impl Prospect {
    /// Lines towards the west are not asked about: half of what there is need not be kept.
    fn forget_west(&mut self) {
        let walls = self.bins[EASTERN_BINS].begin as usize;
        self.bounds = self.bounds[..EASTERN_BINS].into();
        self.bins = self.bins[..=EASTERN_BINS].into();
        self.walls = self.walls[..walls].into();
    }

    /// The bin to look at for a line that lies in bin `at`. One due south may come out on either side of the border, and one
    /// without a direction anywhere.
    #[inline]
    pub(crate) fn kept_bin(&self, at: usize) -> usize {
        if at < self.bounds.len() { at } else { 0 }
    }

    /// A building that is as high as any line holds the point: nothing is seen from there.
    pub(crate) fn encloses(&self, buildings: &Buildings, from: Point) -> bool {
        let holds = |&index: &u32| buildings.holds(&buildings.footprints[index as usize], from);
        self.around.iter().any(holds)
    }

    /// A wall that stands between a point of the square and the one `along` away at `distance` in bin `at`; [`UNKNOWN`] if
    /// one does, whichever it is. `near` is a copy of this prospect's bounds.
    #[inline]
    pub(crate) fn wall_between(
        &self,
        near: &NearBounds,
        buildings: &Buildings,
        from: Point,
        along: Point,
        distance: f64,
        at: usize,
    ) -> Option<u32> {
        let bounds = near.0[at];
        let steps = distance * STEPS_PER_METRE;
        if steps < f64::from(bounds.near) {
            return None;
        }
        if steps > f64::from(bounds.cover) {
            return Some(UNKNOWN);
        }
        self.find_wall(buildings, from, along, distance, at)
    }

    fn find_wall(
        &self,
        buildings: &Buildings,
        from: Point,
        along: Point,
        distance: f64,
        at: usize,
    ) -> Option<u32> {
        let bin = &self.bins[at];
        let enters = |wall: &u32| {
            let wall = buildings.walls.get(*wall as usize);
            wall.is_some_and(|wall| rule::enters(from, along, wall))
        };
        if enters(&bin.first) {
            return Some(bin.first);
        }
        let others = &self.walls[bin.begin as usize..self.bins[at + 1].begin as usize];
        others
            .iter()
            .take_while(|wall| wall.near() <= distance)
            .map(|wall| wall.wall())
            .find(enters)
    }

    /// All points of a convex set, given by its corners and the square of its distance, are hidden from all of the square.
    fn hides(&self, corners: &[Point], distance_squared: f64) -> bool {
        if distance_squared < CLOSE * CLOSE {
            return false;
        }
        let bins = Bins::between(&self::corners(self.min, self.max), corners);
        let steps = distance_squared.sqrt() * (STEPS_PER_METRE * (1.0 - MARGIN));
        bins.all(|bin| steps > f64::from(self.bounds[bin].cover))
    }

    fn open_tiles(&self, range: f64, east: bool) -> OpenTiles {
        let reach = range + TILE_RIM;
        let bound = |x: f64| cell(x, TILE);
        let west = bound(if east {
            self.min.x - TILE_RIM
        } else {
            self.min.x - reach
        });
        let south = bound(self.min.y - reach);
        let (east, north) = (bound(self.max.x + reach), bound(self.max.y + reach));
        let rim = Point::new(TILE_RIM, TILE_RIM);
        let row = |y: i32| {
            let mut bits = 0;
            for x in west..=east {
                let low = Point::new(f64::from(x) * TILE, f64::from(y) * TILE);
                let (min, max) = (low - rim, low + Point::new(TILE, TILE) + rim);
                let distance_squared = apart_squared((min, max), (self.min, self.max));
                if distance_squared <= range * range
                    && !self.hides(&corners(min, max), distance_squared)
                {
                    bits |= 1 << (x - west);
                }
            }
            bits
        };
        OpenTiles {
            south,
            west,
            rows: (south..=north).map(row).collect(),
        }
    }

    /// The cells of a grid whose centre lies within `range` of some point of the square and is not hidden from all of it,
    /// in scan order, and perhaps a few more. None if another grid was asked about before.
    pub(crate) fn open_cells(&self, grid: &GridFrame, range: f64) -> Option<&[(i32, i32)]> {
        let open = self.cells.get_or_init(|| {
            let mut cells = Vec::new();
            let middle = (self.min + self.max) * 0.5;
            let reach = range + middle.distance(self.max);
            super::cells::cells_in_range(grid, middle, reach, |cell, along| {
                let p = middle + along;
                let distance_squared = apart_squared((p, p), (self.min, self.max));
                if !self.hides(&[p], distance_squared) {
                    cells.push(cell);
                }
            });
            OpenCells {
                grid: *grid,
                cells: cells.into(),
            }
        });
        (open.grid == *grid).then_some(&open.cells)
    }
}

/// A run of bins around the circle.
#[derive(Debug, Clone, Copy)]
struct Bins {
    first: usize,
    count: usize,
}

impl Bins {
    /// The bins of all lines from one convex set to another that does not touch it, both given by their corners.
    fn between(from: &[Point; 4], to: &[Point]) -> Self {
        let start = (from[0] + from[2]) * 0.5;
        // The lines fill less than a half circle around each one of them.
        let centre = bearing(to[0] - start);
        let (mut low, mut high) = (0.0, 0.0);
        for &p in to {
            for &q in from {
                let mut turn = bearing(p - q) - centre;
                if turn > 2.0 {
                    turn -= 4.0;
                } else if turn < -2.0 {
                    turn += 4.0;
                }
                low = lesser(low, turn);
                high = greater(high, turn);
            }
        }
        let width = high - low;
        if width.is_nan() || width > 2.0 {
            let (first, count) = (0, BINS);
            return Self { first, count };
        }
        let first = bin_onward(centre + low - PAD);
        let last = bin_onward(centre + high + PAD);
        Self {
            first,
            count: (last + 1 - first).min(BINS),
        }
    }

    fn all(self, test: impl Fn(usize) -> bool) -> bool {
        (self.first..self.first + self.count).all(|bin| test(bin % BINS))
    }
}

/// The bearings and distances of a wall, over all points of a square.
struct Glimpse {
    /// Where the wall may be seen.
    bins: Bins,
    /// The inverse of its distance at most.
    nearest: f64,
    /// What it looks like if the whole square lies well before it.
    front: Option<Front>,
}

/// A wall before which the whole square lies.
struct Front {
    /// Where it is seen from each point, and the width of that; negative if there is no such bearing.
    sure_from: f64,
    sure_width: f64,
    /// Crossed with a direction: the inverse distance at most, and at least.
    near: Point,
    far: Point,
}

/// The square of the distance of a point to a wall.
fn to_wall_squared(p: Point, start: Point, along: Point) -> f64 {
    let share = (along.dot(p - start) / along.dot(along)).clamp(0.0, 1.0);
    let away = start + along * share - p;
    away.dot(away)
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
        let end = start + along;
        let square = (corners[0], corners[2]);
        let low = Point::new(lesser(start.x, end.x), lesser(start.y, end.y));
        let high = Point::new(greater(start.x, end.x), greater(start.y, end.y));
        let before = nearest < -close;
        // A wall whose line meets the square may meet it itself.
        let mut apart = if !before && apart_squared(square, (low, high)) <= 0.0 {
            0.0
        } else {
            lesser(
                apart_squared(square, (start, start)),
                apart_squared(square, (end, end)),
            )
        };
        for &q in corners {
            apart = lesser(apart, to_wall_squared(q, start, along));
        }
        if apart.is_nan() || apart < CLOSE * CLOSE {
            return Some(Self {
                bins: Bins {
                    first: 0,
                    count: BINS,
                },
                nearest: f64::INFINITY,
                front: None,
            });
        }
        Some(Self {
            bins: Bins::between(corners, &[start, end]),
            nearest: 1.0 / apart.sqrt(),
            front: before
                .then(|| Front::new(start, along, corners, nearest, farthest))
                .flatten(),
        })
    }

    const WIDEN: f64 = (1.0 + MARGIN) / (1.0 - widest_bin(BINS) * widest_bin(BINS) / 2.0);

    /// Calls `visit` with each bin in which the wall may be seen, and its inverse distance there, at most.
    fn touch(&self, borders: &Borders<BINS>, mut visit: impl FnMut(usize, f64)) {
        for bin in self.bins.first..self.bins.first + self.bins.count {
            let at = bin % BINS;
            let inverse = match &self.front {
                Some(front) => {
                    let before = borders.0[at].cross(front.near);
                    let after = borders.0[at + 1].cross(front.near);
                    lesser(greater(before, after) * Self::WIDEN, self.nearest)
                }
                None => self.nearest,
            };
            visit(at, inverse * (1.0 + MARGIN));
        }
    }

    fn raise_cover(&self, borders: &Borders<BINS>, cover: &mut [f64; BINS]) {
        let Some(front) = self.front.as_ref().filter(|front| front.sure_width > 0.0) else {
            return;
        };
        let first = bin_onward(front.sure_from) + 1;
        let end = bin_onward(front.sure_from + front.sure_width);
        for bin in first..end {
            let at = bin % BINS;
            let before = borders.0[at].cross(front.far);
            let after = borders.0[at + 1].cross(front.far);
            cover[at] = greater(cover[at], lesser(before, after) * (1.0 - MARGIN));
        }
    }
}

impl Front {
    fn new(
        start: Point,
        along: Point,
        corners: &[Point; 4],
        nearest: f64,
        farthest: f64,
    ) -> Option<Self> {
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
        // From the end to the start is counter-clockwise.
        let ((from, from_low, from_high), (to, to_low, to_high)) =
            (seen(start + along), seen(start));
        let mut width = to - from;
        if width < 0.0 {
            width += 4.0;
        }
        let total = width - from_low + to_high;
        if total.is_nan() || total > 3.0 || from_high - from_low > 0.9 || to_high - to_low > 0.9 {
            return None;
        }
        Some(Self {
            sure_from: from + from_high,
            sure_width: width - from_high + to_low,
            near: along * (1.0 / nearest),
            far: along * (1.0 / farthest),
        })
    }
}

/// The bin of a bearing, counted on around the circle.
fn bin_onward(bearing: f64) -> usize {
    whole_part((bearing + 4.0) * (BINS as f64 / 4.0))
}
