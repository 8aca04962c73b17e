//! Who and what: typed numbers.

use core::fmt;

/// A participating agent: anything with sensors and a radio.
///
/// On the wire it is the ETSI station id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AgentId(pub u64);

/// Anything that the twin represents, participating or not.
///
/// Numbers below 2^32 are *shared*: everybody means the same object by them. A participating agent is the object of its own
/// number. What somebody perceives has a number of its own making, which means something only together with who gave it:
/// [`ObjectId::perceived`]. Two stations' object 1 are two objects, until somebody finds out that they are one
/// ([`crate::associate`]).
///
/// The letter's policy believes numbers: whoever hands it what was sensed and heard has associated it before, and gives shared
/// ones. Choice by demand associates by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectId(pub u64);

/// Ids from here on are scoped: the giver's number in the bits above the object's 16.
const SCOPED: u64 = 1 << 48;

impl From<AgentId> for ObjectId {
    fn from(agent: AgentId) -> Self {
        Self(agent.0)
    }
}

impl ObjectId {
    /// What agent `by` calls its object `number`. Of the agent's number 32 bits count, as on the wire.
    #[must_use]
    pub const fn perceived(by: AgentId, number: u16) -> Self {
        Self(SCOPED | (by.0 & 0xFFFF_FFFF) << 16 | number as u64)
    }

    /// Who gave the number, and the number, where it is scoped.
    #[must_use]
    pub const fn scope(self) -> Option<(AgentId, u16)> {
        if self.0 & SCOPED == 0 || self.0 >= SCOPED << 1 {
            return None;
        }
        Some((AgentId((self.0 ^ SCOPED) >> 16), (self.0 & 0xFFFF) as u16))
    }

    /// The station that it is, or the shared number, where it fits the 32 bits of a station id.
    #[must_use]
    pub const fn shared(self) -> Option<u32> {
        if self.0 <= 0xFFFF_FFFF {
            Some(self.0 as u32)
        } else {
            None
        }
    }
}

impl AgentId {
    /// A well-mixed number that all participants derive alike; it spreads beacons and reports over the steps of a cycle.
    ///
    /// SplitMix64's output function, of which the protocol keeps its own copy: no draw, only a fixed spread, and no crate to depend on.
    #[must_use]
    pub const fn mixed(self) -> u64 {
        let mut z = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope() {
            Some((by, number)) => write!(f, "{by}:{number}"),
            None => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn numbers_of_two_stations_are_two_objects_and_none_is_a_station() {
        let id = |by, number| ObjectId::perceived(AgentId(by), number);
        assert_ne!(id(1, 1), id(2, 1));
        for by in [0, 1, 65_535, 65_536, 3_000_000_001, 4_294_967_295] {
            for number in [0, 1, 65_535] {
                let object = id(by, number);
                assert_eq!(object.scope(), Some((AgentId(by), number)));
                assert_eq!(object.shared(), None);
                assert!(object > ObjectId(u64::from(u32::MAX)));
            }
            let station = ObjectId::from(AgentId(by));
            assert_eq!((station.scope(), station.shared()), (None, Some(by as u32)));
        }
        assert_eq!(id(3_000_000_001, 7).to_string(), "3000000001:7");
        assert_eq!(ObjectId(u64::MAX).scope(), None);
    }

    #[test]
    fn mixing_is_the_published_generator() {
        // First outputs of SplitMix64 seeded with 0 and with 1.
        assert_eq!(AgentId(0).mixed(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(AgentId(1).mixed(), 0x910A_2DEC_8902_5CC1);
    }
}
