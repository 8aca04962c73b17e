//! Messages on their way through bytes.

use std::collections::BTreeMap;

use covey_its::{Cam, Cpm, CpmOptions, ItsTime, Numbering, Sensor, Wire};
use covey_protocol::{AgentId, AgentState, Instant, Message};
use covey_simulator::MapReference;

/// Encodes and decodes, as a sender and a receiver would.
#[derive(Debug)]
pub(crate) struct Bytes {
    reference: MapReference,
    options: CpmOptions,
    numbers: BTreeMap<AgentId, Numbering>,
}

impl Bytes {
    pub(crate) fn new(reference: MapReference) -> Self {
        let sensor = Sensor {
            id: 1,
            kind: 12,
            range: Some(1_500),
            sector: None,
        };
        Self {
            reference,
            options: CpmOptions {
                sensors: vec![sensor],
                ..CpmOptions::default()
            },
            numbers: BTreeMap::new(),
        }
    }

    /// What arrives of a message whose sender is in `state`. Where ids are believed, the receivers' association is taken to know
    /// whom the numbers in reports mean, as the letter assumes.
    pub(crate) fn through(
        &mut self,
        now: Instant,
        message: &Message,
        state: &AgentState,
        ids_believed: bool,
    ) -> Message {
        let zero = ItsTime::from_unix_millis(1_767_225_600_000).unwrap();
        let wire = Wire::new(&self.reference, zero);
        let numbers = self.numbers.entry(message.sender()).or_default();
        let again = |cpm: &Cpm| Cpm::decode(&cpm.encode().unwrap()).unwrap();
        match message {
            Message::Beacon(beacon) => {
                let bytes = wire.cam(beacon, None).unwrap().encode().unwrap();
                let cam = Cam::decode(&bytes).unwrap();
                Message::Beacon(wire.beacon(&cam, now).unwrap())
            }
            Message::Report(report) => {
                let cpms = wire.report_cpms(report, state, &self.options, numbers);
                let parts: Vec<Cpm> = cpms.unwrap().messages.iter().map(again).collect();
                let mut received = wire.report(&parts[0]).unwrap();
                for part in &parts[1..] {
                    received.objects.extend(wire.report(part).unwrap().objects);
                }
                assert_eq!(received.objects.len(), report.objects.len());
                if ids_believed {
                    for (object, said) in received.objects.iter_mut().zip(&report.objects) {
                        object.id = said.id;
                    }
                }
                Message::Report(received)
            }
            Message::Broadcast(broadcast) => {
                let cpms = wire.broadcast_cpms(broadcast, &self.options, numbers);
                let parts: Vec<Cpm> = cpms.unwrap().messages.iter().map(again).collect();
                Message::Broadcast(wire.broadcast(&parts).unwrap())
            }
        }
    }
}
