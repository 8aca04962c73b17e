//! An input read as a script: messages field by field, times and places, mostly sane, sometimes anything, such as not-a-number or the
//! end of the range.

use covey_protocol::messages::{
    AgentState, Beacon, Broadcast, Confidence, Content, ObjectState, Report, Size,
};
use covey_protocol::{
    AgentId, Cell, CoverageDigest, Duration, Instant, ObjectId, Position, Tile, Velocity,
};

/// Bytes, one after the other; zeros when they run out.
pub(crate) struct Script<'a> {
    pub(crate) bytes: &'a [u8],
}

impl Script<'_> {
    pub(crate) fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    pub(crate) fn number(&mut self) -> f64 {
        match self.byte() {
            0xFF => f64::NAN,
            0xFE => f64::INFINITY,
            0xFD => -1e300,
            0xFC => f64::from_bits(u64::from_le_bytes(core::array::from_fn(|_| self.byte()))),
            small => f64::from(small as i8) * 8.0,
        }
    }

    pub(crate) fn time(&mut self, now: Instant) -> Instant {
        match self.byte() {
            0xFF => Instant::from_micros(i64::MAX),
            0xFE => Instant::from_micros(i64::MIN),
            small => now - Duration::from_millis(10 * (i64::from(small) - 4)),
        }
    }

    pub(crate) fn position(&mut self) -> Position {
        Position::new(250.0 + self.number(), 250.0 + self.number())
    }

    pub(crate) fn agent(&mut self) -> AgentId {
        AgentId(u64::from(self.byte() % 8))
    }

    pub(crate) fn state(&mut self) -> AgentState {
        AgentState {
            position: self.position(),
            heading: self.number(),
            speed: self.number(),
            size: Size::default(),
        }
    }

    /// Small numbers, which are stations too, large ones, and numbers of somebody's making.
    pub(crate) fn object(&mut self) -> ObjectId {
        match self.byte() {
            0xFF => ObjectId(u64::MAX),
            0xFE => ObjectId(3_000_000_000 + u64::from(self.byte())),
            byte if byte >= 0xC0 => {
                let number = u16::from_be_bytes([self.byte(), byte]);
                ObjectId::perceived(self.agent(), number)
            }
            byte => ObjectId(u64::from(byte % 12)),
        }
    }

    pub(crate) fn objects(&mut self, now: Instant) -> Vec<ObjectState> {
        (0..self.byte() % 6)
            .map(|_| ObjectState {
                id: self.object(),
                position: self.position(),
                velocity: Velocity::new(self.number(), self.number()),
                size: Size::default(),
                sensed_at: self.time(now),
                confidence: Confidence::from_percent(self.byte()),
            })
            .collect()
    }

    pub(crate) fn cells(&mut self) -> Vec<Cell> {
        (0..self.byte() % 20)
            .map(|_| match self.byte() {
                0xFF => Cell::new(i32::MIN, i32::MAX),
                small => Cell::new(i32::from(small % 32), i32::from(small / 8)),
            })
            .collect()
    }

    pub(crate) fn beacon(&mut self, now: Instant) -> Beacon {
        Beacon {
            sender: self.agent(),
            at: self.time(now),
            state: self.state(),
            digest: CoverageDigest::new(self.cells()).ok(),
            low_frequency: self.byte().is_multiple_of(2),
        }
    }

    pub(crate) fn report(&mut self, now: Instant) -> Report {
        Report {
            sender: self.agent(),
            at: self.time(now),
            objects: self.objects(now),
            sensor_information: self.byte().is_multiple_of(2),
        }
    }

    pub(crate) fn broadcast(&mut self, now: Instant) -> Broadcast {
        Broadcast {
            host: self.agent(),
            tile: Tile::new(i32::from(self.byte() % 2), 0),
            at: self.time(now),
            position: self.position(),
            sequence: u32::from(self.byte() % 4),
            epoch: u32::MAX,
            tenure: self.time(now).since(now),
            price: self.number(),
            cycle_start: self.time(now),
            contributors: (0..self.byte() % 4).map(|_| self.agent()).collect(),
            lease: now.since(self.time(now)),
            content: match self.byte() % 5 {
                0 => Content::AllVisible,
                1 => Content::SilentOnly,
                2 => Content::Demanded,
                3 => Content::Requested,
                _ => Content::Included,
            },
            requested: (0..self.byte() % 3).map(|_| self.object()).collect(),
            full: self.byte().is_multiple_of(2),
            objects: self.objects(now),
            withdrawn: (0..self.byte() % 4).map(|_| self.object()).collect(),
            unchanged_since: self.time(now),
        }
    }
}
