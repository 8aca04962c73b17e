//! Vehicle states over time: one trait, three sources.

use covey_world::Frame;

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
}
