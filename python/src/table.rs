//! Tables of results as Arrow memory, handed out without copies.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{Field, Schema};
use covey_experiment::tables::columns::{self, Values};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors;

/// A table in Arrow's memory. pandas, Polars, DuckDB and pyarrow read it as it is, through `__arrow_c_stream__`.
#[pyclass(frozen, module = "covey")]
pub(crate) struct Table {
    batch: RecordBatch,
}

fn array(values: Values) -> ArrayRef {
    match values {
        Values::Text(values) => Arc::new(StringArray::from_iter(values)),
        Values::Integer(values) => Arc::new(Int64Array::from_iter(values)),
        Values::Number(values) => Arc::new(Float64Array::from_iter(values)),
        Values::Flag(values) => Arc::new(BooleanArray::from_iter(values)),
    }
}

#[pymethods]
impl Table {
    /// Reads a Parquet file of Covey's results.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| {
            let failed = |error: &dyn std::fmt::Display| {
                errors::input(format!("{}: cannot be read: {error}", path.display()))
            };
            let columns = columns::read(&path).map_err(|error| failed(&error))?;
            let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
                .into_iter()
                .map(|(name, values)| {
                    let array = array(values);
                    let field =
                        Field::new(name, arrow_array::Array::data_type(&*array).clone(), true);
                    (field, array)
                })
                .unzip();
            let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
                .map_err(|error| failed(&error))?;
            Ok(Self { batch })
        })
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A column as a list, for small tables.
    fn column(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| {
            let names = self.column_names().join(", ");
            errors::input(format!("column: found {name}, expected one of {names}"))
        })?;
        let any = column.as_any();
        let list = if let Some(texts) = any.downcast_ref::<StringArray>() {
            texts.iter().collect::<Vec<_>>().into_pyobject(py)?
        } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
            numbers.iter().collect::<Vec<_>>().into_pyobject(py)?
        } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
            numbers.iter().collect::<Vec<_>>().into_pyobject(py)?
        } else {
            let flags = any.downcast_ref::<BooleanArray>();
            let flags: Vec<Option<bool>> = flags.into_iter().flatten().collect();
            flags.into_pyobject(py)?
        };
        Ok(list.into_any().unbind())
    }

    /// The schema, by the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(errors::input)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The rows, by the Arrow PyCapsule interface; other schemas are not made.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The consumer casts what it gets.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}
