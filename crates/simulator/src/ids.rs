//! Numbers that must not be taken for one another.

/// A place for a vehicle that is present: small, and given again once the vehicle has left. Arrays of the hot path go by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Slot(pub(crate) u32);

/// Where a vehicle stands in the frame of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FrameIndex(pub(crate) u32);

/// The number of a tile among those of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct TileNumber(pub(crate) u32);

/// A step of a run, 50 ms each, from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Step(pub(crate) u32);

/// One of the arms of a part of a run that share their draws: its bit in masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Lane(pub(crate) u8);

impl Slot {
    /// As an index into arrays by slot.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl FrameIndex {
    /// As an index into arrays by place in the frame.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl TileNumber {
    /// As an index into arrays by tile.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Step {
    /// The step so many later.
    #[inline]
    pub(crate) fn after(self, steps: u32) -> Self {
        Self(self.0 + steps)
    }

    /// Steps since an earlier one.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> u32 {
        self.0 - earlier.0
    }

    /// The step so many earlier, or the first.
    #[inline]
    pub(crate) fn before(self, steps: u32) -> Self {
        Self(self.0.saturating_sub(steps))
    }
}

impl Lane {
    /// As an index into arrays by lane.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// As a bit of a mask.
    #[inline]
    pub(crate) fn bit(self) -> u16 {
        1 << self.0
    }
}

impl covey_radio::Number for Slot {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}

impl covey_radio::Number for TileNumber {
    #[inline]
    fn index(self) -> usize {
        self.0 as usize
    }
}
