//! Values of parameters, and walking through them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// None is set.
    None,
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// Yes or no.
    Switch(bool),
    /// A name to choose.
    Name(&'static str),
    /// Any text.
    Text(String),
    /// Some values.
    List(Vec<Value>),
    /// Parameters of its own, which are visited each.
    Group,
}

impl Value {
    /// The number, where it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Whole(n) => Some(*n as f64),
            _ => None,
        }
    }
}

/// A parameter's name with the groups it is in, shown with dots between.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    outer: Option<&'a Key<'a>>,
    name: &'static str,
}

impl<'a> Key<'a> {
    /// Outside all groups.
    pub const ROOT: Key<'static> = Key {
        outer: None,
        name: "",
    };

    /// `name` inside this.
    #[must_use]
    pub const fn join(&'a self, name: &'static str) -> Self {
        Self {
            outer: Some(self),
            name,
        }
    }

    /// It names nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outer {
            Some(outer) if !outer.is_empty() => write!(f, "{outer}.{}", self.name),
            _ => f.write_str(self.name),
        }
    }
}
