//! One vehicle: where it is, what it means to do, what it has been promised.

use super::config::DriverModel;
use super::roads::NONE;
use covey_draws::Series;
use covey_world::Body;

/// A short list in place, first element first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Short<const N: usize> {
    items: [u32; N],
    len: u8,
}

impl<const N: usize> Short<N> {
    pub(crate) const fn new() -> Self {
        Self {
            items: [NONE; N],
            len: 0,
        }
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.items[..self.len as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() == N
    }

    /// How many more fit.
    pub(crate) fn room(&self) -> usize {
        N - self.len()
    }

    pub(crate) fn first(&self) -> Option<u32> {
        self.as_slice().first().copied()
    }

    pub(crate) fn get(&self, i: usize) -> Option<u32> {
        self.as_slice().get(i).copied()
    }

    /// Adds at the end; the list must not be full.
    pub(crate) fn push(&mut self, item: u32) {
        self.items[self.len()] = item;
        self.len += 1;
    }

    /// Adds at the front and gives back what falls off the end of a full list.
    pub(crate) fn push_front(&mut self, item: u32) -> Option<u32> {
        let lost = self.is_full().then(|| self.items[N - 1]);
        self.items.copy_within(0..N - 1, 1);
        self.items[0] = item;
        self.len = (self.len + 1).min(N as u8);
        lost
    }

    pub(crate) fn pop_front(&mut self) -> Option<u32> {
        let first = self.first()?;
        self.items.copy_within(1..N, 0);
        self.len -= 1;
        Some(first)
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u8);
    }
}

/// Why a vehicle was not let through a gate in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// It was let through, or is far from any gate.
    None,
    /// The light is not green.
    Signal,
    /// Somebody inside the junction is in the way.
    Conflict,
    /// Somebody who has right of way is coming.
    Yield,
    /// There is no room behind the junction.
    Room,
}

#[derive(Debug, Clone)]
pub(crate) struct Vehicle {
    pub(crate) body: Body,
    /// How it is driven.
    pub(crate) model: DriverModel,
    /// Wished speed over the limit.
    pub(crate) factor: f64,
    /// The track of the front bumper.
    pub(crate) track: u32,
    /// Place of the front bumper on it, m.
    pub(crate) position: f64,
    /// m/s.
    pub(crate) speed: f64,
    /// The speed after this step.
    pub(crate) next_speed: f64,
    /// Change of speed, m/s², smoothed over half a second: single steps are ruled by the driver's imperfection.
    pub(crate) accel: f64,
    /// Tracks behind the current one that the body still covers, nearest first.
    pub(crate) trail: Short<8>,
    /// Tracks ahead, nearest first.
    pub(crate) path: Short<14>,
    /// Length of all tracks in `path`, m.
    pub(crate) path_metres: f64,
    /// How many tracks of `path` it is bound to: it has passed, or can no longer stop before, their gates.
    pub(crate) bound: usize,
    /// The streets meant, one for the end of the current lane (or of the next lane, inside a junction) and each further lane.
    pub(crate) wants: Short<6>,
    /// How many turning decisions it has drawn.
    pub(crate) decisions: u64,
    /// The lane that it leaves in a lane change, or [`NONE`].
    pub(crate) shadow: u32,
    /// Lateral distance at the beginning of the lane change, m to the left.
    pub(crate) lateral: f64,
    /// Distance along the lane at that moment, m: places on two lanes of a bend do not lie exactly side by side.
    pub(crate) slip: f64,
    /// How much of the lane change is done, 0 to 1.
    pub(crate) progress: f64,
    /// Seconds since the last lane change ended.
    pub(crate) settled: f64,
    pub(crate) denial: Denial,
    /// Seconds that it has stood at a gate although its light was green.
    pub(crate) waited: f64,
    /// How often it has chosen another way since the last gate because there was no room behind the junction.
    pub(crate) reroutes: u32,
    /// Somebody it leaves a gap for, or [`NONE`], and seconds that it goes on doing so.
    pub(crate) helps: (u32, f64),
    pub(crate) dawdle: Series,
    pub(crate) turns: Series,
}

impl Vehicle {
    /// Length of the box, m.
    pub(crate) fn length(&self) -> f64 {
        self.body.length
    }

    /// Length and the gap kept when standing, m.
    pub(crate) fn space(&self) -> f64 {
        self.body.length + self.model.min_gap
    }
}

#[cfg(test)]
mod tests {
    use super::Short;

    #[test]
    fn a_short_list_works_at_both_ends() {
        let mut list: Short<3> = Short::new();
        list.push(1);
        list.push(2);
        assert_eq!(list.push_front(0), None);
        assert_eq!(list.as_slice(), [0, 1, 2]);
        assert_eq!(list.push_front(9), Some(2));
        assert_eq!(list.pop_front(), Some(9));
        assert_eq!(list.as_slice(), [0, 1]);
        list.truncate(1);
        assert_eq!(list.as_slice(), [0]);
    }
}
