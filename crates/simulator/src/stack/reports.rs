//! Reports of arms in which nobody serves as a host: everyone who decodes one learns of its objects.

use covey_protocol::messages::{Message, Report};

use super::Turn;
use crate::channel::{Class, Parcel, Speaker};
use crate::ids::Slot;
use crate::world::World;

/// A report.
#[derive(Debug)]
struct SentReport {
    parcel: Parcel,
    objects: Vec<Slot>,
    sensor_information: bool,
}

impl SentReport {
    fn message(&self, world: &World<'_>) -> Message {
        let sender = self.parcel.sender;
        let perceived = |&object: &Slot| world.perceived(sender, object);
        Message::Report(Report {
            sender: world.agent(sender),
            at: world.now(),
            objects: self.objects.iter().map(perceived).collect(),
            sensor_information: self.sensor_information,
        })
    }
}

/// The reports of a step.
#[derive(Debug, Default)]
pub(super) struct SentReports {
    sent: Vec<SentReport>,
    receivers: Vec<Slot>,
}

impl SentReports {
    /// Begins a step.
    pub(super) fn clear(&mut self) {
        self.sent.clear();
    }

    /// Offers a report.
    pub(super) fn send(
        &mut self,
        turn: &mut Turn<'_>,
        thinning: &covey_draws::Draws,
        sender: Slot,
        objects: Vec<Slot>,
        sensor_information: bool,
    ) {
        let stage = turn.stage;
        let bytes = stage.sizes.report(objects.len(), sensor_information);
        let parcel = Parcel::new(sender, Class::Report, bytes);
        turn.air.offer(stage.world, thinning, parcel);
        self.sent.push(SentReport {
            parcel,
            objects,
            sensor_information,
        });
    }

    /// Tells whoever watches of them.
    pub(super) fn tell(&self, turn: &mut Turn<'_>) {
        for report in &self.sent {
            let message = report.message(turn.stage.world);
            turn.tell_offered(report.parcel.sender, &message, report.parcel.bytes);
        }
    }

    /// Delivers them; `carried` goes with them one by one.
    pub(super) fn deliver(&mut self, turn: &mut Turn<'_>, carried: &[bool]) {
        let world = turn.stage.world;
        let reception = Class::Report.reception(world);
        let stamp = world.time.stamp(world.sights.step);
        for (report, &carried) in self.sent.iter().zip(carried) {
            let receivers = &mut self.receivers;
            turn.air
                .deliver(world, &reception, report.parcel, carried, receivers);
            turn.ledger.receptions += (receivers.len() * report.objects.len()) as u64;
            let message = turn.told.message(world.step(), receivers.iter().copied());
            let speaker = Speaker::Reporter(report.parcel.sender);
            turn.told.spoken_by(message, speaker);
            for &object in &report.objects {
                turn.told.tell(message, object, stamp);
            }
            if turn.observer.wants_deliveries() {
                turn.tell_delivered(&report.message(world), &self.receivers);
            }
        }
    }
}
