//! One run: a pure function of (scenario, arm, seed).
//!
//! What does not depend on who transmits (traffic, sight, links, relevance) is computed once per scenario and seed and shared by
//! all arms, which advance in lockstep.

// The tests' small worlds serve in here too.
#[cfg(test)]
extern crate self as covey_simulator;

#[cfg(test)]
mod agreement;
pub mod arms;
pub mod calibrate;
mod calibrated;
mod channel;
pub mod classes;
pub mod conduct;
pub mod cpu;
pub mod errors;
pub mod features;
mod gang;
mod ids;
pub mod learned;
mod measure;
pub mod onnx;
pub mod outcome;
mod prepared;
pub mod readings;
pub mod rivals;
mod run;
pub mod scenario;
mod sensing;
mod stack;
pub mod stations;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
mod world;

pub use arms::{Arm, ArmError, Arms, Strategy};
#[cfg(feature = "files")]
pub use measure::capture::{Capture, CaptureFilter};
pub use measure::events;
pub use measure::events::{Nobody, Observer, Tee};
#[cfg(feature = "files")]
pub use measure::{capture, recording};
pub use outcome::{CycleRow, Outcome, SharedOutcome, Timing};
pub use prepared::{MapReference, Prepared};
pub use run::{FrameSource, RunError, RunOptions, SeedOutcome, simulate, simulate_together};
pub use scenario::{Scenario, ScenarioError};
