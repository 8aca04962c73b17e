//! A resource pool: what a slot has to give, and how many subchannels a message takes.

use covey_parameters::ranges::at_least;
use covey_parameters::{Field, Key, Kind, OutOfRange, Parameter, Value, Visit, choices};

use crate::transport::{BITS, MOST_BLOCKS};

/// The highest modulation and coding scheme of a sidelink without 64-QAM.
pub(crate) const MOST_MCS: u32 = 20;
/// Resource blocks of a transmission that hold its control message.
const CONTROL_BLOCKS: u32 = 2;
/// The most subchannels that a pool has.
pub(crate) const MOST_SUBCHANNELS: usize = 10;

choices! {
    /// Resource pools with a name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum PoolPreset {
        /// The letter's: 2 subchannels of 25 resource blocks, MCS 6 (261 B in one, 621 B in both).
        Letter = "letter",
        /// The one that Europe allows in 10 MHz: 5 subchannels of 10 resource blocks, MCS 7 (121, 277, 421, 549, 749 B).
        Europe = "europe",
    }
}

/// Which pool.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(untagged)
)]
pub enum PoolChoice {
    /// One with a name.
    Preset(PoolPreset),
    /// One of one's own.
    Custom(CustomPool),
}

/// A pool of one's own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct CustomPool {
    /// Subchannels (1 to 10).
    pub subchannels: u32,
    /// Resource blocks of each; all together at most 50.
    pub resource_blocks: u32,
    /// Modulation and coding scheme (0 to 20).
    pub mcs: u32,
}

/// The numbers of a pool of one's own.
const CUSTOM: &[Field] = &[
    Field::new("subchannels", Kind::Whole, "Subchannels.")
        .required()
        .range(at_least(1.0).at_most(10.0))
        .source("TS 36.331 (numSubchannel-r14)"),
    Field::new(
        "resource_blocks",
        Kind::Whole,
        "Resource blocks of each subchannel, two of the first for control.",
    )
    .required()
    .unit("blocks of 180 kHz")
    .range(at_least(4.0).at_most(50.0))
    .source("TS 36.331 (sizeSubchannel-r14)"),
    Field::new(
        "mcs",
        Kind::Whole,
        "Modulation and coding scheme: bytes by the transport-block table.",
    )
    .required()
    .range(at_least(0.0).at_most(MOST_MCS as f64))
    .source("TS 36.213 tables 8.6.1-1 and 7.1.7.2.1-1"),
];

impl CustomPool {
    fn numbers(&self) -> [&u32; 3] {
        [&self.subchannels, &self.resource_blocks, &self.mcs]
    }
}

impl Parameter for PoolChoice {
    const KIND: Kind = Kind::Either(PoolPreset::CHOICES, CUSTOM);

    fn value(&self) -> Value {
        match self {
            Self::Preset(preset) => preset.value(),
            Self::Custom(_) => Value::Group,
        }
    }

    fn visit(&self, key: &Key<'_>, field: &'static Field, visit: &mut Visit<'_>) {
        match self {
            Self::Preset(preset) => preset.visit(key, field, visit),
            Self::Custom(custom) => {
                for (number, part) in custom.numbers().into_iter().zip(CUSTOM) {
                    number.visit(&key.join(part.name), part, visit);
                }
            }
        }
    }

    fn check(&self, key: &Key<'_>, _: &'static Field) -> Result<(), OutOfRange> {
        let Self::Custom(custom) = self else {
            return Ok(());
        };
        for (number, part) in custom.numbers().into_iter().zip(CUSTOM) {
            number.check(&key.join(part.name), part)?;
        }
        Pool::new(self, 1.0)
            .map(|_| ())
            .map_err(|error| error.within(key))
    }
}

#[cfg(feature = "serde")]
covey_parameters::choices_by_name!(PoolPreset);

/// A resource pool with one modulation and coding scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    subchannels: usize,
    resource_blocks: u32,
    slot_ms: f64,
    /// By subchannels less one: resource blocks for data, and bytes.
    sizes: Vec<(u32, u32)>,
}

impl Pool {
    /// The pool, with slots of `slot_ms`.
    ///
    /// # Errors
    /// There are no subchannels, they do not fit into 10 MHz, or no table has the scheme.
    pub fn new(choice: &PoolChoice, slot_ms: f64) -> Result<Self, OutOfRange> {
        let CustomPool {
            subchannels,
            resource_blocks,
            mcs,
        } = match *choice {
            PoolChoice::Custom(custom) => custom,
            PoolChoice::Preset(PoolPreset::Letter) => CustomPool {
                subchannels: 2,
                resource_blocks: 25,
                mcs: 6,
            },
            PoolChoice::Preset(PoolPreset::Europe) => CustomPool {
                subchannels: 5,
                resource_blocks: 10,
                mcs: 7,
            },
        };
        let refuse = |field, found: u32, expected: &str| {
            Err(OutOfRange::new(field, f64::from(found), expected))
        };
        if !(1..=MOST_SUBCHANNELS as u32).contains(&subchannels) {
            return refuse("subchannels", subchannels, "1 to 10");
        }
        let fits = resource_blocks >= 4
            && resource_blocks.saturating_mul(subchannels) as usize <= MOST_BLOCKS;
        if !fits {
            let expected = "at least 4, and at most 50 in all subchannels together (10 MHz)";
            return refuse("resource_blocks", resource_blocks, expected);
        }
        if mcs > MOST_MCS {
            return refuse(
                "mcs",
                mcs,
                "0 to 20: others have no row in the transport-block table",
            );
        }
        // TS 36.213 table 8.6.1-1: QPSK to 10, 16-QAM from 11 on, whose first index is the last of QPSK.
        let index = if mcs <= 10 { mcs } else { mcs - 1 } as usize;
        let sizes = (1..=subchannels)
            .map(|count| {
                let blocks = transformable(count * resource_blocks - CONTROL_BLOCKS);
                (blocks, u32::from(BITS[index][blocks as usize - 1]) / 8)
            })
            .collect();
        Ok(Self {
            subchannels: subchannels as usize,
            resource_blocks,
            slot_ms,
            sizes,
        })
    }

    /// Subchannels of a slot.
    #[inline]
    pub fn subchannels(&self) -> usize {
        self.subchannels
    }

    /// Resource blocks of a subchannel.
    pub fn resource_blocks(&self) -> u32 {
        self.resource_blocks
    }

    /// Milliseconds of a slot.
    pub fn slot_ms(&self) -> f64 {
        self.slot_ms
    }

    /// Resource blocks that hold the data of a transmission of so many subchannels.
    pub fn data_blocks(&self, subchannels: usize) -> u32 {
        self.sizes[subchannels.clamp(1, self.subchannels) - 1].0
    }

    /// Bytes that a transmission of so many subchannels holds.
    pub fn bytes(&self, subchannels: usize) -> u32 {
        self.sizes[subchannels.clamp(1, self.subchannels) - 1].1
    }

    /// The transmissions that a message takes, by their subchannels: one as narrow as may be, or where no single one holds it,
    /// as many of the whole pool as it fills and one for the rest. All are needed to read it.
    pub fn blocks(&self, bytes: u32) -> impl Iterator<Item = u8> + use<> {
        let whole = self.bytes(self.subchannels).max(1);
        let full = bytes.saturating_sub(1) / whole;
        let rest = bytes - full * whole;
        let narrow = self.sizes.iter().position(|&(_, holds)| rest <= holds);
        let last = narrow.map_or(self.subchannels, |at| at + 1) as u8;
        let all = self.subchannels as u8;
        (0..full).map(move |_| all).chain(std::iter::once(last))
    }

    /// Subchannels that a message takes in all.
    pub fn resources(&self, bytes: u32) -> u32 {
        self.blocks(bytes).map(u32::from).sum()
    }

    /// In-band emission: which share of the power in one subchannel (second index) appears in another (first). None where the
    /// pool's is not tabulated.
    pub fn emission(&self) -> Option<Vec<f32>> {
        let table: &[f64] = match (self.subchannels, self.resource_blocks) {
            (2, 25) => &EMISSION_2,
            (4, 12) => &EMISSION_4,
            (5, 10) => &EMISSION_5,
            (10, 5) => &EMISSION_10,
            _ => return None,
        };
        Some(
            table
                .iter()
                .map(|db| libm::pow(10.0, db / 10.0) as f32)
                .collect(),
        )
    }
}

/// The most resource blocks up to `blocks` whose number has no factors but 2, 3 and 5: what a transmitter can transform.
fn transformable(blocks: u32) -> u32 {
    let smooth = |&blocks: &u32| {
        let mut left = blocks;
        for factor in [2, 3, 5] {
            while left.is_multiple_of(factor) {
                left /= factor;
            }
        }
        left == 1
    };
    (1..=blocks).rev().find(smooth).unwrap_or(1)
}

/// In-band emission in dB, victim by victim, recomputed from the formula of WiLabV2Xsim (revision c8cedf7, `IBEcalculation.m`; TS 36.101 with
/// W, X, Y, Z = 3, 6, 3, 3 and an error vector of 0.175): 10 MHz, adjacent control, QPSK.
#[rustfmt::skip]
const EMISSION_2: [f64; 4] = [
    0.0, -22.35,
    -22.45, 0.0,
];

/// As [`EMISSION_2`], 4 subchannels.
#[rustfmt::skip]
const EMISSION_4: [f64; 16] = [
    0.0, -24.15, -30.15, -27.29,
    -23.98, 0.0, -22.53, -29.49,
    -30.15, -22.65, 0.0, -24.15,
    -27.29, -30.15, -24.15, 0.0,
];

/// As [`EMISSION_2`], 5 subchannels.
#[rustfmt::skip]
const EMISSION_5: [f64; 25] = [
    0.0, -24.34, -30.59, -35.78, -28.42,
    -24.34, 0.0, -24.34, -26.86, -35.78,
    -28.97, -23.90, 0.0, -23.90, -28.97,
    -35.78, -26.86, -24.34, 0.0, -24.34,
    -28.42, -35.78, -30.59, -24.34, 0.0,
];

/// As [`EMISSION_2`], 10 subchannels.
#[rustfmt::skip]
const EMISSION_10: [f64; 100] = [
    0.0, -25.93, -34.23, -36.00, -36.00, -36.00, -36.00, -36.00, -36.00, -31.08,
    -25.93, 0.0, -25.93, -34.23, -36.00, -36.00, -36.00, -36.00, -31.08, -36.00,
    -34.23, -25.93, 0.0, -25.93, -34.23, -36.00, -36.00, -31.08, -36.00, -36.00,
    -36.00, -34.23, -25.93, 0.0, -25.93, -34.23, -31.08, -36.00, -36.00, -36.00,
    -28.83, -28.83, -28.43, -24.42, 0.0, -23.83, -28.43, -28.83, -28.83, -28.83,
    -36.00, -36.00, -36.00, -34.23, -25.11, 0.0, -25.93, -34.23, -36.00, -36.00,
    -36.00, -36.00, -36.00, -31.08, -34.23, -25.93, 0.0, -25.93, -34.23, -36.00,
    -36.00, -36.00, -31.08, -36.00, -36.00, -34.23, -25.93, 0.0, -25.93, -34.23,
    -36.00, -31.08, -36.00, -36.00, -36.00, -36.00, -34.23, -25.93, 0.0, -25.93,
    -31.08, -36.00, -36.00, -36.00, -36.00, -36.00, -36.00, -34.23, -25.93, 0.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    fn preset(preset: PoolPreset) -> Pool {
        Pool::new(&PoolChoice::Preset(preset), 1.0).unwrap()
    }

    fn blocks(pool: &Pool, bytes: u32) -> Vec<u8> {
        pool.blocks(bytes).collect()
    }

    #[test]
    fn presets_hold_what_the_standards_tables_say() {
        let letter = preset(PoolPreset::Letter);
        assert_eq!([letter.bytes(1), letter.bytes(2)], [261, 621]);
        assert_eq!([letter.data_blocks(1), letter.data_blocks(2)], [20, 48]);
        let europe = preset(PoolPreset::Europe);
        let bytes: Vec<u32> = (1..=5).map(|count| europe.bytes(count)).collect();
        assert_eq!(bytes, [121, 277, 421, 549, 749]);
    }

    #[test]
    fn a_digest_that_passes_a_boundary_costs_a_subchannel() {
        let europe = preset(PoolPreset::Europe);
        assert_eq!([blocks(&europe, 121), blocks(&europe, 134)], [[1], [2]]);
        let letter = preset(PoolPreset::Letter);
        assert_eq!([blocks(&letter, 121), blocks(&letter, 134)], [[1], [1]]);
    }

    #[test]
    fn a_message_larger_than_the_pool_goes_as_several_blocks() {
        let letter = preset(PoolPreset::Letter);
        assert_eq!(blocks(&letter, 621), [2]);
        assert_eq!(blocks(&letter, 622), [2, 1]);
        assert_eq!(blocks(&letter, 5_500), [2; 9]);
        assert_eq!(letter.resources(5_500), 18);
        assert_eq!(blocks(&letter, 0), [1]);
    }

    #[test]
    fn what_no_table_has_is_refused_by_name() {
        let refused = |subchannels, resource_blocks, mcs| {
            let custom = CustomPool {
                subchannels,
                resource_blocks,
                mcs,
            };
            Pool::new(&PoolChoice::Custom(custom), 1.0)
                .unwrap_err()
                .field
        };
        assert_eq!(refused(0, 10, 6), "subchannels");
        assert_eq!(refused(6, 10, 6), "resource_blocks");
        assert_eq!(refused(5, 10, 21), "mcs");
    }
}
