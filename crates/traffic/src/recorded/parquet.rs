//! Floating-car data as Parquet, read column by column in batches.

use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use super::csv::{COLUMNS, NEEDED, find_columns, tag_of};
use super::error::{At, FcdError, Place};
use super::row::{Resolver, Row, Sample, parse_time, seconds_to_us};
use super::{Item, Rows};

/// Rows decoded at a time.
const BATCH: usize = 4096;

/// A batch of one column, one entry a row.
enum Column {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<ByteArray>>),
}

/// Reads a table of rows.
pub(super) struct ParquetRows {
    file: String,
    reader: SerializedFileReader<File>,
    columns: [Option<usize>; COLUMNS],
    group: usize,
    readers: Vec<Option<ColumnReader>>,
    batch: Vec<Option<Column>>,
    /// Rows in the batch and the next one of them.
    rows: usize,
    next: usize,
    /// Rows before the batch.
    before: u64,
    time_us: Option<i64>,
    pending: Option<Sample>,
}

impl ParquetRows {
    pub(super) fn new(file: String, input: File) -> Result<Self, FcdError> {
        let size = input.metadata().map_or(0, |m| m.len());
        let reader =
            guarded(|| SerializedFileReader::new(input)).map_err(|e| damaged(&file, 0, &e))?;
        check_extents(&file, reader.metadata(), size)?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut header = Vec::new();
        for column in schema.columns() {
            if column.max_rep_level() > 0 || column.max_def_level() > 1 {
                // A list or a group: nothing that floating-car data have.
                header.push(String::new());
                continue;
            }
            header.push(column.name().to_owned());
        }
        let columns = find_columns(&file, &header)?;
        for (i, slot) in columns.iter().enumerate() {
            let Some(column) = *slot else { continue };
            let kind = schema.column(column).physical_type();
            // x, y, angle, speed and pos are numbers; a time may also be text; the rest is text.
            let fits = match i {
                0 => is_number(kind) || kind == Type::BYTE_ARRAY,
                2..=5 | 7 => is_number(kind),
                _ => kind == Type::BYTE_ARRAY,
            };
            if !fits {
                return Err(FcdError::Syntax {
                    place: Place {
                        file,
                        at: At::Row(1),
                    },
                    found: format!("column `{}` of type {kind}", header[column]),
                    expected: if matches!(i, 0 | 2..=5 | 7) {
                        "numbers in it".into()
                    } else {
                        "text in it".into()
                    },
                });
            }
        }
        Ok(Self {
            file,
            reader,
            columns,
            group: 0,
            readers: Vec::new(),
            batch: Vec::new(),
            rows: 0,
            next: 0,
            before: 0,
            time_us: None,
            pending: None,
        })
    }

    /// Reads the next batch; false at the end.
    fn fill(&mut self) -> Result<bool, FcdError> {
        self.before += self.rows as u64;
        self.rows = 0;
        self.next = 0;
        loop {
            if self.readers.is_empty() {
                if self.group >= self.reader.num_row_groups() {
                    return Ok(false);
                }
                let group = self
                    .reader
                    .get_row_group(self.group)
                    .map_err(|e| damaged(&self.file, self.before, &e))?;
                self.group += 1;
                for slot in &self.columns {
                    let reader = match slot {
                        None => None,
                        Some(column) => Some(
                            guarded(|| group.get_column_reader(*column))
                                .map_err(|e| damaged(&self.file, self.before, &e))?,
                        ),
                    };
                    self.readers.push(reader);
                }
            }
            self.batch.clear();
            let mut rows = None;
            for reader in &mut self.readers {
                let column = match reader {
                    None => None,
                    Some(reader) => {
                        let (column, n) = read_column(reader)
                            .map_err(|e| damaged(&self.file, self.before, &e))?;
                        if *rows.get_or_insert(n) != n {
                            return Err(FcdError::DamagedParquet {
                                place: Place {
                                    file: self.file.clone(),
                                    at: At::Row(self.before + 1),
                                },
                                found: "its columns differ in length".into(),
                            });
                        }
                        Some(column)
                    }
                };
                self.batch.push(column);
            }
            match rows {
                Some(0) | None => self.readers.clear(),
                Some(rows) => {
                    self.rows = rows;
                    return Ok(true);
                }
            }
        }
    }

    fn number(&self) -> u64 {
        self.before + self.next as u64 + 1
    }

    fn text(&self, column: usize) -> Result<&str, FcdError> {
        match &self.batch[column] {
            Some(Column::Texts(texts)) => match &texts[self.next] {
                None => Ok(""),
                Some(bytes) => std::str::from_utf8(bytes.data()).map_err(|_| FcdError::Syntax {
                    place: self.place(self.number()),
                    found: "bytes that are not UTF-8".into(),
                    expected: "text".into(),
                }),
            },
            _ => Ok(""),
        }
    }

    fn value(&self, column: usize) -> Option<f64> {
        match &self.batch[column] {
            Some(Column::Numbers(numbers)) => numbers[self.next],
            _ => None,
        }
    }

    fn parse(&self, resolver: &mut Resolver<'_>) -> Result<(i64, Option<Sample>), FcdError> {
        let number = self.number();
        let place = || self.place(number);
        let id = self.text(1)?;
        let missing = |i: usize| FcdError::MissingField {
            place: place(),
            element: if id.is_empty() {
                "the row".into()
            } else {
                format!("vehicle `{id}`")
            },
            field: NEEDED[i],
        };
        if id.is_empty() {
            return Err(missing(1));
        }
        let time = match &self.batch[0] {
            Some(Column::Texts(_)) => parse_time(self.text(0)?),
            _ => seconds_to_us(self.value(0).ok_or_else(|| missing(0))?),
        };
        let time_us = time.ok_or_else(|| FcdError::BadValue {
            place: place(),
            element: format!("vehicle `{id}`"),
            field: "time",
            found: match self.value(0) {
                Some(value) => value.to_string(),
                None => format!("`{}`", self.text(0).unwrap_or("")),
            },
            expected: "a number of seconds",
        })?;
        let needed = |i: usize| self.value(i).ok_or_else(|| missing(i));
        let row = Row {
            size: [None; 3],
            tag: tag_of(self.text(10)?),
            id,
            x: needed(2)?,
            y: needed(3)?,
            angle: needed(4)?,
            speed: needed(5)?,
            kind: self.text(6)?,
            lane: self.text(8)?,
            edge: self.text(9)?,
            vehicle: self.text(11)?,
            pos: self.value(7),
        };
        if self.time_us != Some(time_us) {
            resolver.begin_step();
        }
        Ok((time_us, resolver.resolve(&row, &place, number)?))
    }
}

impl Rows for ParquetRows {
    fn next_item(&mut self, resolver: &mut Resolver<'_>) -> Result<Item, FcdError> {
        if let Some(sample) = self.pending.take() {
            return Ok(Item::Sample(sample));
        }
        loop {
            if self.next >= self.rows && !self.fill()? {
                return Ok(Item::End);
            }
            let number = self.number();
            let (time_us, sample) = self.parse(resolver)?;
            self.next += 1;
            if self.time_us != Some(time_us) {
                self.time_us = Some(time_us);
                self.pending = sample;
                return Ok(Item::Time { time_us, number });
            }
            if let Some(sample) = sample {
                return Ok(Item::Sample(sample));
            }
        }
    }

    fn place(&self, number: u64) -> Place {
        Place {
            file: self.file.clone(),
            at: At::Row(number),
        }
    }
}

fn damaged(file: &str, before: u64, error: &ParquetError) -> FcdError {
    FcdError::DamagedParquet {
        place: Place {
            file: file.to_owned(),
            at: At::Row(before + 1),
        },
        found: error.to_string(),
    }
}

/// The library trusts the places that the file's end gives for its columns; a damaged one must not get that far.
fn check_extents(file: &str, metadata: &ParquetMetaData, size: u64) -> Result<(), FcdError> {
    for group in metadata.row_groups() {
        for column in group.columns() {
            let start = column
                .dictionary_page_offset()
                .unwrap_or(column.data_page_offset());
            let inside = |place: i64| u64::try_from(place).is_ok_and(|place| place <= size);
            let length = column.compressed_size();
            if !inside(start)
                || !inside(column.data_page_offset())
                || !inside(length)
                || !inside(start.saturating_add(length))
                || group.num_rows() < 0
                || column.num_values() < 0
            {
                return Err(FcdError::DamagedParquet {
                    place: Place {
                        file: file.to_owned(),
                        at: At::Row(1),
                    },
                    found: format!(
                        "column `{}` lies outside the file",
                        column.column_path().string()
                    ),
                });
            }
        }
    }
    Ok(())
}

fn is_number(kind: Type) -> bool {
    matches!(kind, Type::DOUBLE | Type::FLOAT | Type::INT32 | Type::INT64)
}

thread_local! {
    /// This thread decodes a foreign file: a panic on it is caught and reported as damage.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the library's decoding of pages, which panics on some damaged ones, so that damage is an error like any other.
fn guarded<T>(decode: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    static QUIET: Once = Once::new();
    // Such a panic is no defect of ours: no message about it, while all others are reported as before.
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                before(info);
            }
        }));
    });
    DECODING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(false);
    // What was being decoded is not used again: every error ends the reading.
    result.unwrap_or_else(|_| {
        Err(ParquetError::General(
            "a page cannot be decoded (the reader gave up on it)".into(),
        ))
    })
}

/// Reads one batch of a column and the number of its rows.
fn read_column(reader: &mut ColumnReader) -> Result<(Column, usize), ParquetError> {
    guarded(|| decode_column(reader))
}

fn decode_column(reader: &mut ColumnReader) -> Result<(Column, usize), ParquetError> {
    macro_rules! read {
        ($reader:expr, $variant:ident, $convert:expr) => {{
            let mut levels: Vec<i16> = Vec::with_capacity(BATCH);
            let mut values = Vec::with_capacity(BATCH);
            let (rows, _, _) = $reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
            // A column without gaps gives no levels.
            let column = if levels.is_empty() {
                values.into_iter().map(|v| Some($convert(v))).collect()
            } else {
                let mut values = values.into_iter();
                levels
                    .iter()
                    .map(|&level| {
                        if level > 0 {
                            values.next().map($convert)
                        } else {
                            None
                        }
                    })
                    .collect::<Vec<_>>()
            };
            if column.len() != rows {
                return Err(ParquetError::General(
                    "a column holds fewer values than rows".into(),
                ));
            }
            Ok((Column::$variant(column), rows))
        }};
    }
    match reader {
        ColumnReader::DoubleColumnReader(r) => read!(r, Numbers, |v: f64| v),
        ColumnReader::FloatColumnReader(r) => read!(r, Numbers, |v: f32| f64::from(v)),
        ColumnReader::Int32ColumnReader(r) => read!(r, Numbers, |v: i32| f64::from(v)),
        ColumnReader::Int64ColumnReader(r) => read!(r, Numbers, |v: i64| v as f64),
        ColumnReader::ByteArrayColumnReader(r) => read!(r, Texts, |v: ByteArray| v),
        _ => Err(ParquetError::General(
            "a column has a type that floating-car data do not have".into(),
        )),
    }
}
