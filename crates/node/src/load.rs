//! How busy the own tile is, as far as this station can count.

use std::collections::VecDeque;

use covey_protocol::{Duration, Instant, Tile};

/// Entries kept at most: more than a channel carries in a cycle.
const MOST: usize = 4_096;

/// Bytes of cooperative messages, own and heard, of the last cycle.
#[derive(Debug, Default)]
pub(crate) struct Load {
    entries: VecDeque<(Instant, Tile, u32)>,
}

impl Load {
    /// A message of so many bytes was on the air, sent from `tile`.
    pub(crate) fn book(&mut self, at: Instant, tile: Option<Tile>, bytes: usize) {
        let Some(tile) = tile else {
            return;
        };
        if self.entries.len() >= MOST {
            self.entries.pop_front();
        }
        self.entries.push_back((at, tile, bytes as u32));
    }

    /// The share of `capacity` (bytes a second) that they took in `tile` over the `cycle` before `now`.
    pub(crate) fn share(
        &mut self,
        now: Instant,
        tile: Tile,
        cycle: Duration,
        capacity: f64,
    ) -> f64 {
        // What lies ahead was booked before the clock was set back.
        self.entries
            .retain(|&(at, ..)| at <= now && now.since(at) < cycle);
        let here = self.entries.iter().filter(|entry| entry.1 == tile);
        let bytes: u64 = here.map(|entry| u64::from(entry.2)).sum();
        bytes as f64 / (capacity * cycle.seconds()).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_cycle_of_the_own_tile_counts() {
        let mut load = Load::default();
        let at = Instant::from_millis;
        load.book(at(0), Some(Tile::new(0, 0)), 1_000);
        load.book(at(100), Some(Tile::new(0, 0)), 300);
        load.book(at(150), Some(Tile::new(1, 0)), 5_000);
        load.book(at(150), None, 5_000);
        load.book(at(900), Some(Tile::new(0, 0)), 5_000);
        let share = load.share(
            at(200),
            Tile::new(0, 0),
            Duration::from_millis(200),
            10_000.0,
        );
        assert!((share - 300.0 / 2_000.0).abs() < 1e-12, "{share}");
    }
}
