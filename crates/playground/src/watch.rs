//! What is seen of a run: the state of its last cycle.

use covey_simulator::events::{CycleView, HostView, Miss, Observer, StepView};
use covey_simulator::{Arm, CycleRow};
use serde::Serialize;

use crate::scene::{Scene, of_scene};

/// What an arm came to at the moment of the scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ArmAnswer {
    /// The arm's name.
    pub name: String,
    /// Relevant objects of participants.
    pub relevant: usize,
    /// Those that are missed.
    pub missed: Vec<Missed>,
    /// Who hosts.
    pub hosts: Vec<u32>,
    /// Who reports.
    pub speakers: Vec<u32>,
    /// Cooperative load of the fullest tile, a share of capacity.
    pub load: f64,
    /// The highest price.
    pub price: f64,
}

/// A relevant object that a participant does not know of in time.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Missed {
    /// Who misses it.
    pub vehicle: u32,
    /// What.
    pub object: u32,
    /// Participants that had seen it in time.
    pub seen_by: Vec<u32>,
}

/// Keeps the last of everything.
pub(crate) struct Watch {
    arms: Vec<ArmAnswer>,
    speakers: Vec<Vec<u32>>,
}

impl Watch {
    pub(crate) fn new(arms: &[Arm]) -> Self {
        let named = |arm: &Arm| ArmAnswer {
            name: arm.to_string(),
            ..ArmAnswer::default()
        };
        Self {
            arms: arms.iter().map(named).collect(),
            speakers: vec![Vec::new(); arms.len()],
        }
    }

    /// The answers, with the scene's own numbers of vehicles.
    pub(crate) fn finish(mut self, _scene: &Scene) -> Vec<ArmAnswer> {
        for (arm, speakers) in self.arms.iter_mut().zip(self.speakers) {
            arm.speakers = speakers;
            arm.speakers.sort_unstable();
            arm.speakers.dedup();
        }
        self.arms
    }
}

impl Observer for Watch {
    fn wants_record(&self) -> bool {
        true
    }

    fn step(&mut self, _view: &StepView<'_>) {
        self.speakers.iter_mut().for_each(Vec::clear);
    }

    fn decision(&mut self, arm: usize, view: &HostView<'_>) {
        let (Some(speakers), Some(_)) = (self.speakers.get_mut(arm), self.arms.get(arm)) else {
            return;
        };
        speakers.extend(view.contributors.iter().map(|id| of_scene(id.0 as u32)));
    }

    fn cycle(&mut self, arm: usize, rows: &[CycleRow], _misses: &[Miss]) {
        let Some(answer) = self.arms.get_mut(arm) else {
            return;
        };
        answer.hosts = rows
            .iter()
            .filter_map(|row| row.host)
            .map(|host| of_scene(host as u32))
            .collect();
        answer.load = rows.iter().map(|row| row.load).fold(0.0, f64::max);
        answer.price = rows.iter().map(|row| row.price).fold(0.0, f64::max);
    }

    fn record(&mut self, arm: usize, view: &CycleView<'_>) {
        let Some(answer) = self.arms.get_mut(arm) else {
            return;
        };
        answer.relevant = view.relevant.len();
        answer.missed = view
            .seen
            .iter()
            .filter_map(|seen| {
                let pair = view.relevant.get(seen.pair as usize)?;
                Some(Missed {
                    vehicle: of_scene(pair.vehicle),
                    object: of_scene(pair.object),
                    seen_by: seen.by.iter().map(|&id| of_scene(id)).collect(),
                })
            })
            .collect();
        // Where nobody hosts, whoever spoke speaks.
        if self.speakers[arm].is_empty() {
            let senders = view.deliveries.iter().map(|d| of_scene(d.sender));
            self.speakers[arm].extend(senders);
        }
    }
}
