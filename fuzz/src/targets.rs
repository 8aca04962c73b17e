//! The targets, a module per subject.

pub(crate) mod polyline;
