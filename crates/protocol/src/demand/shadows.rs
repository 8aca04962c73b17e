//! Who stands in whose way, for one who looks at many: bodies around it by bearing.
//!
//! [`Scene::sees`] walks along each line. Where somebody looks at many others it is cheaper to sort the bodies around by the
//! bearings that they take up, once, and to hold against a line only those of its bearing; most lines are hidden by what hid
//! the line before. Only tests whose outcome is known are left out: the answers are those of the walk.

use alloc::vec::Vec;

use super::scene::Scene;
use crate::grid::Position;

/// Bearings are told apart in so many sectors, a fourth of them for each quarter.
const SECTORS: usize = 256;
/// The end of a list.
const END: u32 = u32::MAX;
/// From so many times its reach on a body takes up less than half of all bearings; nearer ones may be anywhere.
const CLOSE: f64 = 1.1;

/// Bodies around one that looks, by bearing.
#[derive(Debug, Clone)]
pub(super) struct Shadows {
    from: u32,
    eye: Position,
    /// Bodies around: offsets from the eye, reach, and number.
    around: Vec<([f64; 3], u32)>,
    /// By sector: the first of its entries.
    heads: [u32; SECTORS],
    /// A place in `around`, and the next entry of the sector.
    entries: Vec<(u32, u32)>,
    /// Those so near that they may stand in any direction.
    close: Vec<u32>,
    /// By sector: what last stood in the way there, as a place in `around`.
    hints: [u32; SECTORS],
    near: Vec<u32>,
}

impl Default for Shadows {
    fn default() -> Self {
        Self {
            from: 0,
            eye: Position::default(),
            around: Vec::new(),
            heads: [END; SECTORS],
            entries: Vec::new(),
            close: Vec::new(),
            hints: [END; SECTORS],
            near: Vec::new(),
        }
    }
}

impl Shadows {
    /// Looks around from body `from`, as far as `range_m`.
    pub(super) fn cast(&mut self, scene: &Scene, from: u32, range_m: f64) {
        let eye = scene.bodies()[from as usize].position;
        (self.from, self.eye) = (from, eye);
        self.heads = [END; SECTORS];
        self.hints = [END; SECTORS];
        self.around.clear();
        self.entries.clear();
        self.close.clear();
        self.near.clear();
        scene.in_box(
            Position::new(eye.x - range_m, eye.y - range_m),
            Position::new(eye.x + range_m, eye.y + range_m),
            &mut self.near,
        );
        scene.spend(2 * self.near.len());
        for at in 0..self.near.len() {
            let body = self.near[at];
            if body != from {
                self.add(scene, body);
            }
        }
    }

    fn add(&mut self, scene: &Scene, body: u32) {
        let [x, y, reach] = scene.disc(body);
        let (dx, dy) = (x - self.eye.x, y - self.eye.y);
        let number = self.around.len() as u32;
        self.around.push(([dx, dy, reach], body));
        let (squared, clear) = (dx * dx + dy * dy, CLOSE * reach);
        if squared <= clear * clear {
            self.close.push(number);
            return;
        }
        // The tangents to the circle that it is in.
        let wide = reach / libm::sqrt(squared - reach * reach);
        let first = sector(dx + wide * dy, dy - wide * dx);
        let last = sector(dx - wide * dy, dy + wide * dx);
        let mut at = first;
        loop {
            self.entries.push((number, self.heads[at]));
            self.heads[at] = self.entries.len() as u32 - 1;
            if at == last {
                return;
            }
            at = (at + 1) % SECTORS;
        }
    }

    /// Another body stands between the one that looks and body `to`, which is no farther off than it looks.
    pub(super) fn hide(&mut self, scene: &Scene, to: u32) -> bool {
        let line = scene.line(self.from, to);
        let span = line.span();
        let length = libm::sqrt(span[0] * span[0] + span[1] * span[1]);
        let blocks = |place: u32| {
            let ([dx, dy, reach], body) = self.around[place as usize];
            // Most pass well beside a body: its distance from the line, times the length.
            let off = span[0] * dy - span[1] * dx;
            off.abs() <= reach * length && body != to && scene.in_the_way(&line, body)
        };
        let at = sector(span[0], span[1]);
        let hint = self.hints[at];
        if hint != END && blocks(hint) {
            scene.spend(1);
            return true;
        }
        let mut steps = 2;
        let mut found = self.close.iter().copied().find(|&place| blocks(place));
        let mut entry = self.heads[at];
        while found.is_none() && entry != END {
            let (place, next) = self.entries[entry as usize];
            found = Some(place).filter(|&place| blocks(place));
            entry = next;
            steps += 1;
        }
        scene.spend(steps);
        self.hints[at] = found.unwrap_or(hint);
        found.is_some()
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
                shadows.cast(&scene, from, 150.0);
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
