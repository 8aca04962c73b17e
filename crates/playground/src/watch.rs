//! What is seen of a run: the state of its last cycle.

use covey_simulator::events::{CycleView, MessageKind, Miss, Observer, OwnSight, Source};
use covey_simulator::{Arm, CycleRow};
use serde::Serialize;

use crate::scene::of_scene;

/// What an arm came to at the moment of the scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ArmAnswer {
    /// The arm's name.
    pub name: String,
    /// Its colour in figures and in the viewer.
    pub paint: &'static str,
    /// How many objects matter to participants.
    pub relevant: usize,
    /// Those that are missed.
    pub missed: Vec<Missed>,
    /// Those that are known because somebody told.
    pub told: Vec<Told>,
    /// Who hosts.
    pub hosts: Vec<u32>,
    /// Who reported in the last second.
    pub speakers: Vec<u32>,
    /// Cooperative load of the fullest tile in the last second, a share of capacity.
    pub load: f64,
    /// The highest price.
    pub price: f64,
}

/// An object that matters to a participant that does not know of it in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missed {
    /// Who misses it.
    pub vehicle: u32,
    /// What.
    pub object: u32,
    /// Why its own sensors do not show it.
    pub hidden: Hidden,
    /// Participants that had seen it in time.
    pub seen_by: Vec<u32>,
}

/// An object that matters to a participant and that it knows of because somebody told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// Who knows it.
    pub vehicle: u32,
    /// What.
    pub object: u32,
    /// Who said it last, where that was kept.
    pub by: Option<u32>,
}

/// Why somebody's own sensors do not show an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hidden {
    /// They do, but too late.
    Visible,
    /// Behind a building.
    Building,
    /// Behind another vehicle.
    Vehicle,
    /// Too far off.
    Range,
}

impl From<OwnSight> for Hidden {
    fn from(sight: OwnSight) -> Self {
        match sight {
            OwnSight::Visible => Self::Visible,
            OwnSight::Building => Self::Building,
            OwnSight::Vehicle => Self::Vehicle,
            OwnSight::Range => Self::Range,
        }
    }
}

/// Keeps what was last, and sums over the measured second.
#[derive(Debug)]
pub(crate) struct Watch {
    arms: Vec<ArmAnswer>,
    /// Cycles that each arm's load is summed over.
    cycles: Vec<u32>,
}

impl Watch {
    pub(crate) fn new(arms: &[Arm]) -> Self {
        let named = |arm: &Arm| ArmAnswer {
            name: arm.to_string(),
            paint: arm.strategy.look.paint.name(),
            ..ArmAnswer::default()
        };
        Self {
            arms: arms.iter().map(named).collect(),
            cycles: vec![0; arms.len()],
        }
    }

    /// The answers, with the scene's own numbers of vehicles.
    pub(crate) fn finish(mut self) -> Vec<ArmAnswer> {
        for (arm, &cycles) in self.arms.iter_mut().zip(&self.cycles) {
            arm.speakers.sort_unstable();
            arm.speakers.dedup();
            arm.load /= f64::from(cycles.max(1));
        }
        self.arms
    }
}

impl Observer for Watch {
    fn wants_record(&self) -> bool {
        true
    }

    fn cycle(&mut self, arm: usize, rows: &[CycleRow], _misses: &[Miss]) {
        let (Some(answer), Some(cycles)) = (self.arms.get_mut(arm), self.cycles.get_mut(arm))
        else {
            return;
        };
        let hosts = rows.iter().filter_map(|row| row.host);
        answer.hosts = hosts.map(|host| of_scene(host as u32)).collect();
        answer.load += rows.iter().map(|row| row.load).fold(0.0, f64::max);
        answer.price = rows.iter().map(|row| row.price).fold(0.0, f64::max);
        *cycles += 1;
    }

    fn record(&mut self, arm: usize, view: &CycleView<'_>) {
        let Some(answer) = self.arms.get_mut(arm) else {
            return;
        };
        answer.relevant = view.relevant.len();
        let seen = view.seen.iter().filter_map(|seen| {
            let pair = view.relevant.get(seen.pair as usize)?;
            Some(Missed {
                vehicle: of_scene(pair.vehicle),
                object: of_scene(pair.object),
                hidden: pair.sight.into(),
                seen_by: seen.by.iter().map(|&id| of_scene(id)).collect(),
            })
        });
        answer.missed = seen.collect();
        let known = view.relevant.iter().zip(view.known);
        let told = known.filter(|(_, known)| {
            !known.missed && matches!(known.source, Source::Report | Source::Broadcast)
        });
        answer.told = told
            .map(|(pair, known)| Told {
                vehicle: of_scene(pair.vehicle),
                object: of_scene(pair.object),
                by: known.from.map(of_scene),
            })
            .collect();
        let reports = view.deliveries.iter();
        let reports = reports.filter(|delivery| delivery.kind == MessageKind::Report);
        answer
            .speakers
            .extend(reports.map(|delivery| of_scene(delivery.sender)));
    }
}
