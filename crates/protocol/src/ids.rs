//! Who and what: typed numbers.

use core::fmt;

/// A participating agent: anything with sensors and a radio.
///
/// On the wire it is the ETSI station id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct AgentId(pub u64);

/// Anything that the twin represents, participating or not.
///
/// A participating agent is the object of its own number. For the letter's policy association of sightings is the caller's:
/// the same object has the same number for everyone. Choice by demand does not believe the numbers of perceived objects and
/// gives labels of its own ([`crate::demand::associate`]); those mean something only to whoever gave them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ObjectId(pub u64);

impl From<AgentId> for ObjectId {
    fn from(agent: AgentId) -> Self {
        Self(agent.0)
    }
}

impl AgentId {
    /// A well-mixed number that all participants derive alike; it spreads beacons and reports over the steps of a cycle.
    ///
    /// The finaliser of SplitMix64.
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
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_is_the_published_generator() {
        // First outputs of SplitMix64 seeded with 0 and with 1.
        assert_eq!(AgentId(0).mixed(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(AgentId(1).mixed(), 0x910A_2DEC_8902_5CC1);
    }
}
