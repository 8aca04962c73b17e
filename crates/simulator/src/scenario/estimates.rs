//! What hosts expect messages to weigh where messages are really encoded.

use covey_its::sizes::{FusedCounts, Model};
use covey_protocol::Parameters;

/// The parameters by which hosts estimate messages that they have not seen, for really encoded messages.
pub(crate) fn estimate_encoded(p: &mut Parameters) {
    let model = Model::new();
    let bytes = |count: usize| count as f64;
    p.message_bytes = bytes(model.cpm(0, false));
    p.sensor_bytes = bytes(model.cpm(0, true)) - p.message_bytes;
    p.object_bytes = (bytes(model.cpm(30, false)) - p.message_bytes) / 30.0;
    // Twenty more of each, in a fused state of ten stations.
    let base = FusedCounts {
        stations: 10,
        ..FusedCounts::default()
    };
    let each = |more: FusedCounts| (bytes(model.fused(more)) - bytes(model.fused(base))) / 20.0;
    p.withdrawn_bytes = each(FusedCounts {
        withdrawn_stations: 20,
        ..base
    });
    p.contributor_bytes = each(FusedCounts {
        contributors: 20,
        ..base
    });
    p.requested_bytes = each(FusedCounts {
        requested: 20,
        ..base
    });
}
