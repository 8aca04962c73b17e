//! A junction to play with.
//!
//! A [`Scene`] says which vehicles are where at one moment, which of them have a radio, and which buildings stand there. [`answer`]
//! lets the last three seconds before that moment pass under each of some arms, with the code that every other run uses: traffic at
//! constant speed, sight, the channel, beacons, hosts, reports and broadcasts. What it gives back is what everyone misses at that moment, who
//! could have told, and who speaks.
//!
//! The crate needs no files, no threads and no clock, so that it runs in a web page: its program takes a scene from standard input and
//! writes the answer to standard output (target `wasm32-wasip1`).

mod scene;
mod watch;

use covey_simulator::{Arm, Prepared, RunOptions, Scenario, simulate};
use serde::Serialize;

pub use scene::{Building, Scene, Vehicle};
pub use watch::{ArmAnswer, Missed};

/// The bundled junction: four arms of 200 m, one lane each way.
const NET: &str = include_str!("../../../scenarios/toy/blind-junction/blind-junction.net.xml");

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
    let map = scene.map(NET)?;
    let prepared = Prepared::with_map(&scenario, map).map_err(|error| error.to_string())?;
    let mut traffic = scene.traffic(&prepared.map.network);
    let options = RunOptions {
        warmup_s: scene::SECONDS - prepared.scenario.protocol.cycle_s,
        measure_s: prepared.scenario.protocol.cycle_s,
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
        arms: watch.finish(scene),
        error: String::new(),
    })
}

/// The blind junction's scenario with the scene's numbers.
fn scenario(scene: &Scene) -> Result<Scenario, String> {
    // Vehicles that have a radio are of one type, the others of another: nothing is drawn.
    let text = format!(
        "name = \"playground\"\npenetration = 1.0\nmap.net = \"playground.net.xml\"\n\
         [grid]\norigin_x_m = -250.0\norigin_y_m = -250.0\n\
         [protocol]\ntarget = {}\ncapacity_bytes_per_s = {}\n\
         [[types]]\nname = \"with\"\nradio = 1.0\n[[types]]\nname = \"without\"\nradio = 0.0\n",
        scene.target, scene.capacity_bytes_per_s
    );
    Scenario::parse("the scene", &text).map_err(|error| error.to_string())
}
