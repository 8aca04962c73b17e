//! Beacons only.

use super::Stack;

/// Participants that say nothing but where they are. The oracle's are so too: it differs in what counts as known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Silent;

impl Stack for Silent {}
