//! Powers as single bytes, and decoding as a table: what every station senses in every slot has to be small and quick.

use crate::parameters::LinkKind;
use crate::tables::{self, interpolate};
use crate::{Channel, ChannelParameters};

/// Power levels per factor of two: 0.376 dB each.
pub(super) const PER_OCTAVE: f64 = 8.0;
/// The level of a slot in which a station sent and sensed nothing.
pub(super) const UNSENSED: u8 = 255;
/// The highest level; all that is stronger is as strong.
pub(super) const STRONGEST: u8 = 254;
/// Exponent and three bits of the mantissa of the weakest level, 2^-42 mW (-126 dBm).
const WEAKEST_BITS: u32 = (127 - 42) << 3;

/// The level of a power in mW: 8 levels per factor of two, the weakest for all that is weaker.
#[inline]
pub(super) fn level(mw: f32) -> u8 {
    let bits = mw.max(0.0).to_bits() >> 20;
    bits.saturating_sub(WEAKEST_BITS).min(u32::from(STRONGEST)) as u8
}

/// The power that stands for a level, in mW: the middle of it.
#[inline]
pub(super) fn power(level: u8) -> f32 {
    f32::from_bits((u32::from(level) + WEAKEST_BITS) << 20 | 1 << 19)
}

/// dBm as mW.
pub(super) fn milliwatts(dbm: f64) -> f64 {
    libm::pow(10.0, dbm / 10.0)
}

/// Ratios that are told apart per factor of two: 0.094 dB each.
const RATIOS_PER_OCTAVE: usize = 32;
/// The weakest and one more than the strongest exponent: -24 dB to 39 dB.
const OCTAVES: std::ops::Range<u32> = 127 - 8..127 + 13;

/// Chance that a block is decoded, by the ratio of its power to that of all else.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    success: Vec<f32>,
}

impl Decoder {
    /// Decoding with this block error rate over dB.
    fn new(error: impl Fn(f64) -> f64) -> Self {
        let all = OCTAVES.len() * RATIOS_PER_OCTAVE;
        let ratio = |at: usize| {
            let bits = ((OCTAVES.start as usize * RATIOS_PER_OCTAVE + at) as u32) << 18 | 1 << 17;
            f64::from(f32::from_bits(bits))
        };
        let success = |at| (1.0 - error(10.0 * libm::log10(ratio(at)))) as f32;
        Self {
            success: (0..all).map(success).collect(),
        }
    }

    /// Decoding of a control message.
    pub(super) fn control() -> Self {
        Self::new(|db| interpolate(tables::CONTROL, db))
    }

    /// Decoding of data over a link of this kind.
    pub(super) fn data(channel: &Channel, kind: LinkKind) -> Self {
        Self::new(|db| channel.block_error(db, kind))
    }

    /// The chance at a ratio that is not negative.
    #[inline]
    pub(super) fn success(&self, ratio: f32) -> f32 {
        let first = OCTAVES.start << 5;
        let at = (ratio.to_bits() >> 18).saturating_sub(first) as usize;
        match self.success.get(at) {
            Some(&success) => success,
            None => self.success[self.success.len() - 1],
        }
    }
}

/// Noise of a receiver over so many resource blocks, in mW.
pub(super) fn noise_mw(parameters: &ChannelParameters, blocks: u32) -> f32 {
    let p = parameters;
    let density = p.noise_density_dbm_per_hz + p.noise_figure_db;
    milliwatts(density + 10.0 * libm::log10(180e3 * f64::from(blocks))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stand_for_powers_within_their_width() {
        for dbm in -120..-35 {
            let mw = milliwatts(f64::from(dbm));
            let back = 10.0 * libm::log10(f64::from(power(level(mw as f32))));
            assert!((back - f64::from(dbm)).abs() < 0.3, "{dbm} {back}");
        }
        assert_eq!([level(0.0), level(f32::NAN), level(1e-20)], [0; 3]);
        assert_eq!(level(1.0), STRONGEST);
        // Three decibels are eight levels.
        assert_eq!(level(2e-9) - level(1e-9), 8);
    }

    #[test]
    fn decoding_follows_the_curves() {
        let control = Decoder::control();
        let at = |db: f64| control.success(milliwatts(db) as f32);
        assert!((at(-3.2) - 0.495).abs() < 0.02, "{}", at(-3.2));
        assert_eq!([at(-7.0), at(30.0)], [0.0, 1.0]);
        let data = Decoder::data(&Channel::default(), LinkKind::Los);
        let at = |db: f64| data.success(milliwatts(db) as f32);
        assert!((at(3.0) - 0.5).abs() < 0.02, "{}", at(3.0));
        assert!((at(50.0) - 0.9999).abs() < 1e-6);
        assert_eq!([at(-30.0), data.success(0.0)], [0.0; 2]);
    }
}
