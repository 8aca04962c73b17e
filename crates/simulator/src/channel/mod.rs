//! The channel as the arms use it: what messages weigh, when their containers are due, what is offered and carried, and who
//! heard what.

mod air;
mod heard;
mod lanes;
mod parcel;
mod scheduled;
mod sizes;
mod timing;
mod told;

pub(crate) use air::{Air, Carried};
pub(crate) use heard::{BeaconHistory, HeardByLane};
pub(crate) use lanes::{BeaconLanes, BeaconStatistics, DrawnBeacons};
pub(crate) use parcel::{Class, Parcel};
pub(crate) use scheduled::{Arrived, Ticket};
pub(crate) use sizes::Sizes;
pub(crate) use timing::{BeaconClock, DueBeacons, chance, sensor_information_is_due};
pub(crate) use told::{Speaker, Told};
