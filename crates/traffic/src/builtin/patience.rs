//! How long drivers wait before they do something about it.

/// A driver who has stood this long (s) at a green light no longer waits for gaps: those who have right of way but could
/// still stop must do so.
pub(crate) const IMPATIENT_AFTER: f64 = 60.0;
/// After this time (s) without room a driver chooses another way.
pub(crate) const REROUTE_AFTER: f64 = 40.0;
/// After this time (s) without room a driver enters the junction all the same.
pub(crate) const FORCE_AFTER: f64 = 80.0;
/// After this time (s) a vehicle inside a junction squeezes past one that stands in its way.
pub(crate) const SQUEEZE_AFTER: f64 = 100.0;
