//! One table as files of a folder of results: Parquet always, CSV if asked, both whole or not there.

use std::io;
use std::path::{Path, PathBuf};

use super::typed::{Cell, Column, ParquetTable, csv_head, csv_rows};
use crate::files::{FileError, Pending};

/// A table that is being written as Parquet and, if asked, as CSV.
pub(crate) struct Sheet {
    parquet: ParquetTable<Pending>,
    csv: Option<Pending>,
    path: PathBuf,
}

impl Sheet {
    pub(crate) fn new(
        folder: &Path,
        name: &str,
        columns: Vec<Column>,
        csv: bool,
    ) -> Result<Self, FileError> {
        let path = folder.join(format!("{name}.parquet"));
        let mut csv_file = None;
        if csv {
            let mut file = Pending::new(&folder.join(format!("{name}.csv")))?;
            let head = csv_head(&columns);
            io::Write::write_all(&mut file, head.as_bytes()).map_err(|e| file.failed(e))?;
            csv_file = Some(file);
        }
        let parquet = ParquetTable::new(Pending::new(&path)?, columns)
            .map_err(FileError::new(&path, "cannot be written"))?;
        Ok(Self {
            parquet,
            csv: csv_file,
            path,
        })
    }

    pub(crate) fn rows(&mut self, rows: &[Vec<Cell>]) -> Result<(), FileError> {
        self.parquet
            .rows(rows)
            .map_err(FileError::new(&self.path, "cannot be written"))?;
        if let Some(csv) = &mut self.csv {
            io::Write::write_all(csv, csv_rows(rows).as_bytes()).map_err(|e| csv.failed(e))?;
        }
        Ok(())
    }

    pub(crate) fn commit(self) -> Result<(), FileError> {
        let pending = self
            .parquet
            .finish()
            .map_err(FileError::new(&self.path, "cannot be written"))?;
        pending.commit()?;
        match self.csv {
            Some(csv) => csv.commit(),
            None => Ok(()),
        }
    }
}
