//! What came of playing, before it is put in order.

use std::collections::BTreeMap;

use serde::Serialize;

/// A host that was killed, and who followed.
#[derive(Debug, Clone, Serialize)]
pub struct Kill {
    /// Seconds from the beginning.
    pub at_s: f64,
    /// Whose node.
    pub vehicle: u32,
    /// Which tile it hosted.
    pub tile: [i32; 2],
    /// Its last broadcast, Unix time in microseconds.
    pub last_word_us: i64,
    /// The node that broadcast next in the tile.
    pub next: Option<u32>,
    /// How long after the last word.
    pub after_s: Option<f64>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// Relevant objects of nodes that were asked, and those that they did not know in time.
    pub(super) relevant: u64,
    pub(super) missed: u64,
    /// Times that a node alive did not answer.
    pub(super) unanswered: u64,
    pub(super) asked: u64,
    pub(super) late_steps: u64,
    pub(super) steps: u64,
    pub(super) kills: Vec<Kill>,
    pub(super) flooded: u64,
    /// Counts of every node at the end, by its vehicle, with kilobytes resident at the end of warm-up and at the end.
    pub(super) counts: BTreeMap<u32, (BTreeMap<String, u64>, [u64; 2])>,
    /// Seconds that a node took to stop when asked, the longest; none where one had to be killed.
    pub(super) stopped_s: Option<f64>,
    /// What the simulator sent beside: seconds, vehicle, and for a host who is asked.
    pub(super) simulated_reports: Vec<(f64, u64)>,
    pub(super) simulated_broadcasts: Vec<(f64, u64, [i32; 2])>,
    /// Participants by tile, summed over measured cycles, and the nodes' tiles by cycle.
    pub(super) tiles: Vec<BTreeMap<[i32; 2], u64>>,
}
