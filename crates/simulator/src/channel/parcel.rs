//! Messages as the channel sees them.

use covey_draws::{Draws, Purpose};

use crate::ids::Slot;
use crate::world::World;

/// Message classes on the air, in the order of their statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Beacon,
    Report,
    Broadcast,
}

impl Class {
    /// The draws of this step by which its messages are received.
    pub(crate) fn reception(self, world: &World<'_>) -> Draws {
        self.draws(world, Purpose::Reception)
    }

    /// The draws of this step by which its messages are thinned.
    pub(crate) fn thinning(self, world: &World<'_>) -> Draws {
        self.draws(world, Purpose::Thinning)
    }

    fn draws(self, world: &World<'_>, purpose: Purpose) -> Draws {
        Draws::new(world.seed, purpose, self as u8, u64::from(world.step().0))
    }
}

/// A message as the channel sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) sender: Slot,
    pub(crate) class: Class,
    pub(crate) bytes: u32,
    /// Bytes of a beacon that are there because of its digest.
    pub(crate) digest: u32,
    /// Steps until its sender may have another of its class, for reports.
    pub(crate) period: u32,
}

impl Parcel {
    /// A report whose sender may have another after so many steps.
    pub(crate) fn report(sender: Slot, bytes: u32, period: u32) -> Self {
        Self {
            sender,
            class: Class::Report,
            bytes,
            digest: 0,
            period,
        }
    }

    /// A broadcast.
    pub(crate) fn broadcast(sender: Slot, bytes: u32) -> Self {
        Self {
            sender,
            class: Class::Broadcast,
            bytes,
            digest: 0,
            period: 0,
        }
    }
}
