//! The vehicles around one point, nearest first, and which of them a line from there may touch.
//!
//! Vehicles are compared with the line several at a time, in single precision and with a margin for its rounding: what is left
//! out does not touch the line, and few of those that are not do not.

use super::bearing::{lesser, whole_part};
use super::rule::UprightBox;
use crate::geometry::Point;

/// Distances are allowed to be off by this share of the longest: several times what single precision makes of them.
const ROUNDING: f64 = 1e-6;
/// Beyond this, in metres, single precision is not asked.
const FARTHEST: f64 = 1e12;
/// Steps of distance.
const LEVELS: usize = 32;
/// Vehicles that are compared with a line at a time.
const CHUNK: usize = 64;
/// Lists are filled up to multiples of this with nobody.
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

/// A vehicle that has no rank yet.
#[derive(Debug, Clone, Copy)]
struct Staged {
    slot: u32,
    level: u32,
    x: f32,
    y: f32,
}

/// The vehicles around one point.
#[derive(Debug, Clone, Default)]
pub(crate) struct Nearby {
    staged: Vec<Staged>,
    /// How many vehicles there are of each step of distance, then how many up to there.
    up_to: [u32; LEVELS],
    levels_per_metre: f64,
    /// The longest reach of any vehicle.
    longest: f64,
    slack: f32,
    coarse: bool,
    /// By rank: nearest first, by steps.
    slots: Vec<u32>,
    chunks: Vec<Chunk>,
}

/// Some vehicles in the order of their ranks.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    x: [f32; CHUNK],
    y: [f32; CHUNK],
    length_x: [f32; CHUNK],
    length_y: [f32; CHUNK],
    width_x: [f32; CHUNK],
    width_y: [f32; CHUNK],
    reach: [f32; CHUNK],
}

impl Chunk {
    const EMPTY: Self = Self {
        x: [0.0; CHUNK],
        y: [0.0; CHUNK],
        length_x: [0.0; CHUNK],
        length_y: [0.0; CHUNK],
        width_x: [0.0; CHUNK],
        width_y: [0.0; CHUNK],
        reach: [0.0; CHUNK],
    };

    /// For each of the first vehicles: negative if the line does not touch it.
    #[inline(never)]
    fn compare(&self, ray: &Ray, slack: f32, margins: &mut [f32]) {
        let &Ray { x, y, half } = ray;
        let count = margins.len();
        let (px, py) = (&self.x[..count], &self.y[..count]);
        let (lx, ly) = (&self.length_x[..count], &self.length_y[..count]);
        let (wx, wy) = (&self.width_x[..count], &self.width_y[..count]);
        let reach = &self.reach[..count];
        for i in 0..count {
            let beside = (px[i] * y - py[i] * x).abs();
            let from_middle = (px[i] * x + py[i] * y - half).abs();
            let across = (lx[i] * y - ly[i] * x).abs() + (wx[i] * x + wy[i] * y).abs();
            let aside = across - beside;
            let ahead = reach[i] + half - from_middle;
            margins[i] = (if aside < ahead { aside } else { ahead }) + slack;
        }
    }
}

impl Nearby {
    /// Forgets all vehicles. Those to come lie no farther away than `range` and `longest` together, lines end within `range`.
    pub(crate) fn clear(&mut self, range: f64, longest: f64) {
        self.staged.clear();
        self.up_to = [0; LEVELS];
        let farthest = range + longest;
        self.levels_per_metre = LEVELS as f64 / farthest;
        self.longest = longest;
        self.slack = (farthest * ROUNDING) as f32;
        self.coarse = farthest < FARTHEST;
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
            x: away.x as f32,
            y: away.y as f32,
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
        let count = self.staged.len();
        self.slots.resize(count, 0);
        // Memory is kept, and what it holds beyond the last vehicle is nobody.
        let chunks = count.div_ceil(CHUNK);
        if self.chunks.len() < chunks {
            self.chunks.resize(chunks, Chunk::EMPTY);
        }
        if let Some(last) = self.chunks.get_mut(count / CHUNK) {
            let after = count % CHUNK;
            last.reach[after..after.next_multiple_of(LANES)].fill(f32::NEG_INFINITY);
        }
        for staged in &self.staged {
            let next = &mut next[staged.level as usize & (LEVELS - 1)];
            let rank = *next as usize;
            *next += 1;
            let outline = &outlines[staged.slot as usize];
            self.slots[rank] = staged.slot;
            let (chunk, at) = (&mut self.chunks[rank / CHUNK], rank % CHUNK);
            chunk.x[at] = staged.x;
            chunk.y[at] = staged.y;
            [chunk.length_x[at], chunk.length_y[at]] = outline.length;
            [chunk.width_x[at], chunk.width_y[at]] = outline.width;
            chunk.reach[at] = outline.reach;
        }
    }

    /// The vehicles by rank.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The first vehicle for which `test` holds, of those that the line `along`, which is `distance` long, may touch.
    #[inline]
    pub(crate) fn find(
        &self,
        along: Point,
        distance: f64,
        mut test: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        if !(self.coarse && distance > 0.0) {
            return self.slots.iter().copied().find(|&slot| test(slot));
        }
        let direction = along * (1.0 / distance);
        let ray = Ray {
            x: direction.x as f32,
            y: direction.y as f32,
            half: (distance * 0.5) as f32,
        };
        let end = self.up_to[self.level(distance + self.longest)] as usize;
        let mut margins = [0.0; CHUNK];
        for (begin, chunk) in (0..end).step_by(CHUNK).zip(&self.chunks) {
            let count = (end - begin).min(CHUNK).next_multiple_of(LANES);
            chunk.compare(&ray, self.slack, &mut margins[..count]);
            let chunks = margins[..count].as_chunks::<LANES>().0.iter();
            for (at, lanes) in (begin..).step_by(LANES).zip(chunks) {
                let outside = lanes.map(|margin| margin.to_bits() >> 31);
                if outside[0] & outside[1] & outside[2] & outside[3] != 0 {
                    continue;
                }
                for (lane, outside) in outside.into_iter().enumerate() {
                    if outside == 0 && test(self.slots[at + lane]) {
                        return Some(self.slots[at + lane]);
                    }
                }
            }
        }
        None
    }
}

/// A line from the point, as a direction and half its length.
#[derive(Debug, Clone, Copy)]
struct Ray {
    x: f32,
    y: f32,
    half: f32,
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
            let b = UprightBox {
                centre: from + Point::new(unit(4 * i) - 0.5, unit(4 * i + 1) - 0.5) * 200.0,
                axis: Point::from_heading(unit(4 * i + 2) * 7.0),
                half: [Point::new(2.5, 1.0), Point::new(6.5, 1.3)][i as usize % 2],
                height: 1.0,
            };
            let away = b.centre - from;
            nearby.push(i as usize, away, away.length());
            outlines.push(Outline::new(&b, b.half.length()));
            boxes.push(b);
        }
        nearby.rank(&outlines);
        assert_eq!(nearby.slots().len(), 203);
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
            let all: Vec<u32> = (0..203)
                .filter(|&i| over_box(from, along, &boxes[i as usize]).is_some())
                .collect();
            assert!(all.iter().all(|slot| found.contains(slot)), "{k}");
            touched += all.len();
            tested += found.len();
        }
        assert!(touched > 2_000 && tested < touched * 3 / 2);
        let nowhere = nearby.find(Point::default(), 0.0, |slot| slot == 202);
        assert_eq!(nowhere, Some(202));
    }
}
