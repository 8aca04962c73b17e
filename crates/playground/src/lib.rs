//! A junction to play with.
//!
//! A [`Scene`] says which vehicles are where at one moment, which of them have a radio, and which buildings stand there. [`answer`]
//! lets the last seconds before that moment pass under each of some arms, with the code that every other run uses: traffic at
//! constant speed, sight, the channel, beacons, hosts, reports and broadcasts. What it gives back is what everyone misses at that moment, who
//! could have told, and who speaks.
//!
//! The crate needs no files and no threads, so that it runs in a web page: its program takes a scene from standard input and
//! writes the answer to standard output (target `wasm32-wasip1`). What does not depend on the scene is prepared once and kept from call to
//! call: same scene, same answer.

mod scene;
mod watch;

use std::sync::OnceLock;

use covey_simulator::{Arm, Prepared, RunOptions, Scenario, simulate};
use covey_world::xml::Limits;
use covey_world::{Map, Network};
use serde::Serialize;

pub use scene::{Building, Scene, Vehicle};
pub use watch::{ArmAnswer, Hidden, Missed, Told};

/// The bundled junction: four arms of 200 m, one lane each way.
const NET: &str = include_str!("../../../scenarios/toy/blind-junction/blind-junction.net.xml");

/// Seconds up to the moment in which is counted who reports, and how full the channel is.
const LAST_S: f64 = 1.0;

/// What a scene comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// By arm, in the order asked for.
    pub arms: Vec<ArmAnswer>,
    /// What is wrong with the scene; empty where nothing is.
    pub error: String,
}

/// Reads a scene and lets it pass; an error is part of the answer.
#[must_use]
pub fn answer(request: &str) -> String {
    let answer = Scene::parse(request).and_then(|scene| play(&scene));
    let answer = answer.unwrap_or_else(|error| Answer {
        arms: Vec::new(),
        error,
    });
    serde_json::to_string(&answer).unwrap_or_default()
}

/// Lets a scene pass under each of its arms.
///
/// # Errors
/// An arm is not known, or something in the scene makes no sense; the text says what.
pub fn play(scene: &Scene) -> Result<Answer, String> {
    let arms = scene
        .arms
        .iter()
        .map(|name| {
            name.parse::<Arm>()
                .map_err(|error| format!("arms: {error}"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let scenario = scenario(scene)?;
    let base = base(&scenario)?;
    let prepared = base
        .among(&scenario, scene.buildings())
        .map_err(|error| error.to_string())?;
    let mut traffic = scene.traffic(&prepared.map.network);
    let options = RunOptions {
        warmup_s: scene.seconds - LAST_S,
        measure_s: LAST_S,
        threads: 1,
    };
    let mut watch = watch::Watch::new(&arms);
    simulate(
        &prepared,
        &mut traffic,
        &arms,
        scene.seed,
        &options,
        &mut watch,
    )
    .map_err(|error| error.to_string())?;
    Ok(Answer {
        arms: watch.finish(),
        error: String::new(),
    })
}

/// The junction without buildings, and all that depends on its roads and the channel alone.
fn base(scenario: &Scenario) -> Result<&'static Prepared, String> {
    static BASE: OnceLock<Prepared> = OnceLock::new();
    if let Some(base) = BASE.get() {
        return Ok(base);
    }
    let (network, _) = Network::read_from("playground.net.xml", NET.as_bytes(), Limits::default())
        .map_err(|error| error.to_string())?;
    let map = Map {
        network,
        buildings: Vec::new(),
    };
    let base = Prepared::with_map(scenario, map).map_err(|error| error.to_string())?;
    Ok(BASE.get_or_init(|| base))
}

/// The blind junction's scenario with the scene's numbers.
fn scenario(scene: &Scene) -> Result<Scenario, String> {
    // Vehicles that have a radio are of one type, the others of another: nothing is drawn.
    let text = format!(
        "name = \"playground\"\npenetration = 1.0\nmap.net = \"playground.net.xml\"\n\
         [grid]\norigin_x_m = -250.0\norigin_y_m = -250.0\n\
         [protocol]\ntarget = {:?}\ncapacity_bytes_per_s = {:?}\nprice_step = {:?}\n\
         [[types]]\nname = \"with\"\nradio = 1.0\n[[types]]\nname = \"without\"\nradio = 0.0\n",
        scene.target, scene.capacity_bytes_per_s, scene.price_step
    );
    Scenario::parse("the scene", &text).map_err(|error| error.to_string())
}
