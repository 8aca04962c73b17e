//! Mutations: new inputs out of old ones, addressed by numbers.
//!
//! The input of an execution is a pure function of the pool, the seed and the execution's number, so that a run can be
//! repeated exactly and any one of its inputs made again.

use covey_draws::{SplitMix, mix};

/// No input grows beyond this many bytes.
pub const LONGEST: usize = 4096;

/// Numbers at which decoders break: the ends of integer ranges and their neighbours, and what floats make of them.
const INTERESTING: &[u64] = &[
    0,
    1,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFFF_FFFF_FFFF_FFFF,
    // f64: infinity, a NaN, the smallest and the largest number, minus zero is above.
    0x7FF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x7FEF_FFFF_FFFF_FFFF,
];

/// A stream of numbers for one execution.
#[derive(Debug, Clone)]
pub struct Draws(SplitMix);

impl Draws {
    /// The stream of execution `number` of a run of `target` with `seed`.
    #[must_use]
    pub fn new(seed: u64, target: &str, number: u64) -> Self {
        let state = target
            .bytes()
            .fold(seed, |state, byte| mix(state) ^ u64::from(byte));
        Self(SplitMix::new(mix(mix(state) ^ number)))
    }

    /// A number below `bound`, or 0 if that is 0.
    fn below(&mut self, bound: usize) -> usize {
        // The bias of the remainder is of no matter here.
        let draw = self.0.bits() % (bound as u64).max(1);
        usize::try_from(draw).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.0.bits().to_le_bytes()[0]
    }
}

/// A new input: random bytes, or a member of `pool` changed in one to eight ways.
#[must_use]
pub fn input(pool: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    if pool.is_empty() || draws.below(16) == 0 {
        let length = draws.below(64);
        return (0..length).map(|_| draws.byte()).collect();
    }
    let mut bytes = pool[draws.below(pool.len())].clone();
    for _ in 0..=draws.below(8) {
        change(&mut bytes, pool, draws);
    }
    bytes.truncate(LONGEST);
    bytes
}

/// Changes `bytes` in one way.
fn change(bytes: &mut Vec<u8>, pool: &[Vec<u8>], draws: &mut Draws) {
    let at = draws.below(bytes.len());
    match draws.below(9) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << draws.below(8),
        1 if !bytes.is_empty() => bytes[at] = draws.byte(),
        2 if !bytes.is_empty() => {
            let step = u8::try_from(1 + draws.below(16)).unwrap_or(1);
            bytes[at] = if draws.below(2) == 0 {
                bytes[at].wrapping_add(step)
            } else {
                bytes[at].wrapping_sub(step)
            };
        }
        3 => bytes.truncate(at),
        4 => {
            let end = (at + 1 + draws.below(8)).min(bytes.len());
            bytes.drain(at..end);
        }
        5 => {
            let new: Vec<u8> = (0..=draws.below(8)).map(|_| draws.byte()).collect();
            bytes.splice(at..at, new);
        }
        6 => {
            let end = (at + 1 + draws.below(16)).min(bytes.len());
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        7 => write_number(bytes, at, draws),
        // Splice: the head of this one, the tail of another.
        _ => {
            let other = &pool[draws.below(pool.len())];
            let from = draws.below(other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}

/// Overwrites bytes from `at` on, or inserts there, an interesting number of 1, 2, 4 or 8 bytes in either byte order.
fn write_number(bytes: &mut Vec<u8>, at: usize, draws: &mut Draws) {
    let number = INTERESTING[draws.below(INTERESTING.len())];
    let width = 1 << draws.below(4);
    let mut image = if draws.below(2) == 0 {
        number.to_le_bytes()[..width].to_vec()
    } else {
        number.to_be_bytes()[8 - width..].to_vec()
    };
    if draws.below(2) == 0 {
        bytes.splice(at..at, image);
    } else {
        let end = (at + width).min(bytes.len());
        image.truncate(end - at);
        bytes[at..end].copy_from_slice(&image);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_make_the_same_input() {
        let pool = vec![b"one".to_vec(), b"another".to_vec(), Vec::new()];
        let make = |seed, target, number| input(&pool, &mut Draws::new(seed, target, number));
        let run = |seed, target| (0..100).map(|n| make(seed, target, n)).collect::<Vec<_>>();
        assert_eq!(run(1, "a"), run(1, "a"));
        assert_ne!(run(1, "a"), run(2, "a"));
        assert_ne!(run(1, "a"), run(1, "b"));
    }

    #[test]
    fn inputs_are_varied_and_bounded() {
        let pool = vec![vec![7; LONGEST], b"abc".to_vec()];
        let inputs: std::collections::BTreeSet<Vec<u8>> = (0..2000)
            .map(|number| input(&pool, &mut Draws::new(3, "x", number)))
            .collect();
        assert!(
            inputs.len() > 1500,
            "only {} different inputs",
            inputs.len()
        );
        assert!(inputs.iter().all(|bytes| bytes.len() <= LONGEST));
        // Without a pool there are still inputs.
        assert!((0..50).any(|number| !input(&[], &mut Draws::new(3, "x", number)).is_empty()));
    }
}
