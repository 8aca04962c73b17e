//! The threads of a run: how many may be at work at once, and work that they share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::cpu::thread_cpu_s;

/// Pieces of shared work for each thread: small enough that none waits long for the last.
const PIECES: usize = 8;
/// More pieces are not made: each has working memory of its own.
const MOST_PIECES: usize = 64;

/// The threads that may be at work, that of the caller included.
#[derive(Debug)]
pub(crate) struct Gang {
    size: usize,
    idle: AtomicUsize,
}

impl Gang {
    /// So many threads, of which the caller's is at work.
    pub(crate) fn new(threads: usize) -> Self {
        let size = threads.max(1);
        Self {
            size,
            idle: AtomicUsize::new(size - 1),
        }
    }

    /// How many there are.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Into how many pieces to cut what they share.
    pub(crate) fn pieces(&self) -> usize {
        match self.size {
            1 => 1,
            size => (size * PIECES).min(MOST_PIECES),
        }
    }

    /// One more may be at work from now on, if one was idle.
    pub(crate) fn take(&self) -> bool {
        let less = |idle: usize| idle.checked_sub(1);
        let (set, fetch) = (Ordering::AcqRel, Ordering::Acquire);
        self.idle.fetch_update(set, fetch, less).is_ok()
    }

    /// One that was at work is idle.
    pub(crate) fn give(&self) {
        self.idle.fetch_add(1, Ordering::AcqRel);
    }

    /// Does all of some work: the caller, and whoever is idle or comes to be while there is some left. Gives the CPU seconds of the
    /// others.
    pub(crate) fn share<I: Send>(&self, pieces: Vec<I>, work: impl Fn(I) + Sync) -> f64 {
        if self.size == 1 || pieces.len() < 2 {
            pieces.into_iter().for_each(work);
            return 0.0;
        }
        let pieces = Mutex::new(pieces.into_iter());
        let left = || pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let next = || left().next();
        let help = || {
            while let Some(piece) = next() {
                work(piece);
            }
            self.give();
            thread_cpu_s()
        };
        thread::scope(|scope| {
            let mut helpers = Vec::new();
            while let Some(piece) = next() {
                while helpers.len() + 1 < self.size && left().len() > 0 && self.take() {
                    helpers.push(scope.spawn(help));
                }
                work(piece);
            }
            let joined = helpers.into_iter().map(|helper| {
                helper
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_done_once_and_nobody_stays_away() {
        for threads in [1, 2, 5] {
            let gang = Gang::new(threads);
            let mut done = vec![0; 40];
            for _ in 0..3 {
                gang.share(done.iter_mut().collect(), |done: &mut i32| *done += 1);
            }
            assert!(done.iter().all(|&times| times == 3), "{done:?}");
            let mut idle = 0;
            while gang.take() {
                idle += 1;
            }
            assert_eq!(idle + 1, gang.size());
        }
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let gang = Gang::new(2);
        let work = || {
            gang.share((0..9).collect(), |piece: i32| {
                assert!(piece < 5, "piece {piece}");
            })
        };
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        assert!(told.is_err());
    }
}
