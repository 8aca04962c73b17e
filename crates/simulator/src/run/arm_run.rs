//! One arm at work.

use super::*;

impl ArmRun {
    /// The beacon of this step from a place, as it sounds in this arm.
    pub(super) fn beacon(&self, spoken: &Spoken, shared: &Shared<'_>, slot: u32) -> Option<Beacon> {
        let mut beacon = spoken.beacon(slot, shared.step)?.clone();
        let digest = match &self.kind {
            Kind::Hosted(hosted) => hosted.digest_due(shared, slot),
            _ => false,
        };
        if !digest {
            beacon.digest = None;
        }
        Some(beacon)
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
                    if let Some(sensor) = said {
                        let bytes = sizes.report(objects.len(), sensor);
                        self.air.offer(shared, &thinning, slot, REPORT, bytes, 0);
                        self.reports.push((slot, objects.clone(), bytes));
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
                        self.reports.push((slot, objects, bytes));
                    }
                }
            }
            Kind::Hosted(hosted) => {
                hosted.report(
                    shared,
                    spoken,
                    &group.heard,
                    &self.told,
                    self.lane,
                    &mut self.air,
                    sizes,
                );
            }
        }
    }
}
