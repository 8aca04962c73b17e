//! Offered load, thinning and the capacity limit, by tile.

use crate::link::Channel;
use crate::parameters::ChannelParameters;

/// A message offered to the channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// The sender, which orders offers of equal draw.
    pub sender: u32,
    /// The sender's tile.
    pub tile: u32,
    /// Messages of a class are drawn apart from others.
    pub class: u8,
    /// Size, bytes.
    pub bytes: u32,
    /// Uniform draw of (sender, step, class) with [`Purpose::Thinning`](covey_draws::Purpose::Thinning).
    pub unit: f32,
}

/// Bytes offered and carried, by tile and message class, over a sliding window of steps.
///
/// Bytes count when they are offered, whether or not they are carried. The load of a tile is what
/// was offered to it in the window over what the window can carry. The window ends before the
/// present step, so the load stands still while a step's messages are handled. Before the first
/// window is full, the steps that are missing count as empty.
///
/// **Thinning** carries each message with probability min(1, 1/load): where the load is steady, the
/// bytes carried are the tile's capacity on average, and a burst gets through until the window has
/// seen it. **The hard cap** closes that gap: in no window of steps, the present one included, do
/// carried bytes pass the capacity. Of the messages that survive thinning in one call of
/// [`carry`](Self::carry), those with the lowest draw go first; what no longer fits is not carried.
/// The order of offers does not matter, but that of calls does: put all messages of a step that
/// need not wait for each other into one.
#[derive(Clone, Debug)]
pub struct LoadMeter {
    tiles: usize,
    classes: usize,
    hard_cap: bool,
    /// Bytes that a tile can carry in one window.
    capacity_bytes: f64,
    /// Bytes offered, by slot, tile and class; slot `present` is the present step, the others are
    /// the window.
    offered: Vec<u64>,
    /// Bytes carried, by slot and tile.
    carried: Vec<u64>,
    slots: usize,
    present: usize,
    /// Bytes offered in the window, by tile.
    window: Vec<u64>,
    /// Bytes offered since the beginning, by class.
    totals: Vec<u64>,
}

impl LoadMeter {
    /// An empty meter, whose window is `window_steps` (at least one) of `step_s` seconds each.
    pub fn new(
        parameters: &ChannelParameters,
        tiles: usize,
        classes: usize,
        step_s: f64,
        window_steps: usize,
    ) -> Self {
        let window_steps = window_steps.max(1);
        let slots = window_steps + 1;
        Self {
            tiles,
            classes,
            hard_cap: parameters.hard_cap,
            capacity_bytes: parameters.capacity_bytes_per_s * step_s * window_steps as f64,
            offered: vec![0; slots * tiles * classes],
            carried: vec![0; slots * tiles],
            slots,
            present: 0,
            window: vec![0; tiles],
            totals: vec![0; classes],
        }
    }

    /// Bytes that a tile can carry in one window.
    pub fn capacity_bytes(&self) -> f64 {
        self.capacity_bytes
    }

    /// Offered load over capacity in the window before the present step.
    ///
    /// # Panics
    /// If there is no such tile.
    #[inline]
    pub fn load(&self, tile: usize) -> f64 {
        self.window[tile] as f64 / self.capacity_bytes
    }

    /// Bytes of one class offered to a tile in the window before the present step.
    ///
    /// # Panics
    /// If there is no such tile or class.
    pub fn offered_bytes(&self, tile: usize, class: usize) -> u64 {
        let past = (0..self.slots).filter(|slot| *slot != self.present);
        past.map(|slot| self.offered[self.cell(slot, tile, class)])
            .sum()
    }

    /// Bytes of one class offered to all tiles since the beginning.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn total_bytes(&self, class: usize) -> u64 {
        self.totals[class]
    }

    /// Bytes carried by a tile in the window that ends with the present step.
    ///
    /// # Panics
    /// If there is no such tile.
    pub fn carried_bytes(&self, tile: usize) -> u64 {
        // The slot after the present one is the oldest: in the offered window, out of this one.
        let oldest = (self.present + 1) % self.slots;
        let recent = (0..self.slots).filter(|slot| *slot != oldest);
        recent
            .map(|slot| self.carried[slot * self.tiles + tile])
            .sum()
    }

    /// Books a message to a tile in the present step, without asking whether it is carried.
    ///
    /// # Panics
    /// If there is no such tile or class.
    #[inline]
    pub fn book(&mut self, tile: usize, class: usize, bytes: u32) {
        let cell = self.cell(self.present, tile, class);
        self.offered[cell] += u64::from(bytes);
        self.totals[class] += u64::from(bytes);
    }

    /// Books messages of the present step and says which are carried, in the order of `offers`.
    ///
    /// # Panics
    /// If an offer has no such tile or class.
    pub fn carry(&mut self, offers: &[Offer], carried: &mut Vec<bool>) {
        carried.clear();
        let mut wanted = vec![0; self.tiles];
        let kept_share = |tile| Channel::kept_share(self.load(tile)) as f32;
        let shares: Vec<f32> = (0..self.tiles).map(kept_share).collect();
        for offer in offers {
            let tile = offer.tile as usize;
            self.book(tile, usize::from(offer.class), offer.bytes);
            let kept = offer.unit < shares[tile];
            carried.push(kept);
            if kept {
                wanted[tile] += u64::from(offer.bytes);
            }
        }
        if self.hard_cap {
            self.cap(offers, carried, &mut wanted);
        }
        for (tile, bytes) in wanted.into_iter().enumerate() {
            self.carried[self.present * self.tiles + tile] += bytes;
        }
    }

    /// Takes back what does not fit, from `carried` and from the bytes `wanted` by tile.
    fn cap(&self, offers: &[Offer], carried: &mut [bool], wanted: &mut [u64]) {
        let room = |tile: usize| self.capacity_bytes - self.carried_bytes(tile) as f64;
        let full: Vec<bool> = wanted
            .iter()
            .enumerate()
            .map(|(tile, bytes)| *bytes as f64 > room(tile))
            .collect();
        if !full.contains(&true) {
            return;
        }
        let mut queue: Vec<usize> = (0..offers.len())
            .filter(|&index| carried[index] && full[offers[index].tile as usize])
            .collect();
        queue.sort_by(|&a, &b| {
            let [a, b] = [&offers[a], &offers[b]];
            a.unit
                .total_cmp(&b.unit)
                .then((a.sender, a.class).cmp(&(b.sender, b.class)))
        });
        for (bytes, _) in wanted.iter_mut().zip(&full).filter(|(_, full)| **full) {
            *bytes = 0;
        }
        for index in queue {
            let tile = offers[index].tile as usize;
            let bytes = wanted[tile] + u64::from(offers[index].bytes);
            carried[index] = bytes as f64 <= room(tile);
            if carried[index] {
                wanted[tile] = bytes;
            }
        }
    }

    /// Ends the present step: it joins the window and the oldest step leaves it.
    pub fn advance(&mut self) {
        let oldest = (self.present + 1) % self.slots;
        for tile in 0..self.tiles {
            let bytes = |slot| -> u64 {
                let first = self.cell(slot, tile, 0);
                self.offered[first..first + self.classes].iter().sum()
            };
            self.window[tile] = self.window[tile] + bytes(self.present) - bytes(oldest);
        }
        let per_slot = self.tiles * self.classes;
        self.offered[oldest * per_slot..][..per_slot].fill(0);
        self.carried[oldest * self.tiles..][..self.tiles].fill(0);
        self.present = oldest;
    }

    #[inline]
    fn cell(&self, slot: usize, tile: usize, class: usize) -> usize {
        assert!(
            tile < self.tiles && class < self.classes,
            "no tile {tile} or class {class}"
        );
        (slot * self.tiles + tile) * self.classes + class
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use covey_draws::{Draws, Purpose};

    const CAPACITY: f64 = 242_000.0;

    fn meter(hard_cap: bool) -> LoadMeter {
        let parameters = ChannelParameters {
            hard_cap,
            ..Default::default()
        };
        LoadMeter::new(&parameters, 2, 3, 0.05, 4)
    }

    /// `n` offers of 121 B to tile 0.
    fn offers(step: u64, n: u32) -> Vec<Offer> {
        let draws = Draws::new(1, Purpose::Thinning, 0, step);
        (0..n)
            .map(|sender| {
                let unit = draws.at(sender, sender).unit();
                Offer {
                    sender,
                    tile: 0,
                    class: 0,
                    bytes: 121,
                    unit,
                }
            })
            .collect()
    }

    #[test]
    fn load_is_that_of_one_window_before_the_present_step() {
        let mut meter = meter(false);
        meter.book(0, 1, 24_200);
        assert_eq!(meter.load(0), 0.0, "the present step does not count yet");
        for _ in 0..4 {
            meter.advance();
            assert_eq!(meter.load(0), 24_200.0 / (CAPACITY * 0.2));
            assert_eq!(
                (meter.offered_bytes(0, 1), meter.offered_bytes(0, 0)),
                (24_200, 0)
            );
            assert_eq!(meter.load(1), 0.0);
        }
        meter.advance();
        assert_eq!((meter.load(0), meter.offered_bytes(0, 1)), (0.0, 0));
        assert_eq!(meter.total_bytes(1), 24_200);
    }

    #[test]
    fn all_is_booked_and_all_is_carried_while_there_is_room() {
        let mut meter = meter(true);
        let mut carried = Vec::new();
        for step in 0..20 {
            // 64 % of capacity.
            meter.carry(&offers(step, 64), &mut carried);
            assert!(carried.iter().all(|carried| *carried));
            meter.advance();
        }
        assert_eq!(meter.offered_bytes(0, 0), 4 * 64 * 121);
        assert!((meter.load(0) - 0.64).abs() < 1e-12);
    }

    #[test]
    fn thinning_carries_capacity_on_average() {
        let mut meter = meter(false);
        let mut carried = Vec::new();
        let (mut bytes, mut most) = (0, 0);
        for step in 0..1004 {
            meter.carry(&offers(step, 199), &mut carried);
            if step >= 4 {
                bytes += carried.iter().filter(|carried| **carried).count() * 121;
                most = most.max(meter.carried_bytes(0));
            }
            meter.advance();
        }
        let share = bytes as f64 / (CAPACITY * 0.05 * 1000.0);
        assert!((share - 1.0).abs() < 0.01, "carried {share} of capacity");
        assert!(most as f64 > CAPACITY * 0.2, "single windows exceed it");
    }

    #[test]
    fn hard_cap_holds_in_every_window() {
        let mut meter = meter(true);
        let mut carried = Vec::new();
        let mut bytes = 0;
        for step in 0..500 {
            // A sudden burst, then steady overload.
            let n = if step < 50 { 40 } else { 199 };
            meter.carry(&offers(step, n), &mut carried);
            assert!(meter.carried_bytes(0) as f64 <= meter.capacity_bytes());
            if step >= 100 {
                bytes += carried.iter().filter(|carried| **carried).count() * 121;
            }
            meter.advance();
        }
        let share = bytes as f64 / (CAPACITY * 0.05 * 400.0);
        assert!((0.95..=1.0).contains(&share), "carried {share} of capacity");
    }

    #[test]
    fn hard_cap_does_not_depend_on_the_order_of_offers() {
        let mut offers = offers(0, 700);
        let mut one = Vec::new();
        meter(true).carry(&offers, &mut one);
        assert_eq!(one.iter().filter(|carried| **carried).count(), 400);
        offers.reverse();
        let mut other = Vec::new();
        meter(true).carry(&offers, &mut other);
        other.reverse();
        assert_eq!(one, other);
    }
}
