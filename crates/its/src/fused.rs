//! What makes a CPM a host's fused state: one extension with everything but the objects.

use c_its_parser::standards::cdd_2_2_1::etsi_its_cdd as cdd;
use covey_protocol::Tile;
use covey_protocol::messages::Content;

use crate::asn::FusedStateExtension;

pub use crate::plain::{CONTRIBUTORS_MAX, REQUESTED_MAX, WITHDRAWN_MAX};

/// Steps of a price of 1.
pub const PRICE_STEPS: f64 = 10_000.0;
/// The highest price, in steps: higher ones are said to be as high.
pub const PRICE_MAX: i32 = 16_777_215;

/// The second extension addition of `CpmPayload`, in wire units. Times are milliseconds before the message's time.
///
/// Where a state takes several messages, each has all but the lists; these go on from one message to the next.
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
    /// What contributors are asked for.
    pub content: Content,
    /// All objects are listed, not only the changed ones.
    pub full: bool,
    /// Who is asked to report; at most 255.
    pub contributors: Vec<u32>,
    /// Stations that are asked for although they beacon; at most 255.
    pub requested: Vec<u32>,
    /// Stations that the host no longer holds; at most 1023.
    pub withdrawn_stations: Vec<u32>,
    /// Labels of other objects that the host no longer holds; at most 1023.
    pub withdrawn: Vec<u16>,
    /// Who the objects of this message are that have a number below [`FIRST_LABEL`](crate::numbering::FIRST_LABEL), in their
    /// order; at most 255. Numbers from there on are the host's labels.
    pub stations: Vec<u32>,
}

/// The numbers of the content rules are their places in this list.
const CONTENTS: [Content; 5] = [
    Content::AllVisible,
    Content::SilentOnly,
    Content::Demanded,
    Content::Requested,
    Content::Included,
];

fn content_number(content: Content) -> u8 {
    match content {
        Content::AllVisible => 0,
        Content::SilentOnly => 1,
        Content::Demanded => 2,
        Content::Requested => 3,
        Content::Included => 4,
    }
}

fn station_ids(ids: &[u32]) -> Vec<cdd::StationId> {
    ids.iter().map(|&id| cdd::StationId(id)).collect()
}

fn plain_ids(ids: &[cdd::StationId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

impl FusedState {
    /// The same without any list: what all messages of one state have in common.
    #[must_use]
    pub fn without_lists(&self) -> Self {
        Self {
            contributors: Vec::new(),
            requested: Vec::new(),
            withdrawn_stations: Vec::new(),
            withdrawn: Vec::new(),
            stations: Vec::new(),
            ..*self
        }
    }

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
            content: content_number(self.content),
            full: self.full,
            contributors: station_ids(&self.contributors),
            requested: station_ids(&self.requested),
            withdrawn_stations: station_ids(&self.withdrawn_stations),
            withdrawn: self
                .withdrawn
                .iter()
                .map(|&id| cdd::Identifier2B(id))
                .collect(),
            stations: station_ids(&self.stations),
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
            content: CONTENTS
                .get(usize::from(asn.content))
                .copied()
                .unwrap_or_default(),
            full: asn.full,
            contributors: plain_ids(&asn.contributors),
            requested: plain_ids(&asn.requested),
            withdrawn_stations: plain_ids(&asn.withdrawn_stations),
            withdrawn: asn.withdrawn.iter().map(|id| id.0).collect(),
            stations: plain_ids(&asn.stations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn every_content_rule_has_a_number() {
        for (number, content) in CONTENTS.into_iter().enumerate() {
            assert_eq!(usize::from(content_number(content)), number);
            let cpm = Cpm {
                fused: Some(FusedState {
                    content,
                    ..fused(1, 1)
                }),
                ..report(1)
            };
            assert_eq!(Cpm::decode(&cpm.encode().unwrap()), Ok(cpm));
        }
    }

    #[test]
    fn every_list_has_its_end() {
        let encoded = |change: fn(&mut FusedState)| {
            let mut state = fused(0, 0);
            change(&mut state);
            let cpm = Cpm {
                fused: Some(state),
                ..report(0)
            };
            cpm.encode()
        };
        assert!(encoded(|state| state.requested = vec![u32::MAX; 255]).is_ok());
        assert!(encoded(|state| state.requested = vec![u32::MAX; 256]).is_err());
        assert!(encoded(|state| state.stations = vec![u32::MAX; 255]).is_ok());
        assert!(encoded(|state| state.stations = vec![u32::MAX; 256]).is_err());
        assert!(encoded(|state| state.withdrawn_stations = vec![u32::MAX; 1_023]).is_ok());
        assert!(encoded(|state| state.withdrawn_stations = vec![u32::MAX; 1_024]).is_err());
        assert!(encoded(|state| state.withdrawn = vec![u16::MAX; 1_024]).is_err());
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
