//! What can be wrong with a map file, and what was left out of a good one.

use std::collections::BTreeMap;
use std::fmt;

/// Why a map could not be read. The text names the file, the line, what was found and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named as in the text")]
pub enum MapError {
    /// The file cannot be opened.
    #[error("{file}: cannot be opened: {source}; check the path and its permissions")]
    Open {
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Reading failed on the way, for instance because a gzip stream is cut short.
    #[error("{file}, line {line}: reading stopped: {source}; {advice}")]
    Read {
        file: String,
        /// The line reached.
        line: u64,
        /// What the system or the decompressor said.
        source: std::io::Error,
        advice: &'static str,
    },
    /// Not well-formed XML.
    #[error(
        "{file}, line {line}: not well-formed XML: {problem}; the file may be cut short or damaged, fetch or make it again"
    )]
    Syntax {
        file: String,
        /// The line where the broken part begins.
        line: u64,
        problem: String,
    },
    /// The outermost element is another one.
    #[error(
        "{file}, line {line}: the outermost element is <{found}>, expected <{expected}>; give a file of that kind"
    )]
    WrongRoot {
        file: String,
        /// The line of the element.
        line: u64,
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An attribute that cannot be done without is absent.
    #[error(
        "{file}, line {line}: {element} has no `{attribute}`, expected {expected}; add it, or write the file again with netconvert"
    )]
    MissingAttribute {
        file: String,
        /// The line of the element.
        line: u64,
        /// The element and, where known, its id.
        element: String,
        /// The attribute or child that is missing.
        attribute: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
    /// An attribute holds something that makes no sense.
    #[error(
        "{file}, line {line}: {element}: `{attribute}` is \"{found}\", expected {expected}; correct it, or write the file again with netconvert"
    )]
    BadAttribute {
        file: String,
        /// The line of the element.
        line: u64,
        /// The element and, where known, its id.
        element: String,
        attribute: &'static str,
        /// What was found, shortened.
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// An attribute names a thing that the file does not have.
    #[error(
        "{file}, line {line}: {element}: `{attribute}` names \"{found}\", but the file has no such {expected}; the file is incomplete, write it again with netconvert"
    )]
    UnknownReference {
        file: String,
        /// The line of the element.
        line: u64,
        /// The element and, where known, its id.
        element: String,
        attribute: &'static str,
        found: String,
        /// What should bear that name.
        expected: &'static str,
    },
    /// Two things bear the same id.
    #[error("{file}, line {line}: {element}: the id was used before; give each its own id")]
    Duplicate {
        file: String,
        /// The line of the second.
        line: u64,
        /// The element and its id.
        element: String,
    },
    /// The file, once unpacked, is larger than allowed.
    #[error("{file}, line {line}: {problem}; raise the limit if the file is to be trusted")]
    TooLarge {
        file: String,
        /// The line reached.
        line: u64,
        /// Which limit was passed.
        problem: String,
    },
    /// A polygon is given by longitude and latitude and the network has no projection.
    #[error(
        "{file}, line {line}: {element} is given by longitude and latitude (geo=\"true\"), but the net has no projection; write the polygons in map coordinates with polyconvert"
    )]
    NoProjection {
        file: String,
        /// The line of the polygon.
        line: u64,
        element: String,
    },
    /// The net's projection is not understood.
    #[error("{file}: {source}")]
    Projection {
        file: String,
        /// What is wrong with it.
        source: crate::projection::ProjectionError,
    },
}

/// A kind of thing that was left out or kept in a reduced form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// An element that is not read; the detail is its name.
    SkippedElement,
    /// A junction type that only SUMO's own traffic handles; the detail is the type. The junction is kept.
    JunctionType,
    /// An edge of a function that is not a road for vehicles; the detail is the function. The edge is kept.
    EdgeFunction,
    /// A lane closed to passenger cars; kept, but not drivable.
    ClosedLane,
    /// A lane of zero length; kept.
    ZeroLengthLane,
    /// A connection of pedestrians over crossings and walking areas; left out.
    PedestrianConnection,
    /// A connection out of an internal lane that no vehicle path uses; left out.
    UnusedInternalConnection,
    /// A connection whose internal lanes run in a ring; the rest of the ring is left out.
    EndlessInternalPath,
    /// A connection ruled by a light without a program (railway signals and crossings); the light is left out.
    LightWithoutProgram,
    /// A further program of a light that is not the one in force; left out.
    SpareProgram,
    /// A polygon that is no building by the rule in force; the detail is its type.
    OtherPolygon,
    /// A building of no area or fewer than three corners; left out.
    FlatBuilding,
    /// A building whose height could not be read; the default stands in.
    UnreadHeight,
    /// A polygon file made for another net offset than the net's; read as it stands, as SUMO does.
    OtherOffset,
}

impl WarningKind {
    fn text(self) -> &'static str {
        match self {
            Self::SkippedElement => "element not read",
            Self::JunctionType => {
                "junction type kept by name (only SUMO's own traffic can drive over it)"
            }
            Self::EdgeFunction => "edge kept, not for vehicles: function",
            Self::ClosedLane => "lane closed to passenger cars, kept as not drivable",
            Self::ZeroLengthLane => "lane of zero length, kept",
            Self::PedestrianConnection => "pedestrian connection left out",
            Self::UnusedInternalConnection => "unused connection inside a junction left out",
            Self::EndlessInternalPath => "internal lanes in a ring, path cut",
            Self::LightWithoutProgram => {
                "connection with a light that has no program, light left out"
            }
            Self::SpareProgram => "further traffic-light program left out",
            Self::OtherPolygon => "polygon that is no building left out: type",
            Self::FlatBuilding => "building without area left out",
            Self::UnreadHeight => "building height not understood, default used",
            Self::OtherOffset => "polygons made for another net offset, read as they stand",
        }
    }
}

/// How often something happened, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningCount {
    /// How many times it came up.
    pub count: u64,
    /// File and line of the first.
    pub first: String,
}

/// Everything that was left out or reduced while a map was read, counted by kind.
///
/// The number of distinct entries is bounded: beyond [`Warnings::MAX_DETAILS`] per kind, further details are counted
/// together as `(others)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Warnings {
    entries: BTreeMap<(WarningKind, String), WarningCount>,
}

impl Warnings {
    /// Distinct details kept per kind.
    pub const MAX_DETAILS: usize = 64;

    /// Counts one more of `kind`, with a detail such as a type's name (may be empty), seen at `file`, `line`.
    pub fn add(&mut self, kind: WarningKind, detail: &str, file: &str, line: u64) {
        let mut key = (kind, crate::shorten::shorten(detail));
        if !self.entries.contains_key(&key) {
            let details = self.entries.keys().filter(|(k, _)| *k == kind).count();
            if details >= Self::MAX_DETAILS {
                key.1 = "(others)".to_owned();
            }
        }
        self.entries
            .entry(key)
            .or_insert_with(|| WarningCount {
                count: 0,
                first: format!("{file}, line {line}"),
            })
            .count += 1;
    }

    /// Nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How often `kind` happened, whatever the detail.
    #[must_use]
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.iter()
            .filter(|(k, _, _)| *k == kind)
            .map(|(_, _, c)| c.count)
            .sum()
    }

    /// How often all kinds happened together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, _, c)| c.count).sum()
    }

    /// All entries in a fixed order: kind, detail, count.
    pub fn iter(&self) -> impl Iterator<Item = (WarningKind, &str, &WarningCount)> {
        self.entries
            .iter()
            .map(|((kind, detail), count)| (*kind, detail.as_str(), count))
    }
}

impl fmt::Display for Warnings {
    /// One line an entry; nothing where nothing was left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (kind, detail, count)) in self.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{} x {}", count.count, kind.text())?;
            if !detail.is_empty() {
                write!(f, " `{detail}`")?;
            }
            write!(f, " (first: {})", count.first)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_counted_by_kind_and_stay_few() {
        let mut warnings = Warnings::default();
        for line in 0..1000 {
            let name = format!("thing{line}");
            warnings.add(WarningKind::SkippedElement, &name, "a.net.xml", line);
        }
        warnings.add(WarningKind::ClosedLane, "", "a.net.xml", 7);
        assert_eq!(warnings.count(WarningKind::SkippedElement), 1000);
        assert_eq!(warnings.total(), 1001);
        assert_eq!(warnings.iter().count(), Warnings::MAX_DETAILS + 2);
        let text = warnings.to_string();
        assert!(
            text.contains("1 x element not read `thing0` (first: a.net.xml, line 0)"),
            "{text}"
        );
        assert!(text.contains("936 x element not read `(others)`"), "{text}");
    }
}
