//! Vehicle states over time: one trait, three sources.

#[cfg(feature = "import")]
pub mod import;
#[cfg(feature = "files")]
pub mod recorded;
#[cfg(feature = "files")]
pub mod recording;
#[cfg(feature = "files")]
pub mod sumo;
#[cfg(feature = "files")]
pub mod trajectories;

#[cfg(feature = "files")]
pub use recording::Recording;

use covey_world::{Frame, VehicleId};

/// Microseconds from one frame to the next: every source gives 20 frames a second.
pub const STEP_US: i64 = 50_000;

pub mod builtin;
pub mod fundamental;

/// A source of traffic: all vehicles, step by step.
///
/// Every source gives the same frames whenever it is run with the same inputs.
pub trait Source {
    /// What may go wrong on the way.
    type Error: std::error::Error;

    /// The next step's vehicles, written into `frame` (whose buffers are reused); `false` when there is no more.
    ///
    /// # Errors
    /// Whatever keeps the source from going on: a broken recording, a dead subprocess.
    fn next_frame(&mut self, frame: &mut Frame) -> Result<bool, Self::Error>;

    /// The name by which the source's own files know a vehicle that was in a frame, where there is one.
    fn vehicle_name(&self, _id: VehicleId) -> Option<&str> {
        None
    }

    /// The type that the source's own files give a vehicle that was in a frame, where there is one.
    fn vehicle_type(&self, _id: VehicleId) -> Option<&str> {
        None
    }
}
