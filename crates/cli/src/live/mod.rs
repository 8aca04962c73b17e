//! The live node: `covey node`, `covey drive`, `covey pki`.

#[cfg(not(feature = "node"))]
mod absent;
#[cfg(feature = "node")]
mod drive;
#[cfg(feature = "node")]
mod node;
#[cfg(feature = "node")]
mod pki;

#[cfg(not(feature = "node"))]
pub(crate) use absent::{DriveArguments, NodeArguments, PkiArguments, drive, node, pki};
#[cfg(feature = "node")]
pub(crate) use {
    drive::{Arguments as DriveArguments, run as drive},
    node::{Arguments as NodeArguments, run as node},
    pki::{Arguments as PkiArguments, run as pki},
};
