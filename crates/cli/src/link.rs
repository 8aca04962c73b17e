//! `covey link`: the mean channel at one point.

use clap::{Args, ValueEnum};
use covey_radio::{Channel, ChannelParameters, LinkKind};
use serde::Serialize;

use crate::failure::{Failure, print};

/// Show the mean channel between two vehicles as JSON
///
/// Mean means: without shadowing, and with the mean blockage of a car between two cars where a vehicle blocks the line of
/// sight. Delivery is the chance that one message is decoded: (1 - bler)(1 - collision_loss).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey link --distance 150 --state los\n  \
    covey link --distance 150 --state nlosv --load 0.9 | jq .delivery")]
pub(crate) struct Arguments {
    /// Distance between the antennas, in metres
    #[arg(long, value_name = "M")]
    distance: f64,
    /// What lies between: nothing, a vehicle, or a building
    #[arg(long, value_enum)]
    state: State,
    /// Offered load of the receiver's tile, as a share of its capacity; 0.64 is beacons alone in the letter's setting
    #[arg(long, value_name = "L", default_value_t = 0.64)]
    load: f64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    /// Line of sight
    Los,
    /// Blocked by a vehicle
    Nlosv,
    /// Blocked by a building
    Nlos,
}

#[derive(Debug, Serialize)]
struct Output {
    distance_m: f64,
    state: &'static str,
    load: f64,
    path_loss_db: f64,
    snr_db: f64,
    bler: f64,
    collision_loss: f64,
    delivery: f64,
    in_range: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let not_negative = |name: &str, x: f64| {
        if x.is_finite() && x >= 0.0 {
            Ok(())
        } else {
            Err(Failure::input(
                name,
                format!("found {x}, expected a number of at least 0"),
            ))
        }
    };
    not_negative("--distance", arguments.distance)?;
    not_negative("--load", arguments.load)?;
    let channel = Channel::new(ChannelParameters::default())
        .map_err(|error| Failure::Other(error.to_string()))?;
    let (kind, state) = match arguments.state {
        State::Los => (LinkKind::Los, "los"),
        State::Nlosv => (LinkKind::NlosV, "nlosv"),
        State::Nlos => (LinkKind::Nlos, "nlos"),
    };
    let link = channel.mean(arguments.distance, kind, arguments.load);
    let output = Output {
        distance_m: arguments.distance,
        state,
        load: arguments.load,
        path_loss_db: link.path_loss_db,
        snr_db: link.snr_db,
        bler: link.bler,
        collision_loss: link.collision_loss,
        delivery: link.delivery,
        in_range: link.in_range,
    };
    let json = serde_json::to_string(&output).map_err(|error| Failure::Other(error.to_string()))?;
    print(&format!("{json}\n"))
}
