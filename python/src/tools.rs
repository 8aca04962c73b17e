//! One decision, digests, messages, recordings, the viewer.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use covey::calls;
use covey_its::cam::{PASSENGER_CAR, WirePosition};
use covey_its::frame::{PORT_CAM, Source, encode_frame};
use covey_its::{Cam, CarriedDigest, ItsTime};
use covey_protocol::{Cell, CoverageDigest};
use covey_simulator::learned::INPUTS;
use covey_simulator::onnx::Network;
use covey_simulator::recording::{Placed, Reader, RecordingError};
use covey_viewer::{Library, Server, Serving};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{self, failure};

/// Decides on a snapshot: the outcome as JSON, and in words.
#[pyfunction]
pub(crate) fn decide(name: &str, text: &str) -> PyResult<(String, String)> {
    let decided = calls::decide(name, text).map_err(failure)?;
    Ok((decided.json, decided.told))
}

/// The bytes of a digest of these cells.
#[pyfunction]
pub(crate) fn digest_encode(
    py: Python<'_>,
    cells: Vec<(i32, i32)>,
) -> PyResult<Bound<'_, PyBytes>> {
    let cells = cells
        .into_iter()
        .map(|(ix, iy)| Cell::new(ix, iy))
        .collect();
    let digest =
        CoverageDigest::new(cells).map_err(|error| errors::input(format!("cells: {error}")))?;
    Ok(PyBytes::new(py, &digest.encode()))
}

/// The cells of a digest, two columns, in scan order.
#[pyfunction]
pub(crate) fn digest_decode<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let digest =
        CoverageDigest::decode(data).map_err(|error| errors::input(format!("data: {error}")))?;
    let flat: Vec<i32> = digest.cells().iter().flat_map(|c| [c.ix, c.iy]).collect();
    let rows = flat.len() / 2;
    Ok(PyArray1::from_vec(py, flat).reshape([rows, 2])?.into_any())
}

/// A frame, a packet or a message as JSON.
#[pyfunction]
pub(crate) fn message_decode(data: &[u8]) -> PyResult<String> {
    calls::decode_message("data", data).map_err(failure)
}

/// Every frame of a capture as JSON, and what is wrong with those that cannot be read.
#[pyfunction]
pub(crate) fn capture_read(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<String>, Vec<String>)> {
    py.detach(|| {
        let (mut frames, mut unread) = (Vec::new(), Vec::new());
        calls::read_capture(&path, |frame| {
            match frame {
                Ok(line) => frames.push(line),
                Err(problem) => unread.push(problem),
            }
            Ok(())
        })
        .map_err(failure)?;
        Ok((frames, unread))
    })
}

/// A value in steps of the wire, or what is wrong with it.
fn steps(name: &str, value: Option<f64>, per: f64, most: f64) -> PyResult<Option<f64>> {
    match value.map(|value| (value * per).round()) {
        None => Ok(None),
        Some(steps) if (0.0..=most).contains(&steps) => Ok(Some(steps)),
        Some(_) => Err(errors::input(format!(
            "{name}: found {}, expected 0 to {}, or None",
            value.unwrap_or_default(),
            most / per
        ))),
    }
}

/// A CAM, perhaps with a digest; in a GeoNetworking frame on Ethernet where that is asked for.
#[pyfunction]
#[pyo3(signature = (*, station_id, latitude, longitude, heading_deg, speed_m_s, length_m, width_m, station_type, generation_ms, cells, frame, unix_ms))]
#[expect(
    clippy::too_many_arguments,
    reason = "named ones, by the package alone"
)]
pub(crate) fn cam_encode<'py>(
    py: Python<'py>,
    station_id: u32,
    latitude: f64,
    longitude: f64,
    heading_deg: Option<f64>,
    speed_m_s: Option<f64>,
    length_m: Option<f64>,
    width_m: Option<f64>,
    station_type: Option<u8>,
    generation_ms: u16,
    cells: Option<Vec<(i32, i32)>>,
    frame: bool,
    unix_ms: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    let degrees = |name: &str, value: f64, most: f64| match value.abs() <= most {
        true => Ok((value * 1e7).round() as i32),
        false => Err(errors::input(format!(
            "{name}: found {value}, expected -{most} to {most} degrees"
        ))),
    };
    let digest = match cells {
        None => None,
        Some(cells) => {
            let cells = cells
                .into_iter()
                .map(|(ix, iy)| Cell::new(ix, iy))
                .collect();
            let digest = CoverageDigest::new(cells);
            let digest = digest.map_err(|error| errors::input(format!("cells: {error}")))?;
            Some(CarriedDigest::Cells(digest))
        }
    };
    let cam = Cam {
        station_id,
        station_type: station_type.unwrap_or(PASSENGER_CAR),
        generation_ms,
        position: WirePosition {
            latitude: degrees("latitude", latitude, 90.0)?,
            longitude: degrees("longitude", longitude, 180.0)?,
        },
        heading: steps("heading_deg", heading_deg, 10.0, 3600.0)?.map(|x| x as u16),
        speed: steps("speed_m_s", speed_m_s, 100.0, 16_382.0)?.map(|x| x as u16),
        backward: None,
        length: steps("length_m", length_m, 10.0, 1_022.0)?.map(|x| x as u16),
        width: steps("width_m", width_m, 10.0, 61.0)?.map(|x| x as u8),
        path: None,
        digest,
    };
    let message = cam.encode().map_err(errors::input)?;
    if !frame {
        return Ok(PyBytes::new(py, &message));
    }
    let time = ItsTime::from_unix_millis(unix_ms).ok_or_else(|| {
        errors::input(format!(
            "unix_ms: found {unix_ms}, expected a time after 2004"
        ))
    })?;
    let source = Source::of_cam(&cam, time);
    let frame = encode_frame(&message, PORT_CAM, &source).map_err(errors::input)?;
    Ok(PyBytes::new(py, &frame))
}

/// A network of an ONNX file, as the arm runs it.
#[pyclass(frozen, module = "covey", name = "NativeNetwork")]
pub(crate) struct PyNetwork(Network);

#[pymethods]
impl PyNetwork {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let network = Network::read(&path, INPUTS).map_err(errors::input)?;
        Ok(Self(network))
    }

    /// A score per row.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let rows = rows.as_array();
        if rows.ncols() != INPUTS {
            let found = rows.ncols();
            return Err(errors::input(format!(
                "rows: found {found} columns, expected {INPUTS}"
            )));
        }
        let scores = rows
            .rows()
            .into_iter()
            .map(|row| self.0.score(&row.to_vec()))
            .collect();
        Ok(PyArray1::from_vec(py, scores))
    }
}

fn damaged(error: RecordingError) -> PyErr {
    errors::input(error)
}

/// A recorded run.
#[pyclass(frozen, module = "covey", name = "NativeRecording")]
pub(crate) struct Recording(Mutex<Reader>);

impl Recording {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Reader) -> Result<T, RecordingError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut reader).map_err(damaged)
        })
    }
}

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let reader = py.detach(|| Reader::open(&path).map_err(damaged))?;
        Ok(Self(Mutex::new(reader)))
    }

    /// What it holds, as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.with(py, |reader| Ok(serde_json::to_string(reader.manifest())))?;
        text.map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Numbers of its chunks.
    fn chunks(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        self.with(py, |reader| Ok(reader.chunks()))
    }

    /// An arm over time, as JSON.
    fn curve(&self, py: Python<'_>, arm: u16) -> PyResult<String> {
        let curve = self.with(py, |reader| reader.curve(arm))?;
        serde_json::to_string(&curve).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Steps of a chunk: number, then id, x, y in metres, heading in radians and speed of all vehicles.
    fn steps<'py>(&self, py: Python<'py>, chunk: u32) -> PyResult<Vec<(u32, Bound<'py, PyDict>)>> {
        let steps = self.with(py, |reader| reader.steps(chunk))?;
        let mut all = Vec::with_capacity(steps.len());
        for step in steps {
            let placed = &step.vehicles;
            let dict = PyDict::new(py);
            let column = |value: fn(&Placed) -> f64| {
                PyArray1::from_vec(py, placed.iter().map(value).collect())
            };
            let ids: Vec<u32> = placed.iter().map(|p| p.id).collect();
            dict.set_item("id", PyArray1::from_vec(py, ids))?;
            dict.set_item("x", column(|p| f64::from(p.x_cm) / 100.0))?;
            dict.set_item("y", column(|p| f64::from(p.y_cm) / 100.0))?;
            let turn = |p: &Placed| f64::from(p.heading) * std::f64::consts::TAU / 65_536.0;
            dict.set_item("heading", column(turn))?;
            dict.set_item("speed", column(|p| f64::from(p.speed_cm_s) / 100.0))?;
            all.push((step.step, dict));
        }
        Ok(all)
    }

    /// Who decided in a chunk: cycle and host.
    fn deciders(&self, py: Python<'_>, arm: u16, chunk: u32) -> PyResult<Vec<(u32, u64)>> {
        self.with(py, |reader| reader.deciders(arm, chunk))
    }

    /// The snapshot that a host decided on, as JSON; None where it decided nothing.
    fn snapshot(
        &self,
        py: Python<'_>,
        arm: u16,
        cycle: u32,
        host: u64,
    ) -> PyResult<Option<String>> {
        self.with(py, |reader| {
            if let Some(decision) = reader.decision(arm, cycle, host)? {
                return Ok(Some(decision.snapshot.to_value().to_string()));
            }
            let demand = reader.demand(arm, cycle, host)?;
            Ok(demand.map(|demand| demand.snapshot.to_value().to_string()))
        })
    }

    /// Cycles of an arm in a chunk: number, rows of tiles, and how many messages were delivered.
    fn cycles<'py>(
        &self,
        py: Python<'py>,
        arm: u16,
        chunk: u32,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let cycles = self.with(py, |reader| reader.arm_cycles(arm, chunk))?;
        let mut all = Vec::new();
        for cycle in cycles {
            for row in &cycle.tiles {
                let dict = PyDict::new(py);
                dict.set_item("cycle", cycle.cycle)?;
                dict.set_item("tile", (row.tile[0], row.tile[1]))?;
                dict.set_item("host", row.host)?;
                dict.set_item("participants", row.participants)?;
                dict.set_item("contributors", row.contributors)?;
                dict.set_item("price", row.price)?;
                dict.set_item("load", row.load)?;
                dict.set_item("relevant", row.deficit.relevant)?;
                dict.set_item("missed", row.deficit.missed)?;
                all.push(dict);
            }
        }
        Ok(all)
    }
}

/// The page that shows recordings, served on this machine.
#[pyclass(frozen, module = "covey", name = "NativeViewer")]
pub(crate) struct Viewer {
    serving: Mutex<Serving>,
    names: Vec<String>,
}

#[pymethods]
impl Viewer {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, port: u16) -> PyResult<Self> {
        py.detach(|| {
            let library = Library::open(&path).map_err(damaged)?;
            let names = library.names().map(str::to_string).collect();
            let server = Server::bind(port, library).map_err(errors::input)?;
            let serving = server
                .spawn()
                .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            Ok(Self {
                serving: Mutex::new(serving),
                names,
            })
        })
    }

    /// Where a browser finds it.
    #[getter]
    fn url(&self) -> String {
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
        serving.url()
    }

    /// It still serves.
    #[getter]
    fn is_open(&self) -> bool {
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
        serving.is_open()
    }

    /// Names of the recordings.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Ends it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner);
            serving.close();
        });
    }
}
