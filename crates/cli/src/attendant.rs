//! Whoever looks after a run in place of the terminal.

use std::fmt;
use std::sync::atomic::AtomicBool;

pub use covey_experiment::pool::{PoolState, WorkerState};

/// Hears what a run has to say, sees how far it is, and may end it: what the terminal and signals do for the program `covey`.
pub trait Attendant: fmt::Debug + Send + Sync {
    /// Something that a person should know.
    fn remark(&self, text: &str);

    /// Jobs of these names begin.
    fn begin(&self, names: &[String]);

    /// How far they are; about ten times a second, from the thread that called.
    fn progress(&self, state: &PoolState);

    /// The run waits for something else, such as the folder of another process; as often.
    fn look(&self);

    /// Set to end the run. What is finished by then is kept.
    fn stop(&self) -> &AtomicBool;

    /// What tells this program, with its arms, from every other: results of another are never mixed in.
    fn program(&self) -> &str;
}
