//! Tables of typed columns, written as Parquet and as CSV, and read back.
//!
//! Rows come in blocks; each block becomes one row group, so a table never has to be in memory as a whole. The files hold no time
//! stamps and no names of machines: same rows, same bytes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::Field;
use parquet::schema::types::Type;

/// A value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// For columns of [`Kind::Text`].
    Text(String),
    /// Also fits a column of numbers.
    Integer(i64),
    /// Never NaN in tables of ours.
    Number(f64),
    /// For columns of [`Kind::Flag`].
    Flag(bool),
    /// Does not apply, or there was nothing to count.
    Null,
}

impl Cell {
    /// The number that it holds.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Integer(i) => Some(*i as f64),
            _ => None,
        }
    }

    /// The text that it holds.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_string())
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Integer(number as i64)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Self {
        Self::Integer(i64::from(number))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// 64-bit whole numbers.
    Integer,
    /// 64-bit numbers.
    Number,
    /// True or false.
    Flag,
}

/// A column: name and kind. Every column may hold nulls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// In the head of the table.
    pub name: String,
    /// Of all its cells that are not null.
    pub kind: Kind,
}

impl Column {
    /// A column of this name.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            kind,
        }
    }
}

pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

/// Writes rows as Parquet.
pub struct ParquetTable<W: Write + Send> {
    columns: Vec<Column>,
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// A table with these columns.
    ///
    /// # Errors
    /// The beginning cannot be written.
    pub fn new(out: W, columns: Vec<Column>) -> io::Result<Self> {
        let fields = columns
            .iter()
            .map(|column| {
                let (physical, logical) = match column.kind {
                    Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                    Kind::Integer => (Physical::INT64, None),
                    Kind::Number => (Physical::DOUBLE, None),
                    Kind::Flag => (Physical::BOOLEAN, None),
                };
                Type::primitive_type_builder(&column.name, physical)
                    .with_repetition(Repetition::OPTIONAL)
                    .with_logical_type(logical)
                    .build()
                    .map(Arc::new)
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(io_error)?;
        let schema = Type::group_type_builder("covey")
            .with_fields(fields)
            .build()
            .map_err(io_error)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3).map_err(io_error)?))
            .set_created_by(concat!("covey ", env!("CARGO_PKG_VERSION")).to_string())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
            .map_err(io_error)?;
        Ok(Self { columns, writer })
    }

    /// Writes a block of rows. A row shorter than the columns ends in nulls; a cell of another kind than its column is null,
    /// but for whole numbers in columns of numbers.
    ///
    /// # Errors
    /// The rows cannot be written.
    pub fn rows(&mut self, rows: &[Vec<Cell>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(io_error)?;
        for (at, column) in self.columns.iter().enumerate() {
            write_column(&mut group, column.kind, rows, at).map_err(io_error)?;
        }
        group.close().map_err(io_error)?;
        Ok(())
    }

    /// Writes the end of the file and gives back what was written to.
    ///
    /// # Errors
    /// The end cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(io_error)
    }
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: Kind,
    rows: &[Vec<Cell>],
    at: usize,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Ok(());
    };
    let mut levels = Vec::with_capacity(rows.len());
    // The values that are there, and for every row whether one is.
    macro_rules! gather {
        ($pattern:pat => $value:expr) => {{
            let mut values = Vec::with_capacity(rows.len());
            for row in rows {
                match row.get(at) {
                    $pattern => {
                        values.push($value);
                        levels.push(1);
                    }
                    _ => levels.push(0),
                }
            }
            values
        }};
    }
    match kind {
        Kind::Text => {
            let values = gather!(Some(Cell::Text(text)) => ByteArray::from(text.as_str()));
            let column = writer.typed::<ByteArrayType>();
            column.write_batch(&values, Some(&levels), None)?;
        }
        Kind::Integer => {
            let values = gather!(Some(Cell::Integer(number)) => *number);
            let column = writer.typed::<Int64Type>();
            column.write_batch(&values, Some(&levels), None)?;
        }
        Kind::Number => {
            let mut values = Vec::with_capacity(rows.len());
            for row in rows {
                let value = row.get(at).and_then(Cell::number);
                levels.push(i16::from(value.is_some()));
                values.extend(value);
            }
            let column = writer.typed::<DoubleType>();
            column.write_batch(&values, Some(&levels), None)?;
        }
        Kind::Flag => {
            let values = gather!(Some(Cell::Flag(flag)) => *flag);
            let column = writer.typed::<BoolType>();
            column.write_batch(&values, Some(&levels), None)?;
        }
    }
    writer.close()
}

/// Hands the cells of `columns`, in that order, of every row of a Parquet file to `each`.
///
/// # Errors
/// The file cannot be read, or a column is missing.
pub fn read(file: &Path, columns: &[&str], mut each: impl FnMut(&[Cell])) -> io::Result<()> {
    let reader = SerializedFileReader::new(File::open(file)?).map_err(io_error)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let mut wanted = Vec::new();
    for field in fields.iter().filter(|f| columns.contains(&f.name())) {
        wanted.push(Arc::clone(field));
    }
    if let Some(missing) = columns
        .iter()
        .find(|name| !wanted.iter().any(|field| field.name() == **name))
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("there is no column `{missing}`; make the results again"),
        ));
    }
    let projection = Type::group_type_builder("covey")
        .with_fields(wanted)
        .build()
        .map_err(io_error)?;
    let mut cells = vec![Cell::Null; columns.len()];
    for row in reader.get_row_iter(Some(projection)).map_err(io_error)? {
        for (name, field) in row.map_err(io_error)?.get_column_iter() {
            if let Some(at) = columns.iter().position(|column| column == name) {
                cells[at] = match field {
                    Field::Str(text) => Cell::Text(text.clone()),
                    Field::Long(number) => Cell::Integer(*number),
                    Field::Double(number) => Cell::Number(*number),
                    Field::Bool(flag) => Cell::Flag(*flag),
                    _ => Cell::Null,
                };
            }
        }
        each(&cells);
    }
    Ok(())
}

/// The head of a CSV file: names with commas between them.
#[must_use]
pub fn csv_head(columns: &[Column]) -> String {
    let cells: Vec<Cell> = columns
        .iter()
        .map(|column| Cell::Text(column.name.clone()))
        .collect();
    csv_rows(&[cells])
}

/// Rows of a CSV file (RFC 4180, lines ended by a line feed); nothing for null.
#[must_use]
pub fn csv_rows(rows: &[Vec<Cell>]) -> String {
    let mut text = String::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            // Writing into text cannot fail.
            let _ = match cell {
                Cell::Text(t) if t.contains([',', '"', '\n', '\r']) => {
                    write!(text, "\"{}\"", t.replace('"', "\"\""))
                }
                Cell::Text(t) => write!(text, "{t}"),
                Cell::Integer(i) => write!(text, "{i}"),
                Cell::Number(x) => write!(text, "{x}"),
                Cell::Flag(f) => write!(text, "{f}"),
                Cell::Null => Ok(()),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use parquet::record::RowAccessor;

    use super::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::new("arm", Kind::Text),
            Column::new("seed", Kind::Integer),
            Column::new("traffic.main_density", Kind::Number),
            Column::new("binding", Kind::Flag),
        ]
    }

    fn rows() -> Vec<Vec<Cell>> {
        vec![
            vec!["a,\"b\"".into(), 1u64.into(), 0.5.into(), Cell::Flag(true)],
            vec![Cell::Null, 2u64.into(), Cell::Integer(3), Cell::Null],
            vec!["c".into()],
        ]
    }

    fn written() -> Vec<u8> {
        let mut table = ParquetTable::new(Vec::new(), columns()).unwrap();
        table.rows(&rows()).unwrap();
        table.rows(&[]).unwrap();
        table.rows(&rows()[..1]).unwrap();
        table.finish().unwrap()
    }

    #[test]
    fn rows_come_back_from_parquet_with_their_nulls() {
        let bytes = written();
        assert_eq!(bytes, written());
        let file = std::env::temp_dir().join(format!("covey-table-{}", std::process::id()));
        std::fs::write(&file, &bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
        let mut back = Vec::new();
        read(&file, &["binding", "arm"], |row| back.push(row.to_vec())).unwrap();
        assert_eq!(back[0], [Cell::Flag(true), "a,\"b\"".into()]);
        assert_eq!(back[2], [Cell::Null, "c".into()]);
        assert_eq!(back.len(), 4);
        let error = read(&file, &["arm", "x"], |_| ()).unwrap_err().to_string();
        assert!(error.contains("no column `x`"), "{error}");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(reader.num_row_groups(), 2);
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[0].get_string(0).unwrap(), "a,\"b\"");
        assert_eq!(rows[1].get_double(2).unwrap(), 3.0);
        assert!(rows[1].get_string(0).is_err() && rows[2].get_long(1).is_err());
        assert!(rows[3].get_bool(3).unwrap());
    }

    #[test]
    fn csv_is_quoted_where_it_must_be() {
        let text = csv_head(&columns()) + &csv_rows(&rows());
        assert_eq!(
            text,
            "arm,seed,traffic.main_density,binding\n\"a,\"\"b\"\"\",1,0.5,true\n,2,3,\nc\n"
        );
    }
}
