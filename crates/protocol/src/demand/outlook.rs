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
