//! What is known of a parameter.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::range::Range;
use crate::value::{Key, Value};

/// A parameter's definition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its name in code and files.
    pub name: &'static str,
    /// What it is, in a sentence or two.
    pub text: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// It may be left without a value, which then means something of its own.
    pub optional: bool,
    /// It has no default: whoever gives its group gives it, too.
    pub required: bool,
    /// The unit of its numbers; empty where there is none.
    pub unit: &'static str,
    /// Which numbers are allowed.
    pub range: Range,
    /// Where definition and default come from.
    pub source: &'static str,
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Finite numbers.
    Number,
    /// Whole numbers from 0 on.
    Whole,
    /// Yes or no.
    Switch,
    /// Any text.
    Text,
    /// One of these names.
    Choice(&'static [Choice]),
    /// Any number of values of one kind.
    List(&'static Kind),
    /// Parameters of its own.
    Group(&'static [Field]),
    /// One of these names, or parameters of its own.
    Either(&'static [Choice], &'static [Field]),
}

impl Kind {
    /// The parameters of its own, or of those in its list.
    #[must_use]
    pub fn fields(&self) -> &'static [Field] {
        match self {
            Self::Group(fields) | Self::Either(_, fields) | Self::List(Self::Group(fields)) => {
                fields
            }
            _ => &[],
        }
    }

    /// The names to choose from.
    #[must_use]
    pub fn choices(&self) -> &'static [Choice] {
        match self {
            Self::Choice(choices) | Self::Either(choices, _) => choices,
            _ => &[],
        }
    }
}

/// A name that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The name in files.
    pub name: &'static str,
    /// What it means.
    pub text: &'static str,
}

impl Field {
    /// A parameter of this kind without unit, range or source, for what no macro can describe.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, text: &'static str) -> Self {
        Self {
            name,
            text,
            kind,
            optional: false,
            required: false,
            unit: "",
            range: crate::range::any(),
            source: "",
        }
    }

    /// The same, without a default.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The same, which may be left without a value.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The same, with a unit.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The same, with a range.
    #[must_use]
    pub const fn range(mut self, range: Range) -> Self {
        self.range = range;
        self
    }

    /// The same, with a source.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    /// What its numbers may be, in words.
    #[must_use]
    pub fn expected(&self) -> String {
        self.range.text(self.unit)
    }

    /// Checks a number that is meant for it, under the name `key`.
    ///
    /// # Errors
    /// The number is out of range.
    pub fn check(&self, key: &Key<'_>, value: &Value) -> Result<(), OutOfRange> {
        match value.number() {
            Some(found) if !self.range.contains(found) => {
                Err(OutOfRange::new(&format!("{key}"), found, &self.expected()))
            }
            _ => Ok(()),
        }
    }
}

/// A parameter out of range.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfRange {
    /// The parameter, with the groups it is in: `handover.beyond_m`.
    pub field: String,
    /// What was found.
    pub found: f64,
    /// What it may be.
    pub expected: String,
}

impl OutOfRange {
    /// For rules between parameters.
    #[must_use]
    pub fn new(field: &str, found: f64, expected: &str) -> Self {
        Self {
            field: field.to_owned(),
            found,
            expected: expected.to_owned(),
        }
    }

    /// The same, inside the group `key`.
    #[must_use]
    pub fn within(self, key: &Key<'_>) -> Self {
        match key.is_empty() {
            true => self,
            false => Self {
                field: format!("{key}.{}", self.field),
                ..self
            },
        }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: found {}, expected {}",
            self.field, self.found, self.expected
        )
    }
}

impl core::error::Error for OutOfRange {}
