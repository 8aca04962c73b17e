//! `covey traffic`: what the traffic of a scenario is like.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use covey_simulator::Scenario;
use covey_traffic::Recording;
use covey_traffic::builtin::{Builtin, BuiltinConfig};
use covey_traffic::fundamental::{Diagram, MainRoad, Plan, measure};
use covey_traffic::sumo::{ClosedPopulation, RunOptions, Sumo, SumoError, record_closed};
use covey_world::Map;

use crate::failure::{Failure, note, print, write_atomically};
use crate::terminal::output_width;
use crate::terminal_table::Table;

/// Measure flow over density on a scenario's main road
///
/// Runs the traffic of the scenario with the main road filled to one density after the other, and reports the critical
/// density k_c at which flow is highest, if there is one. Writes the table and a figure into a folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey traffic --fundamental-diagram scenarios/tamagawa/scenario.toml\n  \
    covey traffic --fundamental-diagram scenarios/tamagawa/scenario.toml --traffic sumo --densities 15,25,35,45")]
pub(crate) struct Arguments {
    /// The scenario file whose main road is measured
    #[arg(long, value_name = "SCENARIO.toml")]
    fundamental_diagram: PathBuf,
    /// Who drives the vehicles
    #[arg(long, value_enum, default_value_t = TrafficSource::Builtin)]
    traffic: TrafficSource,
    /// Densities to set, in vehicles per km and lane, with commas between them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    densities: Option<Vec<f64>>,
    /// How many seeds to take the mean of
    #[arg(long, value_name = "N", default_value_t = 1)]
    seeds: u64,
    /// Seconds to measure in each run, after the scenario's warm-up; whole signal cycles are best
    #[arg(long, value_name = "S", default_value_t = 240.0)]
    seconds: f64,
    /// Where table and figure go
    #[arg(long, value_name = "DIR", default_value = "out/fundamental-diagram")]
    out: PathBuf,
    /// No progress, no remarks
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum TrafficSource {
    /// The built-in traffic, which needs no other program
    Builtin,
    /// SUMO, with a closed population
    Sumo,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scenario = Scenario::read(&arguments.fundamental_diagram).map_err(bad_input)?;
    let (map, warnings) = scenario.read_map().map_err(bad_input)?;
    let warnings = warnings.to_string();
    let remark = |text: &str| {
        if !arguments.quiet {
            note(text);
        }
    };
    if !warnings.is_empty() {
        remark(&warnings);
    }
    let plan = plan(arguments)?;
    let builtin = |density: f64| BuiltinConfig {
        main_density: density,
        ..scenario.traffic.clone()
    };
    // The main road is the same for both sources; a nearly empty road tells which one it is.
    let probe = BuiltinConfig {
        warmup_s: 0.0,
        ..builtin(plan.densities[0])
    };
    let edges: Vec<_> = Builtin::new(&map.network, &probe, 0)
        .map_err(bad_input)?
        .main_edges()
        .collect();
    let road = MainRoad::new(&map.network, &edges);
    let runs = plan.densities.len() * plan.seeds.len();
    let mut started = 0;
    let mut announce = |density: f64, seed: u64| {
        started += 1;
        remark(&format!(
            "run {started} of {runs}: {density} vehicles per km and lane, seed {seed} ..."
        ));
    };
    let diagram = match arguments.traffic {
        TrafficSource::Builtin => measure(&road, &plan, |density, seed| {
            announce(density, seed);
            Builtin::new(&map.network, &builtin(density), seed)
        })
        .map_err(bad_input)?,
        TrafficSource::Sumo => {
            let sumo = Sumo::find().map_err(|error| Failure::Other(error.to_string()))?;
            let source = SumoRuns {
                sumo: &sumo,
                net: &scenario.net(),
                map: &map,
                population: scenario.closed_population(),
                seconds: plan.seconds,
            };
            measure(&road, &plan, |density, seed| {
                announce(density, seed);
                source.run(density, seed).map(Recording::into_replay)
            })
            .map_err(|error| Failure::Other(error.to_string()))?
        }
    };
    report(&scenario.name, &diagram, &arguments.out)
}

fn bad_input(error: impl std::fmt::Display) -> Failure {
    Failure::Input(error.to_string())
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let mut plan = Plan {
        seeds: (1..=arguments.seeds).collect(),
        seconds: arguments.seconds,
        ..Plan::default()
    };
    if let Some(densities) = &arguments.densities {
        plan.densities.clone_from(densities);
        plan.densities.sort_by(f64::total_cmp);
    }
    let positive = |x: f64| x.is_finite() && x > 0.0;
    if let Some(bad) = plan.densities.iter().find(|&&d| !positive(d) || d > 200.0) {
        return Err(Failure::input(
            "--densities",
            format!(
                "found {bad}, expected numbers above 0 and at most 200 vehicles per km and lane"
            ),
        ));
    }
    if plan.densities.is_empty() {
        return Err(Failure::input(
            "--densities",
            "found none, expected at least one",
        ));
    }
    if plan.seeds.is_empty() {
        return Err(Failure::input("--seeds", "found 0, expected at least 1"));
    }
    if !positive(plan.seconds) {
        let problem = format!("found {}, expected a number above 0", plan.seconds);
        return Err(Failure::input("--seconds", problem));
    }
    Ok(plan)
}

/// SUMO runs that differ in density and seed.
struct SumoRuns<'a> {
    sumo: &'a Sumo,
    net: &'a Path,
    map: &'a Map,
    population: ClosedPopulation,
    seconds: f64,
}

impl SumoRuns<'_> {
    fn run(&self, density: f64, seed: u64) -> Result<Recording, Box<SumoError>> {
        let population = ClosedPopulation {
            main_density: density,
            ..self.population.clone()
        };
        let options = RunOptions {
            seed,
            duration_s: self.seconds,
            ..RunOptions::default()
        };
        record_closed(
            self.sumo,
            self.net,
            &self.map.network,
            &population,
            &options,
        )
        .map_err(Box::new)
    }
}

fn report(name: &str, diagram: &Diagram, out: &Path) -> Result<(), Failure> {
    let mut table = Table::new(0, &["set", "density", "flow", "mean speed", "stopped", ""]);
    let units = ["1/km/lane", "1/km/lane", "1/h/lane", "m/s", "%"];
    table.row(units.map(str::to_string).to_vec());
    let mut csv =
        "set_per_km_lane,density_per_km_lane,flow_per_h_lane,speed_m_per_s,stopped_share\n"
            .to_string();
    for s in &diagram.samples {
        table.row(vec![
            format!("{:.1}", s.set),
            format!("{:.1}", s.density),
            format!("{:.0}", s.flow),
            format!("{:.2}", s.speed),
            format!("{:.0}", s.stopped * 100.0),
        ]);
        csv.push_str(&format!(
            "{},{},{},{},{}\n",
            s.set, s.density, s.flow, s.speed, s.stopped
        ));
    }
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::Other(format!("{}: cannot be made: {error}", out.display())))?;
    let figure = out.join("fundamental-diagram.svg");
    write_atomically(&figure, diagram.svg(name).as_bytes())?;
    let data = out.join("fundamental-diagram.csv");
    write_atomically(&data, csv.as_bytes())?;
    print(&format!(
        "{}\n{}\n\n{}\n{}\n",
        table.fit(output_width()),
        diagram.critical,
        figure.display(),
        data.display()
    ))
}
