//! Parameters, each defined once.
//!
//! [`parameters!`] makes a struct from rows, [`choices!`] an enum whose values have names; both describe themselves as
//! [`Field`]s, and both are a [`Parameter`]: something that can be listed and checked. Structs of parameters can hold others.
//!
#![doc = include_str!("../README.md")]
#![no_std]

#[doc(hidden)]
pub extern crate alloc;
#[cfg(test)]
extern crate std;

mod define;
mod field;
mod nearest;
mod parameter;
mod range;
mod value;

pub use field::{Choice, Field, Kind, OutOfRange};
pub use nearest::{nearest, unknown_field};
pub use parameter::{Parameter, Visit};
pub use range::{End, Range};
pub use value::{Key, Value};

/// What rows of [`parameters!`] may say of a range: `at_least(0.5).at_most(500.0)`, `above(0.0)`, `any()`.
pub mod ranges {
    pub use crate::range::{above, any, at_least, at_most, below};
}
