//! Many runs: which worlds, arms and seeds; resumable storage; paired statistics; tables.
//!
//! One run is the simulator's business. This crate runs it over seeds and worlds on any number of threads or machines, keeps each
//! finished (world, seed) in a file of its own, and turns the files into a summary and tables.
//!
//! # Guarantees
//! - Same inputs, same bytes: nothing but timing depends on the number of workers, on the order in which seeds end, or on how
//!   often the work was interrupted.
//! - A result of another revision, other parameters or other input files is never mixed in: every file carries the
//!   fingerprint of what made it.
//! - A process killed at any instant leaves whole files only.

pub mod bundled;
pub mod cost;
pub mod files;
pub mod finish;
pub mod lab;
pub mod letter;
pub mod plan;
pub mod pool;
pub mod report;
pub mod results;
pub mod revision;
pub mod runner;
pub mod slurm;
pub mod stats;
pub mod store;
pub mod summary;
pub mod table;
pub mod tables;
pub mod usage;
pub mod world;
