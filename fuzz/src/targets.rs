//! The targets, a module per subject.

pub(crate) mod digest;
pub(crate) mod its;
pub(crate) mod maps;
pub(crate) mod messages;
pub(crate) mod node;
pub(crate) mod onnx;
pub(crate) mod openstreetmap;
pub(crate) mod polyline;
pub(crate) mod recordings;
pub(crate) mod runs;
pub(crate) mod script;
pub(crate) mod snapshot;
pub(crate) mod stations;
