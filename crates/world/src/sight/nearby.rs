//! The vehicles around one point, and which of them a line from there may touch.
//!
//! Vehicles are compared with the line several at a time, in single precision and with a margin for its rounding: what is left
//! out does not touch the line, and few of those that are not do not.

use super::bearing::{lesser, whole_part};
use super::rule::UprightBox;
use crate::geometry::Point;
use wide::f32x4;

/// Distances are allowed to be off by this share of the longest: several times what single precision makes of them.
const ROUNDING: f64 = 1e-6;
/// Beyond this, in metres, single precision is not asked.
const FARTHEST: f64 = 1e12;
/// Steps of distance.
const LEVELS: usize = 32;
/// Vehicles that are compared with a line at a time.
const LANES: usize = 4;

/// What a line needs to know of a box, apart from where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    /// Its axis, half its length and half its width long.
    length: [f32; 2],
    width: [f32; 2],
    /// From its centre to a corner.
    reach: f32,
}

impl Outline {
    pub(crate) fn new(b: &UprightBox, reach: f64) -> Self {
        let (length, width) = (b.axis * b.half.x, b.axis * b.half.y);
        Self {
            length: [length.x as f32, length.y as f32],
            width: [width.x as f32, width.y as f32],
            reach: reach as f32,
        }
    }
}

/// A line from the point, as a direction and half its length.
#[derive(Debug, Clone, Copy)]
struct Ray {
    x: f32x4,
    y: f32x4,
    half: f32x4,
    slack: f32x4,
}

/// Some vehicles side by side.
#[derive(Debug, Clone, Copy)]
struct Four {
    x: [f32; LANES],
    y: [f32; LANES],
    length_x: [f32; LANES],
    length_y: [f32; LANES],
    width_x: [f32; LANES],
    width_y: [f32; LANES],
    reach: [f32; LANES],
}

impl Four {
    /// Nobody: no line touches it.
    const NOBODY: Self = Self {
        x: [0.0; LANES],
        y: [0.0; LANES],
        length_x: [0.0; LANES],
        length_y: [0.0; LANES],
        width_x: [0.0; LANES],
        width_y: [0.0; LANES],
        reach: [f32::NEG_INFINITY; LANES],
    };

    #[inline]
    fn put(&mut self, lane: usize, [x, y]: [f32; 2], outline: &Outline) {
        self.x[lane] = x;
        self.y[lane] = y;
        [self.length_x[lane], self.length_y[lane]] = outline.length;
        [self.width_x[lane], self.width_y[lane]] = outline.width;
        self.reach[lane] = outline.reach;
    }

    /// A bit for each vehicle that the line may touch.
    #[inline]
    fn touched(&self, ray: &Ray) -> u32 {
        let &Ray { x, y, half, slack } = ray;
        let (px, py) = (f32x4::new(self.x), f32x4::new(self.y));
        let (lx, ly) = (f32x4::new(self.length_x), f32x4::new(self.length_y));
        let (wx, wy) = (f32x4::new(self.width_x), f32x4::new(self.width_y));
        let beside = (px * y - py * x).abs();
        let from_middle = (px * x + py * y - half).abs();
        let across = (lx * y - ly * x).abs() + (wx * x + wy * y).abs();
        let aside = across - beside + slack;
        let ahead = f32x4::new(self.reach) + half - from_middle + slack;
        // Negative on either count: not touched.
        !(aside | ahead).to_bitmask() & 0b1111
    }
}

/// Vehicles in an order of the caller's, four by four.
#[derive(Debug, Clone, Default)]
struct Fours {
    slots: Vec<u32>,
    /// Memory is kept: there may be more than are in use.
    fours: Vec<Four>,
}

impl Fours {
    /// Makes room for so many, all of them to be put.
    fn resize(&mut self, count: usize) {
        self.slots.resize(count, 0);
        let fours = count.div_ceil(LANES);
        if self.fours.len() < fours {
            self.fours.resize(fours, Four::NOBODY);
        }
        if !count.is_multiple_of(LANES) {
            self.fours[fours - 1].reach = Four::NOBODY.reach;
        }
    }

    #[inline]
    fn put(&mut self, at: usize, slot: u32, away: [f32; 2], outline: &Outline) {
        self.slots[at] = slot;
        self.fours[at / LANES].put(at % LANES, away, outline);
    }

    /// The first for which `test` holds, of the first `count` (and up to three more) that the line may touch.
    #[inline]
    fn find(&self, ray: &Ray, count: usize, mut test: impl FnMut(u32) -> bool) -> Option<u32> {
        for (four, begin) in self.fours[..count.div_ceil(LANES)]
            .iter()
            .zip((0..).step_by(LANES))
        {
            let mut touched = four.touched(ray);
            while touched != 0 {
                let slot = self.slots[begin + touched.trailing_zeros() as usize];
                if test(slot) {
                    return Some(slot);
                }
                touched &= touched - 1;
            }
        }
        None
    }
}

/// How far lines and vehicles reach, for what single precision leaves open.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    /// The longest reach of any vehicle.
    longest: f64,
    slack: f32,
    coarse: bool,
}

impl Span {
    fn new(range: f64, longest: f64) -> Self {
        let farthest = range + longest;
        Self {
            longest,
            slack: (farthest * ROUNDING) as f32,
            coarse: farthest < FARTHEST,
        }
    }

    /// The line in single precision; none if that does not do.
    #[inline]
    fn ray(&self, along: Point, distance: f64) -> Option<Ray> {
        if !(self.coarse && distance > 0.0) {
            return None;
        }
        let direction = along * (1.0 / distance);
        Some(Ray {
            x: f32x4::splat(direction.x as f32),
            y: f32x4::splat(direction.y as f32),
            half: f32x4::splat((distance * 0.5) as f32),
            slack: f32x4::splat(self.slack),
        })
    }
}

/// A vehicle that has no rank yet.
#[derive(Debug, Clone, Copy)]
struct Staged {
    slot: u32,
    level: u32,
    away: [f32; 2],
}

/// The vehicles around one point, nearest first: for many lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nearby {
    staged: Vec<Staged>,
    /// How many vehicles there are of each step of distance, then how many up to there.
    up_to: [u32; LEVELS],
    levels_per_metre: f64,
    span: Span,
    /// By rank: nearest first, by steps.
    ranked: Fours,
}

impl Nearby {
    /// Forgets all vehicles. Those to come lie no farther away than `range` and `longest` together, lines end within `range`.
    pub(crate) fn clear(&mut self, range: f64, longest: f64) {
        self.staged.clear();
        self.up_to = [0; LEVELS];
        self.levels_per_metre = LEVELS as f64 / (range + longest);
        self.span = Span::new(range, longest);
    }

    /// The step of a distance. Rounding is the same for all, so a longer distance never has a lower step.
    #[inline]
    fn level(&self, distance: f64) -> usize {
        let steps = lesser(distance * self.levels_per_metre, LEVELS as f64 - 2.0);
        whole_part(steps + 1.0) & (LEVELS - 1)
    }

    /// Takes in a vehicle whose centre lies `away`, at `distance`.
    #[inline]
    pub(crate) fn push(&mut self, slot: usize, away: Point, distance: f64) {
        let level = self.level(distance);
        self.up_to[level] += 1;
        self.staged.push(Staged {
            slot: slot as u32,
            level: level as u32,
            away: [away.x as f32, away.y as f32],
        });
    }

    /// Ranks the vehicles, of which the outlines are given by slot.
    pub(crate) fn rank(&mut self, outlines: &[Outline]) {
        let mut next = [0; LEVELS];
        let mut sum = 0;
        for (up_to, next) in self.up_to.iter_mut().zip(&mut next) {
            *next = sum;
            sum += *up_to;
            *up_to = sum;
        }
        self.ranked.resize(self.staged.len());
        for staged in &self.staged {
            let next = &mut next[staged.level as usize & (LEVELS - 1)];
            let rank = *next as usize;
            *next += 1;
            let outline = &outlines[staged.slot as usize];
            self.ranked.put(rank, staged.slot, staged.away, outline);
        }
    }

    /// The vehicles by rank.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.ranked.slots
    }

    /// The first vehicle for which `test` holds, of those that the line `along`, which is `distance` long, may touch.
    #[inline]
    pub(crate) fn find(
        &self,
        along: Point,
        distance: f64,
        mut test: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let Some(ray) = self.span.ray(along, distance) else {
            return self.slots().iter().copied().find(|&slot| test(slot));
        };
        let end = self.up_to[self.level(distance + self.span.longest)] as usize;
        self.ranked.find(&ray, end, test)
    }
}

/// The vehicles around one point, in no order: for a few lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowd {
    slots: Vec<u32>,
    span: Span,
    /// As far as vehicles are in their places.
    placed: Fours,
}

impl Crowd {
    /// As [`Nearby::clear`].
    pub(crate) fn clear(&mut self, range: f64, longest: f64) {
        self.slots.clear();
        self.placed.slots.clear();
        self.span = Span::new(range, longest);
    }

    /// Takes in a vehicle.
    #[inline]
    pub(crate) fn push(&mut self, slot: usize) {
        self.slots.push(slot as u32);
    }

    /// Says where the vehicles stand and what they look like, both by slot, as seen `from` the point; does nothing if that was said.
    #[inline]
    pub(crate) fn place(&mut self, from: Point, centres: &[Point], outlines: &[Outline]) {
        if self.placed.slots.len() == self.slots.len() {
            return;
        }
        self.placed.resize(self.slots.len());
        for (at, &slot) in self.slots.iter().enumerate() {
            let away = centres[slot as usize] - from;
            let outline = &outlines[slot as usize];
            self.placed
                .put(at, slot, [away.x as f32, away.y as f32], outline);
        }
    }

    /// As [`Nearby::find`], once vehicles have their places.
    #[inline]
    pub(crate) fn find(
        &self,
        along: Point,
        distance: f64,
        mut test: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        match self.span.ray(along, distance) {
            None => self.slots.iter().copied().find(|&slot| test(slot)),
            Some(ray) => self.placed.find(&ray, self.slots.len(), test),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::over_box;
    use super::*;

    #[test]
    fn every_box_that_a_line_touches_is_found_and_few_others() {
        let unit = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
        let from = Point::new(3_412.7, -871.3);
        let range = 150.0;
        let (mut boxes, mut outlines) = (Vec::new(), Vec::new());
        let mut nearby = Nearby::default();
        nearby.clear(range, 7.0);
        for i in 0..203 {
            let b = UprightBox::new(
                from + Point::new(unit(4 * i) - 0.5, unit(4 * i + 1) - 0.5) * 200.0,
                Point::from_heading(unit(4 * i + 2) * 7.0),
                [Point::new(2.5, 1.0), Point::new(6.5, 1.3)][i as usize % 2],
                1.0,
            );
            let away = b.centre - from;
            nearby.push(i as usize, away, away.length());
            outlines.push(Outline::new(&b, b.half.length()));
            boxes.push(b);
        }
        nearby.rank(&outlines);
        assert_eq!(nearby.slots().len(), 203);
        let centres: Vec<Point> = boxes.iter().map(|b| b.centre).collect();
        let mut crowd = Crowd::default();
        crowd.clear(range, 7.0);
        (0..203).for_each(|slot| crowd.push(slot));
        crowd.place(from, &centres, &outlines);
        let (mut touched, mut tested) = (0, 0);
        for k in 0..2_000 {
            // Some lines end at centres, some exactly at a corner, some nowhere.
            let b = &boxes[k as usize % 203];
            let to = match k % 3 {
                0 => b.centre,
                1 => b.centre + super::super::plain::corners(b.axis, b.half)[k as usize / 3 % 4],
                _ => from + Point::new(unit(k) - 0.5, unit(k + 7_000) - 0.5) * 200.0,
            };
            let along = to - from;
            let mut found = Vec::new();
            let none = nearby.find(along, along.length(), |slot| {
                found.push(slot);
                false
            });
            assert_eq!(none, None);
            let mut in_crowd = Vec::new();
            let none = crowd.find(along, along.length(), |slot| {
                in_crowd.push(slot);
                false
            });
            assert_eq!(none, None);
            let all: Vec<u32> = (0..203)
                .filter(|&i| over_box(from, along, &boxes[i as usize]).is_some())
                .collect();
            assert!(all.iter().all(|slot| found.contains(slot)), "{k}");
            found.sort_unstable();
            assert_eq!(found, in_crowd);
            touched += all.len();
            tested += found.len();
        }
        assert!(touched > 2_000 && tested < touched * 3 / 2);
        let nowhere = nearby.find(Point::default(), 0.0, |slot| slot == 202);
        assert_eq!(nowhere, Some(202));
    }
}
