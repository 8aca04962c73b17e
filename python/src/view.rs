//! What a host knows, as arrays: gathered once in Rust, then numpy's without a copy.

use covey_protocol::admission::Admission;
use covey_protocol::policy::{ScopeMember, View};
use covey_protocol::{AgentId, Position};
use covey_simulator::features::{AGENT, Features, HOST};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

type Array<T> = Py<PyArray1<T>>;

fn array<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Array<T> {
    PyArray1::from_vec(py, values).unbind()
}

/// Columns of agents, before they are Python's.
#[derive(Debug, Default)]
pub(crate) struct AgentColumns {
    pub(crate) id: Vec<u64>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) heading: Vec<f64>,
    pub(crate) speed: Vec<f64>,
    pub(crate) distance_m: Vec<f64>,
    pub(crate) report_bytes: Vec<f64>,
    pub(crate) broadcast_bytes: Vec<f64>,
    pub(crate) decoded_fraction: Vec<f64>,
    pub(crate) decoded: Vec<bool>,
    pub(crate) offsets: Vec<i64>,
    pub(crate) cells: Vec<u32>,
}

struct Row<'a> {
    id: AgentId,
    cells: &'a [u32],
    report_bytes: f64,
    broadcast_bytes: f64,
    decoded_fraction: f64,
    decoded: bool,
}

impl AgentColumns {
    fn gather<'a>(
        scope: &[ScopeMember<'_>],
        host: Option<Position>,
        rows: impl ExactSizeIterator<Item = Row<'a>>,
    ) -> Self {
        let mut columns = Self {
            offsets: vec![0],
            ..Self::default()
        };
        for row in rows {
            let at = scope.binary_search_by_key(&row.id, |member| member.id).ok();
            let state = at.map(|at| scope[at].state);
            let unknown = f64::NAN;
            columns.id.push(row.id.0);
            columns.x.push(state.map_or(unknown, |s| s.position.x));
            columns.y.push(state.map_or(unknown, |s| s.position.y));
            columns.heading.push(state.map_or(unknown, |s| s.heading));
            columns.speed.push(state.map_or(unknown, |s| s.speed));
            let distance = state.zip(host).map(|(s, host)| s.position.distance(host));
            columns.distance_m.push(distance.unwrap_or(f64::INFINITY));
            columns.report_bytes.push(row.report_bytes);
            columns.broadcast_bytes.push(row.broadcast_bytes);
            columns.decoded_fraction.push(row.decoded_fraction);
            columns.decoded.push(row.decoded);
            columns.cells.extend_from_slice(row.cells);
            columns.offsets.push(columns.cells.len() as i64);
        }
        columns
    }
}

/// A host's view, before it is Python's.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) now_s: f64,
    pub(crate) host: u64,
    pub(crate) tile: (i32, i32),
    pub(crate) position: (f64, f64),
    pub(crate) price: f64,
    pub(crate) occupancy: Option<f64>,
    pub(crate) allowance: f64,
    pub(crate) room_bytes: f64,
    pub(crate) base_bytes: f64,
    pub(crate) cell_m: f64,
    pub(crate) contributors: AgentColumns,
    pub(crate) candidates: AgentColumns,
    pub(crate) rho: Vec<f64>,
    pub(crate) deadline_s: Vec<f64>,
    pub(crate) coverage: Vec<f64>,
    pub(crate) host_cells: Vec<u32>,
    pub(crate) overheard: Vec<u32>,
    /// Scope: id, x, y, heading, speed, age of its beacon, share of beacons heard.
    scope: (Vec<u64>, [Vec<f64>; 6]),
    /// Objects: id, x, y, velocity, age, and whether the host perceives it itself.
    objects: (Vec<u64>, [Vec<f64>; 5], Vec<bool>),
    window: covey_protocol::Window,
    features: Option<Features>,
}

impl Gathered {
    pub(crate) fn new(view: &View<'_>, admission: &Admission, features: bool) -> Self {
        let problem = view.problem;
        let at = view.scope.binary_search_by_key(&view.host, |m| m.id).ok();
        let host = at.map(|at| view.scope[at].state.position);
        let contributors = problem.contributors.iter().map(|c| Row {
            id: c.id,
            cells: c.cells,
            report_bytes: c.report_bytes,
            broadcast_bytes: c.broadcast_bytes,
            decoded_fraction: c.decoded_fraction,
            decoded: c.decoded,
        });
        let candidates = problem.candidates.iter().map(|c| Row {
            id: c.id,
            cells: c.cells,
            report_bytes: c.report_bytes,
            broadcast_bytes: c.broadcast_bytes,
            decoded_fraction: c.decoded_fraction,
            decoded: false,
        });
        let of_scope = |value: fn(&ScopeMember<'_>) -> f64| view.scope.iter().map(value).collect();
        let age = view
            .scope
            .iter()
            .map(|m| view.now.since(m.heard_at).seconds());
        let scope = [
            of_scope(|m| m.state.position.x),
            of_scope(|m| m.state.position.y),
            of_scope(|m| m.state.heading),
            of_scope(|m| m.state.speed),
            age.collect(),
            of_scope(|m| m.beacon_share),
        ];
        let objects = view.objects;
        let held = [
            objects.iter().map(|o| o.state.position.x).collect(),
            objects.iter().map(|o| o.state.position.y).collect(),
            objects.iter().map(|o| o.state.velocity.x).collect(),
            objects.iter().map(|o| o.state.velocity.y).collect(),
            objects
                .iter()
                .map(|o| view.now.since(o.state.sensed_at).seconds())
                .collect(),
        ];
        Self {
            now_s: view.now.micros() as f64 * 1e-6,
            host: view.host.0,
            tile: (view.tile.tx, view.tile.ty),
            position: host.map_or((f64::NAN, f64::NAN), |p| (p.x, p.y)),
            price: problem.price,
            occupancy: view.occupancy,
            allowance: view.rules.allowance,
            room_bytes: view.rules.room_bytes(),
            base_bytes: problem.broadcast_base_bytes,
            cell_m: view.parameters.cell_m,
            contributors: AgentColumns::gather(view.scope, host, contributors),
            candidates: AgentColumns::gather(view.scope, host, candidates),
            rho: problem.rho.to_vec(),
            deadline_s: problem.deadline_s.to_vec(),
            coverage: admission.map().to_vec(),
            host_cells: problem.host_cells.to_vec(),
            overheard: problem.overheard.to_vec(),
            scope: (view.scope.iter().map(|m| m.id.0).collect(), scope),
            objects: (
                objects.iter().map(|o| o.state.id.0).collect(),
                held,
                objects.iter().map(|o| o.direct).collect(),
            ),
            window: *view.window,
            features: features.then(|| Features::new(view, admission)),
        }
    }
}

/// Agents that report, or might, by ascending id: a column each. The cells of agent `i`'s digest are
/// `cells[offsets[i]:offsets[i + 1]]`, numbers into the host's window.
#[pyclass(frozen, module = "covey", name = "Agents", get_all)]
pub(crate) struct PyAgents {
    /// Station ids, ascending.
    id: Array<u64>,
    /// Metres in the grid's frame, by the last beacon.
    x: Array<f64>,
    /// Metres in the grid's frame, by the last beacon.
    y: Array<f64>,
    /// Radians counter-clockwise from the frame's first axis.
    heading: Array<f64>,
    /// Metres per second.
    speed: Array<f64>,
    /// Metres to the host; infinite where the place is unknown.
    distance_m: Array<f64>,
    /// Bytes of its report.
    report_bytes: Array<f64>,
    /// Bytes that the broadcast carries because of it.
    broadcast_bytes: Array<f64>,
    /// Share of its reports that is, or can be expected to be, decoded.
    decoded_fraction: Array<f64>,
    /// Its report of this cycle was decoded; false for candidates.
    decoded: Array<bool>,
    /// Where each agent's cells begin, and the end.
    offsets: Array<i64>,
    /// Cells of the digests, one agent's after the other's.
    cells: Array<u32>,
}

impl PyAgents {
    fn new(py: Python<'_>, columns: AgentColumns) -> PyResult<Py<Self>> {
        Py::new(
            py,
            Self {
                id: array(py, columns.id),
                x: array(py, columns.x),
                y: array(py, columns.y),
                heading: array(py, columns.heading),
                speed: array(py, columns.speed),
                distance_m: array(py, columns.distance_m),
                report_bytes: array(py, columns.report_bytes),
                broadcast_bytes: array(py, columns.broadcast_bytes),
                decoded_fraction: array(py, columns.decoded_fraction),
                decoded: array(py, columns.decoded),
                offsets: array(py, columns.offsets),
                cells: array(py, columns.cells),
            },
        )
    }
}

#[pymethods]
impl PyAgents {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.id.bind(py).as_any().len()
    }
}

/// Everyone in the host's footprint, by ascending id, the host included.
#[pyclass(frozen, module = "covey", name = "Scope", get_all)]
pub(crate) struct PyScope {
    /// Station ids, ascending.
    id: Array<u64>,
    /// Metres in the grid's frame.
    x: Array<f64>,
    /// Metres in the grid's frame.
    y: Array<f64>,
    /// Radians counter-clockwise from the frame's first axis.
    heading: Array<f64>,
    /// Metres per second.
    speed: Array<f64>,
    /// Seconds since its last beacon that was heard.
    age_s: Array<f64>,
    /// Share of its recent beacons that the host decoded.
    beacon_share: Array<f64>,
}

/// Objects that are fresh at the host, by ascending id.
#[pyclass(frozen, module = "covey", name = "Objects", get_all)]
pub(crate) struct PyObjects {
    /// Numbers of the objects, ascending.
    id: Array<u64>,
    /// Metres in the grid's frame.
    x: Array<f64>,
    /// Metres in the grid's frame.
    y: Array<f64>,
    /// Metres per second.
    velocity_x: Array<f64>,
    /// Metres per second.
    velocity_y: Array<f64>,
    /// Seconds since it was sensed, or spoke of itself.
    age_s: Array<f64>,
    /// The host senses it, or hears its beacons, itself.
    direct: Array<bool>,
}

/// What a host knows when it plans the next cycle: what it decoded, sensed, or carries as a map, and nothing else.
#[pyclass(frozen, module = "covey", name = "View", get_all)]
pub(crate) struct PyView {
    /// Seconds since the beginning of the run.
    now_s: f64,
    /// The vehicle that hosts.
    host: u64,
    /// Column and row of its tile.
    tile: (i32, i32),
    /// Where the host is, in metres in the grid's frame.
    position: (f64, f64),
    /// The congestion price, per unit of airtime.
    price: f64,
    /// Cooperative load of the tile as last measured; None before the first measurement.
    occupancy: Option<f64>,
    /// The share of capacity that reports and broadcast may take.
    allowance: f64,
    /// The same in bytes of a cycle; the lesser of allowance and cycle time.
    room_bytes: f64,
    /// Bytes of the broadcast without contributors.
    base_bytes: f64,
    /// Side of a cell, in metres.
    cell_m: f64,
    /// Who reports now.
    contributors: Py<PyAgents>,
    /// Who might.
    candidates: Py<PyAgents>,
    /// Task risk, cell by cell of the window.
    rho: Array<f64>,
    /// Reaction deadline in seconds, cell by cell; 0 where there is no risk.
    deadline_s: Array<f64>,
    /// How well the twin covers each cell, 0 to 1.
    coverage: Array<f64>,
    /// Cells that the host sees itself.
    host_cells: Array<u32>,
    /// Cells that broadcasts of neighbouring hosts told of.
    overheard: Array<u32>,
    /// Everyone in the footprint.
    scope: Py<PyScope>,
    /// Objects that the host holds.
    objects: Py<PyObjects>,
    /// The window of cells.
    window: Py<Window>,
    /// What learned policies look at: ids, and a row of numbers for each; None unless the policy has `features = True`.
    features: Option<(Array<u64>, Py<PyArray2<f32>>)>,
}

/// The window of cells that a host numbers.
#[pyclass(frozen, module = "covey", name = "Window")]
pub(crate) struct Window(covey_protocol::Window);

/// The rows that a learned policy scores: the agent's numbers, then the host's.
fn rows(py: Python<'_>, features: &Features) -> PyResult<(Array<u64>, Py<PyArray2<f32>>)> {
    let ids = features.ids.iter().map(|id| id.0).collect();
    let width = AGENT.len() + HOST.len();
    let mut flat = Vec::with_capacity(features.agents.len() * width);
    for agent in &features.agents {
        flat.extend_from_slice(agent);
        flat.extend_from_slice(&features.host);
    }
    let flat = PyArray1::from_vec(py, flat);
    let table = flat.reshape([features.agents.len(), width])?;
    Ok((array(py, ids), table.unbind()))
}

impl PyView {
    pub(crate) fn new(py: Python<'_>, view: Gathered) -> PyResult<Bound<'_, Self>> {
        let (ids, [x, y, heading, speed, age_s, beacon_share]) = view.scope;
        let scope = PyScope {
            id: array(py, ids),
            x: array(py, x),
            y: array(py, y),
            heading: array(py, heading),
            speed: array(py, speed),
            age_s: array(py, age_s),
            beacon_share: array(py, beacon_share),
        };
        let (ids, [x, y, velocity_x, velocity_y, age_s], direct) = view.objects;
        let objects = PyObjects {
            id: array(py, ids),
            x: array(py, x),
            y: array(py, y),
            velocity_x: array(py, velocity_x),
            velocity_y: array(py, velocity_y),
            age_s: array(py, age_s),
            direct: array(py, direct),
        };
        let view = Self {
            now_s: view.now_s,
            host: view.host,
            tile: view.tile,
            position: view.position,
            price: view.price,
            occupancy: view.occupancy,
            allowance: view.allowance,
            room_bytes: view.room_bytes,
            base_bytes: view.base_bytes,
            cell_m: view.cell_m,
            contributors: PyAgents::new(py, view.contributors)?,
            candidates: PyAgents::new(py, view.candidates)?,
            rho: array(py, view.rho),
            deadline_s: array(py, view.deadline_s),
            coverage: array(py, view.coverage),
            host_cells: array(py, view.host_cells),
            overheard: array(py, view.overheard),
            scope: Py::new(py, scope)?,
            objects: Py::new(py, objects)?,
            window: Py::new(py, Window(view.window))?,
            features: view
                .features
                .map(|features| rows(py, &features))
                .transpose()?,
        };
        Bound::new(py, view)
    }
}

#[pymethods]
impl PyView {
    /// Centres of the window's cells in the grid's frame, two columns.
    fn cell_centres<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let window = &self.window.get().0;
        let mut flat = Vec::with_capacity(2 * window.len());
        for number in 0..window.len() as u32 {
            let centre = window.cell(number).centre(self.cell_m);
            flat.extend([centre.x, centre.y]);
        }
        let array = PyArray1::from_vec(py, flat);
        Ok(array.reshape([window.len(), 2])?.into_any())
    }
}
