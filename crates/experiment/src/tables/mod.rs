//! Tables for programs: typed columns, as Parquet and CSV.
//!
//! # Where a new table goes
//!
//! | a table for | goes to |
//! |---|---|
//! | programs, with a row per run or cycle | [`rows`], written by `finish` |
//! | programs, with a row per world of a sweep | `estimates`, written by `finish` |
//! | readers of `report.html` | a section in `report/page.rs`, as HTML by `text_table.rs` |
//! | readers of the repository's documents | `results`, as Markdown by `text_table.rs` |
//! | people at a terminal | the command in `crates/cli`, by its `terminal_table` |
//!
//! How a table becomes a file is in [`typed`], how it becomes the files of a folder in `sheet`.

pub mod columns;
pub(crate) mod estimates;
pub mod rows;
pub(crate) mod sheet;
pub mod typed;
