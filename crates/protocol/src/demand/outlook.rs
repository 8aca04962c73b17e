//! Who could see what of that which is needed, as far as the host can tell.

use alloc::vec::Vec;

use super::scene::{Body, Scene};
use super::shadows::Shadows;
use super::{DemandOptions, Views};
use crate::grid::{Cell, Position};
use crate::map::RoadMap;
use crate::policy::View;

/// Needed objects that somebody may be asked to look at.
pub(super) struct Targets {
    /// Body, number and place of each, by ascending body; so do the numbers ascend.
    all: Vec<(u32, u32, Position)>,
    /// The numbers by body, [`u32::MAX`] for all others.
    numbers: Vec<u32>,
}

/// Up to so many targets are compared with a place one by one; more are looked up by place.
const FEW_TARGETS: usize = 128;

impl Targets {
    /// Of the objects with these numbers, by body, those that `wanted` lets through.
    pub(super) fn new(scene: &Scene, numbers: &[u32], wanted: impl Fn(u32) -> bool) -> Self {
        let keep = |&number: &u32| match number != u32::MAX && wanted(number) {
            true => number,
            false => u32::MAX,
        };
        let numbers: Vec<u32> = numbers.iter().map(keep).collect();
        let all = (0u32..).zip(&numbers).zip(scene.bodies());
        let all = all.filter(|&((_, &number), _)| number != u32::MAX);
        Self {
            all: all
                .map(|((k, &number), body)| (k, number, body.position))
                .collect(),
            numbers,
        }
    }

    /// Tells of those within `range_m` of `place`, by ascending body: body and number.
    pub(super) fn each_around(
        &self,
        scene: &Scene,
        place: Position,
        range_m: f64,
        mut tell: impl FnMut(u32, u32),
    ) {
        if self.all.len() <= FEW_TARGETS {
            scene.spend(self.all.len() / 8);
            for &(body, number, at) in &self.all {
                let beside = (at.x - place.x).abs() <= range_m && (at.y - place.y).abs() <= range_m;
                if beside && at.distance(place) <= range_m {
                    tell(body, number);
                }
            }
            return;
        }
        let mut near = Vec::new();
        scene.in_box(
            Position::new(place.x - range_m, place.y - range_m),
            Position::new(place.x + range_m, place.y + range_m),
            &mut near,
        );
        scene.spend(near.len());
        for body in near {
            let number = self.numbers[body as usize];
            if number != u32::MAX
                && scene.bodies()[body as usize].position.distance(place) <= range_m
            {
                tell(body, number);
            }
        }
    }
}

/// From so many looks on it pays to find out who stands around: with fewer each line is walked along.
const MANY_LOOKS: usize = 12;

/// Who sees whom, as far as the host can tell.
pub(super) struct Outlook<'a> {
    scene: &'a Scene,
    walls: Option<&'a dyn RoadMap>,
    /// None where sight lines are drawn.
    digests: Option<Digests<'a>>,
}

impl<'a> Outlook<'a> {
    pub(super) fn new(view: &View<'a>, scene: &'a Scene, options: &DemandOptions) -> Self {
        Self {
            scene,
            walls: options.walls(view.map),
            digests: (options.views == Views::Digests).then(|| Digests::new(view, scene)),
        }
    }

    pub(super) fn sees(&self, from: u32, to: u32) -> bool {
        match &self.digests {
            None => self.scene.sees(from, to, self.walls),
            Some(digests) => digests.mark(from, to),
        }
    }

    /// The same for one who looks around at so many.
    pub(super) fn around<'o>(
        &'o self,
        shadows: &'o mut Shadows,
        from: u32,
        looks: usize,
    ) -> Panorama<'o> {
        let cast = looks >= MANY_LOOKS && self.digests.is_none();
        if cast {
            shadows.cast(self.scene, from);
        }
        Panorama {
            outlook: self,
            shadows: cast.then_some(shadows),
            from,
        }
    }
}

/// What one body sees of those around it, as far as the host can tell.
pub(super) struct Panorama<'a> {
    outlook: &'a Outlook<'a>,
    /// Who stands around, where that was found out.
    shadows: Option<&'a mut Shadows>,
    from: u32,
}

impl Panorama<'_> {
    /// It sees `to`, which is within its range.
    pub(super) fn shows(&mut self, to: u32) -> bool {
        let Outlook { scene, walls, .. } = *self.outlook;
        match &mut self.shadows {
            Some(shadows) => !shadows.hide(scene, to) && !scene.walled_off(self.from, to, walls),
            None => self.outlook.sees(self.from, to),
        }
    }
}

/// Cells that digests mark, by body of the scene.
struct Digests<'a> {
    cells: Vec<&'a [u32]>,
    places: Vec<Option<u32>>,
}

impl<'a> Digests<'a> {
    fn new(view: &View<'a>, scene: &Scene) -> Self {
        let mut digests = Self {
            cells: Vec::new(),
            places: Vec::new(),
        };
        digests.cells.resize(scene.bodies().len(), &[]);
        let candidates = view.problem.candidates.iter().map(|c| (c.id, c.cells));
        let contributors = view.problem.contributors.iter().map(|c| (c.id, c.cells));
        let own = core::iter::once((view.host, view.problem.host_cells));
        for (id, cells) in candidates.chain(contributors).chain(own) {
            if let Some(body) = scene.find(id.into()) {
                digests.cells[body as usize] = cells;
            }
        }
        let place = |body: &Body| {
            let cell = Cell::containing(body.position, view.parameters.cell_m)?;
            view.window.index(cell)
        };
        digests.places = scene.bodies().iter().map(place).collect();
        digests
    }

    /// The digest of `from` marks the cell that `to` is in.
    fn mark(&self, from: u32, to: u32) -> bool {
        let cells = self.cells.get(from as usize).copied().unwrap_or_default();
        match self.places.get(to as usize) {
            Some(Some(place)) => cells.contains(place),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{AgentId, ObjectId};
    use crate::messages::Size;

    /// So many small bodies on a grid of metres, 60 m wide.
    fn scene(count: u64) -> Scene {
        let at = |key: u64| (AgentId(key).mixed() % 61) as f64 - 30.0;
        let bodies = (0..count).map(|k| {
            let body = Body {
                id: ObjectId(k),
                position: Position::new(at(k), at(k + 1_000)),
                heading: None,
                speed: 0.0,
                size: Size {
                    length: 1.0,
                    width: 1.0,
                    height: 1.0,
                },
                silent: true,
                spoken: None,
            };
            (body, 0.0)
        });
        let mut scene = Scene::default();
        scene.rebuild(Position::default(), 500.0, bodies, None, |_| 0.0);
        scene
    }

    #[test]
    fn few_and_many_targets_are_those_within_the_range() {
        for count in [100, 128, 300] {
            let scene = scene(count);
            // One in five is not needed, one in seven of the others is not wanted.
            let needed: Vec<u32> = (0..count as u32)
                .map(|k| if k % 5 == 0 { u32::MAX } else { 2 * k })
                .collect();
            let targets = Targets::new(&scene, &needed, |number| number % 7 != 0);
            let mut found = 0;
            // Whole numbers: there are some exactly 5, 10 and 13 m off.
            for (x, y, range) in [
                (0.0, 0.0, 5.0),
                (3.0, -8.0, 10.0),
                (-20.0, 9.0, 13.0),
                (90.0, 0.0, 60.0),
            ] {
                let place = Position::new(x, y);
                let mut told = Vec::new();
                targets.each_around(&scene, place, range, |body, number| {
                    told.push((body, number));
                });
                let bodies = (0u32..).zip(scene.bodies());
                let plain: Vec<(u32, u32)> = bodies
                    .filter(|(k, _)| k % 5 != 0 && 2 * k % 7 != 0)
                    .filter(|(_, body)| {
                        let (dx, dy) = (body.position.x - x, body.position.y - y);
                        dx * dx + dy * dy <= range * range
                    })
                    .map(|(k, _)| (k, 2 * k))
                    .collect();
                assert_eq!(told, plain, "{count} {place:?}");
                found += told.len();
            }
            assert!(found > count as usize / 8, "{found}");
        }
    }

    #[test]
    fn where_targets_are_few_an_eighth_of_a_step_is_spent_on_each() {
        let scene = scene(128);
        let numbers: Vec<u32> = (0..128).collect();
        let targets = Targets::new(&scene, &numbers, |_| true);
        scene.allow(1_000);
        targets.each_around(&scene, Position::default(), 9.0, |_, _| {});
        assert_eq!(scene.left(), Some(984));
    }
}
