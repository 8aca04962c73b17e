//! One run: a pure function of (scenario, arm, seed).
//!
//! What does not depend on who transmits (traffic, sight, links, relevance) is computed once per scenario and seed and shared by
//! all arms, which advance in lockstep.

// The tests' small worlds serve in here too.
#[cfg(test)]
extern crate self as covey_simulator;

#[cfg(test)]
mod agreement;
mod air;
pub mod arm;
mod awareness;
mod beaconing;
pub mod calibrate;
pub mod capture;
pub mod conduct;
pub mod cpu;
mod cured;
pub mod errors;
pub mod georeference;
mod hosted;
mod metric;
pub mod observe;
mod omniscient;
pub mod outcome;
mod pair_memory;
mod path_cells;
mod policies;
mod prepared;
pub mod readings;
pub mod recording;
mod rivals;
mod road_map;
mod run;
pub mod scenario;
mod scene;
mod senders;
mod shared;
mod sizes;
mod slots;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use arm::{Arm, ArmError, Contender, PolicyMaker, Strategy};
pub use capture::{Capture, CaptureFilter};
pub use georeference::MapReference;
pub use observe::{Nobody, Observer};
pub use outcome::{CycleRow, Outcome, SharedOutcome, Timing};
pub use prepared::Prepared;
pub use run::{FrameSource, RunError, RunOptions, SeedOutcome, simulate, simulate_contenders};
pub use scenario::{Scenario, ScenarioError};
