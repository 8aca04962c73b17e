//! What can be the value of a parameter, and walking through all that a struct has.

use alloc::string::String;
use alloc::vec::Vec;

use crate::field::{Field, Kind, OutOfRange};
use crate::value::{Key, Value};

/// Somebody who is told every parameter: its key, its definition, its value.
pub type Visit<'v> = dyn FnMut(&Key<'_>, &'static Field, Value) + 'v;

/// Something that can be the value of a parameter.
pub trait Parameter {
    /// What values it takes.
    const KIND: Kind;
    /// It may be left without a value.
    const OPTIONAL: bool = false;

    /// Its value; [`Value::Group`] where it has parameters of its own.
    fn value(&self) -> Value;

    /// Tells it, or every parameter of its own, as the value of `field` under the name `key`.
    fn visit(&self, key: &Key<'_>, field: &'static Field, visit: &mut Visit<'_>) {
        visit(key, field, self.value());
    }

    /// Checks it, or every parameter of its own, as the value of `field` under the name `key`.
    ///
    /// # Errors
    /// The first number that is out of range.
    fn check(&self, key: &Key<'_>, field: &'static Field) -> Result<(), OutOfRange> {
        field.check(key, &self.value())
    }
}

impl Parameter for f64 {
    const KIND: Kind = Kind::Number;

    fn value(&self) -> Value {
        Value::Number(*self)
    }
}

impl Parameter for u32 {
    const KIND: Kind = Kind::Whole;

    fn value(&self) -> Value {
        Value::Whole(u64::from(*self))
    }
}

impl Parameter for u64 {
    const KIND: Kind = Kind::Whole;

    fn value(&self) -> Value {
        Value::Whole(*self)
    }
}

impl Parameter for bool {
    const KIND: Kind = Kind::Switch;

    fn value(&self) -> Value {
        Value::Switch(*self)
    }
}

impl Parameter for String {
    const KIND: Kind = Kind::Text;

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn value(&self) -> Value {
        Value::List(self.iter().map(Parameter::value).collect())
    }

    fn check(&self, key: &Key<'_>, field: &'static Field) -> Result<(), OutOfRange> {
        self.iter().try_for_each(|one| one.check(key, field))
    }
}

impl<T: Parameter> Parameter for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::None, Parameter::value)
    }

    fn visit(&self, key: &Key<'_>, field: &'static Field, visit: &mut Visit<'_>) {
        match self {
            Some(one) => one.visit(key, field, visit),
            None => visit(key, field, Value::None),
        }
    }

    fn check(&self, key: &Key<'_>, field: &'static Field) -> Result<(), OutOfRange> {
        self.as_ref().map_or(Ok(()), |one| one.check(key, field))
    }
}
