//! The arms of one scenario in a run, and what is counted for them. Scenarios with one road are run over it side by side; they
//! share nothing else.

use std::sync::Arc;
use std::time::Instant;

use covey_protocol::RoadMap;
use covey_radio::ChannelModel;

use super::SeedOutcome;
use super::part::{ArmRun, Part, PartStep, lanes};
use crate::arms::{Arm, Behaviour};
use crate::channel::{BeaconClock, DrawnBeacons};
use crate::gang::Gang;
use crate::measure::{Nobody, Observer, Presence, Senses, StepView};
use crate::outcome::{SharedOutcome, Timing};
use crate::prepared::{Prepared, RING, Remembering};
use crate::stack::{Fleet, MultiHop, Omniscient, Requests, SenderRules, Senders, Silent, Stack};
use crate::world::World;

/// What all scenarios know of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// It belongs to the measured window.
    pub(super) measured: bool,
    /// It is the first that does, or the first after no warm-up.
    pub(super) begins_window: bool,
    /// Its cycle is the last before the window, or in it.
    pub(super) soon: bool,
    /// Stamps have a new origin.
    pub(super) rebased: bool,
}

/// The arms of one scenario.
#[derive(Debug)]
pub(crate) struct Crew {
    clock: BeaconClock,
    /// The arms, in as many parts as there are threads.
    pub(crate) parts: Vec<Part>,
    /// Who receives beacons in the arms of all parts, where there are several.
    drawn: Vec<DrawnBeacons>,
    outcome: SharedOutcome,
    present: Presence,
    paths_s: f64,
    /// CPU seconds of the caller's thread.
    pub(super) own_cpu_s: f64,
    /// CPU seconds of threads other than the caller's.
    pub(super) helpers_cpu_s: f64,
}

/// What an arm's participants do in a run.
fn stack(arm: &Arm, seed: u64, prepared: &Prepared, paths: &Arc<dyn RoadMap>) -> Box<dyn Stack> {
    match &arm.strategy.behaviour {
        Behaviour::Silent | Behaviour::Oracle => Box::new(Silent),
        Behaviour::Senders(rules) => Box::new(Senders::new(*rules, prepared)),
        Behaviour::MultiHop => Box::new(MultiHop::new(prepared)),
        Behaviour::Requests => {
            let allowance = arm.allowance.unwrap_or(0.0);
            Box::new(Requests::new(allowance, prepared, paths))
        }
        Behaviour::Omniscient => {
            let allowance = arm.allowance.unwrap_or(0.0);
            Box::new(Omniscient::new(allowance, prepared.timeline.cycle))
        }
        Behaviour::Hosted(maker) => {
            let profile = arm.bare_profile(maker, seed, prepared);
            Box::new(Fleet::new(profile, prepared, paths))
        }
    }
}

/// For how many steps an arm's messages are remembered.
fn memory(arm: &Arm, prepared: &Prepared) -> u32 {
    match &arm.strategy.behaviour {
        // Mitigation compares with reports that are older than the soft state.
        Behaviour::Senders(SenderRules::Mitigation) => RING as u32 - 1,
        Behaviour::MultiHop if prepared.scenario.rivals.multihop.mitigation => RING as u32 - 1,
        _ => prepared.timeline.soft_state,
    }
}

/// The arms in so many parts, in turn, so that no part gets all of a kind.
fn parts(prepared: &Prepared, arms: &[Arm], seed: u64, count: usize) -> Vec<Part> {
    let mut shares: Vec<Vec<ArmRun>> = Vec::new();
    shares.resize_with(count.clamp(1, arms.len().max(1)), Vec::new);
    let maps: Vec<Arc<dyn RoadMap>> = shares
        .iter()
        .map(|_| Arc::new(Remembering::new(&prepared.carried)) as Arc<dyn RoadMap>)
        .collect();
    let count = shares.len();
    for (number, arm) in arms.iter().enumerate() {
        let share = number % count;
        let stack = stack(arm, seed, prepared, &maps[share]);
        let memory = memory(arm, prepared);
        let run = ArmRun::new(prepared, number, arm, seed, stack, memory);
        shares[share].push(run);
    }
    shares
        .into_iter()
        .map(|share| Part::new(prepared, share, arms.len()))
        .collect()
}

impl Crew {
    /// The arms of a scenario, for so many threads.
    pub(super) fn new(prepared: &Prepared, arms: &[Arm], seed: u64, threads: usize) -> Self {
        let parts = parts(prepared, arms, seed, threads);
        let drawn = match (&parts[..], prepared.channel.parameters().model) {
            ([_, _, ..], ChannelModel::Load) => arms
                .chunks(lanes(prepared))
                .map(|arms| DrawnBeacons::new(arms.len()))
                .collect(),
            _ => Vec::new(),
        };
        Self {
            clock: BeaconClock::default(),
            parts,
            drawn,
            outcome: SharedOutcome {
                seed,
                ..SharedOutcome::default()
            },
            present: Presence::default(),
            paths_s: 0.0,
            own_cpu_s: 0.0,
            helpers_cpu_s: 0.0,
        }
    }

    /// Someone records.
    pub(super) fn watch(&mut self) {
        for run in self.parts.iter_mut().flat_map(|part| &mut part.arms) {
            run.watch();
        }
    }

    /// What came of it; `shared` and `helpers_cpu_s` are its part of what all scenarios of the run share.
    pub(super) fn conclude(mut self, shared: &Timing, helpers_cpu_s: f64) -> SeedOutcome {
        self.outcome.vehicles = self.present.vehicles();
        self.outcome.participants = self.present.participants();
        self.outcome.tiles = self.present.tiles();
        self.outcome.classes = self.present.classes();
        let mut result = SeedOutcome {
            shared: self.outcome,
            timing: Timing {
                paths_s: self.paths_s,
                ..*shared
            },
            own_cpu_s: self.own_cpu_s,
            helpers_cpu_s: self.helpers_cpu_s + helpers_cpu_s,
            ..SeedOutcome::default()
        };
        let mut arms = Vec::new();
        for part in self.parts {
            result.timing.beacons_s += part.timing.beacons_s;
            result.timing.arms_s += part.timing.arms_s;
            result.timing.metric_s += part.timing.metric_s;
            arms.extend(part.finish());
        }
        arms.sort_by_key(|&(number, _)| number);
        for (_, (outcome, cycles)) in arms {
            result.arms.push(outcome);
            result.cycles.push(cycles);
        }
        result
    }

    /// Its share of a step; the world is at its turn.
    pub(super) fn step(
        &mut self,
        world: &mut World<'_>,
        moment: &Moment,
        observer: &mut dyn Observer,
        gang: &Gang,
    ) {
        let mut arms = self.parts.iter().flat_map(|part| &part.arms);
        let evaluate =
            moment.measured || moment.soon && arms.any(|run| run.stack.wants_relevance());
        if evaluate {
            self.paths_s += world.relate();
        }
        let world = &*world;
        self.begin(world, moment.measured, observer);
        let beacons = self.clock.begin(world);
        let step = PartStep {
            world,
            clock: &self.clock,
            beacons: &beacons,
            measured: moment.measured,
            begins_window: moment.begins_window,
            relevance_known: moment.soon,
            rebased: moment.rebased,
        };
        match &mut self.parts[..] {
            [] => {}
            [all] => {
                all.offer(&step, observer);
                all.follow(&step, &[], observer);
            }
            // Whoever watches is served by one part alone, so here nobody does.
            parts => self.helpers_cpu_s += side_by_side(parts, &mut self.drawn, &step, gang),
        }
    }

    /// Tells who is there.
    fn begin(&mut self, world: &World<'_>, measured: bool, observer: &mut dyn Observer) {
        let vehicles = &world.road.frame.vehicles;
        if measured {
            self.present.note(world);
            let on_road = vehicles.iter().filter(|v| v.body.kind.is_road_vehicle());
            for vehicle in on_road {
                self.outcome.speed.add(vehicle.speed);
            }
        }
        if observer.is_nobody() {
            return;
        }
        let present = world.road.present().iter();
        let participates: Vec<bool> = present.map(|&slot| world.road.participates(slot)).collect();
        let present = world.road.present().iter();
        let (station_types, sensors): (Vec<u8>, Vec<_>) = present
            .map(|&slot| world.road.outfit(world.prepared, slot))
            .map(|outfit| (outfit.station_type, &outfit.told[..]))
            .unzip();
        observer.step(&StepView {
            step: world.step().0,
            now: world.now(),
            measured,
            vehicles,
            participates: &participates,
            station_types: &station_types,
            sensors: &sensors,
        });
        if observer.wants_senses() {
            tell_senses(world, observer);
        }
    }
}

/// Does all parts' share of a step; gives the CPU seconds of threads other than this one.
fn side_by_side(
    parts: &mut [Part],
    drawn: &mut [DrawnBeacons],
    step: &PartStep<'_>,
    gang: &Gang,
) -> f64 {
    let mut cpu_s = gang.share(parts.iter_mut().collect(), |part: &mut Part| {
        part.offer(step, &mut Nobody);
    });
    let clock = Instant::now();
    for part in &*parts {
        part.add_loads(step.world, drawn);
    }
    for group in &mut *drawn {
        cpu_s += group.draw(step.world, &step.beacons.senders, gang);
    }
    if let Some(first) = parts.first_mut() {
        first.timing.beacons_s += clock.elapsed().as_secs_f64();
    }
    let drawn = &*drawn;
    cpu_s += gang.share(parts.iter_mut().collect(), |part: &mut Part| {
        part.follow(step, drawn, &mut Nobody);
    });
    cpu_s
}

/// Tells what everyone knows of itself.
fn tell_senses(world: &World<'_>, observer: &mut dyn Observer) {
    let mut objects = Vec::new();
    for &slot in world.road.participants() {
        world.sensed(slot, &mut objects);
        let cells = world.sights.cells.of(slot);
        let senses = Senses {
            state: &world.here(slot).state,
            sensed: world.is_sensing().then_some((&objects, cells)),
        };
        observer.senses(world.now(), world.agent(slot), &senses);
    }
}
