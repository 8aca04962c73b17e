//! What makes a CPM a host's fused state: one extension with everything but the objects.

use c_its_parser::standards::cdd_2_2_1::etsi_its_cdd as cdd;
use covey_protocol::Tile;

use crate::asn::FusedStateExtension;

/// The most contributors that fit.
pub const CONTRIBUTORS_MAX: usize = 255;
/// The most withdrawn objects that fit.
pub const WITHDRAWN_MAX: usize = 1_023;
/// Steps of a price of 1.
pub const PRICE_STEPS: f64 = 10_000.0;
/// The highest price, in steps: higher ones are said to be as high.
pub const PRICE_MAX: i32 = 16_777_215;

/// The second extension addition of `CpmPayload`, in wire units. Times are milliseconds before the message's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FusedState {
    /// Which tile the sender hosts; indices within 23 bits and a sign.
    pub tile: Tile,
    /// Counts the broadcasts of this host's term.
    pub sequence: u32,
    /// Counts changes of the contributor set.
    pub epoch: u32,
    /// How long the sender has been in office, in ms.
    pub tenure_ms: u32,
    /// The tile's congestion price in steps of 0.0001, at most 16777215.
    pub price: u32,
    /// When the cycle began whose states it carries.
    pub cycle_age_ms: u16,
    /// Objects listed before and neither listed nor withdrawn now were sensed no longer ago than this.
    pub unchanged_age_ms: u16,
    /// How long the contributor list holds without another word, in ms.
    pub lease_ms: u16,
    /// Contributors are asked for silent objects only.
    pub silent_only: bool,
    /// All objects are listed, not only the changed ones.
    pub full: bool,
    /// Who is asked to report; at most 255.
    pub contributors: Vec<u32>,
    /// Objects that the host no longer holds; at most 1023.
    pub withdrawn: Vec<u16>,
}

impl FusedState {
    pub(crate) fn to_asn(&self) -> FusedStateExtension {
        FusedStateExtension {
            tile_x: self.tile.tx,
            tile_y: self.tile.ty,
            sequence: self.sequence,
            epoch: self.epoch,
            tenure: self.tenure_ms,
            price: self.price,
            cycle_age: self.cycle_age_ms,
            unchanged_age: self.unchanged_age_ms,
            lease: self.lease_ms,
            silent_only: self.silent_only,
            full: self.full,
            contributors: self
                .contributors
                .iter()
                .map(|&id| cdd::StationId(id))
                .collect(),
            withdrawn: self
                .withdrawn
                .iter()
                .map(|&id| cdd::Identifier2B(id))
                .collect(),
        }
    }

    pub(crate) fn from_asn(asn: &FusedStateExtension) -> Self {
        Self {
            tile: Tile::new(asn.tile_x, asn.tile_y),
            sequence: asn.sequence,
            epoch: asn.epoch,
            tenure_ms: asn.tenure,
            price: asn.price,
            cycle_age_ms: asn.cycle_age,
            unchanged_age_ms: asn.unchanged_age,
            lease_ms: asn.lease,
            silent_only: asn.silent_only,
            full: asn.full,
            contributors: asn.contributors.iter().map(|id| id.0).collect(),
            withdrawn: asn.withdrawn.iter().map(|id| id.0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cpm::Cpm;
    use crate::samples::{fused, report};

    #[test]
    fn a_fused_state_goes_there_and_back_and_plain_receivers_skip_it() {
        for contributors in [0, 1, 255] {
            let cpm = Cpm {
                fused: Some(fused(contributors, 2)),
                ..report(5)
            };
            let bytes = cpm.encode().unwrap();
            assert_eq!(Cpm::decode(&bytes).unwrap(), cpm);
            let plain: crate::asn::plain::PlainCpmMessage = rasn::uper::decode(&bytes).unwrap();
            let without: crate::asn::plain::PlainCpmMessage =
                rasn::uper::decode(&report(5).encode().unwrap()).unwrap();
            assert_eq!(
                plain, without,
                "objects and all else are as in an ordinary CPM"
            );
        }
        let cpm = Cpm {
            fused: Some(fused(256, 2)),
            ..report(1)
        };
        assert!(cpm.encode().is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let cpm = Cpm {
            fused: Some(fused(3, 2)),
            ..report(2)
        };
        let bytes = cpm.encode().unwrap();
        for end in 0..bytes.len() {
            assert!(Cpm::decode(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
