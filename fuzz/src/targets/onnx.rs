//! Networks of learned policies: whatever is read can be run, and gives one score per row.

use covey_simulator::learned::INPUTS;
use covey_simulator::onnx::Network;

/// A network of two layers.
const SMALL: &[u8] = include_bytes!("../../corpus/onnx/two-layers");

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(network) = Network::parse(bytes, INPUTS) {
        assert_eq!(network.inputs(), INPUTS);
        let score = network.score(&[0.5; INPUTS]);
        // Overflow may make it infinite; the same row has the same score.
        assert_eq!(
            score.to_bits(),
            network.score(&[0.5; INPUTS]).to_bits(),
            "a score depends on more than its row"
        );
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    vec![SMALL.to_vec()]
}
