//! What messages weigh on the air, by the scenario's size model.

use covey_its::sizes::{FusedCounts, Model, Sender};
use covey_protocol::Parameters;
use covey_protocol::messages::{Broadcast, Report};
use covey_protocol::security::Security;

use super::timing::Accompanied;
use crate::readings::SizeModel;

/// Bytes of a beacon without digest: TR 103 562 and the letter's table.
const CAM_BYTES: u32 = 121;

/// Bytes of messages.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    /// Really encoded messages; otherwise sums of the parameters' parts.
    encoded: Option<Model>,
    message: f64,
    sensor: f64,
    object: f64,
    withdrawn: f64,
    contributor: f64,
    requested: f64,
    security: Security,
}

impl Sizes {
    pub(crate) fn new(model: SizeModel, p: &Parameters) -> Self {
        Self {
            encoded: match model {
                SizeModel::Tr103562 => None,
                SizeModel::Uper => Some(Model::new()),
            },
            message: p.message_bytes,
            sensor: p.sensor_bytes,
            object: p.object_bytes,
            withdrawn: p.withdrawn_bytes,
            contributor: p.contributor_bytes,
            requested: p.requested_bytes,
            security: p.security,
        }
    }

    /// A beacon, and how many bytes of it are there because of a digest of `digest` bytes.
    pub(crate) fn beacon(
        &self,
        digest: Option<u32>,
        beacon: &Accompanied,
        sender: Sender,
    ) -> (u32, u32) {
        let (whole, digest) = self.unsigned_beacon(digest, beacon.due.low_frequency, sender);
        match beacon.due.bytes {
            Some(bytes) => (bytes + digest, digest),
            None => (whole + self.security.bytes(beacon.certificate), digest),
        }
    }

    fn unsigned_beacon(
        &self,
        digest: Option<u32>,
        low_frequency: bool,
        sender: Sender,
    ) -> (u32, u32) {
        match &self.encoded {
            None => {
                let digest = digest.unwrap_or(0);
                (CAM_BYTES + digest, digest)
            }
            Some(model) => {
                let digest = digest.map(|bytes| bytes as usize);
                let cam = |digest| match sender.roadside {
                    true => count(model.roadside_cam(digest)),
                    false => count(model.cam(digest, low_frequency)),
                };
                let whole = cam(digest);
                (whole, whole - cam(None))
            }
        }
    }

    /// A report that tells its sender's sensors or does not; where it is signed, with the certificate or without.
    pub(crate) fn report(
        &self,
        objects: usize,
        sensor_information: bool,
        sender: Sender,
        certificate: bool,
    ) -> u32 {
        let sender = sender.telling(sensor_information);
        self.unsigned_report(objects, sender)
            + self.envelopes(certificate, |model| model.report_messages(objects, sender))
    }

    /// What signing adds to something that takes one message, or as many as its encoding says: each is signed, the first with the
    /// certificate.
    fn envelopes(&self, certificate: bool, messages: impl FnOnce(&Model) -> usize) -> u32 {
        if self.security == Security::None {
            return 0;
        }
        let messages = self.encoded.as_ref().map_or(1, messages);
        let others = u32::try_from(messages.saturating_sub(1)).unwrap_or(u32::MAX);
        self.security.bytes(certificate) + others.saturating_mul(self.security.bytes(false))
    }

    fn unsigned_report(&self, objects: usize, sender: Sender) -> u32 {
        match &self.encoded {
            None => {
                let sensors = self.sensor * sender.sensors() as f64;
                whole(self.message + sensors + self.object * objects as f64)
            }
            Some(model) => count(model.report(objects, sender)),
        }
    }

    /// A contributor's report. The letter's table charges sensor information every time; encoded messages carry it when they do.
    pub(crate) fn contribution(&self, report: &Report, sender: Sender, certificate: bool) -> u32 {
        let sensors = report.sensor_information || self.encoded.is_none();
        self.report(report.objects.len(), sensors, sender, certificate)
    }

    /// A host's broadcast; where it is signed, with the certificate or without.
    pub(crate) fn broadcast(&self, broadcast: &Broadcast, certificate: bool) -> u32 {
        let bytes = self.unsigned_broadcast(broadcast);
        bytes
            + self.envelopes(certificate, |model| {
                model.fused_messages(FusedCounts::of(broadcast))
            })
    }

    fn unsigned_broadcast(&self, broadcast: &Broadcast) -> u32 {
        match &self.encoded {
            None => whole(
                self.message
                    + self.object * broadcast.objects.len() as f64
                    + self.withdrawn * broadcast.withdrawn.len() as f64
                    + self.contributor * broadcast.contributors.len() as f64
                    + self.requested * broadcast.requested.len() as f64,
            ),
            Some(model) => count(model.fused(FusedCounts::of(broadcast))),
        }
    }
}

fn whole(bytes: f64) -> u32 {
    bytes.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use covey_protocol::beacons::DueBeacon;
    use covey_protocol::messages::{Confidence, Content, ObjectState, Size};
    use covey_protocol::{AgentId, Duration, Instant, ObjectId, Position, Tile, Velocity};

    use super::*;
    use crate::scenario::estimate_encoded;

    const CAR: Sender = Sender {
        roadside: false,
        circles: 1,
        sectors: 0,
    };

    #[test]
    fn the_letters_sizes_are_those_of_its_table() {
        let sizes = Sizes::new(SizeModel::Tr103562, &Parameters::default());
        assert_eq!(beacon(&sizes, None, true), (121, 0));
        assert_eq!(beacon(&sizes, Some(13), false), (134, 13));
        assert_eq!(sizes.report(10, true, CAR, true), 121 + 35 + 350);
        let sectors = Sender {
            sectors: 2,
            circles: 0,
            ..CAR
        };
        assert_eq!(sizes.report(10, true, sectors, true), 121 + 2 * 35 + 350);
    }

    #[test]
    fn signing_adds_an_envelope_to_all_but_measured_beacons() {
        let p = Parameters {
            security: Security::Signed,
            ..Parameters::default()
        };
        let sizes = Sizes::new(SizeModel::Tr103562, &p);
        assert_eq!(beacon(&sizes, Some(13), true), (121 + 93 + 13, 13));
        let with = Accompanied {
            certificate: true,
            ..plain(true)
        };
        assert_eq!(sizes.beacon(None, &with, CAR), (121 + 232, 0));
        let due = DueBeacon {
            bytes: Some(455),
            ..with.due
        };
        let measured = Accompanied { due, ..with };
        assert_eq!(sizes.beacon(Some(13), &measured, CAR), (468, 13));
        assert_eq!(sizes.report(10, false, CAR, false), 121 + 350 + 93);
        assert_eq!(sizes.report(10, false, CAR, true), 121 + 350 + 232);
        assert_eq!(
            f64::from(sizes.report(10, true, CAR, false)),
            p.report_bytes(10.0)
        );
        // Every message of several is signed.
        let [unsigned, signed] = [Security::None, Security::Signed].map(|security| {
            let p = Parameters {
                security,
                ..Parameters::default()
            };
            Sizes::new(SizeModel::Uper, &p).report(120, true, CAR, true)
        });
        assert_eq!(signed - unsigned, 232 + 2 * 93);
    }

    fn plain(low_frequency: bool) -> Accompanied {
        Accompanied {
            due: DueBeacon {
                low_frequency,
                previous: None,
                bytes: None,
            },
            certificate: false,
        }
    }

    fn beacon(sizes: &Sizes, digest: Option<u32>, low_frequency: bool) -> (u32, u32) {
        sizes.beacon(digest, &plain(low_frequency), CAR)
    }

    #[test]
    fn encoded_sizes_are_those_of_the_encoder_and_hosts_estimate_them() {
        let mut p = Parameters::default();
        estimate_encoded(&mut p);
        let sizes = Sizes::new(SizeModel::Uper, &p);
        let (with, digest) = beacon(&sizes, Some(13), false);
        assert_eq!(with - digest, beacon(&sizes, None, false).0);
        assert!((13..=20).contains(&digest), "{digest}");
        assert!(beacon(&sizes, None, true) > beacon(&sizes, None, false));
        for objects in [1, 10, 40] {
            let real = f64::from(sizes.report(objects, true, CAR, false));
            let estimate = p.report_bytes(objects as f64);
            assert!((real - estimate).abs() < 0.05 * real, "{real} {estimate}");
        }
        // A station id each, and now and then a byte more for the length.
        for bytes in [p.contributor_bytes, p.withdrawn_bytes, p.requested_bytes] {
            assert!((4.0..4.2).contains(&bytes), "{p:?}");
        }
        p.validate().unwrap();
    }

    #[test]
    fn a_broadcast_weighs_what_it_lists() {
        let p = Parameters::default();
        let object = |id| ObjectState {
            id,
            position: Position::default(),
            velocity: Velocity::default(),
            size: Size::default(),
            sensed_at: Instant::ZERO,
            confidence: Confidence::FULL,
        };
        let host = AgentId(9);
        let station = ObjectId(3_000_000_001);
        let label = ObjectId::perceived(host, 65_535);
        let broadcast = |objects: &[ObjectId], withdrawn: &[ObjectId], requested: &[ObjectId]| {
            let broadcast = Broadcast {
                host,
                tile: Tile::new(0, 0),
                at: Instant::ZERO,
                position: Position::default(),
                sequence: 0,
                epoch: 0,
                tenure: Duration::ZERO,
                price: 0.0,
                cycle_start: Instant::ZERO,
                contributors: vec![host],
                lease: Duration::ZERO,
                content: Content::Requested,
                requested: requested.to_vec(),
                full: false,
                objects: objects.iter().copied().map(object).collect(),
                withdrawn: withdrawn.to_vec(),
                unchanged_since: Instant::ZERO,
            };
            [SizeModel::Tr103562, SizeModel::Uper]
                .map(|model| Sizes::new(model, &p).broadcast(&broadcast, false))
        };
        let base = broadcast(&[label], &[], &[]);
        let more = |[letter, encoded]: [u32; 2]| [letter - base[0], encoded - base[1]];
        // An object of 35 bytes by the table; 24.1 bytes as a label when encoded, four more as a station.
        let labels = more(broadcast(&[label; 9], &[], &[]));
        let stations = more(broadcast(&[[label; 1], [station; 1]].concat(), &[], &[]));
        assert_eq!(labels[0], 8 * 35);
        assert!((193..=195).contains(&labels[1]), "{labels:?}");
        assert!((28..=29).contains(&stations[1]), "{stations:?}");
        assert_eq!(more(broadcast(&[label], &[label; 2], &[]))[1], 4);
        assert_eq!(more(broadcast(&[label], &[station; 2], &[]))[1], 8);
        assert_eq!(more(broadcast(&[label], &[], &[station; 2]))[1], 8);
        assert_eq!(more(broadcast(&[label], &[], &[station; 2]))[0], 6);
    }
}
