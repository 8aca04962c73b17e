//! One run: a pure function of (scenario, arm, seed).
//!
//! What does not depend on who transmits (traffic, sight, links, relevance) is computed once per scenario and seed and shared by
//! all arms, which advance in lockstep.

mod air;
pub mod arm;
mod awareness;
pub mod calibrate;
mod demanded;
mod hosted;
mod metric;
pub mod observe;
mod omniscient;
pub mod outcome;
mod policies;
mod prepared;
pub mod readings;
mod rivals;
mod road_map;
mod run;
pub mod scenario;
mod senders;
mod shared;
mod sizes;
mod slots;

pub use arm::{Arm, ArmError, Contender, PolicyMaker, Strategy};
pub use observe::{Nobody, Observer};
pub use outcome::{CycleRow, Outcome, SharedOutcome, Timing};
pub use prepared::Prepared;
pub use run::{FrameSource, RunError, RunOptions, SeedOutcome, simulate, simulate_contenders};
pub use scenario::{Scenario, ScenarioError};
