//! Plays a simulated world into real nodes, each a process of its own, and measures them as the simulator is measured.
//!
//! The world runs in this process, a step of 50 ms every 50 ms. Every node is told where its vehicle is and what it sees, a few
//! milliseconds ahead and with the time at which that holds; frames go through a relay that loses, delays and cuts. At the step at
//! which the simulator asks what everyone knows, the nodes are asked the same. Beside them the same arm runs in the simulator, on
//! a channel that loses nothing, over the same world, whose places are rounded as messages round them.

mod cast;
mod flood;
mod nodes;
mod played;
mod player;
mod relay;
mod report;
mod stage;
mod told;

use std::path::PathBuf;
use std::time::Duration;

use covey_radio::CollisionLaw;
use covey_simulator::scenario::Scenario;
use covey_simulator::{Arm, MapReference, Prepared, RunOptions, simulate};
use covey_traffic::builtin::Builtin;
use thiserror::Error;

use crate::clock::{its_micros, wall_micros};
use crate::secure::pki::{make_authorities, make_tickets};

pub use cast::choose;
pub use played::Kill;
pub use report::{Report, Side};
pub use stage::abandon;
pub use told::AsTold;

/// How frames travel between the nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// In network namespaces where there are rights to make them, else over the loopback interface.
    Auto,
    /// Every node in a network namespace of its own, with raw Ethernet.
    Namespaces,
    /// UDP on the loopback interface.
    Loopback,
}

/// What is played, and what goes wrong.
#[derive(Debug, Clone)]
pub struct Options {
    /// The scenario file.
    pub scenario: PathBuf,
    /// How many vehicles have a radio: each is a node.
    pub nodes: usize,
    /// Of the traffic.
    pub seed: u64,
    /// By what hosts choose.
    pub arm: String,
    /// Seconds before measuring.
    pub warmup_s: f64,
    /// Seconds to measure.
    pub measure_s: f64,
    /// Share of frames that a receiver loses.
    pub loss: f64,
    /// Frames arrive so much later, in milliseconds.
    pub delay_ms: f64,
    /// From when to when, in seconds, the two halves of the nodes do not hear each other.
    pub partitions: Vec<(f64, f64)>,
    /// When, in seconds, the host of the fullest tile is killed.
    pub kills: Vec<f64>,
    /// Seconds after which a killed node is started again; none: it stays dead.
    pub revive_s: Option<f64>,
    /// Frames a second that a stranger sends, and from when to when.
    pub flood: Option<(f64, f64, f64)>,
    /// When the clocks of all nodes are set, and by how many milliseconds.
    pub clock_step: Option<(f64, f64)>,
    /// Frames are signed and checked.
    pub signed: bool,
    /// How often names change, with signatures; 0: never.
    pub change_s: f64,
    /// How frames travel.
    pub network: Network,
    /// The program that `node` is a command of.
    pub program: PathBuf,
    /// Where sockets, logs and keys go.
    pub folder: PathBuf,
    /// All frames as a capture.
    pub pcap: Option<PathBuf>,
}

/// Why a drive cannot be made.
#[derive(Debug, Error)]
pub enum DriveError {
    /// An option or file is wrong.
    #[error("{0}")]
    Input(String),
    /// The machine does not let us.
    #[error("{0}")]
    Machine(String),
}

fn input(error: impl ToString) -> DriveError {
    DriveError::Input(error.to_string())
}

/// Time that nodes have to start.
const START: Duration = Duration::from_millis(1_500);

impl Options {
    fn check(&self) -> Result<(), DriveError> {
        let wrong = |key: &str, found: f64, expected: &str| {
            Err(DriveError::Input(format!(
                "{key}: found {found}, expected {expected}"
            )))
        };
        if !(1..=64).contains(&self.nodes) {
            return wrong("--nodes", self.nodes as f64, "1 to 64");
        }
        if !(0.0..=1.0).contains(&self.loss) {
            return wrong("--loss", self.loss, "a share from 0 to 1");
        }
        if !(0.0..=1_000.0).contains(&self.delay_ms) {
            return wrong("--delay", self.delay_ms, "0 to 1000 ms");
        }
        for &(from, to) in &self.partitions {
            if !(from >= 0.0 && to > from) {
                return wrong("--partition", from, "FROM..TO in seconds, FROM before TO");
            }
        }
        if let Some((rate, from, to)) = self.flood
            && !((1.0..=100_000.0).contains(&rate) && from >= 0.0 && to > from)
        {
            return wrong(
                "--flood",
                rate,
                "RATE@FROM..TO, 1 to 100000 frames a second",
            );
        }
        Ok(())
    }
}

/// Reads the scenario and gives a radio to the vehicles that are nodes alone; gives these, too.
///
/// # Errors
/// The scenario is wrong, or there are not so many vehicles.
pub fn prepare(options: &Options) -> Result<(Prepared, Vec<u32>), DriveError> {
    let mut scenario = Scenario::read(&options.scenario).map_err(input)?;
    scenario.penetration = 1.0;
    scenario.unequipped.clear();
    scenario.stations.clear();
    scenario.evaluation.sample_one_in = 1;
    // What messages weigh in bytes, as the nodes send them.
    scenario.sizes = covey_simulator::readings::SizeModel::Uper;
    // Nothing is lost beside the nodes but what passes the tile's capacity.
    scenario.channel.collision = CollisionLaw::PowerLaw {
        coefficient: 0.0,
        exponent: 1.0,
    };
    scenario.channel.subframes_per_s = 1e9;
    scenario.channel.tx_power_dbm = 60.0;
    let prepared = Prepared::new(&scenario).map_err(input)?;
    let seconds = options.warmup_s + options.measure_s;
    let (chosen, others) =
        cast::choose(&prepared, options.seed, seconds, options.nodes).map_err(DriveError::Input)?;
    scenario.unequipped = others;
    let prepared = Prepared::new(&scenario).map_err(input)?;
    Ok((prepared, chosen))
}

/// Plays it, and says how it went. `tell` hears how far it is.
///
/// # Errors
/// An option or file is wrong, or the machine does not let us.
pub fn run(options: &Options, tell: &mut dyn FnMut(&str)) -> Result<Report, DriveError> {
    options.check()?;
    let (prepared, chosen) = prepare(options)?;
    let arm: Arm = options.arm.parse().map_err(input)?;
    if arm.profile(0, &prepared).is_none() {
        return Err(DriveError::Input(format!(
            "--arm: found `{arm}`, expected an arm with hosts, such as proposed@0.4"
        )));
    }
    std::fs::create_dir_all(&options.folder)
        .map_err(|error| DriveError::Machine(format!("{}: {error}", options.folder.display())))?;
    if options.signed {
        make_keys(options, chosen.len())?;
    }
    let stage = stage::Stage::build(options.network, chosen.len())?;
    tell(&format!("{} nodes over {}", chosen.len(), stage.describe()));
    let reference = MapReference::of(&prepared.scenario, &prepared.map).map_err(input)?;
    let relay = relay::Relay::start(&stage, options)?;
    let nodes = nodes::Nodes::start(options, &stage, &chosen)?;
    // The beginning of a cycle, so that slots of both worlds are the same.
    let begin = wall_micros() + START.as_micros() as i64;
    let begin = begin - its_micros(begin).rem_euclid(200_000) + 200_000;
    relay.begin(begin);
    let traffic = Builtin::new(
        &prepared.map.network,
        &prepared.scenario.traffic,
        options.seed,
    )
    .map_err(input)?;
    let mut traffic = AsTold::new(traffic, &prepared)?;
    let run_options = RunOptions {
        warmup_s: options.warmup_s,
        measure_s: options.measure_s,
        threads: 1,
    };
    let tile_m = prepared.scenario.protocol.tile_m;
    let mut player = player::Player::new(options, &relay, nodes, reference, (begin, tile_m), tell);
    let outcome = simulate(
        &prepared,
        &mut traffic,
        &[arm],
        options.seed,
        &run_options,
        &mut player,
    )
    .map_err(input)?;
    let played = player.finish();
    let heard = relay.stop();
    if let Some(path) = &options.pcap {
        relay::write_capture(path, &heard)
            .map_err(|error| DriveError::Machine(format!("{}: {error}", path.display())))?;
    }
    let capacity =
        prepared.scenario.protocol.capacity_bytes_per_s * prepared.scenario.protocol.cycle_s;
    Ok(report::make(
        options,
        &stage.describe(),
        &outcome,
        played,
        &heard,
        &chosen,
        (begin, capacity),
    ))
}

/// Keys and certificates for all nodes, made once in a folder.
fn make_keys(options: &Options, nodes: usize) -> Result<(), DriveError> {
    let folder = options.folder.join("pki");
    if !folder.join("root.cert").exists() {
        make_authorities(&folder).map_err(input)?;
    }
    let count = if options.change_s > 0.0 { 8 } else { 1 };
    for node in 0..nodes {
        let tickets = options.folder.join(format!("tickets-{node}"));
        if !tickets.exists() {
            make_tickets(&folder, &tickets, count, 24 * 7, 0).map_err(input)?;
        }
    }
    Ok(())
}
