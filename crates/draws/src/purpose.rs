//! What draws are for.

/// What a draw decides. Draws of different purposes are independent.
///
/// A number here is the word that a purpose puts into every address, so every result depends on it: numbers are never changed and
/// never used again. From 256 on, the lowest eight bits are left free for a class ([`Draws::new`](crate::Draws::new)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Purpose {
    /// Whether a vehicle of the built-in traffic is heavy: vehicle.
    Kind = 1,
    /// A driver's wish relative to the speed limit: vehicle.
    SpeedFactor = 2,
    /// Where vehicles of the built-in traffic stand at first: lane, number on it.
    Place = 3,
    /// A driver's imperfection: vehicle, step.
    Dawdle = 4,
    /// Which way a vehicle of the built-in traffic goes at a junction: vehicle, junction on its way.
    Turn = 5,

    /// Whether a receiver gets a message: (sender, receiver), step, message class.
    Reception = 0x100,
    /// Whether a message passes capacity thinning: (sender, sender), step, message class.
    Thinning = 0x200,
    /// Innovation of a pair's shadowing: unordered pair, step.
    Shadowing = 0x300,
    /// A pair's blockage for one episode: unordered pair, the episode's first step.
    Blockage = 0x400,
    /// Whether a receiver decodes a block's control message and data: (sender, receiver), message and block, message class.
    Block = 0x500,
    /// Which resource a station takes: (station, block), time, message class.
    Resource = 0x600,
    /// For how many messages it takes it: (station, block), time, message class.
    Uses = 0x700,
    /// Whether it keeps it then: (station, block), time, message class.
    Keep = 0x800,

    /// Whether a vehicle is equipped: vehicle.
    Equipment = 0x1_0100,
    /// Whom a host that chooses at random takes: (host, candidate), step; class 1 among those who could tell something.
    Choice = 0x1_0200,
    /// The error of a vehicle's own position: (vehicle, axis), step.
    OwnPosition = 0x1_0300,
    /// The error of a sensed position: (who sees, what is seen), step; the class is the axis.
    SensedPosition = 0x1_0400,
    /// Whether a vehicle misbehaves: vehicle.
    Conduct = 0x1_0500,
    /// When a measured beacon follows, and how large it is: vehicle, number of its beacon; class 0 for the interval (or both), 1 for the
    /// size, 2 for when the first comes, 3 for the size of one that waited.
    MeasuredBeacon = 0x1_0600,
    /// Whether a sensor misses an object: (who looks, what is there), spell; class 1 for when the pair's spells begin.
    Missed = 0x1_0700,
    /// Errors of what a sensor tells of an object: (who sees, what is seen), step; classes 0 and 1 for the position, 2 for the speed, 3 for
    /// the heading.
    Sensed = 0x1_0800,
    /// Errors that a sensor always makes: who sees; classes as of [`Sensed`](Self::Sensed).
    SensorBias = 0x1_0900,
    /// What a sensor sees that is not there: who sees, step; class 0 for whether it appears, 1 for how far off, 2 for which way.
    Ghost = 0x1_0A00,
}

impl Purpose {
    /// The word that stands for this purpose and `class` in an address. A purpose below 256 has no class.
    #[inline]
    pub(crate) const fn word(self, class: u8) -> u64 {
        let number = self as u64;
        if number < 0x100 {
            number
        } else {
            number | class as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every purpose with its number, as stored results have it.
    const NUMBERS: [(Purpose, u32); 23] = [
        (Purpose::Kind, 1),
        (Purpose::SpeedFactor, 2),
        (Purpose::Place, 3),
        (Purpose::Dawdle, 4),
        (Purpose::Turn, 5),
        (Purpose::Reception, 0x100),
        (Purpose::Thinning, 0x200),
        (Purpose::Shadowing, 0x300),
        (Purpose::Blockage, 0x400),
        (Purpose::Block, 0x500),
        (Purpose::Resource, 0x600),
        (Purpose::Uses, 0x700),
        (Purpose::Keep, 0x800),
        (Purpose::Equipment, 0x1_0100),
        (Purpose::Choice, 0x1_0200),
        (Purpose::OwnPosition, 0x1_0300),
        (Purpose::SensedPosition, 0x1_0400),
        (Purpose::Conduct, 0x1_0500),
        (Purpose::MeasuredBeacon, 0x1_0600),
        (Purpose::Missed, 0x1_0700),
        (Purpose::Sensed, 0x1_0800),
        (Purpose::SensorBias, 0x1_0900),
        (Purpose::Ghost, 0x1_0A00),
    ];

    /// The place in [`NUMBERS`]; without an arm here a new purpose does not compile.
    fn listed(purpose: Purpose) -> usize {
        match purpose {
            Purpose::Kind => 0,
            Purpose::SpeedFactor => 1,
            Purpose::Place => 2,
            Purpose::Dawdle => 3,
            Purpose::Turn => 4,
            Purpose::Reception => 5,
            Purpose::Thinning => 6,
            Purpose::Shadowing => 7,
            Purpose::Blockage => 8,
            Purpose::Block => 9,
            Purpose::Resource => 10,
            Purpose::Uses => 11,
            Purpose::Keep => 12,
            Purpose::Equipment => 13,
            Purpose::Choice => 14,
            Purpose::OwnPosition => 15,
            Purpose::SensedPosition => 16,
            Purpose::Conduct => 17,
            Purpose::MeasuredBeacon => 18,
            Purpose::Missed => 19,
            Purpose::Sensed => 20,
            Purpose::SensorBias => 21,
            Purpose::Ghost => 22,
        }
    }

    #[test]
    fn numbers_are_those_of_stored_results() {
        for (at, (purpose, number)) in NUMBERS.into_iter().enumerate() {
            assert_eq!(purpose as u32, number, "{purpose:?}");
            assert_eq!(listed(purpose), at, "{purpose:?}");
        }
    }

    #[test]
    fn no_two_purposes_share_a_word() {
        let mut words: Vec<u64> = NUMBERS
            .iter()
            .flat_map(|&(purpose, number)| {
                let classes = if number < 0x100 { 0..=0 } else { 0..=u8::MAX };
                classes.map(move |class| purpose.word(class))
            })
            .collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
        assert_eq!(Purpose::Turn.word(9), Purpose::Turn.word(0));
    }
}
