//! Floating-car data as a table of text, and the columns that tables have in common.

use std::io::BufRead;

use super::error::{FcdError, Place};
use super::input::Text;
use super::row::{Resolver, Row, Sample, Tag, parse_time};
use super::{Item, Rows};

/// Columns that a table must have, then those that it may have.
pub(super) const NEEDED: [&str; 6] = ["time", "id", "x", "y", "angle", "speed"];
/// Columns that a table may have.
pub(super) const OPTIONAL: [&str; 9] = [
    "type", "pos", "lane", "edge", "tag", "vehicle", "length", "width", "height",
];
/// All columns that are looked at, needed ones first.
pub(super) const COLUMNS: usize = NEEDED.len() + OPTIONAL.len();

/// Which column of a table holds what; names may carry SUMO's prefixes (`timestep_time`, `vehicle_id`, ...).
pub(super) fn find_columns(
    file: &str,
    header: &[String],
) -> Result<[Option<usize>; COLUMNS], FcdError> {
    let plain: Vec<String> = header
        .iter()
        .map(|name| {
            let name = name.trim().to_ascii_lowercase();
            name.rsplit('_').next().unwrap_or("").to_owned()
        })
        .collect();
    let mut found = [None; COLUMNS];
    for (slot, wanted) in found.iter_mut().zip(NEEDED.iter().chain(&OPTIONAL)) {
        *slot = plain.iter().position(|name| name == wanted);
    }
    let missing: Vec<String> = NEEDED
        .iter()
        .zip(&found)
        .filter(|(_, slot)| slot.is_none())
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if missing.is_empty() {
        return Ok(found);
    }
    let mut listed = header.join(", ");
    if listed.chars().count() > 200 {
        listed = listed.chars().take(200).collect::<String>() + "...";
    }
    Err(FcdError::MissingColumns {
        file: file.to_owned(),
        missing: missing.join(", "),
        found: format!("`{listed}`"),
    })
}

/// What a row is, by its `tag` column.
pub(super) fn tag_of(text: &str) -> Tag {
    match text {
        "vehicle" => Tag::Vehicle,
        "person" => Tag::Person,
        "container" => Tag::Container,
        _ => Tag::Unknown,
    }
}

/// Splits a line at `separator`; a field may stand in double quotes.
fn split<'a>(line: &'a str, separator: char, fields: &mut Vec<&'a str>) {
    fields.clear();
    let mut rest = line;
    loop {
        if let Some(quoted) = rest.strip_prefix('"')
            && let Some(end) = quoted.find('"')
            && (quoted[end + 1..].is_empty() || quoted[end + 1..].starts_with(separator))
        {
            fields.push(&quoted[..end]);
            match quoted[end + 1..].strip_prefix(separator) {
                Some(next) => rest = next,
                None => return,
            }
            continue;
        }
        match rest.split_once(separator) {
            Some((field, next)) => {
                fields.push(field);
                rest = next;
            }
            None => {
                fields.push(rest);
                return;
            }
        }
    }
}

/// Reads a table with a header line.
pub(super) struct CsvRows {
    text: Text,
    separator: char,
    columns: [Option<usize>; COLUMNS],
    width: usize,
    line: Vec<u8>,
    time_us: Option<i64>,
    pending: Option<Sample>,
    /// The last line had no line break: a further one means the file grew meanwhile, none that it may be cut.
    finished: bool,
}

impl CsvRows {
    pub(super) fn new(text: Text) -> Result<Self, FcdError> {
        let mut rows = Self {
            text,
            separator: ';',
            columns: [None; COLUMNS],
            width: 0,
            line: Vec::new(),
            time_us: None,
            pending: None,
            finished: false,
        };
        rows.read_line()?;
        let place = rows.text.place_at(1);
        let header = text_of(&rows.line, &place)?;
        let mut fields = Vec::new();
        let mut best = Vec::new();
        for separator in [';', ',', '\t'] {
            split(header, separator, &mut fields);
            if fields.len() > best.len() {
                best.clone_from(&fields);
                rows.separator = separator;
            }
        }
        let header: Vec<String> = best.iter().map(|s| (*s).to_owned()).collect();
        rows.width = header.len();
        rows.columns = find_columns(&place.file, &header)?;
        Ok(rows)
    }

    /// Reads the next line without its line break; false at the end.
    fn read_line(&mut self) -> Result<bool, FcdError> {
        self.line.clear();
        self.text.begin_item();
        let n = match self.text.read_until(b'\n', &mut self.line) {
            Ok(n) => n,
            Err(error) => return Err(self.text.broken(error)),
        };
        if n == 0 {
            return Ok(false);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else {
            self.finished = true;
        }
        Ok(true)
    }

    /// The present line, counted from 1.
    fn number(&self) -> u64 {
        if self.finished {
            self.text.line()
        } else {
            self.text.line() - 1
        }
    }

    /// The error for a line of `found` fields: the last one may be cut short.
    fn wrong_width(&self, found: usize, place: Place) -> FcdError {
        let (width, separator) = (self.width, self.separator);
        if self.finished && found < width {
            FcdError::Truncated {
                place,
                found: format!("the last line has {found} of {width} fields"),
            }
        } else {
            FcdError::Syntax {
                place,
                found: format!("{found} fields"),
                expected: format!("{width} as in the header, separated by `{separator}`"),
            }
        }
    }

    fn parse(&self, resolver: &mut Resolver<'_>) -> Result<(i64, Option<Sample>), FcdError> {
        let number = self.number();
        let place = || self.text.place_at(number);
        let line = text_of(&self.line, &place())?;
        let mut fields = Vec::with_capacity(self.width);
        split(line, self.separator, &mut fields);
        if fields.len() != self.width {
            return Err(self.wrong_width(fields.len(), place()));
        }
        let field = |i: usize| self.columns[i].map_or("", |column| fields[column].trim());
        let id = field(1);
        let number_of = |i: usize| -> Result<f64, FcdError> {
            let optional = i.saturating_sub(NEEDED.len());
            let name = NEEDED.get(i).copied().unwrap_or(OPTIONAL[optional]);
            let text = field(i);
            if text.is_empty() {
                return Err(FcdError::MissingField {
                    place: place(),
                    element: format!("vehicle `{id}`"),
                    field: name,
                });
            }
            text.parse().map_err(|_| FcdError::BadValue {
                place: place(),
                element: format!("vehicle `{id}`"),
                field: name,
                found: format!("`{text}`"),
                expected: "a number",
            })
        };
        if id.is_empty() {
            return Err(FcdError::MissingField {
                place: place(),
                element: "the row".into(),
                field: "id",
            });
        }
        let time = field(0);
        let time_us = parse_time(time).ok_or_else(|| FcdError::BadValue {
            place: place(),
            element: format!("vehicle `{id}`"),
            field: "time",
            found: format!("`{time}`"),
            expected: "a number of seconds",
        })?;
        let size_of = |i: usize| match field(i) {
            "" => Ok(None),
            _ => number_of(i).map(Some),
        };
        let row = Row {
            size: [size_of(12)?, size_of(13)?, size_of(14)?],
            tag: tag_of(field(10)),
            id,
            x: number_of(2)?,
            y: number_of(3)?,
            angle: number_of(4)?,
            speed: number_of(5)?,
            kind: field(6),
            lane: field(8),
            edge: field(9),
            vehicle: field(11),
            pos: if field(7).is_empty() {
                None
            } else {
                Some(number_of(7)?)
            },
        };
        if self.time_us != Some(time_us) {
            resolver.begin_step();
        }
        Ok((time_us, resolver.resolve(&row, &place, number)?))
    }
}

fn text_of<'a>(line: &'a [u8], place: &Place) -> Result<&'a str, FcdError> {
    std::str::from_utf8(line).map_err(|_| FcdError::Syntax {
        place: place.clone(),
        found: "bytes that are not UTF-8".into(),
        expected: "text".into(),
    })
}

impl Rows for CsvRows {
    fn next_item(&mut self, resolver: &mut Resolver<'_>) -> Result<Item, FcdError> {
        if let Some(sample) = self.pending.take() {
            return Ok(Item::Sample(sample));
        }
        loop {
            if !self.read_line()? {
                return Ok(Item::End);
            }
            if self.line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let (time_us, sample) = self.parse(resolver)?;
            if self.time_us != Some(time_us) {
                self.time_us = Some(time_us);
                self.pending = sample;
                return Ok(Item::Time {
                    time_us,
                    number: self.number(),
                });
            }
            if let Some(sample) = sample {
                return Ok(Item::Sample(sample));
            }
        }
    }

    fn place(&self, number: u64) -> Place {
        self.text.place_at(number)
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn fields_may_be_quoted() {
        let mut fields = Vec::new();
        split("a;\"b;c\";;d", ';', &mut fields);
        assert_eq!(fields, ["a", "b;c", "", "d"]);
        split("\"a\"", ';', &mut fields);
        assert_eq!(fields, ["a"]);
        split("\"a;b", ';', &mut fields);
        assert_eq!(fields, ["\"a", "b"]);
        split("", ';', &mut fields);
        assert_eq!(fields, [""]);
    }
}
