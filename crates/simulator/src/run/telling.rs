//! What observers of messages and deliveries are told.

use super::part::tell_offered;
use super::*;

impl Part {
    /// Tells an observer who received the beacons of this step.
    pub(super) fn tell_delivered_beacons(
        &self,
        shared: &Shared<'_>,
        senders: &[u32],
        observer: &mut dyn Observer,
    ) {
        let stamp = shared.stamp(shared.step);
        for run in &self.arms {
            let number = run.number;
            let heard = &self.groups[run.group].heard;
            for &slot in senders {
                let Some(beacon) = run.beacon(&self.spoken, shared, slot) else {
                    continue;
                };
                let links = shared.links.range(slot);
                let receivers: Vec<u32> = shared.links.receivers[links]
                    .iter()
                    .filter(|&&place| heard.at(slot, place, run.lane) == stamp)
                    .map(|&place| shared.slots.id(place))
                    .collect();
                let message = Message::Beacon(beacon);
                observer.delivered(number, shared.now(), &message, &receivers);
            }
        }
    }

    /// Tells an observer what was offered in this step, broadcasts apart.
    pub(super) fn tell_messages(
        &self,
        shared: &Shared<'_>,
        senders: &[u32],
        observer: &mut dyn Observer,
    ) {
        for run in &self.arms {
            let number = run.number;
            for (&slot, offer) in senders.iter().zip(&run.air.offers) {
                if let Some(beacon) = run.beacon(&self.spoken, shared, slot) {
                    let message = Message::Beacon(beacon);
                    tell_offered(observer, number, shared, slot, &message, offer.bytes);
                }
            }
            match &run.kind {
                Kind::Silent => {}
                Kind::Senders(_) | Kind::Omniscient(_) => {
                    for report in &run.reports {
                        let message = Message::Report(report.message(shared));
                        let sender = report.sender;
                        tell_offered(observer, number, shared, sender, &message, report.bytes);
                    }
                }
                Kind::Hosted(hosted) => {
                    for (slot, report, bytes) in hosted.reports() {
                        let message = Message::Report(report.clone());
                        tell_offered(observer, number, shared, *slot, &message, *bytes);
                    }
                }
            }
        }
    }
}
