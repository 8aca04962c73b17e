//! Reading JSON documents into types, with errors that say where.
//!
//! Documents are serde types that refuse unknown keys. What is wrong with a text is found in this order: it is not JSON, it is not of
//! the schema asked for, a value is not what the type says (here, with serde's help), values do not go together (the
//! document's own checks).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde::ser::Serialize;

/// Why a text is not a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotError {
    /// The field, such as `agents[2].report_bytes`; empty where the text is not JSON at all.
    pub field: String,
    /// What was found and what was expected.
    pub problem: String,
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.field, self.problem)
        }
    }
}

impl core::error::Error for SnapshotError {}

/// What a document's own checks give.
pub(crate) type Checked<T> = Result<T, SnapshotError>;

/// Refuses the field at `path`.
pub(crate) fn fail<T>(path: impl Into<String>, problem: impl Into<String>) -> Checked<T> {
    Err(SnapshotError {
        field: path.into(),
        problem: problem.into(),
    })
}

/// How to say what a part of a document looks like.
pub(crate) trait Shape {
    /// Such as `a cell [ix, iy]`.
    const EXPECTED: &'static str;
}

/// Says of types what is expected where they are read.
macro_rules! shapes {
    ($($type:ty = $expected:literal,)+) => {
        $(impl Shape for $type {
            const EXPECTED: &'static str = $expected;
        })+
    };
}
pub(crate) use shapes;

/// What every document begins with.
#[derive(serde::Deserialize)]
struct Head {
    schema: String,
}

impl Shape for Head {
    const EXPECTED: &'static str = "a snapshot {…}";
}

/// Reads a document of this schema.
pub(crate) fn read<T: DeserializeOwned + Shape>(json: &str, schema: &str) -> Checked<T> {
    // However deep it is.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(json) {
        return fail("", format!("not JSON: {error}"));
    }
    let head: Head = typed(json)?;
    if head.schema != schema {
        let found = clipped(&head.schema);
        return fail(
            "schema",
            format!("found \"{found}\", expected \"{schema}\""),
        );
    }
    typed(json)
}

fn typed<T: DeserializeOwned + Shape>(json: &str) -> Checked<T> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let object: Result<Object<T>, _> = serde_path_to_error::deserialize(&mut reader);
    match object {
        Ok(Object(document)) => Ok(document),
        Err(error) => Err(explain(&error)),
    }
}

/// A document as JSON.
pub(crate) fn text(document: &impl Serialize) -> String {
    serde_json::to_string(document).unwrap_or_default()
}

/// A document as a JSON value.
pub(crate) fn value(document: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(document).unwrap_or_default()
}

/// What serde found wrong, in our words.
fn explain(error: &serde_path_to_error::Error<serde_json::Error>) -> SnapshotError {
    let path = match error.path().iter().len() {
        0 => String::new(),
        _ => error.path().to_string(),
    };
    let error = error.inner();
    let told = error.to_string();
    if !error.is_data() {
        return SnapshotError {
            field: String::new(),
            problem: format!("not JSON: {told}"),
        };
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let told = told.strip_suffix(&place).unwrap_or(&told);
    let mut quoted = told.split('`').skip(1).step_by(2);
    let mut inside = |path: &str| match (path, quoted.next().unwrap_or_default()) {
        ("", name) => name.to_string(),
        (path, name) => format!("{path}.{name}"),
    };
    let (field, problem) = if told.starts_with("missing field") {
        (inside(&path), "missing: add it".to_string())
    } else if told.starts_with("duplicate field") {
        (inside(&path), "given twice, expected once".to_string())
    } else if told.starts_with("unknown field") {
        let (_, known) = told.rsplit_once("expected").unwrap_or_default();
        let name = path.rsplit('.').next().unwrap_or(&path);
        let nearest = known
            .split('`')
            .skip(1)
            .step_by(2)
            .min_by_key(|known| distance(name, known))
            .unwrap_or_default();
        let problem = format!("unknown key, the nearest known one is \"{nearest}\"");
        (clipped(&path), problem)
    } else {
        (path, mismatch(told))
    };
    SnapshotError { field, problem }
}

/// A value that is not what its type says: what was found and what was expected.
fn mismatch(told: &str) -> String {
    let Some((found, expected)) = told.rsplit_once(", expected ") else {
        return told.to_string();
    };
    let found = found
        .strip_prefix("invalid type: ")
        .or(found.strip_prefix("invalid value: "))
        .or(found.strip_prefix("found "))
        .unwrap_or(found);
    let found = match (found, found.strip_prefix("invalid length ")) {
        (_, Some(length)) => format!("a list of {length}"),
        ("sequence", _) => "a list […]".to_string(),
        ("map", _) => "an object {…}".to_string(),
        (other, _) => clipped(other),
    };
    let expected = match expected {
        "u64" => "a whole number of at least 0",
        "i32" => "a whole number of 32 bits with sign",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list […]",
        "a string" => "a text",
        other => other,
    };
    format!("found {found}, expected {expected}")
}

/// The text, or its beginning where it is long.
fn clipped(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Letters to put in, take out or replace to make one key of the other.
fn distance(key: &str, known: &str) -> usize {
    let mut row: Vec<usize> = (0..=known.len()).collect();
    // Longer ones are far from all that is known, whatever follows.
    for (i, a) in key.bytes().take(64).enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], i + 1);
        for (j, b) in known.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[known.len()]
}

/// Something that is written as `{…}`; serde alone would take a list of its values, too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de> + Shape> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Shape> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Something that is written as a list of fixed length.
struct Row<T>(T);

impl<'de, T: Deserialize<'de> + Shape> Deserialize<'de> for Row<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowVisitor(PhantomData))
    }
}

struct RowVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Shape> Visitor<'de> for RowVisitor<T> {
    type Value = Row<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Row<T>, A::Error> {
        let row = T::deserialize(SeqAccessDeserializer::new(&mut list))?;
        if list.next_element::<IgnoredAny>()?.is_some() {
            let problem = format!("found a longer list, expected {}", T::EXPECTED);
            return Err(A::Error::custom(problem));
        }
        Ok(Row(row))
    }
}

/// A range of numbers.
trait Range {
    const EXPECTED: &'static str;
    fn holds(x: f64) -> bool;
}

/// From 0 to 1.
struct Share;
/// From 0 on.
struct NotNegative;
/// Above 0.
struct Positive;

impl Range for Share {
    const EXPECTED: &'static str = "a number from 0 to 1";

    fn holds(x: f64) -> bool {
        (0.0..=1.0).contains(&x)
    }
}

impl Range for NotNegative {
    const EXPECTED: &'static str = "a number of at least 0";

    fn holds(x: f64) -> bool {
        x >= 0.0 && x.is_finite()
    }
}

impl Range for Positive {
    const EXPECTED: &'static str = "a number above 0";

    fn holds(x: f64) -> bool {
        x > 0.0 && x.is_finite()
    }
}

/// A number of a range.
struct Number<R>(f64, PhantomData<R>);

impl<'de, R: Range> Deserialize<'de> for Number<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(NumberVisitor(PhantomData))
    }
}

struct NumberVisitor<R>(PhantomData<R>);

impl<R: Range> Visitor<'_> for NumberVisitor<R> {
    type Value = Number<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(R::EXPECTED)
    }

    fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<Number<R>, E> {
        if R::holds(x) {
            Ok(Number(x, PhantomData))
        } else {
            Err(E::custom(format!("found {x}, expected {}", R::EXPECTED)))
        }
    }

    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<Number<R>, E> {
        self.visit_f64(x as f64)
    }

    fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<Number<R>, E> {
        self.visit_f64(x as f64)
    }
}

// For `deserialize_with`.

/// A part written as `{…}`.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de> + Shape>(
    deserializer: D,
) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|object| object.0)
}

/// A list of parts written as `{…}`.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de> + Shape>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|object| object.0).collect())
}

/// A part written as a list of fixed length.
pub(crate) fn row<'de, D: Deserializer<'de>, T: Deserialize<'de> + Shape>(
    deserializer: D,
) -> Result<T, D::Error> {
    Row::deserialize(deserializer).map(|row| row.0)
}

/// A list of parts written as lists of fixed length.
pub(crate) fn rows<'de, D: Deserializer<'de>, T: Deserialize<'de> + Shape>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let list = Vec::<Row<T>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|row| row.0).collect())
}

/// As [`rows`], where there are any.
pub(crate) fn some_rows<'de, D: Deserializer<'de>, T: Deserialize<'de> + Shape>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    rows(deserializer).map(Some)
}

/// What may be left out, but is not `null` where it is there.
pub(crate) fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A number from 0 to 1.
pub(crate) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::<Share>::deserialize(deserializer).map(|number| number.0)
}

/// A list of numbers from 0 to 1.
pub(crate) fn shares<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let list = Vec::<Number<Share>>::deserialize(deserializer)?;
    Ok(list.into_iter().map(|number| number.0).collect())
}

/// As [`share`], where there is one.
pub(crate) fn some_share<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    share(deserializer).map(Some)
}

/// A number of at least 0.
pub(crate) fn not_negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::<NotNegative>::deserialize(deserializer).map(|number| number.0)
}

/// As [`not_negative`], where there is one.
pub(crate) fn some_not_negative<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    not_negative(deserializer).map(Some)
}

/// A number of at least 0, or `null`.
pub(crate) fn not_negative_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let number = Option::<Number<NotNegative>>::deserialize(deserializer)?;
    Ok(number.map(|number| number.0))
}

/// A number above 0.
pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Number::<Positive>::deserialize(deserializer).map(|number| number.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_the_one_with_the_fewest_letters_to_change() {
        for (key, known, letters) in [
            ("", "", 0),
            ("", "price", 5),
            ("price", "", 5),
            ("prize", "price", 1),
            ("rice", "price", 1),
            ("prices", "price", 1),
            ("kitten", "sitting", 3),
            ("abc", "cab", 2),
        ] {
            assert_eq!(distance(key, known), letters, "{key} {known}");
        }
        // Beyond 64 letters nothing is looked at.
        assert_eq!(distance(&"x".repeat(1_000), "price"), 64);
    }
}
