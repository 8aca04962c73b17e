//! `covey link`: the mean channel at one point.

use clap::{Args, ValueEnum};
use covey_radio::{Channel, ChannelParameters, LinkKind, PoolChoice, PoolPreset, sidelink};
use serde::Serialize;

use crate::failure::{Failure, print};

/// Show the mean channel between two vehicles as JSON
///
/// Mean means: without shadowing (runs draw it for every link), and with the mean blockage of a car between two cars where a vehicle blocks the line of
/// sight. Delivery is the chance that one message is decoded: (1 - bler)(1 - collision_loss).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    covey link --distance 150 --state los\n  \
    covey link --distance 150 --state nlosv --load 0.9 | jq .delivery\n  \
    covey link --distance 250 --state nlos --channel sps --pool europe --bytes 134")]
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
    /// How the channel is modelled; slot by slot there is no load and no collision loss, only noise: nobody else sends
    #[arg(long, value_enum, default_value_t = Model::Load)]
    channel: Model,
    /// The resource pool of --channel sps
    #[arg(long, value_enum, default_value_t = PoolName::Letter)]
    pool: PoolName,
    /// The size of the message of --channel sps, in bytes
    #[arg(long, value_name = "B", default_value_t = 121)]
    bytes: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Model {
    /// By load
    Load,
    /// Slot by slot
    Sps,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PoolName {
    /// 2 subchannels of 25 resource blocks, MCS 6
    Letter,
    /// 5 subchannels of 10 resource blocks, MCS 7
    Europe,
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
    shadowing: &'static str,
}

/// What the numbers say of shadowing.
const SHADOWING: &str = "left out";

#[derive(Debug, Serialize)]
struct SidelinkOutput {
    distance_m: f64,
    state: &'static str,
    path_loss_db: f64,
    received_dbm: f64,
    rsrp_dbm: f64,
    /// By transmission: subchannels of each.
    blocks: Vec<u8>,
    snr_db: f64,
    control_bler: f64,
    bler: f64,
    delivery: f64,
    sensed_as_busy: bool,
    in_range: bool,
    shadowing: &'static str,
}

/// The mean channel slot by slot: one message, nobody else sends.
fn show_sidelink(
    arguments: &Arguments,
    kind: LinkKind,
    state: &'static str,
) -> Result<(), Failure> {
    let other = |error: covey_radio::ParameterError| Failure::Other(error.to_string());
    let preset = match arguments.pool {
        PoolName::Letter => PoolPreset::Letter,
        PoolName::Europe => PoolPreset::Europe,
    };
    let mut parameters = ChannelParameters::default();
    parameters.sidelink.pool = PoolChoice::Preset(preset);
    let channel = Channel::new(parameters).map_err(other)?;
    let link =
        sidelink::mean_link(&channel, arguments.distance, kind, arguments.bytes).map_err(other)?;
    let output = SidelinkOutput {
        distance_m: arguments.distance,
        state,
        path_loss_db: link.path_loss_db,
        received_dbm: link.received_dbm,
        rsrp_dbm: link.rsrp_dbm,
        blocks: link.blocks,
        snr_db: link.snr_db,
        control_bler: link.control_bler,
        bler: link.bler,
        delivery: link.delivery,
        sensed_as_busy: link.busy,
        in_range: channel.mean(arguments.distance, kind, 0.0).in_range,
        shadowing: SHADOWING,
    };
    let json = serde_json::to_string(&output).map_err(|error| Failure::Other(error.to_string()))?;
    print(&format!("{json}\n"))
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
    if arguments.channel == Model::Sps {
        return show_sidelink(arguments, kind, state);
    }
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
        shadowing: SHADOWING,
    };
    let json = serde_json::to_string(&output).map_err(|error| Failure::Other(error.to_string()))?;
    print(&format!("{json}\n"))
}
