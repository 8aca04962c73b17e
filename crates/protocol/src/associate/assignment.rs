//! Which track each entry of one look is.

use alloc::vec::Vec;

use super::{ACCELERATION, Accuracy, GATE, LENGTH_GATE_M, Seen, Spread, drift};
use crate::grid::Position;

/// So many pairs tell the offset of a report.
const LEAST_PAIRS: usize = 3;

/// What entries may be.
pub(super) trait Bodies {
    /// How many there are.
    fn count(&self) -> usize;
    /// One of them as it was seen.
    fn seen(&self, number: u32) -> &Seen;
    /// Of two that fit equally well, the one of the lower rank is taken.
    fn rank(&self, number: u32) -> u64;
}

impl Bodies for Vec<Seen> {
    fn count(&self) -> usize {
        self.len()
    }

    fn seen(&self, number: u32) -> &Seen {
        &self[number as usize]
    }

    fn rank(&self, number: u32) -> u64 {
        u64::from(number)
    }
}

/// A track to try for an entry, and what does not depend on the look's offset.
#[derive(Debug, Clone, Copy)]
struct Pair {
    track: u32,
    entry: u32,
    /// Where the track is when the entry was seen, and how far it may have gone astray since it was seen, squared.
    here: Position,
    strayed: f64,
    seconds: f64,
    /// How far velocities are apart, in standard deviations; not a number until somebody asks, infinite for lengths that differ.
    velocity: f64,
}

impl Pair {
    fn new(track: u32, entry: u32, seen: &Seen, at: &Seen) -> Self {
        let (here, seconds) = seen.moved(at.at);
        let drift = drift(seconds);
        Self {
            track,
            entry,
            here,
            strayed: drift * drift,
            seconds,
            velocity: f64::NAN,
        }
    }

    /// As [`Seen::distance`].
    fn distance(
        &mut self,
        seen: &Seen,
        entry: &Seen,
        offset: [f64; 2],
        spread: Spread,
    ) -> Option<f64> {
        let off = [
            entry.position.x - offset[0] - self.here.x,
            entry.position.y - offset[1] - self.here.y,
        ];
        let along_variance = spread.variance + self.strayed;
        let squared = off[0] * off[0] + off[1] * off[1];
        // Not-a-number fails here too.
        let near = squared <= GATE * GATE * along_variance;
        if !near {
            return None;
        }
        let far = seen.squared_deviations(entry, off, [along_variance, spread.variance]);
        if far > GATE * GATE {
            return None;
        }
        if self.velocity.is_nan() {
            let lengths = seen.length > 0.0 && entry.length > 0.0 && spread.sizes;
            self.velocity = if lengths && (seen.length - entry.length).abs() > LENGTH_GATE_M {
                f64::INFINITY
            } else {
                seen.velocity_off(entry) / (spread.velocity + ACCELERATION * self.seconds.abs())
            };
        }
        (self.velocity <= GATE).then_some(far + self.velocity * self.velocity)
    }
}

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
    pairs: Vec<Pair>,
    fits: Vec<Fit>,
    /// By track: the number of the assignment in which it was taken last.
    taken: Vec<u64>,
    number: u64,
    offsets: Vec<[f64; 2]>,
    values: Vec<f64>,
}

impl Assignment {
    /// Finds which of `tracks` each of `entries` is. `near(entry)` gives the tracks to try.
    pub(super) fn find<'n>(
        &mut self,
        tracks: &impl Bodies,
        entries: &[Seen],
        accuracy: Accuracy,
        near: impl Fn(usize) -> &'n [u32],
    ) {
        self.pair_up(tracks, entries, near);
        if let Some(offset) = self.begin(tracks, entries, accuracy) {
            self.finish(tracks, entries, accuracy, offset);
        }
    }

    /// Notes the tracks to try for each entry.
    pub(super) fn pair_up<'n>(
        &mut self,
        tracks: &impl Bodies,
        entries: &[Seen],
        near: impl Fn(usize) -> &'n [u32],
    ) {
        self.pairs.clear();
        for (number, entry) in entries.iter().enumerate() {
            let pair = |&track: &u32| Pair::new(track, number as u32, tracks.seen(track), entry);
            self.pairs.extend(near(number).iter().map(pair));
        }
    }

    /// Assigns entries as they are; gives the offset of the look, if one is to be taken out.
    pub(super) fn begin(
        &mut self,
        tracks: &impl Bodies,
        entries: &[Seen],
        accuracy: Accuracy,
    ) -> Option<[f64; 2]> {
        let [apart, aligned] = accuracy.variances();
        self.fit(tracks, entries, [0.0, 0.0], accuracy.spread(apart));
        if aligned >= apart {
            return None;
        }
        self.offsets.clear();
        for (track, entry) in self.track_of.iter().zip(entries) {
            if let Some(track) = *track {
                let (here, _) = tracks.seen(track).moved(entry.at);
                let off = [entry.position.x - here.x, entry.position.y - here.y];
                self.offsets.push(off);
            }
        }
        if self.offsets.len() < LEAST_PAIRS {
            return None;
        }
        Some([self.middle(0), self.middle(1)])
    }

    /// Assigns entries with the offset of the look taken out.
    pub(super) fn finish(
        &mut self,
        tracks: &impl Bodies,
        entries: &[Seen],
        accuracy: Accuracy,
        offset: [f64; 2],
    ) {
        let [_, aligned] = accuracy.variances();
        self.fit(tracks, entries, offset, accuracy.spread(aligned));
    }

    /// The same where all entries are off by so much.
    fn fit(&mut self, tracks: &impl Bodies, entries: &[Seen], offset: [f64; 2], spread: Spread) {
        self.variance = spread.variance;
        self.fits.clear();
        for pair in &mut self.pairs {
            let (track, entry) = (pair.track, pair.entry);
            let seen = tracks.seen(track);
            if let Some(cost) = pair.distance(seen, &entries[entry as usize], offset, spread) {
                self.fits.push(Fit { cost, track, entry });
            }
        }
        self.take_nearest(tracks, entries.len());
    }

    /// Takes the nearest of all fitting pairs again and again, each track and entry once.
    fn take_nearest(&mut self, tracks: &impl Bodies, entries: usize) {
        self.fits.sort_unstable_by(|a, b| {
            let nearer = a.cost.total_cmp(&b.cost);
            nearer
                .then_with(|| tracks.rank(a.track).cmp(&tracks.rank(b.track)))
                .then(a.entry.cmp(&b.entry))
        });
        self.number += 1;
        if self.taken.len() < tracks.count() {
            self.taken.resize(tracks.count(), 0);
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
        let middle = self.values.len() / 2;
        *self.values.select_nth_unstable_by(middle, f64::total_cmp).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;
    use proptest::prelude::*;

    prop_compose! {
        /// Something that may well be one of others, often just as likely as another.
        fn seen()(
            place in (0i8..16, 0i8..16),
            motion in (-2i8..=2, -2i8..=2),
            known in any::<bool>(),
            length in 0u8..8,
            millis in -10i64..20,
        ) -> Seen {
            let [x, y] = [motion.0, motion.1].map(f64::from);
            let speed = libm::hypot(x, y);
            Seen {
                position: Position::new(0.5 * f64::from(place.0), 0.5 * f64::from(place.1)),
                velocity: [x, y],
                direction: (known && speed > 0.0).then(|| [x / speed, y / speed]),
                length: f64::from(length),
                at: Instant::from_millis(5_000 + 50 * millis),
            }
        }
    }

    /// The nearest pair of all that are left, again and again.
    fn nearest(
        tracks: &[Seen],
        entries: &[Seen],
        offset: [f64; 2],
        spread: Spread,
    ) -> Vec<Option<u32>> {
        let mut found = alloc::vec![None; entries.len()];
        loop {
            let mut best: Option<(f64, usize, usize)> = None;
            for (t, track) in tracks.iter().enumerate() {
                for (e, entry) in entries.iter().enumerate() {
                    let free = found[e].is_none() && !found.contains(&Some(t as u32));
                    if let Some(cost) = track.distance(entry, offset, spread)
                        && free
                        && best.is_none_or(|held| (cost, t, e) < held)
                    {
                        best = Some((cost, t, e));
                    }
                }
            }
            match best {
                Some((_, track, entry)) => found[entry] = Some(track as u32),
                None => return found,
            }
        }
    }

    /// What [`Assignment::find`] finds: with the middle of the first offsets taken out where three or more tell it.
    fn plain(tracks: &[Seen], entries: &[Seen], accuracy: Accuracy) -> Vec<Option<u32>> {
        let [apart, aligned] = accuracy.variances();
        let first = nearest(tracks, entries, [0.0; 2], accuracy.spread(apart));
        let off = |(entry, track): (&Seen, &Option<u32>)| {
            let (here, _) = tracks[(*track)? as usize].moved(entry.at);
            Some([entry.position.x - here.x, entry.position.y - here.y])
        };
        let off: Vec<[f64; 2]> = entries.iter().zip(&first).filter_map(off).collect();
        if accuracy.position_m == 0.0 || off.len() < 3 {
            return first;
        }
        let middle = |axis: usize| {
            let mut along: Vec<f64> = off.iter().map(|off| off[axis]).collect();
            along.sort_by(f64::total_cmp);
            along[along.len() / 2]
        };
        nearest(
            tracks,
            entries,
            [middle(0), middle(1)],
            accuracy.spread(aligned),
        )
    }

    proptest! {
        #[test]
        fn each_entry_is_the_nearest_of_those_that_are_left(
            tracks in prop::collection::vec(seen(), 0..9),
            entries in prop::collection::vec(seen(), 0..9),
            position_m in prop_oneof![Just(0.0), Just(0.5), Just(2.0)],
            sizes in any::<bool>(),
        ) {
            let accuracy = Accuracy { position_m, velocity_m_per_s: 0.5, sizes };
            let all: Vec<u32> = (0..tracks.len() as u32).collect();
            let mut found = Assignment::default();
            for entries in [&entries[..entries.len() / 2], &entries[..]] {
                found.find(&tracks, entries, accuracy, |_| &all[..]);
                prop_assert_eq!(&found.track_of, &plain(&tracks, entries, accuracy));
            }
        }

        #[test]
        fn pairs_are_as_far_apart_as_what_they_are_of(
            track in seen(),
            entry in seen(),
            offset in prop::array::uniform2(-1.0..1.0),
            position_m in 0.0..4.0,
            sizes in any::<bool>(),
        ) {
            let accuracy = Accuracy { position_m, velocity_m_per_s: 0.5, sizes };
            let mut pair = Pair::new(0, 0, &track, &entry);
            for variance in accuracy.variances() {
                let spread = accuracy.spread(variance);
                let expected = track.distance(&entry, offset, spread);
                prop_assert_eq!(pair.distance(&track, &entry, offset, spread), expected);
            }
        }
    }

    #[test]
    fn how_far_off_an_entry_is_is_told_in_metres() {
        let there = |x: f64| Seen {
            position: Position::new(x, 0.0),
            velocity: [0.0; 2],
            direction: None,
            length: 4.0,
            at: Instant::ZERO,
        };
        let mut found = Assignment::default();
        let tracks = Vec::from([there(0.0), there(10.0)]);
        let entries = [there(9.0), there(0.5), there(30.0)];
        found.find(&tracks, &entries, Accuracy::default(), |_| &[0, 1]);
        assert_eq!(found.track_of, [Some(1), Some(0), None]);
        let off: Vec<f64> = found.off_m().map(|m| libm::round(m * 1e9) / 1e9).collect();
        assert_eq!(off, [1.0, 0.5, 0.0]);
    }
}
