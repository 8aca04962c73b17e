//! One run: a pure function of (scenario, arm, seed).
//!
//! What does not depend on who transmits (traffic, sight, links, relevance) is computed once per scenario and seed and shared by
//! all arms, which advance in lockstep.

pub mod arm;
pub mod outcome;
pub mod recording;
pub mod scenario;

pub use arm::{Arm, ArmError, Strategy};
pub use outcome::{CycleRow, Outcome, SharedOutcome, Timing};
pub use scenario::{Scenario, ScenarioError};
