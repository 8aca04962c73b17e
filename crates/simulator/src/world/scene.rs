//! One instant, as sensors and antennas meet it. Nobody's view and nobody's links touch another's, so places can be shared out
//! among threads.

use std::ops::Range;
use std::thread;

use covey_world::sight::Observed;

use super::road::Road;
use crate::cpu::thread_cpu_s;
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
    /// Threads that may work on it, at least one.
    pub(super) threads: usize,
}

impl Scene<'_> {
    /// Shares all places out among workers, in order; each has a thread, the first that of the caller. Gives the CPU seconds of
    /// the others.
    pub(super) fn share_out<W: Send>(
        &self,
        workers: &mut [W],
        work: impl Fn(&mut W, Range<u32>) + Sync,
    ) -> f64 {
        let size = self.road.size() as u32;
        let share = size.div_ceil(workers.len().max(1) as u32);
        let places = |number: u32| {
            let begin = (number * share).min(size);
            begin..(begin + share).min(size)
        };
        match workers {
            [] => 0.0,
            [all] => {
                work(all, places(0));
                0.0
            }
            [first, others @ ..] => thread::scope(|scope| {
                let work = &work;
                let helpers: Vec<_> = (1..)
                    .zip(others)
                    .map(|(number, worker)| {
                        let places = places(number);
                        scope.spawn(move || {
                            work(worker, places);
                            thread_cpu_s()
                        })
                    })
                    .collect();
                work(first, places(0));
                let joined = helpers.into_iter().map(|helper| {
                    helper
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                });
                joined.sum()
            }),
        }
    }
}
