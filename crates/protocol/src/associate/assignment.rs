//! Which track each entry of one look is.

use alloc::vec::Vec;

use super::{Accuracy, Seen, Spread};

/// So many pairs tell the offset of a report.
const LEAST_PAIRS: usize = 3;

/// A fitting pair.
#[derive(Debug, Clone, Copy)]
struct Fit {
    cost: f64,
    track: u32,
    entry: u32,
}

/// Which track each entry of a look is, and room to find out.
#[derive(Debug, Clone, Default)]
pub(super) struct Assignment {
    /// By entry; none for none of them.
    pub(super) track_of: Vec<Option<u32>>,
    /// By entry: how far off its track it is, in squared standard deviations.
    cost_of: Vec<f64>,
    /// The variance that these are told in, in m².
    variance: f64,
    fits: Vec<Fit>,
    /// By track: the number of the assignment in which it was taken last.
    taken: Vec<u64>,
    number: u64,
    offsets: Vec<[f64; 2]>,
    values: Vec<f64>,
}

impl Assignment {
    /// Finds which of `tracks` each of `entries` is. `near(entry)` gives the tracks to try, ascending.
    pub(super) fn find<'n>(
        &mut self,
        tracks: &[Seen],
        entries: &[Seen],
        accuracy: Accuracy,
        near: impl Fn(usize) -> &'n [u32],
    ) {
        let [apart, aligned] = accuracy.variances();
        self.fit(tracks, entries, [0.0, 0.0], accuracy.spread(apart), &near);
        if aligned >= apart {
            return;
        }
        self.offsets.clear();
        for (track, entry) in self.track_of.iter().zip(entries) {
            if let Some(track) = *track {
                let (here, _) = tracks[track as usize].moved(entry.at);
                let off = [entry.position.x - here.x, entry.position.y - here.y];
                self.offsets.push(off);
            }
        }
        if self.offsets.len() < LEAST_PAIRS {
            return;
        }
        let offset = [self.middle(0), self.middle(1)];
        self.fit(tracks, entries, offset, accuracy.spread(aligned), &near);
    }

    /// The same where all entries are off by so much.
    fn fit<'n>(
        &mut self,
        tracks: &[Seen],
        entries: &[Seen],
        offset: [f64; 2],
        spread: Spread,
        near: &impl Fn(usize) -> &'n [u32],
    ) {
        self.variance = spread.variance;
        self.fits.clear();
        for (number, entry) in entries.iter().enumerate() {
            for &track in near(number) {
                let seen = &tracks[track as usize];
                if let Some(cost) = seen.distance(entry, offset, spread) {
                    let entry = number as u32;
                    self.fits.push(Fit { cost, track, entry });
                }
            }
        }
        self.take_nearest(tracks.len(), entries.len());
    }

    /// Takes the nearest of all fitting pairs again and again, each track and entry once.
    fn take_nearest(&mut self, tracks: usize, entries: usize) {
        self.fits.sort_unstable_by(|a, b| {
            let nearer = a.cost.total_cmp(&b.cost);
            nearer
                .then(a.track.cmp(&b.track))
                .then(a.entry.cmp(&b.entry))
        });
        self.number += 1;
        if self.taken.len() < tracks {
            self.taken.resize(tracks, 0);
        }
        self.track_of.clear();
        self.track_of.resize(entries, None);
        self.cost_of.clear();
        self.cost_of.resize(entries, 0.0);
        for fit in &self.fits {
            let taken = &mut self.taken[fit.track as usize];
            let track_of = &mut self.track_of[fit.entry as usize];
            if *taken != self.number && track_of.is_none() {
                *taken = self.number;
                *track_of = Some(fit.track);
                self.cost_of[fit.entry as usize] = fit.cost;
            }
        }
    }

    /// By entry: how far off its track it is, in metres.
    pub(super) fn off_m(&self) -> impl Iterator<Item = f64> {
        self.cost_of
            .iter()
            .map(|cost| libm::sqrt(cost * self.variance))
    }

    /// The median of the offsets along an axis.
    fn middle(&mut self, axis: usize) -> f64 {
        self.values.clear();
        self.values.extend(self.offsets.iter().map(|o| o[axis]));
        self.values.sort_unstable_by(f64::total_cmp);
        self.values[self.values.len() / 2]
    }
}
