//! The native part of the Python package `covey`: thin, over the same library calls as the program.
//!
//! The interpreter's lock is released while anything is computed; nothing here panics on bad input, and whatever does panic below
//! comes out as an exception of Python's.

mod attendant;
mod env;
mod errors;
mod policy;
mod running;
mod table;
mod tools;
mod view;

/// What the package `covey` is made of.
#[pyo3::pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::env::Env;
    #[pymodule_export]
    use crate::running::{arms, run, sweep};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::tools::{
        PyNetwork, Recording, Viewer, cam_encode, capture_read, decide, digest_decode,
        digest_encode, message_decode,
    };
    #[pymodule_export]
    use crate::view::{PyAgents, PyObjects, PyScope, PyView, Window};

    #[pymodule_export]
    const REVISION: &str = covey_experiment::revision::REVISION;
}
