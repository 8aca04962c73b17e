//! What messages weigh on the air, by the scenario's size model.

use covey_protocol::Parameters;
use covey_protocol::messages::Broadcast;

use crate::readings::SizeModel;

/// Bytes of a beacon without digest: TR 103 562 and the letter's table.
const CAM_BYTES: u32 = 121;

/// Bytes of messages.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    message: f64,
    sensor: f64,
    object: f64,
    withdrawn: f64,
    contributor: f64,
    requested: f64,
}

impl Sizes {
    pub(crate) fn new(_model: SizeModel, p: &Parameters) -> Self {
        Self {
            message: p.message_bytes,
            sensor: p.sensor_bytes,
            object: p.object_bytes,
            withdrawn: p.withdrawn_bytes,
            contributor: p.contributor_bytes,
            requested: p.requested_bytes,
        }
    }

    /// A beacon without digest.
    pub(crate) fn beacon(&self) -> u32 {
        CAM_BYTES
    }

    /// A report.
    pub(crate) fn report(&self, objects: usize, sensor_information: bool) -> u32 {
        let sensor = if sensor_information { self.sensor } else { 0.0 };
        whole(self.message + sensor + self.object * objects as f64)
    }

    /// Commands to reporters, without objects.
    pub(crate) fn commands(&self, reporters: usize) -> u32 {
        whole(self.message + self.contributor * reporters as f64)
    }

    /// A host's broadcast.
    pub(crate) fn broadcast(&self, broadcast: &Broadcast) -> u32 {
        whole(
            self.message
                + self.object * broadcast.objects.len() as f64
                + self.withdrawn * broadcast.withdrawn.len() as f64
                + self.contributor * broadcast.contributors.len() as f64
                + self.requested * broadcast.requested.len() as f64,
        )
    }
}

fn whole(bytes: f64) -> u32 {
    bytes.round().clamp(0.0, f64::from(u32::MAX)) as u32
}
