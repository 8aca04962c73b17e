//! Tables that are made beside the work, one at a time, as more of it is done.

use std::thread::ScopedJoinHandle;

use covey_experiment::pool::PoolState;

/// Has tables made beside the work, one at a time, and hands them out.
pub(crate) struct Teller<'scope, F> {
    make: F,
    /// Seeds of the last table.
    told: usize,
    making: Option<ScopedJoinHandle<'scope, Option<String>>>,
}

impl<'scope, F> Teller<'scope, F>
where
    F: FnMut() -> ScopedJoinHandle<'scope, Option<String>>,
{
    /// Tables are made by `make`, on a thread of its own: drawing seeds anew takes longer than a signal may wait.
    pub(crate) fn new(make: F) -> Self {
        Self {
            make,
            told: 0,
            making: None,
        }
    }

    /// A table that has been made since the last look.
    pub(crate) fn look(&mut self, state: &PoolState) -> Option<String> {
        if self.making.is_none() && is_due(state.done, self.told, state.jobs) {
            self.told = state.done;
            self.making = Some((self.make)());
        }
        let made = self.making.take_if(|making| making.is_finished())?;
        made.join().ok().flatten()
    }
}

/// So many finished seeds are worth a table: 1, 2, 4, 8, …, and not the last, whose results follow anyway.
fn is_due(done: usize, told: usize, of: usize) -> bool {
    done < of && done > told && (told == 0 || done >= 2 * told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_early_and_then_less_often() {
        let mut told = 0;
        let mut tables = Vec::new();
        for done in 0..=17 {
            if is_due(done, told, 17) {
                told = done;
                tables.push(done);
            }
        }
        assert_eq!(tables, [1, 2, 4, 8, 16]);
        assert!(!is_due(1, 0, 1), "the results follow");
        assert!(is_due(3, 1, 17), "two that end at once are one table");
    }
}
