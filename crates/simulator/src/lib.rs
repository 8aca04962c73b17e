//! One run: a pure function of (scenario, arm, seed).
//!
//! So far this crate reads scenarios; the run itself is to come.

pub mod scenario;

pub use scenario::{Scenario, ScenarioError};
