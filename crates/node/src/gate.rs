//! How many frames of whom are looked at.
//!
//! A frame costs tens of microseconds to take apart, and with signatures some hundred. A station is let in for what stations send;
//! whoever is new shares one allowance with all others who are, so that a flood under a thousand addresses is one flood.

use std::collections::HashMap;

use covey_protocol::{Duration, Instant};

/// Frames a second of a station that is known, and at once. Beacons, reports and a host's broadcasts in eight parts are 60.
const KNOWN: (f64, f64) = (100.0, 60.0);
/// Of all that are not known yet, together.
const NEW: (f64, f64) = (500.0, 200.0);
/// Frames let in before a station is known.
const BECOMES_KNOWN: u32 = 5;
/// Stations known at a time; the longest unheard goes first.
const MOST: usize = 2_048;
/// A station unheard for so long is new again.
const FORGOTTEN: Duration = Duration::from_millis(10_000);

/// A bucket of frames.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(burst: f64, at: Instant) -> Self {
        Self { left: burst, at }
    }

    fn take(&mut self, (rate, burst): (f64, f64), now: Instant) -> bool {
        let since = now.since(self.at).seconds();
        self.at = now;
        // A clock that was set back fills nothing.
        self.left = (self.left + since.max(0.0) * rate).min(burst);
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}

#[derive(Debug, Clone, Copy)]
struct Sender {
    bucket: Bucket,
    let_in: u32,
    heard: Instant,
}

/// Lets frames in by link-layer address.
#[derive(Debug)]
pub(crate) struct Gate {
    new: Bucket,
    senders: HashMap<[u8; 6], Sender>,
}

impl Gate {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            new: Bucket::full(NEW.1, now),
            senders: HashMap::new(),
        }
    }

    /// Whether a frame of `address` is looked at.
    pub(crate) fn admit(&mut self, now: Instant, address: [u8; 6]) -> bool {
        if let Some(sender) = self.senders.get_mut(&address) {
            let known = sender.let_in >= BECOMES_KNOWN;
            let pause = now.since(sender.heard);
            if pause < FORGOTTEN {
                sender.heard = now;
                if !sender.bucket.take(KNOWN, now) {
                    return false;
                }
                if known {
                    return true;
                }
                sender.let_in += 1;
                return self.new.take(NEW, now);
            }
        }
        if !self.new.take(NEW, now) {
            return false;
        }
        if self.senders.len() >= MOST {
            self.make_room(now);
        }
        let mut bucket = Bucket::full(KNOWN.1, now);
        bucket.take(KNOWN, now);
        self.senders.insert(
            address,
            Sender {
                bucket,
                let_in: 1,
                heard: now,
            },
        );
        true
    }

    /// A frame of `address` was no good: it does not become known by such.
    pub(crate) fn regret(&mut self, address: [u8; 6]) {
        if let Some(sender) = self.senders.get_mut(&address)
            && sender.let_in < BECOMES_KNOWN
        {
            sender.let_in = 0;
        }
    }

    /// Forgets those unheard for long, and an eighth of all where these are none: first who was hardly heard.
    fn make_room(&mut self, now: Instant) {
        self.senders
            .retain(|_, sender| now.since(sender.heard) < FORGOTTEN);
        if self.senders.len() < MOST {
            return;
        }
        let mut order: Vec<(bool, Instant, [u8; 6])> = self
            .senders
            .iter()
            .map(|(&address, sender)| (sender.let_in >= BECOMES_KNOWN, sender.heard, address))
            .collect();
        order.sort_unstable();
        for (_, _, address) in order.into_iter().take(MOST / 8) {
            self.senders.remove(&address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn a_flood_is_cut_and_the_others_are_heard() {
        let mut gate = Gate::new(at(0));
        let mut admitted = [0_u32; 2];
        for frame in 0..50_000_i64 {
            // 10,000 frames a second of one address, and 20 of another.
            let now = at(frame * 100);
            admitted[0] += u32::from(gate.admit(now, [2, 0, 0, 0, 0, 9]));
            if frame % 500 == 0 {
                admitted[1] += u32::from(gate.admit(now, [2, 0, 0, 0, 0, 1]));
            }
        }
        assert!((400..=700).contains(&admitted[0]), "{admitted:?}");
        assert_eq!(admitted[1], 100);
    }

    #[test]
    fn a_flood_under_many_addresses_is_one_flood_and_crowds_out_nobody_known() {
        let mut gate = Gate::new(at(0));
        let known = [2, 0, 0, 0, 0, 1];
        for beacon in 0..20 {
            assert!(gate.admit(at(beacon * 100_000), known));
        }
        let (mut flood, mut heard) = (0_u32, 0_u32);
        for frame in 0..50_000_i64 {
            let now = at(2_000_000 + frame * 100);
            let [a, b] = (frame as u16).to_be_bytes();
            flood += u32::from(gate.admit(now, [2, 9, 9, 9, a, b]));
            if frame % 1_000 == 0 {
                heard += u32::from(gate.admit(now, known));
            }
        }
        assert!(flood <= 2_800, "{flood}");
        assert_eq!(heard, 50);
        assert!(gate.senders.len() <= MOST);
    }

    #[test]
    fn a_clock_that_is_set_back_shuts_nobody_out_for_good() {
        let mut gate = Gate::new(at(1_000_000_000));
        let known = [2, 0, 0, 0, 0, 1];
        for beacon in 0..10 {
            assert!(gate.admit(at(1_000_000_000 + beacon * 100_000), known));
        }
        let heard = (0..50).filter(|&beacon| gate.admit(at(beacon * 100_000), known));
        assert_eq!(heard.count(), 50);
    }
}
