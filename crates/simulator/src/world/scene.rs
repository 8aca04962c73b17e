//! One instant, as sensors and antennas meet it. What is seen and who is linked do not touch each other, so both can be found
//! at the same time.

use covey_world::sight::Observed;

use super::road::Road;
use crate::ids::Step;
use crate::prepared::Prepared;

/// The vehicles of one step.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) seed: u64,
    pub(super) step: Step,
    pub(super) observed: Observed<'a>,
    pub(super) road: &'a Road,
}
