//! Compares the built-in traffic with SUMO on the same net: mean speed, share stopped, headways and flow on the main road.
//!
//! ```text
//! cargo run --release -p covey-traffic --example compare_sumo -- NET OUT_DIR [--sumo PATH] [--seeds N] [--ring] DENSITY...
//! ```
//!
//! Both get the same vehicles at the same first places and 300 s of warm-up. With `--ring` nobody turns off the main road and
//! the side streets are empty. Otherwise SUMO's vehicles follow routes drawn beforehand with the same turn shares, bent by
//! the mean factor that kept the built-in main road at its density; since nothing keeps SUMO's main road there, a third row
//! gives the built-in traffic with as many vehicles on the main road as SUMO had. Without `--sumo` only the built-in figures
//! are printed.
#![allow(clippy::print_stdout, reason = "it is a command")]

use covey_draws::SplitMix;
use covey_traffic::Source;
use covey_traffic::builtin::{Builtin, BuiltinConfig, TurnShares};
use covey_world::network::{Network, Turn};
use covey_world::scene::BodyKind;
use covey_world::xml::Limits;
use covey_world::{Frame, VehicleState};
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Failure = Box<dyn std::error::Error>;

const WARM_UP: f64 = 300.0;
const MEASURED: f64 = 240.0;
/// Vehicles are looked at this often, s.
const SAMPLE: f64 = 0.5;

/// What is known of a vehicle at an instant.
struct Sighting {
    vehicle: usize,
    lane: usize,
    position: f64,
    speed: f64,
}

/// Statistics of the main road.
#[derive(Default)]
struct Statistics {
    runs: usize,
    samples: usize,
    vehicles: f64,
    main: f64,
    speed: f64,
    stopped: f64,
    /// Time of the last passage over the middle of each lane.
    last_passage: Vec<f64>,
    headways: Vec<f64>,
    passages: usize,
    before: Vec<(usize, f64, f64)>,
}

struct Roads {
    /// For each lane: part of the main road.
    main: Vec<bool>,
    /// For each lane: a street of the main road, not inside a junction.
    street: Vec<bool>,
    lane_km: f64,
    detectors: usize,
    middle: Vec<f64>,
}

impl Roads {
    fn new(network: &Network, traffic: &Builtin) -> Self {
        let mut main = vec![false; network.lanes.len()];
        for edge in traffic.main_edges() {
            for lane in &network.edges[edge.index()].lanes {
                main[lane.index()] = network.lanes[lane.index()].drivable;
            }
        }
        let street = main.clone();
        for connection in &network.connections {
            if street[connection.from.index()] && street[connection.to.index()] {
                for lane in &connection.via {
                    main[lane.index()] = true;
                }
            }
        }
        Self {
            detectors: street.iter().filter(|&&s| s).count(),
            middle: network.lanes.iter().map(|l| l.length / 2.0).collect(),
            main,
            street,
            lane_km: traffic.main_lane_km(),
        }
    }
}

impl Statistics {
    /// Begins another run, whose times have nothing to do with those before.
    fn begin(&mut self) {
        self.runs += 1;
        self.last_passage.clear();
        self.before.clear();
    }

    fn main_density(&self, roads: &Roads) -> f64 {
        self.main / self.samples as f64 / roads.lane_km
    }

    fn add(&mut self, roads: &Roads, time: f64, sightings: &[Sighting]) {
        self.last_passage.resize(roads.main.len(), f64::NAN);
        self.samples += 1;
        self.vehicles += sightings.len() as f64;
        for s in sightings {
            if roads.main[s.lane] {
                self.main += 1.0;
                self.speed += s.speed;
                self.stopped += f64::from(s.speed < 0.1);
            }
            if self.before.len() <= s.vehicle {
                self.before.resize(s.vehicle + 1, (usize::MAX, 0.0, 0.0));
            }
            let (lane, position, at) = self.before[s.vehicle];
            let middle = roads.middle[s.lane];
            if lane == s.lane && roads.street[lane] && position < middle && s.position >= middle {
                let share = (middle - position) / (s.position - position);
                let passed = at + share * (time - at);
                let last = &mut self.last_passage[lane];
                if last.is_finite() {
                    self.headways.push(passed - *last);
                }
                *last = passed;
                self.passages += 1;
            }
            self.before[s.vehicle] = (s.lane, s.position, time);
        }
    }

    fn row(&mut self, name: &str, density: f64, roads: &Roads) -> String {
        self.headways.sort_by(f64::total_cmp);
        // Longer pauses are red lights, not following.
        let following = self.headways.partition_point(|&h| h < 10.0);
        let headways = &self.headways[..following];
        let quantile = |q: f64| {
            let n = headways.len();
            if n == 0 {
                f64::NAN
            } else {
                headways[((n - 1) as f64 * q).round() as usize]
            }
        };
        let mean = headways.iter().sum::<f64>() / headways.len().max(1) as f64;
        let n = self.samples as f64;
        let seconds = self.runs as f64 * MEASURED;
        let flow = self.passages as f64 / seconds * 3600.0 / roads.detectors as f64;
        format!(
            "| {density:.2} | {name} | {:.0} | {:.1} | {:.2} | {:.1} | {flow:.0} | {mean:.2} | {:.2} / {:.2} / {:.2} |",
            self.vehicles / n,
            self.main_density(roads),
            self.speed / self.main,
            100.0 * self.stopped / self.main,
            quantile(0.1),
            quantile(0.5),
            quantile(0.9),
        )
    }
}

struct Options {
    net: PathBuf,
    out: PathBuf,
    sumo: Option<PathBuf>,
    seeds: u64,
    ring: bool,
    densities: Vec<f64>,
}

fn options() -> Result<Options, Failure> {
    let mut plain = Vec::new();
    let (mut sumo, mut seeds, mut ring) = (None, 1, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--sumo" => sumo = args.next().map(PathBuf::from),
            "--seeds" => seeds = args.next().ok_or("--seeds needs a number")?.parse()?,
            "--ring" => ring = true,
            _ => plain.push(arg),
        }
    }
    if plain.len() < 3 {
        return Err(
            "usage: compare_sumo NET OUT_DIR [--sumo PATH] [--seeds N] [--ring] DENSITY...".into(),
        );
    }
    Ok(Options {
        net: plain[0].clone().into(),
        out: plain[1].clone().into(),
        sumo,
        seeds,
        ring,
        densities: plain[2..]
            .iter()
            .map(|d| d.parse())
            .collect::<Result<_, _>>()?,
    })
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    std::fs::create_dir_all(&options.out)?;
    let (network, _) = Network::read(&options.net, Limits::default())?;
    println!(
        "| density set | source | vehicles | main density | mean speed m/s | stopped % | flow veh/h/lane | headway mean s | 10/50/90 % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &density in &options.densities {
        let config = config(density, options.ring);
        let unmoved = BuiltinConfig {
            warmup_s: 0.0,
            ..config.clone()
        };
        let first = Builtin::new(&network, &unmoved, 1)?;
        let roads = Roads::new(&network, &first);
        let (mut ours, mut theirs) = (Statistics::default(), Statistics::default());
        for seed in 1..=options.seeds {
            let (bias, actions) = run_builtin(&network, &config, seed, &roads, &mut ours)?;
            println!("<!-- seed {seed}: bias {bias:.2}, {actions} -->");
            if let Some(sumo) = &options.sumo {
                let start = Builtin::new(&network, &unmoved, seed)?;
                let run = SumoRun {
                    options: &options,
                    sumo,
                    network: &network,
                    roads: &roads,
                    seed,
                };
                run.run(start, bias, &mut theirs)?;
            }
        }
        println!("{}", ours.row("built-in", density, &roads));
        if options.sumo.is_some() {
            println!("{}", theirs.row("SUMO", density, &roads));
        }
        if options.sumo.is_some() && !options.ring {
            let found = theirs.main_density(&roads);
            let summary = first.summary();
            let side_km = (summary.vehicles - summary.on_main) as f64 / summary.side_density;
            let on_side = summary.vehicles as f64 - found * roads.lane_km;
            let alike = BuiltinConfig {
                main_density: found,
                side_density: on_side / side_km,
                ..config.clone()
            };
            let mut matched = Statistics::default();
            for seed in 1..=options.seeds {
                run_builtin(&network, &alike, seed, &roads, &mut matched)?;
            }
            println!(
                "{}",
                matched.row("built-in, SUMO's density", density, &roads)
            );
        }
    }
    Ok(())
}

fn config(density: f64, ring: bool) -> BuiltinConfig {
    let mut config = BuiltinConfig {
        main_density: density,
        warmup_s: WARM_UP,
        ..BuiltinConfig::default()
    };
    if ring {
        config.side_density = 0.0;
        config.turn_shares = TurnShares {
            straight: 1.0,
            left: 0.0,
            right: 0.0,
            around: 0.0,
        };
        config.density_gain = 0.0;
    }
    config
}

fn run_builtin(
    network: &Network,
    config: &BuiltinConfig,
    seed: u64,
    roads: &Roads,
    statistics: &mut Statistics,
) -> Result<(f64, String), Failure> {
    let mut traffic = Builtin::new(network, config, seed)?;
    let mut frame = Frame::default();
    statistics.begin();
    let every = (SAMPLE * 1000.0 / f64::from(config.step_ms)) as usize;
    let steps = (MEASURED / SAMPLE) as usize * every;
    let mut bias = 0.0;
    for step in 0..=steps {
        traffic.next_frame(&mut frame)?;
        bias += libm::log(traffic.turning_bias());
        if step % every == 0 {
            let sightings: Vec<Sighting> = frame.vehicles.iter().filter_map(sighting).collect();
            statistics.add(roads, frame.time_us as f64 / 1e6, &sightings);
        }
    }
    let bias = libm::exp(bias / (steps + 1) as f64);
    Ok((bias, format!("{:?}", traffic.interventions())))
}

fn sighting(vehicle: &VehicleState) -> Option<Sighting> {
    Some(Sighting {
        vehicle: vehicle.id.0 as usize,
        lane: vehicle.lane?.index(),
        position: vehicle.lane_position,
        speed: vehicle.speed,
    })
}

/// The edges of a random walk by the turn shares.
fn route(
    network: &Network,
    roads: &Roads,
    start: usize,
    ring: bool,
    bias: f64,
    random: &mut SplitMix,
) -> String {
    let mut edge = start;
    let mut text = network.edges[edge].name.clone();
    for _ in 0..400 {
        let mut choices: Vec<(usize, Turn)> = Vec::new();
        for lane in &network.edges[edge].lanes {
            for c in &network.lanes[lane.index()].outgoing {
                let c = &network.connections[c.index()];
                let to = network.lanes[c.to.index()].edge.index();
                if !choices.iter().any(|&(e, _)| e == to) {
                    choices.push((to, c.turn));
                }
            }
        }
        let weight = |&(to, turn): &(usize, Turn)| {
            let share = match turn {
                Turn::Straight | Turn::Other => 0.8,
                Turn::Left | Turn::Right if ring => 1e-9,
                Turn::Left | Turn::Right => 0.1,
                Turn::Around => 1e-12,
            };
            let alike = choices.iter().filter(|c| c.1 == turn).count() as f64;
            let first = network.edges[to].lanes[0];
            share / alike
                * if roads.street[first.index()] {
                    bias
                } else {
                    1.0
                }
        };
        let mut at = random.unit() * choices.iter().map(weight).sum::<f64>();
        let Some(mut next) = choices.last().copied() else {
            break;
        };
        for choice in &choices {
            if at < weight(choice) {
                next = *choice;
                break;
            }
            at -= weight(choice);
        }
        edge = next.0;
        let _ = write!(text, " {}", network.edges[edge].name);
    }
    text
}

struct SumoRun<'a> {
    options: &'a Options,
    sumo: &'a Path,
    network: &'a Network,
    roads: &'a Roads,
    seed: u64,
}

impl SumoRun<'_> {
    #[expect(
        clippy::too_many_lines,
        reason = "one comparison from top to bottom, step by step"
    )]
    fn run(
        &self,
        mut start: Builtin,
        bias: f64,
        statistics: &mut Statistics,
    ) -> Result<(), Failure> {
        let SumoRun {
            options,
            sumo,
            network,
            roads,
            seed,
        } = *self;
        let mut frame = Frame::default();
        start.next_frame(&mut frame)?;
        let mut random = SplitMix::new(seed);
        let mut text = String::from(
            "<routes>\n<vType id=\"car\" length=\"5\" width=\"2\" minGap=\"2.5\" accel=\"2.6\" decel=\"4.5\" sigma=\"0.5\" tau=\"1\" speedFactor=\"normc(1,0.1,0.2,2)\"/>\n<vType id=\"heavy\" length=\"13\" width=\"2.6\" minGap=\"2.5\" accel=\"1.3\" decel=\"4.0\" sigma=\"0.5\" tau=\"1\" maxSpeed=\"36.11\" speedFactor=\"normc(1,0.05,0.2,2)\"/>\n",
        );
        for vehicle in &frame.vehicles {
            let Some(lane) = vehicle.lane else { continue };
            let lane = &network.lanes[lane.index()];
            let kind = if vehicle.body.kind == BodyKind::Heavy {
                "heavy"
            } else {
                "car"
            };
            let edges = route(
                network,
                roads,
                lane.edge.index(),
                options.ring,
                bias,
                &mut random,
            );
            let _ = writeln!(
                text,
                "<vehicle id=\"{}\" type=\"{kind}\" depart=\"0\" departLane=\"{}\" departPos=\"{:.2}\" departSpeed=\"0\" insertionChecks=\"none\"><route edges=\"{edges}\"/></vehicle>",
                vehicle.id.0, lane.index, vehicle.lane_position
            );
        }
        text.push_str("</routes>\n");
        let file = |name: &str| options.out.join(name);
        std::fs::write(file("population.rou.xml"), text)?;
        let state = file("state.xml.gz");
        // SUMO's lights start at second 0; ours stand at their time -300 s, so both see the same phases only if the cycle
        // divides 300 s. That does not matter for means over two cycles.
        let warm = Command::new(sumo)
            .arg("-n")
            .arg(&options.net)
            .arg("-r")
            .arg(file("population.rou.xml"))
            .args(["--step-length", "0.25", "--no-step-log", "--no-warnings"])
            .args(["--time-to-teleport", "-1", "--seed", &seed.to_string()])
            .args(["--end", "300", "--save-state.times", "299"])
            .arg("--save-state.files")
            .arg(&state)
            .stdout(Stdio::null())
            .status()?;
        if !warm.success() {
            return Err("SUMO failed in the warm-up".into());
        }
        let csv = file("fcd.csv");
        let end = 299.0 + MEASURED + SAMPLE;
        let run = Command::new(sumo)
            .arg("-n")
            .arg(&options.net)
            .arg("-r")
            .arg(file("population.rou.xml"))
            .args(["--step-length", "0.05", "--no-step-log", "--no-warnings"])
            .args(["--time-to-teleport", "-1", "--seed", &seed.to_string()])
            .args(["--begin", "299", "--end", &end.to_string()])
            .arg("--load-state")
            .arg(&state)
            .arg("--fcd-output")
            .arg(&csv)
            .args([
                "--fcd-output.attributes",
                "speed,lane,pos",
                "--device.fcd.period",
                "0.5",
            ])
            .stdout(Stdio::null())
            .status()?;
        if !run.success() {
            return Err("SUMO failed".into());
        }
        statistics.begin();
        read_fcd(&csv, network, roads, statistics)
    }
}

fn read_fcd(
    csv: &Path,
    network: &Network,
    roads: &Roads,
    statistics: &mut Statistics,
) -> Result<(), Failure> {
    let by_name: std::collections::HashMap<&str, usize> = network
        .lanes
        .iter()
        .enumerate()
        .map(|(i, l)| (l.name.as_str(), i))
        .collect();
    let mut lines = std::io::BufReader::new(std::fs::File::open(csv)?).lines();
    let header = lines.next().ok_or("empty FCD")??;
    let columns: Vec<&str> = header.split(';').collect();
    let column = |name: &str| {
        columns
            .iter()
            .position(|c| {
                c.trim_end_matches(|x: char| x.is_whitespace())
                    .ends_with(name)
            })
            .ok_or_else(|| format!("no column {name} in {header}"))
    };
    let (time, id, lane, position, speed) = (
        column("time")?,
        column("id")?,
        column("lane")?,
        column("pos")?,
        column("speed")?,
    );
    let mut now = f64::NAN;
    let mut sightings = Vec::new();
    for line in lines {
        let line = line?;
        let fields: Vec<&str> = line.split(';').collect();
        let at: f64 = fields[time].parse()?;
        if at != now {
            if !sightings.is_empty() {
                statistics.add(roads, now, &sightings);
            }
            sightings.clear();
            now = at;
        }
        if let Some(&lane) = by_name.get(fields[lane]) {
            sightings.push(Sighting {
                vehicle: fields[id].parse()?,
                lane,
                position: fields[position].parse()?,
                speed: fields[speed].parse()?,
            });
        }
    }
    statistics.add(roads, now, &sightings);
    Ok(())
}
