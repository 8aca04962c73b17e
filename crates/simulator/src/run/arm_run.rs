//! One arm at work.

use super::*;

/// A report of a sender-side arm.
#[derive(Debug)]
pub(crate) struct SentReport {
    pub(super) sender: u32,
    /// Places.
    pub(super) objects: Vec<u32>,
    pub(super) sensor_information: bool,
    pub(super) bytes: u32,
}

impl SentReport {
    /// As a message.
    pub(super) fn message(&self, shared: &Shared<'_>) -> Report {
        let perceived = |&object: &u32| shared.perceived(self.sender, object, shared.sensed_step);
        Report {
            sender: shared.agent(self.sender),
            at: shared.now(),
            objects: self.objects.iter().map(perceived).collect(),
            sensor_information: self.sensor_information,
        }
    }
}

impl ArmRun {
    /// The beacon of this step from a place, as it sounds in this arm.
    pub(super) fn beacon(&self, spoken: &Spoken, shared: &Shared<'_>, slot: u32) -> Option<Beacon> {
        match &self.kind {
            Kind::Hosted(hosted) => spoken.beacon(slot, shared.step, &hosted.profile.parameters),
            _ => spoken.plain_beacon(slot, shared.step),
        }
    }

    /// Composes the reports that are due in this step and offers them.
    pub(super) fn compose_reports(
        &mut self,
        shared: &Shared<'_>,
        spoken: &mut Spoken,
        group: &BeaconLanes,
        report_phase: &[u32],
        sizes: &Sizes,
    ) {
        match &mut self.kind {
            Kind::Silent => {}
            Kind::Senders(senders) => {
                self.reports.clear();
                let thinning = air::thinning(shared, REPORT);
                let phase = shared.phase();
                let mut objects = Vec::new();
                for &slot in &shared.participants {
                    if report_phase[slot as usize] != phase {
                        continue;
                    }
                    let said = senders.compose(
                        shared,
                        slot,
                        &self.told,
                        &group.heard,
                        self.lane,
                        &mut objects,
                    );
                    if let Some(sensor_information) = said {
                        let bytes = sizes.report(objects.len(), sensor_information);
                        self.air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                        self.reports.push(SentReport {
                            sender: slot,
                            objects: objects.clone(),
                            sensor_information,
                            bytes,
                        });
                    }
                }
            }
            Kind::Omniscient(omniscient) => {
                self.reports.clear();
                let thinning = air::thinning(shared, REPORT);
                let phase = shared.phase();
                for (&slot, objects) in &omniscient.plan {
                    if report_phase[slot as usize] == phase && shared.participant[slot as usize] {
                        // What it no longer sees it cannot report.
                        let seen = shared.seen.of(slot);
                        let objects: Vec<u32> = objects
                            .iter()
                            .copied()
                            .filter(|object| seen.contains(object))
                            .collect();
                        let bytes = sizes.report(objects.len(), true);
                        self.air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                        self.reports.push(SentReport {
                            sender: slot,
                            objects,
                            sensor_information: true,
                            bytes,
                        });
                    }
                }
            }
            Kind::Hosted(hosted) => {
                hosted.report(
                    shared,
                    spoken,
                    &group.heard,
                    self.lane,
                    &mut self.air,
                    sizes,
                );
            }
        }
    }
}
