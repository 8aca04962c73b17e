//! What stands around one place, by direction: for many sight lines from there.
//!
//! Directions are dealt into sectors, and every sector lists the boxes that reach into it. A line has to be held against those of
//! its own sector alone, and whoever is not in its list does not touch it, rounding included.

use alloc::vec::Vec;

use crate::grid::Position;

/// So many sectors go around a place.
const SECTORS: usize = 512;

/// A box as it stands around the place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    /// Its number.
    pub(super) body: u32,
    /// Its middle.
    pub(super) position: Position,
    /// Its direction as a unit vector.
    pub(super) along: [f64; 2],
    /// Half its length and width.
    pub(super) half: [f64; 2],
    /// It reaches no farther from its middle than this, in metres.
    pub(super) reach: f64,
}

/// One box in a sector.
#[derive(Debug, Clone, Copy)]
struct Entry {
    body: u32,
    /// It is at least so far away, in metres.
    from_m: f64,
}

/// The boxes around a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Fan {
    /// Which body looks, and how far.
    of: Option<(u32, f64)>,
    /// How many lines were drawn from the last body that has no fan.
    drawn: Option<(u32, u32)>,
    /// Where the entries of each sector begin, and the end of the last.
    begins: Vec<u32>,
    entries: Vec<Entry>,
    /// Those who stand so near that they may be in the way of any line.
    close: Vec<u32>,
    /// Room: sectors of each box, and its entry.
    spans: Vec<([u16; 2], Entry)>,
}

/// From how many lines on a fan is worth its making.
const WORTH: u32 = 3;

impl Fan {
    /// Nobody looks.
    pub(super) fn forget(&mut self) {
        self.of = None;
        self.drawn = None;
    }

    /// It is that of `body`, for lines of so many metres.
    pub(super) fn is_of(&self, body: u32, length_m: f64) -> bool {
        self.of
            .is_some_and(|(of, radius_m)| of == body && length_m <= radius_m)
    }

    /// One more line from `body`, which has no fan; gives whether one is worth its making now.
    pub(super) fn is_worth(&mut self, body: u32) -> bool {
        let drawn = match self.drawn {
            Some((of, drawn)) if of == body => drawn + 1,
            _ => 1,
        };
        self.drawn = Some((body, drawn));
        drawn >= WORTH
    }

    /// Makes that of `body` at `place`, for lines of up to `radius_m` metres.
    pub(super) fn make(
        &mut self,
        body: u32,
        place: Position,
        radius_m: f64,
        standing: impl Iterator<Item = Standing>,
    ) {
        self.of = Some((body, radius_m));
        self.close.clear();
        self.spans.clear();
        self.begins.clear();
        self.begins.resize(SECTORS + 1, 0);
        for box_ in standing {
            let off = [box_.position.x - place.x, box_.position.y - place.y];
            let distance = libm::sqrt(off[0] * off[0] + off[1] * off[1]);
            if distance - box_.reach > radius_m {
                continue;
            }
            if distance <= 2.0 * box_.reach {
                self.close.push(box_.body);
                continue;
            }
            let span = sectors_of(off, &box_);
            let from_m = distance - box_.reach;
            let entry = Entry {
                body: box_.body,
                from_m,
            };
            each_sector(span, |sector| self.begins[sector] += 1);
            self.spans.push((span, entry));
        }
        let mut sum = 0;
        for begin in &mut self.begins {
            // The end of each; filling goes backwards.
            sum += *begin;
            *begin = sum;
        }
        let none = Entry {
            body: u32::MAX,
            from_m: 0.0,
        };
        self.entries.clear();
        self.entries.resize(sum as usize, none);
        for &(span, entry) in &self.spans {
            each_sector(span, |sector| {
                self.begins[sector] -= 1;
                self.entries[self.begins[sector] as usize] = entry;
            });
        }
    }

    /// How many entries it has.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether one of the boxes that may be in the way of a line along `off` is, as `in_the_way` says.
    pub(super) fn any(&self, off: [f64; 2], mut in_the_way: impl FnMut(u32) -> bool) -> bool {
        if self.close.iter().any(|&body| in_the_way(body)) {
            return true;
        }
        let length = libm::sqrt(off[0] * off[0] + off[1] * off[1]);
        let sector = sector(off);
        let range = self.begins[sector] as usize..self.begins[sector + 1] as usize;
        let mut entries = self.entries[range].iter();
        entries.any(|entry| entry.from_m <= length && in_the_way(entry.body))
    }
}

/// The sectors that a box reaches into, by its corners: the first and the last, which may come before the first.
fn sectors_of(off: [f64; 2], of: &Standing) -> [u16; 2] {
    let [c, s] = of.along;
    let [length, width] = of.half;
    let (lx, ly) = (length * c, length * s);
    let (wx, wy) = (-width * s, width * c);
    let corners = [
        [off[0] + lx + wx, off[1] + ly + wy],
        [off[0] + lx - wx, off[1] + ly - wy],
        [off[0] - lx + wx, off[1] - ly + wy],
        [off[0] - lx - wx, off[1] - ly - wy],
    ];
    let left_of = |a: [f64; 2], b: [f64; 2]| b[0] * a[1] - b[1] * a[0] > 0.0;
    let (mut first, mut last) = (corners[0], corners[0]);
    for corner in corners[1..].iter().copied() {
        if left_of(first, corner) {
            first = corner;
        }
        if left_of(corner, last) {
            last = corner;
        }
    }
    [sector(first) as u16, sector(last) as u16]
}

/// Calls `tell` with every sector of a span.
fn each_sector([first, last]: [u16; 2], mut tell: impl FnMut(usize)) {
    let (first, last) = (usize::from(first), usize::from(last));
    if first <= last {
        (first..=last).for_each(tell);
    } else {
        (first..SECTORS).for_each(&mut tell);
        (0..=last).for_each(tell);
    }
}

/// The sector of a direction: it goes around as the angle does, a quarter of the sectors to each quarter turn.
fn sector([x, y]: [f64; 2]) -> usize {
    let share = y / (x.abs() + y.abs());
    // From -1 to 3, not-a-number where there is no direction.
    let turn = if x >= 0.0 { share } else { 2.0 - share };
    // Casting maps not-a-number to 0 and saturates.
    (((turn + 1.0) * (0.25 * SECTORS as f64)) as usize).min(SECTORS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_go_around_as_angles_do() {
        let turn = |degrees: f64| {
            let angle = degrees.to_radians();
            sector([libm::cos(angle), libm::sin(angle)])
        };
        let sectors: Vec<usize> = (-89..270).map(|d| turn(f64::from(d))).collect();
        assert!(sectors.is_sorted(), "{sectors:?}");
        assert_eq!((sectors[0] < 4, sectors[358] > SECTORS - 4), (true, true));
        assert_eq!(sector([0.0, 0.0]), 0);
        let mut all = Vec::new();
        each_sector([510, 1], |sector| all.push(sector));
        assert_eq!(all, [510, 511, 0, 1]);
    }

    #[test]
    fn a_fan_is_made_for_those_who_look_often() {
        let mut fan = Fan::default();
        assert_eq!(
            [7, 7, 8, 7, 7, 7].map(|body| fan.is_worth(body)),
            [false, false, false, false, false, true]
        );
        fan.make(7, Position::default(), 150.0, core::iter::empty());
        assert_eq!(
            [(7, 150.0), (7, 151.0), (8, 10.0)].map(|(body, m)| fan.is_of(body, m)),
            [true, false, false]
        );
        fan.forget();
        assert!(!fan.is_of(7, 1.0));
    }
}
