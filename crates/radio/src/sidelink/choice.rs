//! How a station chooses one of the resources of a window, when it knows what it sensed and what others announced.

/// What a station wants to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) count: u8,
    /// Slots from one use to the next; 0 for one use.
    pub(super) period: u16,
    /// First and last slot, counted from now.
    pub(super) first: u16,
    pub(super) last: u16,
}

/// How a station chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) sensing: u16,
    pub(super) threshold: u8,
    pub(super) step: u8,
    pub(super) share: f64,
    pub(super) average: bool,
}

/// Working memory of choices, by slot of the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    /// Power sensed in the slots that repeat it, and how many they are; by subchannel.
    pub(super) sums: Vec<f32>,
    pub(super) samples: Vec<u32>,
    /// Levels of reservations, by subchannel.
    pub(super) reserved: Vec<u8>,
    pub(super) unsensed: Vec<bool>,
    /// By candidate: the strongest of the reservations that it would meet.
    met: Vec<u8>,
    candidates: Vec<(u32, u32, u32)>,
}

impl Choice {
    /// Takes one of the candidates: slot counted from now, first subchannel.
    pub(super) fn take(
        &mut self,
        subchannels: usize,
        wish: &Wish,
        rule: &Rule,
        bits: u64,
    ) -> Option<(u16, u8)> {
        let count = usize::from(wish.count).clamp(1, subchannels);
        let places = subchannels - count + 1;
        let all = self.unsensed.len() * places;
        let enough = (rule.share * all as f64).ceil().max(1.0) as usize;
        let threshold = self.threshold(subchannels, count, rule, enough);
        self.candidates.clear();
        let met = self.met.chunks_exact(places);
        for (slot, (met, _)) in met
            .zip(&self.unsensed)
            .enumerate()
            .filter(|&(_, (_, &unsensed))| !unsensed)
        {
            let mean = 1.0 / self.samples[slot].max(1) as f32;
            for (first, _) in met.iter().enumerate().filter(|&(_, &met)| met <= threshold) {
                let sums = &self.sums[slot * subchannels + first..][..count];
                let mean: f32 = sums.iter().map(|sum| sum * mean).sum();
                let number = (slot * places + first) as u32;
                // Equal powers are ordered by chance.
                let order = (u64::from(number) + 1).wrapping_mul(bits | 1) >> 32;
                self.candidates.push((mean.to_bits(), order as u32, number));
            }
        }
        if self.candidates.is_empty() {
            return None;
        }
        let mut kept = self.candidates.len();
        if rule.average && kept > enough {
            self.candidates.select_nth_unstable(enough - 1);
            kept = enough;
        }
        // By number, so that it does not matter how they were selected.
        let kept = &mut self.candidates[..kept];
        let pick = ((u128::from(bits) * kept.len() as u128) >> 64) as usize;
        let (_, &mut (.., number), _) =
            kept.select_nth_unstable_by_key(pick, |&(_, _, number)| number);
        let number = number as usize;
        Some((
            wish.first + (number / places) as u16,
            (number % places) as u8,
        ))
    }

    /// The strongest reservation that candidates may meet: the rule's, or so many steps more that enough of them are left.
    fn threshold(&mut self, subchannels: usize, count: usize, rule: &Rule, enough: usize) -> u8 {
        let mut with = [0usize; 256];
        self.met.clear();
        for (cells, &unsensed) in self.reserved.chunks_exact(subchannels).zip(&self.unsensed) {
            for cells in cells.windows(count) {
                let met = cells.iter().copied().max().unwrap_or(0);
                self.met.push(met);
                with[usize::from(met)] += usize::from(!unsensed);
            }
        }
        let mut threshold = rule.threshold;
        let left = |threshold: u8| with[..=usize::from(threshold)].iter().sum::<usize>();
        while left(threshold) < enough && threshold < u8::MAX {
            threshold = threshold.saturating_add(rule.step.max(1));
        }
        threshold
    }

    /// The slots and subchannels that were left to choose from at the last choice, for those who want to know why.
    #[cfg(test)]
    pub(super) fn left(&self, subchannels: usize, wish: &Wish) -> Vec<(u16, u8)> {
        let places = subchannels - usize::from(wish.count) + 1;
        let mut left: Vec<_> = self
            .candidates
            .iter()
            .map(|&(_, _, number)| number as usize)
            .collect();
        left.sort_unstable();
        let named = |number: usize| {
            (
                wish.first + (number / places) as u16,
                (number % places) as u8,
            )
        };
        left.into_iter().map(named).collect()
    }
}
