//! SUMO as a subprocess.
//!
//! SUMO is looked for on `PATH`, in `SUMO_HOME` and in a venv called `.venv` of the working folder or one above it
//! ([`Sumo::find`]). A user's scenario is run as it was published ([`SumoConfig`], [`record`]); a closed population at set
//! densities is made for any net ([`closed`]). Either way the outcome is a [`Recording`](crate::Recording), so that every
//! arm replays the same traffic; [`record_cached`] keeps it on disk.
//!
//! SUMO runs in a folder of ours and writes floating-car data to a pipe, which is read as it comes: nothing is written in the user's
//! folders, whatever outputs their files name, and memory does not grow with the length of the output. A SUMO that says nothing for [`RunOptions::quiet_limit`] is ended and
//! reported; one that fails is reported with the end of what it said. The process never outlives its [`process::Running`], nor this
//! process, however that ends.

mod cache;
pub mod closed;

mod config;
mod discovery;
mod error;
mod outputs;
pub mod process;
mod run;
mod workspace;

pub use cache::{is_current_trace, record_cached};
pub use closed::{ClosedPopulation, record_closed, record_closed_cached};
pub use config::SumoConfig;
pub use discovery::{Search, Sumo};
pub use error::SumoError;
pub use run::{RunOptions, record};
