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
//!
//! # Where things are
//! From what is wanted to files: a [`plan`] or a command makes [`world`]s, [`refit`] fits their margins where that is asked, [`lab`] computes their missing seeds with [`runner`],
//! [`store`] keeps each, [`finish`] makes [`summary`] and [`tables`] of them, [`report`] the page. What the repository shows is made
//! from finished runs by [`results`]. Every kind of table has its home; [`tables`] says where a new one goes. Which arms there are,
//! in which order and with which looks, is told by the table of arms that callers hand in.

pub mod bundled;
pub mod cost;
mod field;
pub mod files;
pub mod finish;
pub mod folder;
pub mod lab;
pub mod letter;
mod markup;
mod names;
pub mod outputs;
pub mod plan;
mod plan_scenario;
pub mod pool;
pub mod power;
pub mod profile;
pub mod refit;
pub mod report;
pub mod results;
pub mod revision;
pub mod runner;
pub mod seeds;
pub mod slurm;
pub mod stats;
pub mod store;
pub mod summary;
pub mod tables;
pub(crate) mod text_table;
pub mod usage;
pub mod world;
