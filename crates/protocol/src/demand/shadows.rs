//! Who stands in whose way, for one who looks at many: bodies close to it by bearing.
//!
//! [`Scene::sees`] walks along each line. Somebody in dense traffic looks at many others, and most of them are hidden by those
//! next to it: they are sorted by the bearings that they take up, once, and a line is first held against those of its bearing. Only
//! lines that get past them are walked along. The answers are those of the walk.

use super::scene::{Line, SLACK_M, Scene};
use crate::grid::Position;

/// Bearings are told apart in so many sectors, a fourth of them for each quarter.
const SECTORS: usize = 64;
/// Bodies up to here are sorted by bearing, in metres; most that hide something from somebody are nearer.
const NEAR_M: f64 = 30.0;
/// At most so many are: as many as a word has bits.
const MOST: usize = 64;
/// From so many times its reach on a body takes up less than half of all bearings; nearer ones may be anywhere.
const CLOSE: f64 = 1.1;

/// A body close to one that looks.
#[derive(Debug, Clone, Copy, Default)]
struct Near {
    /// From the eye.
    offset: [f64; 2],
    reach: f64,
    height: f64,
    /// Half its length, as it lies, and half its width, as the way of sight has them.
    half: [[f64; 2]; 2],
    body: u32,
}

impl Near {
    /// It does not stand in the way of a line from the eye, as can be told without holding its box against it.
    fn is_passed(&self, line: &Line) -> bool {
        let [dx, dy] = self.offset;
        if line.clears(dx, dy, self.reach, self.height) {
            return true;
        }
        let [x, y] = line.span();
        // How far its box extends across the line, times the length.
        let [a, b] = self.half.map(|half| (x * half[1] - y * half[0]).abs());
        (x * dy - y * dx).abs() > a + b + SLACK_M * line.length()
    }
}

/// Bodies close to one that looks, by bearing.
#[derive(Debug, Clone)]
pub(super) struct Shadows {
    from: u32,
    /// Bodies around.
    around: [Near; MOST],
    count: usize,
    /// By sector: a bit for each that takes it up.
    sectors: [u64; SECTORS],
    /// By sector: the bit of what last stood in the way there, no bit where nothing did.
    hints: [u64; SECTORS],
    near: alloc::vec::Vec<u32>,
}

impl Default for Shadows {
    fn default() -> Self {
        Self {
            from: 0,
            around: [Near::default(); MOST],
            count: 0,
            sectors: [0; SECTORS],
            hints: [0; SECTORS],
            near: alloc::vec::Vec::new(),
        }
    }
}

impl Shadows {
    /// Looks around from body `from`.
    pub(super) fn cast(&mut self, scene: &Scene, from: u32) {
        let eye = scene.bodies()[from as usize].position;
        self.from = from;
        self.count = 0;
        self.sectors = [0; SECTORS];
        self.hints = [0; SECTORS];
        self.near.clear();
        scene.in_box(
            Position::new(eye.x - NEAR_M, eye.y - NEAR_M),
            Position::new(eye.x + NEAR_M, eye.y + NEAR_M),
            &mut self.near,
        );
        scene.spend(2 * self.near.len());
        for at in 0..self.near.len() {
            let body = self.near[at];
            if body != from && self.count < MOST {
                self.add(scene, eye, body);
            }
        }
    }

    fn add(&mut self, scene: &Scene, eye: Position, body: u32) {
        let [x, y, reach, height] = scene.disc(body);
        let (dx, dy) = (x - eye.x, y - eye.y);
        let squared = dx * dx + dy * dy;
        if squared > NEAR_M * NEAR_M {
            return;
        }
        let bit = 1 << self.count;
        self.around[self.count] = Near {
            offset: [dx, dy],
            reach,
            height,
            half: scene.half_axes(body),
            body,
        };
        self.count += 1;
        let clear = CLOSE * reach;
        if squared <= clear * clear {
            self.sectors.iter_mut().for_each(|sector| *sector |= bit);
            return;
        }
        // The tangents to the circle that it is in.
        let wide = reach / libm::sqrt(squared - reach * reach);
        let mut at = sector(dx + wide * dy, dy - wide * dx);
        let last = sector(dx - wide * dy, dy + wide * dx);
        loop {
            self.sectors[at] |= bit;
            if at == last {
                return;
            }
            at = (at + 1) % SECTORS;
        }
    }

    /// Another body stands between the one that looks and body `to`.
    pub(super) fn hide(&mut self, scene: &Scene, to: u32) -> bool {
        let line = scene.line(self.from, to);
        let [x, y] = line.span();
        let at = sector(x, y);
        let hint = self.hints[at];
        let mut steps = 2;
        // What hid the last line of this bearing first.
        let mut left = [hint, self.sectors[at] & !hint];
        for left in &mut left {
            while *left != 0 {
                let place = left.trailing_zeros();
                *left &= *left - 1;
                steps += 1;
                let near = &self.around[place as usize % MOST];
                if !near.is_passed(&line) && near.body != to && scene.in_the_way(&line, near.body) {
                    scene.spend(steps);
                    self.hints[at] = 1 << place;
                    return true;
                }
            }
        }
        scene.spend(steps);
        scene.blocked(&line, self.from, to)
    }
}

/// The sector of a direction: they follow each other as bearings do, without a tangent.
fn sector(x: f64, y: f64) -> usize {
    let share = x / (x.abs() + y.abs());
    let turn = if y >= 0.0 { 1.0 - share } else { 3.0 + share };
    // Casting maps not-a-number to 0.
    ((turn * (SECTORS as f64 / 4.0)) as usize).min(SECTORS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::scene::Body;
    use crate::ids::ObjectId;
    use crate::messages::Size;
    use alloc::vec::Vec;

    proptest::proptest! {
        #[test]
        fn who_looks_at_many_sees_what_each_line_tells(
            bodies in proptest::collection::vec(
                (-160.0..160.0, -40.0..40.0, -4.0..4.0, 1.0..19.0, 1.2..4.0, proptest::bool::ANY),
                2..90,
            ),
        ) {
            let bodies = (0u64..).zip(&bodies).map(|(id, &(x, y, heading, length, height, known))| {
                let body = Body {
                    id: ObjectId(id),
                    position: Position::new(x, y),
                    heading: known.then_some(heading),
                    speed: 0.0,
                    size: Size { length, width: 2.0, height },
                    silent: false,
                    spoken: None,
                };
                (body, 0.0)
            });
            let mut scene = Scene::default();
            scene.rebuild(Position::default(), 500.0, bodies, None, |_| 10.0);
            let mut shadows = Shadows::default();
            let all = 0..scene.bodies().len() as u32;
            for from in all.clone() {
                shadows.cast(&scene, from);
                let place = |body: u32| scene.bodies()[body as usize].position;
                for to in all.clone().filter(|&to| to != from) {
                    if place(from).distance(place(to)) <= 150.0 {
                        proptest::prop_assert_eq!(
                            !shadows.hide(&scene, to),
                            scene.sees(from, to, None),
                            "{} looks at {}", from, to
                        );
                    }
                }
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_near_is_found_by_its_bearing_without_a_walk(
            off in 3.0..45.0,
            bearing in -3.2..3.2,
            aside in -3.0..3.0_f64,
            size in (1.0..12.0, 1.0..3.0),
            heading in -4.0..4.0,
        ) {
            let place = |off: f64, bearing: f64| {
                let (y, x) = libm::sincos(bearing);
                Position::new(7.0 + off * x, off * y - 9.0)
            };
            let body = |id: u64, position: Position, length: f64, width: f64| Body {
                id: ObjectId(id),
                position,
                heading: Some(heading),
                speed: 0.0,
                size: Size { length, width, height: 1.5 },
                silent: false,
                spoken: None,
            };
            let bodies = [
                body(1, place(0.0, 0.0), 4.0, 2.0),
                body(2, place(off, bearing), size.0, size.1),
                body(3, place(100.0, bearing + aside), 4.0, 2.0),
            ];
            let mut scene = Scene::default();
            let all = bodies.iter().map(|&body| (body, 0.0));
            scene.rebuild(Position::default(), 500.0, all, None, |_| 10.0);
            let walked = scene.clone();
            walked.allow(10_000);
            let line = walked.line(0, 2);
            let hidden = walked.blocked(&line, 0, 2);
            let mut shadows = Shadows::default();
            shadows.cast(&scene, 0);
            scene.allow(10_000);
            proptest::prop_assert_eq!(shadows.hide(&scene, 2), hidden);
            let [walk, steps] = [&walked, &scene].map(|scene| 10_000 - scene.left().unwrap());
            let reach = 0.5 * libm::hypot(size.0, size.1);
            let half = libm::asin((reach / off).min(1.0));
            if off > 30.0 {
                proptest::prop_assert_eq!(steps, 2 + walk, "nothing is near");
            } else if hidden {
                proptest::prop_assert_eq!(steps, 3, "found at once");
            } else if off < 1.1 * reach || aside.abs() < half {
                proptest::prop_assert_eq!(steps, 3 + walk, "tried");
            } else if off > 1.101 * reach && aside.abs() > half + 0.26 {
                // More than two sectors off.
                proptest::prop_assert_eq!(steps, 2 + walk, "not tried");
            }
        }
    }

    #[test]
    fn each_of_several_is_found_at_its_bearing() {
        let body = |id: u64, off: f64, bearing: f64| {
            let (y, x) = libm::sincos(bearing);
            let body = Body {
                id: ObjectId(id),
                position: Position::new(90.0 + off * x, off * y - 40.0),
                heading: None,
                speed: 0.0,
                size: Size {
                    length: 2.0,
                    width: 2.0,
                    height: 1.5,
                },
                silent: false,
                spoken: None,
            };
            (body, 0.0)
        };
        // Five around one that looks, and five behind them.
        let bearing = |k: u64| 1.2 * k as f64;
        let near = (1..=5).map(|k| body(k, 8.0 + 3.0 * k as f64, bearing(k)));
        let far = (6..=10).map(|k| body(k, 90.0, bearing(k - 5)));
        let mut scene = Scene::default();
        let all = core::iter::once(body(0, 0.0, 0.0)).chain(near).chain(far);
        scene.rebuild(Position::default(), 500.0, all, None, |_| 10.0);
        scene.allow(1_000);
        let mut shadows = Shadows::default();
        shadows.cast(&scene, 0);
        assert_eq!(scene.left(), Some(1_000 - 2 * 6), "two steps for each");
        for far in [6, 8, 10, 7, 9] {
            for _ in 0..2 {
                scene.allow(1_000);
                assert!(shadows.hide(&scene, far));
                assert_eq!(scene.left(), Some(1_000 - 3), "{far}");
            }
        }
        // What stands in the way of lines to others does not stand in its own.
        assert!((1..=5).all(|near| !shadows.hide(&scene, near)));
    }

    #[test]
    fn sectors_go_round_once() {
        let around = (0..3_600).map(|k| {
            let (y, x) = libm::sincos(f64::from(k) * core::f64::consts::TAU / 3_600.0);
            sector(x, y)
        });
        let around: Vec<usize> = around.collect();
        assert!(around.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!((around[0], around[3_599]), (0, SECTORS - 1));
        assert_eq!(sector(f64::NAN, 0.0), 0);
    }
}
