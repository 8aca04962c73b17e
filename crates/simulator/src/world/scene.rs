//! One instant, as sensors and antennas meet it. Nobody's view and nobody's links touch another's, so places can be shared out
//! among threads.

use std::ops::Range;

use covey_world::sight::Observed;

use super::road::Road;
use crate::gang::Gang;
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
    /// Who may work on it.
    pub(super) gang: &'a Gang,
}

impl Scene<'_> {
    /// Shares all places out among workers, in order, a piece each. Gives the CPU seconds of threads other than the caller's.
    pub(super) fn share_out<W: Send>(
        &self,
        workers: &mut [W],
        work: impl Fn(&mut W, Range<u32>) + Sync,
    ) -> f64 {
        let size = self.road.size() as u32;
        let share = size.div_ceil(workers.len().max(1) as u32);
        let piece = |(number, worker): (u32, _)| {
            let begin = (number * share).min(size);
            (begin..(begin + share).min(size), worker)
        };
        let pieces = (0u32..).zip(workers).map(piece).collect();
        self.gang
            .share(pieces, |(places, worker): (Range<u32>, &mut W)| {
                work(worker, places);
            })
    }
}
