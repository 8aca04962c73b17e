//! A table read back whole, column by column, for programs that work on columns.

use std::fs::File;
use std::io;
use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::typed::io_error;

/// The cells of a column; none for null.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// UTF-8 text.
    Text(Vec<Option<String>>),
    /// 64-bit whole numbers.
    Integer(Vec<Option<i64>>),
    /// 64-bit numbers.
    Number(Vec<Option<f64>>),
    /// True or false.
    Flag(Vec<Option<bool>>),
}

/// Every column of a Parquet file that this crate wrote, by name, in its order.
///
/// # Errors
/// The file cannot be read, or holds columns of other kinds than ours.
pub fn read(file: &Path) -> io::Result<Vec<(String, Values)>> {
    let reader = SerializedFileReader::new(File::open(file)?).map_err(io_error)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let mut columns = Vec::new();
    for column in schema.columns() {
        let values = match column.physical_type() {
            Physical::BYTE_ARRAY => Values::Text(Vec::new()),
            Physical::INT64 => Values::Integer(Vec::new()),
            Physical::DOUBLE => Values::Number(Vec::new()),
            Physical::BOOLEAN => Values::Flag(Vec::new()),
            other => {
                let problem = format!("column `{}` holds {other}", column.name());
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        };
        columns.push((column.name().to_string(), values));
    }
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number).map_err(io_error)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        for (at, (_, values)) in columns.iter_mut().enumerate() {
            let column = group.get_column_reader(at).map_err(io_error)?;
            append(values, column, rows).map_err(io_error)?;
        }
    }
    Ok(columns)
}

fn append(values: &mut Values, column: ColumnReader, rows: usize) -> Result<(), ParquetError> {
    match (values, column) {
        (Values::Text(to), ColumnReader::ByteArrayColumnReader(from)) => {
            for value in cells(from, rows)? {
                let text = |bytes: parquet::data_type::ByteArray| {
                    String::from_utf8_lossy(bytes.data()).into_owned()
                };
                to.push(value.map(text));
            }
        }
        (Values::Integer(to), ColumnReader::Int64ColumnReader(from)) => {
            to.extend(cells(from, rows)?);
        }
        (Values::Number(to), ColumnReader::DoubleColumnReader(from)) => {
            to.extend(cells(from, rows)?);
        }
        (Values::Flag(to), ColumnReader::BoolColumnReader(from)) => {
            to.extend(cells(from, rows)?);
        }
        _ => {
            let problem = "a column changes its kind between row groups".to_string();
            return Err(ParquetError::General(problem));
        }
    }
    Ok(())
}

/// So many cells of a column.
fn cells<T: DataType>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while levels.len() < rows {
        let left = rows - levels.len();
        let (records, _, _) = column.read_records(left, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
    }
    let mut values = values.into_iter();
    let cell = |level: i16| if level > 0 { values.next() } else { None };
    Ok(levels.into_iter().map(cell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use crate::tables::typed::{Cell, Column, Kind, ParquetTable};

    #[test]
    fn what_was_written_is_read_back_by_column() {
        let folder = Folder::new("columns");
        let file = folder.0.join("table.parquet");
        std::fs::create_dir_all(&folder.0).unwrap();
        let columns = vec![
            Column::new("arm", Kind::Text),
            Column::new("seed", Kind::Integer),
            Column::new("deficit", Kind::Number),
            Column::new("bound", Kind::Flag),
        ];
        let mut table = ParquetTable::new(Vec::new(), columns).unwrap();
        let row = |seed: u64| vec!["a".into(), seed.into(), 0.5.into(), Cell::Flag(true)];
        table
            .rows(&[row(1), vec![Cell::Null, 2u64.into()]])
            .unwrap();
        table.rows(&[row(3)]).unwrap();
        std::fs::write(&file, table.finish().unwrap()).unwrap();
        let read = read(&file).unwrap();
        let text = |t: &str| Some(t.to_string());
        assert_eq!(
            read,
            [
                (
                    "arm".to_string(),
                    Values::Text(vec![text("a"), None, text("a")])
                ),
                (
                    "seed".to_string(),
                    Values::Integer(vec![Some(1), Some(2), Some(3)])
                ),
                (
                    "deficit".to_string(),
                    Values::Number(vec![Some(0.5), None, Some(0.5)])
                ),
                (
                    "bound".to_string(),
                    Values::Flag(vec![Some(true), None, Some(true)])
                ),
            ]
        );
    }
}
