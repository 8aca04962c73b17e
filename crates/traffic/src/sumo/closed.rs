//! A closed population on any net: set densities, exact counts, random turns, a warmed-up start.
//!
//! Every vehicle has a place of its own on a lane and a route that is longer than it can drive in the time, so nobody enters
//! or leaves. A route is a random walk over the net by turn shares, drawn by (seed, vehicle, junction). Roads that lead
//! nowhere are left out: those from which no way goes on for ever.
//!
//! SUMO first runs for [`ClosedPopulation::warmup_s`] at a coarse step, saves its state, and goes on from there at the
//! simulator's step; teleports are off and collisions are only warned of, since either would take vehicles off the road. The
//! outcome is checked: a frame that lacks a vehicle is an error.
//!
//! A random walk does not keep densities by itself: what main road and side streets hold settles by how long vehicles stay on them. Where
//! the share of vehicles on the main road after the warm-up is off by more than [`ClosedPopulation::tolerance`], the odds
//! of main-road edges at every turn are changed accordingly and the warm-up is run again, a few times at most.

use covey_world::network::{EdgeIx, EdgeKind, LaneIx, Network, Turn};
use covey_world::{Body, VehicleId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::cache::{Key, kept};
use super::discovery::Sumo;
use super::error::SumoError;
use super::process::Running;
use super::run::{RunOptions, capture, common_arguments, fcd_options};
use crate::recorded::VehicleTypes;
use crate::recorded::xml::{attribute, visit_elements};
use crate::{Recording, STEP_US};

/// Space in front of a standing vehicle, in metres: SUMO's default `minGap`.
const MIN_GAP: f64 = 2.5;
/// More space, so that SUMO finds every first place free.
const MARGIN: f64 = 1.0;

/// How likely each direction is at a junction that offers all of them. Only the ratios matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnWeights {
    /// Straight on. Default 0.8.
    pub straight: f64,
    /// Left. Default 0.1.
    pub left: f64,
    /// Right. Default 0.1.
    pub right: f64,
    /// Back. Default 0; taken anyway where there is nothing else.
    pub around: f64,
}

impl Default for TurnWeights {
    fn default() -> Self {
        Self {
            straight: 0.8,
            left: 0.1,
            right: 0.1,
            around: 0.0,
        }
    }
}

/// A closed population.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedPopulation {
    /// Vehicles per km and lane of the main road. Default 43.08, the letter's 1.5 k_c.
    pub main_density: f64,
    /// Vehicles per km and lane of all other roads. Default 12.
    pub side_density: f64,
    /// Names or beginnings of names of the edges that make up the main road. Default empty: the drivable edges of the
    /// highest SUMO priority, and among these the ones with the most lanes.
    pub main_edges: Vec<String>,
    /// Share of heavy vehicles (TR 37.885 type 3, 13 m long and 3 m high), 0 to 1. Default 0.1. SUMO drives them by its
    /// truck's acceleration, but lets them use every lane that is open to cars.
    pub heavy_share: f64,
    /// Which way vehicles go at junctions.
    pub turns: TurnWeights,
    /// Time that a lane change takes, in seconds. Default 2.5; 0 lets vehicles jump to the other lane, as SUMO does unless
    /// told otherwise.
    pub lane_change_s: f64,
    /// Traffic-only time before the first frame, in seconds. Default 300.
    pub warmup_s: f64,
    /// SUMO's step during that time, in seconds. Default 0.5.
    pub warmup_step_s: f64,
    /// By how much the share of vehicles on the main road after the warm-up may miss its aim, relative to it, before the
    /// warm-up is run again with other odds. Default 0.05.
    pub tolerance: f64,
    /// How often the warm-up is run at most. Default 4; 1 leaves the turn weights as they are.
    pub warmups: u32,
}

impl Default for ClosedPopulation {
    fn default() -> Self {
        Self {
            main_density: 43.08,
            side_density: 12.0,
            main_edges: Vec::new(),
            heavy_share: 0.1,
            turns: TurnWeights::default(),
            lane_change_s: 2.5,
            warmup_s: 300.0,
            warmup_step_s: 0.5,
            tolerance: 0.05,
            warmups: 4,
        }
    }
}

impl ClosedPopulation {
    fn check(&self) -> Result<(), SumoError> {
        let check = |field, value: f64, low: f64, high: f64, expected| {
            // Written so that NaN fails.
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(SumoError::Parameter {
                    field,
                    found: value.to_string(),
                    expected,
                })
            }
        };
        let density = "0 to 150 vehicles per km and lane";
        check("main_density", self.main_density, 0.0, 150.0, density)?;
        check("side_density", self.side_density, 0.0, 150.0, density)?;
        check("heavy_share", self.heavy_share, 0.0, 1.0, "0 to 1")?;
        for (field, weight) in [
            ("turns.straight", self.turns.straight),
            ("turns.left", self.turns.left),
            ("turns.right", self.turns.right),
            ("turns.around", self.turns.around),
        ] {
            check(field, weight, 0.0, 1e6, "0 to 1e6")?;
        }
        check("lane_change_s", self.lane_change_s, 0.0, 10.0, "0 to 10 s")?;
        check("warmup_s", self.warmup_s, 0.0, 86_400.0, "0 to 86400 s")?;
        check(
            "warmup_step_s",
            self.warmup_step_s,
            0.01,
            2.0,
            "0.01 to 2 s",
        )?;
        check("tolerance", self.tolerance, 0.0, 10.0, "0 to 10")?;
        check("warmups", f64::from(self.warmups), 1.0, 20.0, "1 to 20")
    }
}

/// Records a closed population on the net at `net`, which was read as `network`.
///
/// Of the options, the scenario's begin and persons have no meaning here; the step is the simulator's unless set.
///
/// # Errors
/// A parameter lies outside its range, the vehicles do not fit, the net has no circuit, SUMO fails, or the population
/// does not stay whole.
pub fn record_closed(
    sumo: &Sumo,
    net: &Path,
    network: &Network,
    population: &ClosedPopulation,
    options: &RunOptions,
) -> Result<Recording, SumoError> {
    population.check()?;
    let (frames, all_frames) = options.frames()?;
    let roads = Roads::new(network, population)?;
    let vehicles = place(network, &roads, population, options.seed)?;
    let aim = vehicles
        .iter()
        .filter(|v| roads.main[v.edge.index()])
        .count();
    let step = options.step_s.unwrap_or(STEP_US as f64 / 1e6);
    let lasts = options.duration_s + options.look_ahead_s + 2.0 * step;
    let folder = WorkFolder::new()?;
    let net = std::path::absolute(net).unwrap_or_else(|_| net.to_owned());
    let run = |routes: &Path| -> Result<std::process::Command, SumoError> {
        let mut command = sumo.command("sumo")?;
        command
            .arg("--net-file")
            .arg(&net)
            .arg("--route-files")
            .arg(routes)
            .args(["--time-to-teleport", "-1", "--collision.action", "warn"])
            .args(["--max-depart-delay", "-1"])
            .args([
                "--lanechange.duration",
                &population.lane_change_s.to_string(),
            ]);
        Ok(command)
    };
    let mut bias = 1.0;
    let mut warmups = 0;
    let (routes, begin, state) = loop {
        warmups += 1;
        let walks = walk(
            network,
            &roads,
            population,
            &vehicles,
            bias,
            options.seed,
            lasts,
        );
        let routes = folder.path.join("routes.rou.xml");
        write(&routes, &routes_xml(network, &vehicles, &walks))?;
        if population.warmup_s <= 0.0 {
            break (walks, 0.0, None);
        }
        let state = folder.path.join("state.xml");
        let mut command = run(&routes)?;
        command
            .args(["--xml-validation", "never", "--xml-validation.net", "never"])
            // A sign of life every now and then.
            .args(["--step-log.period", "20", "--duration-log.disable", "true"])
            .args(["--seed", &options.sumo_seed().to_string()])
            .args(["--step-length", &population.warmup_step_s.to_string()])
            // States are saved before the last step, not after it.
            .args([
                "--end",
                &format!(
                    "{:.3}",
                    population.warmup_s + 2.0 * population.warmup_step_s
                ),
            ])
            .args(["--save-state.times", &format!("{:.3}", population.warmup_s)])
            .args(["--save-state.precision", "4", "--save-state.files"])
            .arg(&state);
        Running::start(command, options.quiet_limit)?.text()?;
        let saved = Saved::read(&state, network, &roads)?;
        if saved.vehicles != vehicles.len() {
            return Err(SumoError::NotClosed {
                found: saved.vehicles,
                expected: vehicles.len(),
                time: saved.time - population.warmup_s,
                said: "(the saved state lacks vehicles)".into(),
            });
        }
        let off = saved.on_main as f64 / (aim as f64).max(1.0) - 1.0;
        if off.abs() <= population.tolerance || warmups >= population.warmups || aim == 0 {
            break (walks, saved.time, Some((state, saved.places)));
        }
        // Whoever is missing on the main road is on the side streets, and the other way round.
        let odds = |main: f64| (main.max(0.5)) / (vehicles.len() as f64 - main).max(0.5);
        bias *= (odds(aim as f64) / odds(saved.on_main as f64))
            .powi(2)
            .clamp(0.1, 10.0);
    };
    let mut command = run(&folder.path.join("routes.rou.xml"))?;
    let mut places = BTreeMap::new();
    if let Some((state, saved)) = state {
        command.arg("--load-state").arg(state);
        places = saved;
    }
    command
        .args(["--begin", &format!("{begin:.3}")])
        .args(["--step-length", &step.to_string()]);
    common_arguments(&mut command, options, begin + lasts);
    let mut types = VehicleTypes::new();
    types.set("car", Body::CAR);
    types.set("heavy", Body::HEAVY);
    let fcd = fcd_options(begin, types);
    let (mut recording, said) = capture(command, network, fcd, all_frames, options.quiet_limit)?;
    for at in 0..frames {
        let found = recording.ids(at).len();
        if found != vehicles.len() {
            return Err(SumoError::NotClosed {
                found,
                expected: vehicles.len(),
                time: at as f64 * STEP_US as f64 / 1e6,
                said,
            });
        }
    }
    recording.derive_next(network);
    intend(&mut recording, network, &routes, &places);
    recording.truncate(frames);
    recording.origin = format!(
        "SUMO {}, closed population of {} ({aim} on the main road), seed {}, {warmups} warm-up(s), main-road odds x {bias:.3}",
        sumo.version,
        vehicles.len(),
        options.seed
    );
    Ok(recording)
}

/// As [`record_closed`], with the recording kept in `folder`.
///
/// # Errors
/// As [`record_closed`]; also if the recording cannot be saved.
pub fn record_closed_cached(
    sumo: &Sumo,
    net: &Path,
    network: &Network,
    population: &ClosedPopulation,
    options: &RunOptions,
    folder: &Path,
) -> Result<Recording, SumoError> {
    let mut key = Key::new("closed population", sumo, network);
    key.add_file(net)?;
    key.add(&format!("{population:?}"));
    let RunOptions {
        seed,
        duration_s,
        step_s,
        look_ahead_s,
        begin_s: _,
        persons: _,
        quiet_limit: _,
    } = options;
    key.add(&format!(
        "{seed} {duration_s:?} {step_s:?} {look_ahead_s:?}"
    ));
    kept(&key, folder, network, || {
        record_closed(sumo, net, network, population, options)
    })
}

/// A folder of our own for the files that SUMO reads and writes, gone with this.
struct WorkFolder {
    path: PathBuf,
}

impl WorkFolder {
    fn new() -> Result<Self, SumoError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let path = std::env::temp_dir().join(format!(
            "covey-sumo-{}-{}",
            std::process::id(),
            COUNTER.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir_all(&path).map_err(|source| SumoError::Write {
            file: path.clone(),
            source,
        })?;
        Ok(Self { path })
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm; the system clears such folders.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn write(file: &Path, text: &str) -> Result<(), SumoError> {
    fs::write(file, text).map_err(|source| SumoError::Write {
        file: file.to_owned(),
        source,
    })
}

/// A way on from the end of an edge.
#[derive(Clone, Copy)]
struct Way {
    from: LaneIx,
    to: EdgeIx,
    turn: Turn,
}

/// What of the net a closed population uses, by edge.
struct Roads {
    /// Ways on to edges that are in use; empty for edges that are not.
    ways: Vec<Vec<Way>>,
    main: Vec<bool>,
}

impl Roads {
    fn new(network: &Network, population: &ClosedPopulation) -> Result<Self, SumoError> {
        let drivable = |lane: LaneIx| network.lanes[lane.index()].drivable;
        let mut ways: Vec<Vec<Way>> = vec![Vec::new(); network.edges.len()];
        for (edge, ways) in network.edges.iter().zip(&mut ways) {
            if edge.kind != EdgeKind::Normal {
                continue;
            }
            for &lane in edge.lanes.iter().filter(|lane| drivable(**lane)) {
                for connection in &network.lanes[lane.index()].outgoing {
                    let connection = &network.connections[connection.index()];
                    let to = network.lanes[connection.to.index()].edge;
                    let normal = network.edges[to.index()].kind == EdgeKind::Normal;
                    if drivable(connection.to) && normal {
                        ways.push(Way {
                            from: lane,
                            to,
                            turn: connection.turn,
                        });
                    }
                }
            }
        }
        // Edges without a way on drop out, then those that led only to them, and so on.
        loop {
            let open: Vec<bool> = ways.iter().map(|w| !w.is_empty()).collect();
            let mut changed = false;
            for ways in &mut ways {
                let before = ways.len();
                ways.retain(|way| open[way.to.index()]);
                changed |= ways.len() != before;
            }
            if !changed {
                break;
            }
        }
        if ways.iter().all(Vec::is_empty) {
            return Err(SumoError::NoCircuit {
                problem: "no road of the net leads on for ever: a closed population needs turnarounds at dead ends (netconvert makes them unless told --no-turnarounds)".into(),
            });
        }
        let main = main_road(network, &ways, population)?;
        Ok(Self { ways, main })
    }

    fn in_use(&self, edge: EdgeIx) -> bool {
        !self.ways[edge.index()].is_empty()
    }
}

/// Which edges make up the main road.
fn main_road(
    network: &Network,
    ways: &[Vec<Way>],
    population: &ClosedPopulation,
) -> Result<Vec<bool>, SumoError> {
    let in_use = || (0..network.edges.len()).filter(|&e| !ways[e].is_empty());
    let mut main = vec![false; network.edges.len()];
    if population.main_edges.is_empty() {
        let lanes = |e: usize| {
            let drivable = |lane: &&LaneIx| network.lanes[lane.index()].drivable;
            network.edges[e].lanes.iter().filter(drivable).count()
        };
        let rank = |e: usize| (network.edges[e].priority, lanes(e));
        if let Some(best) = in_use().map(rank).max() {
            in_use()
                .filter(|&e| rank(e) == best)
                .for_each(|e| main[e] = true);
        }
        return Ok(main);
    }
    for prefix in &population.main_edges {
        let mut any = false;
        for e in in_use().filter(|&e| network.edges[e].name.starts_with(prefix.as_str())) {
            main[e] = true;
            any = true;
        }
        if !any {
            return Err(SumoError::Parameter {
                field: "main_edges",
                found: format!("`{prefix}`"),
                expected: "the beginning of an edge's name, of an edge that cars can drive on and get away from",
            });
        }
    }
    Ok(main)
}

/// What random draws decide. The numbers are part of every result: never change one.
#[derive(Clone, Copy)]
enum Purpose {
    /// Which vehicles are heavy.
    Kind = 1,
    /// Which way to go at a junction.
    Turn = 2,
}

/// A number in [0, 1) that depends on nothing but what it is for.
fn draw(seed: u64, purpose: Purpose, vehicle: u64, n: u64) -> f64 {
    let mut hasher = blake3::Hasher::new();
    for part in [seed, purpose as u64, vehicle, n] {
        hasher.update(&part.to_le_bytes());
    }
    let mut bits = [0; 8];
    hasher.finalize_xof().fill(&mut bits);
    (u64::from_le_bytes(bits) >> 11) as f64 / (1u64 << 53) as f64
}

/// A vehicle and its first place.
struct Placed {
    heavy: bool,
    edge: EdgeIx,
    lane: LaneIx,
    /// Of the front bumper, in metres.
    position: f64,
}

/// Gives every vehicle a place: exact counts, spread evenly over each group's lanes.
fn place(
    network: &Network,
    roads: &Roads,
    population: &ClosedPopulation,
    seed: u64,
) -> Result<Vec<Placed>, SumoError> {
    let mut vehicles = Vec::new();
    for (main, road, density) in [
        (true, "main road", population.main_density),
        (false, "side streets", population.side_density),
    ] {
        let lanes: Vec<LaneIx> = (0u32..)
            .map(LaneIx)
            .take(network.lanes.len())
            .filter(|lane| {
                let lane = &network.lanes[lane.index()];
                lane.drivable && roads.in_use(lane.edge) && roads.main[lane.edge.index()] == main
            })
            .collect();
        let length = |lane: usize| network.lanes[lanes[lane].index()].length;
        let metres: f64 = (0..lanes.len()).map(length).sum();
        let wanted = (metres / 1000.0 * density).round() as usize;
        // Each takes the lane that is the least full and has room, the first of equals.
        let key = |taken: f64, lane: usize| Reverse(((taken / length(lane) * 1e9) as u64, lane));
        let mut emptiest: BinaryHeap<_> = (0..lanes.len()).map(|lane| key(0.0, lane)).collect();
        let mut members: Vec<Vec<(f64, bool)>> = vec![Vec::new(); lanes.len()];
        let mut taken = vec![0.0; lanes.len()];
        let mut placed = 0;
        let mut all_taken = 0.0;
        for k in 0..wanted {
            let id = (vehicles.len() + k) as u64;
            let heavy = draw(seed, Purpose::Kind, id, 0) < population.heavy_share;
            let body = if heavy { Body::HEAVY } else { Body::CAR };
            let space = body.length + MIN_GAP + MARGIN;
            all_taken += space;
            let mut full = Vec::new();
            while let Some(top) = emptiest.pop() {
                let lane = top.0.1;
                if taken[lane] + space <= length(lane) {
                    taken[lane] += space;
                    members[lane].push((space, heavy));
                    emptiest.push(key(taken[lane], lane));
                    placed += 1;
                    break;
                }
                full.push(top);
            }
            emptiest.extend(full);
        }
        if placed < wanted {
            let spacing = all_taken / wanted as f64;
            return Err(SumoError::TooDense {
                road,
                wanted,
                room: placed,
                spacing: (spacing * 10.0).round() / 10.0,
                most: 0.9 * placed as f64 / (metres / 1000.0),
            });
        }
        for (lane, members) in members.iter().enumerate() {
            let free = (length(lane) - taken[lane]) / members.len().max(1) as f64;
            let mut filled = 0.0;
            for &(space, heavy) in members {
                filled += space + free / 2.0;
                vehicles.push(Placed {
                    heavy,
                    edge: network.lanes[lanes[lane].index()].edge,
                    lane: lanes[lane],
                    position: filled - MARGIN,
                });
                filled += free / 2.0;
            }
        }
    }
    if vehicles.is_empty() {
        return Err(SumoError::NoCircuit {
            problem: "no vehicles: the roads in use are too short for one at these densities"
                .into(),
        });
    }
    Ok(vehicles)
}

/// A route for every vehicle, longer than it can drive in the time.
fn walk(
    network: &Network,
    roads: &Roads,
    population: &ClosedPopulation,
    vehicles: &[Placed],
    bias: f64,
    seed: u64,
    lasts: f64,
) -> Vec<Vec<EdgeIx>> {
    // SUMO's drivers wish for up to twice the limit at the most, and hardly ever for 1.4 times.
    let seconds = |edge: EdgeIx| {
        let lanes = network.edges[edge.index()].lanes.iter();
        lanes
            .map(|lane| &network.lanes[lane.index()])
            .map(|lane| lane.length / (1.5 * lane.speed_limit).max(1.0))
            .fold(f64::INFINITY, f64::min)
            .max(0.01)
    };
    let weights = &population.turns;
    let weight = |way: &Way| {
        let turn = match way.turn {
            Turn::Straight => weights.straight,
            Turn::Left => weights.left,
            Turn::Right => weights.right,
            Turn::Around => weights.around,
            Turn::Other => 0.0,
        };
        turn * if roads.main[way.to.index()] {
            bias
        } else {
            1.0
        }
    };
    let needed = population.warmup_s + lasts + 30.0;
    let mut walks = Vec::with_capacity(vehicles.len());
    for (id, vehicle) in vehicles.iter().enumerate() {
        let mut route = vec![vehicle.edge];
        let mut edge = vehicle.edge;
        let mut time = 0.0;
        let mut n = 0;
        while time < needed {
            // One entry for each edge that can be reached, however many lanes lead there.
            let mut offers: BTreeMap<EdgeIx, f64> = BTreeMap::new();
            let ways = &roads.ways[edge.index()];
            // At first only what the lane offers, if it offers anything: nobody shall begin by blocking others.
            let own = n == 0 && ways.iter().any(|way| way.from == vehicle.lane);
            for way in ways.iter().filter(|way| !own || way.from == vehicle.lane) {
                let offer = offers.entry(way.to).or_insert(0.0);
                *offer = offer.max(weight(way));
            }
            let total: f64 = offers.values().sum();
            let mut left = draw(seed, Purpose::Turn, id as u64, n);
            left *= if total > 0.0 {
                total
            } else {
                offers.len() as f64
            };
            let mut chosen = None;
            for (&to, &weight) in &offers {
                let weight = if total > 0.0 { weight } else { 1.0 };
                if weight > 0.0 {
                    chosen = Some(to);
                }
                left -= weight;
                if left < 0.0 && chosen.is_some() {
                    break;
                }
            }
            let Some(next) = chosen else { break };
            route.push(next);
            edge = next;
            time += seconds(edge);
            n += 1;
        }
        walks.push(route);
    }
    walks
}

/// A name in XML.
fn escaped(name: &str) -> std::borrow::Cow<'_, str> {
    quick_xml::escape::escape(name)
}

fn routes_xml(network: &Network, vehicles: &[Placed], walks: &[Vec<EdgeIx>]) -> String {
    let mut out = String::from("<routes>\n");
    // Sizes by TR 37.885; dynamics are SUMO's for cars and trucks.
    for (id, body, dynamics) in [
        (
            "car",
            Body::CAR,
            "accel=\"2.6\" decel=\"4.5\" speedDev=\"0.1\"",
        ),
        (
            "heavy",
            Body::HEAVY,
            "accel=\"1.3\" decel=\"4\" maxSpeed=\"36.11\" speedDev=\"0.05\" guiShape=\"truck\"",
        ),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<vType id=\"{id}\" vClass=\"passenger\" length=\"{}\" width=\"{}\" height=\"{}\" minGap=\"{MIN_GAP}\" {dynamics}/>",
            body.length, body.width, body.height
        );
    }
    for (id, (vehicle, walk)) in vehicles.iter().zip(walks).enumerate() {
        let kind = if vehicle.heavy { "heavy" } else { "car" };
        let _ = write!(
            out,
            "<vehicle id=\"{id}\" type=\"{kind}\" depart=\"0\" departLane=\"{}\" departPos=\"{:.2}\" departSpeed=\"0\"><route edges=\"",
            network.lanes[vehicle.lane.index()].index,
            vehicle.position
        );
        for (i, edge) in walk.iter().enumerate() {
            if i > 0 {
                out.push(' ');
            }
            out.push_str(&escaped(&network.edges[edge.index()].name));
        }
        out.push_str("\"/></vehicle>\n");
    }
    out.push_str("</routes>\n");
    out
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

/// Fills in what drivers mean to do next where they have not been seen to do it: it is in their routes.
fn intend(
    recording: &mut Recording,
    network: &Network,
    routes: &[Vec<EdgeIx>],
    places: &BTreeMap<String, usize>,
) {
    // By vehicle: its route and how far it is on it.
    let mut known: Vec<(&[EdgeIx], usize)> = (0..recording.vehicles())
        .map(|id| {
            let name = recording.name(VehicleId(id as u32)).unwrap_or("");
            let number = name.parse::<usize>().ok();
            let route = number.and_then(|n| routes.get(n)).map_or(&[][..], |r| r);
            (route, places.get(name).copied().unwrap_or(0))
        })
        .collect();
    recording.fill_next(|id, lane| {
        let (route, at) = &mut known[id.0 as usize];
        let lane = &network.lanes[lane.index()];
        // Frames are close together: at most a very short edge is missed.
        let ahead = route.get(*at..)?.iter().take(3);
        *at += ahead.copied().position(|edge| edge == lane.edge)?;
        let next = *route.get(*at + 1)?;
        let edge_of = |lane: LaneIx| network.lanes[lane.index()].edge;
        let ways = lane.outgoing.iter().copied();
        ways.into_iter()
            .find(|c| edge_of(network.connections[c.index()].to) == next)
    });
}
