//! Reads SUMO's `.net.xml`.
//!
//! Files of SUMO 1.8 to 1.28 are read, plain or gzipped (known by the first bytes, not by the name). What a vehicle on the
//! road cannot meet is left out and counted in [`Warnings`]; what the network cannot be without is an error that names the
//! line. Guarantees for arbitrary bytes: no panic, no endless loop, memory in proportion to the unpacked size, which is
//! limited ([`Limits`]).
//!
//! How SUMO's notions are read:
//! - A lane is drivable if the vehicle class `passenger` may use it.
//! - Heights (`x,y,z`) are passed over.
//! - Rows of the right-of-way table are written with the highest index first; here index 0 comes first.
//! - A connection's row is the place of its internal lane in the junction's `intLanes`; in nets without internal lanes, its
//!   place when the junction's `incLanes` are gone through in order, as SUMO itself counts.
//! - Junctions of type `internal` (waiting places inside a junction) are not junctions here; see
//!   [`Request::waits_inside`](crate::network::Request::waits_inside).
//! - Where a light has several programs, the last one is in force, as in SUMO, unless a `WAUT` of the same file names
//!   another to begin with.

mod document;
mod resolve;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::path::Path;

use crate::map_error::{MapError, Warnings};
use crate::network::Network;
use crate::xml::{Elements, Limits};

impl Network {
    /// Reads the net at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or lacks what a network cannot be without; the error names file and line.
    pub fn read(path: &Path, limits: Limits) -> Result<(Self, Warnings), MapError> {
        read(Elements::open(path, limits)?)
    }

    /// Reads a net from `reader`, called `name` in messages; for files in memory, tests and fuzzing.
    ///
    /// # Errors
    /// As [`Network::read`].
    ///
    /// # Examples
    /// ```
    /// # use covey_world::{Network, xml::Limits};
    /// let error = Network::read_from("broken.net.xml", &b"<net><edge"[..], Limits::default()).unwrap_err();
    /// assert!(error.to_string().starts_with("broken.net.xml, line 1: not well-formed XML"));
    /// ```
    pub fn read_from(
        name: &str,
        reader: impl BufRead,
        limits: Limits,
    ) -> Result<(Self, Warnings), MapError> {
        read(Elements::new(name, reader, limits)?)
    }
}

fn read<R: BufRead>(mut elements: Elements<R>) -> Result<(Network, Warnings), MapError> {
    let mut warnings = Warnings::default();
    let document = document::Document::read(&mut elements, &mut warnings)?;
    let network = resolve::network(elements.file(), document, &mut warnings)?;
    Ok((network, warnings))
}
