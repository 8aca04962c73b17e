//! What participants do with their radios besides sending beacons, by kind of arm: nothing, reports by everyone's own rules, the
//! protocol's hosts and contributors, or what a selector that knows the truth tells them.

mod conduct;
mod fleet;
mod multihop;
mod omniscient;
pub(crate) mod policies;
mod reports;
mod requests;
mod senders;
mod silent;
mod spoken;

use covey_protocol::Parameters;
use covey_protocol::messages::{Beacon, Message};

use crate::channel::{Air, BeaconClock, BeaconLanes, Parcel, Sizes, Told};
use crate::ids::{Lane, Slot};
use crate::measure::{Evaluation, Knowledge, Ledger, Observer, Served};
use crate::world::World;

pub(crate) use fleet::Fleet;
pub(crate) use multihop::MultiHop;
pub(crate) use omniscient::Omniscient;
pub(crate) use requests::Requests;
pub(crate) use senders::{SenderRules, Senders};
pub(crate) use silent::Silent;
pub(crate) use spoken::Spoken;

/// A step, as all arms meet it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(crate) world: &'a World<'a>,
    /// Who reports now.
    pub(crate) clock: &'a BeaconClock,
    pub(crate) sizes: &'a Sizes,
    /// The step belongs to the measured window.
    pub(crate) measured: bool,
    /// Who matters to whom is known in this step's cycle.
    pub(crate) relevance_known: bool,
}

/// An arm's turn in a step: all that it may use.
pub(crate) struct Turn<'a> {
    pub(crate) stage: Stage<'a>,
    /// Its number among all arms of the run.
    pub(crate) number: usize,
    pub(crate) lane: Lane,
    /// Beacons and sensed objects of everyone.
    pub(crate) spoken: &'a mut Spoken,
    /// Beacons as they were heard, in its lane.
    pub(crate) beacons: &'a mut BeaconLanes,
    pub(crate) air: &'a mut Air,
    /// What everyone learned from reports and broadcasts.
    pub(crate) told: &'a mut Told,
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) observer: &'a mut dyn Observer,
}

impl Turn<'_> {
    /// Delivers one message if it was carried, or counts it as thinned. Writes the receivers' places.
    fn deliver(&mut self, parcel: Parcel, carried: bool, receivers: &mut Vec<Slot>) {
        let world = self.stage.world;
        let drawn = match carried {
            true => Some(self.beacons.drawn(world, parcel.class, parcel.sender)),
            false => None,
        };
        let drawn = drawn.map(|hits| (hits, self.lane));
        self.air.deliver(world, parcel, drawn, receivers);
    }

    /// Tells whoever watches of a message that was offered.
    pub(crate) fn tell_offered(&mut self, sender: Slot, message: &Message, bytes: u32) {
        let world = self.stage.world;
        let tile = world.prepared.tiles.tile(world.tile(sender));
        self.observer
            .message(self.number, world.now(), tile, message, bytes);
    }

    /// Messages take their time: slots are simulated.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.air.scheduled().is_some()
    }

    /// Tells whoever watches who received a message.
    pub(crate) fn tell_delivered(&mut self, message: &Message, receivers: &[Slot]) {
        let world = self.stage.world;
        let ids = receivers.iter().map(|&slot| world.road.id(slot));
        let receivers: Vec<u32> = ids.collect();
        self.observer
            .delivered(self.number, world.now(), message, &receivers);
    }
}

/// One arm's participants at work. What is not written does nothing.
pub(crate) trait Stack: std::fmt::Debug + Send {
    /// Someone records: keeps what only recorders want.
    fn watch(&mut self) {}

    /// It is told who matters to whom: the yardstick alone.
    fn wants_relevance(&self) -> bool {
        false
    }

    /// Moves all stamps to a new origin.
    fn rebase(&mut self) {}

    /// Makes room for new places, and lets go of those that were left.
    fn begin(&mut self, _turn: &mut Turn<'_>) {}

    /// The parameters by which beacons carry digests; none where they carry none.
    fn parameters(&self) -> Option<&Parameters> {
        None
    }

    /// The beacon that a place sent in this step, as it sounds in this arm.
    fn beacon(&self, spoken: &Spoken, world: &World<'_>, slot: Slot) -> Option<Beacon> {
        match self.parameters() {
            Some(parameters) => spoken.beacon(slot, world.step(), parameters),
            None => spoken.plain_beacon(slot, world.step()),
        }
    }

    /// Composes the reports that are due in this step and offers them, in order.
    fn report(&mut self, _turn: &mut Turn<'_>) {}

    /// Tells whoever watches of the reports of this step.
    fn tell_reports(&self, _turn: &mut Turn<'_>) {}

    /// Beacons of this step are heard, and its reports delivered; `carried` goes with the reports one by one.
    fn deliver(&mut self, _turn: &mut Turn<'_>, _carried: &[bool]) {}

    /// Messages of earlier steps arrive, where they take their time: before anything of this step is composed.
    fn arrive(&mut self, _turn: &mut Turn<'_>) {}

    /// The messages of this step are on their way.
    fn wait(&mut self, _turn: &mut Turn<'_>) {}

    /// The step of decisions: whoever plans the next cycle does, and says so.
    fn decide(&mut self, _turn: &mut Turn<'_>) {}

    /// What hosts did in this cycle.
    fn served(&self) -> &[Served] {
        &[]
    }

    /// Settles what decisions were good for.
    fn settle(
        &mut self,
        _world: &World<'_>,
        _knowledge: &Knowledge<'_>,
        _evaluation: &Evaluation<'_>,
        _ledger: &mut Ledger,
    ) {
    }

    /// What was learned from reports alone, where someone records.
    fn reported(&self) -> Option<&Told> {
        None
    }
}
