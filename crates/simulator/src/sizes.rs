//! What messages weigh on the air, by the scenario's size model.

use covey_its::sizes::Model;
use covey_protocol::Parameters;
use covey_protocol::messages::Broadcast;

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
        }
    }

    /// A beacon, and how many bytes of it are there because of a digest of `digest` bytes.
    pub(crate) fn beacon(&self, digest: Option<u32>, low_frequency: bool) -> (u32, u32) {
        match &self.encoded {
            None => {
                let digest = digest.unwrap_or(0);
                (CAM_BYTES + digest, digest)
            }
            Some(model) => {
                let digest = digest.map(|bytes| bytes as usize);
                let whole = count(model.cam(digest, low_frequency));
                (whole, whole - count(model.cam(None, low_frequency)))
            }
        }
    }

    /// A report.
    pub(crate) fn report(&self, objects: usize, sensor_information: bool) -> u32 {
        match &self.encoded {
            None => {
                let sensor = if sensor_information { self.sensor } else { 0.0 };
                whole(self.message + sensor + self.object * objects as f64)
            }
            Some(model) => count(model.cpm(objects, sensor_information)),
        }
    }

    /// Commands to reporters, without objects.
    pub(crate) fn commands(&self, reporters: usize) -> u32 {
        match &self.encoded {
            None => whole(self.message + self.contributor * reporters as f64),
            Some(model) => count(model.fused(0, 0, reporters)),
        }
    }

    /// A host's broadcast.
    pub(crate) fn broadcast(&self, broadcast: &Broadcast) -> u32 {
        let [objects, withdrawn, contributors] = [
            broadcast.objects.len(),
            broadcast.withdrawn.len(),
            broadcast.contributors.len(),
        ];
        let requested = self.requested * broadcast.requested.len() as f64;
        match &self.encoded {
            None => whole(
                self.message
                    + self.object * objects as f64
                    + self.withdrawn * withdrawn as f64
                    + self.contributor * contributors as f64
                    + requested,
            ),
            Some(model) => count(model.fused(objects, withdrawn, contributors)) + whole(requested),
        }
    }
}

/// The parameters by which hosts estimate messages that they have not seen, for really encoded messages.
pub(crate) fn estimate_encoded(p: &mut Parameters) {
    let model = Model::new();
    let bytes = |count: usize| count as f64;
    p.message_bytes = bytes(model.cpm(0, false));
    p.sensor_bytes = bytes(model.cpm(0, true)) - p.message_bytes;
    p.object_bytes = (bytes(model.cpm(30, false)) - p.message_bytes) / 30.0;
    let fused = bytes(model.fused(10, 0, 0));
    p.withdrawn_bytes = (bytes(model.fused(10, 20, 0)) - fused) / 20.0;
    p.contributor_bytes = (bytes(model.fused(10, 0, 20)) - fused) / 20.0;
}

fn whole(bytes: f64) -> u32 {
    bytes.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_sizes_are_those_of_its_table() {
        let sizes = Sizes::new(SizeModel::Tr103562, &Parameters::default());
        assert_eq!(sizes.beacon(None, true), (121, 0));
        assert_eq!(sizes.beacon(Some(13), false), (134, 13));
        assert_eq!(sizes.report(10, true), 121 + 35 + 350);
        assert_eq!(sizes.commands(3), 121 + 12);
    }

    #[test]
    fn encoded_sizes_are_those_of_the_encoder_and_hosts_estimate_them() {
        let mut p = Parameters::default();
        estimate_encoded(&mut p);
        let sizes = Sizes::new(SizeModel::Uper, &p);
        let (with, digest) = sizes.beacon(Some(13), false);
        assert_eq!(with - digest, sizes.beacon(None, false).0);
        assert!((13..=20).contains(&digest), "{digest}");
        assert!(sizes.beacon(None, true) > sizes.beacon(None, false));
        for objects in [1, 10, 40] {
            let real = f64::from(sizes.report(objects, true));
            let estimate = p.report_bytes(objects as f64);
            assert!((real - estimate).abs() < 0.05 * real, "{real} {estimate}");
        }
        assert!(
            p.contributor_bytes > 1.0 && p.withdrawn_bytes > 1.0,
            "{p:?}"
        );
        p.validate().unwrap();
    }
}
