//! The time before the first frame: routes with tuned odds, a coarse run, a saved state.

use covey_world::network::{EdgeIx, Network};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ClosedPopulation;
use super::roads::{Placed, Roads, routes_xml, walk};
use crate::recorded::elements::{attribute, visit_elements};
use crate::sumo::discovery::Sumo;
use crate::sumo::error::SumoError;
use crate::sumo::process::Running;
use crate::sumo::run::RunOptions;
use crate::sumo::workspace::WorkFolder;

/// Finds the odds of main-road edges that keep the main road's share of vehicles.
///
/// The logarithm of (vehicles on the main road over those elsewhere) grows about linearly with that of the odds, so the
/// search is a secant in these two; the first step is taken with a slope that was seen on the bundled corridor.
pub(super) struct Tuning {
    aim: f64,
    all: f64,
    log_bias: f64,
    before: Option<(f64, f64)>,
}

impl Tuning {
    pub(super) fn new(aim: usize, all: usize) -> Self {
        let mut tuning = Self {
            aim: 0.0,
            all: all as f64,
            log_bias: 0.0,
            before: None,
        };
        tuning.aim = tuning.level(aim);
        tuning
    }

    fn level(&self, on_main: usize) -> f64 {
        let main = on_main as f64;
        (main.max(0.5) / (self.all - main).max(0.5)).ln()
    }

    pub(super) fn bias(&self) -> f64 {
        self.log_bias.exp()
    }

    pub(super) fn learn(&mut self, on_main: usize) {
        let now = (self.log_bias, self.level(on_main));
        let slope = match self.before {
            Some(before) => (now.1 - before.1) / (now.0 - before.0),
            None => 1.4,
        };
        // A slope out of all reason comes from chance.
        let slope = if (0.4..=5.0).contains(&slope) {
            slope
        } else {
            1.4
        };
        self.before = Some(now);
        self.log_bias += ((self.aim - now.1) / slope).clamp(-3.0, 3.0);
    }
}

/// All that the runs of one population have in common.
pub(super) struct Bench<'a> {
    pub(super) sumo: &'a Sumo,
    pub(super) net: PathBuf,
    pub(super) network: &'a Network,
    pub(super) roads: &'a Roads,
    pub(super) vehicles: &'a [Placed],
    pub(super) population: &'a ClosedPopulation,
    pub(super) options: &'a RunOptions,
    /// Seconds after the warm-up.
    pub(super) lasts: f64,
    pub(super) folder: WorkFolder,
}

/// Where a recorded run begins.
pub(super) struct Start {
    pub(super) bias: f64,
    pub(super) walks: Vec<Vec<EdgeIx>>,
    pub(super) routes: PathBuf,
    pub(super) begin: f64,
    pub(super) state: Option<PathBuf>,
    pub(super) on_main: usize,
    pub(super) places: BTreeMap<String, usize>,
}

impl Bench<'_> {
    pub(super) fn command(&self, routes: &Path) -> Result<Command, SumoError> {
        let mut command = self.sumo.command("sumo")?;
        let lane_change = self.population.lane_change_s.to_string();
        command
            .arg("--net-file")
            .arg(&self.net)
            .arg("--route-files")
            .arg(routes)
            .args(["--time-to-teleport", "-1", "--collision.action", "warn"])
            .args(["--max-depart-delay", "-1"])
            .args(["--lanechange.duration", &lane_change]);
        Ok(command)
    }

    /// Draws routes with the given odds and runs the warm-up on them.
    pub(super) fn start(&self, bias: f64, attempt: u32) -> Result<Start, SumoError> {
        let walks = walk(
            self.network,
            self.roads,
            self.population,
            self.vehicles,
            bias,
            self.options.seed,
            self.lasts,
        );
        let routes = self.folder.path.join(format!("{attempt}.rou.xml"));
        write(&routes, &routes_xml(self.network, self.vehicles, &walks))?;
        let mut start = Start {
            bias,
            walks,
            routes,
            begin: 0.0,
            state: None,
            on_main: 0,
            places: BTreeMap::new(),
        };
        let population = self.population;
        if population.warmup_s <= 0.0 {
            let on_main = |v: &&Placed| self.roads.main[v.edge.index()];
            start.on_main = self.vehicles.iter().filter(on_main).count();
            return Ok(start);
        }
        let state = self.folder.path.join(format!("{attempt}.state.xml"));
        // States are saved before the last step, not after it.
        let end = population.warmup_s + 2.0 * population.warmup_step_s;
        let mut command = self.command(&start.routes)?;
        command
            .args(["--xml-validation", "never", "--xml-validation.net", "never"])
            // A sign of life every now and then.
            .args(["--step-log.period", "20", "--duration-log.disable", "true"])
            .args(["--seed", &self.options.sumo_seed().to_string()])
            .args(["--step-length", &population.warmup_step_s.to_string()])
            .args(["--end", &format!("{end:.3}")])
            .args(["--save-state.times", &format!("{:.3}", population.warmup_s)])
            .args(["--save-state.precision", "4", "--save-state.files"])
            .arg(&state);
        Running::start(command, self.options.quiet_limit, self.options.stop.clone())?.text()?;
        let saved = Saved::read(&state, self.network, self.roads)?;
        if saved.vehicles != self.vehicles.len() {
            return Err(SumoError::NotClosed {
                found: saved.vehicles,
                expected: self.vehicles.len(),
                time: saved.time - population.warmup_s,
                said: "(the state saved after the warm-up lacks vehicles)".into(),
            });
        }
        start.begin = saved.time;
        start.state = Some(state);
        start.on_main = saved.on_main;
        start.places = saved.places;
        Ok(start)
    }
}

fn write(file: &Path, text: &str) -> Result<(), SumoError> {
    fs::write(file, text).map_err(|source| SumoError::Write {
        file: file.to_owned(),
        source,
    })
}

/// What a saved state says.
struct Saved {
    time: f64,
    vehicles: usize,
    on_main: usize,
    /// By name, how far each vehicle is on its route.
    places: BTreeMap<String, usize>,
}

impl Saved {
    fn read(state: &Path, network: &Network, roads: &Roads) -> Result<Self, SumoError> {
        // Main-road lanes, and the internal lanes that lead on to one.
        let mut main: BTreeMap<&str, bool> = BTreeMap::new();
        for lane in &network.lanes {
            main.insert(&lane.name, roads.main[lane.edge.index()]);
        }
        for connection in &network.connections {
            let to = &network.lanes[connection.to.index()];
            for via in &connection.via {
                main.insert(
                    &network.lanes[via.index()].name,
                    roads.main[to.edge.index()],
                );
            }
        }
        let mut saved = Self {
            time: f64::NAN,
            vehicles: 0,
            on_main: 0,
            places: BTreeMap::new(),
        };
        let mut lane = None;
        visit_elements(state, |tag| match tag.name().as_ref() {
            "snapshot" => {
                let time = attribute(tag, "time");
                saved.time = time.and_then(|t| t.parse().ok()).unwrap_or(f64::NAN);
            }
            "lane" => lane = attribute(tag, "id").map(std::borrow::Cow::into_owned),
            "vehicle" => {
                // SUMO's own state of a vehicle: flags, departure, place on the route, ...
                let place = attribute(tag, "state")
                    .and_then(|state| state.split_whitespace().nth(2)?.parse().ok());
                if let (Some(id), Some(place)) = (attribute(tag, "id"), place) {
                    saved.places.insert(id.into_owned(), place);
                }
            }
            // The vehicles on a lane stand in its element.
            "vehicles" => {
                let count =
                    attribute(tag, "value").map_or(0, |list| list.split_whitespace().count());
                saved.vehicles += count;
                if lane.as_deref().and_then(|lane| main.get(lane)) == Some(&true) {
                    saved.on_main += count;
                }
            }
            _ => {}
        })
        .map_err(SumoError::Scenario)?;
        if saved.time.is_nan() {
            return Err(SumoError::Config {
                file: state.to_owned(),
                line: None,
                problem: "the state that SUMO saved has no `time`".into(),
            });
        }
        Ok(saved)
    }
}
